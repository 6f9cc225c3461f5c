package llm

import (
	"sync"
	"time"
)

const (
	failuresToOpen = 5
	firstRest      = time.Minute
	longestRest    = 15 * time.Minute
)

// breaker leaves an endpoint alone after failures in a row. When a rest is over,
// one attempt is let through; if it fails, the next rest is twice as long.
type breaker struct {
	mu       sync.Mutex
	failures int           // guarded by mu: in a row
	until    time.Time     // guarded by mu: the end of the rest; zero when closed
	length   time.Duration // guarded by mu: of the last rest
	probing  bool          // guarded by mu: the one attempt is under way
}

// enter reports whether an attempt may be made. Whoever enters returns how it went:
// succeed, fail or leave.
func (b *breaker) enter(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.until.IsZero():
		return true
	case now.Before(b.until) || b.probing:
		return false
	}
	b.probing = true
	return true
}

// leave ends an attempt that says nothing of the endpoint.
func (b *breaker) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

func (b *breaker) succeed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.until, b.length, b.probing = 0, time.Time{}, 0, false
}

// fail notes a failure, and reports whether a rest begins with it.
func (b *breaker) fail(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	if !b.probing && (b.failures < failuresToOpen || !b.until.IsZero()) {
		return false
	}
	b.probing = false
	b.length = min(max(2*b.length, firstRest), longestRest)
	b.until = now.Add(b.length)
	return true
}

// rest begins a rest that was asked for, unless there is a longer one.
func (b *breaker) rest(until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until.After(b.until) {
		b.until = until
	}
}

func (b *breaker) open(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.until)
}
