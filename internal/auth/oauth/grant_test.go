package oauth_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"sync"
	"testing"

	"pregon/internal/auth/access"
)

// A refresh may ask for less, for one token, and never for more.
func TestRefreshScope(t *testing.T) {
	w := newWorld(t)
	code := w.allow(query("desk", deskURI, "scope", "read:reports read:issuers"), w.person("ana")).Get("code")
	a := w.post("/api/auth/token", exchange("desk", deskURI, code))
	for _, more := range []string{"read:analytics", "read:reports read:analytics", "write:all", "read:reports\n"} {
		if b := w.post("/api/auth/token", refresh("desk", a.Refresh, "scope", more)); b.Error != "invalid_scope" {
			t.Errorf("%q: %s", more, b)
		}
	}
	less := w.post("/api/auth/token", refresh("desk", a.Refresh, "scope", "read:issuers"))
	if less.Code != 200 || less.Scope != "read:issuers" {
		t.Fatal(less)
	}
	if p, err := w.use(less.Access, access.Requirement{MCP: true}); err != nil || p.Scope != access.ReadIssuers {
		t.Errorf("%v, %v", p.Scope, err)
	}
	if all := w.post("/api/auth/token", refresh("desk", less.Refresh)); all.Scope != "read:reports read:issuers" {
		t.Errorf("the grant has become less: %s", all)
	}
}

// An old refresh token shows that one of two holders stole it: both lose access.
func TestRefreshReuse(t *testing.T) {
	w := newWorld(t)
	other := replica(t, w.dir, config())
	first := w.connect(w.person("ana"))
	second := other.post("/api/auth/token", refresh("desk", first.Refresh))
	if second.Code != 200 {
		t.Fatal(second)
	}
	if again := w.post("/api/auth/token", refresh("desk", first.Refresh)); again.Error != "invalid_grant" || w.count("app.refresh_reused") != 1 {
		t.Errorf("%s, %v", again, w.events)
	}
	if next := other.post("/api/auth/token", refresh("desk", second.Refresh)); next.Error != "invalid_grant" {
		t.Errorf("the newest is still good: %s", next)
	}
	if w.works(first.Access) || other.works(second.Access) {
		t.Error("access tokens are still good")
	}
}

// Of several uses at once, at several replicas, at most one gets a token: it is refused too
// if the next use ends the grant before its token is signed. All lose access.
func TestRefreshAtOnce(t *testing.T) {
	w := newWorld(t)
	replicas := []*world{w, replica(t, w.dir, config())}
	a := w.connect(w.person("ana"))
	answers := make([]answer, 6)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = replicas[i%2].post("/api/auth/token", refresh("desk", a.Refresh)) })
	}
	all.Wait()
	good := 0
	for i, b := range answers {
		if b.Code == 200 {
			good++
			if replicas[i%2].works(b.Access) {
				t.Error("the token of a refresh token that was used again is still good")
			}
		} else if b.Error != "invalid_grant" {
			t.Error(b)
		}
	}
	if good > 1 || w.works(a.Access) {
		t.Errorf("%d got a token, or the first one is still good", good)
	}
}

func TestBadRefresh(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.person("ana"))
	for raw, code := range map[string]string{
		"":                                       "invalid_request",
		"pregon_refresh_":                        "invalid_grant",
		a.Refresh[:len(a.Refresh)-1]:             "invalid_grant",
		a.Refresh + "A":                          "invalid_grant",
		strings.ToLower(a.Refresh):               "invalid_grant",
		a.Access:                                 "invalid_grant",
		strings.Repeat("x", len(a.Refresh)):      "invalid_grant",
		a.Refresh[:27] + strings.Repeat("A", 44): "invalid_grant", // the right grant, guessed secrets
	} {
		if b := w.post("/api/auth/token", refresh("desk", raw)); b.Error != code {
			t.Errorf("%q: %s", raw, b)
		}
	}
	if b := w.post("/api/auth/token", refresh("", a.Refresh)); b.Error != "invalid_request" {
		t.Error(b)
	}
	if b := w.post("/api/auth/token", refresh("nobody", a.Refresh)); b.Error != "invalid_client" || b.Code != 401 {
		t.Error(b)
	}
	if b := w.post("/api/auth/token", refresh("desk", a.Refresh)); b.Code != 200 {
		t.Errorf("the guesses ended it: %s", b)
	}
}

func TestRevoke(t *testing.T) {
	w := newWorld(t)
	other := replica(t, w.dir, config())
	ana := w.person("ana")
	for _, pick := range []func(answer) string{func(a answer) string { return a.Refresh }, func(a answer) string { return a.Access }} {
		a := w.connect(ana)
		before := other.count("app.revoked")
		for range 2 { // the second time it is not known
			if b := other.post("/oauth/revoke", url.Values{"client_id": {"desk"}, "token": {pick(a)}, "token_type_hint": {"nonsense"}}); b.Code != 200 {
				t.Error(b)
			}
		}
		if err := w.accounts.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.works(a.Access) || other.works(a.Access) || other.count("app.revoked") != before+1 {
			t.Error("the access token is still good")
		}
		if b := w.post("/api/auth/token", refresh("desk", a.Refresh)); b.Error != "invalid_grant" {
			t.Error(b)
		}
	}
	for name, test := range map[string]struct {
		form   url.Values
		status int
		code   string
	}{
		"unknown":        {url.Values{"client_id": {"desk"}, "token": {"what"}}, 200, ""},
		"no token":       {url.Values{"client_id": {"desk"}}, 400, "invalid_request"},
		"no client":      {url.Values{"token": {"what"}}, 400, "invalid_request"},
		"unknown client": {url.Values{"client_id": {"nobody"}, "token": {"what"}}, 401, "invalid_client"},
		"no secret":      {url.Values{"client_id": {"post"}, "token": {"what"}}, 401, "invalid_client"},
		"with a secret":  {url.Values{"client_id": {"post"}, "client_secret": {password}, "token": {"what"}}, 200, ""},
	} {
		if b := w.post("/oauth/revoke", test.form); b.Code != test.status || b.Error != test.code {
			t.Errorf("%s: %s", name, b)
		}
	}
	if b := w.post("/oauth/revoke?token=x", url.Values{"client_id": {"desk"}, "token": {"x"}}); b.Error != "invalid_request" {
		t.Errorf("in the query: %s", b)
	}
}

// Each method of client authentication works for codes, and no other does for the
// same client.
func TestClientAuthentication(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	const uri = "https://web.example/cb"
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("post:"+url.QueryEscape(password)))
	code := w.allow(query("post", uri), ana).Get("code")
	if a := w.post("/api/auth/token", exchange("post", uri, code), "Authorization", basic); a.Error != "invalid_client" {
		t.Errorf("basic: %s", a)
	}
	if a := w.post("/api/auth/token", exchange("post", uri, code, "client_secret", password)); a.Code != 200 {
		t.Errorf("post: %s", a)
	}
	code = w.allow(query("desk", deskURI), ana).Get("code")
	if a := w.post("/api/auth/token", exchange("desk", deskURI, code, "client_secret", "any")); a.Error != "invalid_client" {
		t.Errorf("a public client with a secret: %s", a)
	}
	// The redirect URI may be left out where it was left out before.
	code = w.allow(query("desk", ""), ana).Get("code")
	if a := w.post("/api/auth/token", exchange("desk", "https://other.example/", code)); a.Error != "invalid_grant" {
		t.Error(a)
	}
	if a := w.post("/api/auth/token", exchange("desk", "", code)); a.Code != 200 {
		t.Error(a)
	}
}

// The error names all grants.
func TestUnknownGrantType(t *testing.T) {
	w := newWorld(t)
	a := w.post("/api/auth/token", url.Values{"grant_type": {"password"}})
	if a.Error != "unsupported_grant_type" || !strings.Contains(a.Description, "authorization_code or refresh_token") {
		t.Error(a)
	}
}

// A signing key that is replaced at once ends what long responses its tokens have open,
// on every replica.
func TestSigningKeyReplacedAtOnce(t *testing.T) {
	w := newWorld(t)
	other := replica(t, w.dir, config())
	p, err := w.use(w.connect(w.person("ana")).Access, access.Requirement{MCP: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ring.Rotate(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := w.ring.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	alive, changed := w.guard.StillValid(p)
	if !alive {
		t.Error("a rotation that keeps old tokens ended one")
	}
	if _, err := other.ring.Rotate(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := w.ring.Refresh(t.Context()); err != nil { // as Follow does every second
		t.Fatal(err)
	}
	select {
	case <-changed:
	default:
		t.Error("the change is not announced")
	}
	if alive, _ := w.guard.StillValid(p); alive {
		t.Error("the token is still taken for valid")
	}
}
