package content_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pregon/internal/server/content"
)

// A header about one caller is in no answer that a shared cache keeps.
func TestSetPublic(t *testing.T) {
	const shared = ", s-maxage=1, stale-while-revalidate=0, stale-if-error=0"
	for _, test := range []struct {
		name    string
		through bool // a shared cache
		limited bool
		maxAge  time.Duration
		want    string
	}{
		{"plain", false, false, 0, "public, max-age=1"},
		{"plain, longer", false, false, time.Hour, "public, max-age=3600"},
		{"limited", false, true, 0, `public, max-age=1, no-cache="RateLimit, RateLimit-Policy"`},
		{"limited, longer", false, true, time.Hour, `public, max-age=3600, no-cache="RateLimit, RateLimit-Policy"`},
		{"cache", true, false, 0, "public, max-age=0" + shared},
		{"cache, limited", true, true, time.Second, "public, max-age=0" + shared},
		{"cache, limited, longer", true, true, 15 * time.Minute, "public, max-age=900" + shared},
	} {
		r, h := answer(test.through, test.limited)
		content.SetPublic(h, r, test.maxAge)
		if got := h.Get("Cache-Control"); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		checkCaller(t, test.name, h, test.through, test.limited)
	}
}

func TestSetImmutable(t *testing.T) {
	for _, through := range []bool{false, true} {
		for _, limited := range []bool{false, true} {
			r, h := answer(through, limited)
			content.SetImmutable(h, r, time.Hour)
			got := h.Get("Cache-Control")
			if !strings.HasPrefix(got, "public, max-age=3600, immutable") || strings.Contains(got, "no-cache") != (limited && !through) {
				t.Errorf("through a cache: %v, limited: %v: %s", through, limited, got)
			}
			checkCaller(t, got, h, through, limited)
		}
	}
}

// answer returns a request and the headers of its answer so far.
func answer(through, limited bool) (*http.Request, http.Header) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if through {
		r.Header.Set("CDN-Loop", "example")
	}
	h := http.Header{"X-Request-Id": {"one"}, "X-Content-Type-Options": {"nosniff"}}
	if limited {
		h.Set("RateLimit", `"anonymous";r=59;t=60`)
		h.Set("RateLimit-Policy", `"anonymous";q=60;w=60`)
	}
	return r, h
}

func checkCaller(t *testing.T, name string, h http.Header, through, limited bool) {
	t.Helper()
	if got := h.Get("RateLimit") != ""; got != (limited && !through) || got != (h.Get("RateLimit-Policy") != "") {
		t.Errorf("%s: RateLimit %q, RateLimit-Policy %q", name, h.Get("RateLimit"), h.Get("RateLimit-Policy"))
	}
	if got := h.Get("X-Request-Id") != ""; got == through {
		t.Errorf("%s: X-Request-Id %q", name, h.Get("X-Request-Id"))
	}
	if h.Get("X-Content-Type-Options") == "" {
		t.Errorf("%s: another header is gone: %v", name, h)
	}
}
