package webhook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
)

// Test sends a sample now and returns the attempt. Nothing is stored.
func (m *Manager) Test(ctx context.Context, by access.Reach, id string) (store.Attempt, error) {
	h, err := m.find(ctx, by, id)
	if err != nil {
		return store.Attempt{}, err
	}
	if err := m.allowTest(ctx, h); err != nil {
		return store.Attempt{}, err
	}
	a := m.send(ctx, h, h.ID+".test-"+newID()[len(idPrefix):], sample(time.Now()))
	if a.canceled {
		return store.Attempt{}, ctx.Err()
	}
	return a.Attempt, nil
}

// Tests are sent on demand to an address that the caller chose. These are the
// limits of each process.
var (
	testsOfWebhook = ratelimit.Policy{Name: "webhook-test", Limit: 5, Window: time.Minute}
	testsOfOwner   = ratelimit.Policy{Name: "webhook-tests", Limit: 20, Window: time.Minute}
)

func (m *Manager) allowTest(ctx context.Context, h *hook) error {
	v, policy := m.testsOfWebhook.Take(ctx, ratelimit.Name(h.ID)), testsOfWebhook
	what := "a webhook"
	if v.OK {
		v = m.testsOfOwner.Take(ctx, ratelimit.Name(h.Owner))
		policy = testsOfOwner
		what = "all webhooks of an owner together"
	}
	if v.OK {
		return nil
	}
	return &fault.Error{
		Kind: fault.RateLimited, RetryAfter: max(v.Reset, time.Second),
		Message: fmt.Sprintf("The limit for %s is %d tests per minute. Wait for the time in Retry-After.", what, policy.Limit),
	}
}

// Deliveries lists the deliveries of a webhook.
func (m *Manager) Deliveries(ctx context.Context, by access.Reach, id string, q store.DeliveryQuery) ([]store.Delivered, error) {
	if _, err := m.find(ctx, by, id); err != nil {
		return nil, err
	}
	q.Webhook = id
	return m.o.Store.ListDeliveries(ctx, q)
}

const (
	maxRedelivered = 10_000
	maxSearched    = 100_000 // changes in one call
	maxTexts       = 1000    // documents that are searched in one call
	pageSize       = 500
)

// Redeliver sends a change again, or for the first time if the webhook selects
// it.
func (m *Manager) Redeliver(ctx context.Context, by access.Reach, id string, seq int64) error {
	h, err := m.findEnabled(ctx, by, id)
	if err != nil {
		return err
	}
	changes, err := m.o.Store.ChangesAt(ctx, seq)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		if err := m.o.Encoder.Lacks(ctx, disclosure.Cursor{Seq: seq}); err != nil {
			return err
		}
		return fault.New(fault.NotFound, "There is no change %d.", seq)
	}
	selected, err := m.selectsWithText(ctx, h, m.o.Encoder.Encode(&changes[0]))
	if err != nil {
		return err
	}
	if !selected {
		had, err := m.o.Store.ListDeliveries(ctx, store.DeliveryQuery{Webhook: id, Before: seq + 1, Limit: 1})
		if err != nil {
			return err
		}
		if len(had) == 0 || had[0].Seq != seq {
			return fault.New(fault.NotFound, "The change %d was never delivered to this webhook, and the webhook does not select it.", seq)
		}
	}
	return m.enqueue(ctx, id, []store.Delivery{{Webhook: id, Seq: seq, Event: string(changes[0].Event)}})
}

// RedeliverSince sends every change after a seq again that the webhook selects,
// and returns their number. It sends none if there are too many.
func (m *Manager) RedeliverSince(ctx context.Context, by access.Reach, id string, since int64) (int, error) {
	h, err := m.findEnabled(ctx, by, id)
	if err != nil {
		return 0, err
	}
	var found []store.Delivery
	texts := 0
	searched := since // up to this change
	for {
		changes, err := m.o.Store.Changes(ctx, searched, pageSize)
		if err != nil {
			return 0, err
		}
		for i := range changes {
			c := &changes[i]
			searched = c.Seq
			e := m.o.Encoder.Encode(c)
			if h.Filter.InDocument && h.selects(e) {
				texts++
			}
			if texts > maxTexts {
				break
			}
			selected, err := m.selectsWithText(ctx, h, e)
			if err != nil {
				return 0, err
			}
			if selected {
				found = append(found, store.Delivery{Webhook: id, Seq: c.Seq, Event: string(c.Event)})
			}
		}
		if len(found) > m.maxRedelivered || searched-since > maxSearched || texts > maxTexts {
			return 0, &fault.Error{
				Kind: fault.Invalid, Message: fmt.Sprintf("That is too much at once: at most %d changes are sent again, %d searched, and %d of them in documents. Nothing is sent.", m.maxRedelivered, maxSearched, maxTexts),
				Fields: []fault.Field{{Name: "since", Value: fmt.Sprint(since), Reason: "use a later one"}},
			}
		}
		if len(changes) < pageSize {
			break
		}
	}
	if searched == since {
		if err := m.o.Encoder.Lacks(ctx, disclosure.Cursor{Seq: since}); err != nil {
			return 0, err
		}
	}
	for some := range slices.Chunk(found, pageSize) {
		if err := m.enqueue(ctx, id, some); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

func (m *Manager) findEnabled(ctx context.Context, by access.Reach, id string) (*hook, error) {
	h, err := m.find(ctx, by, id)
	if err == nil && !h.Enabled {
		return nil, fault.New(fault.Conflict, "This webhook is disabled: enable it first.")
	}
	return h, err
}

// enqueue adds deliveries. It drops them again if the webhook was deleted
// meanwhile.
func (m *Manager) enqueue(ctx context.Context, id string, deliveries []store.Delivery) error {
	if err := m.o.Store.Enqueue(ctx, deliveries...); err != nil {
		return err
	}
	if err := m.Refresh(ctx); err != nil {
		return err
	}
	if m.known.Load().byID[id] == nil {
		return m.o.Store.DropDeliveries(ctx, id)
	}
	m.wakeUp()
	return nil
}
