package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"pregon/internal/auth"
	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/sealing"
	"pregon/internal/auth/secret"
	"pregon/internal/auth/token"
	"pregon/internal/cli"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/webhook"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
	"pregon/internal/store/engine"
)

// accessFlags configure authorization and limits.
type accessFlags struct {
	auditFlag
	Config         string        `placeholder:"FILE.yaml" help:"File that names the identity providers whose assertions are exchanged for tokens, and limits of plans. See docs/access.md."`
	SignIn         string        `name:"signin" default:"on" enum:"on,off" help:"Whether people may sign in, manage their keys at /account, and let applications use the service for them: on or off."`
	AnonymousLimit int           `default:"60" placeholder:"N" help:"Requests in any minute from an address without a credential. 0 for no limit."`
	Redis          string        `placeholder:"URL" help:"Redis through which all replicas count together: redis://, rediss:// or unix://. Default: each counts for itself."`
	MaxConnections int           `default:"10000" placeholder:"N" help:"Open connections. 0 for no limit."`
	MaxPerAddress  int           `name:"max-connections-per-address" default:"512" placeholder:"N" help:"Open connections of an address (a /64 network with IPv6), except trusted proxies and this machine. 0 for no limit."`
	MaxRequests    int           `default:"64" placeholder:"N" help:"Requests of one caller at the same time, and an eighth as many expensive ones. More wait a second and are then refused. 0 for no limit."`
	TrustedProxies []cli.Network `name:"trusted-proxy" placeholder:"CIDR" help:"Network of a proxy in front, whose X-Forwarded-For is trusted. May be repeated. Default: none."`
}

// validate checks the flags and the configuration file.
func (f *accessFlags) validate(base string) error {
	if f.AnonymousLimit < 0 || f.AnonymousLimit > 1_000_000 {
		return fault.New(fault.Invalid, "--anonymous-limit %d must be from 1 to 1000000, or 0 for no limit", f.AnonymousLimit)
	}
	for flag, n := range map[string]int{"--max-connections": f.MaxConnections, "--max-connections-per-address": f.MaxPerAddress, "--max-requests": f.MaxRequests} {
		if n < 0 {
			return fault.New(fault.Invalid, "%s %d must be at least 1, or 0 for no limit", flag, n)
		}
	}
	if f.Redis != "" {
		if err := ratelimit.CheckURL(f.Redis); err != nil {
			return err
		}
	}
	return auth.CheckConfig(f.Config, base)
}

// showRedis returns the address of Redis without its secrets.
func (f *accessFlags) showRedis() string {
	u, err := url.Parse(f.Redis)
	if err != nil || f.Redis == "" {
		return "off"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// newAuth puts together what decides on access.
func (c *serveConfig) newAuth(ctx context.Context, db store.Store, box *secret.Box, audit access.Audit, base string, log *slog.Logger) (*auth.Auth, error) {
	config, err := auth.ReadConfig(c.Config)
	if err != nil {
		return nil, err
	}
	return auth.New(ctx, auth.Options{
		Config:         config,
		Store:          db,
		Box:            box,
		BaseURL:        base,
		Proxies:        c.proxies(),
		Redis:          c.Redis,
		AnonymousLimit: c.AnonymousLimit,
		MaxRequests:    c.MaxRequests,
		SignIn:         c.SignIn == "on",
		Audit:          audit,
		Logger:         log,
	})
}

// epochStore is a store whose followers read everything again when the log has
// another epoch: see follow.Options.
type epochStore struct {
	store.Store
	epoch func() string
}

// Epoch returns the epoch of the log.
func (s epochStore) Epoch() string { return s.epoch() }

func (f *accessFlags) proxies() (p access.Proxies) {
	for _, n := range f.TrustedProxies {
		p = append(p, n.Prefix)
	}
	return p
}

// hookOwners knows whether the owners of webhooks are valid.
type hookOwners struct {
	keys     *access.Keyring
	accounts *account.Accounts
	trusts   func(issuer string) bool // reports whether an issuer of tokens is trusted
}

// owner returns whether webhooks of an owner are served: a person who signed in must
// still have access, a key be valid, or the issuer of tokens still be trusted.
func (h hookOwners) owner(id string) webhook.OwnerStatus {
	if !access.IsKeyID(id) {
		if person, known := h.accounts.Owner(id); known {
			return webhook.OwnerStatus{Gone: person.Gone, Since: person.Since, Scope: person.Scope}
		}
		issuer, _, _ := strings.Cut(id, "#")
		status := webhook.OwnerStatus{Issuer: issuer, Scope: access.AllScopes} // the scope was checked when the webhook was created
		if !h.trusts(issuer) {
			status.Gone = "its owner's issuer is not in the configuration"
		}
		return status
	}
	key, ok := h.keys.Key(id)
	status := webhook.OwnerStatus{Scope: key.Scopes}
	switch {
	case !ok:
		status.Gone = "its key is not known" // perhaps not yet: another process may have created it a moment ago
	case key.State(time.Now()) == "revoked":
		status.Gone = "its key was revoked"
		status.Since = key.RevokedAt
		status.Permanent = true
	case key.State(time.Now()) == "expired":
		status.Gone, status.Since = "its key has expired", key.ExpiresAt
	}
	return status
}

// secretKeyEnv is the variable that holds the key which encrypts secrets in the
// store. It has no flag: see secretVariables.
const secretKeyEnv = cli.EnvPrefix + "_SECRET_KEY"

type signingKeyCmd struct {
	Rotate rotateSigningKeyCmd `cmd:"" help:"Create a new key. Tokens signed by the old one stay valid."`
}

type rotateSigningKeyCmd struct {
	adminFlags
	AtOnce     bool `help:"The old key may have leaked: it and every token that it signed are refused from now on."`
	LostSecret bool `help:"With --at-once: continue although the old key cannot be opened, because the PREGON_SECRET_KEY that sealed it is lost."`
}

// Run rotates the signing key.
func (c *rotateSigningKeyCmd) Run(ctx context.Context, p *process) error {
	if c.LostSecret && !c.AtOnce {
		return fault.New(fault.Invalid, "--lost-secret needs --at-once: without the old key nothing that it signed can be verified any more")
	}
	box, err := secret.NewBox(p.getenv(secretKeyEnv))
	if err != nil {
		return err
	}
	return c.with(ctx, func(db engine.Store, audit access.Audit) error {
		ring := token.NewRing(db, box, nil)
		if err := ring.Refresh(ctx); err != nil && !(c.AtOnce && c.LostSecret) {
			return fmt.Errorf("the present key cannot be opened: %w (if the secret is lost: --at-once --lost-secret)", err)
		}
		key, err := ring.Rotate(ctx, c.AtOnce)
		if err != nil {
			return err
		}
		if c.AtOnce { // what leaked may include the key of sessions
			if err := sealing.New(db, box, nil).Replace(ctx); err != nil {
				return err
			}
		}
		audit(ctx, "signing_key.rotated", slog.String("kid", key.ID), slog.Bool("at_once", c.AtOnce))
		_, err = fmt.Fprintf(p.stderr, "%s signs from %s\n", key.ID, key.SignsFrom.In(disclosure.Madrid).Format(time.RFC3339))
		return err
	})
}
