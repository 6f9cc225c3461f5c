package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

func acquire(t *testing.T, s store.Store, holder string, ttl time.Duration) store.Lease {
	t.Helper()
	l, err := s.AcquireLease(patiently(t), "ingest", holder, ttl)
	if err != nil {
		t.Fatalf("acquiring for %s: %v", holder, err)
	}
	if l.Name != "ingest" || l.Holder != holder {
		t.Fatalf("the lease is %+v", l)
	}
	return l
}

// takeOver acquires a lease after the present one expires.
func takeOver(t *testing.T, s store.Store, holder string, ttl time.Duration) store.Lease {
	t.Helper()
	ctx := patiently(t)
	for {
		l, err := s.AcquireLease(ctx, "ingest", holder, ttl)
		if err == nil {
			return l
		}
		if fault.KindOf(err) != fault.Conflict {
			t.Fatalf("waiting for the lease: %v", err)
		}
		waittest.Pace(ctx, time.Millisecond)
	}
}

// passed waits until a millisecond after a time, for any engine's clock.
func passed(t *testing.T, at time.Time) {
	t.Helper()
	waittest.For(t, "the time has passed", func() bool { return time.Since(at) >= time.Millisecond })
}

func checkTerm(t *testing.T, l store.Lease, want int64) {
	t.Helper()
	if l.Term != want {
		t.Errorf("the term of %s is %d, want %d", l.Holder, l.Term, want)
	}
}

func checkConflict(t *testing.T, what string, err error) {
	t.Helper()
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("%s: %v, want a conflict", what, err)
	}
}

func checkRefused(t *testing.T, s store.Store, holder string) {
	t.Helper()
	_, err := s.AcquireLease(patiently(t), "ingest", holder, time.Hour)
	checkConflict(t, "acquiring what another holds", err)
}

func release(t *testing.T, s store.Store, l store.Lease) {
	t.Helper()
	if err := s.ReleaseLease(patiently(t), l); err != nil {
		t.Fatalf("releasing: %v", err)
	}
}

// under returns a batch with a lease.
func under(l store.Lease, number int64) store.Batch {
	b := published(newReport(number, l.Holder))
	b.Lease = &l
	return b
}

func testLeaseIsExclusive(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	l := acquire(t, s, "ana", time.Hour)
	checkTerm(t, l, 1)
	if left := time.Until(l.Expires); left < 30*time.Minute || left > 90*time.Minute {
		t.Errorf("a lease of an hour ends in %v", left)
	}
	checkRefused(t, s, "berta")
	checkRefused(t, other, "berta")
	if _, err := other.AcquireLease(patiently(t), "delivery", "berta", time.Hour); err != nil {
		t.Errorf("another lease: %v", err)
	}
	checkLength(t, s, 0)
}

func testLeaseRenewal(t *testing.T, e Engine) {
	s := e.fresh(t)()
	first := acquire(t, s, "ana", time.Hour)
	renewed := acquire(t, s, "ana", 2*time.Hour)
	checkTerm(t, renewed, first.Term)
	if !renewed.Expires.After(first.Expires) {
		t.Errorf("renewal moved the end from %v to %v", first.Expires, renewed.Expires)
	}
	// An expired lease can be renewed when no other holder took it.
	short := acquire(t, s, "ana", time.Millisecond)
	passed(t, short.Expires)
	checkTerm(t, acquire(t, s, "ana", time.Hour), first.Term)
	checkRefused(t, s, "berta")
	mustAppend(t, s, under(first, 1))
	checkLength(t, s, 1)
}

func testLeaseTakeOver(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	ana := acquire(t, s, "ana", 100*time.Millisecond)
	berta := takeOver(t, other, "berta", time.Hour)
	checkTerm(t, berta, ana.Term+1)
	if berta.Expires.Before(ana.Expires) {
		t.Errorf("the lease of ana ended at %v, that of berta at %v", ana.Expires, berta.Expires)
	}
	checkRefused(t, s, "ana")
	release(t, s, ana) // too late: ana no longer holds it
	checkRefused(t, s, "carla")
	mustAppend(t, other, under(berta, 1))
	checkLength(t, s, 1)
}

func testLeaseRelease(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	ana := acquire(t, s, "ana", time.Hour)
	release(t, s, ana)
	_, err := s.Append(patiently(t), under(ana, 1))
	checkConflict(t, "appending under a lease given back", err)
	berta := acquire(t, other, "berta", time.Hour)
	checkTerm(t, berta, ana.Term+1)
	release(t, s, ana) // a second release must not affect berta's lease
	checkRefused(t, s, "ana")
	release(t, other, berta)
	checkTerm(t, acquire(t, other, "berta", time.Hour), berta.Term+1)
	checkLength(t, s, 0)
}

// testLeaseIsShown: every process can see who holds a lease, and whether it is in
// force.
func testLeaseIsShown(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	show := func(what string, want store.Lease, wantHeld bool) {
		t.Helper()
		got, held, err := other.CurrentLease(patiently(t), "ingest")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if held != wantHeld || got.Term != want.Term || held && (got.Holder != want.Holder || !got.Expires.Equal(want.Expires)) {
			t.Errorf("%s: the lease is %+v, held %v; want %+v, held %v", what, got, held, want, wantHeld)
		}
	}
	show("before the first", store.Lease{}, false)
	ana := acquire(t, s, "ana", time.Hour)
	show("after it was taken", ana, true)
	release(t, s, ana)
	show("after its release", ana, false)
	berta := acquire(t, s, "berta", time.Millisecond)
	passed(t, berta.Expires)
	show("after its end", berta, false)
}

// testLeaseRace has many callers acquire a lease concurrently: one succeeds.
func testLeaseRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	var askers errgroup.Group
	won := make([]bool, 8)
	for i := range won {
		askers.Go(func() error {
			_, err := stores[i%len(stores)].AcquireLease(ctx, "ingest", fmt.Sprintf("asker %d", i), time.Hour)
			won[i] = err == nil
			if fault.KindOf(err) == fault.Conflict {
				return nil
			}
			return err
		})
	}
	if err := askers.Wait(); err != nil {
		t.Fatal(err)
	}
	var winners int
	for _, w := range won {
		if w {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%d callers got the lease, want 1", winners)
	}
}

func testLeaseGuardsAppend(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	_, err := s.Append(patiently(t), under(store.Lease{Name: "ingest", Holder: "ana", Term: 1}, 1))
	checkConflict(t, "appending under a lease that never was", err)

	ana := acquire(t, s, "ana", time.Millisecond)
	passed(t, ana.Expires)
	mustAppend(t, s, under(ana, 1)) // expired, but still the newest
	berta := takeOver(t, other, "berta", time.Hour)
	_, err = s.Append(patiently(t), under(ana, 2))
	checkConflict(t, "appending under a lease taken over", err)
	checkLength(t, s, 1)

	mustAppend(t, other, under(berta, 2))
	wrong := berta
	wrong.Holder = "ana"
	_, err = s.Append(patiently(t), under(wrong, 3))
	checkConflict(t, "appending with another's term", err)
	mustAppend(t, s, published(newReport(3, "Sin lease"))) // a batch without a lease needs none
	checkLength(t, s, 3)
}

// testLeaseFencesOff has holders that continue to write after another holder takes
// over. From then on, all their writes fail.
func testLeaseFencesOff(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	ctx := patiently(t)
	const ttl = 20 * time.Millisecond
	held := acquire(t, s, "holder 0", ttl)
	for round := range 5 {
		var writer errgroup.Group
		writer.Go(func() error { return writeUntilRefused(ctx, s, held) })
		next := takeOver(t, other, fmt.Sprintf("holder %d", round+1), ttl)
		seq, err := other.Newest(ctx)
		if err := errors.Join(err, writer.Wait()); err != nil {
			t.Fatal(err)
		}
		log := CheckLog(t, s)
		if int64(len(log)) > seq {
			t.Fatalf("%s wrote %d changes after %s had the lease", held.Holder, int64(len(log))-seq, next.Holder)
		}
		held = next
	}
}

func writeUntilRefused(ctx context.Context, s store.Store, l store.Lease) error {
	for n := l.Term * 1_000_000; ; n++ {
		_, err := s.Append(ctx, under(l, n))
		if fault.KindOf(err) == fault.Conflict {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
