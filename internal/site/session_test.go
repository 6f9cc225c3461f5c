package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// bySession requests a page as the console does for a person who is signed in, and expects
// a status.
func (s *service) bySession(status int, target string) *httptest.ResponseRecorder {
	s.t.Helper()
	mux := http.NewServeMux()
	serve := func(w http.ResponseWriter, r *http.Request) {
		s.pages.ServeReports(w, r, access.Principal{ID: "acc_1", Mode: access.BySession, Scope: access.AllScopes})
	}
	mux.HandleFunc("GET /account/reports/{id}", serve)
	mux.HandleFunc("GET /account/search", serve)
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	if w.Code != status {
		s.t.Fatalf("GET %s: got %d, want %d\n%s", target, w.Code, status, w.Body)
	}
	return w
}

// A person who is signed in reads the whole text of a document and searches documents.
// Nothing keeps these pages, and the public ones do not have what they have.
func TestPagesOfSession(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market(), notes("notes", noteTexts))
	const last = "quórum final"
	long := strings.Repeat("acuerdo del consejo ", 100) + last
	s.append(store.Batch{Aside: []disclosure.Report{querytest.Document(t, s.store, "oir-40374", long)}})
	for _, target := range []string{"/account/reports/oir-40374", "/account/reports/oir-40374?lang=en", "/account/search?search=quórum"} {
		w := s.bySession(http.StatusOK, target)
		private(t, w)
		if h := w.Header(); h.Get("Cache-Control") != "private, no-store" || h.Get("Etag") != "" || h.Get("X-Robots-Tag") != "noindex" {
			t.Errorf("%s: %v", target, h)
		}
		if strings.Contains(w.Body.String(), `rel="canonical"`) {
			t.Errorf("%s has a canonical address", target)
		}
	}
	has(t, s.bySession(http.StatusOK, "/account/reports/oir-40374"), last)
	has(t, s.bySession(http.StatusOK, "/account/search?search=quórum"), "<mark>quórum</mark>", `action="/account/search"`,
		`href="/account/watchlists/save?in=document&amp;search=qu%C3%B3rum"`)
	if to := s.bySession(http.StatusFound, "/account/reports/OIR-40374").Header().Get("Location"); to != "/account/reports/oir-40374" {
		t.Errorf("redirected to %q", to)
	}
	s.bySession(http.StatusNotFound, "/account/reports/oir-1")
	s.bySession(http.StatusBadRequest, "/account/reports/oir-40374?offset=-1")
	s.bySession(http.StatusBadRequest, "/account/search") // no words
	s.bySession(http.StatusBadRequest, "/account/search?search="+strings.Repeat("a", 3000))

	w := s.get(http.StatusOK, "/reports/oir-40374")
	has(t, w, "acuerdo del consejo", `href="/account/reports/oir-40374#document"`, "Leer todo el texto")
	if strings.Contains(w.Body.String(), last) {
		t.Error("the public page has the whole text")
	}
	w = s.get(http.StatusOK, "/search?search=quórum&in=document&lang=en")
	has(t, w, `href="/account/search?lang=en&amp;search=qu%C3%B3rum"`, "Sign in and search")
	if strings.Contains(w.Body.String(), "<mark>") {
		t.Error("the public page has passages of documents")
	}
}
