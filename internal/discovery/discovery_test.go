package discovery_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"pregon/internal/discovery"
	"pregon/internal/mcp"
	"pregon/internal/rest"
)

const base = "https://pregon.example"

// world serves the discovery documents of a service.
type world struct {
	t      *testing.T
	mux    *http.ServeMux
	d      *discovery.Discovery
	source string
}

func newWorld(t *testing.T, change func(*discovery.Options)) *world {
	t.Helper()
	w := &world{t: t, mux: http.NewServeMux()}
	o := discovery.Options{
		BaseURL: base, Version: "1.2.3", Updated: time.Date(2026, 4, 22, 10, 0, 0, 0, time.UTC),
		Source: func() string { return w.source }, OpenAPI: openapi(), MCP: mcp.Offered(), AnonymousLimit: 60,
	}
	if change != nil {
		change(&o)
	}
	var err error
	if w.d, err = discovery.New(o); err != nil {
		t.Fatal(err)
	}
	w.d.Register(w.mux)
	w.mux.Handle("GET /{$}", w.d.Front())
	return w
}

// openapi is the real OpenAPI document as JSON.
var openapi = sync.OnceValue(func() []byte {
	var doc any
	if err := yaml.Unmarshal(rest.OpenAPI(base, true), &doc); err != nil {
		panic(err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return text
})

// ask sends a request with headers, given as alternating names and values.
func (w *world) ask(method, target string, headers ...string) *http.Response {
	w.t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.mux.ServeHTTP(rec, r)
	return rec.Result()
}

// get returns a document's text and header.
func (w *world) get(target string, headers ...string) (string, http.Header) {
	w.t.Helper()
	resp := w.ask(http.MethodGet, target, headers...)
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s %v", target, resp.Status, err)
	}
	return string(body), resp.Header
}

// decode decodes a document. Unknown fields are an error.
func (w *world) decode(target string, into any) {
	w.t.Helper()
	body, _ := w.get(target)
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		w.t.Fatalf("%s: %v\n%s", target, err, body)
	}
}

// paths returns the path of every document.
func (w *world) paths() (out []string) {
	for _, p := range w.d.Patterns() {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(p, "GET "), "{$}"))
	}
	return out
}

func TestEveryDocument(t *testing.T) {
	w := newWorld(t, nil)
	want := []string{
		"/", "/.well-known/agent-skills/index.json", "/.well-known/agent-skills/use-pregon/SKILL.md", "/.well-known/ai-catalog.json",
		"/.well-known/api-catalog", "/.well-known/ard.json", "/api/mcp/server-card", "/api/mcp/server.json", "/llms-full.txt", "/llms.txt", "/robots.txt",
	}
	got := w.paths()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the documents are %q, want %q", got, want)
	}
	for _, path := range got {
		t.Run(path, func(t *testing.T) {
			w := &world{t: t, mux: w.mux, d: w.d}
			body, h := w.get(path)
			if got := h.Get("Cache-Control"); got != "public, max-age=300" {
				t.Errorf("Cache-Control: %s", got)
			}
			for _, link := range []string{`</.well-known/ard.json>; rel="ard"`, `</.well-known/api-catalog>; rel="api-catalog"`} {
				if !strings.Contains(h.Get("Link"), link) {
					t.Errorf("Link: %s, want %s", h.Get("Link"), link)
				}
			}
			etag := h.Get("ETag")
			if !regexp.MustCompile(`^W/"[0-9a-f]+"$`).MatchString(etag) {
				t.Errorf("ETag: %s", etag)
			}
			if again, _ := w.get(path); again != body {
				t.Error("two requests got different content")
			}
			w.checkHead(path, h)
			resp := w.ask(http.MethodGet, path, "If-None-Match", etag)
			if left, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusNotModified || len(left) > 0 || resp.Header.Get("Link") == "" {
				t.Errorf("with its own tag: %s, %d bytes", resp.Status, len(left))
			}
			resp = w.ask(http.MethodGet, path+"?api_key=x")
			if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("Content-Type") != "application/problem+json" || resp.Header.Get("ETag") != "" {
				t.Errorf("with a key in the address: %s %v", resp.Status, resp.Header)
			}
			if resp := w.ask(http.MethodGet, path+"?x=1"); resp.StatusCode != http.StatusOK {
				t.Errorf("with any parameter: %s", resp.Status)
			}
		})
	}
}

// checkHead checks that HEAD has the header of GET and no body.
func (w *world) checkHead(path string, want http.Header) {
	w.t.Helper()
	resp := w.ask(http.MethodHead, path)
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK || len(body) > 0 {
		w.t.Errorf("HEAD: %s and %d bytes", resp.Status, len(body))
	}
	for name := range want {
		if got := resp.Header.Get(name); got != want.Get(name) {
			w.t.Errorf("HEAD: %s: %s, want %s", name, got, want.Get(name))
		}
	}
}

// A store may be marked as simulated while it is served. Then every document says
// so.
func TestSimulated(t *testing.T) {
	w := newWorld(t, nil)
	says := regexp.MustCompile(`(?i)simula`)
	silent := []string{"/robots.txt"}
	for _, path := range w.paths() {
		w.source = "cnmv"
		plain, h := w.get(path)
		w.source = "demo"
		demo, demoHeader := w.get(path)
		if says.MatchString(strings.ReplaceAll(plain, "the simulated market", "")) && path != "/llms-full.txt" { // its reference explains how to recognize a simulated market
			t.Errorf("%s mentions a simulation, but the market is not simulated", path)
		}
		if slices.Contains(silent, path) {
			continue
		}
		if path != "/.well-known/agent-skills/index.json" && path != "/.well-known/api-catalog" && !says.MatchString(demo) {
			t.Errorf("%s does not say that the market is simulated", path)
		}
		if demo != plain && h.Get("ETag") == demoHeader.Get("ETag") {
			t.Errorf("%s: different content has the same ETag", path)
		}
	}
	full, _ := w.get("/llms-full.txt")
	if head := strings.SplitN(full, "\n", 4); !strings.HasPrefix(head[2], "> **WARNING: this is a simulation.**") {
		t.Errorf("llms-full.txt does not begin with the warning: %q", head)
	}
	w.source = ""
	for _, path := range []string{"/llms.txt", "/llms-full.txt", "/.well-known/agent-skills/use-pregon/SKILL.md"} {
		text, _ := w.get(path)
		if !strings.Contains(text, "https://www.cnmv.es") || !strings.Contains(text, "free of charge") {
			t.Errorf("%s does not name the source, or that it is free", path)
		}
	}
}

// The documents state the configured limit.
func TestLimit(t *testing.T) {
	for limit, want := range map[int]string{7: "7 requests in any 60 seconds", 0: "any number of requests"} {
		w := newWorld(t, func(o *discovery.Options) { o.AnonymousLimit = limit })
		for _, path := range []string{"/llms.txt", "/llms-full.txt", "/.well-known/agent-skills/use-pregon/SKILL.md"} {
			text, _ := w.get(path)
			if !strings.Contains(text, want) || strings.Contains(text, "60 requests") {
				t.Errorf("%s does not state the limit %d, or states another too", path, limit)
			}
		}
	}
}

// Without a limit, no document describes what happens over it or how to raise it.
func TestNoLimit(t *testing.T) {
	speaks := []string{
		"per address", "lifts that", "Above that", "no such limit", "Above the limit it is", "the remaining requests", "`RateLimit`", "Keep to the limit", "within the limit",
		"higher request limit",
	}
	said := map[string]bool{}
	for _, limit := range []int{60, 0} {
		w := newWorld(t, func(o *discovery.Options) { o.AnonymousLimit = limit })
		for _, path := range w.paths() {
			for _, accept := range []string{"*/*", "text/html"} {
				text, _ := w.get(path, "Accept", accept)
				for _, phrase := range speaks {
					if !strings.Contains(text, phrase) {
						continue
					}
					said[phrase] = true
					if limit == 0 {
						t.Errorf("%s says %q", path, phrase)
					}
				}
			}
		}
	}
	for _, phrase := range speaks {
		if !said[phrase] {
			t.Errorf("%q not found even with a limit: this test searches for the wrong text", phrase)
		}
	}
	o := discovery.Options{BaseURL: base, Source: func() string { return "" }, MCP: mcp.Offered()}
	o.OpenAPI = []byte(strings.ReplaceAll(string(openapi()), "With a credential there is no such limit", "x"))
	if _, err := discovery.New(o); err == nil || !strings.Contains(err.Error(), "the limit") {
		t.Errorf("a limit in another wording: %v", err)
	}
}

// New fails if the documents name a tool or an operation that does not exist.
func TestUnknownNames(t *testing.T) {
	whole := mcp.Offered()
	for i, tool := range whole.Tools {
		o := discovery.Options{BaseURL: base, Source: func() string { return "" }, OpenAPI: openapi(), MCP: whole}
		o.MCP.Tools = slices.Delete(slices.Clone(whole.Tools), i, i+1)
		if _, err := discovery.New(o); err == nil || !strings.Contains(err.Error(), "there is no tool "+tool.Name) {
			t.Errorf("without %s: %v", tool.Name, err)
		}
	}
	for _, id := range []string{"getReports", "getChanges", "exchangeToken"} {
		text := strings.ReplaceAll(string(openapi()), `"`+id+`"`, `"other"`)
		_, err := discovery.New(discovery.Options{BaseURL: base, Source: func() string { return "" }, OpenAPI: []byte(text), MCP: whole})
		if err == nil || !strings.Contains(err.Error(), "there is no operation "+id) {
			t.Errorf("without %s: %v", id, err)
		}
	}
	if _, err := discovery.New(discovery.Options{OpenAPI: []byte("x")}); err == nil {
		t.Error("got no error for an invalid OpenAPI document")
	}
}

// llms-full.txt has every operation, tool, resource and prompt.
func TestReferenceIsComplete(t *testing.T) {
	w := newWorld(t, nil)
	full, _ := w.get("/llms-full.txt")
	offer := mcp.Offered()
	for _, e := range slices.Concat(offer.Tools, offer.Resources, offer.Templates, offer.Prompts, offer.Views) {
		_, rest, found := strings.Cut(full, "\n- **`"+e.Name+"`**")
		if !found {
			t.Errorf("llms-full.txt lacks %s", e.Name)
		}
		about, _, _ := strings.Cut(rest, "\n- **")
		for _, a := range e.Arguments {
			if !strings.Contains(about, "\n  - `"+a.Name+"`") {
				t.Errorf("llms-full.txt lacks the argument %s of %s", a.Name, e.Name)
			}
		}
	}
	var reference struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(openapi(), &reference); err != nil {
		t.Fatal(err)
	}
	for path, item := range reference.Paths {
		for method, op := range item {
			if want := "#### " + op.OperationID + "\n\n`" + strings.ToUpper(method) + " " + path + "`: "; !strings.Contains(full, want) {
				t.Errorf("llms-full.txt lacks %s %s", method, path)
			}
		}
	}
}
