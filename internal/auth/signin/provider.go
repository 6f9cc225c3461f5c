package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/jwks"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/server/outbound"
	"pregon/internal/text"
)

const (
	providerTimeout = 10 * time.Second
	startLifetime   = 10 * time.Minute // to sign in at the provider
	// discovered is how long the addresses of a provider are kept, and undiscovered
	// how long it is not asked again after a failure.
	discovered   = time.Hour
	undiscovered = 10 * time.Second
)

// provider is an OpenID provider of the configuration.
type provider struct {
	Provider
	scopes access.Scope
	secret string
	client *http.Client
	logger *slog.Logger

	lock    retry.Lock     // held while the provider is asked; guards the fields below
	known   *oidc.Provider // nil if it never answered
	keys    *jwks.Set
	keysURL string // from which they come
	tokens  *oidc.IDTokenVerifier
	until   time.Time // when to ask again
	err     error     // why it is not known
}

func (s *Service) newProvider(c Provider) (*provider, error) {
	p := &provider{
		Provider: c,
		client:   outbound.NewClient(outbound.Options{AllowPrivate: c.AllowPrivate, Timeout: providerTimeout}),
		logger:   s.o.Logger,
		lock:     retry.NewLock(),
	}
	var err error
	if p.scopes, err = access.ParseScopes(c.Scopes); err != nil {
		return nil, err
	}
	if c.SecretEnv != "" {
		if p.secret = s.o.Getenv(c.SecretEnv); p.secret == "" {
			return nil, fault.New(fault.Invalid,
				"the secret of the provider %s is read from the environment variable %s, which is not set",
				c.ID, c.SecretEnv)
		}
	}
	return p, nil
}

// discover returns the addresses of the provider, and what verifies its tokens. It asks
// when it is first needed, and again after an hour. While the provider does not answer,
// those of before are good; people must not wait for it one after the other.
func (p *provider) discover(ctx context.Context) (*oidc.Provider, *oidc.IDTokenVerifier, error) {
	if err := p.lock.Acquire(ctx); err != nil {
		return nil, nil, err
	}
	defer p.lock.Release()
	if time.Now().After(p.until) {
		p.ask(ctx)
	}
	if p.known == nil {
		return nil, nil, fault.Wrap(fault.Unavailable, p.err,
			"%s cannot be reached to sign in. Try again in a few minutes, or use a key.", p.Name)
	}
	return p.known, p.tokens, nil
}

// ask asks the provider for its addresses. p.lock is held.
func (p *provider) ask(ctx context.Context) {
	// The provider keeps the context for later, to fetch keys.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.Issuer)
	var document struct {
		KeysURL    string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	if err == nil {
		err = found.Claims(&document)
	}
	if err != nil {
		p.err, p.until = err, time.Now().Add(undiscovered)
		return
	}
	p.known, p.until = found, time.Now().Add(discovered)
	if p.keys == nil || p.keysURL != document.KeysURL {
		p.keys = jwks.Remote(document.KeysURL, p.client, p.logger)
		p.keysURL = document.KeysURL
	}
	p.tokens = oidc.NewVerifier(p.Issuer, keySet{p.keys}, &oidc.Config{
		ClientID:             p.ClientID,
		SupportedSigningAlgs: supported(document.Algorithms),
	})
}

func (p *provider) oauth(found *oidc.Provider, baseURL string) *oauth2.Config {
	return &oauth2.Config{
		ClientID:     p.ClientID,
		ClientSecret: p.secret,
		Endpoint:     found.Endpoint(),
		RedirectURL:  baseURL + CallbackPath + p.ID,
		Scopes:       []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// CallbackPath and the id of a provider are where the provider sends people back.
const CallbackPath = "/signin/callback/"

// started is what the browser keeps while the person is at the provider.
type started struct {
	Provider string    `json:"p"`
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Next     string    `json:"x"`
	Expires  time.Time `json:"e"`
}

func (s *Service) find(id string) (*provider, error) {
	i := slices.IndexFunc(s.providers, func(p *provider) bool { return p.ID == id })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "There is no provider %q to sign in with.", id)
	}
	return s.providers[i], nil
}

// Start sends a person to a provider.
func (s *Service) Start(w http.ResponseWriter, r *http.Request, id, next string) error {
	p, err := s.find(id)
	if err != nil {
		return err
	}
	if other := s.otherName(r); other != "" {
		http.Redirect(w, r, other, http.StatusFound)
		return nil
	}
	found, _, err := p.discover(r.Context())
	if err != nil {
		return err
	}
	kept := started{
		Provider: p.ID,
		State:    rand.Text(),
		Nonce:    rand.Text(),
		Verifier: oauth2.GenerateVerifier(),
		Next:     Next(next),
		Expires:  time.Now().Add(startLifetime),
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	sealed := s.o.Sealer.SealToken(startCookie, string(text))
	if len(sealed) > maxCookie-200 { // browsers drop longer cookies
		return fault.New(fault.Invalid, "The request of the application is too long to sign in with a provider.")
	}
	setCookie(w, startCookie, sealed, startLifetime)
	address := p.oauth(found, s.o.BaseURL).AuthCodeURL(kept.State, oidc.Nonce(kept.Nonce),
		oauth2.S256ChallengeOption(kept.Verifier))
	http.Redirect(w, r, address, http.StatusFound)
	return nil
}

// otherName returns the address of a request under the public name of the service, if
// that is another name of this machine: the provider sends people back to the public
// one, and cookies are bound to names.
func (s *Service) otherName(r *http.Request) string {
	public := s.host()
	if r.Host == public || !isLoopback(r.Host) || !isLoopback(public) {
		return ""
	}
	return s.origin + r.URL.RequestURI()
}

func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

var errStart = fault.New(fault.Forbidden, "The sign-in was not started in this browser, or it took longer "+
	"than ten minutes. Start again.")

// Finish signs a person in who comes back from a provider. It ends the session that the
// browser had, if any, and returns where to go.
func (s *Service) Finish(
	w http.ResponseWriter, r *http.Request, old *Session, id string,
) (next string, err error) {
	from := s.o.Client(r)
	if err := s.attempts.admit(r.Context(), w, from); err != nil {
		return "", err
	}
	p, kept, err := s.started(r, id)
	if err != nil {
		return "", err
	}
	if code := r.FormValue("error"); code != "" {
		setCookie(w, startCookie, "", gone)
		reason := clean(code + " " + r.FormValue("error_description"))
		return "", s.attempts.refuse(r.Context(), from, p.ID, fault.New(fault.Forbidden, "%s answered: %s", p.Name, reason))
	}
	// A browser that goes back sends the request again, and the provider would
	// take that for an attack.
	first, err := s.o.Nonces.ClaimNonce(r.Context(), "signin "+kept.State, kept.Expires.Add(time.Minute))
	if err != nil {
		return "", err // the cookie stays, so that it can be tried again
	}
	setCookie(w, startCookie, "", gone)
	if !first {
		return "", errStart
	}
	profile, err := s.identify(r, p, kept)
	if fault.KindOf(err) == fault.Unavailable {
		return "", err
	}
	if err != nil {
		return "", s.attempts.refuse(r.Context(), from, p.ID, err)
	}
	return kept.Next, s.open(w, r, old, profile, account.Session{})
}

// started returns what the browser kept for a callback, which must be of the same
// provider and state. It also compares the issuer in the response (RFC 9207): with two
// providers one could otherwise send the code of the other.
func (s *Service) started(r *http.Request, id string) (*provider, started, error) {
	p, err := s.find(id)
	if err != nil {
		return nil, started{}, err
	}
	raw, ok := onlyCookie(r, startCookie)
	if !ok {
		return nil, started{}, errStart
	}
	var kept started
	text, ok := s.o.Sealer.OpenToken(startCookie, raw)
	if !ok || json.Unmarshal([]byte(text), &kept) != nil {
		return nil, started{}, errStart
	}
	sameState := subtle.ConstantTimeCompare([]byte(kept.State), []byte(r.FormValue("state"))) == 1
	if time.Now().After(kept.Expires) || kept.Provider != p.ID || !sameState {
		return nil, started{}, errStart
	}
	if iss := r.URL.Query()["iss"]; len(iss) > 1 || len(iss) == 1 && iss[0] != p.Issuer {
		return nil, started{}, errStart
	}
	return p, kept, nil
}

// identity are the claims of an ID token that matter.
type identity struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some providers send a text
	all      map[string]any
}

// verified returns the e-mail address if the provider verified it.
func (i identity) verified() string {
	if i.Verified == true || i.Verified == "true" {
		return text.LowerASCII(i.Email)
	}
	return ""
}

// identify exchanges the code and returns the account of the person, who must be
// allowed to sign in.
func (s *Service) identify(r *http.Request, p *provider, kept started) (account.Account, error) {
	code := r.FormValue("code")
	if code == "" || len(code) > 4096 {
		return account.Account{}, errors.New("the provider sent no code")
	}
	found, verifier, err := p.discover(r.Context())
	if err != nil {
		return account.Account{}, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(r.Context(), p.client), providerTimeout)
	defer cancel()
	tokens, err := p.oauth(found, s.o.BaseURL).Exchange(ctx, code, oauth2.VerifierOption(kept.Verifier))
	if err != nil {
		if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response.StatusCode < 500 {
			return account.Account{}, fault.New(fault.Forbidden, "%s refused the code: %s", p.Name,
				clean(refused.ErrorCode))
		}
		return account.Account{}, fault.Wrap(fault.Unavailable, err,
			"%s does not answer. Try again in a few minutes.", p.Name)
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return account.Account{}, fault.New(fault.Forbidden, "%s sent no ID token", p.Name)
	}
	token, err := verifier.Verify(ctx, raw)
	if err != nil {
		s.o.Logger.WarnContext(ctx, "an ID token is not valid", "provider", p.ID, "err", err)
		return account.Account{}, fault.New(fault.Forbidden, "the ID token of %s is not valid", p.Name)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(kept.Nonce)) != 1 {
		return account.Account{}, fault.New(fault.Forbidden, "the ID token of %s is for another sign-in", p.Name)
	}
	var who identity
	if err := errors.Join(token.Claims(&who), token.Claims(&who.all)); err != nil || !usable(token.Subject) {
		return account.Account{}, fault.New(fault.Forbidden, "the ID token of %s cannot be read", p.Name)
	}
	if !p.Allow.match(who) {
		return account.Account{}, p.notAllowed(who)
	}
	return account.Account{
		ID:       p.Issuer + "#" + token.Subject,
		Provider: p.ID,
		Name:     who.Name,
		Email:    who.verified(),
		Plan:     p.Plan,
		Scopes:   p.scopes,
		Operator: p.Operators.match(who),
	}, nil
}

// usable reports whether a subject can be part of the id of an account. OpenID limits
// it to 255 ASCII characters.
func usable(subject string) bool {
	return subject != "" && len(subject) <= 255 &&
		!strings.ContainsFunc(subject, func(r rune) bool { return r < ' ' || r > '~' })
}

func (p *provider) notAllowed(who identity) error {
	if who.Email != "" && who.verified() == "" && (len(p.Allow.Domains) > 0 || len(p.Allow.Emails) > 0) {
		return fault.New(fault.Forbidden, "your e-mail address is not verified by %s: verify it there and sign in again",
			p.Name)
	}
	return fault.New(fault.Forbidden, "you signed in at %s, but this service is not open to you: ask its operator for "+
		"access", p.Name)
}

// match reports whether a rule selects a person.
func (r Rules) match(who identity) bool {
	if r.Anyone {
		return true
	}
	if email := who.verified(); email != "" {
		_, domain, _ := strings.Cut(email, "@")
		if strings.Count(email, "@") == 1 && containsFold(r.Domains, domain) || containsFold(r.Emails, email) {
			return true
		}
	}
	for claim, values := range r.Claims {
		if claimHas(who.all[claim], values) {
			return true
		}
	}
	return false
}

// containsFold reports whether a list has an address or domain, without regard to the
// case of ASCII letters. Unicode has other letters that fold to these, and so other
// domains would match.
func containsFold(list []string, address string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return text.EqualFoldASCII(s, address) })
}

// claimHas reports whether a claim is, or contains, one of some values.
func claimHas(claim any, values []string) bool {
	switch c := claim.(type) {
	case string:
		return slices.Contains(values, c)
	case []any:
		return slices.ContainsFunc(c, func(v any) bool {
			text, ok := v.(string)
			return ok &&
				slices.Contains(values, text)
		})
	case bool:
		return slices.Contains(values, fmt.Sprint(c))
	}
	return false
}

// clean returns a text from outside that can be shown on one line.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s[:min(len(s), 200)])
}
