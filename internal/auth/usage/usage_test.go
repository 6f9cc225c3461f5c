package usage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"pregon/internal/auth/usage"
	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// flaky is a store whose writes can fail, before they take effect or after.
type flaky struct {
	*sqlite.Store

	mu    sync.Mutex
	err   error // guarded by mu, like the rest
	after bool
	added int // batches
}

func (f *flaky) fail(err error, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.after = err, after
}

func (f *flaky) AddCounts(ctx context.Context, batch string, counts ...store.Count) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil && !f.after {
		return f.err
	}
	if err := f.Store.AddCounts(ctx, batch, counts...); err != nil {
		return err
	}
	f.added++
	return f.err
}

func open(t testing.TB) *flaky {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &flaky{Store: db}
}

// start runs a counter. The returned function stops it.
func start(t *testing.T, s store.Counts) (c *usage.Counter, log *bytes.Buffer, stop func()) {
	t.Helper()
	log = &bytes.Buffer{}
	c = usage.New(s, slog.New(slog.NewTextHandler(log, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { c.Run(ctx); close(ended) }()
	return c, log, func() { cancel(); <-ended }
}

func repeat(c *usage.Counter, n int, owner, operation string) {
	for range n {
		c.Count(owner, operation)
	}
}

type counts interface {
	Counts(ctx context.Context, owner string, first, last disclosure.Day) ([]store.Count, error)
}

// check compares the counts of an owner, as day, operation and number.
func check(t *testing.T, where string, c counts, owner string, want ...string) {
	t.Helper()
	found, err := c.Counts(t.Context(), owner, 1, disclosure.DayOf(time.Now())+1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range found {
		got = append(got, fmt.Sprint(n.Day, n.Operation, n.N))
		if n.Account != owner {
			t.Errorf("%s: a count of %s", where, n.Account)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, the counts of %s (-want +got):\n%s", where, owner, diff)
	}
}

// Readers see what is in the store and what is not yet.
func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is 1 January 2000
		s := open(t)
		c, _, stop := start(t, s)
		repeat(c, 3, "ana", "getReports")
		repeat(c, 1, "berta", "getReports")
		check(t, "before", c, "ana", "2000-01-01getReports3")
		check(t, "before", s, "ana")
		time.Sleep(11 * time.Second)
		check(t, "after", s, "ana", "2000-01-01getReports3")
		repeat(c, 2, "ana", "getReports")
		repeat(c, 1, "ana", "getIssuers")
		check(t, "later", c, "ana", "2000-01-01getIssuers1", "2000-01-01getReports5")
		check(t, "later", s, "ana", "2000-01-01getReports3")
		check(t, "later", c, "berta", "2000-01-01getReports1")
		if found, err := c.Counts(t.Context(), "ana", 1, disclosure.DayOf(time.Now())-1); len(found) > 0 || err != nil {
			t.Errorf("counts of days before: %v, %v", found, err)
		}
		stop()
		check(t, "stopped", s, "ana", "2000-01-01getIssuers1", "2000-01-01getReports5")
		if s.added != 2 {
			t.Errorf("%d batches were added, want 2", s.added)
		}
	})
}

// An idle service writes nothing.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		_, _, stop := start(t, s)
		time.Sleep(time.Minute)
		stop()
		if s.added != 0 {
			t.Errorf("%d batches were added, want none", s.added)
		}
	})
}

// The day changes at midnight in Madrid, also while the store fails.
func TestMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.fail(errors.New("away"), false)
		c, _, stop := start(t, s)
		for _, midnight := range []time.Time{time.Date(2000, 1, 1, 23, 0, 0, 0, time.UTC), time.Date(2000, 1, 2, 23, 0, 0, 0, time.UTC)} {
			time.Sleep(time.Until(midnight) - time.Millisecond)
			repeat(c, 1, "ana", "a")
			time.Sleep(2 * time.Millisecond)
			repeat(c, 1, "ana", "a")
		}
		repeat(c, 1, "ana", "b")
		check(t, "failing", c, "ana", "2000-01-01a1", "2000-01-02a2", "2000-01-03a1", "2000-01-03b1")
		s.fail(nil, false)
		stop()
		check(t, "stopped", s, "ana", "2000-01-01a1", "2000-01-02a2", "2000-01-03a1", "2000-01-03b1")
	})
}

// What could not be stored is stored later, once.
func TestFailures(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprint("after=", after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t)
				c, log, stop := start(t, s)
				s.fail(errors.New("the database does not answer"), after)
				repeat(c, 3, "ana", "getReports")
				time.Sleep(11 * time.Second)
				repeat(c, 4, "ana", "getReports")
				time.Sleep(20 * time.Second)
				if !after {
					check(t, "failing", c, "ana", "2000-01-01getReports7")
				}
				s.fail(nil, false)
				time.Sleep(10 * time.Second)
				check(t, "afterwards", s, "ana", "2000-01-01getReports7")
				check(t, "afterwards", c, "ana", "2000-01-01getReports7")
				repeat(c, 1, "ana", "getReports")
				stop()
				check(t, "stopped", s, "ana", "2000-01-01getReports8")
				if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "does not answer") {
					t.Errorf("%d warnings, want 1:\n%s", n, log)
				}
			})
		})
	}
}

// Counts in memory are bounded: further operations are counted as one, and callers
// that are too many for that are not counted.
func TestBound(t *testing.T) {
	c := usage.New(open(t), slog.New(slog.DiscardHandler))
	c.Count("ana", "getReports")
	for i := range 250_000 {
		c.Count(fmt.Sprint("owner ", i), "getReports")
	}
	repeat(c, 2, "ana", "getReports")
	repeat(c, 3, "owner 150000", "getIssuers")
	repeat(c, 3, "berta", "getReports")
	day := disclosure.DayOf(time.Now()).String()
	check(t, "full", c, "ana", day+"getReports3")
	check(t, "full", c, "owner 99998", day+"getReports1")
	check(t, "full", c, "owner 99999", day+"other1")
	check(t, "full", c, "owner 150000", day+"other4")
	check(t, "full", c, "berta")
}

// Many counts are stored in several batches, after which there is room again.
func TestManyBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		c, _, stop := start(t, s)
		for round := range 2 {
			for i := range 6000 {
				c.Count(fmt.Sprint("owner ", i), "getReports")
			}
			time.Sleep(11 * time.Second)
			if s.added != 2*(round+1) {
				t.Errorf("%d batches were added, want %d", s.added, 2*(round+1))
			}
		}
		stop()
		check(t, "stopped", s, "owner 0", "2000-01-01getReports2")
		check(t, "stopped", s, "owner 5999", "2000-01-01getReports2")
	})
}

func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		today := disclosure.DayOf(time.Now())
		kept := store.Count{Account: "ana", Day: today - usage.Retention, Operation: "a", N: 1}
		old := kept
		old.Day--
		if err := s.AddCounts(t.Context(), "batch", kept, old); err != nil {
			t.Fatal(err)
		}
		_, _, stop := start(t, s)
		time.Sleep(time.Hour + time.Second)
		stop()
		check(t, "after an hour", s, "ana", kept.Day.String()+"a1")
	})
}

// Requests, flushes and readers at the same time lose nothing, and a reader never
// sees a count twice.
func TestConcurrent(t *testing.T) {
	s := open(t)
	c, _, stop := start(t, s)
	const workers, each = 8, 5000
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range each {
				c.Count(fmt.Sprint("owner ", i%7), fmt.Sprint("operation ", w%2))
			}
		})
	}
	all.Go(func() {
		for last := int64(0); last < workers*(each/7); {
			found, err := c.Counts(t.Context(), "owner 0", 1, disclosure.DayOf(time.Now())+1)
			if err != nil {
				t.Error(err)
				return
			}
			var n int64
			for _, f := range found {
				n += f.N
			}
			if n < last || n > workers*(each/7+1) {
				t.Errorf("read %d after %d", n, last)
				return
			}
			last = n
			c.Flush(t.Context())
		}
	})
	all.Wait()
	stop()
	var total int64
	for i := range 7 {
		found, err := s.Counts(t.Context(), fmt.Sprint("owner ", i), 1, disclosure.DayOf(time.Now())+1)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			total += f.N
		}
	}
	if total != workers*each {
		t.Errorf("%d requests are stored, want %d", total, workers*each)
	}
}

func BenchmarkCount(b *testing.B) {
	c := usage.New(open(b), slog.New(slog.DiscardHandler))
	b.Run("serial", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Count("key_3kTz0pQwBn1A", "getReports")
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				c.Count("key_3kTz0pQwBn1A", "getReports")
			}
		})
	})
}
