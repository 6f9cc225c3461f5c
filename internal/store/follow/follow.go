// Package follow keeps a copy of the store's records of one kind up to date in
// the memory of a process.
//
// A Follower polls the store every second for records with a higher revision
// than the newest it has seen. While the store fails, the copy stays as it is
// and polling continues at the same rate, so that a revoked key is known within
// a second of the store's recovery.
package follow

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	interval     = time.Second
	pollTimeout  = 5 * time.Second
	wakeInterval = 100 * time.Millisecond // minimum time between polls on demand
	wakeTimeout  = 2 * time.Second        // of a poll that requests wait for
)

// Options are the parameters of a Follower.
type Options struct {
	Kind  string // of the records
	Noun  string // plural name of the records in messages
	Store interface {
		RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error)
	}
	// Apply adds an update to the copy. It is called by one goroutine at a time,
	// in order of revision, and only when there is something to apply.
	Apply func(ctx context.Context, u Update)
	// Epoch returns the epoch of the log. A new epoch means that a backup was
	// restored, which has older records with lower revisions: all are read again.
	// Without it the method Epoch of Store is used. If there is none, the records
	// are never read again.
	Epoch  func() string
	Logger *slog.Logger // nil: failures are not logged
}

// Update is a set of records that are new to the follower.
type Update struct {
	Records []store.Record // in order of revision
	Epoch   string         // of the log, when they were read
	Reload  bool           // Records are all that exist: the copy must be emptied first
}

// Follower polls the records of one kind.
type Follower struct {
	o Options

	lock     retry.Lock // held during a poll; guards the fields below
	revision int64      // the newest that was applied
	epoch    string     // of the last update
	polledAt time.Time  // when the last poll began
	err      error      // of the last poll

	current atomic.Int64 // when the last successful poll began, in Unix nanoseconds
}

// New returns a follower that has read nothing yet.
func New(o Options) *Follower {
	if log, ok := o.Store.(interface{ Epoch() string }); ok && o.Epoch == nil {
		o.Epoch = log.Epoch
	}
	return &Follower{o: o, lock: retry.NewLock()}
}

// Run polls until the context ends and returns the context's error.
func (f *Follower) Run(ctx context.Context) error {
	failures := outage.Log{Logger: f.o.Logger}
	if f.o.Logger == nil {
		failures.Logger = slog.New(slog.DiscardHandler)
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		polling, cancel := context.WithTimeout(ctx, pollTimeout)
		err := f.Poll(polling)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failures.Failed("the "+f.o.Noun+" cannot be read: the known ones stay in use", "err", err)
		default:
			failures.Recovered("the " + f.o.Noun + " can be read again")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Poll reads and applies the records that were written since the last poll.
func (f *Follower) Poll(ctx context.Context) error {
	return f.Exclusive(ctx, func() error { return f.poll(ctx) })
}

// Wake polls for a record that may have been written a moment ago. Concurrent
// callers share one poll, and there are at most ten polls a second.
func (f *Follower) Wake(ctx context.Context) error {
	called := time.Now()
	return f.Exclusive(ctx, func() error {
		if f.polledAt.After(called) {
			return f.err
		}
		if err := retry.Sleep(ctx, wakeInterval-time.Since(f.polledAt)); err != nil {
			return err
		}
		// Other callers wait for the result too: it must not end with this request.
		polling, cancel := context.WithTimeout(context.WithoutCancel(ctx), wakeTimeout)
		defer cancel()
		return f.poll(polling)
	})
}

// Exclusive calls fn while no poll is running. A caller that writes a record and
// adds it to the copy does both in fn: otherwise an older value that is being
// read could replace it.
func (f *Follower) Exclusive(ctx context.Context, fn func() error) error {
	if err := f.lock.Acquire(ctx); err != nil {
		return err
	}
	defer f.lock.Release()
	return fn()
}

// Behind returns the time since the copy was last known to be complete.
func (f *Follower) Behind() time.Duration { return time.Since(time.Unix(0, f.current.Load())) }

// poll is Poll for a caller that holds the lock.
func (f *Follower) poll(ctx context.Context) error {
	f.polledAt = time.Now()
	f.err = f.read(ctx)
	if f.err == nil {
		f.current.Store(f.polledAt.UnixNano())
	}
	return f.err
}

func (f *Follower) read(ctx context.Context) error {
	revision, u := f.revision, Update{Epoch: f.epoch}
	if f.o.Epoch != nil {
		u.Epoch = f.o.Epoch()
	}
	if u.Reload = u.Epoch != f.epoch; u.Reload {
		revision = 0
	}
	var err error
	if u.Records, err = f.o.Store.RecordsSince(ctx, f.o.Kind, revision); err != nil {
		return fmt.Errorf("reading %s: %w", f.o.Noun, err)
	}
	if len(u.Records) == 0 && !u.Reload {
		return nil
	}
	f.o.Apply(ctx, u)
	f.epoch, f.revision = u.Epoch, revision
	if n := len(u.Records); n > 0 {
		f.revision = u.Records[n-1].Revision
	}
	return nil
}
