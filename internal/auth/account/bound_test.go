package account_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/fault"
)

// A key for a part of the account ends no sessions and grants of the rest by adding more
// of its own than there may be.
func TestKeysDoNotDisplaceThePerson(t *testing.T) {
	r := replicas(t, 1)[0]
	type opened struct {
		account.Session
		raw string
	}
	var own []opened
	for range 19 {
		s, raw := r.signIn(t, profile, account.Session{})
		own = append(own, opened{s, raw})
	}
	key, _, err := r.keys.CreateFor(t.Context(), access.Principal{ID: ana, Mode: access.BySession, Scope: access.AllScopes, Plan: "pro"}, access.Key{})
	if err != nil {
		t.Fatal(err)
	}
	var last opened
	for range 25 {
		s, raw := r.signIn(t, profile, account.Session{Key: key.ID})
		last = opened{s, raw}
	}
	for _, s := range append(own, last) { // the sessions of a key have a bound of their own
		if !r.open(t, s.Session, s.raw) {
			t.Errorf("the session %s (key %q) has ended", s.ID, s.Key)
		}
	}
	var granted []string
	add := func(key string) string {
		g := account.Grant{ID: account.NewGrantID(), ClientID: "desk", Resource: "https://pregon.example", Scopes: access.ReadReports, Key: key}
		if _, err := r.AddGrant(t.Context(), ana, g); err != nil {
			t.Fatal(err)
		}
		return g.ID
	}
	for range 49 {
		granted = append(granted, add(""))
	}
	for range 5 {
		add(key.ID)
	}
	for _, id := range append(granted, add(key.ID)) {
		if _, known := r.Grant(ana, id); !known {
			t.Errorf("the grant %s has ended", id)
		}
	}
	granted = append(granted, add("")) // replaces that of the key
	refused := account.Grant{ID: account.NewGrantID(), ClientID: "desk", Scopes: access.ReadReports, Key: key.ID}
	if _, err := r.AddGrant(t.Context(), ana, refused); fault.KindOf(err) != fault.Conflict {
		t.Errorf("one more of the key: %v", err)
	}
	for _, id := range granted {
		if _, known := r.Grant(ana, id); !known {
			t.Errorf("the grant %s has ended", id)
		}
	}
}

// The keys of a blocked person are not valid, nor what was made with them.
func TestStateOfKeysOfTheBlocked(t *testing.T) {
	r := replicas(t, 1)[0]
	r.signIn(t, profile, account.Session{})
	key, _, err := r.keys.CreateFor(t.Context(), access.Principal{ID: ana, Mode: access.BySession, Scope: access.AllScopes, Plan: "pro"}, access.Key{})
	if err != nil {
		t.Fatal(err)
	}
	for _, blocked := range []bool{true, false} {
		if err := r.Block(t.Context(), ana, blocked); err != nil {
			t.Fatal(err)
		}
		if state, known := r.keys.State(key.ID); !known || (state.Gone != "") != blocked || state.Since.IsZero() == blocked {
			t.Errorf("blocked %t: %+v", blocked, state)
		}
	}
}

// The token of an application that was allowed in a session with a key has the reach of
// that key.
func TestTokensHaveTheReachOfTheKey(t *testing.T) {
	r := replicas(t, 1)[0]
	r.signIn(t, profile, account.Session{})
	key, _, err := r.keys.CreateFor(t.Context(), access.Principal{ID: ana, Mode: access.BySession, Scope: access.AllScopes, Plan: "pro"}, access.Key{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", key.ID} {
		g := account.Grant{ID: account.NewGrantID(), ClientID: "desk", Scopes: access.ReadReports, Key: id}
		if _, err := r.AddGrant(t.Context(), ana, g); err != nil {
			t.Fatal(err)
		}
		guard := access.NewGuard(access.Options{Keys: r.keys, Accounts: r.Accounts, Tokens: func(context.Context, string) (access.Token, error) {
			return access.Token{Subject: ana, Scope: access.ReadReports, Grant: g.ID}, nil
		}})
		request := httptest.NewRequest("GET", "/api/v1/reports", nil)
		request.Header.Set("Authorization", "Bearer token")
		p, err := guard.Admit(httptest.NewRecorder(), request, access.Requirement{Scope: access.ReadReports})
		if err != nil || r.keys.Reach(p).Maker() != id {
			t.Errorf("key %q: %+v, %v", id, p, err)
		}
	}
}
