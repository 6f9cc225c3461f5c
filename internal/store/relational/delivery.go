package relational

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
)

func (b *Base) Enqueue(ctx context.Context, deliveries ...store.Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	return b.update(ctx, "enqueueing deliveries", func(tx Tx) error {
		for _, webhook := range store.Webhooks(deliveries) {
			// It locks an endpoint that exists and does not change it.
			tx.Exec(ctx, `INSERT INTO endpoint AS e (webhook) VALUES ($1)
				ON CONFLICT (webhook) DO UPDATE SET holder = e.holder`, webhook)
		}
		tx.Exec(ctx, `INSERT INTO delivery (webhook, seq, event, state, attempts, due_at, created_at, epoch)
			SELECT value ->> 0, CAST(value ->> 1 AS bigint), min(value ->> 2), 'pending', 0,
				`+b.SQL.Now+`, `+b.SQL.Now+`, (SELECT epoch FROM log_head)
			FROM `+b.SQL.Elements(`$1`)+` GROUP BY 1, 2 ORDER BY 1, 2
			ON CONFLICT (webhook, seq) DO UPDATE SET state = 'pending', attempts = 0, due_at = excluded.due_at, done_at = NULL`,
			deliveryValues(deliveries))
		return nil
	})
}

// Claim locks the webhooks before it reads their deliveries: by then the previous
// holder's attempts are committed, and a statement that began earlier would not
// see them. The due deliveries are read twice for the same reason. It skips
// webhooks that other transactions have locked.
func (b *Base) Claim(ctx context.Context, c store.Claim) (claimed []store.Claimed, err error) {
	err = b.update(ctx, "claiming webhooks", func(tx Tx) error {
		picked, err := Column[string](ctx, tx, `SELECT e.webhook FROM endpoint e
			WHERE e.webhook `+b.SQL.In(`$1`)+` AND (e.failing_since IS NOT NULL) = $2
				AND (e.holder IS NULL OR e.holder = $3 OR e.held_until <= `+b.SQL.Clock+`)
				AND EXISTS (SELECT 1 FROM delivery d
					WHERE d.webhook = e.webhook AND d.state = 'pending' AND d.due_at <= `+b.SQL.Now+`)
			ORDER BY (SELECT min(due_at) FROM delivery d WHERE d.webhook = e.webhook AND d.state = 'pending'), e.webhook
			LIMIT $4 `+b.SQL.Lock(`FOR NO KEY UPDATE OF e SKIP LOCKED`), c.Webhooks, c.Failing, c.Holder, c.Endpoints)
		if err != nil {
			return err
		}
		var (
			d        store.Delivery
			webhooks []string
		)
		err = Each(ctx, tx, deliveryFields(&d), func() error {
			if n := len(claimed); n == 0 || claimed[n-1].Webhook != d.Webhook {
				claimed, webhooks = append(claimed, store.Claimed{Webhook: d.Webhook}), append(webhooks, d.Webhook)
			}
			last := &claimed[len(claimed)-1]
			last.Deliveries = append(last.Deliveries, d)
			return nil
		}, b.DueDeliveries, picked, c.Each)
		for _, lane := range c.Together {
			if err == nil {
				err = b.addLane(ctx, tx, c, lane, claimed)
			}
		}
		if err != nil {
			return err
		}
		if len(claimed) == 0 {
			return errUnchanged
		}
		tx.Exec(ctx, `UPDATE endpoint SET holder = $1, held_until = `+b.SQL.Clock+` + CAST($2 AS interval)
			WHERE webhook `+b.SQL.In(`$3`), c.Holder, c.TTL, webhooks)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

// addLane adds to webhooks that have a due delivery in a lane those of the lane that wait
// to be due.
func (b *Base) addLane(ctx context.Context, tx Tx, c store.Claim, lane string, claimed []store.Claimed) error {
	open := map[string]*store.Claimed{}
	for i := range claimed {
		if claimed[i].Has(lane) && len(claimed[i].Deliveries) < c.Each {
			open[claimed[i].Webhook] = &claimed[i]
		}
	}
	if len(open) == 0 {
		return nil
	}
	d := store.Delivery{Early: true}
	err := Each(ctx, tx, deliveryFields(&d), func() error {
		if into := open[d.Webhook]; len(into.Deliveries) < c.Each {
			into.Deliveries = append(into.Deliveries, d)
		}
		return nil
	}, `SELECT `+DeliveryColumns+` FROM delivery d
		WHERE d.webhook `+b.SQL.In(`$1`)+` AND d.state = 'pending' AND d.lane = $2 AND d.attempts = 0 AND d.due_at > `+b.SQL.Now+`
		ORDER BY d.webhook, d.seq LIMIT $3`, slices.Sorted(maps.Keys(open)), lane, c.Each*len(open))
	for _, into := range open {
		slices.SortFunc(into.Deliveries, func(a, b store.Delivery) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	return err
}

// held returns the condition that locks the webhooks of a list that a holder has, in the same order as all
// other transactions, so that there is no deadlock.
func (b *Base) held() string {
	return `holder = $1 AND webhook IN
		(SELECT webhook FROM endpoint WHERE holder = $1 AND webhook ` + b.SQL.In(`$2`) + `
			ORDER BY webhook ` + b.SQL.Lock(`FOR NO KEY UPDATE`) + `)`
}

func (b *Base) Renew(
	ctx context.Context,
	holder string,
	ttl time.Duration,
	webhooks ...string,
) (kept []string, err error) {
	err = b.update(ctx, "keeping webhooks", func(tx Tx) error {
		kept, err = Column[string](ctx, tx, `UPDATE endpoint SET held_until = `+b.SQL.Clock+` + CAST($3 AS interval)
			WHERE `+b.held()+` RETURNING webhook`, holder, webhooks, ttl)
		return err
	})
	return kept, err
}

func (b *Base) Release(ctx context.Context, holder string, webhooks ...string) (err error) {
	defer b.fail("releasing webhooks", &err)
	return b.Exec(ctx, `UPDATE endpoint SET holder = NULL WHERE `+b.held(), holder, webhooks)
}

func (b *Base) Endpoints(ctx context.Context, webhooks ...string) (endpoints map[string]store.Endpoint, err error) {
	defer b.fail("reading the state of webhooks", &err)
	endpoints = map[string]store.Endpoint{}
	var (
		webhook string
		e       store.Endpoint
	)
	err = Each(ctx, b, []any{
		&webhook, &e.FailingSince, &e.LastSuccessAt, &e.LastFailureAt, &e.Pending,
		&e.Dead,
	}, func() error {
		endpoints[webhook] = e
		return nil
	}, `SELECT webhook, failing_since, last_success_at, last_failure_at,
			(SELECT count(*) FROM delivery d WHERE d.webhook = e.webhook AND d.state = 'pending'),
			(SELECT count(*) FROM delivery d WHERE d.webhook = e.webhook AND d.state = 'dead')
		FROM endpoint e WHERE webhook `+b.SQL.In(`$1`), webhooks)
	return endpoints, err
}

// DeliveryColumns are the columns of a delivery d.
const DeliveryColumns = `d.webhook, d.seq, d.event, d.state, d.attempts, d.due_at, d.created_at, d.done_at, d.epoch, d.story, d.lane, d.cause`

// deliveryFields returns the destinations of DeliveryColumns.
func deliveryFields(d *store.Delivery) []any {
	return []any{
		&d.Webhook, &d.Seq, &d.Event, &d.State, &d.Attempts, &d.DueAt, &d.CreatedAt, &d.DoneAt, &d.Epoch,
		&d.Story, &d.Lane, &d.Cause,
	}
}

func (b *Base) ListDeliveries(ctx context.Context, q store.DeliveryQuery) (all []store.Delivered, err error) {
	defer b.fail("reading deliveries", &err)
	where, args := `webhook = $1`, []any{q.Webhook, q.Limit}
	if q.Before != 0 {
		where, args = where+` AND seq < $3`, append(args, q.Before)
	}
	if q.State != "" {
		if !q.State.Known() {
			return nil, fault.New(fault.Invalid, "%q is not the state of a delivery", q.State)
		}
		where += ` AND state = '` + string(q.State) + `'` // a literal, so that the partial indexes can be used
	}
	var (
		d       store.Delivery
		a       store.Attempt
		latency int64 // microseconds
	)
	err = Each(ctx, b, append(deliveryFields(&d), &a.At, &a.Status, &latency, &a.Error, &a.Excerpt), func() error {
		if n := len(all); n == 0 || all[n-1].Seq != d.Seq {
			all = append(all, store.Delivered{Delivery: d})
		}
		if !a.At.IsZero() {
			a.Latency = time.Duration(latency) * time.Microsecond
			last := &all[len(all)-1]
			last.History = append(last.History, a)
		}
		return nil
	}, `SELECT `+DeliveryColumns+`, a.at, coalesce(a.status, 0), coalesce(a.latency, 0), coalesce(a.error, ''), coalesce(a.excerpt, '')
		FROM (SELECT * FROM delivery WHERE `+where+` ORDER BY seq DESC LIMIT $2) d
		LEFT JOIN attempt a ON a.webhook = d.webhook AND a.seq = d.seq ORDER BY d.seq DESC, a.at`, args...)
	return all, err
}

// DropDeliveries deletes the endpoint first, since other transactions lock it
// first, and deliveries before attempts, as PruneDeliveries does.
func (b *Base) DropDeliveries(ctx context.Context, webhook string) error {
	return b.update(ctx, "forgetting deliveries", func(tx Tx) error {
		for _, table := range []string{`endpoint`, `delivery`, `attempt`} {
			tx.Exec(ctx, `DELETE FROM `+table+` WHERE webhook = $1`, webhook)
		}
		return nil
	})
}

// Prunable is the condition that a delivery was done before the time $1 and, if it is of a
// story, before $2.
const Prunable = `done_at < $1 AND (story = '' OR done_at < $2)`

// PruneDeliveries skips deliveries that other transactions have locked, so it never
// waits. It deletes the attempts after it has locked their deliveries, so that it
// does not miss one that was recorded at the same time.
func (b *Base) PruneDeliveries(ctx context.Context, before time.Time, limit int) (pruned int, err error) {
	err = b.update(ctx, "deleting old deliveries", func(tx Tx) error {
		var (
			old     Values
			webhook string
			seq     int64
		)
		err := Each(ctx, tx, []any{&webhook, &seq}, func() error {
			old = append(old, []any{webhook, seq})
			return nil
		}, `SELECT webhook, seq FROM delivery WHERE `+Prunable+`
			ORDER BY done_at, webhook, seq LIMIT $3 `+b.SQL.Lock(`FOR UPDATE SKIP LOCKED`),
			before, time.Now().Add(-store.KeepStories), limit)
		if err != nil {
			return err
		}
		if pruned = len(old); pruned == 0 {
			return errUnchanged
		}
		for _, table := range []string{`delivery`, `attempt`} {
			tx.Exec(ctx, `DELETE FROM `+table+` WHERE (webhook, seq) IN
				(SELECT value ->> 0, CAST(value ->> 1 AS bigint) FROM `+b.SQL.Elements(`$1`)+`)`, old)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return pruned, nil
}
