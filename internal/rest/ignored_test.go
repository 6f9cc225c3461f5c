package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"pregon/internal/store"
)

// Parameters that an operation does not have are ignored, and named in a header.
func TestIgnoredParameters(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	for target, want := range map[string]string{
		"/api/v1/reports":                             "",
		"/api/v1/reports?limit=5&page=1&type=IP":      "",
		"/api/v1/reports?limit=5&sort=date&foo":       "sort, foo",
		"/api/v1/reports.csv?limit=5&sort=date":       "sort",
		"/api/v1/reports?Limit=5&lim%69t=5":           "Limit",
		"/api/v1/reports?sort=a&sort=b&&=x":           "sort",
		"/api/v1/reports?a%0d%0aX-Evil:1=2":           "a%0D%0AX-Evil%3A1",
		"/api/v1/reports?%C3%B1=1":                    "%C3%B1",
		"/api/v1/issuers?page=2":                      "page",
		"/api/v1/status?x=1":                          "x",
		"/api/v1/reports?" + strings.Repeat("z", 500): strings.Repeat("z", 40) + "%E2%80%A6", // cut
		"/api/v1/reports?a&b&c&d&e&f&g&h&i&j&k&l&m":   "a, b, c, d, e, f, g, h, i, j",
	} {
		if got := s.get(http.StatusOK, target).header.Get("Pregon-Ignored"); got != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
	if got := s.get(http.StatusBadRequest, "/api/v1/reports?limit=x&sort=1").header.Get("Pregon-Ignored"); got != "sort" {
		t.Errorf("with another mistake: %q", got)
	}
}
