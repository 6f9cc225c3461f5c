package oauth

import (
	"net/http"
	"time"

	"pregon/internal/auth/access"
)

// For tests of the redirect URI rules.
var (
	CheckRedirect = checkRedirect
	Matches       = matches
	CleanName     = cleanName
)

// SetTransport replaces the network of the documents.
func (s *Server) SetTransport(t http.RoundTripper) { s.documents.client.Transport = t }

// SetMinAge sets how old a final form must be.
func (s *Server) SetMinAge(d time.Duration) { s.minAge = d }

// FinalForm returns the final form of a request.
func (s *Server) FinalForm(q *Request, p access.Principal) string {
	_, final := s.Forms(q, p)
	return final
}

// Documents returns the number of cached documents.
func (s *Server) Documents() int {
	s.documents.mu.Lock()
	defer s.documents.mu.Unlock()
	return len(s.documents.known)
}

// Limits.
const (
	MaxDocuments = maxDocuments
	MaxCaused    = maxCaused
	MinAge       = minAge
)

// OldRegistration returns the id of a client that registered when the redirect URIs were
// not checked.
func (s *Server) OldRegistration(name string, uris ...string) string {
	return registeredPrefix + s.seal(registeredName, registration{Name: name, RedirectURIs: uris, IssuedAt: time.Now().Unix()})
}
