package oauth

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/url"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/ratelimit"
	"pregon/internal/auth/token"
	"pregon/internal/fault"
)

const (
	formName = "oauth form" // under which it is sealed
	formTime = 10 * time.Minute

	codeName = "oauth code"
	codeTime = time.Minute
)

// form is the sealed content of a consent form.
type form struct {
	ID         string       `json:"i"`
	Client     string       `json:"c"`
	Digest     string       `json:"d"` // of the client as it was shown
	Redirect   string       `json:"r"`
	Omitted    bool         `json:"o,omitempty"`
	Resource   string       `json:"a"`
	State      string       `json:"s,omitempty"`
	Challenge  string       `json:"h"`
	Scope      access.Scope `json:"p"`
	Account    string       `json:"u"`
	Credential string       `json:"k"` // the session to which it was shown
	Expires    int64        `json:"e"`
}

// code is the sealed content of an authorization code.
type code struct {
	Account   string       `json:"u"`
	Key       string       `json:"k,omitempty"` // with which the person signed in
	Client    string       `json:"c"`           // hash of its id
	Redirect  string       `json:"r"`           // hash
	Omitted   bool         `json:"o,omitempty"`
	Challenge string       `json:"h"`
	Scope     access.Scope `json:"p"`
	Resource  string       `json:"a"`
	Grant     string       `json:"g"` // id of the grant to be made
	Expires   int64        `json:"e"`
}

// Form returns the content of the form with which a signed-in person decides.
func (s *Server) Form(q *Request, p access.Principal) string {
	return s.seal(formName, form{
		ID: rand.Text(), Client: q.Client.ID, Digest: q.Client.digest(), Redirect: q.RedirectURI, Omitted: q.omitted,
		Resource: q.Resource, State: q.State, Challenge: q.Challenge, Scope: q.Scope,
		Account: p.ID, Credential: p.Credential, Expires: time.Now().Add(formTime).Unix(),
	})
}

// Decide carries out the decision of a person and returns the address to which the
// browser is sent. The error may be a *Refusal.
func (s *Server) Decide(ctx context.Context, sealed string, p access.Principal, allow bool) (redirect string, err error) {
	var f form
	if !s.open(formName, sealed, &f) || f.Account != p.ID || f.Credential != p.Credential || p.ID == "" {
		return "", &Refusal{Code: token.CodeInvalidRequest, Text: "This form belongs to another session: go back to the application and begin again."}
	}
	q := &Request{
		Client: Client{ID: f.Client}, RedirectURI: f.Redirect, Resource: f.Resource, State: f.State, Challenge: f.Challenge, Scope: f.Scope, omitted: f.Omitted,
	}
	again := AuthorizePath + "?" + q.query().Encode()
	expires := time.Unix(f.Expires, 0)
	if !time.Now().Before(expires) {
		return "", &Refusal{Code: token.CodeInvalidRequest, Text: "This form was open for too long: decide again.", Again: again}
	}
	client, err := s.client(ctx, f.Client, ratelimit.Name(p.ID))
	if err != nil {
		return "", clientRefusal(err)
	}
	if q.Client = client.leadingTo(f.Redirect); q.Client.digest() != f.Digest {
		return "", &Refusal{Code: token.CodeInvalidRequest, Text: "The application has changed its description meanwhile: look at it again.", Again: again}
	}
	first, err := s.claim(ctx, "oauth-form:"+f.ID, expires)
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "Your decision cannot be carried out now. Try again in a few seconds.")
	}
	if !first {
		return "", &Refusal{Code: token.CodeInvalidRequest, Text: "This form was used before: go back to the application and begin again."}
	}
	return s.decided(ctx, q, p, allow), nil
}

// decided returns the response to the application.
func (s *Server) decided(ctx context.Context, q *Request, p access.Principal, allow bool) string {
	attrs := []slog.Attr{
		slog.String("account", p.ID), slog.String("client_id", clip(q.Client.ID)), slog.String("name", q.Client.Name), slog.String("host", q.Client.Host),
	}
	scope := q.Scope & p.Scope
	if !allow || scope == 0 {
		s.o.Audit(ctx, "app.refused", attrs...)
		text := "the person did not agree"
		if allow {
			text = "the person has none of the scopes"
		}
		return s.response(q, url.Values{"error": {"access_denied"}, "error_description": {text}})
	}
	c := code{
		Account: p.ID, Key: p.Key, Client: hash(q.Client.ID), Redirect: hash(q.RedirectURI), Omitted: q.omitted, Challenge: q.Challenge,
		Scope: scope, Resource: q.Resource, Grant: account.NewGrantID(), Expires: time.Now().Add(codeTime).Unix(),
	}
	s.o.Audit(ctx, "app.authorized", append(attrs, slog.String("grant", c.Grant), slog.String("scope", scope.String()), slog.String("audience", q.Resource))...)
	return s.response(q, url.Values{"code": {s.seal(codeName, c)}})
}
