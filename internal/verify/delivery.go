package verify

import (
	"context"
	"fmt"

	"pregon/internal/store/relational"
)

// textQueues are endpoints that are neither webhooks nor channels: see the packages
// delivery of both.
var textQueues = []string{"alert-documents", "documents"}

// receives is the condition that a record r may have an endpoint.
const receives = `r.kind IN ('webhook', 'alert')`

// checkDeliveries checks the deliveries to webhooks and channels, and that they refer to
// the log.
func (c *Checker) checkDeliveries(ctx context.Context, tx relational.Tx) error {
	for _, check := range []func(context.Context, relational.Tx) error{
		c.checkFanned, c.checkAttempts, c.checkStates, c.checkEndpoints,
	} {
		if err := check(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checker) checkFanned(ctx context.Context, tx relational.Tx) error {
	for _, table := range []string{"fanned", "fanned_alerts"} {
		var fanned, head int64
		found, err := relational.One(ctx, tx, []any{&fanned, &head},
			`SELECT f.seq, h.seq FROM `+table+` f CROSS JOIN log_head h`)
		if err != nil {
			return err
		}
		if found && fanned <= head && fanned >= 0 {
			continue
		}
		c.broken.fanned = append(c.broken.fanned, table)
		c.found(Finding{
			Kind:  Fanned,
			Where: table,
			Text:  fmt.Sprintf("the log was fanned out up to change %d, and its newest is %d", fanned, head),
		})
	}
	return nil
}

func (c *Checker) checkAttempts(ctx context.Context, tx relational.Tx) error {
	var a attempt
	n := 0
	return relational.Each(ctx, tx, []any{&a.webhook, &a.seq, &n}, func() error {
		c.broken.attempts = append(c.broken.attempts, a)
		c.found(Finding{
			Kind:  Attempt,
			Where: deliveryName(a),
			Text:  fmt.Sprintf("there are %d attempts, and no delivery", n),
		})
		return nil
	}, `SELECT a.webhook, a.seq, count(*) FROM attempt a LEFT JOIN delivery d ON d.webhook = a.webhook AND d.seq = a.seq
		WHERE d.webhook IS NULL GROUP BY a.webhook, a.seq ORDER BY a.webhook, a.seq`)
}

func deliveryName(a attempt) string {
	return fmt.Sprintf("delivery of change %d to %s", a.seq, a.webhook)
}

// checkStates checks each delivery by itself, and against its change. A delivery of
// another epoch may be of a change that a restored backup does not have.
func (c *Checker) checkStates(ctx context.Context, tx relational.Tx) error {
	for _, check := range []struct{ text, where string }{
		{"there is no such change", `d.seq < 1 OR d.seq > h.seq`},
		{"its state does not agree with its times", `d.attempts < 0 OR (d.state = 'pending') <> (d.due_at IS NOT NULL) OR (d.state = 'pending') = (d.done_at IS NOT NULL)`},
		{"it has another event than the change", `d.epoch = h.epoch AND EXISTS (SELECT 1 FROM change c WHERE c.seq = d.seq AND c.event <> d.event)`},
	} {
		var a attempt
		err := relational.Each(ctx, tx, []any{&a.webhook, &a.seq}, func() error {
			c.found(Finding{Kind: Delivery, Where: deliveryName(a), Text: check.text})
			return nil
		}, `SELECT d.webhook, d.seq FROM delivery d CROSS JOIN log_head h WHERE `+check.where+` ORDER BY d.webhook, d.seq`)
		if err != nil {
			return err
		}
	}
	return nil
}

// checkEndpoints finds deliveries without an endpoint, which are never sent, and
// endpoints of webhooks and channels that never existed. Those of removed ones are
// deleted by the service.
func (c *Checker) checkEndpoints(ctx context.Context, tx relational.Tx) error {
	var webhook string
	n := 0
	err := relational.Each(ctx, tx, []any{&webhook, &n}, func() error {
		c.broken.unserved = append(c.broken.unserved, webhook)
		c.found(Finding{
			Kind:  NoEndpoint,
			Where: "webhook " + webhook,
			Text:  fmt.Sprintf("it has %d deliveries and no endpoint, so that none is sent", n),
		})
		return nil
	}, `SELECT d.webhook, count(*) FROM delivery d LEFT JOIN endpoint e ON e.webhook = d.webhook
		WHERE e.webhook IS NULL GROUP BY d.webhook ORDER BY d.webhook`)
	if err != nil {
		return err
	}
	return relational.Each(ctx, tx, []any{&webhook}, func() error {
		c.broken.orphans = append(c.broken.orphans, webhook)
		c.found(Finding{
			Kind:  OrphanEndpoint,
			Where: "webhook " + webhook,
			Text:  "it has an endpoint, and there is no such webhook",
		})
		return nil
	}, `SELECT e.webhook FROM endpoint e
		WHERE NOT EXISTS (SELECT 1 FROM record r WHERE `+receives+` AND r.id = e.webhook)
			AND NOT (e.webhook `+c.base.SQL.In(`$1`)+`) ORDER BY e.webhook`, textQueues)
}
