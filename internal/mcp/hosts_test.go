package mcp_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	for host, ok := range map[string]bool{
		"pregon.example": true, "PREGON.example": true, "pregon.example:8443": true, "localhost": true, "localhost:9": true, "LocalHost:80": true,
		"127.0.0.1": true, "127.0.0.1:8080": true, "10.1.2.3": true, "[::1]": true, "[::1]:8080": true, "203.0.113.7:1": true,
		"evil.example": false, "evil.example:80": false, "pregon.example.evil.example": false, "evil-pregon.example": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false, "sub.pregon.example": false, "127.1": false, "localhost.": true,
		"pregon": true, "inside:8080": true, // names of the local network, which no web page has
	} {
		a := s.post(legacy("tools/list", "{}"), "Host", host)
		if ok {
			a.into(&struct{}{})
			continue
		}
		if text := a.refused(http.StatusForbidden, -32003); !strings.Contains(text, "--base-url") {
			t.Errorf("%s: %s", host, text)
		}
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	services := map[string]*service{
		"own":   start(t, market()),
		"named": start(t, market(), func(o *setup) { o.origins = []string{"https://agent.example/", "HTTP://other.example:81"} }),
		"any":   start(t, market(), func(o *setup) { o.origins = []string{"*"} }),
	}
	for _, test := range []struct {
		origin, host    string
		own, named, any bool
	}{
		{"https://pregon.example", "pregon.example", true, true, true},
		{"https://pregon.example", "127.0.0.1:80", true, true, true}, // behind a proxy
		{"http://localhost:8080", "localhost:8080", true, true, true},
		{"http://127.0.0.1:8080", "127.0.0.1:8080", true, true, true},
		{"http://localhost:3000", "localhost:8080", false, false, true},
		{"http://127.0.0.1:8080", "localhost:8080", false, false, true},
		{"https://agent.example", "pregon.example", false, true, true},
		{"http://other.example:81", "pregon.example", false, true, true},
		{"http://agent.example", "pregon.example", false, false, true},
		{"https://agent.example:444", "pregon.example", false, false, true},
		{"https://agent.example.evil.example", "pregon.example", false, false, true},
		{"https://evil.example", "pregon.example", false, false, true},
		{"http://evil.example", "127.0.0.1", false, false, true},
		{"null", "pregon.example", false, false, true},
		{"nonsense", "pregon.example", false, false, true},
		{"file://", "pregon.example", false, false, true},
		{"https://evil.example", "evil.example", false, false, false}, // the host is refused
	} {
		for name, ok := range map[string]bool{"own": test.own, "named": test.named, "any": test.any} {
			s := services[name]
			a := s.post(legacy("tools/list", "{}"), "Origin", test.origin, "Host", test.host)
			ask := s.send(http.MethodOptions, nil, "Origin", test.origin, "Host", test.host, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")
			if !strings.Contains(strings.Join(a.header.Values("Vary"), ", "), "Origin") {
				t.Errorf("the response does not vary by origin: %v", a.header)
			}
			if !ok {
				a.refused(http.StatusForbidden, -32003)
				ask.refused(http.StatusForbidden, -32003)
				if a.header.Get("Access-Control-Allow-Origin") != "" || ask.header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %+v may read the answer", name, test)
				}
				continue
			}
			a.into(&struct{}{})
			if a.header.Get("Access-Control-Allow-Origin") != test.origin || a.header.Get("Access-Control-Expose-Headers") == "" {
				t.Errorf("%s %+v: %v", name, test, a.header)
			}
			if ask.status != http.StatusNoContent || ask.header.Get("Access-Control-Allow-Origin") != test.origin || ask.header.Get("Access-Control-Allow-Methods") != "POST, OPTIONS" {
				t.Errorf("%s %+v: %d %v", name, test, ask.status, ask.header)
			}
			for _, header := range []string{"Authorization", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "X-API-Key"} {
				if !strings.Contains(ask.header.Get("Access-Control-Allow-Headers"), header) {
					t.Errorf("the preflight does not allow %s", header)
				}
			}
		}
	}
	// Clients other than browsers send no Origin and get no CORS headers.
	if a := services["own"].post(legacy("tools/list", "{}")); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error(a.header)
	}
}
