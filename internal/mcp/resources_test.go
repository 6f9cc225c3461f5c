package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/mcp"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// read is the result of resources/read.
type read struct {
	Contents   []struct{ URI, MIMEType, Text string }
	TTLMs      int
	CacheScope string
}

func (s *service) read(uri string, header ...string) (out read) {
	s.t.Helper()
	s.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri), header...).into(&out)
	if len(out.Contents) != 1 || out.Contents[0].URI != uri {
		s.t.Fatalf("%s: %+v", uri, out)
	}
	return out
}

// A resource has the content of the result of its tool.
func TestResources(t *testing.T) {
	t.Parallel()
	s := startWithDocument(t, start(t, market()))
	for uri, tool := range map[string][2]string{
		"pregon://reports/latest":                                    {"search_reports", `{}`},
		"pregon://reports/search":                                    {"search_reports", `{}`},
		"pregon://reports/search?type=OIR&kind=company":              {"search_reports", `{"type":"OIR","kind":"company"}`},
		"pregon://reports/search?kind=company&type=OIR":              {"search_reports", `{"type":"OIR","kind":"company"}`},
		"pregon://reports/search?search=junta%20general&limit=1":     {"search_reports", `{"search":"junta general","limit":1}`},
		"pregon://reports/search?from=2026-04-23&to=2026-04-23":      {"search_reports", `{"from":"2026-04-23","to":"2026-04-23"}`},
		"pregon://reports/search?category=Fusi%C3%B3n+de+IIC&issuer": {"search_reports", `{"category":"Fusión de IIC"}`},
		"pregon://reports/oir-40374":                                 {"get_report", `{"id":"oir-40374"}`},
		"pregon://reports/OIR-40374":                                 {"get_report", `{"id":"oir-40374"}`},
		"pregon://reports/oir%2D40374":                               {"get_report", `{"id":"oir-40374"}`},
		"pregon://issuers/A69000016":                                 {"get_issuer", `{"id":"A69000016"}`},
		"pregon://issuers/ES0SIM000010":                              {"get_issuer", `{"id":"A69000016"}`},
		"pregon://issuers/fi-4720":                                   {"get_issuer", `{"id":"fi-4720"}`},
	} {
		out := s.read(uri)
		if diff := cmp.Diff(object(t, s.call(tool[0], tool[1]).StructuredContent), object(t, []byte(out.Contents[0].Text))); diff != "" {
			t.Errorf("%s: %s", uri, diff)
		}
		if out.Contents[0].MIMEType != "application/json" || out.TTLMs != 1000 || out.CacheScope != "public" {
			t.Errorf("%s: %+v", uri, out)
		}
	}
	key := s.key(access.AllScopes)
	if out := s.read("pregon://reports/latest", key...); out.CacheScope != "private" || out.TTLMs != 1000 {
		t.Errorf("a resource that needs credentials has a public cache scope: %+v", out)
	}
	out := s.read("pregon://documents/oir-40374", key...)
	if c := out.Contents[0]; c.MIMEType != "text/plain" || !strings.Contains(c.Text, hidden) || !strings.Contains(c.Text, "[page 2]") || out.CacheScope != "private" {
		t.Errorf("%+v", out)
	}
	for _, uri := range []string{"pregon://reports/nope", "pregon://reports/oir-1", "pregon://issuers/nobody", "pregon://", "pregon://reports/", "pregon://documents/oir-1", "pregon://reports/%zz"} {
		s.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri), key...).refused(http.StatusBadRequest, -32602)
	}
	for uri, want := range map[string]string{
		"pregon://reports/search?type=XX&limit=99": "unknown type 'XX': use IP, HR or OIR; limit '99' must be", "pregon://reports/search?search=a&search=b": "may be given once only",
		"pregon://reports/search?%zz": "cannot be read", "pregon://documents/oir-40374?offset=-1": "offset '-1'", "pregon://reports/search?in=document": "search is needed",
	} {
		if text := s.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri), key...).refused(http.StatusBadRequest, -32602); !strings.Contains(text, want) {
			t.Errorf("%s: %s", uri, text)
		}
	}
	s.ask("resources/read", `{"uri":"pregon://documents/oir-40375"}`, key...).refused(http.StatusServiceUnavailable, -32006) // its text is not extracted yet
}

// Each piece of a long document has the URI of the next one.
func TestResourceOfALongDocument(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	s.document("oir-40374", strings.Repeat("palabra ", 5000), "el final")
	key := s.key(access.ReadReports)
	uri, pieces := "pregon://documents/oir-40374", 0
	for ; uri != ""; pieces++ {
		text := s.read(uri, key...).Contents[0].Text
		if _, on, ok := strings.Cut(text, "Continue with offset="); ok {
			uri = "pregon://documents/oir%2D40374?offset=" + strings.TrimSuffix(on, ".")
		} else if uri = ""; !strings.Contains(text, "el final") {
			t.Errorf("the piece ends with %.200s", text[max(0, len(text)-200):])
		}
	}
	if pieces != 3 {
		t.Errorf("%d pieces", pieces)
	}
}

func TestViews(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	var list struct {
		Resources  []struct{ URI, MIMEType string }
		TTLMs      int
		CacheScope string
	}
	s.ask("resources/list", "{}", s.key(access.AllScopes)...).into(&list)
	views := 0
	for _, r := range list.Resources {
		if !strings.HasPrefix(r.URI, "ui://") {
			continue
		}
		views++
		out := s.read(r.URI)
		if c := out.Contents[0]; c.MIMEType != "text/html;profile=mcp-app" || r.MIMEType != c.MIMEType || !strings.HasPrefix(strings.ToLower(c.Text), "<!doctype html>") ||
			out.TTLMs != 300_000 || out.CacheScope != "public" {
			t.Errorf("%s: %s %d %s %.100s", r.URI, c.MIMEType, out.TTLMs, out.CacheScope, c.Text)
		}
	}
	if views != 3 || len(list.Resources) != 4 || list.TTLMs != 300_000 || list.CacheScope != "public" {
		t.Errorf("%+v", list)
	}
	for _, method := range []string{"tools/list", "prompts/list", "resources/templates/list", "server/discover"} {
		var out read
		if s.ask(method, "{}").into(&out); out.TTLMs != 300_000 || out.CacheScope != "public" {
			t.Errorf("%s: %+v", method, out)
		}
	}
}

// Offer returns the tools, resources and prompts that the server lists.
func TestOffer(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	offer := mcp.Offered()
	names := func(all []mcp.Entry) map[string]bool {
		out := map[string]bool{}
		for _, e := range all {
			out[e.Name] = e.NeedsCredential
		}
		return out
	}
	var got struct {
		Prompts           []struct{ Name string }
		ResourceTemplates []struct{ URITemplate string }
	}
	tools := map[string]bool{}
	for _, tool := range s.tools().Tools {
		tools[tool.Name] = strings.Contains(tool.Description, "Needs a key")
	}
	s.post(legacy("prompts/list", "{}")).into(&got)
	s.post(legacy("resources/templates/list", "{}")).into(&got)
	prompts, templates := map[string]bool{}, map[string]bool{}
	for _, p := range got.Prompts {
		prompts[p.Name] = false
	}
	for _, r := range got.ResourceTemplates {
		templates[r.URITemplate] = strings.Contains(r.URITemplate, "documents")
	}
	if diff := cmp.Diff([]map[string]bool{tools, prompts, templates}, []map[string]bool{names(offer.Tools), names(offer.Prompts), names(offer.Templates)}); diff != "" {
		t.Error(diff)
	}
	if len(offer.Views) != 3 || len(offer.Resources) != 1 || offer.Versions[0] != newest {
		t.Errorf("%+v", offer)
	}
}

type prompted struct {
	Messages []struct {
		Role    string
		Content struct {
			Type, Text string
			Resource   struct{ URI, MIMEType, Text string }
		}
	}
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	s := start(t, market(), func(o *setup) { o.source = "demo" })
	get := func(name, arguments string) (text, uri string, about map[string]any) {
		t.Helper()
		var out prompted
		s.post(legacy("prompts/get", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))).into(&out)
		if len(out.Messages) != 2 || out.Messages[0].Content.Type != "text" || out.Messages[1].Content.Type != "resource" {
			t.Fatalf("%+v", out)
		}
		r := out.Messages[1].Content.Resource
		return out.Messages[0].Content.Text, r.URI, object(t, []byte(r.Text))
	}
	for _, test := range []struct{ name, arguments, text, uri, id string }{
		{"morning_briefing", `{"date":"2026-04-22"}`, "Escribe en español", "pregon://reports/search?from=2026-04-22&to=2026-04-22", ""},
		{"morning_briefing", `{"date":"2026-04-22","language":"es"}`, "el 2026-04-22", "pregon://reports/search?from=2026-04-22&to=2026-04-22", ""},
		{"morning_briefing", `{"date":"2026-04-22","language":"en"}`, "Write in English", "pregon://reports/search?from=2026-04-22&to=2026-04-22", ""},
		{"issuer_brief", `{"issuer":"A69000016"}`, "Presenta en español", "pregon://issuers/A69000016", "A69000016"},
		{"issuer_brief", `{"issuer":"valdebrisa","language":"en"}`, "Introduce in English", "pregon://issuers/A69000016", "A69000016"},
		{"issuer_brief", `{"issuer":"ES0SIM000010","language":""}`, "Presenta en español", "pregon://issuers/A69000016", "A69000016"},
		{"explain_filing", `{"id":"OIR-40374","unknown":"x"}`, "Explica en español", "pregon://reports/oir-40374", "oir-40374"},
		{"explain_filing", `{"id":"oir-40374","language":"en"}`, "Explain in English", "pregon://reports/oir-40374", "oir-40374"},
	} {
		text, uri, about := get(test.name, test.arguments)
		if !strings.Contains(text, test.text) || uri != test.uri || test.id != "" && about["id"] != test.id || !strings.HasPrefix(text, "SIMULATED MARKET") {
			t.Errorf("%s %s: %s %v %.200s", test.name, test.arguments, uri, about["id"], text)
		}
		if test.id == "" && about["total"] != 1.0 {
			t.Errorf("%s %s: %v", test.name, test.arguments, about["total"])
		}
		if same := s.read(uri).Contents[0].Text; object(t, []byte(same))["id"] != about["id"] {
			t.Errorf("%s has other content than the prompt", uri)
		}
	}
	if text, _, about := get("morning_briefing", `{}`); about["total"] != 0.0 || !strings.Contains(text, "service_status") {
		t.Errorf("today: %v %s", about["total"], text)
	}
	for _, test := range []struct{ name, arguments, want string }{
		{"issuer_brief", `{}`, "issuer is needed"},
		{"issuer_brief", `{"issuer":" "}`, "issuer is needed"},
		{"issuer_brief", `{"issuer":"zzzzzz"}`, "search_issuers finds them"},
		{"explain_filing", `{"language":"fr"}`, "id is needed; language 'fr' must be es or en"},
		{"explain_filing", `{"id":"oir-1"}`, "There is no report oir-1"},
		{"morning_briefing", `{"date":"tomorrow","language":"EN"}`, "language 'EN' must be es or en; date 'tomorrow' must be a date"},
	} {
		params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, test.name, test.arguments)
		if text := s.post(legacy("prompts/get", params)).refused(http.StatusOK, -32602); !strings.Contains(text, test.want) {
			t.Errorf("%s: %s", params, text)
		}
		s.ask("prompts/get", params).refused(http.StatusBadRequest, -32602)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	b := market()
	for i := range int64(30) {
		b.Reports = append(b.Reports, newReport(disclosure.OIR, 70000+i, "2026-05-01T08:00:00Z"))
	}
	s := start(t, store.Batch(b))
	for _, test := range []struct {
		ref, name, typed string
		total            int
		first            string
		more             bool
	}{
		{`"ref/prompt","name":"explain_filing"`, "id", "oir-4", 2, "oir-40375", false},
		{`"ref/prompt","name":"explain_filing"`, "id", "OIR-40374", 1, "oir-40374", false},
		{`"ref/prompt","name":"explain_filing"`, "id", "oir-7", 30, "oir-70029", true},
		{`"ref/prompt","name":"explain_filing"`, "id", "dividendos", 1, "oir-40374", false},
		{`"ref/prompt","name":"explain_filing"`, "id", "", 34, "oir-70029", true},
		{`"ref/prompt","name":"explain_filing"`, "language", "e", 2, "es", false},
		{`"ref/prompt","name":"explain_filing"`, "language", "fr", 0, "", false},
		{`"ref/prompt","name":"issuer_brief"`, "issuer", "valde", 1, "BODEGAS DE VALDEBRISA, S.A.", false},
		{`"ref/prompt","name":"morning_briefing"`, "date", "", 30, "", true},
		{`"ref/prompt","name":"morning_briefing"`, "date", "1999", 0, "", false},
		{`"ref/resource","uri":"pregon://issuers/{id}"`, "id", "valde", 1, "A69000016", false},
		{`"ref/resource","uri":"pregon://documents/{id}"`, "id", "ip-3", 1, "ip-3123", false},
		{`"ref/resource","uri":"pregon://reports/search{?search,type,issuer,from,to,category,kind}"`, "type", "o", 1, "OIR", false},
		{`"ref/resource","uri":"pregon://reports/search{?search,type,issuer,from,to,category,kind}"`, "kind", "", 4, "company", false},
		{`"ref/resource","uri":"pregon://reports/search{?search,type,issuer,from,to,category,kind}"`, "issuer", "BVB", 1, "A69000016", false},
		{`"ref/resource","uri":"pregon://reports/search{?search,type,issuer,from,to,category,kind}"`, "category", "dividendos", 1, "Sobre dividendos", false},
		{`"ref/resource","uri":"pregon://reports/search{?search,type,issuer,from,to,category,kind}"`, "nothing", "x", 0, "", false},
	} {
		var out struct {
			Completion struct {
				Values  []string
				Total   int
				HasMore bool
			}
		}
		s.post(legacy("completion/complete", fmt.Sprintf(`{"ref":{"type":%s},"argument":{"name":%q,"value":%q}}`, test.ref, test.name, test.typed))).into(&out)
		c := out.Completion
		if c.Total != 0 || c.HasMore != test.more || len(c.Values) != min(test.total, 20) || test.first != "" && c.Values[0] != test.first {
			t.Errorf("%s %s %q: %+v", test.ref, test.name, test.typed, c)
		}
	}
}

// Completion returns only values that the caller may read.
func TestCompletionNeedsScopes(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	count := func(argument string, header ...string) int {
		var out struct{ Completion struct{ Values []string } }
		s.post(legacy("completion/complete", argument), header...).into(&out)
		return len(out.Completion.Values)
	}
	const (
		report = `{"ref":{"type":"ref/prompt","name":"explain_filing"},"argument":{"name":"id","value":"o"}}`
		issuer = `{"ref":{"type":"ref/resource","uri":"pregon://reports/search{?search,type,issuer,from,to,category,kind}"},"argument":{"name":"issuer","value":"BVB"}}`
	)
	reports, issuers := s.key(access.ReadReports), s.key(access.ReadIssuers)
	if n := count(report, issuers...); n != 0 || count(report, reports...) == 0 || count(report) == 0 {
		t.Errorf("a caller without the scope for reports gets %d completions, want 0", n)
	}
	if n := count(issuer, reports...); n != 0 || count(issuer, issuers...) == 0 || count(issuer) == 0 {
		t.Errorf("a caller without the scope for issuers gets %d completions, want 0", n)
	}
}

// The URI of a search in a notification can be read.
func TestSearchURIsCanBeRead(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	for _, q := range []url.Values{{"search": {"dividendos & otros"}}, {"category": {"Sobre dividendos"}, "kind": {"company"}}, {"search": {"\"Junta General\""}}} {
		if got := object(t, []byte(s.read("pregon://reports/search?" + q.Encode()).Contents[0].Text)); got["total"] == 0.0 {
			t.Errorf("%v finds nothing", q)
		}
	}
}

// The pieces of a document add up to the whole text.
func TestReadDocument(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	pages := []string{strings.Repeat("Árbol ñandú 😀. ", 400), "corta", "", strings.Repeat("€", 3333)}
	s.document("oir-40374", pages...)
	key := s.key(access.ReadReports)
	for _, most := range []int{700, 8000} {
		var whole bytes.Buffer
		for offset, rounds := 0, 0; ; rounds++ {
			out := s.call("read_document", fmt.Sprintf(`{"id":"oir-40374","offset":%d,"max_chars":%d}`, offset, most), key...)
			var piece struct {
				Text  []struct{ Text string }
				Next  *int `json:"next_offset"`
				Total int  `json:"total_chars"`
			}
			if err := json.Unmarshal(out.StructuredContent, &piece); err != nil || rounds > 30 || piece.Total != len([]rune(strings.Join(pages, ""))) {
				t.Fatal(err, rounds, piece)
			}
			for _, p := range piece.Text {
				whole.WriteString(p.Text)
				if !strings.Contains(out.text(), p.Text) {
					t.Error("the text lacks the structured content")
				}
			}
			if piece.Next == nil {
				break
			}
			offset = *piece.Next
		}
		if whole.String() != strings.Join(pages, "") {
			t.Errorf("pieces of %d: they do not add up to the whole text", most)
		}
	}
}

// A report without a document is an answer: it says so, and has the links to the report.
func TestReadNoDocument(t *testing.T) {
	t.Parallel()
	without := querytest.Report(disclosure.OIR, 40999, "2026-11-18T10:00:00Z")
	without.Title = "Sin documento"
	s := start(t, store.Batch{Reports: []disclosure.Report{without}, New: disclosure.Backfilled})
	out := s.call("read_document", `{"id":"oir-40999"}`, s.key(access.ReadReports)...)
	var piece struct {
		Status, Reason string
		Text           []struct{}
	}
	if err := json.Unmarshal(out.StructuredContent, &piece); err != nil || out.IsError {
		t.Fatal(err, out.text())
	}
	if piece.Status != "none" || !strings.Contains(piece.Reason, "no document") || len(piece.Text) > 0 {
		t.Errorf("got %+v", piece)
	}
	for _, want := range []string{piece.Reason, without.Title, "/reports/oir-40999"} {
		if !strings.Contains(out.text(), want) {
			t.Errorf("the text does not have %q: %s", want, out.text())
		}
	}
}
