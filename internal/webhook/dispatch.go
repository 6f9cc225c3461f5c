package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	refuseInterval = time.Second // how often webhooks with filters that became too long are disabled
	storeTimeout   = 5 * time.Second
	maxSlots       = 256              // claims at a time, of those that work and of those that fail
	claimBatch     = 100              // deliveries of a claim
	maxTurn        = 30 * time.Second // after which a claim goes to the end of the queue
	maxBackoff     = 30 * time.Second
	settleInterval = 5 * time.Millisecond
	maxSettled     = 500 // results in one transaction
	pruneInterval  = time.Hour
	retention      = 30 * 24 * time.Hour
)

// Run serves the webhooks until the context ends. Then it lets what is being
// sent end, for a while, settles it and gives back its claims.
func (m *Manager) Run(ctx context.Context) error {
	detached := context.WithoutCancel(ctx)
	sending, cancelSending := context.WithCancel(detached)
	defer cancelSending()
	settling, cancelSettling := context.WithCancel(detached)
	defer cancelSettling()
	d := &dispatcher{
		Manager: m, holder: rand.Text(), sending: sending, ending: ctx.Done(),
		outcomes: make(chan outcome, maxSettled), held: map[string]*claim{}, backoffs: map[string]backoff{},
	}
	// Claims are renewed until the last result is settled: another process must
	// not send what this one is still sending.
	renewing, stopRenewing := context.WithCancel(settling)
	defer stopRenewing()
	var settler, renewer, loops sync.WaitGroup
	settler.Go(func() { d.settle(settling) })
	renewer.Go(func() { every(renewing, m.claimFor/4, d.renew) })
	loops.Go(func() { _ = m.follower.Run(ctx) })
	loops.Go(func() { every(ctx, refuseInterval, d.refuseFilters) })
	loops.Go(func() { m.fanOut(ctx) })
	loops.Go(func() { d.dispatch(ctx) })
	loops.Go(func() { every(ctx, pruneInterval, d.cleanUp) })
	loops.Go(func() { every(ctx, ownersInterval, d.refreshOwners) })
	<-ctx.Done()
	defer time.AfterFunc(m.grace, cancelSending).Stop()
	defer time.AfterFunc(m.grace+m.settleTimeout, cancelSettling).Stop()
	loops.Wait()
	d.workers.Wait()
	close(d.outcomes)
	settler.Wait()
	stopRenewing()
	renewer.Wait()
	// A claim whose answer did not arrive is ours too.
	releasing, cancelReleasing := context.WithTimeout(settling, m.claimFor/4) // what is not given back lapses
	defer cancelReleasing()
	_ = m.o.Store.Release(releasing, d.holder, slices.Collect(maps.Keys(m.known.Load().byID))...)
	m.client.CloseIdleConnections()
	return ctx.Err()
}

// every does something now and then.
func every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		do(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// dispatcher claims webhooks and sends what is due for them.
type dispatcher struct {
	*Manager
	holder   string
	sending  context.Context // ends when nothing may be sent any more
	ending   <-chan struct{} // closed when nothing new is to be begun
	workers  sync.WaitGroup
	outcomes chan outcome

	mu       sync.Mutex
	held     map[string]*claim  // guarded by mu
	backoffs map[string]backoff // guarded by mu: receivers that failed
}

// claim is a webhook that is ours. An attempt may last longer than a claim, which
// is renewed meanwhile. When that fails, the claim's context ends, and cuts the
// attempt, before another process can have the webhook.
type claim struct {
	failing bool
	ctx     context.Context
	end     context.CancelFunc
	lapse   *time.Timer // calls end
}

// newClaim returns a claim that was asked for at a time.
func (d *dispatcher) newClaim(failing bool, asked time.Time) *claim {
	c := &claim{failing: failing}
	c.ctx, c.end = context.WithCancel(d.sending)
	c.lapse = time.AfterFunc(d.lasts(asked), c.end)
	return c
}

// lasts returns for how long a claim that was asked for at a time may still be
// used. The last eighth is left for the end of an attempt to reach its receiver.
func (d *dispatcher) lasts(asked time.Time) time.Duration {
	return time.Until(asked.Add(d.claimFor - d.claimFor/8))
}

// rest is the time for which a receiver is left alone.
type backoff struct {
	failures int // in a row
	until    time.Time
	revision int64 // of the webhook: when its owner has changed it, it may work
}

// outcome is a result, or the end of a claim when there is none.
type outcome struct {
	webhook string
	result  *store.Result
}

// refuseFilters disables the webhooks whose filters are longer than filters may
// be now.
func (d *dispatcher) refuseFilters(ctx context.Context) {
	for _, h := range d.known.Load().byID {
		if h.Enabled && h.filterError != "" {
			d.disable(ctx, h, "its filter "+h.filterError+": shorten it, then enable the webhook again")
		}
	}
}

// dispatch claims until the context ends.
func (d *dispatcher) dispatch(ctx context.Context) {
	told := false
	for {
		err := errors.Join(d.claim(ctx, false), d.claim(ctx, true))
		if err != nil && ctx.Err() == nil && !told { // once, not each time
			d.log.WarnContext(ctx, "webhooks cannot be served: what is due waits", "err", err)
		}
		told = err != nil
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		case <-time.After(d.poll):
		}
	}
}

// claim takes as many webhooks as there is room for, and sets to work.
func (d *dispatcher) claim(ctx context.Context, failing bool) error {
	free, ids := d.claimable(failing)
	if free == 0 || len(ids) == 0 {
		return nil
	}
	asked := time.Now()
	asking, cancel := context.WithTimeout(ctx, d.claimFor)
	defer cancel()
	claimed, err := d.o.Store.Claim(asking, store.Claim{Holder: d.holder, Webhooks: ids, Failing: failing, Endpoints: free, Each: claimBatch, TTL: d.claimFor})
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range claimed {
		held := d.newClaim(failing, asked)
		d.held[c.Webhook] = held
		d.workers.Go(func() {
			d.work(held, c)
			d.outcomes <- outcome{webhook: c.Webhook}
		})
	}
	return nil
}

// claimable returns how many claims there is room for, and which webhooks may
// be claimed.
func (d *dispatcher) claimable(failing bool) (free int, ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.known.Load().byID
	free = d.slots
	of := map[string]int{} // slots that an owner has, or may get
	for id, c := range d.held {
		if c.failing != failing {
			continue
		}
		free--
		if h := known[id]; h != nil {
			of[h.Owner]++
		}
	}
	now := time.Now()
	for id, h := range known {
		r := d.backoffs[id]
		if d.held[id] == nil && d.served(h) && (!now.Before(r.until) || r.revision != h.revision) && of[h.Owner] < d.slots/4 {
			of[h.Owner]++
			ids = append(ids, id)
		}
	}
	return free, ids
}

func (d *dispatcher) served(h *hook) bool {
	return h != nil && h.Enabled && d.ownerStatus(h.Owner).Gone == ""
}

// work sends what is due for a webhook, until something fails.
func (d *dispatcher) work(held *claim, c store.Claimed) {
	start := time.Now()
	bodies, err := d.read(held.ctx, c.Deliveries)
	if err != nil {
		if h := d.known.Load().byID[c.Webhook]; h != nil && !d.ended() && held.ctx.Err() == nil {
			d.log.WarnContext(d.sending, "changes for a webhook cannot be read: they wait", "webhook", c.Webhook, "err", err)
			d.backOff(h, 0)
		}
		return
	}
	for _, delivery := range c.Deliveries {
		h := d.known.Load().byID[c.Webhook]
		if !d.served(h) || d.ended() || held.ctx.Err() != nil || time.Since(start) > maxTurn {
			return
		}
		if reason := d.skipReason(h, delivery); reason != "" {
			d.dead.Add(1)
			r := store.Result{Webhook: h.ID, Epoch: delivery.Epoch, Seq: delivery.Seq, State: store.DeliveryDead, Attempt: store.Attempt{At: time.Now().UTC(), Error: reason}}
			d.outcomes <- outcome{c.Webhook, &r}
			continue
		}
		var a attempt
		if body := bodies[delivery.Seq]; body != nil {
			d.inFlight.Add(1)
			a = d.send(held.ctx, h, MessageID(delivery), body)
			d.inFlight.Add(-1)
		} else { // cannot happen: nothing is ever removed from the log
			a = attempt{Attempt: store.Attempt{At: time.Now().UTC(), Error: "the change is not in the log"}}
		}
		if a.canceled {
			return
		}
		r := d.result(delivery, a)
		d.outcomes <- outcome{c.Webhook, &r}
		if !a.ok {
			d.backOff(h, a.retryAfter)
			d.disableFailing(h, a, held.failing)
			return
		}
		d.clearBackoff(c.Webhook)
	}
}

// read makes the bodies of deliveries, by seq.
func (d *dispatcher) read(ctx context.Context, deliveries []store.Delivery) (map[int64][]byte, error) {
	all := make(map[int64][]byte, len(deliveries))
	var missing []int64
	epoch := d.o.Encoder.Head().Epoch
	for _, delivery := range deliveries {
		// One of another epoch is old, or the catalogue is.
		if body := d.bodies.get(disclosure.Cursor{Epoch: epoch, Seq: delivery.Seq}); body != nil && delivery.Epoch == epoch {
			all[delivery.Seq] = body
		} else {
			missing = append(missing, delivery.Seq)
		}
	}
	if len(missing) == 0 {
		return all, nil
	}
	stored, err := d.o.Store.Head(ctx)
	if err != nil {
		return nil, err
	}
	if epoch = stored.Epoch; epoch != d.o.Encoder.Head().Epoch {
		clear(all)
		missing = missing[:0]
		for _, delivery := range deliveries {
			missing = append(missing, delivery.Seq)
		}
	}
	// Another process may have been faster than our catalogue.
	for start := time.Now(); !d.catalogHas(disclosure.Cursor{Epoch: epoch, Seq: slices.Max(missing)}); _ = retry.Sleep(ctx, 5*time.Millisecond) {
		if d.ended() || ctx.Err() != nil || time.Since(start) > maxTurn {
			return nil, errors.New("the catalogue does not have them yet")
		}
	}
	changes, err := d.o.Store.ChangesAt(ctx, missing...)
	if err != nil {
		return nil, err
	}
	if stored, err = d.o.Store.Head(ctx); err != nil || stored.Epoch != epoch {
		return nil, cmp.Or(err, errors.New("a backup of the store was restored meanwhile"))
	}
	for i := range changes {
		body := fit(d.o.Encoder.Encode(&changes[i]).JSON)
		all[changes[i].Seq] = body
		d.bodies.add(disclosure.Cursor{Epoch: epoch, Seq: changes[i].Seq}, body)
	}
	return all, nil
}

// shows reports whether the catalogue has come to a change.
func (d *dispatcher) catalogHas(c disclosure.Cursor) bool {
	head := d.o.Encoder.Head()
	return head.Epoch == c.Epoch && head.Seq >= c.Seq
}

func (d *dispatcher) ended() bool {
	select {
	case <-d.ending:
		return true
	default:
		return false
	}
}

// judge decides what becomes of a delivery.
func (d *dispatcher) result(delivery store.Delivery, a attempt) store.Result {
	r := store.Result{Webhook: delivery.Webhook, Epoch: delivery.Epoch, Seq: delivery.Seq, Attempt: a.Attempt, State: store.DeliveryPending}
	if delivery.Attempts > 0 {
		d.retried.Add(1)
	}
	if a.ok {
		d.delivered.Add(1)
		r.State = store.DeliveryDelivered
		return r
	}
	d.failed.Add(1)
	if a.gone || delivery.Attempts+1 >= maxAttempts {
		d.dead.Add(1)
		r.State = store.DeliveryDead
		return r
	}
	wait := time.Duration(float64(d.delays[delivery.Attempts]) * (1 + jitter*(2*mathrand.Float64()-1)))
	r.DueAt = time.Now().Add(max(wait, a.retryAfter))
	return r
}

// pause leaves a receiver alone that failed, whatever else is due for it: each
// time for twice as long, and for as long as it asked.
func (d *dispatcher) backOff(h *hook, asked time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.backoffs[h.ID]
	wait := time.Duration(min(float64(d.backoff)*math.Exp2(float64(r.failures)), float64(maxBackoff)))
	d.backoffs[h.ID] = backoff{failures: r.failures + 1, until: time.Now().Add(max(wait, asked)), revision: h.revision}
}

func (d *dispatcher) clearBackoff(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.backoffs, id)
}

// giveUp disables a webhook when it is of no use to go on.
func (d *dispatcher) disableFailing(h *hook, a attempt, failing bool) {
	if a.gone {
		d.disable(d.sending, h, "the receiver answered 410 Gone")
		return
	}
	if !failing {
		return // its first failure
	}
	endpoints, err := d.o.Store.Endpoints(d.sending, h.ID)
	if err != nil {
		return // at its next failure
	}
	since := endpoints[h.ID].FailingSince
	if since.IsZero() {
		return
	}
	if since.Before(h.EnabledAt) {
		since = h.EnabledAt
	}
	if time.Since(since) > d.maxFailing {
		d.disable(d.sending, h, fmt.Sprintf("nothing was delivered since %s; at last %s", since.UTC().Format(time.RFC3339), a.Error))
	}
}

// renew prolongs what is held. It gives up in time for another try.
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
	renewed, err := d.o.Store.Renew(asking, d.holder, d.claimFor, slices.Collect(maps.Keys(held))...)
	if err != nil {
		return // what is held lapses
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, c := range held {
		switch {
		case d.held[id] != c: // given back, and perhaps claimed again
		case slices.Contains(renewed, id):
			c.lapse.Reset(d.lasts(asked))
		default:
			c.end() // another process has it
		}
	}
}

// settle writes down what came of the work, and gives back what is done with:
// after its results, so that nobody sends them again.
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
	if len(results) > 0 && !d.retry(ctx, func() error { return d.o.Store.Settle(ctx, results...) }) {
		return // what is held ends by itself, and is sent again
	}
	if len(done) == 0 {
		return
	}
	_ = d.o.Store.Release(ctx, d.holder, done...) // or it ends by itself
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

// persist does something until it succeeds or the context ends.
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
		if wait == least { // told once, not each time
			d.log.WarnContext(ctx, "what was delivered to webhooks cannot be noted: trying again", "err", err)
		}
		_ = retry.Sleep(ctx, wait)
	}
}

// lookAfterOwners learns which owners are there, and ends the webhooks of those
// that are gone. While the store does not answer, none of them ends.
func (d *dispatcher) refreshOwners(ctx context.Context) {
	if err := d.syncOwners(ctx); err != nil {
		if ctx.Err() == nil {
			d.log.WarnContext(ctx, "when owners of webhooks were seen cannot be read", "err", err)
		}
		return
	}
	d.removeGone(ctx)
}

// tidy forgets what is old or nobody's.
func (d *dispatcher) cleanUp(ctx context.Context) {
	if err := d.prune(ctx); err != nil && ctx.Err() == nil {
		d.log.WarnContext(ctx, "old deliveries to webhooks cannot be forgotten", "err", err)
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
