package catalog_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

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

func newStore(t *testing.T) *sqlite.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "pregon.db"))
}

func load(t *testing.T, log catalog.Log) *catalog.Catalog {
	t.Helper()
	c := catalog.New(log, quiet)
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func add(t *testing.T, db store.Store, issuers []disclosure.Issuer, reports ...disclosure.Report) int64 {
	t.Helper()
	for i := range reports {
		if err := reports[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range issuers {
		if err := issuers[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	out, err := db.Append(t.Context(), store.Batch{Issuers: issuers, Reports: reports, New: disclosure.Published})
	if err != nil {
		t.Fatal(err)
	}
	return out.Seq
}

// newReport returns a report without a NIF.
func newReport(t disclosure.Type, number int64, at, company string) disclosure.Report {
	published, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		panic(err)
	}
	return disclosure.Report{
		Type:        t,
		Number:      number,
		CompanyName: company,
		Title:       "[Simulación] Otros",
		PublishedAt: published,
		FirstSeenAt: published, // not the clock of the test, which may be years earlier
	}
}

const (
	bodegas = "BODEGAS DE VALDEBRISA, S.A."
	aceros  = "ACEROS DE NAVALBRUMA, S.A."
)

// ids returns the ids of the reports that match a filter, in the order of lists.
func ids(s *catalog.Snapshot, f disclosure.Filter) string {
	var out []string
	for _, report := range reports(s, f, 1, 1000).Reports {
		out = append(out, report.Decode().ID)
	}
	return strings.Join(out, " ")
}

// follower is a catalogue that follows a store.
type follower struct {
	*catalog.Catalog
	db   *sqlite.Store
	path string
	log  *brokenLog
}

// following runs a test in a synctest bubble while a catalogue follows a log. It
// checks that Follow ends with its context and not before.
func following(t *testing.T, test func(t *testing.T, f *follower)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &follower{path: filepath.Join(t.TempDir(), "pregon.db")}
		f.db = open(t, f.path)
		f.log = &brokenLog{Log: f.db}
		f.Catalog = load(t, f.log)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.Follow(ctx) }()
		test(t, f)
		select {
		case err := <-ended:
			t.Fatalf("Follow ended early: %v", err)
		default:
		}
		cancel()
		synctest.Wait()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Follow ends with %v", err)
			}
		default:
			t.Error("Follow does not end with its context")
		}
	})
}

// settle waits until the catalogue has caught up: it pauses between two snapshots.
func settle() {
	time.Sleep(100 * time.Millisecond) // of synthetic time
	synctest.Wait()
}

// at checks the seq and the number of reports of the catalogue.
func (f *follower) at(t *testing.T, seq int64, count int) {
	t.Helper()
	settle()
	if s := f.Snapshot(); s.Seq() != seq || s.Len() != count {
		t.Errorf("the catalogue is at %d with %d reports, want %d with %d", s.Seq(), s.Len(), seq, count)
	}
}

// brokenLog is a real log whose methods can be made to fail.
type brokenLog struct {
	catalog.Log
	cutWait, cutChanges atomic.Bool
	failures            atomic.Int32
}

var errCut = errors.New("the log is broken")

func (l *brokenLog) fail() error {
	if l.failures.Add(1) > 1000 {
		panic("the log is polled without a pause")
	}
	return errCut
}

func (l *brokenLog) Wait(ctx context.Context, after int64) error {
	if l.cutWait.Load() {
		return l.fail()
	}
	return l.Log.Wait(ctx, after)
}

func (l *brokenLog) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	if l.cutChanges.Load() {
		return nil, l.fail()
	}
	return l.Log.Changes(ctx, after, limit)
}

func TestNothingBeforeLoad(t *testing.T) {
	c := catalog.New(newStore(t), quiet)
	if c.Snapshot() != nil {
		t.Error("there is a snapshot before Load")
	}
}

func TestLoadFails(t *testing.T) {
	db := newStore(t)
	c := catalog.New(db, quiet)
	db.Close()
	if err := c.Load(t.Context()); err == nil || c.Snapshot() != nil {
		t.Errorf("Load of a closed store: %v, %v", err, c.Snapshot())
	}
}

// Loading everything and following from the first change give the same snapshot.
func TestLoadIsFollow(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		late := newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas)
		add(t, f.db, nil, late, newReport(disclosure.IP, 2, "2026-04-22T09:00:00Z", aceros))
		add(t, f.db, []disclosure.Issuer{{NIF: "A69000016", Name: bodegas, Ticker: "BVB"}})
		late.PublishedAt = late.PublishedAt.Add(2 * time.Hour)
		add(t, f.db, []disclosure.Issuer{{NIF: "A69000016", Name: "VINOS DE VALDEBRISA, S.A."}}, late)
		settle()
		followed, loaded := f.Snapshot(), load(t, f.db).Snapshot()
		if one, other := describe(followed), describe(loaded); one != other || followed.Seq() != loaded.Seq() {
			t.Errorf("followed to %d:\n%s\nloaded at %d:\n%s", followed.Seq(), one, loaded.Seq(), other)
		}
	})
}

// A report that arrives after a quiet period is in the snapshot at once; in a
// flood, within 50 ms. Time is synthetic, so the test does not depend on the speed
// of the machine.
func TestFollowsOwnAppendsAtOnce(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		for n := range int64(5) {
			time.Sleep(time.Second)
			add(t, f.db, nil, newReport(disclosure.OIR, 2*n+1, "2026-04-22T08:00:00Z", bodegas))
			synctest.Wait()
			if s := f.Snapshot(); s.Seq() != 2*n+1 {
				t.Fatalf("after a quiet period the catalogue is at %d, want %d", s.Seq(), 2*n+1)
			}
			add(t, f.db, nil, newReport(disclosure.OIR, 2*n+2, "2026-04-22T08:00:00Z", bodegas))
			time.Sleep(50 * time.Millisecond)
			synctest.Wait()
			if s := f.Snapshot(); s.Seq() != 2*n+2 {
				t.Fatalf("50 ms later the catalogue is at %d, want %d", s.Seq(), 2*n+2)
			}
		}
	})
}

// Changes of another process are found soon, although they wake no waiter in this
// one.
func TestFollowsOthersAppends(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		other := open(t, f.path)
		for n := range 3 {
			seq := add(t, other, nil, newReport(disclosure.OIR, int64(n+1), "2026-04-22T08:00:00Z", bodegas))
			time.Sleep(time.Second)
			f.at(t, seq, n+1)
		}
	})
}

// A catalogue that is far behind, as after a bulk import, catches up.
func TestFollowsManyChanges(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		const many = 4100 // more than two batches
		reports := make([]disclosure.Report, many)
		for i := range reports {
			reports[i] = newReport(disclosure.OIR, int64(i+1), "2026-04-22T08:00:00Z", bodegas)
		}
		f.at(t, add(t, f.db, nil, reports...), many)
	})
}

// While the log cannot be read, the last snapshot remains and the log is polled
// less and less often. Once it can be read again, no change is missing.
func TestFollowSurvivesErrors(t *testing.T) {
	for _, method := range []string{"wait", "changes"} {
		t.Run(method, func(t *testing.T) {
			following(t, func(t *testing.T, f *follower) {
				before := add(t, f.db, nil, newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas))
				f.at(t, before, 1)
				cut := map[string]*atomic.Bool{"wait": &f.log.cutWait, "changes": &f.log.cutChanges}[method]
				cut.Store(true)
				// The first of these only wakes a call that is waiting.
				add(t, f.db, nil, newReport(disclosure.OIR, 2, "2026-04-22T09:00:00Z", bodegas))
				settle()
				kept := f.Snapshot()
				after := add(t, f.db, nil, newReport(disclosure.OIR, 3, "2026-04-22T10:00:00Z", bodegas))
				time.Sleep(time.Minute)
				f.at(t, kept.Seq(), kept.Len())
				if n := f.log.failures.Load(); n < 5 || n > 40 {
					t.Errorf("the log was polled %d times in a minute of failures", n)
				}
				cut.Store(false)
				time.Sleep(5 * time.Second) // the longest pause
				f.at(t, after, 3)
			})
		})
	}
}

// Follow ends at once if its context ends while it pauses after an error.
func TestFollowEndsWhilePausing(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		f.log.cutWait.Store(true)
		add(t, f.db, nil, newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas))
		time.Sleep(time.Minute)
	})
}

// Concurrent readers never see part of a change, and the seq never decreases.
func TestConcurrentReaders(t *testing.T) {
	db := newStore(t)
	c := load(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	var followers, readers sync.WaitGroup
	followers.Go(func() { _ = c.Follow(ctx) })
	const appends = 40
	for range 4 {
		readers.Go(func() {
			for last := int64(0); last < 2*appends && ctx.Err() == nil; {
				s := c.Snapshot()
				if s.Seq() < last {
					t.Errorf("the catalogue went back from %d to %d", last, s.Seq())
				}
				last = s.Seq()
				whole(t, s)
			}
		})
	}
	for n := range appends {
		add(t, db, []disclosure.Issuer{{ID: "fi-" + strconv.Itoa(n), Name: bodegas}},
			newReport(disclosure.Types[n%3], int64(n+1), "2026-04-22T08:00:00Z", bodegas))
	}
	readers.Wait()
	cancel()
	followers.Wait()
	if s := c.Snapshot(); s.Seq() != 2*appends || s.Len() != appends {
		t.Errorf("at %d with %d reports at the end, want %d with %d", s.Seq(), s.Len(), 2*appends, appends)
	}
}

// whole checks that all parts of a snapshot agree. Each append of the test
// brings one issuer and one report.
func whole(t *testing.T, s *catalog.Snapshot) {
	page := reports(s, disclosure.Filter{}, 1, 1000)
	listed := issuers(s, "", "", 1000)
	if page.Total != s.Len() || len(page.Reports) != s.Len() || len(listed) != s.Len() || s.Seq() != int64(2*s.Len()) {
		t.Errorf("at %d: %d reports, %d listed, %d issuers", s.Seq(), s.Len(), page.Total, len(listed))
	}
	if !slices.IsSortedFunc(page.Reports, func(a, b catalog.Report) int { return disclosure.CompareReports(a.Decode(), b.Decode()) }) {
		t.Errorf("at %d the list is out of order", s.Seq())
	}
	for _, f := range page.Reports {
		if again, ok := s.Report(f.Decode().ID); !ok || again != f {
			t.Errorf("at %d %s is listed but not found", s.Seq(), f.Decode().ID)
		}
	}
	if a := s.Analytics(time.Now()); a.Totals.All != s.Len() || a.AsOfSeq != s.Seq() {
		t.Errorf("at %d the figures are of %d and count %d", s.Seq(), a.AsOfSeq, a.Totals.All)
	}
}
