package rest_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/rest/resttest"
	"pregon/internal/store"
)

const csvType = "text/csv; charset=utf-8; header=present"

// csv returns the rows of an answer, the names of the columns first.
func (a answer) csv() [][]string {
	a.t.Helper()
	if got := a.header.Get("Content-Type"); got != csvType {
		a.t.Fatalf("the type is %s: %s", got, a.body)
	}
	rows, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
	if err != nil {
		a.t.Fatal(err)
	}
	return rows
}

// lists returns one URL of every operation that is documented as CSV, with its
// documented columns.
func (s *service) lists(header http.Header) map[string][]string {
	s.t.Helper()
	s.document("oir-40374", "El dividendo se pagará en mayo.", "Otra página: dividendo.")
	s.append(store.Batch{Reports: []disclosure.Report{withAllFacts()}})
	s.append(querytest.Positions())
	s.call("POST", "/api/v1/webhooks", header, `{"url":"https://127.0.0.1:8443/positions","events":["position.published"],
		"filter":{"holder":"Fondo","position":"short,holding","min_percent":"0.5"}}`, 201, nil)
	s.call("POST", "/api/v1/webhooks", header,
		`{"url":"https://127.0.0.1:8443/dealings","events":["position.published"],"filter":{"side":"buy"}}`, 201, nil)
	s.call("POST", "/api/v1/webhooks", header,
		`{"url":"https://127.0.0.1:8443/facts","filter":{"fact":"capital","min_amount":"5","currency":"USD"}}`, 201, nil)
	var hook webhookDoc
	s.call("POST", "/api/v1/webhooks", header, `{"url":"https://127.0.0.1:8443/all","filter":{"search":"dividendo","in":"document","type":"IP","issuer":"A69000016","sector":"food",
		"kind":"company","category":"Sobre dividendos","market":"SIBE","without":"securitisation","from":"2026-01-01","to":"2026-12-31"}}`, 201, nil)
	list, _ := s.listOf(header, `{"name":"Mine"}`)
	s.call("POST", "/api/v1/webhooks", header, `{"url":"https://127.0.0.1:8443/list","filter":{"watchlist":"`+list.ID+`"}}`, 201, nil)
	s.call("POST", "/api/v1/webhooks", header, `{"url":"https://127.0.0.1:8443/hook"}`, 201, &hook)
	s.call("POST", "/api/v1/webhooks/"+hook.ID+"/redeliver", header, `{"since":0}`, 202, nil)
	out := map[string][]string{}
	for path, item := range resttest.Document().Paths.Map() {
		if item.Get == nil || strings.HasPrefix(path, "/api/v1/account/watchlists/") { // a file, not a list
			continue
		}
		kind := item.Get.Responses.Status(200).Value.Content["text/csv"]
		if kind == nil {
			continue
		}
		columns, _, _ := strings.Cut(kind.Example.(string), "\r\n")
		target := strings.Replace(path, "{id}", hook.ID, 1) + "?limit=2"
		switch path {
		case "/api/v1/facts", "/api/v1/webhooks":
			target = path + "?limit=50"
		case "/api/v1/calendar":
			target = path + "?from=2026-01-01&to=2026-12-31"
		case "/api/v1/search/documents", "/api/v1/suggest":
			target += "&search=dividendo&q=a"
		case "/api/v1/shorts/series":
			target += "&issuer=A69000016"
		case "/api/v1/reports/counts":
			target += "&by=day"
		case "/api/v1/values":
			target += "&of=fact"
		case "/api/v1/changes":
			target = path + "?limit=100"
		case "/api/v1/completeness":
			target = path + "?from=2026-04-21&to=2026-04-23"
		}
		out[target] = strings.Split(columns, ",")
	}
	return out
}

// withAllFacts returns a report with a fact of each kind, with all of its fields.
func withAllFacts() disclosure.Report {
	r := newReport(disclosure.OIR, 990, "2026-04-22T08:00:00Z")
	r.NIF = "A69000016"
	r.Ticker = "ALL"
	r.FactsRules = 1
	for _, kind := range disclosure.FactKinds() {
		f := disclosure.Fact{Kind: kind, Fields: map[string]string{}}
		for _, name := range kind.Fields() {
			f.Fields[name] = "1"
		}
		r.Facts = append(r.Facts, f)
	}
	r.Facts = append(r.Facts, disclosure.Fact{Kind: disclosure.Meeting, Fields: map[string]string{
		"meeting_kind": "ordinary",
		"first_call":   "2026-06-18T12:00",
	}})
	return r
}

// byPath returns the URL of a list as CSV.
func byPath(target string) string { return strings.Replace(target, "?", ".csv?", 1) }

// with returns a header with one more field.
func with(header http.Header, name, value string) http.Header {
	header = header.Clone()
	header.Set(name, value)
	return header
}

// Every list is available as CSV in two ways, with the documented columns and as
// many rows as in JSON, and can be revalidated.
func TestLists(t *testing.T) {
	s := startRegisters(t)
	key := s.credentials(access.AllScopes)[0]
	lists := s.lists(key)
	if len(lists) != 18 {
		t.Errorf("%d lists are documented as CSV, want 18", len(lists))
	}
	for target, columns := range lists {
		asJSON := s.getWith(200, target, key)
		var rows struct{ Data, Days []any }
		asJSON.decode(&rows)
		for _, request := range []struct{ target, accept, vary string }{
			{target, "text/csv", "Authorization, X-API-Key, Accept-Encoding, Accept"},
			{byPath(target), "application/json", "Authorization, X-API-Key, Accept-Encoding"},
		} {
			header := with(key, "Accept", request.accept)
			a := s.getWith(200, request.target, header)
			got := a.csv()
			if diff := cmp.Diff(columns, got[0]); diff != "" {
				t.Errorf("%s: documented (-) and served (+) columns: %s", request.target, diff)
			}
			if want := len(rows.Data) + len(rows.Days); want == 0 || len(got)-1 != want || bytes.Count(a.body, []byte("\r\n")) != want+1 {
				t.Errorf("%s: %d rows, want %d\n%s", request.target, len(got)-1, want, a.body)
			}
			for n, column := range columns { // each exists in JSON
				name := column[strings.LastIndexByte(column, '.')+1:]
				if !bytes.Contains(asJSON.body, []byte(`"`+name+`"`)) && !sometimes[column] {
					t.Errorf("%s: no field is %s, column %d", target, column, n)
				}
			}
			path, _, _ := strings.Cut(target, "?")
			disposition := fmt.Sprintf("inline; filename=%q", path[strings.LastIndexByte(path, '/')+1:]+".csv")
			if a.header.Get("Vary") != request.vary || a.header.Get("Content-Disposition") != disposition || a.header.Get("Cache-Control") != asJSON.header.Get("Cache-Control") {
				t.Errorf("%s: %v", request.target, a.header)
			}
			tag := a.header.Get("ETag")
			if tag == asJSON.header.Get("ETag") {
				t.Errorf("%s: the tag of JSON, %s", request.target, tag)
			}
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				if again := s.do(method, request.target, with(header, "If-None-Match", tag)); again.status != 304 {
					t.Errorf("%s %s: %d, want 304", method, request.target, again.status)
				}
			}
			head := s.do(http.MethodHead, request.target, header)
			for _, h := range []http.Header{head.header, a.header} {
				h.Del("Date")
			}
			if diff := cmp.Diff(a.header, head.header); diff != "" || len(head.body) > 0 {
				t.Errorf("%s: headers of GET (-) and HEAD (+): %s", request.target, diff)
			}
		}
		if got := asJSON.header.Get("Vary"); got != "Authorization, X-API-Key, Accept-Encoding, Accept" {
			t.Errorf("%s: Vary: %s", target, got)
		}
	}
}

// sometimes are the columns whose field is absent from the JSON of the test.
var sometimes = map[string]bool{
	"history.at": true, "history.ok": true, "history.status": true, "history.latency_ms": true, "history.error": true, // of an attempt
	"missing.cnmv_registration_number": true, "missing.reason": true,
	"facts.kind": true, // of a document that states something: see TestReportFacts
}

// A list as CSV needs the same credentials as JSON, and its errors are problem
// documents.
func TestCSVErrors(t *testing.T) {
	s := startRegisters(t)
	for target := range s.lists(s.credentials(access.AllScopes)[0]) {
		path, _, _ := strings.Cut(target, "?")
		want := s.do(http.MethodGet, target, nil).status
		for _, target := range []string{target, byPath(target)} {
			a := s.do(http.MethodGet, target, http.Header{"Accept": {"text/csv"}})
			if a.status != want {
				t.Errorf("%s without a credential: %d, want %d as for JSON", target, a.status, want)
			}
		}
		a := s.getWith(401, path+".csv", http.Header{"X-Api-Key": {"nonsense"}})
		if got := a.header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("%s: an error of type %s", path, got)
		}
	}
	empty := startEmpty(t, "demo")
	if a := empty.get(503, "/api/v1/reports.csv"); a.header.Get("Retry-After") == "" {
		t.Errorf("%v", a.header)
	}
}

// Text of an issuer is never a formula.
func TestHostileCells(t *testing.T) {
	hostile := newReport(disclosure.OIR, 50000, "2026-05-01T08:00:00Z")
	hostile.CompanyName, hostile.Title = "=HYPERLINK(\"https://evil.example\")", "@SUM(1),\"2\"\n+3;=cmd|' /C calc'!A0"
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{hostile}})
	row := s.get(200, "/api/v1/reports.csv").csv()[1]
	if got, want := row[1], "'=HYPERLINK(\"https://evil.example\")"; got != want {
		t.Errorf("the name is %q, want %q", got, want)
	}
	if !strings.HasPrefix(row[4], "'@SUM(1),\"2\"") || !strings.Contains(row[4], ";'=cmd") || strings.Contains(row[4], "\n+") {
		t.Errorf("the title is %q", row[4])
	}
	if row[7] != "50000" || row[2] != "" {
		t.Errorf("the number is %q, the ticker %q", row[7], row[2])
	}
}

// Following the links yields every report once.
func TestCSVPages(t *testing.T) {
	s := start(t, "demo", market())
	var ids []string
	target, pages := "/api/v1/reports.csv?limit=3&search=simulaci%C3%B3n", 0
	for ; target != ""; pages++ {
		a := s.get(200, target)
		if got := a.header.Get("Pregon-Total"); got != strconv.Itoa(len(market().Reports)) {
			t.Errorf("the total is %q", got)
		}
		for _, row := range a.csv()[1:] {
			ids = append(ids, row[0])
		}
		target = next(a)
	}
	if want := s.get(200, "/api/v1/reports?limit=50").ids(); pages != 2 || strings.Join(ids, " ") != want {
		t.Errorf("%d pages with %s, want 2 with %s", pages, ids, want)
	}
	if a := s.get(200, "/api/v1/reports.csv?page=9"); len(a.csv()) != 1 || a.header.Get("Link") != "" {
		t.Errorf("a page past the end: %v %s", a.header, a.body)
	}
	if a := s.get(200, "/api/v1/reports.csv?limit=1&x="+strings.Repeat("x", 3000)); a.header.Get("Link") != "" {
		t.Errorf("a link of %d bytes", len(a.header.Get("Link")))
	}
}

// next returns the target of the link to the next page.
func next(a answer) string {
	link, found := strings.CutSuffix(a.header.Get("Link"), `>; rel="next"`)
	if !found {
		return ""
	}
	return strings.TrimPrefix(link, "<"+baseURL)
}

// Changes are followed by the link, and a tag is of the rows and of the link.
func TestCSVChanges(t *testing.T) {
	s := start(t, "demo", market())
	key := s.key()
	var seqs []string
	target := "/api/v1/changes.csv?after=0&limit=3&events=report.published"
	for {
		a := s.getWith(200, target, key)
		rows := a.csv()[1:]
		if target = next(a); target == "" {
			t.Fatal("no link to the next changes")
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			seqs = append(seqs, row[1])
		}
	}
	if len(seqs) != len(market().Reports) || !slices.IsSortedFunc(seqs, func(a, b string) int { return len(a) - len(b) }) {
		t.Errorf("changes %s", seqs)
	}
	before := s.getWith(200, target, key).header.Get("ETag")
	s.append(store.Batch{Issuers: []disclosure.Issuer{{NIF: "A69000016", Name: "OTRO NOMBRE, S.A.", Kind: disclosure.Company}}})
	if after := s.getWith(200, target, key).header.Get("ETag"); after == before {
		t.Errorf("the next cursor moved, and the tag is still %s", after)
	}
}
