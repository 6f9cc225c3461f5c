package relational

import (
	"context"
	"fmt"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// batchTime is how long the name of a batch of counts is kept.
const batchTime = 24 * time.Hour

// AddCounts claims the name of the batch in the same transaction. It writes the
// counts in order, so that two processes do not wait for each other.
func (b *Base) AddCounts(ctx context.Context, batch string, counts ...store.Count) error {
	if len(counts) == 0 {
		return nil
	}
	rows := make(Values, len(counts))
	for i, c := range counts {
		rows[i] = []any{c.Account, c.Day.String(), c.Operation, c.N}
	}
	return b.update(ctx, "adding counts", func(tx Tx) error {
		first, err := b.claimNonce(ctx, tx, "counts "+batch, time.Now().Add(batchTime))
		if err != nil {
			return err
		}
		if !first {
			return errUnchanged
		}
		tx.Exec(ctx, `INSERT INTO use_count AS u (owner, day, operation, n)
			SELECT value ->> 0, value ->> 1, value ->> 2, CAST(sum(CAST(value ->> 3 AS bigint)) AS bigint)
			FROM `+b.SQL.Elements(`$1`)+` GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
			ON CONFLICT (owner, day, operation) DO UPDATE SET n = u.n + excluded.n`, rows)
		return nil
	})
}

func (b *Base) Counts(ctx context.Context, owner string, first, last disclosure.Day) (found []store.Count, err error) {
	defer b.fail("reading counts", &err)
	c, day := store.Count{Account: owner}, ""
	err = Each(ctx, b, []any{&day, &c.Operation, &c.N}, func() error {
		var ok bool
		if c.Day, ok = disclosure.ParseDay(day); !ok {
			return fmt.Errorf("%q is not a day", day)
		}
		found = append(found, c)
		return nil
	}, `SELECT day, operation, n FROM use_count WHERE owner = $1 AND day BETWEEN $2 AND $3 ORDER BY day, operation`,
		owner, first.String(), last.String())
	return found, err
}

// PruneCounts skips counts that another process deletes, so it never waits.
func (b *Base) PruneCounts(ctx context.Context, before disclosure.Day, limit int) (pruned int, err error) {
	err = b.update(ctx, "deleting old counts", func(tx Tx) error {
		old, err := Column[string](ctx, tx, `DELETE FROM use_count WHERE (owner, day, operation) IN
			(SELECT owner, day, operation FROM use_count WHERE day < $1
				ORDER BY day LIMIT $2 `+b.SQL.Lock(`FOR UPDATE SKIP LOCKED`)+`)
			RETURNING day`, before.String(), limit)
		if err == nil && len(old) == 0 {
			return errUnchanged
		}
		pruned = len(old)
		return err
	})
	if err != nil {
		return 0, err
	}
	return pruned, nil
}
