package httpserver

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"pregon/internal/server/problem"
)

// Options are the server's collaborators.
type Options struct {
	Mux    *http.ServeMux
	Logger *slog.Logger
	// Ready returns an error while the service cannot answer.
	Ready func() error
	// Admit admits requests without a route, so that scanning for paths is counted.
	// Routes admit their own requests.
	Admit func(http.ResponseWriter, *http.Request) error
	// IsStream reports whether the response to a request is endless, and must not be
	// compressed. Nil means that none is.
	IsStream func(*http.Request) bool

	Limits   Limits
	Clients  Clients
	Data     Data
	Errors   Errors
	Observer Observer
	Shutdown Shutdown
}

// Limits bound what clients may use. 0 is no limit.
type Limits struct {
	Connections int // open connections
	PerAddress  int // open connections of one address, or /64 network of IPv6
	Requests    int // active requests, of which one address may have an eighth
	// Refused, if not nil, is called for every connection or request over these limits.
	Refused func()
}

// Clients says who the clients are, and how they reach the server.
type Clients struct {
	// Remote returns the client address of a request.
	Remote func(*http.Request) netip.Addr
	// Proxy reports whether an address is that of a trusted proxy, which connects on
	// behalf of many clients. Its connections are not limited, but the requests of each
	// client behind it are. Nil means that none is.
	Proxy func(netip.Addr) bool
	// HTTPS means that clients use https. Browsers then require it (HSTS).
	HTTPS bool
}

// Data describes the data of responses, in their headers.
type Data struct {
	// Source returns the value of Pregon-Source, or "" for the real source.
	Source func() string
	// Age returns how old the data of responses is. From maxFresh on, responses have
	// it in Pregon-Age. Nil means that it is always fresh.
	Age func() time.Duration
	// Broken reports whether the value of a panic says that a file of the data is
	// damaged. Then the data is read again, and the client is asked to try again later. Nil:
	// there are no files.
	Broken func(recovered any) bool
	// Verify is called before an answer is sent. It panics with a value that Broken
	// recognizes if what was read may be wrong. Nil: there are no files.
	Verify func()
}

// Errors says how errors of the server itself look. The default is problem documents.
type Errors struct {
	// NoRoute is the error of unknown paths. Nil means the default.
	NoRoute error
	// Writers are the error formats by path, for errors outside of the surface.
	Writers map[string]ErrorWriter
	// Page writes an error as a page, and returns true. If the request is not for a
	// page it writes nothing and returns false. The headers of errors are set before;
	// their format is not. Paths in Writers have no pages. Nil means that there are none.
	Page func(http.ResponseWriter, *http.Request, problem.Document) bool
}

// ErrorWriter writes errors in the format of a surface.
type ErrorWriter struct {
	TooLarge func(http.ResponseWriter, *http.Request) // body too large
	Failed   func(http.ResponseWriter, *http.Request) // internal error
}

// Observer is told of every request.
type Observer struct {
	// Request is called after every request.
	Request func(Observation)
	// Trace, if not nil, is called too, with the header Traceparent of the request.
	Trace func(o Observation, traceparent string)
}

// Observation is one request, for the log and the metrics.
type Observation struct {
	ID       string
	Route    string // pattern, or "none"
	Method   string // "other" for an invented one
	Path     string // without the query, which is private
	Status   int
	Bytes    int64
	Client   netip.Addr
	Time     time.Time // end of the request
	Duration time.Duration
	Expected bool // the status is not a failure: readiness was requested during start or shutdown
}

// Shutdown says how the server ends.
type Shutdown struct {
	// Drain is how long the server still accepts requests after the context of Run has
	// ended, while load balancers notice that it is not ready.
	Drain time.Duration
	// Closing, if not nil, is called after it.
	Closing func()
}

func (o *Options) setDefaults() {
	if o.Limits.Refused == nil {
		o.Limits.Refused = func() {}
	}
	if o.IsStream == nil {
		o.IsStream = func(*http.Request) bool { return false }
	}
	if o.Shutdown.Closing == nil {
		o.Shutdown.Closing = func() {}
	}
	if o.Errors.NoRoute == nil {
		o.Errors.NoRoute = defaultNoRoute
	}
	if o.Data.Age == nil {
		o.Data.Age = func() time.Duration { return 0 }
	}
}

// isProxy reports whether an address is that of a trusted proxy.
func (c *Clients) isProxy(a netip.Addr) bool { return c.Proxy != nil && c.Proxy(a) }
