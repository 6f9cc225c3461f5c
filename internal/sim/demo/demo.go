// Package demo runs the simulated market beside the service. It listens on its
// own local port and is read over HTTP, like the regulator.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/server/listen"
	"pregon/internal/server/private"
	"pregon/internal/sim/market"
	"pregon/internal/sim/pages"
	"pregon/internal/sim/simserver"
	"pregon/internal/source/coverage"
)

const (
	seed      = 1
	marketKey = "market" // of the name of the market in the store
)

// Demo is a running market.
type Demo struct {
	server   *simserver.Server
	listener net.Listener
}

// Start opens the market whose published reports are in a file, checks that the
// store belongs to it, and requests its history. Rate is in reports a minute.
func Start(
	ctx context.Context,
	tracker *coverage.Tracker,
	file string,
	rate float64,
	logger *slog.Logger,
) (*Demo, error) {
	if err := tracker.Refresh(ctx); err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && tracker.Value(marketKey) != "" {
		return nil, anotherMarket(file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	d, err := Listen("127.0.0.1:0", Options{
		Seed:   seed,
		File:   file,
		Rate:   rate,
		Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	if err := d.prepare(ctx, tracker, file); err != nil {
		return nil, errors.Join(err, d.listener.Close(), d.server.Close())
	}
	return d, nil
}

// Options describe a market.
type Options struct {
	Seed   uint64  // which market: the same seed is the same market
	File   string  // of published reports; empty to keep them in memory only
	Rate   float64 // new reports a minute
	Logger *slog.Logger
}

// Listen opens a market on an address, without a store.
func Listen(address string, o Options) (*Demo, error) {
	listener, err := listen.TCP("--listen", address)
	if err != nil {
		return nil, err
	}
	server, err := simserver.Open(simserver.Options{
		Market: market.New(o.Seed),
		Seed:   o.Seed,
		File:   o.File,
		Rate:   o.Rate,
		Logger: o.Logger,
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &Demo{server: server, listener: listener}, nil
}

// Open starts a market whose reports are not kept, for a short time, and returns its
// origin. Stop ends it.
func Open(ctx context.Context, logger *slog.Logger) (url string, stop func(), err error) {
	d, err := Listen("127.0.0.1:0", Options{Seed: seed, Logger: logger})
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = d.Run(ctx) // its listener is open already
	}()
	stop = func() {
		cancel()
		<-ended
	}
	return d.URL(), stop, nil
}

// URL returns the origin of the simulated regulator and exchange.
func (d *Demo) URL() string { return "http://" + d.listener.Addr().String() }

// Pages returns the pages of the market for people, under pages.Prefix.
func (d *Demo) Pages() http.Handler { return pages.New(d.server.Archive()) }

// Began returns when the market was first opened: its history ends there.
func (d *Demo) Began() time.Time { return d.server.Began() }

func anotherMarket(file string) error {
	return fault.New(fault.Conflict,
		"the store holds another simulated market than %s: remove the store, or put the file back that belongs to it", file)
}

func (d *Demo) prepare(ctx context.Context, tracker *coverage.Tracker, file string) error {
	name := fmt.Sprintf("%d %s", seed, d.Began().UTC().Format(time.RFC3339))
	switch tracker.Value(marketKey) {
	case name:
	case "":
		if err := tracker.SetValue(ctx, nil, marketKey, name); err != nil {
			return err
		}
	default:
		return anotherMarket(file)
	}
	// A new user finds summaries and texts on the first pages: the newest week is read
	// first and with its documents, then all reports, then the documents of a month. HR
	// has no lists by date: its month would take as long as all of it.
	last, listed := disclosure.DayOf(d.Began()), []disclosure.Type{disclosure.IP, disclosure.OIR}
	for _, job := range []coverage.Job{
		coverage.NewJob(last-7, last, listed).WithDocuments(),
		coverage.NewJob(market.Epoch, last, disclosure.Types),
		coverage.NewJob(last-30, last, listed).WithDocuments(),
	} {
		if _, requested := tracker.Job(job.ID); requested {
			continue
		}
		if _, err := tracker.Request(ctx, job); err != nil {
			return err
		}
	}
	return nil
}

// Run serves the market until the context ends, then closes it.
func (d *Demo) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.server.Run(ctx) })
	g.Go(func() error { return private.Serve(ctx, d.listener, d.server) })
	return errors.Join(g.Wait(), d.server.Close())
}
