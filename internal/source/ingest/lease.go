package ingest

import (
	"context"
	"sync"
	"time"

	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	// LeaseName is the name of the ingest lease.
	LeaseName = "ingest"

	leaseTime  = 3500 * time.Millisecond // the longest gap after a holder that died
	renewEvery = time.Second
	leaseRetry = 500 * time.Millisecond // between two tries to acquire the lease
)

// acquire waits until this process has the lease.
func (i *Ingest) acquire(ctx context.Context) (store.Lease, error) {
	standby, acquired := context.WithCancel(ctx)
	var probes sync.WaitGroup
	probes.Go(func() { i.bid(standby) })
	defer probes.Wait()
	defer acquired()
	trouble := outage.Log{Logger: i.Logger}
	var other watchedLease
	for {
		lease, err := tryLease(ctx, i.Store, i.Holder)
		if err == nil {
			trouble.Recovered("") // the caller logs that the lease is acquired
			return lease, nil
		}
		if fault.KindOf(err) == fault.Conflict {
			trouble.Recovered("the lease can be requested again")
			i.requestStepDown(ctx)
			i.endDeadLease(ctx, &other)
		} else if ctx.Err() == nil {
			trouble.Failed("the lease cannot be requested", "err", err)
		}
		if err := retry.Sleep(ctx, leaseRetry); err != nil {
			return store.Lease{}, err
		}
	}
}

// watchedLease is the lease of another process.
type watchedLease struct {
	lease store.Lease
	since time.Time // of its last renewal, by this process's clock
}

// dead reports whether a lease was not renewed for a time, which is measured without
// the wall clock.
func (w *watchedLease) dead(now store.Lease, after time.Duration) bool {
	same := now.Holder == w.lease.Holder && now.Term == w.lease.Term && now.Expires.Equal(w.lease.Expires)
	if !same || w.since.IsZero() {
		w.lease = now
		w.since = time.Now()
		return false
	}
	return time.Since(w.since) >= after
}

// endDeadLease releases the lease of a process that does not renew it. It has expired,
// unless the clock was set back after that process died: then it would be in force
// for as long. A process that still lives learns at its next renewal or write that it lost
// the lease.
func (i *Ingest) endDeadLease(ctx context.Context, other *watchedLease) {
	ctx, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	lease, held, err := i.Store.CurrentLease(ctx, LeaseName)
	if err != nil || !held || !other.dead(lease, i.intervals.dead) {
		return
	}
	i.Logger.Warn("the lease was not renewed, and has not expired because the clock was set back: it is released", "holder", lease.Holder)
	_ = i.Store.ReleaseLease(ctx, lease) // if this fails, the next try repeats it
}

// leaseHolder returns the holder of the ingest lease in the name of a process.
func leaseHolder(leases store.Leases, process string) *store.LeaseHolder {
	return &store.LeaseHolder{
		Leases:      leases,
		Name:        LeaseName,
		Holder:      process,
		TTL:         leaseTime,
		AcquireTime: leaseTime,
		ReleaseTime: leaseTime,
		RenewEvery:  renewEvery,
	}
}

func tryLease(ctx context.Context, leases store.Leases, process string) (store.Lease, error) {
	return leaseHolder(leases, process).Acquire(ctx)
}

// errLost ends the work of a term.
var errLost = store.ErrLeaseLost

// holdLease runs work and renews the lease until work ends or the lease is lost.
// It then releases the lease, so that another process need not wait for its end.
func (i *Ingest) holdLease(ctx context.Context, lease store.Lease, work func(context.Context) error) error {
	i.setHolding(true)
	defer i.setHolding(false)
	h := leaseHolder(i.Store, i.Holder)
	h.NotReleased = func(err error) { i.Logger.Warn("the lease could not be released", "err", err) }
	return h.Hold(ctx, lease, work)
}
