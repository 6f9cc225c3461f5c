package account_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/account"
	"pregon/internal/account/accounttest"
	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/test/longtest"
)

// world is the service with what tests do often.
type world struct {
	*accounttest.World
	t *testing.T
}

func start(t *testing.T) world {
	t.Helper()
	return world{accounttest.New(t), t}
}

// person returns somebody who signed in with the provider.
func (w world) person(name string, operator bool) access.Principal {
	w.t.Helper()
	by, _ := w.SignInAs(name, operator)
	return by
}

// make makes a key and returns who sends it.
func (w world) make(by access.Principal, name string, scopes ...string) (access.Principal, account.Key) {
	w.t.Helper()
	k, err := w.Account.CreateKey(w.t.Context(), by, account.NewKey{Name: &name, Scopes: scopes})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.Sends(k.Text), k
}

// withKey returns who signed in with a key.
func (w world) withKey(k account.Key) access.Principal {
	w.t.Helper()
	by, _ := w.SignInWith(k)
	return by
}

// keys returns the states of keys by name.
func (w world) keys(by access.Principal, id string) map[string]string {
	w.t.Helper()
	list, err := w.Account.ListKeys(w.t.Context(), by, id)
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	for _, k := range list.Keys {
		if k.Text != "" {
			w.t.Errorf("the list has the secret of %s", k.ID)
		}
		out[k.Name] = k.State
	}
	return out
}

// is expects the kind of an error; fault.Internal means no error.
func (w world) is(err error, want fault.Kind, what string) {
	w.t.Helper()
	if err == nil && want == fault.Internal {
		return
	}
	if err == nil || fault.KindOf(err) != want {
		w.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

const none = fault.Internal

// A person changes, rotates and revokes a key, and others do not learn that it exists.
func TestKeys(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ana, bea := w.person("ana", false), w.person("bea", false)
	end := time.Now().AddDate(1, 0, 0).UTC().Truncate(time.Second)
	made, err := w.Account.CreateKey(ctx, ana, account.NewKey{
		Name:      new(" export "),
		Scopes:    []string{"read:reports"},
		ExpiresAt: account.ExpiresAt(end.Format(time.RFC3339)),
		Networks:  new([]string{"127.0.0.1", "2001:db8::/32"}),
	})
	w.is(err, none, "make")
	if made.Name != "export" || made.State != "active" || made.Account != ana.ID || made.Parent != nil || !made.ExpiresAt.Equal(end) || len(made.Networks) != 2 {
		t.Errorf("made %+v", made)
	}
	if got := w.keys(bea, ""); len(got) != 0 {
		t.Errorf("the keys of bea: %v", got)
	}
	for name, try := range map[string]func(id string) error{
		"change": func(id string) error {
			_, err := w.Account.ChangeKey(ctx, bea, id, account.KeyChange{Name: new("x")})
			return err
		},
		"rotate": func(id string) error {
			_, err := w.Account.RotateKey(ctx, bea, id, account.KeyRotation{})
			return err
		},
		"revoke": func(id string) error { return w.Account.RevokeKey(ctx, bea, id) },
	} {
		hidden, unknown := try(made.ID), try("key_000000000000")
		w.is(hidden, fault.NotFound, name)
		if strings.ReplaceAll(hidden.Error(), made.ID, "key_000000000000") != unknown.Error() {
			t.Errorf("%s: %v, want %v", name, hidden, unknown)
		}
	}
	changed, err := w.Account.ChangeKey(ctx, ana, made.ID, account.KeyChange{Name: new("nightly")})
	if err != nil || changed.Name != "nightly" || !changed.ExpiresAt.Equal(end) || len(changed.Networks) != 2 || changed.Text != "" {
		t.Errorf("renamed: %+v, %v", changed, err)
	}
	changed, err = w.Account.ChangeKey(ctx, ana, made.ID, account.KeyChange{ExpiresAt: account.Never(), Networks: new([]string{})})
	if err != nil || changed.ExpiresAt != nil || len(changed.Networks) != 0 || changed.Name != "nightly" {
		t.Errorf("changed: %+v, %v", changed, err)
	}
	rotated, err := w.Account.RotateKey(ctx, ana, made.ID, account.KeyRotation{Overlap: 3600})
	if err != nil || rotated.ID != made.ID || rotated.Text == made.Text || rotated.Text == "" || time.Until(*rotated.OverlapUntil) > time.Hour {
		t.Errorf("rotated: %+v, %v", rotated, err)
	}
	for range 2 {
		w.is(w.Account.RevokeKey(ctx, ana, made.ID), none, "revoke")
	}
	if got := w.keys(ana, "")["nightly"]; got != "revoked" {
		t.Errorf("the state is %q", got)
	}
	_, err = w.Account.RotateKey(ctx, ana, made.ID, account.KeyRotation{})
	w.is(err, fault.Conflict, "rotate a revoked key")
}

func TestMistakesWithKeys(t *testing.T) {
	w := start(t)
	ana := w.person("ana", false)
	many := slices.Repeat([]string{"192.0.2.0/24"}, 51)
	for field, asked := range map[string]account.NewKey{
		"name":       {},
		"scopes":     {Name: new("x"), Scopes: []string{"x"}},
		"expires_at": {Name: new("x"), ExpiresAt: account.ExpiresAt("2020-01-01T00:00:00Z")},
		"networks":   {Name: new("x"), Networks: new([]string{"::ffff:1.2.3.4/120"})},
		"":           {Name: new("x"), Networks: &many},
		"wider":      {Name: new("x"), Scopes: []string{"read:analytics"}}, // which Ana has not
	} {
		_, err := w.Account.CreateKey(t.Context(), ana, asked)
		w.is(err, fault.Invalid, field)
		e, ok := err.(*fault.Error)
		if !ok || len(e.Fields) > 0 && e.Fields[0].Name != field || !strings.HasSuffix(e.Message, ".") {
			t.Errorf("%s: %#v", field, err)
		}
	}
	for _, overlap := range []int{-1, 90*24*60*60 + 1} {
		_, err := w.Account.RotateKey(t.Context(), ana, "key_x", account.KeyRotation{Overlap: overlap})
		w.is(err, fault.Invalid, fmt.Sprint(overlap))
	}
	_, err := w.Account.ListKeys(t.Context(), ana, strings.Repeat("x", 1001))
	w.is(err, fault.Invalid, "a long id")
	if got := w.keys(ana, ""); len(got) != 0 {
		t.Errorf("a refused request made a key: %v", got)
	}
}

// A key has at most the rights of its maker, is not valid without the key with which it
// was made, and manages itself and those made with it, else it could become another.
func TestKeysOfKeys(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	root := w.FirstKey(access.Key{Name: "root", Plan: "pro", Scopes: access.ReadReports | access.ReadIssuers})
	child, childKey := w.make(root, "child", "read:reports")
	if *childKey.Parent != root.ID || childKey.Account != root.ID {
		t.Errorf("made %+v", childKey)
	}
	_, err := w.Account.CreateKey(ctx, child, account.NewKey{Name: new("wider"), Scopes: []string{"read:issuers"}})
	w.is(err, fault.Invalid, "more scopes than the maker")
	grandchild, grandchildKey := w.make(child, "grandchild")
	if !slices.Equal(grandchildKey.Scopes, []string{"read:reports"}) {
		t.Errorf("the scopes of a key without scopes: %v", grandchildKey.Scopes)
	}
	_, other := w.make(root, "other")
	for _, narrow := range []access.Principal{child, w.withKey(childKey)} {
		for _, id := range []string{root.ID, other.ID} {
			_, err := w.Account.RotateKey(ctx, narrow, id, account.KeyRotation{})
			w.is(err, fault.NotFound, "rotate")
			_, err = w.Account.ChangeKey(ctx, narrow, id, account.KeyChange{})
			w.is(err, fault.NotFound, "change")
			w.is(w.Account.RevokeKey(ctx, narrow, id), fault.NotFound, "revoke")
		}
		if got, want := w.keys(narrow, ""), map[string]string{"child": "active", "grandchild": "active"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("a key sees %v, want %v", got, want)
		}
	}
	if got := w.keys(grandchild, ""); len(got) != 1 {
		t.Errorf("the last key sees %v", got)
	}
	end := account.ExpiresAt("2090-01-01T00:00:00Z")
	_, err = w.Account.ChangeKey(ctx, root, childKey.ID, account.KeyChange{ExpiresAt: end})
	w.is(err, none, "the maker changes the end")
	_, err = w.Account.ChangeKey(ctx, child, childKey.ID, account.KeyChange{ExpiresAt: account.Never()})
	w.is(err, fault.Forbidden, "a key changes its own end")
	_, err = w.Account.ChangeKey(ctx, child, childKey.ID, account.KeyChange{Networks: new([]string{"192.0.2.0/24"})})
	w.is(err, fault.Forbidden, "a key changes its own networks")
	_, err = w.Account.ChangeKey(ctx, child, childKey.ID, account.KeyChange{Name: new("child"), ExpiresAt: end, Networks: new([]string{})})
	w.is(err, none, "a key leaves its end and networks as they are")
	w.is(w.Account.RevokeKey(ctx, root, childKey.ID), none, "revoke")
	want := map[string]string{"root": "active", "child": "revoked", "grandchild": "revoked", "other": "active"}
	if got := w.keys(root, ""); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An account has a bound of keys. A key that leaked does not keep its account from making
// another one, however many keys it made and revoked.
func TestBoundsOfKeys(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ana := w.person("ana", false)
	leaked, _ := w.make(ana, "leaked", "read:reports")
	for range 100 {
		_, made := w.make(leaked, "x")
		w.is(w.Account.RevokeKey(ctx, leaked, made.ID), none, "revoke")
	}
	_, err := w.Account.CreateKey(ctx, leaked, account.NewKey{Name: new("x")})
	w.is(err, fault.Conflict, "more than 100 keys in a day")
	for i := range 49 {
		w.make(ana, fmt.Sprint(i))
	}
	_, err = w.Account.CreateKey(ctx, ana, account.NewKey{Name: new("one more")})
	w.is(err, fault.Conflict, "more than 50 keys")
}

// While the store is locked, a key is not made, and the caller learns of it soon.
func TestKeysWhileTheStoreIsLocked(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := start(t)
	ana := w.person("ana", false)
	db, err := sql.Open("sqlite", w.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = w.Account.CreateKey(ctx, ana, account.NewKey{Name: new("k")})
	w.is(err, fault.Unavailable, "the store is locked")
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	w.make(ana, "k")
}
