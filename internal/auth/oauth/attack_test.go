package oauth_test

import (
	"encoding/base64"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/oauth"
	"pregon/internal/fault"
)

// An intercepted code is of no use, and is not used up by who intercepts it.
func TestInterceptedCode(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	const web = "https://web.example/cb?keep=1"
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("web:"+url.QueryEscape(password)))
	code := w.allow(query("web", web), ana).Get("code")
	for name, test := range map[string]struct {
		form   url.Values
		header []string
		code   string
	}{
		"wrong verifier":      {exchange("web", web, code, "code_verifier", strings.Repeat("x", 43)), []string{"Authorization", basic}, "invalid_grant"},
		"the challenge":       {exchange("web", web, code, "code_verifier", challenge), []string{"Authorization", basic}, "invalid_grant"},
		"no verifier":         {exchange("web", web, code, "code_verifier", ""), []string{"Authorization", basic}, "invalid_request"},
		"short verifier":      {exchange("web", web, code, "code_verifier", "short"), []string{"Authorization", basic}, "invalid_request"},
		"long verifier":       {exchange("web", web, code, "code_verifier", strings.Repeat("x", 129)), []string{"Authorization", basic}, "invalid_request"},
		"other client":        {exchange("desk", web, code), nil, "invalid_grant"},
		"no client":           {exchange("", web, code), nil, "invalid_grant"},
		"no secret":           {exchange("web", web, code), nil, "invalid_client"},
		"wrong secret":        {exchange("web", web, code), []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("web:guess"))}, "invalid_client"},
		"secret in the body":  {exchange("web", web, code, "client_secret", password), nil, "invalid_client"},
		"other redirect":      {exchange("web", "https://web.example/cb", code), []string{"Authorization", basic}, "invalid_grant"},
		"no redirect":         {exchange("web", "", code), []string{"Authorization", basic}, "invalid_grant"},
		"other resource":      {exchange("web", web, code, "resource", base), []string{"Authorization", basic}, "invalid_target"},
		"foreign resource":    {exchange("web", web, code, "resource", "https://x.example"), []string{"Authorization", basic}, "invalid_target"},
		"changed code":        {exchange("web", web, changed(code)), []string{"Authorization", basic}, "invalid_grant"},
		"no code":             {exchange("web", web, ""), []string{"Authorization", basic}, "invalid_request"},
		"a form, not a code":  {exchange("web", web, w.server.FinalForm(w.ask(query("web", web)), ana)), []string{"Authorization", basic}, "invalid_grant"},
		"a plain, sealed one": {exchange("web", web, "plain:e30="), []string{"Authorization", basic}, "invalid_grant"},
	} {
		if a := w.post("/api/auth/token", test.form, test.header...); a.Error != test.code || a.Access != "" {
			t.Errorf("%s: %s, want %s", name, a, test.code)
		}
	}
	if a := w.post("/api/auth/token?code="+code, exchange("web", web, code), "Authorization", basic); a.Error != "invalid_request" {
		t.Errorf("in the query: %s", a)
	}
	if a := w.post("/api/auth/token", exchange("web", web, code), "Authorization", basic); a.Code != 200 {
		t.Errorf("the client itself: %s", a)
	}
}

// changed returns a sealed value with another character in its middle.
func changed(sealed string) string {
	at := len(sealed) / 2
	other := "A"
	if sealed[at] == 'A' {
		other = "B"
	}
	return sealed[:at] + other + sealed[at+1:]
}

func TestCodeExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.db.Close()
		ana := w.person("ana")
		code := w.allow(query("desk", deskURI), ana).Get("code")
		time.Sleep(time.Minute)
		if a := w.post("/api/auth/token", exchange("desk", deskURI, code)); a.Error != "invalid_grant" {
			t.Error(a)
		}
	})
}

// A code that was used twice was stolen: what came from it ends.
func TestReplayedCode(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	other := replica(t, w.dir, config()) // which knows her, but not what she grants from now on
	code := w.allow(query("desk", deskURI), ana).Get("code")
	a := w.post("/api/auth/token", exchange("desk", deskURI, code))
	if a.Code != 200 || !w.works(a.Access) {
		t.Fatal(a)
	}
	if b := other.post("/api/auth/token", exchange("desk", deskURI, code)); b.Error != "invalid_grant" || other.count("app.revoked") != 1 {
		t.Errorf("at another replica: %s", b)
	}
	if err := w.accounts.Refresh(t.Context()); err != nil || w.works(a.Access) {
		t.Errorf("the access token is still good, %v", err)
	}
	if b := w.post("/api/auth/token", refresh("desk", a.Refresh)); b.Error != "invalid_grant" {
		t.Errorf("the refresh token is still good: %s", b)
	}
}

// Of simultaneous uses of one code at two replicas, at most one gets tokens, and these
// are not good.
func TestReplayedAtOnce(t *testing.T) {
	w := newWorld(t)
	replicas := []*world{w, replica(t, w.dir, config())}
	ana := w.person("ana")
	for range 5 {
		code := w.allow(query("desk", deskURI), ana).Get("code")
		answers := make([]answer, 4)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = replicas[i%2].post("/api/auth/token", exchange("desk", deskURI, code)) })
		}
		all.Wait()
		good := 0
		if err := w.accounts.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			if a.Code == 200 {
				good++
				if w.works(a.Access) || w.post("/api/auth/token", refresh("desk", a.Refresh)).Code == 200 {
					t.Error("what came from a code that was used twice is good")
				}
			} else if a.Error != "invalid_grant" {
				t.Error(a)
			}
		}
		if one, _ := w.accounts.Account(ana.ID); good > 1 || len(one.Grants) != 0 {
			t.Errorf("%d got tokens, and %d grants are left", good, len(one.Grants))
		}
	}
}

// A second use that comes while the grant of the first is being stored ends it too.
func TestReplayedMeanwhile(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	other := replica(t, w.dir, config())
	code := w.allow(query("desk", deskURI), ana).Get("code")
	w.claimed = func(string) {
		w.claimed = nil
		if b := other.post("/api/auth/token", exchange("desk", deskURI, code)); b.Error != "invalid_grant" {
			t.Errorf("the second use: %s", b)
		}
	}
	if a := w.post("/api/auth/token", exchange("desk", deskURI, code)); a.Error != "invalid_grant" {
		t.Errorf("the first use: %s", a)
	}
	if one, _ := w.accounts.Account(ana.ID); len(one.Grants) != 0 {
		t.Errorf("left are %+v", one.Grants)
	}
}

// A form is good for the session to which it was shown, and once.
func TestForeignForm(t *testing.T) {
	w := newWorld(t)
	ana, eve := w.person("ana"), w.person("eve")
	elsewhere := w.person("ana") // another browser of hers
	form := w.server.FinalForm(w.ask(query("desk", deskURI)), ana)
	code := w.allow(query("desk", deskURI), ana).Get("code")
	for name, test := range map[string]struct {
		form string
		by   access.Principal
	}{
		"another person":  {form, eve},
		"another session": {form, elsewhere},
		"another account": {form, access.Principal{ID: eve.ID, Credential: ana.Credential}},
		"nobody":          {form, access.Principal{}},
		"no form":         {"", ana},
		"a code":          {code, ana},
		"a changed form":  {changed(form), ana},
	} {
		for _, allow := range []bool{true, false} {
			address, err := w.server.Decide(t.Context(), test.form, test.by, allow)
			var why *oauth.Refusal
			if !errors.As(err, &why) || address != "" || why.Redirect != "" || why.Again != "" {
				t.Errorf("%s: %q, %v", name, address, err)
			}
		}
	}
	if _, err := w.server.Decide(t.Context(), form, ana, true); err != nil {
		t.Fatal(err)
	}
	other := replica(t, w.dir, config())
	for _, again := range []*world{w, other} {
		if address, err := again.server.Decide(t.Context(), form, ana, true); err == nil {
			t.Errorf("a second time it leads to %s", address)
		}
	}
}

// No single click grants access: the first form does not, and the form of the second
// page does not for a second after the page was made.
func TestDoubleClick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.db.Close()
		w.server.SetMinAge(oauth.MinAge)
		ana := w.person("ana")
		first, final := w.server.Forms(w.ask(query("desk", deskURI)), ana)
		time.Sleep(time.Minute)
		var why *oauth.Refusal
		if address, err := w.server.Decide(t.Context(), first, ana, true); !errors.As(err, &why) || why.Again == "" || why.Redirect != "" {
			t.Errorf("the first form leads to %q, %v", address, err)
		}
		for range 3 { // a series of clicks never arrives
			q, confirm, err := w.server.Review(t.Context(), first, ana)
			if err != nil || q.Client.Name != "The desk" || q.State != "st&te" || q.Resource != mcp {
				t.Fatalf("%+v, %v", q, err)
			}
			if address, err := w.server.Decide(t.Context(), confirm, ana, true); !errors.Is(err, oauth.ErrTooSoon) {
				t.Errorf("at once it leads to %q, %v", address, err)
			}
			time.Sleep(999 * time.Millisecond)
			if address, err := w.server.Decide(t.Context(), confirm, ana, true); !errors.Is(err, oauth.ErrTooSoon) {
				t.Errorf("after 999 ms it leads to %q, %v", address, err)
			}
			first = confirm
		}
		if _, _, err := w.server.Review(t.Context(), first, w.person("eve")); !errors.As(err, &why) {
			t.Errorf("another person reviews it: %v", err)
		}
		time.Sleep(time.Millisecond)
		address, err := w.server.Decide(t.Context(), first, ana, true)
		if err != nil || parameters(t, address).Get("code") == "" {
			t.Errorf("%q, %v", address, err)
		}
		// All forms of a request are one decision.
		if address, err := w.server.Decide(t.Context(), final, ana, true); !errors.As(err, &why) {
			t.Errorf("the form of the first page then leads to %q, %v", address, err)
		}
	})
}

// To refuse needs no second step.
func TestRefusedAtOnce(t *testing.T) {
	w := newWorld(t)
	w.server.SetMinAge(oauth.MinAge)
	ana := w.person("ana")
	first, final := w.server.Forms(w.ask(query("desk", deskURI)), ana)
	address, err := w.server.Decide(t.Context(), first, ana, false)
	if err != nil || parameters(t, address).Get("error") != "access_denied" {
		t.Errorf("%q, %v", address, err)
	}
	if address, err := w.server.Decide(t.Context(), final, ana, false); err == nil {
		t.Errorf("a second time it leads to %q", address)
	}
}

func TestFormExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.db.Close()
		ana := w.person("ana")
		asked := query("desk", deskURI, "scope", "read:issuers")
		form := w.server.FinalForm(w.ask(asked), ana)
		time.Sleep(10 * time.Minute)
		_, err := w.server.Decide(t.Context(), form, ana, true)
		var why *oauth.Refusal
		if !errors.As(err, &why) || why.Redirect != "" {
			t.Fatal(err)
		}
		path, again, _ := strings.Cut(why.Again, "?")
		q, err := url.ParseQuery(again)
		if err != nil || path != "/oauth/authorize" {
			t.Fatalf("%s, %v", why.Again, err)
		}
		if first, second := w.ask(asked), w.ask(q); first.Scope != second.Scope || first.State != second.State || first.Challenge != second.Challenge || first.RedirectURI != second.RedirectURI || first.Resource != second.Resource {
			t.Errorf("%+v becomes %+v", first, second)
		}
	})
}

// What a person agreed to for one client gives nothing to another.
func TestConsentOfAnotherClient(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	// Both clients have the same redirect URI.
	code := w.allow(query("desk", deskURI), ana).Get("code")
	if a := w.post("/api/auth/token", exchange("other", deskURI, code)); a.Error != "invalid_grant" {
		t.Error(a)
	}
	a := w.connect(ana)
	if b := w.post("/api/auth/token", refresh("other", a.Refresh)); b.Error != "invalid_grant" {
		t.Error(b)
	}
	if b := w.post("/oauth/revoke", url.Values{"client_id": {"other"}, "token": {a.Refresh}}); b.Code != 200 || !w.works(a.Access) {
		t.Errorf("another client ended it: %s", b)
	}
	if b := w.post("/api/auth/token", refresh("desk", a.Refresh)); b.Code != 200 {
		t.Errorf("the attempts of another client used it up: %s", b)
	}
}

// A token is good only where it is for.
func TestTokenOfOneResource(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	for resource, good := range map[string]struct{ rest, mcp bool }{base: {true, true}, mcp: {false, true}, mcpFirst: {false, true}} {
		code := w.allow(query("desk", deskURI, "resource", resource), ana).Get("code")
		a := w.post("/api/auth/token", exchange("desk", deskURI, code, "resource", resource))
		_, rest := w.use(a.Access, access.Requirement{Scope: access.ReadReports})
		_, tools := w.use(a.Access, access.Requirement{Scope: access.ReadReports, MCP: true})
		_, owner := w.use(a.Access, access.Requirement{Account: true})
		if (rest == nil) != good.rest || (tools == nil) != good.mcp || owner == nil {
			t.Errorf("%s: REST %v, MCP %v, account %v", resource, rest, tools, owner)
		}
		for _, other := range []string{base, mcp, mcpFirst} {
			b := w.post("/api/auth/token", refresh("desk", a.Refresh, "resource", other))
			if other == resource {
				a = b
			}
			if (b.Code == 200) != (other == resource) || b.Code != 200 && b.Error != "invalid_target" {
				t.Errorf("%s refreshed for %s: %s", resource, other, b)
			}
		}
	}
}

// A person cannot give more than they have.
func TestScopeOfThePerson(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	ana.Scope = access.ReadIssuers
	code := w.allow(query("desk", deskURI), ana).Get("code")
	if a := w.post("/api/auth/token", exchange("desk", deskURI, code)); a.Scope != "read:issuers" {
		t.Error(a)
	}
	got := w.allow(query("desk", deskURI, "scope", "read:reports"), ana)
	if got.Get("error") != "access_denied" || got.Has("code") {
		t.Errorf("%v", got)
	}
}

// A blocked person's codes and tokens are not good.
func TestBlockedPerson(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	a := w.connect(ana)
	code := w.allow(query("desk", deskURI), ana).Get("code")
	if err := w.accounts.Block(t.Context(), ana.ID, true); err != nil {
		t.Fatal(err)
	}
	if b := w.post("/api/auth/token", exchange("desk", deskURI, code)); b.Error != "invalid_grant" {
		t.Error(b)
	}
	if b := w.post("/api/auth/token", refresh("desk", a.Refresh)); b.Error != "invalid_grant" || w.works(a.Access) {
		t.Error(b)
	}
}

// What is granted in a session that was opened with a key ends with the key.
func TestGrantOfAKey(t *testing.T) {
	w := newWorld(t)
	key, _, err := w.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.ReadReports})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.keys.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, _, err := w.accounts.SignIn(t.Context(), account.Account{ID: key.ID, Scopes: key.Scopes}, account.Session{Key: key.ID})
	if err != nil {
		t.Fatal(err)
	}
	holder := access.Principal{ID: key.ID, Mode: access.BySession, Scope: key.Scopes, Credential: s.ID, Key: key.ID}
	person := w.person("ana")
	person.Key = key.ID // she signed in with it
	connected := []answer{w.connect(holder), w.connect(person)}
	for _, a := range connected {
		if a.Scope != "read:reports" || !w.works(a.Access) {
			t.Error(a)
		}
	}
	if _, err := w.keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.keys.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, a := range connected {
		if b := w.post("/api/auth/token", refresh("desk", a.Refresh)); b.Error != "invalid_grant" || w.works(a.Access) {
			t.Error(b)
		}
	}
}

// Nothing is stored before a code is exchanged, and then digests only. Nothing secret
// is logged.
func TestNothingLeaks(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	got := w.allow(query("desk", deskURI), ana)
	if one, _ := w.accounts.Account(ana.ID); len(one.Grants) != 0 {
		t.Errorf("a code is stored: %+v", one.Grants)
	}
	a := w.post("/api/auth/token", exchange("desk", deskURI, got.Get("code")))
	b := w.post("/api/auth/token", refresh("desk", a.Refresh))
	w.post("/api/auth/token", refresh("desk", a.Refresh))
	records, err := w.db.RecordsSince(t.Context(), "account", 0)
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for _, r := range records {
		seen.WriteString(r.Body)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	seen.WriteString(w.log.String())
	for _, e := range w.events {
		seen.WriteString(e.name)
		for _, v := range e.attrs {
			seen.WriteString(v)
		}
	}
	for name, secret := range map[string]string{
		"code": got.Get("code"), "access token": a.Access, "refresh token": a.Refresh[len(a.Refresh)-22:], "next": b.Refresh[len(b.Refresh)-22:], "verifier": verifier,
	} {
		if secret == "" || strings.Contains(seen.String(), secret) {
			t.Errorf("the %s is there", name)
		}
	}
}

// An application may be used only where the key may with which the person signed in.
func TestNetworksOfTheKey(t *testing.T) {
	w := newWorld(t)
	key, _, err := w.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes, Networks: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}})
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := w.accounts.SignIn(t.Context(), account.Account{ID: key.ID}, account.Session{Key: key.ID})
	if err != nil {
		t.Fatal(err)
	}
	a := w.connect(access.Principal{ID: key.ID, Mode: access.BySession, Scope: access.AllScopes, Credential: s.ID, Key: key.ID})
	if !w.works(a.Access) {
		t.Error("the token is refused in the network of the key")
	}
	w.from = "203.0.113.9:4711"
	if _, err := w.use(a.Access, access.Requirement{MCP: true}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("in another network: %v", err)
	}
}

// An application cannot make what would go on after its access has ended.
func TestNothingLasting(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.person("ana"))
	need := access.Requirement{Scope: access.ReadReports, MCP: true}
	if _, err := w.use(a.Access, need); err != nil {
		t.Error(err)
	}
	need.Lasting = true
	if _, err := w.use(a.Access, need); fault.KindOf(err) != fault.Forbidden {
		t.Error(err)
	}
}
