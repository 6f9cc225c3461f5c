package site_test

import (
	"net/http"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/source/coverage"
	"pregon/internal/store"
)

func TestShorts(t *testing.T) {
	t.Parallel()
	s := start(t, "", registersMarket())
	w := s.get(http.StatusOK, "/shorts")
	has(t, w, "<h1>Posiciones cortas</h1>", "4 posiciones", `aria-current="page">Posiciones</a>`,
		`<tr id="short-es0sim000010-2026-03-04-1"><th scope="row"><a href="/issuers/A69000016">Bodegas de Valdebrisa, S.A.</a> <span class="ticker">BVB</span>`,
		`<a href="/shorts?holder=Fondo&#43;Imaginario&#43;Alfa&#43;LLP">Fondo Imaginario Alfa LLP</a>`,
		"0,71\u00a0%", `<span title="Antes: 0,62`+"\u00a0"+`%">&#43;0,09`, "4 mar 2026", "sustituida", ">nueva<",
		`href="https://regulator.example/DocPortal/Posiciones-Cortas/NetShortPositions.xls"`, `href="/api/v1/positions/short-es0sim000010-2026-03-04-1"`,
		`type="application/json" href="/api/v1/shorts"`, `href="/api/v1/shorts.csv"`, `href="/api/v1/shorts/totals.csv"`, "Emisores con más posiciones cortas", "1,2\u00a0%", "Quintas de Quimeralba, S.A.")
	if w.Header().Get("X-Robots-Tag") != "" {
		t.Error("the page of legal persons is not for search engines")
	}
	lacks(t, w.Body.String(), `href="/issuers/"`, "<h2>Cambio")
	has(t, s.get(http.StatusOK, "/shorts?lang=en"), "Short positions", "0.71%", "4 positions", `href="/issuers/A69000016?lang=en"`, "replaced")

	w = s.get(http.StatusOK, "/shorts?issuer=BVB&current=true&from=2026-03-01")
	has(t, w, "2 posiciones", "Emisor: Bodegas de Valdebrisa, S.A.", "Solo las vigentes", `name="current" value="true" checked`,
		`href="/api/v1/shorts?current=true&amp;from=2026-03-01&amp;issuer=BVB"`, `href="/api/v1/shorts.csv?current=true&amp;from=2026-03-01&amp;issuer=BVB"`, `href="/shorts?current=true&amp;from=2026-03-01"`)
	lacks(t, w.Body.String(), "2026-02-02-1", "Quimeralba", "Emisores con más")
	if w.Header().Get("X-Robots-Tag") != "noindex" {
		t.Error("search engines may index every filter")
	}

	w = s.get(http.StatusOK, "/shorts?view=largest")
	has(t, w, "del 4 feb 2026 al 5 mar 2026", `name="view" value="largest"`)
	body := w.Body.String()
	if strings.Index(body, "es0sim000028-2026-03-05-1") > strings.Index(body, "es0sim000010-2026-03-04-2") {
		t.Error("the largest move is not the first")
	}
	has(t, s.get(http.StatusOK, "/shorts?market=growth"), "Ninguna posición cumple estas condiciones")
	has(t, s.get(http.StatusOK, "/shorts?page=2"), "No hay más posiciones")
	has(t, s.get(http.StatusBadRequest, "/shorts?view=x&current=y"), "debe ser newest o largest", "debe ser true o false")
	has(t, s.get(http.StatusBadRequest, "/shorts?issuer=bodgeas"), `<a href="/shorts?issuer=A69000016">`)
	has(t, s.get(http.StatusOK, "/sitemaps/pages.xml"), "https://pregon.example/shorts<")
	has(t, start(t, "", store.Batch{}).get(http.StatusOK, "/shorts"), "Todavía no se conoce ninguna posición")
}

// A page with the name of a holder who may be a natural person is not for search engines,
// and such a name does not lead to other issuers.
func TestShortOfNaturalPerson(t *testing.T) {
	t.Parallel()
	b := registersMarket()
	b.Positions = append(b.Positions, querytest.Short(querytest.ISIN, "Nadie Ficticio", "2026-03-06", "0.5", disclosure.StateCurrent, 1))
	w := start(t, "", b).get(http.StatusOK, "/shorts")
	has(t, w, "<td>Nadie Ficticio</td>", `<meta name="robots" content="noindex">`)
	if w.Header().Get("X-Robots-Tag") != "noindex" {
		t.Error("the page may be indexed")
	}
}

// A list has pages.
func TestPositionPages(t *testing.T) {
	t.Parallel()
	var b store.Batch
	for n := range 120 {
		day := disclosure.Day(20000 + n)
		b.Positions = append(b.Positions, querytest.Short(querytest.ISIN, "Fondo Alfa LLP", day.String(), "0.5", disclosure.StatePast, 1))
	}
	s := start(t, "", b)
	has(t, s.get(http.StatusOK, "/shorts"), `href="/shorts?page=2" rel="next"`, "Página 1")
	has(t, s.get(http.StatusOK, "/shorts?page=2"), `href="/shorts" rel="prev"`, `href="/shorts?page=3" rel="next"`)
	w := s.get(http.StatusOK, "/shorts?page=3")
	lacks(t, w.Body.String(), `rel="next"`)
	if n := strings.Count(w.Body.String(), `<tr id="short-`); n != 20 {
		t.Errorf("the last page has %d rows, want 20", n)
	}
}

func TestDealings(t *testing.T) {
	t.Parallel()
	b := registersMarket()
	many := querytest.Dealing("2026000130", "Elena Ruiz Salvatierra", "2026-03-05", disclosure.StateCurrent)
	many.DocumentStatus = disclosure.DocumentReady
	many.Aggregates = disclosure.SumsDiffer
	many.Relation = disclosure.RelationAssociated
	many.Rectifies = []string{"2026000121"}
	for range 22 {
		many.Trades = append(many.Trades, querytest.Trade("Compra", disclosure.Buy, "1", "0.125", "EUR"))
	}
	b.Positions = append(b.Positions, many)
	s := start(t, "", b)
	w := s.get(http.StatusOK, "/dealings")
	has(t, w, "<h1>Operaciones de directivos</h1>", "5 notificaciones", `aria-current="page">Posiciones</a>`, "Elena Ruiz Salvatierra", "directivo",
		`<span class="side side-sell">Venta</span> 20.000 × 2,7`+" "+"€", "54.000 €", "documento pendiente de leer", "rectificada",
		`href="https://regulator.example/webservices/verdocumento/ver?e=2026000123"`, `href="/api/v1/positions/dealing-2026000123"`,
		"las sumas no coinciden", "persona vinculada", `<a href="/api/v1/positions/dealing-2026000121">2026000121</a>`, "Hay 2 operaciones más:",
		`<meta name="robots" content="noindex">`)
	if w.Header().Get("X-Robots-Tag") != "noindex" {
		t.Error("search engines may index names")
	}
	lacks(t, w.Body.String(), `name="person"`, `href="/dealings?holder`, `href="/dealings?person`, `name="current"`)
	has(t, s.get(http.StatusOK, "/dealings?lang=en"), "Managers’ dealings", "€54,000", "closely associated", "Purchase")

	w = s.get(http.StatusOK, "/dealings?issuer=bvb&person=elena")
	has(t, w, "4 notificaciones", `name="person"`, `href="/dealings"`, `href="/dealings?issuer=bvb"`, "Persona: elena")
	has(t, s.get(http.StatusBadRequest, "/dealings?person=elena"), "necesita issuer")
	w = s.get(http.StatusOK, "/dealings?side=sell&min_amount=50000")
	has(t, w, "1 notificación", "Sentido: Venta", "Importe mínimo: 50.000 €", `<option value="sell" selected>`)
	w = s.get(http.StatusOK, "/dealings?view=largest")
	body := w.Body.String()
	if a, b := strings.Index(body, "dealing-2026000123"), strings.Index(body, "dealing-2026000122"); a < 0 || b < a {
		t.Errorf("the largest dealings are at %d and %d", a, b)
	}
	lacks(t, s.get(http.StatusOK, "/sitemaps/pages.xml").Body.String(), "/dealings", "/holdings")
}

func TestHoldings(t *testing.T) {
	t.Parallel()
	s := start(t, "", registersMarket())
	w := s.get(http.StatusOK, "/holdings")
	has(t, w, "<h1>Participaciones significativas</h1>", "3 participaciones", "RUIZ SALVATIERRA, ELENA", "CARTERA IMAGINARIA, S.L.", "5,033 %", "&#43;0,833",
		`href="/holdings?holder=CARTERA&#43;IMAGINARIA&#43;%2C&#43;S.L."`, "no se pueden sumar", `href="/api/v1/holdings"`)
	if w.Header().Get("X-Robots-Tag") != "noindex" {
		t.Error("search engines may index names")
	}
	has(t, s.get(http.StatusOK, "/holdings?holder=cartera&current=true&lang=en"), "1 holding", "5.033%", "Present ones only")
	w = s.get(http.StatusOK, "/own-shares")
	has(t, w, "<h1>Autocartera</h1>", "1 comunicación", "1,02 %", `href="/api/v1/own-shares"`)
	if w.Header().Get("X-Robots-Tag") != "" {
		t.Error("search engines may not index own shares")
	}
	lacks(t, w.Body.String(), `name="holder"`, ">Titular<")
}

// The page says when the register was read, and whether as a whole.
func TestRegisterRead(t *testing.T) {
	t.Parallel()
	s := start(t, "", registersMarket())
	has(t, s.get(http.StatusOK, "/own-shares"), "Todavía no se ha leído entero")
	at := querytest.Instant("2026-03-05T20:18:29Z")
	s.must(s.coverage.SetRegister(t.Context(), nil, "own_shares", coverage.Register{ReadAt: at}))
	has(t, s.get(http.StatusOK, "/own-shares?page=1"), "Última lectura del registro: 5 de marzo de 2026, 21:18:29 CET.", "Todavía no se ha leído entero")
	s.must(s.coverage.SetRegister(t.Context(), nil, "own_shares", coverage.Register{ReadAt: at, WholeUntil: at}))
	lacks(t, s.get(http.StatusOK, "/own-shares?page=1&x=1").Body.String(), "Todavía no se ha leído entero")
}
