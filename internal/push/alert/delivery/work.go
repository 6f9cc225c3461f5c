package delivery

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/queue"
	"pregon/internal/store"
)

// restoreTime is how long before a restore of a backup a delivery may have been due that
// is sent after it. One that was due earlier may have been sent.
const restoreTime = 10 * time.Minute

// settleTime is how long it takes usually until a result is stored.
const settleTime = 250 * time.Millisecond

// maxSendTime is how long sending a message takes at most. Senders have shorter timeouts.
const maxSendTime = 2 * time.Minute

// work sends the messages that are due for a channel until one fails.
func (d *dispatcher) work(held *queue.Claim, claimed store.Claimed) {
	c := d.channel(claimed.Webhook, time.Now())
	if c == nil {
		return
	}
	left, err := d.dropSome(held, c, claimed.Deliveries)
	if err != nil {
		d.failed(held, c, "cannot read what is due for a channel: it waits", err)
		return
	}
	for _, some := range d.plan(c, left, time.Now()) {
		if c = d.channel(claimed.Webhook, time.Now()); c == nil || held.Over() {
			return
		}
		if slices.ContainsFunc(some, func(one store.Delivery) bool { return !d.isWanted(&one) }) {
			return // the next claim drops it
		}
		if slices.ContainsFunc(some, func(one store.Delivery) bool { return !d.isKnown(&one) }) {
			d.failed(held, c, "cannot send what is due for a channel: it waits", errKeys)
			return
		}
		may, err := d.mayGet(held.Context(), c.Account, time.Now())
		if err != nil {
			d.failed(held, c, "cannot read how many messages an account had today: what is due waits", err)
			return
		}
		if !may || !d.send(held, c, some) {
			return
		}
	}
}

// failed logs that something could not be read, and lets the channel wait.
func (d *dispatcher) failed(held *queue.Claim, c *subscription.Channel, message string, err error) {
	if d.queue.Ended() || held.Context().Err() != nil {
		return
	}
	d.log.WarnContext(held.Context(), message, "channel", c.ID, "err", err)
	d.queue.BackOff(endpoint(c), 0)
}

// dropSome settles the deliveries that are not sent, and returns the others.
func (d *dispatcher) dropSome(
	held *queue.Claim, c *subscription.Channel, all []store.Delivery,
) (left []store.Delivery, err error) {
	head, err := d.store.Head(held.Context())
	if err != nil {
		return nil, err
	}
	restored, err := d.lastRestore(held.Context(), head)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	var dropped []store.Result
	refreshed := false
	for _, delivery := range all {
		if !d.isWanted(&delivery) && !refreshed {
			if err := d.refreshWanted(held.Context()); err != nil {
				return nil, err
			}
			refreshed = true
		}
		sent, err := d.mayHaveSent(held.Context(), &restored, c, &delivery)
		if err != nil {
			return nil, err
		}
		if !sent && !d.isWanted(&delivery) {
			dropped = append(dropped, store.Result{
				Webhook:   delivery.Webhook,
				Epoch:     delivery.Epoch,
				Seq:       delivery.Seq,
				Withdrawn: true, // another alert may still select the story
				Cause:     delivery.Cause,
			})
			continue
		}
		reason := dropReason(&delivery, sent, now)
		if reason == "" {
			left = append(left, delivery)
			continue
		}
		dropped = append(dropped, store.Result{
			Webhook: delivery.Webhook,
			Epoch:   delivery.Epoch,
			Seq:     delivery.Seq,
			State:   store.DeliveryDead,
			Attempt: store.Attempt{At: now.UTC(), Error: reason},
			Unsent:  true,
		})
	}
	if len(dropped) > 0 {
		d.counts.dropped.Add(int64(len(dropped)))
		held.Settle(dropped...)
	}
	return left, nil
}

// dropReason returns why a delivery is not sent that is wanted, or may have been sent before
// a restore; empty if it is sent.
func dropReason(delivery *store.Delivery, sent bool, now time.Time) string {
	switch {
	case now.Sub(delivery.DueAt) > queue.MaxDelay:
		return "not sent: it was due for more than four days"
	case sent:
		return "not sent: it was due before a backup was restored, and may have been sent"
	}
	return ""
}

// send sends one message, and reports whether another may follow.
func (d *dispatcher) send(held *queue.Claim, c *subscription.Channel, some []store.Delivery) bool {
	m, err := d.compose(held.Context(), &c.Channel, some)
	if err != nil {
		d.failed(held, c, "cannot read the events of a message: it waits", err)
		return false
	}
	start := time.Now()
	d.counts.inFlight.Add(1)
	ctx, cancel := context.WithTimeout(held.Context(), maxSendTime)
	o := d.o.Sender.Send(ctx, c.Channel, m)
	cancel()
	d.counts.inFlight.Add(-1)
	if !o.OK && held.Context().Err() != nil {
		return false // canceled by this process: it says nothing about the receiver
	}
	if o.Untried { // it is still due, and no attempt is counted
		d.queue.BackOff(endpoint(c), o.RetryAfter)
		return false
	}
	took := time.Since(start)
	held.Settle(d.results(some, o, start, took)...)
	if o.OK {
		d.queue.ClearBackoff(c.ID)
		d.count(d.queue.Sending(), c.Account, m.ID, start)
		return true
	}
	wait := min(o.RetryAfter, queue.MaxRetryAfter)
	if wait > 0 {
		wait += settleTime // so that the message that failed is due before later ones are sent
	}
	d.queue.BackOff(endpoint(c), wait)
	d.pause(held, c, o)
	return false
}

// results returns the results of a message, one of each of its deliveries. Those with the
// same number of attempts wait for the next one together.
func (d *dispatcher) results(
	some []store.Delivery, o channel.Outcome, start time.Time, took time.Duration,
) []store.Result {
	results := make([]store.Result, len(some))
	again := map[int]store.Result{} // by the number of earlier attempts
	retried := false
	for i := range some {
		delivery := &some[i]
		r := store.Result{State: store.DeliveryDelivered}
		if !o.OK {
			var known bool
			if r, known = again[delivery.Attempts]; !known {
				d.delays.Failed(&r, delivery.Attempts, min(o.RetryAfter, queue.MaxRetryAfter))
				again[delivery.Attempts] = r
			}
		}
		r.Webhook = delivery.Webhook
		r.Epoch = delivery.Epoch
		r.Seq = delivery.Seq
		r.Attempt = store.Attempt{
			At:      start.UTC(),
			Status:  o.Status,
			Latency: took,
			Error:   o.Error,
		}
		results[i] = r
		retried = retried || delivery.Attempts > 0
		if r.State == store.DeliveryDead {
			d.counts.dropped.Add(1)
		}
	}
	if retried {
		d.counts.retried.Add(1)
	}
	if o.OK {
		d.counts.sent.Add(1)
		d.counts.events.Add(int64(len(some)))
	} else {
		d.counts.failed.Add(1)
	}
	return results
}

// pause pauses a channel whose receiver refuses messages, or failed for too long. What is
// pending waits.
func (d *dispatcher) pause(held *queue.Claim, c *subscription.Channel, o channel.Outcome) {
	ctx := d.queue.Sending()
	reason := o.Error
	if !o.Permanent {
		if !held.Failing {
			return // the first failure
		}
		since := d.failingSince(ctx, c)
		if since.IsZero() || time.Since(since) < d.maxFailing {
			return
		}
		reason = fmt.Sprintf("nothing could be sent since %s; last error: %s", since.UTC().Format(time.RFC3339), o.Error)
	}
	if err := d.o.Alerts.Pause(ctx, c.ID, c.Revision(), reason); err != nil && ctx.Err() == nil {
		d.log.WarnContext(ctx, "cannot pause a channel whose receiver refuses messages", "channel", c.ID, "err", err)
	}
}

// failingSince returns since when a channel fails, zero if that is not known. The next
// failure tries again. A channel that was resumed begins anew.
func (d *dispatcher) failingSince(ctx context.Context, c *subscription.Channel) time.Time {
	endpoints, err := d.store.Endpoints(ctx, c.ID)
	if err != nil {
		return time.Time{}
	}
	since := endpoints[c.ID].FailingSince
	if !since.IsZero() && since.Before(c.Since) {
		return c.Since
	}
	return since
}
