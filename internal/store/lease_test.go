package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// leaseTest has a lease of ten seconds in a store.
type leaseTest struct {
	*testing.T
	leases *flakyLeases
	holder store.LeaseHolder
}

// flakyLeases are leases that can be out of reach.
type flakyLeases struct {
	store.Leases
	away atomic.Bool
}

var errAway = errors.New("no route to host")

func (f *flakyLeases) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, error) {
	if f.away.Load() {
		return store.Lease{}, errAway
	}
	return f.Leases.AcquireLease(ctx, name, holder, ttl)
}

func (f *flakyLeases) ReleaseLease(ctx context.Context, l store.Lease) error {
	if f.away.Load() {
		return errAway
	}
	return f.Leases.ReleaseLease(ctx, l)
}

// withLease runs a test with a clock of its own, which SQLite uses too.
func withLease(t *testing.T, test func(leaseTest)) {
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		leases := &flakyLeases{Leases: db}
		test(leaseTest{t, leases, store.LeaseHolder{
			Leases:      leases,
			Name:        "job",
			Holder:      "ana",
			TTL:         10 * time.Second,
			AcquireTime: time.Second,
			ReleaseTime: time.Second,
			RenewEvery:  3 * time.Second,
		}})
	})
}

func (t leaseTest) acquire() store.Lease {
	t.Helper()
	lease, err := t.holder.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// takeOver acquires the lease for another process.
func (t leaseTest) takeOver(ttl time.Duration) store.Lease {
	t.Helper()
	lease, err := t.leases.Leases.AcquireLease(t.Context(), "job", "berta", ttl)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// checkHeld checks who has the lease, nobody if it is empty.
func (t leaseTest) checkHeld(want string) {
	t.Helper()
	lease, held, err := t.leases.CurrentLease(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	got := lease.Holder
	if !held {
		got = ""
	}
	if got != want {
		t.Errorf("the lease is held by %q, want %q", got, want)
	}
}

// untilEnd is work that lasts until its context ends.
func untilEnd(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestHold: a lease is renewed for as long as the work takes, and then released.
func TestHold(t *testing.T) {
	withLease(t, func(t leaseTest) {
		err := t.holder.Hold(t.Context(), t.acquire(), func(ctx context.Context) error {
			time.Sleep(time.Hour)
			t.checkHeld("ana")
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
		t.checkHeld("")
	})
}

// TestHoldReturnsErrors: an error of the work is returned, and the lease is released
// also when the context has ended.
func TestHoldReturnsErrors(t *testing.T) {
	withLease(t, func(t leaseTest) {
		broken := errors.New("broken")
		if err := t.holder.Hold(t.Context(), t.acquire(), func(context.Context) error { return broken }); !errors.Is(err, broken) {
			t.Errorf("Hold: got %v, want %v", err, broken)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := t.holder.Hold(ctx, t.acquire(), untilEnd); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Hold: got %v, want the error of the context", err)
		}
		t.checkHeld("")
	})
}

// TestHoldLoses: the work ends when another process has the lease.
func TestHoldLoses(t *testing.T) {
	for name, takenOver := range map[string]time.Duration{
		"still held":         time.Hour,
		"expired in between": time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			withLease(t, func(t leaseTest) {
				lease := t.acquire()
				t.leases.ReleaseLease(t.Context(), lease)
				t.takeOver(takenOver)
				began := time.Now()
				err := t.holder.Hold(t.Context(), lease, untilEnd)
				if took := time.Since(began); !errors.Is(err, store.ErrLeaseLost) || took != t.holder.RenewEvery {
					t.Errorf("Hold: got %v after %v, want ErrLeaseLost at the first renewal", err, took)
				}
				if takenOver == time.Hour {
					t.checkHeld("berta")
				} else {
					t.checkHeld("") // what was acquired by the renewal is released
				}
			})
		})
	}
}

// TestHoldWithoutStore: while the store is away, the work ends before another process
// can have the lease, unless the lease is shared.
func TestHoldWithoutStore(t *testing.T) {
	for _, shared := range []bool{false, true} {
		withLease(t, func(t leaseTest) {
			var notReleased error
			t.holder.Shared = shared
			t.holder.NotReleased = func(err error) { notReleased = err }
			lease := t.acquire()
			t.leases.away.Store(true)
			began := time.Now()
			err := t.holder.Hold(t.Context(), lease, func(ctx context.Context) error {
				select {
				case <-ctx.Done():
				case <-time.After(time.Hour):
				}
				return ctx.Err()
			})
			took := time.Since(began)
			if shared {
				if err != nil || took != time.Hour {
					t.Errorf("shared: Hold: %v after %v, want nil after an hour", err, took)
				}
			} else if most := t.holder.TTL + t.holder.RenewEvery; !errors.Is(err, store.ErrLeaseLost) || !errors.Is(err, errAway) || took > most {
				t.Errorf("Hold: %v after %v, want ErrLeaseLost after %v at most", err, took, most)
			}
			if !errors.Is(notReleased, errAway) {
				t.Errorf("NotReleased was called with %v, want %v", notReleased, errAway)
			}
		})
	}
}

// TestHoldShared: a shared lease that has expired is acquired again, and that one is
// released.
func TestHoldShared(t *testing.T) {
	withLease(t, func(t leaseTest) {
		t.holder.Shared = true
		err := t.holder.Hold(t.Context(), t.acquire(), func(ctx context.Context) error {
			t.leases.away.Store(true)
			time.Sleep(31 * time.Second)
			t.checkHeld("")
			t.takeOver(time.Second)
			t.leases.away.Store(false)
			time.Sleep(10 * time.Second)
			t.checkHeld("ana")
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
		t.checkHeld("")
	})
}

// TestHoldUnwanted: the work ends when the process should not do it any more.
func TestHoldUnwanted(t *testing.T) {
	withLease(t, func(t leaseTest) {
		end := time.Now().Add(time.Minute)
		t.holder.Wanted = func() bool { return time.Now().Before(end) }
		err := t.holder.Hold(t.Context(), t.acquire(), untilEnd)
		if !errors.Is(err, store.ErrLeaseLost) || time.Now().Before(end) {
			t.Errorf("Hold: got %v, want ErrLeaseLost after a minute", err)
		}
		t.checkHeld("")
	})
}

// TestAcquireInSteps: a lease that is acquired again and again stays the same, and
// nothing is released that was never acquired.
func TestAcquireInSteps(t *testing.T) {
	withLease(t, func(t leaseTest) {
		t.holder.Release(t.Context(), store.Lease{})
		first := t.acquire()
		time.Sleep(9 * time.Second)
		again := t.acquire()
		if again.Term != first.Term || !again.Expires.After(first.Expires) {
			t.Errorf("acquired again: got %v, want the term of %v and a later end", again, first)
		}
		if _, err := t.leases.Leases.AcquireLease(t.Context(), "job", "berta", time.Second); fault.KindOf(err) != fault.Conflict {
			t.Errorf("another process: got %v, want a conflict", err)
		}
		t.holder.Release(t.Context(), again)
		t.takeOver(time.Second)
	})
}
