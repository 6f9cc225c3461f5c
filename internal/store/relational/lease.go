package relational

import (
	"context"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// released is the time before which no lease in force expires.
var released = time.Unix(0, 0)

// AcquireLease uses the database's clock, or that of the machine, the only one that
// all holders share. It is read again after a wait for the row, which now() would
// not be.
func (b *Base) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, error) {
	l := store.Lease{Name: name, Holder: holder}
	err := b.UpdateLease(ctx, func(tx Tx) error {
		found, err := One(ctx, tx, []any{&l.Term, &l.Expires}, `INSERT INTO lease AS l (name, holder, term, expires_at)
			VALUES ($1, $2, 1, `+b.SQL.Clock+` + CAST($3 AS interval))
			ON CONFLICT (name) DO UPDATE SET
				holder = excluded.holder,
				term = l.term + CASE WHEN l.holder = excluded.holder AND l.expires_at > $4 THEN 0 ELSE 1 END,
				expires_at = `+b.SQL.Clock+` + CAST($3 AS interval)
			WHERE l.holder IS NULL OR l.holder = excluded.holder OR l.expires_at <= `+b.SQL.Clock+`
			RETURNING term, expires_at`, name, holder, ttl, released)
		if err == nil && !found {
			err = fault.New(fault.Conflict, "another process holds the lease %q", name)
		}
		return err
	})
	if err != nil {
		return store.Lease{}, b.Failed("acquiring the lease "+name, err)
	}
	return l, nil
}

func (b *Base) ReleaseLease(ctx context.Context, l store.Lease) (err error) {
	defer b.fail("releasing the lease "+l.Name, &err)
	return b.UpdateLease(ctx, func(tx Tx) error {
		tx.Exec(ctx, `UPDATE lease SET `+b.Released+` WHERE name = $1 AND holder = $2 AND term = $3`, l.Name,
			l.Holder, l.Term)
		return nil
	})
}

func (b *Base) CurrentLease(ctx context.Context, name string) (l store.Lease, held bool, err error) {
	defer b.fail("reading the lease "+name, &err)
	l.Name = name
	found, err := One(ctx, b, []any{&l.Holder, &l.Term, &l.Expires, &held},
		`SELECT coalesce(holder, ''), term, expires_at, holder IS NOT NULL AND expires_at > `+b.SQL.Clock+`
		FROM lease WHERE name = $1`, name)
	if err != nil || !found {
		return store.Lease{}, false, err
	}
	return l, held, nil
}

// checkLease fails, Conflict, unless the lease is the newest of its name, and
// keeps it so until the transaction ends: a process that wants to take it over
// must wait for the lock on its row.
func (b *Base) checkLease(ctx context.Context, tx Tx, l *store.Lease) error {
	if l == nil {
		return nil
	}
	found, err := One(ctx, tx, []any{new(int64)},
		`SELECT term FROM lease WHERE name = $1 AND holder = $2 AND term = $3 AND expires_at > $4 `+b.SQL.Lock(`FOR SHARE`),
		l.Name, l.Holder, l.Term, released)
	if err == nil && !found {
		return fault.New(fault.Conflict, "the lease %q of %s, term %d, is no longer in force", l.Name, l.Holder, l.Term)
	}
	return err
}
