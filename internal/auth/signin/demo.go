package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/fault"
)

// DemoPath is where the link of the demo leads.
const DemoPath = "/signin/demo"

// The account of the demo. Its provider is in no configuration, so that a service that
// is not a demo does not know the account, even over a store that has it.
const (
	demoProvider = "demo"
	demoAccount  = "demo#visitor"
)

// IsDemo reports whether an account is that of the demo.
func IsDemo(provider, account string) bool { return provider == demoProvider && account == demoAccount }

// openDemo makes the link that signs in to the demo, once.
func (s *Service) openDemo() {
	if !isLoopback(s.host()) {
		return
	}
	text := rand.Text()
	s.demoLink = s.o.BaseURL + DemoPath + "?once=" + text
	sum := sha256.Sum256([]byte(text))
	s.demo.Store(&sum)
}

// DemoLink returns the link that signs in to the demo, or "" if this is not a demo.
func (s *Service) DemoLink() string { return s.demoLink }

var errDemo = errors.New("the link of the demo was used before, or is of an earlier start: start the program again " +
	"for another one")

// ByDemo signs in who follows the link of the demo. It works once, and only from this
// machine: the page of another site that sends a browser here is refused.
func (s *Service) ByDemo(w http.ResponseWriter, r *http.Request, old *Session, secret string) error {
	if s.demoLink == "" {
		return fault.New(fault.NotFound, "There is no page here.")
	}
	ctx := r.Context()
	from := s.o.Client(r)
	if err := s.attempts.admit(ctx, w, from); err != nil {
		return err
	}
	if err := s.checkDemo(r); err != nil {
		return s.attempts.refuse(ctx, from, demoProvider, err)
	}
	expected := s.demo.Load()
	given := sha256.Sum256([]byte(secret))
	right := expected != nil && subtle.ConstantTimeCompare(expected[:], given[:]) == 1
	if !right || !s.demo.CompareAndSwap(expected, nil) {
		return s.attempts.refuse(ctx, from, demoProvider, errDemo)
	}
	err := s.open(w, r, old, account.Account{
		ID:       demoAccount,
		Provider: demoProvider,
		Name:     "Demo",
		Email:    "demo@example.com",
		Plan:     access.Plans[0],
		Scopes:   access.AllScopes,
	}, account.Session{})
	if err != nil {
		s.demo.Store(expected) // no session was created
	}
	return err
}

// checkDemo returns why a request does not come from a person at this machine, or nil.
// A name that is not of this machine, which a page may have given to its address, is
// refused, and so is what a proxy passes on. The address of the client is not checked: in
// a container it is that of the network. The secret of the link is what proves the person.
func (s *Service) checkDemo(r *http.Request) error {
	_, port, err := net.SplitHostPort(s.host())
	if err != nil {
		port = ""
	}
	_, asked, err := net.SplitHostPort(r.Host)
	if err != nil {
		asked = ""
	}
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case !isLoopback(r.Host) || asked != port:
		return errors.New("the link of the demo is for this machine only: open it as it was printed")
	case r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "":
		return errors.New("the link of the demo is for this machine only, without a proxy")
	case site != "" && site != "none" && site != "same-origin":
		return errors.New("another site sent the browser here: open the link as it was printed")
	}
	return nil
}
