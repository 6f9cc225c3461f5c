package main

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
	"pregon/internal/sim/market"
	"pregon/internal/sim/simserver"
	"pregon/internal/source/coverage"
)

// demo is the simulated market inside serve. It listens on a port of its own
// on this machine and is read over HTTP, as the regulator is.
type demo struct {
	server   *simserver.Server
	listener net.Listener
}

const demoSeed = 1

// startDemo opens the simulated market and turns the settings to it.
func (c *serveConfig) startDemo(ctx context.Context, led *coverage.Tracker, logger *slog.Logger) (*demo, error) {
	if err := led.Refresh(ctx); err != nil {
		return nil, err
	}
	file := c.simFile()
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && led.Value(marketMemo) != "" {
		return nil, anotherMarket(file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	market, err := simserver.Open(simserver.Options{
		Market: market.New(demoSeed), Seed: demoSeed, File: file, Rate: float64(c.Rate), Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, market.Close())
	}
	d := &demo{server: market, listener: listener}
	if err := d.prepare(ctx, led, file); err != nil {
		return nil, errors.Join(err, d.close())
	}
	c.RegulatorURL = "http://" + listener.Addr().String()
	c.ExchangeURL, c.Pace = c.RegulatorURL, 0
	return d, nil
}

// marketMemo names the simulated market that a store holds.
const marketMemo = "market"

func anotherMarket(file string) error {
	return fault.New(fault.Conflict, "the store holds another simulated market than %s: remove the store, or put the file back that belongs to it", file)
}

// simFile is where the simulated market keeps what it published: beside the
// store, if that is a file.
func (c *serveConfig) simFile() string {
	if address, err := c.address(); err == nil && address.Path() != "" {
		return filepath.Join(filepath.Dir(address.Path()), "sim.jsonl")
	}
	return filepath.Join("data", "sim.jsonl")
}

// prepare sees that the store is that of this market, and asks for its history.
func (d *demo) prepare(ctx context.Context, led *coverage.Tracker, file string) error {
	name := fmt.Sprintf("%d %s", demoSeed, d.server.Began().UTC().Format(time.RFC3339))
	switch led.Value(marketMemo) {
	case name:
	case "":
		if err := led.SetValue(ctx, nil, marketMemo, name); err != nil {
			return err
		}
	default:
		return anotherMarket(file)
	}
	job := coverage.NewJob(market.Epoch, disclosure.DayOf(d.server.Began()), disclosure.Types)
	if _, asked := led.Job(job.ID); asked {
		return nil
	}
	_, err := led.Request(ctx, job)
	return err
}

// run serves the market until the context ends.
func (d *demo) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return untilStopped(d.server.Run(ctx)) })
	g.Go(func() error { return serveUntil(ctx, d.listener, d.server) })
	return errors.Join(g.Wait(), d.server.Close())
}

func (d *demo) close() error { return errors.Join(d.listener.Close(), d.server.Close()) }

// serveUntil serves HTTP until the context ends.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type simCmd struct {
	Listen string        `default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"Address to serve on. Port 0 takes a free one."`
	Seed   uint64        `default:"1" help:"Which market: the same seed is the same market."`
	Rate   ratePerMinute `default:"12" placeholder:"N/min" help:"New reports a minute."`
	File   string        `placeholder:"PATH" help:"Where to keep what was published, so that a restart goes on with the same market. Default: in memory only."`
}

// Run serves the simulated regulator and exchange until the context ends.
func (c *simCmd) Run(ctx context.Context, p *process) error {
	if err := checkAddress("--listen", c.Listen); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(p.stderr, nil))
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot listen on %s", c.Listen)
	}
	server, err := simserver.Open(simserver.Options{Market: market.New(c.Seed), Seed: c.Seed, File: c.File, Rate: float64(c.Rate), Logger: logger})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	logger.Info("listening", "address", "http://"+listener.Addr().String(), "seed", c.Seed, "began", server.Began())
	return (&demo{server: server, listener: listener}).run(ctx)
}
