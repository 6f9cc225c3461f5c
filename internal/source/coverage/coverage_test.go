package coverage_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a store; the same path may be opened more than once, as several
// processes do.
func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// two returns the ledgers of two processes on one store.
func two(t *testing.T) (a, b *coverage.Tracker) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pregon.db")
	return coverage.New(open(t, path)), coverage.New(open(t, path))
}

func one(t *testing.T) *coverage.Tracker {
	t.Helper()
	return coverage.New(open(t, filepath.Join(t.TempDir(), "pregon.db")))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func day(s string) disclosure.Day {
	d, ok := disclosure.ParseDay(s)
	if !ok {
		panic(s)
	}
	return d
}

func note(id, body string) store.Record {
	return store.Record{Kind: store.CoverageKind, ID: id, Body: body, Revision: store.AnyRevision}
}

func put(t *testing.T, db store.Records, records ...store.Record) error {
	_, err := db.PutRecords(t.Context(), nil, records...)
	return err
}

func instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

// A ledger knows its own writes at once, those of others after Refresh, and
// forgets what was taken away.
func TestOwnWritesAndOthers(t *testing.T) {
	a, b := two(t)
	must(t, a.SetValue(t.Context(), nil, "x", "1"))
	if got := a.Value("x"); got != "1" {
		t.Errorf("its own write is %q", got)
	}
	if got := b.Value("x"); got != "" {
		t.Errorf("another's write is %q before it was looked at", got)
	}
	must(t, b.Refresh(t.Context()))
	if got := b.Value("x"); got != "1" {
		t.Errorf("another's write is %q", got)
	}
	must(t, b.SetValue(t.Context(), nil, "x", "2"))
	must(t, b.SetValue(t.Context(), nil, "y", "3"))
	must(t, a.Refresh(t.Context()))
	if x, y := a.Value("x"), a.Value("y"); x != "2" || y != "3" {
		t.Errorf("the other wrote 2 and 3, seen as %q and %q", x, y)
	}
	must(t, a.SetValue(t.Context(), nil, "x", ""))
	must(t, b.Refresh(t.Context()))
	if x := b.Value("x"); x != "" {
		t.Errorf("taken away, and still %q", x)
	}
}

// Follow sees what others write, what there is at its start without delay, and
// ends with its context.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := two(t)
		must(t, a.SetValue(t.Context(), nil, "before", "1"))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- b.Follow(ctx) }()
		await(t, 10*time.Millisecond, func() bool { return b.Value("before") == "1" })
		must(t, a.SetValue(t.Context(), nil, "after", "2"))
		await(t, 2*time.Second, func() bool { return b.Value("after") == "2" })
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// await waits for a condition, in the time of a bubble.
func await(t *testing.T, within time.Duration, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come within %v", within)
		}
	}
}

// While the store does not answer, what is known stands, and what could not be
// written is not known.
func TestStoreFails(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	l := coverage.New(db)
	must(t, l.SetValue(t.Context(), nil, "x", "1"))
	must(t, db.Close())
	if l.Refresh(t.Context()) == nil || l.SetValue(t.Context(), nil, "x", "2") == nil {
		t.Error("a closed store was read or written")
	}
	if _, err := l.Request(t.Context(), coverage.NewJob(1, 2, disclosure.Types)); err == nil {
		t.Error("a closed store was asked")
	}
	if got := l.Value("x"); got != "1" || len(l.Jobs()) != 0 {
		t.Errorf("known is %q and %v", got, l.Jobs())
	}
}

// Who has lost the lease writes nothing, and does not believe that he did.
func TestLeaseGuardsWrites(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	l := coverage.New(db)
	lease, err := db.AcquireLease(t.Context(), "ingest", "ana", time.Hour)
	must(t, err)
	must(t, l.SetValue(t.Context(), &lease, "x", "1"))
	must(t, db.ReleaseLease(t.Context(), lease))
	at := time.Now()
	for name, err := range map[string]error{
		"memo":   l.SetValue(t.Context(), &lease, "x", "2"),
		"cover":  l.Cover(t.Context(), &lease, disclosure.IP, 1, 2, at),
		"absent": l.SetAbsent(t.Context(), &lease, disclosure.IP, 1, at),
		"clock":  l.SetTime(t.Context(), &lease, "x", at),
		"status": l.SetStatus(t.Context(), &lease, health.Status{State: health.Live}),
		"job":    l.SetJob(t.Context(), &lease, coverage.NewJob(1, 2, disclosure.Types)),
	} {
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v, want a conflict", name, err)
		}
	}
	if _, told := l.Status(); told || l.Value("x") != "1" || !l.Covered(disclosure.IP, 1).IsZero() ||
		!l.Absent(disclosure.IP, 1).IsZero() || !l.Time("x").IsZero() || len(l.Jobs()) != 0 {
		t.Error("something is known that was never written")
	}
}

// However often others look meanwhile, nobody ever sees an older text than the
// one he wrote, and in the end all know the same.
func TestWritesAreNeverUndone(t *testing.T) {
	a, b := two(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	const writers, times = 8, 40
	ledgers := []*coverage.Tracker{a, b}
	stop := make(chan struct{})
	var readers, group errgroup.Group
	for n := range 6 {
		l := ledgers[n%2]
		readers.Go(func() error {
			for {
				select {
				case <-stop:
					return nil
				default:
				}
				if err := l.Refresh(ctx); err != nil {
					return err
				}
				l.Jobs()
				l.Covered(disclosure.IP, 1)
			}
		})
	}
	for w := range writers {
		l, name := ledgers[w%2], strconv.Itoa(w)
		group.Go(func() error {
			for n := range times {
				text := strconv.Itoa(n)
				if err := l.SetValue(ctx, nil, name, text); err != nil {
					return err
				}
				for range 3 {
					if got := l.Value(name); got != text {
						t.Errorf("writer %d wrote %s and sees %q", w, text, got)
					}
					waittest.Pace(ctx, 100*time.Microsecond)
				}
			}
			return nil
		})
	}
	err := group.Wait()
	close(stop)
	must(t, errors.Join(err, readers.Wait()))
	for _, l := range ledgers {
		must(t, l.Refresh(ctx))
		for w := range writers {
			if got := l.Value(strconv.Itoa(w)); got != strconv.Itoa(times-1) {
				t.Errorf("the memo of writer %d is %q in the end", w, got)
			}
		}
	}
}

// slowNotes lets a test hold a read that has begun.
type slowNotes struct {
	store.Records
	read, release chan struct{}
}

func (s *slowNotes) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	notes, err := s.Records.RecordsSince(ctx, kind, revision)
	s.read <- struct{}{}
	<-s.release
	return notes, err
}

// A text that was read before a write does not replace it when it arrives
// after it.
func TestSlowReadDoesNotUndoAWrite(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	must(t, coverage.New(db).SetValue(t.Context(), nil, "x", "old"))
	notes := &slowNotes{db, make(chan struct{}), make(chan struct{})}
	l := coverage.New(notes)
	var group errgroup.Group
	group.Go(func() error { return l.Refresh(t.Context()) })
	<-notes.read // the old text is on its way
	group.Go(func() error { return l.SetValue(t.Context(), nil, "x", "new") })
	waittest.Pace(t.Context(), 20*time.Millisecond) // the write probably waits by then; it must hold anyhow
	close(notes.release)
	must(t, group.Wait())
	if got := l.Value("x"); got != "new" {
		t.Errorf("it is %q", got)
	}
}

func TestCover(t *testing.T) {
	a, b := two(t)
	if !a.Covered(disclosure.IP, day("2026-04-22")).IsZero() {
		t.Error("something is covered from the start")
	}
	first, second := instant("2026-04-22T10:00:00Z"), instant("2026-04-23T10:00:00.7Z")
	must(t, a.Cover(t.Context(), nil, disclosure.IP, day("2026-03-28"), day("2026-04-02"), first))
	must(t, a.Cover(t.Context(), nil, disclosure.IP, day("2026-03-29"), day("2026-03-29"), second))
	must(t, a.Cover(t.Context(), nil, disclosure.OIR, day("2025-12-31"), day("2026-01-01"), second))
	must(t, a.Cover(t.Context(), nil, disclosure.HR, day("2026-01-02"), day("2026-01-01"), second)) // no day at all
	must(t, b.Refresh(t.Context()))
	for _, l := range []*coverage.Tracker{a, b} {
		for date, want := range map[string]time.Time{
			"2026-03-27": {}, "2026-03-28": first, "2026-03-29": second.Truncate(time.Second), "2026-03-30": first,
			"2026-04-02": first, "2026-04-03": {}, "2026-01-01": {},
		} {
			if got := l.Covered(disclosure.IP, day(date)); !got.Equal(want) {
				t.Errorf("%s was compared at %v, want %v", date, got, want)
			}
		}
		if !l.Covered(disclosure.HR, day("2026-03-28")).IsZero() {
			t.Error("a day of one series covers another")
		}
	}
}

func TestAbsentClockMemo(t *testing.T) {
	a, b := two(t)
	at := instant("2026-04-22T10:00:00Z")
	must(t, a.SetAbsent(t.Context(), nil, disclosure.OIR, 40373, at))
	must(t, a.SetTime(t.Context(), nil, "directory", at.Add(time.Hour)))
	must(t, a.SetValue(t.Context(), nil, "directory", "línea 1\nlínea 2"))
	must(t, b.Refresh(t.Context()))
	for _, l := range []*coverage.Tracker{a, b} {
		if got := l.Absent(disclosure.OIR, 40373); !got.Equal(at) {
			t.Errorf("looked for at %v", got)
		}
		if !l.Absent(disclosure.IP, 40373).IsZero() || !l.Absent(disclosure.OIR, 4037).IsZero() {
			t.Error("another number is absent too")
		}
		if got := l.Time("directory"); !got.Equal(at.Add(time.Hour)) || !l.Time("other").IsZero() {
			t.Errorf("done at %v", got)
		}
		if got := l.Value("directory"); got != "línea 1\nlínea 2" || l.Value("other") != "" {
			t.Errorf("the memo is %q", got)
		}
	}
}

func TestStatus(t *testing.T) {
	a, b := two(t)
	if s, told := a.Status(); told {
		t.Errorf("from the start the status is %+v", s)
	}
	at := instant("2026-04-22T10:00:00.123456789Z")
	want := health.Status{
		State: health.Degraded, Since: at.Add(-time.Hour), At: at,
		Reasons: []health.Reason{{Surface: "feed-ip", Text: "status 503 \"<no>\"", Since: at.Add(-time.Minute)}},
		Surfaces: []health.Surface{
			{Name: "feed-ip", SuccessAt: at.Add(-time.Hour), FailureAt: at, FailingSince: at.Add(-time.Minute), Failures: 3, Error: "status 503"},
			{Name: "list-ip", OK: true, SuccessAt: at},
		},
	}
	must(t, a.SetStatus(t.Context(), nil, want))
	must(t, b.Refresh(t.Context()))
	for _, l := range []*coverage.Tracker{a, b} {
		got, told := l.Status()
		if diff := cmp.Diff(want, got); diff != "" || !told {
			t.Errorf("told %v: %s", told, diff)
		}
	}
	// What cannot be read, as from another version, was not told.
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	must(t, put(t, db, note("status", `{"state":1`), note("covered/IP/2026-04-22", "hoy"),
		note("backfill/x", "?"), note("covered/IP/ayer", "1")))
	l := coverage.New(db)
	must(t, l.Refresh(t.Context()))
	_, told := l.Status()
	_, found := l.Job("x")
	if told || found || len(l.Jobs()) != 0 || !l.Covered(disclosure.IP, day("2026-04-22")).IsZero() {
		t.Error("what cannot be read is taken for something")
	}
}

// replaceable is a store in whose place another may come.
type replaceable struct{ store.Records }

// A restored backup has older notes, with lower revisions: nothing is left of
// those that came after it.
func TestRestoredNotes(t *testing.T) {
	dir := t.TempDir()
	backup, live := open(t, filepath.Join(dir, "backup.db")), open(t, filepath.Join(dir, "live.db"))
	must(t, put(t, backup, note("memo/x", "1")))
	notes, epoch := &replaceable{live}, "a"
	l := coverage.New(notes)
	l.Epoch(func() string { return epoch })
	must(t, l.SetValue(t.Context(), nil, "x", "1"))
	must(t, l.SetValue(t.Context(), nil, "x", "2"))
	must(t, l.SetValue(t.Context(), nil, "y", "3"))
	must(t, l.Refresh(t.Context()))
	if x, y := l.Value("x"), l.Value("y"); x != "2" || y != "3" {
		t.Fatalf("before, it has %q and %q", x, y)
	}
	notes.Records, epoch = backup, "b"
	must(t, l.Refresh(t.Context()))
	if x, y := l.Value("x"), l.Value("y"); x != "1" || y != "" {
		t.Errorf("of a backup with 1 it has %q and %q", x, y)
	}
	must(t, put(t, backup, note("memo/y", "4")))
	must(t, l.Refresh(t.Context()))
	if x, y := l.Value("x"), l.Value("y"); x != "1" || y != "4" {
		t.Errorf("after that, it has %q and %q", x, y)
	}
}
