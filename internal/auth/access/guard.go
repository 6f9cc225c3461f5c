// Package access authenticates callers and limits them.
//
// A caller sends no credential, within a limit per address; or an API key, which
// the operator created; or a token, which package token issued. Every surface calls
// the Guard first, and receives the Principal or an error. An invalid credential is
// refused, never ignored: otherwise its owner would not notice that it has expired.
package access

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/text"
)

// Requirement is what an operation requires of its callers.
type Requirement struct {
	Scope  Scope // of callers with a credential
	Public bool  // anonymous callers are allowed too, within their limit
	// Uncounted operations are not counted against the limit of anonymous callers.
	// They are cheap, and useful to callers over their limit.
	Uncounted bool
	MCP       bool // the operation belongs to /api/mcp, a resource of its own
	// Operation is the name under which the use of callers with a credential is
	// counted. Empty is not counted.
	Operation string
	// Account operations manage the account of the caller. A token is not enough for
	// them: an application must not make keys that outlive it.
	Account bool
	// Lasting operations concern what stays when a credential ends, such as webhooks.
	// The token of an application is not enough for them: a person who ends the access
	// of the application ends all of it.
	Lasting bool
	// SignIn makes the challenge name the resource that requires a credential from
	// the first message on.
	SignIn bool
}

// Token holds the claims of an access token.
type Token struct {
	Subject  string // issuer, # and the issuer's subject: unique over all issuers
	Issuer   string // of the assertion
	ClientID string
	Audience string // the base URL or that of MCP
	Scope    Scope
	Expires  time.Time
	ID       string // jti
	Grant    string // the grant from which it came, of a person to an application; empty: an assertion
	KeyID    string // of the key that signed it
}

// AccountState is the state of the account that a key or token belongs to.
type AccountState struct {
	Gone     string    // why the account has no access; empty if it has
	Since    time.Time // when that began, if known
	Scope    Scope
	Plan     string
	Operator bool
	// Key is the key that opened the session, if any. Addresses that may not use the key
	// may not use the session, or a token that comes from it, either.
	Key string
}

// Accounts finds accounts.
type Accounts interface {
	// State returns the state of an account.
	State(id string) (o AccountState, known bool)
	// Grant returns the state of the account that gave a grant, and whether the grant exists.
	Grant(account, id string) (o AccountState, known bool)
	// Wake reads accounts that were written a moment ago.
	Wake(ctx context.Context) error
}

// Limit is a limiter with the policy for the response headers.
type Limit struct {
	ratelimit.Policy
	ratelimit.Limiter
}

// Options are the guard's collaborators.
type Options struct {
	BaseURL string
	Keys    *Keyring
	// Tokens verifies a token. It returns Unavailable when it cannot decide.
	Tokens func(ctx context.Context, raw string) (Token, error)
	// Signs reports whether tokens of a signing key are still accepted, for long
	// responses. A change closes the channel of Keys.Changed. Nil: they always are.
	Signs func(keyID string) bool
	// Accounts knows the owners of tokens; nil when nobody can sign in.
	Accounts Accounts
	Proxies  Proxies
	// Anonymous limits callers without a credential by address, Refused limits
	// invalid credentials, and Plans limit keys by their plan. Nil is no limit.
	Anonymous, Refused *Limit
	// AnonymousSite also limits anonymous callers by the /48 network of an IPv6 address.
	AnonymousSite *Limit
	Plans         map[string]*Limit
	Audit         Audit
	// OnToken is called with the principal of every valid token.
	OnToken func(Principal)
	// Count, if not nil, is called for every admitted request with a credential that has an
	// operation, with the id of the principal and the operation. Pages of the console have
	// one where they return what programs ask the API for.
	Count func(owner, operation string)
	// Slots bounds the concurrent requests of a caller, and Expensive those that
	// may wait for the store. Nil is no bound.
	Slots, Expensive *SlotLimiter
	// Observe receives the outcome of each request, one of Outcomes.
	Observe func(outcome string)
}

// Outcomes are the possible results of Admit: one of the modes, or the reason of a refusal.
var Outcomes = []string{
	"anonymous", "key", "token", "session", "no_credential", "invalid_request",
	"invalid_token", "insufficient_scope", "limited", "unavailable",
}

// Guard authenticates, authorizes and limits requests.
type Guard struct {
	o          Options
	limitAudit *LimitAudit
}

// NewGuard returns the guard.
func NewGuard(o Options) *Guard {
	if o.Observe == nil {
		o.Observe = func(string) {}
	}
	return &Guard{o: o, limitAudit: NewLimitAudit(o.Audit)}
}

// AnonymousLimit returns the limit of callers without a credential, or nil.
func (g *Guard) AnonymousLimit() *Limit { return g.o.Anonymous }

// PlanLimit returns the limit of a plan, or nil.
func (g *Guard) PlanLimit(plan string) *Limit { return g.o.Plans[plan] }

const (
	// MCPPath is the path of MCP, a protected resource of its own.
	MCPPath = "/api/mcp"
	// MCPSignInPath is the path of MCP for clients that offer to sign in only when
	// the first message is refused. It is a resource of its own, since clients compare
	// its address with the metadata.
	MCPSignInPath = MCPPath + "/signin"
	// MetadataPath is the path of the resource metadata (RFC 9728) of the whole
	// service. That of MCP is at MetadataPath + MCPPath.
	MetadataPath = "/.well-known/oauth-protected-resource"
)

// Counted reports whether requests to a path count against the limit of anonymous callers.
func Counted(path string) bool {
	return strings.HasPrefix(path, "/api/v1/") || path == MCPPath || strings.HasPrefix(path, MCPPath+"/")
}

// Admit authenticates, limits and authorizes a request, and sets the headers of the
// limit or of the refusal. The error is a fault, which each surface writes in its own
// format.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request, need Requirement) (Principal, error) {
	p, err := g.Identify(w, r, need)
	if err == nil {
		err = g.Authorize(w, p, need)
	}
	if err != nil {
		return Principal{}, err
	}
	return p, nil
}

// Identify is the first half of Admit: it authenticates a request and counts it
// against the limit of its caller. It is for surfaces that find the requirement in
// the body, so that a caller over its limit is refused before the body is read.
func (g *Guard) Identify(w http.ResponseWriter, r *http.Request, need Requirement) (Principal, error) {
	from := g.o.Proxies.Client(r)
	c, err := credentialOf(r)
	if err != nil {
		return Principal{}, g.refuse(w, r, from, need, err)
	}
	if c == (credential{}) {
		return Principal{}, g.countAnonymous(w, r, from, need)
	}
	p, err := g.identify(r.Context(), c, from, need)
	if fault.KindOf(err) == fault.Unavailable { // it may be valid
		g.o.Observe("unavailable")
		return Principal{}, err
	}
	if err != nil {
		return Principal{}, g.refuse(w, r, from, need, err)
	}
	if err := g.countPlan(w.Header(), r, p); err != nil {
		return Principal{}, err
	}
	return p, nil
}

// AdmitSession is Admit for a page that acts for a caller whom it knows by a session. Its
// response gets Retry-After, and no other header about limits or credentials: those are
// for programs. What manages the account counts against no limit: a person can always end
// what uses up their limit.
func (g *Guard) AdmitSession(w http.ResponseWriter, r *http.Request, p Principal, need Requirement) error {
	unsent := http.Header{}
	if !need.Account {
		if err := g.countPlan(unsent, r, p); err != nil {
			w.Header()["Retry-After"] = unsent["Retry-After"]
			return err
		}
	}
	return g.authorize(unsent, p, need)
}

// countPlan counts a request against the limit of the caller's plan. All credentials
// of an owner count together.
func (g *Guard) countPlan(h http.Header, r *http.Request, p Principal) error {
	limit := g.o.Plans[p.Plan]
	if limit == nil {
		return nil
	}
	if v := limit.Take(r.Context(), ratelimit.Name(p.ID)); !limit.setHeaders(h, v) {
		return g.limited(r, g.o.Proxies.Client(r), "plan", p.ID,
			"Your plan allows %d requests in any %d seconds. Wait as long as Retry-After says.",
			limit.Policy.Limit, limit.seconds())
	}
	return nil
}

// Authorize is the second half of Admit: it checks that an identified caller may do
// what a request needs.
func (g *Guard) Authorize(w http.ResponseWriter, p Principal, need Requirement) error {
	return g.authorize(w.Header(), p, need)
}

func (g *Guard) authorize(h http.Header, p Principal, need Requirement) error {
	switch {
	case p.Mode == Anonymous && !need.Public:
		g.o.Observe("no_credential")
		h.Set("WWW-Authenticate", g.challenge(need, "", ""))
		if need.Account {
			return fault.New(fault.Unauthorized,
				"This needs a key: send it as X-API-Key, or sign in at %s/account.", g.o.BaseURL)
		}
		return fault.New(fault.Unauthorized, "This needs a key or token with the scope %s: send it as "+
			"Authorization: Bearer, or a key as X-API-Key.", cmp.Or(need.Scope, AllScopes))
	case p.Mode == ByToken && need.Account:
		g.o.Observe("insufficient_scope")
		return fault.New(fault.Forbidden,
			"A token cannot manage an account: sign in at %s/account, or send a key as X-API-Key.", g.o.BaseURL)
	case p.Mode == ByToken && p.Credential != "" && need.Lasting:
		g.o.Observe("insufficient_scope")
		h.Set("WWW-Authenticate", g.challenge(Requirement{}, "", "")) // without a scope to ask for
		return fault.New(fault.Forbidden, "An application cannot manage webhooks or watchlists of a person: use the console "+
			"at %s/account, or send a key as X-API-Key.", g.o.BaseURL)
	case p.Mode != Anonymous && !p.Scope.Has(need.Scope):
		g.o.Observe("insufficient_scope")
		missing := need.Scope
		if p.Mode == ByToken && p.Credential != "" {
			need.Scope |= p.Scope // some applications ask for exactly what the challenge names
		}
		h.Set("WWW-Authenticate", g.challenge(need, "insufficient_scope", ""))
		return p.MissingScope(missing, "This")
	}
	g.o.Observe(p.Mode.String())
	if p.Mode == ByToken && g.o.OnToken != nil {
		g.o.OnToken(p)
	}
	if p.Mode != Anonymous && need.Operation != "" && g.o.Count != nil {
		g.o.Count(p.ID, need.Operation)
	}
	return nil
}

// identify returns the principal of a credential.
func (g *Guard) identify(ctx context.Context, c credential, from netip.Addr, need Requirement) (Principal, error) {
	if c.isKey {
		f, err := g.o.Keys.find(ctx, c.text, from)
		if err != nil {
			return Principal{}, err
		}
		g.o.Keys.touch(f.holder)
		return f.principal(), nil
	}
	t, err := g.o.Tokens(ctx, c.text)
	if fault.KindOf(err) == fault.Unavailable {
		return Principal{}, err
	}
	if err != nil {
		return Principal{}, errors.New(err.Error()) // drops the kind
	}
	if t.Audience != g.o.BaseURL && !(need.MCP &&
		(t.Audience == g.o.BaseURL+MCPPath || t.Audience == g.o.BaseURL+MCPSignInPath)) {
		return Principal{}, errors.New("the audience of this token is " + t.Audience + ", not this service")
	}
	p := Principal{
		ID:         t.Subject,
		Mode:       ByToken,
		Scope:      t.Scope,
		Expires:    t.Expires,
		Credential: t.Grant,
		SigningKey: t.KeyID,
	}
	return g.withOwner(ctx, p, from)
}

// withOwner returns the caller of a token with the rights that its owner has now.
func (g *Guard) withOwner(ctx context.Context, p Principal, from netip.Addr) (Principal, error) {
	owner, err := g.ownerOf(ctx, p.ID, p.Credential)
	if err != nil {
		return Principal{}, err
	}
	if owner.Gone != "" {
		return Principal{}, errors.New("this token is not valid: " + owner.Gone)
	}
	if owner.Key != "" && !g.o.Keys.Allows(owner.Key, from) {
		return Principal{}, errors.New("this token may not be used from " + from.String() +
			": its owner signed in with a key that may not be used from there")
	}
	p.Scope &= owner.Scope
	p.Key = owner.Key
	p.Plan = owner.Plan
	return p, nil
}

// principal returns the caller that sends a key.
func (f foundKey) principal() Principal {
	return Principal{
		ID:         f.Account(),
		Mode:       ByKey,
		Scope:      f.scope,
		Expires:    f.expires,
		Credential: f.ID,
		Key:        f.ID,
		KeyText:    f.text,
		Plan:       f.plan,
		Operator:   f.plan == OperatorPlan,
	}
}

// ownerOf returns the state of the owner of a token, which came from a grant or, if that is
// empty, from an assertion. The subject of an assertion need not have signed in.
func (g *Guard) ownerOf(ctx context.Context, subject, grant string) (AccountState, error) {
	nobody := AccountState{Scope: AllScopes}
	if g.o.Accounts == nil {
		if grant != "" {
			nobody.Gone = "its grant is not known"
		}
		return nobody, nil
	}
	if grant == "" {
		if o, known := g.o.Accounts.State(subject); known && o.Gone != "" {
			nobody.Gone = o.Gone
		}
		return nobody, nil
	}
	if o, known := g.o.Accounts.Grant(subject, grant); known {
		return o, nil
	}
	if err := g.o.Accounts.Wake(ctx); err != nil { // it may be new
		return AccountState{}, fault.Wrap(fault.Unavailable, err,
			"The grant of the token cannot be looked up now. Try again in a few seconds.")
	}
	o, known := g.o.Accounts.Grant(subject, grant)
	if !known {
		o.Gone = "it was revoked"
	}
	return o, nil
}

// StillValid reports whether the credential of a principal is still valid, for long
// responses. The channel is closed when the result may have changed.
func (g *Guard) StillValid(p Principal) (alive bool, changed <-chan struct{}) {
	changed = g.o.Keys.Changed() // before the check, so that no change is missed
	switch {
	case reached(p.Expires, time.Now()):
	case p.Mode == ByKey:
		alive = g.o.Keys.Valid(p.Credential) && g.o.Keys.accepts(p.KeyText)
	case p.Mode == ByToken && g.o.Signs != nil && !g.o.Signs(p.SigningKey):
	case p.Mode == ByToken && g.o.Accounts != nil && p.Credential != "":
		o, known := g.o.Accounts.Grant(p.ID, p.Credential)
		alive = known && o.Gone == ""
	case p.Mode == ByToken && g.o.Accounts != nil:
		o, _ := g.o.Accounts.State(p.ID) // it need not have signed in
		alive = o.Gone == ""
	default:
		alive = true
	}
	return alive, changed
}

// NetworkKey returns the key under which anonymous callers of a network are counted.
func (g *Guard) NetworkKey(r *http.Request) string {
	subject := ratelimit.Address(g.o.Proxies.Client(r))
	return string(subject[:])
}

// AcquireSlot waits until an admitted request may start. The caller releases the slot.
func (g *Guard) AcquireSlot(r *http.Request, p Principal, expensive bool) (Slot, error) {
	if g.o.Slots == nil {
		return Slot{}, nil
	}
	id := p.ID
	if id == "" {
		id = g.NetworkKey(r)
	}
	if expensive && g.o.Expensive != nil {
		return g.o.Expensive.Acquire(r.Context(), id)
	}
	return g.o.Slots.Acquire(r.Context(), id)
}

// Caller returns the caller of an admitted request among those who take turns. All of a
// /48 network of IPv6 without a credential is one: it has 65,536 /64 networks, and one
// client may own them all.
func (g *Guard) Caller(r *http.Request, p Principal) Caller {
	if p.ID != "" {
		return Caller(p.ID)
	}
	if site, ok := ratelimit.Site(g.o.Proxies.Client(r)); ok {
		return Caller(site[:])
	}
	return Caller(g.NetworkKey(r))
}

// AdmitUnrouted admits a request that matches no route.
func (g *Guard) AdmitUnrouted(w http.ResponseWriter, r *http.Request) error {
	if !Counted(r.URL.Path) {
		return nil
	}
	_, err := g.Admit(w, r, Requirement{Public: true, MCP: !strings.HasPrefix(r.URL.Path, "/api/v1/")})
	return err
}

// countAnonymous counts a request without a credential. Requests that need one count
// too.
func (g *Guard) countAnonymous(w http.ResponseWriter, r *http.Request, from netip.Addr, need Requirement) error {
	if need.Uncounted {
		return nil
	}
	if limit := g.o.Anonymous; limit != nil {
		if v := limit.Take(r.Context(), ratelimit.Address(from)); !limit.setHeaders(w.Header(), v) {
			return g.limited(r, from, "anonymous", "", "Without a key an address may make %d requests in any %d seconds. "+
				"Wait as long as Retry-After says, or use a key or token, which has no such limit: "+
				"%s/openapi.json describes how to get and send one.", limit.Policy.Limit, limit.seconds(), g.o.BaseURL)
		}
	}
	if site, ok := ratelimit.Site(from); ok && g.o.AnonymousSite != nil {
		limit := g.o.AnonymousSite
		if v := limit.Take(r.Context(), site); !v.OK {
			w.Header().Set("Retry-After", v.RetryAfter())
			return g.limited(r, from, "anonymous-site", "", "Without a key a /48 network may make %d requests in any "+
				"%d seconds. Wait as long as Retry-After says, or use a key or token, which has no such limit.",
				limit.Policy.Limit, limit.seconds())
		}
	}
	return nil
}

// limited returns the error for a request over a limit. The audit records each
// network at most once a minute.
func (g *Guard) limited(
	r *http.Request, from netip.Addr, limit, principal, format string, args ...any,
) error {
	g.o.Observe("limited")
	network := ratelimit.Address(from)
	attrs := []slog.Attr{slog.String("client_ip", from.String())}
	if principal != "" {
		attrs = append(attrs, slog.String("principal", principal))
	}
	g.limitAudit.Record(r.Context(), limit, principal+" "+string(network[:]), attrs...)
	return fault.New(fault.RateLimited, format, args...)
}

// refuse returns the error for an invalid credential. The text of err is shown to
// the client. If err is a fault, the credential was not sent as required.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, from netip.Addr, need Requirement, err error) error {
	if limit := g.o.Refused; limit != nil {
		if v := limit.Take(r.Context(), ratelimit.Address(from)); !v.OK {
			w.Header().Set("Retry-After", v.RetryAfter())
			return g.limited(r, from, "refused", "", "Too many credentials from this address were invalid. "+
				"Correct yours, and wait as long as Retry-After says.")
		}
	}
	reason := strings.TrimSuffix(err.Error(), ".")
	attrs := []slog.Attr{slog.String("reason", reason), slog.String("client_ip", from.String())}
	if bad, ok := errors.AsType[*badKey](err); ok {
		attrs = append(attrs, slog.String("key", bad.id))
	}
	g.o.Audit.record(r.Context(), "credential.refused", attrs...)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		g.o.Observe("invalid_request")
		return e
	}
	g.o.Observe("invalid_token")
	w.Header().Set("WWW-Authenticate", g.challenge(need, "invalid_token", reason))
	return &fault.Error{Kind: fault.Unauthorized, Code: "invalid_token", Message: text.Sentence(reason)}
}

// challenge returns the value of WWW-Authenticate (RFC 6750, RFC 9728).
func (g *Guard) challenge(need Requirement, code, description string) string {
	metadata := g.o.BaseURL + MetadataPath
	if need.SignIn {
		metadata += MCPSignInPath
	} else if need.MCP {
		metadata += MCPPath
	}
	parts := make([]string, 0, 4)
	if code != "" {
		parts = append(parts, `error="`+code+`"`)
	}
	if description != "" {
		parts = append(parts, `error_description="`+quotable(description)+`"`)
	}
	if need.Scope != 0 {
		parts = append(parts, `scope="`+need.Scope.String()+`"`)
	}
	return "Bearer " + strings.Join(append(parts, `resource_metadata="`+metadata+`"`), ", ")
}

// quotable removes characters that a quoted string of a header cannot hold.
func quotable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return -1
		}
		return c
	}, s)
}

// seconds returns the length of the window.
func (l *Limit) seconds() int { return int(l.Window.Seconds()) }

// setHeaders writes the headers of a decision and reports whether it allows the request.
func (l *Limit) setHeaders(h http.Header, v ratelimit.Decision) bool {
	h["Ratelimit-Policy"] = []string{l.Policy.Header()}
	h["Ratelimit"] = []string{v.Header(l.Policy)}
	if !v.OK {
		h.Set("Retry-After", v.RetryAfter())
	}
	return v.OK
}

// Audit records security events under names such as key.created. It never receives a
// secret.
type Audit func(ctx context.Context, event string, attrs ...slog.Attr)

func (a Audit) record(ctx context.Context, event string, attrs ...slog.Attr) {
	if a != nil {
		a(ctx, event, attrs...)
	}
}
