package httpserver_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/fault"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/httpserver/pipetest"
	"pregon/internal/server/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// harness is a server over a few routes, with its log.
type harness struct {
	*httpserver.Server
	log          *bytes.Buffer
	observations []httpserver.Observation
	notReady     error
	refuse       error
	mu           sync.Mutex // guards observations: Run answers from its own goroutines
}

// remoteOf returns the address in the X-From header.
func remoteOf(r *http.Request) netip.Addr {
	a, _ := netip.ParseAddr(r.Header.Get("X-From"))
	return a
}

func newHarness(t *testing.T, routes map[string]http.HandlerFunc, change ...func(*httpserver.Options)) *harness {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range routes {
		mux.HandleFunc(pattern, h)
	}
	h := &harness{log: &bytes.Buffer{}}
	var err error
	o := httpserver.Options{
		Mux:     mux,
		Logger:  slog.New(slog.NewJSONHandler(h.log, nil)),
		Ready:   func() error { return h.notReady },
		Admit:   func(_ http.ResponseWriter, r *http.Request) error { return h.refuse },
		Clients: httpserver.Clients{Remote: remoteOf},
		Data:    httpserver.Data{Source: func() string { return "demo" }},
		Observer: httpserver.Observer{Request: func(o httpserver.Observation) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.observations = append(h.observations, o)
		}},
	}
	for _, c := range change {
		c(&o)
	}
	h.Server, err = httpserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *harness) do(method, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func TestRequestIDs(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{"GET /x": hello})
	if got := h.do("GET", "/x", header("X-Request-Id", "trace-1.A_b")).Header().Get("X-Request-Id"); got != "trace-1.A_b" {
		t.Errorf("a plain id became %q", got)
	}
	seen := map[string]bool{}
	for _, id := range []string{"", "with space", "a\nb", strings.Repeat("x", 65), "<script>", "ñ", "pregon_live_0123456789ABCDEFGHIJabcdefghijkl012345", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIi"} {
		got := h.do("GET", "/x", header("X-Request-Id", id)).Header().Get("X-Request-Id")
		if got == id || len(got) < 20 || seen[got] {
			t.Errorf("%q became %q", id, got)
		}
		seen[got] = true
	}
}

// Browsers must use https where the service does.
func TestStrictTransportSecurity(t *testing.T) {
	for _, https := range []bool{true, false} {
		h := newHarness(t, nil, func(o *httpserver.Options) { o.Clients.HTTPS = https })
		if got := h.do("GET", "/healthz").Header().Get("Strict-Transport-Security"); (got == "max-age=31536000") != https {
			t.Errorf("https %v: %q", https, got)
		}
	}
}

// An observation contains neither a credential nor a part of a character.
func TestObservedPaths(t *testing.T) {
	h := newHarness(t, nil)
	const key = "pregon_live_0123456789ABCDEFGHIJabcdefghijkl012345"
	for target, want := range map[string]string{
		"/reports/" + key + "/document":                "/reports/pregon_live_…/document",
		"/" + strings.Repeat("x", 180) + key:           "/" + strings.Repeat("x", 180) + "pregon_live_…",
		"/" + strings.Repeat("%C3%B1", 150):            "/" + strings.Repeat("ñ", 99) + "…",
		"/pregon%255Flive%255F0123456789ABCDEFGHIJabc": "/pregon%5Flive%5F…",
	} {
		h.observations = nil
		w := h.do("GET", target)
		if got := h.observations[0].Path; got != want || strings.Contains(w.Body.String(), "0123") {
			t.Errorf("%s is observed as %q, want %q; answered %s", target, got, want, w.Body)
		}
	}
}

func TestUnknownPathsAndMethods(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{"GET /x": hello, "POST /x": hello})
	for _, tt := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/nowhere", 404, ""},
		{"POST", "/nowhere", 404, ""},
		{"OPTIONS", "/nowhere", 404, ""},
		{"DELETE", "/x", 405, "GET, HEAD, POST, OPTIONS"},
		{"BREW", "/x", 405, "GET, HEAD, POST, OPTIONS"},
		{"OPTIONS", "/x", 204, "GET, HEAD, POST, OPTIONS"},
		{"GET", "/x", 200, ""},
		{"HEAD", "/x", 200, ""},
	} {
		w := h.do(tt.method, tt.path)
		if w.Code != tt.status || w.Header().Get("Allow") != tt.allow {
			t.Errorf("%s %s: %d, Allow %q; want %d, %q", tt.method, tt.path, w.Code, w.Header().Get("Allow"), tt.status, tt.allow)
		}
		if w.Code >= 400 {
			var doc problem.Document
			if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || doc.Status != w.Code || doc.Instance == "" || doc.Instance != w.Header().Get("X-Request-Id") {
				t.Errorf("%s %s: %v in %s", tt.method, tt.path, err, w.Body)
			}
		}
	}
}

// Requests without a route are admitted by the guard too. The preflight request
// of a browser is not a request yet.
func TestUnroutedAreAdmitted(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{"GET /x": hello})
	h.refuse = fault.New(fault.RateLimited, "Too many.")
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/x", 200}, // routes ask for themselves
		{"GET", "/nowhere", 429},
		{"DELETE", "/x", 429},
		{"OPTIONS", "/nowhere", 429},
		{"OPTIONS", "/x", 204},
		{"GET", "//x?api_key=secret", 429}, // which a mux would redirect
		{"GET", "/y/../x", 429},
	} {
		if w := h.do(tt.method, tt.path); w.Code != tt.status {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, w.Code, tt.status)
		}
	}
}

func TestCrossOrigin(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{"GET /x": hello})
	w := h.do("OPTIONS", "/x", header("Origin", "https://page.example"), header("Access-Control-Request-Method", "GET"))
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "*" ||
		!strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "X-API-Key") ||
		!strings.Contains(w.Header().Get("Access-Control-Allow-Methods"), "GET") {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
	w = h.do("GET", "/x", header("Origin", "https://page.example"))
	if w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("request: %v", w.Header())
	}
	exposed := strings.Split(w.Header().Get("Access-Control-Expose-Headers"), ", ")
	for _, name := range []string{"ETag", "Pregon-Ignored", "Pregon-Warning", "Pregon-Widened"} {
		if !slices.Contains(exposed, name) {
			t.Errorf("pages cannot read %s: exposed are %q", name, exposed)
		}
	}
	if w = h.do("GET", "/x"); w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Error("a cache would keep an answer that other pages may not read")
	}
}

func TestPanicCostsOneRequest(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{
		"GET /bug":  func(http.ResponseWriter, *http.Request) { panic("the secret detail") },
		"GET /half": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "half"); panic("later") },
	})
	w := h.do("GET", "/bug")
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(h.log.String(), "the secret detail") || !strings.Contains(h.log.String(), "server_test.go") {
		t.Error("the log lacks the cause or the stack")
	}
	func() {
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
				t.Errorf("half an answer is passed off as whole: %v", err)
			}
		}()
		h.do("GET", "/half")
	}()
}

// What was read from a file that was changed meanwhile is not sent. A request that has changed
// something keeps its answer: it must not be repeated.
func TestVerify(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/x", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Cache-Control", "public, max-age=1")
		_, _ = io.WriteString(w, "wrong"+strings.Repeat(" ", 4000))
	})
	mux.HandleFunc("/unchanged", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	changed := true
	damaged := errors.New("the file was changed")
	s, err := httpserver.New(httpserver.Options{
		Mux:     mux,
		Logger:  slog.New(slog.DiscardHandler),
		Ready:   func() error { return nil },
		Clients: httpserver.Clients{Remote: remoteOf},
		Data: httpserver.Data{
			Source: func() string { return "" },
			Broken: func(recovered any) bool { return recovered == damaged },
			Verify: func() {
				if changed {
					panic(damaged)
				}
			},
		},
		Observer: httpserver.Observer{Request: func(httpserver.Observation) {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(method, path, encoding string, want int) {
		t.Helper()
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		bad := want == http.StatusServiceUnavailable &&
			(w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("ETag") != "" || strings.Contains(w.Body.String(), "wrong"))
		if w.Code != want || bad {
			t.Errorf("%s %s: %d, %v, %.100s", method, path, w.Code, w.Header(), w.Body)
		}
	}
	check("GET", "/x", "", 503)
	check("GET", "/x", "gzip", 503)
	check("HEAD", "/x", "", 503)
	check("GET", "/unchanged", "", 503)
	check("POST", "/x", "", 200)
	check("GET", "/healthz", "", 200)
	changed = false
	check("GET", "/x", "", 200)
	check("GET", "/x", "gzip", 200)
}

func TestBodyLimit(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{
		"POST /x": func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				problem.Write(w, fault.Wrap(fault.Invalid, err, "cut off"))
			}
		},
	})
	send := func(n int, known bool) *httptest.ResponseRecorder {
		var body io.Reader = bytes.NewReader(make([]byte, n))
		if !known {
			body = io.MultiReader(body)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/x", body))
		return w
	}
	if w := send(1<<20, true); w.Code != 200 {
		t.Errorf("1 MiB is refused with %d", w.Code)
	}
	if w := send(1<<20+1, true); w.Code != 413 {
		t.Errorf("more than 1 MiB gets %d", w.Code)
	}
	if w := send(1<<20+1, false); w.Code != 400 {
		t.Errorf("more than 1 MiB of unknown length gets %d", w.Code)
	}
}

// Errors outside of a surface are written in its own format.
func TestErrorWriters(t *testing.T) {
	mux := http.NewServeMux()
	bug := func(http.ResponseWriter, *http.Request) { panic("the secret detail") }
	mux.HandleFunc("/own", bug)
	mux.HandleFunc("/other", bug)
	say := func(status int, text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/own")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text+" "+r.URL.Path)
		}
	}
	observed := 0
	s, err := httpserver.New(httpserver.Options{
		Mux:      mux,
		Logger:   slog.New(slog.DiscardHandler),
		Ready:    func() error { return nil },
		Clients:  httpserver.Clients{Remote: remoteOf},
		Data:     httpserver.Data{Source: func() string { return "" }},
		Observer: httpserver.Observer{Request: func(o httpserver.Observation) { observed = o.Status }},
		Errors: httpserver.Errors{Writers: map[string]httpserver.ErrorWriter{
			"/own": {TooLarge: say(413, "large"), Failed: say(500, "failed")},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, body  string
		status      int
		kind, wants string
	}{
		{"/own", strings.Repeat("x", 5<<20), 413, "application/own", "large /own"},
		{"/own", "x", 500, "application/own", "failed /own"},
		{"/other", strings.Repeat("x", 5<<20), 413, "application/problem+json", "1 MiB"},
		{"/other", "x", 500, "application/problem+json", "Internal"},
		{"/own/", strings.Repeat("x", 5<<20), 413, "application/problem+json", "1 MiB"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", tt.path, strings.NewReader(tt.body)))
		if w.Code != tt.status || observed != tt.status || w.Header().Get("Content-Type") != tt.kind || !strings.Contains(w.Body.String(), tt.wants) ||
			strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %v %s", tt.path, w.Code, w.Header(), w.Body)
		}
	}
}

// Errors of the server itself are pages for requests that want one, and problem
// documents for others. Surfaces with a format of their own have no pages.
func TestErrorPages(t *testing.T) {
	entered := make(chan struct{})
	h := newHarness(t, map[string]http.HandlerFunc{
		"GET /x": hello,
		"GET /bug": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "7")
			w.Header().Set("ETag", `"x"`)
			panic("the secret detail")
		},
		"GET /own": hello,
		"GET /slow": func(_ http.ResponseWriter, r *http.Request) {
			close(entered)
			<-r.Context().Done()
		},
	}, func(o *httpserver.Options) {
		o.Limits.Requests = 1
		o.Errors.Writers = map[string]httpserver.ErrorWriter{"/own": {}}
		o.Errors.Page = func(w http.ResponseWriter, r *http.Request, d problem.Document) bool {
			if r.Header.Get("Accept") != "text/html" {
				return false
			}
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(d.Status)
			_, _ = io.WriteString(w, "<h1>"+d.Title+"</h1>"+d.Detail+d.Instance)
			return true
		}
	})
	for _, test := range []struct {
		method, target string
		length         int64
		refuse         error
		status         int
		retry          string
		wants          string
	}{
		{"GET", "/nothing", 0, nil, 404, "", "nothing at this path"},
		{"GET", "//x", 0, nil, 404, "", "nothing at this path"},
		{"GET", "/nothing", 0, fault.New(fault.RateLimited, "too often"), 429, "2", "too often"},
		{"GET", "//x", 0, fault.New(fault.RateLimited, "too often"), 429, "2", "too often"},
		{"DELETE", "/x", 0, nil, 405, "", "use GET, HEAD, OPTIONS"},
		{"POST", "/x", 5 << 20, nil, 413, "", "1 MiB"},
		{"GET", "/bug", 0, nil, 500, "", "Something went wrong"},
	} {
		h.refuse = test.refuse
		request := func(accept string) *httptest.ResponseRecorder {
			return h.do(test.method, test.target, header("Accept", accept), header("X-Request-Id", "the-id"), func(r *http.Request) { r.ContentLength = test.length })
		}
		name := test.method + " " + test.target
		page := request("text/html")
		if page.Code != test.status || page.Header().Get("Content-Type") != "text/html" || !strings.Contains(page.Body.String(), test.wants) ||
			!strings.HasSuffix(page.Body.String(), "the-id") || strings.Contains(page.Body.String(), "secret") {
			t.Errorf("%s: the page is %d %v %s", name, page.Code, page.Header(), page.Body)
		}
		if h := page.Header(); h.Get("Cache-Control") != "no-store" || h.Get("Retry-After") != test.retry || h.Get("Content-Length") != "" || h.Get("ETag") != "" {
			t.Errorf("%s: the headers of the page are %v", name, h)
		}
		document := request("application/json")
		if document.Code != test.status || document.Header().Get("Content-Type") != "application/problem+json" || document.Header().Get("Retry-After") != test.retry ||
			!strings.Contains(document.Body.String(), test.wants) {
			t.Errorf("%s: the document is %d %v %s", name, document.Code, document.Header(), document.Body)
		}
	}
	h.refuse = nil
	if w := h.do("DELETE", "/own", header("Accept", "text/html")); w.Code != 405 || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("a page for a surface with its own format: %d %v", w.Code, w.Header())
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.do("GET", "/slow", func(r *http.Request) { *r = *r.WithContext(ctx) })
	}()
	<-entered
	if w := h.do("GET", "/x", header("Accept", "text/html")); w.Code != 503 || w.Header().Get("Content-Type") != "text/html" || w.Header().Get("Retry-After") == "" {
		t.Errorf("without room: %d %v %s", w.Code, w.Header(), w.Body)
	}
	cancel()
	<-ended
}

func TestCompression(t *testing.T) {
	text := strings.Repeat("una información relevante ", 200)
	h := newHarness(t, map[string]http.HandlerFunc{
		"GET /long": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		},
		"GET /short": hello,
	})
	w := h.do("GET", "/long", header("Accept-Encoding", "gzip"))
	zr, err := gzip.NewReader(w.Body)
	if err != nil || w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("%v, %v", err, w.Header())
	}
	if got, err := io.ReadAll(zr); err != nil || string(got) != text {
		t.Errorf("it does not come back: %v", err)
	}
	for _, w := range []*httptest.ResponseRecorder{h.do("GET", "/long"), h.do("GET", "/short", header("Accept-Encoding", "gzip"))} {
		if w.Header().Get("Content-Encoding") != "" {
			t.Errorf("compressed without need: %v", w.Header())
		}
	}
}

func TestReadiness(t *testing.T) {
	h := newHarness(t, nil)
	h.notReady = fault.New(fault.Unavailable, "still loading")
	if w := h.do("GET", "/readyz"); w.Code != 503 || !strings.Contains(w.Body.String(), "still loading") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := h.do("GET", "/healthz"); w.Code != 200 {
		t.Errorf("not ready is not unhealthy: %d", w.Code)
	}
	if o := h.observations; len(o) != 2 || !o[0].Expected || o[1].Expected {
		t.Errorf("not to be ready is a failure: %+v", o)
	}
	h.notReady = nil
	if w := h.do("GET", "/readyz"); w.Code != 200 || w.Body.String() != `{"status":"ready"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestOneObservationPerRequest(t *testing.T) {
	h := newHarness(t, map[string]http.HandlerFunc{"GET /x/{id}": hello})
	h.do("GET", "/x/1?search=secreto&api_key=abc")
	h.do("GET", "/"+strings.Repeat("y", 5000))
	h.do("BREW", "/x/1")
	if len(h.observations) != 3 {
		t.Fatalf("%d observations, want 3", len(h.observations))
	}
	if o := h.observations[0]; o.Route != "GET /x/{id}" || o.Status != 200 || o.Method != "GET" || o.Path != "/x/1" || o.Bytes != 5 || o.ID == "" {
		t.Errorf("%+v", o)
	}
	if o := h.observations[1]; o.Route != "none" || o.Status != 404 || len(o.Path) > 1000 {
		t.Errorf("%+v", o)
	}
	if o := h.observations[2]; o.Method != "other" {
		t.Errorf("a made-up method is a label of the metrics: %+v", o)
	}
}

// TestShutdownLetsRequestsFinish stops a server during a response: the response is
// complete, and the server is no longer ready.
func TestShutdownLetsRequestsFinish(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	h := newHarness(t, map[string]http.HandlerFunc{"GET /slow": func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		_, _ = io.WriteString(w, "whole")
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx, l) }()

	answer := make(chan string, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Get("http://" + l.Addr().String() + "/slow")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	<-arrived
	stop()
	for h.do("GET", "/readyz").Code != 503 {
	}
	close(release)
	if got := <-answer; got != "whole" {
		t.Errorf("the request under way got %q", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("a clean stop returns %v", err)
	}
}

// TestDrain checks that a stopping server is not ready, still answers and closes
// connections; then streams end and the listener closes.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing := make(chan struct{})
		h := newHarness(t, map[string]http.HandlerFunc{"GET /x": func(http.ResponseWriter, *http.Request) {}}, func(o *httpserver.Options) {
			o.Shutdown.Drain = 5 * time.Second
			o.Shutdown.Closing = func() { close(closing) }
		})
		pipes := pipetest.New()
		client := &http.Client{Transport: &http.Transport{DialContext: pipes.Dial}}
		get := func(path string) *http.Response {
			t.Helper()
			resp, err := client.Get("http://pipe" + path)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			return resp
		}
		ctx, signal := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx, pipes) }()
		if resp := get("/x"); resp.StatusCode != http.StatusOK || resp.Close {
			t.Errorf("before the signal: %d, closes: %t", resp.StatusCode, resp.Close)
		}
		signal()
		time.Sleep(4 * time.Second)
		if resp := get("/readyz"); resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("while it drains it is ready: %d", resp.StatusCode)
		}
		if resp := get("/x"); resp.StatusCode != http.StatusOK || !resp.Close {
			t.Errorf("while it drains: %d, closes: %t", resp.StatusCode, resp.Close)
		}
		select {
		case <-closing:
			t.Error("streams end before it has drained")
		default:
		}
		time.Sleep(2 * time.Second)
		<-closing
		if err := <-done; err != nil {
			t.Error(err)
		}
		client.CloseIdleConnections()
	})
}
