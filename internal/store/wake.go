package store

import (
	"context"
	"sync"
	"time"
)

// Wake lets an engine wait for the log to grow. Commits of this process wake the
// waiting goroutines at once; commits of other processes are found by polling
// the newest seq. Only the poll is authoritative: a wake merely saves time. The
// zero value is ready to use.
type Wake struct {
	mu sync.Mutex
	ch chan struct{} // guarded by mu; closed by All, nil while no goroutine waits
}

// All wakes all waiting goroutines.
func (w *Wake) All() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch != nil {
		close(w.ch)
		w.ch = nil
	}
}

// Wait returns nil once newest returns more than after. It calls newest at the
// start, after every wake, and at the given interval.
func (w *Wake) Wait(
	ctx context.Context,
	after int64,
	every time.Duration,
	newest func(context.Context) (int64, error),
) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		woken := w.next() // before the poll, so that no wake is missed in between
		seq, err := newest(ctx)
		if err != nil {
			return err
		}
		if seq > after {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-woken:
		case <-tick.C:
		}
	}
}

func (w *Wake) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch == nil {
		w.ch = make(chan struct{})
	}
	return w.ch
}
