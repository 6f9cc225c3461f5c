package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pregon/internal/store"
)

const (
	sourceSetting  = "source"
	createdSetting = "created_at"
)

// Source implements store.Store.
func (s *Store) Source(ctx context.Context) (string, error) { return s.setting(ctx, sourceSetting) }

// CreatedAt implements store.Store.
func (s *Store) CreatedAt(ctx context.Context) (time.Time, error) {
	value, err := s.setting(ctx, createdSetting)
	if err != nil {
		return time.Time{}, err
	}
	return store.ParseCreated(value)
}

// setting returns a setting's value, empty when there is none.
func (s *Store) setting(ctx context.Context, name string) (value string, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = ?", name).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading the setting %s: %w", name, explained(err))
	}
	return value, nil
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
