// Package waittest waits in tests for a condition, and never for time to pass.
//
// It is for tests that watch another process, a database or goroutines that do
// real input and output. Time and goroutines alone are tested with
// testing/synctest. internal/layering fails on time.Sleep outside of both.
package waittest

import (
	"context"
	"testing"
	"time"
)

// timeout ends a test that hangs. It is no measure of speed.
const timeout = 10 * time.Minute

// interval is the pause between two polls.
const interval = 5 * time.Millisecond

// For polls a condition until it holds. what names the condition in the failure.
func For(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !holds(); time.Sleep(interval) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %s", timeout, what)
		}
	}
}

// ForNil polls check until it returns nil, and fails with its last error.
func ForNil(t testing.TB, check func() error) {
	t.Helper()
	for end := time.Now().Add(timeout); ; time.Sleep(interval) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %v", timeout, err)
		}
	}
}

// Pace returns after d, or when ctx ends. It spaces the actions of a simulated
// client or server: no assertion may depend on it.
func Pace(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
