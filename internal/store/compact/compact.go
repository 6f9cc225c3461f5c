// Package compact removes from a store what retention allows, and returns the space
// to the file system. It never touches the log, and nothing that a report refers to.
//
// Everything is removed in short transactions, most of it by the methods with which
// the service removes it, so that a store may be used meanwhile. A crash leaves the
// rest for the next time.
package compact

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// Store is an engine: see package engine.
type Store interface {
	store.Store
	Relational() *relational.Base
	Tables(ctx context.Context) ([]relational.Table, error)
}

// Options say what is kept.
type Options struct {
	Deliveries time.Duration // deliveries that were delivered or died, for so long
	CountDays  int           // counts of usage
	Texts      time.Duration // texts of documents that no report has
	// Originals removes the bytes of documents that no report has. No other process
	// may store documents meanwhile.
	Originals bool
}

// Removed is what was removed, or would be.
type Removed struct {
	What  string `json:"what"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"` // estimated
}

const atOnce = 500 // rows that one transaction removes

// Plan returns what Remove would remove. The bytes follow from the sizes of the
// tables.
func Plan(ctx context.Context, s Store, o Options, tables []relational.Table) ([]Removed, error) {
	b := s.Relational()
	var plan []Removed
	for _, item := range o.items(b) {
		r := Removed{What: item.what}
		for _, t := range item.tables {
			var rows int64
			if _, err := relational.One(ctx, b, []any{&rows}, `SELECT count(*) FROM `+t.name+` `+t.where,
				t.args...); err != nil {
				return nil, b.Failed("counting "+item.what, err)
			}
			r.Rows += rows
			r.Bytes += share(tables, t.name, rows)
		}
		plan = append(plan, r)
	}
	if !o.Originals {
		return plan, nil
	}
	keys, size, err := unusedOriginals(ctx, s)
	if err != nil {
		return nil, err
	}
	return append(plan, Removed{What: originals, Rows: int64(len(keys)), Bytes: size}), nil
}

// share returns the bytes of some rows of a table.
func share(tables []relational.Table, name string, rows int64) int64 {
	for _, t := range tables {
		if t.Name == name && t.Rows > 0 {
			return t.Bytes * rows / t.Rows
		}
	}
	return 0
}

const originals = "bytes of documents that no report has"

// item is something that is removed: rows of tables, and how they are removed, some
// at a time, until done is below limit.
type item struct {
	what   string
	tables []part
	remove func(ctx context.Context, s Store, limit int) (removed int, err error)
}

type part struct {
	name, where string // the condition refers to the table by its name
	args        []any
}

func (o Options) items(b *relational.Base) []item {
	now := time.Now()
	settled, day := now.Add(-o.Deliveries), disclosure.DayOf(now)-disclosure.Day(o.CountDays)
	told := now.Add(-store.KeepStories)
	return []item{
		{"settled deliveries and their attempts", []part{
			{"delivery", `WHERE ` + relational.Prunable, []any{settled, told}},
			{
				"attempt",
				`WHERE EXISTS (SELECT 1 FROM delivery d WHERE d.webhook = attempt.webhook AND d.seq = attempt.seq AND ` +
					relational.Prunable + `)`,
				[]any{settled, told},
			},
		}, func(ctx context.Context, s Store, limit int) (int, error) {
			return s.PruneDeliveries(ctx, settled, limit)
		}},
		{
			"counts of usage",
			[]part{{"use_count", `WHERE day < $1`, []any{day.String()}}},
			func(ctx context.Context, s Store, limit int) (int, error) {
				return s.PruneCounts(ctx, day, limit)
			},
		},
		{"expired nonces", []part{{"once", `WHERE until <= ` + b.SQL.Now, nil}}, removeNonces},
		{"texts that no report has", []part{
			{"document", `AS d WHERE unused_since < ` + b.SQL.Now + ` - CAST($1 AS interval)
				AND NOT EXISTS (` + b.Filed + `)`, []any{o.Texts}},
		}, func(ctx context.Context, s Store, limit int) (int, error) {
			removed, more, err := s.RemoveDocuments(ctx, o.Texts)
			if more {
				removed = limit // again
			}
			return removed, err
		}},
		{"replaced parts of the index of words", []part{
			{"word_block", `WHERE EXISTS (SELECT 1 FROM word_segment s WHERE s.id = word_block.id / 16777216
				AND s.state = 2 AND s.changed_at < ` + b.SQL.Now +
				` - CAST($1 AS interval))`, []any{relational.ReplacedTime}},
		}, func(ctx context.Context, s Store, limit int) (int, error) {
			more, err := s.SweepSegments(ctx)
			if more {
				return limit, err
			}
			return 0, err
		}},
	}
}

// Remove removes what Plan returns. hold is called before each step.
func Remove(ctx context.Context, s Store, o Options, hold func(context.Context) error) error {
	for _, item := range o.items(s.Relational()) {
		for {
			removed, err := item.remove(ctx, s, atOnce)
			if err != nil {
				return err
			}
			if removed < atOnce {
				break
			}
		}
	}
	if !o.Originals {
		return nil
	}
	return removeOriginals(ctx, s, hold)
}

func removeNonces(ctx context.Context, s Store, limit int) (removed int, err error) {
	b := s.Relational()
	err = b.Update(ctx, func(tx relational.Tx) error {
		names, err := relational.Column[string](ctx, tx, `DELETE FROM once WHERE name IN
			(SELECT name FROM once WHERE until <= `+b.SQL.Now+` ORDER BY until LIMIT $1 `+
			b.SQL.Lock(`FOR UPDATE SKIP LOCKED`)+`)
			RETURNING name`, limit)
		removed = len(names)
		return err
	})
	if err != nil {
		return 0, b.Failed("removing expired nonces", err)
	}
	return removed, nil
}
