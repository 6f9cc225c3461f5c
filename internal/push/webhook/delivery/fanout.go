package delivery

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/webhook/subscription"
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
func (s *Service) fanOut(ctx context.Context) {
	const least, most = 100 * time.Millisecond, 5 * time.Second
	wait := least
	for ctx.Err() == nil {
		err := s.fanOutBatch(ctx)
		switch {
		case err == nil:
			wait = least
			continue
		case ctx.Err() != nil:
			return
		case fault.KindOf(err) == fault.Conflict: // another process was first, or this one does not know all webhooks
			if err = s.hooks.Refresh(ctx); err == nil {
				continue
			}
		}
		if wait == least { // logged once, not each time
			s.log.WarnContext(ctx, "cannot create deliveries to webhooks: retrying", "err", err)
		}
		_ = retry.Sleep(ctx, wait)
		wait = min(2*wait, most)
	}
}

// fanOutBatch waits for changes without deliveries and writes the deliveries of
// some.
func (s *Service) fanOutBatch(ctx context.Context) error {
	from, err := s.store.Fanned(ctx, store.ForWebhooks)
	if err != nil {
		return err
	}
	s.counts.fannedOut.Store(from)
	waiting, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	if err := s.store.Wait(waiting, from); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return nil // a restored backup may have reset both the log and the position
		}
		return err
	}
	head, mark := s.encoder.Seen()
	for wait := time.Millisecond; head.Seq <= from && ctx.Err() == nil; head, mark = s.encoder.Seen() {
		_ = retry.Sleep(ctx, wait) // the catalogue is about to load it
		wait = min(2*wait, 200*time.Millisecond)
		if now, err := s.store.Fanned(ctx, store.ForWebhooks); err != nil || now != from {
			return err // another process was faster
		}
	}
	if s.hooks.Known().Epoch != head.Epoch { // a backup was restored
		if err := s.hooks.Refresh(ctx); err != nil {
			return err
		}
	}
	f, err := s.match(ctx, s.hooks.Known(), from, head.Cursor)
	f.Epoch, f.Seen = head.Epoch, mark
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := s.store.FanOut(ctx, f); err != nil {
		return err
	}
	s.counts.fannedOut.Store(f.To)
	if len(f.Deliveries) > 0 {
		s.wakeUp()
	}
	return nil
}

// match returns the deliveries for the next changes.
func (s *Service) match(
	ctx context.Context, known *subscription.Snapshot, from int64, newest disclosure.Cursor,
) (store.FanOut, error) {
	f := store.FanOut{From: from, To: newest.Seq, Revisions: map[string]int64{"webhook": known.Revision}}
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
			texts = texts || matched && h.Filter.InDocument
			return matched && !h.Filter.InDocument
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
