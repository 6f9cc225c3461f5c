// Package retry holds the parts of every retry loop: a sleep that ends with its
// context, an exponential backoff and the jitter that spreads it.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d. It returns the error of ctx if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Every calls do now and at every interval until the context ends.
func Every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		do(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Backoff returns the wait after a number of earlier failures: first after none,
// twice as long after each, and never longer than longest.
func Backoff(failures int, first, longest time.Duration) time.Duration {
	d := first
	for n := 0; n < failures && d < longest; n++ {
		d *= 2
	}
	return min(d, longest)
}

// Jitter returns a random duration between half of d and d, so that processes
// that failed together do not retry together.
func Jitter(d time.Duration) time.Duration {
	if d < 2 {
		return d
	}
	return d/2 + rand.N(d/2)
}
