package llm

import (
	"context"
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
	d := c.dialect
	for attempt, refused := 1, 0; ; attempt++ {
		a, f, err := c.once(ctx, q, d)
		if err != nil {
			return "", err
		}
		if f == nil {
			c.dialect = d
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
			return "", fault.Wrap(fault.Unavailable, f, "the language model cannot be used")
		}
		c.log.Info("the language model is retried", "err", f, "delay_seconds", pause.Seconds())
		if err := retry.Sleep(ctx, pause); err != nil {
			return "", fault.Wrap(fault.Unavailable, err, "the language model did not answer in time")
		}
	}
}

// once makes one attempt if the breaker and the budget allow it.
func (c *Client) once(ctx context.Context, q question, d dialect) (answer, *failure, error) {
	estimate := (len(q.system) + len(q.user)) / 3 // a token has about three bytes in Spanish
	if err := c.admit(estimate); err != nil {
		return answer{}, nil, err
	}
	start := time.Now()
	a, f := c.attempt(ctx, q, d)
	if c.o.Trace != nil {
		c.o.Trace(q.model, f.statusCode(), start)
	}
	tokens := a.tokens
	if tokens == 0 && (f == nil || f.status == 0) { // the endpoint may have counted it
		tokens = estimate + len(a.text)/3
	}
	c.record(ctx, f, d, tokens)
	return a, f, nil
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
