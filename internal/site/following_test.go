package site_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
)

// Every row, report and issuer has a button that follows the issuer.
func TestStars(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	const star = `class="star" aria-pressed="false" data-issuer="A69000016"`
	for target, label := range map[string]string{
		"/":                                "Seguir a Bodegas de Valdebrisa, S.A.",
		"/?lang=en":                        "Follow Bodegas de Valdebrisa, S.A.",
		"/live":                            "Seguir a Bodegas de Valdebrisa, S.A.",
		"/search?search=valdebrisa":        "Seguir a Bodegas de Valdebrisa, S.A.",
		"/issuers":                         "Seguir a Bodegas de Valdebrisa, S.A.",
		"/reports/oir-40374":               "Seguir a Bodegas de Valdebrisa, S.A.",
		"/issuers/A69000016":               ">Seguir</button>",
		"/issuers/A69000016?lang=en":       ">Follow</button>",
		"/following/list?issuer=A69000016": "Seguir a Bodegas de Valdebrisa, S.A.",
	} {
		has(t, s.get(http.StatusOK, target), star, label)
	}
	if n := strings.Count(s.get(http.StatusOK, "/issuers/A69000016").Body.String(), star); n != 1 {
		t.Errorf("the page of an issuer has %d stars", n)
	}
}

func TestFollowing(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	w := s.get(http.StatusOK, "/following?lang=en")
	has(t, w, `<a href="/following?lang=en" aria-current="page">Following</a>`, "/assets/following.", "This page needs JavaScript",
		`data-list="/following/list?lang=en"`, "You do not follow any company yet")
	lacks(t, s.get(http.StatusOK, "/").Body.String(), "/assets/following.")
	w = s.get(http.StatusOK, "/following/list?issuer=A69000016")
	has(t, w, "oir-40374", `<li data-issuer="A69000016" data-name="BODEGAS DE VALDEBRISA, S.A." data-ticker="BVB">`,
		`data-live="/live?issuer=A69000016"`, `href="/feed.atom?issuer=A69000016"`, `href="/feed.json?issuer=A69000016"`,
		`href="/api/v1/reports.csv?issuer=A69000016"`, `href="/calendar?issuer=A69000016"`,
		`href="/api/v1/calendar.ics?issuer=A69000016&amp;language=es"`, `href="/?issuer=A69000016"`)
	lacks(t, w.Body.String(), "oir-40375", "<html")
}

// A list outlives the issuers in it: what is not known is shown, and can be removed.
func TestFollowingUnknown(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	w := s.get(http.StatusOK, "/following/list?issuer="+url.QueryEscape("A69000016,gone-1,,A69000016,<b>"))
	has(t, w, "oir-40374", `data-issuer="gone-1"`, "no figura en el directorio", "&lt;b&gt;")
	if n := strings.Count(w.Body.String(), `data-name="BODEGAS`); n != 1 {
		t.Errorf("an issuer that is named twice is shown %d times", n)
	}
	has(t, s.get(http.StatusOK, "/following/list?issuer=gone-1"), "Ninguna empresa de la lista")
	s.get(http.StatusOK, "/following/list")
	s.get(http.StatusBadRequest, "/following/list?issuer=A69000016&page=x")
}

// Pages of a list lead to the page of the list, not to its fragment.
func TestFollowingPages(t *testing.T) {
	t.Parallel()
	b := querytest.Market()
	for n := range int64(50) {
		r := querytest.Report(disclosure.OIR, 41000+n, "2026-02-10T10:00:00+01:00")
		b.Reports = append(b.Reports, r)
	}
	s := start(t, "", b)
	has(t, s.get(http.StatusOK, "/following/list?lang=en&issuer=A69000024"), `href="/following?page=2&amp;lang=en"`)
	w := s.get(http.StatusOK, "/following/list?page=2&issuer=A69000024")
	has(t, w, `href="/following" rel="prev"`, `data-live=""`)
}

func TestFollowingFind(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	values := url.Values{"name": {"BVB", "es0sim000010", "A-69000016", "Bodegas de Valdebrisa, S.A.", "nobody", "<b>", strings.Repeat("x", 300)}}
	w := s.get(http.StatusOK, "/following/find?"+values.Encode())
	if n := strings.Count(w.Body.String(), `<li data-issuer="A69000016">`); n != 4 {
		t.Errorf("%d of four names were found:\n%s", n, w.Body)
	}
	has(t, w, "<li>nobody</li>", "<li>&lt;b&gt;</li>")
}
