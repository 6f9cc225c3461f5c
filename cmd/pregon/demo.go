package main

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"

	"pregon/internal/auth/access"
	"pregon/internal/cli"
	"pregon/internal/server/problem"
	"pregon/internal/sim/demo"
	"pregon/internal/sim/market"
	"pregon/internal/sim/simserver"
	"pregon/internal/source/coverage"
)

// startDemo starts the simulated market and points the settings to it.
func (c *serveConfig) startDemo(ctx context.Context, tracker *coverage.Tracker, logger *slog.Logger) (*demo.Demo, error) {
	file := filepath.Join("data", "sim.jsonl")
	if address, err := c.address(); err == nil && address.Path() != "" {
		file = filepath.Join(filepath.Dir(address.Path()), "sim.jsonl")
	}
	d, err := demo.Start(ctx, tracker, file, float64(c.Rate), logger)
	if err != nil {
		return nil, err
	}
	c.RegulatorURL = d.URL()
	c.ExchangeURL = d.URL()
	c.Pace = 0
	return d, nil
}

// simulator serves the pages of the simulated market. They are not counted against
// the limit of anonymous callers, who come from the links of reports. Making a
// document takes a while, so that each caller has few slots.
func (s *service) simulator() http.Handler {
	site := s.demo.Pages()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := access.RefuseInQuery(r.URL.RawQuery); err != nil {
			problem.Write(w, err)
			return
		}
		slot, err := s.auth.Guard.AcquireSlot(r, access.Principal{}, true)
		if err != nil {
			problem.Write(w, err)
			return
		}
		defer slot.Release()
		site.ServeHTTP(w, r)
	})
}

type simCmd struct {
	Listen string   `default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"Address to serve on. Port 0 takes a free one."`
	Seed   uint64   `default:"1" help:"Which market: the same seed is the same market."`
	Rate   cli.Rate `default:"12" placeholder:"N/min" help:"New reports a minute."`
	File   string   `placeholder:"PATH" help:"File of published reports, so that a restart continues the same market. Default: in memory only."`
}

// Run serves the simulated regulator and exchange until the context ends.
func (c *simCmd) Run(ctx context.Context, p *process) error {
	if err := cli.CheckAddress("--listen", c.Listen); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(p.stderr, nil))
	d, err := demo.Listen(c.Listen, simserver.Options{
		Market: market.New(c.Seed),
		Seed:   c.Seed,
		File:   c.File,
		Rate:   float64(c.Rate),
		Logger: logger,
	})
	if err != nil {
		return err
	}
	logger.Info("listening", "address", d.URL(), "seed", c.Seed, "started", d.Began())
	return d.Run(ctx)
}
