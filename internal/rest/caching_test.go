package rest_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/rest/resttest"
	"pregon/internal/store"
)

// targets returns one URL of every route.
func targets() []string {
	var out []string
	for _, pattern := range public() {
		path := resttest.PathOf(pattern)
		id := "oir-40374"
		switch {
		case strings.Contains(path, "issuers"):
			id = "A69000016"
		case strings.Contains(path, "positions"):
			id = "dealing-2026000122"
		case strings.HasSuffix(path, "/series"):
			path += "?issuer=A69000016"
		case strings.HasSuffix(path, "/counts"):
			path += "?by=type"
		case strings.HasSuffix(path, "/values"):
			path += "?of=market"
		}
		out = append(out, strings.NewReplacer("{id}", id, "{path}", "0/000.p/1").Replace(path))
	}
	return out
}

// clocked reports whether a response contains the current time, so that it
// differs between requests.
func clocked(target string) bool {
	return target == "/api/v1/analytics" || target == "/api/v1/status" || target == "/api/v1/completeness"
}

func TestConditionalRequests(t *testing.T) {
	s := startRegisters(t)
	for _, target := range targets() {
		if clocked(target) {
			continue // see TestAnalyticsETag
		}
		weak := s.get(http.StatusOK, target).header.Get("ETag")
		strong := strings.TrimPrefix(weak, "W/")
		for _, test := range []struct {
			header []string
			status int
		}{
			{[]string{weak}, 304},
			{[]string{strong}, 304}, // If-None-Match compares weakly: RFC 9110, 13.1.2
			{[]string{"*"}, 304},
			{[]string{`"other", ` + weak}, 304},
			{[]string{`"other",` + strong + `,W/"more"`}, 304},
			{[]string{`"other"`, weak}, 304}, // a list may come in several lines
			{[]string{`"other"`}, 200},
			{[]string{`W/"other", "more"`}, 200},
			{[]string{strings.Trim(strong, `"`)}, 200}, // without quotes it is no tag
			{[]string{""}, 200},
		} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				a := s.do(method, target, http.Header{"If-None-Match": test.header})
				if a.status != test.status || a.header.Get("ETag") != weak {
					t.Errorf("%s %s, If-None-Match: %q: status %d, ETag %s, want %d, %s", method, target, test.header, a.status, a.header.Get("ETag"), test.status, weak)
				}
			}
		}
	}
}

// An ETag identifies the content. Other responses have other tags, a change
// changes the tag, and services with the same data have the same tag.
func TestETagNamesContent(t *testing.T) {
	s, twin := start(t, "demo", market()), start(t, "demo", market())
	tag := func(s *service, target string) string { return s.get(http.StatusOK, target).header.Get("ETag") }
	const target = "/api/v1/reports?limit=2"
	before := tag(s, target)
	if other := tag(twin, target); other != before {
		t.Errorf("the same content is %s and %s", before, other)
	}
	if other := tag(s, "/api/v1/reports?limit=3"); other == before {
		t.Errorf("two answers are both %s", other)
	}
	s.append(store.Batch{Reports: []disclosure.Report{newReport(disclosure.IP, 9999, "2026-05-01T08:00:00Z")}})
	if after := tag(s, target); after == before {
		t.Errorf("a new report leaves the tag %s", after)
	}
	if a := s.do(http.MethodGet, target, http.Header{"If-None-Match": {before}}); a.status != http.StatusOK {
		t.Errorf("status %d for an outdated tag, want 200", a.status)
	}
}

func TestCacheControl(t *testing.T) {
	s := startRegisters(t)
	credentials := s.credentials(access.AllScopes)
	for _, target := range targets() {
		age := "max-age=1"
		if strings.HasPrefix(target, "/openapi.") {
			age = "max-age=60"
		}
		if strings.HasPrefix(target, "/api/v1/calendar.ics") {
			age = "max-age=900"
		}
		if strings.HasPrefix(target, "/log/tile/") {
			age = "max-age=60"
		}
		client := age
		if age == "max-age=1" {
			client = "max-age=0"
		}
		shared := "public, " + client + ", s-maxage=1, stale-while-revalidate=0, stale-if-error=0"
		throughCache := credentials[0].Clone()
		throughCache.Set("CDN-Loop", "example")
		for _, test := range []struct {
			header http.Header
			want   string
		}{
			{nil, "public, " + age},
			{http.Header{"Cdn-Loop": {"example"}}, shared},
			{http.Header{"Cdn-Loop": {"example"}, "Cookie": {"a=b"}}, shared}, // cookies have no meaning here
			{throughCache, "private, " + age},
			{http.Header{"User-Agent": {"test"}, "Accept": {"application/json"}}, "public, " + age},
			{credentials[0], "private, " + age},
			{credentials[1], "private, " + age},
			{credentials[2], "private, " + age},
		} {
			a := s.do(http.MethodGet, target, test.header)
			if got := a.header.Get("Cache-Control"); got != test.want {
				t.Errorf("%s with %v: %s, want %s", target, test.header, got, test.want)
			}
			if got, _ := strings.CutSuffix(a.header.Get("Vary"), ", Accept"); got != "Authorization, X-API-Key, Accept-Encoding" { // of lists also Accept: see TestLists
				t.Errorf("%s: Vary: %s", target, got)
			}
		}
	}
	for _, target := range []string{"/api/v1/reports?limit=0", "/api/v1/reports/none"} {
		for _, header := range []http.Header{nil, {"Cdn-Loop": {"example"}}} {
			a := s.do(http.MethodGet, target, header)
			if a.header.Get("Cache-Control") != "no-store" || a.header.Get("ETag") != "" {
				t.Errorf("an error is cacheable: %v", a.header)
			}
		}
	}
}

// HEAD has the headers of GET without the body.
func TestHead(t *testing.T) {
	s := startRegisters(t)
	for _, target := range append(targets(), "/api/v1/reports?limit=0", "/api/v1/reports/none") {
		get, head := s.do(http.MethodGet, target, nil), s.do(http.MethodHead, target, nil)
		if head.status != get.status || len(head.body) != 0 {
			t.Errorf("HEAD %s: status %d, %d bytes; GET: %d", target, head.status, len(head.body), get.status)
		}
		if got := get.header.Get("Content-Length"); got != strconv.Itoa(len(get.body)) {
			t.Errorf("%s: Content-Length %s for %d bytes", target, got, len(get.body))
		}
		for _, h := range []http.Header{get.header, head.header} {
			h.Del("Date")
			if clocked(target) {
				h.Del("ETag")
				h.Del("Content-Length") // a fraction of a second is written with as many digits as it has
			}
		}
		if diff := cmp.Diff(get.header, head.header); diff != "" {
			t.Errorf("%s: headers of GET (-) and HEAD (+): %s", target, diff)
		}
	}
}
