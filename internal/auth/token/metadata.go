package token

import (
	"bytes"
	"encoding/json"
	"maps"
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
	metadataMaxAge = time.Hour
)

// resourceMetadata returns the metadata document of RFC 9728.
func (s *Server) resourceMetadata(resource string) any {
	return map[string]any{
		"resource": resource, "authorization_servers": []string{s.o.BaseURL}, "scopes_supported": access.AllScopes.Names(),
		"bearer_methods_supported": []string{"header"}, "resource_name": "Pregón", "resource_documentation": s.o.BaseURL + documentation,
	}
}

// serverMetadata returns the metadata document of RFC 8414. There is no
// authorization endpoint, unless an extension adds it.
func (s *Server) serverMetadata() any {
	m := map[string]any{
		"issuer":                                 s.o.BaseURL,
		"token_endpoint":                         s.o.BaseURL + tokenPath,
		"jwks_uri":                               s.o.BaseURL + jwksPath,
		"scopes_supported":                       access.AllScopes.Names(),
		"response_types_supported":               []string{}, // required even when empty
		"grant_types_supported":                  s.grantTypes(),
		"authorization_grant_profiles_supported": []string{profileIDJAG},
		"token_endpoint_auth_methods_supported":  AuthMethods,
		"token_endpoint_auth_signing_alg_values_supported": s.algorithms(),
		"protected_resources":                              s.resources(),
		"service_documentation":                            s.o.BaseURL + documentation,
	}
	maps.Copy(m, s.extended.Metadata)
	return m
}

// algorithms returns the algorithms that are accepted from the clients of at least one
// issuer, or of the extension.
func (s *Server) algorithms() []jose.SignatureAlgorithm {
	var out []jose.SignatureAlgorithm
	if len(s.issuers) == 0 || s.extended.Grants != nil {
		out = slices.Clone(defaultAlgorithms)
	}
	for _, alg := range algorithms {
		for _, iss := range s.issuers {
			if slices.Contains(iss.algs, alg) && !slices.Contains(out, alg) {
				out = append(out, alg)
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
	serve(w, r, body, publishLead)
}

func serve(w http.ResponseWriter, r *http.Request, body []byte, maxAge time.Duration) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	content.SetPublic(h, r, maxAge)
	h.Set("ETag", content.Tag(content.Hash(body)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
