package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pregon/internal/store"
)

// ClaimNonce implements store.Nonces. The clock is the database's, the only one
// that all callers share.
func (s *Store) ClaimNonce(ctx context.Context, name string, until time.Time) (bool, error) {
	first, err := s.claimNonce(ctx, name, until)
	if err != nil {
		return false, failed("claiming a nonce", err)
	}
	return first, nil
}

// claimNonce takes a name. When another transaction is claiming the name, it waits
// for that one to end. It also deletes some expired names, more than it adds, so
// that the table stays small. There it skips locked names: otherwise two
// transactions could wait for each other.
func (s *Store) claimNonce(ctx context.Context, name string, until time.Time) (first bool, err error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	batch := new(pgx.Batch)
	batch.Queue(`INSERT INTO once AS o (name, until) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE o.until <= clock_timestamp()`, name, until).
		Exec(func(tag pgconn.CommandTag) error {
			first = tag.RowsAffected() == 1
			return nil
		})
	// now() does not move while a statement runs, so that an index can serve.
	batch.Queue(`DELETE FROM once WHERE name = ANY (ARRAY(
		SELECT name FROM once WHERE until <= now() AND name <> $1 ORDER BY until LIMIT 100 FOR UPDATE SKIP LOCKED))`, name)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil || !first {
		return false, err
	}
	if err := s.commit(ctx, tx); err != nil {
		return false, err
	}
	return true, nil
}

// RecordUse implements store.Usage.
func (s *Store) RecordUse(ctx context.Context, name string, at time.Time) (time.Time, error) {
	var first time.Time
	err := s.pool.QueryRow(ctx, `INSERT INTO use_mark AS u (name, first_at, last_at) VALUES ($1, $2, $2)
		ON CONFLICT (name) DO UPDATE SET
			first_at = least(u.first_at, excluded.first_at),
			last_at = greatest(u.last_at, excluded.last_at)
		RETURNING first_at`, name, at).Scan(&first)
	if err != nil {
		return time.Time{}, failed("recording a use", err)
	}
	return first.UTC(), nil
}

// Uses implements store.Usage.
func (s *Store) Uses(ctx context.Context) (map[string]store.Use, error) {
	uses, err := readUses(ctx, s.pool)
	if err != nil {
		return nil, failed("reading uses", err)
	}
	return uses, nil
}

func readUses(ctx context.Context, db rowsQuerier) (map[string]store.Use, error) {
	rows, err := db.Query(ctx, `SELECT name, first_at, last_at FROM use_mark`)
	if err != nil {
		return nil, err
	}
	uses := map[string]store.Use{}
	var (
		name string
		u    store.Use
	)
	_, err = pgx.ForEachRow(rows, []any{&name, &u.First, &u.Last}, func() error {
		uses[name] = store.Use{First: u.First.UTC(), Last: u.Last.UTC()}
		return nil
	})
	return uses, err
}
