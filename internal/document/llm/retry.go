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
	mostAttempts = 4 // for one question, the dialects not counted
	firstWait    = 500 * time.Millisecond
	longestWait  = 8 * time.Second
	mostDialects = 6 // refusals of dialects for one question
)

// try asks until there is an answer or no more use in asking.
func (c *Client) try(ctx context.Context, q question) (string, error) {
	d := c.dialect.get()
	for attempt, refused := 1, 0; ; attempt++ {
		a, f, err := c.once(ctx, q, d)
		if err != nil {
			return "", err
		}
		if f == nil {
			c.dialect.learn(d)
			return a.text, nil
		}
		if next, ok := d.simpler(f); ok && refused < mostDialects {
			refused++
			attempt--
			d = next
			continue
		}
		pause := max(f.retryAfter, retry.Jitter(retry.Backoff(attempt-1, firstWait, longestWait)))
		if !f.again || attempt == mostAttempts || !fits(ctx, pause) {
			c.giveUp(f)
			return "", asFault(f)
		}
		c.log.Info("the language model is asked again", "err", f, "in", pause)
		if err := retry.Sleep(ctx, pause); err != nil {
			return "", fault.Wrap(fault.Unavailable, err, "the language model did not answer in time")
		}
	}
}

// once makes one attempt, if the budget and the breaker let it.
func (c *Client) once(ctx context.Context, q question, d dialect) (answer, *failure, error) {
	if !c.breaker.enter(time.Now()) {
		c.stats.count(func(s *Stats) { s.Refused++ })
		return answer{}, nil, ErrOpen
	}
	guess := (len(q.system) + len(q.user)) / 3 // bytes to a token, in Spanish
	if !c.budget.take(time.Now(), guess) {
		c.breaker.leave()
		c.stats.count(func(s *Stats) { s.OverBudget++ })
		return answer{}, nil, ErrBudget
	}
	a, f := c.attempt(ctx, q, d)
	tokens := a.tokens
	if tokens == 0 && (f == nil || f.status == 0) { // it may have been counted there
		tokens = guess + len(a.text)/3
	}
	c.budget.settle(guess, tokens)
	c.stats.count(func(s *Stats) {
		s.Requests++
		s.Tokens += uint64(tokens)
		if f != nil {
			s.Failures++
		}
	})
	c.judge(ctx, f, d)
	return a, f, nil
}

// judge tells the breaker how an attempt went. What the caller ended says
// nothing of the endpoint, and neither does a dialect that it does not speak.
func (c *Client) judge(ctx context.Context, f *failure, d dialect) {
	if f == nil {
		c.breaker.succeed()
		return
	}
	_, simpler := d.simpler(f)
	if simpler || errors.Is(ctx.Err(), context.Canceled) {
		c.breaker.leave()
		return
	}
	if c.breaker.fail(time.Now()) {
		c.log.Warn("the language model is left alone for a while", "err", f)
	}
}

// giveUp keeps a long wait that an endpoint asked for.
func (c *Client) giveUp(f *failure) {
	if f.retryAfter > longestWait {
		c.breaker.rest(time.Now().Add(f.retryAfter))
	}
	c.log.Info("the language model was asked in vain", "err", f)
}

// fits reports whether there is time to wait and ask again.
func fits(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > pause+time.Second
}

// retryAfter reads the header of that name.
func retryAfter(header string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds > 0 {
		wait = time.Duration(min(seconds, longestRest.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return max(0, min(wait, longestRest))
}
