// Package clone copies a store to another one, of the same engine or the other.
//
// The copy has everything but leases: the log with its numbers and epoch, records
// with their revisions, deliveries, documents and their index. So clients continue
// on it with the cursors, keys and webhooks that they have.
//
// A round reads the source in one snapshot, and makes every table of the target
// equal to it. It reads both in the order of their keys and writes the differences.
// So a copy that was interrupted is continued by starting it again, and a round
// after the first catches up with what the source did meanwhile. The last round
// ends with a comparison of the number and the digest of the rows of each table.
//
// The target is marked (see mark.go) so that no other process uses it before it is
// complete.
package clone

import (
	"context"
	"fmt"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store/relational"
)

// Store is a store that is copied.
type Store interface{ Relational() *relational.Base }

// Options of Copy.
type Options struct {
	From, To             Store
	FromSQLite, ToSQLite bool // their engine
	// Progress is called for every row of a round.
	Progress func(round int, done, rows int64)
}

// Result is what Copy did.
type Result struct {
	Head    disclosure.Head // of the source, as it was copied
	Tables  int
	Rows    int64 // of the target
	Written int64 // rows that were written or removed
	// InUse means that a process used the source while it was copied, so that the
	// copy may lack its last changes.
	InUse bool
}

const (
	// lastRound is the round that is the last in any case.
	lastRound = 4
	// few is the number of differences after which no other round is needed.
	few = 5000
	// batch is the number of rows, and batchBytes about the number of bytes, that one
	// transaction writes.
	batch      = 2000
	batchBytes = 4 << 20
)

type side struct {
	*relational.Base
	sqlite bool
}

type copier struct {
	from, to side
	progress func(round int, done, rows int64)
	mark     mark
	round    int
	done     int64 // rows of the round
	rows     int64 // that the round has, about
	written  int64
	result   Result
}

// Copy makes the target a copy of the source. It fails, Conflict, if the target is
// neither empty nor an earlier copy of the source that no process has used.
func Copy(ctx context.Context, o Options) (result Result, err error) {
	c := &copier{
		from: side{o.From.Relational(), o.FromSQLite}, to: side{o.To.Relational(), o.ToSQLite}, progress: o.Progress,
	}
	head, err := c.from.Head(ctx)
	if err != nil {
		return result, err
	}
	if c.mark, err = begin(ctx, c.to.Base, c.to.sqlite, head); err != nil {
		return result, c.to.Failed("beginning the copy", err)
	}
	for c.round = 1; ; c.round++ {
		before, err := c.inUse(ctx)
		if err != nil {
			return result, err
		}
		last, err := c.copyRound(ctx)
		if err != nil {
			return result, err
		}
		if !last {
			continue
		}
		after, err := c.inUse(ctx)
		if err != nil {
			return result, err
		}
		s := complete
		if c.result.InUse = before || after; c.result.InUse {
			s = behind
		}
		return c.result, c.finish(ctx, s, c.result.Head.Seq)
	}
}

// inUse reports whether a process reads reports into the source, for which it holds
// a lease, or whether the log has grown since it was copied. A service without a
// source is not found: it does not write to the log.
func (c *copier) inUse(ctx context.Context) (bool, error) {
	leased, err := relational.One(ctx, c.from, []any{new(string)},
		`SELECT name FROM lease WHERE expires_at > `+c.from.SQL.Clock+` LIMIT 1`)
	if err != nil || leased {
		return leased, c.from.failed("reading the leases of the source", err)
	}
	newest, err := c.from.Newest(ctx)
	return c.result.Head.Epoch != "" && newest != c.result.Head.Seq, err
}

func (s side) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	return s.Failed(doing, err)
}

// copyRound makes the target equal to a snapshot of the source. last reports whether
// it has verified this.
func (c *copier) copyRound(ctx context.Context) (last bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // so that the rest of an unread page need not be read after an error
	before := c.written
	err = c.from.Snapshot(ctx, func(tx relational.Tx) error {
		if err := c.start(ctx, tx); err != nil {
			return err
		}
		sums := make([]sum, len(tables))
		for i := range tables {
			t := &tables[i]
			if sums[i], err = c.copyTable(ctx, tx, t); err != nil {
				return fmt.Errorf("copying the table %s: %w", t.name, err)
			}
		}
		if last = c.written-before <= few || c.round == lastRound; !last {
			return nil
		}
		return c.verify(ctx, sums)
	})
	return last, err
}

// start reads the head and the size of the snapshot.
func (c *copier) start(ctx context.Context, tx relational.Tx) error {
	if !c.from.sqlite {
		// The source may be idle for long while the target is slow.
		tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`)
	}
	var head disclosure.Head
	if _, err := relational.One(ctx, tx, []any{&head.Seq, &head.Epoch}, `SELECT seq, epoch FROM log_head`); err != nil {
		return c.from.Failed("reading the head of the source", err)
	}
	if head.Epoch != c.mark.Epoch {
		return fault.New(fault.Conflict, "the epoch of the source's log was renewed during the copy, as after "+
			"a restored backup: copy to an empty store")
	}
	c.done = 0
	c.rows = 0
	c.result = Result{Head: head, Tables: len(tables), Written: c.written}
	for i := range tables {
		t, n := &tables[i], int64(0)
		if _, err := relational.One(ctx, tx, []any{&n}, `SELECT count(*) FROM `+t.from(c.from.sqlite)+` WHERE `+
			t.condition()); err != nil {
			return c.from.Failed("counting the rows of "+t.name, err)
		}
		c.rows += n
	}
	return nil
}

// verify compares the target with what was read of the source.
func (c *copier) verify(ctx context.Context, sums []sum) error {
	var wrong []string
	for i := range tables {
		t := &tables[i]
		got, err := c.readTarget(ctx, t, sums[i])
		if err != nil {
			return c.to.Failed("verifying the table "+t.name, err)
		}
		if got != sums[i].from {
			wrong = append(wrong, t.name)
		}
		c.result.Rows += got.rows
	}
	c.result.Written = c.written
	if len(wrong) > 0 {
		return fault.New(fault.Internal, "the target differs from the source in %s: run the same command again",
			strings.Join(wrong, ", "))
	}
	return nil
}

// readTarget returns the rows and the digest of a table of the target. If nothing was
// written to the table, it was read already.
func (c *copier) readTarget(ctx context.Context, t *table, s sum) (digest, error) {
	if s.written == 0 {
		return s.to, nil
	}
	r := reader{db: c.to, table: t, sqlite: c.to.sqlite}
	defer r.close()
	for {
		if _, more, err := r.next(ctx); err != nil || !more {
			return digest{r.count, r.digest}, err
		}
	}
}
