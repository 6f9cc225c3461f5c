package channel

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pregon/internal/retry"
)

// longestTurn is how long a message waits for its turn. Package delivery sends 64 messages
// at once, so that none is put off with one in a second.
const longestTurn = 70 * time.Second

// pace spaces messages, for services that accept a number in a second.
type pace struct {
	every time.Duration // 0: no limit

	mu   sync.Mutex // held for operations on memory only
	next time.Time
}

// perSecond returns the pace of a number of messages in a second, without a limit for 0.
func perSecond(n float64) *pace {
	if n <= 0 {
		return &pace{}
	}
	return &pace{every: time.Duration(float64(time.Second) / n)}
}

// wait waits for the turn of a message. ok is false if the turn does not come soon, or the
// context ends before; then the outcome says so.
func (p *pace) wait(ctx context.Context) (o Outcome, ok bool) { return p.waitAtMost(ctx, longestTurn) }

func (p *pace) waitAtMost(ctx context.Context, longest time.Duration) (o Outcome, ok bool) {
	delay := p.reserve(time.Now(), longest)
	if delay > longest {
		return Outcome{
			Untried:    true,
			RetryAfter: delay,
			Error:      fmt.Sprintf("too many messages at once: the limit is one every %v", p.every),
		}, false
	}
	if err := retry.Sleep(ctx, delay); err != nil {
		return Outcome{Untried: true, Error: "the message was not sent: the time for it was over"}, false
	}
	return Outcome{}, true
}

// reserve takes the next turn and returns how long it is until then. A turn that is further
// away than the longest is not taken.
func (p *pace) reserve(now time.Time, longest time.Duration) time.Duration {
	if p.every == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next.Before(now) {
		p.next = now
	}
	delay := p.next.Sub(now)
	if delay <= longest {
		p.next = p.next.Add(p.every)
	}
	return delay
}
