package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pregon/internal/store"
)

// Settle implements store.Deliveries.
func (s *Store) Settle(ctx context.Context, results ...store.Result) error {
	err := s.update(ctx, func(tx *sql.Tx) error { return settle(ctx, tx, results) })
	if err != nil && !errors.Is(err, errNothingNew) {
		return fmt.Errorf("noting attempts: %w", explained(err))
	}
	return nil
}

func settle(ctx context.Context, tx *sql.Tx, results []store.Result) error {
	noted, err := noteAttempts(ctx, tx, results)
	if err != nil {
		return err
	}
	deliveries, webhooks := store.PlanSettle(results, noted)
	if len(deliveries) == 0 {
		return errNothingNew
	}
	if err := settleDeliveries(ctx, tx, deliveries); err != nil {
		return err
	}
	return settleEndpoints(ctx, tx, webhooks)
}

// noteAttempts adds the attempts that are new and whose deliveries exist,
// and returns them.
func noteAttempts(ctx context.Context, tx *sql.Tx, results []store.Result) (map[store.AttemptKey]bool, error) {
	rows := make([][]any, len(results))
	for i := range results {
		r := &results[i]
		failure, excerpt := r.Attempt.Texts()
		rows[i] = []any{r.Webhook, r.Seq, r.Attempt.At.UnixMicro(), r.Attempt.Status, r.Attempt.Latency.Microseconds(), failure, excerpt, r.Epoch}
	}
	encoded, err := list(rows)
	if err != nil {
		return nil, err
	}
	keys, err := collect(ctx, tx, func(rows *sql.Rows) (k store.AttemptKey, err error) {
		return k, rows.Scan(&k.Webhook, &k.Seq, &k.At)
	}, `INSERT INTO attempt (webhook, seq, at, status, latency, error, excerpt)
		SELECT d.webhook, d.seq, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
		FROM json_each(?) CROSS JOIN delivery d WHERE d.webhook = value ->> 0 AND d.seq = value ->> 1 AND d.epoch = value ->> 7
		ON CONFLICT DO NOTHING RETURNING webhook, seq, at`, encoded)
	noted := make(map[store.AttemptKey]bool, len(keys))
	for _, k := range keys {
		noted[k] = true
	}
	return noted, err
}

func settleDeliveries(ctx context.Context, tx *sql.Tx, deliveries []store.Settled) error {
	rows := make([][]any, len(deliveries))
	for i, d := range deliveries {
		rows[i] = []any{d.Webhook, d.Seq, d.Attempts, d.State, micros(d.DueAt), micros(d.DoneAt)}
	}
	encoded, err := list(rows)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE delivery AS d SET
			attempts = d.attempts + t.attempts,
			state = iif(d.state = 'pending' OR t.state = 'delivered', t.state, d.state),
			due_at = iif(d.state = 'pending' OR t.state = 'delivered', t.due_at, d.due_at),
			done_at = iif(d.state = 'pending' OR t.state = 'delivered', t.done_at, d.done_at)
		FROM (SELECT value ->> 0 AS webhook, value ->> 1 AS seq, value ->> 2 AS attempts, value ->> 3 AS state,
				value ->> 4 AS due_at, value ->> 5 AS done_at FROM json_each(?)) t
		WHERE d.webhook = t.webhook AND d.seq = t.seq`, encoded)
	return err
}

func settleEndpoints(ctx context.Context, tx *sql.Tx, webhooks []store.Tried) error {
	rows := make([][]any, len(webhooks))
	for i, w := range webhooks {
		rows[i] = []any{w.Webhook, w.Succeeded, micros(w.FailingSince), micros(w.LastSuccessAt), micros(w.LastFailureAt)}
	}
	encoded, err := list(rows)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE endpoint AS e SET
			failing_since = iif(t.succeeded, t.failing_since, coalesce(e.failing_since, t.failing_since)),
			last_success_at = coalesce(max(e.last_success_at, t.success_at), e.last_success_at, t.success_at),
			last_failure_at = coalesce(max(e.last_failure_at, t.failure_at), e.last_failure_at, t.failure_at)
		FROM (SELECT value ->> 0 AS webhook, value ->> 1 AS succeeded, value ->> 2 AS failing_since,
				value ->> 3 AS success_at, value ->> 4 AS failure_at FROM json_each(?)) t
		WHERE e.webhook = t.webhook`, encoded)
	return err
}
