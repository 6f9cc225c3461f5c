package signin_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/auth/signin"
	"pregon/internal/fault"
)

func TestProvider(t *testing.T) {
	w := newWorld(t, nil)
	asked := w.start("one", "/account/keys?x=1")
	if asked.Get("code_challenge_method") != "S256" || asked.Get("redirect_uri") != base+"/signin/callback/one" || len(asked.Get("nonce")) < 20 {
		t.Errorf("%v", asked)
	}
	next, err := w.finish("one", w.one, asked, nil)
	if err != nil || next != "/account/keys?x=1" {
		t.Fatalf("%q, %v", next, err)
	}
	s := w.session()
	if s == nil || s.ID != w.one.URL+"#ana" || s.Scope != access.ReadReports || s.Operator || s.Mode != access.BySession || s.Account.Email != "ana@example.com" {
		t.Fatalf("%+v", s)
	}
	i := slices.IndexFunc(w.set, func(c *http.Cookie) bool { return c.Name == "__Host-pregon-session" })
	if c := w.set[i]; !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge <= 0 {
		t.Errorf("%+v", c)
	}
	if _, kept := w.cookies["__Host-pregon-signin"]; kept {
		t.Error("the cookie of the start is still there")
	}
}

func TestOperatorByClaim(t *testing.T) {
	w := newWorld(t, nil)
	w.two.claims["groups"] = []string{"staff", "ops"}
	if _, err := w.finish("two", w.two, w.start("two", ""), nil); err != nil {
		t.Fatal(err)
	}
	if s := w.session(); s == nil || !s.Operator {
		t.Fatalf("%+v", s)
	}
	w.two.claims["groups"] = "staff" // no longer one
	if _, err := w.finish("two", w.two, w.start("two", ""), nil); err != nil {
		t.Fatal(err)
	}
	if s := w.session(); s == nil || s.Operator {
		t.Fatalf("%+v", s)
	}
}

// Everybody whom no rule names is refused.
func TestNotAllowed(t *testing.T) {
	for name, claims := range map[string]map[string]any{
		"unverified":         {"email_verified": false},
		"not said":           {"email_verified": nil},
		"verified in words":  {"email_verified": "yes"},
		"other domain":       {"email": "ana@example.org"},
		"domain at the end":  {"email": "ana@evil-example.com"},
		"subdomain":          {"email": "ana@sub.example.com"},
		"two at signs":       {"email": `"a@example.com"@evil.example`},
		"domain in the name": {"email": "example.com@evil.example"},
		"no address":         {"email": ""},
		"long s":             {"email": "eve@\u017fpain.example"},
		"Kelvin sign":        {"email": "eve@ban\u212a.example"},
		"address folded":     {"email": "\u017fofia@example.org"},
		"no subject":         {"sub": ""},
		"unprintable":        {"sub": "ana\x00"},
		"other audience":     {"aud": "another"},
		"other issuer":       {"iss": "https://evil.example"},
		"expired":            {"exp": 1},
		"other nonce":        {"nonce": "another"},
	} {
		w := newWorld(t, func(c *signin.Config) {
			c.Providers[0].Allow.Domains = []string{"example.com", "spain.example", "bank.example"}
			c.Providers[0].Allow.Emails = []string{"sofia@example.org"}
		})
		w.one.claims = claims
		_, err := w.finish("one", w.one, w.start("one", ""), nil)
		if fault.KindOf(err) != fault.Forbidden || w.session() != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.ContainsFunc(w.audit, func(s string) bool { return strings.HasPrefix(s, "signin.refused") }) {
			t.Errorf("%s: %q", name, w.audit)
		}
	}
}

// A callback belongs to the browser, provider and moment in which it was started.
func TestForeignCallbacks(t *testing.T) {
	w := newWorld(t, nil)
	w.two.claims["groups"] = []string{"staff"}
	refused := func(name string, err error) {
		t.Helper()
		if fault.KindOf(err) != fault.Forbidden || w.session() != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	asked := w.start("one", "")
	_, err := w.finish("one", w.one, asked, func(v url.Values) { v.Set("state", "another") })
	refused("other state", err)
	asked = w.start("one", "")
	_, err = w.finish("two", w.two, asked, nil)
	refused("callback of another provider", err)
	asked = w.start("one", "")
	_, err = w.finish("one", w.one, asked, func(v url.Values) { v.Set("iss", w.two.URL) })
	refused("issuer of another provider", err)
	asked = w.start("one", "")
	_, err = w.finish("one", w.two, asked, func(v url.Values) { v.Del("iss") })
	refused("code of another provider", err)
	asked = w.start("one", "")
	_, err = w.finish("one", w.one, asked, func(v url.Values) { v.Set("error", "access_denied") })
	refused("denied", err)
	asked = w.start("one", "")
	w.cookies = map[string]string{}
	_, err = w.finish("one", w.one, asked, nil)
	refused("another browser", err)
	asked = w.start("one", "")
	w.cookies["__Host-pregon-signin"] += "x"
	_, err = w.finish("one", w.one, asked, nil)
	refused("changed cookie", err)

	// The same callback twice: the second is refused even if the cookie is still there.
	asked = w.start("one", "")
	kept := w.cookies["__Host-pregon-signin"]
	if _, err := w.finish("one", w.one, asked, nil); err != nil {
		t.Fatal(err)
	}
	w.cookies = map[string]string{"__Host-pregon-signin": kept}
	_, err = w.finish("one", w.one, asked, nil)
	refused("twice", err)
}

func TestByKey(t *testing.T) {
	w := newWorld(t, nil)
	key, raw, err := w.keys.Create(t.Context(), access.Key{Plan: access.OperatorPlan, Scopes: access.ReadReports})
	if err != nil {
		t.Fatal(err)
	}
	signIn := func(raw string) error {
		rec := httptest.NewRecorder()
		_, err := w.ByKey(rec, w.request("/signin/key"), w.session(), raw, "")
		w.keep(rec)
		return err
	}
	for _, bad := range []string{"", "pregon_live_", raw[:len(raw)-1], "pregon_live_" + strings.Repeat("0", 38)} {
		if err := signIn(bad); fault.KindOf(err) != fault.Forbidden || w.session() != nil {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := signIn(" " + raw + "\n"); err != nil {
		t.Fatal(err)
	}
	s := w.session()
	if s == nil || s.ID != key.ID || s.Key != key.ID || !s.Operator || s.Scope != access.ReadReports {
		t.Fatalf("%+v", s)
	}
	if strings.Contains(fmt.Sprint(w.audit), raw) {
		t.Error("the audit has the key")
	}
	if _, err := w.keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.keys.Refresh(t.Context()); err != nil || w.session() != nil {
		t.Errorf("the session of a revoked key is open (%v)", err)
	}
}

// A session is open only where the key may be used with which it was opened, and those
// with which that was made.
func TestNetworksOfTheKey(t *testing.T) {
	w := newWorld(t, nil)
	inside := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}
	parent, _, err := w.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes, Networks: inside})
	if err != nil {
		t.Fatal(err)
	}
	_, raw, err := w.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes, AccountID: parent.ID, Parent: parent.ID})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	if _, err := w.ByKey(rec, w.request("/signin/key"), w.session(), raw, ""); err != nil {
		t.Fatal(err)
	}
	w.keep(rec)
	if w.session() == nil {
		t.Error("the session is not open in the network of the key")
	}
	w.from = netip.MustParseAddr("198.51.100.1")
	if w.session() != nil {
		t.Error("the session is open in another network")
	}
}

// Guessing is limited.
func TestTooManyAttempts(t *testing.T) {
	w := newWorld(t, nil)
	_, raw, err := w.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if _, err := w.ByKey(httptest.NewRecorder(), w.request("/"), w.session(), "wrong", ""); fault.KindOf(err) != fault.Forbidden {
			t.Fatal(err)
		}
	}
	for range 2 {
		rec := httptest.NewRecorder()
		if _, err := w.ByKey(rec, w.request("/"), w.session(), raw, ""); fault.KindOf(err) != fault.RateLimited || rec.Header().Get("Retry-After") == "" {
			t.Errorf("%v, %v", rec.Header(), err)
		}
	}
	w.hits("limit.hit[limit=signin client_ip=203.0.113.9]")
}

// A cookie that was there before signing in means nothing after it.
// Sign-ins with keys are limited by key and by address, even those that succeed.
func TestTooManySignIns(t *testing.T) {
	w := newWorld(t, nil)
	signIn := func(raw string) (*httptest.ResponseRecorder, error) {
		rec := httptest.NewRecorder()
		_, err := w.ByKey(rec, w.request("/"), w.session(), raw, "")
		return rec, err
	}
	limited := func(name, raw, want string) {
		t.Helper()
		rec, err := signIn(raw)
		if fault.KindOf(err) != fault.RateLimited || rec.Header().Get("Retry-After") == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", name, rec.Header(), err)
		}
	}
	var keys [3]access.Key
	var raw [3]string
	for i := range raw {
		var err error
		if keys[i], raw[i], err = w.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes}); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		if _, err := signIn(raw[0]); err != nil {
			t.Fatal(err)
		}
	}
	w.from = netip.MustParseAddr("198.51.100.1")
	for range 2 {
		limited("the same key at another address", raw[0], "too many sign-ins with this key")
	}
	byKey := "limit.hit[limit=signin-key client_ip=198.51.100.1 key=" + keys[0].ID + "]"
	w.hits(byKey)
	for range 28 { // the two before count too
		if _, err := signIn(raw[1]); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		if _, err := signIn(raw[2]); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		limited("another key at the same address", raw[1], "too many sign-ins with keys from this address")
	}
	w.hits(byKey, "limit.hit[limit=signin-address client_ip=198.51.100.1]")
	w.from = netip.MustParseAddr("198.51.100.2")
	if _, err := signIn(raw[1]); err != nil {
		t.Errorf("another address, another key: %v", err)
	}
}

func TestFixation(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := w.finish("one", w.one, w.start("one", ""), nil); err != nil {
		t.Fatal(err)
	}
	planted := w.cookies["__Host-pregon-session"]
	if _, err := w.finish("one", w.one, w.start("one", ""), nil); err != nil {
		t.Fatal(err)
	}
	fresh := w.cookies["__Host-pregon-session"]
	if fresh == planted {
		t.Fatal("the cookie is the same")
	}
	w.cookies["__Host-pregon-session"] = planted
	if w.session() != nil {
		t.Error("the older cookie is still good")
	}
	// Two cookies of the name: one may be of another site.
	r := w.request("/account")
	r.Header.Set("Cookie", "__Host-pregon-session="+fresh+"; __Host-pregon-session="+planted)
	if w.Session(r) != nil {
		t.Error("one of two cookies was taken")
	}
	for _, bad := range []string{"", "x", fresh[:len(fresh)-1], fresh + "A", strings.Repeat("A", 5000)} {
		w.cookies["__Host-pregon-session"] = bad
		if w.session() != nil {
			t.Errorf("%.40q is a session", bad)
		}
	}
}

func TestSignOut(t *testing.T) {
	w := newWorld(t, nil)
	var all []string
	for range 2 {
		w.cookies = map[string]string{}
		if _, err := w.finish("one", w.one, w.start("one", ""), nil); err != nil {
			t.Fatal(err)
		}
		all = append(all, w.cookies["__Host-pregon-session"])
	}
	out := func(everywhere bool) {
		rec := httptest.NewRecorder()
		if err := w.SignOut(rec, w.request("/"), w.session(), everywhere); err != nil {
			t.Fatal(err)
		}
		w.keep(rec)
	}
	open := func() (n int) {
		for _, c := range all {
			w.cookies["__Host-pregon-session"] = c
			if w.session() != nil {
				n++
			}
		}
		return n
	}
	out(false)
	if len(w.cookies) != 0 || open() != 1 {
		t.Errorf("%d sessions are open", open())
	}
	w.cookies["__Host-pregon-session"] = all[0]
	out(true)
	if n := open(); n != 0 {
		t.Errorf("%d sessions are open", n)
	}
}

func TestForms(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := w.finish("one", w.one, w.start("one", ""), nil); err != nil {
		t.Fatal(err)
	}
	s := w.session()
	for _, test := range []struct {
		site, origin, token string
		want                bool
	}{
		{"same-origin", base, s.Token, true},
		{"", base, s.Token, true},
		{"same-origin", "", s.Token, true},
		{"", "", s.Token, false},
		{"cross-site", base, s.Token, false},
		{"same-site", base, s.Token, false}, // a subdomain
		{"none", base, s.Token, false},
		{"same-origin", "https://evil.example", s.Token, false},
		{"same-origin", "null", s.Token, false},
		{"", base + ".evil.example", s.Token, false},
		{"", "http://pregon.example", s.Token, false},
		{"same-origin", base, "", false},
		{"same-origin", base, s.Token + "x", false},
	} {
		r := httptest.NewRequest(http.MethodPost, "https://pregon.example/account/keys", strings.NewReader(url.Values{signin.TokenField: {test.token}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if test.site != "" {
			r.Header.Set("Sec-Fetch-Site", test.site)
		}
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		if err := w.CheckForm(r, s); (err == nil) != test.want {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// A person may use another name of the machine than the public one.
func TestOtherNameOfTheMachine(t *testing.T) {
	w := newWorld(t, nil)
	r := httptest.NewRequest(http.MethodPost, "https://localhost:8080/signin/key", nil)
	r.Header.Set("Origin", "https://localhost:8080")
	if err := w.CheckForm(r, nil); err != nil {
		t.Error(err)
	}
	r.Header.Set("Origin", "https://localhost:8081")
	if err := w.CheckForm(r, nil); err == nil {
		t.Error("another port is accepted")
	}
}

func TestNext(t *testing.T) {
	for path, want := range map[string]string{
		"": "/account", "/account": "/account", "/account/keys?a=1": "/account/keys?a=1", "/oauth/authorize?client_id=x%26": "/oauth/authorize?client_id=x%26",
		"/": "/account", "/reports/1": "/account", "/accounts": "/account", "//evil.example/account": "/account", "https://evil.example/account": "/account",
		"/\\evil.example": "/account", "/account/../..//evil.example": "/account", "/account\r\nSet-Cookie: x": "/account", "account": "/account",
		"javascript:alert(1)": "/account", "/%2f/evil.example/account": "/account", "/account/%2e%2e/x": "/account", "/account#frag": "/account",
	} {
		if got := signin.Next(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func FuzzNext(f *testing.F) {
	for _, s := range []string{"/account", "//evil", "/oauth/authorize?x", "/account/%2e%2e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := signin.Next(s)
		u, err := url.Parse(base + got)
		if err != nil || u.Host != "pregon.example" || !strings.HasPrefix(u.Path, "/account") && u.Path != "/oauth/authorize" || strings.HasPrefix(got, "//") {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

func TestConfig(t *testing.T) {
	good := func() signin.Config {
		return signin.Config{Providers: []signin.Provider{{ID: "corp", Issuer: "https://idp.example.com", ClientID: "pregon", Allow: signin.Rules{Anyone: true}}}}
	}
	c := good()
	if err := c.Validate(base); err != nil || c.Providers[0].Plan != "pro" || len(c.Providers[0].Scopes) != 3 || c.Providers[0].Name != "corp" {
		t.Errorf("%+v, %v", c, err)
	}
	for name, change := range map[string]func(*signin.Config){
		"id":            func(c *signin.Config) { c.Providers[0].ID = "A/b" },
		"issuer":        func(c *signin.Config) { c.Providers[0].Issuer = "http://idp.example.com" },
		"issuer: ":      func(c *signin.Config) { c.Providers[0].Issuer = "https://127.0.0.1" },
		"client_id":     func(c *signin.Config) { c.Providers[0].ClientID = "" },
		"allow":         func(c *signin.Config) { c.Providers[0].Allow = signin.Rules{} },
		"allow.domains": func(c *signin.Config) { c.Providers[0].Allow.Domains = []string{"@example.com"} },
		"allow.emails":  func(c *signin.Config) { c.Providers[0].Allow.Emails = []string{"example.com"} },
		"allow.domains: \"\u017fpain.example\" is not a domain in ASCII": func(c *signin.Config) {
			c.Providers[0].Allow.Domains = []string{"\u017fpain.example"}
		},
		"operators.domains: \"ban\u212a.example\"": func(c *signin.Config) {
			c.Providers[0].Operators.Domains = []string{"ban\u212a.example"}
		},
		"operators.emails: \"sofía@example.com\" is not an e-mail address in ASCII": func(c *signin.Config) {
			c.Providers[0].Operators.Emails = []string{"sofía@example.com"}
		},
		"operators.claims.groups": func(c *signin.Config) {
			c.Providers[0].Operators.Claims = map[string][]string{"groups": nil}
		},
		"operators.anyone": func(c *signin.Config) { c.Providers[0].Operators.Anyone = true },
		"plan":             func(c *signin.Config) { c.Providers[0].Plan = "operator" },
		"scopes":           func(c *signin.Config) { c.Providers[0].Scopes = []string{"write"} },
		"listed twice":     func(c *signin.Config) { c.Providers = append(c.Providers, c.Providers[0]) },
	} {
		c := good()
		change(&c)
		if err := c.Validate(base); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A provider that is down does not keep the service from starting.
func TestProviderDown(t *testing.T) {
	w := newWorld(t, nil)
	w.one.Close()
	if err := w.Start(httptest.NewRecorder(), w.request("/"), "one", ""); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
	if err := w.Start(httptest.NewRecorder(), w.request("/"), "none", ""); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// People do not wait one after the other for a provider that fails.
func TestProviderFails(t *testing.T) {
	w := newWorld(t, nil)
	w.one.down = true
	for range 3 {
		if err := w.Start(httptest.NewRecorder(), w.request("/"), "one", ""); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
	}
	if w.one.asked != 1 {
		t.Errorf("it was asked %d times", w.one.asked)
	}
}

// While the store fails nobody is signed in, and the browser can send the request again.
func TestStoreFailsInTheCallback(t *testing.T) {
	w := newWorld(t, nil)
	asked := w.start("one", "")
	w.fails = errors.New("the store is down")
	if _, err := w.finish("one", w.one, asked, nil); !errors.Is(err, w.fails) || w.session() != nil {
		t.Errorf("%v, session %v", err, w.session())
	}
	w.fails = nil
	if _, err := w.finish("one", w.one, asked, nil); err != nil || w.session() == nil {
		t.Errorf("%v, session %v", err, w.session())
	}
}

func TestSecretMissing(t *testing.T) {
	_, err := signin.New(signin.Options{BaseURL: base, Getenv: func(string) string { return "" }, Config: signin.Config{Providers: []signin.Provider{
		{ID: "corp", Issuer: "https://idp.example.com", ClientID: "pregon", SecretEnv: "PREGON_SIGNIN_CORP", Allow: signin.Rules{Anyone: true}},
	}}})
	if err == nil || !strings.Contains(err.Error(), "PREGON_SIGNIN_CORP") {
		t.Error(err)
	}
}

// A person who signed in with a provider whose id now names another issuer has no access.
func TestHas(t *testing.T) {
	c := signin.Config{Providers: []signin.Provider{{ID: "corp", Issuer: "https://new.example"}}}
	for account, want := range map[string]bool{
		"https://new.example#ana": true, "https://old.example#ana": false, "https://new.example.org#ana": false,
	} {
		if c.Has("corp", account) != want {
			t.Errorf("Has(corp, %s) is not %v", account, want)
		}
	}
	if c.Has("other", "https://new.example#ana") {
		t.Error("a provider that is not there")
	}
}
