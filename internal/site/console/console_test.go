package console_test

import (
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pregon/internal/account"
	"pregon/internal/account/accounttest"
	"pregon/internal/auth/access"
	accounts "pregon/internal/auth/account"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/site/console"
	"pregon/internal/site/render"
	"pregon/internal/store"
)

// hostile is a text that breaks pages that do not escape it. It fits into the name of a
// key.
const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}} javascript:alert(3)`

// browser is a browser at a console over a real store.
type browser struct {
	*accounttest.World
	t       testing.TB
	mux     *http.ServeMux
	by      access.Principal // who is signed in
	cookies map[string]string
	from    string // origin of forms
}

// start returns a browser in which nobody is signed in.
func start(t testing.TB) *browser {
	t.Helper()
	return open(t, accounttest.New(t))
}

func open(t testing.TB, w *accounttest.World) *browser {
	t.Helper()
	b := &browser{World: w, t: t, mux: http.NewServeMux(), cookies: map[string]string{}, from: accounttest.BaseURL}
	console.New(console.Options{
		Site:    newSite(t, w),
		SignIn:  w.Auth.SignIn,
		OAuth:   w.Auth.OAuth,
		Account: w.Account,
		Guard:   w.Auth.Guard,
		Query:   w.Query,
		Reports: func(w http.ResponseWriter, _ *http.Request, by access.Principal) {
			_, _ = io.WriteString(w, "reports for "+by.ID)
		},
		BaseURL: accounttest.BaseURL,
	}).Register(b.mux)
	w.Auth.OAuth.Register(b.mux)
	return b
}

// newSite returns the site with the console in it.
func newSite(t testing.TB, w *accounttest.World) *render.Renderer {
	t.Helper()
	pages, err := render.New(render.Options{
		Query:   w.Query,
		Guard:   w.Auth.Guard,
		Logger:  slog.New(slog.DiscardHandler),
		BaseURL: accounttest.BaseURL,
		Parts:   []render.Part{console.Part()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// use continues as another caller, with the cookie of the session.
func (b *browser) use(by access.Principal, cookie string) {
	b.by = by
	b.cookies = map[string]string{"__Host-pregon-session": cookie}
}

// person signs somebody in with the provider.
func (b *browser) person(name string, operator bool) *browser {
	b.use(b.SignInAs(name, operator))
	return b
}

// request sends a request as a browser does. A form makes it a POST.
func (b *browser) request(target string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, target, nil)
	if form != nil {
		r = httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.from)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	w := httptest.NewRecorder()
	b.mux.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.cookies[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return w
}

// get requests a page and expects the status.
func (b *browser) get(status int, target string) *httptest.ResponseRecorder {
	b.t.Helper()
	w := b.request(target, nil)
	if w.Code != status {
		b.t.Fatalf("%s: got %d, want %d\n%s", target, w.Code, status, w.Body)
	}
	return w
}

var tokenField = regexp.MustCompile(`name="form_token" value="([^"]*)"`)

// token returns the token of the forms of the session.
func (b *browser) token() string {
	b.t.Helper()
	found := tokenField.FindStringSubmatch(b.get(http.StatusOK, "/account").Body.String())
	if found == nil {
		b.t.Fatal("the page has no form")
	}
	return found[1]
}

// post sends a form of the session and expects the status.
func (b *browser) post(status int, target string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	sent := url.Values{"form_token": {b.token()}}
	for name, values := range form {
		sent[name] = values
	}
	w := b.request(target, sent)
	if w.Code != status {
		b.t.Fatalf("POST %s: got %d, want %d\n%s", target, w.Code, status, w.Body)
	}
	return w
}

// key makes a key of who is signed in.
func (b *browser) key(name string) account.Key {
	b.t.Helper()
	k, err := b.Account.CreateKey(b.t.Context(), b.by, account.NewKey{Name: &name})
	if err != nil {
		b.t.Fatal(err)
	}
	return k
}

// webhook makes a webhook of a caller.
func (b *browser) webhook(by access.Principal, address, text string) account.Webhook {
	b.t.Helper()
	h, err := b.Account.CreateWebhook(b.t.Context(), by, account.WebhookDraft{URL: &address, Description: &text})
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

// hook returns the webhook as it is now.
func (b *browser) hook(id string) account.Webhook {
	b.t.Helper()
	h, err := b.Account.Webhook(b.t.Context(), b.by, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

func has(t testing.TB, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("the page lacks %q:\n%s", text, w.Body)
		}
	}
}

func lacks(t testing.TB, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(w.Body.String(), text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func location(t testing.TB, w *httptest.ResponseRecorder, want string) {
	t.Helper()
	if got := w.Header().Get("Location"); got != want {
		t.Errorf("redirected to %q, want %q", got, want)
	}
}

// checkPage expects a page for one reader without foreign markup.
func checkPage(t testing.TB, w *httptest.ResponseRecorder, target string) {
	t.Helper()
	for _, bad := range []string{"<script>alert", "<img", `"javascript:`, "ZgotmplZ", "%!", "<no value>", "0xc0"} {
		if at := strings.Index(w.Body.String(), bad); at >= 0 {
			t.Errorf("%s has %q: %s", target, bad, w.Body.String()[max(0, at-200):at])
		}
	}
	if got := w.Header().Get("Cache-Control"); got != "private, no-store" {
		t.Errorf("%s: Cache-Control is %q", target, got)
	}
}

// authorize is the request of an application.
func authorize(redirect string) string {
	return "/oauth/authorize?" + url.Values{
		"client_id":             {"desk"},
		"redirect_uri":          {redirect},
		"response_type":         {"code"},
		"code_challenge":        {strings.Repeat("a", 43)},
		"code_challenge_method": {"S256"},
		"state":                 {"x"},
	}.Encode()
}

// lists are the pages that exist without anything in them.
var lists = []string{
	"/account/alerts", "/account/alerts?search=" + url.QueryEscape(hostile), "/account/watchlists", "/account/watchlists/save", "/account/watchlists/save?type=IP&search=" + url.QueryEscape(hostile),
	"/account", "/account/keys", "/account/webhooks", "/account/webhooks/new", "/account/apps", "/account/owners", authorize("https://app.example/callback"),
}

// failing is a receiver that answers with a hostile text.
func failing(t testing.TB) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, hostile)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// full returns an operator with something hostile in every place, and the ids of a key
// and of a webhook.
func full(t testing.TB) (b *browser, key, hook string) {
	t.Helper()
	b = start(t)
	profile := accounts.Account{
		ID:       accounttest.Issuer + "#" + hostile,
		Provider: "corp",
		Name:     hostile,
		Email:    hostile,
		Plan:     "pro",
		Scopes:   access.AllScopes,
		Operator: true,
	}
	b.use(b.SignIn(profile, ""))
	made := b.key(hostile)
	child, err := b.Account.CreateKey(t.Context(), b.Sends(made.Text), account.NewKey{Name: new(hostile), ExpiresAt: account.ExpiresAt("2090-01-01T00:00:00Z"), Networks: new([]string{"192.0.2.0/24"})})
	if err != nil {
		t.Fatal(err)
	}
	b.Grant(b.by.ID, hostile)
	day := disclosure.DayOf(time.Now())
	if err := b.Store.AddCounts(t.Context(), "batch", store.Count{Account: b.by.ID, Day: day, Operation: hostile, N: 3}, store.Count{Account: b.by.ID, Day: day, Operation: "b", N: 2}); err != nil {
		t.Fatal(err)
	}
	h := b.webhook(b.Sends(made.Text), failing(t), hostile)
	if _, err := b.Account.Redeliver(t.Context(), b.by, h.ID, account.Redelivery{Since: new(int64(0))}); err != nil {
		t.Fatal(err)
	}
	return b, child.ID, h.ID
}

// Every page works with everything and with nothing, in both languages, and no text
// becomes markup.
func TestPages(t *testing.T) {
	t.Parallel()
	busy, key, hook := full(t)
	own := url.QueryEscape(busy.by.ID)
	idle := start(t).person("ana", true)
	for b, targets := range map[*browser][]string{idle: lists, busy: append([]string{
		"/account/keys/" + key, "/account/webhooks/" + hook, "/account/webhooks/" + hook + "?state=pending&before=9", "/account/webhooks/" + hook + "/edit",
		"/account?owner=" + own, "/account/keys?owner=" + own, "/account/apps?owner=" + own, "/account?done=key-revoked", "/account?done=" + own,
	}, lists...)} {
		for _, target := range targets {
			for _, language := range []string{"es", "en"} {
				separator := "?"
				if strings.Contains(target, "?") {
					separator = "&"
				}
				checkPage(t, b.get(http.StatusOK, target+separator+"lang="+language), target)
			}
		}
		b.cookies = nil
		checkPage(t, b.get(http.StatusOK, "/signin?next="+url.QueryEscape("/account/"+hostile)), "/signin")
	}
}

// forms are all forms, with a POST for each. Those without an address lead nowhere.
func forms(key, hook, session, app string) map[string]url.Values {
	return map[string]url.Values{
		"/signin/key":                              {"key": {"bad"}},
		"/account/sessions/" + session + "/end":    {},
		"/account/keys":                            {"name": {"x"}, "scopes": {"read:reports"}},
		"/account/keys/" + key:                     {"name": {"x"}},
		"/account/keys/" + key + "/rotate":         {},
		"/account/webhooks":                        {"url": {"http://127.0.0.1:1/x"}},
		"/account/webhooks/preview":                {},
		"/account/webhooks/" + hook:                {"url": {"http://127.0.0.1:1/y"}},
		"/account/webhooks/" + hook + "/enable":    {"enabled": {"true"}},
		"/account/webhooks/" + hook + "/test":      {},
		"/account/webhooks/" + hook + "/adopt":     {"url": {"http://127.0.0.1:1/y"}},
		"/account/webhooks/" + hook + "/rotate":    {},
		"/account/owners/block":                    {"owner": {accounttest.Issuer + "#bea"}, "blocked": {"true"}},
		"/account/apps/" + app + "/revoke":         {},
		"/oauth/authorize":                         {"request": {"x"}, "decision": {"allow"}},
		"/account/keys/" + key + "/revoke":         {},
		"/account/webhooks/" + hook + "/delete":    {},
		"/account/webhooks/" + hook + "/redeliver": {"seq": {"7"}},
		"/account/delete":                          {"confirm": {"x"}},
		"/account/alerts":                          {"filter": {"type=IP"}, "kind": {"email"}, "to": {"x@example.com"}},
		"/account/alerts/al_x":                     {"enabled": {"false"}},
		"/account/alerts/al_x/delete":              {},
		"/account/channels":                        {"kind": {"email"}, "to": {"x@example.com"}},
		"/account/channels/ch_x":                   {"name": {"x"}},
		"/account/channels/ch_x/confirm":           {},
		"/account/channels/ch_x/test":              {},
		"/account/channels/ch_x/delete":            {},
		"/account/following":                       {"add": {"A69000016"}},
		"/account/watchlists":                      {"name": {"x"}},
		"/account/watchlists/save":                 {"search": {"type=IP"}},
		"/account/watchlists/wl_x":                 {"name": {"x"}},
		"/account/watchlists/wl_x/move":            {"place": {"1"}},
		"/account/watchlists/wl_x/issuers":         {"issuer": {"BVB"}},
		"/account/watchlists/wl_x/remove":          {"issuer": {"BVB"}},
		"/account/watchlists/wl_x/import":          {"lines": {"BVB"}},
		"/account/watchlists/wl_x/link":            {"link": {"share"}},
		"/account/watchlists/wl_x/delete":          {},
		"/signout":                                 {},
	}
}

// Every form is checked for its origin and its token before it has an effect.
func TestFormsAreChecked(t *testing.T) {
	t.Parallel()
	b, key, hook := full(t)
	b.SignInAs("bea", false)
	all := forms(key, hook, b.by.Credential, "grant_x")
	posts := 0
	for _, pattern := range console.Patterns() {
		if strings.HasPrefix(pattern, "POST ") && !strings.HasPrefix(pattern, "POST /alerts/") { // see TestAlertLinks
			posts++
		}
	}
	if posts != len(all) {
		t.Errorf("there are %d forms, and %d are tested", posts, len(all))
	}
	token := b.token()
	audited := len(b.Audit)
	before := b.hook(hook)
	for target, form := range all {
		form.Set("form_token", token)
		b.from = "https://evil.example"
		if w := b.request(target, form); w.Code != http.StatusForbidden {
			t.Errorf("%s from another site: %d", target, w.Code)
		}
		b.from = accounttest.BaseURL
		form.Set("form_token", "x")
		if w := b.request(target, form); w.Code != http.StatusForbidden {
			t.Errorf("%s without the token of the session: %d", target, w.Code)
		}
	}
	for _, event := range b.Audit[audited:] {
		if event != "signin.refused" { // its form has no token
			t.Errorf("a form had an effect: %s", event)
		}
	}
	if after := b.hook(hook); after.UpdatedAt != before.UpdatedAt || after.URL != before.URL {
		t.Errorf("a form changed the webhook: %+v", after)
	}
}

// Forms lead to a page that says what was done, in the same language, and only those with
// a secret or a result are answered with a page.
func TestForms(t *testing.T) {
	t.Parallel()
	b, key, hook := full(t)
	b.SignInAs("bea", false)
	app := b.Grant(b.by.ID, hostile)
	own := b.key("own").ID
	self := b.by
	other, _ := b.SignIn(accounts.Account{ID: self.ID, Provider: "corp", Name: hostile, Plan: "pro", Scopes: access.AllScopes, Operator: true}, "")
	all := forms(own, hook, other.Credential, app)
	_ = key
	for _, step := range []struct {
		target string
		status int
		to     string
	}{
		{"/account/sessions/" + other.Credential + "/end", 303, "/account?done=session-ended&lang=en"},
		{"/account/keys", 200, ""},
		{"/account/keys/" + own, 303, "/account/keys/" + own + "?done=key-changed&lang=en"},
		{"/account/keys/" + own + "/rotate", 200, ""},
		{"/account/webhooks", 200, ""},
		{"/account/webhooks/preview", 200, ""},
		{"/account/webhooks/" + hook, 303, "/account/webhooks/" + hook + "?done=webhook-changed&lang=en"},
		{"/account/webhooks/" + hook + "/enable", 303, "/account/webhooks/" + hook + "?done=webhook-enabled&lang=en"},
		{"/account/webhooks/" + hook + "/test", 200, ""},
		{"/account/webhooks/" + hook + "/adopt", 303, "/account/webhooks/" + hook + "?done=webhook-adopted&lang=en"},
		{"/account/webhooks/" + hook + "/rotate", 200, ""},
		{"/account/webhooks/" + hook + "/redeliver", 303, "/account/webhooks/" + hook + "?done=redelivered&lang=en"},
		{"/account/webhooks/" + hook + "/delete", 303, "/account/webhooks?done=webhook-deleted&lang=en"},
		{"/account/apps/" + app + "/revoke", 303, "/account/apps?done=app-revoked&lang=en"},
		{"/account/owners/block", 303, "/account/owners?done=blocked&lang=en"},
		{"/account/keys/" + own + "/revoke", 303, "/account/keys?done=key-revoked&lang=en"},
		{"/signout", 303, "/signin?done=signed-out&lang=en"},
	} {
		w := b.post(step.status, step.target+"?lang=en", all[step.target])
		checkPage(t, w, step.target)
		location(t, w, step.to)
	}
	has(t, b.get(http.StatusOK, "/signin?done=signed-out"), "Ha cerrado la sesión.")
}

// Without a session every page leads to signing in, and back.
func TestSignedOut(t *testing.T) {
	t.Parallel()
	b := start(t)
	location(t, b.get(http.StatusSeeOther, "/account/keys?owner=x"), "/signin?next=%2Faccount%2Fkeys%3Fowner%3Dx")
	location(t, b.request("/account/keys/k1/revoke", url.Values{}), "/signin?next=%2Faccount")
	address := authorize("https://app.example/callback")
	location(t, b.get(http.StatusSeeOther, address), "/signin?next="+url.QueryEscape(address))
	b.person("ana", false)
	location(t, b.get(http.StatusSeeOther, "/signin?next=//evil.example"), "/account")
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	b := start(t)
	_, raw, err := b.Auth.Keys.Create(t.Context(), access.Key{Name: "desk", Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	w := b.get(http.StatusOK, "/signin?next=/oauth/authorize%3Fclient_id%3Dx")
	has(t, w, `href="/signin/start?next=%2Foauth%2Fauthorize%3Fclient_id%3Dx&amp;provider=corp"`, `type="password"`, `autocomplete="off"`, "Una aplicación le pide acceso")
	if w.Header().Get("Cross-Origin-Opener-Policy") != "" {
		t.Error("an application loses the window in which its person signs in")
	}
	b.get(http.StatusNotFound, "/signin/start?provider=other")
	w = b.request("/signin/key", url.Values{"key": {"pregon_bad"}, "next": {"/account/keys"}})
	has(t, w, "Esta no es una clave de este servicio", `name="next" value="/account/keys"`)
	if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "pregon_bad") {
		t.Errorf("%d, or the key is in the page", w.Code)
	}
	location(t, b.request("/signin/key", url.Values{"key": {raw}, "next": {"/account/keys"}}), "/account/keys")
	has(t, b.get(http.StatusOK, "/account"), "desk")
	for range 29 {
		b.request("/signin/key", url.Values{"key": {raw}})
	}
	w = b.request("/signin/key?lang=en", url.Values{"key": {raw}, "next": {"/account/keys"}})
	wait := w.Header().Get("Retry-After")
	has(t, w, "Try again in "+wait+" seconds.", `name="next" value="/account/keys"`)
	if w.Code != http.StatusTooManyRequests || wait == "" {
		t.Errorf("after too many sign-ins: %d, Retry-After %q", w.Code, wait)
	}
	b.get(http.StatusBadRequest, "/signin?api_key=pregon_x")
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	again, _ := b.SignInAs("ana", false)
	location(t, b.post(http.StatusSeeOther, "/signout", url.Values{"everywhere": {"1"}}), "/signin?done=signed-out")
	if left, err := b.Account.ListSessions(t.Context(), again, ""); err != nil || len(left.Sessions) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	b.person("ana", false)
	location(t, b.post(http.StatusSeeOther, "/signout", url.Values{"next": {"/oauth/authorize?client_id=x"}}), "/signin?next=%2Foauth%2Fauthorize%3Fclient_id%3Dx")
}

// A form that is refused is shown again with what was entered and why.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	key := b.key("One").ID
	hook := b.webhook(b.by, "http://127.0.0.1:1/x", "Mine").ID
	entered := url.Values{"name": {"My <b>key"}, "networks": {"moon"}, "expires_at": {"2087-01-31"}, "scopes": {"read:issuers"}}
	w := b.post(http.StatusBadRequest, "/account/keys", entered)
	has(t, w, "debe ser una red", `value="My &lt;b&gt;key"`, `value="moon"`, `aria-invalid="true"`, `value="2087-01-31"`, "<details class=\"make\" open>",
		`value="read:issuers" checked`, `value="read:reports">`)
	has(t, b.post(http.StatusBadRequest, "/account/keys/"+key, entered), "debe ser una red", `value="My &lt;b&gt;key"`)
	has(t, b.post(http.StatusBadRequest, "/account/keys", url.Values{"name": {"x"}}), "Elija al menos un permiso.")
	has(t, b.post(http.StatusBadRequest, "/account/keys", url.Values{"name": {"x"}, "scopes": {"read:reports"}, "expires_at": {"soon"}}), "debe ser un momento futuro")
	has(t, b.post(http.StatusBadRequest, "/account/keys", url.Values{"name": {"two\nlines"}, "scopes": {"read:reports"}}), "en una línea")
	form := url.Values{
		"url": {"ftp://h.example"}, "description": {"Mine"}, "events": {"report.corrected"}, "type": {"IP"}, "search": {"dividendo"}, "without": {"securitisation"}, "from": {"2026-01-01"},
	}
	for _, target := range []string{"/account/webhooks", "/account/webhooks/" + hook} {
		w := b.post(http.StatusBadRequest, target, form)
		if n := strings.Count(w.Body.String(), "la dirección debe empezar por"); n != 1 {
			t.Errorf("%s says %d times what is wrong with the address", target, n)
		}
		has(t, w, `id="url-wrong"`, "Corrija lo que está marcado.", `value="ftp://h.example"`, `value="Mine"`, `value="report.corrected" checked`, `value="report.published">`,
			`<option value="IP" selected>`, `value="dividendo"`, `<option value="securitisation" selected>`, `name="from" value="2026-01-01"`)
	}
	// Bytes that are no text are replaced, as in the API.
	location(t, b.post(http.StatusSeeOther, "/account/webhooks/"+hook, url.Values{"url": {"http://127.0.0.1:1/x"}, "description": {"a\xffb"}}), "/account/webhooks/"+hook+"?done=webhook-changed")
	if got := b.hook(hook).Description; got != "a\uFFFDb" {
		t.Errorf("the description is %q", got)
	}
	if w := b.post(http.StatusBadRequest, "/account/keys", url.Values{"name": {strings.Repeat("x", 70_000)}}); !strings.Contains(w.Body.String(), "65536 bytes") {
		t.Errorf("a large form: %s", w.Body)
	}
}

// The form has the condition on facts of a webhook, and saving it keeps or changes it.
func TestWebhookByFacts(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	address := "http://127.0.0.1:1/x"
	filter := query.FilterBody{Fact: "buyback_programme", MinAmount: "50000000", Currency: "USD"}
	made, err := b.Account.CreateWebhook(t.Context(), b.by, account.WebhookDraft{URL: &address, Filter: &filter})
	if err != nil {
		t.Fatal(err)
	}
	page := "/account/webhooks/" + made.ID
	has(t, b.get(http.StatusOK, page+"?lang=en"), "Fact: Buy-back programme", "Minimum amount (USD): 50000000")
	for language, label := range map[string]string{"es": "Importe mínimo (USD)", "en": "Minimum amount (USD)"} {
		has(t, b.get(http.StatusOK, page+"/edit?lang="+language), `<option value="buyback_programme" selected>`,
			`name="min_amount" value="50000000"`, `name="currency" value="USD"`, label)
	}
	form := url.Values{"url": {address}, "description": {"Renamed"}, "fact": {"buyback_programme"}, "min_amount": {"50000000"}, "currency": {"USD"}}
	save := func(want query.FilterBody) {
		t.Helper()
		b.post(http.StatusSeeOther, page, form)
		if got := b.hook(made.ID); got.Filter != want || got.Description != "Renamed" {
			t.Errorf("after saving %v: %+v", form, got)
		}
	}
	save(filter)
	form.Set("min_amount", "7")
	save(query.FilterBody{Fact: "buyback_programme", MinAmount: "7", Currency: "USD"})
	form.Set("fact", "dividend")
	has(t, b.post(http.StatusBadRequest, page, form), `id="min_amount-wrong"`, `<option value="dividend" selected>`, `name="min_amount" value="7"`)
	form.Set("min_amount", "")
	save(query.FilterBody{Fact: "dividend"})
	form.Set("fact", "")
	save(query.FilterBody{})
}

// The form has the watchlists of the account, and saving it keeps that of the webhook, also if
// the list is gone.
func TestWebhookByWatchlist(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	name := "Banks & more"
	list, err := b.Account.CreateWatchlist(t.Context(), b.by, account.WatchlistDraft{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	has(t, b.get(http.StatusOK, "/account/webhooks/new?watchlist="+list.ID), `<option value="`+list.ID+`" selected>Banks &amp; more</option>`)
	address := "http://127.0.0.1:1/x"
	filter := query.FilterBody{Watchlist: list.ID, Type: "OIR"}
	made, err := b.Account.CreateWebhook(t.Context(), b.by, account.WebhookDraft{URL: &address, Filter: &filter})
	if err != nil {
		t.Fatal(err)
	}
	page := "/account/webhooks/" + made.ID
	has(t, b.get(http.StatusOK, page+"?lang=en"), "Watchlist: "+list.ID)
	has(t, b.get(http.StatusOK, page+"/edit"), `<option value="`+list.ID+`" selected>Banks &amp; more</option>`)
	form := url.Values{"url": {address}, "type": {"IP"}, "watchlist": {list.ID}}
	b.post(http.StatusSeeOther, page, form)
	if got := b.hook(made.ID).Filter; got != (query.FilterBody{Watchlist: list.ID, Type: "IP"}) {
		t.Errorf("after saving %v: %+v", form, got)
	}
	if err := b.Account.DeleteWatchlist(t.Context(), b.by, list.ID); err != nil {
		t.Fatal(err)
	}
	has(t, b.get(http.StatusOK, page+"/edit"), `<option value="`+list.ID+`" selected>`+list.ID)
	b.post(http.StatusSeeOther, page, form) // the filter stays as it is
	form.Set("type", "OIR")
	has(t, b.post(http.StatusBadRequest, page, form), `id="watchlist-wrong"`, `<option value="`+list.ID+`" selected>`+list.ID)
	form.Set("watchlist", "")
	b.post(http.StatusSeeOther, page, form)
	if got := b.hook(made.ID).Filter; got != (query.FilterBody{Type: "OIR"}) {
		t.Errorf("after saving %v: %+v", form, got)
	}
}

// The form has the conditions on positions of a webhook and their events, and saving it
// keeps or changes them. The default events have none of them.
func TestWebhookByPositions(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	fresh := b.get(http.StatusOK, "/account/webhooks/new?lang=en")
	has(t, fresh, `value="report.published" checked`, `value="position.published">`, `value="position.backfilled">`, "Which positions",
		`name="position" value="own_shares">`, "Own shares")
	has(t, b.get(http.StatusOK, "/account/webhooks/new?position=short"), `value="report.published">`,
		`value="position.withdrawn" checked`, `value="position.backfilled">`, `name="position" value="short" checked`)
	recent := querytest.Positions()
	for i := range recent.Positions {
		p := &recent.Positions[i]
		p.RegisteredOn = disclosure.DayOf(time.Now()).String()
	}
	querytest.Append(t, b.Store, b.Catalog, recent)
	address := "http://127.0.0.1:1/x"
	events := []string{"position.published"}
	filter := query.FilterBody{
		Position:  "dealing",
		HeldBy:    "imaginarias",
		Side:      "sell",
		MinAmount: "5000",
		Currency:  "EUR",
	}
	made, err := b.Account.CreateWebhook(t.Context(), b.by, account.WebhookDraft{URL: &address, Filter: &filter, Events: &events})
	if err != nil {
		t.Fatal(err)
	}
	page := "/account/webhooks/" + made.ID
	has(t, b.get(http.StatusOK, page+"?lang=en"), "Managers&#39; dealings", "Holder or person: imaginarias", "Managers&#39; dealings: Sales",
		"Minimum amount (EUR): 5000", "New position in a register")
	for language, sample := range map[string]string{"es": `Operaciones de directivos · <span class="company">Bodegas`, "en": `Managers&#39; dealings · <span class="company">Bodegas`} {
		has(t, b.get(http.StatusOK, page+"/edit?lang="+language), `name="position" value="dealing" checked`, `name="position" value="short">`,
			`name="holder" value="imaginarias"`, `<option value="sell" selected>`, `value="position.published" checked`, sample,
			"Inversiones Imaginarias, S.L. · 54000 EUR")
	}
	form := url.Values{"url": {address}, "events": events, "position": {"dealing"}, "holder": {"imaginarias"}, "side": {"sell"}, "min_amount": {"5000"}, "currency": {"EUR"}}
	save := func(want query.FilterBody) {
		t.Helper()
		b.post(http.StatusSeeOther, page, form)
		if got := b.hook(made.ID); got.Filter != want {
			t.Errorf("after saving %v: %+v, want %+v", form, got.Filter, want)
		}
	}
	save(filter)
	for name, values := range map[string][]string{
		"min_percent": {"5"},
		"side":        {"gift"},
		"position":    {"short"},
		"holder":      {"-"},
		"type":        {"IP"},
		"events":      {"report.published"},
	} {
		before := form[name]
		form[name] = values
		wrong := map[string]string{"position": "side", "type": "position"}[name]
		if wrong == "" {
			wrong = name
		}
		has(t, b.post(http.StatusBadRequest, page, form), `id="`+wrong+`-wrong"`)
		form[name] = before
	}
	form = url.Values{"url": {address}, "events": events, "position": {"short", "holding"}, "min_percent": {"0.5"}}
	save(query.FilterBody{Position: "short,holding", MinPercent: "0.5"})
	form = url.Values{"url": {address}, "events": {"report.published"}}
	save(query.FilterBody{})
}

// A key is shown once, and only what a person changed is changed.
func TestKeys(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	w := b.post(http.StatusOK, "/account/keys", url.Values{"name": {"One"}, "scopes": {"read:reports"}, "networks": {"192.0.2.0/24"}, "expires_at": {"2086-12-24"}})
	has(t, w, `<code id="secret">pregon_live_`, "no se vuelve a mostrar", `X-API-Key: $KEY`)
	if got := w.Header().Get("Cache-Control"); got != "private, no-store" {
		t.Errorf("the secret may be kept: %s", got)
	}
	key := func() account.Key {
		t.Helper()
		list, err := b.Account.ListKeys(t.Context(), b.by, "")
		if err != nil || len(list.Keys) != 1 {
			t.Fatal(list, err)
		}
		return list.Keys[0]
	}
	made := key()
	if want := "2086-12-25T00:00:00+01:00"; made.ExpiresAt.Format(time.RFC3339) != want {
		t.Errorf("it ends at %v, want %s", made.ExpiresAt, want)
	}
	page := "/account/keys/" + made.ID
	has(t, b.get(http.StatusOK, page), `value="2086-12-24"`, `value="192.0.2.0/24"`, "dentro de una semana")
	same := url.Values{"name": {"One"}, "expires_at": {"2086-12-24"}, "networks": {"192.0.2.0/24"}}
	location(t, b.post(http.StatusSeeOther, page, same), page+"?done=key-changed")
	if got := key(); !got.ExpiresAt.Equal(*made.ExpiresAt) || len(got.Networks) != 1 {
		t.Errorf("unchanged: %+v", got)
	}
	b.post(http.StatusSeeOther, page, url.Values{"name": {"Two"}})
	if got := key(); got.Name != "Two" || got.ExpiresAt != nil || len(got.Networks) != 0 {
		t.Errorf("changed: %+v", got)
	}
	has(t, b.post(http.StatusOK, page+"/rotate", url.Values{"overlap": {"3600"}}), `<code id="secret">pregon_live_`)
	if left := time.Until(*key().OverlapUntil); left > time.Hour {
		t.Errorf("the overlap is %v", left)
	}
	b.get(http.StatusNotFound, "/account/keys/k9")
	b.post(http.StatusSeeOther, page+"/revoke", nil)
	if got := key(); got.State != "revoked" {
		t.Errorf("the state is %s", got.State)
	}
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	has(t, b.post(http.StatusOK, "/account/webhooks", url.Values{"url": {failing(t)}, "category": {"Sobre resultados"}}), "whsec_")
	list, err := b.Account.ListWebhooks(t.Context(), b.by)
	if err != nil || len(list.Data) != 1 {
		t.Fatal(list, err)
	}
	made := list.Data[0]
	page := "/account/webhooks/" + made.ID
	b.post(http.StatusSeeOther, page+"/enable", url.Values{"enabled": {"false"}})
	has(t, b.get(http.StatusOK, page), "desactivado")
	has(t, b.post(http.StatusOK, page+"/test", nil), "La prueba no ha llegado.", "HTTP 503", " ms")
	b.post(http.StatusSeeOther, page+"/enable", url.Values{"enabled": {"true"}})
	if !b.hook(made.ID).Enabled {
		t.Error("it is disabled")
	}
	// A filter that stays is not read anew, and one that changes is.
	b.post(http.StatusSeeOther, page, url.Values{"url": {made.URL}, "category": {made.Filter.Category}, "events": {"report.published"}})
	b.post(http.StatusSeeOther, page, url.Values{"url": {made.URL}, "type": {"OIR"}})
	if got := b.hook(made.ID); got.Filter.Type != "OIR" || got.Filter.Category != "" || len(got.Events) != 4 {
		t.Errorf("changed: %+v", got)
	}
	b.post(http.StatusNotFound, page+"/redeliver", url.Values{"seq": {"x"}})
	b.post(http.StatusNotFound, page+"/redeliver", url.Values{"seq": {"4711"}})
	b.get(http.StatusBadRequest, page+"?state=odd")
	b.get(http.StatusBadRequest, page+"?before=odd")
	w := b.post(http.StatusOK, "/account/webhooks/preview", url.Values{"fragment": {"1"}, "type": {"OIR"}})
	has(t, w, "en los últimos 30 días")
	lacks(t, w, "<html")
	has(t, b.post(http.StatusOK, "/account/webhooks/preview", url.Values{"type": {"OIR"}, "url": {"https://h.example"}, "id": {"w1"}}),
		`value="https://h.example"`, "en los últimos 30 días", `action="/account/webhooks/w1"`)
	has(t, b.post(http.StatusOK, "/account/webhooks/preview", url.Values{"fragment": {"1"}, "issuer": {"zzzzz"}}), `class="wrong"`, "zzzzz")
	// Tests have a limit, and the page says how long to wait.
	for range 4 {
		b.post(http.StatusOK, page+"/test", nil)
	}
	if w := b.post(http.StatusTooManyRequests, page+"/test", nil); w.Header().Get("Retry-After") == "2" || w.Header().Get("Retry-After") == "" {
		t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
	}
}

// What holds for callers of the API holds for pages: the limit of the plan, unless they
// manage the account; the scopes; and that the catalogue is loaded.
func TestLimits(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.use(b.SignIn(accounts.Account{ID: accounttest.Issuer + "#ana", Provider: "corp", Plan: "enterprise", Scopes: access.ReadReports}, ""))
	b.get(http.StatusOK, "/account/webhooks")
	b.get(http.StatusOK, "/account/webhooks")
	w := b.get(http.StatusTooManyRequests, "/account/webhooks")
	if w.Header().Get("Retry-After") == "" || w.Header().Get("Ratelimit") != "" {
		t.Errorf("over the limit of the plan: %v", w.Header())
	}
	for range 5 {
		b.get(http.StatusOK, "/account/keys")
	}
	// What was entered stays in the form.
	w = b.post(http.StatusTooManyRequests, "/account/webhooks", url.Values{"url": {"https://h.example/entered"}})
	has(t, w, `value="https://h.example/entered"`, "Su plan permite 2 peticiones cada 60 segundos.")

	b.use(b.SignIn(accounts.Account{ID: accounttest.Issuer + "#bea", Provider: "corp", Plan: "pro", Scopes: access.ReadIssuers}, ""))
	w = b.get(http.StatusForbidden, "/account/webhooks")
	has(t, w, "Esto necesita el permiso read:reports; la sesión tiene read:issuers.")
	if w.Header().Get("WWW-Authenticate") != "" {
		t.Error("the page has a challenge")
	}
	b.use(b.SignIn(accounts.Account{ID: accounttest.Issuer + "#cleo", Provider: "corp", Plan: "pro", Scopes: access.ReadReports}, ""))
	w = b.post(http.StatusForbidden, "/account/webhooks", url.Values{"url": {"http://127.0.0.1:1/x"}, "events": {"issuer.updated"}})
	has(t, w, "Un webhook con el evento issuer.updated necesita el permiso read:issuers; la sesión tiene read:reports.", `value="http://127.0.0.1:1/x"`)
	if w.Header().Get("WWW-Authenticate") != "" {
		t.Error("the form has a challenge")
	}

	empty := open(t, accounttest.Empty(t)).person("ana", false)
	empty.get(http.StatusServiceUnavailable, "/account/webhooks")
}

// Pages take a slot of their person.
func TestSlots(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	for range 2 { // an eighth of all
		slot, err := b.Auth.Guard.AcquireSlot(r, b.by, true)
		if err != nil {
			t.Fatal(err)
		}
		defer slot.Release()
	}
	b.get(http.StatusOK, "/account/webhooks")
	w := b.get(http.StatusOK, "/account/webhooks/new?lang=en") // the form works, without its preview
	has(t, w, `class="wrong"`)
}

// A webhook that paused with its key says why, and can be adopted.
func TestAdoption(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	key := b.key("desk")
	made := b.webhook(b.Sends(key.Text), "http://127.0.0.1:1/x", "Mine")
	withKey, cookie := b.SignInWith(key)
	ana, own := b.by, b.cookies["__Host-pregon-session"]
	b.use(withKey, cookie) // its own
	page := "/account/webhooks/" + made.ID
	lacks(t, b.get(http.StatusOK, page), "/adopt")
	b.use(ana, own)
	if err := b.Account.RevokeKey(t.Context(), ana, key.ID); err != nil {
		t.Fatal(err)
	}
	has(t, b.get(http.StatusOK, "/account/webhooks?lang=en"), `<span class="tag bad">paused</span>`)
	has(t, b.get(http.StatusOK, page+"?lang=en"), `<span class="tag bad">paused</span>`, "this key was revoked", key.ID, `action="/account/webhooks/`+made.ID+`/adopt`,
		"first revoke the key", `<input type="hidden" name="url" value="http://127.0.0.1:1/x">`)
	// Its address is another one now: nothing is adopted, and the page shows the new one.
	if _, err := b.Account.ChangeWebhook(t.Context(), ana, made.ID, account.WebhookDraft{URL: new("http://127.0.0.1:1/y")}); err != nil {
		t.Fatal(err)
	}
	conflict := b.post(http.StatusConflict, page+"/adopt?lang=en", url.Values{"url": {"http://127.0.0.1:1/x"}})
	has(t, conflict, "check its address again", `name="url" value="http://127.0.0.1:1/y"`)
	checkPage(t, conflict, "a conflict")
	location(t, b.post(http.StatusSeeOther, page+"/adopt", url.Values{"url": {"http://127.0.0.1:1/y"}}), page+"?done=webhook-adopted")
	adopted := b.get(http.StatusOK, page+"?done=webhook-adopted&lang=en")
	has(t, adopted, "The webhook is yours", `<span class="tag good">enabled</span>`)
	lacks(t, adopted, "/adopt", "paused")
}

// A session that was opened with a key, but not the first of its account, has no part in
// sessions and applications.
func TestSessionWithAKey(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	key := b.key("desk")
	b.use(b.SignInWith(key))
	page := b.get(http.StatusOK, "/account?lang=en")
	has(t, page, "You signed in with the key "+key.ID)
	lacks(t, page, `/account/apps`, `name="everywhere"`, `id="sessions"`)
	has(t, b.get(http.StatusForbidden, "/account/apps?lang=en"), "sign in without a key")
	address := authorize("https://app.example/callback")
	for language, want := range map[string]string{"en": "the key " + key.ID + ". This key cannot revoke access.", "es": "la clave " + key.ID + ". Esta clave no puede retirar el acceso."} {
		page := b.get(http.StatusOK, address+"&lang="+language)
		has(t, page, want)
		lacks(t, page, "/account/apps")
	}
	first := b.FirstKey(access.Key{Name: "first", Plan: "pro", Scopes: access.AllScopes})
	b.use(b.SignInWith(account.Key{ID: first.ID, Account: first.ID, Name: "first", Plan: "pro"}))
	has(t, b.get(http.StatusOK, "/account?lang=en"), `/account/apps`, `name="everywhere"`, `id="sessions"`)
	has(t, b.get(http.StatusOK, address+"&lang=en"), "You can revoke access at any time", `href="/account/apps`)
}

// Pages of operators do not exist for others, who cannot name another account either.
func TestOperators(t *testing.T) {
	t.Parallel()
	b := start(t)
	bea, _ := b.SignInAs("bea", false)
	b.use(bea, "")
	beaKey := b.key("key of bea")
	b.person("ana", false)
	b.get(http.StatusNotFound, "/account/owners")
	b.post(http.StatusNotFound, "/account/owners/block", url.Values{"owner": {bea.ID}, "blocked": {"true"}})
	of := "?owner=" + url.QueryEscape(bea.ID)
	lacks(t, b.get(http.StatusOK, "/account/keys"+of), "key of bea", "bea@example.com")
	b.post(http.StatusNotFound, "/account/keys/"+beaKey.ID+"/revoke"+of, nil)

	b.person("ops", true)
	has(t, b.get(http.StatusOK, "/account/keys"+of), "key of bea", `href="/account/apps`+html.EscapeString(of)+`"`)
	has(t, b.get(http.StatusOK, "/account"+of), "bea@example.com")
	has(t, b.get(http.StatusOK, "/account/owners"), "bea@example.com", "ana@example.com")
	location(t, b.post(http.StatusSeeOther, "/account/keys/"+beaKey.ID+"/revoke"+of, nil), "/account/keys"+of+"&done=key-revoked")
	b.get(http.StatusNotFound, "/account?owner=nobody")
	b.get(http.StatusBadRequest, "/account/owners?page=x")
	block := url.Values{"owner": {bea.ID}, "blocked": {"true"}}
	location(t, b.post(http.StatusSeeOther, "/account/owners/block", block), "/account/owners?done=blocked")
	if one, _ := b.Auth.Accounts.Account(bea.ID); one.BlockedAt.IsZero() {
		t.Error("bea is not blocked")
	}
	block.Set("blocked", "false")
	location(t, b.post(http.StatusSeeOther, "/account/owners/block", block), "/account/owners?done=unblocked")
}

// The list of accounts has pages.
func TestPagesOfAccounts(t *testing.T) {
	t.Parallel()
	b := start(t).person("ops", true)
	lacks(t, b.get(http.StatusOK, "/account/owners?lang=en"), "Older")
	var records []store.Record
	for i := range account.MaxAccounts {
		id := fmt.Sprintf("key_%012d", i)
		records = append(records, store.Record{Kind: "key", ID: id, Body: `{"id":"` + id + `","name":"old","plan":"pro","scopes":"read:reports","created_at":"2020-01-01T00:00:00Z","secrets":[]}`})
	}
	for _, r := range records {
		if _, err := store.PutRecord(t.Context(), b.Store, r); err != nil {
			t.Fatal(err)
		}
	}
	has(t, b.get(http.StatusOK, "/account/owners?lang=en"), "ops@example.com", `href="/account/owners?page=2&amp;lang=en" rel="next"`)
	second := b.get(http.StatusOK, "/account/owners?page=2&lang=en")
	has(t, second, "key_000000000499", "First page")
	lacks(t, second, "ops@example.com</span>", "key_000000000001", "Older")
}

// The page of consent says who asks and where the answer goes, and its form may lead
// there.
func TestConsent(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	for redirect, want := range map[string]string{
		"https://app.example/callback": "form-action 'self' https:;", "http://127.0.0.1:8080/cb": "form-action 'self' http: https:;", "cursor://x/y": "form-action 'self' cursor:;",
	} {
		w := b.get(http.StatusOK, authorize(redirect)+"&lang=en")
		if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, want) {
			t.Errorf("%s: the policy is %q", redirect, got)
		}
		if got := w.Header().Get("Cross-Origin-Opener-Policy"); got != "" {
			t.Errorf("%s: the opener policy of the first page is %q", redirect, got)
		}
		// Without a script the form can be refused, or leads to the second page.
		has(t, w, "Desk", "Configured by the operator", "read disclosures and their documents", "It also asks for permissions", `value="deny"`, `value="allow" disabled hidden`,
			`<noscript><button class="main" type="submit" name="decision" value="review">`)
		lacks(t, w, "read the analytics")
	}
	read := func() (first, final string) {
		t.Helper()
		body := b.get(http.StatusOK, authorize("cursor://x/y")).Body.String()
		return regexp.MustCompile(`name="request" value="([^"]*)"`).FindStringSubmatch(body)[1], regexp.MustCompile(`data-consent="([^"]*)"`).FindStringSubmatch(body)[1]
	}
	// The second page, and again if its button is pressed too soon.
	first, final := read()
	for form, decision := range map[string]string{first: "review", final: "allow"} {
		w := b.post(http.StatusOK, "/oauth/authorize?lang=en", url.Values{"request": {form}, "decision": {decision}})
		has(t, w, "Desk", "Confirm that you want to give access", `value="allow">`, `value="deny"`)
		lacks(t, w, "noscript")
		// A window of another site in which no script runs must not show it.
		if got := w.Header().Get("Cross-Origin-Opener-Policy"); got != "same-origin" {
			t.Errorf("%s: the opener policy of the second page is %q", decision, got)
		}
		// A second click at the place of the first one must not grant.
		if strings.Index(w.Body.String(), `value="allow"`) > strings.Index(w.Body.String(), `value="deny"`) {
			t.Errorf("%s: the button is where that of the first page was", decision)
		}
		checkPage(t, w, "the second page")
	}
	has(t, b.post(http.StatusBadRequest, "/oauth/authorize", url.Values{"request": {first}, "decision": {"allow"}}), "Este formulario no puede dar acceso: decida otra vez.", `href="/oauth/authorize?`)
	decide := func(decision string) string {
		t.Helper()
		_, final := read()
		return b.post(http.StatusSeeOther, "/oauth/authorize", url.Values{"request": {b.aged(final)}, "decision": {decision}}).Header().Get("Location")
	}
	if to := decide("allow"); !strings.HasPrefix(to, "cursor://x/y?code=") {
		t.Errorf("allowed: %s", to)
	}
	for _, decision := range []string{"deny", ""} {
		if to := decide(decision); !strings.HasPrefix(to, "cursor://x/y?error=access_denied") {
			t.Errorf("%q: %s", decision, to)
		}
	}
	b.use(b.SignIn(accounts.Account{ID: accounttest.Issuer + "#none", Provider: "corp", Plan: "pro"}, ""))
	has(t, b.get(http.StatusOK, authorize("cursor://x/y")), `value="allow" disabled`)
}

var made = regexp.MustCompile(`"m":\d+`)

// aged returns a form that was shown a while ago.
func (b *browser) aged(form string) string {
	b.t.Helper()
	const name = "oauth form"
	text, ok := b.Sealer.OpenToken(name, form)
	if !ok {
		b.t.Fatal("the form cannot be opened")
	}
	return b.Sealer.SealToken(name, made.ReplaceAllString(text, fmt.Sprintf(`"m":%d`, time.Now().Add(-time.Minute).UnixMilli())))
}

// An application that registered itself has a name for which nobody vouches.
func TestRegisteredApplications(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	register := func(redirect string) string {
		t.Helper()
		name, _ := strings.CutPrefix(fmt.Sprintf("%q", hostile), `"`)
		body := `{"client_name":"` + strings.TrimSuffix(name, `"`) + `","redirect_uris":["` + redirect + `"],"token_endpoint_auth_method":"none"}`
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/oauth/register", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		b.mux.ServeHTTP(w, r)
		found := regexp.MustCompile(`"client_id":"([^"]*)"`).FindStringSubmatch(w.Body.String())
		if found == nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return found[1]
	}
	id := register("https://app.example/callback")
	address := strings.Replace(authorize("https://app.example/callback"), "client_id=desk", "client_id="+url.QueryEscape(id), 1)
	w := b.get(http.StatusOK, address+"&lang=en")
	has(t, w, "It registered itself")
	checkPage(t, w, "an application that registered itself")
	// A mistake of the application is shown, with a link that is an address of the web.
	has(t, b.get(http.StatusBadRequest, strings.Replace(address, "response_type=code", "response_type=x", 1)), `href="https://app.example/callback?error=`)
	w = b.get(http.StatusBadRequest, "/oauth/authorize?client_id=nobody")
	checkPage(t, w, "an unknown application")
	lacks(t, w, "Volver a la aplicación")
	odd := register("com.example.app:/callback")
	address = strings.Replace(authorize("com.example.app:/callback"), "client_id=desk", "client_id="+url.QueryEscape(odd), 1)
	lacks(t, b.get(http.StatusBadRequest, strings.Replace(address, "response_type=code", "response_type=x", 1)), `href="com.example.app:`)
	// One that the operator knows gets the mistake at once.
	w = b.get(http.StatusSeeOther, strings.Replace(authorize("http://127.0.0.1:8080/cb"), "response_type=code", "response_type=x", 1))
	if to := w.Header().Get("Location"); !strings.HasPrefix(to, "http://127.0.0.1:8080/cb?error=unsupported_response_type") {
		t.Errorf("redirected to %s", to)
	}
}
