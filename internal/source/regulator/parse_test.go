package regulator_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/regulator"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// wantMarkup fails unless err is a MarkupError whose detail contains want.
func wantMarkup(t *testing.T, err error, want string) {
	t.Helper()
	e, ok := errors.AsType[*regulator.MarkupError](err)
	if !ok {
		t.Fatalf("error %v, want a MarkupError", err)
	}
	if !strings.Contains(e.Detail, want) {
		t.Errorf("detail %q, want %q in it", e.Detail, want)
	}
}

// wantWhole checks MarkupError.Whole.
func wantWhole(t *testing.T, err error, whole bool) {
	t.Helper()
	if e, ok := errors.AsType[*regulator.MarkupError](err); !ok || e.Whole != whole {
		t.Errorf("error %v is of the whole: %v, want %v", err, ok && e.Whole, whole)
	}
}

func TestParseFeed(t *testing.T) {
	rows, err := regulator.ParseFeed(disclosure.OIR, read(t, "feed-oir.xml"), regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	want := []regulator.Row{
		{
			Surface: disclosure.FromFeed, FromFeed: true, Type: disclosure.OIR, Number: 52823, Name: "ALMAZARA FICTICIA, S.A. (ALMAZARA)",
			Category:  "Sobre suspensiones, levantamientos y exclusiones de negociación",
			Title:     "MERCADOS & BOLSAS INVENTADAS anuncia la exclusión de las “Cédulas de Almazara” & otros, con efectos del 22/09/2026.",
			At:        at("2026-09-21T10:33:40Z"),
			SourceURL: "https://www.cnmv.es/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=52823",
		},
		{
			Surface: disclosure.FromFeed, FromFeed: true, Type: disclosure.OIR, Number: 52822, Name: "TEJARES & HORNOS IMAGINARIOS, S.A.",
			Category:  "Otra información relevante - Sobre negocio y situación financiera",
			Title:     "Otra información relevante - Sobre negocio y situación financiera",
			At:        at("2026-09-21T06:05:09Z"),
			SourceURL: "https://www.cnmv.es/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=52822",
		},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

// The category of HR ends in the dash of an empty second one.
func TestParseFeedHR(t *testing.T) {
	rows, err := regulator.ParseFeed(disclosure.HR, read(t, "feed-hr.xml"), regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	const permalink = "https://www.cnmv.es/Portal/HR/ResultadoBusquedaHR.aspx?division=2&nreg="
	want := []regulator.Row{
		{
			Surface: disclosure.FromFeed, FromFeed: true, Type: disclosure.HR, Number: 326728, Name: "FONDO IMAGINARIO DÓLAR, FI",
			Category: "Reembolsos/Reducción del capital en circulación de IIC superior al 20%",
			Title:    "Reembolso superior al 20% del patrimonio del fondo.",
			At:       at("2026-10-08T10:46:02Z"), SourceURL: permalink + "326728&th=H",
		},
		{
			Surface: disclosure.FromFeed, FromFeed: true, Type: disclosure.HR, Number: 326727, Name: "IMAGINARY FUNDS III",
			Category: "Número de accionistas y patrimonio de IIC extranjeras", Title: "Número de accionistas y patrimonio de IIC extranjeras",
			At: at("2026-10-08T07:02:51Z"), SourceURL: permalink + "326727&th=H",
		},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	_, err = regulator.ParseFeed(disclosure.OIR, read(t, "feed-hr.xml"), regulator.PublicOrigin)
	wantMarkup(t, err, "is of another series")
}

func TestEmptyFeedIsNoError(t *testing.T) {
	rows, err := regulator.ParseFeed(disclosure.IP, read(t, "feed-empty.xml"), regulator.PublicOrigin)
	if err != nil || len(rows) != 0 {
		t.Errorf("rows %v, error %v", rows, err)
	}
}

func feedOf(items string) []byte {
	return []byte(`<?xml version="1.0" encoding="utf-8"?><rss><Channel>` + items + `</Channel></rss>`)
}

func feedItem(pubDate, stamp string) string {
	return `<item><Title>ALMAZARA FICTICIA, S.A.</Title><guid>https://www.cnmv.es/x/Resultado-IP.aspx?nreg=7</guid><pubDate>` + pubDate +
		`</pubDate><description><![CDATA[<p><b>` + stamp + `</b> Sobre resultados <BR/><BR/>Resultados</p>]]></description></item>`
}

func TestFeedTimes(t *testing.T) {
	for _, test := range []struct {
		name, pubDate, stamp string
		at, later            string
		surface              disclosure.Surface
	}{
		{"agree", "Mon, 21 Sep 2026 10:33:40 GMT", "12:33  21/09/2026", "2026-09-21T10:33:40Z", "", disclosure.FromFeed},
		{"offset", "21 Sep 2026 12:33:40 +0200", "12:33  21/09/2026", "2026-09-21T10:33:40Z", "", disclosure.FromFeed},
		{"rounded up", "Mon, 21 Sep 2026 10:33:58 GMT", "12:34  21/09/2026", "2026-09-21T10:33:58Z", "", disclosure.FromFeed},
		{"no stamp", "Mon, 21 Sep 2026 10:33:40 GMT", "", "2026-09-21T10:33:40Z", "", disclosure.FromFeed},
		{"no seconds", "Mon, 21 Sep 2026 10:33 GMT", "12:33  21/09/2026", "2026-09-21T10:33:00Z", "", disclosure.FromList},
		{"no pubDate", "", "12:33  21/09/2026", "2026-09-21T10:33:00Z", "", disclosure.FromList},
		{"unreadable pubDate", "lunes, a las 10", "9:03  1/9/2026", "2026-09-01T07:03:00Z", "", disclosure.FromList},
		{"zone of nowhere", "Mon, 21 Sep 2026 10:33:40 CET", "12:33  21/09/2026", "2026-09-21T10:33:00Z", "", disclosure.FromList},
		{"skewed", "Mon, 21 Sep 2026 12:33:40 GMT", "12:33  21/09/2026", "2026-09-21T10:33:00Z", "", disclosure.FromList},
		{"skewed by two minutes", "Mon, 21 Sep 2026 10:35:00 GMT", "12:33  21/09/2026", "2026-09-21T10:33:00Z", "", disclosure.FromList},
		{"first of the double hour", "Sun, 25 Oct 2026 00:30:11 GMT", "02:30  25/10/2026", "2026-10-25T00:30:11Z", "", disclosure.FromFeed},
		{"second of the double hour", "Sun, 25 Oct 2026 01:30:11 GMT", "02:30  25/10/2026", "2026-10-25T01:30:11Z", "", disclosure.FromFeed},
		{"double hour, no pubDate", "", "02:30  25/10/2026", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", disclosure.FromList},
		{"hour that never was", "", "02:30  29/03/2026", "2026-03-29T01:30:00Z", "", disclosure.FromList},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows, err := regulator.ParseFeed(disclosure.IP, feedOf(feedItem(test.pubDate, test.stamp)), regulator.PublicOrigin)
			if err != nil {
				t.Fatal(err)
			}
			var later time.Time
			if test.later != "" {
				later = at(test.later)
			}
			if r := rows[0]; !r.At.Equal(at(test.at)) || !r.Later.Equal(later) || r.Surface != test.surface {
				t.Errorf("at %v, later %v, from %s", r.At, r.Later, r.Surface)
			}
			// Its page was not read, however exact its time is.
			if r := rows[0].Report(at("2026-10-26T12:00:00Z")); !rows[0].FromFeed || !r.EnrichedAt.IsZero() || r.TimeFrom != test.surface {
				t.Errorf("from the feed: %v, enriched %v, time from %s", rows[0].FromFeed, r.EnrichedAt, r.TimeFrom)
			}
		})
	}
}

// Rows of pages and lists are enriched, with times to the minute or to the second.
func TestPagesEnrich(t *testing.T) {
	seen := at("2026-10-26T12:00:00Z")
	list, err := regulator.ParseList(disclosure.OIR, read(t, "list-oir.html"), regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	row, err := regulator.ParsePermalink(disclosure.OIR, 50374, read(t, "permalink-oir.html"), regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range append(list.Rows, row) {
		if r := row.Report(seen); row.FromFeed || !r.EnrichedAt.Equal(seen) || r.TimeFrom != row.Surface {
			t.Errorf("%s: from the feed: %v, enriched %v, time from %s", r.ID, row.FromFeed, r.EnrichedAt, r.TimeFrom)
		}
	}
}

func TestFeedFaults(t *testing.T) {
	whole := string(read(t, "feed-oir.xml"))
	good := strings.ReplaceAll(feedItem("Mon, 21 Sep 2026 10:33:40 GMT", "12:33 21/09/2026"), "-IP", "-OIR")
	for _, test := range []struct {
		name, body string
		rows       int
		want       string
		whole      bool
	}{
		{"nothing", "", 0, "not have a channel", true},
		{"an error page", "<html><body><p>Error & más<br></body></html>", 0, "not have a channel", true},
		{"cut in the second item", whole[:strings.Index(whole, "</Title>\n      <link><![CDATA[https://internet")+20], 1, "too early", true},
		{"cut in the first subject", whole[:strings.Index(whole, "anuncia")], 0, "too early", true},
		{"cut before the end", whole[:strings.Index(whole, "</Channel>")], 2, "too early", true},
		{"no number", string(feedOf(strings.Replace(good, "nreg=", "x=", 1) + good)), 1, "item 1 has no registration number", false},
		{"no name", string(feedOf(strings.Replace(good, "ALMAZARA FICTICIA, S.A.", " ", 1))), 0, "oir-7 has no issuer", false},
		{"no time", string(feedOf(strings.ReplaceAll(strings.Replace(good, "2026", "", 1), "12:33", ""))), 0, "no date and time", false},
		{"no words", string(feedOf(strings.NewReplacer("Sobre resultados", "", "Resultados", "").Replace(good))), 0, "no subject", false},
		{"another series", string(feedOf(feedItem("Mon, 21 Sep 2026 10:33:40 GMT", ""))), 0, "another series", false},
		{"an unknown encoding", strings.Replace(whole, "utf-8", "ebcdic", 1), 0, "encoding", true},
		{"too deep", string(feedOf(strings.Repeat("<a>", 100))), 0, "too early", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows, err := regulator.ParseFeed(disclosure.OIR, []byte(test.body), regulator.PublicOrigin)
			wantMarkup(t, err, test.want)
			wantWhole(t, err, test.whole)
			if len(rows) != test.rows {
				t.Errorf("%d rows, want %d", len(rows), test.rows)
			}
		})
	}
}

func TestFeedEncodings(t *testing.T) {
	item := feedItem("Mon, 21 Sep 2026 10:33:40 GMT", "12:33 21/09/2026")
	for _, test := range []struct{ name, encoding, title, want string }{
		{"windows", "windows-1252", "A\xd1O \x93NUEVO\x94", "AÑO “NUEVO”"},
		{"latin", "ISO-8859-1", "A\xd1O & MES", "AÑO & MES"},
		{"wrong bytes", "utf-8", "A\xd1O", "A\uFFFDO"},
		{"control characters", "utf-8", "A\x01\x02 B", "A B"},
		{"entities", "utf-8", "A&ntilde;o &amp; mes &c.", "Año & mes &c."},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := strings.Replace(string(feedOf(strings.Replace(item, "ALMAZARA FICTICIA, S.A.", test.title, 1))), "utf-8", test.encoding, 1)
			rows, err := regulator.ParseFeed(disclosure.IP, []byte(body), regulator.PublicOrigin)
			if err != nil {
				t.Fatal(err)
			}
			if rows[0].Name != test.want {
				t.Errorf("name %q, want %q", rows[0].Name, test.want)
			}
		})
	}
}

func TestParseList(t *testing.T) {
	list, err := regulator.ParseList(disclosure.OIR, read(t, "list-oir.html"), regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	want := regulator.List{Page: 1, Pages: 20, Rows: []regulator.Row{
		{
			Surface: disclosure.FromList, Type: disclosure.OIR, Number: 50374, Name: "ALMAZARA FICTICIA, S.A.", NIF: "A69001238",
			Category: "Comunicación de operaciones vinculadas", Title: "La sociedad informa de un acuerdo con Prensas & Molinos",
			At:        at("2026-04-22T08:00:00Z"),
			PDFURL:    "https://www.cnmv.es/webservices/verdocumento/ver?t=%7b5e3a40fb-0000-444b-a801-9f24edc1895d%7d",
			SourceURL: "https://www.cnmv.es/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=50374",
			Relations: []disclosure.Relation{{
				Number: 43302, At: at("2025-03-04T20:18:00Z"), Text: "Relacionado con la comunicación nº 43302 del 04/03/2025 (21:18)",
			}},
		},
		{
			Surface: disclosure.FromList, Type: disclosure.OIR, Number: 50373, Name: "TEJARES & HORNOS IMAGINARIOS, S.A.", NIF: "A-69001246",
			Category: "Informes financieros semestrales y de auditoría / revisiones limitadas", Title: "Número de registro: 39018. La sociedad lo sustituye",
			At:        at("2026-09-01T06:41:00Z"),
			SourceURL: "https://www.cnmv.es/portal/aldia/detalleifialdia.aspx?nReg=2026028165",
			Relations: []disclosure.Relation{
				{Number: 39018, At: at("2026-09-01T06:40:00Z"), Text: "Rectifica la comunicación n.º 39018 del 1/9/2026 (8:40)"},
				{Number: 39017, Text: "Anula la comunicación núm. 39017 del 31/08/2026"},
			},
		},
		{
			Surface: disclosure.FromList, Type: disclosure.OIR, Number: 50372, Name: "FONDO DE TITULIZACIÓN INVENTADO 7",
			Category: "Otra información relevante", Title: "Otra información relevante",
			At: at("2026-10-25T00:30:00Z"), Later: at("2026-10-25T01:30:00Z"),
			SourceURL: "https://www.cnmv.es/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=50372",
		},
	}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

func TestParseOldList(t *testing.T) {
	list, err := regulator.ParseList(disclosure.IP, read(t, "list-2020.html"), regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	want := regulator.List{Pages: 1, Rows: []regulator.Row{{
		Surface: disclosure.FromList, Type: disclosure.IP, Number: 133, Name: "ALMAZARA FICTICIA, S.A.", NIF: "a69001238",
		Category: "Sobre resultados", Title: "Resultados del ejercicio 2019", At: at("2020-02-28T08:53:00Z"),
		PDFURL:    "https://www.cnmv.es/verDoc.axd?t={5e3a40fb}",
		SourceURL: "https://www.cnmv.es/Portal/Informacion-privilegiada/Resultado-IP.aspx?nreg=133",
	}}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

func TestListFaults(t *testing.T) {
	whole := string(read(t, "list-oir.html"))
	after := func(s string) string { return whole[:strings.LastIndex(whole, s)+len(s)] }
	const top = `<html><body><ul id="listaElementosPrimernivel">`
	for _, test := range []struct {
		name, body string
		rows       int
		want       string // nothing: no error
		whole      bool
	}{
		{"an empty list", top + "</ul></body></html>", 0, "", false},
		{"an empty list, in capitals", strings.ToUpper(top + "</ul></body></html>"), 0, "", false},
		{"an error page", "<html><body><h1>Error</h1></body></html>", 0, "no list", true},
		{"a list in a comment and a script", "<html><!-- " + top + " --><script>'" + top + "'</script></html>", 0, "no list", true},
		{"nothing", "", 0, "no list", true},
		{"cut before the list", whole[:400], 0, "too early", true},
		{"cut after the list begins", top, 0, "too early", true},
		{"cut in the second title", whole[:strings.Index(whole, "La sociedad lo sus")], 1, "too early", true},
		{"cut in the third row", after("Otra información relevante</span>"), 2, "too early", true},
		{"cut before the pager", after("Número de registro: 50372</li>\n  </ul>\n </li>\n</ul>"), 2, "too early", true},
		{"cut in the last tag", strings.TrimRight(whole, "tml>\n"), 2, "too early", true},
		{"no number", strings.Replace(whole, "Número de registro: 50373", "Registro 50373", 1), 2, "row 2 has no registration number", false},
		{"no time", strings.Replace(whole, "8:41", "", 1), 2, "oir-50373 has no date and time", false},
		{"no such day", strings.Replace(whole, "22/04/2026", "31/04/2026", 1), 2, "oir-50374 has no date and time", false},
		{"before the register", strings.Replace(whole, "22/04/2026", "22/04/1926", 1), 2, "published_at", false},
		{"no name", strings.Replace(whole, "FONDO DE TITULIZACIÓN INVENTADO 7", "", 1), 2, "oir-50372 has no issuer", false},
		{"no words", strings.Replace(whole, ">Otra información relevante<", "><", 1), 2, "oir-50372 has no subject", false},
		{"no row is known", strings.NewReplacer("liFechaRegistro", "fecha").Replace(whole), 0, "oir-50372 has no date and time", true},
		{"many", top + strings.Repeat(`<li id="elementoPrimerNivel"></li>`, 10) + "</html>", 0, "and 7 more", true},
		{"a pager without numbers", strings.Replace(whole, "gina 2 de 20", "gina siguiente", 1), 3, "pager", true},
		{"a pager without a label", strings.Replace(whole, "lblInfoPaginacion", "lbl", 1), 3, "pager", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := regulator.ParseList(disclosure.OIR, []byte(test.body), regulator.PublicOrigin)
			if test.want != "" {
				wantMarkup(t, err, test.want)
				wantWhole(t, err, test.whole)
			} else if err != nil {
				t.Error(err)
			}
			if len(list.Rows) != test.rows {
				t.Errorf("%d rows, want %d", len(list.Rows), test.rows)
			}
		})
	}
}

// A truncated page never yields an incomplete row: the returned rows are those of the
// whole page.
func TestTruncatedAnywhere(t *testing.T) {
	whole := read(t, "list-oir.html")
	all, err := regulator.ParseList(disclosure.OIR, whole, regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	feed := read(t, "feed-oir.xml")
	items, err := regulator.ParseFeed(disclosure.OIR, feed, regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	const stride = 5 // a prime number, so that tags are cut in all their places
	for n := 0; n < bytes.LastIndex(whole, []byte("</html")); n += stride {
		cut, err := regulator.ParseList(disclosure.OIR, whole[:n], regulator.PublicOrigin)
		if err == nil {
			t.Fatalf("the first %d bytes: got no error, want a MarkupError", n)
		}
		if diff := cmp.Diff(all.Rows[:len(cut.Rows)], cut.Rows); len(cut.Rows) > 0 && diff != "" {
			t.Fatalf("the first %d bytes: %s", n, diff)
		}
	}
	for n := 0; n < bytes.LastIndex(feed, []byte("</rss")); n += stride {
		cut, err := regulator.ParseFeed(disclosure.OIR, feed[:n], regulator.PublicOrigin)
		if err == nil {
			t.Fatalf("the first %d bytes: got no error, want a MarkupError", n)
		}
		if diff := cmp.Diff(items[:len(cut)], cut); len(cut) > 0 && diff != "" {
			t.Fatalf("the first %d bytes: %s", n, diff)
		}
	}
}

func TestLinks(t *testing.T) {
	page := string(read(t, "permalink-oir.html"))
	const href = "https://www.cnmv.es/webservices/verdocumento/ver?e=a%2bB%2fc%3d"
	const permalink = "/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=50374"
	for _, test := range []struct{ name, public, href, pdf, source string }{
		{"document", regulator.PublicOrigin, href, href, regulator.PublicOrigin + permalink},
		{"over http", regulator.PublicOrigin, "HTTP://CNMV.ES:80/WebServices/VerDocumento/Ver?t=1", "https://www.cnmv.es/WebServices/VerDocumento/Ver?t=1", regulator.PublicOrigin + permalink},
		{"no scheme", regulator.PublicOrigin, "//internet.cnmv.es/webservices/verdocumento/ver?t=1", "https://www.cnmv.es/webservices/verdocumento/ver?t=1", regulator.PublicOrigin + permalink},
		{"annual accounts", regulator.PublicOrigin, "../consultas/ifa/listadoifa.aspx?id=0&amp;nif=A69001238", "", "https://www.cnmv.es/portal/consultas/ifa/listadoifa.aspx?id=0&nif=A69001238"},
		{"voting rights", regulator.PublicOrigin, "../otra-informacion-regulada-corporativa/derechos-voto-capital.aspx?Nif=A69001238", "", "https://www.cnmv.es/portal/otra-informacion-regulada-corporativa/derechos-voto-capital.aspx?Nif=A69001238"},
		{"another host", regulator.PublicOrigin, "http://example.org/webservices/verdocumento/ver?t=1#x", "", "http://example.org/webservices/verdocumento/ver?t=1#x"},
		{"spaces and letters", regulator.PublicOrigin, " ver doc.aspx?a=b c&d=ñ\n", "", "https://www.cnmv.es/portal/otra-informacion-relevante/ver%20doc.aspx?a=b%20c&d=%C3%B1"},
		{"script", regulator.PublicOrigin, "javascript:void(0)", "", regulator.PublicOrigin + permalink},
		{"mail", regulator.PublicOrigin, "mailto:a@example.org", "", regulator.PublicOrigin + permalink},
		{"no address", regulator.PublicOrigin, "http://%zz/", "", regulator.PublicOrigin + permalink},
		{"no host", regulator.PublicOrigin, "https:ver", "", regulator.PublicOrigin + permalink},
		{"none", regulator.PublicOrigin, "", "", regulator.PublicOrigin + permalink},
		{"simulated", regulator.SimulatedOrigin, "/webservices/verdocumento/ver?t=1", "https://regulator.example/webservices/verdocumento/ver?t=1", regulator.SimulatedOrigin + permalink},
		{"simulated, absolute", regulator.SimulatedOrigin, "http://internet.regulator.example/webservices/verdocumento/ver?t=1", "https://regulator.example/webservices/verdocumento/ver?t=1", regulator.SimulatedOrigin + permalink},
		{"simulated, to the real one", regulator.SimulatedOrigin, href, href, regulator.SimulatedOrigin + permalink},
		{"real, to the simulated one", regulator.PublicOrigin, "https://regulator.example/webservices/verdocumento/ver?t=1", "", "https://regulator.example/webservices/verdocumento/ver?t=1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := strings.Replace(page, href, test.href, 1)
			row, err := regulator.ParsePermalink(disclosure.OIR, 50374, []byte(body), test.public)
			if err != nil {
				t.Fatal(err)
			}
			if row.PDFURL != test.pdf || row.SourceURL != test.source {
				t.Errorf("document %q, page %q", row.PDFURL, row.SourceURL)
			}
		})
	}
}

func TestSubjects(t *testing.T) {
	page := string(read(t, "permalink-oir.html"))
	from, to := strings.Index(page, `<a id="x_ctl01_subtituloRegistroEnlace"`), strings.Index(page, `</li>
   <li class="padding-r`)
	const related = `<a href="x">Sustituye a la comunicación nº 12 del 04/03/2025 (21:18)</a>`
	for _, test := range []struct {
		name, cell, title string
		relations         int
	}{
		{"no link", "La sociedad<br>informa", "La sociedad informa", 0},
		{"another number", "Número de registro: 39018, que se rectifica", "Número de registro: 39018, que se rectifica", 0},
		{"no link but a relation", "La sociedad informa " + related, "La sociedad informa", 1},
		{"a link without id", `<a href="y">La sociedad</a>` + related, "La sociedad", 1},
		{"names another report", `<a id="subtituloRegistroEnlace">Rectifica la comunicación nº 12 del 04/03/2025 (21:18)</a>`, "Rectifica la comunicación nº 12 del 04/03/2025 (21:18)", 0},
		{"empty", `<a id="subtituloRegistroEnlace" href="y"> &nbsp; </a>`, "Comunicación de operaciones vinculadas", 0},
		{"twice the same relation", `La sociedad informa ` + related + related, "La sociedad informa", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			row, err := regulator.ParsePermalink(disclosure.OIR, 50374, []byte(page[:from]+test.cell+page[to:]), regulator.PublicOrigin)
			if err != nil {
				t.Fatal(err)
			}
			if row.Title != test.title || len(row.Relations) != test.relations {
				t.Errorf("title %q, relations %v", row.Title, row.Relations)
			}
		})
	}
}

func TestParsePermalink(t *testing.T) {
	page := string(read(t, "permalink-oir.html"))
	const row, head = "22/04/2026</li>\n   <li id=\"x_ctl01_liHora\" class=\"time\">10:00", "2026-04-22T10:00:33Z"
	for _, test := range []struct {
		name, date, clock, head string
		at, later               string
		surface                 disclosure.Surface
	}{
		{"seconds", "22/04/2026", "10:00", head, "2026-04-22T08:00:33Z", "", disclosure.FromPermalink},
		{"another minute", "22/04/2026", "10:01", head, "2026-04-22T08:01:00Z", "", disclosure.FromList},
		{"really universal", "22/04/2026", "12:00", head, "2026-04-22T10:00:00Z", "", disclosure.FromList},
		{"no head", "22/04/2026", "10:00", "", "2026-04-22T08:00:00Z", "", disclosure.FromList},
		{"nonsense", "22/04/2026", "10:00", "2026-03-53T10:00:33Z", "2026-04-22T08:00:00Z", "", disclosure.FromList},
		{"the double hour", "25/10/2026", "02:30", "2026-10-25T02:30:11Z", "2026-10-25T00:30:11Z", "2026-10-25T01:30:11Z", disclosure.FromPermalink},
		{"the hour that never was", "29/03/2026", "02:30", "2026-03-29T02:30:11Z", "2026-03-29T01:30:11Z", "", disclosure.FromPermalink},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := strings.Replace(page, row, test.date+"</li><li id=\"liHora\">"+test.clock, 1)
			body = strings.Replace(body, head, test.head, 1)
			r, err := regulator.ParsePermalink(disclosure.OIR, 50374, []byte(body), regulator.PublicOrigin)
			if err != nil {
				t.Fatal(err)
			}
			var later time.Time
			if test.later != "" {
				later = at(test.later)
			}
			if !r.At.Equal(at(test.at)) || !r.Later.Equal(later) || r.Surface != test.surface {
				t.Errorf("at %v, later %v, from %s", r.At, r.Later, r.Surface)
			}
		})
	}
}

func TestPermalinkFaults(t *testing.T) {
	page := string(read(t, "permalink-oir.html"))
	_, err := regulator.ParsePermalink(disclosure.OIR, 50375, []byte(page), regulator.PublicOrigin)
	wantMarkup(t, err, "it shows oir-50374")
	wantWhole(t, err, true)
	_, err = regulator.ParsePermalink(disclosure.OIR, 50374, []byte(strings.ReplaceAll(page, "ALMAZARA FICTICIA, S.A.", "")), regulator.PublicOrigin)
	wantMarkup(t, err, "oir-50374 has no issuer")
	wantWhole(t, err, false)
	_, err = regulator.ParsePermalink(disclosure.OIR, 50374, []byte(page[:len(page)-20]), regulator.PublicOrigin)
	wantMarkup(t, err, "too early")
	_, err = regulator.ParsePermalink(disclosure.OIR, 50374, read(t, "list-oir.html"), regulator.PublicOrigin)
	wantMarkup(t, err, "it shows oir-50373")
	_, err = regulator.ParsePermalink(disclosure.OIR, 1, []byte("<html>Error</html>"), regulator.PublicOrigin)
	wantMarkup(t, err, "no list")
	_, err = regulator.ParsePermalink(disclosure.OIR, 1, []byte(`<html><ul id="a_listaElementosPrimernivel"></ul></html>`), regulator.PublicOrigin)
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("error %v, want NotFound", err)
	}
}

func TestParseEntities(t *testing.T) {
	r := regulator.FundRegisters[0]
	got, err := regulator.ParseEntities(r, read(t, "funds.html"))
	if err != nil {
		t.Fatal(err)
	}
	want := regulator.Entities{Pages: 72, Entities: []regulator.Entity{
		{
			Register: "fi", Number: 391, Name: "FONDO IMAGINARIO RENTA FIJA, FI", NIF: "V69001239", Kind: disclosure.Fund,
		},
		{
			Register: "fi", Number: 392, Name: "FONDO SIN NIF, FI", NIF: "16086", Kind: disclosure.Fund,
			Manager: "GESTORA IMAGINARIA SGIIC SA", Depositary: "BANCO IMAGINARIO, S.A.",
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	issuers := []disclosure.Issuer{
		{ID: "V69001239", Name: "FONDO IMAGINARIO RENTA FIJA, FI", NIF: "V69001239", Kind: disclosure.Fund, Aliases: []string{"fi-391"}},
		{
			ID: "fi-392", Name: "FONDO SIN NIF, FI", NIF: "16086", Kind: disclosure.Fund,
			Manager: "GESTORA IMAGINARIA SGIIC SA", Depositary: "BANCO IMAGINARIO, S.A.",
		},
	}
	for n := range got.Entities {
		if diff := cmp.Diff(issuers[n], got.Entities[n].Issuer()); diff != "" {
			t.Error(diff)
		}
	}
}

// A page whose upper pager is missing is read by its lower one.
func TestLowerPager(t *testing.T) {
	page := strings.ReplaceAll(string(read(t, "funds.html")), "x_lblInfoPaginacion", "x_Posterior_lblInfoPaginacionPosterior")
	if got, err := regulator.ParseEntities(regulator.FundRegisters[0], []byte(page)); err != nil || got.Pages != 72 || len(got.Entities) != 2 {
		t.Errorf("%d entities, %d pages, %v", len(got.Entities), got.Pages, err)
	}
	page = strings.ReplaceAll(string(read(t, "list-oir.html")), "_lblInfoPaginacion", "_Posterior_lblInfoPaginacionPosterior")
	if got, err := regulator.ParseList(disclosure.OIR, []byte(page), regulator.PublicOrigin); err != nil || got.Pages != 20 || got.Page != 1 {
		t.Errorf("page %d of %d, %v", got.Page, got.Pages, err)
	}
}

func TestEntityFaults(t *testing.T) {
	whole := string(read(t, "funds.html"))
	for _, test := range []struct {
		name, body string
		entities   int
		want       string
		whole      bool
	}{
		{"an error page", "<html></html>", 0, "no list", true},
		{"cut", whole[:strings.Index(whole, "FONDO SIN")], 1, "too early", true},
		{"no number", strings.Replace(whole, "391", "", 1), 1, "row 1 has no number", false},
		{"no name", strings.ReplaceAll(whole, "FONDO SIN NIF, FI", ""), 1, "row 2 has no name", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := regulator.ParseEntities(regulator.FundRegisters[0], []byte(test.body))
			wantMarkup(t, err, test.want)
			wantWhole(t, err, test.whole)
			if len(got.Entities) != test.entities {
				t.Errorf("%d entities, want %d", len(got.Entities), test.entities)
			}
		})
	}
}

// A list with unknown entries is an error; a list with only a text is empty.
func TestUnknownEntries(t *testing.T) {
	const page = `<html><body><ul id="listaElementosPrimernivel">%s</ul></body></html>`
	list, err := regulator.ParseList(disclosure.OIR, fmt.Appendf(nil, page,
		`<li id="x_ctl01_filaRegistro"><a href="../consultas/datosentidad.aspx?nif=A69001238">ALMAZARA FICTICIA, S.A.</a></li>`), regulator.PublicOrigin)
	var markup *regulator.MarkupError
	if !errors.As(err, &markup) || !markup.Whole || len(list.Rows) != 0 {
		t.Errorf("rows of an unknown form: got %v, %v", list.Rows, err)
	}
	list, err = regulator.ParseList(disclosure.OIR, fmt.Appendf(nil, page, `<li>No se han encontrado registros</li>`), regulator.PublicOrigin)
	if err != nil || len(list.Rows) != 0 {
		t.Errorf("list with only a text: got %v, %v; want no rows", list.Rows, err)
	}
}
