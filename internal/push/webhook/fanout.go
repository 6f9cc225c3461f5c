package webhook

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	maxRows      = 5000                   // of one transaction, approximately
	maxMatchTime = 100 * time.Millisecond // after which the matched deliveries are written
	waitTimeout  = 2 * time.Second        // of one wait for changes, after which the position is read again
)

// fanOut creates deliveries for new changes until the context ends. Every
// process tries; the store lets one succeed.
func (m *Manager) fanOut(ctx context.Context) {
	const least, most = 100 * time.Millisecond, 5 * time.Second
	wait := least
	for ctx.Err() == nil {
		err := m.fanOutBatch(ctx)
		switch {
		case err == nil:
			wait = least
			continue
		case ctx.Err() != nil:
			return
		case fault.KindOf(err) == fault.Conflict: // another process was first, or this one does not know all webhooks
			if err = m.Refresh(ctx); err == nil {
				continue
			}
		}
		if wait == least { // logged once, not each time
			m.log.WarnContext(ctx, "cannot create deliveries to webhooks: retrying", "err", err)
		}
		_ = retry.Sleep(ctx, wait)
		wait = min(2*wait, most)
	}
}

// fanOutBatch waits for changes without deliveries and writes the deliveries of
// some.
func (m *Manager) fanOutBatch(ctx context.Context) error {
	from, err := m.o.Store.Fanned(ctx)
	if err != nil {
		return err
	}
	m.fannedOut.Store(from)
	waiting, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	if err := m.o.Store.Wait(waiting, from); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return nil // a restored backup may have reset both the log and the position
		}
		return err
	}
	head, mark := m.o.Encoder.Seen()
	for wait := time.Millisecond; head.Seq <= from && ctx.Err() == nil; head, mark = m.o.Encoder.Seen() {
		_ = retry.Sleep(ctx, wait) // the catalogue is about to load it
		wait = min(2*wait, 200*time.Millisecond)
		if now, err := m.o.Store.Fanned(ctx); err != nil || now != from {
			return err // another process was faster
		}
	}
	if m.known.Load().epoch != head.Epoch { // a backup was restored
		if err := m.Refresh(ctx); err != nil {
			return err
		}
	}
	f, err := m.match(ctx, m.known.Load(), from, head.Cursor)
	f.Epoch, f.Seen = head.Epoch, mark
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := m.o.Store.FanOut(ctx, f); err != nil {
		return err
	}
	m.fannedOut.Store(f.To)
	if len(f.Deliveries) > 0 {
		m.wakeUp()
	}
	return nil
}

// match returns the deliveries for the next changes.
func (m *Manager) match(ctx context.Context, known *hooks, from int64, newest disclosure.Cursor) (store.FanOut, error) {
	f := store.FanOut{From: from, To: newest.Seq, Revision: known.revision}
	listening := known.listening()
	for _, h := range listening {
		f.To = min(f.To, h.StartsAfter)
	}
	if f.To > from {
		return f, nil // every webhook starts after these changes
	}
	f.To = from
	changes, err := m.o.Store.Changes(ctx, from, int(min(pageSize, newest.Seq-from)))
	if err != nil {
		return f, err
	}
	start, cost := time.Now(), map[string]time.Duration{}
	for i := range changes {
		c := &changes[i]
		e := m.o.Encoder.Encode(c)
		texts := false
		selected := m.selected(listening, c, cost, func(h *hook) bool {
			matched := h.selects(e)
			texts = texts || matched && h.Filter.InDocument
			return matched && !h.Filter.InDocument
		})
		if len(selected) > 0 {
			m.bodies.add(disclosure.Cursor{Epoch: newest.Epoch, Seq: c.Seq}, fit(e.JSON))
		}
		if texts {
			selected = append(selected, store.Delivery{Webhook: textQueue, Seq: c.Seq, Event: string(c.Event)})
		}
		f.Deliveries = append(f.Deliveries, selected...)
		f.To = c.Seq
		if len(f.Deliveries) >= maxRows || time.Since(start) > maxMatchTime {
			break
		}
	}
	m.addCost(known, cost)
	return f, nil
}

// listening returns the enabled webhooks, sorted by owner and key.
func (known *hooks) listening() (out []*hook) {
	for _, h := range known.byID {
		if h.Enabled {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *hook) int {
		return cmp.Or(strings.Compare(a.Owner, b.Owner), strings.Compare(a.Key, b.Key))
	})
	return out
}

// selected returns the deliveries of a change to the webhooks, which are sorted as by
// listening, that the function matches. It adds the time that this took to cost.
func (m *Manager) selected(hooks []*hook, c *disclosure.Change, cost map[string]time.Duration, match func(*hook) bool) (out []store.Delivery) {
	for of := range byOwner(hooks) {
		began := time.Now()
		owner := m.ownerStatus(of[0].Owner)
		status := owner
		for i, h := range of {
			if i == 0 || h.Key != of[i-1].Key {
				status = m.withKey(owner, h.Key)
			}
			// The scope of a gone owner or key is unknown. It is checked again before
			// a delivery is sent.
			may := status.Gone != "" || status.mayRead(string(c.Event))
			if may && c.Seq > h.StartsAfter && match(h) {
				out = append(out, store.Delivery{Webhook: h.ID, Seq: c.Seq, Event: string(c.Event)})
			}
		}
		cost[of[0].Owner] += time.Since(began)
	}
	return out
}

// byOwner yields the webhooks of each owner. They are sorted by owner.
func byOwner(hooks []*hook) iter.Seq[[]*hook] {
	return func(yield func([]*hook) bool) {
		for len(hooks) > 0 {
			n := 1
			for n < len(hooks) && hooks[n].Owner == hooks[0].Owner {
				n++
			}
			if !yield(hooks[:n]) {
				return
			}
			hooks = hooks[n:]
		}
	}
}

// addCost adds the time that matching took, and drops owners without webhooks.
func (m *Manager) addCost(known *hooks, cost map[string]time.Duration) {
	m.costs.Lock()
	defer m.costs.Unlock()
	for owner, c := range cost {
		m.cost[owner] += c
		m.matching += c
	}
	if len(m.cost) <= 2*len(known.byID)+100 {
		return
	}
	owners := map[string]bool{}
	for _, h := range known.byID {
		owners[h.Owner] = true
	}
	maps.DeleteFunc(m.cost, func(owner string, _ time.Duration) bool { return !owners[owner] })
}

// bodies caches the newest bodies: one that was just created is sent next, to
// many receivers.
type bodies struct {
	mu   sync.Mutex
	of   map[disclosure.Cursor][]byte // guarded by mu
	keys [1024]disclosure.Cursor      // guarded by mu: a ring of the keys in of
	next int                          // guarded by mu: the index of the oldest
}

func newBodies() *bodies { return &bodies{of: map[disclosure.Cursor][]byte{}} }

func (b *bodies) add(c disclosure.Cursor, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[c] == nil {
		delete(b.of, b.keys[b.next])
		b.keys[b.next] = c
		b.next = (b.next + 1) % len(b.keys)
	}
	b.of[c] = body
}

func (b *bodies) get(c disclosure.Cursor) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[c]
}
