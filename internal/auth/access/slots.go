package access

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

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
	slots    *semaphore.Weighted
	requests int       // that run or wait
	next     time.Time // earliest start of its next request
	last     time.Time // end of its last request
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
		p.caller.slots.Release(1)
		p.of.leave(p.caller)
	}
	*p = Slot{}
}

// Acquire waits for a slot. It returns RateLimited when there is none in time.
func (p *SlotLimiter) Acquire(ctx context.Context, id string) (Slot, error) {
	p.mu.Lock()
	p.sweep(time.Now())
	c := p.callers[id]
	if c == nil {
		c = &caller{slots: semaphore.NewWeighted(int64(p.max))}
		p.callers[id] = c
	}
	if c.requests >= 2*p.max { // the queue is bounded too
		p.mu.Unlock()
		return Slot{}, p.errFull()
	}
	c.requests++
	p.mu.Unlock()
	if err := p.await(ctx, c); err != nil {
		p.leave(c)
		return Slot{}, err
	}
	place := Slot{of: p, caller: c}
	if wait := p.startDelay(c); wait > 0 {
		if err := retry.Sleep(ctx, wait); err != nil {
			place.Release()
			return Slot{}, err
		}
	}
	return place, nil
}

// await waits up to slotWait for a slot.
func (p *SlotLimiter) await(ctx context.Context, c *caller) error {
	if c.slots.TryAcquire(1) {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, slotWait)
	defer cancel()
	err := c.slots.Acquire(waiting, 1)
	if err != nil && ctx.Err() == nil {
		return p.errFull()
	}
	return err
}

// startDelay returns how long the next request of a caller must wait.
func (p *SlotLimiter) startDelay(c *caller) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
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
	e := fault.New(fault.RateLimited, "The limit of %d requests of this kind at the same time is reached. "+
		"Wait until one of them ends.", p.max)
	e.RetryAfter = slotWait
	return e
}

// leave uncounts a request of a caller.
func (p *SlotLimiter) leave(c *caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.requests--; c.requests == 0 {
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
		if c.requests == 0 && now.Sub(c.last) >= idleTime {
			delete(p.callers, id)
		}
	}
}
