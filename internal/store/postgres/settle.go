package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/store"
)

// Settle is described by store.Deliveries.
func (s *Store) Settle(ctx context.Context, results ...store.Result) error {
	if len(results) == 0 {
		return nil
	}
	if err := s.settle(ctx, results); err != nil {
		return failed("noting attempts", err)
	}
	return nil
}

func (s *Store) settle(ctx context.Context, results []store.Result) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	noted, err := noteAttempts(ctx, tx, results)
	if err != nil {
		return err
	}
	deliveries, webhooks := store.PlanSettle(results, noted)
	if len(deliveries) == 0 {
		return nil
	}
	batch := new(pgx.Batch)
	queueDeliveries(batch, deliveries)
	queueEndpoints(batch, webhooks)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	return s.commit(ctx, tx)
}

// noteAttempts locks the webhooks, then adds the attempts that are new and whose
// deliveries exist, and returns them. It locks the deliveries too, so that none
// is pruned before its attempt is added.
func noteAttempts(ctx context.Context, tx pgx.Tx, results []store.Result) (map[store.AttemptKey]bool, error) {
	var (
		webhooks  = make([]string, len(results))
		seqs      = make([]int64, len(results))
		times     = make([]time.Time, len(results))
		statuses  = make([]int, len(results))
		latencies = make([]int64, len(results))
		failures  = make([]string, len(results))
		excerpts  = make([]string, len(results))
		epochs    = make([]string, len(results))
	)
	for i := range results {
		r := &results[i]
		webhooks[i], epochs[i], seqs[i], times[i] = r.Webhook, r.Epoch, r.Seq, r.Attempt.At
		statuses[i], latencies[i] = r.Attempt.Status, r.Attempt.Latency.Microseconds()
		failures[i], excerpts[i] = r.Attempt.Texts()
	}
	noted := make(map[store.AttemptKey]bool, len(results))
	batch := new(pgx.Batch)
	batch.Queue(`SELECT FROM endpoint WHERE webhook = ANY($1) ORDER BY webhook FOR NO KEY UPDATE`, store.ResultWebhooks(results))
	batch.Queue(`INSERT INTO attempt (webhook, seq, at, status, latency, error, excerpt)
		SELECT t.webhook, t.seq, t.at, t.status, t.latency, t.error, t.excerpt
		FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::integer[], $5::bigint[], $6::text[], $7::text[], $8::text[])
			AS t (webhook, seq, at, status, latency, error, excerpt, epoch)
		JOIN delivery d ON d.webhook = t.webhook AND d.seq = t.seq AND d.epoch = t.epoch
		FOR NO KEY UPDATE OF d
		ON CONFLICT DO NOTHING RETURNING webhook, seq, at`, webhooks, seqs, times, statuses, latencies, failures, excerpts, epochs).Query(func(rows pgx.Rows) error {
		var (
			k  store.AttemptKey
			at time.Time
		)
		_, err := pgx.ForEachRow(rows, []any{&k.Webhook, &k.Seq, &at}, func() error {
			k.At = at.UnixMicro()
			noted[k] = true
			return nil
		})
		return err
	})
	return noted, tx.SendBatch(ctx, batch).Close()
}

func queueDeliveries(batch *pgx.Batch, deliveries []store.Settled) {
	var (
		webhooks = make([]string, len(deliveries))
		seqs     = make([]int64, len(deliveries))
		attempts = make([]int, len(deliveries))
		states   = make([]string, len(deliveries))
		due      = make([]*time.Time, len(deliveries))
		done     = make([]*time.Time, len(deliveries))
	)
	for i, d := range deliveries {
		webhooks[i], seqs[i], attempts[i], states[i] = d.Webhook, d.Seq, d.Attempts, string(d.State)
		due[i], done[i] = stored(d.DueAt), stored(d.DoneAt)
	}
	batch.Queue(`UPDATE delivery d SET
			attempts = d.attempts + t.attempts,
			state = CASE WHEN d.state = 'pending' OR t.state = 'delivered' THEN t.state ELSE d.state END,
			due_at = CASE WHEN d.state = 'pending' OR t.state = 'delivered' THEN t.due_at ELSE d.due_at END,
			done_at = CASE WHEN d.state = 'pending' OR t.state = 'delivered' THEN t.done_at ELSE d.done_at END
		FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::text[], $5::timestamptz[], $6::timestamptz[])
			AS t (webhook, seq, attempts, state, due_at, done_at)
		WHERE d.webhook = t.webhook AND d.seq = t.seq`, webhooks, seqs, attempts, states, due, done)
}

func queueEndpoints(batch *pgx.Batch, tried []store.Tried) {
	var (
		webhooks  = make([]string, len(tried))
		succeeded = make([]bool, len(tried))
		since     = make([]*time.Time, len(tried))
		success   = make([]*time.Time, len(tried))
		failure   = make([]*time.Time, len(tried))
	)
	for i, w := range tried {
		webhooks[i], succeeded[i], since[i] = w.Webhook, w.Succeeded, stored(w.FailingSince)
		success[i], failure[i] = stored(w.LastSuccessAt), stored(w.LastFailureAt)
	}
	// greatest ignores NULLs.
	batch.Queue(`UPDATE endpoint e SET
			failing_since = CASE WHEN t.succeeded THEN t.failing_since ELSE coalesce(e.failing_since, t.failing_since) END,
			last_success_at = greatest(e.last_success_at, t.success_at),
			last_failure_at = greatest(e.last_failure_at, t.failure_at)
		FROM unnest($1::text[], $2::boolean[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[])
			AS t (webhook, succeeded, failing_since, success_at, failure_at)
		WHERE e.webhook = t.webhook`, webhooks, succeeded, since, success, failure)
}
