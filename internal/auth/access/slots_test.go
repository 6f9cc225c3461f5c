package access_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

func enter(t *testing.T, p *access.SlotLimiter, id string) access.Slot {
	t.Helper()
	place, err := p.Acquire(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

// A caller with all slots in use waits briefly for one more and is then refused. Other
// callers have their own slots.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := access.NewSlotLimiter(2, false)
		first, second := enter(t, p, "ana"), enter(t, p, "ana")
		start := time.Now()
		_, err := p.Acquire(t.Context(), "ana")
		e, _ := errors.AsType[*fault.Error](err)
		if fault.KindOf(err) != fault.RateLimited || e.RetryAfter <= 0 || time.Since(start) != time.Second {
			t.Errorf("the third ends with %v after %v, want rate limited after a second", err, time.Since(start))
		}
		other := enter(t, p, "eva")
		other.Release()
		go func() {
			time.Sleep(100 * time.Millisecond)
			first.Release()
			first.Release() // does nothing
		}()
		third := enter(t, p, "ana")
		third.Release()
		second.Release()
	})
}

// A single caller does not wait. With a second caller, the requests of each are spaced,
// and the first of the other starts at once.
func TestSlotsAreSpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := access.NewSlotLimiter(64, true)
		took := func(id string, n int) time.Duration {
			start := time.Now()
			for range n {
				place := enter(t, p, id)
				place.Release()
			}
			return time.Since(start)
		}
		if d := took("flood", 100); d != 0 {
			t.Errorf("a caller that is alone waits for %v", d)
		}
		if d := took("other", 1); d != 0 {
			t.Errorf("the first request of another waits for %v", d)
		}
		gap := 500 * time.Microsecond / time.Duration(runtime.GOMAXPROCS(0))
		if d := took("flood", 101); d < 100*gap || d > 101*gap {
			t.Errorf("101 requests beside another take %v, want 100 times %v", d, gap)
		}
		if d := took("other", 1); d != 0 {
			t.Errorf("a request of another waits for %v", d)
		}
		time.Sleep(time.Minute)
		took("flood", 1)
		if d := took("flood", 100); d != 0 {
			t.Errorf("the other is gone, and it still waits for %v", d)
		}
	})
}

// A caller that stops waiting does not keep a slot.
func TestIdleCallersAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := access.NewSlotLimiter(1, false)
		only := enter(t, p, "ana")
		ctx, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer leave()
		if _, err := p.Acquire(ctx, "ana"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ends with %v, want the deadline", err)
		}
		go func() { _, _ = p.Acquire(t.Context(), "ana") }() // waiting has a bound
		synctest.Wait()
		start := time.Now()
		if _, err := p.Acquire(t.Context(), "ana"); fault.KindOf(err) != fault.RateLimited || time.Since(start) != 0 {
			t.Errorf("with the waiting full it ends with %v after %v, want to be refused at once", err, time.Since(start))
		}
		only.Release()
		time.Sleep(time.Minute)
	})
}
