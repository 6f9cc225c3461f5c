package simserver_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/simserver"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// reader is the service's own client of the site.
func (s *site) reader() *regulator.Client {
	s.Helper()
	c, err := regulator.New(regulator.Options{Origin: s.origin, UserAgent: "test", Queue: throttle.New(0)})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// compare compares a row with the published report. Lists have minutes only.
func compare(t *testing.T, want truth, row regulator.Row, exactly bool) {
	t.Helper()
	if !exactly {
		want.PublishedAt, row.At = want.PublishedAt.Truncate(time.Minute), row.At.Truncate(time.Minute)
	}
	got := truth{
		ID: disclosure.ReportID(row.Type, row.Number), Type: string(row.Type), Number: fmt.Sprint(row.Number),
		CompanyName: row.Name, NIF: row.NIF, Title: row.Title, Category: row.Category, PublishedAt: row.At,
		PDFURL: row.PDFURL, SourceURL: row.SourceURL, Corrects: want.Corrects, Related: want.Related,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", want.ID, diff)
	}
	if len(row.Relations) != len(want.Related) {
		t.Fatalf("%s: got relations %+v, want %+v", want.ID, row.Relations, want.Related)
	}
	for n, r := range row.Relations {
		if w := want.Related[n]; fmt.Sprint(r.Number) != w.Number || r.Text != w.Text || !r.At.Equal(w.PublishedAt) {
			t.Errorf("%s: got relation %+v, want %+v", want.ID, r, w)
		}
	}
}

// TestListsOfAMonth reads October, in which the clock is set back. Late and live
// reports are included.
func TestListsOfAMonth(t *testing.T) {
	s := open(t, early, "")
	s.publish(`{"type":"oir","published_at":"2020-10-14T11:11:11+02:00","title":"tarde"}`)
	s.publish(`{"type":"ip","published_at":"2020-10-25T23:59:59+01:00","title":"tarde"}`)
	c := s.reader()
	from, _ := disclosure.ParseDay("2020-10-01")
	to, _ := disclosure.ParseDay("2020-10-31")
	twice, related := 0, 0
	for _, series := range []disclosure.Type{disclosure.IP, disclosure.OIR} {
		want := map[string]truth{}
		for _, f := range s.reports("type=" + string(series) + "&from=2020-10-01&to=2020-10-31") {
			want[f.ID] = f
			related += len(f.Related)
		}
		seen := map[int64]int{} // on which page
		pages, last := 1, time.Time{}
		for page := 0; page < pages; page++ {
			l, err := c.List(t.Context(), series, from, to, page)
			if err != nil {
				t.Fatal(err)
			}
			if l.Page != page || len(l.Rows) != 10 && page < l.Pages-1 || len(l.Rows) == 0 {
				t.Fatalf("page %d of %d says %d and has %d rows", page, l.Pages, l.Page, len(l.Rows))
			}
			pages = l.Pages
			for _, row := range l.Rows {
				if on, again := seen[row.Number]; again {
					if twice++; on == page {
						t.Errorf("%d is twice on page %d", row.Number, page)
					}
					continue
				}
				if !last.IsZero() && row.At.After(last) && disclosure.DayOf(row.At) != to-6 {
					t.Errorf("%d of %v comes after %v", row.Number, row.At, last)
				}
				last, seen[row.Number] = row.At, page
				compare(t, want[disclosure.ReportID(series, row.Number)], row, false)
				if row.Number%17 != 0 {
					continue
				}
				one, err := c.Permalink(t.Context(), series, row.Number)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, want[disclosure.ReportID(series, row.Number)], one, true)
			}
		}
		if len(seen) != len(want) || len(want) < 20 {
			t.Errorf("%s: got %d reports in the lists, want %d", series, len(seen), len(want))
		}
		if l, err := c.List(t.Context(), series, from, to, pages); err != nil || len(l.Rows) != 0 {
			t.Errorf("past the end: %d rows, %v", len(l.Rows), err)
		}
	}
	if twice == 0 || related == 0 {
		t.Errorf("%d rows come twice, %d reports relate to others", twice, related)
	}
}

func TestIssuersLists(t *testing.T) {
	s := open(t, early, "")
	byNIF := map[string][]truth{}
	for _, f := range s.reports("type=oir") {
		byNIF[f.NIF] = append(byNIF[f.NIF], f)
	}
	delete(byNIF, "")
	dashed, plain := 0, 0
	for nif, want := range byNIF {
		busy := len(want) > 20 && len(want) < 50
		if isDashed := strings.Contains(nif, "-"); busy && isDashed && dashed < 2 {
			dashed++
		} else if busy && !isDashed && plain < 2 {
			plain++
		} else {
			continue
		}
		slices.Reverse(want)
		for page, shown := 0, 0; shown < len(want); page++ {
			l, err := regulator.ParseList(disclosure.OIR, []byte(s.get(fmt.Sprintf("%s?nif=%s&page=%d", oirList, nif, page))),
				"https://regulator.example")
			if err != nil || len(l.Rows) == 0 || l.Pages != (len(want)+9)/10 {
				t.Fatalf("%s: page %d of %d: %v", nif, page, l.Pages, err)
			}
			for _, row := range l.Rows {
				compare(t, want[shown], row, false)
				shown++
			}
		}
		other := strings.ReplaceAll(nif, "-", "")
		if other == nif {
			other = nif[:1] + "-" + nif[1:]
		}
		if page := s.get(oirList + "?nif=" + other); strings.Contains(page, "elementoPrimerNivel") ||
			!strings.Contains(page, "listaElementosPrimernivel") {
			t.Errorf("%s is found as %s", nif, other)
		}
	}
	if dashed == 0 || plain == 0 {
		t.Errorf("%d busy issuers have a dash, %d have none", dashed, plain)
	}
}

func TestRelevantFacts(t *testing.T) {
	s := open(t, early, "")
	c := s.reader()
	funds, err := c.LatestHR(t.Context(), regulator.HRFunds)
	if err != nil || len(funds.Rows) != 30 {
		t.Fatal(len(funds.Rows), err)
	}
	if _, err := c.LatestHR(t.Context(), regulator.HRVentureCapital); err != nil {
		t.Fatal(err)
	}
	want, corrections := map[string]truth{}, 0
	for _, f := range s.reports("type=hr") {
		if want[f.ID] = f; f.Corrects != "" {
			corrections++
			if f.Category != "Rectificación Hecho Relevante" || want[f.Corrects].ID == "" || len(f.Related) != 1 {
				t.Errorf("%+v", f)
			}
		}
	}
	if corrections == 0 {
		t.Error("no report is a correction")
	}
	for _, row := range funds.Rows {
		compare(t, want[disclosure.ReportID(disclosure.HR, row.Number)], row, false)
		page, err := c.Permalink(t.Context(), disclosure.HR, row.Number) // of those without a NIF too
		if err != nil {
			t.Fatal(err)
		}
		compare(t, want[disclosure.ReportID(disclosure.HR, row.Number)], page, true)
		if row.NIF == "" {
			continue
		}
		l, err := c.EntityHR(t.Context(), regulator.Funds, row.NIF, 0)
		if err != nil || !slices.ContainsFunc(l.Rows, func(r regulator.Row) bool { return r.Number == row.Number }) {
			t.Errorf("%s does not list %d: %v", row.NIF, row.Number, err)
		}
	}
	number := funds.Rows[0].Number
	if _, err := c.IssuersHR(t.Context(), number); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a fund's is found among the issuers': %v", err)
	}
	if l, err := c.EntityHR(t.Context(), regulator.Issuers, funds.Rows[0].NIF, 0); err != nil || len(l.Rows) != 0 {
		t.Errorf("a fund files as an issuer: %+v, %v", l.Rows, err)
	}
	published, err := s.Publish(archive.Draft{Type: disclosure.HR})
	if err != nil {
		t.Fatal(err)
	}
	body := s.get("/portal/hr/hechosrelevantes.asmx/GetNoticiasCNMV")
	if !strings.Contains(body, published.Category+" - <BR/>") ||
		!strings.Contains(body, "[https://regulator.example/Portal/HR/ResultadoBusquedaHR.aspx?division=2&nreg="+
			strconv.FormatInt(published.Number, 10)+"&th=H]") {
		t.Errorf("the feed does not have the form of the real one: %s", body)
	}
	equity := s.managersNIF("S.G.E.I.C.")
	if _, err := s.Publish(archive.Draft{NIF: equity}); err != nil {
		t.Fatal(err)
	}
	if l, err := c.LatestHR(t.Context(), regulator.HRVentureCapital); err != nil || len(l.Rows) == 0 || l.Rows[0].NIF != equity {
		t.Errorf("%+v %v", l, err)
	}
}

func (s *site) managersNIF(form string) string {
	for _, i := range testMarket().Issuers() {
		if strings.Contains(i.Name, form) {
			return i.NIF
		}
	}
	s.Fatal("there is no " + form)
	return ""
}

func TestFeedMatchesReports(t *testing.T) {
	s := open(t, early, "")
	s.publish(`{"type":"oir","title":"A ]]> B & C <b>negrita</b> &amp;","document":true}`)
	c := s.reader()
	for _, series := range []disclosure.Type{disclosure.IP, disclosure.OIR} {
		want := map[string]truth{}
		for _, f := range s.reports("type=" + string(series) + "&from=2020-11-09") {
			if !f.PublishedAt.Before(time.Date(2020, 11, 9, 17, 35, 0, 0, disclosure.Madrid)) {
				want[f.ID] = f
			}
		}
		feed, err := c.Feed(t.Context(), series, [32]byte{})
		if err != nil || len(feed.Rows) != len(want) {
			t.Fatalf("%s: %d items of %d: %v", series, len(feed.Rows), len(want), err)
		}
		for n, row := range feed.Rows {
			f := want[disclosure.ReportID(series, row.Number)]
			if !row.At.Equal(f.PublishedAt) || row.Title != f.Title || row.Category != f.Category || !strings.HasPrefix(row.Name, f.CompanyName) {
				t.Errorf("%+v is not %+v", row, f)
			}
			if n > 0 && row.At.After(feed.Rows[n-1].At) {
				t.Error("the feed is not in order")
			}
		}
	}
}

// TestMarkup checks strings that a surface must contain exactly.
func TestMarkup(t *testing.T) {
	s := open(t, early, "")
	third := testMarket().Issuers()[12]
	for range 400 { // some reports are about another issuer
		if _, err := s.Publish(archive.Draft{NIF: third.ID, Type: "oir"}); err != nil {
			t.Fatal(err)
		}
	}
	feed := s.get(oirFeed)
	for _, marker := range []string{
		"  <Channel>\r\n    <title>CNMV - Otra informacion relevante.</title>\r\n" +
			"    <link>https://regulator.example/Portal/Otra-Informacion-Relevante/AlDia-OIR.aspx</link>",
		"<ttl>15</ttl>", "<image><Title>", "    <item>\r\n      <Title>" + third.Name,
		"<link><![CDATA[https://regulator.example/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=",
		"<guid isPermaLink=\"true\"><![CDATA[https://", "<pubDate>Tue, 10 Nov 2020 11:00:00 GMT</pubDate>",
		"<description><![CDATA[<p><b>12:00  10/11/2020  </b> ", "<BR/><BR/>[Simulación] ", " (" + third.Ticker + ")</Title>",
	} {
		if !strings.Contains(feed, marker) {
			t.Errorf("the feed has no %q", marker)
		}
	}
	if n := strings.Count(feed, "<item>"); n != 250 {
		t.Errorf("%d items", n)
	}
	page := s.get(oirList + "?lang=es&fechaDesde=01/10/2020&fechaHasta=31/10/2020&page=1")
	if at := strings.Index(page, "listaElementosPrimernivel"); at < 190_000 || at > 230_000 {
		t.Errorf("the content begins at %d", at)
	}
	for _, marker := range []string{
		"<li id=\"ctl00_ContentPrincipal_wucRelacionRegistros_repListaPrincipal_ctl01_elementoPrimerNivel\" class=\"blocks-single\">",
		"_ctl10_sublistaIzquierda\" class=\"col-12 col-sm-12 single\">", "_ctl02_liFechaRegistro\" class=\"fecha-con-hora\">\r\n        ",
		"_ctl01_hlTituloCabecera\" href=\"../consultas/datosentidad.aspx?nif=", "class=\"tit-small\">", "class=\"negrita\" lang=\"es\">",
		"<span data-addsearch=\"exclude\">[Simulación] ", "<li class=\"padding-r resumen\">\r\n        Número de registro: ",
		"_lblInfoPaginacion\" class=\"PagActivaTXT\">Página 2 de ",
		"<ul class=\"pagination\"><li><a class=\"submit\" " +
			"href=\"https://internet.regulator.example/portal/otra-informacion-relevante/resultado-oir.aspx?lang=es" +
			"&amp;fechaDesde=01/10/2020&amp;fechaHasta=31/10/2020&amp;page=0\" title=\"Ir a p&#225;gina 1 \">1</a></li>",
		"<meta name=\"article:published_time\" content=\"2020-10-", "__VIEWSTATE",
	} {
		if !strings.Contains(page, marker) {
			t.Errorf("the list has no %q", marker)
		}
	}
	if none := s.get(ipList + "?nreg=99999"); !strings.Contains(none, "listaElementosPrimernivel") ||
		strings.Contains(none, "elementoPrimerNivel") {
		t.Error("an unknown number is not an empty list")
	}
	whole, kinds := "", map[string]bool{} // one page of each kind
	for _, f := range s.reports("type=oir") {
		link, _, _ := strings.Cut(f.PDFURL+f.SourceURL, "=")
		letter, _, _ := strings.Cut(f.NIF, "6")
		if kind := fmt.Sprint(link, letter, strings.Contains(f.CompanyName, "&"), f.PDFURL == ""); !kinds[kind] {
			kinds[kind] = true
			whole += s.get(oirList + "?nreg=" + f.Number)
		}
	}
	for _, marker := range []string{
		"href=\"https://regulator.example/webservices/verdocumento/ver?e=", "href=\"../consultas/ifa/listadoifa.aspx?id=0&amp;nif=",
		"href=\"../aldia/detalleifialdia.aspx?nReg=2020", "href=\"../otra-informacion-regulada-corporativa/derechos-voto-capital.aspx?Nif=",
		"_subtituloRegistroEnlace\"><span", "derechos de voto y de capital  </span>", " & CÍA., S.A.</span>",
		"nif=A-", "nif=a69",
	} {
		if !strings.Contains(whole, marker) {
			t.Errorf("no row has %q", marker)
		}
	}
}

func TestClosing(t *testing.T) {
	at := func(s string) time.Time {
		x, err := time.ParseInLocation("2006-01-02 15:04:05", s, disclosure.Madrid)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for now, want := range map[string]string{
		"2026-09-21 12:45:00": "2026-09-18 17:35:00", // Monday: Friday's close
		"2026-09-21 17:34:59": "2026-09-18 17:35:00",
		"2026-09-21 17:35:00": "2026-09-21 17:35:00",
		"2026-09-22 00:00:00": "2026-09-21 17:35:00",
		"2026-09-19 20:00:00": "2026-09-18 17:35:00", // Saturday
		"2026-09-20 23:59:59": "2026-09-18 17:35:00",
		"2026-04-03 18:00:00": "2026-04-02 17:35:00", // Good Friday
		"2026-04-07 09:00:00": "2026-04-02 17:35:00", // after Easter Monday
		"2026-03-29 03:30:00": "2026-03-27 17:35:00", // the night without two o'clock
		"2026-03-30 10:00:00": "2026-03-27 17:35:00",
		"2026-10-25 02:30:00": "2026-10-23 17:35:00", // the night with two o'clock twice
		"2026-10-26 10:00:00": "2026-10-23 17:35:00",
		"2026-10-26 17:35:00": "2026-10-26 17:35:00",
	} {
		if got := simserver.Closing(at(now)); !got.Equal(at(want)) {
			t.Errorf("start of the feed at %s: got %v, want %s", now, got, want)
		}
	}
}

func TestFeedEmptiesAtTheClose(t *testing.T) {
	s := open(t, early, "")
	s.clock.set(time.Date(2020, 11, 10, 17, 34, 58, 0, disclosure.Madrid))
	last := s.publish(`{"type":"ip","title":"antes del cierre"}`)
	if !strings.Contains(s.get(ipFeed), "nreg="+last.Number) {
		t.Error("the feed lacks the report just published")
	}
	s.clock.set(time.Date(2020, 11, 10, 17, 35, 0, 0, disclosure.Madrid))
	if feed := s.get(ipFeed); strings.Contains(feed, "<item>") || !strings.Contains(feed, "<Channel>") {
		t.Error("the feed is not empty after the close")
	}
	s.publish(`{"type":"ip"}`)
	if n := strings.Count(s.get(ipFeed), "<item>"); n != 1 {
		t.Errorf("%d items after the close", n)
	}
}

// TestFeedAtClockChange checks that the feed distinguishes the two readings of the
// repeated hour.
func TestFeedAtClockChange(t *testing.T) {
	s := open(t, time.Date(2020, 10, 25, 0, 20, 0, 0, time.UTC), "")
	s.publish(`{"type":"oir"}`)
	s.clock.set(time.Date(2020, 10, 25, 1, 20, 0, 0, time.UTC))
	s.publish(`{"type":"oir"}`)
	feed := s.get(oirFeed)
	for _, marker := range []string{"Sun, 25 Oct 2020 00:20:00 GMT", "Sun, 25 Oct 2020 01:20:00 GMT"} {
		if !strings.Contains(feed, marker) {
			t.Errorf("no %s", marker)
		}
	}
	if strings.Count(feed, "<b>02:20  25/10/2020  </b>") != 2 {
		t.Error("the local times differ")
	}
}
