package relational

import (
	"context"
	"time"

	"pregon/internal/store"
)

// Settle locks the webhooks, adds the attempts that are new and whose deliveries
// exist, and writes their effects on deliveries and webhooks. It locks the
// deliveries too, so that none is pruned before its attempt is added.
func (b *Base) Settle(ctx context.Context, results ...store.Result) error {
	if len(results) == 0 {
		return nil
	}
	return b.update(ctx, "recording attempts", func(tx Tx) error {
		tx.Exec(ctx, `SELECT webhook FROM endpoint WHERE webhook `+b.SQL.In(`$1`)+`
			ORDER BY webhook `+b.SQL.Lock(`FOR NO KEY UPDATE`),
			store.ResultWebhooks(results))
		tried, withdrawn := b.withdraw(ctx, tx, results)
		added, err := b.addAttempts(ctx, tx, tried)
		if err != nil {
			return err
		}
		deliveries, webhooks := store.PlanSettle(tried, added)
		if len(deliveries) == 0 && !withdrawn {
			return errUnchanged
		}
		b.settleDeliveries(ctx, tx, deliveries)
		b.settleEndpoints(ctx, tx, webhooks)
		return nil
	})
}

// withdraw deletes the deliveries that are withdrawn, and their attempts. It returns the
// other results, and whether any was to be withdrawn. A fan-out that adds a cause locks the
// webhook too, so that the cause is seen here, or the fan-out sees that the delivery is
// gone.
func (b *Base) withdraw(ctx context.Context, tx Tx, results []store.Result) (tried []store.Result, withdrawn bool) {
	var rows Values
	for i := range results {
		r := &results[i]
		if !r.Withdrawn {
			tried = append(tried, *r)
			continue
		}
		rows = append(rows, []any{r.Webhook, r.Seq, r.Epoch, r.Cause})
	}
	if len(rows) == 0 {
		return tried, false
	}
	tx.Exec(ctx, `DELETE FROM delivery WHERE state = 'pending' AND (webhook, seq, epoch, cause) IN
		(SELECT value ->> 0, CAST(value ->> 1 AS bigint), value ->> 2, value ->> 3 FROM `+b.SQL.Elements(`$1`)+`)`, rows)
	tx.Exec(ctx, `DELETE FROM attempt WHERE (webhook, seq) IN
			(SELECT value ->> 0, CAST(value ->> 1 AS bigint) FROM `+b.SQL.Elements(`$1`)+`)
		AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.webhook = attempt.webhook AND d.seq = attempt.seq)`, rows)
	return tried, true
}

// addAttempts returns the attempts that it added.
func (b *Base) addAttempts(ctx context.Context, tx Tx, results []store.Result) (map[store.AttemptKey]bool, error) {
	rows := make(Values, len(results))
	for i := range results {
		r := &results[i]
		failure, excerpt := r.Attempt.Texts()
		rows[i] = []any{
			r.Webhook, r.Seq, moment(r.Attempt.At), r.Attempt.Status, r.Attempt.Latency.Microseconds(), failure, excerpt, r.Epoch,
		}
	}
	added := make(map[store.AttemptKey]bool, len(results))
	var (
		k  store.AttemptKey
		at time.Time
	)
	err := Each(ctx, tx, []any{&k.Webhook, &k.Seq, &at}, func() error {
		k.At = at.UnixMicro()
		added[k] = true
		return nil
	}, `INSERT INTO attempt (webhook, seq, at, status, latency, error, excerpt)
		SELECT d.webhook, d.seq, CAST(value ->> 2 AS timestamptz), CAST(value ->> 3 AS integer), CAST(value ->> 4 AS bigint),
			value ->> 5, value ->> 6
		FROM `+b.SQL.Elements(`$1`)+` CROSS JOIN delivery d
		WHERE d.webhook = value ->> 0 AND d.seq = CAST(value ->> 1 AS bigint) AND d.epoch = value ->> 7
		`+b.SQL.Lock(`FOR NO KEY UPDATE OF d`)+`
		ON CONFLICT DO NOTHING RETURNING webhook, seq, at`, rows)
	return added, err
}

// settleDeliveries reads its rows once: without MATERIALIZED, SQLite would read a value
// from its JSON again for each column that depends on it.
func (b *Base) settleDeliveries(ctx context.Context, tx Tx, deliveries []store.Settled) {
	rows := make(Values, len(deliveries))
	for i, d := range deliveries {
		var wait any // NULL unless it is pending
		if d.State == store.DeliveryPending {
			wait = interval(d.Wait)
		}
		rows[i] = []any{d.Webhook, d.Seq, d.Attempts, d.State, wait, moment(d.DoneAt)}
	}
	tx.Exec(ctx, `WITH t AS MATERIALIZED (
			SELECT value ->> 0 AS webhook, CAST(value ->> 1 AS bigint) AS seq, CAST(value ->> 2 AS integer) AS attempts,
				value ->> 3 AS state, CAST(value ->> 4 AS interval) AS wait, CAST(value ->> 5 AS timestamptz) AS done_at
			FROM `+b.SQL.Elements(`$1`)+`)
		UPDATE delivery AS d SET
			attempts = d.attempts + t.attempts,
			state = CASE WHEN d.state = 'pending' OR t.state = 'delivered' THEN t.state ELSE d.state END,
			due_at = CASE WHEN d.state = 'pending' OR t.state = 'delivered' THEN `+b.SQL.Now+` + t.wait ELSE d.due_at END,
			done_at = CASE WHEN d.state = 'pending' OR t.state = 'delivered' THEN t.done_at ELSE d.done_at END
		FROM t WHERE d.webhook = t.webhook AND d.seq = t.seq`, rows)
}

// settleEndpoints keeps the later of two times; one that is NULL does not count. A
// failure by the clock of a process that is ahead of the store's gets the time of the
// store: CorrectTimes takes a failure in the future as proof that the clock was set
// back.
func (b *Base) settleEndpoints(ctx context.Context, tx Tx, webhooks []store.Tried) {
	rows := make(Values, len(webhooks))
	for i, w := range webhooks {
		rows[i] = []any{
			w.Webhook, w.Succeeded, moment(w.FailingSince), moment(w.LastSuccessAt),
			moment(w.LastFailureAt),
		}
	}
	tx.Exec(ctx, `WITH t AS MATERIALIZED (
			SELECT value ->> 0 AS webhook, CAST(value ->> 1 AS boolean) AS succeeded, CAST(value ->> 2 AS timestamptz) AS failing_since,
				CAST(value ->> 3 AS timestamptz) AS success_at,
				CASE WHEN CAST(value ->> 4 AS timestamptz) > `+b.SQL.Now+` THEN `+b.SQL.Now+`
					ELSE CAST(value ->> 4 AS timestamptz) END AS failure_at
			FROM `+b.SQL.Elements(`$1`)+`)
		UPDATE endpoint AS e SET
			failing_since = CASE WHEN t.succeeded THEN t.failing_since ELSE coalesce(e.failing_since, t.failing_since) END,
			last_success_at = CASE WHEN t.success_at < e.last_success_at THEN e.last_success_at ELSE coalesce(t.success_at, e.last_success_at) END,
			last_failure_at = CASE WHEN t.failure_at < e.last_failure_at THEN e.last_failure_at ELSE coalesce(t.failure_at, e.last_failure_at) END
		FROM t WHERE e.webhook = t.webhook`, rows)
}
