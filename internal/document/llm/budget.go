package llm

import (
	"sync"
	"time"
)

// budget limits the requests and tokens of a UTC day. It is not persisted.
type budget struct {
	requests, tokens int // limits; 0 for none

	mu           sync.Mutex
	day          int // guarded by mu: since 1970
	usedRequests int // guarded by mu
	usedTokens   int // guarded by mu: including reservations of attempts in progress
}

// reserve reserves a request and an estimate of its tokens. It reports whether the
// budget allows it.
func (b *budget) reserve(now time.Time, tokens int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if day := int(now.Unix() / (24 * 60 * 60)); day != b.day {
		b.day, b.usedRequests, b.usedTokens = day, 0, 0
	}
	if b.requests > 0 && b.usedRequests >= b.requests || b.tokens > 0 && b.usedTokens+tokens > b.tokens {
		return false
	}
	b.usedRequests++
	b.usedTokens += tokens
	return true
}

// settle replaces reserved tokens by the number spent.
func (b *budget) settle(reserved, spent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.usedTokens = max(0, b.usedTokens+spent-reserved)
}
