package clone

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store/relational"
)

// markName is the name of the setting that marks the target of a copy.
const markName = "copy"

// state is the state of a target.
type state string

const (
	copying  state = "copying"  // incomplete
	behind   state = "behind"   // complete, but the source was in use and may have changed
	complete state = "complete" // the first process that uses it removes the mark
)

// mark is the content of the setting.
type mark struct {
	State state  `json:"state"`
	Epoch string `json:"epoch"` // of the source's log
	Seq   int64  `json:"seq"`   // the newest change of the source that it has, unless it is being copied
	Run   string `json:"run"`   // the process that copies, so that another one ends it
}

func (m mark) encode() string {
	body, _ := json.Marshal(m) // it has no values that cannot be encoded
	return string(body)
}

func readMark(ctx context.Context, db relational.DB, lock string) (m mark, found bool, err error) {
	var body string
	found, err = relational.One(ctx, db, []any{&body}, `SELECT value FROM setting WHERE name = $1 `+lock, markName)
	if err != nil || !found {
		return m, false, err
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return m, false, fmt.Errorf("the mark of a copy cannot be read: %w", err)
	}
	return m, true, nil
}

var errIncomplete = fault.New(fault.Conflict,
	"the store is the target of a copy that is not complete: run the same pregon copy again")

// Admit is called when a store is opened to be used. It fails, Conflict, for the
// target of a copy that is not complete. Otherwise the store is in use from now on,
// and no longer the target of a copy.
func Admit(ctx context.Context, db *relational.Base) error {
	m, found, err := readMark(ctx, db, "")
	if err != nil || !found {
		return err
	}
	switch m.State {
	case complete:
		return removeMark(ctx, db)
	case behind:
		return fault.New(fault.Conflict, "the store is a copy, as of change %d, of a store that was in use: "+
			"stop every process on that store and run the same pregon copy again; or run pregon restore to "+
			"use the copy beside it", m.Seq)
	}
	return errIncomplete
}

// Check fails, Conflict, for the target of a copy that is not complete.
func Check(ctx context.Context, db *relational.Base) error {
	m, found, err := readMark(ctx, db, "")
	if err == nil && found && m.State == copying {
		err = errIncomplete
	}
	return err
}

// Release ends the copy to a store that is to be used beside the one that it was
// copied from. The caller has renewed its epoch.
func Release(ctx context.Context, db *relational.Base) error {
	_, found, err := readMark(ctx, db, "")
	if err != nil || !found {
		return err
	}
	return removeMark(ctx, db)
}

func removeMark(ctx context.Context, db *relational.Base) error {
	return db.Exec(ctx, `DELETE FROM setting WHERE name = $1`, markName)
}

// begin marks an empty store as the target of a copy from a log, or continues such
// a copy. A process that still copies to the target fails at its next write.
func begin(ctx context.Context, to *relational.Base, sqlite bool, source disclosure.Head) (m mark, err error) {
	m = mark{State: copying, Epoch: source.Epoch, Run: rand.Text()}
	err = to.Update(ctx, func(tx relational.Tx) error {
		had, found, err := readMark(ctx, tx, to.SQL.Lock(`FOR UPDATE`))
		if err != nil {
			return err
		}
		if found {
			if had.Epoch != source.Epoch {
				return fault.New(fault.Conflict, "the target holds a copy of the log of epoch %s, and the "+
					"source has epoch %s: it is another store, or a backup of it was restored; copy to an empty store", had.Epoch, source.Epoch)
			}
			tx.Exec(ctx, `UPDATE setting SET value = $2 WHERE name = $1`, markName, m.encode())
			return nil
		}
		if err := empty(ctx, tx, sqlite); err != nil {
			return err
		}
		tx.Exec(ctx, `INSERT INTO setting (name, value) VALUES ($1, $2)`, markName, m.encode())
		return nil
	})
	return m, err
}

// empty fails, Conflict, unless a store is as it was created.
func empty(ctx context.Context, tx relational.Tx, sqlite bool) error {
	refuse := func(what string) error {
		return fault.New(fault.Conflict,
			"the target is not empty (%s): copy to a new SQLite file or an empty database", what)
	}
	for i := range tables {
		t := &tables[i]
		switch {
		case t.name == "setting":
			continue // the time of creation
		case len(t.key) == 0:
			var number int64
			if _, err := relational.One(ctx, tx, []any{&number}, `SELECT `+t.values[0].name+` FROM `+
				t.name); err != nil {
				return err
			} else if number != 0 {
				return refuse(t.name + " is " + fmt.Sprint(number))
			}
		default:
			found, err := relational.One(ctx, tx, []any{new(int64)}, `SELECT 1 FROM `+t.from(sqlite)+` LIMIT 1`)
			if err != nil {
				return err
			} else if found {
				return refuse("the table " + t.name + " has rows")
			}
		}
	}
	used, err := relational.One(ctx, tx, []any{new(string)}, `SELECT name FROM lease LIMIT 1`)
	if err == nil && used {
		return refuse("a process has used it")
	}
	return err
}

// update runs fn in a transaction on the target, unless the target is no longer
// marked by this process.
func (c *copier) update(ctx context.Context, fn func(tx relational.Tx)) error {
	return c.to.Update(ctx, func(tx relational.Tx) error {
		m, found, err := readMark(ctx, tx, c.to.SQL.Lock(`FOR SHARE`))
		if err != nil {
			return err
		}
		if !found || m != c.mark {
			return fault.New(fault.Conflict, "another process copies to the target, or uses it")
		}
		fn(tx)
		return nil
	})
}

// finish records that the target is a complete copy.
func (c *copier) finish(ctx context.Context, s state, seq int64) error {
	done := mark{
		State: s,
		Epoch: c.mark.Epoch,
		Seq:   seq,
		Run:   c.mark.Run,
	}
	return c.update(ctx, func(tx relational.Tx) {
		if !c.to.sqlite {
			// Ids were written, not drawn. Ids of segments that were replaced are not used again.
			tx.Exec(ctx, `SELECT setval(pg_get_serial_sequence('word_segment', 'id'), greatest(1, max(id), max(newest))) FROM word_segment`)
		}
		tx.Exec(ctx, `UPDATE setting SET value = $2 WHERE name = $1`, markName, done.encode())
	})
}
