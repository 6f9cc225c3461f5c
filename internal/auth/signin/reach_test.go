package signin_test

import (
	"net/http/httptest"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

// A session that was opened with a key has the reach of that key. It can be ended, but
// does not end the others of the account unless the key is its first.
func TestSignOutWithAKey(t *testing.T) {
	w := newWorld(t, nil)
	root, rootRaw, err := w.keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	child, childRaw, err := w.keys.CreateFor(t.Context(), access.Principal{ID: root.ID, Mode: access.ByKey, Scope: access.AllScopes, Key: root.ID, Plan: "pro"}, access.Key{})
	if err != nil {
		t.Fatal(err)
	}
	signIn := func(raw string) {
		t.Helper()
		w.cookies = map[string]string{}
		rec := httptest.NewRecorder()
		if _, err := w.ByKey(rec, w.request("/signin/key"), w.session(), raw, ""); err != nil {
			t.Fatal(err)
		}
		w.keep(rec)
	}
	signIn(rootRaw)
	first := w.cookies
	signIn(childRaw)
	s := w.session()
	if s == nil || s.ID != root.ID || s.Whole() || w.keys.Reach(s.Principal).Maker() != child.ID {
		t.Fatalf("%+v", s)
	}
	if err := w.SignOut(httptest.NewRecorder(), w.request("/"), s, true); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a key signs the account out everywhere: %v", err)
	}
	if w.session() == nil {
		t.Error("a refused form ended the session")
	}
	if err := w.SignOut(httptest.NewRecorder(), w.request("/"), s, false); err != nil || w.session() != nil {
		t.Errorf("a key does not end its own session: %v", err)
	}
	w.cookies = first
	if s = w.session(); s == nil || !s.Whole() {
		t.Fatalf("the session of the first key: %+v", s)
	}
	if err := w.SignOut(httptest.NewRecorder(), w.request("/"), s, true); err != nil || w.session() != nil {
		t.Errorf("the first key does not sign out everywhere: %v", err)
	}
}
