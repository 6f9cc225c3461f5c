// Package authorization holds what decides on access, and the audit log of it.
package authorization

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"pregon/internal/auth"
	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/server/telemetry"
	"pregon/internal/service/lifecycle"
	"pregon/internal/store"
)

// Settings are the choices of the operator.
type Settings struct {
	Config         auth.Config    // identity providers and plans
	Box            *secret.Box    // seals secrets in the store
	AuditFile      string         // to which security events are appended; empty for none
	Proxies        access.Proxies // whose X-Forwarded-For is trusted
	Redis          string         // through which all replicas count together; empty for none
	AnonymousLimit int            // requests a minute of an address without a credential, 0 for no limit
	MaxRequests    int            // of one caller at the same time, 0 for no limit
	SignIn         bool           // people may sign in
}

// Options are the settings of an Authorization and what it needs.
type Options struct {
	Settings
	Store   store.Store
	BaseURL string
	Demo    bool // the market is simulated, and clients are on this machine
	Logger  *slog.Logger
}

// Authorization decides on access.
type Authorization struct {
	*auth.Auth
	Audit access.Audit

	file *AuditFile
	stop func() error // ends the opening of the file on SIGHUP
}

// New loads the keys from the store.
func New(ctx context.Context, o Options) (*Authorization, error) {
	a := &Authorization{}
	var err error
	if a.Audit, a.file, err = OpenAudit(o.AuditFile, o.Logger); err != nil {
		return nil, err
	}
	a.stop = a.file.reopenOnHangup(o.Logger)
	a.Auth, err = auth.New(ctx, auth.Options{
		Config:         o.Config,
		Store:          o.Store,
		Box:            o.Box,
		BaseURL:        o.BaseURL,
		Proxies:        o.Proxies,
		Redis:          o.Redis,
		AnonymousLimit: o.AnonymousLimit,
		MaxRequests:    o.MaxRequests,
		SignIn:         o.SignIn,
		Demo:           o.Demo,
		Audit:          a.Audit,
		Logger:         o.Logger,
	})
	if err != nil {
		return nil, errors.Join(err, a.closeAudit())
	}
	return a, nil
}

// Close ends the connection to Redis and closes the audit log.
func (a *Authorization) Close() error { return errors.Join(a.Auth.Close(), a.closeAudit()) }

func (a *Authorization) closeAudit() error { return errors.Join(a.stop(), a.file.Close()) }

// Start follows the keys, accounts and signing keys of the store.
func (a *Authorization) Start(g *lifecycle.Group) { g.UntilServed(a.Run) }

// Observe registers the metrics of access.
func (a *Authorization) Observe(m *telemetry.Metrics) {
	for _, outcome := range access.Outcomes {
		m.CounterOf("pregon_access_requests_total",
			"Requests by outcome of authorization.", "outcome", outcome, func() float64 {
				return float64(a.Requests(outcome))
			})
	}
	m.Gauge("pregon_access_keys_last_sync_timestamp_seconds",
		"When all keys of the store were last known.", func() float64 {
			return telemetry.Timestamp(time.Now().Add(-a.Keys.Behind()))
		})
	m.Gauge("pregon_ratelimit_callers", "Addresses and keys for which requests are counted.", func() float64 {
		return float64(a.Counted())
	})
	if a.Redis != nil {
		m.Gauge("pregon_ratelimit_redis_up",
			"1 while Redis answers and all replicas count together, else 0. Only with --redis.", func() float64 {
				return telemetry.Bool(a.Redis.Up())
			})
	}
}
