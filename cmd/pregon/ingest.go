package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"pregon/internal/document"
	"pregon/internal/server/origin"
	"pregon/internal/source/coverage"
	"pregon/internal/source/exchange"
	"pregon/internal/source/ingest"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// reader is an Ingest and the throttle of its requests.
type reader struct {
	*ingest.Ingest
	queue *throttle.Queue
}

// readerOptions are the collaborators of a reader.
type readerOptions struct {
	db        store.Store
	coverage  *coverage.Tracker
	known     ingest.Known
	recent    ingest.Recent // nil for a back-fill
	documents *documents
	poll      time.Duration
	base      string // public address of the service, for the user agent
	logger    *slog.Logger
	observe   func(surface, outcome string, start time.Time)
	// observeDocument may be nil.
	observeDocument func(report string, outcome document.Outcome, start time.Time)
}

// newReader returns a reader of the source that the flags name.
func (f *sourceFlags) newReader(o readerOptions) (*reader, error) {
	agent := f.agent(o.base)
	if f.RegulatorURL == regulator.PublicOrigin && f.Contact == "" {
		o.logger.Warn("the regulator has no contact for this service: give --contact an address or a page", "user_agent", agent)
	}
	queue := throttle.New(f.Pace)
	source, listed, err := f.clients(agent, queue, nil, nil)
	if err != nil {
		return nil, err
	}
	return &reader{queue: queue, Ingest: ingest.New(ingest.Options{
		Store:           o.db,
		Coverage:        o.coverage,
		Known:           o.known,
		Recent:          o.recent,
		Regulator:       source,
		Exchange:        listed,
		Documents:       o.documents.Keeper,
		Poll:            o.poll,
		Holder:          ingest.ProcessName(),
		Logger:          o.logger,
		Observe:         o.observe,
		ObserveDocument: o.observeDocument,
	})}, nil
}

// clients returns the clients of the regulator and the exchange. The transports may
// be nil.
func (f *sourceFlags) clients(agent string, queue *throttle.Queue, regulators, exchanges http.RoundTripper) (*regulator.Client, *exchange.Client, error) {
	source, err := regulator.New(regulator.Options{
		Origin:    f.RegulatorURL,
		UserAgent: agent,
		Queue:     queue,
		Transport: regulators,
	})
	if err != nil {
		return nil, nil, err
	}
	gap := time.Second
	if origin.IsLocal(f.ExchangeURL) {
		gap = min(gap, f.Pace)
	}
	listed, err := exchange.New(exchange.Options{
		Origin:    f.ExchangeURL,
		UserAgent: agent,
		Gap:       gap,
		Transport: exchanges,
	})
	return source, listed, err
}

// agent returns the user agent. A local address is no contact.
func (f *sourceFlags) agent(base string) string {
	switch {
	case f.Contact != "":
		return "pregon/" + version + " (+" + f.Contact + ")"
	case base != "" && !origin.IsLocal(base):
		return "pregon/" + version + " (+" + base + ")"
	}
	return "pregon/" + version + " (contact not given)"
}

// claim marks a store as belonging to the source where the flags decide what the
// source is. Another address may be a simulation, which only its answers show.
func (c *serveConfig) claim(ctx context.Context, db store.Store) error {
	switch {
	case c.Source == "demo":
		return store.BindSource(ctx, db, true)
	case c.Source == "cnmv" && c.RegulatorURL == regulator.PublicOrigin:
		return store.BindSource(ctx, db, false)
	}
	return nil
}
