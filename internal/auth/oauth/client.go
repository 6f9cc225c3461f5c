package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/token"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/text"
)

// Kind says where a client is known from.
type Kind string

// The kinds of clients.
const (
	Configured Kind = "config"     // the operator named it
	Document   Kind = "document"   // its id is the address of a document, whose host vouches for it
	Registered Kind = "registered" // it registered itself: nobody vouches for it
)

// Client is an application that may ask people for access.
type Client struct {
	ID   string
	Name string // of its own choice, as text
	// that vouches for it, or to which it leads, in ASCII; of an application's scheme the
	// whole address
	Host         string
	RedirectURIs []string
	Kind         Kind

	scopes         access.Scope
	authentication token.Authentication
}

const maxName = 100 // characters

// cleanName returns a name in one line, without characters that cannot be seen or
// that change the direction of writing.
func cleanName(name string) string {
	visible := strings.Map(func(c rune) rune {
		if text.Invisible(c) {
			return -1
		}
		return c
	}, name)
	words := strings.Join(strings.Fields(visible), " ")
	if runes := []rune(words); len(runes) > maxName {
		words = strings.TrimSpace(string(runes[:maxName]))
	}
	return words
}

// digest identifies all that a person sees of a client and decides on.
func (c *Client) digest() string {
	seen, err := json.Marshal([]any{c.ID, c.Name, c.Host, c.RedirectURIs, c.Kind, c.authentication.Method})
	if err != nil {
		panic(err) // strings always encode
	}
	return hash(string(seen))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// redirect returns the redirect URI of a request. It may be left out when there is
// only one to choose from.
func (c *Client) redirect(asked string) (string, bool) {
	if asked == "" {
		if len(c.RedirectURIs) == 1 && !isLoopback(c.RedirectURIs[0]) {
			return c.RedirectURIs[0], true
		}
		return "", false
	}
	return asked, slices.ContainsFunc(c.RedirectURIs, func(known string) bool { return matches(known, asked) })
}

// leadingTo returns the client as people see it in a request with a redirect URI: for
// one for which nobody vouches, the host is where it leads.
func (c *Client) leadingTo(uri string) Client {
	out := *c
	if c.Kind == Registered && uri != "" {
		out.Host = hostOf(uri)
	}
	return out
}

// client returns the client with an id. A fetch of its document counts for the given
// subject. The error is a fault for people to read.
func (s *Server) client(ctx context.Context, id string, from ratelimit.Subject) (*Client, error) {
	if c := s.configured[id]; c != nil {
		return c, nil
	}
	switch {
	case strings.HasPrefix(id, registeredPrefix) && s.o.Config.registers():
		return s.registered(id)
	case strings.Contains(id, "://") && s.o.Config.fetches():
		return s.documents.get(ctx, id, from)
	}
	return nil, fault.New(fault.Invalid, "The application is not known here.")
}

func (s *Server) newConfigured(c ClientConfig) (*Client, error) {
	out := &Client{
		ID:           c.ID,
		Name:         c.Name,
		Host:         hostOf(c.RedirectURIs[0]),
		RedirectURIs: c.RedirectURIs,
		Kind:         Configured,
		scopes:       access.AllScopes,
	}
	if out.Name == "" {
		out.Name = c.ID
	}
	var err error
	if len(c.Scopes) > 0 {
		if out.scopes, err = access.ParseScopes(c.Scopes); err != nil {
			return nil, err
		}
	}
	out.authentication, err = s.o.Tokens.Authentication(c.Client, false)
	return out, err
}

const (
	registeredPrefix  = "dcr_"
	registeredName    = "oauth client"      // under which it is sealed
	registeredTime    = 30 * 24 * time.Hour // how long it is good without a grant
	maxRegistered     = 3000                // bytes of its id
	maxRegisteredURIs = 10
)

// registration is the sealed content of the id of a registered client.
type registration struct {
	Name         string   `json:"n,omitempty"`
	RedirectURIs []string `json:"r"`
	IssuedAt     int64    `json:"t"`
}

// registered opens the id of a client that registered itself.
func (s *Server) registered(id string) (*Client, error) {
	var r registration
	if len(id) > maxRegistered || !s.open(registeredName, strings.TrimPrefix(id, registeredPrefix), &r) {
		return nil, fault.New(fault.Invalid, "The application is not registered here.")
	}
	if time.Since(time.Unix(r.IssuedAt, 0)) > registeredTime && s.o.Accounts.ClientGrants(id) == 0 {
		return nil, fault.New(fault.Invalid, "The registration of the application expired because it was "+
			"unused: it has to register again.")
	}
	// The rules may have become stricter since then.
	if reason := checkRedirects(r.RedirectURIs, maxRegisteredURIs); reason != "" {
		return nil, fault.New(fault.Invalid,
			"The registration of the application is no longer valid, so it has to register again: %s.", reason)
	}
	return newRegistered(id, r), nil
}

func newRegistered(id string, r registration) *Client {
	c := &Client{
		ID:             id,
		Name:           r.Name,
		Host:           hostOf(r.RedirectURIs[0]),
		RedirectURIs:   r.RedirectURIs,
		Kind:           Registered,
		scopes:         access.AllScopes,
		authentication: token.Authentication{Method: token.AuthNone},
	}
	if c.Name == "" {
		c.Name = cleanName(c.Host)
	}
	return c
}
