package throttle_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
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
		urgent, rest := got[:2*throttle.Refresh], got[2*throttle.Refresh:]
		inTurn := []throttle.Priority{throttle.Refresh, throttle.Backfill, throttle.Refresh, throttle.Backfill}
		if !slices.IsSorted(urgent) || !slices.Equal(rest, inTurn) {
			t.Errorf("order of grants: got %v, want two of each priority, the most urgent first, the last two in turn", got)
		}
		if q.Granted(throttle.Backfill) != 3 {
			t.Errorf("grants of back-fill: got %d, want 3", q.Granted(throttle.Backfill))
		}
	})
}

// TestBackfillsShare: back-fill gets what the feeds leave. When nothing was published
// for a minute it gets every second request, until the next publication. The lists are
// read all the same.
func TestBackfillsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := throttle.New(250 * time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		all.Go(func() {
			for q.Wait(ctx, throttle.Backfill) == nil {
			}
		})
		poll := func(every time.Duration, isSlowed bool) {
			for ctx.Err() == nil {
				all.Go(func() { _ = q.Wait(ctx, throttle.Feeds) }) // polls may overlap
				if time.Sleep(every); isSlowed && q.Shared() {
					time.Sleep(every)
				}
			}
		}
		for n := range 3 { // feeds, each second, and every two while back-fill has a share
			all.Go(func() { poll(time.Second, n > 0) })
			all.Go(func() { poll(8*time.Second, false) }) // a comparison with the list
		}
		var rounds atomic.Int64
		all.Go(func() { // a round of the lists every five minutes
			for time.Sleep(3 * time.Minute); ctx.Err() == nil; time.Sleep(5 * time.Minute) {
				for range 20 {
					_ = q.Wait(ctx, throttle.Reconcile)
				}
				rounds.Add(1)
			}
		})
		during := func(d time.Duration) (backfill, feeds float64) {
			b, f := q.Granted(throttle.Backfill), q.Granted(throttle.Feeds)
			time.Sleep(d)
			backfill = float64(q.Granted(throttle.Backfill)-b) / d.Seconds()
			return backfill, float64(q.Granted(throttle.Feeds)-f) / d.Seconds()
		}
		check := func(when string, d time.Duration, low, high float64) {
			t.Helper()
			backfill, feeds := during(d)
			if backfill < low || backfill > high || feeds < 1 {
				t.Errorf("%s: %.2f requests a second of back-fill and %.2f of feeds, want %.1f to %.1f of back-fill",
					when, backfill, feeds, low, high)
			}
		}
		check("in the first minute", 59*time.Second, 0.4, 0.8)
		time.Sleep(2 * time.Second)
		check("after a calm minute", 10*time.Minute, 1.4, 1.7)
		if rounds.Load() != 2 {
			t.Errorf("%d rounds of the lists ended in ten minutes beside back-fill, want 2", rounds.Load())
		}
		q.Published()
		check("after a publication", 59*time.Second, 0.4, 0.8)
		time.Sleep(2 * time.Second)
		check("after another calm minute", 10*time.Minute, 1.4, 1.7)
	})
}

// TestRefreshAndBackfill: the two share what others leave, and the turns of back-fill
// beside the feeds. Neither starves the other, however many of its requests wait.
func TestRefreshAndBackfill(t *testing.T) {
	for _, test := range []struct {
		name            string
		workers         map[throttle.Priority]int // loops that ask again at once
		feeds           bool                      // three a second
		calm            bool
		refresh, filled float64 // of all grants, at least
	}{
		{"alone", map[throttle.Priority]int{throttle.Refresh: 1}, false, false, 0.99, 0},
		{"in turn", map[throttle.Priority]int{throttle.Refresh: 1, throttle.Backfill: 8}, false, false, 0.49, 0.49},
		{"many of refresh", map[throttle.Priority]int{throttle.Refresh: 8, throttle.Backfill: 1}, false, false, 0.49, 0.49},
		{"beside feeds", map[throttle.Priority]int{throttle.Refresh: 2, throttle.Backfill: 2}, true, false, 0.12, 0.12},
		{"calm beside feeds", map[throttle.Priority]int{throttle.Refresh: 2, throttle.Backfill: 2}, true, true, 0.12, 0.12},
		{"refresh beside feeds", map[throttle.Priority]int{throttle.Refresh: 2}, true, true, 0.2, 0},
		{"gaps first", map[throttle.Priority]int{throttle.Refresh: 2, throttle.Gaps: 2}, false, true, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := throttle.New(250 * time.Millisecond)
				if test.calm {
					time.Sleep(2 * time.Minute)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
				defer cancel()
				var all sync.WaitGroup
				for p, workers := range test.workers {
					for range workers {
						all.Go(func() {
							for q.Wait(ctx, p) == nil {
							}
						})
					}
				}
				if test.feeds {
					for range 3 {
						all.Go(func() {
							for ctx.Err() == nil {
								all.Go(func() { _ = q.Wait(ctx, throttle.Feeds) })
								time.Sleep(time.Second)
							}
						})
					}
				}
				all.Wait()
				var sum float64
				for _, p := range throttle.Priorities {
					sum += float64(q.Granted(p))
				}
				refresh, filled := float64(q.Granted(throttle.Refresh))/sum, float64(q.Granted(throttle.Backfill))/sum
				if refresh < test.refresh || filled < test.filled {
					t.Errorf("refresh has %.2f and back-fill %.2f of %.0f grants, want %.2f and %.2f",
						refresh, filled, sum, test.refresh, test.filled)
				}
				if test.name == "gaps first" && q.Granted(throttle.Refresh) > 1 {
					t.Errorf("refresh has %d grants while gaps wait, want none", q.Granted(throttle.Refresh))
				}
			})
		})
	}
}

// TestBackfillWaits: the share of back-fill is half of the requests, and nothing while
// any other request waits than those for feeds, or many of those.
func TestBackfillWaits(t *testing.T) {
	for _, test := range []struct {
		name    string
		waiting []throttle.Priority
		want    []throttle.Priority
	}{
		{
			name:    "every second",
			waiting: []throttle.Priority{throttle.Feeds, throttle.Feeds, throttle.Feeds},
			want: []throttle.Priority{
				throttle.Backfill, throttle.Feeds, throttle.Backfill, throttle.Feeds, throttle.Backfill, throttle.Feeds,
			},
		},
		{
			name:    "lists, registers and gaps",
			waiting: []throttle.Priority{throttle.Feeds, throttle.Reconcile, throttle.Registers, throttle.Gaps},
			want: []throttle.Priority{
				throttle.Feeds, throttle.Reconcile, throttle.Registers, throttle.Gaps,
				throttle.Backfill, throttle.Backfill, throttle.Backfill,
			},
		},
		{
			name:    "new reports",
			waiting: []throttle.Priority{throttle.Feeds, throttle.Permalinks, throttle.Documents},
			want: []throttle.Priority{
				throttle.Feeds, throttle.Permalinks, throttle.Documents, throttle.Backfill, throttle.Backfill, throttle.Backfill,
			},
		},
		{
			name:    "many feeds",
			waiting: []throttle.Priority{throttle.Feeds, throttle.Feeds, throttle.Feeds, throttle.Feeds},
			want: []throttle.Priority{
				throttle.Feeds, throttle.Backfill, throttle.Feeds, throttle.Backfill,
				throttle.Feeds, throttle.Backfill, throttle.Feeds,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := throttle.New(time.Second)
				time.Sleep(2 * time.Minute)
				if err := q.Wait(t.Context(), throttle.Feeds); err != nil {
					t.Fatal(err)
				}
				var mu sync.Mutex
				var got []throttle.Priority
				var all sync.WaitGroup
				for _, p := range append(test.waiting, throttle.Backfill, throttle.Backfill, throttle.Backfill) {
					all.Go(func() {
						if err := q.Wait(t.Context(), p); err != nil {
							t.Error(err)
						}
						mu.Lock()
						defer mu.Unlock()
						got = append(got, p)
					})
				}
				all.Wait()
				if !slices.Equal(got, test.want) {
					t.Errorf("order of grants: got %v, want %v", got, test.want)
				}
			})
		})
	}
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
