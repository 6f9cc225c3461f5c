// Package access decides who is let in, and for what.
//
// There are three ways to call: with nothing, within a limit per address; with
// a key, which an owner gave out; with a token, which package token issued.
// Every surface asks the one Guard before it does anything, and is given the
// Principal or the reason why not. A credential that is not good is refused,
// never passed over: whoever sends one would otherwise not learn that it no
// longer works.
package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"pregon/internal/auth/ratelimit"
	"pregon/internal/fault"
)

// Mode is the way in which somebody calls.
type Mode uint8

// The ways to call.
const (
	Anonymous Mode = iota
	ByKey
	ByToken
)

var modeNames = [...]string{Anonymous: "anonymous", ByKey: "key", ByToken: "token"}

func (m Mode) String() string { return modeNames[m] }

// Principal is somebody who was let in.
type Principal struct {
	// ID is what belongs to a principal is kept under: a key's id, which
	// rotation keeps, or issuer and subject of a token. Nothing when anonymous.
	ID      string
	Mode    Mode
	Scope   Scope
	Expires time.Time // when the credential does; never when not set
}

// MayRead reports whether a principal has rights to what anybody may read
// without a credential: who shows one is judged by it.
func (p Principal) MayRead(all Scope) bool { return p.Mode == Anonymous || p.Scope.Has(all) }

// Lacks returns the refusal of an operation that needs a right which the
// principal does not have.
func (p Principal) MissingScope(all Scope, message string) error {
	return &scopeError{all, &fault.Error{
		Kind: fault.Forbidden, Code: "insufficient_scope",
		Message: message + " needs the scope " + all.String() + "; the " + p.Mode.String() + " has " + p.Scope.String() + ".",
	}}
}

// lack is the refusal of a principal whose rights do not suffice.
type scopeError struct {
	scope   Scope
	refusal *fault.Error
}

func (e *scopeError) Error() string { return e.refusal.Error() }
func (e *scopeError) Unwrap() error { return e.refusal }

// Challenge sets the header of a refusal that Lacks returned.
func (g *Guard) Challenge(h http.Header, err error) {
	if e, ok := errors.AsType[*scopeError](err); ok {
		h.Set("WWW-Authenticate", g.challenge(Requirement{Scope: e.scope}, "insufficient_scope", ""))
	}
}

// Need is what an operation asks of its callers.
type Requirement struct {
	Scope  Scope // of whoever shows a credential
	Public bool  // those without one are let in too, within their limit
	// Uncounted operations are cheap, and those without a credential may need them
	// most when they are over their limit: they are not counted against it.
	Uncounted bool
	MCP       bool // the operation is of /api/mcp, a resource of its own
}

// Bearer is what a token says that was found good.
type TokenInfo struct {
	Subject  string // with its issuer
	Audience string
	Scope    Scope
	Expires  time.Time
}

// Limit is a limiter and what it is called in the headers.
type Limit struct {
	ratelimit.Policy
	ratelimit.Limiter
}

// Options are the guard's collaborators.
type Options struct {
	BaseURL string
	Keys    *Keyring
	// Tokens reads a token. It fails, Unavailable, when it cannot decide.
	Tokens  func(ctx context.Context, raw string) (TokenInfo, error)
	Proxies Proxies
	// Anonymous limits callers without a credential by address, and Refused
	// the credentials that are not good. Plans limit keys by their plan. One
	// that is not set does not limit.
	Anonymous, Refused *Limit
	// AnonymousSite limits them by the /48 network of an IPv6 address too.
	AnonymousSite *Limit
	Plans         map[string]*Limit
	Audit         Audit
	// Seen is called with the principal of every good token.
	OnToken func(Principal)
	// Places bounds the requests of a caller that are in work at once, and
	// Expensive those that ask much and may wait for the store. Nil is no bound.
	Slots, Expensive *SlotLimiter
	// Observe is told how each request was decided, one of Outcomes.
	Observe func(outcome string)
}

// Outcomes are how a request can be decided: let in in one of the modes, or
// refused for a reason.
var Outcomes = []string{"anonymous", "key", "token", "no_credential", "invalid_request", "invalid_token", "insufficient_scope", "limited", "unavailable"}

// Guard lets requests in.
type Guard struct {
	o       Options
	audited *ratelimit.Window // which addresses the audit has lately been told of
}

// NewGuard returns the guard.
func NewGuard(o Options) *Guard {
	if o.Observe == nil {
		o.Observe = func(string) {}
	}
	return &Guard{o: o, audited: ratelimit.NewWindow(ratelimit.Policy{Name: "audit", Limit: 1, Window: time.Minute})}
}

// AnonymousLimit is what callers without a credential have to keep to, or nil.
func (g *Guard) AnonymousLimit() *Limit { return g.o.Anonymous }

const (
	// MCPPath is the resource that is not the whole service.
	MCPPath = "/api/mcp"
	// MetadataPath is where the metadata of the service as a resource is
	// (RFC 9728); that of MCP is below, under its own path.
	MetadataPath = "/.well-known/oauth-protected-resource"
)

// Counted reports whether the requests to a path are counted against the limit
// of those who have no credential.
func Counted(path string) bool {
	return strings.HasPrefix(path, "/api/v1/") || path == MCPPath || strings.HasPrefix(path, MCPPath+"/")
}

// Admit decides on a request, and sets the headers that tell of the limit or
// of what is lacking. The error is a fault: each surface tells it in its own
// language.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request, need Requirement) (Principal, error) {
	from := g.o.Proxies.Client(r)
	c, err := credentialOf(r)
	if err != nil {
		return Principal{}, g.refuse(w, r, from, need, err)
	}
	if c == (credential{}) {
		return Principal{}, g.admitAnonymous(w, r, from, need)
	}
	p, limit, err := g.identify(r.Context(), c, from, need)
	if fault.KindOf(err) == fault.Unavailable { // nobody can report whether it is good
		g.o.Observe("unavailable")
		return Principal{}, err
	}
	if err != nil {
		return Principal{}, g.refuse(w, r, from, need, err)
	}
	if limit != nil {
		if v := limit.Take(r.Context(), ratelimit.Name(p.ID)); !limit.setHeaders(w.Header(), v) {
			return Principal{}, g.limited(r, from, "plan", p.ID, "Your plan allows "+limit.describe()+". Wait as long as Retry-After says.")
		}
	}
	if !p.Scope.Has(need.Scope) {
		g.o.Observe("insufficient_scope")
		w.Header().Set("WWW-Authenticate", g.challenge(need, "insufficient_scope", ""))
		return Principal{}, p.MissingScope(need.Scope, "This")
	}
	g.o.Observe(p.Mode.String())
	if p.Mode == ByToken && g.o.OnToken != nil {
		g.o.OnToken(p)
	}
	return p, nil
}

// AdmitHead refuses a request that Admit would refuse by its head alone: one
// over a limit, or with a credential that is not good. It counts nothing that it
// lets pass, for surfaces that learn what an operation needs from the body, which
// is then not read.
func (g *Guard) Precheck(w http.ResponseWriter, r *http.Request, need Requirement) error {
	from := g.o.Proxies.Client(r)
	c, err := credentialOf(r)
	if err != nil {
		return g.refuse(w, r, from, need, err)
	}
	if c == (credential{}) {
		if limit := g.o.Anonymous; limit != nil {
			if v := limit.Peek(r.Context(), ratelimit.Address(from)); !v.OK {
				return g.admitAnonymous(w, r, from, need)
			}
		}
		return nil
	}
	p, limit, err := g.identify(r.Context(), c, from, need)
	if err != nil && fault.KindOf(err) != fault.Unavailable {
		return g.refuse(w, r, from, need, err)
	}
	if err == nil && limit != nil {
		if v := limit.Peek(r.Context(), ratelimit.Name(p.ID)); !v.OK {
			_, err := g.Admit(w, r, need)
			return err
		}
	}
	return nil
}

// identify finds whose a credential is.
func (g *Guard) identify(ctx context.Context, c credential, from netip.Addr, need Requirement) (Principal, *Limit, error) {
	if c.isKey {
		h, expires, err := g.o.Keys.find(ctx, c.text)
		if err != nil {
			return Principal{}, nil, err
		}
		if !h.allows(from) {
			return Principal{}, nil, &badKey{h.ID, "this key is not for use from " + from.String()}
		}
		g.o.Keys.touch(h)
		return Principal{ID: h.ID, Mode: ByKey, Scope: h.Scopes, Expires: expires}, g.o.Plans[h.Plan], nil
	}
	b, err := g.o.Tokens(ctx, c.text)
	if fault.KindOf(err) == fault.Unavailable {
		return Principal{}, nil, err
	}
	if err != nil {
		return Principal{}, nil, errors.New(err.Error()) // whatever it is called there
	}
	if b.Audience != g.o.BaseURL && !(need.MCP && b.Audience == g.o.BaseURL+MCPPath) {
		return Principal{}, nil, errors.New("this token is for " + b.Audience + ", which is something else")
	}
	return Principal{ID: b.Subject, Mode: ByToken, Scope: b.Scope, Expires: b.Expires}, nil, nil
}

// Alive reports whether somebody who was let in would still be, for what goes on
// for long. Changed is closed when the answer may be another.
func (g *Guard) StillValid(p Principal) (alive bool, changed <-chan struct{}) {
	changed = g.o.Keys.Changed() // before the look, so that none is missed
	if reached(p.Expires, time.Now()) || p.Mode == ByKey && !g.o.Keys.Alive(p.ID) {
		return false, changed
	}
	return true, changed
}

// Network is where a request comes from, as callers without a credential are
// told apart.
func (g *Guard) NetworkKey(r *http.Request) string {
	subject := ratelimit.Address(g.o.Proxies.Client(r))
	return string(subject[:])
}

// Enter waits until a request that was admitted may be worked on. The caller
// leaves the place when it is answered.
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

// AdmitUnrouted decides on a request that no operation takes.
func (g *Guard) AdmitUnrouted(w http.ResponseWriter, r *http.Request) error {
	if !Counted(r.URL.Path) {
		return nil
	}
	_, err := g.Admit(w, r, Requirement{Public: true, MCP: !strings.HasPrefix(r.URL.Path, "/api/v1/")})
	return err
}

// admitAnonymous decides on a request without a credential. One that lacks a
// needed credential counts as any other.
func (g *Guard) admitAnonymous(w http.ResponseWriter, r *http.Request, from netip.Addr, need Requirement) error {
	if need.Uncounted {
		g.o.Observe(Anonymous.String())
		return nil
	}
	if limit := g.o.Anonymous; limit != nil {
		if v := limit.Take(r.Context(), ratelimit.Address(from)); !limit.setHeaders(w.Header(), v) {
			return g.limited(r, from, "anonymous", "", "Without a key an address may make "+limit.describe()+
				". Wait as long as Retry-After says, or use a key or token, which has no such limit: "+g.o.BaseURL+"/openapi.json tells how to get and send one.")
		}
	}
	if site, ok := ratelimit.Site(from); ok && g.o.AnonymousSite != nil {
		limit := g.o.AnonymousSite
		if v := limit.Take(r.Context(), site); !v.OK {
			w.Header().Set("Retry-After", v.RetryAfter())
			return g.limited(r, from, "anonymous-site", "", "Without a key a /48 network may make "+limit.describe()+". Wait as long as Retry-After says, or use a key or token, which has no such limit.")
		}
	}
	if need.Public {
		g.o.Observe(Anonymous.String())
		return nil
	}
	g.o.Observe("no_credential")
	w.Header().Set("WWW-Authenticate", g.challenge(need, "", ""))
	return fault.New(fault.Unauthorized, "This needs a key or token with the scope %s: send it as Authorization: Bearer, or a key as X-API-Key.", need.Scope)
}

// limited is the refusal of one request too many. The audit is told of an
// address once a minute, however much it sends.
func (g *Guard) limited(r *http.Request, from netip.Addr, limit, principal, message string) error {
	g.o.Observe("limited")
	subject := ratelimit.Address(from) // by network, as they are counted
	if g.audited.Take(r.Context(), ratelimit.Name(limit+" "+principal+" "+string(subject[:]))).OK {
		attrs := []slog.Attr{slog.String("limit", limit), slog.String("remote", from.String())}
		if principal != "" {
			attrs = append(attrs, slog.String("principal", principal))
		}
		g.o.Audit.tell(r.Context(), "limit.hit", attrs...)
	}
	return fault.New(fault.RateLimited, "%s", message)
}

// refuse turns away a credential that is not good; err says why, in words that
// whoever sent it may read. One that is not shown as it should be, a fault
// says so, is no credential yet.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, from netip.Addr, need Requirement, err error) error {
	if limit := g.o.Refused; limit != nil {
		if v := limit.Take(r.Context(), ratelimit.Address(from)); !v.OK {
			w.Header().Set("Retry-After", v.RetryAfter())
			return g.limited(r, from, "refused", "", "Too many credentials from this address were not good. Mend yours, and wait as long as Retry-After says.")
		}
	}
	reason := strings.TrimSuffix(err.Error(), ".")
	attrs := []slog.Attr{slog.String("reason", reason), slog.String("remote", from.String())}
	if bad, ok := errors.AsType[*badKey](err); ok {
		attrs = append(attrs, slog.String("key", bad.id))
	}
	g.o.Audit.tell(r.Context(), "credential.refused", attrs...)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		g.o.Observe("invalid_request")
		return e
	}
	g.o.Observe("invalid_token")
	w.Header().Set("WWW-Authenticate", g.challenge(need, "invalid_token", reason))
	return &fault.Error{Kind: fault.Unauthorized, Code: "invalid_token", Message: sentence(reason)}
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// challenge is the value of WWW-Authenticate, as RFC 6750 and RFC 9728 have it.
func (g *Guard) challenge(need Requirement, code, description string) string {
	metadata := g.o.BaseURL + MetadataPath
	if need.MCP {
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

// quotable leaves out what may not stand between the quotes of a header.
func quotable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return -1
		}
		return c
	}, s)
}

func (l *Limit) describe() string {
	return fmt.Sprintf("%d requests in any %d seconds", l.Policy.Limit, int(l.Window.Seconds()))
}

// tell writes the headers of a verdict, and returns whether it lets in.
func (l *Limit) setHeaders(h http.Header, v ratelimit.Decision) bool {
	h["Ratelimit-Policy"] = []string{l.Policy.Header()}
	h["Ratelimit"] = []string{v.Header(l.Policy)}
	if !v.OK {
		h.Set("Retry-After", v.RetryAfter())
	}
	return v.OK
}

// credential is what a request shows.
type credential struct {
	text  string
	isKey bool
}

// credentialOf takes a credential from where it may be, and refuses it where
// it may not: in the address, or twice.
func credentialOf(r *http.Request) (credential, error) {
	if err := RefuseInQuery(r.URL.RawQuery); err != nil {
		return credential{}, err
	}
	bearer, key := r.Header["Authorization"], r.Header["X-Api-Key"]
	if len(bearer) == 0 && len(key) == 0 {
		return credential{}, nil
	}
	if len(bearer) > 1 || len(key) > 1 {
		return credential{}, fault.New(fault.Invalid, "A request may carry one credential: send Authorization, or X-API-Key, once.")
	}
	if len(bearer) == 0 {
		return credential{strings.TrimSpace(key[0]), true}, nil
	}
	scheme, text, _ := strings.Cut(strings.TrimSpace(bearer[0]), " ")
	text = strings.TrimLeft(text, " ")
	if len(key) == 1 && (strings.TrimSpace(key[0]) != text) {
		return credential{}, fault.New(fault.Invalid, "Authorization and X-API-Key carry different credentials: send one of them.")
	}
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return credential{}, errors.New("the Authorization header must be Bearer and a key or token")
	}
	return credential{text, strings.HasPrefix(text, keyPrefix) || len(key) == 1}, nil
}

// RefuseInQuery keeps credentials out of addresses, where logs and histories
// would keep them.
func RefuseInQuery(query string) error {
	if query == "" {
		return nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, value = unescape(name), unescape(value)
		if !credentialNames[strings.ToLower(name)] && !strings.Contains(name+value, keyPrefix) {
			continue
		}
		if strings.Contains(name, keyPrefix) {
			name = "query"
		}
		return &fault.Error{
			Kind:    fault.Invalid,
			Message: "Credentials do not belong in the address: send the key or token in the Authorization or X-API-Key header, and treat this one as leaked.",
			Fields:  []fault.Field{{Name: name, Reason: "is not accepted in the query"}},
		}
	}
	return nil
}

// credentialNames are what people call a credential in an address.
var credentialNames = map[string]bool{
	"api_key": true, "apikey": true, "api-key": true, "x-api-key": true, "access_token": true, "token": true,
	"authorization": true, "bearer": true, "client_secret": true, "client_assertion": true, "subject_token": true, "assertion": true,
}

func unescape(s string) string {
	if d, err := url.QueryUnescape(s); err == nil {
		return d
	}
	return s
}

type contextKey struct{}

// NewContext hands somebody who was let in on to the operation.
func NewContext(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext returns who was let in, or nobody.
func FromContext(ctx context.Context) Principal {
	p, _ := ctx.Value(contextKey{}).(Principal)
	return p
}
