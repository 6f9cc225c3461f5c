// Package httpserver holds the listener and the middleware of all surfaces: request
// ids, the log, limits, compression, cross-origin rules, responses without a route,
// and graceful shutdown. Surfaces register on the mux that it receives.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"pregon/internal/fault"
	"pregon/internal/server/problem"
)

// Limits of every connection. The header limit is generous because search texts are
// not limited.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	maxBodyBytes      = 1 << 20
	drainTimeout      = 20 * time.Second
	arrivalTimeout    = time.Second // for the first request of an accepted connection, at the end
)

// http2 limits the memory of a connection: concurrent requests, unread parts of
// bodies, and header tables. maxHeaderBytes applies too, after decoding.
var http2 = http.HTTP2Config{
	MaxConcurrentStreams:          16,
	MaxReadFrameSize:              16 << 10,
	MaxDecoderHeaderTableSize:     4 << 10,
	MaxEncoderHeaderTableSize:     4 << 10,
	MaxReceiveBufferPerConnection: 128 << 10,
	MaxReceiveBufferPerStream:     64 << 10,
	WriteByteTimeout:              writeTimeout,
}

const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

// Server serves one mux.
type Server struct {
	o        Options
	handler  http.Handler
	draining chan struct{} // closed when shutdown begins
	active   atomic.Int64  // requests that are not parked
	received atomic.Int64  // requests since the start
	requests *networkCounter
	bodies   *networkCounter
}

// New adds health, readiness and the fallback to the mux, and wraps it.
func New(o Options) (*Server, error) {
	o.setDefaults()
	s := &Server{
		o:        o,
		draining: make(chan struct{}),
		requests: newNetworkCounter(maxOfClient(o.Limits.Requests)),
		bodies:   newNetworkCounter(maxBodies),
	}
	o.Mux.HandleFunc("GET "+healthPath, s.health)
	o.Mux.HandleFunc("GET "+readyPath, s.ready)
	o.Mux.HandleFunc("/", s.fallback)

	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024))
	if err != nil {
		return nil, err
	}
	s.handler = s.observe(s.recoverPanics(s.commonHeaders(s.limitBody(s.cleanPaths(s.compress(compress(o.Mux),
		o.Mux))))))
	return s, nil
}

// Requests returns the number of requests since the start, without those for health and
// readiness.
func (s *Server) Requests() int64 { return s.received.Load() }

// ServeHTTP lets tests call the server without a listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Run serves until the context has ended and Drain has passed, and then waits for
// active requests.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http2,
		ConnState:         changeState,
		ConnContext:       withConn,
		ErrorLog:          slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelDebug), // mostly errors of clients
	}
	srv.Protocols = new(http.Protocols)
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true) // for proxies with one connection for many streams
	failed := make(chan error, 1)
	bound := newBoundListener(l, s.o)
	go func() { failed <- srv.Serve(bound) }()
	select {
	case err := <-failed:
		s.o.Shutdown.Closing()
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	close(s.draining)
	if s.o.Shutdown.Drain > 0 {
		s.o.Logger.Info("stopping: not ready any more, still serving", "drain_seconds", s.o.Shutdown.Drain.Seconds())
		select {
		case <-time.After(s.o.Shutdown.Drain):
		case err := <-failed:
			s.o.Shutdown.Closing()
			return fmt.Errorf("serving on %s: %w", l.Addr(), err)
		}
	}
	s.o.Shutdown.Closing()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	_ = l.Close() // Serve then returns an error
	<-failed
	bound.waitFirst(arrivalTimeout)
	err := srv.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		s.o.Logger.Warn("cut off requests that did not end", "timeout_seconds", drainTimeout.Seconds())
		err = srv.Close()
	}
	return err
}

// health reports that the process runs.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) { status(w, "ok") }

// ready reports whether the service can answer. Load balancers poll it.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.isDraining() {
		problem.Write(w, fault.New(fault.Unavailable, "Shutting down."))
		return
	}
	if err := s.o.Ready(); err != nil {
		problem.Write(w, err)
		return
	}
	status(w, "ready")
}

// isDraining reports whether shutdown has begun.
func (s *Server) isDraining() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

func status(w http.ResponseWriter, s string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(`{"status":"` + s + `"}`))
}
