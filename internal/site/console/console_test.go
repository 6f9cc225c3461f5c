package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/oauth"
	"pregon/internal/auth/signin"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/site/console"
	"pregon/internal/site/render"
	"pregon/internal/source/coverage"
	"pregon/internal/store/sqlite"
)

const baseURL = "https://pregon.example"

// hostile is a text that breaks pages that do not escape it.
const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}}` + "\u202e" + ` javascript:alert(3) `

// fake is what the console depends on. Its API answers what a test put there.
type fake struct {
	t         testing.TB
	mux       *http.ServeMux
	session   *signin.Session
	checked   []*signin.Session // sessions for which forms were checked
	formError error
	answers   map[string]answer // by method and path
	calls     []call
	request   *oauth.Request
	refused   error
	decided   string
	signedOut string
}

type answer struct {
	status int
	body   string
}

type call struct{ target, body string }

func (f *fake) Providers() []signin.Choice {
	return []signin.Choice{{ID: "corp", Name: hostile}}
}

func (f *fake) Start(w http.ResponseWriter, r *http.Request, provider, next string) error {
	if provider != "corp" {
		return fault.New(fault.NotFound, "There is no such provider.")
	}
	http.Redirect(w, r, "https://idp.example/?next="+url.QueryEscape(next), http.StatusFound)
	return nil
}

func (f *fake) Finish(_ http.ResponseWriter, _ *http.Request, provider string) (string, error) {
	if provider != "corp" {
		return "", fault.New(fault.Forbidden, "Not allowed to sign in.")
	}
	return "/account", nil
}

func (f *fake) ByKey(w http.ResponseWriter, _ *http.Request, key, next string) (string, error) {
	if key == "again" {
		w.Header().Set("Retry-After", "17")
		return "", fault.New(fault.RateLimited, "There were too many sign-ins with this key.")
	}
	if key != "good" {
		return "", fault.New(fault.Unauthorized, "There is no such key.")
	}
	return signin.Next(next), nil
}

func (f *fake) Session(*http.Request) *signin.Session { return f.session }

func (f *fake) CheckForm(_ *http.Request, s *signin.Session) error {
	f.checked = append(f.checked, s)
	return f.formError
}

func (f *fake) SignOut(_ http.ResponseWriter, _ *http.Request, _ *signin.Session, everywhere bool) error {
	f.signedOut = "here"
	if everywhere {
		f.signedOut = "everywhere"
	}
	return nil
}

func (f *fake) Read(*http.Request, url.Values) (*oauth.Request, error) { return f.request, f.refused }

func (f *fake) Forms(*oauth.Request, access.Principal) (first, final string) {
	return "first", "sealed"
}

func (f *fake) Review(_ context.Context, form string, _ access.Principal) (q *oauth.Request, final string, err error) {
	if form != "first" && form != "too soon" {
		return nil, "", &oauth.Refusal{Code: "invalid_request", Text: "The form is too old.", Again: "/oauth/authorize?client_id=x"}
	}
	return f.request, "sealed", nil
}

func (f *fake) Decide(_ context.Context, form string, _ access.Principal, allow bool) (string, error) {
	if form == "too soon" && allow {
		return "", oauth.ErrTooSoon
	}
	if form != "sealed" {
		return "", &oauth.Refusal{Code: "invalid_request", Text: "The form is too old.", Again: "/oauth/authorize?client_id=x"}
	}
	f.decided = "deny"
	if allow {
		f.decided = "allow"
	}
	return "myapp:/callback?code=1", nil
}

// ServeHTTP is the API.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.calls = append(f.calls, call{r.Method + " " + r.URL.RequestURI(), strings.TrimSpace(string(body))})
	out, ok := f.answers[r.Method+" "+r.URL.RequestURI()]
	if !ok {
		out, ok = f.answers[r.Method+" "+r.URL.Path]
	}
	if !ok {
		f.t.Errorf("the API was asked for %s %s", r.Method, r.URL)
	}
	if out.status != 0 {
		w.WriteHeader(out.status)
	}
	_, _ = io.WriteString(w, out.body)
}

// start returns a console in which a person is signed in.
func start(t testing.TB, answers map[string]answer) *fake {
	t.Helper()
	f := &fake{t: t, mux: http.NewServeMux(), answers: answers}
	f.session = &signin.Session{
		Principal: access.Principal{ID: "https://idp.example#ana", Mode: access.BySession, Scope: access.ReadReports | access.ReadIssuers, Credential: "s1"},
		Account:   account.Account{ID: "https://idp.example#ana", Name: hostile}, Token: "form-token",
	}
	pages := newSite(t)
	console.New(console.Options{Site: pages, SignIn: f, OAuth: f, API: f, BaseURL: baseURL}).Register(f.mux)
	return f
}

// newSite returns the layout of the site with the console in it, over an empty store.
func newSite(t testing.TB) *render.Renderer {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	quiet := slog.New(slog.DiscardHandler)
	pages, err := render.New(render.Options{
		Query:  query.New(query.Options{Catalog: catalog.New(db, quiet), Coverage: coverage.New(db), Documents: db, Shared: func() string { return "off" }, Source: func() string { return "demo" }}),
		Guard:  access.NewGuard(access.Options{BaseURL: baseURL, Keys: access.NewKeyring(db, nil)}),
		Logger: quiet, BaseURL: baseURL, Parts: []render.Part{console.Part()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// do requests a page as a browser does. A form makes it a POST.
func (f *fake) do(status int, target string, form url.Values) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	if form != nil {
		r = httptest.NewRequest(http.MethodPost, target, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	w := httptest.NewRecorder()
	f.mux.ServeHTTP(w, r)
	if w.Code != status {
		f.t.Fatalf("%s: got %d, want %d\n%s", target, w.Code, status, w.Body)
	}
	return w
}

// called expects the last call of the API.
func (f *fake) called(target, body string) {
	f.t.Helper()
	for _, c := range f.calls {
		if c.target == target {
			var got, want any
			if body != "" && (json.Unmarshal([]byte(c.body), &got) != nil || json.Unmarshal([]byte(body), &want) != nil || !equal(got, want)) {
				f.t.Errorf("%s was called with %s, want %s", target, c.body, body)
			}
			return
		}
	}
	f.t.Errorf("%s was not called, but %v", target, f.calls)
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func has(t *testing.T, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("the page lacks %q:\n%s", text, w.Body)
		}
	}
}

func location(t *testing.T, w *httptest.ResponseRecorder, want string) {
	t.Helper()
	if got := w.Header().Get("Location"); got != want {
		t.Errorf("redirected to %q, want %q", got, want)
	}
}

const at = `"2026-11-03T10:20:30Z"`

// full are the answers of the API with a text in every place.
func full(text string) map[string]answer {
	quoted, _ := json.Marshal(text)
	replace := func(s string) answer {
		return answer{body: strings.NewReplacer("TEXT", string(quoted), "AT", at).Replace(s)}
	}
	person := `"id":TEXT,"name":TEXT,"email":TEXT,"provider":TEXT,"plan":TEXT,"scopes":["read:reports",TEXT],"operator":true,"limits":{"requests_per_minute":600},"created_at":AT,"signed_in_at":AT`
	key := `{"id":TEXT,"name":TEXT,"plan":TEXT,"state":TEXT,"scopes":["read:reports",TEXT],"networks":[TEXT],"created_at":AT,"expires_at":AT,"overlap_until":AT,"revoked_at":null,"last_used_at":AT,"owner":TEXT,"parent":TEXT,"key":TEXT}`
	active := `{"id":"k1","name":"One","plan":"pro","state":"active","scopes":["read:reports"],"networks":["192.0.2.0/24"],"created_at":AT,"expires_at":"2026-12-24T23:00:00Z","overlap_until":null,"revoked_at":null,"last_used_at":null,"owner":TEXT,"parent":null}`
	hook := `"id":"w1","key":TEXT,"url":"https://h.example/x","description":TEXT,"events":["report.published",TEXT],"filter":{"search":TEXT,"type":"OIR","issuer":TEXT,"category":TEXT,"market":TEXT,"kind":"company","without":"securitisation"},"enabled":false,"disabled_at":AT,"disabled_reason":TEXT,"paused_reason":TEXT,"created_at":AT,"updated_at":AT`
	attempt := `{"at":AT,"ok":false,"status":503,"latency_ms":31,"error":TEXT,"excerpt":TEXT}`
	return map[string]answer{
		"GET /api/v1/account":                 replace(`{` + person + `}`),
		"GET /api/v1/account/usage":           replace(`{"days":[{"date":"2026-11-02","total":9,"operations":{TEXT:5,"b":2,"c":1,"d":1}}],"operations":[{"operation":TEXT,"total":5},{"operation":"b","total":2},{"operation":"c","total":1},{"operation":"d","total":1}]}`),
		"GET /api/v1/account/sessions":        replace(`{"sessions":[{"id":TEXT,"created_at":AT,"seen_at":AT,"expires_at":AT,"agent":TEXT,"current":false,"key":TEXT},{"id":"s1","created_at":AT,"seen_at":AT,"expires_at":AT,"agent":"Mozilla/5.0 (X11; Linux x86_64) Chrome/140 Safari/537","current":true,"key":null}]}`),
		"DELETE /api/v1/account/sessions/s2":  {status: 204},
		"GET /api/v1/account/keys":            replace(`{"keys":[` + key + `,` + active + `]}`),
		"POST /api/v1/account/keys":           {201, replace(key).body},
		"PATCH /api/v1/account/keys/k1":       replace(key),
		"POST /api/v1/account/keys/k1/rotate": replace(key),
		"DELETE /api/v1/account/keys/k1":      {status: 204},
		"GET /api/v1/account/apps":            replace(`{"apps":[{"id":"a1","client_id":TEXT,"name":TEXT,"host":TEXT,"scopes":["read:reports",TEXT],"resource":TEXT,"created_at":AT,"last_used_at":AT,"expires_at":AT}]}`),
		"DELETE /api/v1/account/apps/a1":      {status: 204},
		"GET /api/v1/account/owners":          replace(`{"owners":[{` + person + `,"keys":1,"webhooks":2,"apps":3,"sessions":4,"last_used_at":AT,"blocked_at":AT},{` + strings.Replace(person, `"id":TEXT`, `"id":"bea"`, 1) + `,"keys":1,"webhooks":2,"apps":3,"sessions":4,"last_used_at":null,"blocked_at":null}]}`),
		"POST /api/v1/account/owners/block":   {status: 204},
		"GET /api/v1/analytics":               replace(`{"categories":[{"category":TEXT}],"markets":[{"market":TEXT}]}`),
		"GET /api/v1/webhooks":                replace(`{"data":[{` + hook + `}]}`),
		"POST /api/v1/webhooks":               {201, replace(`{` + hook + `,"secret":"whsec_abc"}`).body},
		"POST /api/v1/webhooks/preview":       replace(`{"total":3,"days":[{"date":"2026-11-02","count":3}],"samples":[{"id":TEXT,"company_name":TEXT,"ticker":null,"type":"OIR","title":TEXT,"summary":null,"published_at":AT}]}`),
		"GET /api/v1/webhooks/w1":             replace(`{` + hook + `,"endpoint":{"failing_since":AT,"last_success_at":AT,"last_failure_at":AT,"pending":1,"dead":2}}`),
		"PATCH /api/v1/webhooks/w1":           replace(`{` + hook + `}`),
		"DELETE /api/v1/webhooks/w1":          {status: 204},
		"GET /api/v1/webhooks/w1/deliveries":  replace(`{"data":[{"id":TEXT,"seq":7,"event":TEXT,"state":"dead","attempts":2,"created_at":AT,"due_at":null,"done_at":AT,"history":[` + attempt + `,` + attempt + `]},{"id":TEXT,"seq":6,"event":TEXT,"state":"pending","attempts":0,"created_at":AT,"due_at":AT,"done_at":null,"history":[]}]}`),
		"POST /api/v1/webhooks/w1/test":       replace(attempt),
		"POST /api/v1/webhooks/w1/adopt":      replace(`{` + hook + `}`),
		"POST /api/v1/webhooks/w1/redeliver":  {202, `{"queued":1}`},
		"POST /api/v1/webhooks/w1/rotate":     replace(`{` + hook + `,"secret":TEXT}`),
	}
}

// empty are the answers of the API to a person who has nothing yet.
var empty = map[string]answer{
	"GET /api/v1/account":           {body: `{"id":"k1","plan":"pro","scopes":[],"limits":{"requests_per_minute":null},"created_at":` + at + `}`},
	"GET /api/v1/account/usage":     {body: `{"days":[],"operations":[]}`},
	"GET /api/v1/account/sessions":  {body: `{"sessions":[]}`},
	"GET /api/v1/account/keys":      {body: `{"keys":[]}`},
	"GET /api/v1/account/apps":      {body: `{"apps":[]}`},
	"GET /api/v1/account/owners":    {body: `{"owners":[]}`},
	"GET /api/v1/analytics":         {403, `{"status":403,"detail":"This needs the scope read:analytics."}`},
	"GET /api/v1/webhooks":          {body: `{"data":[]}`},
	"POST /api/v1/webhooks/preview": {body: `{"total":0,"days":[],"samples":[]}`},
}

// lists are the pages that exist without anything in them.
var lists = []string{
	"/account", "/account/keys", "/account/webhooks", "/account/webhooks/new", "/account/apps", "/account/owners", "/oauth/authorize?client_id=x",
}

func consent(text string) *oauth.Request {
	return &oauth.Request{
		Client: oauth.Client{ID: text, Name: text, Host: text, Kind: oauth.Registered}, RedirectURI: "https://app.example/callback", Resource: text, Scope: access.AllScopes,
	}
}

// Every page works with everything and with nothing, in both languages, and no text
// becomes markup.
func TestPages(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]map[string]answer{"hostile": full(hostile), "empty": empty} {
		f := start(t, answers)
		f.session.Operator = true
		f.request = consent(hostile)
		targets := lists
		if name == "hostile" {
			own := url.QueryEscape(hostile)
			targets = append(targets, "/account/keys/k1", "/account/keys/"+url.PathEscape(hostile), "/account/webhooks/w1", "/account/webhooks/w1?state=dead&before=9", "/account/webhooks/w1/edit",
				"/account?owner="+own, "/account/keys?owner="+own, "/account/apps?owner="+own, "/account?done=key-revoked", "/account?done="+own)
		}
		for _, target := range targets {
			for _, language := range []string{"es", "en"} {
				separator := "?"
				if strings.Contains(target, "?") {
					separator = "&"
				}
				checkPage(t, f.do(http.StatusOK, target+separator+"lang="+language, nil), target)
			}
		}
		f.session = nil
		checkPage(t, f.do(http.StatusOK, "/signin?next="+url.QueryEscape("/account/"+hostile), nil), "/signin")
	}
}

// checkPage expects a page for one reader without foreign markup.
func checkPage(t *testing.T, w *httptest.ResponseRecorder, target string) {
	t.Helper()
	for _, bad := range []string{"<script>alert", "<img", `"javascript:`, "ZgotmplZ", "%!", "<no value>"} {
		if at := strings.Index(w.Body.String(), bad); at >= 0 {
			t.Errorf("%s has %q: %s", target, bad, w.Body.String()[max(0, at-200):at])
		}
	}
	if got := w.Header().Get("Cache-Control"); got != "private, no-store" {
		t.Errorf("%s: Cache-Control is %q", target, got)
	}
}

// forms are all forms, with a POST for each.
func forms() map[string]url.Values {
	return map[string]url.Values{
		"/signin/key":                    {"key": {"good"}},
		"/signout":                       {},
		"/account/sessions/s2/end":       {},
		"/account/keys":                  {"name": {"x"}, "scopes": {"read:reports"}},
		"/account/keys/k1":               {"name": {"x"}},
		"/account/keys/k1/rotate":        {},
		"/account/keys/k1/revoke":        {},
		"/account/webhooks":              {"url": {"https://h.example"}},
		"/account/webhooks/preview":      {},
		"/account/webhooks/w1":           {"url": {"https://h.example"}},
		"/account/webhooks/w1/enable":    {"enabled": {"true"}},
		"/account/webhooks/w1/test":      {},
		"/account/webhooks/w1/adopt":     {},
		"/account/webhooks/w1/redeliver": {"seq": {"7"}},
		"/account/webhooks/w1/rotate":    {},
		"/account/webhooks/w1/delete":    {},
		"/account/apps/a1/revoke":        {},
		"/account/owners/block":          {"owner": {"bea"}, "blocked": {"true"}},
		"/oauth/authorize":               {"request": {"sealed"}, "decision": {"allow"}},
	}
}

// Every form is checked before it has an effect.
func TestFormsAreChecked(t *testing.T) {
	t.Parallel()
	posts := 0
	for _, pattern := range console.Patterns() {
		if strings.HasPrefix(pattern, "POST ") {
			posts++
		}
	}
	if posts != len(forms()) {
		t.Errorf("there are %d forms, and %d are tested", posts, len(forms()))
	}
	f := start(t, nil)
	f.session.Operator = true
	f.formError = fault.New(fault.Forbidden, "The form came from elsewhere.")
	for target, form := range forms() {
		f.checked = nil
		has(t, f.do(http.StatusForbidden, target, form), "The form came from elsewhere.")
		if len(f.checked) != 1 || len(f.calls) > 0 || f.signedOut != "" || f.decided != "" {
			t.Errorf("%s had an effect: %v", target, f.calls)
		}
		if f.checked[0] == nil && target != "/signin/key" {
			t.Errorf("%s is checked without the token of the session", target)
		}
	}
}

// Forms lead to a page that says what was done, and only those with a secret are
// answered with a page.
func TestForms(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{
		"/account/keys": true, "/account/keys/k1/rotate": true, "/account/webhooks": true, "/account/webhooks/preview": true, "/account/webhooks/w1/test": true, "/account/webhooks/w1/rotate": true,
	}
	f := start(t, full(hostile))
	f.session.Operator = true
	for target, form := range forms() {
		status := http.StatusSeeOther
		if shown[target] {
			status = http.StatusOK
		}
		w := f.do(status, target+"?lang=en", form)
		checkPage(t, w, target)
		if to := w.Header().Get("Location"); status == http.StatusSeeOther && strings.HasPrefix(to, "/") && !strings.Contains(to, "lang=en") {
			t.Errorf("%s leads to %s", target, to)
		}
	}
}

// Without a session every page leads to signing in, and back.
func TestSignedOut(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	f.session = nil
	f.request = consent("App")
	location(t, f.do(http.StatusSeeOther, "/account/keys?owner=x", nil), "/signin?next=%2Faccount%2Fkeys%3Fowner%3Dx")
	location(t, f.do(http.StatusSeeOther, "/account/keys/k1/revoke", url.Values{}), "/signin?next=%2Faccount")
	location(t, f.do(http.StatusSeeOther, "/oauth/authorize?client_id=x&state=1", nil), "/signin?next=%2Foauth%2Fauthorize%3Fclient_id%3Dx%26state%3D1")
	if len(f.calls) > 0 || len(f.checked) > 0 {
		t.Errorf("the API was called: %v", f.calls)
	}
	f.session = &signin.Session{}
	location(t, f.do(http.StatusSeeOther, "/signin?next=//evil.example", nil), "/account")
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	f.session = nil
	w := f.do(http.StatusOK, "/signin?next=/oauth/authorize%3Fclient_id%3Dx", nil)
	has(t, w, `href="/signin/start?next=%2Foauth%2Fauthorize%3Fclient_id%3Dx&amp;provider=corp"`, `type="password"`, `autocomplete="off"`, "Una aplicación le pide acceso")
	if w.Header().Get("Cross-Origin-Opener-Policy") != "" {
		t.Error("an application loses the window in which its person signs in")
	}
	location(t, f.do(http.StatusFound, "/signin/start?provider=corp&next=/account/keys", nil), "https://idp.example/?next=%2Faccount%2Fkeys")
	f.do(http.StatusNotFound, "/signin/start?provider=other", nil)
	location(t, f.do(http.StatusSeeOther, "/signin/callback/corp?code=1", nil), "/account")
	has(t, f.do(http.StatusForbidden, "/signin/callback/other?code=1", nil), "Not allowed to sign in.")
	location(t, f.do(http.StatusSeeOther, "/signin/key", url.Values{"key": {"good"}, "next": {"/account/keys"}}), "/account/keys")
	w = f.do(http.StatusTooManyRequests, "/signin/key?lang=en", url.Values{"key": {"again"}, "next": {"/account/keys"}})
	has(t, w, "Try again in 17 seconds.", `name="next" value="/account/keys"`)
	if got := w.Header().Get("Retry-After"); got != "17" {
		t.Errorf("Retry-After is %q", got)
	}
	w = f.do(http.StatusForbidden, "/signin/key", url.Values{"key": {"pregon_bad"}, "next": {"/account/keys"}})
	has(t, w, "There is no such key.", `name="next" value="/account/keys"`)
	if strings.Contains(w.Body.String(), "pregon_bad") {
		t.Error("the key is in the page")
	}
	f.do(http.StatusBadRequest, "/signin?api_key=pregon_x", nil)
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	location(t, f.do(http.StatusSeeOther, "/signout", url.Values{"everywhere": {"1"}}), "/signin?done=signed-out")
	if f.signedOut != "everywhere" {
		t.Errorf("signed out %s", f.signedOut)
	}
	location(t, f.do(http.StatusSeeOther, "/signout", url.Values{"next": {"/oauth/authorize?client_id=x"}}), "/signin?next=%2Foauth%2Fauthorize%3Fclient_id%3Dx")
	f.session = nil
	has(t, f.do(http.StatusOK, "/signin?done=signed-out", nil), "Ha cerrado la sesión.")
}

// A form that the API refuses is shown again with what was entered and why.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	answers := full("x")
	answers["POST /api/v1/account/keys"] = answer{400, `{"status":400,"detail":"The key is not valid.","errors":[{"parameter":"networks","value":"moon","reason":"must be a network"},{"parameter":"plan","value":"","reason":"is odd"}]}`}
	answers["PATCH /api/v1/account/keys/k1"] = answers["POST /api/v1/account/keys"]
	answers["POST /api/v1/webhooks"] = answer{400, `{"status":400,"detail":"Not valid.","errors":[{"parameter":"url","value":"x","reason":"must be https"}]}`}
	answers["PATCH /api/v1/webhooks/w1"] = answers["POST /api/v1/webhooks"]
	f := start(t, answers)
	entered := url.Values{"name": {"My <b>key"}, "networks": {"moon"}, "expires_at": {"2027-01-31"}, "scopes": {"read:issuers"}}
	w := f.do(http.StatusBadRequest, "/account/keys", entered)
	has(t, w, "The key is not valid.", "must be a network", `value="My &lt;b&gt;key"`, `value="moon"`, `aria-invalid="true"`, `value="2027-01-31"`, `<code>plan</code> is odd`, "<details class=\"make\" open>",
		`value="read:issuers" checked`, `value="read:reports">`)
	f.called("POST /api/v1/account/keys", `{"name":"My <b>key","networks":["moon"],"expires_at":"2027-02-01T00:00:00+01:00","scopes":["read:issuers"]}`)
	has(t, f.do(http.StatusBadRequest, "/account/keys/k1", entered), "must be a network", `value="My &lt;b&gt;key"`)
	hook := url.Values{"url": {"http://h.example"}, "description": {"Mine"}, "events": {"report.corrected"}, "type": {"IP"}, "search": {"dividendo"}, "without": {"securitisation"}, "from": {"2026-01-01"}}
	for _, target := range []string{"/account/webhooks", "/account/webhooks/w1"} {
		has(t, f.do(http.StatusBadRequest, target, hook), "must be https", `value="http://h.example"`, `value="Mine"`, `value="report.corrected" checked`, `value="report.published">`, `<option value="IP" selected>`,
			`value="dividendo"`, `value="securitisation" checked`, `name="from" value="2026-01-01"`)
	}
	f.called("POST /api/v1/webhooks", `{"url":"http://h.example","description":"Mine","events":["report.corrected"],"filter":{"type":"IP","search":"dividendo","without":"securitisation","from":"2026-01-01"}}`)
	answers["POST /api/v1/account/keys"] = answer{503, `{"status":503,"detail":"The store does not answer."}`}
	has(t, f.do(http.StatusServiceUnavailable, "/account/keys", entered), "The store does not answer.")
}

// A key is shown once, and only what a person changed is sent.
func TestKeys(t *testing.T) {
	t.Parallel()
	f := start(t, full("x"))
	f.answers["POST /api/v1/account/keys"] = answer{201, strings.Replace(f.answers["POST /api/v1/account/keys"].body, `"key":"x"`, `"key":"pregon_live_secret"`, 1)}
	w := f.do(http.StatusOK, "/account/keys", url.Values{"name": {"x"}, "scopes": {"read:reports"}})
	has(t, w, `<code id="secret">pregon_live_secret</code>`, "no se vuelve a mostrar", `X-API-Key: $KEY`)
	if got := w.Header().Get("Cache-Control"); got != "private, no-store" {
		t.Errorf("the secret may be kept: %s", got)
	}
	has(t, f.do(http.StatusOK, "/account/keys/k1", nil), `value="2026-12-24"`, `value="192.0.2.0/24"`, "dentro de una semana")
	same := url.Values{"name": {"One"}, "expires_at": {"2026-12-24"}, "networks": {"192.0.2.0/24"}}
	location(t, f.do(http.StatusSeeOther, "/account/keys/k1", same), "/account/keys/k1?done=key-changed")
	f.called("PATCH /api/v1/account/keys/k1", `{}`)
	f.calls = nil
	f.do(http.StatusSeeOther, "/account/keys/k1", url.Values{"name": {"Two"}})
	f.called("PATCH /api/v1/account/keys/k1", `{"name":"Two","expires_at":null,"networks":[]}`)
	f.do(http.StatusOK, "/account/keys/k1/rotate", url.Values{"overlap": {"3600"}})
	f.called("POST /api/v1/account/keys/k1/rotate", `{"overlap_seconds":3600}`)
	f.do(http.StatusNotFound, "/account/keys/k9", nil)
	f.do(http.StatusSeeOther, "/account/keys/k1/revoke", url.Values{})
	f.called("DELETE /api/v1/account/keys/k1", "")
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	f := start(t, full("x"))
	has(t, f.do(http.StatusOK, "/account/webhooks", url.Values{"url": {"https://h.example"}}), "whsec_abc")
	has(t, f.do(http.StatusOK, "/account/webhooks/w1", nil), "HTTP 503", "31 ms", "Reenviar", "desactivado")
	has(t, f.do(http.StatusOK, "/account/webhooks/w1/test", url.Values{}), "La prueba no ha llegado.", "HTTP 503")
	f.do(http.StatusSeeOther, "/account/webhooks/w1/enable", url.Values{"enabled": {"true"}})
	f.called("PATCH /api/v1/webhooks/w1", `{"enabled":true}`)
	f.calls = nil
	same := url.Values{"url": {"https://h.example/x"}, "search": {"x"}, "type": {"OIR"}, "issuer": {"x"}, "category": {"x"}, "market": {"x"}, "kind": {"company"}, "without": {"securitisation"}}
	f.do(http.StatusSeeOther, "/account/webhooks/w1", same) // a filter that stays is not sent
	f.called("PATCH /api/v1/webhooks/w1", `{"url":"https://h.example/x","description":"","events":[]}`)
	f.calls = nil
	f.do(http.StatusSeeOther, "/account/webhooks/w1", url.Values{"url": {"https://h.example/x"}, "category": {"y"}})
	f.called("PATCH /api/v1/webhooks/w1", `{"url":"https://h.example/x","description":"","events":[],"filter":{"category":"y"}}`)
	f.do(http.StatusSeeOther, "/account/webhooks/w1/redeliver", url.Values{"seq": {"7"}})
	f.called("POST /api/v1/webhooks/w1/redeliver", `{"seq":7}`)
	f.do(http.StatusNotFound, "/account/webhooks/w1/redeliver", url.Values{"seq": {"x"}})
	w := f.do(http.StatusOK, "/account/webhooks/preview", url.Values{"fragment": {"1"}, "type": {"OIR"}})
	has(t, w, "3 comunicaciones en los últimos 30 días")
	if strings.Contains(w.Body.String(), "<html") {
		t.Error("the fragment is a page")
	}
	has(t, f.do(http.StatusOK, "/account/webhooks/preview", url.Values{"type": {"OIR"}, "url": {"https://h.example"}, "id": {"w1"}}), `value="https://h.example"`, "3 comunicaciones", `action="/account/webhooks/w1"`)
	f.answers["POST /api/v1/webhooks/preview"] = answer{400, `{"status":400,"detail":"No.","errors":[{"parameter":"issuer","value":"z","reason":"is unknown"}]}`}
	has(t, f.do(http.StatusOK, "/account/webhooks/preview", url.Values{"fragment": {"1"}, "issuer": {"z"}}), "is unknown")
}

// A webhook that paused with its key says why, and can be adopted.
func TestAdoption(t *testing.T) {
	t.Parallel()
	f := start(t, full("x"))
	paused := `{"id":"w1","key":"key_desk","url":"https://h.example/x","description":"Mine","events":[],"filter":{},"enabled":true,"paused_reason":"its key was revoked","created_at":` + at + `}`
	f.answers["GET /api/v1/webhooks"] = answer{body: `{"data":[` + paused + `]}`}
	f.answers["GET /api/v1/webhooks/w1"] = answer{body: paused}
	has(t, f.do(http.StatusOK, "/account/webhooks?lang=en", nil), `<span class="tag bad">paused</span>`)
	has(t, f.do(http.StatusOK, "/account/webhooks/w1?lang=en", nil), `<span class="tag bad">paused</span>`, "its key was revoked", "key_desk", `action="/account/webhooks/w1/adopt`,
		"first revoke the key", `<input type="hidden" name="url" value="https://h.example/x">`)
	shown := url.Values{"url": {"https://h.example/x"}}
	location(t, f.do(http.StatusSeeOther, "/account/webhooks/w1/adopt", shown), "/account/webhooks/w1?done=webhook-adopted")
	f.called("POST /api/v1/webhooks/w1/adopt", `{"url":"https://h.example/x"}`)
	// Its address is another one now: nothing is adopted, and the page shows the new one.
	f.answers["POST /api/v1/webhooks/w1/adopt"] = answer{409, `{"status":409,"detail":"Changed."}`}
	f.answers["GET /api/v1/webhooks/w1"] = answer{body: strings.ReplaceAll(paused, "h.example/x", "h.example/y")}
	page := f.do(http.StatusConflict, "/account/webhooks/w1/adopt?lang=en", shown)
	has(t, page, "check its address again", `name="url" value="https://h.example/y"`)
	checkPage(t, page, "a conflict")
	f.answers["GET /api/v1/webhooks/w1"] = answer{body: paused}
	has(t, f.do(http.StatusOK, "/account/webhooks/w1?done=webhook-adopted&lang=en", nil), "The webhook is yours")
	f.session.Key = "key_desk" // its own
	if page := f.do(http.StatusOK, "/account/webhooks/w1", nil); strings.Contains(page.Body.String(), "/adopt") {
		t.Error("a key is offered to adopt what it made")
	}
	f.answers["GET /api/v1/webhooks/w1"] = answer{body: strings.NewReplacer(`"key":"key_desk"`, `"key":null`, `"paused_reason":"its key was revoked"`, `"paused_reason":null`).Replace(paused)}
	f.session.Key = ""
	page = f.do(http.StatusOK, "/account/webhooks/w1?lang=en", nil)
	has(t, page, `<span class="tag good">enabled</span>`)
	if strings.Contains(page.Body.String(), "/adopt") || strings.Contains(page.Body.String(), "paused") {
		t.Error("a webhook of the account can be adopted, or is shown as paused")
	}
}

// A session that was opened with a key, but not the first of its account, has no part in
// sessions and applications: the API refuses them.
func TestSessionWithAKey(t *testing.T) {
	t.Parallel()
	f := start(t, full("x"))
	delete(f.answers, "GET /api/v1/account/sessions") // which is not asked for
	f.answers["GET /api/v1/account/apps"] = answer{403, `{"status":403,"detail":"Use the first key."}`}
	f.session.Key = "key_desk"
	page := f.do(http.StatusOK, "/account?lang=en", nil)
	has(t, page, "You signed in with the key key_desk")
	for _, absent := range []string{`/account/apps`, `name="everywhere"`, `id="sessions"`} {
		if strings.Contains(page.Body.String(), absent) {
			t.Errorf("the page has %s", absent)
		}
	}
	has(t, f.do(http.StatusForbidden, "/account/apps?lang=en", nil), "Use the first key.")
	f.request = consent("Desk")
	for language, want := range map[string]string{"en": "the key key_desk, which cannot revoke access", "es": "la clave key_desk, que no puede retirar el acceso"} {
		for _, form := range []url.Values{nil, {"request": {"first"}, "decision": {"review"}}} {
			page := f.do(http.StatusOK, "/oauth/authorize?client_id=x&lang="+language, form)
			has(t, page, want)
			if strings.Contains(page.Body.String(), "/account/apps") {
				t.Error("the page of consent has a link to the applications")
			}
		}
	}
	f = start(t, full("x"))
	f.session.Principal.ID, f.session.Key = "key_first", "key_first"
	f.request = consent("Desk")
	has(t, f.do(http.StatusOK, "/account?lang=en", nil), `/account/apps`, `name="everywhere"`, `id="sessions"`)
	has(t, f.do(http.StatusOK, "/oauth/authorize?client_id=x&lang=en", nil), "You can revoke access at any time", `href="/account/apps`)
}

// Pages of operators do not exist for others, who cannot name another owner either.
func TestOperators(t *testing.T) {
	t.Parallel()
	f := start(t, full("x"))
	f.do(http.StatusNotFound, "/account/owners", nil)
	f.do(http.StatusNotFound, "/account/owners/block", url.Values{"owner": {"bea"}, "blocked": {"true"}})
	f.do(http.StatusOK, "/account/keys?owner=bea", nil)
	for _, c := range f.calls {
		if strings.Contains(c.target, "owner") {
			t.Errorf("the API was asked for %s", c.target)
		}
	}
	f.session.Operator = true
	f.calls = nil
	has(t, f.do(http.StatusOK, "/account/keys?owner=bea", nil), `href="/account/apps?owner=bea"`)
	f.called("GET /api/v1/account/keys?owner=bea", "")
	location(t, f.do(http.StatusSeeOther, "/account/keys/k1/revoke?owner=bea", url.Values{}), "/account/keys?owner=bea&done=key-revoked")
	f.called("DELETE /api/v1/account/keys/k1?owner=bea", "")
	f.do(http.StatusNotFound, "/account?owner=nobody", nil)
	f.answers["GET /api/v1/account/owners?limit=500&page=1"] = answer{body: `{"owners":[{"id":"cleo"}],"total":2}`}
	f.answers["GET /api/v1/account/owners?limit=500&page=2"] = answer{body: `{"owners":[{"id":"dora"}],"total":2}`}
	has(t, f.do(http.StatusOK, "/account/owners", nil), "cleo", "dora")
	location(t, f.do(http.StatusSeeOther, "/account/owners/block", url.Values{"owner": {"bea"}, "blocked": {"false"}}), "/account/owners?done=unblocked")
	f.called("POST /api/v1/account/owners/block", `{"owner":"bea","blocked":false}`)
}

// The page of consent says who asks and where the answer goes, and its form may lead
// there.
func TestConsent(t *testing.T) {
	t.Parallel()
	f := start(t, full("Ana"))
	f.request = consent("Desk")
	for redirect, want := range map[string]string{
		"https://app.example/callback": "form-action 'self' https:;", "http://127.0.0.1:8080/cb": "form-action 'self' http: https:;", "cursor://x/y": "form-action 'self' cursor:;",
	} {
		f.request.RedirectURI = redirect
		w := f.do(http.StatusOK, "/oauth/authorize?client_id=x&lang=en", nil)
		if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, want) {
			t.Errorf("%s: the policy is %q", redirect, got)
		}
		if got := w.Header().Get("Cross-Origin-Opener-Policy"); got != "" {
			t.Errorf("%s: the opener policy of the first page is %q", redirect, got)
		}
		has(t, w, "Desk", "It registered itself", "read disclosures and their documents", "It also asks for permissions", `value="deny"`)
		// Without a script the form can be refused, or leads to the second page.
		has(t, w, `data-consent="sealed"`, `name="request" value="first"`, `value="allow" disabled hidden`, `<noscript><button class="main" type="submit" name="decision" value="review">`)
		if strings.Contains(w.Body.String(), "read the analytics") {
			t.Error("the page offers what the person does not have")
		}
	}
	for kind, want := range map[oauth.Kind]string{oauth.Configured: "Configured by the operator", oauth.Document: "It describes itself at Desk"} {
		f.request.Client.Kind = kind
		has(t, f.do(http.StatusOK, "/oauth/authorize?client_id=x&lang=en", nil), want)
	}
	// The second page, and again if its button is pressed too soon.
	for form, decision := range map[string]string{"first": "review", "too soon": "allow"} {
		w := f.do(http.StatusOK, "/oauth/authorize?lang=en", url.Values{"request": {form}, "decision": {decision}})
		has(t, w, "Desk", "Confirm that you want to give access", `name="request" value="sealed"`, `value="allow">`, `value="deny"`)
		if strings.Contains(w.Body.String(), "noscript") || f.decided != "" {
			t.Errorf("%s: decided is %q:\n%s", form, f.decided, w.Body)
		}
		// A window of another site in which no script runs must not show it.
		if got := w.Header().Get("Cross-Origin-Opener-Policy"); got != "same-origin" {
			t.Errorf("%s: the opener policy of the second page is %q", form, got)
		}
		// A second click at the place of the first one must not grant.
		if strings.Index(w.Body.String(), `value="allow"`) > strings.Index(w.Body.String(), `value="deny"`) {
			t.Errorf("%s: the button is where that of the first page was", form)
		}
		checkPage(t, w, "the second page")
	}
	has(t, f.do(http.StatusBadRequest, "/oauth/authorize", url.Values{"request": {"old"}, "decision": {"review"}}), "The form is too old.")
	f.session.Scope = 0
	has(t, f.do(http.StatusOK, "/oauth/authorize?client_id=x", nil), `value="allow" disabled`)
	for _, decision := range []string{"allow", "deny", ""} {
		location(t, f.do(http.StatusSeeOther, "/oauth/authorize", url.Values{"request": {"sealed"}, "decision": {decision}}), "myapp:/callback?code=1")
		if want := map[bool]string{true: "allow", false: "deny"}[decision == "allow"]; f.decided != want {
			t.Errorf("%q is %s", decision, f.decided)
		}
	}
	has(t, f.do(http.StatusBadRequest, "/oauth/authorize", url.Values{"request": {"old"}}), "The form is too old.", `href="/oauth/authorize?client_id=x"`)
}

func TestRefusedApplications(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	f.session = nil
	f.refused = &oauth.Refusal{Code: "invalid_client", Text: hostile, Return: "javascript:alert(1)"}
	w := f.do(http.StatusBadRequest, "/oauth/authorize?client_id=x", nil)
	checkPage(t, w, "a refusal")
	if strings.Contains(w.Body.String(), "Volver a la aplicación") {
		t.Error("the page has a link that is no address of the web")
	}
	f.refused = &oauth.Refusal{Code: "invalid_scope", Text: "x", Return: "https://app.example/?error=invalid_scope"}
	has(t, f.do(http.StatusBadRequest, "/oauth/authorize?client_id=x", nil), `href="https://app.example/?error=invalid_scope"`)
	f.refused = &oauth.Refusal{Code: "invalid_scope", Text: "x", Redirect: "http://127.0.0.1:9/?error=invalid_scope"}
	location(t, f.do(http.StatusSeeOther, "/oauth/authorize?client_id=x", nil), "http://127.0.0.1:9/?error=invalid_scope")
	f.refused = &oauth.Refusal{Code: "temporarily_unavailable", Text: "Try again."}
	if w := f.do(http.StatusServiceUnavailable, "/oauth/authorize?client_id=x", nil); strings.Contains(w.Body.String(), "El fallo está en") {
		t.Error("the application is blamed for an outage")
	}
	f.refused = errors.New("the store is gone")
	f.do(http.StatusInternalServerError, "/oauth/authorize?client_id=x", nil)
}

// A call of the API is that of the person, from their address.
func TestCallsAreTrusted(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	guard := access.NewGuard(access.Options{BaseURL: baseURL})
	var got access.Principal
	pages := newSite(t)
	mux := http.NewServeMux()
	console.New(console.Options{Site: pages, SignIn: f, OAuth: f, BaseURL: baseURL, API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = guard.Admit(w, r, access.Requirement{Scope: access.ReadReports})
		if r.RemoteAddr == "" || r.Header.Get("Cookie") != "" {
			t.Errorf("called from %q with %v", r.RemoteAddr, r.Header)
		}
		_, _ = io.WriteString(w, `{"data":[]}`)
	})}).Register(mux)
	r := httptest.NewRequest(http.MethodGet, "/account/webhooks", nil)
	r.AddCookie(&http.Cookie{Name: "__Host-pregon-session", Value: "x"})
	mux.ServeHTTP(httptest.NewRecorder(), r)
	if got.ID != f.session.ID || got.Mode != access.BySession {
		t.Errorf("the API was called by %+v", got)
	}
}
