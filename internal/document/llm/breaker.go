package llm

import (
	"sync"
	"time"
)

const (
	failuresToOpen = 5
	firstPause     = time.Minute
	maxPause       = 15 * time.Minute
)

// breaker is a circuit breaker: after failures in a row it blocks all attempts for
// a pause. After the pause it allows one attempt, the probe. If that fails, the
// next pause is twice as long.
type breaker struct {
	mu       sync.Mutex
	failures int           // guarded by mu: in a row
	until    time.Time     // guarded by mu: the end of the pause; zero when closed
	length   time.Duration // guarded by mu: of the last pause
	probing  bool          // guarded by mu: the probe is in progress
}

// allow reports whether an attempt may be made. After it the caller calls succeed,
// fail or cancel.
func (b *breaker) allow(now time.Time) bool {
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

// cancel ends an attempt whose result does not depend on the endpoint's health.
func (b *breaker) cancel() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

func (b *breaker) succeed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.until, b.length, b.probing = 0, time.Time{}, 0, false
}

// fail counts a failure and reports whether it starts a pause.
func (b *breaker) fail(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	if !b.probing && (b.failures < failuresToOpen || !b.until.IsZero()) {
		return false
	}
	b.probing = false
	b.length = min(max(2*b.length, firstPause), maxPause)
	b.until = now.Add(b.length)
	return true
}

// pause starts a pause that the endpoint requested, unless a longer one is running.
func (b *breaker) pause(until time.Time) {
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
