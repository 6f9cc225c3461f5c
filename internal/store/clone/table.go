package clone

import (
	"context"
	"crypto/sha256"

	"pregon/internal/fault"
	"pregon/internal/store/relational"
)

// digest is the number of rows of a table, and the digest of all of them.
type digest struct {
	rows int64
	sum  [sha256.Size]byte
}

// sum is what was read of a table, and how many rows of the target were written.
type sum struct {
	from, to digest
	written  int64
}

// copyTable makes a table of the target equal to the source. It reads both in the
// order of their keys, and writes the differences in small transactions.
func (c *copier) copyTable(ctx context.Context, tx relational.Tx, t *table) (s sum, err error) {
	from := reader{db: tx, table: t, sqlite: c.from.sqlite}
	defer from.close()
	to := reader{db: c.to, table: t, sqlite: c.to.sqlite}
	defer to.close()
	w := writer{copier: c, table: t}
	theirs, have, err := to.next(ctx)
	if err != nil {
		return s, c.to.Failed("reading the target", err)
	}
	for {
		ours, more, err := from.next(ctx)
		if err != nil {
			return s, c.from.Failed("reading the source", err)
		}
		for have && (!more || compare(theirs, ours, len(t.key)) < 0) {
			if err := w.remove(ctx, theirs); err != nil {
				return s, err
			}
			if theirs, have, err = to.next(ctx); err != nil {
				return s, c.to.Failed("reading the target", err)
			}
		}
		if !more {
			break
		}
		c.done++
		c.progress(c.round, c.done, c.rows)
		known := have && compare(theirs, ours, len(t.key)) == 0
		if !known || theirs.digest != ours.digest {
			if err := w.put(ctx, ours, known); err != nil {
				return s, err
			}
		}
		if known {
			if theirs, have, err = to.next(ctx); err != nil {
				return s, c.to.Failed("reading the target", err)
			}
		}
	}
	s = sum{from: digest{from.count, from.digest}, to: digest{to.count, to.digest}, written: w.written}
	return s, w.flush(ctx)
}

// writer writes the differences of a table.
type writer struct {
	*copier
	table   *table
	pending []difference
	bytes   int
	written int64
}

type difference struct {
	statements []string
	args       []any
}

// put writes a row. known reports whether the target has one with its key.
func (w *writer) put(ctx context.Context, r row, known bool) error {
	if known && w.table.appended {
		return fault.New(fault.Conflict,
			"the log of the target has other changes than the source's: copy to an empty store")
	}
	return w.add(ctx, difference{w.table.puts(w.to.sqlite), arguments(r.values)}, r.size)
}

// remove removes a row that the source does not have.
func (w *writer) remove(ctx context.Context, r row) error {
	if w.table.appended {
		return fault.New(fault.Conflict,
			"the log of the target has changes that the source lacks: copy to an empty store")
	}
	return w.add(ctx, difference{w.table.removals(w.to.sqlite), arguments(r.values[:len(w.table.key)])}, 0)
}

func (w *writer) add(ctx context.Context, d difference, size int) error {
	w.pending = append(w.pending, d)
	w.bytes += size
	w.written++
	w.copier.written++
	if len(w.pending) >= batch || w.bytes >= batchBytes {
		return w.flush(ctx)
	}
	return nil
}

func (w *writer) flush(ctx context.Context) error {
	if len(w.pending) == 0 {
		return nil
	}
	var before, after []string
	if w.table.erased {
		before = w.to.Erasing
		after = w.to.Erased
	}
	err := w.update(ctx, func(tx relational.Tx) {
		for _, statement := range before {
			tx.Exec(ctx, statement)
		}
		for _, d := range w.pending {
			for _, statement := range d.statements {
				tx.Exec(ctx, statement, d.args...)
			}
		}
		for _, statement := range after {
			tx.Exec(ctx, statement)
		}
	})
	w.pending, w.bytes = nil, 0
	return w.to.failed("writing to the target", err)
}
