// Package httpserver is the listener and what every request passes through,
// whatever surface it is for: a request id, the log, limits, compression,
// cross-origin rules, an answer for what no route takes, and a shutdown that
// loses nothing. It knows no surface: those register on the mux it is given.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

// Limits of every connection. A request's head is bounded generously because
// search texts have no bound of their own.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	maxBodyBytes      = 1 << 20
	drainTimeout      = 20 * time.Second
)

// http2 bounds what one connection can make the server keep: requests at once,
// what was sent of their bodies and not yet read, and the table of headers that
// later ones refer to. A head may have maxHeaderBytes here too, as decoded.
var http2 = http.HTTP2Config{
	MaxConcurrentStreams:          16,
	MaxReadFrameSize:              16 << 10,
	MaxDecoderHeaderTableSize:     4 << 10,
	MaxEncoderHeaderTableSize:     4 << 10,
	MaxReceiveBufferPerConnection: 128 << 10,
	MaxReceiveBufferPerStream:     64 << 10,
	WriteByteTimeout:              writeTimeout,
}

// Options are the server's collaborators.
type Options struct {
	Mux    *http.ServeMux
	Logger *slog.Logger
	// Ready returns why the service cannot answer yet, or nil.
	Ready func() error
	// Observe is told of every request when it is done.
	Observe func(Observation)
	// Admit is asked before a request that no route takes is answered, as
	// routes ask for themselves: looking for what is not there counts too.
	Admit func(http.ResponseWriter, *http.Request) error
	// Remote returns the address that a request comes from.
	Remote func(*http.Request) netip.Addr
	// Streams are the paths whose answers have no end: a compressor would hold
	// them back.
	Streams []string
	// Tellers are of the paths whose surface has a language of its own for what
	// goes wrong before it is asked; elsewhere it is told in problem documents.
	ErrorWriters map[string]ErrorWriter
	// MaxConnections is how many connections there may be, and MaxPerAddress how
	// many of one address (of a /64 network with IPv6); MaxRequests how many
	// requests may be in work. 0 is no bound.
	MaxConnections, MaxPerAddress, MaxRequests int
	// Proxy reports whether an address is of a proxy of ours, which has the
	// connections of many.
	Proxy func(netip.Addr) bool
	// Refused is called for every connection or request over these bounds.
	Refused func()
	// Drain is how long requests are still served after the context of Run ended
	// and before the listener closes: the time in which balancers notice that the
	// service is not ready any more. Closing, if not nil, is called after it.
	Drain   time.Duration
	Closing func()
	// HTTPS reports that clients reach the service over https, which browsers are
	// then asked to keep to (HSTS).
	HTTPS bool
	// Source returns where the reports come from, for every answer; nothing when
	// that goes without saying.
	Source func() string
}

const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

func (o *Options) isProxy(a netip.Addr) bool { return o.Proxy != nil && o.Proxy(a) }

// Teller returns what went wrong.
type ErrorWriter struct {
	TooLarge func(http.ResponseWriter, *http.Request) // the body is
	Failed   func(http.ResponseWriter, *http.Request) // a part of the program did
}

// Observation is one request, for the log and the metrics.
type Observation struct {
	ID       string
	Route    string // the pattern that took it, "none" when none did
	Method   string // "other" when it is made up
	Path     string // without the query, which says what somebody is looking for
	Status   int
	Bytes    int64
	Remote   string
	Time     time.Time // when it was answered
	Duration time.Duration
	Expected bool // its status is no failure: the service is asked whether it is ready, and is not
}

// Server serves one mux.
type Server struct {
	o        Options
	handler  http.Handler
	draining chan struct{} // closed when shutdown begins: not ready any more
	active   atomic.Int64  // requests, but for those that are parked
	bodies   bodies
}

// New completes the mux with health, readiness and the answer for everything
// else, and wraps it.
func New(o Options) (*Server, error) {
	if o.Refused == nil {
		o.Refused = func() {}
	}
	if o.Closing == nil {
		o.Closing = func() {}
	}
	s := &Server{o: o, draining: make(chan struct{})}
	o.Mux.HandleFunc("GET "+healthPath, s.health)
	o.Mux.HandleFunc("GET "+readyPath, s.ready)
	o.Mux.Handle("/", fallback{o.Mux, o.Admit})

	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024))
	if err != nil {
		return nil, err
	}
	s.handler = s.observe(s.recoverPanics(s.commonHeaders(s.limitBody(s.cleanPaths(s.compress(compress(o.Mux), o.Mux))))))
	return s, nil
}

// ServeHTTP lets tests call the server without a listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Run serves until the context ends and Drain has passed, then lets requests
// under way finish.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http2,
		ConnState: func(c net.Conn, state http.ConnState) {
			if h, ok := c.(*boundConn); ok && state == http.StateIdle {
				h.nextHead()
			}
		},
		ErrorLog: slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelDebug), // clients' faults, mostly
	}
	srv.Protocols = new(http.Protocols)
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true) // for proxies that speak it: one connection for many streams
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(newBoundListener(l, s.o)) }()
	select {
	case err := <-failed:
		s.o.Closing()
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	close(s.draining)
	if s.o.Drain > 0 {
		s.o.Logger.Info("stopping: not ready any more, still serving", "for", s.o.Drain)
		select {
		case <-time.After(s.o.Drain):
		case err := <-failed:
			s.o.Closing()
			return fmt.Errorf("serving on %s: %w", l.Addr(), err)
		}
	}
	s.o.Closing()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	err := srv.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		s.o.Logger.Warn("cut off requests that did not end", "after", drainTimeout)
		err = srv.Close()
	}
	<-failed
	return err
}
