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

// logged is a log of which only the length matters.
type logged struct{ seq, looks atomic.Int64 }

func (l *logged) newest(context.Context) (int64, error) {
	l.looks.Add(1)
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
		w.All() // a wake that comes to nothing
		synctest.Wait()
		log.seq.Store(2)
		w.All()
		for range 3 {
			if err := <-waited; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("the wake took %v", took)
		}
	})
}

func TestWakeLooksForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w store.Wake
		var log logged
		start := time.Now()
		time.AfterFunc(3500*time.Millisecond, func() { log.seq.Store(1) })
		if err := w.Wait(t.Context(), 0, time.Second, log.newest); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 4*time.Second || log.looks.Load() != 5 {
			t.Errorf("it took %v and %d looks", took, log.looks.Load())
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
			t.Errorf("after the deadline: %v", err)
		}
		broken := errors.New("broken")
		err := w.Wait(t.Context(), 0, time.Second, func(context.Context) (int64, error) { return 0, broken })
		if !errors.Is(err, broken) {
			t.Errorf("a failing look: %v", err)
		}
	})
}
