// Package waittest waits in tests for a condition, and never for time to pass.
//
// It is for tests that watch another process, a database or goroutines that do
// real input and output. Time and goroutines alone are tested with
// testing/synctest. internal/test/layering fails on time.Sleep outside of both.
package waittest

import (
	"context"
	"errors"
	"testing"
	"time"
)

// timeout ends a test that hangs. It is no measure of speed, and shorter than the time
// that go test gives a package, which would end without the reason.
const timeout = 5 * time.Minute

// The pause between two polls, which grows from the shortest to the longest.
const (
	shortest = 5 * time.Millisecond
	longest  = 100 * time.Millisecond
)

// For polls a condition until it holds. what names the condition in the failure.
func For(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ForNil(t, func() error {
		if !holds() {
			return errors.New(what)
		}
		return nil
	})
}

// ForNil polls check until it returns nil, and fails with its last error. It
// pauses for longer the longer it has waited, and after a check that takes long, to
// leave the processor to the code that the test waits for.
func ForNil(t testing.TB, check func() error) {
	t.Helper()
	pause := shortest
	for end := time.Now().Add(timeout); ; pause = min(pause*5/4, longest) {
		began := time.Now()
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %v", timeout, err)
		}
		time.Sleep(max(pause, 4*time.Since(began)))
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
