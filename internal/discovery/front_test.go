package discovery_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pregon/internal/rest"
)

func TestFrontNegotiatesContent(t *testing.T) {
	w := newWorld(t, nil)
	for accept, want := range map[string]string{
		"":                                  "application/json",
		"*/*":                               "application/json",
		"application/json":                  "application/json",
		"application/json, text/html;q=0.9": "application/json",
		"text/html, application/json":       "application/json",
		"text/html;q=0, */*":                "application/json",
		"image/png":                         "application/json",
		"nonsense, ;;":                      "application/json",
		"text/markdown, text/html;q=0.8, */*;q=0.1": "text/markdown; charset=utf-8",
		"text/markdown": "text/markdown; charset=utf-8",
	} {
		_, h := w.get("/", "Accept", accept)
		if got := h.Get("Content-Type"); got != want {
			t.Errorf("Accept: %s is answered with %s, want %s", accept, got, want)
		}
		if h.Get("Vary") != "Accept" {
			t.Errorf("Vary: %s", h.Get("Vary"))
		}
	}
}

func TestIndex(t *testing.T) {
	w := newWorld(t, nil)
	var index struct {
		Service, Version string
		Attribution      struct{ Source, URL, Notice string }
		Links            map[string]string
	}
	w.decode("/", &index)
	if index.Service != "Pregón" || index.Version != "1.2.3" || index.Attribution.URL != "https://www.cnmv.es" {
		t.Errorf("%+v", index)
	}
	for name, path := range map[string]string{
		"reports": "/api/v1/reports", "issuers": "/api/v1/issuers", "analytics": "/api/v1/analytics", "suggest": "/api/v1/suggest",
		"status": "/api/v1/status", "completeness": "/api/v1/completeness", "openapi": "/openapi.json", "mcp": "/api/mcp",
		"ard": "/.well-known/ard.json", "llms": "/llms.txt",
	} {
		if got := index.Links[name]; got != base+path {
			t.Errorf("%s is %s", name, got)
		}
	}
}

// own returns the URLs of the service in a text, absolute or relative to the root.
func own(text string) (paths []string) {
	text = html.UnescapeString(text)
	for _, m := range regexp.MustCompile(regexp.QuoteMeta(base)+`(/[^\s"'<>()\\`+"`"+`]*)?`).FindAllStringSubmatch(text, -1) {
		paths = append(paths, m[1])
	}
	for _, m := range regexp.MustCompile(`(?:href="(/[^"]*)"|<(/[^>]*)>; rel)`).FindAllStringSubmatch(text, -1) {
		paths = append(paths, m[1]+m[2])
	}
	for _, m := range regexp.MustCompile("`(?:[A-Z]+ )?(/[^`\\s]*)`").FindAllStringSubmatch(text, -1) {
		paths = append(paths, m[1])
	}
	return paths
}

// Every URL of the service in a document exists.
func TestLinks(t *testing.T) {
	w := newWorld(t, nil)
	service := http.NewServeMux()
	w.d.Register(service)
	service.Handle("GET /{$}", w.d.Front())
	have := func(pattern string) { service.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {}) }
	for _, pattern := range rest.Patterns(true) {
		if !slices.Contains(w.d.Patterns(), pattern) {
			have(pattern)
		}
	}
	for _, pattern := range []string{
		"POST /api/mcp", "POST /api/auth/token", "GET /healthz", "GET /readyz", "GET /.well-known/jwks.json", "GET /.well-known/oauth-authorization-server",
		"GET /api/v1/reports.csv", "GET /api/v1/issuers.csv", // which Patterns leaves out
		"GET /sitemap.xml", "GET /live", "GET /suggest", // of the site
		"GET /.well-known/oauth-protected-resource", "GET /.well-known/oauth-protected-resource/api/mcp",
		// where people can sign in
		"POST /oauth/register", "POST /oauth/revoke", "GET /.well-known/oauth-protected-resource/api/mcp/signin", "POST /api/mcp/signin", "GET /oauth/authorize",
	} {
		have(pattern)
	}
	found := 0
	for _, path := range w.paths() {
		for _, accept := range []string{"*/*", "text/html"} {
			text, h := w.get(path, "Accept", accept)
			for _, link := range own(text + " " + h.Get("Link")) {
				found++
				if !served(t, service, link) {
					t.Errorf("%s links to %q, which does not exist", path, link)
				}
			}
		}
	}
	if found < 200 {
		t.Errorf("only %d links were found", found)
	}
}

// served reports whether a mux has a route for a path with any method.
func served(t *testing.T, mux *http.ServeMux, link string) bool {
	t.Helper()
	link = strings.TrimRight(link, ".,:;")
	if link == "" || strings.TrimRight(link, "/") == "/api/v1" { // the prefix of all API paths
		return true
	}
	target, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(link))
	if err != nil {
		t.Errorf("%q: %v", link, err)
		return false
	}
	for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
		r, err := http.NewRequestWithContext(t.Context(), method, base+target.Path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if _, pattern := mux.Handler(r); pattern != "" {
			return true
		}
	}
	return false
}

// TestLinksAreFound tests own and served.
func TestLinksAreFound(t *testing.T) {
	got := own(`<a href="/one">x</a> see https://pregon.example/two?a=b (https://pregon.example/three). ` + "`GET /four/{id}` </five>; rel=\"x\"")
	for i, link := range got {
		got[i] = strings.TrimRight(link, ".")
	}
	slices.Sort(got)
	if want := []string{"/five", "/four/{id}", "/one", "/three", "/two?a=b"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /one", func(http.ResponseWriter, *http.Request) {})
	if served(t, mux, "/two") || !served(t, mux, "/one?a=b") {
		t.Error("served does not distinguish existing routes from missing ones")
	}
}
