package private_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"pregon/internal/server/private"
)

func TestGuard(t *testing.T) {
	served := private.Guard{Names: []string{"metrics.corp.example"}}.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, test := range []struct {
		method, host, origin, site string
		ok                         bool
	}{
		{"GET", "127.0.0.1:9090", "", "", true},
		{"GET", "[::1]:9090", "", "", true},
		{"GET", "10.1.2.3", "", "", true},
		{"GET", "localhost:9090", "", "none", true},
		{"GET", "pregon.localhost:9090", "", "same-origin", true},
		{"GET", "pregon:9090", "", "", true},
		{"GET", "Metrics.Corp.Example:9090", "", "", true},
		{"POST", "localhost:9090", "http://localhost:9090", "same-origin", true},
		{"POST", "localhost:9090", "", "", true}, // curl
		{"GET", "evil.example:9090", "", "", false},
		{"GET", "localhost.evil.example", "", "", false},
		{"GET", "127.0.0.1.nip.io:9090", "", "", false},
		{"GET", "127.0.0.1:9090", "", "cross-site", false},
		{"GET", "127.0.0.1:9090", "", "same-site", false},
		{"POST", "127.0.0.1:9090", "https://evil.example", "", false},
		{"POST", "127.0.0.1:9090", "null", "", false},
		{"POST", "127.0.0.1:9090", "http://127.0.0.1:8080", "", false},
	} {
		r := httptest.NewRequest(test.method, "/debug/pprof/profile", nil)
		r.Host = test.host
		for name, value := range map[string]string{"Origin": test.origin, "Sec-Fetch-Site": test.site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		served.ServeHTTP(w, r)
		if (w.Code == http.StatusNoContent) != test.ok {
			t.Errorf("%+v: got status %d: %s", test, w.Code, w.Body)
		}
	}
}
