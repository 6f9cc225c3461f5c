// Package accounttest provides an account service over a real store, for the tests of
// the service and of the console.
package accounttest

import (
	"context"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/account"
	"pregon/internal/auth"
	"pregon/internal/auth/access"
	accounts "pregon/internal/auth/account"
	"pregon/internal/auth/oauth"
	"pregon/internal/auth/sealing"
	"pregon/internal/auth/secret"
	"pregon/internal/auth/signin"
	"pregon/internal/auth/token"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/push/alert/alerttest"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/events"
	"pregon/internal/push/watchlist"
	"pregon/internal/push/webhook"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/source/coverage"
	"pregon/internal/store/sqlite"
)

const (
	// BaseURL is the address of the service.
	BaseURL = "https://pregon.example"
	// Issuer is the address of the provider of people.
	Issuer = "https://idp.example"
	// sessionCookie is the cookie of a session.
	sessionCookie = "__Host-pregon-session"
)

// World is a service with all that it depends on.
type World struct {
	t          testing.TB
	Path       string // of the file of the store
	Store      *sqlite.Store
	Auth       *auth.Auth
	Catalog    *catalog.Catalog
	Query      *query.Service
	Webhooks   *webhook.Manager
	Watchlists *watchlist.Registry
	Alerts     *subscription.Registry
	Senders    *alerttest.Senders // of the alerts
	Account    *account.Service
	Sealer     *sealing.Key
	Audit      []string // names of events
}

// New returns a service with a small market. The plan pro allows 1000 requests a minute,
// and enterprise two.
func New(t testing.TB) *World {
	t.Helper()
	w := Empty(t)
	b := querytest.Market()
	b.New = disclosure.Published
	querytest.Append(t, w.Store, w.Catalog, b)
	return w
}

// Empty returns a service whose catalogue is not loaded.
func Empty(t testing.TB) *World {
	t.Helper()
	w := &World{t: t, Path: filepath.Join(t.TempDir(), "pregon.db")}
	db, err := sqlite.Open(t.Context(), w.Path, sqlite.Options{Create: true})
	w.check(err)
	t.Cleanup(func() { db.Close() })
	w.Store = db
	quiet := slog.New(slog.DiscardHandler)
	box, err := secret.NewBox("")
	w.check(err)
	w.Auth, err = auth.New(t.Context(), auth.Options{
		Config:      config(),
		Store:       db,
		Box:         box,
		BaseURL:     BaseURL,
		MaxRequests: 16,
		SignIn:      true,
		Audit:       func(_ context.Context, event string, _ ...slog.Attr) { w.Audit = append(w.Audit, event) },
		Logger:      quiet,
	})
	w.check(err)
	w.Sealer = sealing.New(db, box, quiet)
	w.check(w.Sealer.LoadOrCreate(t.Context()))
	w.Catalog = catalog.New(db, quiet)
	hub := events.NewHub(w.Catalog, db)
	w.Watchlists = watchlist.New(watchlist.Options{
		Store:  db,
		Sealer: box,
		Reach:  w.Auth.Keys.Reach,
		Logger: quiet,
	})
	w.Query = query.New(query.Options{
		Catalog:    w.Catalog,
		Coverage:   coverage.New(db),
		Documents:  db,
		Lacks:      hub.Lacks,
		Log:        db,
		Watchlists: w.Watchlists,
		Shared:     func() string { return "off" },
		Source:     func() string { return "demo" },
	})
	w.Webhooks = webhook.New(webhook.Options{
		Store:        db,
		Sealer:       box,
		Encoder:      hub,
		AllowPrivate: true,
		Keys:         w.Auth.Keys,
		Lists:        w.Watchlists,
		Logger:       quiet,
	})
	w.Alerts, w.Senders = alerttest.New(t, db)
	w.Account = account.New(account.Options{
		Query:      w.Query,
		Guard:      w.Auth.Guard,
		Keys:       w.Auth.Keys,
		Accounts:   w.Auth.Accounts,
		Webhooks:   w.Webhooks,
		Watchlists: w.Watchlists,
		Alerts:     w.Alerts,
		Usage:      w.Auth.Usage,
		BaseURL:    BaseURL,
	})
	return w
}

// config has a provider, limits of plans, and an application that the operator knows.
func config() auth.Config {
	return auth.Config{
		Plans: map[string]auth.Plan{"pro": {RequestsPerMinute: 1000}, "enterprise": {RequestsPerMinute: 2}},
		SignIn: auth.SignIn{
			Config: signin.Config{Providers: []signin.Provider{{
				ID:       "corp",
				Name:     `Corp <b>"'`,
				Issuer:   Issuer,
				ClientID: "pregon",
				Allow:    signin.Rules{Anyone: true},
			}}},
			OAuth: oauth.Config{Clients: []oauth.ClientConfig{{
				Client:       token.Client{ID: "desk", Auth: token.AuthNone},
				Name:         "Desk",
				RedirectURIs: []string{"https://app.example/callback", "http://127.0.0.1:8080/cb", "cursor://x/y"},
			}}},
		},
	}
}

func (w *World) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// SignInAs signs somebody in with the provider, and returns the caller and the cookie of
// the session. The plan is pro.
func (w *World) SignInAs(name string, operator bool) (by access.Principal, cookie string) {
	w.t.Helper()
	return w.SignIn(accounts.Account{
		ID:       Issuer + "#" + name,
		Provider: "corp",
		Name:     name,
		Email:    name + "@example.com",
		Plan:     "pro",
		Scopes:   access.ReadReports | access.ReadIssuers,
		Operator: operator,
	}, "")
}

// SignIn signs in to an account, with a key or, if that is empty, with the provider.
func (w *World) SignIn(profile accounts.Account, key string) (by access.Principal, cookie string) {
	w.t.Helper()
	opened, raw, err := w.Auth.Accounts.SignIn(w.t.Context(), profile,
		accounts.Session{Agent: "Browser of " + profile.Name, Key: key})
	w.check(err)
	one, _ := w.Auth.Accounts.Account(profile.ID)
	state := w.Auth.Accounts.SessionState(one, opened)
	by = access.Principal{
		ID:         profile.ID,
		Mode:       access.BySession,
		Scope:      state.Scope,
		Expires:    opened.ExpiresAt,
		Credential: opened.ID,
		Key:        key,
		Plan:       state.Plan,
		Operator:   state.Operator,
	}
	return by, w.Sealer.SealToken(sessionCookie, strings.Join([]string{profile.ID, opened.ID, raw}, "\n"))
}

// SignInWith signs in with a key, and returns the caller and the cookie of the session.
func (w *World) SignInWith(key account.Key) (by access.Principal, cookie string) {
	w.t.Helper()
	one, known := w.Auth.Accounts.Account(key.Account)
	if !known {
		one = accounts.Account{ID: key.Account, Name: key.Name, Plan: key.Plan, Scopes: access.AllScopes}
	}
	return w.SignIn(one, key.ID)
}

// FirstKey creates a key as operators do on the command line, and returns who sends it.
func (w *World) FirstKey(k access.Key) access.Principal {
	w.t.Helper()
	_, raw, err := w.Auth.Keys.Create(w.t.Context(), k)
	w.check(err)
	return w.Sends(raw)
}

// Sends returns the caller who sends a key.
func (w *World) Sends(raw string) access.Principal {
	w.t.Helper()
	p, err := w.Auth.Keys.ByText(w.t.Context(), raw, netip.MustParseAddr("192.0.2.1"))
	w.check(err)
	return p
}

// Grant lets an application act for an account, and returns its id.
func (w *World) Grant(id, name string) string {
	w.t.Helper()
	g := accounts.Grant{
		ID:         accounts.NewGrantID(),
		ClientID:   "desk",
		ClientName: name,
		ClientHost: "desk.example",
		Resource:   BaseURL,
		Scopes:     access.ReadReports,
	}
	_, err := w.Auth.Accounts.AddGrant(w.t.Context(), id, g)
	w.check(err)
	return g.ID
}
