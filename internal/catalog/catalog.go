// Package catalog is the read model: every report, issuer and position, in memory, in
// the order in which lists show them. It answers every list and lookup of them without
// the database.
//
// A Snapshot is immutable. A request takes one and uses only that, so that all
// parts of its answer agree. The catalogue loads everything at one seq, then
// follows the log, builds the next snapshot while readers use the current one, and
// swaps them through one pointer: readers never wait.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/search"
	"pregon/internal/search/saved"
	"pregon/internal/search/segment"
	"pregon/internal/store"
)

// Log is the part of the store that the catalogue follows.
type Log interface {
	Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error)
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
	Marks(ctx context.Context, after int64, limit int) ([]disclosure.Mark, error)
	SealedNames(ctx context.Context, fn func(sealed, name string)) error
	Head(ctx context.Context) (disclosure.Head, error)
	RenewEpoch(ctx context.Context, replaced string, lost disclosure.Mark,
		shared ...disclosure.Cursor) (disclosure.Head, error)
	Wait(ctx context.Context, after int64) error
}

// Catalog holds the present snapshot.
type Catalog struct {
	log       Log
	slog      *slog.Logger
	documents search.Numbers
	now       atomic.Pointer[Snapshot] // nil until loaded

	mu          sync.Mutex                  // held while the next snapshot is made
	writer      *search.Writer              // guarded by mu
	issuers     map[string]*search.Issuer   // guarded by mu; by id
	encoder     encoder                     // guarded by mu
	positions   *position.Book              // guarded by mu
	trail       store.Trail                 // guarded by mu; of the snapshot
	merges      sync.WaitGroup              // running in other goroutines
	partialLoad atomic.Bool                 // a load failed half way: no changes may be applied until the next
	listeners   []func([]disclosure.Change) // see Notify
	current     atomic.Pointer[time.Time]   // when it last had all changes of the log; nil until loaded

	savePath    string       // empty: the catalogue is not saved
	saveVersion string       // see SaveTo
	savedSeq    atomic.Int64 // up to which it is saved, -1 if it was built since
	distrusted  atomic.Bool  // the files are damaged: the catalogue must be built from the log

	data atomic.Pointer[[]*saved.Data] // the data files in use; written under mu
}

// Behind returns how long ago the catalogue last had all changes of the log. That
// is a short time unless the log cannot be read.
func (c *Catalog) Behind() time.Duration {
	if at := c.current.Load(); at != nil {
		return time.Since(*at)
	}
	return 0
}

// setCurrent records that the catalogue has all changes of the log now.
func (c *Catalog) setCurrent() {
	now := time.Now() // with a monotonic reading, since the clock may be set
	c.current.Store(&now)
}

// New returns a catalogue without a snapshot: see Load.
func New(log Log, logger *slog.Logger) *Catalog { return &Catalog{log: log, slog: logger} }

// Notify registers a function that receives every change, in order, once it is in
// the snapshot. After a reload it receives nil, and must detect missing changes by
// their seq. Notify is called before Load; the function must not block.
func (c *Catalog) Notify(fn func([]disclosure.Change)) { c.listeners = append(c.listeners, fn) }

// Documents returns the numbers of the documents in all snapshots.
func (c *Catalog) Documents() *search.Numbers { return &c.documents }

// Snapshot returns the present state, nil until the first is loaded.
func (c *Catalog) Snapshot() *Snapshot { return c.now.Load() }

// Epoch returns the epoch of the log that was loaded, empty until then.
func (c *Catalog) Epoch() string {
	if s := c.Snapshot(); s != nil {
		return s.head.Epoch
	}
	return ""
}

// Load opens the files of the saved catalogue or, if that is not possible, reads the whole
// log.
func (c *Catalog) Load(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partialLoad.Store(true)
	if !c.loadSaved(ctx) {
		if err := c.build(ctx); err != nil {
			return err
		}
	}
	c.partialLoad.Store(false)
	c.setCurrent()
	for _, notify := range c.listeners {
		notify(nil)
	}
	return nil
}

// build reads the whole log. Reading and indexing run concurrently. c.mu is held.
func (c *Catalog) build(ctx context.Context) error {
	start := time.Now()
	c.writer = search.NewWriter(&c.documents, factsOf)
	c.issuers = map[string]*search.Issuer{}
	c.encoder = encoder{}

	rows := make(chan []disclosure.Change, 8)
	g, reading := errgroup.WithContext(ctx)
	var head disclosure.Head
	g.Go(func() (err error) {
		defer close(rows)
		head, err = c.read(reading, rows)
		return err
	})
	var docs []segment.Doc
	var positions position.Loader
	var last disclosure.Mark
	for batch := range rows {
		docs = append(docs, c.docs(batch)...)
		positions.Add(batch)
		if len(batch) > 0 {
			last = batch[len(batch)-1].Mark()
		}
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("loading the catalogue: %w", err)
	}
	c.trail = store.Trail{}
	c.trail.Extend(ctx, c.log, last) // without it a backup that is restored later is noticed too
	dir := c.directory()
	c.writer.Apply(docs, dir)
	c.positions = positions.Book(Finder(dir))
	c.now.Store(c.snapshot(head, last, (&tally{}).next(nil, docs)))
	c.savedSeq.Store(-1)
	c.use()
	c.distrusted.Store(false) // what is saved next is whole
	c.slog.Info("catalogue loaded", "reports", len(docs), "issuers", len(c.issuers), "positions",
		c.positions.Len(), "seq", head.Seq, "epoch", head.Epoch, "duration_seconds", time.Since(start).Seconds())
	return nil
}

// read passes on the current state in batches.
func (c *Catalog) read(ctx context.Context, rows chan<- []disclosure.Change) (disclosure.Head, error) {
	const size = 500
	batch := make([]disclosure.Change, 0, size)
	send := func() error {
		select {
		case rows <- batch:
			batch = make([]disclosure.Change, 0, size)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	head, err := c.log.Current(ctx, func(ch disclosure.Change) error {
		if batch = append(batch, ch); len(batch) < size {
			return nil
		}
		return send()
	})
	return head, errors.Join(err, send())
}

// docs analyses the reports among changes and records the issuers. Positions are not in
// the index.
func (c *Catalog) docs(changes []disclosure.Change) []segment.Doc {
	docs := make([]segment.Doc, 0, len(changes))
	for _, ch := range changes {
		switch ch.Of() {
		case disclosure.OfIssuer:
			c.issuers[ch.Issuer.ID] = search.NewIssuer(ch.Issuer)
		case disclosure.OfReport:
			docs = append(docs, c.writer.Doc(ch.Report, c.encoder.encode(ch.Report)))
		}
	}
	return docs
}

func (c *Catalog) directory() *search.Directory { return directoryOf(c.issuers) }

func directoryOf(issuers map[string]*search.Issuer) *search.Directory {
	return search.NewDirectory(slices.Collect(maps.Values(issuers)))
}

const (
	batch    = 2000                  // changes read and applied at once
	pause    = 20 * time.Millisecond // between two snapshots: limits the rate of snapshots during a flood
	pollTime = 2 * time.Second       // how long to wait for a change before the log is checked
	readTime = 30 * time.Second      // for reading changes: a store that hangs is treated as one that fails
)

// Follow applies changes as they come until the context ends. While the log
// cannot be read, the last snapshot remains.
func (c *Catalog) Follow(ctx context.Context) error {
	defer c.merges.Wait()
	failures, trouble := 0, outage.Log{Logger: c.slog}
	for {
		wait := pause
		var err error
		if failed := c.attempt(func() { err = c.step(ctx) }); failed != nil {
			err = failed
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			trouble.Recovered("the catalogue follows the log again", "seq", c.Snapshot().Seq())
			failures = 0
		} else {
			failures++
			wait = retry.Jitter(retry.Backoff(failures-1, 100*time.Millisecond, 5*time.Second))
			trouble.Failed("the catalogue cannot follow the log", "err", err, "seq", c.Snapshot().Seq())
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func (c *Catalog) step(ctx context.Context) error {
	if c.partialLoad.Load() || c.distrusted.Load() {
		return c.Load(ctx)
	}
	seq := c.Snapshot().Seq()
	quiet, err := c.wait(ctx, seq)
	if err != nil || quiet {
		return err
	}
	reading, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	changes, head, err := c.next(reading, c.Snapshot())
	switch {
	case errors.Is(err, errAnotherLog):
		return c.reload(ctx, head)
	case err != nil || len(changes) == 0:
		return err
	}
	c.apply(changes)
	if len(changes) < batch {
		c.setCurrent()
	}
	return nil
}

var (
	errAnotherLog = errors.New("the log is not the one that was loaded")
	errBehind     = errors.New("the log was read from a server that is behind, such as a standby: if the store's " +
		"address has several hosts, add target_session_attrs=read-write")
)

// next reads the changes after a snapshot, and fails if they are of another
// log. A backup may be restored at any moment, and the log may have grown again
// when it is next read. So next also reads the last known change again.
func (c *Catalog) next(ctx context.Context, s *Snapshot) ([]disclosure.Change, disclosure.Head, error) {
	changes, err := c.log.Changes(ctx, max(0, s.head.Seq-1), batch+1)
	if err != nil {
		return nil, disclosure.Head{}, err
	}
	head, err := c.log.Head(ctx)
	switch {
	case err != nil:
		return nil, head, err
	case head.Epoch != s.head.Epoch:
		return nil, head, errAnotherLog
	case s.head.Seq == 0:
		return changes[:min(len(changes), batch)], head, nil
	case len(changes) == 0 || changes[0].Mark() != s.last:
		return nil, head, errAnotherLog
	}
	return changes[1:], head, nil
}

// reload loads a log that replaced the one that was loaded. If it has the same
// epoch, a backup was restored and its seqs will be assigned to other changes.
// Then reload renews the epoch, so that readers can distinguish them.
func (c *Catalog) reload(ctx context.Context, head disclosure.Head) error {
	s := c.Snapshot()
	if head.Epoch == s.head.Epoch {
		renewing, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()
		c.mu.Lock()
		trail := c.trail.Clone()
		c.mu.Unlock()
		shared, err := store.Shared(renewing, c.log, head.Seq, s.last, trail)
		if err != nil {
			return err
		}
		if head, err = c.log.RenewEpoch(renewing, head.Epoch, s.last,
			disclosure.Cursor{Epoch: head.Epoch, Seq: shared}); err != nil {
			return err
		}
		if head.Epoch == s.head.Epoch {
			return errBehind
		}
	}
	c.slog.Warn("an older backup was restored: the catalogue is loaded again, and clients resume from the "+
		"last common change",
		"previous", s.head.String(), "current", head.String())
	return c.Load(ctx)
}

// wait waits for a new change. It returns after a while in any case, so that the
// caller checks that the log can be read and is still the same.
func (c *Catalog) wait(ctx context.Context, seq int64) (quiet bool, err error) {
	waiting, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
	err = c.log.Wait(waiting, seq)
	if waiting.Err() == nil || ctx.Err() != nil {
		return false, err
	}
	checking, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
	head, err := c.log.Head(checking)
	switch {
	case err != nil:
		return false, err
	case head.Seq < seq || head.Epoch != c.Snapshot().head.Epoch:
		return true, c.reload(ctx, head)
	}
	c.setCurrent()
	return true, nil
}

// apply builds the next snapshot, and tells the listeners.
func (c *Catalog) apply(changes []disclosure.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.Store(c.advance(c.Snapshot(), changes))
	for _, notify := range c.listeners {
		notify(changes)
	}
	c.startMerge()
}

// advance returns the snapshot after some changes. c.mu is held.
func (c *Catalog) advance(s *Snapshot, changes []disclosure.Change) *Snapshot {
	newest := newestOfEach(changes)
	docs := c.docs(newest)
	c.positions = c.positions.Next(newest)
	var dir *search.Directory
	if slices.ContainsFunc(changes, func(ch disclosure.Change) bool { return ch.Issuer != nil }) {
		dir = c.directory()
		c.positions = c.positions.Join(Finder(dir))
	}
	gone := c.writer.Apply(docs, dir)
	last := changes[len(changes)-1].Mark()
	head := s.head
	head.Seq = last.Seq
	for i := range changes {
		c.trail.Add(changes[i].Mark())
	}
	return c.snapshot(head, last, s.tally.next(gone, docs))
}

// snapshot returns a snapshot of the index of the writer. c.mu is held.
func (c *Catalog) snapshot(head disclosure.Head, last disclosure.Mark, t *tally) *Snapshot {
	return &Snapshot{
		head:  head,
		last:  last,
		index: c.writer.Index(),
		tally: t,
		links: c.encoder.links,

		positions: c.positions,
	}
}

// newestOfEach keeps the last change of each report, issuer and position.
func newestOfEach(changes []disclosure.Change) []disclosure.Change {
	type subject struct {
		of disclosure.Subject
		id string
	}
	of := func(ch *disclosure.Change) subject { return subject{ch.Of(), ch.Subject()} }
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

// startMerge starts a due merge of the index, which runs concurrently with readers
// and the writer. c.mu is held.
func (c *Catalog) startMerge() {
	w := c.writer
	m := w.Due()
	if m == nil {
		return
	}
	c.merges.Go(func() {
		_ = c.attempt(func() { // if it fails, the catalogue is built again, by another writer
			m.Run()
			c.install(w, m)
		})
	})
}

// install adds the result of a merge, unless the catalogue was loaded again.
func (c *Catalog) install(w *search.Writer, m *search.Merge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w != c.writer {
		return
	}
	w.Install(m)
	s := c.Snapshot()
	c.now.Store(c.snapshot(s.head, s.last, s.tally))
	c.startMerge()
}
