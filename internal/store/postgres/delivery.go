package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// Fanned is described by store.Deliveries.
func (s *Store) Fanned(ctx context.Context) (seq int64, err error) {
	if err := s.pool.QueryRow(ctx, `SELECT seq FROM fanned`).Scan(&seq); err != nil {
		return 0, failed("reading how far the log was handed out", err)
	}
	return seq, nil
}

// FanOut is described by store.Deliveries.
func (s *Store) FanOut(ctx context.Context, f store.FanOut) error {
	if err := s.fanOut(ctx, f); err != nil {
		return failed("handing the log out", err)
	}
	return nil
}

// fanOut runs in one process at a time. It checks for newer webhooks last, so
// that writers of records wait only for that check and the commit. A writer that
// locked their counter earlier is seen; a later one comes after the commit.
func (s *Store) fanOut(ctx context.Context, f store.FanOut) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	seq, err := lockHead(ctx, tx, `fanned`, `seq`)
	if err != nil {
		return err
	}
	if seq != f.From {
		return fault.New(fault.Conflict, "the log was handed out up to %d, not %d", seq, f.From)
	}
	var (
		epoch string
		seen  = disclosure.Mark{Seq: f.Seen.Seq}
		at    time.Time
	)
	err = tx.QueryRow(ctx, `SELECT h.epoch, coalesce(c.event, ''), coalesce(c.subject, ''), coalesce(c.occurred_at, 'epoch')
		FROM log_head h LEFT JOIN change c ON c.seq = $1`, f.Seen.Seq).Scan(&epoch, &seen.Event, &seen.Subject, &at)
	if err != nil {
		return err
	}
	seen.At = at.UnixMicro()
	if err := f.Meets(epoch, seen); err != nil {
		return err
	}
	batch := new(pgx.Batch)
	if len(f.Deliveries) > 0 {
		arrays := columnsOf(f.Deliveries)
		batch.Queue(`INSERT INTO endpoint (webhook) SELECT w FROM unnest($1::text[]) w ORDER BY w COLLATE "C" ON CONFLICT DO NOTHING`, arrays.distinct)
		// A transaction that drops a webhook waits for the share lock, or came
		// first: then the join leaves its deliveries out.
		batch.Queue(`INSERT INTO delivery (webhook, seq, event, state, attempts, due_at, created_at, epoch)
			SELECT e.webhook, t.seq, t.event, 'pending', 0, now(), now(), $5
			FROM unnest($1::text[], $2::bigint[], $3::text[]) AS t (webhook, seq, event)
			JOIN (SELECT webhook FROM endpoint WHERE webhook = ANY($4) ORDER BY webhook FOR KEY SHARE) e ON e.webhook = t.webhook
			ORDER BY e.webhook, t.seq
			ON CONFLICT DO NOTHING`, arrays.webhooks, arrays.seqs, arrays.events, arrays.distinct, epoch)
	}
	batch.Queue(`UPDATE fanned SET seq = $1`, f.To)
	batch.Queue(`SELECT revision FROM record_head FOR SHARE`)
	batch.Queue(`SELECT EXISTS (SELECT FROM record WHERE kind = 'webhook' AND revision > $1)`, f.Revision).QueryRow(func(row pgx.Row) error {
		var newer bool
		if err := row.Scan(&newer); err != nil || !newer {
			return err
		}
		return fault.New(fault.Conflict, "there are newer webhooks than those of revision %d", f.Revision)
	})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	return s.commit(ctx, tx)
}

// deliveryArrays are the columns of deliveries, as arrays for unnest.
type deliveryArrays struct {
	webhooks []string
	seqs     []int64
	events   []string
	distinct []string // the webhooks, each once
}

func columnsOf(deliveries []store.Delivery) deliveryArrays {
	c := deliveryArrays{
		webhooks: make([]string, len(deliveries)), seqs: make([]int64, len(deliveries)), events: make([]string, len(deliveries)),
		distinct: store.Webhooks(deliveries),
	}
	for i, d := range deliveries {
		c.webhooks[i], c.seqs[i], c.events[i] = d.Webhook, d.Seq, d.Event
	}
	return c
}

// Enqueue is described by store.Deliveries.
func (s *Store) Enqueue(ctx context.Context, deliveries ...store.Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	arrays := columnsOf(deliveries)
	err := s.inBatch(ctx, func(batch *pgx.Batch) {
		// It locks an endpoint that exists and does not change it.
		batch.Queue(`INSERT INTO endpoint AS e (webhook) SELECT w FROM unnest($1::text[]) w ORDER BY w COLLATE "C"
			ON CONFLICT (webhook) DO UPDATE SET holder = e.holder`, arrays.distinct)
		batch.Queue(`INSERT INTO delivery (webhook, seq, event, state, attempts, due_at, created_at, epoch)
			SELECT DISTINCT ON (t.webhook COLLATE "C", t.seq) t.webhook, t.seq, t.event, 'pending', 0, now(), now(), (SELECT epoch FROM log_head)
			FROM unnest($1::text[], $2::bigint[], $3::text[]) AS t (webhook, seq, event)
			ORDER BY t.webhook COLLATE "C", t.seq
			ON CONFLICT (webhook, seq) DO UPDATE SET state = 'pending', attempts = 0, due_at = excluded.due_at, done_at = NULL`,
			arrays.webhooks, arrays.seqs, arrays.events)
	})
	if err != nil {
		return failed("enqueueing deliveries", err)
	}
	return nil
}

// inBatch runs statements in a transaction of their own.
func (s *Store) inBatch(ctx context.Context, queue func(*pgx.Batch)) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	batch := new(pgx.Batch)
	queue(batch)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	return s.commit(ctx, tx)
}

// Endpoints is described by store.Deliveries.
func (s *Store) Endpoints(ctx context.Context, webhooks ...string) (map[string]store.Endpoint, error) {
	endpoints, err := readEndpoints(ctx, s.pool, webhooks)
	if err != nil {
		return nil, failed("reading what is known of webhooks", err)
	}
	return endpoints, nil
}

func readEndpoints(ctx context.Context, db rowsQuerier, webhooks []string) (map[string]store.Endpoint, error) {
	rows, err := db.Query(ctx, `SELECT webhook, failing_since, last_success_at, last_failure_at,
			(SELECT count(*) FROM delivery d WHERE d.webhook = e.webhook AND d.state = 'pending'),
			(SELECT count(*) FROM delivery d WHERE d.webhook = e.webhook AND d.state = 'dead')
		FROM endpoint e WHERE webhook = ANY($1)`, webhooks)
	if err != nil {
		return nil, err
	}
	endpoints := map[string]store.Endpoint{}
	var (
		webhook                 string
		e                       store.Endpoint
		since, success, failure *time.Time
	)
	_, err = pgx.ForEachRow(rows, []any{&webhook, &since, &success, &failure, &e.Pending, &e.Dead}, func() error {
		e.FailingSince, e.LastSuccessAt, e.LastFailureAt = moment(since), moment(success), moment(failure)
		endpoints[webhook] = e
		return nil
	})
	return endpoints, err
}

const deliveryColumns = `d.webhook, d.seq, d.event, d.state, d.attempts, d.due_at, d.created_at, d.done_at, d.epoch`

// ListDeliveries is described by store.Deliveries.
func (s *Store) ListDeliveries(ctx context.Context, q store.DeliveryQuery) ([]store.Delivered, error) {
	delivered, err := listDeliveries(ctx, s.pool, q)
	if err != nil {
		return nil, failed("reading deliveries", err)
	}
	return delivered, nil
}

func listDeliveries(ctx context.Context, db rowsQuerier, q store.DeliveryQuery) ([]store.Delivered, error) {
	where, args := `webhook = $1`, []any{q.Webhook, q.Limit}
	if q.Before != 0 {
		where, args = where+` AND seq < $3`, append(args, q.Before)
	}
	if q.State != "" {
		if !q.State.Known() {
			return nil, fault.New(fault.Invalid, "no delivery is %q", q.State)
		}
		where += ` AND state = '` + string(q.State) + `'` // a literal, so that the partial indexes can be used
	}
	rows, err := db.Query(ctx, `SELECT `+deliveryColumns+`, a.at, a.status, a.latency, a.error, a.excerpt
		FROM (SELECT * FROM delivery WHERE `+where+` ORDER BY seq DESC LIMIT $2) d
		LEFT JOIN attempt a ON a.webhook = d.webhook AND a.seq = d.seq ORDER BY d.seq DESC, a.at`, args...)
	if err != nil {
		return nil, err
	}
	var (
		all []store.Delivered
		d   storedDelivery
		a   storedAttempt
	)
	_, err = pgx.ForEachRow(rows, append(d.fields(), a.fields()...), func() error {
		if n := len(all); n == 0 || all[n-1].Seq != d.Seq {
			all = append(all, store.Delivered{Delivery: d.delivery()})
		}
		if a.at != nil {
			last := &all[len(all)-1]
			last.History = append(last.History, a.attempt())
		}
		return nil
	})
	return all, err
}

// DropDeliveries is described by store.Deliveries. The endpoint is deleted first,
// since other transactions lock it first, and deliveries before attempts, as in
// prune.
func (s *Store) DropDeliveries(ctx context.Context, webhook string) error {
	err := s.inBatch(ctx, func(batch *pgx.Batch) {
		for _, table := range []string{`endpoint`, `delivery`, `attempt`} {
			batch.Queue(`DELETE FROM `+table+` WHERE webhook = $1`, webhook)
		}
	})
	if err != nil {
		return failed("forgetting deliveries", err)
	}
	return nil
}

// PruneDeliveries is described by store.Deliveries.
func (s *Store) PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	pruned, err := s.prune(ctx, before, limit)
	if err != nil {
		return 0, failed("forgetting old deliveries", err)
	}
	return pruned, nil
}

// prune skips deliveries that other transactions have locked, so it never waits.
// It reads the attempts after it has locked their deliveries, so that it does not
// miss one that was recorded at the same time.
func (s *Store) prune(ctx context.Context, before time.Time, limit int) (int, error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	rows, err := tx.Query(ctx, `SELECT webhook, seq FROM delivery WHERE done_at < $1 ORDER BY done_at, webhook, seq LIMIT $2 FOR UPDATE SKIP LOCKED`, before, limit)
	if err != nil {
		return 0, err
	}
	var (
		webhooks []string
		seqs     []int64
		webhook  string
		seq      int64
	)
	_, err = pgx.ForEachRow(rows, []any{&webhook, &seq}, func() error {
		webhooks, seqs = append(webhooks, webhook), append(seqs, seq)
		return nil
	})
	if err != nil || len(seqs) == 0 {
		return 0, err
	}
	batch := new(pgx.Batch)
	for _, table := range []string{`delivery`, `attempt`} {
		batch.Queue(`DELETE FROM `+table+` d USING unnest($1::text[], $2::bigint[]) AS t (webhook, seq)
			WHERE d.webhook = t.webhook AND d.seq = t.seq`, webhooks, seqs)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return 0, err
	}
	if err := s.commit(ctx, tx); err != nil {
		return 0, err
	}
	return len(seqs), nil
}

// storedDelivery is a delivery whose times have the types of the columns.
type storedDelivery struct {
	store.Delivery
	due, done *time.Time
	created   time.Time
}

// fields returns the destinations of deliveryColumns.
func (d *storedDelivery) fields() []any {
	return []any{&d.Webhook, &d.Seq, &d.Event, &d.State, &d.Attempts, &d.due, &d.created, &d.done, &d.Epoch}
}

func (d *storedDelivery) delivery() store.Delivery {
	d.DueAt, d.CreatedAt, d.DoneAt = moment(d.due), d.created.UTC(), moment(d.done)
	return d.Delivery
}

// storedAttempt is an attempt with nullable columns, for an outer join.
type storedAttempt struct {
	at               *time.Time
	status           *int
	latency          *int64
	failure, excerpt *string
}

func (a *storedAttempt) fields() []any {
	return []any{&a.at, &a.status, &a.latency, &a.failure, &a.excerpt}
}

func (a *storedAttempt) attempt() store.Attempt {
	return store.Attempt{
		At: a.at.UTC(), Status: *a.status, Latency: time.Duration(*a.latency) * time.Microsecond,
		Error: *a.failure, Excerpt: *a.excerpt,
	}
}

// moment returns the time of a column, zero for NULL.
func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// stored returns the column value of a time, NULL when it is zero.
func stored(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
