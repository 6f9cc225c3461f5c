package webhook

import (
	"context"
	"net"
	"net/http"
	"time"

	"pregon/internal/store"
)

// Pace has the intervals that tests shorten. Zero keeps the default.
type Pace struct {
	SendTimeout, Delay, Rest, ClaimFor, Poll, TooLong, Grace, LastWrites time.Duration
}

// Hasten sets the intervals.
func (m *Manager) Hasten(p Pace) {
	set := func(to *time.Duration, d time.Duration) {
		if d != 0 {
			*to = d
		}
	}
	set(&m.sendTimeout, p.SendTimeout)
	m.client.Timeout = 0 // each request has its own
	set(&m.backoff, p.Rest)
	set(&m.claimFor, p.ClaimFor)
	set(&m.poll, p.Poll)
	set(&m.maxFailing, p.TooLong)
	set(&m.grace, p.Grace)
	set(&m.settleTimeout, p.LastWrites)
	for i := range m.delays {
		set(&m.delays[i], p.Delay)
	}
}

// LimitRedelivery sets how many changes may be sent again at once.
func (m *Manager) LimitRedelivery(n int) { m.maxRedelivered = n }

// LimitSlots sets how many webhooks are served at a time.
func (m *Manager) LimitSlots(n int) { m.slots = n }

// Resolve sets the resolver that checks the addresses of new webhooks.
func (m *Manager) Resolve(r *net.Resolver) { m.resolver = r }

// Classify returns the result of an attempt after a number of earlier ones.
func (m *Manager) Classify(attempts, status int, retryAfter time.Duration) store.Result {
	d := &dispatcher{Manager: m}
	return d.result(store.Delivery{Attempts: attempts}, attempt{Attempt: store.Attempt{Status: status}, ok: status == 200, gone: status == 410, retryAfter: retryAfter})
}

// Tidy runs the hourly cleanup.
func (m *Manager) Tidy(ctx context.Context) error { return (&dispatcher{Manager: m}).prune(ctx) }

// Sign signs with one secret.
func Sign(h http.Header, key []byte, id string, at time.Time, body []byte) bool {
	return sign(h, []signer{{key: key}}, id, at, body)
}

var (
	Fit        = fit
	RetryAfter = retryAfter
	Excerpt    = excerpt
	Delays     = delays
)

const (
	LongestBody  = maxBody
	MostPerOwner = maxPerOwner
	LongestWait  = maxWait
	MostSecrets  = maxSecrets

	LongestFilters = maxFilters
)

// AllowTest counts a test of a webhook.
func (m *Manager) AllowTest(ctx context.Context, owner, id string) error {
	return m.allowTest(ctx, &hook{Webhook: Webhook{ID: id, Owner: owner}})
}

// CheckOwners runs the check of owners, which otherwise runs every minute.
func (m *Manager) CheckOwners(ctx context.Context) {
	(&dispatcher{Manager: m}).endGone(ctx)
}

// FanOutBatch fans out one batch of changes.
func (m *Manager) FanOutBatch(ctx context.Context) error { return m.fanOutBatch(ctx) }
