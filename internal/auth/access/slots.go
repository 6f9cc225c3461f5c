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
	slotWait = time.Second // how long a caller waits for a slot
	idleTime = time.Second // how long a caller without requests is still counted

	// minSpacing is the minimum time between the starts of a caller's requests on
	// one processor while there are other callers. Most requests take half of it, so
	// that even in a flood a processor is soon free for another caller.
	minSpacing = 500 * time.Microsecond
)

// SlotLimiter bounds the concurrent requests of each caller, and their rate while
// there are other callers, so that a flood does not delay them. A single caller does
// not wait.
type SlotLimiter struct {
	max int           // slots per caller
	gap time.Duration // between the requests of a caller while there are others; 0 for none

	mu      sync.Mutex
	callers map[string]*caller // guarded by mu
	swept   time.Time          // guarded by mu; last removal of idle callers
}

// caller is the state of a caller with current or recent requests.
type caller struct {
	running int
	waiting []chan struct{} // first in, first out; closed to grant a slot
	next    time.Time       // earliest start of its next request
	last    time.Time       // end of its last request
}

// NewSlotLimiter returns a limiter with so many slots per caller. With spaced it also
// bounds the rate of a caller while there are others.
func NewSlotLimiter(most int, spaced bool) *SlotLimiter {
	p := &SlotLimiter{max: most, callers: map[string]*caller{}}
	if spaced {
		p.gap = minSpacing / time.Duration(runtime.GOMAXPROCS(0))
	}
	return p
}

// Slot is a slot of a caller. The zero value is none.
type Slot struct {
	of     *SlotLimiter
	caller *caller
}

// Release returns the slot.
func (p *Slot) Release() {
	if p.of != nil {
		p.of.release(p.caller)
	}
	*p = Slot{}
}

// Acquire waits for a slot. It returns RateLimited when there is none in time.
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
	case len(c.waiting) >= p.max: // the queue is bounded too
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

// await waits up to slotWait for a grant.
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
	return nil // granted meanwhile
}

// startDelay returns how long the next request of a caller must wait. p.mu is held.
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

// release passes the slot to the next waiting request of the caller.
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

// sweep removes callers that have been idle. p.mu is held.
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
