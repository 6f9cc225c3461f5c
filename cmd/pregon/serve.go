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
	logger := log.Logger
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot listen on %s", c.Listen)
	}
	defer listener.Close()
	opened, err := c.open(ctx, true)
	if err != nil {
		return err
	}
	defer opened.Close()
	if c.Source == "demo" {
		if err := fillDemo(ctx, opened); err != nil {
			return err
		}
	}

	db := &marked{Store: opened}
	base := c.baseURL(listener.Addr().String())
	metrics := telemetry.NewMetrics(version)
	cat := catalog.New(db, logger)
	observeCatalog(metrics, cat)
	mux := http.NewServeMux()
	surface, err := api.New(api.Options{Catalog: cat, Logger: logger, BaseURL: base, Version: version, Source: db.mark})
	if err != nil {
		return err
	}
	surface.Register(mux)
	server, err := httpserver.New(httpserver.Options{
		Mux: mux, Logger: logger, Source: db.mark, Ready: readiness(cat),
		Observe: func(o httpserver.Observation) {
			metrics.Request(o.Route, o.Method, o.Status, o.Duration)
			log.Request(telemetry.Request(o))
		},
	})
	if err != nil {
		return err
	}
	logger.Info("listening", "address", "http://"+listener.Addr().String(), "base_url", base,
		"store", c.show(), "source", c.Source, "version", version)

	g, ctx := errgroup.WithContext(ctx)
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	go log.Run(background)
	g.Go(func() error {
		defer stopBackground()
		return server.Run(ctx, listener)
	})
	g.Go(func() error { return untilStopped(follow(background, cat)) })
	if c.DebugListen != "" {
		g.Go(func() error { return serveDebug(background, c.DebugListen, metrics.Handler(), logger) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := opened.Close(); err != nil {
		return err
	}
	logger.Info("stopped")
	return nil
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
