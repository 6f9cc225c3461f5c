package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

// coverage returns a record of the kind that has a table of its own.
func coverage(id, body string, revision int64) store.Record {
	return record(store.CoverageKind, id, body, revision)
}

// overwrite writes records of coverage over any revision.
func overwrite(ctx context.Context, s store.Store, lease *store.Lease, records ...store.Record) error {
	records = slices.Clone(records)
	for i := range records {
		records[i].Revision = store.AnyRevision
	}
	_, err := s.PutRecords(ctx, lease, records...)
	return err
}

func mustOverwrite(t *testing.T, s store.Store, records ...store.Record) {
	t.Helper()
	if err := overwrite(patiently(t), s, nil, records...); err != nil {
		t.Fatalf("writing records: %v", err)
	}
}

func checkCoverage(t *testing.T, s store.Store, after int64, want ...store.Record) {
	t.Helper()
	checkRecords(t, s, store.CoverageKind, after, want...)
}

func testOverwriteNewUnchangedGone(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	note := func(id, body string) store.Record { return coverage(id, body, 0) }
	checkCoverage(t, s, 0)
	mustOverwrite(t, s)
	mustOverwrite(t, s, note("never", ""))
	checkCoverage(t, s, 0)

	mustOverwrite(t, s, note("b", "1"), note("a", "2"))
	checkCoverage(t, other, 0, coverage("b", "1", 1), coverage("a", "2", 2))
	mustOverwrite(t, other, note("a", "2"), note("b", "1"))
	checkCoverage(t, s, 2)
	mustOverwrite(t, other, note("a", "2"), note("b", "3"), note("c", "4"))
	checkCoverage(t, s, 0,
		coverage("a", "2", 2), coverage("b", "3", 3), coverage("c", "4", 4))
	checkCoverage(t, s, 2, coverage("b", "3", 3), coverage("c", "4", 4))

	// A removed record is returned once, as an empty one.
	mustOverwrite(t, s, note("b", ""), note("never", ""))
	checkCoverage(t, other, 4, coverage("b", "", 5))
	mustOverwrite(t, other, note("b", ""))
	checkCoverage(t, s, 5)
	mustOverwrite(t, s, note("b", "3"))
	checkCoverage(t, s, 5, coverage("b", "3", 6))
	mustOverwrite(t, s, note("a", "7"), note("c", "8"), note("a", "9")) // the last record with an id counts
	checkCoverage(t, s, 6, coverage("c", "8", 7), coverage("a", "9", 8))
	checkCoverage(t, s, 8)
	checkCoverage(t, s, 99)
	checkLength(t, s, 0) // records are not in the log
}

// oddNames are all different, though some are displayed alike.
var oddNames = []string{"a", "A", "á", "a\u0301", " a", "a ", "", "a/b:c", "'\"\\%_", "日本", "\u2028"}

// testOverwriteOddNames: names are compared and texts are kept byte for
// byte.
func testOverwriteOddNames(t *testing.T, e Engine) {
	s := e.fresh(t)()
	var notes []store.Record
	for _, name := range oddNames {
		notes = append(notes, coverage(name, "<"+name+">\n\t\"$1 ? \\", 0))
	}
	mustOverwrite(t, s, notes...)
	for i := range notes {
		notes[i].Revision = int64(i + 1)
	}
	checkCoverage(t, s, 0, notes...)
	mustOverwrite(t, s, notes...)
	checkCoverage(t, s, int64(len(notes)))
}

func testOverwriteMany(t *testing.T, e Engine) {
	s := e.fresh(t)()
	const n = 3000
	var notes []store.Record
	for i := range int64(n) {
		notes = append(notes, coverage(fmt.Sprintf("note %d", i), strings.Repeat("x", int(i%100)+1), i+1))
	}
	mustOverwrite(t, s, notes...)
	checkCoverage(t, s, 0, notes...)
	mustOverwrite(t, s, notes...)
	checkCoverage(t, s, n)
}

func testLeaseGuardsRecords(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	set := func(s store.Store, l store.Lease, text string) error {
		return overwrite(patiently(t), s, &l, coverage("a", text, 0), coverage("by", l.Holder+text, 0))
	}
	checkConflict(t, "writing under a lease that never was", set(s, store.Lease{Name: "ingest", Holder: "ana", Term: 1}, "0"))

	ana := acquire(t, s, "ana", time.Millisecond)
	passed(t, ana.Expires)
	if err := set(s, ana, "1"); err != nil { // expired, but still the newest
		t.Fatal(err)
	}
	berta := takeOver(t, other, "berta", time.Hour)
	checkConflict(t, "writing under a lease taken over", set(s, ana, "2"))
	checkConflict(t, "writing what is there already", set(s, ana, "1"))
	checkCoverage(t, s, 0, coverage("a", "1", 1), coverage("by", "ana1", 2))

	if err := set(other, berta, "1"); err != nil {
		t.Fatal(err)
	}
	checkCoverage(t, s, 2, coverage("by", "berta1", 3))
	release(t, other, berta)
	checkConflict(t, "writing under a lease given back", set(other, berta, "3"))
	mustOverwrite(t, s, coverage("a", "4", 0)) // a write without a lease needs none
	checkCoverage(t, s, 3, coverage("a", "4", 4))
}

func testOverwriteFailureBeforeCommit(t *testing.T, e Engine) {
	testOverwriteFailure(t, e, false)
}

func testOverwriteFailureAfterCommit(t *testing.T, e Engine) {
	testOverwriteFailure(t, e, true)
}

// testOverwriteFailure makes a commit fail. It leaves all or nothing, its revisions
// are not lost, and repeating it is safe.
func testOverwriteFailure(t *testing.T, e Engine, after bool) {
	open := e.fresh(t)
	s := open()
	mustOverwrite(t, s, coverage("a", "1", 0))
	two := []store.Record{coverage("a", "2", 2), coverage("b", "2", 3)}
	e.FailCommit(s, after, errInjected)
	if err := overwrite(patiently(t), s, nil, two...); !errors.Is(err, errInjected) {
		t.Fatalf("PutRecords returned %v, want the injected error", err)
	}
	left := two
	if !after {
		left = []store.Record{coverage("a", "1", 1)}
	}
	checkCoverage(t, s, 0, left...)
	checkCoverage(t, open(), 0, left...)
	mustOverwrite(t, s, two...)
	checkCoverage(t, s, 0, two...)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := overwrite(ctx, s, nil, coverage("a", "3", 0)); err == nil {
		t.Error("PutRecords succeeded with a cancelled context")
	}
	checkCoverage(t, s, 0, two...)
}

// testOverwriteOneRecord has many writers write one record: each write has a
// revision of its own, without gaps.
func testOverwriteOneRecord(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	const writers, times = 4, 15
	var group errgroup.Group
	for w := range writers {
		group.Go(func() error {
			for i := range times {
				err := overwrite(ctx, stores[w%len(stores)], nil, coverage("a", fmt.Sprintf("%d by %d", i, w), 0))
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
	notes := readRecords(t, stores[0], store.CoverageKind, 0)
	if len(notes) != 1 || notes[0].Revision != writers*times {
		t.Errorf("after %d writes there are %+v", writers*times, notes)
	}
}

// testConcurrentOverwrites has many writers write pairs of records through several
// open stores, with failing commits and canceled calls, while readers follow. In
// the end there are all revisions without a gap, and every reader saw them all, in
// order, and never half a pair.
func testConcurrentOverwrites(t *testing.T, e Engine) {
	open := e.fresh(t)
	ctx := patiently(t)
	const pairs = handles * writersPerHandle * batchesPerWriter
	var writers, readers errgroup.Group
	var followed [handles][]store.Record
	var first store.Store
	for h := range handles {
		s := open()
		if h == 0 {
			first = s
		}
		readers.Go(func() (err error) {
			followed[h], err = followPairs(ctx, s, 2*pairs)
			return err
		})
		for i := range writersPerHandle {
			w := newWriter(e, s, h*writersPerHandle+i)
			writers.Go(func() error { return w.overwriteRecords(ctx) })
		}
	}
	if err := errors.Join(writers.Wait(), readers.Wait()); err != nil {
		t.Fatal(err)
	}
	notes := readRecords(t, first, store.CoverageKind, 0)
	for h := range followed {
		if diff := cmp.Diff(notes, followed[h]); diff != "" {
			t.Errorf("reader %d saw other records (-all +seen):\n%s", h, diff)
		}
	}
}

// overwriteRecords writes pair by pair, and retries until it succeeds. Many
// attempts are made to fail.
func (w *writer) overwriteRecords(ctx context.Context) error {
	for i := range batchesPerWriter {
		name := fmt.Sprintf("%d of %d", i, w.id)
		err := w.retry(ctx, func(try context.Context) error {
			return overwrite(try, w.s, nil, coverage(name+", left", name, 0), coverage(name+", right", name, 0))
		})
		if err != nil {
			return fmt.Errorf("writer %d, pair %d: %w", w.id, i, err)
		}
	}
	return nil
}

// followPairs polls for records until it has seen a given number. No record is
// written twice, so every revision must be seen.
func followPairs(ctx context.Context, s store.Store, until int) ([]store.Record, error) {
	var seen []store.Record
	for len(seen) < until {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("following records, %d seen: %w", len(seen), err)
		}
		notes, err := s.RecordsSince(ctx, store.CoverageKind, int64(len(seen)))
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
