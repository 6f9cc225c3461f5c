package site_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// stated returns a report whose document states facts, with what proves them.
func stated(s *service, number int64, facts []disclosure.Fact, details ...disclosure.FactDetail) disclosure.Report {
	s.t.Helper()
	r := querytest.Report(disclosure.OIR, number, "2026-04-22T08:00:00Z")
	r.NIF = "A69000024"
	r.Facts = facts
	r.FactsRules = 1
	if details == nil {
		return r
	}
	body, err := json.Marshal(details)
	if err != nil {
		s.t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	r.FactsDetail = hex.EncodeToString(sum[:])
	if err := s.store.PutOriginal(s.t.Context(), r.FactsDetail, body); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// newFact returns a fact with fields as names and values.
func newFact(kind disclosure.FactKind, fields ...string) disclosure.Fact {
	f := disclosure.Fact{Kind: kind, Fields: map[string]string{}}
	for i := 0; i < len(fields); i += 2 {
		f.Fields[fields[i]] = fields[i+1]
	}
	return f
}

// aDividend is the dividend of most tests.
func aDividend() disclosure.Fact {
	return newFact(disclosure.Dividend, "gross_per_share", "0.25", "currency", "EUR", "ex_date", "2026-12-15", "payment_date", "2026-12-17")
}

// The page of a report shows its facts first, each value with its quote in its paragraph.
func TestReportFacts(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	long := strings.Repeat("palabra ", 60)
	s.append(store.Batch{Reports: []disclosure.Report{stated(s, 701, []disclosure.Fact{aDividend()}, disclosure.FactDetail{
		Evidence: map[string]disclosure.Quote{
			"gross_per_share": {Page: 2, Text: "0,25 euros brutos", Before: long + "pagará ", After: " por acción. " + long},
			"ex_date":         {Page: 3, Text: hostile, Before: hostile, After: hostile},
		},
	})}})
	w := s.get(http.StatusOK, "/reports/oir-701")
	body := w.Body.String()
	has(t, w, `<p class="headline">Dividendo bruto de 0,25 euros por acción; fecha ex-dividendo el 15 de diciembre de 2026, pago el 17 de diciembre.</p>`,
		"<caption>Dividendo</caption>", `<th scope="row">Importe bruto por acción</th><td><details open><summary>0,25 euros <span class="source">pág. 2</span>`,
		`palabra pagará <mark>0,25 euros brutos</mark> por acción. palabra`, `<blockquote class="quote" lang="es">…palabra`, "palabra…</blockquote>",
		`<details><summary>15 de diciembre de 2026 <span class="source">pág. 3</span>`,
		`<th scope="row">Fecha de pago</th><td>17 de diciembre de 2026</td>`)
	lacks(t, body, "<script>alert", "<img", "Moneda", strings.Repeat("palabra ", 30))
	if facts, summary := strings.Index(body, "<caption>"), strings.Index(body, "<h2>Resumen</h2>"); facts < 0 || summary < facts {
		t.Errorf("the facts are at %d, the summary at %d", facts, summary)
	}
	has(t, s.get(http.StatusOK, "/reports/oir-701?lang=en"), "Dividend of €0.25 gross per share; ex-date 15 December 2026, payment 17 December.",
		`<th scope="row">Gross amount per share</th>`, "€0.25 <span", "15 December 2026", "What the document states", "<mark>0,25 euros brutos</mark>")
}

// A report without facts has no table, and facts without evidence are shown alone.
func TestReportFactsAlone(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	s.append(store.Batch{Reports: []disclosure.Report{
		stated(s, 701, nil),
		stated(s, 702, []disclosure.Fact{newFact("unheard_of", "some_field", "<b>"), newFact(disclosure.Capital, "amount", "5", "currency", "EUR")}),
	}})
	lacks(t, s.get(http.StatusOK, "/reports/oir-701").Body.String(), `class="stated"`, `class="headline"`, "Lo que dice el documento")
	lacks(t, s.get(http.StatusOK, "/reports/oir-40374").Body.String(), `class="stated"`, `class="headline"`)
	has(t, s.get(http.StatusOK, "/reports/oir-702"), "<caption>unheard_of</caption>", `<th scope="row">some_field</th><td>&lt;b&gt;</td>`,
		`<th scope="row">Importe nominal</th><td>5 euros</td>`)
}

// Rows and facts are shown up to a number, with a link to all of them.
func TestReportFactRows(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	rows := func(n int) (out []map[string]string) {
		for i := range n {
			out = append(out, map[string]string{"date": "2026-04-21", "venue": fmt.Sprintf("XMAD-%d", i), "shares": "1000", "price": "12.5"})
		}
		return out
	}
	trades := []disclosure.Fact{newFact(disclosure.BuybackTrades, "shares", "23000", "amount", "287500", "currency", "EUR")}
	s.append(store.Batch{Reports: []disclosure.Report{
		stated(s, 701, trades, disclosure.FactDetail{Rows: rows(1)}),
		stated(s, 720, trades, disclosure.FactDetail{Rows: rows(20)}),
		stated(s, 723, trades, disclosure.FactDetail{Rows: rows(23)}),
		stated(s, 731, func() (out []disclosure.Fact) {
			for range 31 {
				out = append(out, newFact(disclosure.Securitisation, "payment_date", "2026-12-15"))
			}
			return out
		}()),
	}})
	has(t, s.get(http.StatusOK, "/reports/oir-701"), `<th scope="col">Fecha</th><th scope="col">Centro de negociación</th><th scope="col" class="numeric">Acciones</th>`,
		`<tr><th scope="row">21 abr 2026</th><td>XMAD-0</td><td class="numeric">1.000</td><td class="numeric">12,50 €</td></tr>`)
	lacks(t, s.get(http.StatusOK, "/reports/oir-720").Body.String(), "filas más", "fila más")
	w := s.get(http.StatusOK, "/reports/oir-723")
	has(t, w, `Hay 3 filas más: <a href="/api/v1/reports/oir-723">JSON</a>`, "XMAD-19")
	lacks(t, w.Body.String(), "XMAD-20")
	has(t, s.get(http.StatusOK, "/reports/oir-723?lang=en"), "There are 3 more rows:", "21 Apr 2026", "€12.50")
	w = s.get(http.StatusOK, "/reports/oir-731")
	has(t, w, `Hay 1 hecho más: <a href="/api/v1/reports/oir-731">JSON</a>`)
	if got := strings.Count(w.Body.String(), "<caption>"); got != 30 {
		t.Errorf("%d facts are shown", got)
	}
}

// A sentence that is taken from the document is not quoted again.
func TestSummaryQuotes(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	r := querytest.Report(disclosure.OIR, 701, "2026-04-22T08:00:00Z")
	r.Summary = "Pagará dividendo."
	r.SummaryMethod = "extractive"
	r.Evidence = []disclosure.Evidence{{Text: "Pagará dividendo.", Page: 3, Quote: "Pagará\n dividendo"}}
	other := r
	other.Number = 702
	other.Evidence = []disclosure.Evidence{{Text: "Pagará dividendo.", Page: 3, Quote: "La Sociedad pagará un dividendo."}}
	s.append(store.Batch{Reports: []disclosure.Report{r, other}})
	w := s.get(http.StatusOK, "/reports/oir-701")
	has(t, w, `<li>Pagará dividendo. <span class="source">pág. 3</span></li>`, "Frases tomadas del documento")
	lacks(t, w.Body.String(), "<blockquote", "Abra una frase")
	has(t, s.get(http.StatusOK, "/reports/oir-702"), "<summary>Pagará dividendo.", `<blockquote lang="es">La Sociedad pagará un dividendo.</blockquote>`, "Abra una frase")
}

// A page says how the summary in its language was made.
func TestSummaryMethod(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	r := stated(s, 701, []disclosure.Fact{aDividend()})
	r.Summary = "Pagará dividendo."
	r.SummaryMethod = "extractive"
	r.Evidence = []disclosure.Evidence{{Text: "Pagará dividendo.", Page: 3, Quote: "Pagará dividendo."}}
	r.SummaryEN = "Dividend of €0.25 gross per share; ex-date 15 December 2026, payment 17 December"
	r.EvidenceEN = []disclosure.Evidence{{Text: r.SummaryEN, Page: 3, Quote: "Pagará dividendo."}}
	s.append(store.Batch{Reports: []disclosure.Report{r}})
	has(t, s.get(http.StatusOK, "/reports/oir-701"), "Frases tomadas del documento por reglas")
	w := s.get(http.StatusOK, "/reports/oir-701?lang=en")
	has(t, w, "Written from what the document states by rules")
	lacks(t, w.Body.String(), "Sentences taken from the document")
}

// A page says that its text was read by OCR, with the quality where the text is shown.
func TestScanned(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	var reports []disclosure.Report
	for number, method := range []string{"text", "ocr", "mixed"} {
		r := querytest.Report(disclosure.OIR, 701+int64(number), "2026-04-22T08:00:00Z")
		r.PDFURL = "https://regulator.example/a.pdf"
		r.Document = disclosure.Document{
			Status: disclosure.DocumentReady,
			Link:   r.PDFURL,
			SHA256: strings.Repeat("ab", 32),
			Type:   "pdf",
			Pages:  1,
			Method: method,
		}
		reports = append(reports, r)
	}
	s.append(store.Batch{Reports: reports})
	lacks(t, s.get(http.StatusOK, "/reports/oir-701").Body.String(), "OCR")
	has(t, s.get(http.StatusOK, "/reports/oir-702"), "Documento escaneado: el texto se leyó por OCR")
	has(t, s.get(http.StatusOK, "/reports/oir-702?lang=en"), "Scanned document: its text was read by OCR")
	has(t, s.get(http.StatusOK, "/reports/oir-703"), "Documento escaneado en parte")

	k := document.NewKeeper(document.Options{Store: s.store, Readers: []document.Reader{scanner{}}, Logger: slog.New(slog.DiscardHandler)})
	kept, err := k.Keep(t.Context(), []byte("%PDF"))
	if err != nil {
		t.Fatal(err)
	}
	known, err := s.store.Reports(t.Context(), "oir-702")
	if err != nil {
		t.Fatal(err)
	}
	s.append(store.Batch{Aside: []disclosure.Report{document.TextReady(&known[0], kept)}})
	has(t, s.get(http.StatusOK, "/reports/oir-702", "Authorization", "Bearer read:reports"), "Página 1 · leída por OCR, calidad 87 de 100</h3>", "Página 2</h3>")
}

// scanner is a document reader that returns a scanned page and one that is not.
type scanner struct{}

func (scanner) Warm(context.Context) error { return nil }

func (scanner) Read(context.Context, []byte) (*extract.Text, error) {
	return &extract.Text{
		Type:   extract.PDF,
		Method: extract.Mixed,
		Pages: []extract.Page{
			{Text: "uno", Method: extract.ByOCR, Confidence: 87.4},
			{Text: "dos", Method: extract.ByText},
		},
	}, nil
}

// Rows of lists have one line of facts or a summary, and no summary that repeats the title. A
// search shows the summary in which it found words.
func TestRowFacts(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	dividend := stated(s, 701, []disclosure.Fact{aDividend()})
	dividend.SummaryEN = "Dividend of €0.25 gross per share; ex-date 15 December 2026, payment 17 December."
	dividend.Summary = "Lo acordó el consejo."
	repeated := stated(s, 702, nil)
	repeated.Title = "[Simulación] Convocatoria de la Junta General"
	repeated.Summary = "Aceros de Navalbruma: convocatoria de la junta general."
	repeated.PublishedAt = repeated.PublishedAt.AddDate(0, 0, 1)
	named := stated(s, 703, []disclosure.Fact{newFact(disclosure.Board, "action", "appointed", "person", "<b>Ana</b>")})
	named.PublishedAt = named.PublishedAt.AddDate(0, 0, 2)
	s.append(store.Batch{Reports: []disclosure.Report{dividend, repeated, named}})
	for _, path := range []string{"/", "/search?search=navalbruma", "/issuers/A69000024", "/live"} {
		w := s.get(http.StatusOK, path)
		has(t, w, `<p class="line">0,25 € · ex 15 dic · pago 17 dic</p>`, "nombramiento · &lt;b&gt;Ana&lt;/b&gt;")
		lacks(t, w.Body.String(), "convocatoria de la junta general.", "Lo acordó el consejo")
		if got := strings.Count(w.Body.String(), `class="line"`); got != 2 {
			t.Errorf("%s has %d lines of facts", path, got)
		}
		w = s.get(http.StatusOK, path, "Accept-Language", "en")
		has(t, w, `<p class="line">€0.25 · ex 15 Dec · paid 17 Dec</p>`)
		lacks(t, w.Body.String(), "Dividend of €0.25")
	}
	has(t, s.get(http.StatusOK, "/search?search=acordo"), `<p class="summary">Lo <mark>acordó</mark> el consejo.</p>`)
}
