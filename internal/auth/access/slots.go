package access

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"pregon/internal/fault"
	"pregon/internal/retry"
)

const (
	slotWait = time.Second // that a caller with all places taken waits for one
	idleTime = time.Second // for which a caller without requests still counts

	// spacing is the least time between the starts of a caller's requests on
	// one processor while others call too. Most requests take half of it or
	// less, so that a flood leaves the processors free now and then: a request
	// of another finds one at once.
	minSpacing = 500 * time.Microsecond
)

// Places bounds how many requests of one caller are in work at once, and how
// closely they follow each other beside those of other callers, so that nobody's
// flood delays the others. A caller that is alone need not wait.
type SlotLimiter struct {
	max int           // places of one caller
	gap time.Duration // between two of its requests beside others; 0 for none

	mu      sync.Mutex
	callers map[string]*caller // guarded by mu
	swept   time.Time          // guarded by mu: when callers that left were removed
}

// caller is one with requests in work, or lately.
type caller struct {
	running int
	waiting []chan struct{} // first come, first served; closed when it is its turn
	next    time.Time       // the least time at which its next request may start
	last    time.Time       // it left
}

// NewPlaces gives every caller so many places; spaced keeps its requests apart
// beside those of others.
func NewSlotLimiter(most int, spaced bool) *SlotLimiter {
	p := &SlotLimiter{max: most, callers: map[string]*caller{}}
	if spaced {
		p.gap = minSpacing / time.Duration(runtime.GOMAXPROCS(0))
	}
	return p
}

// Place is a place that a caller has. The zero value is none.
type Slot struct {
	of     *SlotLimiter
	caller *caller
}

// Leave gives the place back.
func (p *Slot) Release() {
	if p.of != nil {
		p.of.release(p.caller)
	}
	*p = Slot{}
}

// Enter waits for a place. It fails, RateLimited, when there is none in time.
func (p *SlotLimiter) Acquire(ctx context.Context, id string) (Slot, error) {
	p.mu.Lock()
	p.sweep(time.Now())
	c := p.callers[id]
	if c == nil {
		c = &caller{}
		p.callers[id] = c
	}
	switch {
	case c.running < p.max:
		c.running++
	case len(c.waiting) >= p.max: // waiting has a bound too
		p.mu.Unlock()
		return Slot{}, p.errFull()
	default:
		turn := make(chan struct{})
		c.waiting = append(c.waiting, turn)
		p.mu.Unlock()
		if err := p.await(ctx, c, turn); err != nil {
			return Slot{}, err
		}
		p.mu.Lock()
	}
	wait := p.startDelay(c)
	p.mu.Unlock()
	place := Slot{of: p, caller: c}
	if wait > 0 {
		if err := retry.Sleep(ctx, wait); err != nil {
			place.Release()
			return Slot{}, err
		}
	}
	return place, nil
}

// await waits briefly for the turn to run.
func (p *SlotLimiter) await(ctx context.Context, c *caller, turn chan struct{}) error {
	timer := time.NewTimer(slotWait)
	defer timer.Stop()
	err := error(p.errFull())
	select {
	case <-turn:
		return nil
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(c.waiting, turn); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		return err
	}
	return nil // the turn came in this very moment
}

// slot returns how long the next request of a caller has to wait for its start.
// p.mu is held.
func (p *SlotLimiter) startDelay(c *caller) time.Duration {
	if p.gap == 0 || len(p.callers) < 2 {
		return 0
	}
	now := time.Now()
	if c.next.Before(now) {
		c.next = now
	}
	wait := c.next.Sub(now)
	c.next = c.next.Add(p.gap)
	return wait
}

func (p *SlotLimiter) errFull() *fault.Error {
	e := fault.New(fault.RateLimited, "You have %d requests of this kind in work, which is the most at once. Wait for some of them.", p.max)
	e.RetryAfter = slotWait
	return e
}

// leave gives a place to the next of the same caller.
func (p *SlotLimiter) release(c *caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(c.waiting) > 0 {
		close(c.waiting[0])
		c.waiting = c.waiting[1:]
		return
	}
	if c.running--; c.running == 0 {
		c.last = time.Now()
	}
}

// sweep forgets callers that left a while ago. p.mu is held.
func (p *SlotLimiter) sweep(now time.Time) {
	if now.Sub(p.swept) < idleTime {
		return
	}
	p.swept = now
	for id, c := range p.callers {
		if c.running == 0 && len(c.waiting) == 0 && now.Sub(c.last) >= idleTime {
			delete(p.callers, id)
		}
	}
}
