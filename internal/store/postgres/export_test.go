package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// WrapCommit lets a test decide what becomes of each commit. It must come
// before any Append.
func (s *Store) WrapCommit(wrap func(commit func() error) error) {
	s.commit = func(ctx context.Context, tx pgx.Tx) error {
		return wrap(func() error { return tx.Commit(ctx) })
	}
}

// SetPoll sets how often Wait looks for itself. It must come before any Wait.
func (s *Store) SetPoll(every time.Duration) { s.poll = every }
