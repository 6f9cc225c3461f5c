package webhook

import (
	"context"
	"maps"
	"slices"
	"time"
)

// refreshOwners reads and writes when owners were last seen, and reports whether
// that succeeded.
func (m *Manager) refreshOwners(ctx context.Context) bool {
	err := m.syncOwners(ctx)
	if err != nil && ctx.Err() == nil {
		m.log.WarnContext(ctx, "cannot read when owners of webhooks were seen", "err", err)
	}
	return err == nil
}

// endGone ends the webhooks of gone owners, unless the store fails.
func (d *dispatcher) endGone(ctx context.Context) {
	if d.refreshOwners(ctx) {
		d.removeGone(ctx)
	}
}

// clockInterval is the time between two looks for a clock that was set back.
const clockInterval = 10 * time.Second

// correctTimes makes deliveries due in time that were scheduled before the clock was
// set back.
func (d *dispatcher) correctTimes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	n, err := d.o.Store.CorrectTimes(ctx, d.claimFor, maxWait)
	switch {
	case err != nil && ctx.Err() == nil:
		d.log.WarnContext(ctx, "cannot look for deliveries in the future", "err", err)
	case n > 0:
		d.log.WarnContext(ctx, "the clock was set back: the next attempts of webhooks were moved with it", "webhooks", n)
		d.wakeUp()
	}
}

// cleanUp removes old deliveries and those of deleted webhooks.
func (d *dispatcher) cleanUp(ctx context.Context) {
	if err := d.prune(ctx); err != nil && ctx.Err() == nil {
		d.log.WarnContext(ctx, "cannot remove old deliveries to webhooks", "err", err)
	}
	known := d.known.Load().byID
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.backoffs, func(id string, _ backoff) bool { return known[id] == nil })
}

func (d *dispatcher) prune(ctx context.Context) error {
	const limit = 1000
	for {
		n, err := d.o.Store.PruneDeliveries(ctx, time.Now().Add(-retention), limit)
		if err != nil {
			return err
		}
		if n < limit {
			break
		}
	}
	d.removing.Lock()
	removed := slices.Collect(maps.Keys(d.removed))
	d.removing.Unlock()
	if len(removed) == 0 {
		return nil
	}
	left, err := d.o.Store.Endpoints(ctx, removed...)
	if err != nil {
		return err
	}
	for id := range left {
		if err := d.o.Store.DropDeliveries(ctx, id); err != nil {
			return err
		}
	}
	d.removing.Lock()
	defer d.removing.Unlock()
	for _, id := range removed {
		delete(d.removed, id)
	}
	return nil
}
