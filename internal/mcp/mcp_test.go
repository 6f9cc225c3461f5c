package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/catalog"
	"pregon/internal/mcp"
	"pregon/internal/push/events"
	"pregon/internal/push/watchlist"
	"pregon/internal/push/webhook"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/rest"
	"pregon/internal/server/httpserver"
	"pregon/internal/server/ratelimit"
	"pregon/internal/source/coverage"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	baseURL = "https://pregon.example"
	newest  = "2026-07-28"
)

// setup has the options that tests change.
type setup struct {
	store   *sqlite.Store // shared with another replica
	origins []string
	limit   int // anonymous requests per minute; 0: no limit
	source  string
	shared  func() string
	ready   func() error // nil: always ready
	observe func(string) // receives the outcomes of the guard
	onToken func(access.Principal)
	count   func(owner, operation string)
}

// service is REST and MCP over a real store, behind the real server.
type service struct {
	t       testing.TB
	store   *sqlite.Store
	catalog *catalog.Catalog
	feed    *events.Hub
	lists   *watchlist.Registry
	keys    *access.Keyring
	seats   *events.ConnLimiter
	desk    *query.Service
	mcp     *mcp.Server
	front   *httpserver.Server
	server  *httptest.Server
	log     *bytes.Buffer
	stop    func() // ends the listeners as a shutdown does
}

// start serves a store with the batch.
func start(t testing.TB, b store.Batch, change ...func(*setup)) *service {
	t.Helper()
	s := startEmpty(t, change...)
	s.append(b)
	return s
}

// startEmpty serves a catalogue that has not been loaded yet.
func startEmpty(t testing.TB, change ...func(*setup)) *service {
	t.Helper()
	o := setup{source: "cnmv", shared: func() string { return "off" }}
	for _, c := range change {
		c(&o)
	}
	if o.store == nil {
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		o.store = db
	}
	stopping, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	s := &service{t: t, store: o.store, seats: &events.ConnLimiter{}, log: &bytes.Buffer{}, stop: stop}
	quiet := slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelError}))
	s.catalog = catalog.New(s.store, quiet)
	s.feed = events.NewHub(s.catalog, s.store)
	s.keys = access.NewKeyring(s.store, nil)
	guard := access.Options{BaseURL: baseURL, Keys: s.keys, Tokens: bearer, Observe: o.observe, OnToken: o.onToken, Count: o.count}
	if o.limit > 0 {
		policy := ratelimit.Policy{Name: "anonymous", Limit: o.limit, Window: time.Minute}
		guard.Anonymous = &access.Limit{Policy: policy, Limiter: ratelimit.NewWindow(policy)}
	}
	s.lists = watchlist.New(watchlist.Options{Store: s.store, Sealer: plainBox(t), Reach: s.keys.Reach})
	s.desk = query.New(query.Options{
		Watchlists: s.lists,
		Catalog:    s.catalog, Coverage: coverage.New(s.store), Documents: s.store, Version: "v0.0.0-test",
		Source: func() string { return o.source }, Shared: o.shared, Ready: o.ready,
	})
	s.serve(access.NewGuard(guard), o, quiet, stopping)
	return s
}

// plainBox returns a box without a key.
func plainBox(t testing.TB) *secret.Box {
	t.Helper()
	box, err := secret.NewBox("")
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// serve registers REST and MCP as the command does.
func (s *service) serve(guard *access.Guard, o setup, quiet *slog.Logger, stopping context.Context) {
	s.t.Helper()
	box := plainBox(s.t)
	mux := http.NewServeMux()
	api, err := rest.New(rest.Options{
		Query: s.desk, Events: s.feed, Conns: s.seats, Logger: quiet, BaseURL: baseURL, Guard: guard, Stopping: stopping.Done(),
		Account: account.New(account.Options{
			Query:    s.desk,
			Guard:    guard,
			Keys:     access.NewKeyring(s.store, nil),
			Webhooks: webhook.New(webhook.Options{Store: s.store, Sealer: box, Encoder: s.feed, Logger: quiet}),
		}),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	api.Register(mux)
	s.mcp = mcp.New(mcp.Options{
		Watchlists: s.lists,
		Query:      s.desk, Guard: guard, Events: s.feed, Conns: s.seats, Logger: quiet, BaseURL: baseURL, Origins: o.origins, Stopping: stopping.Done(),
	})
	s.mcp.Register(mux)
	s.front, err = httpserver.New(httpserver.Options{
		Mux:      mux,
		Logger:   quiet,
		Ready:    func() error { return nil },
		Admit:    guard.AdmitUnrouted,
		IsStream: mcp.IsListen,
		Clients:  httpserver.Clients{Remote: access.Proxies(nil).Client},
		Data:     httpserver.Data{Source: func() string { return "" }},
		Errors: httpserver.Errors{Writers: map[string]httpserver.ErrorWriter{
			access.MCPPath: {TooLarge: mcp.WriteTooLarge, Failed: mcp.WriteInternalError},
		}},
		Observer: httpserver.Observer{Request: func(httpserver.Observation) {}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.server = httptest.NewServer(s.front)
	s.t.Cleanup(func() { s.server.CloseClientConnections(); s.server.Close() })
}

// bearer accepts any list of scopes as a token with those scopes.
func bearer(_ context.Context, raw string) (access.Token, error) {
	audience := baseURL + "/api/mcp"
	if rest, ok := strings.CutPrefix(raw, "elsewhere+"); ok {
		raw, audience = rest, "https://other.example"
	}
	var expires time.Time
	if rest, ok := strings.CutPrefix(raw, "brief+"); ok {
		raw, expires = rest, time.Now().Add(500*time.Millisecond)
	}
	scope, err := access.ParseScopes(strings.Fields(strings.ReplaceAll(raw, "+", " ")))
	return access.Token{Subject: "https://idp.example#ana", Audience: audience, Scope: scope, Expires: expires}, err
}

// append stores the batch and loads it into the catalogue.
func (s *service) append(b store.Batch) {
	s.t.Helper()
	querytest.Append(s.t, s.store, s.catalog, b)
}

// key creates a key and returns it as a header.
func (s *service) key(scope access.Scope) []string {
	s.t.Helper()
	_, raw, err := s.keys.Create(s.t.Context(), access.Key{Plan: "pro", Scopes: scope})
	if err != nil {
		s.t.Fatal(err)
	}
	return []string{"X-API-Key", raw}
}

// answer is a response.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// message is one message of JSON-RPC, as a client reads it.
type message struct {
	JSONRPC string
	ID      json.RawMessage
	Result  json.RawMessage
	Error   *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// post sends a message as JSON, with alternating names and values of headers.
func (s *service) post(body string, header ...string) answer {
	s.t.Helper()
	return s.send(http.MethodPost, strings.NewReader(body), append([]string{"Content-Type", "application/json"}, header...)...)
}

// send sends a request and checks that the response is JSON-RPC. All tests send
// their requests with it. A header without a value is omitted, and Host sets the
// host.
func (s *service) send(method string, body io.Reader, header ...string) answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patient) // a stream where none should be has no end
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.server.URL+access.MCPPath, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := s.server.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	a := answer{t: s.t, status: res.StatusCode, header: res.Header}
	if a.body, err = io.ReadAll(res.Body); err != nil {
		s.t.Fatal(err)
	}
	if err := a.check(method); err != nil {
		s.t.Errorf("%s: %v\n%d %v\n%.2000s", method, err, a.status, a.header, a.body)
	}
	return a
}

// inside are words of internal errors that must not be public.
var inside = []string{"json:", "jsonrpc2", "segmentio", "internal/", "goroutine", ".go:", "runtime error", "sql", "nil pointer", "reflect", "mcp."}

// check returns an error if the response is invalid for any request.
func (a answer) check(method string) error {
	switch {
	case a.status >= 500 && a.status != http.StatusServiceUnavailable:
		return fmt.Errorf("the server failed")
	case method == http.MethodHead || a.status == http.StatusNoContent || a.status == http.StatusAccepted:
		if len(a.body) > 0 {
			return fmt.Errorf("the response has a body, want none")
		}
		return nil
	case a.header.Get("Content-Type") != "application/json":
		return fmt.Errorf("the response is not JSON")
	case !utf8.Valid(a.body):
		return fmt.Errorf("the response is not UTF-8")
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &parts); err != nil {
		return err
	}
	var m message
	if err := json.Unmarshal(a.body, &m); err != nil {
		return err
	}
	_, hasResult := parts["result"]
	_, hasID := parts["id"]
	if m.JSONRPC != "2.0" || hasResult == (m.Error != nil) || !hasID || len(parts) != 3 {
		return fmt.Errorf("the response is not JSON-RPC")
	}
	if m.Error == nil {
		return nil
	}
	if m.Error.Code == 0 || m.Error.Message == "" {
		return fmt.Errorf("the error has no message")
	}
	for _, word := range inside {
		if strings.Contains(m.Error.Message, word) {
			return fmt.Errorf("the response exposes an internal error: %s", word)
		}
	}
	return nil
}

// rpc decodes the message.
func (a answer) rpc() (m message) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, &m); err != nil {
		a.t.Fatalf("%v in %d %s", err, a.status, a.body)
	}
	return m
}

// refused checks for an error with a status and a code, and returns its message.
func (a answer) refused(status, code int) string {
	a.t.Helper()
	m := a.rpc()
	if a.status != status || m.Error == nil || m.Error.Code != code {
		a.t.Errorf("%d %.500s, want %d and %d", a.status, a.body, status, code)
	}
	if m.Error == nil {
		return ""
	}
	return m.Error.Message
}

// into decodes the result.
func (a answer) into(v any) {
	a.t.Helper()
	m := a.rpc()
	if a.status != http.StatusOK || m.Error != nil {
		a.t.Fatalf("%d %.500s", a.status, a.body)
	}
	if err := json.Unmarshal(m.Result, v); err != nil {
		a.t.Fatalf("%v in %.500s", err, a.body)
	}
}

// legacy returns a message of the versions up to 2025-11-25.
func legacy(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
}

// modern returns a message of version 2026-07-28 and its headers.
func modern(method, params string) (body string, header []string) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + newest + `","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	with := `{` + meta + `}`
	if rest := strings.TrimSpace(params)[1:]; rest != "}" {
		with = `{` + meta + `,` + rest
	}
	header = []string{"MCP-Protocol-Version", newest, "Mcp-Method", method}
	var p struct{ Name, URI string }
	_ = json.Unmarshal([]byte(params), &p)
	if name := p.Name + p.URI; name != "" {
		header = append(header, "Mcp-Name", name)
	}
	return legacy(method, with), header
}

// ask sends a message of 2026-07-28.
func (s *service) ask(method, params string, header ...string) answer {
	s.t.Helper()
	body, of := modern(method, params)
	return s.post(body, append(of, header...)...)
}

// called is the result of a tool.
type called struct {
	StructuredContent json.RawMessage
	Content           []struct{ Type, Text string }
	IsError           bool
}

func (c called) text() string { return c.Content[0].Text }

// call calls a tool with arguments as JSON.
func (s *service) call(tool, arguments string, header ...string) (out called) {
	s.t.Helper()
	s.post(legacy("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)), header...).into(&out)
	if len(out.Content) != 1 || out.Content[0].Type != "text" || out.text() == "" {
		s.t.Fatalf("%s %s: %+v", tool, arguments, out)
	}
	return out
}
