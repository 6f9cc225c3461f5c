package llm

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"pregon/internal/fault"
	"pregon/internal/retry"
)

const (
	maxAttempts = 4 // for one question, without rejected dialects
	firstWait   = 500 * time.Millisecond
	maxWait     = 8 * time.Second
	maxDialects = 6 // rejected for one question
)

// ask sends requests until there is an answer or a failure that a retry would not
// fix.
func (c *Client) ask(ctx context.Context, q question) (string, error) {
	var d dialect
	if known := c.dialect.Load(); known != nil {
		d = *known
	}
	for attempt, refused := 1, 0; ; attempt++ {
		a, f, err := c.once(ctx, q, d)
		if err != nil {
			return "", err
		}
		if f == nil {
			c.dialect.Store(&d)
			return a.text, nil
		}
		if next, ok := d.simpler(f); ok && refused < maxDialects {
			refused++
			attempt--
			d = next
			continue
		}
		pause := max(f.retryAfter, retry.Jitter(retry.Backoff(attempt-1, firstWait, maxWait)))
		if !f.again || attempt == maxAttempts || !fits(ctx, pause) {
			c.giveUp(f)
			return "", asFault(f)
		}
		c.log.Info("the language model is retried", "err", f, "in", pause)
		if err := retry.Sleep(ctx, pause); err != nil {
			return "", fault.Wrap(fault.Unavailable, err, "the language model did not answer in time")
		}
	}
}

// once makes one attempt if the breaker and the budget allow it.
func (c *Client) once(ctx context.Context, q question, d dialect) (answer, *failure, error) {
	if !c.breaker.allow(time.Now()) {
		c.stats.count(func(s *Stats) { s.Refused++ })
		return answer{}, nil, ErrOpen
	}
	estimate := (len(q.system) + len(q.user)) / 3 // a token has about three bytes in Spanish
	if !c.budget.reserve(time.Now(), estimate) {
		c.breaker.cancel()
		c.stats.count(func(s *Stats) { s.OverBudget++ })
		return answer{}, nil, ErrBudget
	}
	a, f := c.attempt(ctx, q, d)
	tokens := a.tokens
	if tokens == 0 && (f == nil || f.status == 0) { // the endpoint may have counted it
		tokens = estimate + len(a.text)/3
	}
	c.budget.settle(estimate, tokens)
	c.stats.count(func(s *Stats) {
		s.Requests++
		s.Tokens += uint64(tokens)
		if f != nil {
			s.Failures++
		}
	})
	c.record(ctx, f, d)
	return a, f, nil
}

// record passes the result of an attempt to the breaker. A canceled attempt and a
// rejected dialect do not count as failures of the endpoint.
func (c *Client) record(ctx context.Context, f *failure, d dialect) {
	if f == nil {
		c.breaker.succeed()
		return
	}
	_, simpler := d.simpler(f)
	if simpler || errors.Is(ctx.Err(), context.Canceled) {
		c.breaker.cancel()
		return
	}
	if c.breaker.fail(time.Now()) {
		c.log.Warn("the language model is not used for a while", "err", f)
	}
}

// giveUp logs the last failure. A long wait that the endpoint requested becomes a
// pause of the breaker.
func (c *Client) giveUp(f *failure) {
	if f.retryAfter > maxWait {
		c.breaker.pause(time.Now().Add(f.retryAfter))
	}
	c.log.Info("the language model did not answer", "err", f)
}

// fits reports whether the deadline of ctx allows a pause and another attempt.
func fits(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > pause+time.Second
}

// retryAfter parses a Retry-After header.
func retryAfter(header string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds > 0 {
		wait = time.Duration(min(seconds, maxPause.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return max(0, min(wait, maxPause))
}
