package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	accounts "pregon/internal/auth/account"
	"pregon/internal/auth/secret"
	"pregon/internal/auth/usage"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/proof/transparency"
	"pregon/internal/push/alert/alerttest"
	"pregon/internal/push/events"
	"pregon/internal/push/ticket"
	"pregon/internal/push/watchlist"
	"pregon/internal/push/webhook"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/rest"
	"pregon/internal/rest/resttest"
	"pregon/internal/server/problem"
	"pregon/internal/source/coverage"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/transfer/bulk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const baseURL = resttest.BaseURL

// service is the API over a real store and behind a real listener.
type service struct {
	t        *testing.T
	store    *sqlite.Store
	path     string // of its file
	catalog  *catalog.Catalog
	coverage *coverage.Tracker
	feed     *events.Hub
	texts    texts
	keys     *access.Keyring
	accounts *accounts.Accounts
	logKeys  *transparency.Keys
	proofs   *transparency.Publisher
	places,  // of callers
	expensive *access.SlotLimiter
	mux    *http.ServeMux
	server *httptest.Server
	log    bytes.Buffer // log output of the API
	used   used
	clock  clock // of tickets
	bulk   *bulk.Archive
	asked  *alerttest.Senders // of channels

	distrusted atomic.Bool // tokens that were accepted are no longer
	past       pastLog
}

// clock is the time, and how far a test has moved it.
type clock struct{ moved atomic.Int64 }

// Now returns the time.
func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.moved.Load())) }

// used are the operations of callers with a credential.
type used struct {
	mu  sync.Mutex
	all []string // guarded by mu
}

func (u *used) count(owner, operation string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all = append(u.all, owner+" "+operation)
}

// start serves a store with the batch.
func start(t *testing.T, source string, b store.Batch) *service {
	t.Helper()
	s := startEmpty(t, source)
	s.append(b)
	s.updateProofs()
	return s
}

// startEmpty serves a catalogue that has not been loaded yet.
func startEmpty(t *testing.T, source string) *service {
	t.Helper()
	return serve(t, query.Options{Source: func() string { return source }})
}

// serve completes the options and serves the API.
func serve(t *testing.T, o query.Options) *service {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pregon.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := &service{t: t, store: db, path: path, coverage: coverage.New(db), mux: http.NewServeMux()}
	s.catalog = catalog.New(db, slog.New(slog.DiscardHandler))
	s.texts.Store = db
	s.bulk = bulk.New(bulk.Dir(path+".bulk"), slog.New(slog.DiscardHandler))
	s.feed = events.NewHub(s.catalog, &s.texts)
	box, err := secret.NewBox("")
	if err != nil {
		t.Fatal(err)
	}
	s.keys = access.NewKeyring(db, nil)
	s.accounts = accounts.New(accounts.Options{Store: db, Key: s.keys.State, Configured: func(id, _ string) bool { return id == "corp" }, OnChange: s.keys.Broadcast, Logger: slog.New(slog.DiscardHandler)})
	s.keys.SetAccounts(s.accounts)
	s.places, s.expensive = access.NewSlotLimiter(64, false), access.NewSlotLimiter(8, false)
	quiet := slog.New(slog.DiscardHandler)
	s.logKeys = transparency.NewKeys(db, box, quiet)
	s.proofs = transparency.New(transparency.Options{Log: db, Keys: s.logKeys, Base: baseURL, Logger: quiet})
	s.past.Store = db
	o.Lacks = s.feed.Lacks
	o.Catalog, o.Coverage, o.Documents, o.Log, o.Version, o.Shared = s.catalog, s.coverage, db, &s.past, "v0.0.0-test", func() string { return "off" }
	lists := watchlist.New(watchlist.Options{
		Store:  db,
		Sealer: box,
		Reach:  s.keys.Reach,
		Logger: quiet,
	})
	o.Watchlists = lists
	queries := query.New(o)
	guard := access.NewGuard(access.Options{
		BaseURL:   baseURL,
		Keys:      s.keys,
		Tokens:    bearer,
		Accounts:  s.accounts,
		Plans:     plans,
		Slots:     s.places,
		Expensive: s.expensive,
		Count:     s.used.count,
		Signs:     func(string) bool { return !s.distrusted.Load() },
	})
	alerts, asked := alerttest.New(t, db)
	s.asked = asked
	tickets := ticket.New(ticket.Options{Store: db, Now: s.clock.Now})
	surface, err := rest.New(rest.Options{
		SignIn:  true,
		Proofs:  s.proofs,
		Bulk:    rest.Bulk{Archive: s.bulk},
		Query:   queries,
		Events:  s.feed,
		Conns:   &events.ConnLimiter{},
		Tickets: tickets,
		Logger:  slog.New(slog.NewTextHandler(&s.log, nil)),
		BaseURL: baseURL,
		Guard:   guard,
		Account: account.New(account.Options{
			Query:      queries,
			Guard:      guard,
			Keys:       s.keys,
			Accounts:   s.accounts,
			Usage:      usage.New(db, quiet),
			Alerts:     alerts,
			Webhooks:   webhook.New(webhook.Options{Store: db, Sealer: box, Encoder: s.feed, AllowPrivate: true, Logger: quiet, Keys: s.keys, Lists: lists}),
			Watchlists: lists,
			Tickets:    tickets,
			BaseURL:    baseURL,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	surface.Register(s.mux)
	s.server = httptest.NewServer(s.mux)
	t.Cleanup(s.server.Close)
	return s
}

// bearer accepts any list of scopes as a token with those scopes, and the id of a grant
// as a token that came from it.
func bearer(_ context.Context, raw string) (access.Token, error) {
	if strings.HasPrefix(raw, "grant_") {
		return access.Token{Subject: "https://idp.example#ana", Audience: baseURL, Scope: access.AllScopes, Grant: raw}, nil
	}
	scope, err := access.ParseScopes(strings.Fields(strings.ReplaceAll(raw, "+", " ")))
	return access.Token{Subject: "https://idp.example#ana", Audience: baseURL, Scope: scope}, err
}

// append stores the batch and loads it into the catalogue.
func (s *service) append(b store.Batch) {
	s.t.Helper()
	if b.New == "" {
		b.New = disclosure.Published
	}
	querytest.Append(s.t, s.store, s.catalog, b)
}

// answer is a response.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// get requests a target and expects the status.
func (s *service) get(status int, target string) answer {
	s.t.Helper()
	return s.getWith(status, target, nil)
}

// getWith is get with headers.
func (s *service) getWith(status int, target string, header http.Header) answer {
	s.t.Helper()
	a := s.do(http.MethodGet, target, header)
	if a.status != status {
		s.t.Fatalf("GET %s: status %d, want %d\n%s", target, a.status, status, a.body)
	}
	return a
}

// do sends a request and checks the response against the OpenAPI document. All
// tests send their requests with it.
func (s *service) do(method, target string, header http.Header) answer {
	s.t.Helper()
	return s.send(method, target, header, "")
}

// send is do with a body.
func (s *service) send(method, target string, header http.Header, body string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+target, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
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
	_, pattern := s.mux.Handler(req)
	if err := resttest.CheckRoute(req, pattern, resttest.Answer{Status: a.status, Header: a.header, Body: a.body}); err != nil {
		s.t.Errorf("%s %s: the response is not as documented: %v\n%d %v\n%s", method, target, err, a.status, a.header, a.body)
	}
	return a
}

// The check detects every kind of difference between a response and the document.
func TestCheckDetectsUndocumentedResponses(t *testing.T) {
	const pattern, good = "GET /api/v1/issuers", `{"data":[{"id":"a","name":"A","cif":null,"ticker":null,"market":null}]}`
	header := http.Header{
		"Content-Type": {"application/json"}, "Etag": {`W/"1"`}, "Cache-Control": {"public, max-age=1"}, "Vary": {"Accept-Encoding"},
	}
	tests := []struct {
		name    string
		pattern string
		status  int
		header  [2]string // replaces or adds a header
		body    string
		ok      bool
	}{
		{"right", pattern, 200, [2]string{}, good, true},
		{"unknown path", "GET /api/v1/nothing", 200, [2]string{}, good, false},
		{"unknown status", pattern, 418, [2]string{}, good, false},
		{"wrong content type", pattern, 200, [2]string{"Content-Type", "text/plain"}, good, false},
		{"no content type", pattern, 200, [2]string{"Content-Type", ""}, good, false},
		{"missing header", pattern, 200, [2]string{"Etag", ""}, good, false},
		{"odd header", pattern, 200, [2]string{"Cache-Control", "no-cache"}, good, false},
		{"missing header of 304", pattern, 304, [2]string{"Etag", ""}, "", false},
		{"body of 304", pattern, 304, [2]string{}, good, false},
		{"extra field", pattern, 200, [2]string{}, strings.Replace(good, `"id"`, `"extra":1,"id"`, 1), false},
		{"extra field outside", pattern, 200, [2]string{}, `{"data":[],"total":0}`, false},
		{"missing field", pattern, 200, [2]string{}, strings.Replace(good, `,"market":null`, "", 1), false},
		{"null where none may be", pattern, 200, [2]string{}, strings.Replace(good, `"name":"A"`, `"name":null`, 1), false},
		{"null for a list", pattern, 200, [2]string{}, `{"data":null}`, false},
		{"empty for null", pattern, 200, [2]string{}, strings.Replace(good, `"ticker":null`, `"ticker":""`, 1), false},
		{"wrong shape", pattern, 200, [2]string{}, strings.Replace(good, `"cif":null`, `"cif":"A-69000016"`, 1), false},
		{"a problem in plain JSON", pattern, 400, [2]string{"Cache-Control", "no-store"}, `{"type":"urn:pregon:problem:invalid"}`, false},
		{"relative link", "GET /{$}", 200, [2]string{}, `{"service":"","version":"","attribution":{"source":"a","url":"/x","notice":"b"},
			"links":{"reports":"x:y","issuers":"x:y","analytics":"x:y","openapi":"x:y"}}`, false},
		{"bad time", "GET /api/v1/reports", 200, [2]string{}, `{"total":1,"page":1,"limit":1,"data":[{"id":"ip-1","company_name":"A","ticker":null,
			"type":"IP","title":"","summary":null,"published_at":"2026-04-22 10:00","cnmv_registration_number":"1","pdf_url":null}]}`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := resttest.Answer{Status: test.status, Header: header.Clone(), Body: []byte(test.body)}
			if test.header[0] != "" {
				a.Header.Set(test.header[0], test.header[1])
				if test.header[1] == "" {
					a.Header.Del(test.header[0])
				}
			}
			err := resttest.CheckRoute(httptest.NewRequest(http.MethodGet, "/", nil), test.pattern, a)
			if (err == nil) != test.ok {
				t.Errorf("Check returned %v", err)
			}
		})
	}
}

// reports is the list of reports in the contract.
type reports struct {
	Data []struct {
		ID     string  `json:"id"`
		Ticker *string `json:"ticker"`
	} `json:"data"`
	Total int `json:"total"`
	Page  int `json:"page"`
	Limit int `json:"limit"`
}

func (a answer) decode(into any) {
	a.t.Helper()
	if err := json.NewDecoder(bytes.NewReader(a.body)).Decode(into); err != nil {
		a.t.Fatalf("%v in %s", err, a.body)
	}
}

func (a answer) reports() (list reports) {
	a.t.Helper()
	a.decode(&list)
	return list
}

// ids returns the ids of a list, of reports or of issuers, joined by spaces.
func (a answer) ids() string {
	a.t.Helper()
	var ids []string
	for _, r := range a.reports().Data {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func (a answer) problem() (doc problem.Document) {
	a.t.Helper()
	a.decode(&doc)
	return doc
}

// refused checks that the answer is a 400 for one parameter.
func (a answer) refused(parameter, value string) {
	a.t.Helper()
	doc := a.problem()
	if a.status != http.StatusBadRequest || len(doc.Errors) != 1 || doc.Errors[0].Parameter != parameter || doc.Errors[0].Value != value {
		a.t.Errorf("status %d %s, want 400 for %s=%q", a.status, a.body, parameter, value)
	}
}

// encode returns a query string for alternating names and values.
func encode(pairs ...string) string {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return "?" + values.Encode()
}

// The data of most tests.
var (
	instant   = querytest.Instant
	newReport = querytest.Report
	market    = querytest.Market
)
