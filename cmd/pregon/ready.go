package main

import (
	"context"
	"time"

	"pregon/internal/fault"
	"pregon/internal/source/health"
	"pregon/internal/source/ingest"
)

// ready returns why the service cannot answer yet, or nil. A simulated market is
// ready once its first month is loaded. A new store is ready once it has a report,
// or the regulator's lists were read and have none. Any other store is ready at
// once; the status says how fresh it is.
func (s *service) ready() error {
	if s.started.Load() {
		return nil
	}
	snapshot := s.catalog.Snapshot()
	switch {
	case snapshot == nil:
		return fault.New(fault.Unavailable, "The catalogue is still loading. Try again in a few seconds.")
	case s.demo != nil && !ingest.Started(s.coverage):
		return fault.New(fault.Unavailable, "The first month of the simulated market is still loading. Try again in a few seconds.")
	case s.awaitsSource && snapshot.Len() == 0 && !ingest.ListsRead(s.coverage):
		return fault.New(fault.Unavailable, "The store is new, and nothing was read from the regulator yet. Try again in a few seconds; /api/v1/status has the state of the source.")
	}
	s.started.Store(true)
	return nil
}

// whenReady calls fn once the service is ready.
func (s *service) whenReady(ctx context.Context, fn func()) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for s.ready() != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	fn()
}

// storeBlind is how long writes may fail before the status is blind.
const storeBlind = 15 * time.Second

// storeStatus implements query.Options.StoreStatus.
func (s *service) storeStatus() (reasons []health.Reason, blind bool) {
	for _, f := range s.store.Failures() {
		reasons = append(reasons, health.Reason{Surface: health.Store, Text: f.Part + ": " + f.Reason, Since: f.Since})
		blind = blind || f.Writes && time.Since(f.Since) > storeBlind
	}
	return reasons, blind
}
