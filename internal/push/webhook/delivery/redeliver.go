package delivery

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// Endpoints returns the states of the endpoints of webhooks by id. Those that never had a
// delivery are absent.
func (s *Service) Endpoints(ctx context.Context, ids ...string) (map[string]store.Endpoint, error) {
	all := map[string]store.Endpoint{}
	for some := range slices.Chunk(ids, pageSize) {
		found, err := s.store.Endpoints(ctx, some...)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}

// Deliveries lists the deliveries of a webhook.
func (s *Service) Deliveries(
	ctx context.Context, by access.Reach, id string, q store.DeliveryQuery,
) ([]store.Delivered, error) {
	if _, err := s.hooks.Find(ctx, by, id); err != nil {
		return nil, err
	}
	q.Webhook = id
	return s.store.ListDeliveries(ctx, q)
}

const (
	maxRedelivered = 10_000
	maxSearched    = 100_000 // changes in one call
	maxTexts       = 1000    // documents that are searched in one call
)

// Redeliver sends a change again, or for the first time if the webhook selects
// it.
func (s *Service) Redeliver(ctx context.Context, by access.Reach, id string, seq int64) error {
	h, err := s.hooks.FindEnabled(ctx, by, id)
	if err != nil {
		return err
	}
	changes, err := s.store.ChangesAt(ctx, seq)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		if err := s.encoder.Lacks(ctx, disclosure.Cursor{Seq: seq}); err != nil {
			return err
		}
		return fault.New(fault.NotFound, "There is no change %d.", seq)
	}
	selected, err := s.selectsWithText(ctx, h, s.encoder.Encode(&changes[0]))
	if err != nil {
		return err
	}
	if !selected {
		had, err := s.store.ListDeliveries(ctx, store.DeliveryQuery{Webhook: id, Before: seq + 1, Limit: 1})
		if err != nil {
			return err
		}
		if len(had) == 0 || had[0].Seq != seq {
			return fault.New(fault.NotFound,
				"The change %d was never delivered to this webhook, and the webhook does not select it.", seq)
		}
	}
	return s.enqueue(ctx, id, []store.Delivery{{Webhook: id, Seq: seq, Event: string(changes[0].Event)}})
}

// RedeliverSince sends every change after a seq again that the webhook selects,
// and returns their number. It sends none if there are too many.
func (s *Service) RedeliverSince(ctx context.Context, by access.Reach, id string, since int64) (int, error) {
	h, err := s.hooks.FindEnabled(ctx, by, id)
	if err != nil {
		return 0, err
	}
	var found []store.Delivery
	texts := 0
	searched := since // up to this change
	for {
		changes, err := s.store.Changes(ctx, searched, pageSize)
		if err != nil {
			return 0, err
		}
		for i := range changes {
			c := &changes[i]
			searched = c.Seq
			e := s.encoder.Encode(c)
			if h.Selects(e) && h.NeedsText(e) {
				texts++
			}
			if texts > maxTexts {
				break
			}
			selected, err := s.selectsWithText(ctx, h, e)
			if err != nil {
				return 0, err
			}
			if selected {
				found = append(found, store.Delivery{Webhook: id, Seq: c.Seq, Event: string(c.Event)})
			}
		}
		if len(found) > s.maxRedelivered || searched-since > maxSearched || texts > maxTexts {
			refused := fault.New(fault.Invalid, "That is too much at once: one request may send at most %d changes, "+
				"search %d, and search the documents of %d. Nothing was sent.", s.maxRedelivered, maxSearched, maxTexts)
			refused.Fields = []fault.Field{fault.NewField("since", fmt.Sprint(since), "use a later one")}
			return 0, refused
		}
		if len(changes) < pageSize {
			break
		}
	}
	if searched == since {
		if err := s.encoder.Lacks(ctx, disclosure.Cursor{Seq: since}); err != nil {
			return 0, err
		}
	}
	for some := range slices.Chunk(found, pageSize) {
		if err := s.enqueue(ctx, id, some); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

// enqueue adds deliveries. It drops them again if the webhook was deleted
// meanwhile.
func (s *Service) enqueue(ctx context.Context, id string, deliveries []store.Delivery) error {
	if err := s.store.Enqueue(ctx, deliveries...); err != nil {
		return err
	}
	if err := s.hooks.Refresh(ctx); err != nil {
		return err
	}
	if s.hooks.Known().Hooks[id] == nil {
		return s.store.DropDeliveries(ctx, id)
	}
	s.wakeUp()
	return nil
}
