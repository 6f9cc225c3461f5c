package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/token"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/text"
)

// verifierForm is the form of a PKCE verifier (RFC 7636).
var verifierForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// clip shortens an id for the log.
func clip(id string) string { return text.ClipBytes(id, 200) }

// authenticate returns the client of a request, which must prove that it is that
// client. The caller claims the proof before the request has an effect.
func (s *Server) authenticate(ctx context.Context, q token.Request) (*Client, token.Proof, error) {
	if q.ClientID == "" {
		return nil, token.Proof{}, token.Refuse(token.CodeInvalidRequest, "client_id is missing")
	}
	c, err := s.client(ctx, q.ClientID, ratelimit.Address(s.o.Client(q.Request)))
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.Invalid {
		return nil, token.Proof{}, token.InvalidClient(e.Message)
	}
	if err != nil {
		return nil, token.Proof{}, token.Unavailable(err)
	}
	proof, err := s.o.Tokens.Authenticate(ctx, q, c.authentication)
	return c, proof, err
}

// exchangeCode issues the first tokens of a grant. The code is claimed after all other
// checks, so that a thief cannot use it up without the verifier.
func (s *Server) exchangeCode(ctx context.Context, q token.Request) (token.Granted, error) {
	var c code
	switch sealed := q.Form["code"]; {
	case sealed == "":
		return token.Granted{}, token.Refuse(token.CodeInvalidRequest, "code is missing")
	case !s.open(codeName, sealed, &c) || !time.Now().Before(time.Unix(c.Expires, 0)):
		return token.Granted{}, token.Refuse(token.CodeInvalidGrant,
			"the code is not valid, or more than a minute old: ask the person again")
	}
	// Before the client is looked up: a stranger must not cause fetches.
	if hash(q.ClientID) != c.Client {
		return token.Granted{}, token.Refuse(token.CodeInvalidGrant, "the code belongs to another client")
	}
	client, proof, err := s.authenticate(ctx, q)
	if err != nil {
		return token.Granted{}, err
	}
	if err := c.check(q.Form, s.o.Tokens.Audience); err != nil {
		return token.Granted{}, err
	}
	if err := proof.Claim(ctx); err != nil {
		return token.Granted{}, err
	}
	refresh, err := s.addGrant(ctx, c, client.leadingTo(q.Form["redirect_uri"]))
	if err != nil {
		return token.Granted{}, err
	}
	return s.granted(account.Grant{
		ID:       c.Grant,
		ClientID: client.ID,
		Resource: c.Resource,
		Scopes:   c.Scope,
	}, c.Account, c.Scope, refresh)
}

// check compares a request with the code in it.
func (c *code) check(f token.Form, audience func(string) string) error {
	if uri := f["redirect_uri"]; uri == "" && !c.Omitted || uri != "" && hash(uri) != c.Redirect {
		return token.Refuse(token.CodeInvalidGrant, "redirect_uri must be the one of the authorization request")
	}
	if resource := f["resource"]; resource != "" && audience(resource) != c.Resource {
		return token.Refuse(token.CodeInvalidTarget, "resource must be %s, as in the authorization request", c.Resource)
	}
	verifier := f["code_verifier"]
	if !verifierForm.MatchString(verifier) {
		return token.Refuse(token.CodeInvalidRequest, "code_verifier must have 43 to 128 letters, digits or - . _ ~")
	}
	sum := sha256.Sum256([]byte(verifier))
	if subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(c.Challenge)) == 0 {
		return token.Refuse(token.CodeInvalidGrant,
			"code_verifier does not match the code_challenge of the authorization request")
	}
	return nil
}

// addGrant stores the grant of a code that is used for the first time. A second use
// shows that the code was stolen, and ends the grant: if it comes while the grant is
// being stored, the first use learns of it from the second nonce.
func (s *Server) addGrant(ctx context.Context, c code, client Client) (refresh string, err error) {
	expires := time.Unix(c.Expires, 0)
	used, replayed := "oauth-code:"+c.Grant, "oauth-replay:"+c.Grant
	first, err := s.claim(ctx, used, expires)
	if err != nil {
		return "", token.Unavailable(err)
	}
	if !first {
		if _, err := s.claim(ctx, replayed, expires); err != nil {
			return "", token.Unavailable(err)
		}
		return "", s.endReplayed(ctx, c)
	}
	refresh, err = s.o.Accounts.AddGrant(ctx, c.Account, account.Grant{
		ID:         c.Grant,
		ClientID:   client.ID,
		ClientName: client.Name,
		ClientHost: client.Host,
		Resource:   c.Resource,
		Scopes:     c.Scope,
		Key:        c.Key,
	})
	if err != nil {
		return "", grantRefusal(err)
	}
	alone, err := s.claim(ctx, replayed, expires)
	if err != nil {
		return "", token.Unavailable(err)
	}
	if !alone {
		return "", s.endReplayed(ctx, c)
	}
	return refresh, nil
}

// endReplayed ends the grant of a code that was used twice, and returns the refusal.
func (s *Server) endReplayed(ctx context.Context, c code) error {
	if err := s.o.Accounts.Refresh(ctx); err != nil { // another replica may have stored it
		return token.Unavailable(err)
	}
	if err := s.o.Accounts.EndGrant(ctx, c.Account, c.Grant); err != nil && fault.KindOf(err) != fault.NotFound {
		return token.Unavailable(err)
	}
	return token.Refuse(token.CodeInvalidGrant, "the code was already used: all tokens issued for it have been revoked")
}

// grantRefusal returns the refusal for an error of the accounts.
func grantRefusal(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind != fault.Internal && e.Kind != fault.Unavailable {
		return token.Refuse(token.CodeInvalidGrant, "%s", e.Message)
	}
	return token.Unavailable(err)
}

// granted returns the token of a grant. Its scope is what the person still has.
func (s *Server) granted(g account.Grant, owner string, scope access.Scope, refresh string) (token.Granted, error) {
	state, known := s.o.Accounts.Grant(owner, g.ID)
	if scope &= state.Scope & g.Scopes; !known || scope == 0 {
		return token.Granted{}, token.Refuse(token.CodeInvalidGrant,
			"the grant has ended, or has none of these scopes any more")
	}
	return token.Granted{
		Token: access.Token{
			Subject:  owner,
			ClientID: g.ClientID,
			Audience: g.Resource,
			Scope:    scope,
			Grant:    g.ID,
		},
		Refresh: refresh,
	}, nil
}

// refresh issues a token for a refresh token, and the next refresh token.
func (s *Server) refresh(ctx context.Context, q token.Request) (token.Granted, error) {
	raw := q.Form["refresh_token"]
	if raw == "" {
		return token.Granted{}, token.Refuse(token.CodeInvalidRequest, "refresh_token is missing")
	}
	_, proof, err := s.authenticate(ctx, q)
	if err != nil {
		return token.Granted{}, err
	}
	g, err := s.o.Accounts.FindRefresh(ctx, raw, q.ClientID)
	if err != nil {
		return token.Granted{}, grantRefusal(err)
	}
	// A request that asks for too much must not use up the token.
	if _, err := s.narrow(g, q.Form); err != nil {
		return token.Granted{}, err
	}
	if err := proof.Claim(ctx); err != nil {
		return token.Granted{}, err
	}
	owner, g, next, err := s.o.Accounts.RotateGrant(ctx, raw, q.ClientID)
	if err != nil {
		return token.Granted{}, grantRefusal(err)
	}
	scope, err := s.narrow(g, q.Form)
	if err != nil {
		return token.Granted{}, err
	}
	return s.granted(g, owner.ID, scope, next)
}

// narrow returns the scope that a request asks for, which may be less than that of the
// grant, but not more.
func (s *Server) narrow(g account.Grant, f token.Form) (access.Scope, error) {
	if resource := f["resource"]; resource != "" && s.o.Tokens.Audience(resource) != g.Resource {
		return 0, token.Refuse(token.CodeInvalidTarget, "resource must be %s, as in the authorization request",
			g.Resource)
	}
	if f["scope"] == "" {
		return g.Scopes, nil
	}
	scope, err := token.ParseScope(f["scope"])
	if err != nil {
		return 0, err
	}
	if scope == 0 || !g.Scopes.Has(scope) {
		return 0, token.Refuse(token.CodeInvalidScope, "scope must be some of %s, which the person has granted",
			g.Scopes)
	}
	return scope, nil
}

// serveRevoke handles POST /oauth/revoke. Either token ends the whole grant. A token
// that is not known, or belongs to another client, is answered like one that is.
func (s *Server) serveRevoke(w http.ResponseWriter, r *http.Request, known *token.Known) (int, any, error) {
	q, err := token.ReadRequest(w, r)
	known.Client = q.ClientID
	if err != nil {
		return 0, nil, err
	}
	raw := q.Form["token"]
	if raw == "" {
		return 0, nil, token.Refuse(token.CodeInvalidRequest, "token is missing")
	}
	_, proof, err := s.authenticate(r.Context(), q)
	if err != nil {
		return 0, nil, err
	}
	owner, g, found, err := s.find(r.Context(), raw)
	if err != nil {
		return 0, nil, err
	}
	if found && g.ClientID == q.ClientID {
		if err := proof.Claim(r.Context()); err != nil {
			return 0, nil, err
		}
		if err := s.o.Accounts.EndGrant(context.WithoutCancel(r.Context()), owner.ID, g.ID); err != nil &&
			fault.KindOf(err) != fault.NotFound {
			return 0, nil, token.Unavailable(err)
		}
	}
	return http.StatusOK, struct{}{}, nil
}

// find returns the grant of a refresh token or an access token.
func (s *Server) find(ctx context.Context, raw string) (owner account.Account, g account.Grant, found bool, err error) {
	if err := s.o.Accounts.Wake(ctx); err != nil { // it may be new
		return owner, g, false, token.Unavailable(err)
	}
	if owner, g, found = s.o.Accounts.RefreshGrant(raw); found {
		return owner, g, true, nil
	}
	t, err := s.o.Tokens.Verify(ctx, raw)
	switch {
	case fault.KindOf(err) == fault.Unavailable:
		return owner, g, false, token.Unavailable(err)
	case err != nil:
		return owner, g, false, nil
	case t.Grant == "":
		return owner, g, false, token.Refuse("unsupported_token_type",
			"a token that came from an assertion cannot be revoked: it expires by itself")
	}
	owner, g, found = s.o.Accounts.FindGrant(t.Grant)
	return owner, g, found, nil
}
