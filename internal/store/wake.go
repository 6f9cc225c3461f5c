package store

import (
	"context"
	"sync"
	"time"
)

// Wake is how an engine waits for the log to grow: its own commits wake at
// once, and a look at the newest seq every so often sees everybody else's. The
// look is the truth, the wake only saves time. The zero value is ready.
type Wake struct {
	mu sync.Mutex
	ch chan struct{} // guarded by mu; closed by All, nil while nobody waits
}

// All wakes everybody who waits.
func (w *Wake) All() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch != nil {
		close(w.ch)
		w.ch = nil
	}
}

// Wait returns nil once newest answers more than after. It asks at the start,
// after every wake, and every so often.
func (w *Wake) Wait(ctx context.Context, after int64, every time.Duration, newest func(context.Context) (int64, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		woken := w.next() // before the look, so that no wake falls in between
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
