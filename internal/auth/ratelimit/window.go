package ratelimit

import (
	"context"
	"sync"
	"time"
)

// capacity is how many subjects a Window remembers.
const capacity = 1_000_000

// overflow is the subject that all share for whom there was no room. No address
// is like it: see Address.
var overflow = Subject{15: 1}

// Window is a limit counted in the memory of this process. When it is full, the
// subjects it does not know share one limit.
//
// Nobody walks through its subjects to drop those whose requests are out of the
// window. There are two generations of logs instead, and who takes moves to the
// recent one. Every window the older one is dropped as a whole, with its memory,
// which a map would not give back otherwise: what is left in it was counted
// before it became the older one, a window ago at least.
type Window struct {
	policy   Policy
	capacity int
	start    time.Time

	mu            sync.Mutex
	recent, older *generation   // guarded by mu
	rotated       time.Duration // guarded by mu: when recent began, since start
}

// NewWindow returns a limit that has counted nothing. It panics if the policy
// is not one.
func NewWindow(p Policy) *Window {
	p.check()
	return &Window{policy: p, capacity: capacity, start: time.Now(), recent: newGeneration(), older: newGeneration()}
}

// Take lets a request in or not.
func (w *Window) Take(_ context.Context, s Subject) Decision {
	v, _ := w.decide(s, true)
	return v
}

// Look returns what Take would say.
func (w *Window) Peek(_ context.Context, s Subject) Decision {
	v, _ := w.decide(s, false)
	return v
}

// Len returns how many subjects are remembered.
func (w *Window) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rotate(time.Since(w.start))
	return w.size()
}

// counted is a request that a Window counted.
type counted struct {
	of Subject // in whose log it is, which may be the overflow's
	at time.Duration
}

func (w *Window) decide(s Subject, count bool) (Decision, counted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Since(w.start) // under the lock, so that logs are in order
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

// giveBack makes a request that was let in one that was not.
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

// turn drops the generations that are out of the window. w.mu is held.
func (w *Window) rotate(now time.Duration) {
	age := now - w.rotated
	if age < w.policy.Window {
		return
	}
	w.older, w.recent, w.rotated = w.recent, newGeneration(), now
	if age >= 2*w.policy.Window {
		w.older = newGeneration() // nobody came for a whole window
	}
}

// find returns the log of a subject and whose it is, which is the overflow's for
// a subject that finds no room. The log is of the recent generation. w.mu is held.
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

// size is how many subjects have a log. w.mu is held.
func (w *Window) size() int { return len(w.recent.logs) + len(w.older.logs) }
