package token

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
)

// The grant types and token types.
const (
	grantExchange  = "urn:ietf:params:oauth:grant-type:token-exchange"
	grantJWTBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

	tokenIDJAG  = "urn:ietf:params:oauth:token-type:id-jag"
	tokenJWT    = "urn:ietf:params:oauth:token-type:jwt"
	tokenAccess = "urn:ietf:params:oauth:token-type:access_token"
)

// grant holds the parameters that depend on the grant type.
type grant struct {
	assertion  string
	field      string // parameter of the assertion
	idJAG, jwt bool   // accepted kinds of assertions
	bad        string // error code for an invalid assertion
	issued     string // issued_token_type; empty when the grant has none
}

func (s *Server) readGrant(f Form) (grant, error) {
	switch f["grant_type"] {
	case grantExchange:
		return readExchange(f)
	case grantJWTBearer:
		g := grant{
			assertion: f["assertion"],
			field:     "assertion",
			idJAG:     true,
			jwt:       true,
			bad:       CodeInvalidGrant,
		}
		if g.assertion == "" {
			return g, Refuse(CodeInvalidRequest, "assertion is missing")
		}
		return g, nil
	case "":
		return grant{}, Refuse(CodeInvalidRequest, "grant_type is missing: use %s", grantExchange)
	}
	return grant{}, Refuse(CodeUnsupported, "grant_type must be %s", strings.Join(s.grantTypes(), " or "))
}

func readExchange(f Form) (grant, error) {
	// RFC 8693 has no error code for an invalid subject token.
	g := grant{
		assertion: f["subject_token"],
		field:     "subject_token",
		bad:       CodeInvalidRequest,
		issued:    tokenAccess,
	}
	switch f["subject_token_type"] {
	case tokenIDJAG:
		g.idJAG = true
	case tokenJWT:
		g.jwt = true
	default:
		return g, Refuse(CodeInvalidRequest, "subject_token_type must be %s or %s", tokenIDJAG, tokenJWT)
	}
	if g.assertion == "" {
		return g, Refuse(CodeInvalidRequest, "subject_token is missing")
	}
	if f["actor_token"] != "" || f["actor_token_type"] != "" {
		return g, Refuse(CodeInvalidRequest, "actor_token is not supported")
	}
	switch asked := f["requested_token_type"]; asked {
	case "":
	case tokenAccess, tokenJWT:
		g.issued = asked
	default:
		return g, Refuse(CodeInvalidRequest, "requested_token_type must be %s or %s", tokenAccess, tokenJWT)
	}
	return g, nil
}

// accepts checks the typ header of an assertion. It keeps out tokens that were made
// for another purpose, such as our own access tokens or ID tokens.
func (g grant) accepts(j *jws) error {
	switch {
	case g.idJAG && j.typed(typeIDJAG), g.jwt && (j.typ == "" || strings.EqualFold(j.typ, "JWT")):
		return nil
	case g.idJAG && g.jwt:
		return tokenError("typ in its header must be " + typeIDJAG + " or JWT, or absent")
	case g.idJAG:
		return tokenError("typ in its header must be " + typeIDJAG)
	}
	return tokenError("typ in its header must be JWT or absent")
}

// exchange handles a request. The order of the checks keeps unauthenticated requests
// cheap, and protects assertions from being used up by other clients.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request, known *Known) (issued, error) {
	f, err := readForm(w, r)
	if err != nil {
		return issued{}, err
	}
	if extra := s.extended.Grants[f["grant_type"]]; extra != nil {
		return s.grantExtra(r, f, extra, known)
	}
	g, err := s.readGrant(f)
	if err != nil {
		return issued{}, err
	}
	creds, err := readCredentials(r.Header, f)
	if err != nil {
		return issued{}, err
	}
	asked, err := s.readTokenRequest(f)
	if err != nil {
		return issued{}, err
	}
	out, err := s.grant(r, g, creds, asked, known)
	if u, ok := errors.AsType[tokenError](err); ok {
		return issued{}, Refuse(g.bad, "the %s is refused: %s", g.field, string(u))
	}
	out.kind = g.issued
	return out, err
}

// grant issues a token for an assertion.
func (s *Server) grant(r *http.Request, g grant, creds credentials, asked tokenRequest, known *Known) (issued, error) {
	ctx := r.Context()
	a, err := s.assertion(ctx, g, known)
	if err != nil {
		return issued{}, err
	}
	c, nonces, err := s.authenticate(ctx, creds, a, s.o.Client(r))
	if err != nil {
		return issued{}, err
	}
	target, err := s.target(asked, a)
	if err != nil {
		return issued{}, err
	}
	scope, err := asked.grantable(a, c)
	if err != nil {
		return issued{}, err
	}
	key, err := s.o.Ring.now.Load().signer(time.Now())
	if err != nil {
		return issued{}, Unavailable(err)
	}
	if err := s.claimNonces(ctx, nonces, a.nonce); err != nil {
		return issued{}, err
	}
	return s.issue(access.Token{
		Subject:  a.issuer.name + "#" + a.subject,
		Issuer:   a.issuer.name,
		ClientID: c.id,
		Audience: target,
		Scope:    scope,
	}, key, time.Now())
}

// claimTimeout bounds the claims in the store.
const claimTimeout = 5 * time.Second

// claimNonces claims single-use tokens. If the store fails, no token is issued.
func (s *Server) claimNonces(ctx context.Context, proofs []nonce, assertion nonce) error {
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	if err := s.claimProofs(ctx, proofs); err != nil {
		return err
	}
	first, err := s.o.Nonces.ClaimNonce(ctx, assertion.name, assertion.until)
	if err != nil {
		return Unavailable(err)
	}
	if !first {
		return tokenError("its jti was used before: an assertion can be used once")
	}
	return nil
}

// claimProofs claims the assertions with which clients authenticate, and counts the
// request for the client: now it is certainly theirs. The limit was checked before; an
// assertion that is claimed is used, even if others were at the same moment.
func (s *Server) claimProofs(ctx context.Context, proofs []nonce) error {
	for _, m := range proofs {
		first, err := s.o.Nonces.ClaimNonce(ctx, m.name, m.until)
		if err != nil {
			return Unavailable(err)
		}
		if !first {
			return InvalidClient("the client_assertion is refused: its jti was used before")
		}
		_ = s.countClient(ctx, m.client)
	}
	return nil
}

// tokenRequest holds the requested properties of the token.
type tokenRequest struct {
	target string       // empty for the default
	scoped bool         // the request has a scope
	scope  access.Scope // the known scopes in it
}

func (s *Server) readTokenRequest(f Form) (tokenRequest, error) {
	var out tokenRequest
	for _, name := range []string{"resource", "audience"} {
		if f[name] == "" {
			continue
		}
		target := s.Audience(f[name])
		if target == "" || out.target != "" && out.target != target {
			return out, Refuse(CodeInvalidTarget,
				"resource and audience must be %s, and equal if both are given",
				strings.Join(s.resources(), " or "))
		}
		out.target = target
	}
	if text := f["scope"]; text != "" {
		var err error
		if out.scope, err = ParseScope(text); err != nil {
			return out, err
		}
		out.scoped = true
	}
	return out, nil
}

// ParseScope returns the known scopes of a scope parameter.
func ParseScope(text string) (access.Scope, error) {
	if !scopeText(text) || strings.TrimSpace(text) == "" {
		return 0, Refuse(CodeInvalidScope, "scope must be names with spaces between them: %s", access.AllScopes)
	}
	return knownScopes(strings.Fields(text)), nil
}

// Audience returns the audience for a resource of this service, or "".
func (s *Server) Audience(resource string) string {
	if resource == s.o.BaseURL+"/" {
		return s.o.BaseURL
	}
	if slices.Contains(s.resources(), resource) {
		return resource
	}
	return ""
}

// target returns the audience of the token: the requested one, else the only one in
// the assertion, else the whole service.
func (s *Server) target(asked tokenRequest, a *assertion) (string, error) {
	var named []string
	for _, r := range a.resources {
		if t := s.Audience(r); t != "" && !slices.Contains(named, t) {
			named = append(named, t)
		}
	}
	target := asked.target
	if target == "" {
		target = s.o.BaseURL
		if len(named) == 1 {
			target = named[0]
		}
	}
	if a.resources != nil && !slices.Contains(named, target) {
		return "", tokenError("its resource does not name " + target)
	}
	return target, nil
}

// grantable returns the scope that request, issuer, client and assertion all allow.
func (w tokenRequest) grantable(a *assertion, c *client) (access.Scope, error) {
	scope := a.issuer.defaults
	if w.scoped {
		scope = w.scope & a.issuer.scopes
	}
	scope &= c.scopes & a.scope
	if scope == 0 {
		return 0, Refuse(CodeInvalidScope, "none of the scopes can be granted: ask for scopes of %s that both "+
			"the issuer and its assertion allow to this client", access.AllScopes)
	}
	return scope, nil
}
