package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

const sourceSetting = "source"

// Source implements store.Store.
func (s *Store) Source(ctx context.Context) (source string, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = ?", sourceSetting).Scan(&source)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return source, err
}

// ClaimSource implements store.Store.
func (s *Store) ClaimSource(ctx context.Context, source string) (string, error) {
	err := s.update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", sourceSetting, source); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = ?", sourceSetting).Scan(&source)
	})
	return source, err
}
