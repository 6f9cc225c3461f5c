package bulk

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Work is followed by a rest: a long one while requests are served, and for a second
// after the last of them, else a short one. The long ones end after half an hour.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := int64(7)
		p := newPace(t.Context(), func() int64 { return requests })
		rested := func(work time.Duration) time.Duration {
			t.Helper()
			time.Sleep(work)
			start := time.Now()
			if err := p.step(); err != nil {
				t.Fatal(err)
			}
			return time.Since(start)
		}
		for _, step := range []struct {
			name       string
			requests   int64 // since the last step
			work, want time.Duration
		}{
			{"less than a slice", 5, slice - 1, 0},
			{"requests during two pieces of work", 0, slice, busyRest * (2*slice - 1)},
			{"a second has not passed since", 0, slice, busyRest * slice},
			{"long work", 0, time.Minute, longest},
			{"no request for a second", 0, slice, slice},
			{"long work without requests", 0, 2 * time.Second, longest},
			{"a request", 1, slice, busyRest * slice},
		} {
			requests += step.requests
			if got := rested(step.work); got != step.want {
				t.Errorf("%s: rested for %v, want %v", step.name, got, step.want)
			}
		}
		start, work := time.Now(), time.Duration(0)
		for rested(slice) > slice {
			requests++
			work += slice
		}
		if total := time.Since(start) - work; total < maxRest-time.Minute || total > maxRest+time.Minute {
			t.Errorf("with requests all the time it rested for %v, want %v", total, maxRest)
		}
	})
}

// Without requests, as in a process that serves nobody, a rest is as long as the work.
func TestPaceAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPace(ctx, nil)
		var b bytes.Buffer
		w := pacedWriter{&b, p}
		time.Sleep(slice)
		start := time.Now()
		if _, err := w.Write([]byte("a")); err != nil || time.Since(start) != slice {
			t.Errorf("got %v after %v, want a rest of %v", err, time.Since(start), slice)
		}
		cancel()
		if _, err := w.Write([]byte("b")); !errors.Is(err, context.Canceled) || b.String() != "a" {
			t.Errorf("after the end: got %v, wrote %q", err, b.String())
		}
		time.Sleep(slice)
		if err := p.steps(1); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: got %v", err)
		}
	})
}
