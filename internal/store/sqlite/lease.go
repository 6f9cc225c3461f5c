package sqlite

import (
	"context"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// AcquireLease uses this machine's clock, which all holders share.
func (s *Store) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, error) {
	lease := store.Lease{Name: name, Holder: holder}
	err := s.update(ctx, func(tx relational.DB) error {
		now := time.Now()
		var (
			held    string
			expires time.Time
		)
		found, err := relational.One(ctx, tx, []any{&held, &lease.Term, &expires},
			"SELECT holder, term, expires_at FROM lease WHERE name = $1", name)
		switch {
		case err != nil:
			return err
		case !found:
			lease.Term = 1
		case held == holder && !isReleased(expires):
			// Prolonged, even after it expired: no other holder took it.
		case expires.After(now):
			return fault.New(fault.Conflict, "the lease %s is held by %s", name, held)
		default:
			lease.Term++
		}
		lease.Expires = now.Add(ttl).UTC().Truncate(time.Microsecond)
		return tx.Exec(ctx, `INSERT INTO lease (name, holder, term, expires_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, term = excluded.term, expires_at = excluded.expires_at`,
			name, holder, lease.Term, lease.Expires)
	})
	if err != nil {
		return store.Lease{}, failed("acquiring the lease "+name, err)
	}
	return lease, nil
}

// isReleased reports whether a lease was released, by its time of expiry.
func isReleased(expires time.Time) bool { return expires.UnixMicro() == 0 }

// ReleaseLease keeps the holder, and sets the time of expiry to 0.
func (s *Store) ReleaseLease(ctx context.Context, l store.Lease) error {
	err := s.Exec(ctx, "UPDATE lease SET expires_at = 0 WHERE name = $1 AND holder = $2 AND term = $3", l.Name, l.Holder, l.Term)
	if err != nil {
		return failed("releasing the lease "+l.Name, err)
	}
	return nil
}
