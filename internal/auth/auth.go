// Package auth puts together everything that decides on access: keys, tokens,
// limits and the guard that every surface asks.
package auth

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/jwks"
	"pregon/internal/auth/oauth"
	"pregon/internal/auth/sealing"
	"pregon/internal/auth/secret"
	"pregon/internal/auth/signin"
	"pregon/internal/auth/token"
	"pregon/internal/auth/usage"
	"pregon/internal/server/outbound"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
)

const (
	// siteFactor is the limit of a /48 network of IPv6 as a multiple of the limit of
	// one address. It holds 65,536 networks that count as one address each.
	siteFactor = 10
	// maxRefused is how many bad credentials, and how many bad requests for a
	// token, an address may send in a minute.
	maxRefused = 30
	// maxSignIns and maxKeySignIns are how often an address, and how often the holders
	// of a key, may sign in with keys in a minute.
	maxSignIns    = 60
	maxKeySignIns = 30
	// maxTokenRequests and maxClientRequests are how many requests for tokens, and to
	// revoke them, an address and a client may send in a minute. The agents of a vendor
	// share few addresses.
	maxTokenRequests  = 600
	maxClientRequests = 60
)

// Options configure an Auth.
type Options struct {
	Config         Config
	Store          store.Store
	Box            *secret.Box // seals the signing keys
	BaseURL        string
	Proxies        access.Proxies
	Redis          string // address through which all replicas count together, empty for none
	AnonymousLimit int    // requests a minute of an address without a credential, 0 for no limit
	MaxRequests    int    // of one caller at the same time, 0 for no limit
	SignIn         bool   // people may sign in
	Demo           bool   // the market is simulated, and clients are on this machine
	Audit          access.Audit
	Logger         *slog.Logger
}

// Auth decides on access.
type Auth struct {
	Guard    *access.Guard
	Keys     *access.Keyring
	Accounts *account.Accounts
	Tokens   *token.Server
	SignIn   *signin.Service  // nil when nobody can sign in
	OAuth    *oauth.Server    // nil when nobody can sign in
	Redis    *ratelimit.Redis // nil when each replica counts for itself
	Usage    *usage.Counter   // of callers with a credential
	OnToken  func(subject string)

	issuers  []string // whose assertions are trusted
	ring     *token.Ring
	sealing  *sealing.Key
	outcomes map[string]*atomic.Int64
	limits   []interface{ Len() int }
}

// New loads the keys from the store. The caller sets OnToken, which is called
// with the subject of every valid token, before it serves requests.
func New(ctx context.Context, o Options) (a *Auth, err error) {
	a = &Auth{outcomes: map[string]*atomic.Int64{}, OnToken: func(string) {}}
	for _, outcome := range access.Outcomes {
		a.outcomes[outcome] = new(atomic.Int64)
	}
	if o.Redis != "" {
		if a.Redis, err = ratelimit.OpenRedis(o.Redis, o.Logger); err != nil {
			return nil, err
		}
	}
	if err := a.load(ctx, o); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Auth) load(ctx context.Context, o Options) (err error) {
	a.Keys = access.NewKeyring(o.Store, o.Audit)
	a.Accounts = account.New(account.Options{
		Store: o.Store,
		Key:   a.Keys.State,
		Configured: func(provider, account string) bool {
			return o.Config.SignIn.Has(provider, account) || o.Demo && signin.IsDemo(provider, account)
		},
		Audit:    o.Audit,
		OnChange: a.Keys.Broadcast,
		Logger:   o.Logger,
	})
	a.Keys.SetAccounts(a.Accounts)
	if err := errors.Join(a.Accounts.Refresh(ctx), a.Keys.Refresh(ctx)); err != nil {
		return err
	}
	a.Usage = usage.New(o.Store, o.Logger)
	a.ring = token.NewRing(o.Store, o.Box, o.Logger)
	a.ring.OnChange = a.Keys.Broadcast // wakes streams whose token is no longer good
	created, err := a.ring.LoadOrCreate(ctx)
	if err != nil {
		return err
	}
	if created != "" {
		o.Audit(ctx, "signing_key.created", slog.String("kid", created))
	}
	a.Tokens, err = token.New(token.Options{
		Config:    o.Config.Config,
		BaseURL:   o.BaseURL,
		Ring:      a.ring,
		Nonces:    o.Store,
		Keys:      keySource(o.Logger),
		Client:    o.Proxies.Client,
		Failures:  a.perMinute("token", maxRefused),
		Audit:     o.Audit,
		Addresses: a.perMinute("token-address", maxTokenRequests),
		Clients:   a.perMinute("token-client", maxClientRequests),
	})
	if err != nil {
		return err
	}
	a.sealing = sealing.New(o.Store, o.Box, o.Logger)
	if err := a.sealing.LoadOrCreate(ctx); err != nil {
		return err
	}
	if o.SignIn {
		a.SignIn, err = signin.New(signin.Options{
			Config:    o.Config.SignIn.Config,
			BaseURL:   o.BaseURL,
			Demo:      o.Demo,
			Accounts:  a.Accounts,
			Keys:      a.Keys,
			Sealer:    a.sealing,
			Nonces:    o.Store,
			Client:    o.Proxies.Client,
			Refused:   a.perMinute("signin", maxRefused),
			Audit:     o.Audit,
			Logger:    o.Logger,
			ByAddress: a.perMinute("signin-address", maxSignIns),
			ByKey:     a.perMinute("signin-key", maxKeySignIns),
		})
		if err != nil {
			return err
		}
		a.OAuth, err = oauth.New(oauth.Options{
			Config:   o.Config.SignIn.OAuth,
			BaseURL:  o.BaseURL,
			Sealer:   a.sealing,
			Tokens:   a.Tokens,
			Accounts: a.Accounts,
			Nonces:   o.Store,
			Client:   o.Proxies.Client,
			Audit:    o.Audit,
			Logger:   o.Logger,
		})
		if err != nil {
			return err
		}
	}
	for _, i := range o.Config.Issuers {
		a.issuers = append(a.issuers, i.Issuer)
	}
	plans := map[string]*access.Limit{}
	for name, plan := range o.Config.Plans {
		plans[name] = a.perMinute(name, plan.RequestsPerMinute)
	}
	var slots, expensive *access.SlotLimiter
	if o.MaxRequests > 0 {
		slots, expensive = access.NewSlotLimiter(o.MaxRequests,
			true), access.NewSlotLimiter(max(1, o.MaxRequests/8), false)
	}
	a.Guard = access.NewGuard(access.Options{
		Slots:         slots,
		Expensive:     expensive,
		BaseURL:       o.BaseURL,
		Keys:          a.Keys,
		Tokens:        a.Tokens.Verify,
		Signs:         a.ring.Trusts,
		Accounts:      a.Accounts,
		Proxies:       o.Proxies,
		Audit:         o.Audit,
		Refused:       a.perMinute("refused", maxRefused),
		Plans:         plans,
		Anonymous:     a.perMinute("anonymous", o.AnonymousLimit),
		AnonymousSite: a.perMinute("anonymous-site", min(siteFactor*o.AnonymousLimit, 1_000_000)),
		Observe:       func(outcome string) { a.outcomes[outcome].Add(1) },
		OnToken:       func(p access.Principal) { a.OnToken(p.ID) },
		Count:         a.Usage.Count,
	})
	return nil
}

// Run follows the changes that other processes make to keys, and stores the counts
// of use, until the context ends.
func (a *Auth) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.Keys.Follow(ctx) })
	g.Go(func() error { return a.Accounts.Follow(ctx) })
	g.Go(func() error { return a.ring.Follow(ctx) })
	g.Go(func() error { return a.sealing.Follow(ctx) })
	g.Go(func() error { a.Usage.Run(ctx); return nil })
	if a.Redis != nil {
		g.Go(func() error { a.Redis.Run(ctx); return nil })
	}
	return g.Wait()
}

// Close closes the connection to Redis.
func (a *Auth) Close() error {
	if a.Redis == nil {
		return nil
	}
	return a.Redis.Close()
}

// Trusts reports whether the configuration names an issuer of assertions.
func (a *Auth) Trusts(issuer string) bool { return slices.Contains(a.issuers, issuer) }

// Requests returns how many requests had an outcome, one of access.Outcomes.
func (a *Auth) Requests(outcome string) int64 { return a.outcomes[outcome].Load() }

// Counted returns the number of addresses and keys whose requests are counted.
func (a *Auth) Counted() (n int) {
	for _, l := range a.limits {
		n += l.Len()
	}
	return n
}

// Shared returns whether all replicas count requests together: off, up or down.
func (a *Auth) Shared() string {
	switch {
	case a.Redis == nil:
		return "off"
	case a.Redis.Up():
		return "up"
	}
	return "down"
}

// perMinute returns a limit, nil for 0 requests. All replicas count together if
// there is a Redis.
func (a *Auth) perMinute(name string, requests int) *access.Limit {
	if requests == 0 {
		return nil
	}
	p := ratelimit.Policy{Name: name, Limit: requests, Window: time.Minute}
	var l interface {
		ratelimit.Limiter
		Len() int
	} = ratelimit.NewWindow(p)
	if a.Redis != nil {
		l = a.Redis.Shared(p)
	}
	a.limits = append(a.limits, l)
	return &access.Limit{Policy: p, Limiter: l}
}

// keySource returns a function that opens the keys of an issuer or a client: a
// file, or an address, which must be public unless the configuration says that
// it is in the operator's own network.
func keySource(log *slog.Logger) func(url, file string, allowPrivate bool) (token.KeySource, error) {
	return func(url, file string, allowPrivate bool) (token.KeySource, error) {
		if file != "" {
			return jwks.File(file, log)
		}
		if err := outbound.Check(url, allowPrivate); err != nil {
			return nil, err
		}
		return jwks.Remote(url, outbound.NewClient(outbound.Options{
			AllowPrivate: allowPrivate,
			Timeout:      5 * time.Second,
		}), log), nil
	}
}
