package llm

import (
	"sync"
	"time"
)

// Stats are what happened since the start, for metrics.
type Stats struct {
	Requests   uint64 // attempts
	Failures   uint64 // attempts without an answer, those of a wrong dialect too
	Tokens     uint64 // as the endpoint counts them, else guessed
	OverBudget uint64 // questions not asked for want of budget
	Refused    uint64 // questions not asked while the endpoint was left alone
	Open       bool   // it is left alone now
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
