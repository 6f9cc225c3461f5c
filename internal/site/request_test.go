package site_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pregon/internal/query/querytest"
	"pregon/internal/source/health"
)

// A page repeats the query string in each link, so a long one is refused before it
// costs anything.
func TestLongQuery(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	long := strings.Repeat("a+", 1000)
	for _, target := range []string{"/", "/search", "/live", "/feed.atom", "/issuers", "/issuers/A69000016", "/suggest", "/status"} {
		s.get(http.StatusBadRequest, target+"?search="+long)
		s.get(http.StatusBadRequest, target+"?unknown="+long)
	}
}

// No two addresses of different pages share a cached page, however they are escaped.
func TestCachedApart(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	s.get(http.StatusNotFound, "/issuers/A69000016%3Fx")
	s.get(http.StatusOK, "/issuers/A69000016?x?")
	w := s.get(http.StatusOK, "/issuers/A6%39000016")
	has(t, w, `rel="canonical" href="https://pregon.example/issuers/A69000016"`)
	if strings.Contains(s.get(http.StatusOK, "/issuers/A69000016").Body.String(), "%39") {
		t.Error("the page repeats the address of another request")
	}
}

// Programs get errors of pages as problems.
func TestErrorsForPrograms(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	for target, status := range map[string]int{"/reports/oir-1": 404, "/feed.json?type=x": 400, "/live?page=x": 400, "/analytics/x.csv": 404} {
		w := s.get(status, target, "Accept", "*/*")
		var d struct{ Status int }
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || d.Status != status || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: got %v, %s", target, err, w.Body)
		}
		has(t, s.get(status, target), "<html")
	}
}

// What a credential receives is in no shared cache, redirects included.
func TestPrivate(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	for _, target := range append(pages("oir-40374", "A69000016"), "/reports/OIR-40374", "/issuers/BVB", "/issuers/nope", "/reports/nope", "/?type=x") {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Authorization", "Bearer read:reports+read:issuers+read:analytics")
		w := httptest.NewRecorder()
		s.mux.ServeHTTP(w, r)
		if got := w.Header().Get("Cache-Control"); !strings.Contains(got, "no-store") || w.Header().Get("ETag") != "" {
			t.Errorf("%s: Cache-Control is %q", target, got)
		}
		if got := strings.Join(w.Header().Values("Vary"), ", "); !strings.Contains(got, "Authorization") || !strings.Contains(got, "X-Api-Key") {
			t.Errorf("%s: Vary is %q", target, got)
		}
	}
}

// Pages that stay open learn when the state of the source changes.
func TestLiveState(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	w := s.get(http.StatusOK, "/live")
	has(t, w, `<span data-state="off">Archivo</span>`)
	s.must(s.coverage.SetStatus(t.Context(), nil, health.Status{State: health.Blind, Since: time.Now(), At: time.Now()}))
	has(t, s.get(http.StatusOK, "/live", "If-None-Match", w.Header().Get("ETag")), `<span data-state="blind">Fuente inaccesible</span>`)
}
