package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// get requests a target of the REST API.
func (s *service) get(target string, header ...string) (status int, body []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.server.URL+target, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := s.server.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err = io.ReadAll(res.Body); err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, body
}

// object decodes an object.
func object(t testing.TB, raw []byte) (out map[string]any) {
	t.Helper()
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%v in %.300s", err, raw)
	}
	return out
}

type offered struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	Annotations               map[string]bool
	Meta                      struct{ UI struct{ ResourceURI string } } `json:"_meta"`
}

func (s *service) tools() (list struct{ Tools []offered }) {
	s.t.Helper()
	s.post(legacy("tools/list", "{}")).into(&list)
	return list
}

// The list of tools is short, since every agent reads it first.
func TestToolsList(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	a := s.post(legacy("tools/list", "{}"))
	if tokens := len(a.body) * 3 / 10; tokens > 4500 {
		t.Errorf("the list of tools has about %d tokens", tokens)
	}
	views := map[string]string{"search_reports": "ui://pregon/filings-feed", "get_issuer": "ui://pregon/issuer", "get_analytics": "ui://pregon/analytics"}
	for _, tool := range s.tools().Tools {
		if diff := cmp.Diff(map[string]bool{"readOnlyHint": true, "destructiveHint": false, "openWorldHint": false}, tool.Annotations); diff != "" {
			t.Errorf("%s: %s", tool.Name, diff)
		}
		if tool.Title == "" || tool.Description == "" || tool.Meta.UI.ResourceURI != views[tool.Name] {
			t.Errorf("%+v", tool)
		}
		if input := object(t, tool.InputSchema); input["type"] != "object" || input["additionalProperties"] != false {
			t.Errorf("%s takes %v", tool.Name, input)
		}
	}
}

// Every result matches the schema of its tool.
func TestResultsAreOfTheirSchemas(t *testing.T) {
	t.Parallel()
	s := startWithDocument(t, start(t, busy(30, 300, 1)))
	s.append(querytest.Positions())
	key := s.key(access.AllScopes)
	calls := map[string][]string{
		"search_reports":  {`{}`, `{"search":"nothing at all"}`, `{"limit":50}`, `{"page":9}`, `{"in":"document","search":"confidencialísima"}`, `{"type":"IP","kind":"company"}`},
		"count_reports":   {`{"by":"issuer"}`, `{"by":"category","search":"nothing at all"}`, `{"by":"month","page":9}`},
		"list_values":     {`{"of":"category"}`, `{"of":"fact"}`, `{"of":"date"}`},
		"get_report":      {`{"id":"oir-40374"}`, `{"id":"OIR-40375"}`, `{"id":"hr-256057"}`},
		"read_document":   {`{"id":"oir-40374"}`, `{"id":"oir-40374","offset":5,"max_chars":3}`, `{"id":"oir-40374","offset":2147483647}`, `{"id":"oir-40375"}`},
		"search_issuers":  {`{}`, `{"search":"zzzzzzzz"}`, `{"kind":"fund","limit":1}`},
		"get_issuer":      {`{"id":"A69000016"}`, `{"id":"fi-4720"}`, `{"id":"sgiic-194"}`},
		"get_analytics":   {`{}`},
		"service_status":  {`{}`},
		"propose_alert":   {`{}`, `{"search":"dividendo","type":"IP","url":"https://receiver.example/x"}`, `{"issuer":"A69000016","in":"document","search":"junta"}`},
		"list_facts":      {`{}`, `{"kind":"dividend"}`, `{"search":"buyback"}`},
		"calendar":        {`{}`, `{"kind":"payment"}`},
		"get_ownership":   {`{"issuer":"A69000016"}`, `{"issuer":"A69000024"}`},
		"list_dealings":   {`{}`, `{"side":"buy","limit":1}`, `{"issuer":"A69000024"}`},
		"list_watchlists": {`{}`},
		"list_shorts":     {`{}`, `{"of":"issuers"}`, `{"issuer":"A69000016","current":true}`},
		"search":          {`{"query":"bodegas"}`, `{"query":"zzzz"}`, `{"query":"¿Qué ha comunicado Bodegas de Valdebrisa sobre zzzz?"}`},
		"fetch":           {`{"id":"oir-40374"}`, `{"id":"A69000016"}`, `{"id":"OIR-40375"}`},
	}
	for _, tool := range s.tools().Tools {
		var schema jsonschema.Schema
		if err := json.Unmarshal(tool.OutputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(calls[tool.Name]) == 0 {
			t.Errorf("the test has no call of %s", tool.Name)
		}
		for _, arguments := range calls[tool.Name] {
			out := s.call(tool.Name, arguments, key...)
			if out.IsError {
				t.Fatalf("%s %s: %s", tool.Name, arguments, out.text())
			}
			got := object(t, out.StructuredContent)
			if err := resolved.Validate(got); err != nil {
				t.Errorf("%s %s: %v", tool.Name, arguments, err)
			}
			if schema.Required != nil { // the check must be able to fail
				delete(got, schema.Required[0])
				if resolved.Validate(got) == nil {
					t.Errorf("%s: the schema accepts any value", tool.Name)
				}
			}
		}
	}
}

// list is the result of a search.
type list struct {
	Data               []map[string]any
	Total, Page, Limit int
	Seq                int64
	Next               *struct{ Page, Limit int }
}

func (s *service) search(arguments string, header ...string) (out list, text string) {
	s.t.Helper()
	got := s.call("search_reports", arguments, header...)
	if got.IsError {
		s.t.Fatalf("%s: %s", arguments, got.text())
	}
	if err := json.Unmarshal(got.StructuredContent, &out); err != nil {
		s.t.Fatal(err)
	}
	return out, got.text()
}

// rowFields are the fields of a report in a list of the tools.
const rowFields = "id,company_name,ticker,type,title,summary,published_at,cnmv_registration_number,pdf_url,issuer_id,categories,url"

// A search returns the same reports as over REST, in the same order, each with its link.
func TestSearchesAreThoseOfREST(t *testing.T) {
	t.Parallel()
	s := start(t, busy(150, 1200, 2))
	random := rand.New(rand.NewPCG(3, 4))
	choices := map[string][]string{
		"search":   {"", "", "", "dividendo", "junta resultados", "\"fusión\" -pago", "BVB", "A69000016", "nandu", "zzz"},
		"type":     {"", "", "IP", "HR", "OIR"},
		"issuer":   {"", "", "", "", "", "", "A69000016", "fi-4720", "ES0SIM000010", "bvb"},
		"from":     {"", "", "2026-05-06", "2026-05-20"},
		"to":       {"", "", "2026-05-20", "2026-12-31"},
		"category": {"", "", "Sobre resultados", "sobre dividendos"},
		"kind":     {"", "", "", "", "company", "fund", "manager", "other"},
		"limit":    {"", "3", "50", "50", "50"},
		"page":     {"", "", "1", "2", "1000"},
	}
	cut := 0
	for range 100 {
		query, arguments := url.Values{}, map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(choices)) { // the same in every run
			values := choices[name]
			v := values[random.IntN(len(values))]
			if v == "" || name != "limit" && name != "page" && random.IntN(3) > 0 { // few filters, so that most searches have results
				continue
			}
			query.Set(name, v)
			arguments[name] = v
			if n, err := strconv.Atoi(v); err == nil {
				arguments[name] = n
			}
		}
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		got := s.call("search_reports", string(raw))
		answer := object(t, got.StructuredContent)
		if seq := answer["seq"]; seq != float64(s.catalog.Snapshot().Seq()) {
			t.Errorf("seq is %v", seq)
		}
		next := answer["next"]
		if cursor := answer["cursor"]; cursor != s.catalog.Snapshot().Head().String() {
			t.Errorf("cursor is %v", cursor)
		}
		delete(answer, "seq")
		delete(answer, "cursor")
		delete(answer, "next")
		query.Set("fields", rowFields)
		status, body := s.get("/api/v1/reports?" + query.Encode())
		want := object(t, body)
		rows, page, limit := len(answer["data"].([]any)), int(want["page"].(float64)), int(want["limit"].(float64))
		if all := want["data"].([]any); rows < len(all) { // the page was truncated
			want["data"] = all[:rows]
			cut++
		}
		if diff := cmp.Diff(want, answer); status != http.StatusOK || diff != "" {
			t.Fatalf("%s: %d %s", raw, status, diff)
		}
		end := (page-1)*limit + rows
		more := end < int(want["total"].(float64)) && rows > 0
		if (next != nil) != more && rows > 0 {
			t.Errorf("%s: next is %v", raw, next)
		}
		if on, ok := next.(map[string]any); ok && more && (on["page"].(float64)-1)*on["limit"].(float64) != float64(end) {
			t.Errorf("%s: next is %v, after %d", raw, next, end)
		}
	}
	if cut < 5 || cut > 95 {
		t.Errorf("%d pages were truncated: the test needs pages of both kinds", cut)
	}
	for _, arguments := range []string{`{"search":"ardazul","limit":1}`, `{}`, `{"kind":"fund"}`, `{"search":"navalbrma"}`} {
		var given map[string]any
		if err := json.Unmarshal([]byte(arguments), &given); err != nil {
			t.Fatal(err)
		}
		query := url.Values{}
		for name, v := range given {
			query.Set(name, fmt.Sprint(v))
		}
		_, body := s.get("/api/v1/issuers?" + query.Encode())
		want := object(t, body)
		want["seq"], want["cursor"] = float64(s.catalog.Snapshot().Seq()), s.catalog.Snapshot().Head().String()
		if diff := cmp.Diff(want, object(t, s.call("search_issuers", arguments).StructuredContent)); diff != "" {
			t.Errorf("%s: %s", arguments, diff)
		}
	}
}

// Records equal those of REST, with a seq added where they have none.
func TestRecordsAreThoseOfREST(t *testing.T) {
	t.Parallel()
	s := startWithDocument(t, start(t, market()))
	seq, cursor := float64(s.catalog.Snapshot().Seq()), s.catalog.Snapshot().Head().String()
	for _, test := range []struct {
		tool, arguments, target string
		differ                  []string // fields that change with time
		plus                    map[string]any
	}{
		{"get_report", `{"id":"oir-40374"}`, "/api/v1/reports/oir-40374", nil, map[string]any{"seq": seq, "cursor": cursor, "url": baseURL + "/reports/oir-40374"}},
		{"get_report", `{"id":"IP-3123"}`, "/api/v1/reports/ip-3123", nil, map[string]any{"seq": seq, "cursor": cursor, "url": baseURL + "/reports/ip-3123"}},
		{"get_issuer", `{"id":"A69000016"}`, "/api/v1/issuers/A69000016", nil, map[string]any{"seq": seq, "cursor": cursor}},
		{"get_issuer", `{"id":"es0sim000010"}`, "/api/v1/issuers/A69000016", nil, map[string]any{"seq": seq, "cursor": cursor}},
		{"get_analytics", `{}`, "/api/v1/analytics", []string{"generated_at"}, nil},
		{"service_status", `{}`, "/api/v1/status", []string{"catalog", "checked_at"}, nil},
	} {
		status, body := s.get(test.target)
		want, got := object(t, body), object(t, s.call(test.tool, test.arguments).StructuredContent)
		for name, v := range test.plus {
			want[name] = v
		}
		for _, name := range test.differ {
			delete(want, name)
			delete(got, name)
		}
		if diff := cmp.Diff(want, got); status != http.StatusOK || diff != "" {
			t.Errorf("%s: %d %s", test.tool, status, diff)
		}
	}
}

// A client that follows next sees every report once, whatever the first page is.
func TestFollowNext(t *testing.T) {
	t.Parallel()
	s := start(t, busy(90, 2500, 5))
	all, total := []string{}, 0
	for page := 1; ; page++ {
		_, body := s.get(fmt.Sprintf("/api/v1/reports?limit=50&page=%d", page))
		rows := object(t, body)["data"].([]any)
		for _, row := range rows {
			all = append(all, row.(map[string]any)["id"].(string))
		}
		if total = len(all); len(rows) < 50 {
			break
		}
	}
	cut := false
	for _, begin := range [][2]int{{1, 50}, {2, 50}, {1, 10}, {3, 10}, {4, 7}, {80, 1}, {2, 47}, {5, 13}, {3, 31}} {
		page, limit := begin[0], begin[1]
		seen := []string{}
		for rounds := 0; ; rounds++ {
			if rounds > total {
				t.Fatalf("%v: the pages do not end", begin)
			}
			out, _ := s.search(fmt.Sprintf(`{"page":%d,"limit":%d}`, page, limit))
			cut = cut || out.Next != nil && len(out.Data) < limit
			if out.Next != nil && out.Next.Limit < (min(limit, len(out.Data), 10)+1)/2 {
				t.Errorf("%v: after %d reports the next limit is %d", begin, len(out.Data), out.Next.Limit)
			}
			for _, row := range out.Data {
				seen = append(seen, row["id"].(string))
			}
			if out.Next == nil {
				break
			}
			page, limit = out.Next.Page, out.Next.Limit
		}
		if diff := cmp.Diff(all[(begin[0]-1)*begin[1]:], seen); diff != "" {
			t.Errorf("%v: %s", begin, diff)
		}
	}
	if !cut {
		t.Error("no page was truncated")
	}
}

// Agents read the English names of categories.
func TestCategoriesInEnglish(t *testing.T) {
	s := start(t, market())
	out := s.call("get_report", `{"id":"oir-40374"}`)
	if want := "Categories: «Sobre dividendos (es); Business and financial position»\n"; !strings.Contains(out.text(), want) {
		t.Errorf("%s, want %s in it", out.text(), want)
	}
}

// Results are bounded, however long the texts of filers are.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	shapes := []string{
		strings.Repeat("palabra ", 100_000/8), strings.Repeat(`"`, 20_000), strings.Repeat("😀", 5_000), strings.Repeat("x", 20_000),
		strings.Repeat("a\n", 10_000), strings.Repeat("media palabra ", 60),
	}
	b := store.Batch{}
	for i := range 56 {
		r := newReport(disclosure.OIR, 100+int64(i), "2026-05-04T07:00:00Z")
		text := shapes[i%len(shapes)]
		if i >= len(shapes) {
			text = text[:min(len(text), 4_000)] // longer texts are slow and are truncated as well
		}
		r.Title, r.Summary = text, text
		few := text[:min(len(text), 2_000)]
		for n := int64(0); n < 25 && i < len(shapes); n++ {
			r.Related = append(r.Related, disclosure.Relation{Number: n + 1, Text: few})
			r.Evidence = append(r.Evidence, disclosure.Evidence{Text: few, Page: 1, Quote: few})
		}
		r.SummaryMethod, r.Category = "extractive", few
		b.Reports = append(b.Reports, r)
	}
	for i := range 50 { // a page with many reports has a long text
		r := newReport(disclosure.IP, 100+int64(i), "2026-05-04T07:00:00Z")
		r.Title = strings.Repeat("título ", 14)
		b.Reports = append(b.Reports, r)
	}
	s := start(t, b)
	within := func(what string, out called) {
		t.Helper()
		if tokens := float64(len(out.StructuredContent)+len(out.text())) / 3.3; tokens >= 6000 || out.IsError {
			t.Errorf("%s has %.0f tokens: %.100s", what, tokens, out.text())
		}
	}
	for _, arguments := range []string{`{"limit":50}`, `{}`, `{"limit":1}`, `{"limit":50,"page":2}`, `{"limit":7,"page":3}`, `{"limit":50,"type":"IP"}`} {
		within(arguments, s.call("search_reports", arguments))
	}
	for _, r := range b.Reports[:6] {
		within(r.ID, s.call("get_report", `{"id":"`+r.ID+`"}`))
	}
	var read struct{ Contents []struct{ Text string } }
	s.post(legacy("resources/read", `{"uri":"pregon://reports/search?limit=50"}`)).into(&read)
	if n := len(read.Contents[0].Text); n > 20_000 {
		t.Errorf("the resource has %d bytes", n)
	}
}
