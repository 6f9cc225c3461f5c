package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// WrapCommit lets a test replace commits. It must be called before any Append.
func (s *Store) WrapCommit(wrap func(commit func() error) error) {
	s.commit = func(ctx context.Context, tx pgx.Tx) error {
		return wrap(func() error { return tx.Commit(ctx) })
	}
}

// SetPoll sets the interval at which Wait polls. It must be called before any
// Wait.
func (s *Store) SetPoll(every time.Duration) { s.poll = every }

// SetPatience sets how long writers wait for each other. It must come before
// any of them.
func (s *Store) SetPatience(d time.Duration) { s.writing = writing(d, min(d, frozenTimeout)) }

// SetIdle sets how long the server waits for the next statement of a writer. It must
// come before any of them.
func (s *Store) SetIdle(d time.Duration) { s.writing = writing(writeTimeout, d) }

// Writing returns how a transaction begins that others may have to wait for.
func (s *Store) Writing(patience time.Duration) pgx.TxOptions {
	return writing(patience, min(patience, frozenTimeout))
}
