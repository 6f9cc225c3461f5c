package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// research calls search or fetch, and checks that the text of the result is its JSON.
func (s *service) research(tool, arguments string, into any, header ...string) {
	s.t.Helper()
	out := s.call(tool, arguments, header...)
	if out.IsError || out.text() != string(out.StructuredContent) {
		s.t.Fatalf("%s %s: the text differs from the structured content: %.300s", tool, arguments, out.text())
	}
	if err := json.Unmarshal(out.StructuredContent, into); err != nil {
		s.t.Fatal(err)
	}
}

// found searches and returns the ids of n results or more.
func (s *service) found(question string, n int, header ...string) (ids []string) {
	s.t.Helper()
	raw, err := json.Marshal(map[string]string{"query": question})
	if err != nil {
		s.t.Fatal(err)
	}
	var out struct {
		Results []struct{ ID, Title, URL string }
	}
	s.research("search", string(raw), &out, header...)
	if len(out.Results) < n {
		s.t.Errorf("%s: found %+v, want %d", question, out.Results, n)
	}
	for _, r := range out.Results {
		if u, err := url.Parse(r.URL); err != nil || r.URL != "" && u.Scheme != "https" {
			s.t.Errorf("%s has the link %q", r.ID, r.URL)
		}
		checkQuoted(s.t, r.Title)
		ids = append(ids, r.ID)
	}
	return ids
}

// fetched fetches a result and returns its text.
func (s *service) fetched(id string, header ...string) string {
	s.t.Helper()
	var out struct {
		ID, Title, Text, URL string
		Metadata             map[string]string
	}
	s.research("fetch", fmt.Sprintf(`{"id":%q}`, id), &out, header...)
	if out.ID != id || out.Title == "" || out.Text == "" || len(out.Metadata) == 0 {
		s.t.Errorf("%s: %+v", id, out)
	}
	for _, v := range out.Metadata {
		checkQuoted(s.t, v)
	}
	return out.Text
}

func TestResearch(t *testing.T) {
	t.Parallel()
	s := startWithDocument(t, start(t, market()))
	key := s.key(access.AllScopes)
	if ids := s.found("bodegas", 2); !slices.Contains(ids, "A69000016") || !slices.Contains(ids, "oir-40374") {
		t.Errorf("found %v", ids)
	}
	// A question finds reports with its rarest words, even if no report has all.
	if ids := s.found("What did Bodegas de Valdebrisa announce about zzzz?", 1); !slices.Contains(ids, "oir-40374") {
		t.Errorf("found %v", ids)
	}
	if ids := s.found("¿Qué ha comunicado desde enero de 2026 Bodegas de Valdebrisa?", 1); !slices.Contains(ids, "oir-40374") {
		t.Errorf("found %v", ids)
	}
	s.found("zzzz", 0)
	// Documents are searched and returned to callers with a credential only.
	if ids := s.found("confidencialísima", 0); len(ids) != 0 {
		t.Errorf("without a key found %v", ids)
	}
	if ids := s.found("confidencialísima", 1, key...); !slices.Contains(ids, "oir-40374") {
		t.Errorf("with a key found %v", ids)
	}
	if text := s.fetched("oir-40374"); strings.Contains(text, "reestructuración") || !strings.Contains(text, "needs a key") {
		t.Errorf("without a key: %s", text)
	}
	if text := s.fetched("oir-40374", key...); !strings.Contains(text, "reestructuración") {
		t.Errorf("with a key: %s", text)
	}
	s.fetched("A69000016")
	reader := s.key(access.ReadReports)
	if ids := s.found("bodegas", 1, reader...); slices.Contains(ids, "A69000016") {
		t.Errorf("without its scope found an issuer: %v", ids)
	}
	for arguments, want := range map[string]string{
		`{"id":"A69000016"}`: "read:issuers", `{"id":"oir-1"}`: "Find ids with search", `{}`: "id is needed",
	} {
		if out := s.call("fetch", arguments, reader...); !out.IsError || !strings.Contains(out.text(), want) {
			t.Errorf("%s: %s", arguments, out.text())
		}
	}
	for _, arguments := range []string{`{}`, `{"query":""}`, `{"query":"%"}`, `{"query":5}`, `{"query":"x","limit":3}`} {
		if out := s.call("search", arguments); !out.IsError {
			t.Errorf("%s is accepted", arguments)
		}
	}
}

func TestProposeAlert(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	var b store.Batch
	for i, days := range []int{0, 3, 40, 89, 91, 200} {
		r := newReport(disclosure.IP, 90001+int64(i), now.Add(-time.Duration(days)*24*time.Hour).Format(time.RFC3339))
		r.Title = "[Simulación] Dividendo a cuenta"
		b.Reports = append(b.Reports, r)
	}
	single := newReport(disclosure.OIR, 90101, now.Format(time.RFC3339))
	single.Title = "[Simulación] Dividendo singular"
	b.Reports = append(b.Reports, single)
	s := start(t, b)
	for arguments, want := range map[string]string{
		`{"search":"dividendo singular"}`:               "In the last 90 days 1 report would have been sent.",
		`{"search":"dividendo 'a cuenta'","type":"IP"}`: "In the last 90 days 4 reports would have been sent.",
	} {
		if got := s.call("propose_alert", arguments).text(); !strings.Contains(got, want) {
			t.Errorf("%s: the text is %q, want %q in it", arguments, got, want)
		}
	}
	var out struct {
		Filter  map[string]string
		Days    int
		Total   int
		Weeks   []int
		Samples []struct{ ID string }
		Request struct {
			Method, URL string
			Headers     map[string]string
			Body        json.RawMessage
		}
		Resource string
	}
	called := s.call("propose_alert", `{"search":"dividendo 'a cuenta'","type":"IP","url":"https://receiver.example/it's"}`)
	if err := json.Unmarshal(called.StructuredContent, &out); err != nil || called.IsError {
		t.Fatal(err, called.text())
	}
	if out.Total != 4 || out.Days != 90 || len(out.Weeks) != 13 || out.Weeks[12] != 2 || len(out.Samples) != 4 {
		t.Errorf("%+v", out)
	}
	if !strings.Contains(called.text(), `https://receiver.example/it'\''s`) {
		t.Errorf("the command is not quoted: %s", called.text())
	}
	// The request works as it is, but for the key, and the resource can be read.
	target, ok := strings.CutPrefix(out.Request.URL, baseURL)
	if !ok {
		t.Fatalf("%+v", out.Request)
	}
	req, err := http.NewRequestWithContext(t.Context(), out.Request.Method, s.server.URL+target, strings.NewReader(string(out.Request.Body)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range out.Request.Headers {
		req.Header.Set(name, strings.Replace(value, "YOUR_KEY", s.key(access.ReadReports)[1], 1))
	}
	res, err := s.server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	// Only the name of the receiver is wrong, which nobody has.
	if answer, _ := io.ReadAll(res.Body); strings.Count(string(answer), `"parameter"`) != 1 || !strings.Contains(string(answer), "the host receiver.example was not found") {
		t.Errorf("the request is answered %s %s", res.Status, answer)
	}
	s.post(legacy("resources/read", fmt.Sprintf(`{"uri":%q}`, out.Resource))).into(&struct{}{})
	for arguments, want := range map[string]string{
		`{"url":"http://receiver.example"}`: "must be an address that begins with https://", `{"type":"XX"}`: "unknown type", `{"in":"document"}`: "search is needed",
		`{"search":"` + strings.Repeat("a ", 400) + `"}`: "a filter may",
	} {
		if out := s.call("propose_alert", arguments, s.key(access.ReadReports)...); !out.IsError || !strings.Contains(out.text(), want) {
			t.Errorf("%s: %s", arguments, out.text())
		}
	}
}

// A proposal with a long filter and address can be used as it is.
func TestLongAlerts(t *testing.T) {
	t.Parallel()
	s := start(t, giants())
	words := strings.TrimSpace(strings.Repeat("ñandúñandúñandú ", 30))
	receiver := "https://receiver.example/" + strings.Repeat("x", 475)
	out := s.call("propose_alert", fmt.Sprintf(`{"search":%q,"url":%q}`, words, receiver))
	var got struct {
		Request struct {
			Body struct {
				URL    string
				Filter struct{ Search string }
			}
		}
		Resource *string
	}
	if err := json.Unmarshal(out.StructuredContent, &got); err != nil || out.IsError {
		t.Fatal(err, out.text())
	}
	if body := got.Request.Body; body.URL != receiver || body.Filter.Search != words || got.Resource != nil {
		t.Errorf("%+v", got)
	}
	if !strings.HasSuffix(out.text(), `"}'`) {
		t.Errorf("the command is cut: %s", out.text())
	}
	if out := s.call("propose_alert", fmt.Sprintf(`{"url":%q}`, receiver+"x")); !out.IsError {
		t.Errorf("a longer address is accepted: %s", out.text())
	}
}

// Results are compressed for clients that accept it.
func TestCompressed(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	if a := s.send(http.MethodPost, strings.NewReader(legacy("tools/list", "{}")), "Content-Type", "application/json"); !slices.Contains(a.header.Values("Vary"), "Accept-Encoding") {
		t.Errorf("%v", a.header)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+access.MCPPath, strings.NewReader(legacy("tools/list", "{}")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := s.server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Content-Length") != "" {
		t.Errorf("%v", res.Header)
	}
	s.listen([]string{latest}, "Accept-Encoding", "gzip").end() // a stream is not
}
