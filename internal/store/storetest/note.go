package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pregon/internal/store"
	"pregon/internal/waittest"
)

func setNotes(t *testing.T, s store.Store, notes ...store.Note) {
	t.Helper()
	if err := s.SetNotes(patiently(t), nil, notes...); err != nil {
		t.Fatalf("writing notes: %v", err)
	}
}

func readNotes(t *testing.T, s store.Store, after int64) []store.Note {
	t.Helper()
	notes, err := s.NotesSince(patiently(t), after)
	if err != nil {
		t.Fatalf("reading notes: %v", err)
	}
	return notes
}

func checkNotes(t *testing.T, s store.Store, after int64, want ...store.Note) {
	t.Helper()
	if diff := cmp.Diff(want, readNotes(t, s, after)); diff != "" {
		t.Errorf("the notes after %d (-want +got):\n%s", after, diff)
	}
}

func testNotesNewUnchangedGone(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	note := func(name, text string) store.Note { return store.Note{Name: name, Text: text} }
	checkNotes(t, s, 0)
	setNotes(t, s)
	setNotes(t, s, note("never", ""))
	checkNotes(t, s, 0)

	setNotes(t, s, note("b", "1"), note("a", "2"))
	checkNotes(t, other, 0, store.Note{Name: "b", Text: "1", Revision: 1}, store.Note{Name: "a", Text: "2", Revision: 2})
	setNotes(t, other, note("a", "2"), note("b", "1"))
	checkNotes(t, s, 2)
	setNotes(t, other, note("a", "2"), note("b", "3"), note("c", "4"))
	checkNotes(t, s, 0,
		store.Note{Name: "a", Text: "2", Revision: 2}, store.Note{Name: "b", Text: "3", Revision: 3}, store.Note{Name: "c", Text: "4", Revision: 4})
	checkNotes(t, s, 2, store.Note{Name: "b", Text: "3", Revision: 3}, store.Note{Name: "c", Text: "4", Revision: 4})

	// One that is taken away is seen to be, once.
	setNotes(t, s, note("b", ""), note("never", ""))
	checkNotes(t, other, 4, store.Note{Name: "b", Revision: 5})
	setNotes(t, other, note("b", ""))
	checkNotes(t, s, 5)
	setNotes(t, s, note("b", "3"))
	checkNotes(t, s, 5, store.Note{Name: "b", Text: "3", Revision: 6})
	setNotes(t, s, note("a", "7"), note("c", "8"), note("a", "9")) // the last counts
	checkNotes(t, s, 6, store.Note{Name: "c", Text: "8", Revision: 7}, store.Note{Name: "a", Text: "9", Revision: 8})
	checkNotes(t, s, 8)
	checkNotes(t, s, 99)
	checkLength(t, s, 0) // nothing of it is in the log
}

// oddNames are all different, though some look alike.
var oddNames = []string{"a", "A", "á", "a\u0301", " a", "a ", "", "a/b:c", "'\"\\%_", "日本", "\u2028"}

// testNotesOfOddNames: names are told apart by their bytes, and texts are kept
// to the byte.
func testNotesOfOddNames(t *testing.T, e Engine) {
	s := e.fresh(t)()
	var notes []store.Note
	for _, name := range oddNames {
		notes = append(notes, store.Note{Name: name, Text: "<" + name + ">\n\t\"$1 ? \\"})
	}
	setNotes(t, s, notes...)
	for i := range notes {
		notes[i].Revision = int64(i + 1)
	}
	checkNotes(t, s, 0, notes...)
	setNotes(t, s, notes...)
	checkNotes(t, s, int64(len(notes)))
}

func testManyNotes(t *testing.T, e Engine) {
	s := e.fresh(t)()
	const n = 3000
	var notes []store.Note
	for i := range int64(n) {
		notes = append(notes, store.Note{Name: fmt.Sprintf("note %d", i), Text: strings.Repeat("x", int(i%100)+1), Revision: i + 1})
	}
	setNotes(t, s, notes...)
	checkNotes(t, s, 0, notes...)
	setNotes(t, s, notes...)
	checkNotes(t, s, n)
}

func testLeaseGuardsNotes(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	set := func(s store.Store, l store.Lease, text string) error {
		return s.SetNotes(patiently(t), &l, store.Note{Name: "a", Text: text}, store.Note{Name: "by", Text: l.Holder + text})
	}
	checkConflict(t, "writing under a lease that never was", set(s, store.Lease{Name: "ingest", Holder: "ana", Term: 1}, "0"))

	ana := acquire(t, s, "ana", time.Millisecond)
	passed(t, ana.Expires)
	if err := set(s, ana, "1"); err != nil { // past its time, and still the newest
		t.Fatal(err)
	}
	berta := takeOver(t, other, "berta", time.Hour)
	checkConflict(t, "writing under a lease taken over", set(s, ana, "2"))
	checkConflict(t, "writing what is there already", set(s, ana, "1"))
	checkNotes(t, s, 0, store.Note{Name: "a", Text: "1", Revision: 1}, store.Note{Name: "by", Text: "ana1", Revision: 2})

	if err := set(other, berta, "1"); err != nil {
		t.Fatal(err)
	}
	checkNotes(t, s, 2, store.Note{Name: "by", Text: "berta1", Revision: 3})
	release(t, other, berta)
	checkConflict(t, "writing under a lease given back", set(other, berta, "3"))
	setNotes(t, s, store.Note{Name: "a", Text: "4"}) // who names no lease needs none
	checkNotes(t, s, 3, store.Note{Name: "a", Text: "4", Revision: 4})
}

func testNotesFailureBeforeCommit(t *testing.T, e Engine) {
	testNotesFailure(t, e, false)
}

func testNotesFailureAfterCommit(t *testing.T, e Engine) {
	testNotesFailure(t, e, true)
}

// testNotesFailure makes a commit fail. It leaves all or nothing, its revisions
// are not lost, and doing it again is safe.
func testNotesFailure(t *testing.T, e Engine, after bool) {
	open := e.fresh(t)
	s := open()
	setNotes(t, s, store.Note{Name: "a", Text: "1"})
	two := []store.Note{{Name: "a", Text: "2", Revision: 2}, {Name: "b", Text: "2", Revision: 3}}
	e.FailCommit(s, after, errInjected)
	if err := s.SetNotes(patiently(t), nil, two...); !errors.Is(err, errInjected) {
		t.Fatalf("SetNotes returned %v", err)
	}
	left := two
	if !after {
		left = []store.Note{{Name: "a", Text: "1", Revision: 1}}
	}
	checkNotes(t, s, 0, left...)
	checkNotes(t, open(), 0, left...)
	setNotes(t, s, two...)
	checkNotes(t, s, 0, two...)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.SetNotes(ctx, nil, store.Note{Name: "a", Text: "3"}); err == nil {
		t.Error("SetNotes succeeded for a caller who had given up")
	}
	checkNotes(t, s, 0, two...)
}

// testNotesOfOneName has many write one note: each write has a revision of its
// own, and none is left out.
func testNotesOfOneName(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	const writers, times = 4, 15
	var group errgroup.Group
	for w := range writers {
		group.Go(func() error {
			for i := range times {
				err := stores[w%len(stores)].SetNotes(ctx, nil, store.Note{Name: "a", Text: fmt.Sprintf("%d by %d", i, w)})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	notes := readNotes(t, stores[0], 0)
	if len(notes) != 1 || notes[0].Revision != writers*times {
		t.Errorf("after %d writes there are %+v", writers*times, notes)
	}
}

// testConcurrentNotes lets many write pairs of notes of their own through
// several open stores, with commits that fail and callers who give up, while
// others follow. In the end there are all revisions without a gap, and whoever
// followed saw them all, in order, and never half a pair.
func testConcurrentNotes(t *testing.T, e Engine) {
	open := e.fresh(t)
	ctx := patiently(t)
	const pairs = handles * writersPerHandle * batchesPerWriter
	var writers, readers errgroup.Group
	var followed [handles][]store.Note
	var first store.Store
	for h := range handles {
		s := open()
		if h == 0 {
			first = s
		}
		readers.Go(func() (err error) {
			followed[h], err = followNotes(ctx, s, 2*pairs)
			return err
		})
		for i := range writersPerHandle {
			w := newWriter(e, s, h*writersPerHandle+i)
			writers.Go(func() error { return w.writeNotes(ctx) })
		}
	}
	if err := errors.Join(writers.Wait(), readers.Wait()); err != nil {
		t.Fatal(err)
	}
	notes := readNotes(t, first, 0)
	for h := range followed {
		if diff := cmp.Diff(notes, followed[h]); diff != "" {
			t.Errorf("reader %d saw other notes (-all +seen):\n%s", h, diff)
		}
	}
}

// writeNotes tries until it succeeds, pair by pair. Many tries are made to
// fail.
func (w *writer) writeNotes(ctx context.Context) error {
	for i := range batchesPerWriter {
		name := fmt.Sprintf("%d of %d", i, w.id)
		err := w.retry(ctx, func(try context.Context) error {
			return w.s.SetNotes(try, nil, store.Note{Name: name + ", left", Text: name}, store.Note{Name: name + ", right", Text: name})
		})
		if err != nil {
			return fmt.Errorf("writer %d, notes %d: %w", w.id, i, err)
		}
	}
	return nil
}

// followNotes reads notes as they come until it has seen so many. No note is
// written twice, so that every revision must be there.
func followNotes(ctx context.Context, s store.Store, until int) ([]store.Note, error) {
	var seen []store.Note
	for len(seen) < until {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("following notes, %d seen: %w", len(seen), err)
		}
		notes, err := s.NotesSince(ctx, int64(len(seen)))
		if err != nil {
			return nil, err
		}
		if len(notes)%2 != 0 {
			return nil, fmt.Errorf("after %d came half a pair", len(seen))
		}
		for _, n := range notes {
			if seen = append(seen, n); n.Revision != int64(len(seen)) {
				return nil, fmt.Errorf("after %d came %d", len(seen)-1, n.Revision)
			}
		}
		waittest.Pace(ctx, time.Millisecond)
	}
	return seen, nil
}
