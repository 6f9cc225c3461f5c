package discovery_test

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pregon/internal/discovery"
)

// server follows the schema of 2025-12-11. The registry refuses other fields.
type server struct {
	Schema                                        string `json:"$schema"`
	Name, Version, Title, Description, WebsiteURL string
	Remotes                                       []struct {
		Type, URL string
		Headers   []struct {
			Name, Description, Placeholder string
			IsRequired, IsSecret           bool
		}
	}
}

var (
	serverName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?/[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$`)
	rangeOf    = regexp.MustCompile(`^[\^~<>=]| - |\|\||(^|\.)[xX*](\.|$)|^latest$`)
)

// server.json keeps the rules of the registry: the schema's, and those that its
// documentation adds.
func TestServerJSON(t *testing.T) {
	w := newWorld(t, nil)
	for _, source := range []string{"cnmv", "demo"} {
		w.source = source
		var s server
		w.decode("/api/mcp/server.json", &s)
		if s.Schema != "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" {
			t.Errorf("$schema is %s", s.Schema)
		}
		if s.Name != "example.pregon/pregon" || !serverName.MatchString(s.Name) || len(s.Name) > 200 {
			t.Errorf("the name is %s", s.Name)
		}
		if s.Version != "1.2.3" || rangeOf.MatchString(s.Version) {
			t.Errorf("the version is %s", s.Version)
		}
		for _, text := range []string{s.Title, s.Description} {
			if n := utf8.RuneCountInString(text); n < 1 || n > 100 {
				t.Errorf("%q has %d characters", text, n)
			}
		}
		if s.WebsiteURL != base+"/" || len(s.Remotes) != 1 || s.Remotes[0].Type != "streamable-http" || s.Remotes[0].URL != base+"/api/mcp" {
			t.Errorf("%+v", s)
		}
		if h := s.Remotes[0].Headers; len(h) != 1 || h[0].Name != "X-API-Key" || h[0].IsRequired || !h[0].IsSecret || h[0].Description == "" {
			t.Errorf("headers %+v", h)
		}
	}
	if _, h := w.get("/api/mcp/server.json"); h.Get("Content-Type") != "application/json" {
		t.Errorf("Content-Type: %s", h.Get("Content-Type"))
	}
}

func TestCheckPublic(t *testing.T) {
	label := strings.Repeat("a", 60)
	for address, want := range map[string]string{
		"https://pregon.example":          "",
		"https://api.pregon.example:8443": "",
		"https://xn--pregn-3ta.es":        "",
		"http://pregon.example":           "https://",
		"https://192.0.2.7":               "a domain name",
		"https://[2001:db8::1]:8443":      "a domain name",
		"https://localhost":               "a domain name",
		"https://127.0.0.1:8080":          "a domain name",
		"https://pregon.localhost":        "a domain name",
		"https://pregon":                  "a domain name",
		"https://my_host.example":         "a domain name",
		"https://" + label + ".example":   "",
		"https://abc." + label + "." + label + "." + label + ".example": "at most 193",
	} {
		err := discovery.CheckPublic(address)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestCheckProof(t *testing.T) {
	key := func(first byte, size int) string {
		b := make([]byte, size)
		b[0] = first
		return base64.StdEncoding.EncodeToString(b)
	}
	for proof, want := range map[string]string{
		"v=MCPv1; k=ed25519; p=" + key(9, 32):         "",
		"v=MCPv1;k=ed25519;p=" + key(9, 32):           "",
		"v=MCPv1; k=ecdsap384; p=" + key(2, 49):       "",
		"v=MCPv1; k=ecdsap384; p=" + key(3, 49):       "",
		"v=MCPv1; k=ecdsap384; p=" + key(4, 49):       "a compressed point",
		"v=MCPv1; k=ecdsap384; p=" + key(4, 97):       "97 bytes",
		"v=MCPv1; k=ed25519; p=" + key(9, 44):         "44 bytes",
		"v=MCPv1; k=rsa; p=" + key(9, 32):             "k=rsa",
		"v=MCPv1; k=ed25519; p=AAA":                   "base64",
		"v=MCPv2; k=ed25519; p=" + key(9, 32):         "must be v=MCPv1",
		"v=MCPv1; k=ed25519; p=" + key(9, 32) + "\n":  "must be v=MCPv1",
		"v=MCPv1; k=ed25519; p=" + key(9, 32) + "; x": "must be v=MCPv1",
		"": "must be v=MCPv1",
	} {
		err := discovery.CheckProof(proof)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", proof, err, want)
		}
	}
}

func TestProof(t *testing.T) {
	const path, proof = "/.well-known/mcp-registry-auth", "v=MCPv1; k=ed25519; p=CmELkdW27Q+pySZRD1ezkXAG/SbeDhGWAjtuKKMKixg="
	if resp := newWorld(t, nil).ask(http.MethodGet, path); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without a proof: %s", resp.Status)
	}
	w := newWorld(t, func(o *discovery.Options) { o.RegistryProof = proof })
	for _, w.source = range []string{"cnmv", "demo"} {
		if text, h := w.get(path); text != proof+"\n" || h.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %q", h.Get("Content-Type"), text)
		}
	}
}
