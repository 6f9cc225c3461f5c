package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/store"
)

// Source is described by store.Store.
func (s *Store) Source(ctx context.Context) (string, error) { return s.setting(ctx, "source") }

// CreatedAt is described by store.Store.
func (s *Store) CreatedAt(ctx context.Context) (time.Time, error) {
	value, err := s.setting(ctx, createdSetting)
	if err != nil {
		return time.Time{}, err
	}
	return store.ParseCreated(value)
}

const createdSetting = "created_at"

// setting returns a setting's value, empty when there is none.
func (s *Store) setting(ctx context.Context, name string) (value string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT value FROM setting WHERE name = $1`, name).Scan(&value)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", failed("reading the setting "+name, err)
	}
	return value, nil
}

// ClaimSource is described by store.Store.
func (s *Store) ClaimSource(ctx context.Context, source string) (string, error) {
	// An insert waits for a concurrent one, so that the read that follows finds
	// one of the two.
	_, err := s.pool.Exec(ctx, `INSERT INTO setting (name, value) VALUES ('source', $1) ON CONFLICT DO NOTHING`, source)
	if err != nil {
		return "", failed("claiming the store's source", err)
	}
	return s.Source(ctx)
}
