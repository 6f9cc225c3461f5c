// Package catalog is the read model: every filing and issuer, in memory, in
// the order in which lists show them. It answers every read of the service; no
// read touches the database.
//
// A Snapshot is immutable. A request takes one and uses only that, so that all
// parts of its answer agree. The catalogue loads everything at one seq, then
// follows the log, builds the next snapshot beside the present one, and swaps
// them through one pointer: readers never wait.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// Log is the part of the store that the catalogue follows.
type Log interface {
	Current(ctx context.Context, fn func(disclosure.Change) error) (seq int64, err error)
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)
	Newest(ctx context.Context) (int64, error)
	Wait(ctx context.Context, after int64) error
}

// Catalog holds the present snapshot.
type Catalog struct {
	log  Log
	slog *slog.Logger
	now  atomic.Pointer[Snapshot] // nil until loaded

	mu      sync.Mutex                // held by whoever makes the next snapshot
	writer  *search.Writer            // guarded by mu
	issuers map[string]*search.Entity // guarded by mu; by id
	encoder encoder                   // guarded by mu
	merges  sync.WaitGroup            // under way beside us
	torn    atomic.Bool               // a load failed half way: nothing may be laid over what it left
	told    func([]disclosure.Change) // see Tell
	current atomic.Int64              // when it last knew that it had seen everything, Unix nanoseconds
}

// Behind returns how long ago the catalogue last knew that it had seen
// everything: moments, unless the log cannot be read.
func (c *Catalog) Behind() time.Duration {
	if at := c.current.Load(); at != 0 {
		return time.Since(time.Unix(0, at))
	}
	return 0
}

// New returns a catalogue that has nothing to show until Load.
func New(log Log, logger *slog.Logger) *Catalog { return &Catalog{log: log, slog: logger} }

// Tell has every change passed on, in order, once the snapshot shows it, and
// nothing when all was loaded anew: whoever is told must see from the numbers
// whether some are missing. It is set before Load, and must be quick.
func (c *Catalog) Tell(told func([]disclosure.Change)) { c.told = told }

// Snapshot returns the present state, nil until the first is loaded.
func (c *Catalog) Snapshot() *Snapshot { return c.now.Load() }

// Load reads everything there is. Reading rows and making sense of them go on
// side by side.
func (c *Catalog) Load(ctx context.Context) error {
	start := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.torn.Store(true)
	c.writer, c.issuers, c.encoder = search.NewWriter(), map[string]*search.Entity{}, encoder{}

	rows := make(chan []disclosure.Change, 8)
	g, ctx := errgroup.WithContext(ctx)
	var seq int64
	g.Go(func() (err error) {
		defer close(rows)
		seq, err = c.read(ctx, rows)
		return err
	})
	var docs []search.Doc
	for batch := range rows {
		docs = append(docs, c.docs(batch)...)
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("loading the catalogue: %w", err)
	}
	c.writer.Apply(docs, c.directory())
	c.show(seq, (&tally{}).next(nil, docs))
	c.torn.Store(false)
	c.current.Store(time.Now().UnixNano())
	if c.told != nil {
		c.told(nil)
	}
	c.slog.Info("catalogue loaded", "reports", len(docs), "issuers", len(c.issuers), "seq", seq, "took", time.Since(start))
	return nil
}

// read hands on the present state in batches.
func (c *Catalog) read(ctx context.Context, rows chan<- []disclosure.Change) (int64, error) {
	const size = 500
	batch := make([]disclosure.Change, 0, size)
	hand := func() error {
		select {
		case rows <- batch:
			batch = make([]disclosure.Change, 0, size)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	seq, err := c.log.Current(ctx, func(ch disclosure.Change) error {
		if batch = append(batch, ch); len(batch) < size {
			return nil
		}
		return hand()
	})
	return seq, errors.Join(err, hand())
}

// docs analyses the filings among changes and notes the issuers.
func (c *Catalog) docs(changes []disclosure.Change) []search.Doc {
	docs := make([]search.Doc, 0, len(changes))
	for _, ch := range changes {
		if ch.Issuer != nil {
			c.issuers[ch.Issuer.ID] = search.NewEntity(ch.Issuer)
			continue
		}
		docs = append(docs, c.writer.Doc(ch.Report, c.encoder.encode(ch.Report)))
	}
	return docs
}

func (c *Catalog) directory() *search.Directory {
	return search.NewDirectory(slices.Collect(maps.Values(c.issuers)))
}

const (
	batch    = 2000                  // changes read and applied at once
	pause    = 20 * time.Millisecond // between two snapshots: a flood is taken in gulps
	lookFor  = 10 * time.Second      // how long a quiet log is waited for before it is asked again
	readTime = 30 * time.Second      // for reading changes: a store that hangs is no better than one that fails
)

// Follow applies changes as they come until the context ends. While the log
// cannot be read the last snapshot stands.
func (c *Catalog) Follow(ctx context.Context) error {
	defer c.merges.Wait()
	failures := 0
	for {
		wait := pause
		err := c.step(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			if failures > 0 {
				c.slog.Info("the catalogue follows the log again", "seq", c.Snapshot().Seq())
			}
			failures = 0
		} else {
			failures++
			wait = backoff(failures)
			c.slog.Warn("the catalogue cannot follow the log", "err", err, "failures", failures, "seq", c.Snapshot().Seq())
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

func (c *Catalog) step(ctx context.Context) error {
	if c.torn.Load() {
		return c.Load(ctx)
	}
	seq := c.Snapshot().Seq()
	quiet, err := c.wait(ctx, seq)
	if err != nil || quiet {
		return err
	}
	reading, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	changes, err := c.log.Changes(reading, seq, batch)
	if err != nil || len(changes) == 0 {
		return err
	}
	c.apply(changes)
	if len(changes) < batch {
		c.current.Store(time.Now().UnixNano())
	}
	return nil
}

// wait waits for something new. It gives up after a while to see whether the
// log is still there, and whether it is the one we know: a log that is shorter
// than what we have seen was put back from a copy, and is read anew.
func (c *Catalog) wait(ctx context.Context, seq int64) (quiet bool, err error) {
	waiting, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	err = c.log.Wait(waiting, seq)
	if waiting.Err() == nil || ctx.Err() != nil {
		return false, err
	}
	looking, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	newest, err := c.log.Newest(looking)
	switch {
	case err != nil:
		return false, err
	case newest < seq:
		c.slog.Warn("the log is shorter than it was: loading it anew", "seq", seq, "newest", newest)
		return true, c.Load(ctx)
	}
	c.current.Store(time.Now().UnixNano())
	return true, nil
}

// apply makes the next snapshot.
func (c *Catalog) apply(changes []disclosure.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	docs := c.docs(newestOfEach(changes))
	var dir *search.Directory
	if slices.ContainsFunc(changes, func(ch disclosure.Change) bool { return ch.Issuer != nil }) {
		dir = c.directory()
	}
	gone := c.writer.Apply(docs, dir)
	c.show(changes[len(changes)-1].Seq, c.Snapshot().tally.next(gone, docs))
	if c.told != nil {
		c.told(changes)
	}
	c.startMerge()
}

// show swaps the snapshot. c.mu is held.
func (c *Catalog) show(seq int64, t *tally) {
	c.now.Store(&Snapshot{seq: seq, index: c.writer.Index(), tally: t, links: c.encoder.links})
}

// newestOfEach keeps the last change of each filing and issuer.
func newestOfEach(changes []disclosure.Change) []disclosure.Change {
	type subject struct {
		issuer bool
		id     string
	}
	of := func(ch *disclosure.Change) subject { return subject{ch.Issuer != nil, ch.Subject()} }
	last := make(map[subject]int, len(changes))
	for i := range changes {
		last[of(&changes[i])] = i
	}
	if len(last) == len(changes) {
		return changes
	}
	kept := make([]disclosure.Change, 0, len(last))
	for i := range changes {
		if last[of(&changes[i])] == i {
			kept = append(kept, changes[i])
		}
	}
	return kept
}

// startMerge lets the index tidy itself beside readers and writer. c.mu is
// held.
func (c *Catalog) startMerge() {
	w := c.writer
	m := w.Due()
	if m == nil {
		return
	}
	c.merges.Go(func() {
		m.Run()
		c.mu.Lock()
		defer c.mu.Unlock()
		if w != c.writer {
			return // everything was loaded anew
		}
		w.Install(m)
		s := c.Snapshot()
		c.show(s.seq, s.tally)
		c.startMerge()
	})
}

// backoff doubles from 100 ms to 5 s, with jitter so that replicas spread.
func backoff(failures int) time.Duration {
	d := min(100*time.Millisecond<<min(failures-1, 10), 5*time.Second)
	return d/2 + rand.N(d/2)
}
