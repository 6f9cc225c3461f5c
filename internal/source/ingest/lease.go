package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	// LeaseName is what who reads the source holds.
	LeaseName = "ingest"

	leaseTime = 3500 * time.Millisecond // a holder that died is missed no longer than this
	renewal   = time.Second
	campaign  = 500 * time.Millisecond // between two tries to take it
)

// acquire waits until this process has the lease.
func (i *Ingest) acquire(ctx context.Context) (store.Lease, error) {
	standing, taken := context.WithCancel(ctx)
	var probes sync.WaitGroup
	probes.Go(func() { i.offerSight(standing) })
	defer probes.Wait()
	defer taken()
	trouble := outage.Log{Logger: i.Logger}
	for {
		lease, err := tryLease(ctx, i.Store, i.Holder)
		if err == nil {
			trouble.Recovered("") // that it is taken is logged by the caller
			return lease, nil
		}
		if fault.KindOf(err) == fault.Conflict {
			trouble.Recovered("the lease can be asked for again")
			i.askToStepDown(ctx)
		} else if ctx.Err() == nil {
			trouble.Failed("the lease cannot be asked for", "err", err)
		}
		if err := retry.Sleep(ctx, campaign); err != nil {
			return store.Lease{}, err
		}
	}
}

func tryLease(ctx context.Context, leases store.Leases, holder string) (store.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	return leases.AcquireLease(ctx, LeaseName, holder, leaseTime)
}

// errLost ends the work of a term.
var errLost = errors.New("the lease was lost")

// holdLease runs the work and prolongs the lease, until the work ends or the
// lease is lost. It gives the lease back in the end, so that nobody waits.
func (i *Ingest) holdLease(ctx context.Context, lease store.Lease, work func(context.Context) error) error {
	i.hold(true)
	defer i.hold(false)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		cancel(i.renew(ctx, lease))
	}()
	err := work(ctx)
	cancel(err)
	<-renewed
	giving, done := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	defer done()
	if released := i.Store.ReleaseLease(giving, lease); released != nil {
		i.Logger.Warn("the lease could not be given back", "err", released)
	}
	if cause := context.Cause(ctx); errors.Is(cause, errLost) {
		return cause
	}
	return err
}

// renew prolongs the lease until it cannot be any more.
func (i *Ingest) renew(ctx context.Context, lease store.Lease) error {
	for sure := time.Now().Add(leaseTime); ; {
		if err := retry.Sleep(ctx, renewal); err != nil {
			return err
		}
		asked := time.Now()
		newest, err := tryLease(ctx, i.Store, i.Holder)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && newest.Term == lease.Term:
			sure = asked.Add(leaseTime)
		case err == nil: // it ran out, somebody had it, and it is ours again
			_ = i.Store.ReleaseLease(ctx, newest)
			return fmt.Errorf("%w: another process had it in between", errLost)
		case fault.KindOf(err) == fault.Conflict:
			return fmt.Errorf("%w: %w", errLost, err)
		case time.Now().After(sure):
			return fmt.Errorf("%w: it could not be prolonged: %w", errLost, err)
		}
	}
}

// backoff doubles from half a second on, with jitter.
func (i *Ingest) backoff(failures int) time.Duration {
	return retry.Jitter(retry.Backoff(failures, time.Second, i.intervals.retry))
}
