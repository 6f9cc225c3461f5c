package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/token"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
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
	Final      bool         `json:"f,omitempty"` // it can grant access
	Made       int64        `json:"m"`           // when the page was made, in milliseconds
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

// Forms returns the content of the two forms with which a signed-in person decides. With
// the first one they can refuse, or continue to the page of Review. The final one can
// also grant access. A page must not let it be sent by a click that was meant for
// another page: the two clicks of a double click can be the one that leads to the page
// and one on it.
func (s *Server) Forms(q *Request, p access.Principal) (first, final string) {
	f := form{
		ID:         rand.Text(),
		Client:     q.Client.ID,
		Digest:     q.Client.digest(),
		Redirect:   q.RedirectURI,
		Omitted:    q.omitted,
		Resource:   q.Resource,
		State:      q.State,
		Challenge:  q.Challenge,
		Scope:      q.Scope,
		Account:    p.ID,
		Credential: p.Credential,
		Expires:    time.Now().Add(formTime).Unix(),
	}
	first = s.seal(formName, f)
	return first, s.finalForm(f)
}

// finalForm returns the content of a form that can grant access, for a page that is made
// now.
func (s *Server) finalForm(f form) string {
	f.Final = true
	f.Made = time.Now().UnixMilli()
	return s.seal(formName, f)
}

// minAge is how old a final form must be to grant access. Browsers without JavaScript do
// not keep the button of the second page from being pressed, so that a series of clicks
// could reach it.
const minAge = time.Second

// ErrTooSoon is the error for a final form that was sent too soon for a person to have
// read the page. It can be shown again.
var ErrTooSoon = errors.New("the form was sent too soon after the page was shown")

// Review returns the request of a form, and a new final form for the page on which the
// person confirms. The error may be a *Refusal.
func (s *Server) Review(ctx context.Context, sealed string, p access.Principal) (q *Request, final string, err error) {
	f, q, err := s.openForm(ctx, sealed, p)
	if err != nil {
		return nil, "", err
	}
	return q, s.finalForm(f), nil
}

// Decide carries out the decision of a person and returns the address to which the
// browser is sent. The error may be a *Refusal, or ErrTooSoon.
func (s *Server) Decide(
	ctx context.Context,
	sealed string,
	p access.Principal,
	allow bool,
) (redirect string, err error) {
	f, q, err := s.openForm(ctx, sealed, p)
	if err != nil {
		return "", err
	}
	if allow && !f.Final {
		return "", &Refusal{
			Code:  token.CodeInvalidRequest,
			Text:  "This form cannot give access: decide again.",
			Again: q.Address(),
		}
	}
	if allow && time.Since(time.UnixMilli(f.Made)) < s.minAge {
		return "", ErrTooSoon
	}
	first, err := s.claim(ctx, "oauth-form:"+f.ID, time.Unix(f.Expires, 0))
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err,
			"Your decision cannot be carried out now. Try again in a few seconds.")
	}
	if !first {
		return "", &Refusal{
			Code: token.CodeInvalidRequest,
			Text: "This form was used before: go back to the application and begin again.",
		}
	}
	return s.decided(ctx, q, p, allow), nil
}

// openForm opens a form that was shown to a person, and reads its client again. The
// error may be a *Refusal.
func (s *Server) openForm(ctx context.Context, sealed string, p access.Principal) (f form, q *Request, err error) {
	if !s.open(formName, sealed, &f) || f.Account != p.ID || f.Credential != p.Credential || p.ID == "" {
		return f, nil, &Refusal{
			Code: token.CodeInvalidRequest,
			Text: "This form belongs to another session: go back to the application and begin again.",
		}
	}
	q = &Request{
		Client:      Client{ID: f.Client},
		RedirectURI: f.Redirect,
		Resource:    f.Resource,
		State:       f.State,
		Challenge:   f.Challenge,
		Scope:       f.Scope,
		omitted:     f.Omitted,
	}
	if !time.Now().Before(time.Unix(f.Expires, 0)) {
		return f, nil, &Refusal{
			Code:  token.CodeInvalidRequest,
			Text:  "This form was open for too long: decide again.",
			Again: q.Address(),
		}
	}
	client, err := s.client(ctx, f.Client, ratelimit.Name(p.ID))
	if err != nil {
		return f, nil, clientRefusal(err)
	}
	if q.Client = client.leadingTo(f.Redirect); q.Client.digest() != f.Digest {
		return f, nil, &Refusal{
			Code:  token.CodeInvalidRequest,
			Text:  "The application has changed its description meanwhile: check it again.",
			Again: q.Address(),
		}
	}
	return f, q, nil
}

// decided returns the response to the application.
func (s *Server) decided(ctx context.Context, q *Request, p access.Principal, allow bool) string {
	attrs := []slog.Attr{
		slog.String("account", p.ID), slog.String("client_id", clip(q.Client.ID)), slog.String("name",
			q.Client.Name), slog.String("host", q.Client.Host),
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
		Account:   p.ID,
		Key:       p.Key,
		Client:    hash(q.Client.ID),
		Redirect:  hash(q.RedirectURI),
		Omitted:   q.omitted,
		Challenge: q.Challenge,
		Scope:     scope,
		Resource:  q.Resource,
		Grant:     account.NewGrantID(),
		Expires:   time.Now().Add(codeTime).Unix(),
	}
	s.o.Audit(ctx, "app.authorized", append(attrs, slog.String("grant", c.Grant),
		slog.String("scope", scope.String()), slog.String("audience", q.Resource))...)
	return s.response(q, url.Values{"code": {s.seal(codeName, c)}})
}
