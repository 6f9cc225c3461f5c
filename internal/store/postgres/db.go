package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// dialect is PostgreSQL's.
var dialect = relational.Dialect{
	Now:      `now()`,
	Clock:    `clock_timestamp()`,
	ByBytes:  `COLLATE "C"`,
	In:       func(parameter string) string { return `= ANY(` + parameter + `)` },
	Elements: func(parameter string) string { return `json_array_elements(CAST(` + parameter + ` AS json))` },
	Lock:     func(clause string) string { return clause },
}

// Set explicitly, since a database can have other defaults.
var (
	readCommitted = pgx.TxOptions{IsoLevel: pgx.ReadCommitted}
	oneMoment     = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
)

// writeTimeout is how long a writer waits for a lock and for one statement. All
// writers of a counter wait for the one that holds it, so the server ends a
// transaction that waits for such a lock itself.
const writeTimeout = 10 * time.Second

// frozenTimeout is how long the server waits for the next statement of a
// transaction, whose process may have frozen or lost the network, and how long a
// process waits for a lease. It is shorter than the lease of ingest: an append
// locks the lease, and another process must be able to take it over in time.
const frozenTimeout = 3 * time.Second

// writing begins a transaction that others may have to wait for. It relies on
// each statement seeing all that was committed before it. The server waits idle
// for the next statement.
func writing(timeout, idle time.Duration) pgx.TxOptions {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	return pgx.TxOptions{
		BeginQuery: `BEGIN ISOLATION LEVEL READ COMMITTED` +
			`; SET LOCAL lock_timeout = ` + ms(timeout) +
			`; SET LOCAL statement_timeout = ` + ms(timeout) +
			`; SET LOCAL idle_in_transaction_session_timeout = ` + ms(idle),
	}
}

// update runs fn in a transaction that others may have to wait for.
func (s *Store) update(ctx context.Context, fn func(relational.Tx) error) error {
	return s.transact(ctx, s.pool, s.writing, fn)
}

// Append implements store.Store: see relational.Base.
func (s *Store) Append(ctx context.Context, b store.Batch) (store.Outcome, error) {
	return s.inTurn(ctx, func() (store.Outcome, error) { return s.Base.Append(ctx, b) })
}

// EraseNames implements store.Store: see relational.Base.
func (s *Store) EraseNames(ctx context.Context, lease *store.Lease, ids ...string) (store.Outcome, error) {
	return s.inTurn(ctx, func() (store.Outcome, error) { return s.Base.EraseNames(ctx, lease, ids...) })
}

// inTurn calls fn when no other goroutine appends.
func (s *Store) inTurn(ctx context.Context, fn func() (store.Outcome, error)) (store.Outcome, error) {
	select {
	case s.appending <- struct{}{}:
	case <-ctx.Done():
		return store.Outcome{}, failed("appending to the log", ctx.Err())
	}
	defer func() { <-s.appending }()
	return fn()
}

func (s *Store) transact(
	ctx context.Context,
	pool *pgxpool.Pool,
	options pgx.TxOptions,
	fn func(relational.Tx) error,
) error {
	begun, err := pool.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	defer func() { _ = begun.Rollback(ctx) }() // after a commit it does nothing
	tx := &transaction{Tx: begun, queued: new(pgx.Batch)}
	if err := fn(tx); err != nil {
		return err
	}
	if tx.queued.Len() > 0 {
		if err := begun.SendBatch(ctx, tx.queued).Close(); err != nil {
			return err
		}
	}
	return s.commit(ctx, begun)
}

// snapshot runs fn in a transaction that reads.
func (s *Store) snapshot(ctx context.Context, fn func(relational.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, oneMoment, func(tx pgx.Tx) error {
		return fn(&transaction{Tx: tx, queued: new(pgx.Batch)})
	})
}

// database runs queries outside of transactions.
type database struct{ *pgxpool.Pool }

func (d database) Query(ctx context.Context, statement string, args ...any) (relational.Rows, error) {
	found, err := d.Pool.Query(ctx, statement, args...)
	return rows{Rows: found}, err
}

// transaction sends statements without a result with the next query, or before the
// commit, so that they take no round trips of their own.
type transaction struct {
	pgx.Tx
	queued *pgx.Batch
}

func (t *transaction) Exec(_ context.Context, statement string, args ...any) {
	t.queued.Queue(statement, args...)
}

func (t *transaction) Query(ctx context.Context, statement string, args ...any) (relational.Rows, error) {
	before := t.queued.Len()
	t.queued.Queue(statement, args...)
	results := t.SendBatch(ctx, t.queued)
	t.queued = new(pgx.Batch)
	for range before {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // it returns the same error
			return nil, err
		}
	}
	found, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return rows{found, results}, nil
}

// rows are rows whose times may be NULL.
type rows struct {
	pgx.Rows
	results pgx.BatchResults // that they are a part of, if any
}

func (r rows) Close() {
	r.Rows.Close()
	if r.results != nil {
		_ = r.results.Close() // Err has returned any error
	}
}

func (r rows) Scan(dest ...any) error {
	for i, d := range dest {
		if t, ok := d.(*time.Time); ok {
			dest[i] = (*instant)(t)
		}
	}
	return r.Rows.Scan(dest...)
}

type instant time.Time

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (i *instant) ScanTimestamptz(t pgtype.Timestamptz) error {
	*i = instant(t.Time.UTC()) // zero for NULL
	return nil
}
