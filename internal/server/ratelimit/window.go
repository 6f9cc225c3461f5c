package ratelimit

import (
	"context"
	"slices"
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
	recent, older map[Subject]log // guarded by mu
	rotated       time.Duration   // guarded by mu; start of recent, relative to start
}

// log holds the times of a subject's allowed requests, oldest first.
type log []time.Duration

// NewWindow returns an empty window. It panics for an invalid policy.
func NewWindow(p Policy) *Window {
	p.check()
	return &Window{
		policy:   p,
		capacity: capacity,
		start:    time.Now(),
		recent:   map[Subject]log{},
	}
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
	for len(l) > 0 && l[0]+w.policy.Window <= now {
		l = l[1:]
	}
	ok := len(l) < w.policy.Limit
	if ok && count {
		l = append(l, now)
	}
	store(w.recent, s, l)
	v := Decision{OK: ok, Remaining: w.policy.Limit - len(l)}
	if len(l) > 0 {
		v.Reset = l[0] + w.policy.Window - now
	}
	return v, counted{s, now}
}

// refund removes a counted request.
func (w *Window) refund(c counted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, logs := range []map[Subject]log{w.recent, w.older} {
		if i, found := slices.BinarySearch(logs[c.of], c.at); found {
			store(logs, c.of, slices.Delete(logs[c.of], i, i+1))
		}
	}
}

// store stores the log of a subject, or removes an empty one.
func store(logs map[Subject]log, s Subject, l log) {
	if len(l) == 0 {
		delete(logs, s)
	} else {
		logs[s] = l
	}
}

// rotate drops generations older than the window. w.mu is held.
func (w *Window) rotate(now time.Duration) {
	age := now - w.rotated
	if age < w.policy.Window {
		return
	}
	w.older = w.recent
	w.recent = map[Subject]log{}
	w.rotated = now
	if age >= 2*w.policy.Window {
		w.older = nil // no request for a whole window
	}
}

// find returns the log of a subject, moved to the recent generation, and the subject
// that owns it: overflow if there is no room. w.mu is held.
func (w *Window) find(s Subject) (Subject, log) {
	if l, ok := w.recent[s]; ok {
		return s, l
	}
	if l, ok := w.older[s]; ok {
		delete(w.older, s)
		return s, l
	}
	if s != overflow && w.size() >= w.capacity {
		return w.find(overflow)
	}
	return s, nil
}

// size returns the number of subjects. w.mu is held.
func (w *Window) size() int { return len(w.recent) + len(w.older) }
