package llm

import (
	"sync"
	"time"
)

// Stats are counters since the start, for metrics.
type Stats struct {
	Requests   uint64 // attempts
	Failures   uint64 // attempts without an answer, including rejected dialects
	Tokens     uint64 // as the endpoint counts them, or else estimated
	OverBudget uint64 // questions that the budget blocked
	Refused    uint64 // questions that the breaker blocked
	Open       bool   // the breaker blocks requests now
}

type counters struct {
	mu    sync.Mutex
	stats Stats // guarded by mu
}

func (c *counters) count(change func(*Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.stats)
}

// Stats returns the counters.
func (c *Client) Stats() Stats {
	open := c.breaker.open(time.Now())
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	s := c.stats.stats
	s.Open = open
	return s
}
