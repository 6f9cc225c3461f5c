package access

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"pregon/internal/fault"
)

// Scope is a set of rights, one bit each.
type Scope uint8

// The rights.
const (
	ReadReports Scope = 1 << iota
	ReadIssuers
	ReadAnalytics

	AllScopes = ReadReports | ReadIssuers | ReadAnalytics
)

// scopeNames are in output order.
var scopeNames = []struct {
	scope Scope
	name  string
}{
	{ReadReports, "read:reports"},
	{ReadIssuers, "read:issuers"},
	{ReadAnalytics, "read:analytics"},
}

// Has reports whether s contains all rights of another set.
func (s Scope) Has(all Scope) bool { return s&all == all }

// Names returns the names of the rights.
func (s Scope) Names() []string {
	names := make([]string, 0, len(scopeNames))
	for _, n := range scopeNames {
		if s.Has(n.scope) {
			names = append(names, n.name)
		}
	}
	return names
}

// String returns the names separated by spaces, as in OAuth.
func (s Scope) String() string { return strings.Join(s.Names(), " ") }

// ScopeOf returns the right with a name, or 0.
func ScopeOf(name string) Scope {
	for _, n := range scopeNames {
		if n.name == name {
			return n.scope
		}
	}
	return 0
}

// ParseScopes converts names. It fails for an unknown name.
func ParseScopes(names []string) (Scope, error) {
	var all Scope
	for _, name := range names {
		s := ScopeOf(name)
		if s == 0 {
			return 0, fault.New(fault.Invalid, "there is no scope %q: use %s", name,
				strings.Join(AllScopes.Names(), ", "))
		}
		all |= s
	}
	return all, nil
}

// MarshalText implements encoding.TextMarshaler.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Scope) UnmarshalText(text []byte) (err error) {
	*s, err = ParseScopes(strings.Fields(string(text)))
	return err
}

// Mode is the kind of credential of a caller.
type Mode uint8

// The kinds of credentials.
const (
	Anonymous Mode = iota
	ByKey
	ByToken
	BySession // of a browser; only package console knows sessions
)

var modeNames = [...]string{
	Anonymous: "anonymous",
	ByKey:     "key",
	ByToken:   "token",
	BySession: "session",
}

func (m Mode) String() string { return modeNames[m] }

// Principal is an authenticated or anonymous caller.
type Principal struct {
	// ID identifies the owner of data: a person by issuer and subject, or a key that
	// belongs to no person by its id, which survives rotation. It is empty for
	// anonymous callers.
	ID      string
	Mode    Mode
	Scope   Scope
	Expires time.Time // end of the credential; zero for never
	// Credential is the id of the key, of the session, or of the grant from which a
	// token came; empty for other tokens.
	Credential string
	// Key is the id of the key that the caller sent, or with which the session was
	// opened. What the caller makes is not valid without it, and Keyring.Reach derives
	// from it what the caller may see.
	Key string
	// KeyText is the digest of the text of the key that the caller sent, which a rotation
	// replaces; zero for other callers.
	KeyText Digest
	Plan    string // empty for tokens of assertions
	// SigningKey is the id of the key that signed the token of the caller.
	SigningKey string
	Operator   bool // may see and end what belongs to others
}

// MayRead reports whether the principal may read public data: anonymous callers may,
// and others with the scope.
func (p Principal) MayRead(all Scope) bool { return p.Mode == Anonymous || p.Scope.Has(all) }

// MissingScope returns the error for an operation outside the principal's scope. What needs
// the scope is a text, or a fault.Text.
func (p Principal) MissingScope(all Scope, what any) error {
	refused := fault.New(fault.Forbidden, "%s needs the scope %s; the %s has %s.", what, all, p.Mode.String(), p.Scope)
	refused.Code = "insufficient_scope"
	return &scopeError{all, refused}
}

// scopeError carries the missing scope for Challenge.
type scopeError struct {
	scope   Scope
	refusal *fault.Error
}

func (e *scopeError) Error() string { return e.refusal.Error() }
func (e *scopeError) Unwrap() error { return e.refusal }

// Challenge sets WWW-Authenticate for an error of MissingScope, and for one that says that a
// request needs a credential which the guard did not ask for: what it names is not public.
func (g *Guard) Challenge(h http.Header, err error) {
	if e, ok := errors.AsType[*scopeError](err); ok {
		h.Set("WWW-Authenticate", g.challenge(Requirement{Scope: e.scope}, "insufficient_scope", ""))
		return
	}
	if fault.KindOf(err) == fault.Unauthorized {
		h.Set("WWW-Authenticate", g.challenge(Requirement{}, "", ""))
	}
}

type contextKey struct{}

// NewContext returns a context that carries the principal.
func NewContext(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext returns the principal, or an anonymous one.
func FromContext(ctx context.Context) Principal {
	p, _ := ctx.Value(contextKey{}).(Principal)
	return p
}

// Caller identifies a caller among those who take turns: the id of a principal, or the
// network of an anonymous address.
type Caller string

type callerKey struct{}

// WithCaller returns a context that carries the caller of a request, for work that
// callers take turns in.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom returns the caller of a request, or "" if the context carries none.
func CallerFrom(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
