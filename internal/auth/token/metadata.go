package token

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/auth/access"
	"pregon/internal/server/content"
)

const (
	jwksPath       = "/.well-known/jwks.json"
	serverPath     = "/.well-known/oauth-authorization-server"
	profileIDJAG   = "urn:ietf:params:oauth:grant-profile:id-jag"
	documentation  = "/openapi.json"
	metadataMaxAge = 3600 // seconds
)

// resourceMetadata is the metadata document of RFC 9728.
type resourceMetadata struct {
	Resource      string   `json:"resource"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	Methods       []string `json:"bearer_methods_supported"`
	Name          string   `json:"resource_name"`
	Documentation string   `json:"resource_documentation"`
}

// serverMetadata is the metadata document of RFC 8414. There is no authorization
// endpoint.
type serverMetadata struct {
	Issuer         string                    `json:"issuer"`
	TokenEndpoint  string                    `json:"token_endpoint"`
	JWKS           string                    `json:"jwks_uri"`
	Scopes         []string                  `json:"scopes_supported"`
	ResponseTypes  []string                  `json:"response_types_supported"` // required even when empty
	GrantTypes     []string                  `json:"grant_types_supported"`
	GrantProfiles  []string                  `json:"authorization_grant_profiles_supported"`
	AuthMethods    []string                  `json:"token_endpoint_auth_methods_supported"`
	AuthAlgorithms []jose.SignatureAlgorithm `json:"token_endpoint_auth_signing_alg_values_supported"`
	Resources      []string                  `json:"protected_resources"`
	Documentation  string                    `json:"service_documentation"`
}

func (s *Server) resourceMetadata(resource string) resourceMetadata {
	return resourceMetadata{
		Resource: resource, Servers: []string{s.o.BaseURL}, Scopes: access.AllScopes.Names(), Methods: []string{"header"},
		Name: "Pregón", Documentation: s.o.BaseURL + documentation,
	}
}

func (s *Server) serverMetadata() serverMetadata {
	return serverMetadata{
		Issuer: s.o.BaseURL, TokenEndpoint: s.o.BaseURL + tokenPath, JWKS: s.o.BaseURL + jwksPath,
		Scopes: access.AllScopes.Names(), ResponseTypes: []string{}, GrantTypes: []string{grantExchange, grantJWTBearer},
		GrantProfiles: []string{profileIDJAG}, AuthMethods: authMethods, AuthAlgorithms: s.algorithms(),
		Resources: []string{s.o.BaseURL, s.o.BaseURL + mcpPath}, Documentation: s.o.BaseURL + documentation,
	}
}

// algorithms returns the algorithms that at least one issuer accepts.
func (s *Server) algorithms() []jose.SignatureAlgorithm {
	if len(s.issuers) == 0 {
		return defaultAlgorithms
	}
	var out []jose.SignatureAlgorithm
	for _, alg := range algorithms {
		for _, iss := range s.issuers {
			if slices.Contains(iss.algs, alg) {
				out = append(out, alg)
				break
			}
		}
	}
	return out
}

// document serves metadata, which is constant while the program runs.
func document(v any) http.HandlerFunc {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always encode
	}
	return func(w http.ResponseWriter, r *http.Request) { serve(w, r, body, metadataMaxAge) }
}

// serveKeys serves the key set. Clients may cache it for publishLead, the time before
// a new key signs.
func (s *Server) serveKeys(w http.ResponseWriter, r *http.Request) {
	body, err := json.Marshal(s.o.Ring.now.Load().published(time.Now()))
	if err != nil {
		panic(err) // RSA keys always encode
	}
	serve(w, r, body, int(publishLead.Seconds()))
}

func serve(w http.ResponseWriter, r *http.Request, body []byte, maxAge int) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", maxAge))
	h.Set("ETag", content.Tag(content.Hash(body)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
