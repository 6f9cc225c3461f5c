package access

import (
	"context"
	"runtime"
	"sync"
	"time"

	"pregon/internal/fault"
)

const (
	briefly   = time.Second      // that a caller with all places taken waits for one
	patiently = 10 * time.Second // that a caller waits for its turn
	lingering = time.Second      // for which a caller without requests still counts
)

// Places bounds how many requests of one caller are in work at once, so that
// nobody's flood delays the others. A caller that is alone may use all of its
// places. Beside others it gets its share of what the processors can do at
// once, or what of it the others leave, and its other requests wait: they would
// only slow everybody down.
type Places struct {
	most  int // places of one caller
	share int // that all callers have together when there are several; 0: each has most

	mu      sync.Mutex
	running int                // guarded by mu: of all callers
	callers map[string]*caller // guarded by mu
	swept   time.Time          // guarded by mu: when callers that left were removed
}

// caller is one with requests in work, or lately.
type caller struct {
	running int
	waiting []chan struct{} // first come, first served; closed when it is its turn
	last    time.Time       // it left
}

// NewPlaces gives every caller so many places; shared says that callers share
// the processors beside.
func NewPlaces(most int, shared bool) *Places {
	p := &Places{most: most, callers: map[string]*caller{}}
	if shared {
		p.share = 2 * runtime.GOMAXPROCS(0)
	}
	return p
}

// Place is a place that somebody has. The zero value is none.
type Place struct {
	of     *Places
	caller *caller
}

// Leave gives the place back.
func (p *Place) Leave() {
	if p.of != nil {
		p.of.leave(p.caller)
	}
	*p = Place{}
}

// Enter waits for a place. It fails, RateLimited, when there is none in time.
func (p *Places) Enter(ctx context.Context, id string) (Place, error) {
	p.mu.Lock()
	p.sweep(time.Now())
	c := p.callers[id]
	if c == nil {
		c = &caller{}
		p.callers[id] = c
	}
	if len(c.waiting) == 0 && p.mayRun(c) {
		p.run(c)
		p.mu.Unlock()
		return Place{of: p, caller: c}, nil
	}
	longest := patiently
	if c.running+len(c.waiting) >= p.most {
		longest = briefly
	}
	if len(c.waiting) >= 2*p.most { // waiting has a bound too
		p.mu.Unlock()
		return Place{}, p.full()
	}
	turn := make(chan struct{})
	c.waiting = append(c.waiting, turn)
	p.mu.Unlock()

	timer := time.NewTimer(longest)
	defer timer.Stop()
	err := p.full()
	select {
	case <-turn:
		return Place{of: p, caller: c}, nil
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range c.waiting {
		if w == turn {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			return Place{}, err
		}
	}
	return Place{of: p, caller: c}, nil // it was given in this very moment
}

func (p *Places) full() error {
	e := fault.New(fault.RateLimited, "You have %d requests of this kind in work, which is the most at once. Wait for some of them.", p.most)
	e.RetryAfter = briefly
	return e
}

// mayRun reports whether one more request of a caller may run. p.mu is held.
func (p *Places) mayRun(c *caller) bool {
	if c.running >= p.most {
		return false
	}
	return p.share == 0 || len(p.callers) < 2 || p.running < p.share || c.running < max(1, p.share/len(p.callers))
}

// run takes a place. p.mu is held.
func (p *Places) run(c *caller) {
	c.running++
	p.running++
}

// leave gives a place to the next of the same caller.
func (p *Places) leave(c *caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.running--
	p.running--
	for len(c.waiting) > 0 && p.mayRun(c) {
		close(c.waiting[0])
		c.waiting = c.waiting[1:]
		p.run(c)
	}
	if c.running == 0 {
		c.last = time.Now()
		p.sweep(c.last)
	}
}

// sweep forgets callers that left a while ago. p.mu is held.
func (p *Places) sweep(now time.Time) {
	if now.Sub(p.swept) < lingering {
		return
	}
	p.swept = now
	for id, c := range p.callers {
		if c.running == 0 && len(c.waiting) == 0 && now.Sub(c.last) >= lingering {
			delete(p.callers, id)
		}
	}
}
