package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/retry"
)

// A wait for a lock ends with its context, and one that is free is taken at once.
func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := retry.NewLock()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := lock.Acquire(ended); err != nil {
			t.Fatalf("a free lock is not taken: %v", err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := lock.Acquire(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		go func() {
			time.Sleep(time.Minute)
			lock.Release()
		}()
		if err := lock.Acquire(t.Context()); err != nil || time.Since(start) != time.Minute+time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}
