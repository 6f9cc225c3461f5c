package relational

import (
	"context"
	"time"

	"pregon/internal/store"
)

// ClaimNonce takes a name. When another transaction is claiming the name, it waits
// for that one to end. It also deletes some expired names, more than it adds, so
// that the table stays small. There it skips locked names: otherwise two
// transactions could wait for each other.
func (b *Base) ClaimNonce(ctx context.Context, name string, until time.Time) (first bool, err error) {
	err = b.update(ctx, "claiming a nonce", func(tx Tx) error {
		first, err = b.claimNonce(ctx, tx, name, until)
		if err == nil && !first {
			return errUnchanged
		}
		return err
	})
	return first && err == nil, err
}

func (b *Base) claimNonce(ctx context.Context, tx Tx, name string, until time.Time) (first bool, err error) {
	first, err = One(ctx, tx, []any{new(string)}, `INSERT INTO once AS o (name, until) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE o.until <= `+b.SQL.Clock+
		` RETURNING name`, name, until)
	if first && err == nil {
		// now() does not move while a statement runs, so that an index can serve.
		tx.Exec(ctx, `DELETE FROM once WHERE name IN
			(SELECT name FROM once WHERE until <= `+b.SQL.Now+` AND name <> $1
				ORDER BY until LIMIT 100 `+b.SQL.Lock(`FOR UPDATE SKIP LOCKED`)+`)`, name)
	}
	return first, err
}

func (b *Base) RecordUse(ctx context.Context, name string, at time.Time) (first time.Time, err error) {
	err = b.update(ctx, "recording a use", func(tx Tx) error {
		_, err := One(ctx, tx, []any{&first}, `INSERT INTO use_mark AS u (name, first_at, last_at) VALUES ($1, $2, $2)
			ON CONFLICT (name) DO UPDATE SET
				first_at = CASE WHEN excluded.first_at < u.first_at THEN excluded.first_at ELSE u.first_at END,
				last_at = CASE WHEN excluded.last_at > u.last_at THEN excluded.last_at ELSE u.last_at END
			RETURNING first_at`, name, at)
		return err
	})
	return first, err
}

func (b *Base) Uses(ctx context.Context) (uses map[string]store.Use, err error) {
	defer b.fail("reading uses", &err)
	uses = map[string]store.Use{}
	var (
		name string
		u    store.Use
	)
	err = Each(ctx, b, []any{&name, &u.First, &u.Last}, func() error {
		uses[name] = u
		return nil
	}, `SELECT name, first_at, last_at FROM use_mark`)
	return uses, err
}
