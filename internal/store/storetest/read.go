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

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

func testEmptyStore(t *testing.T, e Engine) {
	s := e.fresh(t)()
	checkLength(t, s, 0)
	checkOutcome(t, mustAppend(t, s, store.Batch{}), store.Outcome{})
	checkLength(t, s, 0)
}

func testChangesFromEveryCursor(t *testing.T, e Engine) {
	s := e.fresh(t)()
	mustAppend(t, s, published(newReports(1, 5)...))
	mustAppend(t, s, published(newReport(2, "Otro título")))
	mustAppend(t, s, store.Batch{Issuers: []disclosure.Issuer{company("A1", "Uno")}})
	log := checkLength(t, s, 7)
	for after := range len(log) + 2 {
		for limit := 1; limit <= len(log)+1; limit++ {
			got, err := s.Changes(patiently(t), int64(after), limit)
			if err != nil {
				t.Fatal(err)
			}
			rest := log[min(after, len(log)):]
			if want := rest[:min(limit, len(rest))]; len(got) != len(want) || (len(want) > 0 && !cmp.Equal(got, want)) {
				t.Errorf("Changes(%d, %d) gave %d changes: %s", after, limit, len(got), cmp.Diff(want, got))
			}
		}
	}
}

// testChangesAt: each requested change is returned once and in order, however often
// and in whatever order the seqs are given.
func testChangesAt(t *testing.T, e Engine) {
	s := e.fresh(t)()
	mustAppend(t, s, store.Batch{Issuers: []disclosure.Issuer{company("A1", "Uno")}, Reports: newReports(1, 599), New: disclosure.Backfilled})
	log := checkLength(t, s, 600)
	var every, odd []int64
	for seq := int64(4100); seq > -100; seq-- {
		every = append(every, seq, seq)
		if seq%2 == 1 {
			odd = append(odd, seq)
		}
	}
	var wantOdd []disclosure.Change
	for i := 0; i < len(log); i += 2 {
		wantOdd = append(wantOdd, log[i])
	}
	for _, test := range []struct {
		seqs []int64
		want []disclosure.Change
	}{
		{nil, nil},
		{[]int64{0, -1, 601}, nil},
		{[]int64{7}, log[6:7]},
		{[]int64{3, 1, 2, 9999, 1}, log[:3]},
		{every, log},
		{odd, wantOdd},
	} {
		got, err := s.ChangesAt(patiently(t), test.seqs...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("at %d seqs (-want +got):\n%.2000s", len(test.seqs), diff)
		}
	}
}

func testCurrentIsTheReplay(t *testing.T, e Engine) {
	open := e.fresh(t)
	s := open()
	mustAppend(t, s, published(newReports(1, 20)...))
	mustAppend(t, s, store.Batch{Issuers: []disclosure.Issuer{company("A1", "Uno"), company("A2", "Dos")}})
	for n := int64(3); n <= 20; n += 4 {
		mustAppend(t, s, published(newReport(n, "Otro título")))
	}
	mustAppend(t, s, store.Batch{Issuers: []disclosure.Issuer{company("A1", "Único")}})
	log := CheckLog(t, s) // CheckLog compares Current with a replay of the log
	if diff := cmp.Diff(log, CheckLog(t, open())); diff != "" {
		t.Errorf("another reader reads a different log:\n%s", diff)
	}
}

func testCurrentStopsOnError(t *testing.T, e Engine) {
	s := e.fresh(t)()
	mustAppend(t, s, published(newReports(1, 500)...))
	enough := errors.New("enough")
	var seen int
	_, err := s.Current(patiently(t), func(disclosure.Change) error {
		if seen++; seen == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || seen != 3 {
		t.Errorf("Current continued to %d and returned %v", seen, err)
	}
	checkLength(t, s, 500) // the store still works
	mustAppend(t, s, published(newReport(501, "Después")))
	checkLength(t, s, 501)
}

// reports reads reports by their ids, in order of id.
func reports(t *testing.T, s store.Store, ids ...string) []disclosure.Report {
	t.Helper()
	got, err := s.Reports(patiently(t), ids...)
	if err != nil {
		t.Fatalf("reading reports: %v", err)
	}
	slices.SortFunc(got, func(a, b disclosure.Report) int { return strings.Compare(a.ID, b.ID) })
	return got
}

func testReports(t *testing.T, e Engine) {
	open := e.fresh(t)
	s := open()
	if got := reports(t, s, "oir-1"); len(got) != 0 {
		t.Errorf("an empty store has %v", got)
	}
	mustAppend(t, s, store.Batch{
		Issuers: []disclosure.Issuer{company("A1", "Uno")}, Reports: append(newReports(1, 3), everything()), New: disclosure.Published,
	})
	mustAppend(t, s, published(newReport(2, "Otro título")))
	log := checkLength(t, s, 6)
	one := *log[1].Report
	rich := *log[4].Report
	two := *log[5].Report
	for name, test := range map[string]struct{ ids, want []string }{
		"none":    {nil, nil},
		"unknown": {[]string{"oir-4", "ip-1", "", "OIR-1", "A1", "'", "oir-1,oir-2"}, nil},
		"some":    {[]string{"oir-2", "oir-4", "oir-1", rich.ID}, []string{rich.ID, "oir-1", "oir-2"}},
		"twice":   {[]string{"oir-2", "oir-2"}, []string{"oir-2"}},
	} {
		var want []disclosure.Report
		for _, id := range test.want {
			want = append(want, map[string]disclosure.Report{"oir-1": one, "oir-2": two, rich.ID: rich}[id])
		}
		if diff := cmp.Diff(want, reports(t, open(), test.ids...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func testManyReports(t *testing.T, e Engine) {
	s := e.fresh(t)()
	const n = 5000
	for from := int64(1); from <= n; from += 1000 { // PostgreSQL ends a transaction that pauses for seconds
		mustAppend(t, s, published(newReports(from, from+999)...))
	}
	var ids []string
	for i := range int64(2 * n) { // more than exist, and than a statement can have parameters
		ids = append(ids, disclosure.ReportID(disclosure.OIR, 2*n-i))
	}
	seen := map[string]bool{}
	for _, r := range reports(t, s, append(ids, ids...)...) {
		if seen[r.ID] {
			t.Errorf("%s came twice", r.ID)
		}
		seen[r.ID] = true
	}
	if len(seen) != n {
		t.Errorf("of %d reports came %d", n, len(seen))
	}
}

func testWaitForOwnCommit(t *testing.T, e Engine) {
	s := e.fresh(t)()
	testWait(t, s, s)
}

func testWaitForOthersCommit(t *testing.T, e Engine) {
	open := e.fresh(t)
	testWait(t, open(), open())
}

// testWait has many readers wait at one store for commits through another.
func testWait(t *testing.T, s, writer store.Store) {
	ctx := patiently(t)
	for seq := range int64(3) {
		var waiters errgroup.Group
		for range 5 {
			waiters.Go(func() error { return s.Wait(ctx, seq) })
		}
		// This makes it likely that they wait already. The test does not rely on it.
		waittest.Pace(ctx, 10*time.Millisecond)
		mustAppend(t, writer, published(newReport(seq+1, "Resultados")))
		if err := waiters.Wait(); err != nil {
			t.Fatalf("waiting for a change after %d: %v", seq, err)
		}
		changes, err := s.Changes(ctx, seq, 10)
		if err != nil || len(changes) != 1 {
			t.Fatalf("after the wait there are %d changes, %v", len(changes), err)
		}
	}
	if err := s.Wait(ctx, 0); err != nil {
		t.Errorf("waiting for an existing change: %v", err)
	}
	checkLength(t, s, 3)
}

func testWaitEndsWithContext(t *testing.T, e Engine) {
	s := e.fresh(t)()
	mustAppend(t, s, published(newReport(1, "Resultados")))
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Wait(short, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait returned %v after the deadline", err)
	}
	if err := s.Wait(short, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait returned %v with a context that had ended", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	waited := make(chan error)
	go func() { waited <- s.Wait(ctx, 1) }()
	stop()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("Wait returned %v after the cancellation", err)
	}
	// Wait does not return for a change at or below after.
	ctx, stop = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	go func() { waited <- s.Wait(ctx, 5) }()
	_, err := s.Append(patiently(t), published(newReport(2, "Resultados")))
	if err := <-waited; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait for a sixth change returned %v when there were two", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	checkLength(t, s, 2)
}

// follow reads the log with a cursor, during writes, until it finds the report
// last.
func follow(ctx context.Context, s store.Store, last string) ([]disclosure.Change, error) {
	var log []disclosure.Change
	for {
		cursor := int64(len(log))
		if err := s.Wait(ctx, cursor); err != nil {
			return nil, fmt.Errorf("waiting after %d: %w", cursor, err)
		}
		changes, err := s.Changes(ctx, cursor, 7)
		if err != nil {
			return nil, fmt.Errorf("reading after %d: %w", cursor, err)
		}
		if len(changes) == 0 {
			return nil, fmt.Errorf("there is nothing after %d, and yet Wait returned", cursor)
		}
		for _, c := range changes {
			if log = append(log, c); c.Seq != int64(len(log)) {
				return nil, fmt.Errorf("after %d came %d", len(log)-1, c.Seq)
			}
			if c.Subject() == last {
				return log, nil
			}
		}
	}
}

// watchCurrent repeatedly compares Current with the log up to the same seq, until
// the log has the report last.
func watchCurrent(ctx context.Context, s store.Store, last string) error {
	for {
		heads, seq, err := readCurrent(ctx, s)
		if err != nil {
			return err
		}
		log, err := readLog(ctx, s, 0, 500)
		if err != nil {
			return err
		}
		if int64(len(log)) < seq {
			return fmt.Errorf("the log ends at %d, and Current was as of %d", len(log), seq)
		}
		if diff := cmp.Diff(replay(log[:seq]), heads); diff != "" {
			return fmt.Errorf("as of %d Current is not what the log says (-log +current):\n%s", seq, diff)
		}
		if n := len(heads); n > 0 && heads[n-1].Subject() == last {
			return nil
		}
	}
}
