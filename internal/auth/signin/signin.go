package signin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
)

// Names of cookies. The prefix makes browsers refuse them from other hosts, such as
// subdomains, and without https.
const (
	sessionCookie = "__Host-pregon-session"
	startCookie   = "__Host-pregon-signin"

	maxCookie = 4096
)

// Sealer encrypts what browsers keep; sealing.Key is one.
type Sealer interface {
	SealToken(name, text string) string
	OpenToken(name, token string) (string, bool)
}

// Options are the collaborators of a Service.
type Options struct {
	Config  Config
	BaseURL string
	// Demo means that the market is simulated and people are on this machine: DemoLink
	// signs in, once.
	Demo     bool
	Accounts *account.Accounts
	Keys     *access.Keyring
	Sealer   Sealer
	Nonces   store.Nonces
	// Client returns the address of a browser.
	Client func(*http.Request) netip.Addr
	// Refused limits how often an address may fail to sign in; nil for no limit.
	Refused ratelimit.Limiter
	// ByAddress and ByKey limit how often an address may try to sign in with a key, and
	// how often one may with the same key; nil for no limit. Each sign-in is a write.
	ByAddress, ByKey ratelimit.Limiter
	Audit            access.Audit
	Logger           *slog.Logger
	Getenv           func(string) string // nil: of the process
}

// Service signs people in and out.
type Service struct {
	o         Options
	providers []*provider
	scheme    string // of the service
	origin    string // of the service
	attempts  attempts
	demoLink  string // "" if this is not a demo
	// demo is the digest of the secret in the link of the demo, nil after it was used.
	demo atomic.Pointer[[sha256.Size]byte]
}

// New returns a service. It validates the configuration, and does not contact the
// providers: one that is down must not keep the service from starting.
func New(o Options) (*Service, error) {
	if err := o.Config.Validate(o.BaseURL); err != nil {
		return nil, err
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	base, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, err
	}
	s := &Service{
		o:      o,
		scheme: base.Scheme,
		origin: base.Scheme + "://" + base.Host,
		attempts: attempts{
			refused:   o.Refused,
			byAddress: o.ByAddress,
			byKey:     o.ByKey,
			audit:     o.Audit,
			limits:    access.NewLimitAudit(o.Audit),
		},
	}
	for _, c := range o.Config.Providers {
		p, err := s.newProvider(c)
		if err != nil {
			return nil, err
		}
		s.providers = append(s.providers, p)
	}
	if o.Demo {
		s.openDemo()
	}
	return s, nil
}

// host returns the host and port of the service.
func (s *Service) host() string { return strings.TrimPrefix(s.origin, s.scheme+"://") }

// Choice is a provider as people see it.
type Choice struct{ ID, Name string }

// Providers returns the providers in the order of the configuration.
func (s *Service) Providers() []Choice {
	var out []Choice
	for _, p := range s.providers {
		out = append(out, Choice{p.ID, p.Name})
	}
	return out
}

// Session is an open session of the browser that sent a request.
type Session struct {
	access.Principal
	Account account.Account
	Token   string // which forms must send
}

// Session returns the session of a request, or nil when nobody is signed in. Of two
// cookies of one name neither is taken: another site may have set one.
func (s *Service) Session(r *http.Request) *Session {
	raw, ok := onlyCookie(r, sessionCookie)
	if !ok {
		return nil
	}
	text, ok := s.o.Sealer.OpenToken(sessionCookie, raw)
	if !ok {
		return nil
	}
	parts := strings.Split(text, "\n")
	if len(parts) != 3 {
		return nil
	}
	one, found, ok := s.o.Accounts.FindSession(r.Context(), parts[0], parts[1], parts[2])
	if !ok {
		return nil
	}
	if !s.o.Keys.Allows(found.Key, s.o.Client(r)) {
		return nil
	}
	state := s.o.Accounts.SessionState(one, found)
	return &Session{
		Principal: access.Principal{
			ID:         one.ID,
			Mode:       access.BySession,
			Scope:      state.Scope,
			Expires:    found.ExpiresAt,
			Credential: found.ID,
			Key:        found.Key,
			Plan:       state.Plan,
			Operator:   state.Operator,
		},
		Account: one,
		Token:   formToken(parts[2]),
	}
}

// formToken returns the token of the forms of a session.
func formToken(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("form"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// TokenField is the field of forms that has the token.
const TokenField = "form_token"

var (
	errOrigin = fault.New(fault.Forbidden, "This request did not come from a page of this service.")
	errToken  = fault.New(fault.Forbidden, "This form belongs to a session that has ended. Open the page again.")
)

// CheckForm returns an error unless a form was sent by a page of this service, and by
// one of the session if there is one. The caller has parsed the form.
func (s *Service) CheckForm(r *http.Request, session *Session) error {
	switch site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin"); {
	case site != "" && site != "same-origin", origin != "" && !s.own(r, origin), site == "" && origin == "":
		return errOrigin
	}
	if session != nil && !hmac.Equal([]byte(r.PostFormValue(TokenField)), []byte(session.Token)) {
		return errToken
	}
	return nil
}

// own reports whether an origin is that of this service: of its public address, or of
// the one at which this request arrived, such as localhost in the place of 127.0.0.1.
// A session is bound to the name of the host, so that no other name can use it.
func (s *Service) own(r *http.Request, origin string) bool {
	return origin == s.origin || origin == s.scheme+"://"+r.Host
}

// ByKey signs the holder of a key in. It ends the session that the browser had, if any,
// and returns where to go.
func (s *Service) ByKey(
	w http.ResponseWriter, r *http.Request, old *Session, key, next string,
) (string, error) {
	ctx := r.Context()
	from := s.o.Client(r)
	if err := s.attempts.admitAddress(ctx, w, from); err != nil {
		return "", err
	}
	p, err := s.o.Keys.ByText(ctx, key, from)
	if fault.KindOf(err) == fault.Unavailable {
		return "", err
	}
	if err != nil {
		return "", s.attempts.refuse(ctx, from, "key", err)
	}
	if err := s.attempts.admitKey(ctx, w, from, p.Key); err != nil {
		return "", err
	}
	return Next(next), s.open(w, r, old, s.profileOf(p), account.Session{Key: p.Key})
}

// profileOf returns the account of the holder of a key.
func (s *Service) profileOf(p access.Principal) account.Account {
	key, own := s.o.Keys.Key(p.ID)
	if known, ok := s.o.Accounts.Account(p.ID); ok && !own {
		return known // the person of whom this is one of the keys
	}
	return account.Account{
		ID:       p.ID,
		Name:     key.Name,
		Plan:     p.Plan,
		Scopes:   p.Scope,
		Operator: p.Operator,
	}
}

// open opens a session and ends the one that the browser had, if any.
func (s *Service) open(
	w http.ResponseWriter, r *http.Request, old *Session, profile account.Account, opened account.Session,
) error {
	opened.Agent = r.UserAgent()
	opened, raw, err := s.o.Accounts.SignIn(r.Context(), profile, opened)
	if err != nil {
		return err
	}
	if old != nil {
		_ = s.o.Accounts.EndSession(r.Context(), old.ID, old.Credential) // it ends by itself later
	}
	sealed := s.o.Sealer.SealToken(sessionCookie, strings.Join([]string{profile.ID, opened.ID, raw}, "\n"))
	setCookie(w, sessionCookie, sealed, time.Until(opened.ExpiresAt))
	return nil
}

// SignOut ends a session, or all sessions of the account.
func (s *Service) SignOut(w http.ResponseWriter, r *http.Request, session *Session, everywhere bool) error {
	var err error
	if everywhere {
		if err := session.CheckWhole("Sessions"); err != nil {
			return err
		}
		err = s.o.Accounts.EndSessions(r.Context(), session.ID)
	} else {
		err = s.o.Accounts.EndSession(r.Context(), session.ID, session.Credential)
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err // the cookie stays, so that it can be tried again
	}
	setCookie(w, sessionCookie, "", gone)
	return nil
}

const accountPath = "/account"

// FollowingPath is the page of the companies that a person follows.
const FollowingPath = "/following"

// Next returns where a person may go after signing in: a page of the account, the
// companies that they follow, or the request of an application. Anything else is replaced, since it may lead elsewhere.
func Next(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return accountPath
	}
	elsewhere := u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(path, "/")
	strange := strings.ContainsAny(path, "\\\r\n\t") || strings.Contains(u.Path, "..")
	inAccount := u.Path == accountPath || strings.HasPrefix(u.Path, accountPath+"/")
	known := inAccount || u.Path == FollowingPath || u.Path == "/oauth/authorize"
	if elsewhere || strange || !known {
		return accountPath
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

// gone is the lifetime of a cookie that the browser must delete.
const gone = -time.Second

// setCookie sets a cookie that only this host receives and no script can read.
func setCookie(w http.ResponseWriter, name, value string, lifetime time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name:     name,
		Value:    value,
		Path:     "/",
		MaxAge:   int(lifetime.Seconds()),
		Secure:   true,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	})
}

// onlyCookie returns a cookie that a request has once.
func onlyCookie(r *http.Request, name string) (string, bool) {
	found := r.CookiesNamed(name)
	if len(found) != 1 || len(found[0].Value) > maxCookie {
		return "", false
	}
	return found[0].Value, true
}
