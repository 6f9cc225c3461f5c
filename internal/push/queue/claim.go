package queue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"pregon/internal/retry"
	"pregon/internal/store"
)

// Claim is an endpoint that this process holds.
type Claim struct {
	Endpoint string
	group    string
	Failing  bool // the last attempt at the endpoint failed

	ctx   context.Context
	end   context.CancelFunc
	lapse *time.Timer // calls end
	until time.Time   // when it does; guarded by queue.mu
	queue *Queue
	began time.Time
}

// newClaim returns a claim that was requested at a time.
func (q *Queue) newClaim(id, group string, failing bool, asked time.Time) *Claim {
	c := &Claim{
		Endpoint: id,
		group:    group,
		Failing:  failing,
		queue:    q,
		began:    time.Now(),
	}
	c.ctx, c.end = context.WithCancel(q.sending)
	c.until = q.lasts(asked)
	c.lapse = time.AfterFunc(time.Until(c.until), c.end)
	return c
}

// lasts returns the end of a claim that was requested at a time. The last eighth is
// reserved for canceling an attempt.
func (q *Queue) lasts(asked time.Time) time.Time {
	return asked.Add(q.o.Timing.ClaimFor - q.o.Timing.ClaimFor/8)
}

// lapses reports whether a claim ends soon, because it was not renewed in time.
func (c *Claim) lapses() bool {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	return time.Until(c.until) < c.queue.o.Timing.ClaimFor/4
}

// Context returns the context of attempts. It ends when the claim is lost.
func (c *Claim) Context() context.Context { return c.ctx }

// Over reports whether no further attempt may begin: the service stops, the claim is lost,
// or it is the turn of others. A claim that ends soon is over too: an attempt would be
// canceled, perhaps after the receiver accepted it, and be repeated.
func (c *Claim) Over() bool {
	return c.queue.Ended() || c.ctx.Err() != nil || c.lapses() || time.Since(c.began) > maxTurn
}

// Settle has results written, all or none, before the claim is released.
func (c *Claim) Settle(results ...store.Result) {
	c.queue.outcomes <- outcome{endpoint: c.Endpoint, results: results}
}

// outcome has results, or is the end of a claim if it has none.
type outcome struct {
	endpoint string
	results  []store.Result
}

// claim claims as many endpoints of each group as there are free slots, and starts a
// worker for each.
func (q *Queue) claim(ctx context.Context, failing bool) error {
	var failed error
	for group, ids := range q.claimable(failing) {
		failed = errors.Join(failed, q.claimGroup(ctx, failing, group, ids))
	}
	return failed
}

func (q *Queue) claimGroup(ctx context.Context, failing bool, group string, ids []string) error {
	free := q.free(failing, group)
	if free <= 0 {
		return nil
	}
	asked := time.Now()
	asking, cancel := context.WithTimeout(ctx, q.o.Timing.ClaimFor)
	defer cancel()
	claimed, err := q.o.Store.Claim(asking, store.Claim{
		Holder:    q.holder,
		Webhooks:  ids,
		Failing:   failing,
		Together:  q.o.Together,
		Endpoints: free,
		Each:      q.o.Each,
		TTL:       q.o.Timing.ClaimFor,
	})
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range claimed {
		held := q.newClaim(c.Webhook, group, failing, asked)
		q.held[c.Webhook] = held
		q.workers.Go(func() {
			q.o.Work(held, c)
			q.outcomes <- outcome{endpoint: c.Webhook}
		})
	}
	return nil
}

// free returns the number of free slots of a group.
func (q *Queue) free(failing bool, group string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	free := q.o.Timing.Slots
	for _, c := range q.held {
		if c.Failing == failing && c.group == group {
			free--
		}
	}
	return free
}

// claimable returns the endpoints that may be claimed, by group.
func (q *Queue) claimable(failing bool) map[string][]string {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids := map[string][]string{}
	of := map[string]int{} // slots that an account has, or may get
	var rested []Endpoint
	now := time.Now()
	for e := range q.o.Endpoints() {
		c := q.held[e.ID]
		if c != nil {
			if c.Failing == failing {
				of[e.Account]++
			}
			continue
		}
		if r := q.backoffs[e.ID]; !now.Before(r.until) || r.revision != e.Revision {
			rested = append(rested, e)
		}
	}
	for _, e := range rested {
		if e.Account != "" && of[e.Account] >= q.o.Timing.Slots/4 {
			continue
		}
		if q.o.Serves(e.ID) {
			of[e.Account]++
			ids[e.Group] = append(ids[e.Group], e.ID)
		}
	}
	return ids
}

// renew extends all claims. It times out early enough for another try.
func (q *Queue) renew(ctx context.Context) {
	q.mu.Lock()
	held := maps.Clone(q.held)
	q.mu.Unlock()
	if len(held) == 0 {
		return
	}
	asked := time.Now()
	asking, cancel := context.WithTimeout(ctx, q.o.Timing.ClaimFor/2)
	defer cancel()
	renewed, err := q.o.Store.Renew(asking, q.holder, q.o.Timing.ClaimFor, slices.Collect(maps.Keys(held))...)
	if err != nil {
		return // the claims expire
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, c := range held {
		switch {
		case q.held[id] != c: // released, and perhaps claimed again
		case slices.Contains(renewed, id):
			c.until = q.lasts(asked)
			c.lapse.Reset(time.Until(c.until))
		default:
			c.end() // another process has it
		}
	}
}

// settle writes results in batches. It releases a claim after its results, so that no
// other process sends them again.
func (q *Queue) settle(ctx context.Context) {
	for first := range q.outcomes {
		b := batch{}
		b.add(first)
		over := time.After(settleInterval)
		for more := true; more && !q.complete(&b); {
			select {
			case o, open := <-q.outcomes:
				if more = open; open {
					b.add(o)
				}
			case <-over:
				more = false
			}
		}
		q.write(ctx, &b)
	}
}

// batch is written at once: results, and the endpoints whose claims are over.
type batch struct {
	results []store.Result
	done    []string
}

func (b *batch) add(o outcome) {
	if len(o.results) == 0 {
		b.done = append(b.done, o.endpoint)
	}
	b.results = append(b.results, o.results...)
}

// complete reports whether a batch need not wait for more: it is large enough, or all
// claims are over, so that there will be no more until others begin.
func (q *Queue) complete(b *batch) bool {
	if len(b.results) >= maxSettled {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(b.done) >= len(q.held)
}

func (q *Queue) write(ctx context.Context, b *batch) {
	if len(b.results) > 0 && !q.retry(ctx, func() error { return q.o.Store.Settle(ctx, b.results...) }) {
		return // the claims expire, and the deliveries are sent again
	}
	if len(b.done) == 0 {
		return
	}
	_ = q.o.Store.Release(ctx, q.holder, b.done...) // otherwise it expires
	q.mu.Lock()
	for _, id := range b.done {
		if c := q.held[id]; c != nil {
			c.lapse.Stop()
			c.end()
		}
		delete(q.held, id)
	}
	q.mu.Unlock()
	q.wakeUp()
}

// retry calls do until it succeeds or the context ends.
func (q *Queue) retry(ctx context.Context, do func() error) bool {
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
			q.o.Logger.WarnContext(ctx, "cannot write results of deliveries: retrying", "err", err)
		}
		_ = retry.Sleep(ctx, wait)
	}
}
