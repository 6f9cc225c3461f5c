package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pregon/internal/store"
)

// Once is described by store.Marks. The clock is the database's, the only one
// that all who ask share.
func (s *Store) Once(ctx context.Context, name string, until time.Time) (bool, error) {
	first, err := s.once(ctx, name, until)
	if err != nil {
		return false, failed("marking a name", err)
	}
	return first, nil
}

// once takes a name, unless another has it, for whom it waits until he commits
// or goes. It also deletes some names whose time has passed, more than it adds,
// so that the table stays small. There it skips what others hold: if two waited
// for each other's names, neither would end.
func (s *Store) once(ctx context.Context, name string, until time.Time) (first bool, err error) {
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

// Use is described by store.Marks.
func (s *Store) Use(ctx context.Context, name string, at time.Time) (time.Time, error) {
	var first time.Time
	err := s.pool.QueryRow(ctx, `INSERT INTO use_mark AS u (name, first_at, last_at) VALUES ($1, $2, $2)
		ON CONFLICT (name) DO UPDATE SET
			first_at = least(u.first_at, excluded.first_at),
			last_at = greatest(u.last_at, excluded.last_at)
		RETURNING first_at`, name, at).Scan(&first)
	if err != nil {
		return time.Time{}, failed("noting a use", err)
	}
	return first.UTC(), nil
}

// Uses is described by store.Marks.
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
