package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pregon/internal/fault"
	"pregon/internal/retry"
)

// ErrLeaseLost is in the chain of the error of [LeaseHolder.Hold] when the lease was
// lost before the work ended.
var ErrLeaseLost = errors.New("the lease was lost")

// LeaseHolder acquires, renews and releases one lease in the name of a process. There
// are two ways to use it. Work that consists of short steps calls Acquire before each
// step, and Release at the end. Other work runs in Hold, which renews the lease
// meanwhile.
type LeaseHolder struct {
	Leases Leases
	Name   string        // of the lease
	Holder string        // the name of this process
	TTL    time.Duration // how long the lease lasts unless it is renewed

	AcquireTime time.Duration // for one call of Acquire; only the context limits it if this is 0
	ReleaseTime time.Duration // for one call of Release

	// RenewEvery is how often Hold renews the lease.
	RenewEvery time.Duration
	// Wanted, if not nil, is called after each renewal. The lease is lost if it returns
	// false.
	Wanted func() bool
	// Shared means that no harm is done if two processes do the work for a while. Then
	// Hold continues while the store does not answer, and when the lease has expired and
	// could be acquired again. Otherwise the work ends before another process can begin.
	Shared bool
	// NotReleased, if not nil, is called with the error of a release. The lease expires
	// without it, but later.
	NotReleased func(error)
}

// Acquire takes the lease, or prolongs it. It fails, Conflict, while another process
// holds it.
func (h *LeaseHolder) Acquire(ctx context.Context) (Lease, error) {
	if h.AcquireTime > 0 {
		limited, cancel := context.WithTimeout(ctx, h.AcquireTime)
		defer cancel()
		ctx = limited
	}
	return h.Leases.AcquireLease(ctx, h.Name, h.Holder, h.TTL)
}

// Release releases a lease, also after the context has ended, so that another process
// need not wait until it expires. It does nothing for the zero value.
func (h *LeaseHolder) Release(ctx context.Context, lease Lease) {
	if lease == (Lease{}) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.ReleaseTime)
	defer cancel()
	if err := h.Leases.ReleaseLease(ctx, lease); err != nil && h.NotReleased != nil {
		h.NotReleased(err)
	}
}

// Hold runs work and renews an acquired lease until work ends. It cancels the context
// of work when the lease is lost, and then fails with ErrLeaseLost. Last it releases
// the lease.
func (h *LeaseHolder) Hold(ctx context.Context, lease Lease, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		cancel(h.renew(ctx, &lease))
	}()
	err := work(ctx)
	cancel(err)
	<-renewed
	h.Release(ctx, lease)
	if cause := context.Cause(ctx); errors.Is(cause, ErrLeaseLost) {
		return cause
	}
	return err
}

// renew renews a lease until the context ends or the lease is lost.
func (h *LeaseHolder) renew(ctx context.Context, lease *Lease) error {
	for expires := time.Now().Add(h.TTL); ; {
		if err := retry.Sleep(ctx, h.RenewEvery); err != nil {
			return err
		}
		asked := time.Now()
		newest, err := h.Acquire(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && (newest.Term == lease.Term || h.Shared):
			*lease = newest
			expires = asked.Add(h.TTL)
		case err == nil: // it expired, and this process has just acquired a new one
			h.Release(ctx, newest)
			return fmt.Errorf("%w: another process had it in between", ErrLeaseLost)
		case fault.KindOf(err) == fault.Conflict:
			return fmt.Errorf("%w: %w", ErrLeaseLost, err)
		case time.Now().After(expires) && !h.Shared:
			return fmt.Errorf("%w: it could not be renewed: %w", ErrLeaseLost, err)
		}
		if h.Wanted != nil && !h.Wanted() {
			return fmt.Errorf("%w: this process does not need it any more", ErrLeaseLost)
		}
	}
}
