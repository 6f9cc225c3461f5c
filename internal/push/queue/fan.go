package queue

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
)

// waitTimeout is that of one wait for changes, after which the position is read again.
const waitTimeout = 2 * time.Second

// FanStore is the part of the store that a Fan needs.
type FanStore interface {
	Fanned(ctx context.Context, to store.Consumer) (int64, error)
	FanOut(ctx context.Context, f store.FanOut) error
	Wait(ctx context.Context, after int64) error
}

// Fan follows the log and creates deliveries of its changes. Every process tries; the
// store lets one succeed.
type Fan struct {
	Store    FanStore
	Consumer store.Consumer
	Logger   *slog.Logger
	Noun     string // plural name of the endpoints in messages

	// Seen returns the end of the log in the catalogue, and the mark of its newest change.
	// No later one is matched, since a filter may need data of the directory.
	Seen func() (disclosure.Head, disclosure.Mark)
	// Epoch returns the epoch of what Refresh has loaded.
	Epoch func() string
	// Refresh loads the endpoints, and what selects their changes, as they are now.
	Refresh func(ctx context.Context) error
	// Match returns the deliveries of the next changes after from, how far they reach, and
	// the revisions of what selected them.
	Match func(ctx context.Context, from int64, newest disclosure.Cursor) (store.FanOut, error)
	// Created is called after deliveries were created.
	Created func()

	reached atomic.Int64
}

// Reached returns the change up to which deliveries were created, as far as this process
// knows.
func (f *Fan) Reached() int64 { return f.reached.Load() }

// Run creates deliveries for new changes until the context ends.
func (f *Fan) Run(ctx context.Context) {
	const least, most = 100 * time.Millisecond, 5 * time.Second
	wait := least
	for ctx.Err() == nil {
		err := f.Batch(ctx)
		switch {
		case err == nil:
			wait = least
			continue
		case ctx.Err() != nil:
			return
		case fault.KindOf(err) == fault.Conflict: // another process was first, or this one does not know everything
			if err = f.Refresh(ctx); err == nil {
				continue
			}
		}
		if wait == least { // logged once, not each time
			f.Logger.WarnContext(ctx, "cannot create deliveries to "+f.Noun+": retrying", "err", err)
		}
		_ = retry.Sleep(ctx, wait)
		wait = min(2*wait, most)
	}
}

// Batch waits for changes without deliveries and writes the deliveries of some.
func (f *Fan) Batch(ctx context.Context) error {
	from, err := f.Store.Fanned(ctx, f.Consumer)
	if err != nil {
		return err
	}
	f.reached.Store(from)
	waiting, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	if err := f.Store.Wait(waiting, from); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return nil // a restored backup may have reset both the log and the position
		}
		return err
	}
	head, mark := f.Seen()
	for wait := time.Millisecond; head.Seq <= from && ctx.Err() == nil; head, mark = f.Seen() {
		_ = retry.Sleep(ctx, wait) // the catalogue is about to load it
		wait = min(2*wait, 200*time.Millisecond)
		if now, err := f.Store.Fanned(ctx, f.Consumer); err != nil || now != from {
			return err // another process was faster
		}
	}
	if f.Epoch() != head.Epoch { // a backup was restored
		if err := f.Refresh(ctx); err != nil {
			return err
		}
	}
	out, err := f.Match(ctx, from, head.Cursor)
	if err != nil || ctx.Err() != nil {
		return err
	}
	out.Consumer = f.Consumer
	out.From = from
	out.Epoch = head.Epoch
	out.Seen = mark
	if err := f.Store.FanOut(ctx, out); err != nil {
		return err
	}
	f.reached.Store(out.To)
	if len(out.Deliveries) > 0 {
		f.Created()
	}
	return nil
}
