package oauth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/oauth"
	"pregon/internal/fault"
)

// While the store fails, no token is issued, at whatever step it began to fail, and the
// client receives "try again", and not that its code is wrong.
func TestStoreFailsInTheExchange(t *testing.T) {
	for _, after := range []string{"", "oauth-code:", "oauth-replay:"} {
		w := newWorld(t)
		code := w.allow(query("desk", deskURI), w.person("ana")).Get("code")
		if after == "" {
			w.db.Close()
		}
		w.claimed = func(name string) {
			if after != "" && strings.HasPrefix(name, after) {
				w.db.Close()
			}
		}
		a := w.post("/api/auth/token", exchange("desk", deskURI, code))
		// After the last claim all is stored, and the token is good.
		if want := after == "oauth-replay:"; (a.Code == 200) != want || !want && (a.Code != http.StatusServiceUnavailable || a.Access != "") {
			t.Errorf("the store fails after %q: %s", after, a)
		}
	}
	// A second use of a code while the store fails.
	w := newWorld(t)
	code := w.allow(query("desk", deskURI), w.person("ana")).Get("code")
	if a := w.post("/api/auth/token", exchange("desk", deskURI, code)); a.Code != 200 {
		t.Fatal(a)
	}
	for _, after := range []string{"oauth-code:", "oauth-replay:"} {
		w := replica(t, w.dir, config())
		w.claimed = func(name string) {
			if strings.HasPrefix(name, after) {
				w.db.Close()
			}
		}
		if a := w.post("/api/auth/token", exchange("desk", deskURI, code)); a.Code != http.StatusServiceUnavailable || a.Access != "" {
			t.Errorf("the second use, the store fails after %q: %s", after, a)
		}
	}
}

// While the store fails, neither a refresh nor a revocation is reported as done.
func TestStoreFailsLater(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.person("ana"))
	w.db.Close()
	if b := w.post("/api/auth/token", refresh("desk", a.Refresh)); b.Code != http.StatusServiceUnavailable || b.Access != "" {
		t.Errorf("a refresh: %s", b)
	}
	for _, raw := range []string{a.Refresh, a.Access, "unknown"} {
		if b := w.post("/oauth/revoke", url.Values{"client_id": {"desk"}, "token": {raw}}); b.Code != http.StatusServiceUnavailable {
			t.Errorf("a revocation: %s", b)
		}
	}
}

// A person who has lost all scopes of a code, or the access, gets no token from it.
func TestScopesAreLostMeanwhile(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(w *world, id string) error
		want   string // the error; empty: a token with fewer scopes
	}{
		{"some scopes", func(w *world, id string) error { return w.signIn(id, access.ReadIssuers) }, ""},
		{"all scopes", func(w *world, id string) error { return w.signIn(id, access.ReadAnalytics) }, "invalid_grant"},
		{"the access", func(w *world, id string) error { return w.accounts.Block(w.t.Context(), id, true) }, "invalid_grant"},
	} {
		w := newWorld(t)
		ana := w.person("ana")
		code := w.allow(query("desk", deskURI, "scope", "read:reports read:issuers"), ana).Get("code")
		if err := test.change(w, ana.ID); err != nil {
			t.Fatal(err)
		}
		a := w.post("/api/auth/token", exchange("desk", deskURI, code))
		if a.Error != test.want || test.want == "" && a.Scope != "read:issuers" || test.want != "" && a.Access != "" {
			t.Errorf("%s: %s", test.name, a)
		}
	}
}

// signIn gives an account other scopes.
func (w *world) signIn(id string, scope access.Scope) error {
	_, _, err := w.accounts.SignIn(w.t.Context(), account.Account{ID: id, Provider: "corp", Plan: "pro", Scopes: scope}, account.Session{})
	return err
}

// A decision that cannot be stored is not carried out.
func TestStoreFailsInTheDecision(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	_, form := w.server.Forms(w.ask(query("desk", deskURI)), ana)
	w.db.Close()
	if address, err := w.server.Decide(t.Context(), form, ana, true); fault.KindOf(err) != fault.Unavailable || address != "" {
		t.Errorf("%q, %v", address, err)
	}
}

// A form of an application that is no longer known, or that has changed, has no effect.
func TestApplicationChangesMeanwhile(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	_, form := w.server.Forms(w.ask(query("desk", deskURI)), ana)
	for name, change := range map[string]func(*oauth.Config){
		"gone":         func(c *oauth.Config) { c.Clients = c.Clients[1:] },
		"another name": func(c *oauth.Config) { c.Clients[0].Name = "Another" },
		"another host": func(c *oauth.Config) { c.Clients[0].RedirectURIs = []string{"https://other.example/callback"} },
	} {
		c := config()
		change(&c)
		other := replica(t, w.dir, c)
		if err := other.accounts.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if address, err := other.server.Decide(t.Context(), form, ana, true); err == nil || address != "" {
			t.Errorf("%s: %q, %v", name, address, err)
		}
	}
	if address, err := w.server.Decide(t.Context(), form, ana, true); err != nil || address == "" {
		t.Errorf("unchanged: %q, %v", address, err)
	}
	if address, err := w.server.Decide(t.Context(), form, ana, true); err == nil {
		t.Errorf("used twice: %q", address)
	}
}

// A client of the configuration that has no name is shown with its id, and wrong scopes
// are refused at the start.
func TestConfiguredClients(t *testing.T) {
	c := config()
	c.Clients[0].Name = ""
	w := newWorldWith(t, c)
	if q := w.ask(query("desk", deskURI)); q.Client.Name != "desk" {
		t.Errorf("the name is %q", q.Client.Name)
	}
	if q := w.ask(query("narrow", "https://narrow.example/cb")); q.Scope != access.ReadReports {
		t.Errorf("the scope is %v", q.Scope)
	}
	c.Clients[0].Scopes = []string{"write"}
	if _, err := oauth.New(oauth.Options{Config: c, BaseURL: base, Tokens: w.tokens, Accounts: w.accounts}); err == nil {
		t.Error("a client with an unknown scope is accepted")
	}
	// Without an audit nothing is recorded, and nothing fails.
	quiet, err := oauth.New(oauth.Options{Config: config(), BaseURL: base, Tokens: w.tokens, Accounts: w.accounts})
	if err != nil || quiet == nil {
		t.Errorf("without an audit: %v", err)
	}
}

// With registration turned off only that endpoint is missing.
func TestRegistrationIsOff(t *testing.T) {
	for _, on := range []bool{true, false} {
		c := config()
		c.Registration = &on
		w := newWorldWith(t, c)
		_, pattern := w.mux.Handler(httptest.NewRequest(http.MethodPost, "/oauth/register", nil))
		if (pattern != "") != on {
			t.Errorf("registration %v: the endpoint is %q", on, pattern)
		}
		if a := w.post("/oauth/revoke", url.Values{"client_id": {"desk"}, "token": {"what"}}); a.Code != http.StatusOK {
			t.Errorf("registration %v: a revocation: %s", on, a)
		}
	}
}

// A registration is audited, with the name and the host that people will read.
func TestRegistrationIsAudited(t *testing.T) {
	w := newWorld(t)
	w.register(`{"client_name":"Agent","redirect_uris":["https://agent.example/cb"]}`)
	if w.count("client.registered") != 1 {
		t.Errorf("audited %v", w.events)
	}
	for _, e := range w.events {
		if e.name == "client.registered" && (e.attrs["name"] != "Agent" || e.attrs["host"] != "agent.example" || e.attrs["client_ip"] == "") {
			t.Errorf("audited %v", e)
		}
	}
}

// The address at which a person can decide again is that of the request: with its
// redirect URI if it had one.
func TestDecideAgain(t *testing.T) {
	for _, uri := range []string{deskURI, ""} {
		w := newWorld(t)
		ana := w.person("ana")
		_, form := w.server.Forms(w.ask(query("desk", uri)), ana)
		c := config()
		c.Clients[0].Name = "Another"
		_, err := replica(t, w.dir, c).server.Decide(t.Context(), form, ana, true)
		why, ok := errors.AsType[*oauth.Refusal](err)
		if !ok || why.Again == "" {
			t.Fatalf("%v, want an address to decide again", err)
		}
		again := parameters(t, why.Again)
		if again.Get("redirect_uri") != uri || again.Has("redirect_uri") != (uri != "") || again.Get("state") != "st&te" || again.Get("code_challenge") != challenge {
			t.Errorf("again with %v", again)
		}
	}
}
