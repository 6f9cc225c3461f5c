package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// Fanned implements store.Deliveries.
func (s *Store) Fanned(ctx context.Context) (seq int64, err error) {
	if err := s.read.QueryRowContext(ctx, "SELECT seq FROM fanned").Scan(&seq); err != nil {
		return 0, fmt.Errorf("reading how far the log was handed out: %w", explained(err))
	}
	return seq, nil
}

// FanOut implements store.Deliveries.
func (s *Store) FanOut(ctx context.Context, f store.FanOut) error {
	if err := s.update(ctx, func(tx *sql.Tx) error { return fanOut(ctx, tx, f) }); err != nil {
		return fmt.Errorf("handing the log out: %w", explained(err))
	}
	return nil
}

func fanOut(ctx context.Context, tx *sql.Tx, f store.FanOut) error {
	var (
		seq   int64
		newer bool
		epoch string
		seen  = disclosure.Mark{Seq: f.Seen.Seq}
	)
	err := tx.QueryRowContext(ctx, `SELECT f.seq, EXISTS (SELECT 1 FROM record WHERE kind = 'webhook' AND revision > ?), h.epoch,
			coalesce(c.event, ''), coalesce(c.subject, ''), coalesce(c.occurred_at, 0)
		FROM fanned f JOIN log_head h LEFT JOIN change c ON c.seq = ?`, f.Revision, f.Seen.Seq).Scan(&seq, &newer, &epoch, &seen.Event, &seen.Subject, &seen.At)
	if err != nil {
		return err
	}
	if err := f.Meets(epoch, seen); err != nil {
		return err
	}
	if seq != f.From {
		return fault.New(fault.Conflict, "the log was handed out up to %d, not %d", seq, f.From)
	}
	if newer {
		return fault.New(fault.Conflict, "there are newer webhooks than those of revision %d", f.Revision)
	}
	if err := addDeliveries(ctx, tx, f.Deliveries, "DO NOTHING"); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE fanned SET seq = ?", f.To)
	return err
}

// Enqueue implements store.Deliveries.
func (s *Store) Enqueue(ctx context.Context, deliveries ...store.Delivery) error {
	err := s.update(ctx, func(tx *sql.Tx) error {
		return addDeliveries(ctx, tx, deliveries, "DO UPDATE SET state = 'pending', attempts = 0, due_at = excluded.due_at, done_at = NULL")
	})
	if err != nil {
		return fmt.Errorf("enqueueing deliveries: %w", explained(err))
	}
	return nil
}

// addDeliveries adds deliveries that are due now. present is the conflict action
// for those that exist.
func addDeliveries(ctx context.Context, tx *sql.Tx, deliveries []store.Delivery, present string) error {
	if len(deliveries) == 0 {
		return nil
	}
	webhooks, err := list(store.Webhooks(deliveries))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO endpoint (webhook) SELECT value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING", webhooks)
	if err != nil {
		return err
	}
	rows := make([][]any, len(deliveries))
	for i, d := range deliveries {
		rows[i] = []any{d.Webhook, d.Seq, d.Event}
	}
	encoded, err := list(rows)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO delivery (webhook, seq, event, state, attempts, due_at, created_at, epoch)
		SELECT value ->> 0, value ->> 1, value ->> 2, 'pending', 0, ?2, ?2, (SELECT epoch FROM log_head) FROM json_each(?1) WHERE true
		ON CONFLICT (webhook, seq) `+present, encoded, time.Now().UnixMicro())
	return err
}

// Claim implements store.Deliveries. All holders share this machine's clock.
func (s *Store) Claim(ctx context.Context, c store.Claim) ([]store.Claimed, error) {
	var claimed []store.Claimed
	err := s.update(ctx, func(tx *sql.Tx) (err error) {
		claimed, err = claim(ctx, tx, c, time.Now())
		return err
	})
	if errors.Is(err, errNothingNew) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claiming webhooks: %w", explained(err))
	}
	return claimed, nil
}

func claim(ctx context.Context, tx *sql.Tx, c store.Claim, now time.Time) ([]store.Claimed, error) {
	webhooks, err := waiting(ctx, tx, c, now)
	if err != nil {
		return nil, err
	}
	if len(webhooks) == 0 {
		return nil, errNothingNew
	}
	picked, err := list(webhooks)
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE endpoint SET holder = ?, held_until = ? WHERE webhook IN (SELECT value FROM json_each(?))",
		c.Holder, now.Add(c.TTL).UnixMicro(), picked)
	if err != nil {
		return nil, err
	}
	return dueDeliveries(ctx, tx, picked, c.Each, now)
}

// waiting returns the webhooks that may be claimed, longest waiting first.
func waiting(ctx context.Context, tx *sql.Tx, c store.Claim, now time.Time) ([]string, error) {
	webhooks, err := list(c.Webhooks)
	if err != nil {
		return nil, err
	}
	return collect(ctx, tx, func(rows *sql.Rows) (webhook string, err error) {
		return webhook, rows.Scan(&webhook)
	}, `WITH free AS MATERIALIZED (
			SELECT webhook, (SELECT due_at FROM delivery d WHERE d.webhook = e.webhook AND d.state = 'pending' ORDER BY due_at LIMIT 1) AS due_at
			FROM endpoint e
			WHERE webhook IN (SELECT value FROM json_each(?)) AND (failing_since IS NOT NULL) = ?
				AND (holder IS NULL OR holder = ? OR held_until <= ?))
		SELECT webhook FROM free WHERE due_at <= ? ORDER BY due_at, webhook LIMIT ?`,
		webhooks, c.Failing, c.Holder, now.UnixMicro(), now.UnixMicro(), c.Endpoints)
}

const deliveryColumns = "d.webhook, d.seq, d.event, d.state, d.attempts, d.due_at, d.created_at, d.done_at, d.epoch"

// dueDeliveries returns the due deliveries of these webhooks, in their order.
func dueDeliveries(ctx context.Context, tx *sql.Tx, webhooks string, most int, now time.Time) ([]store.Claimed, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+deliveryColumns+` FROM json_each(?) w JOIN delivery d ON d.webhook = w.value AND d.seq IN
			(SELECT p.seq FROM delivery p INDEXED BY delivery_pending
			WHERE p.webhook = w.value AND p.state = 'pending' AND p.due_at <= ? ORDER BY p.seq LIMIT ?)
		ORDER BY w.key, d.seq`, webhooks, now.UnixMicro(), most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var claimed []store.Claimed
	for rows.Next() {
		var d storedDelivery
		if err := rows.Scan(d.fields()...); err != nil {
			return nil, err
		}
		if n := len(claimed); n == 0 || claimed[n-1].Webhook != d.Webhook {
			claimed = append(claimed, store.Claimed{Webhook: d.Webhook})
		}
		last := &claimed[len(claimed)-1]
		last.Deliveries = append(last.Deliveries, d.delivery())
	}
	return claimed, rows.Err()
}

// Renew implements store.Deliveries.
func (s *Store) Renew(ctx context.Context, holder string, ttl time.Duration, webhooks ...string) (held []string, err error) {
	wanted, err := list(webhooks)
	if err != nil {
		return nil, err
	}
	err = s.update(ctx, func(tx *sql.Tx) (err error) {
		held, err = collect(ctx, tx, func(rows *sql.Rows) (webhook string, err error) {
			return webhook, rows.Scan(&webhook)
		}, "UPDATE endpoint SET held_until = ? WHERE holder = ? AND webhook IN (SELECT value FROM json_each(?)) RETURNING webhook",
			time.Now().Add(ttl).UnixMicro(), holder, wanted)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("keeping webhooks: %w", explained(err))
	}
	return held, nil
}

// Release implements store.Deliveries.
func (s *Store) Release(ctx context.Context, holder string, webhooks ...string) error {
	wanted, err := list(webhooks)
	if err != nil {
		return err
	}
	err = s.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE endpoint SET holder = NULL WHERE holder = ? AND webhook IN (SELECT value FROM json_each(?))", holder, wanted)
		return err
	})
	if err != nil {
		return fmt.Errorf("giving webhooks back: %w", explained(err))
	}
	return nil
}

// Endpoints implements store.Deliveries.
func (s *Store) Endpoints(ctx context.Context, webhooks ...string) (map[string]store.Endpoint, error) {
	endpoints, err := readEndpoints(ctx, s.read, webhooks)
	if err != nil {
		return nil, fmt.Errorf("reading what is known of webhooks: %w", explained(err))
	}
	return endpoints, nil
}

func readEndpoints(ctx context.Context, q querier, webhooks []string) (map[string]store.Endpoint, error) {
	wanted, err := list(webhooks)
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, `SELECT webhook, failing_since, last_success_at, last_failure_at,
			(SELECT count(*) FROM delivery d WHERE d.webhook = e.webhook AND d.state = 'pending'),
			(SELECT count(*) FROM delivery d WHERE d.webhook = e.webhook AND d.state = 'dead')
		FROM endpoint e WHERE webhook IN (SELECT value FROM json_each(?))`, wanted)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	endpoints := map[string]store.Endpoint{}
	for rows.Next() {
		var (
			webhook                 string
			e                       store.Endpoint
			since, success, failure sql.Null[int64]
		)
		if err := rows.Scan(&webhook, &since, &success, &failure, &e.Pending, &e.Dead); err != nil {
			return nil, err
		}
		e.FailingSince, e.LastSuccessAt, e.LastFailureAt = moment(since), moment(success), moment(failure)
		endpoints[webhook] = e
	}
	return endpoints, rows.Err()
}

// ListDeliveries implements store.Deliveries.
func (s *Store) ListDeliveries(ctx context.Context, q store.DeliveryQuery) ([]store.Delivered, error) {
	delivered, err := listDeliveries(ctx, s.read, q)
	if err != nil {
		return nil, fmt.Errorf("reading deliveries: %w", explained(err))
	}
	return delivered, nil
}

func listDeliveries(ctx context.Context, db querier, q store.DeliveryQuery) ([]store.Delivered, error) {
	where, args := "webhook = ?", []any{q.Webhook}
	if q.Before != 0 {
		where, args = where+" AND seq < ?", append(args, q.Before)
	}
	if q.State != "" {
		if !q.State.Known() {
			return nil, fault.New(fault.Invalid, "no delivery is %q", q.State)
		}
		where += " AND state = '" + string(q.State) + "'" // a literal, so that the partial indexes can be used
	}
	rows, err := db.QueryContext(ctx, "SELECT "+deliveryColumns+", a.at, a.status, a.latency, a.error, a.excerpt FROM (SELECT * FROM delivery WHERE "+where+
		" ORDER BY seq DESC LIMIT ?) d LEFT JOIN attempt a ON a.webhook = d.webhook AND a.seq = d.seq ORDER BY d.seq DESC, a.at", append(args, q.Limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []store.Delivered
	for rows.Next() {
		var (
			d storedDelivery
			a storedAttempt
		)
		if err := rows.Scan(append(d.fields(), a.fields()...)...); err != nil {
			return nil, err
		}
		if n := len(all); n == 0 || all[n-1].Seq != d.Seq {
			all = append(all, store.Delivered{Delivery: d.delivery()})
		}
		if a.at.Valid {
			last := &all[len(all)-1]
			last.History = append(last.History, a.attempt())
		}
	}
	return all, rows.Err()
}

// DropDeliveries implements store.Deliveries.
func (s *Store) DropDeliveries(ctx context.Context, webhook string) error {
	err := s.update(ctx, func(tx *sql.Tx) error {
		for _, table := range []string{"endpoint", "delivery", "attempt"} {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE webhook = ?", webhook); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forgetting deliveries: %w", explained(err))
	}
	return nil
}

// PruneDeliveries implements store.Deliveries.
func (s *Store) PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	var pruned int64
	err := s.update(ctx, func(tx *sql.Tx) (err error) {
		pruned, err = prune(ctx, tx, before, limit)
		return err
	})
	if err != nil && !errors.Is(err, errNothingNew) {
		return 0, fmt.Errorf("forgetting old deliveries: %w", explained(err))
	}
	return int(pruned), nil
}

func prune(ctx context.Context, tx *sql.Tx, before time.Time, limit int) (pruned int64, err error) {
	// Deliveries come last: the attempts to delete are found through them.
	for _, table := range []string{"attempt", "delivery"} {
		result, err := tx.ExecContext(ctx, "DELETE FROM "+table+` WHERE (webhook, seq) IN
			(SELECT webhook, seq FROM delivery WHERE done_at < ? ORDER BY done_at, webhook, seq LIMIT ?)`, before.UnixMicro(), limit)
		if err != nil {
			return 0, err
		}
		if pruned, err = result.RowsAffected(); err != nil {
			return 0, err
		}
	}
	if pruned == 0 {
		return 0, errNothingNew
	}
	return pruned, nil
}

// storedDelivery is a delivery whose times have the types of the columns.
type storedDelivery struct {
	store.Delivery
	due, created, done sql.Null[int64]
}

// fields returns the destinations of deliveryColumns.
func (d *storedDelivery) fields() []any {
	return []any{&d.Webhook, &d.Seq, &d.Event, &d.State, &d.Attempts, &d.due, &d.created, &d.done, &d.Epoch}
}

func (d *storedDelivery) delivery() store.Delivery {
	d.DueAt, d.CreatedAt, d.DoneAt = moment(d.due), moment(d.created), moment(d.done)
	return d.Delivery
}

// storedAttempt is an attempt with nullable columns, for an outer join.
type storedAttempt struct {
	at, status, latency sql.Null[int64]
	failure, excerpt    sql.Null[string]
}

func (a *storedAttempt) fields() []any {
	return []any{&a.at, &a.status, &a.latency, &a.failure, &a.excerpt}
}

func (a *storedAttempt) attempt() store.Attempt {
	return store.Attempt{
		At: moment(a.at), Status: int(a.status.V), Latency: time.Duration(a.latency.V) * time.Microsecond,
		Error: a.failure.V, Excerpt: a.excerpt.V,
	}
}

// moment returns the time of a column, zero for NULL.
func moment(micros sql.Null[int64]) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.V).UTC()
}

// micros returns the column value of a time, NULL when it is zero.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// collect scans each row into a value.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
