package ingest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	// StaleLease is how long the lease of a process that was killed may look like
	// that of a running one.
	StaleLease = 5 * time.Second

	// commandStep is how long a command holds the lease after a step. A serve that
	// starts after the command was killed waits as long.
	commandStep = 10 * time.Second
)

// CommandLease is the lease of ingest, held by a command that no reader of the source
// may disturb.
type CommandLease struct {
	holder store.LeaseHolder
	held   store.Lease
}

// NewCommandLease returns a lease that is not held yet.
func NewCommandLease(db store.Leases) *CommandLease {
	return &CommandLease{
		holder: store.LeaseHolder{
			Leases:      db,
			Name:        LeaseName,
			Holder:      ProcessName(),
			TTL:         commandStep,
			ReleaseTime: commandStep,
		},
	}
}

// Hold takes or prolongs the lease. It fails, Conflict, while a process reads the
// source.
func (l *CommandLease) Hold(ctx context.Context) (*store.Lease, error) {
	held, err := l.holder.Acquire(ctx)
	if fault.KindOf(err) == fault.Conflict {
		return nil, fault.New(fault.Conflict,
			"a process reads the source: stop every serve and backfill on this store "+
				"(one that was killed counts for %v), and repeat the command", commandStep)
	}
	if err == nil {
		l.held = held
	}
	return &l.held, err
}

// Wait is like Hold, but waits for the lease of a process that was killed, or of the
// time of a backup, to expire.
func (l *CommandLease) Wait(ctx context.Context) error {
	for end := time.Now().Add(StaleLease); ; {
		_, err := l.Hold(ctx)
		if fault.KindOf(err) != fault.Conflict || time.Now().After(end) {
			return err
		}
		if err := retry.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// Release ends the lease, if it is held.
func (l *CommandLease) Release(ctx context.Context) {
	l.holder.Release(ctx, l.held)
	l.held = store.Lease{}
}

// ProcessName returns a name that no other process has, on any machine, for the holder
// of a lease.
func ProcessName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:8])
}
