package main

import (
	"context"
	"time"

	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
)

// sourceLease is the lease of ingest, held by a command that no reader of the source
// may disturb.
type sourceLease struct {
	db     store.Leases
	holder string
	held   store.Lease
}

// leaseStep is how long the lease is held after a step. A serve that starts after the
// command was killed waits as long.
const leaseStep = 10 * time.Second

// hold takes or prolongs the lease. It fails, Conflict, while a process reads the
// source.
func (l *sourceLease) hold(ctx context.Context) (_ *store.Lease, err error) {
	held, err := l.db.AcquireLease(ctx, ingest.LeaseName, l.holder, leaseStep)
	if fault.KindOf(err) == fault.Conflict {
		return nil, fault.New(fault.Conflict,
			"a process reads the source: stop every serve and backfill on this store (one that was killed counts for %v), and repeat the command", leaseStep)
	}
	if err == nil {
		l.held = held
	}
	return &l.held, err
}

// wait is like hold, but waits for the lease of a process that was killed, or of the
// time of a backup, to expire.
func (l *sourceLease) wait(ctx context.Context) error {
	for end := time.Now().Add(staleLease); ; {
		_, err := l.hold(ctx)
		if fault.KindOf(err) != fault.Conflict || time.Now().After(end) {
			return err
		}
		if err := retry.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

func (l *sourceLease) release(ctx context.Context) {
	if l.held.Name == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseStep)
	defer cancel()
	_ = l.db.ReleaseLease(ctx, l.held) // otherwise it expires
	l.held = store.Lease{}
}
