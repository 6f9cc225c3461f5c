package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/auth/oauth"
)

// As long as client and redirect URI are not known to be right, the browser is sent
// nowhere.
func TestNeverRedirected(t *testing.T) {
	w := newWorld(t)
	twice := func(name, value string) url.Values {
		q := query("desk", deskURI)
		q.Add(name, value)
		return q
	}
	for name, q := range map[string]url.Values{
		"no client":              query("", deskURI),
		"unknown client":         query("nobody", deskURI),
		"client twice":           twice("client_id", "other"),
		"other redirect":         query("desk", "https://evil.example/callback"),
		"that of another client": query("desk", "https://other.example/callback"),
		"substring":              query("desk", deskURI+".evil.example"),
		"longer":                 query("desk", deskURI+"/x"),
		"userinfo":               query("desk", "https://desk.example@evil.example/callback"),
		"encoded":                query("desk", "https://desk.example/%63allback"),
		"other scheme":           query("desk", "http://desk.example/callback"),
		"javascript":             query("desk", "javascript:alert(1)//"+deskURI),
		"traversal":              query("desk", deskURI+"/../../evil"),
		"case":                   query("desk", "https://desk.example/CALLBACK"),
		"port":                   query("desk", "https://desk.example:8443/callback"),
		"fragment":               query("desk", deskURI+"#"),
		"redirect twice":         twice("redirect_uri", deskURI),
		"no redirect of two":     query("other", ""),
		"no redirect, loopback":  query("cli", ""),
		"forged registration":    query("dcr_"+strings.Repeat("A", 200), deskURI),
		"long registration":      query("dcr_"+strings.Repeat("A", 4000), deskURI),
	} {
		why := w.refused(q)
		if why.Redirect != "" || why.Return != "" || why.Again != "" || why.Text == "" {
			t.Errorf("%s: %+v", name, why)
		}
	}
}

// The other errors are answered to the application.
func TestRequestErrors(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct{ name, value, code string }{
		{"response_type", "token", "unsupported_response_type"},
		{"response_type", "", "unsupported_response_type"},
		{"response_type", "code id_token", "unsupported_response_type"},
		{"response_mode", "fragment", "invalid_request"},
		{"code_challenge", "", "invalid_request"},
		{"code_challenge", challenge[1:], "invalid_request"},
		{"code_challenge", challenge + "A", "invalid_request"},
		{"code_challenge", challenge[1:] + "=", "invalid_request"},
		{"code_challenge_method", "", "invalid_request"},
		{"code_challenge_method", "plain", "invalid_request"},
		{"code_challenge_method", "s256", "invalid_request"},
		{"resource", "https://elsewhere.example", "invalid_target"},
		{"resource", mcp + "/", "invalid_target"},
		{"resource", mcp + "#", "invalid_target"},
		{"scope", "write:everything", "invalid_scope"},
		{"scope", "read:reports\nread:issuers", "invalid_scope"},
		{"scope", " ", "invalid_scope"},
		{"state", strings.Repeat("s", 1001), "invalid_request"},
	} {
		why := w.refused(query("desk", deskURI, test.name, test.value))
		got := parameters(t, why.Redirect)
		if !strings.HasPrefix(why.Redirect, deskURI+"?") || got.Get("error") != test.code || got.Get("error_description") == "" || got.Get("iss") != base || got.Has("code") {
			t.Errorf("%s=%.50q: %+v", test.name, test.value, why)
		}
		if want := "st&te"; test.name != "state" && got.Get("state") != want || test.name == "state" && got.Has("state") {
			t.Errorf("%s: state %q", test.name, got.Get("state"))
		}
	}
	for _, name := range []string{"state", "scope", "code_challenge", "response_type", "anything"} {
		q := query("desk", deskURI, "scope", "read:reports", "anything", "1")
		q.Add(name, "other")
		if got := parameters(t, w.refused(q).Redirect); got.Get("error") != "invalid_request" {
			t.Errorf("%s twice: %v", name, got)
		}
	}
}

func TestRequest(t *testing.T) {
	w := newWorld(t)
	for name, test := range map[string]struct {
		query    url.Values
		redirect string
		resource string
		scope    access.Scope
	}{
		"all":                   {query("desk", deskURI), deskURI, mcp, access.AllScopes},
		"no redirect":           {query("desk", ""), deskURI, mcp, access.AllScopes},
		"no resource":           {query("desk", deskURI, "resource", ""), deskURI, base, access.AllScopes},
		"the service":           {query("desk", deskURI, "resource", base+"/"), deskURI, base, access.AllScopes},
		"MCP that requires it":  {query("desk", deskURI, "resource", mcpFirst), deskURI, mcpFirst, access.AllScopes},
		"resource twice":        {url.Values(add(query("desk", deskURI), "resource", mcp)), deskURI, mcp, access.AllScopes},
		"some scopes":           {query("desk", deskURI, "scope", "read:issuers offline_access"), deskURI, mcp, access.ReadIssuers},
		"a client with few":     {query("narrow", "https://narrow.example/cb"), "https://narrow.example/cb", mcp, access.ReadReports},
		"any port":              {query("cli", "http://127.0.0.1:51004/callback"), "http://127.0.0.1:51004/callback", mcp, access.AllScopes},
		"an application":        {query("cli", "com.example.cli:/done"), "com.example.cli:/done", mcp, access.AllScopes},
		"explicit mode":         {query("desk", deskURI, "response_mode", "query"), deskURI, mcp, access.AllScopes},
		"unknown parameters":    {query("desk", deskURI, "prompt", "consent"), deskURI, mcp, access.AllScopes},
		"the longest state":     {query("desk", deskURI, "state", strings.Repeat("s", 1000)), deskURI, mcp, access.AllScopes},
		"a redirect with query": {query("web", "https://web.example/cb?keep=1"), "https://web.example/cb?keep=1", mcp, access.AllScopes},
	} {
		q := w.ask(test.query)
		if q.RedirectURI != test.redirect || q.Resource != test.resource || q.Scope != test.scope || q.State != test.query.Get("state") {
			t.Errorf("%s: %+v", name, q)
		}
	}
	two := add(query("desk", deskURI), "resource", base)
	if got := parameters(t, w.refused(two).Redirect); got.Get("error") != "invalid_target" {
		t.Errorf("two resources: %v", got)
	}
}

func add(q url.Values, name, value string) url.Values { q.Add(name, value); return q }

// A link to the service must not lead anywhere without a click: anyone can register a
// client, with any redirect URI.
func TestNoOpenRedirect(t *testing.T) {
	w := newWorld(t)
	id := w.register(`{"redirect_uris":["https://evil.example/phish","http://127.0.0.1/cb"]}`).ClientID
	why := w.refused(query(id, "https://evil.example/phish", "scope", "none"))
	if why.Redirect != "" || !strings.HasPrefix(why.Return, "https://evil.example/phish?error=invalid_scope") {
		t.Errorf("%+v", why)
	}
	if why := w.refused(query(id, "http://127.0.0.1:5000/cb", "scope", "none")); !strings.HasPrefix(why.Redirect, "http://127.0.0.1:5000/cb?error=") {
		t.Errorf("a program on the own machine does not learn of it: %+v", why)
	}
}

// What a redirect URI had before stays.
func TestResponseKeepsQuery(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	q := w.ask(query("web", "https://web.example/cb?keep=1"))
	for _, allow := range []bool{true, false} {
		address, err := w.server.Decide(t.Context(), w.server.FinalForm(q, ana), ana, allow)
		if err != nil || !strings.HasPrefix(address, "https://web.example/cb?keep=1&") {
			t.Errorf("%s, %v", address, err)
		}
		if got := parameters(t, address); got.Get("iss") != base || got.Get("state") != "st&te" || got.Has("code") != allow || got.Has("error") == allow {
			t.Errorf("%v", got)
		}
	}
}

func TestConsentPage(t *testing.T) {
	w := newWorld(t)
	id := w.register(`{"client_name":"Claude","redirect_uris":["https://first.example/cb","http://localhost:1/cb","cursor://x/cb"]}`).ClientID
	for uri, host := range map[string]string{"https://first.example/cb": "first.example", "http://localhost:77/cb": "localhost:77", "cursor://x/cb": "cursor://x/cb"} {
		q := w.ask(query(id, uri))
		// Nobody vouches for such a client: the host is where it leads, whatever its name.
		if q.Client.Kind != oauth.Registered || q.Client.Host != host || q.RedirectHost() != host || q.Loopback() != strings.HasPrefix(uri, "http://") {
			t.Errorf("%s: %+v, %s, %v", uri, q.Client, q.RedirectHost(), q.Loopback())
		}
	}
}

// No host is shown with letters that look like others: neither in a request of a client
// that describes itself, nor of one that registered before this was refused.
func TestLookalikeHost(t *testing.T) {
	w := newWorld(t)
	const lookalike = "https://%D1%81laude.ai/cb"
	if a := w.send("/oauth/register", "application/json", `{"client_name":"Claude","redirect_uris":["`+lookalike+`"]}`); a.Error != "invalid_redirect_uri" {
		t.Errorf("registration: %s", a)
	}
	before := w.server.OldRegistration("Claude", lookalike)
	if why := w.refused(query(before, lookalike)); why.Redirect != "" || why.Return != "" || !strings.Contains(why.Text, "register again") {
		t.Errorf("earlier registration: %+v", why)
	}
	for _, id := range []string{"https://%D1%81laude.ai/client.json", "https://claud%65.ai/client.json"} {
		if why := w.refused(query(id, "https://claude.ai/cb")); !strings.Contains(why.Text, "percent-encoded") {
			t.Errorf("%s: %+v", id, why)
		}
	}
	if why := w.refused(query("desk", lookalike)); !strings.Contains(why.Text, "not registered") {
		t.Errorf("request: %+v", why)
	}
	c := config()
	c.Clients[0].RedirectURIs = []string{lookalike}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "signin.clients[0].redirect_uris[0]") || !strings.Contains(err.Error(), "xn--") {
		t.Errorf("configuration: %v", err)
	}
}
