package rest_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	accounts "pregon/internal/auth/account"
	"pregon/internal/disclosure"
	"pregon/internal/rest"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// plans are the limits of plans.
var plans = func() map[string]*access.Limit {
	p := ratelimit.Policy{Name: "enterprise", Limit: 1000, Window: time.Minute}
	return map[string]*access.Limit{"enterprise": {Policy: p, Limiter: ratelimit.NewWindow(p)}}
}()

// caller manages an account with its first key. Package console has the people who are
// signed in without one.
type caller struct {
	s       *service
	key     string
	id      string // of the account
	session string // that was opened with the key, if any
}

// person returns a caller who is also signed in.
func (s *service) person(name string, operator bool) caller {
	s.t.Helper()
	k := access.Key{Name: name, Plan: "enterprise", Scopes: access.ReadReports | access.ReadIssuers}
	if operator {
		k.Plan = access.OperatorPlan
	}
	c, _ := s.holder(k)
	c.signIn()
	return c
}

// signIn opens a session with the first key.
func (c *caller) signIn() {
	c.s.t.Helper()
	profile := accounts.Account{ID: c.id, Plan: "enterprise", Scopes: access.AllScopes}
	session, _, err := c.s.accounts.SignIn(c.s.t.Context(), profile, accounts.Session{Agent: "Browser", Key: c.id})
	if err != nil {
		c.s.t.Fatal(err)
	}
	c.session = session.ID
}

// holder returns a caller with a key of the operator's making.
func (s *service) holder(k access.Key) (caller, access.Key) {
	s.t.Helper()
	key, raw, err := s.keys.Create(s.t.Context(), k)
	if err != nil {
		s.t.Fatal(err)
	}
	return caller{s: s, key: raw, id: key.ID}, key
}

// call sends a request below /api/v1/account, and expects the status.
func (c caller) call(method, path, body string, status int, into any) answer {
	c.s.t.Helper()
	return c.send(method, "/api/v1/account"+path, body, status, into)
}

// send sends a request and expects the status.
func (c caller) send(method, target, body string, status int, into any) answer {
	c.s.t.Helper()
	return c.s.call(method, target, http.Header{"X-Api-Key": {c.key}}, body, status, into)
}

type keyDoc struct {
	ID, Name, Plan, State, Owner, Key string
	Parent                            *string
	Scopes, Networks                  []string
	ExpiresAt                         *time.Time `json:"expires_at"`
	OverlapUntil                      *time.Time `json:"overlap_until"`
	RevokedAt                         *time.Time `json:"revoked_at"`
}

// make makes a key and returns its holder.
func (c caller) make(body string) (caller, keyDoc) {
	c.s.t.Helper()
	var made keyDoc
	c.call("POST", "/keys", body, 201, &made)
	return caller{s: c.s, key: made.Key, id: c.id}, made
}

// keys returns the states of the keys by name.
func (c caller) keys(query string) map[string]string {
	c.s.t.Helper()
	var list struct{ Keys []keyDoc }
	c.call("GET", "/keys"+query, "", 200, &list)
	out := map[string]string{}
	for _, k := range list.Keys {
		if k.Key != "" {
			c.s.t.Errorf("the list has the text of %s", k.ID)
		}
		out[k.Name] = k.State
	}
	return out
}

// ids returns the ids of a list.
func (c caller) ids(path, list string) (ids []string) {
	c.s.t.Helper()
	var doc map[string]json.RawMessage
	c.call("GET", path, "", 200, &doc)
	var all []struct{ ID string }
	if err := json.Unmarshal(doc[list], &all); err != nil {
		c.s.t.Fatal(err)
	}
	for _, one := range all {
		ids = append(ids, one.ID)
	}
	return ids
}

type accountDoc struct {
	ID, Name, Email, Provider, Plan string
	Scopes                          []string
	Operator                        bool
	Limits                          struct {
		RequestsPerMinute *int `json:"requests_per_minute"`
	}
	CreatedAt  *time.Time `json:"created_at"`
	SignedInAt *time.Time `json:"signed_in_at"`
	Credential struct{ Mode, ID string }
}

func TestAccount(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	ana := s.person("ana", false)
	var got accountDoc
	ana.call("GET", "", "", 200, &got)
	if got.ID != ana.id || got.Name != "ana" || got.Plan != "enterprise" || len(got.Scopes) != 2 || got.Operator || got.CreatedAt == nil || got.SignedInAt == nil ||
		got.Credential.Mode != "key" || got.Credential.ID != ana.id {
		t.Errorf("the account of a key that was used to sign in: %+v", got)
	}
	if n := got.Limits.RequestsPerMinute; n == nil || *n != 1000 {
		t.Errorf("the limit of the plan: %v", n)
	}

	got = accountDoc{}
	withKey, made := ana.make(`{"name":"export","scopes":["read:issuers"]}`)
	withKey.call("GET", "", "", 200, &got)
	if got.ID != ana.id || !slices.Equal(got.Scopes, []string{"read:issuers"}) || got.Credential.ID != made.ID {
		t.Errorf("the account by another key: %+v", got)
	}

	got = accountDoc{}
	holder, key := s.holder(access.Key{Name: "desk", Plan: "pro", Scopes: access.AllScopes})
	holder.call("GET", "", "", 200, &got)
	if got.ID != key.ID || got.Name != "desk" || got.Email != "" || got.Plan != "pro" || got.CreatedAt == nil || got.SignedInAt != nil || got.Limits.RequestsPerMinute != nil {
		t.Errorf("the account of a key before the first sign-in: %+v", got)
	}
}

// Where nobody can sign in there is no account.
func TestNoAccountWithoutSignIn(t *testing.T) {
	for _, signIn := range []bool{false, true} {
		a, err := rest.New(rest.Options{BaseURL: baseURL, SignIn: signIn})
		if err != nil {
			t.Fatal(err)
		}
		mux := http.NewServeMux()
		a.Register(mux)
		for _, path := range []string{"/api/v1/account", "/api/v1/account/keys", "/api/v1/account/owners"} {
			if _, pattern := mux.Handler(httptest.NewRequest(http.MethodGet, path, nil)); (pattern != "") != signIn {
				t.Errorf("with sign-in %t %s is served by %q", signIn, path, pattern)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	ana, bea := s.person("ana", false), s.person("bea", false)
	end := time.Now().AddDate(1, 0, 0).UTC().Truncate(time.Second)
	withKey, made := ana.make(`{"name":" export ","scopes":["read:reports"],"expires_at":"` + end.Format(time.RFC3339) + `","networks":["127.0.0.1","2001:db8::/32"]}`)
	if made.Name != "export" || made.State != "active" || made.Plan != "enterprise" || made.Owner != ana.id || *made.Parent != ana.id ||
		!made.ExpiresAt.Equal(end) || !slices.Equal(made.Networks, []string{"127.0.0.1/32", "2001:db8::/32"}) || !slices.Equal(made.Scopes, []string{"read:reports"}) {
		t.Errorf("made %+v", made)
	}
	path := "/keys/" + made.ID

	// Others do not learn that it exists.
	if got := bea.keys(""); len(got) != 1 {
		t.Errorf("the keys of another owner: %v", got)
	}
	unknown := bea.call("DELETE", "/keys/key_000000000000", "", 404, nil).problem().Detail
	for _, call := range []string{"DELETE " + path, "PATCH " + path, "POST " + path + "/rotate"} {
		method, path, _ := strings.Cut(call, " ")
		if got := bea.call(method, path, `{}`, 404, nil).problem().Detail; strings.ReplaceAll(got, made.ID, "key_000000000000") != unknown {
			t.Errorf("%s: %q, want %q", call, got, unknown)
		}
	}
	for _, list := range []string{"/keys", "/sessions", "/apps", "/usage"} {
		bea.call("GET", list+encode("owner", ana.id), "", 403, nil)
		bea.call("GET", list+encode("owner", bea.id), "", 200, nil)
	}

	var changed keyDoc
	ana.call("PATCH", path, `{"name":"nightly"}`, 200, &changed)
	if changed.Name != "nightly" || !changed.ExpiresAt.Equal(end) || len(changed.Networks) != 2 || changed.Key != "" {
		t.Errorf("renamed: %+v", changed)
	}
	changed = keyDoc{}
	ana.call("PATCH", path, `{"expires_at":null,"networks":["192.0.2.0/24"]}`, 200, &changed)
	if changed.ExpiresAt != nil || !slices.Equal(changed.Networks, []string{"192.0.2.0/24"}) || changed.Name != "nightly" {
		t.Errorf("changed: %+v", changed)
	}
	withKey.call("GET", "", "", 401, nil) // not from this network
	ana.call("PATCH", path, `{"networks":[]}`, 200, nil)
	withKey.call("GET", "", "", 200, nil)

	var rotated keyDoc
	ana.call("POST", path+"/rotate", `{"overlap_seconds":3600}`, 200, &rotated)
	if rotated.ID != made.ID || rotated.Key == made.Key || rotated.OverlapUntil == nil || time.Until(*rotated.OverlapUntil) > time.Hour {
		t.Errorf("rotated: %+v", rotated)
	}
	next := caller{s: s, key: rotated.Key}
	withKey.call("GET", "", "", 200, nil)
	next.call("POST", path+"/rotate", "", 200, &rotated) // a day
	if left := time.Until(*rotated.OverlapUntil); left < 23*time.Hour || left > 24*time.Hour {
		t.Errorf("the overlap is %v", left)
	}
	ana.call("POST", path+"/rotate", `{"overlap_seconds":0}`, 200, &rotated)
	next.call("GET", "", "", 401, nil)
	last := caller{s: s, key: rotated.Key}
	last.call("GET", "", "", 200, nil)

	ana.call("DELETE", path, "", 204, nil)
	ana.call("DELETE", path, "", 204, nil) // again
	last.call("GET", "", "", 401, nil)
	if got := ana.keys("")["nightly"]; got != "revoked" {
		t.Errorf("the state is %q", got)
	}
	ana.call("PATCH", path, `{"name":"x"}`, 409, nil)
	ana.call("POST", path+"/rotate", "", 409, nil)
}

func TestMistakesWithKeys(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	ana := s.person("ana", false)
	_, made := ana.make(`{"name":"x"}`)
	for body, parameter := range map[string]string{
		`{}`:                               "name",
		`null`:                             "name",
		`{"name":" "}`:                     "name",
		`{"name":"x","scopes":["x"]}`:      "scopes",
		`{"name":"x","scopes":[null]}`:     "scopes",
		`{"name":"x","expires_at":"2020"}`: "expires_at",
		`{"name":"x","expires_at":"2020-01-01T00:00:00Z"}`: "expires_at",
		`{"name":"x","expires_at":"9999-12-31T23:59:59Z"}`: "expires_at",
		`{"name":"x","expires_at":5}`:                      "expires_at",
		`{"name":"x","networks":[null]}`:                   "networks",
		`{"name":"x","networks":["x"]}`:                    "networks",
		`{"name":"x","networks":["::ffff:1.2.3.4/120"]}`:   "networks",
	} {
		if a := ana.call("POST", "/keys", body, 400, nil); len(a.problem().Errors) == 0 || a.problem().Errors[0].Parameter != parameter {
			t.Errorf("%s: %s", body, a.body)
		}
	}
	for _, body := range []string{
		"", "[]", "{", `{"name":5}`, `{"name":"x","plan":"operator"}`, `{"name":"x","owner":"y"}`,
		`{"name":"two\nlines"}`, `{"name":"` + strings.Repeat("x", 101) + `"}`, `{"name":"x","networks":[` + strings.Repeat(`"192.0.2.0/24",`, 50) + `"192.0.2.0/24"]}`,
		`{"name":"x","scopes":["read:analytics"]}`, // which Ana has not
	} {
		detail := ana.call("POST", "/keys", body, 400, nil).problem().Detail
		if !strings.HasSuffix(detail, ".") || strings.ToUpper(detail[:1]) != detail[:1] {
			t.Errorf("%s: %q is not a sentence", body, detail)
		}
	}
	for _, body := range []string{"", `{"scopes":["read:issuers"]}`, `{"name":""}`, `{"expires_at":"soon"}`} {
		ana.call("PATCH", "/keys/"+made.ID, body, 400, nil)
	}
	for _, body := range []string{`{"overlap_seconds":-1}`, `{"overlap_seconds":7776001}`, `{"overlap_seconds":1.5}`, `{"overlap":1}`, "x"} {
		ana.call("POST", "/keys/"+made.ID+"/rotate", body, 400, nil)
	}
	ana.call("GET", "/keys"+encode("owner", strings.Repeat("x", 1001)), "", 400, nil)
	if got := ana.keys(""); len(got) != 2 {
		t.Errorf("a refused request made a key: %v", got)
	}
	// Who sends a key as the id has shown it to all logs on the way: it is not repeated.
	withKey, _ := ana.make(`{"name":"y"}`)
	if a := ana.call("DELETE", "/keys/"+withKey.key, "", 404, nil); bytes.Contains(a.body, []byte(withKey.key)) {
		t.Errorf("the key is repeated: %s", a.body)
	}
}

func TestSessions(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	ana, bea := s.person("ana", false), s.person("bea", false)
	again := ana
	again.signIn()
	var list struct {
		Sessions []struct {
			ID, Agent, Key string
			Current        bool
		}
	}
	ana.call("GET", "/sessions", "", 200, &list)
	if len(list.Sessions) != 2 || list.Sessions[0].Current || list.Sessions[0].Agent != "Browser" || list.Sessions[0].Key != ana.id {
		t.Errorf("%+v", list)
	}
	bea.call("DELETE", "/sessions/"+again.session, "", 404, nil)
	ana.call("DELETE", "/sessions/"+again.session, "", 204, nil)
	ana.call("DELETE", "/sessions/"+again.session, "", 404, nil)
	if got := ana.ids("/sessions", "sessions"); !slices.Equal(got, []string{ana.session}) {
		t.Errorf("left are %v", got)
	}
	ana.call("DELETE", "/sessions", "", 204, nil)
	if ana, bea := ana.ids("/sessions", "sessions"), bea.ids("/sessions", "sessions"); len(ana) != 0 || len(bea) != 1 {
		t.Errorf("left are %v of ana and %v of bea", ana, bea)
	}
}

// grant lets an application act for a person.
func (c caller) grant(client string) string {
	c.s.t.Helper()
	g := accounts.Grant{ID: accounts.NewGrantID(), ClientID: client, ClientName: "Desk", ClientHost: "desk.example", Resource: baseURL, Scopes: access.ReadReports}
	if _, err := c.s.accounts.AddGrant(c.s.t.Context(), c.id, g); err != nil {
		c.s.t.Fatal(err)
	}
	return g.ID
}

// lock keeps others from writing to the store until release is called.
func (s *service) lock() (release func()) {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1) // which has the transaction
	exec := func(statement string) {
		if _, err := db.ExecContext(s.t.Context(), statement); err != nil {
			s.t.Fatal(err)
		}
	}
	exec("BEGIN IMMEDIATE")
	return func() { exec("ROLLBACK") }
}

// While the store is locked, a key is not made, and the caller learns of it soon.
func TestKeysWhileTheStoreIsLocked(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	s := start(t, "demo", store.Batch{})
	ana := s.person("ana", false)
	release := s.lock()
	if a := ana.call("POST", "/keys", `{"name":"k"}`, 503, nil); !strings.Contains(string(a.body), "The store does not answer") { // it waits longer by itself
		t.Errorf("%s", a.body)
	}
	release()
	ana.make(`{"name":"k"}`)
	if got := len(ana.keys("")); got != 2 {
		t.Errorf("there are %d keys", got)
	}
}

// The application of a person reads, but does not see or change their webhooks.
func TestAppsHaveNoWebhooks(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	ana := caller{s: s, id: "https://idp.example#ana"} // whose tokens bearer accepts
	profile := accounts.Account{ID: ana.id, Provider: "corp", Plan: "pro", Scopes: access.AllScopes}
	if _, _, err := s.accounts.SignIn(t.Context(), profile, accounts.Session{}); err != nil {
		t.Fatal(err)
	}
	app := http.Header{"Authorization": {"Bearer " + ana.grant("desk")}}
	s.call("GET", "/api/v1/changes", app, "", 200, nil)
	for _, pattern := range rest.Patterns(true) {
		method, path, _ := strings.Cut(pattern, " ")
		if strings.HasPrefix(path, "/api/v1/webhooks") && path != "/api/v1/webhooks/preview" {
			s.call(method, strings.Replace(path, "{id}", "wh_1", 1), app, "", 403, nil)
		}
	}
}

func TestApps(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	ana, bea := s.person("ana", false), s.person("bea", false)
	first, second := ana.grant("desk"), ana.grant("https://desk.example/client.json")
	var list struct {
		Apps []struct {
			ID, Name, Host, Resource string
			ClientID                 string `json:"client_id"`
			Scopes                   []string
		}
	}
	ana.call("GET", "/apps", "", 200, &list)
	if len(list.Apps) != 2 || list.Apps[0].ID != first || list.Apps[0].ClientID != "desk" || list.Apps[0].Name != "Desk" || list.Apps[0].Host != "desk.example" ||
		list.Apps[0].Resource != baseURL || !slices.Equal(list.Apps[0].Scopes, []string{"read:reports"}) {
		t.Errorf("%+v", list)
	}
	if got := bea.ids("/apps", "apps"); len(got) != 0 {
		t.Errorf("the applications of bea: %v", got)
	}
	bea.call("DELETE", "/apps/"+first, "", 404, nil)
	ana.call("DELETE", "/apps/"+first, "", 204, nil)
	ana.call("DELETE", "/apps/"+first, "", 404, nil)
	if got := ana.ids("/apps", "apps"); !slices.Equal(got, []string{second}) {
		t.Errorf("left are %v", got)
	}
}

type ownerDoc struct {
	ID, Name, Email, Plan          string
	Operator                       bool
	Keys, Webhooks, Apps, Sessions int
	LastUsedAt                     *time.Time `json:"last_used_at"`
	BlockedAt                      *time.Time `json:"blocked_at"`
}

func TestOperators(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	ana, ops := s.person("ana", false), s.person("ops", true)
	withKey, key := ana.make(`{"name":"export"}`)
	app := ana.grant("desk")
	withKey.send("POST", "/api/v1/webhooks", `{"url":"https://192.0.9.1/"}`, 201, nil)

	var page struct {
		Owners []ownerDoc
		Total  int
	}
	ops.call("GET", "/owners", "", 200, &page)
	i := slices.IndexFunc(page.Owners, func(o ownerDoc) bool { return o.ID == ana.id })
	if i < 0 || len(page.Owners) != 2 || page.Total != 2 {
		t.Fatalf("%+v", page)
	}
	if got := page.Owners[i]; got.Name != "ana" || got.Keys != 2 || got.Webhooks != 1 || got.Apps != 1 || got.Sessions != 1 || got.Operator || got.LastUsedAt == nil || got.BlockedAt != nil {
		t.Errorf("ana: %+v", got)
	}
	ops.call("GET", "/owners?limit=1&page=2", "", 200, &page)
	if len(page.Owners) != 1 || page.Total != 2 {
		t.Errorf("the second page: %+v", page)
	}
	for _, query := range []string{"limit=0", "limit=501", "page=0", "limit=x"} {
		ops.call("GET", "/owners?"+query, "", 400, nil)
	}
	ana.call("GET", "/owners", "", 403, nil)
	ana.call("GET", "/owners?limit=x", "", 403, nil)
	ana.call("POST", "/owners/block", `{"no such field":1}`, 403, nil)
	ana.call("POST", "/owners/block", `{"owner":"https://idp.example#ops","blocked":true}`, 403, nil)

	of := encode("owner", ana.id)
	if got := ops.keys(of); got["export"] != "active" || len(got) != 2 {
		t.Errorf("the keys of ana: %v", got)
	}
	ops.call("GET", "/usage"+of, "", 200, nil)
	if got := ops.ids("/sessions"+of, "sessions"); !slices.Equal(got, []string{ana.session}) {
		t.Errorf("the sessions of ana: %v", got)
	}
	ops.call("POST", "/keys/"+key.ID+"/rotate", "", 403, nil)
	ops.call("PATCH", "/keys/"+key.ID, `{"name":"x"}`, 403, nil)
	ops.call("DELETE", "/keys/"+key.ID, "", 204, nil)
	ops.call("DELETE", "/apps/"+app, "", 404, nil) // not of the operator's own
	ops.call("DELETE", "/apps/"+app+of, "", 204, nil)
	ops.call("DELETE", "/sessions/"+ana.session+of, "", 204, nil)
	ops.call("DELETE", "/sessions"+of, "", 204, nil)
}

func TestBlocking(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	ops := s.person("ops", true)
	profile := accounts.Account{ID: "https://idp.example#ana", Provider: "corp", Plan: "pro", Scopes: access.AllScopes}
	if _, _, err := s.accounts.SignIn(t.Context(), profile, accounts.Session{}); err != nil {
		t.Fatal(err)
	}
	for body, status := range map[string]int{
		`{"owner":"https://idp.example#ana","blocked":true}`:    204,
		`{"owner":"https://idp.example#nobody","blocked":true}`: 404,
		`{"owner":"` + ops.id + `","blocked":true}`:             409, // oneself
		`{"owner":"key_000000000000","blocked":true}`:           409,
		`{"owner":"https://idp.example#ana"}`:                   400,
		`{"blocked":true}`:                                      400,
		`{"owner":5,"blocked":true}`:                            400,
	} {
		ops.call("POST", "/owners/block", body, status, nil)
	}
	if one, _ := s.accounts.Account(profile.ID); one.BlockedAt.IsZero() {
		t.Error("the account is not blocked")
	}
}

func TestUsage(t *testing.T) {
	s := start(t, "demo", store.Batch{})
	ana := s.person("ana", false)
	today := disclosure.DayOf(time.Now())
	if err := s.store.AddCounts(t.Context(), "batch",
		store.Count{Account: ana.id, Day: today, Operation: "getReports", N: 3},
		store.Count{Account: ana.id, Day: today, Operation: "mcp search_reports", N: 4},
		store.Count{Account: ana.id, Day: today - 29, Operation: "getReports", N: 2},
		store.Count{Account: ana.id, Day: today - 30, Operation: "getReports", N: 100},
		store.Count{Account: "https://idp.example#bea", Day: today, Operation: "getReports", N: 1000},
	); err != nil {
		t.Fatal(err)
	}
	var got struct {
		From, To string
		Total    int
		Days     []struct {
			Date       string
			Total      int
			Operations map[string]int
		}
		Operations []struct {
			Operation string
			Total     int
		}
	}
	ana.call("GET", "/usage", "", 200, &got)
	if got.From != (today-29).String() || got.To != today.String() || got.Total != 9 || len(got.Days) != 30 || got.Days[0].Total != 2 || got.Days[1].Total != 0 ||
		got.Days[29].Total != 7 || got.Days[29].Operations["mcp search_reports"] != 4 || got.Days[29].Date != today.String() {
		t.Errorf("%+v", got)
	}
	if fmt.Sprint(got.Operations) != "[{getReports 5} {mcp search_reports 4}]" {
		t.Errorf("the operations: %v", got.Operations)
	}
	ana.call("GET", "/usage"+encode("from", (today-30).String()), "", 200, &got)
	if got.Total != 109 || len(got.Days) != 31 {
		t.Errorf("31 days: %+v", got)
	}
	ana.call("GET", "/usage"+encode("from", (today-399).String()), "", 200, &got)
	if len(got.Days) != 400 {
		t.Errorf("%d days", len(got.Days))
	}
	ana.call("GET", "/usage?to=1900-01-02", "", 200, &got)
	if len(got.Days) != 2 || got.Total != 0 {
		t.Errorf("the first days: %+v", got)
	}
	for _, query := range []string{encode("from", (today - 400).String()), encode("from", (today + 1).String()), "?from=x", "?to=2026-02-30", "?from=2026-01-02&to=2026-01-01"} {
		ana.call("GET", "/usage"+query, "", 400, nil)
	}
}
