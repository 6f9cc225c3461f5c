package delivery

import (
	"context"
	"net/http"
	"time"

	"pregon/internal/push/queue"
	"pregon/internal/store"
)

// Pace has the intervals that tests shorten. Zero keeps the default.
type Pace struct {
	SendTimeout, Delay, Rest, ClaimFor, Poll, TooLong, Grace, LastWrites time.Duration
}

// Hasten sets the intervals.
func (s *Service) Hasten(p Pace) {
	set := func(to *time.Duration, d time.Duration) {
		if d != 0 {
			*to = d
		}
	}
	set(&s.sender.timeout, p.SendTimeout)
	set(&s.Backoff, p.Rest)
	set(&s.ClaimFor, p.ClaimFor)
	set(&s.Poll, p.Poll)
	set(&s.maxFailing, p.TooLong)
	set(&s.Grace, p.Grace)
	set(&s.SettleTimeout, p.LastWrites)
	for i := range s.delays {
		set(&s.delays[i], p.Delay)
	}
}

// LimitRedelivery sets how many changes may be sent again at once.
func (s *Service) LimitRedelivery(n int) { s.maxRedelivered = n }

// LimitSlots sets how many webhooks are served at a time.
func (s *Service) LimitSlots(n int) { s.Slots = n }

// Classify returns the result of an attempt after a number of earlier ones.
func (s *Service) Classify(attempts, status int, retryAfter time.Duration) store.Result {
	d := &dispatcher{Service: s}
	return d.result(store.Delivery{Attempts: attempts}, attempt{
		Attempt:    store.Attempt{Status: status},
		ok:         status == 200,
		gone:       status == 410,
		retryAfter: retryAfter,
	})
}

// Tidy runs the hourly cleanup.
func (s *Service) Tidy(ctx context.Context) error {
	if err := queue.Prune(ctx, s.store); err != nil {
		return err
	}
	return s.dropRemoved(ctx)
}

// Sign signs with one secret.
func Sign(h http.Header, key []byte, id string, at time.Time, body []byte) bool {
	return sign(h, [][]byte{key}, id, at, body)
}

var (
	Fit        = fit
	RetryAfter = retryAfter
	Excerpt    = excerpt
)

const (
	LongestBody = maxBody
)

// AllowTest counts a test of a webhook.
func (s *Service) AllowTest(ctx context.Context, account, id string) error {
	return s.tests.allow(ctx, account, id)
}

// FanOutBatch fans out one batch of changes.
func (s *Service) FanOutBatch(ctx context.Context) error { return s.fan.Batch(ctx) }
