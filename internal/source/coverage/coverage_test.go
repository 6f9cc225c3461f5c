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
	"pregon/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a store. The same path may be opened more than once, as by several
// processes.
func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// two returns the trackers of two processes on one store.
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

func newRecord(id, body string) store.Record {
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

// TestOwnWritesAndOthers: a tracker has its own writes at once, and writes and
// removals of others after Refresh.
func TestOwnWritesAndOthers(t *testing.T) {
	a, b := two(t)
	must(t, a.SetValue(t.Context(), nil, "x", "1"))
	if got := a.Value("x"); got != "1" {
		t.Errorf("own write = %q, want 1", got)
	}
	if got := b.Value("x"); got != "" {
		t.Errorf("other's write before Refresh = %q, want none", got)
	}
	must(t, b.Refresh(t.Context()))
	if got := b.Value("x"); got != "1" {
		t.Errorf("other's write after Refresh = %q, want 1", got)
	}
	must(t, b.SetValue(t.Context(), nil, "x", "2"))
	must(t, b.SetValue(t.Context(), nil, "y", "3"))
	must(t, a.Refresh(t.Context()))
	if x, y := a.Value("x"), a.Value("y"); x != "2" || y != "3" {
		t.Errorf("after Refresh x = %q, y = %q; want 2 and 3", x, y)
	}
	must(t, a.SetValue(t.Context(), nil, "x", ""))
	must(t, b.Refresh(t.Context()))
	if x := b.Value("x"); x != "" {
		t.Errorf("removed value = %q, want none", x)
	}
}

// TestFollow: Follow reads existing records without delay and new ones as they are
// written, and ends with its context.
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
			t.Errorf("Follow = %v, want context.Canceled", err)
		}
	})
}

// await waits for a condition, in the fake time of synctest.
func await(t *testing.T, within time.Duration, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the condition was not met within %v", within)
		}
	}
}

// TestStoreFails: while the store fails, known records stay, and a record that could
// not be written is not added.
func TestStoreFails(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	l := coverage.New(db)
	must(t, l.SetValue(t.Context(), nil, "x", "1"))
	must(t, db.Close())
	if l.Refresh(t.Context()) == nil || l.SetValue(t.Context(), nil, "x", "2") == nil {
		t.Error("Refresh or SetValue with a closed store succeeded")
	}
	if _, err := l.Request(t.Context(), coverage.NewJob(1, 2, disclosure.Types)); err == nil {
		t.Error("Request with a closed store succeeded")
	}
	if got := l.Value("x"); got != "1" || len(l.Jobs()) != 0 {
		t.Errorf("x = %q, jobs = %v; want 1 and no jobs", got, l.Jobs())
	}
}

// TestLeaseGuardsWrites: a write without a valid lease fails and is not added to the
// known records.
func TestLeaseGuardsWrites(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	l := coverage.New(db)
	lease, err := db.AcquireLease(t.Context(), "ingest", "ana", time.Hour)
	must(t, err)
	must(t, l.SetValue(t.Context(), &lease, "x", "1"))
	must(t, db.ReleaseLease(t.Context(), lease))
	at := time.Now()
	for name, err := range map[string]error{
		"value":  l.SetValue(t.Context(), &lease, "x", "2"),
		"cover":  l.Cover(t.Context(), &lease, disclosure.IP, 1, 2, at),
		"absent": l.SetAbsent(t.Context(), &lease, disclosure.IP, 1, at),
		"time":   l.SetTime(t.Context(), &lease, "x", at),
		"status": l.SetStatus(t.Context(), &lease, health.Status{State: health.Live}),
		"job":    l.SetJob(t.Context(), &lease, coverage.NewJob(1, 2, disclosure.Types)),
	} {
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v, want a conflict", name, err)
		}
	}
	if _, ok := l.Status(); ok || l.Value("x") != "1" || !l.Covered(disclosure.IP, 1).IsZero() ||
		!l.Absent(disclosure.IP, 1).IsZero() || !l.Time("x").IsZero() || len(l.Jobs()) != 0 {
		t.Error("the tracker has a record that was never written")
	}
}

// TestWritesAreNeverUndone: during concurrent refreshes no writer sees an older text
// than the one it wrote, and in the end all trackers have the same texts.
func TestWritesAreNeverUndone(t *testing.T) {
	a, b := two(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	const writers, times = 8, 40
	trackers := []*coverage.Tracker{a, b}
	stop := make(chan struct{})
	var readers, group errgroup.Group
	for n := range 6 {
		l := trackers[n%2]
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
		l, name := trackers[w%2], strconv.Itoa(w)
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
	for _, l := range trackers {
		must(t, l.Refresh(ctx))
		for w := range writers {
			if got := l.Value(strconv.Itoa(w)); got != strconv.Itoa(times-1) {
				t.Errorf("final value of writer %d = %q", w, got)
			}
		}
	}
}

// slowRecords lets a test delay the result of a read.
type slowRecords struct {
	store.Records
	read, release chan struct{}
}

func (s *slowRecords) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	records, err := s.Records.RecordsSince(ctx, kind, revision)
	s.read <- struct{}{}
	<-s.release
	return records, err
}

// TestSlowReadDoesNotUndoAWrite: a text that was read before a write does not
// replace it when the read returns later.
func TestSlowReadDoesNotUndoAWrite(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	must(t, coverage.New(db).SetValue(t.Context(), nil, "x", "old"))
	records := &slowRecords{db, make(chan struct{}), make(chan struct{})}
	l := coverage.New(records)
	var group errgroup.Group
	group.Go(func() error { return l.Refresh(t.Context()) })
	<-records.read // the old text was read
	group.Go(func() error { return l.SetValue(t.Context(), nil, "x", "new") })
	waittest.Pace(t.Context(), 20*time.Millisecond) // the write probably waits by then; the test does not rely on it
	close(records.release)
	must(t, group.Wait())
	if got := l.Value("x"); got != "new" {
		t.Errorf("x = %q, want new", got)
	}
}

func TestCover(t *testing.T) {
	a, b := two(t)
	if !a.Covered(disclosure.IP, day("2026-04-22")).IsZero() {
		t.Error("a day is covered in an empty store")
	}
	first, second := instant("2026-04-22T10:00:00Z"), instant("2026-04-23T10:00:00.7Z")
	must(t, a.Cover(t.Context(), nil, disclosure.IP, day("2026-03-28"), day("2026-04-02"), first))
	must(t, a.Cover(t.Context(), nil, disclosure.IP, day("2026-03-29"), day("2026-03-29"), second))
	must(t, a.Cover(t.Context(), nil, disclosure.OIR, day("2025-12-31"), day("2026-01-01"), second))
	must(t, a.Cover(t.Context(), nil, disclosure.HR, day("2026-01-02"), day("2026-01-01"), second)) // an empty range
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

func TestAbsentTimeValue(t *testing.T) {
	a, b := two(t)
	at := instant("2026-04-22T10:00:00Z")
	must(t, a.SetAbsent(t.Context(), nil, disclosure.OIR, 40373, at))
	must(t, a.SetTime(t.Context(), nil, "directory", at.Add(time.Hour)))
	must(t, a.SetValue(t.Context(), nil, "directory", "línea 1\nlínea 2"))
	must(t, b.Refresh(t.Context()))
	for _, l := range []*coverage.Tracker{a, b} {
		if got := l.Absent(disclosure.OIR, 40373); !got.Equal(at) {
			t.Errorf("Absent = %v, want %v", got, at)
		}
		if !l.Absent(disclosure.IP, 40373).IsZero() || !l.Absent(disclosure.OIR, 4037).IsZero() {
			t.Error("another number is absent too")
		}
		if got := l.Time("directory"); !got.Equal(at.Add(time.Hour)) || !l.Time("other").IsZero() {
			t.Errorf("Time = %v", got)
		}
		if got := l.Value("directory"); got != "línea 1\nlínea 2" || l.Value("other") != "" {
			t.Errorf("Value = %q", got)
		}
	}
}

func TestStatus(t *testing.T) {
	a, b := two(t)
	if s, ok := a.Status(); ok {
		t.Errorf("status of an empty store = %+v, want none", s)
	}
	at := instant("2026-04-22T10:00:00.123456789Z")
	want := health.Status{
		State: health.Degraded, Since: at.Add(-time.Hour), At: at,
		Reasons: []health.Reason{{Surface: "feed-ip", Code: health.Failed, Params: health.Params{Detail: "status 503 \"<no>\""}, Since: at.Add(-time.Minute)}},
		Surfaces: []health.Surface{
			{Name: "feed-ip", SuccessAt: at.Add(-time.Hour), FailureAt: at, FailingSince: at.Add(-time.Minute), Failures: 3, Error: "status 503"},
			{Name: "list-ip", OK: true, SuccessAt: at},
		},
	}
	must(t, a.SetStatus(t.Context(), nil, want))
	must(t, b.Refresh(t.Context()))
	for _, l := range []*coverage.Tracker{a, b} {
		got, ok := l.Status()
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("ok = %v (-want +got): %s", ok, diff)
		}
	}
	// Records that cannot be decoded, as of another version, are ignored.
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	must(t, put(t, db, newRecord("status", `{"state":1`), newRecord("covered/IP/2026-04-22", "hoy"),
		newRecord("backfill/x", "?"), newRecord("covered/IP/ayer", "1")))
	l := coverage.New(db)
	must(t, l.Refresh(t.Context()))
	_, ok := l.Status()
	_, found := l.Job("x")
	if ok || found || len(l.Jobs()) != 0 || !l.Covered(disclosure.IP, day("2026-04-22")).IsZero() {
		t.Error("a record that cannot be decoded was not ignored")
	}
}

// replaceable is a store that a test can replace.
type replaceable struct{ store.Records }

// TestRestoredRecords: a restored backup has older records with lower revisions. No
// later records are left.
func TestRestoredRecords(t *testing.T) {
	dir := t.TempDir()
	backup, live := open(t, filepath.Join(dir, "backup.db")), open(t, filepath.Join(dir, "live.db"))
	must(t, put(t, backup, newRecord("memo/x", "1")))
	records, epoch := &replaceable{live}, "a"
	l := coverage.New(records)
	l.Epoch(func() string { return epoch })
	must(t, l.SetValue(t.Context(), nil, "x", "1"))
	must(t, l.SetValue(t.Context(), nil, "x", "2"))
	must(t, l.SetValue(t.Context(), nil, "y", "3"))
	must(t, l.Refresh(t.Context()))
	if x, y := l.Value("x"), l.Value("y"); x != "2" || y != "3" {
		t.Fatalf("before the restore x = %q, y = %q; want 2 and 3", x, y)
	}
	records.Records, epoch = backup, "b"
	must(t, l.Refresh(t.Context()))
	if x, y := l.Value("x"), l.Value("y"); x != "1" || y != "" {
		t.Errorf("after the restore x = %q, y = %q; want 1 and none", x, y)
	}
	must(t, put(t, backup, newRecord("memo/y", "4")))
	must(t, l.Refresh(t.Context()))
	if x, y := l.Value("x"), l.Value("y"); x != "1" || y != "4" {
		t.Errorf("after another write x = %q, y = %q; want 1 and 4", x, y)
	}
}

// TestStatusOfTheHolder: a status counts only while its author holds the lease. After
// a release, or while a command holds the lease, no process reads the source.
func TestStatusOfTheHolder(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "pregon.db"))
	reader, other := coverage.New(db), coverage.New(db)
	for _, l := range []*coverage.Tracker{reader, other} {
		l.Lease(db, "ingest")
		must(t, l.Refresh(t.Context()))
	}
	take := func(name string) store.Lease {
		t.Helper()
		lease, err := db.AcquireLease(t.Context(), "ingest", name, time.Hour)
		must(t, err)
		return lease
	}
	want := func(what string, live bool) {
		t.Helper()
		must(t, other.Refresh(t.Context()))
		got := other.SourceStatus(true)
		if got.State != health.Live && got.State != health.Starting || (got.State == health.Live) != live || live != (len(got.Reasons) == 0) {
			t.Errorf("%s: the source is %s because of %v; want live: %v", what, got.State, got.Reasons, live)
		}
		if without := other.SourceStatus(false).State; without != got.State {
			t.Errorf("%s: without a source it is %s, want %s", what, without, got.State)
		}
	}
	report := func(lease store.Lease) {
		t.Helper()
		must(t, reader.SetStatus(t.Context(), &lease, health.Status{State: health.Live, At: time.Now()}))
	}
	ana := take("ana")
	report(ana)
	if got := reader.SourceStatus(true).State; got != health.Live {
		t.Errorf("for its author, which has not read the lease again, the source is %s, want live", got)
	}
	want("while its author holds the lease", true)
	must(t, db.ReleaseLease(t.Context(), ana))
	want("after the release", false)
	restore := take("restore")
	want("while a command holds the lease", false)
	must(t, db.ReleaseLease(t.Context(), restore))
	again := take("ana")
	want("in another term of its author", false)
	report(again)
	want("after a report of that term", true)
}

// leaseOf is a lease that a test sets.
type leaseOf struct {
	lease store.Lease
	held  bool
}

func (l *leaseOf) CurrentLease(context.Context, string) (store.Lease, bool, error) {
	return l.lease, l.held, nil
}

// TestStartingIsBounded: the source is starting for a while after the start of a
// process and after the lease became free, and blind from then on.
func TestStartingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := &leaseOf{lease: store.Lease{Name: "ingest", Holder: "ana", Term: 1}, held: true}
		l := coverage.New(memory{})
		l.Lease(lease, "ingest")
		want := func(what string, state health.State) {
			t.Helper()
			must(t, l.Refresh(t.Context()))
			if got := l.SourceStatus(true); got.State != state {
				t.Errorf("%s: the source is %s because of %v, want %s", what, got.State, got.Reasons, state)
			}
		}
		want("at the start", health.Starting)
		time.Sleep(15 * time.Second)
		want("nothing was ever read", health.Blind)
		report := func(state health.State) {
			t.Helper()
			must(t, l.SetStatus(t.Context(), &lease.lease, health.Status{State: state, At: time.Now()}))
		}
		report(health.Live)
		want("it was read", health.Live)
		lease.held = false
		want("the lease is free", health.Starting)
		time.Sleep(8 * time.Second)
		lease.lease.Holder, lease.lease.Term, lease.held = "berta", 2, true
		want("another process has it", health.Starting)
		time.Sleep(7 * time.Second)
		want("it does not report", health.Blind)
		report(health.Blind)
		lease.held = false
		want("the lease of a blind process is free", health.Blind)
	})
}

// TestBegin: loading what is stored does not count as a part of the start.
func TestBegin(t *testing.T) {
	for _, reported := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := coverage.New(memory{})
			if reported {
				must(t, l.SetStatus(t.Context(), nil, health.Status{State: health.Live, At: time.Now()}))
			}
			want := func(what string, state health.State) health.Status {
				t.Helper()
				got := l.SourceStatus(true)
				if got.State != state {
					t.Errorf("reported %v, %s: the source is %s because of %v, want %s", reported, what, got.State, got.Reasons, state)
				}
				return got
			}
			time.Sleep(time.Minute)
			want("while it loads for a minute", health.Blind)
			l.Begin()
			began := time.Now()
			time.Sleep(14 * time.Second)
			if got := want("after it began", health.Starting); !got.Since.Equal(began) {
				t.Errorf("it is starting since %v, want %v", got.Since, began)
			}
			time.Sleep(time.Second)
			want("it does not report", health.Blind)
		})
	}
}

// TestStartingOfSeveralProcesses: processes that end soon after their start do not make
// the state starting last longer.
func TestStartingOfSeveralProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := &leaseOf{lease: store.Lease{Name: "ingest", Holder: "ana", Term: 1}, held: true}
		l := coverage.New(memory{})
		l.Lease(lease, "ingest")
		began := time.Now()
		report := func(state health.State) {
			t.Helper()
			must(t, l.SetStatus(t.Context(), &lease.lease, health.Status{State: state, Since: began, At: time.Now()}))
		}
		want := func(what string, state health.State) {
			t.Helper()
			must(t, l.Refresh(t.Context()))
			got := l.SourceStatus(true)
			if got.State != state || state == health.Starting && !got.Since.Equal(began) {
				t.Errorf("%s: the source is %s since %v because of %v, want %s since %v",
					what, got.State, got.Since, got.Reasons, state, began)
			}
		}
		time.Sleep(10 * time.Second)
		report(health.Starting)
		lease.held = false
		l.Begin()
		want("the first process ended", health.Starting)
		time.Sleep(5 * time.Second)
		want("15 s after the first process began", health.Blind)
		time.Sleep(time.Minute)
		l.Begin()
		want("another begins after a minute", health.Blind)
		lease.held = true
		report(health.Blind)
		lease.held = false
		time.Sleep(time.Minute)
		l.Begin()
		want("one begins a minute after a blind one", health.Blind)
	})
}

// TestHandoverWithoutSource: for a process that does not expect a source, it is off only
// once no other process has followed the last reader for a while.
func TestHandoverWithoutSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := &leaseOf{lease: store.Lease{Name: "ingest", Holder: "ana", Term: 1}, held: true}
		l := coverage.New(memory{})
		l.Lease(lease, "ingest")
		want := func(what string, state health.State) {
			t.Helper()
			must(t, l.Refresh(t.Context()))
			if got := l.SourceStatus(false); got.State != state {
				t.Errorf("%s: the source is %s because of %v, want %s", what, got.State, got.Reasons, state)
			}
		}
		report := func() {
			t.Helper()
			must(t, l.SetStatus(t.Context(), &lease.lease, health.Status{State: health.Live, At: time.Now()}))
		}
		want("nobody ever read it", health.Off)
		report()
		lease.held = false
		want("the lease was released", health.Starting)
		time.Sleep(2 * time.Second)
		lease.lease.Holder = "berta"
		lease.lease.Term = 2
		lease.held = true
		want("another process has it", health.Starting)
		time.Sleep(5 * time.Second)
		want("it is slow", health.Starting)
		report()
		want("it reported", health.Live)
		lease.held = false
		want("it released the lease", health.Starting)
		time.Sleep(3 * time.Second)
		want("nobody took it", health.Off)
		lease.lease.Holder = "pregon compact"
		lease.lease.Term = 3
		lease.held = true
		want("a command has it", health.Starting)
		time.Sleep(12 * time.Second)
		want("the command does not read the source", health.Off)
	})
}

// TestLeaseAfterAStepOfTheClock: a lease that has expired is trusted until the next
// look, since its holder renews it if the clock was set forward.
func TestLeaseAfterAStepOfTheClock(t *testing.T) {
	lease := &leaseOf{lease: store.Lease{Name: "ingest", Holder: "ana", Term: 1, Expires: time.Now()}, held: true}
	l := coverage.New(memory{})
	l.Lease(lease, "ingest")
	must(t, l.SetStatus(t.Context(), &lease.lease, health.Status{State: health.Live, At: time.Now()}))
	for n, step := range []struct {
		held bool
		want health.State
	}{
		{true, health.Live}, {false, health.Live}, {true, health.Live}, {false, health.Live}, {false, health.Starting}, {true, health.Live},
	} {
		lease.held = step.held
		must(t, l.Refresh(t.Context()))
		if got := l.SourceStatus(true).State; got != step.want {
			t.Errorf("look %d: the source is %s, want %s", n, got, step.want)
		}
	}
}

// TestElapsed: a time in the future was stored before the clock was set back.
func TestElapsed(t *testing.T) {
	for _, test := range []struct {
		ago  time.Duration
		want bool
	}{
		{2 * time.Hour, true},
		{30 * time.Minute, false},
		{-time.Second, false}, // of a machine whose clock is ahead
		{-50 * time.Minute, true},
	} {
		if got := coverage.Elapsed(time.Now().Add(-test.ago), time.Hour); got != test.want {
			t.Errorf("an hour since %v ago: got %v, want %v", test.ago, got, test.want)
		}
	}
}

// TestStatusOfAnotherClock: the age of a status counts from when it was read, if its
// time is in the future.
func TestStatusOfAnotherClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := coverage.New(memory{})
		time.Sleep(time.Hour) // this process did not just begin
		must(t, l.SetStatus(t.Context(), nil, health.Status{State: health.Live, At: time.Now().Add(time.Hour)}))
		if got := l.SourceStatus(true).State; got != health.Live {
			t.Errorf("at first the source is %s, want live", got)
		}
		time.Sleep(21 * time.Second)
		if got := l.SourceStatus(true).State; got != health.Blind {
			t.Errorf("without another report the source is %s, want blind", got)
		}
	})
}

// memory is a store that accepts all records and keeps none.
type memory struct{ store.Records }

func (memory) PutRecords(_ context.Context, _ *store.Lease, records ...store.Record) ([]store.Record, error) {
	return records, nil
}

func (memory) RecordsSince(context.Context, string, int64) ([]store.Record, error) { return nil, nil }
