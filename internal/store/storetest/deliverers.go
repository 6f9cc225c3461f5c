package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

// testConcurrentDeliveries runs all methods concurrently, through several open
// stores, with failing commits and canceled calls. No webhook has two holders, no
// call blocks for ever, and in the end everything is delivered.
func testConcurrentDeliveries(t *testing.T, e Engine) {
	open := e.fresh(t)
	ctx := patiently(t)
	var group errgroup.Group
	var stores []store.Store
	shared := newDeliverers(5, 12)
	shared.others = 3
	for h := range handles {
		s := open()
		stores = append(stores, s)
		for i := range writersPerHandle {
			w := newWriter(e, s, h*writersPerHandle+i)
			group.Go(func() error { return w.deliver(ctx, shared) })
		}
	}
	group.Go(func() error { return newWriter(e, stores[0], 90).handOut(ctx, shared) })
	group.Go(func() error { return newWriter(e, stores[1], 91).handOut(ctx, shared) })
	group.Go(func() error { return newWriter(e, stores[2], 92).disturb(ctx, shared) })
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, webhook := range shared.webhooks {
		list := listDeliveries(t, stores[0], store.DeliveryQuery{Webhook: webhook, Limit: 1000})
		if int64(len(list)) != shared.last {
			t.Errorf("%s got %d deliveries, want %d", webhook, len(list), shared.last)
		}
		for _, d := range list {
			// The first was made due again, and its attempts counted from 0.
			if d.State != store.DeliveryDelivered || len(d.History) != d.Attempts && d.Seq != 1 {
				t.Errorf("a delivery to %s is %+v", webhook, d)
			}
		}
	}
}

// deliverers is the shared state of the deliverers of a test.
type deliverers struct {
	webhooks []string
	last     int64

	mu     sync.Mutex
	taken  map[string]int // guarded by mu: the number of the holder of a webhook, from 1
	others int            // guarded by mu: how many may still add deliveries
}

func newDeliverers(webhooks int, last int64) *deliverers {
	h := &deliverers{last: last, taken: map[string]int{}}
	for i := range webhooks {
		h.webhooks = append(h.webhooks, fmt.Sprintf("webhook %d", i))
	}
	return h
}

func (h *deliverers) take(webhook string, who int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := h.taken[webhook]; other != 0 && other != who+1 {
		return fmt.Errorf("%s is held by both %d and %d", webhook, other-1, who)
	}
	h.taken[webhook] = who + 1
	return nil
}

func (h *deliverers) leave(webhook string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.taken, webhook)
}

// still returns how many may still add deliveries.
func (h *deliverers) still() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.others
}

func (h *deliverers) done() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.others--
}

// handOut fans the log out change by change, while another goroutine does the
// same.
func (w *writer) handOut(ctx context.Context, h *deliverers) error {
	defer h.done()
	for {
		err := w.retry(ctx, func(try context.Context) error {
			from, err := w.s.Fanned(try, store.ForWebhooks)
			if err != nil || from == h.last {
				return err
			}
			f := store.FanOut{From: from, To: from + 1}
			for _, webhook := range slices.Backward(h.webhooks) {
				f.Deliveries = append(f.Deliveries, to(webhook, f.To)...)
			}
			return w.s.FanOut(try, f)
		})
		if err != nil && fault.KindOf(err) != fault.Conflict {
			return fmt.Errorf("handing out: %w", err)
		}
		if from, err := w.s.Fanned(ctx, store.ForWebhooks); err == nil && from == h.last {
			return nil
		}
	}
}

// deliver claims and settles until the whole log is fanned out and no delivery is
// left.
func (w *writer) deliver(ctx context.Context, h *deliverers) error {
	holder := fmt.Sprintf("deliverer %d", w.id)
	for {
		over := h.still() == 0
		var claimed []store.Claimed
		err := w.retry(ctx, func(try context.Context) (err error) {
			claimed, err = w.s.Claim(try, store.Claim{
				Holder:    holder,
				Webhooks:  h.webhooks,
				Failing:   w.rand.IntN(2) == 0,
				Endpoints: 2,
				Each:      5,
				TTL:       time.Hour,
			})
			return err
		})
		if err != nil {
			return fmt.Errorf("claiming: %w", err)
		}
		for _, c := range claimed {
			if err := w.work(ctx, h, holder, c); err != nil {
				return err
			}
		}
		if len(claimed) > 0 || !over {
			continue
		}
		known, err := w.s.Endpoints(ctx, h.webhooks...)
		if err != nil {
			return err
		}
		var pending int
		for _, e := range known {
			pending += e.Pending
		}
		if pending == 0 {
			return nil
		}
		waittest.Pace(ctx, time.Millisecond)
	}
}

func (w *writer) work(ctx context.Context, h *deliverers, holder string, c store.Claimed) error {
	if err := h.take(c.Webhook, w.id); err != nil {
		return err
	}
	var results []store.Result
	for _, d := range c.Deliveries {
		if w.rand.IntN(3) == 0 {
			results = append(results, failed(c.Webhook, d.Seq, 0))
		} else {
			results = append(results, delivered(c.Webhook, d.Seq))
		}
		results[len(results)-1].Epoch = d.Epoch
	}
	err := w.retry(ctx, func(try context.Context) error { return w.s.Settle(try, results...) })
	if err != nil {
		return fmt.Errorf("settling: %w", err)
	}
	held, err := w.renew(ctx, holder, h.webhooks)
	if err != nil {
		return fmt.Errorf("renewing: %w", err)
	}
	if !slices.Contains(held, c.Webhook) {
		return fmt.Errorf("%s lost %s and has %v", holder, c.Webhook, held)
	}
	h.leave(c.Webhook)
	err = w.retry(ctx, func(try context.Context) error { return w.s.Release(try, holder, c.Webhook) })
	if err != nil {
		return fmt.Errorf("releasing: %w", err)
	}
	return nil
}

func (w *writer) renew(ctx context.Context, holder string, webhooks []string) (held []string, err error) {
	err = w.retry(ctx, func(try context.Context) (err error) {
		held, err = w.s.Renew(try, holder, time.Hour, webhooks...)
		return err
	})
	return held, err
}

// disturb calls the other methods during fan-outs: it makes deliveries due again,
// drops and prunes, on the deliverers' webhooks and on one of its own.
func (w *writer) disturb(ctx context.Context, h *deliverers) error {
	defer h.done()
	head, err := w.s.Head(ctx)
	if err != nil {
		return err
	}
	for n := int64(1); h.still() > 1; n++ {
		deliveries := slices.Concat(to("own", n, n+1), to(h.webhooks[n%int64(len(h.webhooks))], 1))
		results := []store.Result{died("own", n+1), delivered("own", n)}
		results[0].Epoch, results[1].Epoch = head.Epoch, head.Epoch
		results[0].Attempt.At, results[1].Attempt.At = past, past // so that only these are pruned
		err := errors.Join(
			w.retry(ctx, func(try context.Context) error { return w.s.Enqueue(try, deliveries...) }),
			w.retry(ctx, func(try context.Context) error { return w.s.Settle(try, results...) }),
			w.retry(ctx, func(try context.Context) error {
				_, err := w.s.PruneDeliveries(try, past.AddDate(1, 0, 0), 1)
				return err
			}),
		)
		if n%5 == 0 {
			err = errors.Join(err, w.retry(ctx, func(try context.Context) error { return w.s.DropDeliveries(try, "own") }))
		}
		if err != nil {
			return fmt.Errorf("disturbing: %w", err)
		}
	}
	return nil
}
