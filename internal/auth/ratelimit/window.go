package ratelimit

import (
	"context"
	"sync"
	"time"
)

// capacity is the number of subjects in a Window.
const capacity = 1_000_000

// overflow is the subject shared by all for which there is no room. It differs from
// every subject of Address.
var overflow = Subject{15: 1}

// Window is a limit counted in the memory of this process. When it is full, unknown
// subjects share one limit.
//
// Expired requests are not searched for. There are two generations of logs, and each
// request moves its subject to the recent one. Once per window the older generation
// is dropped with its memory, which a map would not free: all requests left in it
// are older than a window.
type Window struct {
	policy   Policy
	capacity int
	start    time.Time

	mu            sync.Mutex
	recent, older *generation   // guarded by mu
	rotated       time.Duration // guarded by mu; start of recent, relative to start
}

// NewWindow returns an empty window. It panics for an invalid policy.
func NewWindow(p Policy) *Window {
	p.check()
	return &Window{policy: p, capacity: capacity, start: time.Now(), recent: newGeneration(), older: newGeneration()}
}

// Take implements Limiter.
func (w *Window) Take(_ context.Context, s Subject) Decision {
	v, _ := w.decide(s, true)
	return v
}

// Peek implements Limiter.
func (w *Window) Peek(_ context.Context, s Subject) Decision {
	v, _ := w.decide(s, false)
	return v
}

// Len returns the number of subjects.
func (w *Window) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rotate(time.Since(w.start))
	return w.size()
}

// counted identifies a counted request.
type counted struct {
	of Subject // whose log it is in; may be overflow
	at time.Duration
}

func (w *Window) decide(s Subject, count bool) (Decision, counted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Since(w.start) // with the lock held, so that logs are ordered
	w.rotate(now)
	s, l := w.find(s)
	for l.n > 0 && w.recent.oldest(l)+w.policy.Window <= now {
		l = w.recent.pop(l)
	}
	ok := int(l.n) < w.policy.Limit
	if ok && count {
		l = w.recent.push(l, now)
	}
	w.recent.set(s, l)
	v := Decision{OK: ok, Remaining: w.policy.Limit - int(l.n)}
	if l.n > 0 {
		v.Reset = w.recent.oldest(l) + w.policy.Window - now
	}
	return v, counted{s, now}
}

// refund removes a counted request.
func (w *Window) refund(c counted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range []*generation{w.recent, w.older} {
		if l, ok := g.logs[c.of]; ok {
			g.set(c.of, g.remove(l, c.at))
			return
		}
	}
}

// rotate drops generations older than the window. w.mu is held.
func (w *Window) rotate(now time.Duration) {
	age := now - w.rotated
	if age < w.policy.Window {
		return
	}
	w.older, w.recent, w.rotated = w.recent, newGeneration(), now
	if age >= 2*w.policy.Window {
		w.older = newGeneration() // no request for a whole window
	}
}

// find returns the log of a subject, moved to the recent generation, and the subject
// that owns it: overflow if there is no room. w.mu is held.
func (w *Window) find(s Subject) (Subject, log) {
	if l, ok := w.recent.logs[s]; ok {
		return s, l
	}
	if l, ok := w.older.logs[s]; ok {
		delete(w.older.logs, s)
		return s, w.recent.copy(w.older, l)
	}
	if s != overflow && w.size() >= w.capacity {
		return w.find(overflow)
	}
	return s, log{}
}

// size returns the number of subjects. w.mu is held.
func (w *Window) size() int { return len(w.recent.logs) + len(w.older.logs) }
