package site_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"pregon/internal/fault"
	"pregon/internal/query/querytest"
	"pregon/internal/site"
	"pregon/internal/site/render"
)

// notes is a part with one page.
func notes(name string, texts map[string][2]string) render.Part {
	return render.Part{
		Name: name, Texts: texts, Style: []byte(".note {}"), Script: []byte("'use strict'"), Section: render.Section{Text: "nav.note", Path: "/note"},
		Templates: fstest.MapFS{"note.html": {Data: []byte(`{{define "note"}}<h1>{{t "note.hello" .}}</h1>{{end}}{{define "fragment-note"}}<p>{{.}}</p>{{end}}`)}},
	}
}

var noteTexts = map[string][2]string{"nav.note": {"Notas", "Notes"}, "note.hello": {"Hola, %s", "Hello, %s"}}

// A part has pages in the look of the site, with its own texts and files, that are
// private.
func TestPart(t *testing.T) {
	t.Parallel()
	s := start(t, "demo", querytest.Market(), notes("notes", noteTexts))
	var page render.Page
	var failure error
	s.mux.HandleFunc("GET /note", func(w http.ResponseWriter, r *http.Request) {
		if failure != nil {
			s.pages.WriteError(w, r, failure)
			return
		}
		s.pages.WritePage(w, r, page)
	})
	page = render.Page{Template: "note", Title: "N", Data: `<b>"Ana"`, Private: render.Private{Part: "notes"}}
	w := s.get(http.StatusOK, "/note?a=1&lang=en")
	has(t, w, "<h1>Hello, &lt;b&gt;", `lang="en"`, `href="/note?a=1&amp;lang=es"`, `<a href="/note?lang=en" aria-current="page">Notes</a>`, "/assets/notes.", `content="noindex"`, "Simulated market")
	for _, text := range []string{"canonical", "og:title", "hreflang=\"x-default\""} {
		if strings.Contains(w.Body.String(), text) {
			t.Errorf("a private page has %q", text)
		}
	}
	private(t, w)
	if got := w.Header().Get("Cross-Origin-Opener-Policy"); got != "same-origin" {
		t.Errorf("the opener policy is %q", got)
	}

	page = render.Page{
		Template: "fragment-note",
		Data:     hostile,
		Status:   http.StatusBadRequest,
		Private:  render.Private{Part: "notes", FormAction: "https://app.example", Popup: true},
	}
	w = s.get(http.StatusBadRequest, "/note")
	private(t, w)
	if body := w.Body.String(); !strings.HasPrefix(body, "<p>&lt;/title&gt;") || strings.Contains(body, "<html") {
		t.Errorf("the fragment is %s", body)
	}
	if !strings.Contains(w.Header().Get("Content-Security-Policy"), "form-action 'self' https://app.example;") || w.Header().Get("Cross-Origin-Opener-Policy") != "" {
		t.Errorf("the headers are %v", w.Header())
	}

	failure = fault.New(fault.NotFound, "There is no such note.")
	w = s.get(http.StatusNotFound, "/note")
	has(t, w, "There is no such note.")
	private(t, w)
	if got := s.get(http.StatusNotFound, "/note", "Accept", "*/*").Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("a program gets %s", got)
	}

	failure = fault.New(fault.Unavailable, "The store is down.")
	if got := s.get(http.StatusServiceUnavailable, "/note").Header().Get("Refresh"); got == "" {
		t.Error("a page that cannot be shown now is not loaded again")
	}
	rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/note", nil)
	r.Header.Set("Accept", "text/html")
	s.pages.WriteError(rec, r, failure)
	if got := rec.Header().Get("Refresh"); got != "" {
		t.Errorf("the answer to a form has Refresh %s: the browser would ask for another page", got)
	}

	w = s.get(http.StatusOK, "/")
	has(t, w, `<a href="/note">Notas</a>`)
	if strings.Contains(w.Body.String(), "/assets/notes.") {
		t.Error("a public page loads the files of a part")
	}
}

// private expects the headers of a page for one reader.
func private(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control": "private, no-store", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY", "X-Robots-Tag": "noindex", "ETag": "",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, "frame-ancestors 'none'") {
		t.Errorf("the policy is %q", got)
	}
}

// A part cannot replace a text of the site.
func TestPartWithTakenText(t *testing.T) {
	t.Parallel()
	if _, err := site.New(site.Options{Parts: []render.Part{notes("notes", map[string][2]string{"home": {"a", "b"}})}}); err == nil || !strings.Contains(err.Error(), `"home"`) {
		t.Errorf("got %v", err)
	}
}

// The links in the header are rendered once for each section: a page marks its own.
func TestNavigation(t *testing.T) {
	t.Parallel()
	s := start(t, "demo", querytest.Market(), notes("notes", noteTexts))
	s.mux.HandleFunc("GET /note/{$}", func(w http.ResponseWriter, r *http.Request) {
		s.pages.WritePage(w, r, render.Page{Template: "note", Data: "Ana", Private: render.Private{Part: "notes"}})
	})
	current := regexp.MustCompile(`<a href="([^"]*)" aria-current="page">`)
	for path, section := range map[string]string{
		"/":                  "/",
		"/search":            "",
		"/reports/oir-40374": "",
		"/issuers":           "/issuers",
		"/issuers/A69000016": "/issuers",
		"/shorts":            "/shorts",
		"/dealings":          "/shorts",
		"/calendar":          "/calendar",
		"/developers":        "/developers",
		"/note/":             "/note",
	} {
		for _, suffix := range []string{"", "?lang=en"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, path+suffix, nil)
			r.Header.Set("Accept", "text/html")
			s.mux.ServeHTTP(w, r)
			_, header, found := strings.Cut(w.Body.String(), `<nav class="sections"`)
			header, _, _ = strings.Cut(header, "</nav>")
			if !found {
				t.Errorf("%s: %d without a header", path+suffix, w.Code)
				continue
			}
			got := current.FindAllStringSubmatch(header, -1)
			switch {
			case section == "" && len(got) == 0:
			case section != "" && len(got) == 1 && got[0][1] == section+suffix:
			default:
				t.Errorf("%s: the sections %q are marked, want %q", path+suffix, got, section)
			}
			if links := strings.Count(header, "<a href="); links != 8 {
				t.Errorf("%s has %d sections", path+suffix, links)
			}
		}
	}
}
