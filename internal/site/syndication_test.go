package site_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
)

// market returns so many reports of 2025, a minute apart, of one issuer.
func market(reports int) store.Batch {
	start := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
	b := store.Batch{
		New:     disclosure.Backfilled,
		Issuers: []disclosure.Issuer{{ID: "A69831790", Name: "BODEGAS DE SIERRALBINA, S.A.", NIF: "A69831790", Kind: disclosure.Company}},
	}
	for n := range reports {
		at := start.Add(time.Duration(n) * time.Minute)
		b.Reports = append(b.Reports, disclosure.Report{
			Type:        disclosure.OIR,
			Number:      int64(n + 1),
			CompanyName: "BODEGAS DE SIERRALBINA, S.A.",
			NIF:         "A69831790",
			Title:       fmt.Sprintf("[Simulación] Comunicación %d", n+1),
			PublishedAt: at,
			FirstSeenAt: at,
			AvailableAt: at,
		})
	}
	return b
}

// A feed has the newest 100 reports and no other pages: the API and the snapshots have
// all.
func TestFeedsHaveTheNewest(t *testing.T) {
	for _, reports := range []int{0, 1, 99, 100, 101, 350} {
		s := startEmpty(t, "")
		s.append(market(reports))
		var atom struct {
			Entry []struct {
				ID string `xml:"id"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal(s.get(http.StatusOK, "/feed.atom").Body.Bytes(), &atom); err != nil {
			t.Fatal(err)
		}
		var feed struct{ Items []struct{ ID string } }
		if err := json.Unmarshal(s.get(http.StatusOK, "/feed.json").Body.Bytes(), &feed); err != nil {
			t.Fatal(err)
		}
		if n := min(reports, 100); len(atom.Entry) != n || len(feed.Items) != n {
			t.Errorf("of %d reports the feeds have %d and %d", reports, len(atom.Entry), len(feed.Items))
		}
		if reports > 0 && !strings.HasSuffix(atom.Entry[0].ID, fmt.Sprintf("/oir-%d", reports)) {
			t.Errorf("the first of %d is %s", reports, atom.Entry[0].ID)
		}
	}
	s := start(t, "", market(1))
	for _, address := range []string{"/feed.atom?page=2", "/feed.json?page=1", "/feed.json?search=x&page=99999"} {
		for _, credential := range []string{"", "Bearer read:reports"} {
			has(t, s.get(http.StatusBadRequest, address, "Authorization", credential), "page", "/api/v1/reports", "/api/v1/bulk")
		}
	}
	s.get(http.StatusOK, "/feed.atom?page=")
}

// Addresses with data count against the limit of anonymous callers as the API does.
// Pages, sitemaps and files do not, and neither do callers with a credential.
func TestCountedAddresses(t *testing.T) {
	for address, counted := range map[string]bool{
		"/feed.atom":                    true,
		"/feed.json?search=comunicado":  true,
		"/issuers/A69831790/months.csv": true,
		"/analytics/daily.csv":          true,
		"/reports/oir-1.md":             true,
		"/reports/oir-1":                false,
		"/":                             false,
		"/search?search=comunicado":     false,
		"/live":                         false,
		"/issuers/A69831790":            false,
		"/analytics":                    false,
		"/status":                       false,
		"/sitemap.xml":                  false,
		"/sitemaps/2025.xml":            false,
		"/manifest.webmanifest":         false,
	} {
		policy := ratelimit.Policy{Name: "anonymous", Limit: 2, Window: time.Minute}
		s := startLimited(t, &access.Limit{Policy: policy, Limiter: ratelimit.NewWindow(policy)}, "")
		s.append(market(3))
		for range 2 {
			if w := s.get(http.StatusOK, address); (w.Header().Get("RateLimit") != "") != counted {
				t.Errorf("%s: RateLimit %q", address, w.Header().Get("RateLimit"))
			}
		}
		third := http.StatusOK
		if counted {
			third = http.StatusTooManyRequests
		}
		s.get(third, address)
		s.get(http.StatusOK, address, "Authorization", "Bearer read:reports+read:issuers+read:analytics")
	}
}

// locations returns the addresses of a sitemap.
func locations(t *testing.T, body []byte) (all []string) {
	t.Helper()
	var parsed struct {
		Maps []struct {
			Loc string `xml:"loc"`
		} `xml:"sitemap"`
		Pages []struct {
			Loc string `xml:"loc"`
		} `xml:"url"`
	}
	if err := xml.Unmarshal(body, &parsed); err != nil {
		t.Fatal(err)
	}
	for _, m := range append(parsed.Maps, parsed.Pages...) {
		all = append(all, strings.TrimPrefix(m.Loc, baseURL))
	}
	return all
}

// A sitemap has at most 10,000 addresses, and all parts together have every report once.
func TestSitemapsAreSplit(t *testing.T) {
	for reports, parts := range map[int]int{1: 1, 10_000: 1, 10_001: 2, 20_500: 3} {
		s := start(t, "", market(reports))
		var years []string
		seen := map[string]int{}
		for _, part := range locations(t, s.get(http.StatusOK, "/sitemap.xml").Body.Bytes()) {
			addresses := locations(t, s.get(http.StatusOK, part).Body.Bytes())
			if len(addresses) > 10_000 {
				t.Errorf("%s has %d addresses", part, len(addresses))
			}
			if strings.HasPrefix(part, "/sitemaps/2025") {
				years = append(years, part)
			}
			for _, a := range addresses {
				seen[a]++
			}
		}
		if want := []string{"/sitemaps/2025.xml", "/sitemaps/2025-2.xml", "/sitemaps/2025-3.xml"}[:parts]; !slices.Equal(years, want) {
			t.Errorf("%d reports are in %v, want %v", reports, years, want)
		}
		for n := range reports {
			if a := fmt.Sprintf("/reports/oir-%d", n+1); seen[a] != 1 {
				t.Errorf("%s is in %d parts", a, seen[a])
			}
		}
		for _, absent := range []string{fmt.Sprintf("2025-%d", parts+1), "2025-1", "2025-0", "2025-02", "2025--2", "2025-999999999999", "pages-2", "issuers-2", "x", ""} {
			s.get(http.StatusNotFound, "/sitemaps/"+absent+".xml")
		}
	}
}

// A sitemap is the same for every query and language, and is not rendered again for ten
// minutes, whatever is published meanwhile.
func TestSitemapsAreCached(t *testing.T) {
	s := start(t, "", market(20))
	first := s.get(http.StatusOK, "/sitemaps/2025.xml").Body.String()
	s.append(market(30))
	for _, query := range []string{"", "?x", "?x=1", "?lang=en", "?page=1&page=2", "?%zz"} {
		if got := s.get(http.StatusOK, "/sitemaps/2025.xml"+query, "Accept-Language", "en").Body.String(); got != first {
			t.Errorf("%q is rendered again: %d bytes, not %d", query, len(got), len(first))
		}
	}
}
