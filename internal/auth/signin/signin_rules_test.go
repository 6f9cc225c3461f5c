package signin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/signin"
	"pregon/internal/fault"
)

// A provider is named once: two with one id would share a redirect address, and two
// with one issuer the accounts of its people.
func TestProvidersAreNamedOnce(t *testing.T) {
	provider := func(id, issuer string) signin.Provider {
		return signin.Provider{
			ID:       id,
			Issuer:   issuer,
			ClientID: "pregon",
			Allow:    signin.Rules{Anyone: true},
		}
	}
	for _, test := range []struct {
		name   string
		second signin.Provider
		want   bool
	}{
		{"another id and issuer", provider("two", "https://two.example.com"), true},
		{"the same id", provider("one", "https://two.example.com"), false},
		{"the same issuer", provider("two", "https://one.example.com"), false},
	} {
		c := signin.Config{Providers: []signin.Provider{provider("one", "https://one.example.com"), test.second}}
		err := c.Validate(base)
		if (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "signin.providers[1].id: ") {
			t.Errorf("%s: the error does not name the second: %v", test.name, err)
		}
	}
}

// The bounds of a provider in the configuration.
func TestProviderBounds(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*signin.Provider)
		want   string // the field that is refused; empty: allowed
	}{
		{"a name of 60 bytes", func(p *signin.Provider) { p.Name = strings.Repeat("x", 60) }, ""},
		{"a name of 61 bytes", func(p *signin.Provider) { p.Name = strings.Repeat("x", 61) }, "name"},
		{"a name with a space", func(p *signin.Provider) { p.Name = "Our people" }, ""},
		{"a name of two lines", func(p *signin.Provider) { p.Name = "a\nb" }, "name"},
		{"a name with DEL", func(p *signin.Provider) { p.Name = "a\x7f" }, "name"},
		{"this service itself", func(p *signin.Provider) { p.Issuer = base }, "issuer"},
		{"an issuer with a fragment", func(p *signin.Provider) { p.Issuer = "https://idp.example.com/#x" }, "issuer"},
		{"an issuer with a space", func(p *signin.Provider) { p.Issuer = "https://idp.example.com/a b" }, "issuer"},
		{"http elsewhere", func(p *signin.Provider) { p.Issuer = "http://idp.example.com" }, "issuer"},
		{"http on our own network", func(p *signin.Provider) { p.Issuer = "http://10.1.2.3"; p.AllowPrivate = true }, ""},
		{"https with a private address", func(p *signin.Provider) { p.Issuer = "https://10.1.2.3" }, "issuer"},
		{"the plan enterprise", func(p *signin.Provider) { p.Plan = "enterprise" }, ""},
		{"a plan that does not exist", func(p *signin.Provider) { p.Plan = "free" }, "plan"},
		{"a domain without a dot", func(p *signin.Provider) { p.Operators.Domains = []string{"example"} }, "operators.domains"},
		{"a domain", func(p *signin.Provider) { p.Operators.Domains = []string{"example.com"} }, ""},
		{"an address", func(p *signin.Provider) { p.Allow = signin.Rules{Emails: []string{"ana@example.com"}} }, ""},
		{"a claim", func(p *signin.Provider) { p.Allow = signin.Rules{Claims: map[string][]string{"groups": {"staff"}}} }, ""},
	} {
		c := signin.Config{Providers: []signin.Provider{{
			ID:       "corp",
			Issuer:   "https://idp.example.com",
			ClientID: "pregon",
			Allow:    signin.Rules{Domains: []string{"example.com"}},
		}}}
		test.change(&c.Providers[0])
		err := c.Validate(base)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), "signin.providers[0]."+test.want+": ")) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// Where the service is on this machine alone, a browser that uses another name of the
// machine is sent to the public one, since cookies are bound to names. Any other host
// may be forged, and is not sent anywhere.
func TestStartUnderAnotherName(t *testing.T) {
	for _, test := range []struct {
		public, host string
		want         string // where it is sent before the provider; empty: nowhere
	}{
		{"http://127.0.0.1:8080", "127.0.0.1:8080", ""},
		{"http://127.0.0.1:8080", "localhost:8080", "http://127.0.0.1:8080/signin/start?x=1"},
		{"http://localhost:8080", "127.0.0.1:8080", "http://localhost:8080/signin/start?x=1"},
		{"http://localhost:8080", "[::1]:8080", "http://localhost:8080/signin/start?x=1"},
		{"http://localhost", "[::1]", "http://localhost/signin/start?x=1"},
		{"http://localhost:8080", "192.0.2.1:8080", ""},
		{"http://localhost:8080", "evil.example:8080", ""},
		{"http://localhost:8080", "localhost.evil.example", ""},
		{"https://pregon.example", "localhost:8080", ""},
		{"https://pregon.example", "127.0.0.1", ""},
		{"http://192.0.2.1:8080", "127.0.0.1:8080", ""},
	} {
		w := newWorldAt(t, test.public, nil)
		r := httptest.NewRequest(http.MethodGet, "http://"+test.host+"/signin/start?x=1", nil)
		rec := httptest.NewRecorder()
		if err := w.Start(rec, r, "one", ""); err != nil {
			t.Fatalf("%+v: %v", test, err)
		}
		want := test.want
		if want == "" {
			want = w.one.URL + "/authorize?"
		}
		if got := rec.Header().Get("Location"); rec.Code != http.StatusFound || !strings.HasPrefix(got, want) {
			t.Errorf("%s at %s: sent to %s, want %s", test.public, test.host, got, want)
		}
		if kept := len(rec.Result().Cookies()); (kept == 0) != (test.want != "") {
			t.Errorf("%s at %s: %d cookies", test.public, test.host, kept)
		}
	}
}

// The providers are offered in the order of the configuration.
func TestProviders(t *testing.T) {
	w := newWorld(t, func(c *signin.Config) { c.Providers[1].Name = "The other" })
	got := w.Providers()
	if len(got) != 2 || got[0] != (signin.Choice{ID: "one", Name: "one"}) || got[1] != (signin.Choice{ID: "two", Name: "The other"}) {
		t.Errorf("%+v", got)
	}
}

// The reason for which a person is not allowed is shown, and says what to do.
func TestReasonsOfRefusal(t *testing.T) {
	emails := func(c *signin.Config) { c.Providers[0].Allow = signin.Rules{Emails: []string{"eva@example.com"}} }
	claims := func(c *signin.Config) {
		c.Providers[0].Allow = signin.Rules{Claims: map[string][]string{"staff": {"true"}, "level": {"7"}}}
	}
	for _, test := range []struct {
		name   string
		config func(*signin.Config)
		claims map[string]any
		want   string // empty: allowed
	}{
		{"not verified, where domains count", nil, map[string]any{"email_verified": false}, "is not verified by one"},
		{"not verified, where addresses count", emails, map[string]any{"email_verified": false}, "is not verified by one"},
		{"not verified, where claims count", claims, map[string]any{"email_verified": false}, "not open to you"},
		{"another address", emails, nil, "not open to you"},
		{"the address, in another case", emails, map[string]any{"email": "EVA@Example.com"}, ""},
		{"verified as a text", nil, map[string]any{"email_verified": "true"}, ""},
		{"a claim that is true", claims, map[string]any{"staff": true}, ""},
		{"a claim that is false", claims, map[string]any{"staff": false}, "not open to you"},
		{"a claim that is a number", claims, map[string]any{"level": 7}, "not open to you"},
		{"a claim that is a list of numbers", claims, map[string]any{"level": []int{7}}, "not open to you"},
		{"a claim that is a list of other texts", claims, map[string]any{"level": []string{"1", "77"}}, "not open to you"},
		{"a claim that is an empty list", claims, map[string]any{"level": []string{}}, "not open to you"},
		{"a claim that is another text", claims, map[string]any{"level": "77"}, "not open to you"},
		{"a claim that is the text", claims, map[string]any{"level": "7"}, ""},
		{"a claim that is a list of texts", claims, map[string]any{"level": []string{"1", "7"}}, ""},
		{"a subject of 255 characters", nil, map[string]any{"sub": strings.Repeat("x", 255)}, ""},
		{"a subject of 256 characters", nil, map[string]any{"sub": strings.Repeat("x", 256)}, "cannot be read"},
		{"a subject with other letters", nil, map[string]any{"sub": "añ"}, "cannot be read"},
		{"a subject with a tilde and a space", nil, map[string]any{"sub": "a ~"}, ""},
		{"another nonce", nil, map[string]any{"nonce": "another"}, "is for another sign-in"},
		{"another audience", nil, map[string]any{"aud": "another"}, "The ID token of one is not valid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.config)
			w.one.claims = test.claims
			_, err := w.finish("one", w.one, w.start("one", ""), nil)
			if test.want == "" {
				if err != nil || w.session() == nil {
					t.Errorf("%v, session %v", err, w.session())
				}
				return
			}
			if fault.KindOf(err) != fault.Forbidden || !strings.Contains(err.Error(), test.want) || w.session() != nil {
				t.Errorf("%v, want a refusal that says %q", err, test.want)
			}
		})
	}
}

// What a provider answers instead of a code is shown on one line, without what could
// mislead a reader.
func TestAnswersOfTheProvider(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(url.Values)
		kind   fault.Kind
		want   string
	}{
		{"an error", func(v url.Values) { v.Set("error", "access_denied"); v.Set("error_description", "no\x00\n\u202e ~!") }, fault.Forbidden, "One answered: access_denied no ~!."},
		{"a long error", func(v url.Values) { v.Set("error", strings.Repeat("x", 300)) }, fault.Forbidden, "One answered: " + strings.Repeat("x", 200) + "."},
		{"no code", func(v url.Values) { v.Del("code") }, fault.Forbidden, "The provider sent no code."},
		{"a long code", func(v url.Values) { v.Set("code", strings.Repeat("x", 4097)) }, fault.Forbidden, "The provider sent no code."},
		{"a code that is almost too long", func(v url.Values) { v.Set("code", strings.Repeat("x", 4096)) }, fault.Forbidden, "One refused the code: invalid_grant."},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, nil)
			asked := w.start("one", "")
			if _, err := w.finish("one", w.one, asked, test.change); fault.KindOf(err) != test.kind || err.Error() != test.want || w.session() != nil {
				t.Errorf("%v, want %s", err, test.want)
			}
			if _, kept := w.cookies["__Host-pregon-signin"]; kept {
				t.Error("the cookie of the start is still there")
			}
		})
	}
	w := newWorld(t, nil)
	asked := w.start("one", "")
	if _, err := w.finish("one", w.one, asked, func(v url.Values) { v.Add("iss", w.one.URL) }); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("an answer with two issuers: %v", err)
	}
	if _, err := w.finish("one", w.one, asked, func(v url.Values) { v.Del("iss") }); err != nil || w.session() == nil {
		t.Errorf("an answer without an issuer: %v", err)
	}
	if _, err := w.finish("none", w.one, asked, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an answer of an unknown provider: %v", err)
	}
}

// A request that is too long for a cookie is refused before the person goes to the
// provider: the browser would drop the cookie.
func TestStartOfALongRequest(t *testing.T) {
	w := newWorld(t, nil)
	for length, want := range map[int]bool{1000: true, 4000: false} {
		next := "/oauth/authorize?x=" + strings.Repeat("x", length)
		rec := httptest.NewRecorder()
		err := w.Start(rec, w.request("/signin/start"), "one", next)
		if (err == nil) != want || (len(rec.Result().Cookies()) == 1) != want {
			t.Errorf("a request of %d bytes: %v, %d cookies", length, err, len(rec.Result().Cookies()))
		}
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v, want that it is invalid", err)
		}
	}
}

// A person who signs in with one of their own keys stays the same person, restricted by
// the key.
func TestByKeyOfAPerson(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := w.finish("one", w.one, w.start("one", ""), nil); err != nil {
		t.Fatal(err)
	}
	person := w.session()
	key, raw, err := w.keys.CreateFor(t.Context(), person.Principal, access.Key{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	w.cookies = map[string]string{}
	rec := httptest.NewRecorder()
	r := w.request("/signin/key")
	r.Header.Set("User-Agent", "a browser")
	next, err := w.ByKey(rec, r, w.session(), raw, "/account/keys")
	if err != nil || next != "/account/keys" {
		t.Fatalf("%q, %v", next, err)
	}
	w.keep(rec)
	s := w.session()
	if s == nil || s.ID != person.ID || s.Key != key.ID || s.Account.Name != "Ana" || s.Account.Provider != "one" || s.Account.Email != "ana@example.com" {
		t.Errorf("%+v", s)
	}
	if !slices.ContainsFunc(s.Account.Sessions, func(one account.Session) bool { return one.ID == s.Credential && one.Agent == "a browser" }) {
		t.Errorf("the session does not name its browser: %+v", s.Account.Sessions)
	}
	own, raw, err := w.keys.Create(t.Context(), access.Key{Name: "robot", Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ByKey(httptest.NewRecorder(), w.request("/signin/key"), w.session(), raw, ""); err != nil {
		t.Fatal(err)
	}
	if holder, known := w.accounts.Account(own.ID); !known || holder.Name != "robot" {
		t.Errorf("the holder of a key is %+v, %v", holder, known)
	}
}

// A blocked person cannot sign in with a key either, and does not get a cookie.
func TestByKeyOfABlockedHolder(t *testing.T) {
	w := newWorld(t, nil)
	key, raw, err := w.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	if _, err := w.ByKey(rec, w.request("/"), w.session(), raw, ""); err != nil || len(rec.Result().Cookies()) != 1 {
		t.Fatal(err)
	}
	if err := w.accounts.Block(t.Context(), key.ID, true); err != nil {
		t.Fatal(err)
	}
	rec = httptest.NewRecorder()
	if _, err := w.ByKey(rec, w.request("/"), w.session(), raw, ""); err == nil || len(rec.Result().Cookies()) != 0 {
		t.Errorf("%v, %d cookies", err, len(rec.Result().Cookies()))
	}
}

// Signing out of a session that has already ended removes the cookie.
func TestSignOutTwice(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := w.finish("one", w.one, w.start("one", ""), nil); err != nil {
		t.Fatal(err)
	}
	s := w.session()
	if err := w.accounts.EndSession(t.Context(), s.ID, s.Credential); err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	if err := w.SignOut(rec, w.request("/"), s, false); err != nil {
		t.Errorf("a session that has ended: %v", err)
	}
	if c := rec.Result().Cookies(); len(c) != 1 || c[0].MaxAge >= 0 || c[0].Value != "" {
		t.Errorf("%v", c)
	}
}

// The form of a session needs its token, and one without a session needs none.
func TestFormsWithoutASession(t *testing.T) {
	w := newWorld(t, nil)
	r := httptest.NewRequest(http.MethodPost, base+"/signin/key", nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if err := w.CheckForm(r, nil); err != nil {
		t.Error(err)
	}
	if err := w.CheckForm(r, &signin.Session{Token: "x"}); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a form without the token of its session: %v", err)
	}
}

// A session cookie that was sealed with parts missing or added is no session.
func TestPartsOfTheCookie(t *testing.T) {
	w := newWorld(t, nil)
	_, raw, err := w.accounts.SignIn(t.Context(), account.Account{ID: w.one.URL + "#ana", Provider: "one", Plan: "pro", Scopes: access.AllScopes}, account.Session{})
	if err != nil {
		t.Fatal(err)
	}
	one, _ := w.accounts.Account(w.one.URL + "#ana")
	id := one.Sessions[0].ID
	for text, want := range map[string]bool{
		one.ID + "\n" + id + "\n" + raw:        true,
		one.ID + "\n" + id:                     false,
		one.ID + "\n" + id + "\n" + raw + "\n": false,
	} {
		w.cookies["__Host-pregon-session"] = w.sealer.SealToken("__Host-pregon-session", text)
		if got := w.session() != nil; got != want {
			t.Errorf("%d parts: %v, want %v", strings.Count(text, "\n")+1, got, want)
		}
	}
	w.cookies["__Host-pregon-session"] = w.sealer.SealToken("__Host-pregon-signin", one.ID+"\n"+id+"\n"+raw)
	if w.session() != nil {
		t.Error("a cookie that was sealed under another name is a session")
	}
}

// A sign-in that was started more than ten minutes ago has to be started again.
func TestStartExpires(t *testing.T) {
	w := newWorld(t, nil)
	for _, test := range []struct {
		name string
		ends time.Duration // from now
		want bool
	}{
		{"before the end", time.Minute, true},
		{"after the end", -time.Second, false},
	} {
		asked := w.start("one", "")
		text, ok := w.sealer.OpenToken("__Host-pregon-signin", w.cookies["__Host-pregon-signin"])
		var kept map[string]any
		if !ok || json.Unmarshal([]byte(text), &kept) != nil {
			t.Fatalf("the cookie holds %q", text)
		}
		if end, err := time.Parse(time.RFC3339, fmt.Sprint(kept["e"])); err != nil || time.Until(end) > 10*time.Minute || time.Until(end) < time.Minute {
			t.Errorf("a start ends at %v, %v; want in ten minutes", end, err)
		}
		kept["e"] = time.Now().Add(test.ends)
		changed, err := json.Marshal(kept)
		if err != nil {
			t.Fatal(err)
		}
		w.cookies["__Host-pregon-signin"] = w.sealer.SealToken("__Host-pregon-signin", string(changed))
		if _, err := w.finish("one", w.one, asked, nil); (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A provider that fails is not the fault of the person: it is said that it does not
// answer, and nothing counts against the address.
func TestTokenEndpointFails(t *testing.T) {
	w := newWorld(t, nil)
	w.one.broken = true
	if _, err := w.finish("one", w.one, w.start("one", ""), nil); fault.KindOf(err) != fault.Unavailable || w.session() != nil {
		t.Errorf("%v, want that it is not available", err)
	}
	if slices.ContainsFunc(w.audit, func(s string) bool { return strings.HasPrefix(s, "signin.refused") }) {
		t.Errorf("the failure counts against the person: %q", w.audit)
	}
	w.one.broken = false
	w.one.silent = true
	if _, err := w.finish("one", w.one, w.start("one", ""), nil); fault.KindOf(err) != fault.Forbidden || !strings.Contains(err.Error(), "no ID token") || w.session() != nil {
		t.Errorf("%v, want that it sent no ID token", err)
	}
}

// With anyone: true everybody of a provider may sign in.
func TestAnyone(t *testing.T) {
	w := newWorld(t, func(c *signin.Config) { c.Providers[0].Allow = signin.Rules{Anyone: true} })
	w.one.claims = map[string]any{"email": "x@elsewhere.example", "email_verified": false}
	if _, err := w.finish("one", w.one, w.start("one", ""), nil); err != nil {
		t.Fatal(err)
	}
	if s := w.session(); s == nil || s.Operator || s.Account.Email != "" {
		t.Errorf("%+v; want a session without an address and without the rights of an operator", s)
	}
}

// Failed attempts count for both ways to sign in.
func TestCallbacksAreLimited(t *testing.T) {
	w := newWorld(t, nil)
	asked := w.start("one", "")
	for range 30 {
		if _, err := w.ByKey(httptest.NewRecorder(), w.request("/"), w.session(), "wrong", ""); fault.KindOf(err) != fault.Forbidden {
			t.Fatal(err)
		}
	}
	if _, err := w.finish("one", w.one, asked, nil); fault.KindOf(err) != fault.RateLimited || w.session() != nil {
		t.Errorf("%v, want that it is limited", err)
	}
	w.from = netip.MustParseAddr("198.51.100.7")
	if _, err := w.finish("one", w.one, asked, nil); err != nil {
		t.Errorf("from another address: %v", err)
	}
}

// Behind a proxy the host of a request may be another than the public one. A form of the
// public address is the service's own.
func TestFormsBehindAProxy(t *testing.T) {
	w := newWorld(t, nil)
	for origin, want := range map[string]bool{
		base:                     true,
		"https://127.0.0.1:8080": true,
		"http://127.0.0.1:8080":  false,
		"https://evil.example":   false,
	} {
		r := httptest.NewRequest(http.MethodPost, "https://127.0.0.1:8080/signin/key", nil)
		r.Header.Set("Origin", origin)
		if err := w.CheckForm(r, nil); (err == nil) != want {
			t.Errorf("%s: %v", origin, err)
		}
	}
}

// While the store fails nobody is signed in or out, and that is not the fault of the
// person.
func TestStoreFails(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := w.finish("one", w.one, w.start("one", ""), nil); err != nil {
		t.Fatal(err)
	}
	s := w.session()
	_, raw, err := access.NewKeyring(w.db, nil).Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	w.db.Close()
	for _, everywhere := range []bool{false, true} {
		rec := httptest.NewRecorder()
		if err := w.SignOut(rec, w.request("/"), s, everywhere); err == nil || len(rec.Result().Cookies()) != 0 {
			t.Errorf("signed out: %v, %v", err, rec.Result().Cookies())
		}
	}
	before := len(w.audit)
	if _, err := w.ByKey(httptest.NewRecorder(), w.request("/"), w.session(), raw, ""); fault.KindOf(err) != fault.Unavailable || len(w.audit) != before {
		t.Errorf("a key that cannot be looked up: %v, audited %q", err, w.audit[before:])
	}
}

// A configuration that is not valid, and an address that is none, are refused at the
// start. The secret of a provider is read from the environment.
func TestNew(t *testing.T) {
	good := func() signin.Options {
		return signin.Options{BaseURL: base, Config: signin.Config{Providers: []signin.Provider{{
			ID:        "corp",
			Issuer:    "https://idp.example.com",
			ClientID:  "pregon",
			SecretEnv: "PREGON_SIGNIN_TEST",
			Allow:     signin.Rules{Anyone: true},
		}}}}
	}
	if _, err := signin.New(good()); err == nil {
		t.Error("a provider without its secret is accepted")
	}
	t.Setenv("PREGON_SIGNIN_TEST", "secret")
	if _, err := signin.New(good()); err != nil {
		t.Error(err)
	}
	o := good()
	o.Config.Providers[0].ClientID = ""
	if _, err := signin.New(o); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a provider without a client: %v", err)
	}
	o = good()
	o.BaseURL = "https://pregon.example:port"
	if _, err := signin.New(o); err == nil {
		t.Error("an address that is none is accepted")
	}
}
