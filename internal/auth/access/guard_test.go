package access_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/usage"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
)

const baseURL = "https://pregon.example"

// ask calls Admit for a request with headers, given as names and values.
func ask(g *access.Guard, need access.Requirement, query string, headers ...string) (access.Principal, http.Header, error) {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/reports"+query, nil)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "remote" {
			r.RemoteAddr = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p, err := g.Admit(w, r, need)
	return p, w.Header(), err
}

func limit(n int, name string) *access.Limit {
	p := ratelimit.Policy{Name: name, Limit: n, Window: time.Minute}
	return &access.Limit{Policy: p, Limiter: ratelimit.NewWindow(p)}
}

// tokens are the texts of valid tokens.
func tokens(known map[string]access.Token) func(context.Context, string) (access.Token, error) {
	return func(_ context.Context, raw string) (access.Token, error) {
		if b, ok := known[raw]; ok {
			return b, nil
		}
		return access.Token{}, errors.New("the token's signature is wrong")
	}
}

func TestAdmit(t *testing.T) {
	keys, _, log := replicas(t)
	all, allRaw := create(t, keys, access.Key{})
	issuers, issuersRaw := create(t, keys, access.Key{Scopes: access.ReadIssuers})
	_, homeRaw := create(t, keys, access.Key{Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	_, awayRaw := create(t, keys, access.Key{Networks: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("2001:db8::/32")}})
	_, strange := create(t, access.NewKeyring(openStore(t, t.TempDir()+"/other.db"), nil), access.Key{})
	g := access.NewGuard(access.Options{
		BaseURL: baseURL, Keys: keys, Audit: log.record,
		Tokens: tokens(map[string]access.Token{
			"rest":   {Subject: "https://idp#ana", Audience: baseURL, Scope: access.ReadReports},
			"narrow": {Subject: "https://idp#ana", Audience: baseURL, Scope: access.ReadAnalytics},
			"mcp":    {Subject: "https://idp#ana", Audience: baseURL + "/api/mcp", Scope: access.ReadReports},
			"other":  {Subject: "https://idp#ana", Audience: "https://elsewhere.example", Scope: access.ReadReports},
		}),
	})
	public, guarded := access.Requirement{Scope: access.ReadReports, Public: true}, access.Requirement{Scope: access.ReadReports}
	mcp := access.Requirement{Scope: access.ReadReports, Public: true, MCP: true}
	const ok = fault.Kind(255)
	for _, test := range []struct {
		name    string
		need    access.Requirement
		query   string
		headers []string
		kind    fault.Kind
		code    string // of the challenge
		who     string
	}{
		{"nothing", public, "", nil, ok, "", ""},
		{"nothing where it is needed", guarded, "", nil, fault.Unauthorized, "", ""},
		{"key as bearer", public, "", []string{"Authorization", "Bearer " + allRaw}, ok, "", all.ID},
		{"key as X-API-Key", guarded, "", []string{"X-API-Key", allRaw}, ok, "", all.ID},
		{"case of names", guarded, "", []string{"x-api-KEY", allRaw}, ok, "", all.ID},
		{"case of the scheme", guarded, "", []string{"AUTHORIZATION", "bEaReR  " + allRaw + " "}, ok, "", all.ID},
		{"the same twice", guarded, "", []string{"Authorization", "Bearer " + allRaw, "X-API-Key", allRaw}, ok, "", all.ID},
		{"two different", public, "", []string{"Authorization", "Bearer " + allRaw, "X-API-Key", issuersRaw}, fault.Invalid, "", ""},
		{"token and key", public, "", []string{"Authorization", "Bearer rest", "X-API-Key", allRaw}, fault.Invalid, "", ""},
		{"a good and a bad one", public, "", []string{"Authorization", "Basic x", "X-API-Key", allRaw}, fault.Invalid, "", ""},
		{"two of one header", public, "", []string{"X-API-Key", allRaw, "X-API-Key", allRaw}, fault.Invalid, "", ""},
		{"two bearers", public, "", []string{"Authorization", "Bearer " + allRaw, "Authorization", "Bearer rest"}, fault.Invalid, "", ""},
		{"in the query", public, "?api_key=" + allRaw, nil, fault.Invalid, "", ""},
		{"in the query too", public, "?x=1&Access%5FToken=x", []string{"X-API-Key", allRaw}, fault.Invalid, "", ""},
		{"token in the query", public, "?token=", nil, fault.Invalid, "", ""},
		{"scope is lacking", public, "", []string{"X-API-Key", issuersRaw}, fault.Forbidden, "insufficient_scope", ""},
		{"other scope", access.Requirement{Scope: access.ReadIssuers}, "", []string{"X-API-Key", issuersRaw}, ok, "", issuers.ID},
		{"no scope needed", access.Requirement{Public: true}, "", []string{"X-API-Key", issuersRaw}, ok, "", issuers.ID},
		{"broken checksum", public, "", []string{"X-API-Key", allRaw[:len(allRaw)-1] + "?"}, fault.Unauthorized, "invalid_token", ""},
		{"made up", public, "", []string{"X-API-Key", strange}, fault.Unauthorized, "invalid_token", ""},
		{"empty key", public, "", []string{"X-API-Key", ""}, fault.Unauthorized, "invalid_token", ""},
		{"empty bearer", public, "", []string{"Authorization", "Bearer "}, fault.Unauthorized, "invalid_token", ""},
		{"empty header", public, "", []string{"Authorization", ""}, fault.Unauthorized, "invalid_token", ""},
		{"another scheme", public, "", []string{"Authorization", "Basic " + allRaw}, fault.Unauthorized, "invalid_token", ""},
		{"no scheme", public, "", []string{"Authorization", allRaw}, fault.Unauthorized, "invalid_token", ""},
		{"huge", public, "", []string{"Authorization", "Bearer " + strings.Repeat("x", 1<<20)}, fault.Unauthorized, "invalid_token", ""},
		{"from its network", guarded, "", []string{"X-API-Key", homeRaw}, ok, "", "key_"},
		{"from another network", guarded, "", []string{"X-API-Key", awayRaw}, fault.Unauthorized, "invalid_token", ""},
		{"forwarded, they say", guarded, "", []string{"X-API-Key", awayRaw, "X-Forwarded-For", "198.51.100.7"}, fault.Unauthorized, "invalid_token", ""},
		{"IPv6 network", guarded, "", []string{"X-API-Key", awayRaw, "remote", "[2001:db8:7::1]:9"}, ok, "", "key_"},
		{"token", guarded, "", []string{"Authorization", "Bearer rest"}, ok, "", "https://idp#ana"},
		{"token without scope", public, "", []string{"Authorization", "Bearer narrow"}, fault.Forbidden, "insufficient_scope", ""},
		{"bad token", public, "", []string{"Authorization", "Bearer forged"}, fault.Unauthorized, "invalid_token", ""},
		{"token as X-API-Key", public, "", []string{"X-API-Key", "rest"}, fault.Unauthorized, "invalid_token", ""},
		{"token for another service", public, "", []string{"Authorization", "Bearer other"}, fault.Unauthorized, "invalid_token", ""},
		{"token for MCP at REST", public, "", []string{"Authorization", "Bearer mcp"}, fault.Unauthorized, "invalid_token", ""},
		{"token for MCP at MCP", mcp, "", []string{"Authorization", "Bearer mcp"}, ok, "", "https://idp#ana"},
		{"token for REST at MCP", mcp, "", []string{"Authorization", "Bearer rest"}, ok, "", "https://idp#ana"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, h, err := ask(g, test.need, test.query, test.headers...)
			if test.kind == ok {
				if err != nil || !strings.HasPrefix(p.ID, test.who) || (p.ID == "") != (p.Mode == access.Anonymous) {
					t.Fatalf("%+v, %v", p, err)
				}
				return
			}
			if p != (access.Principal{}) || fault.KindOf(err) != test.kind {
				t.Fatalf("%+v, %v", p, err)
			}
			challenge := h.Get("WWW-Authenticate")
			if test.kind == fault.Invalid {
				if challenge != "" {
					t.Errorf("challenged: %s", challenge)
				}
				return
			}
			metadata := `resource_metadata="` + baseURL + `/.well-known/oauth-protected-resource"`
			if !strings.HasPrefix(challenge, "Bearer ") || !strings.Contains(challenge, metadata) ||
				strings.Contains(challenge, "error=") != (test.code != "") || !strings.Contains(challenge, test.code) {
				t.Errorf("challenge %s", challenge)
			}
			if e, _ := errors.AsType[*fault.Error](err); e.Code != test.code {
				t.Errorf("code %q", e.Code)
			}
		})
	}
	_, h, _ := ask(g, mcp, "", "Authorization", "Bearer forged")
	if got := h.Get("WWW-Authenticate"); !strings.Contains(got, `/.well-known/oauth-protected-resource/api/mcp"`) || !strings.Contains(got, `scope="read:reports"`) {
		t.Errorf("challenge of MCP: %s", got)
	}
	for _, raw := range []string{allRaw, issuersRaw, homeRaw, awayRaw, strange} {
		if strings.Contains(log.String(), raw) {
			t.Error("a key is in the audit")
		}
	}
}

// The limit is exact, however requests arrive.
func TestAnonymousLimit(t *testing.T) {
	g := access.NewGuard(access.Options{BaseURL: baseURL, Anonymous: limit(60, "anonymous")})
	var passed atomic.Int64
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			need := access.Requirement{Public: i%2 == 0} // one that lacks a credential counts too
			_, h, err := ask(g, need, "", "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i))
			if fault.KindOf(err) != fault.RateLimited {
				passed.Add(1)
			} else if h.Get("Retry-After") == "" || h.Get("Retry-After") == "0" {
				t.Error("no Retry-After")
			}
			if h.Get("RateLimit-Policy") != `"anonymous";q=60;w=60` || !strings.HasPrefix(h.Get("RateLimit"), `"anonymous";r=`) {
				t.Errorf("%v", h)
			}
		})
	}
	all.Wait()
	if passed.Load() != 60 {
		t.Errorf("%d of 200 were allowed", passed.Load())
	}
	if _, _, err := ask(g, access.Requirement{Public: true}, "", "remote", "192.0.2.2:1"); err != nil {
		t.Errorf("another address: %v", err)
	}
}

func TestIPv6IsCountedByNetwork(t *testing.T) {
	g := access.NewGuard(access.Options{BaseURL: baseURL, Anonymous: limit(60, "anonymous")})
	passed := 0
	for i := range 100 {
		if _, _, err := ask(g, access.Requirement{Public: true}, "", "remote", fmt.Sprintf("[2001:db8:1:2:%x::%x]:1", i, i)); err == nil {
			passed++
		}
	}
	if passed != 60 {
		t.Errorf("%d of 100 were allowed", passed)
	}
	if _, _, err := ask(g, access.Requirement{Public: true}, "", "remote", "[2001:db8:1:3::1]:1"); err != nil {
		t.Errorf("the next network: %v", err)
	}
}

// An uncounted operation is answered over the limit too, and does not count. An invalid
// credential is refused there too.
func TestUncounted(t *testing.T) {
	g := access.NewGuard(access.Options{BaseURL: baseURL, Anonymous: limit(1, "anonymous"), Tokens: tokens(nil)})
	status := access.Requirement{Public: true, Uncounted: true}
	for range 3 {
		if _, h, err := ask(g, status, ""); err != nil || h.Get("RateLimit") != "" {
			t.Fatalf("before: %v, %v", h, err)
		}
	}
	if _, _, err := ask(g, access.Requirement{Public: true}, ""); err != nil {
		t.Errorf("the first that counts: %v", err)
	}
	if _, _, err := ask(g, access.Requirement{Public: true}, ""); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("the second that counts: %v", err)
	}
	if _, _, err := ask(g, status, ""); err != nil {
		t.Errorf("over the limit: %v", err)
	}
	if _, _, err := ask(g, status, "", "Authorization", "Bearer bad"); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("with a bad credential: %v", err)
	}
}

// A token that cannot be verified now is not refused as invalid.
func TestTokenThatCannotBeChecked(t *testing.T) {
	var outcomes []string
	g := access.NewGuard(access.Options{
		BaseURL: baseURL, Refused: limit(1, "refused"), Observe: func(outcome string) { outcomes = append(outcomes, outcome) },
		Tokens: func(context.Context, string) (access.Token, error) {
			return access.Token{}, fault.New(fault.Unavailable, "The keys that sign tokens cannot be looked up now.")
		},
	})
	for range 3 {
		_, h, err := ask(g, access.Requirement{Public: true}, "", "Authorization", "Bearer some")
		if fault.KindOf(err) != fault.Unavailable || h.Get("WWW-Authenticate") != "" {
			t.Errorf("%v, %v", h, err)
		}
	}
	if want := []string{"unavailable", "unavailable", "unavailable"}; !slices.Equal(outcomes, want) {
		t.Errorf("observed %v, want %v", outcomes, want)
	}
}

// Invalid credentials have their own limit. Valid ones and anonymous requests are
// admitted meanwhile.
func TestRefusedLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &trail{}
		g := access.NewGuard(access.Options{
			BaseURL: baseURL, Anonymous: limit(60, "anonymous"), Refused: limit(30, "refused"), Audit: log.record,
			Tokens: tokens(map[string]access.Token{"good": {Subject: "x", Audience: baseURL, Scope: access.AllScopes}}),
		})
		refused := func() (n int) {
			for range 50 {
				if _, h, err := ask(g, access.Requirement{Public: true}, "", "Authorization", "Bearer bad"); fault.KindOf(err) == fault.Unauthorized {
					n++
				} else if fault.KindOf(err) != fault.RateLimited || h.Get("Retry-After") == "" || h.Get("WWW-Authenticate") != "" {
					t.Errorf("%v, %v", h, err)
				}
			}
			return n
		}
		if n := refused(); n != 30 {
			t.Errorf("%d received the reason", n)
		}
		if _, _, err := ask(g, access.Requirement{Public: true}, "", "Authorization", "Bearer good"); err != nil {
			t.Errorf("a good token meanwhile: %v", err)
		}
		if _, h, err := ask(g, access.Requirement{Public: true}, ""); err != nil || h.Get("RateLimit") != `"anonymous";r=59;t=60` {
			t.Errorf("nothing meanwhile: %v %v", h, err)
		}
		time.Sleep(time.Minute)
		if n := refused(); n != 30 {
			t.Errorf("%d received the reason a minute later", n)
		}
		if log.count("limit.hit") != 2 || log.count("credential.refused") != 60 {
			t.Error(log)
		}
	})
}

func TestPlanLimit(t *testing.T) {
	keys, _, _ := replicas(t)
	_, pro := create(t, keys, access.Key{Plan: "pro"})
	_, other := create(t, keys, access.Key{Plan: "pro"})
	_, enterprise := create(t, keys, access.Key{Plan: "enterprise"})
	g := access.NewGuard(access.Options{BaseURL: baseURL, Keys: keys, Plans: map[string]*access.Limit{"pro": limit(3, "pro")}})
	passed := func(raw string) (n int) {
		for range 10 {
			if _, _, err := ask(g, access.Requirement{}, "", "X-API-Key", raw); err == nil {
				n++
			}
		}
		return n
	}
	_, narrow := create(t, keys, access.Key{Plan: "pro", Scopes: access.ReadIssuers})
	limited := 0
	for range 10 { // what is refused for its scope counts too
		if _, _, err := ask(g, access.Requirement{Scope: access.ReadReports}, "", "X-API-Key", narrow); fault.KindOf(err) == fault.RateLimited {
			limited++
		}
	}
	if limited != 7 {
		t.Errorf("%d were over the limit", limited)
	}
	if a, b, c := passed(pro), passed(other), passed(enterprise); a != 3 || b != 3 || c != 10 {
		t.Errorf("%d, %d and %d were allowed", a, b, c)
	}
}

// A person whose key uses up the limit can still revoke it in the console.
func TestPlanLimitLeavesTheConsoleOpen(t *testing.T) {
	keys, _, _ := replicas(t)
	key, raw := create(t, keys, access.Key{Plan: "pro"})
	g := access.NewGuard(access.Options{BaseURL: baseURL, Keys: keys, Plans: map[string]*access.Limit{"pro": limit(1, "pro")}})
	if _, _, err := ask(g, access.Requirement{}, "", "X-API-Key", raw); err != nil {
		t.Fatal(err)
	}
	person := access.Principal{ID: key.ID, Mode: access.BySession, Plan: "pro"}
	r := httptest.NewRequest(http.MethodGet, "/account/keys", nil)
	if err := g.AdmitSession(httptest.NewRecorder(), r, person, access.Requirement{Account: true}); err != nil {
		t.Error(err)
	}
	w := httptest.NewRecorder()
	if err := g.AdmitSession(w, r, person, access.Requirement{}); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("what is not about the account: %v", err)
	}
	if h := w.Header(); len(h) != 1 || h.Get("Retry-After") == "" {
		t.Errorf("the headers of the page are %v, want Retry-After alone", h)
	}
}

func TestUnrouted(t *testing.T) {
	g := access.NewGuard(access.Options{BaseURL: baseURL, Anonymous: limit(2, "anonymous")})
	for _, test := range []struct {
		path string
		want bool
	}{
		{"/", true},
		{"/api/v1/nothing", true},
		{"/api/mcp", true},
		{"/api/v1/reports", false},
		{"/api/mcp/x", false},
		{"/api/v1x", true},
		{"/healthz", true},
		{"/.well-known/nothing", true},
	} {
		err := g.AdmitUnrouted(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, test.path, nil))
		if (err == nil) != test.want {
			t.Errorf("%s: %v", test.path, err)
		}
	}
}

func BenchmarkAdmit(b *testing.B) {
	keys, _, _ := replicas(b)
	_, raw := create(b, keys, access.Key{})
	counter := usage.New(openStore(b, filepath.Join(b.TempDir(), "usage.db")), slog.New(slog.DiscardHandler))
	g := access.NewGuard(access.Options{BaseURL: baseURL, Keys: keys, Anonymous: limit(1_000_000, "anonymous"), Count: counter.Count})
	for name, header := range map[string]http.Header{"anonymous": {}, "key": {"X-Api-Key": {raw}}} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/api/v1/reports", nil)
			r.Header = header
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = g.Admit(w, r, access.Requirement{Public: true, Operation: "getReports"})
			}
		})
	}
}

// TestCount: admitted requests of callers with a credential are counted, for the
// owner of the credential.
func TestCount(t *testing.T) {
	keys, _, _ := replicas(t)
	key, raw := create(t, keys, access.Key{Scopes: access.ReadIssuers})
	var got []string
	g := access.NewGuard(access.Options{
		BaseURL: baseURL, Keys: keys, Tokens: tokens(map[string]access.Token{"ana": {Subject: "https://idp#ana", Audience: baseURL}}),
		Count: func(owner, operation string) { got = append(got, owner+" "+operation) },
	})
	open := access.Requirement{Public: true, Operation: "open"}
	_, _, _ = ask(g, open, "")
	_, _, _ = ask(g, open, "", "X-API-Key", raw)
	_, _, _ = ask(g, open, "", "Authorization", "Bearer ana")
	_, _, _ = ask(g, open, "", "Authorization", "Bearer forged")
	_, _, _ = ask(g, access.Requirement{Public: true}, "", "X-API-Key", raw) // a page of the site
	_, _, _ = ask(g, access.Requirement{Scope: access.ReadReports, Operation: "forbidden"}, "", "X-API-Key", raw)
	if want := []string{key.ID + " open", "https://idp#ana open"}; !slices.Equal(got, want) {
		t.Errorf("counted %q, want %q", got, want)
	}
}

// The 65,536 networks of an IPv6 /48 share a limit.
func TestAnonymousLimitOfASite(t *testing.T) {
	g := access.NewGuard(access.Options{BaseURL: baseURL, Anonymous: limit(2, "anonymous"), AnonymousSite: limit(5, "anonymous-site")})
	passed := func(addresses string) (n int) {
		for i := range 20 {
			r := httptest.NewRequest(http.MethodGet, "/api/v1/reports", nil)
			r.RemoteAddr = fmt.Sprintf(addresses, i)
			w := httptest.NewRecorder()
			if _, err := g.Admit(w, r, access.Requirement{Public: true}); err == nil {
				n++
			} else if fault.KindOf(err) != fault.RateLimited || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %v", r.RemoteAddr, err)
			}
		}
		return n
	}
	for addresses, want := range map[string]int{
		"[2001:db8:1:%x::1]:80": 5, "[2001:db8:2::%x]:80": 2, "[2001:db9:%x::1]:80": 20, "198.51.100.%d:80": 20,
	} {
		if got := passed(addresses); got != want {
			t.Errorf("%s: %d passed, want %d", addresses, got, want)
		}
	}
}

// A token is valid for long responses while the key that signed it is trusted.
func TestStillValidWithTheSigningKey(t *testing.T) {
	keys, _, _ := replicas(t)
	trusted := "one"
	g := access.NewGuard(access.Options{
		BaseURL: baseURL,
		Keys:    keys,
		Tokens: tokens(map[string]access.Token{
			"eyJ.1": {Subject: "https://idp.example#ana", Audience: baseURL, Scope: access.AllScopes, KeyID: "one"},
		}),
		Signs: func(id string) bool { return id == trusted },
	})
	p, _, err := ask(g, access.Requirement{}, "", "Authorization", "Bearer eyJ.1")
	if err != nil {
		t.Fatal(err)
	}
	alive, changed := g.StillValid(p)
	if !alive {
		t.Error("it is not valid at first")
	}
	trusted = "two"
	keys.Broadcast()
	select {
	case <-changed:
	default:
		t.Error("the change is not announced")
	}
	if alive, _ := g.StillValid(p); alive {
		t.Error("it is valid although its signing key is not")
	}
}
