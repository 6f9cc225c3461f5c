package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/store"
	"pregon/internal/test/longtest"
	"pregon/internal/test/proxytest"
)

// caches are the shared caches of the kit, by name.
var caches = map[string]func(proxytest.Options) (*proxytest.Proxy, error){
	"nginx":   proxytest.NginxCache,
	"varnish": proxytest.Varnish,
}

// cached is a service behind a shared cache.
type cached struct {
	t      *testing.T
	origin *service
	base   string // address of the cache
	key    string
	db     store.Store
}

// TestSharedCaches puts each cache of the kit in front of the service: what it keeps is at
// most a second old, and is what every caller may see.
func TestSharedCaches(t *testing.T) {
	longtest.Skip(t, "it needs nginx and Varnish")
	for name, start := range caches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := "sqlite:" + filepath.Join(t.TempDir(), "pregon.db")
			c := &cached{
				t: t,
				origin: startReplica(t, spec, "--trusted-proxy", "127.0.0.1", "--base-url", "https://pregon.example",
					"--anonymous-limit", "100000"),
				key: pregon(t, spec, "keys", "create", "--plan", "enterprise"),
				db:  openStore(t, spec),
			}
			address := strings.TrimPrefix(c.origin.url, "http://")
			p, err := start(proxytest.Options{
				Deploy:   "../../deploy",
				Dir:      t.TempDir(),
				Replicas: []string{address, address},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				p.Kill()
				if t.Failed() {
					t.Logf("%.10000s", p.Output())
				}
			})
			c.base = "http://" + p.Address

			c.fresh()
			c.shared()
			c.conditional()
			c.credentials()
			c.variants()
			c.failures()
			c.labelled()
			streamed(t, c.base, c.key, c.db)
			subscribed(t, c.base, c.key, c.db)
			eventually(t, func() error { return polled(t, c.base, c.key, c.db) })
			compressed(t, c.base)
			forwarded(t, c.base, []*service{c.origin})
		})
	}
}

// answered is an answer with its body.
type answered struct {
	*http.Response
	body []byte
	sent time.Time
	took time.Duration
}

// get sends a request with headers, as names and values, to the cache or the service.
func (c *cached) get(base, path string, headers ...string) answered {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, base+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	sent := time.Now()
	resp, err := (&http.Client{CheckRedirect: noRedirect}).Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answered{resp, body, sent, time.Since(sent)}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// kept reports whether the cache had the answer.
func (a answered) kept() bool { return a.Header.Get("X-Cache") == "HIT" }

// total returns the number of reports in a list.
func (c *cached) total(a answered) (n int) {
	c.t.Helper()
	var list struct{ Total *int }
	if err := json.Unmarshal(a.body, &list); err != nil || list.Total == nil {
		c.t.Fatalf("%s: %v: %.300s", a.Status, err, a.body)
	}
	return *list.Total
}

// fresh publishes reports and asks the cache for the list all the time. An answer has every
// report that the service had a second before the request was sent. As a cache measures
// from its own request, that one may take as long as the slowest answer did.
func (c *cached) fresh() {
	const list = "/api/v1/reports?limit=1"
	hits := 0
	var slowest time.Duration
	for n := 1; n <= 6; n++ {
		file(c.t, c.db, 1)
		eventually(c.t, func() error {
			if got := c.total(c.get(c.origin.url, list)); got != n {
				return fmt.Errorf("the service has %d reports, want %d", got, n)
			}
			return nil
		})
		visible := time.Now()
		for {
			a := c.get(c.base, list)
			slowest = max(slowest, a.took)
			if a.kept() {
				hits++
			}
			got := c.total(a)
			if got == n {
				break
			}
			if old := a.sent.Sub(visible); old > time.Second+slowest {
				c.t.Fatalf("%v after report %d was published the cache has %d reports; its slowest answer took %v", old, n, got, slowest)
			}
		}
	}
	if hits == 0 {
		c.t.Error("no answer was kept")
	}
}

// shared sends ten requests at the same time, until one of them was passed on and the
// others got its answer.
func (c *cached) shared() {
	c.t.Helper()
	page := 1
	eventually(c.t, func() error {
		page++
		path := fmt.Sprintf("/api/v1/issuers?page=%d", page)
		var callers sync.WaitGroup
		var mu sync.Mutex
		hits, misses := 0, 0
		for range 10 {
			callers.Go(func() {
				a := c.get(c.base, path)
				mu.Lock()
				defer mu.Unlock()
				if a.kept() {
					hits++
				} else {
					misses++
				}
				if a.StatusCode != http.StatusOK || a.Header.Get("RateLimit")+a.Header.Get("RateLimit-Policy")+a.Header.Get("X-Request-Id") != "" {
					c.t.Errorf("%s: a header about one caller: %v", a.Status, a.Header)
				}
			})
		}
		callers.Wait()
		if hits != 9 || misses != 1 {
			return fmt.Errorf("%d answers were kept and %d not, want 9 and 1", hits, misses)
		}
		return nil
	})
	if a := c.get(c.origin.url, "/api/v1/issuers"); a.Header.Get("RateLimit") == "" || !strings.Contains(a.Header.Get("Cache-Control"), `no-cache="RateLimit`) {
		c.t.Errorf("without the cache: %v", a.Header)
	}
}

// conditional checks that the cache answers 304 for the tag that it sent.
func (c *cached) conditional() {
	for _, path := range []string{"/api/v1/reports?limit=4", "/"} {
		eventually(c.t, func() error {
			tag := c.get(c.base, path, "Accept", "text/html").Header.Get("ETag")
			a := c.get(c.base, path, "Accept", "text/html", "If-None-Match", tag)
			if tag == "" || a.StatusCode != http.StatusNotModified || len(a.body) > 0 {
				return fmt.Errorf("%s: %s with the tag %q", path, a.Status, tag) // a page may have changed with the minute
			}
			return nil
		})
		if a := c.get(c.base, path, "Accept", "text/html", "If-None-Match", `W/"0"`); a.StatusCode != http.StatusOK {
			c.t.Errorf("%s with another tag: %s", path, a.Status)
		}
	}
}

// credentials checks that a caller with a credential gets an answer of its own, and that
// nobody else gets it.
func (c *cached) credentials() {
	for _, path := range []string{"/api/v1/reports?limit=2", "/", "/feed.json"} {
		for range 3 {
			anonymous := c.get(c.base, path, "Accept", "text/html")
			if got := anonymous.Header.Get("Cache-Control"); anonymous.StatusCode != http.StatusOK || !strings.HasPrefix(got, "public, ") {
				c.t.Errorf("%s: %s, %s", path, anonymous.Status, got)
			}
			for _, header := range [][]string{{"X-API-Key", c.key}, {"Authorization", "Bearer " + c.key}} {
				a := c.get(c.base, path, append(header, "Accept", "text/html")...)
				if a.StatusCode != http.StatusOK || a.kept() || !strings.HasPrefix(a.Header.Get("Cache-Control"), "private, ") || a.Header.Get("X-Request-Id") == "" {
					c.t.Errorf("%s with %s: %s, %v", path, header[0], a.Status, a.Header)
				}
			}
			if a := c.get(c.base, path, "X-API-Key", "wrong", "Accept", "text/html"); a.StatusCode != http.StatusUnauthorized || a.kept() {
				c.t.Errorf("%s with a wrong key: %s, %v", path, a.Status, a.Header)
			}
			if a := c.get(c.base, path, "Cookie", "__Host-pregon-session=wrong", "Accept", "text/html"); a.kept() {
				c.t.Errorf("%s with a cookie: %v", path, a.Header)
			}
		}
	}
	const changes = "/api/v1/changes?limit=1"
	for range 3 {
		if a := c.get(c.base, changes, "X-API-Key", c.key); a.StatusCode != http.StatusOK || a.kept() {
			c.t.Errorf("%s with a key: %s, %v", changes, a.Status, a.Header)
		}
		if a := c.get(c.base, changes); a.StatusCode != http.StatusUnauthorized || a.kept() {
			c.t.Errorf("%s without a key: %s, %v", changes, a.Status, a.Header)
		}
	}
}

// variants checks that languages, types and encodings are not mixed.
func (c *cached) variants() {
	for range 3 {
		for _, language := range []string{"es", "en"} {
			a := c.get(c.base, "/", "Accept", "text/html", "Accept-Language", language)
			if got := a.Header.Get("Content-Language"); got != language {
				c.t.Errorf("the page for %s is in %q", language, got)
			}
		}
		for accept, want := range map[string]string{
			"text/html":        "text/html",
			"text/markdown":    "text/markdown",
			"application/json": "application/json",
		} {
			a := c.get(c.base, "/", "Accept", accept)
			direct := c.get(c.origin.url, "/", "Accept", accept)
			if got := a.Header.Get("Content-Type"); got != direct.Header.Get("Content-Type") || accept == "text/html" && !strings.HasPrefix(got, want) {
				c.t.Errorf("/ as %s is %s, and %s without the cache", accept, got, direct.Header.Get("Content-Type"))
			}
		}
		for accept, want := range map[string]string{"application/json": "application/json", "text/csv": "text/csv"} {
			a := c.get(c.base, "/api/v1/reports?limit=3", "Accept", accept)
			if got := a.Header.Get("Content-Type"); !strings.HasPrefix(got, want) {
				c.t.Errorf("a list as %s is %s", accept, got)
			}
		}
	}
}

// failures checks that an error is not kept: a report is there as soon as the service has it.
func (c *cached) failures() {
	newest, err := c.db.Newest(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	path := fmt.Sprintf("/api/v1/reports/oir-%d", 90_001+newest)
	for range 2 {
		if a := c.get(c.base, path); a.StatusCode != http.StatusNotFound || a.kept() {
			c.t.Errorf("before the report is published: %s, %v", a.Status, a.Header)
		}
	}
	file(c.t, c.db, 1)
	eventually(c.t, func() error {
		if a := c.get(c.origin.url, path); a.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", path, a.Status)
		}
		return nil
	})
	if a := c.get(c.base, path); a.StatusCode != http.StatusOK {
		c.t.Errorf("the error is kept: %s, %v", a.Status, a.Header)
	}
}

// labelled checks that every kind of answer says whether it may be kept. What does not,
// caches keep for as long as they like.
func (c *cached) labelled() {
	for _, path := range []string{
		"/", "/search?q=otros", "/issuers", "/calendar", "/feed.atom", "/feed.json", "/sitemap.xml", "/robots.txt",
		"/llms.txt", "/.well-known/ard.json", "/.well-known/jwks.json", "/openapi.json", "/assets/none.css", "/none",
		"/api/v1/none", "/api/v1/reports", "/api/v1/status", "/api/v1/stream", "/api/mcp", "/healthz", "/readyz",
		"/signin", "/account", "/live", "/suggest?q=a", "/log/checkpoint",
	} {
		for _, accept := range []string{"text/html", "application/json"} {
			a := c.get(c.origin.url, path, "Accept", accept, "CDN-Loop", "test")
			control := a.Header.Get("Cache-Control")
			public := strings.HasPrefix(control, "public, ")
			if control == "" || public && a.Header.Get("RateLimit")+a.Header.Get("X-Request-Id") != "" || public && a.StatusCode >= 400 {
				c.t.Errorf("%s as %s: %s, %v", path, accept, a.Status, a.Header)
			}
		}
	}
}
