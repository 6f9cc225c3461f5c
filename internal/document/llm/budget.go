package llm

import (
	"sync"
	"time"
)

// budget is what may be spent in a day of UTC. It is forgotten with the process.
type budget struct {
	requests, tokens int // 0 is no limit

	mu           sync.Mutex
	day          int // guarded by mu: since 1970
	usedRequests int // guarded by mu
	usedTokens   int // guarded by mu: with what is set aside for attempts under way
}

// take sets a request and about its tokens aside, if there are so many left.
func (b *budget) take(now time.Time, tokens int) bool {
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

// settle replaces what was set aside by what was spent.
func (b *budget) settle(aside, spent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.usedTokens = max(0, b.usedTokens+spent-aside)
}
