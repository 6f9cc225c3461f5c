package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Source is described by store.Store.
func (s *Store) Source(ctx context.Context) (string, error) {
	var source string
	err := s.pool.QueryRow(ctx, `SELECT value FROM setting WHERE name = 'source'`).Scan(&source)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", failed("reading the store's source", err)
	}
	return source, nil
}

// ClaimSource is described by store.Store.
func (s *Store) ClaimSource(ctx context.Context, source string) (string, error) {
	// An insert that meets another's waits for it, so that the read which
	// follows finds one or the other.
	_, err := s.pool.Exec(ctx, `INSERT INTO setting (name, value) VALUES ('source', $1) ON CONFLICT DO NOTHING`, source)
	if err != nil {
		return "", failed("claiming the store's source", err)
	}
	return s.Source(ctx)
}
