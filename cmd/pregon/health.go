package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"pregon/internal/cli"
	"pregon/internal/fault"
	"pregon/internal/server/origin"
)

// healthTimeout limits how long the service may take to answer.
const healthTimeout = 5 * time.Second

type healthCmd struct {
	Listen string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address on which serve listens."`
}

// Run asks the service whether it is ready, for health checks of containers, whose
// images have no other client.
func (c *healthCmd) Run(ctx context.Context, p *process) error {
	if err := cli.CheckAddress("--listen", c.Listen); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin.OfListener(c.Listen)+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Transport{}).RoundTrip(req) // without the proxy of the environment
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "no answer on %s", c.Listen)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		_, err := io.WriteString(p.stdout, "ready\n")
		return err
	}
	var problem struct{ Detail string }
	_ = json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&problem) // the status is enough
	return fault.New(fault.Unavailable, "not ready: %s %s", resp.Status, problem.Detail)
}
