package delivery

import (
	"context"
	"errors"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/store"
)

// textQueue is the id under which the store keeps the changes whose documents are
// still to be compared with webhooks. It is not the id of a webhook.
const textQueue = "documents"

const (
	textTimeout  = 10 * time.Second // for loading and matching one text
	maxTextDelay = time.Hour        // between two attempts
)

// selectsWithText reports whether the webhook selects an event. It loads the text
// of the document if the webhook searches in it.
func (s *Service) selectsWithText(ctx context.Context, h *subscription.Hook, e *events.Event) (bool, error) {
	selected := h.Selects(e)
	if !selected || !h.Filter.InDocument {
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

// matchTexts compares the documents of queued changes with the webhooks until one
// fails.
func (d *dispatcher) matchTexts(held *claim, queued []store.Delivery) {
	if err := d.hooks.Refresh(held.ctx); err != nil { // the process that queued them may know newer webhooks
		return
	}
	start := time.Now()
	for _, q := range queued {
		if d.ended() || held.ctx.Err() != nil || time.Since(start) > maxTurn {
			return
		}
		at := time.Now().UTC()
		err := d.matchText(held.ctx, q)
		if err != nil && held.ctx.Err() != nil {
			return
		}
		r := store.Result{
			Webhook: textQueue,
			Epoch:   q.Epoch,
			Seq:     q.Seq,
			Attempt: store.Attempt{At: at, Latency: time.Since(at)},
			State:   store.DeliveryDelivered,
		}
		if err != nil {
			d.textFailed(&r, q, err)
		}
		d.outcomes <- outcome{textQueue, &r}
		if err != nil {
			return // the others are still due
		}
	}
}

// textFailed sets when a text that could not be compared is tried again.
func (d *dispatcher) textFailed(r *store.Result, q store.Delivery, err error) {
	r.Attempt.Error = err.Error()
	if time.Since(q.CreatedAt) > maxDelay {
		r.State = store.DeliveryDead
		d.log.ErrorContext(d.sending, "a document was never compared with the webhooks that search in documents",
			"seq", q.Seq, "err", err)
		return
	}
	r.State = store.DeliveryPending
	r.Wait = min(d.backoff<<min(q.Attempts, 20), maxTextDelay)
	if q.Attempts == 0 { // logged once, not each time
		d.log.WarnContext(d.sending, "cannot compare a document with webhooks: retrying", "seq", q.Seq, "err", err)
	}
}

// matchText writes the deliveries of a change to the webhooks that match its
// document. Deliveries that exist already are left alone, so it may be repeated.
func (d *dispatcher) matchText(ctx context.Context, q store.Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, textTimeout)
	defer cancel()
	changes, err := d.store.ChangesAt(ctx, q.Seq)
	if err != nil || len(changes) == 0 {
		return err
	}
	for {
		head, mark := d.encoder.Seen()
		if head.Seq < q.Seq {
			return errors.New("the catalogue does not have the change yet")
		}
		known := d.hooks.Known()
		f := store.FanOut{Epoch: head.Epoch, Seen: mark, Revisions: map[string]int64{"webhook": known.Revision}}
		f.Deliveries, err = d.textDeliveries(ctx, known, &changes[0], q.CreatedAt)
		if err != nil || len(f.Deliveries) == 0 {
			return err
		}
		if f.From, err = d.store.Fanned(ctx, store.ForWebhooks); err != nil {
			return err
		}
		f.To = f.From // the position of the fan-out does not move
		if err = d.store.FanOut(ctx, f); fault.KindOf(err) != fault.Conflict {
			return err
		}
		if err := d.hooks.Refresh(ctx); err != nil { // a webhook was changed, or the position moved meanwhile
			return err
		}
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
		case !h.Filter.InDocument:
			return !h.UpdatedAt.Before(queued.Truncate(time.Second))
		}
		return h.SelectsText(e, content)
	})
	d.matcher.costs.add(known, cost)
	return out, nil
}
