package site_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

func lacks(t *testing.T, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(body, text) {
			t.Errorf("the page has %q:\n%s", text, body)
		}
	}
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	b := querytest.Market()
	b.Issuers = append(b.Issuers, disclosure.Issuer{
		ID: "fi-1", Name: "VALDEBRISA BOLSA, FI", Kind: disclosure.Fund, Manager: "Ardazul Gestión, SGIIC, S.A.", Depositary: "BANCO AJENO, S.A.",
	})
	s := start(t, "", b)
	w := s.get(http.StatusOK, "/issuers/A69000016")
	has(t, w, "<h1>Bodegas de Valdebrisa, S.A. ", "BVB", "SIBE", "ES0SIM000010", "VIÑEDOS DEL ÑANDÚ, S.A.", "1 comunicación", `href="/reports/oir-40374"`,
		`href="/feed.atom?issuer=A69000016"`, `href="/feed.json?issuer=A69000016"`, `href="/api/v1/issuers/A69000016"`, `"tickerSymbol":"BVB"`,
		`href="/issuers/A69000016/months.csv"`, `href="/issuers/A69000016?type=IP"`, `action="/issuers/A69000016"`, "/developers#webhooks")
	lacks(t, w.Body.String(), "oir-40375", `name="kind"`, `name="issuer"`)
	has(t, s.get(http.StatusOK, "/issuers/A69000016?type=IP&issuer=A69000024"), "Ninguna comunicación cumple", `href="/feed.atom?issuer=A69000016&amp;type=IP"`)
	has(t, s.get(http.StatusBadRequest, "/issuers/A69000016?type=XX"), "debe ser IP, HR u OIR")
	has(t, s.get(http.StatusOK, "/issuers/fi-1?lang=en"), "Fund", `href="/issuers/sgiic-194?lang=en"`, "BANCO AJENO, S.A.", "There is no data yet")
	has(t, s.get(http.StatusOK, "/issuers/sgiic-194"), "Fondos que gestiona")
	has(t, s.get(http.StatusOK, "/issuers?kind=fund&search=%22ARDAZUL+GESTI%C3%93N%2C+SGIIC%2C+S.A.%22"), "Valdebrisa Bolsa, FI")
}

// The registers of positions have an ISIN that the directory does not have. The page shows
// it, and it leads there. The sector leads to its issuers.
func TestIssuerIdentity(t *testing.T) {
	t.Parallel()
	b := querytest.Market()
	b.Positions = []disclosure.Position{
		querytest.Short("ES0SIM000036", "Fondo Imaginario Alfa LLP", "2026-02-02", "0.62", disclosure.StateCurrent, 1),
	}
	s := start(t, "", b)
	has(t, s.get(http.StatusOK, "/issuers/A69000016"), "<code>ES0SIM000010</code> <code>ES0SIM000036</code>",
		`href="/issuers?sector=ALIMENTACI%C3%93N`)
	if w := s.get(http.StatusFound, "/issuers/es0sim000036?lang=en"); w.Header().Get("Location") != "/issuers/A69000016?lang=en" {
		t.Errorf("an ISIN of a register leads to %q", w.Header().Get("Location"))
	}
}

// Any identifier leads to the page of the id, and the parameters stay.
func TestIssuerRedirects(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	for target, want := range map[string]string{
		"/issuers/BVB":                         "/issuers/A69000016",
		"/issuers/bvb?type=IP&lang=en":         "/issuers/A69000016?type=IP&lang=en",
		"/issuers/A-69000016":                  "/issuers/A69000016",
		"/issuers/es0sim000010":                "/issuers/A69000016",
		"/issuers/pregonsim000000bvb37":        "/issuers/A69000016",
		"/issuers/V69000107":                   "/issuers/fi-4720",
		"/issuers/FI-4720/months.csv":          "/issuers/fi-4720/months.csv",
		"/issuers/b-69000032":                  "/issuers/B69000032",
		"/issuers/BVB?search=%22a%20b%22&to=x": "/issuers/A69000016?search=%22a%20b%22&to=x",
	} {
		if got := s.get(http.StatusFound, target).Header().Get("Location"); got != want {
			t.Errorf("%s leads to %s, want %s", target, got, want)
		}
	}
}

// An issuer that is not in the directory has a page if it has reports.
func TestUnlistedIssuer(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	w := s.get(http.StatusOK, "/issuers/B69000032")
	has(t, w, "CARTONAJES DE URDANABE, S.L.", "CUR", `href="/reports/oir-40375"`, "no figura en el directorio")
	lacks(t, w.Body.String(), "/api/v1/issuers/B69000032")
}

func TestNoIssuer(t *testing.T) {
	t.Parallel()
	b := querytest.Market()
	for _, id := range []string{"fi-1", "fi-2"} {
		b.Issuers = append(b.Issuers, disclosure.Issuer{ID: id, Name: "FONDO " + id, Ticker: "DOS", Kind: disclosure.Fund})
	}
	s := start(t, "", b)
	has(t, s.get(http.StatusMultipleChoices, "/issuers/dos"), "Varios emisores con el ticker dos", `href="/issuers/fi-1"`, `href="/issuers/fi-2"`)
	w := s.get(http.StatusNotFound, "/issuers/Bodgeas")
	has(t, w, "No hay ningún emisor", `href="/issuers/A69000016"`)
	if w.Header().Get("X-Robots-Tag") != "noindex" {
		t.Error("the page may be indexed")
	}
	s.get(http.StatusNotFound, "/issuers/nada/months.csv")
	for _, name := range []string{"-bodegas", "%22", "%20", "a%2Fb", "%3Cscript%3Ealert(1)", strings.Repeat("a", 300), "\u202e"} {
		w := s.get(http.StatusNotFound, "/issuers/"+name)
		has(t, w, "No hay ningún emisor")
		lacks(t, w.Body.String(), "<script>alert")
	}
}

// An id may contain any character.
func TestIssuerPathIsEscaped(t *testing.T) {
	t.Parallel()
	s := start(t, "", store.Batch{Issuers: []disclosure.Issuer{{ID: `a/b?c'd#é&"`, Name: "CON SIGNOS, S.A."}}})
	found := regexp.MustCompile(`<th scope="row"><a href="([^"]+)">Con Signos`).FindStringSubmatch(s.get(http.StatusOK, "/issuers").Body.String())
	if found == nil {
		t.Fatal("the directory does not link to the issuer")
	}
	w := s.get(http.StatusOK, strings.ReplaceAll(found[1], "&amp;", "&"))
	has(t, w, "CON SIGNOS", "action=\"/issuers/a%2Fb%3Fc%27d%23", `data-issuer="a/b?c&#39;d#é&amp;&#34;"`)
}

// directory returns n issuers of two markets, and one of none.
func directory(n int) store.Batch {
	b := store.Batch{Issuers: []disclosure.Issuer{{ID: "m-1", Name: "3 SOLES GESTIÓN, S.A.", Kind: disclosure.Manager}}}
	for i := range n {
		b.Issuers = append(b.Issuers, disclosure.Issuer{
			ID: fmt.Sprintf("c-%d", i), Name: fmt.Sprintf("%c%03d, S.A.", "AB"[i%2], i), Kind: disclosure.Company, Market: []string{"SIBE", "BME Growth"}[i%2],
			Sector: []string{"BANCOS", "CONSTRUCCIÓN", ""}[i%3],
		})
	}
	return b
}

var entry = regexp.MustCompile(`<th scope="row"><a href="/issuers/([^"?]+)`)

func TestDirectory(t *testing.T) {
	t.Parallel()
	s := start(t, "", directory(250))
	list := func(target string) []string {
		var ids []string
		for _, m := range entry.FindAllStringSubmatch(s.get(http.StatusOK, target).Body.String(), -1) {
			ids = append(ids, m[1])
		}
		return ids
	}
	var all []string
	for page := 1; page <= 3; page++ {
		all = append(all, list(fmt.Sprintf("/issuers?page=%d", page))...)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(all))); len(all) != 251 || len(distinct) != 251 {
		t.Errorf("the pages have %d issuers, %d of them distinct, want 251", len(all), len(distinct))
	}
	for target, want := range map[string]int{
		"/issuers": 100, "/issuers?page=3": 51, "/issuers?page=4": 0, "/issuers?kind=manager": 1, "/issuers?kind=other": 0,
		"/issuers?market=BME+Growth&page=2": 25, "/issuers?letter=B&page=2": 25, "/issuers?letter=0": 1, "/issuers?market=SIBE&letter=B": 0,
		"/issuers?sector=banks": 84, "/issuers?sector=construccion&market=SIBE": 41, "/issuers?sector=bancos&letter=B": 42,
		"/issuers?search=A002": 1, "/issuers?search=soels": 1, "/issuers?search=nada": 0,
	} {
		if got := list(target); len(got) != want {
			t.Errorf("%s has %d issuers, want %d", target, len(got), want)
		}
	}
	has(t, s.get(http.StatusOK, "/issuers"), "251 emisores", "Sociedades <span>250</span>", "BME Growth (125)", `href="/issuers?page=2"`, `href="/issuers?letter=A"`,
		"<span>C</span>", `href="/api/v1/issuers.csv"`)
	has(t, s.get(http.StatusOK, "/issuers?market=SIBE&page=2&lang=en"), `href="/issuers?lang=en&amp;market=SIBE"`, `rel="prev"`, `value="en"`)
	has(t, s.get(http.StatusOK, "/issuers?page=4"), "más allá del final")
	has(t, s.get(http.StatusOK, "/issuers?search=nada"), "Ningún emisor cumple", `href="/search?search=nada"`)
	has(t, s.get(http.StatusBadRequest, "/issuers?letter=AA"), "debe ser una letra")
	has(t, s.get(http.StatusBadRequest, "/issuers?kind=XX"), "debe ser company, fund, manager u other")
	has(t, s.get(http.StatusOK, "/issuers?sector=BANCOS&market=SIBE"), "Bancos (42)", "Construcción (41)", "SIBE (42)", "BME Growth (42)",
		`href="/api/v1/issuers.csv?market=SIBE&amp;sector=BANCOS"`)
	has(t, s.get(http.StatusOK, "/issuers?market=SIBE&lang=en"), "Bancos (es) (42)", "Construction (41)") // one has no English name
	has(t, s.get(http.StatusBadRequest, "/issuers?sector=bnacos&lang=en"), "There is no sector “bnacos”", `href="/issuers?lang=en&amp;sector=BANCOS"`)
	s.get(http.StatusBadRequest, "/issuers?market="+strings.Repeat("a", 300))
	has(t, start(t, "", store.Batch{}).get(http.StatusOK, "/issuers"), "todavía no se ha cargado")
}

// rows returns the rows of a table as CSV without its header, which it checks.
func (s *service) rows(target, header string) [][]string {
	s.t.Helper()
	w := s.get(http.StatusOK, target)
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/csv") {
		s.t.Errorf("%s is %s", target, got)
	}
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || len(rows) == 0 || strings.Join(rows[0], ",") != header {
		s.t.Fatalf("%s: %v %v", target, rows, err)
	}
	return rows[1:]
}

func TestAnalytics(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(ago time.Duration) string { return now.Add(-ago).UTC().Format(time.RFC3339) }
	b := querytest.Market()
	b.Reports = append(b.Reports, querytest.Report(disclosure.IP, 9001, at(0)), querytest.Report(disclosure.OIR, 9001, at(0)), querytest.Report(disclosure.OIR, 9002, at(0)))
	for i := range b.Reports[len(b.Reports)-3:] {
		b.Reports[len(b.Reports)-3+i].NIF = "A69000024"
	}
	s := start(t, "", b)
	today := disclosure.DayOf(now).String()
	if rows := s.rows("/analytics/daily.csv", "date,total,IP,HR,OIR"); len(rows) != 30 || strings.Join(rows[0], ",") != today+",3,1,0,2" {
		t.Errorf("30 days: %v", rows)
	}
	if rows := s.rows("/analytics/yearly.csv", "date,total,IP,HR,OIR"); len(rows) != 365 || rows[0][0] != today {
		t.Errorf("365 days: %v", rows)
	}
	if rows := s.rows("/analytics/hours.csv", "hour,monday,tuesday,wednesday,thursday,friday,saturday,sunday"); len(rows) != 24 || rows[12][1] != "1" && rows[12][1] != "4" {
		t.Errorf("hours: %v", rows) // the fund merged on a Monday at noon
	}
	if rows := s.rows("/analytics/sectors.csv", "sector,filings,issuers"); fmt.Sprint(rows) != "[[METÁLICAS BÁSICAS 4 1] [ALIMENTACIÓN Y BEBIDAS 1 1]]" {
		t.Errorf("sectors: %v", rows)
	}
	if rows := s.rows("/analytics/markets.csv", "market,filings,issuers"); fmt.Sprint(rows) != "[[BME Growth 4 1] [SIBE 1 1]]" {
		t.Errorf("markets: %v", rows)
	}
	if rows := s.rows("/analytics/issuers.csv", "issuer,filings,ticker"); strings.Join(rows[0], ",") != "ACEROS DE NAVALBRUMA, S.A.,3,ANB" {
		t.Errorf("issuers: %v", rows)
	}
	if rows := s.rows("/analytics/pace.csv", "time,today,usual"); len(rows) != 1 || rows[0][1] != "3" || rows[0][2] != "0" {
		t.Errorf("pace: %v", rows)
	}
	if rows := s.rows("/issuers/A69000024/months.csv", "month,total,IP,HR,OIR"); len(rows) != 24 || rows[0][0] != today[:7] || strings.Join(rows[0][1:], ",") != "3,1,0,2" {
		t.Errorf("months: %v", rows)
	}
	w := s.get(http.StatusOK, "/analytics")
	has(t, w, "Últimos 365 días", "Cuándo se registran las comunicaciones", `href="/analytics/hours.csv"`, `href="/issuers/A69000024"`, `href="/issuers?market=SIBE"`,
		`href="/analytics?category=Sobre&#43;resultados"`, `href="/?category=Sobre&#43;resultados"`, `class="of-IP"`, "semana del", `<svg class="bars wide" width="100%" height="200" aria-hidden="true">`)
	lacks(t, w.Body.String(), "style=", "NaN", "%!", "fill=\"#")
	has(t, s.get(http.StatusOK, "/analytics?lang=en"), "Most active issuers", "week of", `href="/issuers/A69000024?lang=en"`)
	has(t, s.get(http.StatusNotFound, "/analytics/nothing.csv"), "daily.csv")
	if got := s.get(http.StatusOK, "/analytics/markets.csv?dialect=es").Body.String(); !strings.HasPrefix(got, "\ufeffmarket;filings;issuers\r\nBME Growth;4;1\r\n") {
		t.Errorf("in the Spanish dialect: %q", got)
	}
	if got := s.get(http.StatusOK, "/issuers/A69000024/months.csv?dialect=es").Body.String(); !strings.HasPrefix(got, "\ufeffmonth;total;IP;HR;OIR\r\n") {
		t.Errorf("in the Spanish dialect: %q", got)
	}
	has(t, s.get(http.StatusBadRequest, "/analytics/markets.csv?dialect=fr"), "dialect")
	empty := start(t, "", store.Batch{})
	has(t, empty.get(http.StatusOK, "/analytics"), "No hay datos todavía")
}

// No cell of a table is a formula.
func TestTablesAreHarmless(t *testing.T) {
	t.Parallel()
	b := querytest.Market()
	b.Issuers[0].Market, b.Reports[2].Category = "=HYPERLINK(1)", "@SUM(A1)"
	s := start(t, "", b)
	if rows := s.rows("/analytics/markets.csv", "market,filings,issuers"); rows[0][0] != "'=HYPERLINK(1)" {
		t.Errorf("markets: %v", rows)
	}
	found := false
	for _, row := range s.rows("/analytics/categories.csv", "category,filings") {
		found = found || row[0] == "'@SUM(A1)"
	}
	if !found {
		t.Error("the category is not there, or it is a formula")
	}
}

// dossierMarket is the market with registers, in which the first issuer has an identity and
// dealings of the last months.
func dossierMarket() store.Batch {
	b := registersMarket()
	i := &b.Issuers[0]
	i.LEI = querytest.LEI
	i.Sector = "Alimentación y bebidas"
	i.Capital = "12345678.00"
	i.VotingRights = "12345678"
	i.VotingRightsOn = "2026-01-02"
	recent := querytest.Dealing("2026000131", "Elena Ruiz Salvatierra", "2026-03-06", disclosure.StateCurrent,
		querytest.Trade("Compra", disclosure.Buy, "1000000", "2.5", "EUR"))
	recent.Trades[0].Date = time.Now().Format(time.DateOnly)
	b.Positions = append(b.Positions, recent)
	return b
}

func TestDossier(t *testing.T) {
	t.Parallel()
	s := start(t, "", dossierMarket())
	w := s.get(http.StatusOK, "/issuers/A69000016")
	has(t, w, "<dt>LEI</dt><dd><code>"+querytest.LEI, "Alimentación y bebidas", "12.345.678\u00a0€", "(2 ene 2026)", `"leiCode":"`+querytest.LEI+`"`,
		`<h2 id="holdings-name">Quién la posee</h2>`, "12,5\u00a0%", `<rect class="of-direct" x="0%" width="100%"`, "Directo: 12,5", "no se pueden sumar",
		`href="/api/v1/holdings.csv?current=true&amp;issuer=A69000016"`, "Autocartera: <strong>1,02",
		`<h2 id="shorts-name">Posiciones cortas</h2>`, "4 mar 2026: 1,2\u00a0% (2 titulares)", `href="/api/v1/shorts/series.csv?issuer=A69000016"`,
		"Fondo Imaginario Beta, Ltd.", `href="/shorts?issuer=A69000016"`,
		`<h2 id="dealings-name">Operaciones de directivos</h2>`, "Compras 2.500.000\u00a0€", "Ver las 5 notificaciones", `href="/dealings?issuer=A69000016"`,
		`href="/api/v1/issuers/A69000016/ownership"`, "Actividad", `href="/dealings/feed.atom?issuer=A69000016"`)
	if w.Header().Get("X-Robots-Tag") != "" {
		t.Error("the dossier is not for search engines")
	}
	english := s.get(http.StatusOK, "/issuers/A69000016?lang=en")
	has(t, english, "Who holds it", "Short interest", "€3m", "Managers’ dealings", "12.5%", "(2 holders)")

	// A page of further reports or of a filter has no dossier.
	for _, query := range []string{"?page=2", "?type=IP", "?search=pago"} {
		lacks(t, s.get(http.StatusOK, "/issuers/A69000016"+query).Body.String(), "Quién la posee")
	}
	has(t, s.get(http.StatusOK, "/issuers/A69000024"), "No se conocen participaciones significativas")
	lacks(t, s.get(http.StatusOK, "/issuers/fi-4720").Body.String(), "No se conocen participaciones", "Quién la posee")
}

// Names that may be those of natural persons are on the page that search engines do not
// index, and on no other.
func TestDossierNames(t *testing.T) {
	t.Parallel()
	b := dossierMarket()
	b.Positions = append(b.Positions, querytest.Short(querytest.ISIN, "Nadie Ficticio", "2026-03-06", "0.5", disclosure.StateCurrent, 1))
	s := start(t, "", b)
	names := []string{"RUIZ SALVATIERRA", "Elena Ruiz", "Nadie Ficticio"}
	w := s.get(http.StatusOK, "/issuers/A69000016")
	lacks(t, w.Body.String(), names...)
	has(t, w, "Nombre no mostrado", "Directivo", "CARTERA IMAGINARIA, S.L.", `href="/issuers/A69000016?names=show" rel="nofollow"`)
	w = s.get(http.StatusOK, "/issuers/A69000016?names=show")
	has(t, w, names...)
	has(t, w, `<meta name="robots" content="noindex">`, `href="/issuers/A69000016"`, "Ocultarlos")
	if w.Header().Get("X-Robots-Tag") != "noindex" {
		t.Error("the page with names may be indexed")
	}
}

// A part of the dossier without positions says so.
func TestDossierWithoutPositions(t *testing.T) {
	t.Parallel()
	for kind, want := range map[disclosure.PositionKind][]string{
		disclosure.Short:   {"No se conoce ninguna participación", "No se conoce ninguna operación"},
		disclosure.Holding: {"No se conoce ninguna posición corta", "No se conoce ninguna operación"},
		disclosure.Dealing: {"No se conoce ninguna participación", "No se conoce ninguna posición corta"},
	} {
		b := registersMarket()
		b.Positions = slices.DeleteFunc(b.Positions, func(p disclosure.Position) bool { return p.Kind != kind })
		w := start(t, "", b).get(http.StatusOK, "/issuers/A69000016")
		has(t, w, want...)
		for _, anchor := range []string{"reports", "holdings-name", "shorts-name", "dealings-name", "activity-name"} {
			if n := strings.Count(w.Body.String(), `id="`+anchor+`"`); n != 1 {
				t.Errorf("%s: %d elements have the id %s", kind, n, anchor)
			}
		}
	}
}
