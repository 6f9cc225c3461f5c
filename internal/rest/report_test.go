package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// The list is the contract's to the byte: its fields, in its order, null where
// there is nothing, the number a string, the time with Madrid's offset.
func TestReportListBytes(t *testing.T) {
	s := start(t, "demo", market())
	want := `{"data":[` +
		`{"id":"oir-40375","company_name":"CARTONAJES DE URDANABE, S.L.","ticker":"CUR","type":"OIR",` +
		`"title":"[Simulación] Convocatoria de Junta General Extraordinaria","summary":null,` +
		`"published_at":"2026-04-23T00:30:00.5+02:00","cnmv_registration_number":"40375","pdf_url":null},` +
		`{"id":"oir-40374","company_name":"BODEGAS DE VALDEBRISA, S.A.","ticker":"BVB","type":"OIR",` +
		`"title":"[Simulación] Pago de \"dividendos\" & otros\tacuerdos de la Junta General","summary":"Pagará 0,15 euros por acción.",` +
		`"published_at":"2026-04-22T10:00:33+02:00","cnmv_registration_number":"40374",` +
		`"pdf_url":"https://regulator.example/webservices/verdocumento/ver?t=%7bd0c%7d"},` +
		`{"id":"ip-3123","company_name":"Aceros de Navalbruma SA","ticker":"ANB","type":"IP",` +
		`"title":"[Simulación] Resultados del primer trimestre","summary":null,` +
		`"published_at":"2026-04-21T07:30:00+02:00","cnmv_registration_number":"3123","pdf_url":null},` +
		`{"id":"hr-256057","company_name":"ARDAZUL RENTA FIJA, FI","ticker":null,"type":"HR",` +
		`"title":"[Simulación] Fusión de IIC: el fondo absorbe a otro","summary":null,` +
		`"published_at":"2026-03-02T12:00:00+01:00","cnmv_registration_number":"256057","pdf_url":null}` +
		`],"total":4,"page":1,"limit":10}`
	if diff := cmp.Diff(want, string(s.get(http.StatusOK, "/api/v1/reports").body)); diff != "" {
		t.Error(diff)
	}
}

// What the API returns of a report or an issuer can be imported elsewhere.
func TestDetailsCanBeImported(t *testing.T) {
	full := newReport(disclosure.OIR, 40376, "2026-04-24T08:00:00Z")
	full.NIF, full.Ticker, full.Category, full.CorrectedBy = "A-69000016", "BVB", "Resultados - Otros", "oir-40380"
	full.PDFURL, full.SourceURL, full.TimeFrom = "https://regulator.example/d", "https://regulator.example/p", disclosure.FromPermalink
	full.EnrichedAt, full.SummaryReadyAt, full.TextReadyAt = full.PublishedAt.Add(time.Second), full.PublishedAt.Add(3*time.Second), full.PublishedAt.Add(2*time.Second)
	full.Related = []disclosure.Relation{{ID: "oir-40374", Number: 40374, At: full.PublishedAt.Add(-48 * time.Hour), Text: "Amplía"}, {Number: 7}}
	full.Document = disclosure.Document{Status: disclosure.DocumentReady, Link: full.PDFURL, SHA256: strings.Repeat("ab", 32), Type: "pdf", Bytes: 9, Pages: 1, Method: "text", Language: "es"}
	full.Summary, full.SummaryMethod, full.SummaryOf = "Crece.", "extractive", full.Document.SHA256
	full.Evidence = []disclosure.Evidence{{Text: "Crece.", Page: 1, Quote: "crece"}}
	full.Facts = []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"form": "cash"}}}
	full.FactsRules, full.FactsOf, full.FactsReadyAt = 1, full.Document.SHA256, full.SummaryReadyAt
	b := market()
	b.Reports = append(b.Reports, full)
	b.Issuers = slices.Clone(b.Issuers)
	b.Issuers[0].Manager, b.Issuers[0].Depositary = "ARDAZUL GESTIÓN, SGIIC, S.A.", "NADIE, S.A."
	s := start(t, "demo", b)
	for _, want := range b.Reports {
		got, err := disclosure.ReadReport(s.get(http.StatusOK, "/api/v1/reports/"+want.ID).body)
		if err != nil {
			t.Errorf("%s: %v", want.ID, err)
			continue
		}
		if want.ID != full.ID {
			continue
		}
		want.Document, want.TextReadyAt = disclosure.Document{}, time.Time{} // which are not in the line
		want.FirstSeenAt, want.AvailableAt = got.FirstSeenAt, got.AvailableAt
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	for _, want := range b.Issuers {
		if got, err := disclosure.ReadIssuer(s.get(http.StatusOK, "/api/v1/issuers/"+want.ID).body); err != nil || got.Name != want.Name || got.ID != want.ID ||
			got.Manager != want.Manager || got.Depositary != want.Depositary {
			t.Errorf("%s: %+v, %v", want.ID, got, err)
		}
	}
}

func TestNoReports(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	want := `{"data":[],"total":0,"page":1,"limit":10}`
	if got := string(s.get(http.StatusOK, "/api/v1/reports").body); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Pages divide the list without a gap or a repeat, and have the true total even
// past the end.
func TestPages(t *testing.T) {
	var b store.Batch
	for n := range int64(23) {
		b.Reports = append(b.Reports, newReport(disclosure.OIR, n+1, "2026-04-22T08:00:00Z"))
	}
	s := start(t, "demo", b)
	for _, test := range []struct {
		query                      string
		first, last                string
		page, limit, onPage, total int
	}{
		{"", "oir-23", "oir-14", 1, 10, 10, 23},
		{"?page=2", "oir-13", "oir-4", 2, 10, 10, 23},
		{"?page=3", "oir-3", "oir-1", 3, 10, 3, 23},
		{"?page=4", "", "", 4, 10, 0, 23},
		{"?page=2147483647&limit=50", "", "", 2147483647, 50, 0, 23},
		{"?limit=50", "oir-23", "oir-1", 1, 50, 23, 23},
		{"?limit=1&page=23", "oir-1", "oir-1", 23, 1, 1, 23},
		{"?limit=&page=", "oir-23", "oir-14", 1, 10, 10, 23},
	} {
		list := s.get(http.StatusOK, "/api/v1/reports"+test.query).reports()
		if list.Page != test.page || list.Limit != test.limit || len(list.Data) != test.onPage || list.Total != test.total {
			t.Errorf("%q: page %d, limit %d, %d of %d", test.query, list.Page, list.Limit, len(list.Data), list.Total)
			continue
		}
		if n := len(list.Data); n > 0 && (list.Data[0].ID != test.first || list.Data[n-1].ID != test.last) {
			t.Errorf("%q: from %s to %s, want %s to %s", test.query, list.Data[0].ID, list.Data[n-1].ID, test.first, test.last)
		}
	}
}

// Newest first; what was published at one instant by the higher number, and
// the same number of several series by type.
func TestOrder(t *testing.T) {
	const noon = "2026-04-22T12:00:00Z"
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{
		newReport(disclosure.OIR, 500, noon),
		newReport(disclosure.OIR, 9, "2026-04-22T12:00:01Z"),
		newReport(disclosure.IP, 500, noon),
		newReport(disclosure.OIR, 1000, noon), // greater as a number, not as a string
		newReport(disclosure.HR, 500, noon),
		newReport(disclosure.HR, 2000, "2026-04-22T11:59:59.999Z"),
		newReport(disclosure.IP, 501, "2026-04-22T14:00:00+02:00"), // noon again
	}})
	want := "oir-9 oir-1000 ip-501 hr-500 ip-500 oir-500 hr-2000"
	if got := s.get(http.StatusOK, "/api/v1/reports").ids(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestReportFilters(t *testing.T) {
	s := start(t, "demo", market())
	const all = "oir-40375 oir-40374 ip-3123 hr-256057"
	for _, test := range []struct{ want, query string }{
		{all, ""},
		{all, encode("search", "")},
		{all, encode("search", "  ")},
		{all, encode("search", "simulacion")},
		{all, encode("unknown", "x", "search[]", "y", "Limit", "999", "TYPE", "zz", "", "z")},

		{"oir-40374", encode("search", "dividendo")},
		{"oir-40374", encode("search", "DIVIDENDOS")},
		{"oir-40374", encode("search", "valdebrisa divid")},
		{"", encode("search", "divid valdebrisa")}, // only the last word is a beginning
		{"oir-40375 oir-40374", encode("search", "\"junta general\"")},
		{"oir-40374", encode("search", "\"junta general\" -extraordinaria")},
		{"", encode("search", "\"general junta\"")},
		{"oir-40374", encode("search", "euros accion")}, // in the summary
		{"oir-40374", encode("search", "situación financiera")},
		{"oir-40374", encode("search", "BODEGAS DE VALDEBRISA, S.A.")},
		{"oir-40374", encode("search", "bodegas valdebrisa s.l.")},
		{"ip-3123", encode("search", "acéros dé nàvalbrüma")},
		{"ip-3123", encode("search", "anb")}, // the directory's ticker
		{"oir-40375", encode("search", "CUR")},
		{"oir-40374", encode("search", "a69000016")},
		{"oir-40374", encode("search", "A-69000016")},
		{"oir-40374", encode("search", "es0sim000010")},
		{"oir-40374", encode("search", "40374")},
		{"oir-40374", encode("search", "OIR-40374")},
		{"hr-256057", encode("search", "V-69000107")},
		{"hr-256057", encode("search", "fi-4720")},
		{"", encode("search", "40374 junta extraordinaria")},

		{"ip-3123", encode("type", "IP")},
		{"hr-256057", encode("type", "HR")},
		{"oir-40375 oir-40374", encode("type", "OIR")},
		{all, encode("type", "")},

		{"oir-40374", encode("issuer", "A69000016")},
		{"oir-40374", encode("issuer", "a-69000016")},
		{"oir-40374", encode("issuer", "ES0SIM000010")},
		{"ip-3123", encode("issuer", "A69000024")}, // linked by its name alone
		{"oir-40375", encode("issuer", "B-69000032")},
		{"hr-256057", encode("issuer", "fi-4720")},
		{"hr-256057", encode("issuer", "FI-4720")},
		{"hr-256057", encode("issuer", "V69000107")},
		{"oir-40374", encode("issuer", "BODEGAS DE VALDEBRISA, S.A.")},

		{"oir-40374", encode("category", "Sobre dividendos")},
		{"oir-40374", encode("category", "sobre negocio y situacion financiera")},
		{"ip-3123", encode("category", "Sobre resultados")},
		{"oir-40374 ip-3123", encode("category", "sobre")}, // a word of several
		{"ip-3123", encode("category", "RESULTADO")},
		{"oir-40374", encode("category", "financiera negocios")},
		{all, encode("category", " ")},

		{"oir-40374 ip-3123", encode("kind", "company")},
		{"hr-256057", encode("kind", "fund")},
		{"", encode("kind", "other")},

		{"oir-40375", encode("from", "2026-04-23")},
		{"oir-40374 ip-3123 hr-256057", encode("to", "2026-04-22")},
		{"oir-40374 ip-3123", encode("from", "2026-04-21", "to", "2026-04-22")},
		{"ip-3123", encode("from", "2026-04-21", "to", "2026-04-21")},

		{"oir-40374", encode("search", "junta", "type", "OIR", "issuer", "A69000016", "category", "sobre dividendos", "kind", "company", "from", "2026-04-22", "to", "2026-04-22")},
		{"", encode("search", "junta", "type", "IP")},
	} {
		list := s.get(http.StatusOK, "/api/v1/reports"+test.query)
		if got := list.ids(); got != test.want || list.reports().Total != len(strings.Fields(test.want)) {
			t.Errorf("%s finds %q (%d), want %q", test.query, got, list.reports().Total, test.want)
		}
	}
	s.get(http.StatusBadRequest, "/api/v1/reports"+encode("issuer", "A00000000"))
}

// A day is Madrid's, also when it has 23 or 25 hours.
func TestDaysOfClockChanges(t *testing.T) {
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{
		newReport(disclosure.IP, 1, "2026-03-28T22:59:59Z"), // 28 March 23:59:59
		newReport(disclosure.IP, 2, "2026-03-28T23:00:00Z"), // 29 March 00:00:00
		newReport(disclosure.IP, 3, "2026-03-29T21:59:59Z"), // 29 March 23:59:59, in summer time
		newReport(disclosure.IP, 4, "2026-03-29T22:00:00Z"), // 30 March 00:00:00
		newReport(disclosure.IP, 5, "2026-10-24T21:59:59Z"), // 24 October 23:59:59
		newReport(disclosure.IP, 6, "2026-10-24T22:00:00Z"), // 25 October 00:00:00
		newReport(disclosure.IP, 7, "2026-10-25T22:59:59Z"), // 25 October 23:59:59, in winter time
		newReport(disclosure.IP, 8, "2026-10-25T23:00:00Z"), // 26 October 00:00:00
	}})
	for day, want := range map[string]string{
		"2026-03-28": "ip-1", "2026-03-29": "ip-3 ip-2", "2026-03-30": "ip-4",
		"2026-10-24": "ip-5", "2026-10-25": "ip-7 ip-6", "2026-10-26": "ip-8",
	} {
		if got := s.get(http.StatusOK, "/api/v1/reports"+encode("from", day, "to", day)).ids(); got != want {
			t.Errorf("%s has %q, want %q", day, got, want)
		}
	}
}

func TestReportDetail(t *testing.T) {
	s := start(t, "demo", market())
	var got, list map[string]any
	s.get(http.StatusOK, "/api/v1/reports/oir-40374").decode(&got)
	for _, clock := range []string{"first_seen_at", "available_at"} {
		at, err := time.Parse(time.RFC3339, got[clock].(string))
		if _, offset := at.Zone(); err != nil || time.Since(at) > time.Minute || time.Since(at) < 0 || offset == 0 {
			t.Errorf("%s is %v", clock, got[clock])
		}
		delete(got, clock)
	}
	delete(got, "attribution") // see TestAttribution
	want := map[string]any{
		"nif": "A-69000016", "issuer_id": "A69000016", "registered_at": "2026-04-22T10:00:33+02:00",
		"related": []any{}, "corrected_by": nil, "time_precision": nil, "suspect_time": false, "enriched_at": nil,
		"text_ready_at": nil, "summary_ready_at": nil, "summary_method": nil, "evidence": []any{},
		"summary_language": nil, "summary_en": nil, "evidence_en": []any{}, "facts": nil, "facts_ready_at": nil,
		"document": map[string]any{
			"status": "pending", "reason": "The document waits for its turn to be read.",
			"sha256": nil, "type": nil, "bytes": nil, "pages": nil, "method": nil, "language": nil,
		},
		"categories":    []any{"Sobre dividendos", "Sobre negocio y situación financiera"},
		"categories_en": []any{"Sobre dividendos (es)", "Business and financial position"},
		"eu_class":      nil, // one of the categories is not known
		"source_url":    "https://regulator.example/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=40374",
		"headline":      nil,
		"headline_en":   nil,
	}
	s.get(http.StatusOK, "/api/v1/reports?search=oir-40374").decode(&list)
	for name, value := range list["data"].([]any)[0].(map[string]any) { // it begins with all that the list says
		want[name] = value
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Unknown fields of a report are null, and lists without entries are empty.
func TestReportDetailOfLittle(t *testing.T) {
	r := newReport(disclosure.IP, 7, "2026-04-22T12:00:00Z")
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{r}})
	body := string(s.get(http.StatusOK, "/api/v1/reports/ip-7").body)
	for _, want := range []string{
		`"pdf_url":null,"nif":null,"issuer_id":null,"categories":[],"categories_en":[],"eu_class":"2.2","source_url":null,"related":[],"corrected_by":null,` +
			`"time_precision":null,"suspect_time":false,"registered_at":"2026-04-22T14:00:00+02:00","first_seen_at":`,
		`,"enriched_at":null,"text_ready_at":null,"summary_ready_at":null,"document":{"status":"pending","reason":"The report's page`,
		`"summary_method":null,"summary_language":null,"evidence":[],"summary_en":null,"evidence_en":[],"facts":null,"facts_ready_at":null,"headline":null,"headline_en":null,"attribution":`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s, want %s in it", body, want)
		}
	}
}

// What the regulator says of a report beside the report itself.
func TestReportDetailOfMuch(t *testing.T) {
	r := newReport(disclosure.IP, 7, "2026-04-22T12:00:33Z")
	r.TimeFrom, r.CorrectedBy = disclosure.FromPermalink, "ip-9"
	r.EnrichedAt = r.PublishedAt.Add(1500 * time.Millisecond)
	r.Related = []disclosure.Relation{
		{ID: "oir-8", Number: 8, At: r.PublishedAt.Add(-time.Hour).Truncate(time.Minute), Text: "Amplía <lo> \"dicho\""},
		{Number: 9},
	}
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{r}})
	body := string(s.get(http.StatusOK, "/api/v1/reports/ip-7").body)
	for _, want := range []string{
		`"related":[{"id":"oir-8","cnmv_registration_number":"8","published_at":"2026-04-22T13:00:00+02:00","text":"Amplía <lo> \"dicho\""},` +
			`{"id":null,"cnmv_registration_number":"9","published_at":null,"text":null}],` +
			`"corrected_by":"ip-9","time_precision":"second","suspect_time":false,"registered_at":"2026-04-22T14:00:33+02:00",`,
		`,"enriched_at":"2026-04-22T14:00:34.5+02:00",`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s, want %s in it", body, want)
		}
	}
}

// A report that is dated in the future keeps its time, which is called suspect, and is
// not the first of the list.
func TestSuspectTime(t *testing.T) {
	seen := newReport(disclosure.IP, 7, "2026-04-22T12:00:00Z").PublishedAt
	var b store.Batch
	for n, ahead := range []time.Duration{0, 24 * time.Hour, 24*time.Hour + time.Second, 365 * 24 * time.Hour} {
		r := newReport(disclosure.IP, int64(n+1), "2026-04-22T12:00:00Z")
		r.PublishedAt = seen.Add(ahead)
		r.FirstSeenAt = seen.Add(time.Duration(n) * time.Minute)
		b.Reports = append(b.Reports, r)
	}
	b.Reports[2].PublishedAt = b.Reports[2].FirstSeenAt.Add(24*time.Hour + time.Second)
	s := start(t, "demo", b)
	for n, want := range []bool{false, false, true, true} {
		var got struct {
			SuspectTime bool      `json:"suspect_time"`
			PublishedAt time.Time `json:"published_at"`
		}
		s.get(http.StatusOK, "/api/v1/reports/"+disclosure.ReportID(disclosure.IP, int64(n+1))).decode(&got)
		if got.SuspectTime != want || !got.PublishedAt.Equal(b.Reports[n].PublishedAt) {
			t.Errorf("ip-%d: suspect %t, published %v; want %t, %v", n+1, got.SuspectTime, got.PublishedAt, want, b.Reports[n].PublishedAt)
		}
	}
	var list struct{ Data []struct{ ID string } }
	s.get(http.StatusOK, "/api/v1/reports").decode(&list)
	if got := fmt.Sprint(list.Data); got != "[{ip-2} {ip-4} {ip-3} {ip-1}]" {
		t.Errorf("the list is %s", got)
	}
}

func TestTimePrecision(t *testing.T) {
	var b store.Batch
	want := map[string]any{}
	for n, from := range []disclosure.Surface{"", disclosure.FromList, disclosure.FromPermalink, disclosure.FromFeed} {
		r := newReport(disclosure.HR, int64(n+1), "2026-04-22T12:00:00Z")
		r.TimeFrom = from
		b.Reports = append(b.Reports, r)
		want[disclosure.ReportID(r.Type, r.Number)] = []any{nil, "minute", "second", "second"}[n]
	}
	s := start(t, "demo", b)
	for id, precision := range want {
		var got map[string]any
		s.get(http.StatusOK, "/api/v1/reports/"+id).decode(&got)
		if got["time_precision"] != precision {
			t.Errorf("the time of %s has precision %v, want %v", id, got["time_precision"], precision)
		}
	}
}

// A report has its issuer also while that is not in the directory. The issuer has
// its own id even if the report names it by another identifier.
func TestReportDetailHasIssuer(t *testing.T) {
	s := start(t, "demo", market())
	for id, want := range map[string]string{
		"oir-40374": "A69000016", "oir-40375": "B69000032", "hr-256057": "fi-4720", "ip-3123": "A69000024",
	} {
		var detail struct {
			IssuerID string `json:"issuer_id"`
		}
		s.get(http.StatusOK, "/api/v1/reports/"+id).decode(&detail)
		if detail.IssuerID != want {
			t.Errorf("%s has issuer %q, want %q", id, detail.IssuerID, want)
		}
	}
}

func TestReportIDs(t *testing.T) {
	s := start(t, "demo", market())
	for _, id := range []string{"oir-40374", "OIR-40374", "Oir-40374", "%6Fir-40374"} {
		if body := s.get(http.StatusOK, "/api/v1/reports/"+id).body; !strings.HasPrefix(string(body), `{"id":"oir-40374",`) {
			t.Errorf("%s: %s", id, body)
		}
	}
	for _, id := range []string{
		"oir-99999", "ip-40374", "oir-040374", "oir-0", "oir", "oir-", "40374", "-", "%00", "%ff", "a%2Fb", "oir-40374%20", "oir-99999999999999999999",
		strings.Repeat("x", 5000), "null", "%22", "..%2f..%2fetc%2fpasswd",
	} {
		doc := s.get(http.StatusNotFound, "/api/v1/reports/"+id).problem()
		if doc.Type != "urn:pregon:problem:not-found" || doc.Status != http.StatusNotFound || len(doc.Detail) > 200 {
			t.Errorf("%s: %+v", id, doc)
		}
	}
}
