package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// AcquireLease implements store.Leases. All holders share this machine's
// clock.
func (s *Store) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, error) {
	lease := store.Lease{Name: name, Holder: holder}
	err := s.update(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		var (
			held    string
			expires int64
		)
		err := tx.QueryRowContext(ctx, "SELECT holder, term, expires_at FROM lease WHERE name = ?", name).Scan(&held, &lease.Term, &expires)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			lease.Term = 1
		case err != nil:
			return err
		case held == holder && expires > 0:
			// Prolonged, even after it expired: no other holder took it.
		case expires > now.UnixMicro():
			return fault.New(fault.Conflict, "the lease %s is held by %s", name, held)
		default:
			lease.Term++
		}
		lease.Expires = now.Add(ttl).UTC().Truncate(time.Microsecond)
		_, err = tx.ExecContext(ctx, `INSERT INTO lease (name, holder, term, expires_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, term = excluded.term, expires_at = excluded.expires_at`,
			name, holder, lease.Term, lease.Expires.UnixMicro())
		return err
	})
	if err != nil {
		return store.Lease{}, fmt.Errorf("acquiring the lease %s: %w", name, explained(err))
	}
	return lease, nil
}

// ReleaseLease implements store.Leases.
func (s *Store) ReleaseLease(ctx context.Context, l store.Lease) error {
	err := s.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE lease SET expires_at = 0 WHERE name = ? AND holder = ? AND term = ?", l.Name, l.Holder, l.Term)
		return err
	})
	if err != nil {
		return fmt.Errorf("releasing the lease %s: %w", l.Name, explained(err))
	}
	return nil
}

// checkLease refuses a writer whose lease is no longer the newest.
func checkLease(ctx context.Context, tx *sql.Tx, l *store.Lease) error {
	if l == nil {
		return nil
	}
	var one int
	err := tx.QueryRowContext(ctx, "SELECT 1 FROM lease WHERE name = ? AND holder = ? AND term = ? AND expires_at > 0", l.Name, l.Holder, l.Term).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return fault.New(fault.Conflict, "the lease %s of %s (term %d) is no longer in force", l.Name, l.Holder, l.Term)
	}
	return err
}
