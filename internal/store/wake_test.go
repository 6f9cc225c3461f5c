package store_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/store"
)

// logged is a log that has only a newest seq and counts how often it is read.
type logged struct{ seq, polls atomic.Int64 }

func (l *logged) newest(context.Context) (int64, error) {
	l.polls.Add(1)
	return l.seq.Load(), nil
}

func TestWakeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w store.Wake
		var log logged
		start := time.Now()
		waited := make(chan error)
		for range 3 {
			go func() { waited <- w.Wait(t.Context(), 1, time.Second, log.newest) }()
		}
		synctest.Wait()
		log.seq.Store(1)
		w.All() // a wake without a new change after 1
		synctest.Wait()
		log.seq.Store(2)
		w.All()
		for range 3 {
			if err := <-waited; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("Wait took %v, want 0", took)
		}
	})
}

func TestWakePolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w store.Wake
		var log logged
		start := time.Now()
		time.AfterFunc(3500*time.Millisecond, func() { log.seq.Store(1) })
		if err := w.Wait(t.Context(), 0, time.Second, log.newest); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 4*time.Second || log.polls.Load() != 5 {
			t.Errorf("Wait took %v and %d polls, want 4s and 5", took, log.polls.Load())
		}
	})
}

func TestWakeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w store.Wake
		var log logged
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		if err := w.Wait(ctx, 0, time.Second, log.newest); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait after the deadline = %v, want DeadlineExceeded", err)
		}
		broken := errors.New("broken")
		err := w.Wait(t.Context(), 0, time.Second, func(context.Context) (int64, error) { return 0, broken })
		if !errors.Is(err, broken) {
			t.Errorf("Wait with a failing poll = %v, want %v", err, broken)
		}
	})
}
