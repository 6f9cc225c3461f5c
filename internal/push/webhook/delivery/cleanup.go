package delivery

import (
	"context"
	"maps"
	"time"
)

// clockInterval is the time between two looks for a clock that was set back.
const clockInterval = 10 * time.Second

// correctTimes makes deliveries due in time that were scheduled before the clock was
// set back.
func (d *dispatcher) correctTimes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	n, err := d.store.CorrectTimes(ctx, d.claimFor, maxWait)
	if err != nil {
		if ctx.Err() == nil {
			d.clockCheck.Failed("cannot check for deliveries with a time in the future", "err", err)
		}
		return
	}
	d.clockCheck.Recovered("")
	if n > 0 {
		d.log.WarnContext(ctx, "the clock was set back: the next attempts of webhooks were moved with it",
			"webhooks", n)
		d.wakeUp()
	}
}

// cleanUp removes old deliveries and those of deleted webhooks.
func (d *dispatcher) cleanUp(ctx context.Context) {
	if err := d.prune(ctx); err != nil && ctx.Err() == nil {
		d.log.WarnContext(ctx, "cannot remove old deliveries to webhooks", "err", err)
	}
	known := d.hooks.Known().Hooks
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.backoffs, func(id string, _ backoff) bool { return known[id] == nil })
}

// prune removes the deliveries that ended long ago, and those of removed webhooks.
func (d *dispatcher) prune(ctx context.Context) error {
	const limit = 1000
	for {
		n, err := d.store.PruneDeliveries(ctx, time.Now().Add(-retention), limit)
		if err != nil {
			return err
		}
		if n < limit {
			break
		}
	}
	removed := d.hooks.Removed()
	if len(removed) == 0 {
		return nil
	}
	left, err := d.store.Endpoints(ctx, removed...)
	if err != nil {
		return err
	}
	for id := range left {
		if err := d.store.DropDeliveries(ctx, id); err != nil {
			return err
		}
	}
	d.hooks.Cleared(removed...)
	return nil
}
