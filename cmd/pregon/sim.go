package main

import (
	"context"
	"log/slog"

	"pregon/internal/cli"
	"pregon/internal/sim/demo"
)

type simCmd struct {
	Listen string   `default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"Address to serve on. Port 0 takes a free one."`
	Seed   uint64   `default:"1" help:"Seed of the simulated market: the same seed gives the same market."`
	Rate   cli.Rate `default:"12" placeholder:"N/min" help:"New reports a minute."`
	File   string   `placeholder:"PATH" help:"File of published reports, so that a restart continues the same market. Default: in memory only."`
}

// Run serves the simulated regulator and exchange until the context ends.
func (c *simCmd) Run(ctx context.Context, p *process) error {
	if err := cli.CheckAddress("--listen", c.Listen); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(p.stderr, nil))
	d, err := demo.Listen(c.Listen, demo.Options{
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
