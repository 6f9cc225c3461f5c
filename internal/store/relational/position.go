package relational

import (
	"context"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// nameOfRow is the column of a row of the log with the name of its seal, which is empty
// if it has none or the name was erased. It is read in the same statement as the row, so
// that no reader gets a row and misses its name.
const nameOfRow = `coalesce(CASE WHEN event LIKE 'position.%' THEN
	(SELECT name FROM sealed_name WHERE sealed = body ->> 'holder_sealed') END, '')`

// RowColumns are the columns of the table change that a store.Row has without its
// subject, in the order seq, event, occurred_at, changed, body, name.
const RowColumns = `seq, event, occurred_at, changed, body, ` + nameOfRow

func (b *Base) Positions(ctx context.Context, ids ...string) (positions []disclosure.Position, err error) {
	defer b.fail("reading positions", &err)
	err = b.newest(ctx, b, `position`, ids, func(c disclosure.Change) error {
		positions = append(positions, *c.Position)
		return nil
	})
	return positions, err
}

func (b *Base) NameOpening(ctx context.Context, sealed string) (n store.SealedName, found bool, err error) {
	defer b.fail("reading a name", &err)
	n.Sealed = sealed
	found, err = One(ctx, b, []any{&n.Salt, &n.Name}, `SELECT salt, name FROM sealed_name WHERE sealed = $1`, sealed)
	if !found {
		return store.SealedName{}, false, err
	}
	return n, true, err
}

func (b *Base) SealedNames(ctx context.Context, fn func(sealed, name string)) (err error) {
	defer b.fail("reading the names", &err)
	var sealed, name string
	return Each(ctx, b, []any{&sealed, &name}, func() error {
		fn(sealed, name)
		return nil
	}, `SELECT sealed, name FROM sealed_name`)
}

// CountPositions returns the number of positions in the log.
func CountPositions(ctx context.Context, db DB) (n int64, err error) {
	_, err = One(ctx, db, []any{&n}, `SELECT count(*) FROM position`)
	return n, err
}

// EraseNames appends the positions again, as observations that state only that their
// names are erased. The append removes the names.
func (b *Base) EraseNames(ctx context.Context, lease *store.Lease, ids ...string) (store.Outcome, error) {
	if len(ids) == 0 {
		return store.Outcome{}, nil
	}
	return b.append(ctx, "erasing names", lease, func(tx Tx) (store.Batch, error) {
		batch := store.Batch{New: disclosure.Backfilled}
		err := b.newest(ctx, tx, `position`, ids, func(c disclosure.Change) error {
			if p := c.Position; p.Natural && !p.Erased {
				batch.Positions = append(batch.Positions, disclosure.Position{ID: p.ID, Erased: true})
			}
			return nil
		})
		return batch, err
	})
}

// writeNames adds the sealed names, and removes those of all changes of the positions
// that the changes erase. The changes are in the log already.
func (b *Base) writeNames(ctx context.Context, tx Tx, planned store.Planned) {
	for _, n := range planned.Names {
		tx.Exec(ctx, `INSERT INTO sealed_name (sealed, salt, name) VALUES ($1, $2, $3)`, n.Sealed, n.Salt, n.Name)
	}
	erased := store.ErasedPositions(planned.Changes)
	if len(erased) == 0 {
		return
	}
	for _, statement := range b.Erasing {
		tx.Exec(ctx, statement)
	}
	for _, id := range erased {
		tx.Exec(ctx, `DELETE FROM sealed_name WHERE sealed IN
			(SELECT body ->> 'holder_sealed' FROM change WHERE subject `+b.SQL.ByBytes+` = $1 AND `+
			events[disclosure.OfPosition]+`)`, id)
	}
	for _, statement := range b.Erased {
		tx.Exec(ctx, statement)
	}
}
