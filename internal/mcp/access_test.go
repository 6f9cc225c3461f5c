package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"pregon/internal/auth/access"
)

// need is the authorization that a message requires.
type need struct {
	method, params string
	scope          access.Scope
	public         bool
}

var needs = []need{
	{"tools/list", `{}`, 0, true},
	{"prompts/list", `{}`, 0, true},
	{"resources/list", `{}`, 0, true},
	{"tools/call", `{"name":"search_reports","arguments":{}}`, access.ReadReports, true},
	{"tools/call", `{"name":"search_reports","arguments":{"in":""}}`, access.ReadReports, true},
	{"tools/call", `{"name":"search_reports","arguments":{"in":"document","search":"junta"}}`, access.ReadReports, false},
	{"tools/call", `{"name":"count_reports","arguments":{"by":"issuer"}}`, access.ReadReports, true},
	{"tools/call", `{"name":"list_values","arguments":{"of":"category"}}`, access.ReadReports, true},
	{"tools/call", `{"name":"get_report","arguments":{"id":"oir-40374"}}`, access.ReadReports, true},
	{"tools/call", `{"name":"read_document","arguments":{"id":"oir-40374"}}`, access.ReadReports, false},
	{"tools/call", `{"name":"search_issuers","arguments":{}}`, access.ReadIssuers, true},
	{"tools/call", `{"name":"get_issuer","arguments":{"id":"A69000016"}}`, access.ReadIssuers, true},
	{"tools/call", `{"name":"get_analytics","arguments":{}}`, access.ReadAnalytics, true},
	{"tools/call", `{"name":"service_status","arguments":{}}`, 0, true},
	{"tools/call", `{"name":"propose_alert","arguments":{}}`, access.ReadReports, true},
	{"tools/call", `{"name":"propose_alert","arguments":{"in":"document","search":"junta"}}`, access.ReadReports, false},
	{"tools/call", `{"name":"list_facts","arguments":{}}`, access.ReadReports, true},
	{"tools/call", `{"name":"calendar","arguments":{}}`, access.ReadReports, true},
	{"tools/call", `{"name":"get_ownership","arguments":{"issuer":"A69000016"}}`, access.ReadIssuers, true},
	{"tools/call", `{"name":"list_dealings","arguments":{}}`, access.ReadIssuers, true},
	{"tools/call", `{"name":"list_shorts","arguments":{}}`, access.ReadIssuers, true},
	{"tools/call", `{"name":"list_watchlists","arguments":{}}`, access.ReadReports, false},
	{"tools/call", `{"name":"search","arguments":{"query":"junta"}}`, access.ReadReports, true},
	{"tools/call", `{"name":"fetch","arguments":{"id":"oir-40374"}}`, access.ReadReports, true},
	{"resources/read", `{"uri":"pregon://reports/latest"}`, access.ReadReports, true},
	{"resources/read", `{"uri":"pregon://reports/search?type=IP"}`, access.ReadReports, true},
	{"resources/read", `{"uri":"pregon://reports/search?search=junta&in=document"}`, access.ReadReports, false},
	{"resources/read", `{"uri":"pregon://reports/oir-40374"}`, access.ReadReports, true},
	{"resources/read", `{"uri":"pregon://issuers/A69000016"}`, access.ReadIssuers, true},
	{"resources/read", `{"uri":"pregon://positions/search"}`, access.ReadIssuers, true},
	{"resources/read", `{"uri":"pregon://documents/oir-40374"}`, access.ReadReports, false},
	{"resources/read", `{"uri":"ui://pregon/issuer"}`, 0, true},
	{"prompts/get", `{"name":"morning_briefing"}`, access.ReadReports, true},
	{"prompts/get", `{"name":"explain_filing","arguments":{"id":"oir-40374"}}`, access.ReadReports, true},
	{"prompts/get", `{"name":"issuer_brief","arguments":{"issuer":"A69000016"}}`, access.ReadReports | access.ReadIssuers, true},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"explain_filing"},"argument":{"name":"id","value":"o"}}`, 0, true},
}

// challenged checks that the answer has what a client needs to authenticate.
func (a answer) challenged(code string, scope access.Scope) {
	a.t.Helper()
	got := a.header.Get("WWW-Authenticate")
	want := []string{"Bearer ", `resource_metadata="` + baseURL + `/.well-known/oauth-protected-resource/api/mcp"`}
	if scope != 0 {
		want = append(want, fmt.Sprintf("scope=%q", scope))
	}
	if code != "" {
		want = append(want, fmt.Sprintf("error=%q", code))
	} else if strings.Contains(got, "error=") {
		a.t.Errorf("a request without credentials got an error code in the challenge, want none: %s", got)
	}
	for _, w := range want {
		if !strings.Contains(got, w) {
			a.t.Errorf("the challenge lacks %s: %q", w, got)
		}
	}
}

// TestScopes sends every message with every kind of credential.
func TestScopes(t *testing.T) {
	t.Parallel()
	s := startWithDocument(t, start(t, market()))
	credentials := map[access.Scope][][]string{}
	for has := access.Scope(1); has <= access.AllScopes; has++ {
		key := s.key(has)
		credentials[has] = [][]string{key, {"Authorization", "Bearer " + strings.ReplaceAll(has.String(), " ", "+")}}
	}
	for _, n := range needs {
		body := legacy(n.method, n.params)
		if a := s.post(body); n.public {
			a.into(&struct{}{})
		} else {
			a.refused(http.StatusUnauthorized, -32001)
			a.challenged("", n.scope)
		}
		for _, bad := range [][]string{
			{"Authorization", "Bearer nonsense"}, {"X-API-Key", "pregon_live_nonsense"}, {"Authorization", "Basic YTpi"}, {"Authorization", "Bearer elsewhere+read:reports"},
		} {
			a := s.post(body, bad...)
			a.refused(http.StatusUnauthorized, -32001)
			a.challenged("invalid_token", 0) // the body was not read
		}
		s.post(body, "Authorization", "Bearer read:reports", "X-API-Key", "another").refused(http.StatusOK, -32602)
		for has, headers := range credentials {
			for _, header := range headers {
				if a := s.post(body, header...); has.Has(n.scope) {
					a.into(&struct{}{})
				} else {
					a.refused(http.StatusForbidden, -32003)
					a.challenged("insufficient_scope", n.scope)
				}
			}
		}
		// The newest version behaves the same.
		if a := s.ask(n.method, n.params); n.public {
			a.into(&struct{}{})
		} else {
			a.refused(http.StatusUnauthorized, -32001)
			a.challenged("", n.scope)
		}
	}
}

// REST and MCP share one limit, and malformed messages count too.
func TestAnonymousLimit(t *testing.T) {
	t.Parallel()
	const limit = 30
	s := start(t, market(), func(o *setup) { o.limit = limit })
	kinds := []func() int{
		func() int { status, _ := s.get("/api/v1/reports"); return status },
		func() int { return s.post(legacy("tools/list", "{}")).status },
		func() int { return s.post("nonsense").status },
		func() int { return s.send(http.MethodGet, nil).status },
		func() int {
			return s.post(legacy("tools/call", `{"name":"read_document","arguments":{"id":"oir-40374"}}`)).status
		},
	}
	for i := range limit {
		if status := kinds[i%len(kinds)](); status == http.StatusTooManyRequests {
			t.Fatalf("request %d is refused", i+1)
		}
		if a := s.send(http.MethodOptions, nil, "Origin", baseURL, "Access-Control-Request-Method", "POST"); a.status != http.StatusNoContent {
			t.Fatalf("a CORS preflight is answered %d", a.status) // and is not counted
		}
	}
	for i, kind := range kinds {
		if status := kind(); status != http.StatusTooManyRequests {
			t.Errorf("one too many of kind %d: %d", i, status)
		}
	}
	for _, header := range [][]string{nil, {"MCP-Protocol-Version", "2025-06-18"}, {"MCP-Protocol-Version", newest}} {
		a := s.post(legacy("tools/list", "{}"), header...)
		if text := a.refused(http.StatusTooManyRequests, -32005); !strings.Contains(text, "30 requests in any 60 seconds") ||
			a.header.Get("Retry-After") == "" || a.header.Get("Ratelimit") == "" || string(a.rpc().ID) != "null" { // the body was not read
			t.Errorf("%s %v", text, a.header)
		}
	}
	s.post(legacy("tools/list", "{}"), s.key(access.ReadReports)...).into(&struct{}{})
}

// smuggled are ambiguous messages: lenient and strict parsers read them differently.
var smuggled = []string{
	// Duplicate names.
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"service_status","name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","name":"get_report","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_report","arguments":{"id":"oir-40374"}},"params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}},"params":{"name":"get_report","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}},"params":null}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"pregon://reports/latest","uri":"pregon://documents/oir-40374"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"pregon://documents/oir-40374","uri":"pregon://reports/latest"}}`,
	// Names in another case.
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","Name":"get_report","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"get_report","name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_report","NAME":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"tools/list","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","Method":"tools/list","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}},"Params":{"name":"get_report"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_report","arguments":{"id":"oir-40374"}},"Params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"pregon://documents/oir-40374","URI":"pregon://reports/latest"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"URI":"pregon://documents/oir-40374","uri":"pregon://reports/latest"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"pregon://documents/oir-40374","uRi":"x","ur\u0131":"y"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","nam\u0065":"get_report","arguments":{"id":"oir-40374"}}}`,
	// Other encodings.
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"\u006eame":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"\u006dethod":"tools\/call","p\u0061rams":{"name":"read\u005fdocument","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document ","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call ","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"TOOLS/CALL","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	// Nested messages.
	`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}]`,
	`[[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}]]`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"batch":[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}]}}`,
	`{"jsonrpc":"2.0","id":1,"result":{},"method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"result":{},"Method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read_document","arguments":{"id":"oir-40374"}}}`,
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read_document\",\"arguments\":{\"id\":\"oir-40374\"}}}",
	// The arguments of a search in documents.
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{"in":"","in":"document","search":"confidencialísima"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{"in":"document","in":"","search":"confidencialísima"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{"in":"document","in":null,"search":"confidencialísima"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{"in":"document","In":"","search":"confidencialísima"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{"\u0069n":"document","search":"confidencialísima"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{"in":["document"],"search":"confidencialísima"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{},"arguments":{"in":"document","search":"confidencialísima"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{"in":"document","search":"confidencialísima"},"Arguments":{}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","Arguments":{"in":"document","search":"confidencialísima"},"arguments":{"search":"x"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{"search":"confidencialísima&in=document"}}}`,
	// A prompt, a completion or a subscription for a document.
	`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"explain_filing","arguments":{"id":"../documents/oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"issuer_brief","arguments":{"issuer":"pregon://documents/oir-40374"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"pregon://documents/{id}"},"argument":{"name":"id","value":"confidencialísima"}}}`,
}

// addresses are spellings of URIs that need credentials.
var addresses = []string{
	"pregon://documents/oir-40374", "pregon://documents/OIR-40374", "pregon://documents/oir-40374?offset=3", "pregon://documents/../documents/oir-40374",
	"pregon://reports/../documents/oir-40374", "pregon://reports/%2e%2e/documents/oir-40374", "PREGON://documents/oir-40374", "Pregon://documents/oir-40374",
	"pregon://Documents/oir-40374", "pregon:documents/oir-40374", "pregon:/documents/oir-40374", "pregon:///documents/oir-40374", "pregon://documents//oir-40374",
	"pregon://docum%65nts/oir-40374", "pregon%3A%2F%2Fdocuments/oir-40374", "pregon://documents%2Foir-40374", " pregon://documents/oir-40374", "pregon://documents/oir-40374 ",
	"pregon://documents/oir-40374\\n", "pregon://documents/oir%2D40374", "pregon://documents/oir-40374#x", "pregon://x@documents/oir-40374", "pregon://documents:80/oir-40374",
	"pregon://reports/oir-40374/document", "pregon://reports/documents/oir-40374", "pregon://issuers/../documents/oir-40374", "ui://pregon/../documents/oir-40374",
	"pregon://reports/search?in=document&search=confidencialísima", "pregon://reports/search?search=confidencialísima&in=document",
	"pregon://reports/search?search=confidencial%C3%ADsima&%69n=document", "pregon://reports/search?search=confidencialísima&in=&in=document",
	"pregon://reports/latest?search=confidencialísima&in=document", "pregon://reports/search?search=confidencialísima;in=document", "pregon://reports/search?x?&in=document&search=confidencialísima",
}

// No message returns a document to a caller without its scope, however it is
// encoded.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	s := startWithDocument(t, start(t, market()))
	bodies := smuggled
	for _, uri := range addresses {
		raw, err := json.Marshal(uri)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, legacy("resources/read", fmt.Sprintf(`{"uri":%s}`, strings.ReplaceAll(string(raw), `\\n`, `\n`))))
	}
	leaks := func(a answer) bool {
		return strings.Contains(string(a.body), "reestructuración") || strings.Contains(string(a.body), `\"total\":1`) || strings.Contains(string(a.body), `"total":1,"page"`)
	}
	authorized := 0
	key, stranger := s.key(access.ReadReports), s.key(access.ReadIssuers|access.ReadAnalytics)
	for _, body := range bodies {
		for _, header := range [][]string{
			nil, stranger,
			{"MCP-Protocol-Version", "2025-03-26"},
			{"MCP-Protocol-Version", "2025-11-25"},
			{"MCP-Protocol-Version", newest, "Mcp-Method", "tools/call", "Mcp-Name", "service_status"},
		} {
			if a := s.post(body, header...); leaks(a) {
				t.Errorf("%s\n%v returns the document: %.500s", body, header, a.body)
			}
		}
		if leaks(s.post(body, key...)) {
			authorized++
		}
	}
	if authorized < 15 { // otherwise leaks detects nothing
		t.Errorf("an authorized caller gets the document with %d messages, want at least 15", authorized)
	}
}

// A request canceled by its client is not a server error.
func TestCanceledRequestIsNoError(t *testing.T) {
	s := startEmpty(t) // otherwise answers 503
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_reports","arguments":{}}}`
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, access.MCPPath, strings.NewReader(body))
	r.Host = "pregon.example"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.front.ServeHTTP(w, r)
	if w.Code >= 500 || s.log.Len() > 0 {
		t.Errorf("answered %d %s, logged %s", w.Code, w.Body, s.log)
	}
}

// The body of a request over the limit is not read.
func TestLongBodiesAreNotReadOverTheLimit(t *testing.T) {
	s := start(t, market(), func(o *setup) { o.limit = 1 })
	for _, test := range []struct {
		header, value string
		status        int
	}{{"X-Nothing", "", 429}, {"X-API-Key", "pregon_live_wrong", 401}, {"X-API-Key", s.key(access.AllScopes)[1], 200}} {
		s.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		body := &counting{Reader: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + strings.Repeat(" ", 100_000))}
		r := httptest.NewRequest(http.MethodPost, access.MCPPath, body)
		r.ContentLength, r.RemoteAddr = -1, "127.0.0.1:1"
		r.Host = "pregon.example"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(test.header, test.value)
		w := httptest.NewRecorder()
		s.front.ServeHTTP(w, r)
		if w.Code != test.status || (body.n > 0) != (test.status == 200) {
			t.Errorf("%s: %d after %d bytes, want %d", test.header, w.Code, body.n, test.status)
		}
	}
}

// counting counts the bytes that are read.
type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}

// The guard observes every message once: also those that are invalid, or have no
// response.
func TestEveryMessageIsObserved(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var outcomes []string
	tokens := 0
	s := start(t, market(), func(o *setup) {
		o.observe = func(outcome string) {
			mu.Lock()
			defer mu.Unlock()
			outcomes = append(outcomes, outcome)
		}
		o.onToken = func(access.Principal) {
			mu.Lock()
			defer mu.Unlock()
			tokens++
		}
	})
	for _, body := range []string{
		legacy("tools/list", `{}`), legacy("nope", `{}`), legacy("tools/call", `{"name":5}`), `{`, `[]`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"tools/list"}`,
	} {
		for _, by := range []struct {
			outcome string
			header  []string
		}{{"anonymous", nil}, {"key", s.key(access.ReadReports)}, {"token", []string{"Authorization", "Bearer read:reports"}}} {
			s.post(body, by.header...)
			mu.Lock()
			if len(outcomes) != 1 || outcomes[0] != by.outcome || (tokens == 1) != (by.outcome == "token") {
				t.Errorf("%s: observed %v and %d tokens, want %s", body, outcomes, tokens, by.outcome)
			}
			outcomes, tokens = nil, 0
			mu.Unlock()
		}
	}
	s.post(legacy("tools/call", `{"name":"read_document","arguments":{}}`))
	mu.Lock()
	defer mu.Unlock()
	if len(outcomes) != 1 || outcomes[0] != "no_credential" {
		t.Errorf("observed %v", outcomes)
	}
}
