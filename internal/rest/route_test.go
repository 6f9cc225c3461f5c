package rest

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/query"
	"pregon/internal/source/coverage"
	"pregon/internal/store/sqlite"
)

// A deprecated operation says so on every response, also on errors. No operation
// is deprecated yet, so the test defines one.
func TestDeprecation(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := catalog.New(db, slog.New(slog.DiscardHandler))
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	a, err := New(Options{Query: query.New(query.Options{Catalog: c, Coverage: coverage.New(db)}), Guard: access.NewGuard(access.Options{}), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	fine := func(*API, *http.Request, *catalog.Snapshot) (response, error) { return encode("fine") }
	fails := func(*API, *http.Request, *catalog.Snapshot) (response, error) {
		return response{}, errors.New("at /srv/secret")
	}
	deprecated := time.Date(2026, 7, 1, 2, 0, 0, 0, time.FixedZone("", 2*60*60))
	sunset := time.Date(2027, 1, 1, 1, 0, 0, 0, time.FixedZone("", 60*60))
	for _, test := range []struct {
		name                string
		route               route
		target              string
		status              int
		deprecation, sunset string
	}{
		{"lasting", route{handle: fine}, "/", 200, "", ""},
		{"deprecated", route{handle: fine, deprecated: deprecated}, "/", 200, "@1782864000", ""},
		{"to be removed", route{handle: fine, deprecated: deprecated, sunset: sunset}, "/", 200, "@1782864000", "Fri, 01 Jan 2027 00:00:00 GMT"},
		{"on a refusal", route{handle: fine, deprecated: deprecated, sunset: sunset}, "/?token=x", 400, "@1782864000", "Fri, 01 Jan 2027 00:00:00 GMT"},
		{"on a failure", route{handle: fails, deprecated: deprecated, sunset: sunset}, "/", 500, "@1782864000", "Fri, 01 Jan 2027 00:00:00 GMT"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.route.need = public(0)
			w := httptest.NewRecorder()
			a.serve(test.route).ServeHTTP(w, httptest.NewRequest(http.MethodGet, test.target, nil))
			if w.Code != test.status || w.Header().Get("Deprecation") != test.deprecation || w.Header().Get("Sunset") != test.sunset {
				t.Errorf("%d %v", w.Code, w.Header())
			}
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("the response exposes the internal error: %s", w.Body)
			}
		})
	}
	if n := strings.Count(log.String(), "at /srv/secret"); n != 1 {
		t.Errorf("the failure is logged %d times, want once:\n%s", n, log.String())
	}
}
