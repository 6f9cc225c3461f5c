package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/queue"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/retry"
	"pregon/internal/store"
)

// skipReason returns why a delivery is not sent to a webhook with a status, empty if it
// is.
func skipReason(s subscription.AccountStatus, d store.Delivery) string {
	switch {
	case !s.MayRead(d.Event):
		return "not sent: the owner of the webhook may not read it"
	case time.Since(d.DueAt) > queue.MaxDelay:
		return "not sent: it was due for more than four days; send it again with redeliver"
	}
	return ""
}

// work sends the due deliveries of a webhook until one fails.
func (d *dispatcher) work(held *queue.Claim, c store.Claimed) {
	messages, err := d.read(held.Context(), c.Deliveries)
	if err != nil {
		if h := d.hooks.Known().Hooks[c.Webhook]; h != nil && !d.queue.Ended() && held.Context().Err() == nil {
			d.log.WarnContext(d.queue.Sending(), "cannot read changes for a webhook: they wait",
				"webhook", c.Webhook, "err", err)
			d.queue.BackOff(endpoint(h), 0)
		}
		return
	}
	for _, delivery := range c.Deliveries {
		h := d.hooks.Known().Hooks[c.Webhook]
		status, served := d.hooks.Serves(h)
		if !served || held.Over() {
			return
		}
		if reason := skipReason(status, delivery); reason != "" {
			d.counts.dead.Add(1)
			r := store.Result{
				Webhook: h.ID,
				Epoch:   delivery.Epoch,
				Seq:     delivery.Seq,
				State:   store.DeliveryDead,
				Attempt: store.Attempt{At: time.Now().UTC(), Error: reason},
			}
			held.Settle(r)
			continue
		}
		var a attempt
		if m := messages[delivery.Seq]; m.body != nil {
			d.counts.inFlight.Add(1)
			a = d.sender.send(held.Context(), h, MessageID(delivery), m.body)
			d.counts.inFlight.Add(-1)
			if m.erasable {
				a.Excerpt = "" // the receiver may repeat the name, and attempts are kept
			}
		} else { // cannot happen: the log is append-only
			a = attempt{Attempt: store.Attempt{At: time.Now().UTC(), Error: "the change is not in the log"}}
		}
		if a.canceled {
			return
		}
		r := d.result(delivery, a)
		held.Settle(r)
		if !a.ok {
			d.queue.BackOff(endpoint(h), a.retryAfter)
			d.disableFailing(h, a, held.Failing)
			return
		}
		d.queue.ClearBackoff(c.Webhook)
	}
}

// message is what is sent of a change.
type message struct {
	body     []byte
	erasable bool // it has a name that may be erased
}

// read returns the messages of deliveries by seq.
func (d *dispatcher) read(ctx context.Context, deliveries []store.Delivery) (map[int64]message, error) {
	all := make(map[int64]message, len(deliveries))
	var missing []int64
	epoch := d.encoder.Head().Epoch
	for _, delivery := range deliveries {
		// The delivery or the catalogue may be of an older epoch.
		body := d.bodies.get(disclosure.Cursor{Epoch: epoch, Seq: delivery.Seq})
		if body != nil && delivery.Epoch == epoch {
			all[delivery.Seq] = message{body: body}
		} else {
			missing = append(missing, delivery.Seq)
		}
	}
	if len(missing) == 0 {
		return all, nil
	}
	stored, err := d.store.Head(ctx)
	if err != nil {
		return nil, err
	}
	if epoch = stored.Epoch; epoch != d.encoder.Head().Epoch {
		clear(all)
		missing = missing[:0]
		for _, delivery := range deliveries {
			missing = append(missing, delivery.Seq)
		}
	}
	// The catalogue of this process may be behind.
	last := disclosure.Cursor{Epoch: epoch, Seq: slices.Max(missing)}
	for start := time.Now(); !d.catalogHas(last); _ = retry.Sleep(ctx, 5*time.Millisecond) {
		if d.queue.Ended() || ctx.Err() != nil || time.Since(start) > maxReadTime {
			return nil, errors.New("the catalogue does not have them yet")
		}
	}
	changes, err := d.store.ChangesAt(ctx, missing...)
	if err != nil {
		return nil, err
	}
	if stored, err = d.store.Head(ctx); err != nil || stored.Epoch != epoch {
		return nil, cmp.Or(err, errors.New("a backup of the store was restored meanwhile"))
	}
	for i := range changes {
		e := d.encoder.Encode(&changes[i])
		all[changes[i].Seq] = message{
			body:     d.bodies.add(disclosure.Cursor{Epoch: epoch, Seq: changes[i].Seq}, e),
			erasable: e.HasErasableName(),
		}
	}
	return all, nil
}

// catalogHas reports whether the catalogue contains a change.
func (d *dispatcher) catalogHas(c disclosure.Cursor) bool {
	head := d.encoder.Head()
	return head.Epoch == c.Epoch && head.Seq >= c.Seq
}

// result returns the result of an attempt: delivered, dead, or the time of the
// next attempt.
func (d *dispatcher) result(delivery store.Delivery, a attempt) store.Result {
	r := store.Result{
		Webhook: delivery.Webhook,
		Epoch:   delivery.Epoch,
		Seq:     delivery.Seq,
		Attempt: a.Attempt,
		State:   store.DeliveryPending,
	}
	if delivery.Attempts > 0 {
		d.counts.retried.Add(1)
	}
	if a.ok {
		d.counts.delivered.Add(1)
		r.State = store.DeliveryDelivered
		return r
	}
	d.counts.failed.Add(1)
	if a.gone {
		r.State = store.DeliveryDead
	} else {
		d.delays.Failed(&r, delivery.Attempts, a.retryAfter)
	}
	if r.State == store.DeliveryDead {
		d.counts.dead.Add(1)
	}
	return r
}

// disableFailing disables a webhook whose receiver is gone or failed for too
// long.
func (d *dispatcher) disableFailing(h *subscription.Hook, a attempt, failing bool) {
	if a.gone {
		d.hooks.DisableUnchanged(d.queue.Sending(), h, "the receiver answered 410 Gone")
		return
	}
	if !failing {
		return // the first failure
	}
	endpoints, err := d.store.Endpoints(d.queue.Sending(), h.ID)
	if err != nil {
		return // the next failure tries again
	}
	since := endpoints[h.ID].FailingSince
	if since.IsZero() {
		return
	}
	if since.Before(h.EnabledAt) {
		since = h.EnabledAt
	}
	if time.Since(since) > d.maxFailing {
		d.hooks.DisableUnchanged(d.queue.Sending(), h, fmt.Sprintf("nothing was delivered since %s; last error: %s",
			since.UTC().Format(time.RFC3339), a.Error))
	}
}
