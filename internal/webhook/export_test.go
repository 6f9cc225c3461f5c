package webhook

import (
	"context"
	"net"
	"net/http"
	"time"

	"pregon/internal/store"
)

// Pace is what tests shorten. What is zero stays as it is.
type Pace struct {
	SendTimeout, Delay, Rest, ClaimFor, Poll, TooLong, Grace, LastWrites time.Duration
}

// Hasten sets the pace.
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

// Resolve has names looked up elsewhere when they are given.
func (m *Manager) Resolve(r *net.Resolver) { m.resolver = r }

// Judge returns what becomes of a delivery after so many attempts and this one.
func (m *Manager) Judge(attempts, status int, retryAfter time.Duration) store.Result {
	d := &dispatcher{Manager: m}
	return d.result(store.Delivery{Attempts: attempts}, attempt{Attempt: store.Attempt{Status: status}, ok: status == 200, gone: status == 410, retryAfter: retryAfter})
}

// Tidy does what is otherwise done hourly.
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
	MostSecrets  = maxSecrets

	LongestFilters = maxFilters
)

// AllowTest counts a test of a webhook.
func (m *Manager) AllowTest(ctx context.Context, owner, id string) error {
	return m.allowTest(ctx, &hook{Webhook: Webhook{ID: id, Owner: owner}})
}

// LookAfterOwners does what is otherwise done every minute.
func (m *Manager) LookAfterOwners(ctx context.Context) {
	(&dispatcher{Manager: m}).refreshOwners(ctx)
}

// FanSome hands some changes out.
func (m *Manager) FanSome(ctx context.Context) error { return m.fanOutBatch(ctx) }
