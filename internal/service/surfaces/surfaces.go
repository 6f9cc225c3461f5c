// Package surfaces holds what answers clients: REST, MCP, the token endpoint, the
// discovery documents and the pages, and the server under them.
package surfaces

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"pregon/internal/auth"
	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/mcp"
	"pregon/internal/proof/transparency"
	"pregon/internal/query"
	"pregon/internal/rest"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/telemetry"
	"pregon/internal/service/lifecycle"
	"pregon/internal/service/observe"
	"pregon/internal/service/push"
	"pregon/internal/service/storage"
	"pregon/internal/sim/demo"
	"pregon/internal/site"
	"pregon/internal/source/health"
)

// maxInFlight is how many requests are processed at the same time, without those
// that wait for changes. Each has a header of 64 KiB at most, and a response.
const maxInFlight = 2048

// Settings are the choices of the operator.
type Settings struct {
	Drain          time.Duration // of serving after a signal to stop
	MaxConnections int           // 0 for no limit
	MaxPerAddress  int           // connections of an address, 0 for no limit
	MCPOrigins     []string      // of web pages that may call the MCP server
	RegistryProof  string        // for the MCP registry; empty for none
}

// Options are the settings of Surfaces and what they need.
type Options struct {
	Settings
	Version string
	BaseURL string
	// NoClients is empty in a process that serves clients. Others only answer whether
	// they are healthy, and say this elsewhere.
	NoClients string

	Observation    *observe.Observation
	Storage        *storage.Storage
	StoreCreated   time.Time
	Auth           *auth.Auth
	SignIn         bool // people may sign in
	AnonymousLimit int  // requests a minute of an address without a credential
	Proxies        access.Proxies
	Push           *push.Push
	Proofs         *transparency.Publisher
	Bulk           rest.Bulk
	Demo           *demo.Demo // nil unless the market is simulated in this process

	ReadsSource bool         // this process or another one reads the source
	Ready       func() error // returns why the service cannot answer yet, or nil
	Partial     func() bool  // reports whether the history is not loaded yet
}

// Surfaces answer clients.
type Surfaces struct {
	Query *query.Service

	o       Options
	server  *httpserver.Server
	rest    *rest.API     // nil in a process that does not serve clients
	mcp     *mcp.Server   // nil in a process that does not serve clients
	refused atomic.Int64  // connections and requests over the limits of the server
	closing chan struct{} // closed when streams must end
}

// New creates the surfaces and the server under them.
func New(o Options) (*Surfaces, error) {
	s := &Surfaces{o: o, closing: make(chan struct{})}
	s.Query = query.New(query.Options{
		Catalog:      o.Storage.Catalog,
		Coverage:     o.Storage.Coverage,
		Documents:    o.Storage.Log,
		Watchlists:   o.Push.Watchlists,
		Lacks:        o.Push.Events.Lacks,
		Log:          o.Storage.Log,
		Version:      o.Version,
		ReadsSource:  o.ReadsSource,
		Source:       o.Storage.Log.KnownSource,
		Ready:        o.Ready,
		Partial:      o.Partial,
		StoreStatus:  o.Storage.Status,
		StoreCreated: o.StoreCreated,
		Limit:        o.Auth.Guard.AnonymousLimit(),
		Shared:       o.Auth.Shared,
	})
	under := s.serverOptions()
	if o.NoClients == "" {
		if err := s.register(&under); err != nil {
			return nil, err
		}
	} else {
		under.Errors.NoRoute = fault.New(fault.NotFound, "%s", o.NoClients)
	}
	var err error
	s.server, err = httpserver.New(under)
	return s, err
}

// serverOptions returns the options of the server without the surfaces.
func (s *Surfaces) serverOptions() httpserver.Options {
	o := &s.o
	return httpserver.Options{
		Mux:    http.NewServeMux(),
		Logger: o.Observation.Log.Logger,
		Ready:  o.Ready,
		Admit:  o.Auth.Guard.AdmitUnrouted,
		Limits: httpserver.Limits{
			Connections: o.MaxConnections,
			PerAddress:  o.MaxPerAddress,
			Requests:    maxInFlight,
			Refused:     func() { s.refused.Add(1) },
		},
		Clients: httpserver.Clients{
			Remote: o.Proxies.Client,
			Proxy:  func(a netip.Addr) bool { return a.IsLoopback() || o.Proxies.Contains(a) },
			HTTPS:  strings.HasPrefix(o.BaseURL, "https://"),
		},
		Data: httpserver.Data{
			Source: o.Storage.Log.KnownSource,
			Age:    o.Storage.Catalog.Behind,
			Broken: o.Storage.Catalog.Broken,
			Verify: o.Storage.Catalog.Verify,
		},
		Observer: httpserver.Observer{
			Request: s.observeRequest,
			Trace:   o.Observation.Requests(),
		},
		Shutdown: httpserver.Shutdown{
			Drain:   o.Drain,
			Closing: func() { close(s.closing) },
		},
	}
}

// observeRequest counts and logs a request.
func (s *Surfaces) observeRequest(o httpserver.Observation) {
	s.o.Observation.Metrics.Request(o.Route, o.Method, o.Status, o.Duration)
	if o.Route != site.LiveRoute || o.Status != http.StatusNotModified { // an open page asks every second
		s.o.Observation.Log.Request(telemetry.Request(o))
	}
}

// Requests returns the number of requests since the start.
func (s *Surfaces) Requests() int64 { return s.server.Requests() }

// SourceState returns the state of the source, as clients see it.
func (s *Surfaces) SourceState() health.State { return s.Query.SourceStatus().State }

// Start serves clients, at once or when the catalogue is loaded: connections to a socket
// of systemd wait in it until then, and are not refused.
func (s *Surfaces) Start(g *lifecycle.Group, listener net.Listener, whenLoaded bool) {
	if s.mcp != nil {
		g.UntilServed(s.mcp.Run)
	}
	g.Serve(func(ctx context.Context) error {
		if whenLoaded {
			select {
			case <-g.Loaded():
			case <-ctx.Done():
			}
		}
		return s.server.Run(ctx, listener)
	})
}

// Observe registers the metrics of the server and of MCP.
func (s *Surfaces) Observe(m *telemetry.Metrics) {
	m.Counter("pregon_http_refused_total", "Connections and requests refused at a limit of the server.",
		func() float64 {
			return float64(s.refused.Load())
		})
	if s.mcp == nil {
		return
	}
	for _, call := range mcp.CallNames() {
		m.CounterOf("pregon_mcp_calls_total", "MCP messages by tool or method.", "call", call, func() float64 {
			taken, _ := s.mcp.CallCounts(call)
			return float64(taken)
		})
		m.CounterOf("pregon_mcp_call_failures_total",
			"MCP messages that were refused or answered with a protocol error.", "call", call, func() float64 {
				_, failed := s.mcp.CallCounts(call)
				return float64(failed)
			})
	}
}
