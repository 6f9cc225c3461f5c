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

func TestTurnsAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := throttle.New(250 * time.Millisecond)
		time.Sleep(time.Hour) // is not saved up
		var turns []time.Time
		for range 5 {
			if err := q.Wait(t.Context(), throttle.Feeds); err != nil {
				t.Fatal(err)
			}
			turns = append(turns, time.Now())
		}
		for n := range 4 {
			if apart := turns[n+1].Sub(turns[n]); apart != 250*time.Millisecond {
				t.Errorf("turns %d and %d are %v apart", n, n+1, apart)
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
		for _, c := range slices.Backward(throttle.Priorities) {
			for range 2 {
				all.Go(func() {
					if err := q.Wait(t.Context(), c); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					got = append(got, c)
				})
			}
		}
		synctest.Wait()
		if q.Waiting(throttle.Gaps) != 2 {
			t.Errorf("%d wait for gaps, want 2", q.Waiting(throttle.Gaps))
		}
		all.Wait()
		if !slices.IsSorted(got) || len(got) != 2*len(throttle.Priorities) {
			t.Errorf("turns were given in the order %v", got)
		}
		if q.Granted(throttle.Backfill) != 3 {
			t.Errorf("back-fill had %d turns, want 3", q.Granted(throttle.Backfill))
		}
	})
}

func TestWhoLeavesTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := throttle.New(time.Second)
		_ = q.Wait(t.Context(), throttle.Feeds)
		start := time.Now()
		leaving, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer leave()
		if err := q.Wait(leaving, throttle.Feeds); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("leaving gives %v", err)
		}
		if err := q.Wait(t.Context(), throttle.Backfill); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %v, want the turn that was left", err, time.Since(start))
		}
		if err := q.Wait(leaving, throttle.Feeds); err == nil {
			t.Error("a turn was given to a context that had ended")
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
