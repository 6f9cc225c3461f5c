package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/server/origin"
	"pregon/internal/source/coverage"
	"pregon/internal/source/exchange"
	"pregon/internal/source/ingest"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// reader is ingest with its request queue.
type reader struct {
	*ingest.Ingest
	queue *throttle.Queue
}

// newReader creates ingest.
func (f *sourceFlags) newReader(db store.Store, led *coverage.Tracker, cat *catalog.Catalog, docs *documents, poll time.Duration, base string, logger *slog.Logger, observe func(surface, outcome string)) (*reader, error) {
	agent := f.agent(base)
	if f.RegulatorURL == regulator.PublicOrigin && f.Contact == "" {
		logger.Warn("the regulator should be able to contact you: set --contact to an address or a page", "user_agent", agent)
	}
	queue := throttle.New(f.Pace)
	source, err := regulator.New(regulator.Options{Origin: f.RegulatorURL, UserAgent: agent, Queue: queue})
	if err != nil {
		return nil, err
	}
	gap := time.Second
	if origin.IsLocal(f.ExchangeURL) {
		gap = min(gap, f.Pace)
	}
	listed, err := exchange.New(exchange.Options{Origin: f.ExchangeURL, UserAgent: agent, Gap: gap})
	if err != nil {
		return nil, err
	}
	return &reader{queue: queue, Ingest: ingest.New(ingest.Options{
		Store: db, Coverage: led, Catalog: cat, Regulator: source, Exchange: listed, Documents: docs.Keeper,
		Poll: poll, Holder: processName(), Logger: logger, Observe: observe,
	})}, nil
}

// agent returns the User-Agent. A local address is not a contact.
func (f *sourceFlags) agent(base string) string {
	switch {
	case f.Contact != "":
		return "pregon/" + version + " (+" + f.Contact + ")"
	case base != "" && !origin.IsLocal(base):
		return "pregon/" + version + " (+" + base + ")"
	}
	return "pregon/" + version + " (contact not given)"
}

// processName returns a name that is unique among all processes on all machines.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:8])
}

// claim records the source in the store before the first report, if it is known
// beforehand. Another address may be a simulation, which its responses say.
func (c *serveConfig) claim(ctx context.Context, db store.Store) error {
	switch {
	case c.Source == "demo":
		return ingest.Claim(ctx, db, true)
	case c.Source == "cnmv" && c.RegulatorURL == regulator.PublicOrigin:
		return ingest.Claim(ctx, db, false)
	}
	return nil
}
