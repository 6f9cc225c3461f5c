package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/retry"
)

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := retry.Sleep(t.Context(), time.Minute); err != nil {
			t.Errorf("Sleep: got %v, want no error", err)
		}
		if got := time.Since(start); got != time.Minute {
			t.Errorf("slept for %v, want %v", got, time.Minute)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := retry.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Sleep in a context that ends: got %v, want %v", err, context.DeadlineExceeded)
		}
		if got, want := time.Since(start), time.Minute+time.Second; got != want {
			t.Errorf("slept for %v in all, want %v", got, want)
		}
	})
}

func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		failures int
		want     time.Duration
	}{{-1, time.Second}, {0, time.Second}, {1, 2 * time.Second}, {3, 8 * time.Second}, {4, 10 * time.Second}, {1 << 40, 10 * time.Second}} {
		if got := retry.Backoff(c.failures, time.Second, 10*time.Second); got != c.want {
			t.Errorf("Backoff(%d, 1s, 10s): got %v, want %v", c.failures, got, c.want)
		}
	}
	if got := retry.Backoff(0, time.Minute, time.Second); got != time.Second {
		t.Errorf("Backoff with a first wait above the longest: got %v, want %v", got, time.Second)
	}
}

func TestJitter(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 2, 3, time.Second} {
		for range 100 {
			if got := retry.Jitter(d); got < d/2 || got > d {
				t.Fatalf("Jitter(%v): got %v, want between %v and %v", d, got, d/2, d)
			}
		}
	}
}
