// Package token is the authorization server. It trusts the issuers in its
// configuration, exchanges their assertions for its own access tokens, and verifies
// these tokens.
//
// There are two grants: token exchange (RFC 8693), and the JWT bearer grant
// (RFC 7523), which the identity assertion profile (ID-JAG) uses. Both verify an
// assertion in the same way. An assertion is good for one token, in all replicas
// together. It is claimed after all other checks, so that a client cannot use up the
// assertion of another.
//
// Package oauth adds the grants with which people authorize applications, by Extend.
//
// Tokens are JWTs (RFC 9068), signed by a key of the Ring, which is kept encrypted in
// the store and followed by all replicas.
//
// Nothing in this package logs an assertion, a token or a secret.
package token

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/auth/access"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
)

// Options are the server's collaborators.
type Options struct {
	Config  Config
	BaseURL string // public URL of the service without a final slash; also our issuer name
	Ring    *Ring
	Nonces  store.Nonces // of the assertions that were used

	// Keys returns the source of the keys at a URL or in a file.
	Keys func(url, file string, allowPrivate bool) (KeySource, error)

	// Client returns the address of a client.
	Client func(*http.Request) netip.Addr
	// Failures limits how often an address may fail.
	Failures ratelimit.Limiter
	// Addresses and Clients limit all requests, of an address and of a client; nil for
	// no limit.
	Addresses, Clients ratelimit.Limiter
	// Audit records issued and refused tokens; nil for none. It never receives an
	// assertion, a token or a secret.
	Audit func(ctx context.Context, event string, attrs ...slog.Attr)
}

// Server issues access tokens and verifies them.
type Server struct {
	o        Options
	lifetime time.Duration
	issuers  map[string]*issuer
	extended Extension
	cache    tokenCache
	audited  *ratelimit.Window // limits audit entries about failures of other parties
	limits   *access.LimitAudit
}

// New returns a server. It validates the configuration.
func New(o Options) (*Server, error) {
	if err := o.Config.Validate(o.BaseURL); err != nil {
		return nil, err
	}
	if o.Audit == nil {
		o.Audit = func(context.Context, string, ...slog.Attr) {}
	}
	s := &Server{
		o:        o,
		lifetime: o.Config.TokenLifetime.Truncate(time.Second),
		issuers:  map[string]*issuer{},
		audited:  ratelimit.NewWindow(ratelimit.Policy{Name: "audit", Limit: 1, Window: time.Minute}),
		limits:   access.NewLimitAudit(o.Audit),
	}
	for i, c := range o.Config.Issuers {
		iss, err := s.issuer(c)
		if err != nil {
			return nil, fmt.Errorf("issuers[%d]: %w", i, err)
		}
		s.issuers[c.Issuer] = iss
	}
	return s, nil
}

// issuer converts the configuration of an issuer, which is valid.
func (s *Server) issuer(c Issuer) (*issuer, error) {
	iss := &issuer{
		name:      c.Issuer,
		audiences: c.Audiences,
		clients:   map[string]*client{},
		scopes:    knownScopes(c.Scopes),
		defaults:  knownScopes(c.DefaultScopes),
	}
	var err error
	if iss.keys, err = s.o.Keys(c.JWKSURL, c.JWKSFile, c.AllowPrivate); err != nil {
		return nil, err
	}
	for _, name := range c.Algorithms {
		iss.algs = append(iss.algs, jose.SignatureAlgorithm(name))
	}
	for i, cc := range c.Clients {
		if iss.clients[cc.ID], err = s.client(cc, c.AllowPrivate); err != nil {
			return nil, fmt.Errorf("clients[%d]: %w", i, err)
		}
	}
	return iss, nil
}

func (s *Server) client(c Client, allowPrivate bool) (*client, error) {
	out := &client{id: c.ID, scopes: access.AllScopes}
	if len(c.Scopes) > 0 {
		out.scopes = knownScopes(c.Scopes)
	}
	var err error
	out.Authentication, err = s.Authentication(c, allowPrivate)
	return out, err
}

// Authentication returns how a client of a configuration, which is valid,
// authenticates.
func (s *Server) Authentication(c Client, allowPrivate bool) (a Authentication, err error) {
	a.Method = c.Auth
	if _, err = hex.Decode(a.Secret[:], []byte(c.SecretSHA256)); err == nil && c.Auth == AuthJWT {
		a.Keys, err = s.o.Keys(c.JWKSURL, c.JWKSFile, allowPrivate)
	}
	return a, err
}

// routes are all routes of the server.
var routes = []struct {
	pattern string
	handler func(*Server) http.HandlerFunc
}{
	{"POST " + tokenPath, func(s *Server) http.HandlerFunc { return s.Endpoint("token.refused", s.serveToken) }},
	{"GET " + jwksPath, func(s *Server) http.HandlerFunc { return s.serveKeys }},
	{"GET " + serverPath, func(s *Server) http.HandlerFunc { return document(s.serverMetadata()) }},
	{"GET " + access.MetadataPath, func(s *Server) http.HandlerFunc { return document(s.resourceMetadata(s.o.BaseURL)) }},
	{
		"GET " + access.MetadataPath + mcpPath,
		func(s *Server) http.HandlerFunc { return document(s.resourceMetadata(s.o.BaseURL + mcpPath)) },
	},
}

// Patterns returns the pattern of every route, for tests of the documentation.
func Patterns() []string {
	out := make([]string, len(routes))
	for i, r := range routes {
		out[i] = r.pattern
	}
	return out
}

// Register adds the routes to a mux.
func (s *Server) Register(mux *http.ServeMux) {
	for _, r := range routes {
		mux.Handle(r.pattern, r.handler(s))
	}
}
