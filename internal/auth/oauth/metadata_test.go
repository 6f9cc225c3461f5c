package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/oauth"
	"pregon/internal/auth/token"
)

func mustRequest(method, path string) *http.Request { return httptest.NewRequest(method, path, nil) }

func (w *world) get(path string) map[string]any {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.mux.ServeHTTP(rec, mustRequest("GET", path))
	var m map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &m); err != nil || rec.Code != 200 {
		w.t.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
	}
	return m
}

func (w *world) metadata() map[string]any { return w.get("/.well-known/oauth-authorization-server") }

// The metadata list exactly what there is.
func TestMetadata(t *testing.T) {
	w := newWorld(t)
	m := w.metadata()
	for name, want := range map[string]any{
		"issuer":                   base,
		"authorization_endpoint":   base + "/oauth/authorize",
		"token_endpoint":           base + "/api/auth/token",
		"registration_endpoint":    base + "/oauth/register",
		"revocation_endpoint":      base + "/oauth/revoke",
		"response_types_supported": []any{"code"},
		"response_modes_supported": []any{"query"},
		"grant_types_supported": []any{
			"urn:ietf:params:oauth:grant-type:token-exchange", "urn:ietf:params:oauth:grant-type:jwt-bearer", "authorization_code", "refresh_token",
		},
		"code_challenge_methods_supported":               []any{"S256"},
		"authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported":          true,
		"scopes_supported":                               []any{"read:reports", "read:issuers", "read:analytics"},
		"protected_resources":                            []any{base, mcp, mcpFirst},
		"revocation_endpoint_auth_methods_supported":     []any{"none", "client_secret_basic", "client_secret_post", "private_key_jwt"},
	} {
		if diff := cmp.Diff(want, m[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, name := range []string{"registration_endpoint", "revocation_endpoint"} {
		path := strings.TrimPrefix(m[name].(string), base)
		if _, pattern := w.mux.Handler(mustRequest("POST", path)); pattern != "POST "+path {
			t.Errorf("%s: %q", name, pattern)
		}
	}
	for _, resource := range m["protected_resources"].([]any) {
		path := "/.well-known/oauth-protected-resource" + strings.TrimPrefix(resource.(string), base)
		got := w.get(path)
		if got["resource"] != resource || !cmp.Equal(got["authorization_servers"], []any{base}) {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// The table has every route, and none is also in that of package token.
func TestPatterns(t *testing.T) {
	want := []string{"POST /oauth/register", "POST /oauth/revoke", "GET /.well-known/oauth-protected-resource/api/mcp/signin"}
	if diff := cmp.Diff(want, oauth.Patterns()); diff != "" {
		t.Error(diff)
	}
	for _, p := range token.Patterns() {
		if slices.Contains(want, p) {
			t.Errorf("%s is there twice", p)
		}
	}
}

// A configuration that is wrong says where.
func TestConfig(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*oauth.ClientConfig)
		says   string
	}{
		"good":          {func(*oauth.ClientConfig) {}, ""},
		"no id":         {func(c *oauth.ClientConfig) { c.ID = "" }, "signin.clients[0].id"},
		"a document":    {func(c *oauth.ClientConfig) { c.ID = "https://app.example/x" }, "signin.clients[0].id"},
		"a registered":  {func(c *oauth.ClientConfig) { c.ID = "dcr_x" }, "signin.clients[0].id"},
		"twice":         {func(c *oauth.ClientConfig) { c.ID = "other" }, "signin.clients[1].id"},
		"method":        {func(c *oauth.ClientConfig) { c.Auth = "magic" }, "signin.clients[0].auth"},
		"no secret":     {func(c *oauth.ClientConfig) { c.Auth = "client_secret_post" }, "secret_sha256"},
		"no redirect":   {func(c *oauth.ClientConfig) { c.RedirectURIs = nil }, "signin.clients[0].redirect_uris"},
		"bad redirect":  {func(c *oauth.ClientConfig) { c.RedirectURIs = []string{deskURI, "http://x.example"} }, "signin.clients[0].redirect_uris[1]"},
		"unknown scope": {func(c *oauth.ClientConfig) { c.Scopes = []string{"write:all"} }, "signin.clients[0].scopes[0]"},
		"long name":     {func(c *oauth.ClientConfig) { c.Name = strings.Repeat("x", 101) }, "signin.clients[0].name"},
	} {
		c := config()
		test.change(&c.Clients[0])
		err := c.Validate()
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
