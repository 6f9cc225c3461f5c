package delivery

import (
	"context"
	"math"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/queue"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/store"
)

const (
	maxRows      = 5000                   // of one transaction, approximately
	maxMatchTime = 100 * time.Millisecond // after which the matched deliveries are written
)

// newFan returns what follows the log.
func (s *Service) newFan() *queue.Fan {
	return &queue.Fan{
		Store:   s.store,
		Logger:  s.log,
		Noun:    "webhooks",
		Seen:    func() (disclosure.Head, disclosure.Mark) { return s.encoder.Seen() },
		Epoch:   func() string { return s.hooks.Known().Epoch },
		Refresh: s.refresh,
		Created: s.wakeUp,
		Match: func(ctx context.Context, from int64, newest disclosure.Cursor) (store.FanOut, error) {
			return s.match(ctx, s.hooks.Known(), from, newest)
		},
	}
}

// refresh loads webhooks and lists as they are now.
func (s *Service) refresh(ctx context.Context) error {
	if err := s.hooks.Refresh(ctx); err != nil || s.lists == nil {
		return err
	}
	return s.lists.Refresh(ctx)
}

// revisions returns the revisions of the webhooks that a snapshot has, and of the lists.
// Lists that change while changes are matched are newer. Without lists, nothing depends on
// their records.
func (s *Service) revisions(known *subscription.Snapshot) map[string]int64 {
	seen := map[string]int64{"webhook": known.Revision, "watchlist": math.MaxInt64}
	if s.lists != nil {
		seen["watchlist"] = s.lists.Revision()
	}
	return seen
}

// match returns the deliveries for the next changes.
func (s *Service) match(
	ctx context.Context, known *subscription.Snapshot, from int64, newest disclosure.Cursor,
) (store.FanOut, error) {
	f := store.FanOut{To: newest.Seq, Revisions: s.revisions(known)}
	listening := known.Listening()
	for _, h := range listening {
		f.To = min(f.To, h.StartsAfter)
	}
	if f.To > from {
		return f, nil // every webhook starts after these changes
	}
	f.To = from
	changes, err := s.store.Changes(ctx, from, int(min(pageSize, newest.Seq-from)))
	if err != nil {
		return f, err
	}
	start, cost := time.Now(), map[string]time.Duration{}
	for i := range changes {
		c := &changes[i]
		e := s.encoder.Encode(c)
		texts := false
		selected := s.matcher.selected(listening, c, cost, func(h *subscription.Hook) bool {
			matched := h.Selects(e)
			byText := matched && h.NeedsText(e)
			texts = texts || byText
			return matched && !byText
		})
		if len(selected) > 0 {
			s.bodies.add(disclosure.Cursor{Epoch: newest.Epoch, Seq: c.Seq}, e)
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
	s.matcher.costs.add(known, cost)
	return f, nil
}
