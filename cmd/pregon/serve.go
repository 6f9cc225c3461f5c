package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/api"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/httpserver"
	"pregon/internal/telemetry"
)

type serveCmd struct{ serveConfig }

// Run serves until the context ends. Things start in the order in which data
// flows and stop in the reverse: requests are drained while the catalogue still
// stands, and the store is closed last.
func (c *serveCmd) Run(ctx context.Context, p *process) error {
	if err := c.validate(); err != nil {
		return err
	}
	log, err := telemetry.NewLog(p.stderr, c.LogFormat, c.LogLevel)
	if err != nil {
		return err
	}
	defer log.Flush()
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot listen on %s", c.Listen)
	}
	defer listener.Close()
	db, err := c.openFilled(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	base := c.baseURL(listener.Addr().String())
	s, err := wire(log, &marked{Store: db}, base)
	if err != nil {
		return err
	}
	log.Info("listening", "address", "http://"+listener.Addr().String(), "base_url", base,
		"store", c.show(), "source", c.Source, "version", version)
	if err := s.run(ctx, listener, c.DebugListen); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// openFilled opens the store, with the fictional market in it if that was
// asked for.
func (c *serveCmd) openFilled(ctx context.Context) (openedStore, error) {
	db, err := c.open(ctx, true)
	if err != nil || c.Source != "demo" {
		return db, err
	}
	if err := fillDemo(ctx, db); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// service is everything that runs.
type service struct {
	log     *telemetry.Log
	metrics *telemetry.Metrics
	catalog *catalog.Catalog
	server  *httpserver.Server
}

// wire puts the parts together.
func wire(log *telemetry.Log, db *marked, base string) (*service, error) {
	s := &service{log: log, metrics: telemetry.NewMetrics(version), catalog: catalog.New(db, log.Logger)}
	observeCatalog(s.metrics, s.catalog)
	mux := http.NewServeMux()
	surface, err := api.New(api.Options{Catalog: s.catalog, Logger: log.Logger, BaseURL: base, Version: version, Source: db.mark})
	if err != nil {
		return nil, err
	}
	surface.Register(mux)
	s.server, err = httpserver.New(httpserver.Options{
		Mux: mux, Logger: log.Logger, Source: db.mark, Ready: readiness(s.catalog),
		Observe: func(o httpserver.Observation) {
			s.metrics.Request(o.Route, o.Method, o.Status, o.Duration)
			log.Request(telemetry.Request(o))
		},
	})
	return s, err
}

// run runs the parts until the context ends or one of them fails. What requests
// need goes on until the last of them is answered.
func (s *service) run(ctx context.Context, listener net.Listener, debugListen string) error {
	g, ctx := errgroup.WithContext(ctx)
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	go s.log.Run(background)
	g.Go(func() error {
		defer stopBackground()
		return s.server.Run(ctx, listener)
	})
	g.Go(func() error { return untilStopped(follow(background, s.catalog)) })
	if debugListen != "" {
		g.Go(func() error { return serveDebug(background, debugListen, s.metrics.Handler(), s.log.Logger) })
	}
	return g.Wait()
}

// follow loads the catalogue and keeps it fresh. Most of the heap is the
// catalogue, which stays: a collector that waits for the heap to double would
// hold as much again for nothing, so it is told to come sooner.
func follow(ctx context.Context, cat *catalog.Catalog) error {
	if err := cat.Load(ctx); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30)
	}
	debug.FreeOSMemory() // what loading needed
	return cat.Follow(ctx)
}

// untilStopped makes the end that was asked for no failure.
func untilStopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func readiness(cat *catalog.Catalog) func() error {
	return func() error {
		if cat.Snapshot() == nil {
			return fault.New(fault.Unavailable, "The catalogue is still loading.")
		}
		return nil
	}
}

func observeCatalog(m *telemetry.Metrics, cat *catalog.Catalog) {
	figure := func(value func(*catalog.Snapshot) float64) func() float64 {
		return func() float64 {
			if s := cat.Snapshot(); s != nil {
				return value(s)
			}
			return 0
		}
	}
	m.Gauge("pregon_catalog_seq", "Newest change that the catalogue knows of.", figure(func(s *catalog.Snapshot) float64 { return float64(s.Seq()) }))
	m.Gauge("pregon_catalog_behind_seconds", "Time since the catalogue last knew that it had seen everything.", func() float64 { return cat.Behind().Seconds() })
	m.Gauge("pregon_catalog_reports", "Filings in the catalogue.", figure(func(s *catalog.Snapshot) float64 { return float64(s.Len()) }))
}

// serveDebug serves metrics and profiles on their own address.
func serveDebug(ctx context.Context, address string, h http.Handler, logger *slog.Logger) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot listen on %s", address)
	}
	logger.Info("listening for debug", "address", "http://"+l.Addr().String())
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
