package service

import (
	"context"
	"sync/atomic"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/source/coverage"
	"pregon/internal/source/ingest"
)

// readiness knows whether the service can answer.
type readiness struct {
	catalog      *catalog.Catalog
	coverage     *coverage.Tracker
	simulated    bool        // this process runs a simulated market
	awaitsSource bool        // a new store is filled from the source, by this process or another
	started      atomic.Bool // the first data is loaded
}

// check returns why the service cannot answer yet, or nil. A simulated market is
// ready once its first month is loaded. A new store is ready once it has a report,
// or the regulator's lists were read and have none. Any other store is ready at
// once; the status says how fresh it is.
func (r *readiness) check() error {
	if r.started.Load() {
		return nil
	}
	snapshot := r.catalog.Snapshot()
	switch {
	case snapshot == nil:
		return fault.New(fault.Unavailable, "The catalogue is still loading. Try again in a few seconds.")
	case r.simulated && !ingest.Started(r.coverage):
		return fault.New(fault.Unavailable,
			"The first month of the simulated market is still loading. Try again in a few seconds.")
	case r.awaitsSource && snapshot.Len() == 0 && !ingest.ListsRead(r.coverage):
		return fault.New(fault.Unavailable, "The store is new, and nothing was read from the regulator yet. "+
			"Try again in a few seconds; /api/v1/status has the state of the source.")
	}
	r.started.Store(true)
	return nil
}

// wait calls fn once the service is ready.
func (r *readiness) wait(ctx context.Context, fn func()) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for r.check() != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	fn()
}
