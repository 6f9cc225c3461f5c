package llm

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Stats are counters since the start, for metrics.
type Stats struct {
	Requests uint64 // attempts
	Failures uint64 // attempts without an answer, including rejected dialects
	Tokens   uint64 // as the endpoint counts them, or else estimated
	Open     bool   // the breaker blocks requests now
}

const (
	failuresToOpen = 5
	firstPause     = time.Minute
	maxPause       = 15 * time.Minute
)

// state counts attempts, and limits them by a budget of tokens for each UTC day, which
// is not persisted, and by a circuit breaker: after failures in a row it blocks all
// attempts for a pause. If the first attempt after the pause fails, the next pause is
// twice as long.
type state struct {
	mu    sync.Mutex // guards the fields below
	stats Stats

	day  int64 // since 1970
	used int   // tokens of that day

	failures int           // in a row
	until    time.Time     // the end of the breaker's pause; zero when closed
	pause    time.Duration // the length of the last one
}

// Stats returns the counters.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Open = time.Now().Before(c.until)
	return s
}

// admit returns an error if the breaker or the budget blocks an attempt of so many
// tokens.
func (c *Client) admit(tokens int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Before(c.until) {
		return ErrOpen
	}
	if day := now.Unix() / (24 * 60 * 60); day != c.day {
		c.day, c.used = day, 0
	}
	if c.o.TokensPerDay > 0 && c.used+tokens > c.o.TokensPerDay {
		return ErrBudget
	}
	return nil
}

// record records the result of an attempt. A canceled attempt and a rejected dialect
// do not count as failures of the endpoint.
func (c *Client) record(ctx context.Context, f *failure, d dialect, tokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Requests++
	c.stats.Tokens += uint64(tokens)
	c.used += tokens
	if f == nil {
		c.failures = 0
		c.until = time.Time{}
		c.pause = 0
		return
	}
	c.stats.Failures++
	if _, simpler := d.simpler(f); simpler || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	c.failures++
	if c.until.IsZero() && c.failures < failuresToOpen {
		return
	}
	c.pause = min(max(2*c.pause, firstPause), maxPause)
	c.until = time.Now().Add(c.pause)
	c.log.Warn("the language model is not used for a while", "err", f)
}

// giveUp logs the last failure. A long wait that the endpoint requested becomes a
// pause of the breaker, unless a longer one is running.
func (c *Client) giveUp(f *failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(f.retryAfter); f.retryAfter > maxWait && until.After(c.until) {
		c.until = until
	}
	c.log.Info("the language model did not answer", "err", f)
}
