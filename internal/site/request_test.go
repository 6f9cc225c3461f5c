package site_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/source/health"
	"pregon/internal/store"
)

// A page repeats the query string in each link, so a long one is refused before it
// costs anything.
func TestLongQuery(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	long := strings.Repeat("a+", 1000)
	for _, target := range []string{"/", "/search", "/live", "/feed.atom", "/issuers", "/issuers/A69000016", "/shorts", "/suggest", "/status"} {
		s.get(http.StatusBadRequest, target+"?search="+long)
		s.get(http.StatusBadRequest, target+"?unknown="+long)
	}
}

// No two addresses of different pages share a cached page, however they are escaped.
func TestCachedApart(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	s.get(http.StatusNotFound, "/issuers/A69000016%3Fx")
	s.get(http.StatusOK, "/issuers/A69000016?x?")
	w := s.get(http.StatusOK, "/issuers/A6%39000016")
	has(t, w, `rel="canonical" href="https://pregon.example/issuers/A69000016"`)
	if strings.Contains(s.get(http.StatusOK, "/issuers/A69000016").Body.String(), "%39") {
		t.Error("the page repeats the address of another request")
	}
}

// Programs get errors of pages as problems.
func TestErrorsForPrograms(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	for target, status := range map[string]int{"/reports/oir-1": 404, "/feed.json?type=x": 400, "/live?page=x": 400, "/analytics/x.csv": 404} {
		w := s.get(status, target, "Accept", "*/*")
		var d struct{ Status int }
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || d.Status != status || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: got %v, %s", target, err, w.Body)
		}
		has(t, s.get(status, target), "<html")
	}
}

// What a credential receives is in no shared cache, redirects included.
func TestPrivate(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	for _, target := range append(pages("oir-40374", "A69000016"), "/reports/OIR-40374", "/issuers/BVB", "/issuers/nope", "/reports/nope", "/?type=x") {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Authorization", "Bearer read:reports+read:issuers+read:analytics")
		w := httptest.NewRecorder()
		s.mux.ServeHTTP(w, r)
		if got := w.Header().Get("Cache-Control"); !strings.Contains(got, "no-store") || w.Header().Get("ETag") != "" && target != "/live" { // open pages compare its tag
			t.Errorf("%s: Cache-Control is %q", target, got)
		}
		if got := strings.Join(w.Header().Values("Vary"), ", "); !strings.Contains(got, "Authorization") || !strings.Contains(got, "X-Api-Key") {
			t.Errorf("%s: Vary is %q", target, got)
		}
	}
}

// Pages that stay open learn when the state of the source changes.
func TestLiveState(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	w := s.get(http.StatusOK, "/live")
	has(t, w, `<span data-state="off">Archivo</span>`)
	s.must(s.coverage.SetStatus(t.Context(), nil, health.Status{State: health.Blind, Since: time.Now(), At: time.Now()}))
	has(t, s.get(http.StatusOK, "/live", "If-None-Match", w.Header().Get("ETag")), `<span data-state="blind">Fuente inaccesible</span>`)
}

// No request makes a page fail, also while the catalogue changes.
func TestOddRequests(t *testing.T) {
	t.Parallel()
	s := start(t, "demo", registersMarket())
	long := strings.Repeat("%20-a", 300)
	queries := []string{
		"", "?", "?&&=&", "?;", "?%zz", "?search=%00", "?search=%ff", "?search=" + long, "?search=%22", "?search=-", "?search=a&search=b", "?search=%22a+-b%22+-",
		"?page=0", "?page=-1", "?page=2147483647", "?page=99999999999999999999", "?page=+1", "?page=1&page=2", "?type=", "?type=ip", "?type=IP&type=HR", "?kind=Company",
		"?kind=company&kind=x", "?kind=", "?category=%3Cscript%3E", "?category=a&category=b", "?market=" + long, "?issuer=A69000016", "?issuer=nope", "?issuer=%2F..%2F",
		"?from=1900-01-01&to=9999-12-31", "?from=0000-00-00", "?from=2026-03-29&to=2026-03-29", "?to=1899-12-31", "?from=x", "?without=securitisation", "?without=x",
		"?in=document", "?in=x", "?in=document&search=a", "?in=document&search=-a", "?in=document&search=%22", "?%69n=document&search=a", "?lang=en&lang=es", "?lang=xx",
		"?l%61ng=en", "?letter=0", "?letter=%C3%91", "?letter=AB", "?offset=-1", "?offset=2147483647", "?offset=x", "?q=", "?q=" + long, "?q=%ff", "?token=x",
		"?limit=0", "?limit=51", "?sort=x", "?view=largest", "?view=x", "?current=x", "?current=true&holder=a", "?holder=%22", "?view=largest&from=1900-01-01",
		"?issuer=bvb&holder=" + long, "?from=9999-12-31&view=largest", "?to=1900-01-01&view=largest",
		"?person=a", "?issuer=bvb&person=elena&view=largest", "?side=x", "?side=sell&min_amount=1&currency=USD", "?min_amount=1e9", "?min_amount=" + strings.Repeat("9", 30),
	}
	const filtered = 12 // the first paths have all filters
	paths := []string{
		"/shorts", "/dealings", "/holdings", "/own-shares", "/", "/search", "/live", "/suggest", "/issuers", "/issuers/A69000016", "/feed.atom", "/feed.json",
		"/analytics", "/sitemap.xml", "/manifest.webmanifest", "/favicon.ico", "/developers", "/status", "/reports/oir-40374", "/reports/oir-40374.md", "/reports/.md", "/reports/%00", "/reports/%2F%2Fevil.example", "/reports/..%2F..", "/reports/OIR-40374%3F", "/reports/oir-99999999999999999999",
		"/issuers/bvb", "/issuers/%2F%2Fevil.example", "/issuers/%ff", "/issuers/%22", "/issuers/" + long, "/issuers/%20", "/issuers/A69000016/months.csv", "/issuers/x/months.csv",
		"/analytics/daily.csv", "/analytics/..%2Fx", "/analytics/.csv", "/sitemaps/pages.xml", "/sitemaps/.xml", "/sitemaps/9999.xml", "/sitemaps/1899.xml", "/sitemaps/-001.xml",
		"/shorts/feed.atom", "/dealings/feed.json", "/holdings/feed.atom", "/developers/%2e%2e", "/developers/conventions", "/assets/site.js", "/assets/..%2Fsite.js",
	}
	var wg sync.WaitGroup
	for _, credential := range []string{"", "Bearer read:reports+read:issuers+read:analytics"} {
		for at, path := range paths {
			wg.Go(func() {
				for i, q := range queries {
					if (credential != "" || at >= filtered) && (at+i)%4 != 0 {
						continue // a part shows what differs
					}
					oddRequest(t, s.mux, path+q, credential)
				}
			})
		}
	}
	for n := range 20 {
		s.append(store.Batch{Reports: []disclosure.Report{querytest.Report(disclosure.IP, int64(9000+n), "2026-05-01T10:00:00Z")}})
	}
	wg.Wait()
}

// oddRequest expects a page, a redirect within the site, or an error of the client.
func oddRequest(t *testing.T, site http.Handler, target, credential string) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	path, raw, _ := strings.Cut(target, "?")
	r.URL.RawQuery = raw
	r.URL.Path, _ = url.PathUnescape(path)
	r.URL.RawPath = path
	r.Header.Set("Accept", "text/html")
	if credential != "" {
		r.Header.Set("Authorization", credential)
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	to := w.Header().Get("Location")
	switch {
	case w.Code >= 500 || strings.Contains(w.Body.String(), "%!"):
		t.Errorf("%.200s: got %d\n%.300s", target, w.Code, w.Body)
	case to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, `/\`)):
		t.Errorf("%.200s: redirected to %q", target, to)
	}
}

// Reports that one issuer publishes minutes apart are one group, however many they
// are, and a group does not cross midnight in Madrid.
func TestGroups(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 29, 1, 20, 0, 0, time.UTC) // 03:20 in Madrid, after the clocks changed at 02:00
	var reports []disclosure.Report
	for n := range 30 {
		published := at.Add(-time.Duration(n) * 9 * time.Minute)
		reports = append(reports, querytest.Report(disclosure.OIR, int64(n+1), published.Format(time.RFC3339)))
	}
	w := start(t, "", store.Batch{Reports: reports}).get(http.StatusOK, "/")
	has(t, w, `data-day="2026-03-29"`, `data-day="2026-03-28"`)
	if n := strings.Count(w.Body.String(), `<li class="row group"`); n != 2 {
		t.Errorf("got %d groups, want one for each day", n)
	}
	if n := strings.Count(w.Body.String(), `<li class="row"`); n != 0 {
		t.Errorf("%d reports are apart", n)
	}
}

// A category, market or issuer that is not known has a page in the language of the
// reader, with links to what may be meant.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	s := start(t, "demo", querytest.Market())
	has(t, s.get(http.StatusBadRequest, "/search?category=resultdos&search=pago&page=2", "Accept", "text/html"),
		"No existe la categoría «resultdos». Quizá buscaba:", `<a href="/search?category=Sobre&#43;resultados&amp;search=pago">Sobre resultados</a>`)
	has(t, s.get(http.StatusBadRequest, "/?issuer=bodgeas&lang=en", "Accept", "text/html"),
		"There is no issuer “bodgeas”", `<a href="/?issuer=A69000016&amp;lang=en">BODEGAS DE VALDEBRISA, S.A.</a>`)
	has(t, s.get(http.StatusBadRequest, "/?issuer=bvb,bodgeas,A69000016&lang=en", "Accept", "text/html"),
		`<a href="/?issuer=bvb%2CA69000016%2CA69000016&amp;lang=en">BODEGAS DE VALDEBRISA, S.A.</a>`)
	has(t, s.get(http.StatusBadRequest, "/issuers?market=groth", "Accept", "text/html"), `<a href="/issuers?market=BME&#43;Growth">BME Growth</a>`)
	has(t, s.get(http.StatusBadRequest, "/?fact=recompra&lang=en"),
		"There is no kind of facts “recompra”.", `href="/?fact=buyback_programme&amp;lang=en">Buy-back programme</a>`)
	has(t, s.get(http.StatusBadRequest, "/feed.atom?category=resultdos", "Accept", "application/atom+xml"), `Unknown category \"resultdos\". Did you mean «Sobre resultados»?`)
	both := s.get(http.StatusBadRequest, "/?category=resultdos&type=x", "Accept", "text/html")
	has(t, both, "No existe la categoría «resultdos». Quizá buscaba:", "debe ser IP, HR u OIR")
	has(t, s.get(http.StatusBadRequest, "/?from=yesterday", "Accept", "text/html"), "debe ser una fecha como AAAA-MM-DD")
	has(t, s.get(http.StatusOK, "/issuers?market=sibe"), "Bodegas de Valdebrisa, S.A.")
}

// English pages show the English names of categories; links and files keep the names
// that filters take.
func TestCategoriesInEnglish(t *testing.T) {
	s := start(t, "", querytest.Market())
	const results, dividends = "Sobre resultados", "Sobre dividendos"
	for path, want := range map[string][]string{
		"/":                                 {`<span class="categories">Results</span>`, `<option value="Sobre resultados">Results</option>`},
		"/reports/ip-3123":                  {`href="/search?category=Sobre&#43;resultados&amp;lang=en">Results</a>`},
		"/reports/oir-40374":                {">Sobre dividendos (es)</a>"},
		"/search?category=sobre+resultados": {"Category: Results"},
		"/search?category=resultados":       {"Category: resultados <"},
		"/search?search=resultados":         {"Results"},
		"/analytics":                        {"Fund merger"},
		"/suggest?q=resultados":             {"<span>Results</span>"},
	} {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		has(t, s.get(http.StatusOK, path+separator+"lang=en", "Accept", "text/html"), want...)
	}
	has(t, s.get(http.StatusBadRequest, "/search?category=resultdos&lang=en", "Accept", "text/html"),
		`href="/search?category=Sobre&#43;resultados&amp;lang=en">Results</a>`)
	spanish := s.get(http.StatusOK, "/?lang=es").Body.String() + s.get(http.StatusOK, "/reports/oir-40374?lang=es").Body.String()
	if !strings.Contains(spanish, results) || !strings.Contains(spanish, dividends) || strings.Contains(spanish, "(es)") {
		t.Error("a Spanish page has English names")
	}
	has(t, s.get(http.StatusOK, "/analytics/categories.csv?lang=en"), results)
}

// Pages say everything that is wrong in their language, and once.
func TestMessagesOfPages(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	for target, want := range map[string]string{
		"/?order=oldest":           "debe ser important, o faltar para ver primero las más recientes",
		"/?api_key=secret":         "Las credenciales no deben ir en la dirección",
		"/search?in=document":      "es necesario con in=document: las palabras que se buscan",
		"/search?sector=zzz":       "No existe el sector «zzz».",
		"/reports/oir-1?offset=-1": "No existe la comunicación oir-1.",
	} {
		status := http.StatusBadRequest
		if strings.HasPrefix(target, "/reports/") {
			status = http.StatusNotFound
		}
		w := s.get(status, target)
		has(t, w, want)
		if body := w.Body.String(); strings.Contains(body, `<p class="detail"><span lang="en">`) {
			t.Errorf("%s: a message is English:\n%s", target, body)
		}
	}
	has(t, s.bySession(http.StatusBadRequest, "/account/search"), "es necesario: las palabras que se buscan")
}
