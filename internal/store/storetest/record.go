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

	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

func record(kind, id, body string, revision int64) store.Record {
	return store.Record{
		Kind:     kind,
		ID:       id,
		Body:     body,
		Revision: revision,
	}
}

// putRecord writes a record, and checks the revision that it then has.
func putRecord(t *testing.T, s store.Store, r store.Record, want int64) {
	t.Helper()
	got, err := store.PutRecord(patiently(t), s, r)
	if err != nil {
		t.Fatalf("writing %+v: %v", r, err)
	}
	if r.Revision = want; got != r {
		t.Errorf("PutRecord returned %+v, want %+v", got, r)
	}
}

func checkNotPut(t *testing.T, what string, s store.Store, r store.Record) {
	t.Helper()
	got, err := store.PutRecord(patiently(t), s, r)
	checkConflict(t, what, err)
	if got != (store.Record{}) {
		t.Errorf("%s: PutRecord returned %+v", what, got)
	}
}

func readRecords(t *testing.T, s store.Store, kind string, after int64) []store.Record {
	t.Helper()
	records, err := s.RecordsSince(patiently(t), kind, after)
	if err != nil {
		t.Fatalf("reading records: %v", err)
	}
	return records
}

func checkRecords(t *testing.T, s store.Store, kind string, after int64, want ...store.Record) {
	t.Helper()
	if diff := cmp.Diff(want, readRecords(t, s, kind, after)); diff != "" {
		t.Errorf("the %ss after %d (-want +got):\n%s", kind, after, diff)
	}
}

func testRecordsNewChangedGone(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	key := func(id, body string, revision int64) store.Record { return record("key", id, body, revision) }
	checkRecords(t, s, "key", 0)
	putRecord(t, s, key("never", "", 0), 0)
	checkNotPut(t, "changing what never was", s, key("never", "1", 1))
	checkRecords(t, s, "key", 0)

	putRecord(t, s, key("b", "1", 0), 1)
	putRecord(t, other, key("a", "2", 0), 2)
	checkRecords(t, other, "key", 0, key("b", "1", 1), key("a", "2", 2))
	putRecord(t, other, key("b", "3", 1), 3)
	checkRecords(t, s, "key", 0, key("a", "2", 2), key("b", "3", 3))
	checkRecords(t, s, "key", 2, key("b", "3", 3))

	checkNotPut(t, "making what is there", s, key("b", "4", 0))
	checkNotPut(t, "writing over an older one", s, key("b", "4", 1))
	checkNotPut(t, "writing over another's revision", s, key("b", "4", 2))
	checkNotPut(t, "writing over one to come", s, key("b", "4", 4))
	checkNotPut(t, "taking away an older one", s, key("b", "", 1))
	checkRecords(t, s, "key", 0, key("a", "2", 2), key("b", "3", 3))

	// A removed record is returned as an empty one, and can be written again over
	// the revision of its removal.
	putRecord(t, s, key("b", "", 3), 4)
	checkRecords(t, other, "key", 3, key("b", "", 4))
	checkNotPut(t, "making anew, as if it had never been", other, key("b", "5", 0))
	checkNotPut(t, "writing over what was taken away", other, key("b", "5", 3))
	putRecord(t, other, key("b", "5", 4), 5)
	checkRecords(t, s, "key", 4, key("b", "5", 5))
	checkRecords(t, s, "key", 5)
	checkRecords(t, s, "key", 99)
	checkCoverage(t, s, 0)
	checkLength(t, s, 0) // records are not in the log
}

// testRecordsDoneTwice: a record with the stored body is not written again,
// whatever its revision.
func testRecordsDoneTwice(t *testing.T, e Engine) {
	s := e.fresh(t)()
	key := func(body string, revision int64) store.Record { return record("key", "a", body, revision) }
	putRecord(t, s, key("1", 0), 1)
	putRecord(t, s, key("1", 0), 1)
	putRecord(t, s, key("1", 1), 1)
	putRecord(t, s, key("2", 1), 2)
	putRecord(t, s, key("2", 1), 2)
	putRecord(t, s, key("", 2), 3)
	putRecord(t, s, key("", 2), 3)
	putRecord(t, s, key("", 0), 3)
	checkRecords(t, s, "key", 0, key("", 3))
	putRecord(t, s, key("1", 3), 4) // no revision was skipped
	checkRecords(t, s, "key", 0, key("1", 4))
}

// testRecordsOfKinds: kinds are read separately and share one counter.
func testRecordsOfKinds(t *testing.T, e Engine) {
	s := e.fresh(t)()
	putRecord(t, s, record("key", "a", "1", 0), 1)
	putRecord(t, s, record("hook", "a", "2", 0), 2)
	putRecord(t, s, record("key", "b", "3", 0), 3)
	checkNotPut(t, "writing over the revision of another kind", s, record("hook", "a", "4", 1))
	putRecord(t, s, record("hook", "a", "4", 2), 4)
	checkRecords(t, s, "key", 0, record("key", "a", "1", 1), record("key", "b", "3", 3))
	checkRecords(t, s, "key", 2, record("key", "b", "3", 3))
	checkRecords(t, s, "hook", 0, record("hook", "a", "4", 4))
	checkRecords(t, s, "hook", 4)
	checkRecords(t, s, "", 0)

	// The kind of coverage has a counter of its own.
	putRecord(t, s, coverage("a", "1", 0), 1)
	checkCoverage(t, s, 0, coverage("a", "1", 1))
	checkNotPut(t, "writing over an older revision of coverage", s, coverage("a", "2", 0))
	putRecord(t, s, record("key", "c", "5", 0), 5)
}

// testRecordsOfOddNames: kinds and ids are compared and bodies are kept
// byte for byte.
func testRecordsOfOddNames(t *testing.T, e Engine) {
	s := e.fresh(t)()
	want := map[string][]store.Record{}
	var revision int64
	for _, kind := range oddNames {
		for _, id := range oddNames {
			revision++
			r := record(kind, id, "<"+kind+">\n\t\"$1 ? \\ "+id+" ", revision)
			want[kind] = append(want[kind], r)
			r.Revision = 0
			putRecord(t, s, r, revision)
		}
	}
	for _, kind := range oddNames {
		checkRecords(t, s, kind, 0, want[kind]...)
	}
}

func testManyRecords(t *testing.T, e Engine) {
	s := e.fresh(t)()
	const n = 200
	var want []store.Record
	for i := range int64(n) {
		r := record("key", fmt.Sprintf("key %d", i), strings.Repeat("x", int(i%7)*10_000+1), 0)
		putRecord(t, s, r, i+1)
		r.Revision = i + 1
		want = append(want, r)
	}
	for _, after := range []int64{0, 1, n / 2, n - 1} {
		checkRecords(t, s, "key", after, want[after:]...)
	}
	checkRecords(t, s, "key", n)
}

func testRecordFailureBeforeCommit(t *testing.T, e Engine) {
	testRecordFailure(t, e, false)
}

func testRecordFailureAfterCommit(t *testing.T, e Engine) {
	testRecordFailure(t, e, true)
}

// testRecordFailure makes commits of a new record, a change and a removal fail. No
// revision is lost, and repeating it is safe.
func testRecordFailure(t *testing.T, e Engine, after bool) {
	open := e.fresh(t)
	s := open()
	var before []store.Record
	for i, body := range []string{"1", "2", ""} {
		revision := int64(i)
		r := record("key", "a", body, revision)
		e.FailCommit(s, after, errInjected)
		if got, err := store.PutRecord(patiently(t), s, r); !errors.Is(err, errInjected) || got != (store.Record{}) {
			t.Fatalf("PutRecord returned %+v, %v", got, err)
		}
		done := []store.Record{record("key", "a", body, revision+1)}
		left := before
		if after {
			left = done
		}
		checkRecords(t, s, "key", 0, left...)
		checkRecords(t, open(), "key", 0, left...)
		putRecord(t, s, r, revision+1)
		checkRecords(t, s, "key", 0, done...)
		before = done
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.PutRecord(ctx, s, record("key", "a", "4", 3)); err == nil {
		t.Error("PutRecord succeeded with a cancelled context")
	}
	checkRecords(t, s, "key", 0, before...)
}

// testRecordRace has many writers increment a counter in one record: a writer that
// gets a conflict retries, so that in the end all increments are counted.
func testRecordRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	const writers, times = 4, 15
	var group errgroup.Group
	for w := range writers {
		group.Go(func() error {
			for i := range times {
				if err := countOne(ctx, stores[w%len(stores)], fmt.Sprintf("%d by %d", i, w)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	records := readRecords(t, stores[0], "count", 0)
	if len(records) != 1 || records[0].Revision != writers*times || countIn(records[0]) != writers*times {
		t.Errorf("%d were counted, and there are %+v", writers*times, records)
	}
}

// countOne adds one to the number in a record. The body has the name of
// the writer: two equal bodies over one revision would count as one write.
func countOne(ctx context.Context, s store.Store, whose string) error {
	for {
		records, err := s.RecordsSince(ctx, "count", 0)
		if err != nil {
			return err
		}
		r := record("count", "a", "", 0)
		if len(records) > 0 {
			r = records[0]
		}
		r.Body = fmt.Sprintf("%d, %s", countIn(r)+1, whose)
		if _, err = store.PutRecord(ctx, s, r); fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}

// countIn is 0 for a body that holds no number yet.
func countIn(r store.Record) (n int) {
	_, _ = fmt.Sscanf(r.Body, "%d,", &n)
	return n
}

// testConcurrentRecords has many writers write records of two kinds through several
// open stores, with failing commits and canceled calls, while readers follow. In
// the end there are all revisions without a gap, and every reader of a kind saw all
// of it, in order.
func testConcurrentRecords(t *testing.T, e Engine) {
	open := e.fresh(t)
	ctx := patiently(t)
	kinds := []string{"even", "odd"}
	const each = handles * writersPerHandle * batchesPerWriter / 2
	var writers, readers errgroup.Group
	var followed [handles][2][]store.Record
	var first store.Store
	for h := range handles {
		s := open()
		if h == 0 {
			first = s
		}
		for k, kind := range kinds {
			readers.Go(func() (err error) {
				followed[h][k], err = followRecords(ctx, s, kind, each)
				return err
			})
		}
		for i := range writersPerHandle {
			w := newWriter(e, s, h*writersPerHandle+i)
			writers.Go(func() error { return w.putRecords(ctx, kinds) })
		}
	}
	if err := errors.Join(writers.Wait(), readers.Wait()); err != nil {
		t.Fatal(err)
	}
	var revisions []int64
	for k, kind := range kinds {
		records := readRecords(t, first, kind, 0)
		for h := range followed {
			if diff := cmp.Diff(records, followed[h][k]); diff != "" {
				t.Errorf("reader %d saw other records (-all +seen):\n%s", h, diff)
			}
		}
		for _, r := range records {
			revisions = append(revisions, r.Revision)
		}
	}
	slices.Sort(revisions)
	for i, r := range revisions {
		if r != int64(i+1) {
			t.Fatalf("after revision %d comes %d", i, r)
		}
	}
}

// putRecords writes record by record, and retries until it succeeds. Many attempts
// are made to fail.
func (w *writer) putRecords(ctx context.Context, kinds []string) error {
	for i := range batchesPerWriter {
		r := record(kinds[i%len(kinds)], fmt.Sprintf("%d of %d", i, w.id), "1", 0)
		err := w.retry(ctx, func(try context.Context) error {
			_, err := store.PutRecord(try, w.s, r)
			return err
		})
		if err != nil {
			return fmt.Errorf("writer %d, record %d: %w", w.id, i, err)
		}
	}
	return nil
}

// followRecords polls for records of a kind until it has seen a given number.
func followRecords(ctx context.Context, s store.Store, kind string, until int) ([]store.Record, error) {
	var seen []store.Record
	var revision int64
	for len(seen) < until {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("following records, %d seen: %w", len(seen), err)
		}
		records, err := s.RecordsSince(ctx, kind, revision)
		if err != nil {
			return nil, err
		}
		if seen = append(seen, records...); len(seen) > 0 {
			revision = seen[len(seen)-1].Revision
		}
		waittest.Pace(ctx, time.Millisecond)
	}
	return seen, nil
}
