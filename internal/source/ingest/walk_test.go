package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// publishHidden publishes reports of OIR that no feed shows, since none is read.
func (w *world) publishHidden(n int) (ids []string) {
	w.Helper()
	for range n {
		ids = append(ids, w.publish(`{"type":"oir","document":false}`))
	}
	return ids
}

// hasAll returns an error that names the first report that the store lacks.
func (w *world) hasAll(ids []string) error {
	for n, id := range ids {
		if w.report(id) == nil {
			return fmt.Errorf("%s, number %d of %d, is missing", id, n+1, len(ids))
		}
	}
	return nil
}

// TestHiddenReports: while a feed hides reports, its list is read page by page until
// all are stored. TestWalk has more of them.
func TestHiddenReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.newIngest("first")
	i.intervals.reconcile = time.Hour // a round, or a lookup by number, would find them too, later
	i.intervals.gapsAfter = time.Hour
	i.intervals.compare = time.Second
	i.intervals.compareNight = time.Second
	last := time.Now().Add(-time.Hour)
	if err := w.coverage.SetTime(t.Context(), nil, roundClock(disclosure.OIR), last); err != nil {
		t.Fatal(err)
	}
	w.run(i.Run)
	first := w.publish(`{"type":"oir","document":false}`)
	w.eventually(func() error { return w.has(first) })
	w.eventually(func() error { // the first round would store the others too
		if !w.coverage.Time(roundClock(disclosure.OIR)).After(last) {
			return errors.New("the first round has not ended")
		}
		return nil
	})
	w.state(health.Live)
	w.arm(`{"kind":"frozen","type":"oir","for":"1h"}`)
	ids := w.publishHidden(40)
	w.eventually(func() error { return w.hasAll(ids) })
	w.once()
}

// walker is a feed whose list is read in its place, without any loop.
type walker struct {
	*world
	*session
	c         comparison
	store     *watchedStore
	published []string
}

// publish publishes hidden reports.
func (w *walker) publish(n int) {
	w.world.Helper()
	w.published = append(w.published, w.publishHidden(n)...)
}

// complete returns an error if a report is missing or the list was not read to its end.
func (w *walker) complete() error {
	w.world.Helper()
	if w.c.walk.resume > 0 {
		return fmt.Errorf("the walk is to continue at page %d", w.c.walk.resume)
	}
	return w.hasAll(w.published)
}

func newWalker(t *testing.T) *walker {
	t.Helper()
	w := newWorld(t)
	s := w.session()
	watched := &watchedStore{Store: w.store}
	s.Store = watched
	return &walker{world: w, session: s, c: comparison{hidden: map[int64]time.Time{}}, store: watched}
}

// read reads the list once, and returns how many pages had new rows.
func (w *walker) read() (pages int) {
	w.world.Helper()
	before := w.store.appends
	w.feeds[disclosure.OIR].readNewest(w.world.Context(), &w.c)
	return w.store.appends - before
}

// watchedStore calls a function before each append.
type watchedStore struct {
	store.Store
	appends int
	before  func(n int) error // n counts from 1
}

func (s *watchedStore) Append(ctx context.Context, b store.Batch) (store.Outcome, error) {
	s.appends++
	if s.before != nil {
		if err := s.before(s.appends); err != nil {
			return store.Outcome{}, err
		}
	}
	return s.Store.Append(ctx, b)
}

// TestWalk: a walk is finished by one reading if it is short. A long one is
// interrupted, and the next readings continue it without reading all pages again.
func TestWalk(t *testing.T) {
	t.Parallel()
	w := newWalker(t)
	w.publish(40)
	w.read()
	if err := w.complete(); err != nil {
		t.Errorf("after one reading of 40 reports: %v", err)
	}
	if pages := w.read(); pages != 1 {
		t.Errorf("with nothing new %d pages are read, want 1", pages)
	}
	w.publish(385)
	w.read()
	if !w.c.walk.bounded || w.c.walk.resume != walkPages {
		t.Errorf("after a long reading: bounded %v, to continue at page %d", w.c.walk.bounded, w.c.walk.resume)
	}
	w.publish(15)
	pages := w.read()
	pages += w.read()
	// Two pages are new, and twenty are left. Pages without new rows are not appended.
	if pages > 24 {
		t.Errorf("the next two readings appended %d pages, want at most 24", pages)
	}
	if err := w.complete(); err != nil || w.c.walk.bounded {
		t.Errorf("after three readings of 400 reports: bounded %v, %v", w.c.walk.bounded, err)
	}
	w.once()
}

// TestWalkInterrupted: whatever interrupts a walk, and whatever was stored
// meanwhile, the next readings find the older reports.
func TestWalkInterrupted(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(w *walker, n int) error // append n
		after  func(w *walker)              // the interruption
		whole  bool                         // nothing interrupts it
	}{
		{
			name: "the store fails",
			before: func(_ *walker, n int) error {
				if n == 4 {
					return errors.New("disk full")
				}
				return nil
			},
		},
		{
			name: "a page fails",
			before: func(w *walker, n int) error {
				if n == 3 {
					w.arm(`{"kind":"error500","surface":"list","times":1}`)
				}
				return nil
			},
		},
		{
			name: "a restart",
			before: func(w *walker, n int) error {
				if n == 3 {
					w.arm(`{"kind":"error500","surface":"list","times":1}`)
				}
				return nil
			},
			after: func(w *walker) { w.c = comparison{hidden: map[int64]time.Time{}} },
		},
		{
			name: "twice",
			before: func(w *walker, n int) error {
				if n == 4 || n == 6 {
					w.arm(`{"kind":"error500","surface":"list","times":1}`)
				}
				return nil
			},
			after: func(w *walker) {
				w.publish(35)
				w.read()
			},
		},
		{
			name: "the newest page fails too",
			before: func(w *walker, n int) error {
				if n == 3 {
					w.arm(`{"kind":"error500","surface":"list","times":2}`)
				}
				return nil
			},
			after: func(w *walker) { w.read() },
		},
		{
			name: "reports are published meanwhile",
			before: func(w *walker, n int) error {
				if n == 2 || n == 4 {
					w.publish(7)
				}
				return nil
			},
			whole: true,
		},
		{
			name: "many reports are published meanwhile",
			before: func(w *walker, n int) error {
				if n == 2 || n == 4 {
					w.publish(35)
				}
				return nil
			},
			whole: true,
		},
		{
			name: "many reports are published meanwhile, and the list has no pager",
			before: func(w *walker, n int) error {
				if n == 1 {
					w.odd(w.Ingest).be(func(_ string, page []byte) []byte { return pagerLabel.ReplaceAll(page, nil) })
				}
				if n == 4 {
					w.publish(35)
				}
				return nil
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWalker(t)
			w.read() // a complete comparison
			w.publish(85)
			first := w.published
			w.store.appends = 0
			w.store.before = func(n int) error { return test.before(w, n) }
			w.read()
			if missing := w.hasAll(first) != nil; missing == test.whole {
				t.Fatalf("after the first reading reports are missing: %v, want %v", missing, !test.whole)
			}
			if test.after != nil {
				test.after(w)
			}
			w.publish(25)
			w.read()
			if err := w.complete(); err != nil {
				t.Errorf("after the last reading: %v", err)
			}
			w.once()
		})
	}
}

// TestWalkMoved: reports that are published between two pages of a reading move the rows
// of one to the other. This does not mean that the rows up to the page at which the walk
// was interrupted were seen.
func TestWalkMoved(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 20, 35} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWalker(t)
			w.read()
			w.publish(250)
			w.read()
			if w.c.walk.resume != walkPages {
				t.Fatalf("the walk is to continue at page %d, want %d", w.c.walk.resume, walkPages)
			}
			w.publish(25)
			w.store.before = func(int) error {
				w.store.before = nil
				w.publish(n)
				return nil
			}
			w.read()
			w.read() // for those that were published meanwhile
			if err := w.complete(); err != nil {
				t.Error(err)
			}
			w.once()
		})
	}
}

// TestWalkBesideRound: the rows that a round of the lists has stored before it ends do
// not end a walk.
func TestWalkBesideRound(t *testing.T) {
	t.Parallel()
	w := newWalker(t)
	w.read()
	w.publish(45)
	newest, err := w.feeds[disclosure.OIR].newestPage(t.Context(), 0, throttle.Feeds)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.takeList(t.Context(), disclosure.OIR, newest.Rows, newest.Received, news); err != nil {
		t.Fatal(err)
	}
	w.read()
	if err := w.complete(); err != nil {
		t.Error(err)
	}
}

// TestPrecedes: a comparison from before the clock was set back proves nothing.
func TestPrecedes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for _, test := range []struct {
			name        string
			seen, began time.Time
			want        bool
		}{
			{"before", now.Add(-time.Hour), now.Add(-time.Minute), true},
			{"since", now.Add(-time.Minute), now.Add(-time.Hour), false},
			{"none", now.Add(-time.Minute), time.Time{}, false},
			{"set back", now.Add(-time.Minute), now.Add(time.Hour), false},
		} {
			if got := precedes(test.seen, test.began); got != test.want {
				t.Errorf("%s: got %v, want %v", test.name, got, test.want)
			}
		}
	})
}

// TestWalkEnds: a list that repeats its rows past its end does not go on for ever.
func TestWalkEnds(t *testing.T) {
	t.Parallel()
	w := newWalker(t)
	w.series[disclosure.OIR].since = time.Unix(1, 0) // no report is history
	w.arm(`{"kind":"runaway","surface":"list"}`)
	w.publish(5)
	readings := 0
	for w.read(); w.c.walk.resume > 0 && readings < 10; readings++ {
		w.read()
	}
	if w.c.walk.resume > 0 {
		t.Errorf("after %d readings the walk is at page %d", readings, w.c.walk.resume)
	}
}

// TestWalkPriority: the pages for forty hidden reports are as urgent as feeds. A
// longer walk lets the pages of new reports pass.
func TestWalkPriority(t *testing.T) {
	granted := map[throttle.Priority]int{}
	for n := range walkPages {
		granted[walkPriority(n)]++
		if n <= 4 && walkPriority(n) != throttle.Feeds {
			t.Errorf("page %d has the priority %v, want %v", n, walkPriority(n), throttle.Feeds)
		}
	}
	if granted[throttle.Permalinks] != walkPages/10 {
		t.Errorf("pages with the priority of permalinks: got %d, want %d", granted[throttle.Permalinks], walkPages/10)
	}
}

// TestUnseen: a row is new once, and stays new until it is shown.
func TestUnseen(t *testing.T) {
	w := walk{seen: map[int64]bool{1: true}, shown: map[int64]bool{2: true}}
	rows := []regulator.Row{{Number: 4}, {Number: 3}, {Number: 3}, {Number: 2}, {Number: 1}}
	for range 2 {
		var got []int64
		for _, row := range w.unseen(rows) {
			got = append(got, row.Number)
		}
		if want := []int64{4, 3}; !slices.Equal(got, want) {
			t.Errorf("unseen: got %v, want %v", got, want)
		}
	}
	w.show(rows)
	if got := w.unseen(rows); len(got) > 0 || rows[0].Number != 4 {
		t.Errorf("unseen after show: got %v, want none, and the rows unchanged", got)
	}
}
