package site_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/rest"
	"pregon/internal/site"
	"pregon/internal/site/render"
	"pregon/internal/source/coverage"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

const baseURL = "https://pregon.example"

// service is the site over a store.
type service struct {
	t        testing.TB
	store    *sqlite.Store
	catalog  *catalog.Catalog
	coverage *coverage.Tracker
	mux      *http.ServeMux
	pages    *site.Site
	query    *query.Service
}

// start serves a store with a batch, and parts.
func start(t testing.TB, source string, b store.Batch, parts ...render.Part) *service {
	t.Helper()
	s := startEmpty(t, source, parts...)
	s.append(b)
	return s
}

// startEmpty serves a catalogue that is not loaded yet.
func startEmpty(t testing.TB, source string, parts ...render.Part) *service {
	t.Helper()
	return startLimited(t, nil, source, parts...)
}

// startLimited is startEmpty with a limit for callers without a credential.
func startLimited(t testing.TB, anonymous *access.Limit, source string, parts ...render.Part) *service {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := &service{t: t, store: db, coverage: coverage.New(db), mux: http.NewServeMux()}
	quiet := slog.New(slog.DiscardHandler)
	s.catalog = catalog.New(db, quiet)
	openapi, err := rest.OpenAPIJSON(baseURL, true)
	if err != nil {
		t.Fatal(err)
	}
	s.query = query.New(query.Options{
		Catalog: s.catalog, Coverage: s.coverage, Documents: db, Version: "v0.0.0-test", Shared: func() string { return "off" },
		Source: func() string { return source },
	})
	s.pages, err = site.New(site.Options{
		Query: s.query,
		Guard: access.NewGuard(access.Options{
			BaseURL:   baseURL,
			Keys:      access.NewKeyring(db, nil),
			Tokens:    bearer,
			Anonymous: anonymous,
		}),
		Logger: quiet, BaseURL: baseURL, OpenAPI: openapi, Parts: parts,
		Programs: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "for programs") }),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.pages.Register(s.mux)
	return s
}

// bearer accepts any list of scopes as a token with those scopes.
func bearer(_ context.Context, raw string) (access.Token, error) {
	scope, err := access.ParseScopes(strings.Fields(strings.ReplaceAll(raw, "+", " ")))
	return access.Token{Subject: "https://idp.example#ana", Audience: baseURL, Scope: scope}, err
}

func (s *service) append(b store.Batch) {
	s.t.Helper()
	if b.New == "" {
		b.New = disclosure.Published
	}
	querytest.Append(s.t, s.store, s.catalog, b)
}

// get requests a page as a browser does, with further headers as names and values,
// and expects a status.
func (s *service) get(status int, target string, header ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, r)
	if w.Code != status {
		s.t.Fatalf("GET %s: got %d, want %d\n%s", target, w.Code, status, w.Body)
	}
	return w
}

// has expects texts in a page.
func has(t *testing.T, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("the page lacks %q:\n%s", text, w.Body)
		}
	}
}

// hostile is a text that breaks pages that do not escape it.
const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}}` + "\u202e" + ` javascript:alert(3) `

// hostileMarket is a market whose every text is hostile.
func hostileMarket() store.Batch {
	long := strings.Repeat("Interdepartamentalisierung", 20)
	at := time.Now().Add(-3 * time.Minute).Truncate(time.Second)
	one := disclosure.Report{
		Type: disclosure.IP, Number: 1, CompanyName: hostile + "SA", NIF: `A"><b>`, Ticker: `<i>"`, Title: "[Simulación] " + hostile + long, Summary: hostile,
		PublishedAt: at, Category: hostile, PDFURL: `https://regulator.example/"><script>`, SourceURL: "https://regulator.example/?a=<b>&c='d'",
		Related: []disclosure.Relation{{Number: 99, Text: hostile}}, FirstSeenAt: at.Add(time.Second), AvailableAt: at.Add(time.Second),
		Evidence: []disclosure.Evidence{{Text: hostile, Page: 3, Quote: hostile}}, SummaryMethod: "extractive", SummaryEN: hostile,
	}
	two := one
	two.Number, two.PublishedAt, two.Related, two.CorrectedBy = 2, at.Add(-time.Minute), nil, "ip-1"
	return store.Batch{
		Issuers: []disclosure.Issuer{{
			ID: "code-1", Name: hostile + " FT", NIF: `A"><b>`, Ticker: `<i>"`, Market: hostile, Kind: disclosure.Company, ISINs: []string{"ES0SIM000010"},
			FormerNames: []string{hostile}, Manager: hostile, Depositary: hostile,
		}},
		Reports: []disclosure.Report{one, two},
		Positions: []disclosure.Position{
			hostilePosition(disclosure.Short),
			hostilePosition(disclosure.Dealing),
			hostilePosition(disclosure.Holding),
			hostilePosition(disclosure.OwnShares),
		},
	}
}

// hostilePosition returns a position of the issuer of hostileMarket, and of one that only
// the register has.
func hostilePosition(kind disclosure.PositionKind) disclosure.Position {
	p := disclosure.Position{
		ID:           disclosure.PositionID(kind, "1", 1),
		Kind:         kind,
		IssuerName:   hostile,
		ISIN:         "ES0SIM000010",
		Name:         hostile + ", S.A.",
		State:        disclosure.StateCurrent,
		Number:       "1",
		Date:         "2026-03-04",
		RegisteredOn: "2026-03-04",
		Percent:      "0.5",
		SourceURL:    `https://regulator.example/"><script>`,
		DocumentURL:  "https://regulator.example/?a=<b>&c='d'",
	}
	if kind == disclosure.Dealing {
		p.Rectifies = []string{"<b>"}
		p.DocumentStatus = disclosure.DocumentReady
		p.Trades = []disclosure.Trade{querytest.Trade(hostile, disclosure.Buy, "1", "2", "<b>")}
	}
	return p
}

// pages are addresses of all pages for a market with a report and an issuer.
func pages(report, issuer string) []string {
	return []string{
		"/", "/?type=IP", "/?page=9", "/?search=nada", "/?without=securitisation", "/live", "/suggest?q=a", "/search", "/search?search=a", "/search?search=alert&in=document",
		"/reports/" + report, "/reports/" + report + ".md", "/feed.atom", "/feed.json", "/sitemap.xml", "/sitemaps/pages.xml", "/sitemaps/issuers.xml", "/sitemaps/2026.xml",
		"/manifest.webmanifest", "/issuers", "/issuers?search=alert", "/issuers?search=zzz&kind=fund", "/issuers?page=9", "/issuers?market=SIBE&letter=B",
		"/issuers/" + issuer, "/issuers/" + issuer + "?type=IP&page=2", "/issuers/" + issuer + "?names=show", "/issuers/" + issuer + "/months.csv",
		"/calendar", "/calendar?view=list", "/calendar?month=2026-02&kind=payment", "/calendar?issuer=" + issuer,
		"/analytics", "/analytics/pace.csv", "/analytics/daily.csv", "/analytics/yearly.csv", "/analytics/hours.csv", "/analytics/markets.csv", "/analytics/sectors.csv",
		"/analytics/categories.csv", "/analytics/issuers.csv",
		"/shorts", "/shorts?view=largest", "/shorts?current=true", "/shorts?page=9",
		"/dealings", "/dealings?view=largest", "/dealings?side=buy&min_amount=1", "/dealings?issuer=" + issuer + "&person=a", "/holdings", "/holdings?view=largest",
		"/own-shares", "/own-shares?view=largest", "/shorts/feed.atom", "/dealings/feed.json", "/holdings/feed.atom", "/own-shares/feed.json",
		"/developers", "/developers/conventions", "/developers/reports", "/developers/push", "/developers/access", "/status",
	}
}

// Texts of reports never become markup, in any page and language.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	s := start(t, "demo", hostileMarket())
	for _, target := range pages("ip-1", "code-1") {
		for _, language := range []string{"es", "en"} {
			for _, credential := range []string{"", "Bearer read:reports+read:issuers+read:analytics"} {
				w := s.get(http.StatusOK, target, "Accept-Language", language, "Authorization", credential)
				if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
					continue
				}
				for _, bad := range []string{"<script>alert", "<img", "<b>", "<i>", `"javascript:`, "ZgotmplZ", "%!"} {
					if strings.Contains(w.Body.String(), bad) {
						t.Errorf("%s in %s has %q", target, language, bad)
					}
				}
			}
		}
	}
}

// A report that is dated in the future is below newer ones, and its page says why.
func TestSuspectTime(t *testing.T) {
	t.Parallel()
	seen := time.Now().Add(-time.Hour).Truncate(time.Second)
	wrong := disclosure.Report{
		Type:        disclosure.IP,
		Number:      1,
		CompanyName: "ACEROS DE NAVALBRUMA, S.A.",
		Title:       "[Simulación] Otros",
		PublishedAt: seen.AddDate(1, 0, 0),
		FirstSeenAt: seen,
	}
	right := wrong
	right.Number = 2
	right.PublishedAt = seen.Add(time.Minute)
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{wrong, right}})
	list := s.get(http.StatusOK, "/?lang=en").Body.String()
	first, second := strings.Index(list, `data-id="ip-2"`), strings.Index(list, `data-id="ip-1"`)
	if first < 0 || second < first || strings.Count(list, "Doubtful date") != 1 {
		t.Errorf("the list has them at %d and %d:\n%s", first, second, list)
	}
	page := s.get(http.StatusOK, "/reports/ip-1?lang=en").Body.String()
	stated := wrong.PublishedAt.In(disclosure.Madrid).Format(time.RFC3339)
	if !strings.Contains(page, stated) || !strings.Contains(page, "Lists order it by the time of detection") {
		t.Errorf("the page does not state %s and why it is listed elsewhere:\n%s", stated, page)
	}
	if page := s.get(http.StatusOK, "/reports/ip-2?lang=en").Body.String(); strings.Contains(page, "Lists order it") {
		t.Error("the page of a good report has the note")
	}
}

// All pages work with a market, and with a store that has nothing.
func TestPages(t *testing.T) {
	t.Parallel()
	full, empty := start(t, "demo", registersMarket()), start(t, "", store.Batch{})
	for _, target := range pages("oir-40374", "A69000016") {
		full.get(http.StatusOK, target)
		if !strings.HasPrefix(target, "/reports/") && !strings.HasPrefix(target, "/issuers/") {
			empty.get(http.StatusOK, target)
		}
	}
}

func TestFeed(t *testing.T) {
	t.Parallel()
	s := start(t, "demo", querytest.Market())
	w := s.get(http.StatusOK, "/")
	has(t, w, "Mercado simulado", "Bodegas de Valdebrisa, S.A.", `href="/reports/oir-40374"`, "jueves, 23 de abril de 2026", "00:30", `lang="es"`)
	has(t, s.get(http.StatusOK, "/", "Accept-Language", "en-GB,en;q=0.9,es;q=0.1"), "Simulated market", "Thursday, 23 April 2026", `lang="en"`, `href="/reports/oir-40374"`)
	has(t, s.get(http.StatusOK, "/?lang=en"), `lang="en"`, `href="/reports/oir-40374?lang=en"`, `hreflang="es"`)
	if body := s.get(http.StatusOK, "/?type=HR").Body.String(); strings.Contains(body, "oir-40374") || !strings.Contains(body, "hr-256057") {
		t.Error("the filter by type does not filter")
	}
	has(t, s.get(http.StatusBadRequest, "/?type=XX"), "La petición no es válida", `<code>type</code> <q>XX</q> debe ser IP, HR u OIR, en mayúsculas`)
	has(t, s.get(http.StatusBadRequest, "/?type=XX&lang=en"), "The request is not valid", "must be IP, HR or OIR, in upper case")
	lacks(t, s.get(http.StatusBadRequest, "/?type=XX").Body.String(), `lang="en">debe`, "must be")
	has(t, s.get(http.StatusOK, "/?search=inexistente"), "Ninguna comunicación cumple estas condiciones")
}

// Programs receive JSON at the front page by default.
func TestFrontForPrograms(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	for _, accept := range []string{"*/*", "application/json", "text/markdown, text/html;q=0.5", "application/json, text/html;q=0.9"} {
		if got := s.get(http.StatusOK, "/", "Accept", accept).Body.String(); got != "for programs" {
			t.Errorf("%s: got %.60q", accept, got)
		}
	}
}

// The entity tag of the fragment that pages poll changes with the reports only.
func TestLive(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	w := s.get(http.StatusOK, "/live")
	tag := w.Header().Get("ETag")
	has(t, w, `data-id="oir-40375"`)
	if strings.Contains(w.Body.String(), "<html") {
		t.Error("the fragment is a page")
	}
	if body := s.get(http.StatusNotModified, "/live", "If-None-Match", tag).Body.String(); body != "" {
		t.Errorf("got a body: %q", body)
	}
	s.append(store.Batch{Reports: []disclosure.Report{querytest.Report(disclosure.IP, 9, "2026-05-01T10:00:00Z")}})
	w = s.get(http.StatusOK, "/live", "If-None-Match", tag)
	has(t, w, `data-id="ip-9"`)
	s.get(http.StatusNotModified, "/live?type=OIR", "If-None-Match", s.get(http.StatusOK, "/live?type=OIR").Header().Get("ETag"))
}

func TestReport(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	w := s.get(http.StatusOK, "/reports/oir-40374")
	has(t, w, "<h1>", "Pago de &#34;dividendos&#34; &amp; otros", "Pagará 0,15 euros por acción.", `property="og:type" content="article"`, "application/ld+json",
		`"reportNumber":"40374"`, `href="/api/v1/reports/oir-40374"`, "N.º de registro CNMV", `rel="canonical" href="https://pregon.example/reports/oir-40374"`)
	if to := s.get(http.StatusFound, "/reports/OIR-40374?lang=en").Header().Get("Location"); to != "/reports/oir-40374?lang=en" {
		t.Errorf("redirected to %q", to)
	}
	has(t, s.get(http.StatusNotFound, "/reports/oir-1"), "Página no encontrada", "No existe la comunicación oir-1.")
	has(t, s.get(http.StatusOK, "/reports/oir-40374.md"), "# ", "40374")
}

// The text of a document after its beginning is shown to readers with a credential only,
// and such pages are not cached.
func TestDocumentText(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	s.append(store.Batch{Aside: []disclosure.Report{querytest.Document(t, s.store, "oir-40374",
		"Acuerdo <b>uno</b> del consejo "+strings.Repeat("palabra ", 200), "Segunda página")}})
	const text = "Segunda página"
	w := s.get(http.StatusOK, "/reports/oir-40374")
	has(t, w, "Acuerdo &lt;b&gt;uno", "La API devuelve el texto completo con una clave")
	if strings.Contains(w.Body.String(), text) {
		t.Error("anonymous readers see the text")
	}
	w = s.get(http.StatusOK, "/reports/oir-40374", "Authorization", "Bearer read:reports")
	has(t, w, text, "Acuerdo &lt;b&gt;uno")
	if got := w.Header().Get("Cache-Control"); got != "private, no-store" {
		t.Errorf("Cache-Control is %q", got)
	}
	if strings.Contains(s.get(http.StatusOK, "/reports/oir-40374").Body.String(), text) {
		t.Error("the page of a reader with a credential was cached for others")
	}
	s.get(http.StatusForbidden, "/reports/oir-40374", "Authorization", "Bearer read:issuers")
	has(t, s.get(http.StatusOK, "/search?search=consejo&in=document"), "necesita una clave")
	for _, list := range []string{"/", "/live", "/feed.atom", "/feed.json"} {
		s.get(http.StatusBadRequest, list+"?search=consejo&in=document")
	}
	if body := s.get(http.StatusOK, "/issuers/A69000016?search=consejo&in=document").Body.String(); strings.Contains(body, `data-id="oir-40374"`) {
		t.Error("the page of an issuer searches documents")
	}
	has(t, s.get(http.StatusOK, "/search?search=consejo&in=document", "Authorization", "Bearer read:reports"), "<mark>consejo</mark>")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	w := s.get(http.StatusOK, "/search?search=dividendo")
	has(t, w, "<mark>dividendos</mark>", "oir-40374", "Sobre dividendos")
	has(t, s.get(http.StatusOK, "/search?search=BVB"), `href="/issuers/A69000016"`)
}

// An English market term finds Spanish reports, and the page says what was searched for.
// A search that finds nothing offers another.
func TestWidenedSearch(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	for _, path := range []string{"/", "/search"} {
		has(t, s.get(http.StatusOK, path+"?search=dividends&type=OIR"), "También se buscó: dividendo.", "oir-40374", "<mark>dividendos</mark>",
			`href="`+path+`?search=%22dividends%22&amp;type=OIR"`, "Buscar solo lo escrito")
		has(t, s.get(http.StatusOK, path+"?search=dividends&lang=en"), "Also searched for: dividendo.", "Search only for what was typed")
		for _, plain := range []string{"dividendo", "%22dividends%22"} {
			if body := s.get(http.StatusOK, path+"?search="+plain).Body.String(); strings.Contains(body, "También se buscó") {
				t.Errorf("%s?search=%s says that it was widened", path, plain)
			}
		}
		has(t, s.get(http.StatusOK, path+"?search=dividendp"), "¿Quiso decir?", `href="`+path+`?search=dividend`)
		has(t, s.get(http.StatusOK, path+"?search=bodrgas&lang=en"), "Did you mean", "BODEGAS DE VALDEBRISA")
	}
	if body := s.get(http.StatusOK, "/search?search=zzzzzz").Body.String(); strings.Contains(body, "¿Quiso decir?") {
		t.Error("a search without similar words offers another")
	}
}

// A search that finds nothing says what each of its words finds alone, with and without
// the other conditions.
func TestExplainedSearch(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	for _, path := range []string{"/", "/search"} {
		w := s.get(http.StatusOK, path+"?search=dividendos+zzzz&type=IP")
		has(t, w, "Lo que encuentra cada palabra sola", "<s>dividendos</s>", "<s>zzzz</s>",
			`href="/search?search=dividendos">1 sin las demás condiciones</a>`,
			`href="`+path+`?type=IP">Las demás condiciones, sin palabras</a>`)
		w = s.get(http.StatusOK, path+"?search=dividends+zzzz&lang=en")
		has(t, w, "What each word finds alone", "<s>zzzz</s>", "also dividendo",
			`href="`+path+`?lang=en&amp;search=dividends">dividends</a>`)
		if strings.Contains(w.Body.String(), "without the other conditions") {
			t.Errorf("%s names other conditions, and there are none", path)
		}
		for _, plain := range []string{"zzzz", "dividendos", "dividendos+zzzz&page=2", ""} {
			if body := s.get(http.StatusOK, path+"?search="+plain).Body.String(); strings.Contains(body, `class="why"`) {
				t.Errorf("%s?search=%s explains itself", path, plain)
			}
		}
	}
	w := s.get(http.StatusOK, "/search?search="+url.QueryEscape("<b> uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece"))
	has(t, w, "Hay 2 palabras más", "&lt;b&gt;")
}

// A list has the most important reports of each day first if the reader chooses that, and
// explains the order. It does not offer new reports, which would be out of order.
func TestImportantFirst(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	w := s.get(http.StatusOK, "/?type=OIR")
	has(t, w, `href="/?order=important&amp;type=OIR"`, ">Por importancia</a>", `data-live="/live?type=OIR"`)
	if strings.Contains(w.Body.String(), "Ordenar por hora") {
		t.Error("a list by time explains another order")
	}
	for _, path := range []string{"/", "/search", "/issuers/A69000016"} {
		w = s.get(http.StatusOK, path+"?order=important&type=OIR")
		has(t, w, "Cada día empieza por la información privilegiada", `href="`+path+`?type=OIR">Ordenar por hora</a>`,
			`name="order" value="important"`, `data-id="oir-40374"`)
		has(t, s.get(http.StatusOK, path+"?order=important&lang=en"), "Each day begins with inside information", "Order by time")
		s.get(http.StatusBadRequest, path+"?order=size")
	}
	has(t, s.get(http.StatusOK, "/?order=important"), `data-live=""`)
}

// Until the first data is loaded, pages say so.
func TestLoading(t *testing.T) {
	t.Parallel()
	s := startEmpty(t, "demo")
	w := s.get(http.StatusServiceUnavailable, "/")
	has(t, w, "Cargando")
	if w.Header().Get("Refresh") == "" || w.Header().Get("Retry-After") == "" {
		t.Errorf("got headers %v", w.Header())
	}
}

// registersMarket is the market with positions of all kinds.
func registersMarket() store.Batch {
	b := querytest.Market()
	b.Positions = querytest.Positions().Positions
	return b
}

// Pages load only files of the site, and set no cookie.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := start(t, "", registersMarket())
	for _, target := range pages("oir-40374", "A69000016") {
		h := s.get(http.StatusOK, target).Header()
		if h.Get("Set-Cookie") != "" || h.Get("ETag") == "" {
			t.Errorf("%s: got headers %v", target, h)
		}
		policy := h.Get("Content-Security-Policy")
		if strings.HasPrefix(h.Get("Content-Type"), "text/html") && (!strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe")) {
			t.Errorf("%s: the policy is %q", target, policy)
		}
		s.get(http.StatusNotModified, target, "If-None-Match", h.Get("ETag"))
	}
}
