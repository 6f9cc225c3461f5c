package access_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/fault"
)

const (
	ana  = "https://idp.example#ana"
	eva  = "https://idp.example#eva"
	home = "192.0.2.1:1234" // the address of httptest
	away = "198.51.100.7:1234"
)

// people are keys and accounts on one store.
type people struct {
	keys     *access.Keyring
	accounts *account.Accounts
	db       *broken
	log      *trail
}

func newPeople(t *testing.T) *people {
	t.Helper()
	p := &people{
		db:  &broken{Store: openStore(t, filepath.Join(t.TempDir(), "pregon.db"))},
		log: &trail{},
	}
	p.keys, p.accounts = p.replica()
	return p
}

// replica returns what another process on the same store would hold.
func (p *people) replica() (*access.Keyring, *account.Accounts) {
	keys := access.NewKeyring(p.db, p.log.record)
	accounts := account.New(account.Options{
		Store:      p.db,
		Key:        keys.State,
		Configured: func(provider, _ string) bool { return provider == "corp" },
		OnChange:   keys.Broadcast,
	})
	keys.SetAccounts(accounts)
	return keys, accounts
}

func (p *people) signIn(t *testing.T, id string, scope access.Scope) {
	t.Helper()
	profile := account.Account{
		ID:       id,
		Provider: "corp",
		Plan:     "enterprise",
		Scopes:   scope,
	}
	if _, _, err := p.accounts.SignIn(t.Context(), profile, account.Session{}); err != nil {
		t.Fatal(err)
	}
}

// grant gives an application access to an account, and returns the id of the grant.
func (p *people) grant(t *testing.T, owner string, g account.Grant) string {
	t.Helper()
	g.ID = account.NewGrantID()
	g.ClientID = "app"
	if _, err := p.accounts.AddGrant(t.Context(), owner, g); err != nil {
		t.Fatal(err)
	}
	return g.ID
}

func (p *people) block(t *testing.T, id string) {
	t.Helper()
	if err := p.accounts.Block(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
}

// A response that lasts ends when the credential with which it began does.
func TestStillValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeople(t)
		key, raw := create(t, p.keys, access.Key{})
		text := access.Digest(sha256.Sum256([]byte(raw)))
		rotated, old := create(t, p.keys, access.Key{})
		if _, _, err := p.keys.Rotate(t.Context(), rotated.ID, 0); err != nil {
			t.Fatal(err)
		}
		replaced := access.Digest(sha256.Sum256([]byte(old)))
		revoked, _ := create(t, p.keys, access.Key{})
		if _, err := p.keys.Revoke(t.Context(), revoked.ID); err != nil {
			t.Fatal(err)
		}
		p.signIn(t, ana, access.AllScopes)
		granted := p.grant(t, ana, account.Grant{Scopes: access.ReadReports})
		p.signIn(t, eva, access.AllScopes)
		blocked := p.grant(t, eva, account.Grant{Scopes: access.ReadReports})
		p.block(t, eva)
		with := access.NewGuard(access.Options{BaseURL: baseURL, Keys: p.keys, Accounts: p.accounts})
		without := access.NewGuard(access.Options{BaseURL: baseURL, Keys: p.keys})
		now := time.Now()
		for _, test := range []struct {
			name  string
			guard *access.Guard
			who   access.Principal
			want  bool
		}{
			{"an anonymous caller has nothing that ends", with, access.Principal{}, true},
			{"a session is checked by the console", with, access.Principal{ID: eva, Mode: access.BySession, Credential: "ses_1"}, true},
			{"a key", with, access.Principal{ID: key.ID, Mode: access.ByKey, Credential: key.ID, KeyText: text}, true},
			{"a replaced text of a key", with, access.Principal{ID: rotated.ID, Mode: access.ByKey, Credential: rotated.ID, KeyText: replaced}, false},
			{"a key that was revoked", with, access.Principal{ID: revoked.ID, Mode: access.ByKey, Credential: revoked.ID}, false},
			{"a key that is not known", with, access.Principal{ID: "key_x", Mode: access.ByKey, Credential: "key_x"}, false},
			{"a key before its end", with, access.Principal{ID: key.ID, Mode: access.ByKey, Credential: key.ID, KeyText: text, Expires: now.Add(1)}, true},
			{"a key at its end", with, access.Principal{ID: key.ID, Mode: access.ByKey, Credential: key.ID, KeyText: text, Expires: now}, false},
			{"a token at its end", without, access.Principal{ID: ana, Mode: access.ByToken, Expires: now}, false},
			{"a token of an application", with, access.Principal{ID: ana, Mode: access.ByToken, Credential: granted}, true},
			{"with the account of another", with, access.Principal{ID: eva, Mode: access.ByToken, Credential: granted}, false},
			{"of a blocked person", with, access.Principal{ID: eva, Mode: access.ByToken, Credential: blocked}, false},
			{"with a grant that is not known", with, access.Principal{ID: ana, Mode: access.ByToken, Credential: "grt_x"}, false},
			{"a token of an assertion", with, access.Principal{ID: ana, Mode: access.ByToken}, true},
			{"of a subject that never signed in", with, access.Principal{ID: "https://idp.example#nil", Mode: access.ByToken}, true},
			{"of a subject that is blocked", with, access.Principal{ID: eva, Mode: access.ByToken}, false},
			{"of an application, where nobody can sign in", without, access.Principal{ID: ana, Mode: access.ByToken, Credential: granted}, true},
			{"where nobody can sign in", without, access.Principal{ID: eva, Mode: access.ByToken}, true},
		} {
			if got, _ := test.guard.StillValid(test.who); got != test.want {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
			}
		}
		_, changed := with.StillValid(access.Principal{})
		select {
		case <-changed:
			t.Error("the channel is closed although nothing changed")
		default:
		}
		p.block(t, ana)
		<-changed
		if got, _ := with.StillValid(access.Principal{ID: ana, Mode: access.ByToken, Credential: granted}); got {
			t.Error("a grant is valid after its owner was blocked")
		}
		p.keys.Broadcast()
	})
}

// A grant whose owner has a key that has ended is not valid either.
func TestStillValidNeedsTheKeyOfTheOwner(t *testing.T) {
	p := newPeople(t)
	key, _ := create(t, p.keys, access.Key{})
	p.signIn(t, ana, access.AllScopes)
	id := p.grant(t, ana, account.Grant{Scopes: access.ReadReports, Key: key.ID})
	g := access.NewGuard(access.Options{BaseURL: baseURL, Keys: p.keys, Accounts: p.accounts})
	who := access.Principal{ID: ana, Mode: access.ByToken, Credential: id}
	if got, _ := g.StillValid(who); !got {
		t.Fatal("the grant is not valid while its key is")
	}
	if _, err := p.keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if got, _ := g.StillValid(who); got {
		t.Error("the grant is valid after its key was revoked")
	}
}

// What a token may do is what its owner may do, and the grant, and the token itself.
func TestTokensOfPeople(t *testing.T) {
	p := newPeople(t)
	p.signIn(t, ana, access.ReadReports|access.ReadIssuers)
	granted := p.grant(t, ana, account.Grant{Scopes: access.ReadReports | access.ReadAnalytics})
	narrow := access.Key{Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}
	key, _ := create(t, p.keys, narrow)
	fenced := p.grant(t, ana, account.Grant{Scopes: access.ReadReports, Key: key.ID})
	p.signIn(t, eva, access.AllScopes)
	p.block(t, eva)
	token := func(subject, grant string) access.Token {
		return access.Token{
			Subject:  subject,
			Audience: baseURL,
			Scope:    access.AllScopes,
			Grant:    grant,
		}
	}
	known := map[string]access.Token{
		"grant":     token(ana, granted),
		"fenced":    token(ana, fenced),
		"revoked":   token(ana, "grt_gone"),
		"stolen":    token(eva, granted),
		"assertion": token(ana, ""),
		"blocked":   token(eva, ""),
		"stranger":  token("https://idp.example#nil", ""),
	}
	signIn := token(ana, granted)
	signIn.Audience = baseURL + access.MCPSignInPath
	known["signin"] = signIn
	with := access.NewGuard(access.Options{BaseURL: baseURL, Keys: p.keys, Accounts: p.accounts, Tokens: tokens(known)})
	without := access.NewGuard(access.Options{BaseURL: baseURL, Keys: p.keys, Tokens: tokens(known)})
	for _, test := range []struct {
		name  string
		guard *access.Guard
		raw   string
		from  string
		mcp   bool
		scope access.Scope // 0: refused
		plan  string
		key   string // with which the person signed in
		says  string // a part of the refusal
	}{
		{name: "the rights that person and grant share", guard: with, raw: "grant", scope: access.ReadReports, plan: "enterprise"},
		{name: "a grant that has ended", guard: with, raw: "revoked", says: "revoked"},
		{name: "a grant of somebody else", guard: with, raw: "stolen", says: "revoked"},
		{name: "a grant where nobody can sign in", guard: without, raw: "grant", says: "its grant is not known"},
		{name: "an assertion has its own rights", guard: with, raw: "assertion", scope: access.AllScopes},
		{name: "an assertion where nobody can sign in", guard: without, raw: "assertion", scope: access.AllScopes},
		{name: "an assertion for a subject without an account", guard: with, raw: "stranger", scope: access.AllScopes},
		{name: "an assertion for a blocked person", guard: with, raw: "blocked", says: "blocked"},
		{name: "from the network of the key of the owner", guard: with, raw: "fenced", from: home, scope: access.ReadReports, plan: "pro", key: key.ID},
		{name: "from another network", guard: with, raw: "fenced", from: away, says: "may not be used from 198.51.100.7"},
		{name: "for MCP with sign-in at MCP", guard: with, raw: "signin", mcp: true, scope: access.ReadReports, plan: "enterprise"},
		{name: "for MCP with sign-in at REST", guard: with, raw: "signin", says: "not this service"},
	} {
		t.Run(test.name, func(t *testing.T) {
			headers := []string{"Authorization", "Bearer " + test.raw}
			if test.from != "" {
				headers = append(headers, "remote", test.from)
			}
			who, _, err := ask(test.guard, access.Requirement{MCP: test.mcp}, "", headers...)
			if test.scope == 0 {
				if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%+v, %v; want a refusal that says %q", who, err, test.says)
				}
				return
			}
			want := access.Principal{
				ID:         known[test.raw].Subject,
				Mode:       access.ByToken,
				Scope:      test.scope,
				Credential: known[test.raw].Grant,
				Key:        test.key,
				Plan:       test.plan,
			}
			if err != nil || who != want {
				t.Errorf("%+v, %v; want %+v", who, err, want)
			}
		})
	}
}

// A grant that another process added a moment ago is found. While the store fails, the
// answer is that the service is not available: the token may be valid.
func TestNewGrantOfAnotherReplica(t *testing.T) {
	p := newPeople(t)
	p.signIn(t, ana, access.AllScopes)
	known := map[string]access.Token{}
	_, accounts := p.replica()
	g := access.NewGuard(access.Options{BaseURL: baseURL, Keys: p.keys, Accounts: accounts, Tokens: tokens(known)})
	known["first"] = access.Token{Subject: ana, Audience: baseURL, Scope: access.AllScopes, Grant: p.grant(t, ana, account.Grant{Scopes: access.ReadReports})}
	if who, _, err := ask(g, access.Requirement{}, "", "Authorization", "Bearer first"); err != nil || who.Scope != access.ReadReports {
		t.Errorf("%+v, %v", who, err)
	}
	known["second"] = access.Token{Subject: ana, Audience: baseURL, Scope: access.AllScopes, Grant: p.grant(t, ana, account.Grant{Scopes: access.ReadReports})}
	p.db.err = errors.New("gone")
	if who, _, err := ask(g, access.Requirement{}, "", "Authorization", "Bearer second"); fault.KindOf(err) != fault.Unavailable || who != (access.Principal{}) {
		t.Errorf("%+v, %v; want that it is not available", who, err)
	}
	if _, _, err := ask(g, access.Requirement{}, "", "Authorization", "Bearer first"); err != nil {
		t.Errorf("a known grant while the store fails: %v", err)
	}
}

// What an operation requires decides who may use it, and what the refusal asks for.
func TestRequirements(t *testing.T) {
	p := newPeople(t)
	_, key := create(t, p.keys, access.Key{Scopes: access.ReadIssuers})
	p.signIn(t, ana, access.AllScopes)
	granted := p.grant(t, ana, account.Grant{Scopes: access.ReadIssuers | access.ReadAnalytics})
	all := map[string]access.Token{
		"app":       {Subject: ana, Audience: baseURL, Scope: access.AllScopes, Grant: granted},
		"assertion": {Subject: ana, Audience: baseURL, Scope: access.ReadIssuers | access.ReadAnalytics},
	}
	var outcomes, seen []string
	g := access.NewGuard(access.Options{
		BaseURL:  baseURL,
		Keys:     p.keys,
		Accounts: p.accounts,
		Tokens:   tokens(all),
		Observe:  func(outcome string) { outcomes = append(outcomes, outcome) },
		OnToken:  func(p access.Principal) { seen = append(seen, p.ID) },
	})
	const (
		metadata = `resource_metadata="` + baseURL + `/.well-known/oauth-protected-resource"`
		allowed  = fault.Kind(255)
	)
	owner := access.Requirement{Account: true}
	lasting := access.Requirement{Scope: access.ReadIssuers, Lasting: true}
	reports := access.Requirement{Scope: access.ReadReports}
	for _, test := range []struct {
		name      string
		need      access.Requirement
		headers   []string
		kind      fault.Kind
		outcome   string
		challenge string
		says      string
	}{
		{"an account without a credential", owner, nil, fault.Unauthorized, "no_credential", "Bearer " + metadata, "This needs a key"},
		{"an account with a key", owner, []string{"X-API-Key", key}, allowed, "key", "", ""},
		{"an account with a token", owner, []string{"Authorization", "Bearer app"}, fault.Forbidden, "insufficient_scope", "", "A token cannot manage an account"},
		{"what lasts, with a key", lasting, []string{"X-API-Key", key}, allowed, "key", "", ""},
		{"what lasts, with an assertion", lasting, []string{"Authorization", "Bearer assertion"}, allowed, "token", "", ""},
		{"what lasts, with an application", lasting, []string{"Authorization", "Bearer app"}, fault.Forbidden, "insufficient_scope", "Bearer " + metadata, "cannot manage webhooks"},
		{"a scope that a key lacks", reports, []string{"X-API-Key", key}, fault.Forbidden, "insufficient_scope", `Bearer error="insufficient_scope", scope="read:reports", ` + metadata, "needs the scope read:reports"},
		{"a scope that an assertion lacks", reports, []string{"Authorization", "Bearer assertion"}, fault.Forbidden, "insufficient_scope", `Bearer error="insufficient_scope", scope="read:reports", ` + metadata, "needs the scope read:reports"},
		// An application that asks for exactly what the challenge names must not lose what it has.
		{"a scope that an application lacks", reports, []string{"Authorization", "Bearer app"}, fault.Forbidden, "insufficient_scope", `Bearer error="insufficient_scope", scope="read:reports read:issuers read:analytics", ` + metadata, "needs the scope read:reports;"},
		{"two credentials", reports, []string{"X-API-Key", key, "Authorization", "Bearer app"}, fault.Invalid, "invalid_request", "", "different credentials"},
		{"MCP that asks to sign in", access.Requirement{SignIn: true, MCP: true, Scope: access.ReadReports}, nil, fault.Unauthorized, "no_credential", `Bearer scope="read:reports", resource_metadata="` + baseURL + `/.well-known/oauth-protected-resource/api/mcp/signin"`, "read:reports"},
		{"MCP", access.Requirement{MCP: true}, nil, fault.Unauthorized, "no_credential", `Bearer resource_metadata="` + baseURL + `/.well-known/oauth-protected-resource/api/mcp"`, "read:reports read:issuers read:analytics"},
	} {
		t.Run(test.name, func(t *testing.T) {
			outcomes = nil
			_, h, err := ask(g, test.need, "", test.headers...)
			if test.kind == allowed {
				if err != nil {
					t.Error(err)
				}
			} else if fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want a refusal that says %q", err, test.says)
			}
			if !slices.Equal(outcomes, []string{test.outcome}) {
				t.Errorf("observed %q, want %q", outcomes, test.outcome)
			}
			if got := h.Get("WWW-Authenticate"); got != test.challenge {
				t.Errorf("challenge\n%s, want\n%s", got, test.challenge)
			}
		})
	}
	if want := []string{ana}; !slices.Equal(seen, want) {
		t.Errorf("the tokens of %q were reported, want those of %q", seen, want)
	}
	person := access.Principal{ID: ana, Mode: access.BySession}
	r := httptest.NewRequest(http.MethodGet, "/account/keys", nil)
	if err := g.AdmitSession(httptest.NewRecorder(), r, person, owner); err != nil {
		t.Errorf("a person who is signed in: %v", err)
	}
	w := httptest.NewRecorder()
	err := g.AdmitSession(w, r, person, access.Requirement{Scope: access.ReadReports})
	if fault.KindOf(err) != fault.Forbidden || len(w.Header()) != 0 {
		t.Errorf("a person without the scope: %v, headers %v", err, w.Header())
	}
}

// Operations that may wait for the store have slots of their own. Anonymous callers of
// a network share theirs.
func TestAcquireSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request := func(remote string) *http.Request {
			r := httptest.NewRequest(http.MethodGet, "/api/v1/reports", nil)
			r.RemoteAddr = remote
			return r.WithContext(t.Context())
		}
		someone := access.Principal{ID: ana}
		acquire := func(g *access.Guard, remote string, who access.Principal, expensive bool) error {
			_, err := g.AcquireSlot(request(remote), who, expensive)
			return err
		}
		both := access.Options{Slots: access.NewSlotLimiter(2, false), Expensive: access.NewSlotLimiter(1, false)}
		g := access.NewGuard(both)
		for _, test := range []struct {
			name      string
			remote    string
			who       access.Principal
			expensive bool
			want      bool
		}{
			{"the first expensive one", home, someone, true, true},
			{"a second expensive one", home, someone, true, false},
			{"a cheap one meanwhile", home, someone, false, true},
			{"a second cheap one", home, someone, false, true},
			{"a third cheap one", home, someone, false, false},
			{"of another caller", home, access.Principal{ID: eva}, false, true},
			{"of an anonymous caller", home, access.Principal{}, false, true},
			{"of another in that network", "192.0.2.1:99", access.Principal{}, false, true},
			{"of a third in that network", "192.0.2.1:100", access.Principal{}, false, false},
			{"of another network", away, access.Principal{}, false, true},
		} {
			if err := acquire(g, test.remote, test.who, test.expensive); (err == nil) != test.want {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		one := access.NewGuard(access.Options{Slots: access.NewSlotLimiter(1, false)})
		if err := acquire(one, home, someone, true); err != nil {
			t.Errorf("without a bound for expensive ones: %v", err)
		}
		if err := acquire(one, home, someone, false); fault.KindOf(err) != fault.RateLimited {
			t.Errorf("an expensive one does not count where there is one bound: %v", err)
		}
		for range 3 {
			if err := acquire(access.NewGuard(access.Options{}), home, someone, true); err != nil {
				t.Errorf("without a bound: %v", err)
			}
		}
	})
}

// A request that is waiting for its start and ends returns its slot.
func TestSlotOfARequestThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := access.NewSlotLimiter(1, true)
		other := enter(t, p, "other")
		defer other.Release()
		first := enter(t, p, "ana")
		first.Release()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Acquire(ctx, "ana"); err == nil {
			t.Fatal("a request whose context has ended may start")
		}
		time.Sleep(time.Second)
		last := enter(t, p, "ana")
		last.Release()
	})
}

// The description in a challenge cannot hold what would end the quoted string.
func TestChallengeIsQuoted(t *testing.T) {
	g := access.NewGuard(access.Options{
		BaseURL: baseURL,
		Tokens: func(context.Context, string) (access.Token, error) {
			return access.Token{}, errors.New("a \"quoted\"\\ \x01text\x7fñ ~ !")
		},
	})
	_, h, err := ask(g, access.Requirement{}, "", "Authorization", "Bearer x")
	want := `Bearer error="invalid_token", error_description="a quoted text ~ !", resource_metadata="` + baseURL + `/.well-known/oauth-protected-resource"`
	if got := h.Get("WWW-Authenticate"); err == nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
