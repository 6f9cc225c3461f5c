package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

var (
	noon = time.Date(2026, 4, 22, 12, 0, 0, 123_456_000, time.UTC)
	past = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
)

// once claims a name for an hour.
func once(ctx context.Context, s store.Store, name string) (bool, error) {
	return s.ClaimNonce(ctx, name, time.Now().Add(time.Hour))
}

func checkOnce(t *testing.T, s store.Store, name string, want bool) {
	t.Helper()
	if got, err := once(patiently(t), s, name); err != nil || got != want {
		t.Errorf("ClaimNonce(%q) = %t, %v; want %t", name, got, err, want)
	}
}

func testOnce(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	for _, name := range oddNames {
		checkOnce(t, s, name, true)
	}
	for _, name := range oddNames {
		checkOnce(t, s, name, false)
		checkOnce(t, other, name, false)
	}
	checkUses(t, s, map[string]store.Use{}) // uses and nonces are independent
	checkLength(t, s, 0)
}

func testOnceIsForgotten(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	ctx := patiently(t)
	until := time.Now().Add(50 * time.Millisecond)
	if first, err := s.ClaimNonce(ctx, "a", until); err != nil || !first {
		t.Fatalf("ClaimNonce = %t, %v", first, err)
	}
	checkOnce(t, s, "b", true)
	for again := false; !again; {
		var err error
		if again, err = once(ctx, other, "a"); err != nil {
			t.Fatal(err)
		}
		if again && time.Now().Before(until) {
			t.Error("the name was deleted before it expired")
		}
		waittest.Pace(ctx, time.Millisecond)
	}
	checkOnce(t, s, "a", false) // taken until the time of the second claim
	checkOnce(t, s, "b", false)

	// A claim until a past time does not block other claims.
	for range 3 {
		if first, err := s.ClaimNonce(ctx, "c", past); err != nil || !first {
			t.Errorf("ClaimNonce = %t, %v", first, err)
		}
	}
	checkOnce(t, other, "c", true)
	checkOnce(t, s, "c", false)
}

func testOnceFailureBeforeCommit(t *testing.T, e Engine) {
	testOnceFailure(t, e, false)
}

func testOnceFailureAfterCommit(t *testing.T, e Engine) {
	testOnceFailure(t, e, true)
}

// testOnceFailure makes a commit fail: the name may be taken or not, and the call
// does not return true.
func testOnceFailure(t *testing.T, e Engine, after bool) {
	open := e.fresh(t)
	s := open()
	e.FailCommit(s, after, errInjected)
	if first, err := once(patiently(t), s, "a"); first || !errors.Is(err, errInjected) {
		t.Fatalf("ClaimNonce returned %t, %v", first, err)
	}
	checkOnce(t, open(), "a", !after)
	checkOnce(t, s, "a", false)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if first, err := once(ctx, s, "b"); first || err == nil {
		t.Errorf("ClaimNonce with a cancelled context = %t, %v; want an error", first, err)
	}
	checkOnce(t, s, "b", true)
}

// testOnceRace has many callers claim a new or an expired name concurrently: one of
// them is the first.
func testOnceRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	for round := range 10 {
		name := fmt.Sprintf("name %d", round)
		if round%2 == 1 {
			if _, err := stores[0].ClaimNonce(ctx, name, past); err != nil {
				t.Fatal(err)
			}
		}
		var askers errgroup.Group
		var firsts atomic.Int32
		for i := range 16 {
			askers.Go(func() error {
				first, err := once(ctx, stores[i%len(stores)], name)
				if first {
					firsts.Add(1)
				}
				return err
			})
		}
		if err := askers.Wait(); err != nil {
			t.Fatal(err)
		}
		if n := firsts.Load(); n != 1 {
			t.Errorf("%d callers were the first to claim %s, want 1", n, name)
		}
	}
}

// testConcurrentOnce has many callers claim the same names, in different orders,
// among many expired ones, so that each call deletes names that others claim. No
// call blocks for ever, and no name is claimed twice.
func testConcurrentOnce(t *testing.T, e Engine) {
	open := e.fresh(t)
	ctx := patiently(t)
	const names = 20
	var firsts [names]atomic.Int32
	var writers errgroup.Group
	for h := range handles {
		s := open()
		for i := range writersPerHandle {
			w := newWriter(e, s, h*writersPerHandle+i)
			writers.Go(func() error {
				for _, n := range w.rand.Perm(names) {
					var first bool
					err := w.retry(ctx, func(try context.Context) (err error) {
						if _, err := s.ClaimNonce(try, fmt.Sprintf("old %d", w.rand.IntN(names)), past); err != nil {
							return err
						}
						first, err = once(try, s, fmt.Sprintf("name %d", n))
						return err
					})
					if err != nil {
						return err
					}
					if first {
						firsts[n].Add(1)
					}
				}
				return nil
			})
		}
	}
	if err := writers.Wait(); err != nil {
		t.Fatal(err)
	}
	s := open()
	for n := range firsts {
		if firsts[n].Load() > 1 {
			t.Errorf("%d callers were the first to claim name %d, want 1", firsts[n].Load(), n)
		}
		checkOnce(t, s, fmt.Sprintf("name %d", n), false)
	}
}

// checkUse records a use and checks the time of the first use.
func checkUse(t *testing.T, s store.Store, name string, at, want time.Time) store.Use {
	t.Helper()
	first, err := s.RecordUse(patiently(t), name, at)
	if err != nil || first != want {
		t.Errorf("RecordUse = %v, %v; want %v", first, err, want)
	}
	return store.Use{First: first, Last: at}
}

func checkUses(t *testing.T, s store.Store, want map[string]store.Use) {
	t.Helper()
	got, err := s.Uses(patiently(t))
	if err != nil {
		t.Fatalf("reading uses: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the uses (-want +got):\n%s", diff)
	}
}

func testUses(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	checkUses(t, s, map[string]store.Use{})
	checkUse(t, s, "a", at(0), at(0))
	checkUse(t, other, "b", at(5), at(5))
	checkUses(t, s, map[string]store.Use{"a": {First: at(0), Last: at(0)}, "b": {First: at(5), Last: at(5)}})
	checkUse(t, other, "a", at(3), at(0))
	checkUse(t, s, "a", at(3), at(0))
	checkUse(t, s, "a", at(1), at(0)) // recorded late: neither the first nor the last
	checkUses(t, s, map[string]store.Use{"a": {First: at(0), Last: at(3)}, "b": {First: at(5), Last: at(5)}})
	checkUse(t, s, "a", at(-2), at(-2)) // as when another process records it late
	checkUses(t, other, map[string]store.Use{"a": {First: at(-2), Last: at(3)}, "b": {First: at(5), Last: at(5)}})

	// Times are kept in UTC, to the microsecond.
	local := at(9).In(time.FixedZone("", 7200)).Add(999 * time.Nanosecond)
	checkUse(t, s, "c", local, at(9))
	checkOnce(t, s, "a", true) // nonces and uses are independent
	checkUses(t, s, map[string]store.Use{
		"a": {First: at(-2), Last: at(3)}, "b": {First: at(5), Last: at(5)}, "c": {First: at(9), Last: at(9)},
	})
	checkLength(t, s, 0)
}

// testUseRace has many callers record uses of one shared name, and each of an
// unusual name of its own.
func testUseRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	want := map[string]store.Use{"shared": {First: noon, Last: noon.Add(time.Duration(len(oddNames)-1) * time.Minute)}}
	var users errgroup.Group
	for i, name := range oddNames {
		at := noon.Add(time.Duration(i) * time.Minute)
		want[name] = store.Use{First: at, Last: at}
		users.Go(func() error {
			_, err := stores[i%len(stores)].RecordUse(ctx, name, at)
			_, shared := stores[i%len(stores)].RecordUse(ctx, "shared", at)
			return errors.Join(err, shared)
		})
	}
	if err := users.Wait(); err != nil {
		t.Fatal(err)
	}
	checkUses(t, stores[0], want)
}
