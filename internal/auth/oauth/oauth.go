// Package oauth lets people authorize applications: the authorization code grant with
// PKCE (OAuth 2.1), refresh tokens, revocation (RFC 7009), and three kinds of clients.
//
// A client is named in the configuration; or its id is the address of a document that
// describes it; or it has registered itself (RFC 7591). Nothing is stored for the last
// two: a document is fetched and cached, and the id of a registered client is its own
// description, sealed.
//
// Nothing is stored for a request either. The consent form and the code are sealed
// values that expire soon and are claimed when they are used, so that any replica can
// take the next step. What a person has granted is in their account.
//
// The page that asks a person belongs to package console. It calls Read, shows the
// request, and calls Decide with a form.
//
// Nothing in this package logs a code, a token or a secret.
package oauth

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/sealing"
	"pregon/internal/auth/token"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
)

// The paths of the endpoints.
const (
	AuthorizePath = "/oauth/authorize" // a page of package console
	registerPath  = "/oauth/register"
	revokePath    = "/oauth/revoke"
)

// Options are the server's collaborators.
type Options struct {
	Config   Config
	BaseURL  string
	Sealer   *sealing.Key // seals what clients and browsers hold
	Tokens   *token.Server
	Accounts *account.Accounts
	Nonces   store.Nonces
	Client   func(*http.Request) netip.Addr // returns the address of a client
	Audit    access.Audit
	Logger   *slog.Logger
}

// Server lets people authorize applications.
type Server struct {
	o             Options
	configured    map[string]*Client
	documents     *documents
	registrations *ratelimit.Window
	minAge        time.Duration // of final forms; tests change it
}

// New returns a server, and extends the token endpoint with its grants.
func New(o Options) (*Server, error) {
	if err := o.Config.Validate(); err != nil {
		return nil, err
	}
	if o.Audit == nil {
		o.Audit = func(context.Context, string, ...slog.Attr) {}
	}
	s := &Server{
		o:             o,
		configured:    map[string]*Client{},
		documents:     newDocuments(o.Config.AllowPrivateDocuments, o.Logger),
		registrations: ratelimit.NewWindow(ratelimit.Policy{Name: "registrations", Limit: 60, Window: time.Hour}),
		minAge:        minAge,
	}
	for _, c := range o.Config.Clients {
		client, err := s.newConfigured(c)
		if err != nil {
			return nil, err
		}
		s.configured[c.ID] = client
	}
	o.Tokens.Extend(token.Extension{
		Grants:    map[string]token.Grant{"authorization_code": s.exchangeCode, "refresh_token": s.refresh},
		Resources: []string{o.BaseURL + access.MCPSignInPath},
		Metadata:  s.metadata(),
	})
	return s, nil
}

// metadata returns what the server's metadata say of this package.
func (s *Server) metadata() map[string]any {
	m := map[string]any{
		"authorization_endpoint":                         s.o.BaseURL + AuthorizePath,
		"revocation_endpoint":                            s.o.BaseURL + revokePath,
		"revocation_endpoint_auth_methods_supported":     token.AuthMethods,
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported":          s.o.Config.fetches(),
	}
	if s.o.Config.registers() {
		m["registration_endpoint"] = s.o.BaseURL + registerPath
	}
	return m
}

// routes are all routes of the server, but for the page.
var routes = []struct {
	pattern string
	handler func(*Server) http.HandlerFunc
}{
	{"POST " + registerPath, func(s *Server) http.HandlerFunc {
		return s.o.Tokens.Endpoint("client.refused",
			s.serveRegister)
	}},
	{"POST " + revokePath, func(s *Server) http.HandlerFunc {
		return s.o.Tokens.Endpoint("token.refused",
			s.serveRevoke)
	}},
	{"GET " + access.MetadataPath + access.MCPSignInPath, func(s *Server) http.HandlerFunc {
		return s.o.Tokens.ResourceMetadata(s.o.BaseURL + access.MCPSignInPath)
	}},
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
		if r.pattern != "POST "+registerPath || s.o.Config.registers() {
			mux.Handle(r.pattern, r.handler(s))
		}
	}
}

// seal encrypts a value that a client or a browser holds.
func (s *Server) seal(name string, v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return s.o.Sealer.SealToken(name, string(body))
}

// open decrypts a value into v.
func (s *Server) open(name, sealed string, v any) bool {
	body, ok := s.o.Sealer.OpenToken(name, sealed)
	return ok && json.Unmarshal([]byte(body), v) == nil
}

// claimMargin is how much longer than its value a nonce is kept, for the clocks of
// other replicas.
const claimMargin = 2 * time.Minute

// claim reports whether a name is used for the first time.
func (s *Server) claim(ctx context.Context, name string, expires time.Time) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return s.o.Nonces.ClaimNonce(ctx, name, expires.Add(claimMargin))
}
