package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"pregon/internal/auth/access"
	"pregon/internal/auth/jwks"
	"pregon/internal/auth/ratelimit"
	"pregon/internal/auth/secret"
	"pregon/internal/auth/token"
	"pregon/internal/cli"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/server/outbound"
	"pregon/internal/store"
	"pregon/internal/webhook"
)

// accessFlags say who is let in, and how often.
type accessFlags struct {
	auditFlag
	Config         string    `placeholder:"FILE.yaml" help:"File that names the identity providers whose assertions are exchanged for tokens, and limits of plans. See docs/access.md."`
	AnonymousLimit int       `default:"60" placeholder:"N" help:"Requests in any minute from an address without a credential. 0 for no limit."`
	Redis          string    `placeholder:"URL" help:"Redis through which all replicas count together: redis://, rediss:// or unix://. Default: each counts for itself."`
	MaxConnections int       `default:"10000" placeholder:"N" help:"Connections at once. 0 for no bound."`
	MaxPerAddress  int       `name:"max-connections-per-address" default:"512" placeholder:"N" help:"Connections at once from an address (a /64 network with IPv6); trusted proxies and this machine may have any number. 0 for no bound."`
	MaxRequests    int       `default:"64" placeholder:"N" help:"Requests of one caller in work at once; beside an eighth as many expensive ones. More wait a second and are refused. 0 for no bound."`
	TrustedProxies []network `name:"trusted-proxy" placeholder:"CIDR" help:"Network of a proxy in front, whose X-Forwarded-For is believed. May be repeated. Default: nobody's is."`
}

// network is a network, or one address.
type network struct{ netip.Prefix }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *network) UnmarshalText(text []byte) (err error) {
	s := string(text)
	if a, err := netip.ParseAddr(s); err == nil {
		n.Prefix = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		return nil
	}
	if n.Prefix, err = netip.ParsePrefix(s); err != nil || n.Addr().Is4In6() { // which no address is written as
		return fault.New(fault.Invalid, "%q must be a network, such as 203.0.113.0/24, or an address", s)
	}
	n.Prefix = n.Masked()
	return nil
}

// file is what --config holds.
type file struct {
	Plans        map[string]plan `yaml:"plans"`
	token.Config `yaml:",inline"`
}

// plan is what a plan allows.
type plan struct {
	RequestsPerMinute int `yaml:"requests_per_minute"`
}

// readConfig reads the file, or nothing when there is none. A key in it that
// means nothing stops the start: it would be passed over without a word.
func (f *accessFlags) readConfig() (c file, err error) {
	if f.Config == "" {
		return c, nil
	}
	text, err := os.ReadFile(f.Config)
	if err != nil {
		return c, fault.Wrap(fault.Invalid, err, "--config cannot be read")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		words := strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " ")
		return c, fault.New(fault.Invalid, "%s: %s", f.Config, ourTypes.ReplaceAllString(words, ""))
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return c, fault.New(fault.Invalid, "%s: there must be one document in the file", f.Config)
	}
	relativeTo(filepath.Dir(f.Config), &c.Config)
	for name, p := range c.Plans {
		if !slices.Contains(access.Plans, name) || p.RequestsPerMinute < 1 || p.RequestsPerMinute > 1_000_000 {
			return c, fault.New(fault.Invalid, "%s: plans.%s: a plan is %s, and has requests_per_minute from 1 to 1000000", f.Config, name, strings.Join(access.Plans, " or "))
		}
	}
	return c, nil
}

// relativeTo makes the files that the configuration names relative to its own
// directory, wherever the program was started.
func relativeTo(dir string, c *token.Config) {
	join := func(file *string) {
		if *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(dir, *file)
		}
	}
	for i := range c.Issuers {
		join(&c.Issuers[i].JWKSFile)
		for j := range c.Issuers[i].Clients {
			join(&c.Issuers[i].Clients[j].JWKSFile)
		}
	}
}

// ourTypes are names that mean nothing to who wrote the file.
var ourTypes = regexp.MustCompile(` (in|into) (type )?(\[\])?(main|token)\.\w+`)

// validate finds what is wrong with the flags and the file.
func (f *accessFlags) validate(base string) error {
	if f.AnonymousLimit < 0 || f.AnonymousLimit > 1_000_000 {
		return fault.New(fault.Invalid, "--anonymous-limit %d must be from 1 to 1000000, or 0 for no limit", f.AnonymousLimit)
	}
	for flag, n := range map[string]int{"--max-connections": f.MaxConnections, "--max-connections-per-address": f.MaxPerAddress, "--max-requests": f.MaxRequests} {
		if n < 0 {
			return fault.New(fault.Invalid, "%s %d must be at least 1, or 0 for no bound", flag, n)
		}
	}
	if f.Redis != "" {
		if err := ratelimit.CheckURL(f.Redis); err != nil {
			return err
		}
	}
	c, err := f.readConfig()
	if err != nil {
		return err
	}
	if _, err := token.New(token.Options{Config: c.Config, BaseURL: base, Keys: keySource(slog.New(slog.DiscardHandler))}); err != nil {
		return fault.New(fault.Invalid, "%s: %s", f.Config, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

// showRedis is the address of Redis without its secrets.
func (f *accessFlags) showRedis() string {
	u, err := url.Parse(f.Redis)
	if err != nil || f.Redis == "" {
		return "off"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// entrance is everything that decides who is let in.
type auth struct {
	guard    *access.Guard
	keys     *access.Keyring
	ring     *token.Ring
	tokens   *token.Server
	proxies  access.Proxies
	redis    *ratelimit.Redis // nil when each replica counts for itself
	box      *secret.Box
	audit    access.Audit
	issuers  []string     // whose assertions are believed
	seen     func(string) // is called with the subject of every good token
	outcomes map[string]*atomic.Int64
	limits   []interface{ Len() int }
	end      []func() error
}

// newEntrance puts the entrance together.
func (c *serveConfig) newAuth(ctx context.Context, p *process, db store.Store, base string, log *slog.Logger) (e *auth, err error) {
	e = &auth{outcomes: map[string]*atomic.Int64{}}
	for _, outcome := range access.Outcomes {
		e.outcomes[outcome] = new(atomic.Int64)
	}
	defer func() {
		if err != nil {
			err = joinClose(err, e.close)
		}
	}()
	settings, err := c.readConfig()
	if err != nil {
		return e, err
	}
	if e.box, err = secret.NewBox(p.getenv(secretKeyEnv)); err != nil {
		return e, err
	}
	audit, end, err := c.audit(log)
	if err != nil {
		return e, err
	}
	e.audit = audit
	e.end = append(e.end, end)
	if c.Redis != "" {
		if e.redis, err = ratelimit.OpenRedis(c.Redis, log); err != nil {
			return e, err
		}
		e.end = append(e.end, e.redis.Close)
	}
	for _, n := range c.TrustedProxies {
		e.proxies = append(e.proxies, n.Prefix)
	}
	e.keys = access.NewKeyring(db, audit)
	if err := e.keys.Refresh(ctx); err != nil {
		return e, err
	}
	e.ring = token.NewRing(db, e.box, log)
	created, err := e.ring.LoadOrCreate(ctx)
	if err != nil {
		return e, err
	}
	if created != "" {
		audit(ctx, "signing_key.created", slog.String("kid", created))
	}
	e.tokens, err = token.New(token.Options{
		Config: settings.Config, BaseURL: base, Ring: e.ring, Marks: db, Keys: keySource(log), Client: e.proxies.Client,
		Failures: failures{e.perMinute("token", mostRefused)}, Audit: audit,
	})
	if err != nil {
		return e, err
	}
	for _, i := range settings.Issuers {
		e.issuers = append(e.issuers, i.Issuer)
	}
	plans := map[string]*access.Limit{}
	for name, plan := range settings.Plans {
		plans[name] = e.perMinute(name, plan.RequestsPerMinute)
	}
	var places, expensive *access.SlotLimiter
	if c.MaxRequests > 0 {
		places, expensive = access.NewSlotLimiter(c.MaxRequests, true), access.NewSlotLimiter(max(1, c.MaxRequests/8), false)
	}
	e.guard = access.NewGuard(access.Options{
		Slots: places, Expensive: expensive,
		BaseURL: base, Keys: e.keys, Tokens: e.bearer, Proxies: e.proxies, Audit: audit, Refused: e.perMinute("refused", mostRefused), Plans: plans,
		Anonymous:     e.perMinute("anonymous", c.AnonymousLimit),
		AnonymousSite: e.perMinute("anonymous-site", min(siteFactor*c.AnonymousLimit, 1_000_000)),
		Observe:       func(outcome string) { e.outcomes[outcome].Add(1) },
		OnToken:       func(p access.Principal) { e.seen(p.ID) },
	})
	return e, nil
}

// standing returns whether the owner of webhooks is served: a key must be good,
// and the issuer of a token's subject must still be trusted.
func (e *auth) standing(owner string) webhook.OwnerStatus {
	if !access.IsKeyID(owner) {
		issuer, _, _ := strings.Cut(owner, "#")
		s := webhook.OwnerStatus{Issuer: issuer, Scope: access.AllScopes} // what its tokens are for was asked when it made them
		if !slices.Contains(e.issuers, issuer) {
			s.Gone = "its owner's issuer is not in the configuration"
		}
		return s
	}
	key, ok := e.keys.Key(owner)
	s := webhook.OwnerStatus{Scope: key.Scopes}
	switch {
	case !ok:
		s.Gone = "its key is not known" // perhaps not yet: another process may have made it a moment ago
	case key.State(time.Now()) == "revoked":
		s.Gone, s.Since, s.Permanent = "its key was revoked", key.RevokedAt, true
	case key.State(time.Now()) == "expired":
		s.Gone, s.Since = "its key has expired", key.ExpiresAt
	}
	return s
}

// bearer verifies an access token.
func (e *auth) bearer(ctx context.Context, raw string) (access.TokenInfo, error) {
	t, err := e.tokens.Verify(ctx, raw)
	return access.TokenInfo{Subject: t.Subject, Audience: t.Audience, Scope: t.Scope, Expires: t.Expires}, err
}

func (e *auth) perMinute(name string, requests int) *access.Limit {
	if requests == 0 {
		return nil
	}
	return e.limit(ratelimit.Policy{Name: name, Limit: requests, Window: time.Minute})
}

// limit makes a limit, which all replicas count together where they can.
func (e *auth) limit(p ratelimit.Policy) *access.Limit {
	var l interface {
		ratelimit.Limiter
		Len() int
	} = ratelimit.NewWindow(p)
	if e.redis != nil {
		l = e.redis.Shared(p)
	}
	e.limits = append(e.limits, l)
	return &access.Limit{Policy: p, Limiter: l}
}

// shared reports whether all replicas count together.
func (e *auth) shared() string {
	switch {
	case e.redis == nil:
		return "off"
	case e.redis.Up():
		return "up"
	}
	return "down"
}

// follow keeps up with what other processes do to keys, until the context
// ends.
func (e *auth) follow(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.keys.Follow(ctx) })
	g.Go(func() error { return e.ring.Follow(ctx) })
	if e.redis != nil {
		g.Go(func() error { e.redis.Run(ctx); return nil })
	}
	return g.Wait()
}

func (e *auth) close() (err error) {
	for _, end := range slices.Backward(e.end) {
		err = joinClose(err, end)
	}
	return err
}

// siteFactor is how many times the limit of one address a /48 network of IPv6
// has, in which there are 65,536 networks that count as one address each.
const siteFactor = 10

// mostRefused is how many bad credentials, and how many bad requests for a
// token, an address may send in a minute.
const mostRefused = 30

// failures limits those whom the token endpoint refuses.
type failures struct{ limit *access.Limit }

// Allowed implements token.Limiter.
func (f failures) Allowed(ctx context.Context, from netip.Addr) (retryAfter string, ok bool) {
	v := f.limit.Peek(ctx, ratelimit.Address(from))
	return v.RetryAfter(), v.OK
}

// Failed implements token.Limiter.
func (f failures) Failed(ctx context.Context, from netip.Addr) (retryAfter string, ok bool) {
	v := f.limit.Take(ctx, ratelimit.Address(from))
	return v.RetryAfter(), v.OK
}

// keySource makes the keys of an issuer or client available, from a file or
// from an address, which must be a public one unless the operator says that it
// is theirs.
func keySource(log *slog.Logger) func(url, file string, allowPrivate bool) (token.KeySource, error) {
	return func(url, file string, allowPrivate bool) (token.KeySource, error) {
		if file != "" {
			return jwks.File(file, log)
		}
		if err := outbound.Check(url, allowPrivate); err != nil {
			return nil, err
		}
		return jwks.Remote(url, outbound.NewClient(outbound.Options{AllowPrivate: allowPrivate, Timeout: 5 * time.Second}), log), nil
	}
}

// secretKeyEnv names the variable that holds the secret which seals others. It
// has no flag: the arguments of a process can be read by everybody on its
// machine.
const secretKeyEnv = cli.EnvPrefix + "_SECRET_KEY"

type signingKeyCmd struct {
	Rotate rotateSigningKeyCmd `cmd:"" help:"Make a new key. Tokens that the old one signed stay good."`
}

type rotateSigningKeyCmd struct {
	storeFlag
	auditFlag
	AtOnce     bool `help:"The old key may have leaked: it and every token that it signed are refused from now on."`
	LostSecret bool `help:"With --at-once: go on although the old key cannot be opened, because the PREGON_SECRET_KEY that sealed it is lost."`
}

// Run rotates.
func (c *rotateSigningKeyCmd) Run(ctx context.Context, p *process) error {
	if c.LostSecret && !c.AtOnce {
		return fault.New(fault.Invalid, "--lost-secret needs --at-once: without the old key nothing that it signed can be verified any more")
	}
	box, err := secret.NewBox(p.getenv(secretKeyEnv))
	if err != nil {
		return err
	}
	db, err := c.open(ctx, false)
	if err != nil {
		return err
	}
	defer db.Close()
	audit, end, err := c.audit(nil)
	if err != nil {
		return err
	}
	ring := token.NewRing(db, box, nil)
	if err := ring.Refresh(ctx); err != nil && !(c.AtOnce && c.LostSecret) {
		return fmt.Errorf("the present key cannot be opened: %w (if the secret is lost: --at-once --lost-secret)", err)
	}
	key, err := ring.Rotate(ctx, c.AtOnce)
	if err == nil {
		audit(ctx, "signing_key.rotated", slog.String("kid", key.ID), slog.Bool("at_once", c.AtOnce))
	}
	if err := joinClose(joinClose(err, end), db.Close); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stderr, "%s signs from %s\n", key.ID, key.SignsFrom.In(disclosure.Madrid).Format(time.RFC3339))
	return err
}
