package delivery

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/push/queue"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/store"
)

// textQueue is the id under which the store keeps the changes whose documents are
// still to be compared with webhooks. It is not the id of a webhook.
const textQueue = "documents"

const textTimeout = 10 * time.Second // for loading and matching one text

// selectsWithText reports whether the webhook selects an event. It loads the text
// of the document if the webhook searches in it.
func (s *Service) selectsWithText(ctx context.Context, h *subscription.Hook, e *events.Event) (bool, error) {
	selected := h.Selects(e)
	if !selected || !h.NeedsText(e) {
		return selected, nil
	}
	ctx, cancel := context.WithTimeout(ctx, textTimeout)
	defer cancel()
	content, err := s.encoder.Text(ctx, e)
	if err != nil {
		return false, fault.Wrap(fault.Unavailable, err,
			"The text of a document cannot be read now. Try again in a few seconds.")
	}
	return h.SelectsText(e, content), nil
}

// newTexts returns what compares the documents of queued changes with the webhooks.
func (d *dispatcher) newTexts() *queue.Texts {
	return &queue.Texts{
		ID:      textQueue,
		Fan:     d.fan,
		Logger:  d.log,
		Changes: d.store.ChangesAt,
		Backoff: d.Backoff,
		Match: func(ctx context.Context, c *disclosure.Change, queued time.Time) (f store.FanOut, err error) {
			known := d.hooks.Known()
			f.Revisions = d.revisions(known)
			f.Deliveries, err = d.textDeliveries(ctx, known, c, queued)
			return f, err
		},
	}
}

// textDeliveries returns the deliveries of a change to the webhooks that search in
// documents and match, and to those that did when the change was queued and have
// another filter now.
func (d *dispatcher) textDeliveries(
	ctx context.Context, known *subscription.Snapshot, c *disclosure.Change, queued time.Time,
) ([]store.Delivery, error) {
	e := d.encoder.Encode(c)
	content, err := d.encoder.Text(ctx, e)
	if err != nil {
		return nil, err
	}
	cost := map[string]time.Duration{}
	out := d.matcher.selected(known.Listening(), c, cost, func(h *subscription.Hook) bool {
		switch {
		case !h.Selects(e):
			return false
		case !h.NeedsText(e):
			// A watchlist may select now what it left to the text when the change was queued.
			return h.InDocument() || !h.UpdatedAt.Before(queued.Truncate(time.Second))
		}
		return h.SelectsText(e, content)
	})
	d.matcher.costs.add(known, cost)
	return out, nil
}
