// Package webhook delivers changes to receivers, at addresses that callers gave.
//
// Package subscription keeps what accounts register, and package delivery sends. This
// package joins them for the callers of both.
//
// # Guarantees
//
// A change that a webhook selects is delivered at least once. If that fails,
// the account can see it and the reason. Deliveries of one webhook are sent in
// the order of the log, one at a time. Only a delivery that waits for a retry is
// overtaken. A delivery is sent twice only if its result could not be stored,
// because the process died or lost the store, or if its account requests it. Its
// webhook-id is the same each time.
//
// A webhook is paused while its account or the key with which it was made is not
// valid. Deliveries are created but not sent. The account can adopt it.
package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/push/webhook/delivery"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/store"
)

// The types of both packages that callers name.
type (
	Webhook       = subscription.Webhook
	Draft         = subscription.Draft
	Sealer        = subscription.Sealer
	Keys          = subscription.Keys
	AccountStatus = subscription.AccountStatus
	Encoder       = delivery.Encoder
	Stats         = delivery.Stats
)

// Store is the part of the store that webhooks need.
type Store interface {
	subscription.Store
	delivery.Store
}

// Options are a manager's collaborators. See subscription.Options and delivery.Options.
type Options struct {
	Store          Store
	Sealer         Sealer
	Encoder        Encoder // nil for a command that delivers nothing
	AllowPrivate   bool
	Client         *http.Client
	AccountStatus  func(account string) AccountStatus
	Keys           Keys
	Lists          subscription.Lists
	AccountTimeout time.Duration
	Logger         *slog.Logger
	Audit          func(ctx context.Context, event string, attrs ...slog.Attr)
	UserAgent      string
	Observe        func(host string, status int, delivered bool, start time.Time, took time.Duration)
}

// Manager keeps webhooks and delivers to them. It has the methods of both parts.
type Manager struct {
	*subscription.Registry
	*delivery.Service
}

// New returns a manager without webhooks. Refresh loads them.
func New(o Options) *Manager {
	registering := subscription.Options{
		Store:          o.Store,
		Sealer:         o.Sealer,
		AllowPrivate:   o.AllowPrivate,
		AccountStatus:  o.AccountStatus,
		Keys:           o.Keys,
		Lists:          o.Lists,
		AccountTimeout: o.AccountTimeout,
		Logger:         o.Logger,
		Audit:          o.Audit,
	}
	if o.Encoder != nil {
		registering.Epoch = func() string { return o.Encoder.Head().Epoch }
	}
	hooks := subscription.New(registering)
	return &Manager{
		Registry: hooks,
		Service: delivery.New(delivery.Options{
			Store:        o.Store,
			Encoder:      o.Encoder,
			Hooks:        hooks,
			Lists:        o.Lists,
			AllowPrivate: o.AllowPrivate,
			Client:       o.Client,
			Logger:       o.Logger,
			UserAgent:    o.UserAgent,
			Observe:      o.Observe,
		}),
	}
}

// Get returns a webhook and the state of its endpoint.
func (m *Manager) Get(ctx context.Context, by access.Reach, id string) (Webhook, store.Endpoint, error) {
	h, err := m.Find(ctx, by, id)
	if err != nil {
		return Webhook{}, store.Endpoint{}, err
	}
	endpoints, err := m.Endpoints(ctx, id)
	return h.Webhook, endpoints[id], err
}

// All returns every webhook with the state of its endpoint, ordered by account
// and age, for operators.
func (m *Manager) All(ctx context.Context) ([]Webhook, map[string]store.Endpoint, error) {
	all, err := m.Registry.All(ctx)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	endpoints, err := m.Endpoints(ctx, ids...)
	if err != nil {
		return nil, nil, err
	}
	return all, endpoints, nil
}

// MessageID returns the webhook-id of every attempt at a delivery.
func MessageID(d store.Delivery) string { return delivery.MessageID(d) }
