// Package push holds what sends changes to clients: the hub of events, from which
// streams and subscriptions read, the watchlists, and the webhooks.
package push

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/catalog"
	"pregon/internal/push/events"
	"pregon/internal/push/ticket"
	"pregon/internal/push/watchlist"
	"pregon/internal/push/webhook"
	"pregon/internal/server/telemetry"
	"pregon/internal/service/lifecycle"
	"pregon/internal/store"
)

// Settings are the choices of the operator.
type Settings struct {
	AllowPrivate   bool          // webhooks may have any address and use plain http
	AccountTimeout time.Duration // without use after which the subject of a token is gone; 0 for never
	Alerts         AlertSettings
	Watchlists     WatchlistSettings
}

// WatchlistSettings are the limits of watchlists.
type WatchlistSettings struct {
	Lists   int // of an account
	Entries int // of a list
}

// Options are the settings of a Push and what it needs.
type Options struct {
	Settings
	Catalog   *catalog.Catalog
	Log       store.Store
	Records   store.Records  // that are followed and read again when a backup was restored
	Primary   events.Primary // the store itself: not a standby, which may be behind
	Accounts  Accounts
	Box       *secret.Box // seals the secrets of webhooks
	Audit     access.Audit
	UserAgent string
	BaseURL   string // of the service, for links in messages
	Delivers  bool   // this process delivers to webhooks
	Logger    *slog.Logger
	// ObserveDelivery, if not nil, is called after every attempt.
	ObserveDelivery func(host string, status int, delivered bool, start time.Time, took time.Duration)
}

// Push sends changes to clients.
type Push struct {
	Events      *events.Hub
	Connections *events.ConnLimiter
	Webhooks    *webhook.Manager
	Watchlists  *watchlist.Registry
	Tickets     *ticket.Registry // of streams
	Alerts      *Alerts

	delivers bool
}

// New reads the webhooks from the store.
func New(ctx context.Context, o Options) (*Push, error) {
	p := &Push{
		Events:      events.NewHub(o.Catalog, o.Log),
		Connections: &events.ConnLimiter{},
		delivers:    o.Delivers,
	}
	p.Events.SetPrimary(o.Primary)
	p.Watchlists = watchlist.New(watchlist.Options{
		Store:      o.Records,
		Sealer:     o.Box,
		Reach:      o.Accounts.Keys.Reach,
		Serves:     o.Accounts.Serves,
		Ended:      o.Accounts.Ended,
		MaxLists:   o.Settings.Watchlists.Lists,
		MaxEntries: o.Settings.Watchlists.Entries,
		Logger:     o.Logger,
		Audit:      o.Audit,
	})
	p.Tickets = ticket.New(ticket.Options{Store: o.Records, Logger: o.Logger})
	p.Webhooks = webhook.New(webhook.Options{
		Lists:          p.Watchlists,
		Store:          o.Log,
		Sealer:         o.Box,
		Encoder:        p.Events,
		AllowPrivate:   o.AllowPrivate,
		AccountStatus:  o.Accounts.Status,
		Keys:           o.Accounts.Keys,
		AccountTimeout: o.AccountTimeout,
		Logger:         o.Logger,
		Audit:          o.Audit,
		UserAgent:      o.UserAgent,
		Observe:        o.ObserveDelivery,
	})
	var err error
	if p.Alerts, err = newAlerts(ctx, o, p); err != nil {
		return nil, err
	}
	return p, errors.Join(
		p.Webhooks.Refresh(ctx),
		p.Watchlists.Refresh(ctx),
		p.Tickets.Refresh(ctx),
		p.Alerts.Refresh(ctx),
	)
}

// Start delivers to webhooks, or follows them, and wakes listeners when the state of the
// source changes.
func (p *Push) Start(g *lifecycle.Group, state func() events.State) {
	g.UntilServed(func(ctx context.Context) error { p.Events.Watch(ctx, state); return nil })
	if p.delivers {
		g.UntilServed(p.Watchlists.Maintain)
		g.UntilServed(p.Tickets.Maintain)
	} else {
		g.UntilServed(p.Watchlists.Follow)
		g.UntilServed(p.Tickets.Follow)
	}
	p.Alerts.start(g)
	if p.delivers {
		g.LoadedUntilStop(p.Webhooks.Run) // filters may name what only the directory knows
	} else {
		g.UntilServed(p.Webhooks.Follow)
	}
}

// Close closes connections to mail servers.
func (p *Push) Close() error {
	p.Alerts.senders.Close()
	return nil
}

// Observe registers the metrics of listeners and webhooks.
func (p *Push) Observe(m *telemetry.Metrics) {
	m.Gauge("pregon_push_listeners", "Open streams, long polls and subscriptions.", func() float64 {
		return float64(p.Connections.Open())
	})
	m.Counter("pregon_push_slow_listeners_total",
		"Streams and subscriptions that were ended because the client read too slowly.", func() float64 {
			return float64(p.Connections.Cut())
		})
	p.Alerts.observe(m)
	if p.delivers {
		observeWebhooks(m, p.Webhooks.Stats)
	}
}

func observeWebhooks(m *telemetry.Metrics, stats func() webhook.Stats) {
	value := func(of func(webhook.Stats) int64) func() float64 {
		return func() float64 { return float64(of(stats())) }
	}
	const attempts = "Attempts to deliver an event to a webhook by outcome."
	m.CounterOf("pregon_webhook_attempts_total", attempts, "outcome", "delivered",
		value(func(s webhook.Stats) int64 { return s.Delivered }))
	m.CounterOf("pregon_webhook_attempts_total", attempts, "outcome", "failed",
		value(func(s webhook.Stats) int64 { return s.Failed }))
	m.Counter("pregon_webhook_retries_total",
		"Attempts after the first of a delivery.", value(func(s webhook.Stats) int64 { return s.Retried }))
	m.Counter("pregon_webhook_abandoned_total",
		"Deliveries that were given up.", value(func(s webhook.Stats) int64 { return s.Dead }))
	m.Gauge("pregon_webhook_pending_changes",
		"Changes not yet matched with webhooks.", func() float64 { return float64(stats().Lag) })
	m.Gauge("pregon_webhook_disabled",
		"Webhooks that are disabled, by their owner or by the service.",
		func() float64 { return float64(stats().Disabled) })
	m.Gauge("pregon_webhook_deliveries_in_flight",
		"Deliveries that are being sent.", func() float64 { return float64(stats().InFlight) })
	m.Counter("pregon_webhook_matching_seconds_total",
		"Time spent on matching changes with the filters of webhooks.", func() float64 {
			return stats().Matching.Seconds()
		})
	m.Gauge("pregon_webhook_matching_costliest_owner_seconds",
		"The part of pregon_webhook_matching_seconds_total of the owner with the longest time.", func() float64 {
			return stats().CostliestAccount.Seconds()
		})
}
