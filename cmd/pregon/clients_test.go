package main_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"pregon/internal/test/casetest"
	"pregon/internal/test/longtest"
)

const caseFile = "../../clients/cases.json"

// clientTests are the commands by which a client runs the cases, and compares what it
// knows with the OpenAPI document that the service has.
var clientTests = map[string][]clientTest{
	"python": {
		{"own tests", pytest("--ignore=tests/test_openapi.py", "--ignore=tests/test_cases.py")},
		{"openapi", pytest("tests/test_openapi.py")},
		{"cases", pytest("tests/test_cases.py")},
	},
	"typescript": {
		{"own tests", npmRun("test")},
		{"own tests in Deno", npmRun("deno")},
		{"own tests in Bun", npmRun("bun")},
		{"browser", npmRun("browser")},
		{"openapi", npmRun("openapi")},
		{"cases", npmRun("cases")},
	},
}

type clientTest struct {
	name    string
	command []string
}

func pytest(args ...string) []string {
	return append([]string{"/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"}, args...)
}

func npmRun(script string) []string { return []string{"npm", "run", "--silent", script} }

// TestClients runs clients/cases.json with each client against the program, behind a
// proxy that injects the faults of the cases. PREGON_CLIENTS names one client.
func TestClients(t *testing.T) {
	longtest.Skip(t, "it needs Python and clients from npm")
	for client, tests := range clientTests {
		t.Run(client, func(t *testing.T) {
			if only := os.Getenv("PREGON_CLIENTS"); only != "" && only != client {
				t.Skip("PREGON_CLIENTS is " + only)
			}
			l := newClientLab(t)
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) { l.run(t, client, test.command) })
			}
			if t.Failed() {
				t.Logf("the log of serve:\n%s", l.running.Load().log.events())
			}
		})
	}
}

// clientLab is what a client is tested with: the program with a simulated source, a
// proxy in front of it, and a server with which the runner of the cases controls both.
type clientLab struct {
	*reader
	ctx       context.Context
	running   atomic.Pointer[service]
	cases     map[string]casetest.Case
	proxy     *casetest.Proxy
	front     *httptest.Server // has the proxy
	control   *httptest.Server
	elsewhere *httptest.Server // must not receive a key
	receiver  *httptest.Server // of webhooks

	// What cases refer to.
	key        string
	restricted string
	report     string
	issuer     string
	watchlist  string
	received   chan received
	deliveries map[bool]map[string]any // by whether the secret was rotated
}

func newClientLab(t *testing.T) *clientLab {
	t.Helper()
	all, err := casetest.Read(caseFile)
	if err != nil {
		t.Fatal(err)
	}
	l := &clientLab{
		reader:     newReader(t, startSource(t), engines["sqlite"](t)),
		ctx:        t.Context(),
		cases:      map[string]casetest.Case{},
		received:   make(chan received, 1),
		deliveries: map[bool]map[string]any{},
	}
	for _, c := range all {
		l.cases[c.Name] = c
	}
	l.proxy = casetest.NewProxy(func() string { return l.running.Load().url })
	l.front = startHandler(t, l.proxy)
	l.control = startHandler(t, l.controls())
	l.receiver = startHandler(t, http.HandlerFunc(l.receive))
	l.elsewhere = startHandler(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-API-Key") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("the client sent its key to another server: %s %s", r.Method, r.URL)
		}
	}))

	l.env = []string{"PREGON_REGISTERS=shorts"}
	l.reader.serve = l.startServe(t, l.flags()...)
	l.running.Store(l.reader.serve)
	l.started(t)
	l.key = pregon(t, l.spec, "keys", "create", "--plan", "enterprise")
	l.restricted = pregon(t, l.spec, "keys", "create", "--plan", "enterprise", "--scope", "read:analytics")
	if err := l.prepare(); err != nil {
		t.Fatal(err)
	}
	return l
}

// flags are those of the program beside the ones that startServe has. Its address is that
// of the proxy, also after a restart.
func (l *clientLab) flags() []string {
	return []string{"--base-url", l.front.URL, "--webhook-allow-private"}
}

// startHandler starts a server until the end of the test.
func startHandler(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections() // of streams
		s.Close()
	})
	return s
}

// run runs a test of a client, in the folder of the client.
func (l *clientLab) run(t *testing.T, client string, command []string) {
	t.Helper()
	dir := filepath.Join("../../clients", client)
	cases, err := filepath.Abs(caseFile)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := filepath.Abs(filepath.Join(checkers, "node_modules/.bin"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(l.ctx, 2*patient)
	defer cancel()
	env := []string{
		"PATH=" + nodes + string(os.PathListSeparator) + os.Getenv("PATH"),
		"PYTHONDONTWRITEBYTECODE=1",
		"PREGON_URL=" + l.front.URL,
		"PREGON_KEY=" + l.key,
		"PREGON_CONTROL=" + l.control.URL,
		"PREGON_CASES=" + cases,
	}
	if err := runOther(ctx, dir, env, command...); err != nil {
		t.Error(err)
	}
}

// controls returns the server with which a runner controls the test. clients/README.md
// describes its requests.
func (l *clientLab) controls() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /case", answer(l.beginCase))
	mux.HandleFunc("POST /faults", answer(l.injectFaults))
	mux.HandleFunc("POST /publish", answer(l.publishReports))
	mux.HandleFunc("POST /restart", answer(l.restart))
	mux.HandleFunc("GET /ids", answer(l.listIDs))
	mux.HandleFunc("GET /requests", answer(l.listRequests))
	return mux
}

// answer sends what f returns as JSON, and an error as a text with status 500.
func answer(f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		v, err := f(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}

func (l *clientLab) beginCase(r *http.Request) (any, error) {
	var want struct{ Name string }
	if err := json.NewDecoder(r.Body).Decode(&want); err != nil {
		return nil, err
	}
	c, ok := l.cases[want.Name]
	if !ok {
		return nil, fmt.Errorf("clients/cases.json does not have the case %q", want.Name)
	}
	c, err := c.Expand(l.value)
	if err != nil {
		return nil, err
	}
	l.proxy.Reset(c.Faults)
	return c, nil
}

func (l *clientLab) injectFaults(r *http.Request) (any, error) {
	var faults []casetest.Fault
	if err := json.NewDecoder(r.Body).Decode(&faults); err != nil {
		return nil, err
	}
	l.proxy.Inject(faults)
	return struct{}{}, nil
}

// publishReports publishes reports, and returns their ids when the service has them. The
// body has their number, and what the simulator accepts about a report.
func (l *clientLab) publishReports(r *http.Request) (any, error) {
	body := map[string]any{}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	count := 1
	if n, ok := body["count"].(float64); ok {
		count = int(n)
	}
	delete(body, "count")
	report, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	var ids []string
	for range count {
		out, err := l.source.control(r.Context(), http.MethodPost, "/_sim/publish", string(report))
		if err != nil {
			return nil, err
		}
		var made struct{ ID string }
		if err := json.Unmarshal(out, &made); err != nil {
			return nil, err
		}
		ids = append(ids, made.ID)
	}
	for _, id := range ids {
		if err := l.retry(func() error { return l.ask(http.MethodGet, "/api/v1/reports/"+id, nil, nil) }); err != nil {
			return nil, err
		}
	}
	return map[string][]string{"ids": ids}, nil
}

// restart kills the program and starts it again on its data. With the body
// {"signal": "term"} the program ends in order.
func (l *clientLab) restart(r *http.Request) (any, error) {
	var body struct{ Signal string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	signal := syscall.SIGKILL
	if body.Signal == "term" {
		signal = syscall.SIGTERM
	}
	_ = l.running.Load().end(signal)
	args := slices.Concat([]string{"--source", "cnmv", "--poll", "100ms"}, sourceArgs(l.source.url), l.flags())
	next, err := startService(append([]string{"PREGON_STORE=" + l.spec}, l.env...), l.dir, args...)
	if err != nil {
		return nil, err
	}
	l.ends(next)
	l.running.Store(next)
	return struct{}{}, nil
}

// item is an item of any list.
type item struct {
	Cursor   string // of a change: a report can have several
	ID       string
	UID      string // of a date
	ReportID string `json:"report_id"` // of a fact
}

func (i item) id() string { return cmp.Or(i.Cursor, i.ID, i.UID, i.ReportID) }

// listIDs reads all pages of a list, from the program itself.
func (l *clientLab) listIDs(r *http.Request) (any, error) {
	path, err := url.Parse(r.URL.Query().Get("path"))
	if err != nil {
		return nil, err
	}
	ids := []string{}
	query := path.Query()
	for page := 1; ; page++ {
		switch path.Path {
		case "/api/v1/issuers": // it has one page
		case "/api/v1/changes":
			query.Set("limit", "1000")
		default:
			query.Set("limit", "50")
			query.Set("page", fmt.Sprint(page))
		}
		var list struct {
			Data  []item
			Total int
			Next  string
			More  bool
		}
		if err := l.ask(http.MethodGet, path.Path+"?"+query.Encode(), nil, &list); err != nil {
			return nil, err
		}
		for _, i := range list.Data {
			ids = append(ids, i.id())
		}
		if list.Next != "" {
			query.Set("after", list.Next)
		}
		if !list.More && len(ids) >= list.Total {
			return map[string][]string{"ids": ids}, nil
		}
	}
}

func (l *clientLab) listRequests(*http.Request) (any, error) {
	paths := append([]string{}, l.proxy.Requests()...)
	return map[string]any{"count": len(paths), "paths": paths}, nil
}
