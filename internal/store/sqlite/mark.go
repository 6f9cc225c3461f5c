package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pregon/internal/store"
)

// ClaimNonce implements store.Nonces. All callers share this machine's clock.
func (s *Store) ClaimNonce(ctx context.Context, name string, until time.Time) (bool, error) {
	err := s.update(ctx, func(tx *sql.Tx) error { return claimNonce(ctx, tx, name, until) })
	if errors.Is(err, errNothingNew) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("claiming a nonce: %w", explained(err))
	}
	return true, nil
}

// claimNonce takes a name and deletes some expired ones, more than it adds, so that
// the table stays small.
func claimNonce(ctx context.Context, tx *sql.Tx, name string, until time.Time) error {
	now := time.Now().UnixMicro()
	result, err := tx.ExecContext(ctx, `INSERT INTO once (name, until) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE until <= ?`, name, until.UnixMicro(), now)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return errNothingNew
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM once WHERE name IN
		(SELECT name FROM once WHERE until <= ? AND name <> ? ORDER BY until LIMIT 100)`, now, name)
	return err
}

// RecordUse implements store.Usage.
func (s *Store) RecordUse(ctx context.Context, name string, at time.Time) (time.Time, error) {
	var first int64
	err := s.update(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO use_mark (name, first_at, last_at) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)
			RETURNING first_at`, name, at.UnixMicro(), at.UnixMicro()).Scan(&first)
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("recording a use: %w", explained(err))
	}
	return time.UnixMicro(first).UTC(), nil
}

// Uses implements store.Usage.
func (s *Store) Uses(ctx context.Context) (map[string]store.Use, error) {
	uses, err := readUses(ctx, s.read)
	if err != nil {
		return nil, fmt.Errorf("reading uses: %w", explained(err))
	}
	return uses, nil
}

func readUses(ctx context.Context, q querier) (map[string]store.Use, error) {
	rows, err := q.QueryContext(ctx, "SELECT name, first_at, last_at FROM use_mark")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	uses := map[string]store.Use{}
	for rows.Next() {
		var (
			name        string
			first, last int64
		)
		if err := rows.Scan(&name, &first, &last); err != nil {
			return nil, err
		}
		uses[name] = store.Use{First: time.UnixMicro(first).UTC(), Last: time.UnixMicro(last).UTC()}
	}
	return uses, rows.Err()
}
