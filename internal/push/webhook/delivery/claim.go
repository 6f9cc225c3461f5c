package delivery

import (
	"context"
	"maps"
	"slices"
	"time"

	"pregon/internal/retry"
	"pregon/internal/store"
)

// claim is a webhook that this process holds. It is renewed during long
// attempts. If that fails, its context ends and cancels the attempt before
// another process can claim the webhook.
type claim struct {
	failing bool
	ctx     context.Context
	end     context.CancelFunc
	lapse   *time.Timer // calls end
}

// newClaim returns a claim that was requested at a time.
func (d *dispatcher) newClaim(failing bool, asked time.Time) *claim {
	c := &claim{failing: failing}
	c.ctx, c.end = context.WithCancel(d.sending)
	c.lapse = time.AfterFunc(d.lasts(asked), c.end)
	return c
}

// lasts returns the remaining time of a claim that was requested at a time. The
// last eighth is reserved for canceling an attempt.
func (d *dispatcher) lasts(asked time.Time) time.Duration {
	return time.Until(asked.Add(d.claimFor - d.claimFor/8))
}

// outcome is a result, or the end of a claim if result is nil.
type outcome struct {
	webhook string
	result  *store.Result
}

// claim claims as many webhooks as there are free slots, and starts a worker
// for each.
func (d *dispatcher) claim(ctx context.Context, failing bool) error {
	free, ids := d.claimable(failing)
	if free == 0 || len(ids) == 0 {
		return nil
	}
	asked := time.Now()
	asking, cancel := context.WithTimeout(ctx, d.claimFor)
	defer cancel()
	claimed, err := d.store.Claim(asking, store.Claim{
		Holder:    d.holder,
		Webhooks:  ids,
		Failing:   failing,
		Endpoints: free,
		Each:      claimBatch,
		TTL:       d.claimFor,
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range claimed {
		held := d.newClaim(failing, asked)
		d.held[c.Webhook] = held
		d.workers.Go(func() {
			if c.Webhook == textQueue {
				d.matchTexts(held, c.Deliveries)
			} else {
				d.work(held, c)
			}
			d.outcomes <- outcome{webhook: c.Webhook}
		})
	}
	return nil
}

// claimable returns the number of free slots, and the webhooks that may be
// claimed.
func (d *dispatcher) claimable(failing bool) (free int, ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.hooks.Known().Hooks
	free = d.slots
	of := map[string]int{} // slots that an account has, or may get
	for id, c := range d.held {
		if c.failing != failing {
			continue
		}
		free--
		if h := known[id]; h != nil {
			of[h.Account]++
		}
	}
	now, texts := time.Now(), false
	for id, h := range known {
		texts = texts || h.Enabled && h.Filter.InDocument
		r := d.backoffs[id]
		rested := !now.Before(r.until) || r.revision != h.Revision()
		if d.held[id] != nil || !rested || of[h.Account] >= d.slots/4 {
			continue
		}
		if _, served := d.hooks.Serves(h); served {
			of[h.Account]++
			ids = append(ids, id)
		}
	}
	if texts && d.held[textQueue] == nil {
		ids = append(ids, textQueue)
	}
	return free, ids
}

// renew extends all claims. It times out early enough for another try.
func (d *dispatcher) renew(ctx context.Context) {
	d.mu.Lock()
	held := maps.Clone(d.held)
	d.mu.Unlock()
	if len(held) == 0 {
		return
	}
	asked := time.Now()
	asking, cancel := context.WithTimeout(ctx, d.claimFor/2)
	defer cancel()
	renewed, err := d.store.Renew(asking, d.holder, d.claimFor, slices.Collect(maps.Keys(held))...)
	if err != nil {
		return // the claims expire
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, c := range held {
		switch {
		case d.held[id] != c: // released, and perhaps claimed again
		case slices.Contains(renewed, id):
			c.lapse.Reset(d.lasts(asked))
		default:
			c.end() // another process has it
		}
	}
}

// settle writes results in batches. It releases a claim after its results, so
// that no other process sends them again.
func (d *dispatcher) settle(ctx context.Context) {
	for first := range d.outcomes {
		some := []outcome{first}
		full := time.After(settleInterval)
		for more := true; more && len(some) < maxSettled; {
			select {
			case o, open := <-d.outcomes:
				if more = open; open {
					some = append(some, o)
				}
			case <-full:
				more = false
			}
		}
		d.write(ctx, some)
	}
}

func (d *dispatcher) write(ctx context.Context, some []outcome) {
	var results []store.Result
	var done []string
	for _, o := range some {
		if o.result != nil {
			results = append(results, *o.result)
		} else {
			done = append(done, o.webhook)
		}
	}
	if len(results) > 0 && !d.retry(ctx, func() error { return d.store.Settle(ctx, results...) }) {
		return // the claims expire, and the deliveries are sent again
	}
	if len(done) == 0 {
		return
	}
	_ = d.store.Release(ctx, d.holder, done...) // otherwise it expires
	d.mu.Lock()
	for _, id := range done {
		if c := d.held[id]; c != nil {
			c.lapse.Stop()
			c.end()
		}
		delete(d.held, id)
	}
	d.mu.Unlock()
	d.wakeUp()
}

// retry calls do until it succeeds or the context ends.
func (d *dispatcher) retry(ctx context.Context, do func() error) bool {
	const least = 100 * time.Millisecond
	for wait := least; ; wait = min(2*wait, storeTimeout) {
		err := do()
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if wait == least { // logged once, not each time
			d.log.WarnContext(ctx, "cannot write results of deliveries: retrying", "err", err)
		}
		_ = retry.Sleep(ctx, wait)
	}
}
