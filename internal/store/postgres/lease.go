package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// AcquireLease uses the database's clock, the only one that all holders share. It
// is read again after a wait for the row, which now() would not be.
func (s *Store) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, error) {
	l := store.Lease{Name: name, Holder: holder}
	err := s.leases.QueryRow(ctx, `
		INSERT INTO lease AS l (name, holder, term, expires_at)
		VALUES ($1, $2, 1, clock_timestamp() + $3::interval)
		ON CONFLICT (name) DO UPDATE SET
			holder = excluded.holder,
			term = l.term + CASE WHEN l.holder = excluded.holder THEN 0 ELSE 1 END,
			expires_at = clock_timestamp() + $3::interval
		WHERE l.holder IS NULL OR l.holder = excluded.holder OR l.expires_at <= clock_timestamp()
		RETURNING term, expires_at`, name, holder, ttl).Scan(&l.Term, &l.Expires)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Lease{}, fault.New(fault.Conflict, "another process holds the lease %q", name)
	}
	if err != nil {
		return store.Lease{}, failed("acquiring the lease "+name, err)
	}
	l.Expires = l.Expires.UTC()
	return l, nil
}

func (s *Store) ReleaseLease(ctx context.Context, l store.Lease) error {
	_, err := s.leases.Exec(ctx,
		`UPDATE lease SET holder = NULL, expires_at = clock_timestamp() WHERE name = $1 AND holder = $2 AND term = $3`,
		l.Name, l.Holder, l.Term)
	if err != nil {
		return failed("releasing the lease "+l.Name, err)
	}
	return nil
}
