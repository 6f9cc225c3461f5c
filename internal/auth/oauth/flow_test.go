package oauth_test

import (
	"testing"

	"pregon/internal/auth/access"
)

func TestFlow(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana")
	q := w.ask(query("desk", deskURI, "scope", "read:reports read:issuers openid"))
	if q.Client.Name != "The desk" || q.Client.Host != "desk.example" || q.Resource != mcp || q.Scope != access.ReadReports|access.ReadIssuers {
		t.Errorf("the request is %+v", q)
	}
	got := w.allow(query("desk", deskURI, "scope", "read:reports read:issuers openid"), ana)
	if got.Get("state") != "st&te" || got.Get("iss") != base || got.Has("error") {
		t.Errorf("the response is %v", got)
	}
	a := w.post("/api/auth/token", exchange("desk", deskURI, got.Get("code")))
	if a.Code != 200 || a.Scope != "read:reports read:issuers" {
		t.Fatal(a)
	}
	p, err := w.use(a.Access, access.Requirement{MCP: true, Scope: access.ReadReports})
	if err != nil || p.ID != ana.ID || p.Scope != access.ReadReports|access.ReadIssuers || p.Credential == "" {
		t.Errorf("%+v, %v", p, err)
	}
	claims, err := w.tokens.Verify(t.Context(), a.Access)
	if err != nil || claims.ClientID != "desk" || claims.Audience != mcp || claims.Subject != ana.ID || claims.Grant != p.Credential {
		t.Errorf("%+v, %v", claims, err)
	}
	b := w.post("/api/auth/token", refresh("desk", a.Refresh))
	if b.Code != 200 || b.Refresh == a.Refresh || !w.works(b.Access) || !w.works(a.Access) {
		t.Fatal(b)
	}
	for _, name := range []string{"app.authorized"} {
		if w.count(name) != 1 {
			t.Errorf("%s: %d", name, w.count(name))
		}
	}
}
