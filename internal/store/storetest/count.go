package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

const (
	firstDay disclosure.Day = 45_000
	lastDay  disclosure.Day = 47_000
)

func addCounts(t *testing.T, s store.Store, batch string, counts ...store.Count) {
	t.Helper()
	if err := s.AddCounts(patiently(t), batch, counts...); err != nil {
		t.Fatalf("adding counts: %v", err)
	}
}

// checkCounts checks all counts of an owner.
func checkCounts(t *testing.T, s store.Store, owner string, want ...store.Count) {
	t.Helper()
	checkCountsOf(t, s, owner, 0, lastDay+1, want...)
}

func checkCountsOf(t *testing.T, s store.Store, owner string, first, last disclosure.Day, want ...store.Count) {
	t.Helper()
	got, err := s.Counts(patiently(t), owner, first, last)
	if err != nil {
		t.Fatalf("reading counts: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the counts of %q (-want +got):\n%s", owner, diff)
	}
}

func testCounts(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	of := func(owner string, day disclosure.Day, operation string, n int64) store.Count {
		return store.Count{
			Account:   owner,
			Day:       day,
			Operation: operation,
			N:         n,
		}
	}
	checkCounts(t, s, "a")
	addCounts(t, s, "empty")
	addCounts(t, s, "1", of("a", lastDay, "y", 2), of("a", firstDay, "y", 1), of("a", lastDay, "x", 3), of("b", firstDay, "y", 1<<40))
	addCounts(t, other, "2", of("a", lastDay, "y", 5), of("a", lastDay, "z", 1), of("a", lastDay, "y", 10), of("b", firstDay, "y", 1<<40))
	want := []store.Count{of("a", firstDay, "y", 1), of("a", lastDay, "x", 3), of("a", lastDay, "y", 17), of("a", lastDay, "z", 1)}
	checkCounts(t, s, "a", want...)
	checkCounts(t, other, "b", of("b", firstDay, "y", 1<<41))
	checkCounts(t, s, "c")

	// Both days of a range are part of it.
	checkCountsOf(t, s, "a", firstDay, lastDay, want...)
	checkCountsOf(t, s, "a", firstDay, firstDay, want[0])
	checkCountsOf(t, s, "a", firstDay+1, lastDay-1)
	checkCountsOf(t, s, "a", lastDay, firstDay)

	// A batch is added once, whichever process repeats it.
	addCounts(t, other, "1", of("a", lastDay, "y", 2))
	checkCounts(t, s, "a", want...)
	checkOnce(t, s, "1", true) // names of batches are not those of nonces

	// Texts are compared byte for byte.
	var odd []store.Count
	for i, name := range oddNames {
		odd = append(odd, of("odd", lastDay, name, int64(i+1)))
		addCounts(t, s, fmt.Sprintf("owner %d", i), of("owner "+name, lastDay, name, 1))
	}
	addCounts(t, s, "odd", odd...)
	slices.SortFunc(odd, func(a, b store.Count) int { return strings.Compare(a.Operation, b.Operation) })
	checkCounts(t, s, "odd", odd...)
	for _, name := range oddNames {
		checkCounts(t, s, "owner "+name, of("owner "+name, lastDay, name, 1))
	}
	checkLength(t, s, 0)
}

func testPruneCounts(t *testing.T, e Engine) {
	s := e.fresh(t)()
	var all []store.Count
	for day := firstDay; day < firstDay+5; day++ {
		all = append(all, store.Count{
			Account:   "a",
			Day:       day,
			Operation: "x",
			N:         1,
		})
	}
	addCounts(t, s, "batch", all...)
	for _, step := range []struct {
		before      disclosure.Day
		limit, want int
	}{{firstDay, 9, 0}, {firstDay + 4, 3, 3}, {firstDay + 4, 3, 1}, {firstDay + 4, 3, 0}} {
		if got, err := s.PruneCounts(patiently(t), step.before, step.limit); err != nil || got != step.want {
			t.Errorf("PruneCounts(%s, %d) = %d, %v; want %d", step.before, step.limit, got, err, step.want)
		}
		if step.want == 3 {
			checkCounts(t, s, "a", all[3:]...)
		}
	}
	checkCounts(t, s, "a", all[4:]...)
}

// testCountFailures makes commits fail: a batch that is repeated is added once.
func testCountFailures(t *testing.T, e Engine) {
	open := e.fresh(t)
	s := open()
	c := store.Count{
		Account:   "a",
		Day:       firstDay,
		Operation: "x",
		N:         1,
	}
	for i, after := range []bool{false, true} {
		batch := fmt.Sprintf("batch %d", i)
		e.FailCommit(s, after, errInjected)
		if err := s.AddCounts(patiently(t), batch, c); !errors.Is(err, errInjected) {
			t.Fatalf("AddCounts = %v", err)
		}
		addCounts(t, s, batch, c)
		addCounts(t, open(), batch, c)
		want := c
		want.N = int64(i + 1)
		checkCounts(t, s, "a", want)
	}
}

// testCountRace has processes add to the same counts in different orders while
// others are deleted: no process waits for another for good, and nothing is lost.
func testCountRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	const rounds, writers = 10, 4
	var want []store.Count
	for i := range 20 {
		want = append(want, store.Count{
			Account:   "a",
			Day:       lastDay,
			Operation: fmt.Sprintf("operation %02d", i),
			N:         rounds * writers,
		})
	}
	var group errgroup.Group
	for w := range writers {
		s := stores[w%len(stores)]
		group.Go(func() error {
			for round := range rounds {
				counts := slices.Clone(want)
				for i := range counts {
					counts[i].N = 1
				}
				if w%2 == 1 {
					slices.Reverse(counts)
				}
				counts = append(counts, store.Count{
					Account:   "old",
					Day:       firstDay,
					Operation: "x",
					N:         1,
				})
				if err := s.AddCounts(ctx, fmt.Sprintf("batch %d of %d", round, w), counts...); err != nil {
					return err
				}
				if _, err := s.PruneCounts(ctx, lastDay, 10); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	checkCounts(t, stores[0], "a", want...)
	if _, err := stores[0].PruneCounts(ctx, lastDay, 10); err != nil {
		t.Error(err)
	}
	checkCounts(t, stores[1], "old")
}
