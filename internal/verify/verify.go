// Package verify checks all invariants of a store, and repairs what follows from
// the log or can be read again.
//
// The log, the tables that are derived from it and the references to it are read
// in one snapshot, so that a store may be written meanwhile. Large contents (texts,
// bytes, the index of words) are read piece by piece after it; what is removed or
// replaced meanwhile is left out. For each report, issuer and position about a hundred bytes
// are held in memory, and the records of one page of the log.
//
// The log itself is never changed: a damaged log is only reported.
package verify

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// Store is an engine: see package engine.
type Store interface {
	store.Store
	Relational() *relational.Base
}

// fileChecker is an engine that can check its file.
type fileChecker interface {
	CheckFile(ctx context.Context, found func(table, problem string)) error
}

// Originals has the bytes of documents that are not in the store. See package
// document/bucket.
type Originals interface {
	Original(ctx context.Context, sha256 string) ([]byte, error)
}

// Options are the parameters of New. All of them may be zero.
type Options struct {
	Originals Originals
	// Root is the root of the tree over the first Size changes of the log, as someone has
	// kept it who verified it earlier, and Kept are the hashes of these changes, if they
	// were kept too: with them the first wrong change is found.
	Root  tlog.Hash
	Size  int64
	Kept  *proof.Tree
	Most  int // findings of each kind that are passed to Found; 0: all
	Found func(Finding)
	// Progress is called while something is read, with how much of it was read. total
	// is -1 if it is not known.
	Progress func(what string, done, total int64)
}

// Checker checks a store once.
type Checker struct {
	db   Store
	base *relational.Base
	o    Options

	counts map[Kind]int
	log    replay
	seals  seals
	broken broken
}

// broken are the findings that can be repaired, by what they are about.
type broken struct {
	hashes   bool  // a change is not what was hashed
	leaves   bool  // hashes after the change hashed are missing
	hashed   int64 // see leaves
	pointers []subject
	names    []string // seals of names that the log has erased
	filed    []string // reports
	lost     []string // reports whose text is missing or cannot be read
	texts    []string // hashes of documents whose text cannot be read
	attempts []attempt
	unserved []string // webhooks that have deliveries and no endpoint
	orphans  []string // endpoints without a webhook
	fanned   []string // tables
	segments []int64
	words    map[search.Hash]bool // documents to index again
	allWords bool                 // all documents are to be indexed again
}

type attempt struct {
	webhook string
	seq     int64
}

// New returns a checker of a store.
func New(s Store, o Options) *Checker {
	return &Checker{
		db:     s,
		base:   s.Relational(),
		o:      o,
		counts: map[Kind]int{},
		log:    replay{subjects: map[subject]state{}},
		seals:  newSeals(),
		broken: broken{words: map[search.Hash]bool{}},
	}
}

// Run checks the store. It fails if the store cannot be read; what is wrong with it
// are findings.
func (c *Checker) Run(ctx context.Context) error {
	for _, part := range []struct {
		name  string
		check func(context.Context) error
	}{
		{"file", c.checkFile},
		{"log", c.checkLog},
		{"records", c.checkRecords},
		{"texts", c.checkTexts},
		{"originals", c.checkOriginals},
		{"bucket", c.checkBucket},
		{"words", c.checkWords},
	} {
		if err := c.readable(ctx, part.name, part.check(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// readable turns an error of damaged or impossible data into a finding. It returns
// other errors.
func (c *Checker) readable(ctx context.Context, part string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	err = c.base.Failed("reading the "+part, err)
	if fault.KindOf(err) == fault.Unavailable && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	c.found(Finding{Kind: Unreadable, Where: part, Text: "it cannot be read to the end: " + err.Error()})
	return nil
}

// Counts returns the number of findings of each kind.
func (c *Checker) Counts() map[Kind]int { return c.counts }

func (c *Checker) found(f Finding) {
	f.Level, f.Repairable = kinds[f.Kind].level, f.Repairable || kinds[f.Kind].repairable
	c.counts[f.Kind]++
	if c.o.Found != nil && (c.o.Most == 0 || c.counts[f.Kind] <= c.o.Most) {
		c.o.Found(f)
	}
}

func (c *Checker) progress(what string, done, total int64) {
	if c.o.Progress != nil {
		c.o.Progress(what, done, total)
	}
}

func (c *Checker) checkFile(ctx context.Context) error {
	file, ok := c.db.(fileChecker)
	if !ok {
		return nil
	}
	c.progress("checking the file", 0, -1)
	return file.CheckFile(ctx, func(table, problem string) {
		c.found(Finding{Kind: File, Where: "table " + table, Text: problem})
	})
}

// count returns the number of rows of a table.
func (c *Checker) count(ctx context.Context, table string) (n int64, err error) {
	_, err = relational.One(ctx, c.base, []any{&n}, `SELECT count(*) FROM `+table)
	return n, err
}

// eachKey passes the keys of a table to fn in order, page by page, without a
// transaction that lasts.
func (c *Checker) eachKey(ctx context.Context, what, table string, fn func(sha256 string) error) error {
	const page = 200
	total, err := c.count(ctx, table)
	if err != nil {
		return err
	}
	after, done := "", int64(0)
	for {
		keys, err := relational.Column[string](ctx, c.base,
			`SELECT sha256 FROM `+table+` WHERE sha256 > $1 ORDER BY sha256 LIMIT $2`, after, page)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if err := fn(key); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			done++
			c.progress(what, done, total)
		}
		if len(keys) < page {
			return nil
		}
		after = keys[len(keys)-1]
	}
}
