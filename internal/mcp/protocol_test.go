package mcp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// old are the versions before 2026-07-28. The empty one is a client that sends none.
var old = []string{"none", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// conversation is a section of testdata/protocol.txt.
type conversation struct {
	name, message string
	answers       []string
}

func conversations(t testing.TB) (all []conversation) {
	t.Helper()
	script, err := txtar.ParseFile("testdata/protocol.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range script.Files {
		lines := strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n")
		all = append(all, conversation{f.Name, lines[0], lines[1:]})
	}
	return all
}

// inVersion converts a message to a version and returns its headers.
func inVersion(body, version string) (string, []string) {
	switch {
	case version == "none":
		return body, nil
	case version != newest:
		return body, []string{"MCP-Protocol-Version", version}
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if json.Unmarshal([]byte(body), &m) != nil || len(m.Params) == 0 || m.Params[0] != '{' {
		return body, []string{"MCP-Protocol-Version", version, "Mcp-Method", m.Method}
	}
	out, header := modern(m.Method, string(m.Params))
	if m.ID == nil {
		return strings.Replace(out, `"id":1,`, "", 1), header
	}
	return strings.Replace(out, `"id":1`, `"id":`+string(m.ID), 1), header
}

func TestConversations(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	for _, c := range conversations(t) {
		for _, line := range c.answers {
			want := strings.SplitN(line, " ", 4)
			versions := []string{want[0]}
			if want[0] == "old" {
				versions = old
			}
			for _, version := range versions {
				t.Run(c.name+"/"+version, func(t *testing.T) {
					body, header := inVersion(c.message, version)
					a := s.post(body, header...)
					got := "accepted"
					if len(a.body) > 0 {
						got = "result"
						if m := a.rpc(); m.Error != nil {
							got = strconv.Itoa(m.Error.Code)
						}
					}
					if strconv.Itoa(a.status) != want[1] || got != want[2] {
						t.Errorf("%d %s, want %s\n%.300s", a.status, got, line, a.body)
					}
					if len(want) == 4 && !bytes.Contains(a.body, []byte(want[3])) {
						t.Errorf("want %s in %.500s", want[3], a.body)
					}
				})
			}
		}
	}
}

// The call of the contract works with any Accept header.
func TestBareCall(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	for _, accept := range []string{"", "*/*", "application/json", "text/html", "application/json, text/event-stream", "nonsense", "application/json;q=0"} {
		for _, kind := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON"} {
			a := s.send(http.MethodPost, strings.NewReader(`{"jsonrpc":"2.0","method":"tools/list","params":{},"id":"1"}`), "Content-Type", kind, "Accept", accept)
			var list struct{ Tools []struct{ Name string } }
			a.into(&list)
			if id := string(a.rpc().ID); id != `"1"` || len(list.Tools) != 18 {
				t.Errorf("Accept %q, %s: the id is %s, and there are %d tools", accept, kind, id, len(list.Tools))
			}
		}
	}
}

// Results and errors have the id of the request.
func TestIDsAreReturned(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	for _, id := range []string{
		`"1"`, `""`, `"ñ😀\u2028"`, `"a\"b\\c\/d\n\u0000"`, `"<&>"`, `"\ud83d\ude00"`, `"null"`, `0`, `-1`, `7`, `9007199254740991`, `9007199254740992`, `-9007199254740992`,
		`9007199254740993`, `-18446744073709551617`, strings.Repeat("9", 990), `"\ud800"`, `"\udc00\ud800 x"`, `"\uD83D"`,
		strconv.Quote(strings.Repeat("x", 990)),
	} {
		for _, method := range []string{"tools/list", "foo/bar", ""} {
			a := s.post(fmt.Sprintf(`{"jsonrpc":"2.0","id": %s ,"method":%q}`, id, method))
			if got := a.rpc().ID; string(got) != id {
				t.Errorf("%s %s came back as %s", method, id, got)
			}
		}
	}
	for _, id := range []string{strconv.Quote(strings.Repeat("x", 2000)), strings.Repeat("9", 2000), "1.5", "1e3", "null", "true", "[]", "{}"} {
		s.post(`{"jsonrpc":"2.0","method":"tools/list","id":`+id+`}`).refused(200, -32600)
	}
}

// Errors of HTTP have their status in every version.
func TestHTTPErrors(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	const good = `{"jsonrpc":"2.0","method":"tools/list","params":{},"id":1}`
	for _, version := range append(old[1:], newest, "") {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodHead, "BREW"} {
			a := s.send(method, strings.NewReader(good), "Content-Type", "application/json", "MCP-Protocol-Version", version)
			if a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "POST, OPTIONS" {
				t.Errorf("%s: %d %v", method, a.status, a.header)
			}
		}
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/json-rpc", "nonsense;;"} {
			s.send(http.MethodPost, strings.NewReader(good), "Content-Type", kind, "MCP-Protocol-Version", version).refused(http.StatusUnsupportedMediaType, -32600)
		}
	}
	large := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"` + strings.Repeat("x", 5<<20) + `"}}`
	s.post(large).refused(http.StatusRequestEntityTooLarge, -32600)
	unknown := struct{ *strings.Reader }{strings.NewReader(large)} // without Content-Length
	s.send(http.MethodPost, unknown, "Content-Type", "application/json").refused(http.StatusRequestEntityTooLarge, -32600)
	s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"` + strings.Repeat("x", 900<<10) + `"}}`).into(&struct{}{})
}

func TestOddBodies(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	deep := strings.Repeat("[", 100_000)
	for name, test := range map[string]struct {
		body string
		code int
	}{
		"brackets":            {deep, -32600}, // parsed as a batch
		"closed brackets":     {deep + strings.Repeat("]", 100_000), -32600},
		"deep objects":        {strings.Repeat(`{"a":`, 100_000), -32600},
		"deep params":         {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":` + deep + strings.Repeat("]", 100_000) + `}}`, -32600},
		"not UTF-8":           {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"tools/list\"}", -32700},
		"half a letter":       {"{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\"}", -32700},
		"a byte order mark":   {"\xef\xbb\xbf{}", -32700},
		"UTF-16":              {"\xff\xfe{\x00}\x00", -32700},
		"a zero":              {"{}\x00", -32700},
		"spaces and a batch":  {" \r\n\t[1]", -32600},
		"a number, very long": {strings.Repeat("9", 10_000), -32600},
	} {
		t.Run(name, func(t *testing.T) { s.post(test.body).refused(200, test.code) })
	}
	for depth, code := range map[int]int{62: 0, 63: -32600} { // inside of two others
		nested := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		a := s.post(legacy("tools/call", `{"name":"service_status","arguments":{"x":`+nested+`}}`))
		if e := a.rpc().Error; (e == nil) != (code == 0) {
			t.Errorf("a value nested %d deep: %.300s", depth, a.body)
		}
	}
	s.post(legacy("tools/list", `{"x":[`+strings.Repeat("1,", 10_000)+`1]}`)).refused(200, -32600)
}

func TestVersions(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	for _, version := range []string{"1999-01-01", "2025-06-19", "x", "2026-07-27", "0"} {
		a := s.post(legacy("tools/list", "{}"), "MCP-Protocol-Version", version)
		if version > newest { // the SDK refuses these
			if a.status != http.StatusBadRequest || a.rpc().Error == nil {
				t.Errorf("%s: %d %.200s", version, a.status, a.body)
			}
			continue
		}
		a.refused(http.StatusBadRequest, -32022)
		var data struct {
			Requested string
			Supported []string
		}
		if err := json.Unmarshal(a.rpc().Error.Data, &data); err != nil || data.Requested != version || len(data.Supported) < 4 || data.Supported[0] != newest {
			t.Errorf("%s: %+v %v", version, data, err)
		}
		if string(a.rpc().ID) != "1" {
			t.Errorf("the id is %s", a.rpc().ID)
		}
	}
	if a := s.post(legacy("tools/list", "{}"), "MCP-Protocol-Version", "9999-01-01"); a.status != http.StatusBadRequest || a.rpc().Error == nil {
		t.Errorf("%d %.200s", a.status, a.body)
	}
	// In the newest version the headers must match the message.
	body, header := modern("tools/list", "{}")
	for name, test := range map[string]struct {
		header []string
		code   int
	}{
		"no method":      {header[:2], -32020},
		"another method": {[]string{"MCP-Protocol-Version", newest, "Mcp-Method", "tools/call"}, -32020},
		"older":          {[]string{"MCP-Protocol-Version", "2025-11-25"}, -32020},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.post(body, test.header...)
			if m := a.rpc(); m.Error == nil || m.Error.Code != test.code || string(m.ID) != "1" {
				t.Errorf("%d %.300s", a.status, a.body)
			}
		})
	}
	for params, code := range map[string]int{
		`{"uri":"pregon://reports/latest"}`: 0, `{"uri":"pregon://issuers/A69000016","name":"pregon://reports/latest"}`: -32020, `{"uri":"","name":"pregon://reports/latest"}`: -32020,
	} {
		body, header := modern("resources/read", params)
		a := s.post(body, append(header[:4:4], "Mcp-Name", "pregon://reports/latest")...)
		if e := a.rpc().Error; (e == nil) != (code == 0) || e != nil && e.Code != code {
			t.Errorf("%s: %d %.300s", params, a.status, a.body)
		}
	}
	encoded := "=?base64?" + base64.StdEncoding.EncodeToString([]byte("pregon://reports/search?search=fusión")) + "?="
	body, _ = modern("resources/read", `{"uri":"pregon://reports/search?search=fusión"}`)
	s.post(body, "MCP-Protocol-Version", newest, "Mcp-Method", "resources/read", "Mcp-Name", encoded).into(&struct{}{})
	s.post(legacy("tools/list", "{}"), header...).refused(http.StatusBadRequest, -32602) // without _meta
	notification := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	s.post(notification, "MCP-Protocol-Version", newest).refused(http.StatusBadRequest, -32020) // without Mcp-Method
}

// While the catalogue loads, messages that do not need it are answered.
func TestWhileTheCatalogueLoads(t *testing.T) {
	t.Parallel()
	s := startEmpty(t)
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "ping"} {
		s.post(legacy(method, "{}")).into(&struct{}{})
	}
	for method, params := range map[string]string{
		"tools/call": `{"name":"service_status"}`, "resources/read": `{"uri":"pregon://reports/latest"}`, "prompts/get": `{"name":"morning_briefing"}`,
		"completion/complete": `{"ref":{"type":"ref/prompt","name":"explain_filing"},"argument":{"name":"id","value":"o"}}`,
	} {
		a := s.post(legacy(method, params))
		if text := a.refused(http.StatusServiceUnavailable, -32006); !strings.Contains(text, "loading") || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: %s %v", method, text, a.header)
		}
	}
}

// Before the first data is stored, tools are refused, since models would trust an
// empty result. The status of the service is available.
func TestBeforeTheFirstData(t *testing.T) {
	t.Parallel()
	var ready atomic.Bool
	s := start(t, store.Batch{}, func(o *setup) {
		o.ready = func() error {
			if !ready.Load() {
				return fault.New(fault.Unavailable, "The first month is still loading.")
			}
			return nil
		}
	})
	a := s.post(legacy("tools/call", `{"name":"search_reports","arguments":{}}`))
	if text := a.refused(http.StatusServiceUnavailable, -32006); !strings.Contains(text, "first month") || a.header.Get("Retry-After") == "" {
		t.Errorf("%s %v", text, a.header)
	}
	s.call("service_status", "{}")
	ready.Store(true)
	s.call("search_reports", "{}")
}

// A panic in a tool fails one message only.
func TestPanicFailsOneMessage(t *testing.T) {
	t.Parallel()
	s := start(t, market(), func(o *setup) { o.shared = func() string { panic("the secret detail") } })
	r := httptest.NewRequest(http.MethodPost, access.MCPPath, strings.NewReader(legacy("tools/call", `{"name":"service_status"}`)))
	r.Host = "pregon.example"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.front.ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != http.StatusInternalServerError || !strings.Contains(body, `"code":-32603`) || strings.Contains(body, "secret") {
		t.Errorf("%d %s", w.Code, body)
	}
	if !strings.Contains(s.log.String(), "the secret detail") || !strings.Contains(s.log.String(), "protocol_test.go") {
		t.Error("the log lacks the cause or the stack")
	}
	s.call("search_reports", "{}")
}

// Concurrent responses are not mixed up.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 20 {
				id := strconv.Itoa(100*i + j)
				body := []string{`{"jsonrpc":"2.0","method":"foo/bar","id":%s}`, `{"jsonrpc":"2.0","method":"tools/call","id":%s}`, `{"jsonrpc":"2.0","method":"prompts/list","id":%s}`}[j%3]
				a := s.post(fmt.Sprintf(body, id))
				want := []string{`"message":"There is no such method."`, `unknown tool`, "morning_briefing"}[j%3]
				if string(a.rpc().ID) != id || !bytes.Contains(a.body, []byte(want)) {
					t.Errorf("%s: %.300s", id, a.body)
				}
			}
		})
	}
	all.Wait()
}

func TestCounted(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	s.call("service_status", "{}")
	s.post(legacy("tools/list", "{}"))
	s.post(legacy("tools/call", `{"name":"read_document","arguments":{"id":"oir-40374"}}`))
	s.post("nonsense")
	for call, want := range map[string][2]int64{"service_status": {1, 0}, "tools/list": {1, 0}, "read_document": {1, 1}, "other": {1, 1}, "get_report": {0, 0}} {
		if taken, failed := s.mcp.CallCounts(call); taken != want[0] || failed != want[1] {
			t.Errorf("%s: %d and %d, want %v", call, taken, failed, want)
		}
	}
}

// The use of callers with a credential is counted by tool or method. Other names do
// not become names of counts.
func TestUse(t *testing.T) {
	t.Parallel()
	var (
		mu  sync.Mutex
		got []string // guarded by mu
	)
	s := start(t, market(), func(o *setup) {
		o.count = func(owner, operation string) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, strings.TrimPrefix(owner, "https://idp.example#")+": "+operation)
		}
	})
	ana := []string{"Authorization", "Bearer read:reports"}
	s.post(legacy("tools/call", `{"name":"service_status","arguments":{}}`), ana...)
	s.post(legacy("tools/call", `{"name":"tools/list","arguments":{}}`), ana...)
	s.post(legacy("tools/list", `{}`), ana...)
	s.post(legacy("service_status", `{}`), ana...)
	s.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ana...)
	s.post("nonsense", ana...)
	s.post(legacy("tools/list", `{}`))
	want := []string{"ana: mcp service_status", "ana: mcp other", "ana: mcp tools/list", "ana: mcp other", "ana: mcp other", "ana: mcp other"}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(got, want) {
		t.Errorf("counted %q, want %q", got, want)
	}
}
