package throttle_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/source/throttle"
)

func TestGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := throttle.New(250 * time.Millisecond)
		time.Sleep(time.Hour) // does not add up
		var grants []time.Time
		for range 5 {
			if err := q.Wait(t.Context(), throttle.Feeds); err != nil {
				t.Fatal(err)
			}
			grants = append(grants, time.Now())
		}
		for n := range 4 {
			if apart := grants[n+1].Sub(grants[n]); apart != 250*time.Millisecond {
				t.Errorf("time between grants %d and %d: got %v, want 250ms", n, n+1, apart)
			}
		}
	})
}

func TestUrgentFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := throttle.New(time.Second)
		if err := q.Wait(t.Context(), throttle.Backfill); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var got []throttle.Priority
		var all sync.WaitGroup
		for _, p := range slices.Backward(throttle.Priorities) {
			for range 2 {
				all.Go(func() {
					if err := q.Wait(t.Context(), p); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					got = append(got, p)
				})
			}
		}
		synctest.Wait()
		if q.Waiting(throttle.Gaps) != 2 {
			t.Errorf("waiting for gaps: got %d, want 2", q.Waiting(throttle.Gaps))
		}
		all.Wait()
		if !slices.IsSorted(got) || len(got) != 2*len(throttle.Priorities) {
			t.Errorf("order of grants: got %v, want two of each priority, the most urgent first", got)
		}
		if q.Granted(throttle.Backfill) != 3 {
			t.Errorf("grants of back-fill: got %d, want 3", q.Granted(throttle.Backfill))
		}
	})
}

func TestCanceledRequestTakesNoGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := throttle.New(time.Second)
		_ = q.Wait(t.Context(), throttle.Feeds)
		start := time.Now()
		leaving, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer leave()
		if err := q.Wait(leaving, throttle.Feeds); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait in a context that ends: got %v, want %v", err, context.DeadlineExceeded)
		}
		if err := q.Wait(t.Context(), throttle.Backfill); err != nil || time.Since(start) != time.Second {
			t.Errorf("got %v after %v, want the grant that the other did not take after 1s", err, time.Since(start))
		}
		if err := q.Wait(leaving, throttle.Feeds); err == nil {
			t.Error("Wait in a context that has ended: got no error, want one")
		}
	})
}

func TestNoGap(t *testing.T) {
	q := throttle.New(0)
	for range 1000 {
		if err := q.Wait(t.Context(), throttle.Backfill); err != nil {
			t.Fatal(err)
		}
	}
}
