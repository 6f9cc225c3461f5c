package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// TestTakeOver: when the holder stops, a waiting process continues, and no report is
// lost or announced twice.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, stop := w.start()
	second := w.newIngest("second")
	w.run(second.Run)
	w.publish(`{"type":"oir"}`)
	w.eventually(func() error { // on a slow machine the first may lose it for a moment
		if first.Holding() == second.Holding() {
			return errors.New("both processes hold the lease, or neither; want one")
		}
		return nil
	})
	stop()
	w.publish(`{"type":"oir"}`)
	w.eventually(func() error {
		if !second.Holding() {
			return errors.New("the second process did not take over")
		}
		return nil
	})
	w.publish(`{"type":"ip"}`)
	w.whole()
}

// TestUsurped: a holder that did not notice that it lost the lease cannot
// write, and waits for the lease from then on.
func TestUsurped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.newIngest("first")
	leases := &countedLeases{Store: w.store}
	first.Store = leases
	w.run(first.Run)
	var usurper store.Lease
	w.eventually(func() (err error) { // the first may just renew its lease
		if held, ok := w.leaseOf(first); ok {
			_ = w.store.ReleaseLease(t.Context(), held)
		}
		usurper, err = w.store.AcquireLease(t.Context(), LeaseName, "usurper", time.Hour)
		return err
	})
	w.eventually(func() error {
		if first.Holding() {
			return errors.New("it has not noticed")
		}
		return nil
	})
	id := w.publish(`{"type":"oir"}`)
	tries := leases.tries.Load()
	w.eventually(func() error {
		if leases.tries.Load() < tries+3 {
			return errors.New("it does not try to get the lease again")
		}
		return nil
	})
	if r := w.report(id); r != nil {
		t.Errorf("%s was written without the lease", id)
	}
	if err := w.store.ReleaseLease(t.Context(), usurper); err != nil {
		t.Fatal(err)
	}
	w.whole()
}

// TestDeadLease: the lease of a process that died before the clock was set back is
// taken over, though it has not expired.
func TestDeadLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dead, err := w.store.AcquireLease(t.Context(), LeaseName, "dead", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	i := w.newIngest("first")
	i.intervals.dead = time.Second
	w.run(i.Run)
	w.eventually(func() error {
		if !i.Holding() {
			return errors.New("the lease is not taken over")
		}
		return nil
	})
	if _, err := w.store.Append(t.Context(), store.Batch{Lease: &dead}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a write under the lease that ended: got %v, want a conflict", err)
	}
}

// TestWatchedLease: a lease that is renewed is not dead.
func TestWatchedLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watchedLease
		lease := store.Lease{Name: LeaseName, Holder: "ana", Term: 1, Expires: time.Now()}
		for range 5 {
			lease.Expires = lease.Expires.Add(-time.Hour) // the clock is set back again and again
			if w.dead(lease, time.Minute) {
				t.Error("a lease that was renewed is dead")
			}
			time.Sleep(59 * time.Second)
			if w.dead(lease, time.Minute) {
				t.Error("a lease is dead before the time has passed")
			}
		}
		time.Sleep(time.Second)
		if !w.dead(lease, time.Minute) {
			t.Error("a lease that is not renewed is not dead")
		}
	})
}

// countedLeases is a store that counts how often a lease is asked for.
type countedLeases struct {
	store.Store
	tries atomic.Int64
}

func (c *countedLeases) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, error) {
	c.tries.Add(1)
	return c.Store.AcquireLease(ctx, name, holder, ttl)
}

func (w *world) leaseOf(i *Ingest) (lease store.Lease, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.session == nil {
		return store.Lease{}, false
	}
	return *i.session.lease, true
}

// TestLeaseCannotBeProlonged: a holder that cannot renew its lease stops
// before another process may take over.
func TestLeaseCannotBeProlonged(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newWorld(t)
	i := w.newIngest("first")
	away := &noLeases{Store: w.store}
	i.Store = away
	lease, err := tryLease(t.Context(), w.store, i.Holder)
	if err != nil {
		t.Fatal(err)
	}
	err = i.holdLease(t.Context(), lease, func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, errLost) {
		t.Errorf("holdLease: got %v, want errLost", err)
	}
}

// noLeases is a store whose lease calls fail.
type noLeases struct{ store.Store }

func (noLeases) AcquireLease(context.Context, string, string, time.Duration) (store.Lease, error) {
	return store.Lease{}, errors.New("no route to host")
}

// TestClaim: a store is bound to one source forever.
func TestClaim(t *testing.T) {
	for _, test := range []struct {
		first, then bool // simulated
		want        fault.Kind
	}{
		{true, true, fault.Internal},
		{false, false, fault.Internal},
		{true, false, fault.Conflict},
		{false, true, fault.Conflict},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			w := newEmptyWorld(t)
			if err := store.BindSource(t.Context(), w.store, test.first); err != nil {
				t.Fatal(err)
			}
			if err := store.BindSource(t.Context(), w.store, test.then); (err != nil) != (test.want == fault.Conflict) || fault.KindOf(err) != test.want {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestEpochEndsTheTerm: a session belongs to one epoch of the log. After a restore a
// new session begins.
func TestEpochEndsTheTerm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	head, err := w.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := w.newIngest("first")
	w.run(i.Run)
	of := func(epoch string) func() error {
		return func() error {
			i.mu.Lock()
			defer i.mu.Unlock()
			if i.session == nil || i.session.epoch != epoch {
				return errors.New("there is no session of the epoch " + epoch)
			}
			return nil
		}
	}
	w.eventually(of(head.Epoch))
	renewed, err := w.store.RenewEpoch(t.Context(), head.Epoch, disclosure.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	w.eventually(of(renewed.Epoch))
}
