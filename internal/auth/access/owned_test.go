package access_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

// A key has at most the rights of its maker, belongs to the account of its maker, and
// names the key that made it.
func TestCreateFor(t *testing.T) {
	keys, _, _ := replicas(t)
	const rights = access.ReadReports | access.ReadIssuers
	for _, test := range []struct {
		name   string
		by     access.Principal
		scopes access.Scope
		want   access.Scope // 0: refused
		plan   string
	}{
		{"without scopes it has those of its maker", access.Principal{ID: ana, Scope: rights, Plan: "pro"}, 0, rights, "pro"},
		{"it may have fewer", access.Principal{ID: ana, Scope: rights, Plan: "enterprise"}, access.ReadIssuers, access.ReadIssuers, "enterprise"},
		{"it cannot have more", access.Principal{ID: ana, Scope: rights, Plan: "pro"}, access.AllScopes, 0, ""},
		{"a maker without rights makes none", access.Principal{ID: ana, Plan: "pro"}, 0, 0, ""},
		{"that of an operator is for everyday use", access.Principal{ID: ana, Scope: rights, Plan: access.OperatorPlan}, rights, rights, "pro"},
		{"with a key", access.Principal{ID: ana, Scope: rights, Plan: "pro", Key: "key_parent"}, 0, rights, "pro"},
	} {
		t.Run(test.name, func(t *testing.T) {
			// The plan and the parent that the caller asks for have no effect.
			key, _, err := keys.CreateFor(t.Context(), test.by, access.Key{Scopes: test.scopes, Plan: "enterprise", AccountID: eva, Parent: "key_other"})
			if test.want == 0 {
				if fault.KindOf(err) != fault.Invalid {
					t.Errorf("%+v, %v; want a refusal", key, err)
				}
				return
			}
			if err != nil || key.Scopes != test.want || key.Plan != test.plan || key.AccountID != test.by.ID || key.Parent != test.by.Key {
				t.Errorf("%+v, %v", key, err)
			}
		})
	}
}

// An account may have 50 valid keys. Those that were revoked or have expired, and those
// of others, do not count.
func TestKeysOfAnAccountAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, _, _ := replicas(t)
		by := access.Principal{ID: ana, Scope: access.AllScopes, Plan: "pro"}
		first := make([]access.Key, 0, 50)
		for len(first) < 49 {
			key, _, err := keys.CreateFor(t.Context(), by, access.Key{})
			if err != nil {
				t.Fatal(err)
			}
			first = append(first, key)
		}
		if _, _, err := keys.CreateFor(t.Context(), by, access.Key{ExpiresAt: time.Now().Add(time.Hour)}); err != nil {
			t.Errorf("the fiftieth: %v", err)
		}
		if _, _, err := keys.CreateFor(t.Context(), by, access.Key{}); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "50 keys") {
			t.Errorf("one more than fifty: %v", err)
		}
		if _, _, err := keys.CreateFor(t.Context(), access.Principal{ID: eva, Scope: access.AllScopes, Plan: "pro"}, access.Key{}); err != nil {
			t.Errorf("that of another account: %v", err)
		}
		time.Sleep(time.Hour) // one expires
		if _, _, err := keys.CreateFor(t.Context(), by, access.Key{}); err != nil {
			t.Errorf("after one has expired: %v", err)
		}
		if _, err := keys.Revoke(t.Context(), first[0].ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := keys.CreateFor(t.Context(), by, access.Key{}); err != nil {
			t.Errorf("after one was revoked: %v", err)
		}
		owned, err := keys.Owned(t.Context(), access.WholeAccount(ana))
		if err != nil || len(owned) != 52 {
			t.Errorf("%d keys, %v; want 52 with those that have ended", len(owned), err)
		}
		if slices.ContainsFunc(owned, func(k access.ListedKey) bool { return k.AccountID != ana }) {
			t.Error("the keys of an account contain those of another")
		}
	})
}

// An account may make 100 keys in 24 hours: what was revoked is kept.
func TestKeysOfADayAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, _, _ := replicas(t)
		by := access.Principal{ID: ana, Scope: access.AllScopes, Plan: "pro"}
		for i := range 100 {
			key, _, err := keys.CreateFor(t.Context(), by, access.Key{})
			if err != nil {
				t.Fatalf("number %d: %v", i+1, err)
			}
			if _, err := keys.Revoke(t.Context(), key.ID); err != nil {
				t.Fatal(err)
			}
		}
		refused := func() bool {
			_, _, err := keys.CreateFor(t.Context(), by, access.Key{})
			return fault.KindOf(err) == fault.Conflict && strings.Contains(err.Error(), "100 new keys")
		}
		if !refused() {
			t.Error("an account made more than 100 keys")
		}
		time.Sleep(24*time.Hour - 1)
		if !refused() {
			t.Error("an account made more than 100 keys in a little less than a day")
		}
		time.Sleep(time.Nanosecond)
		if refused() {
			t.Error("an account cannot make keys on the next day")
		}
	})
}

// A chain of keys, each of which was made with the one before, has an end.
func TestKeysMadeWithKeys(t *testing.T) {
	keys, _, _ := replicas(t)
	root, raw := create(t, keys, access.Key{})
	by, err := keys.ByText(t.Context(), raw, noAddress)
	if err != nil || by.ID != root.ID || by.Key != root.ID {
		t.Fatalf("%+v, %v", by, err)
	}
	for i := range 5 {
		key, raw, err := keys.CreateFor(t.Context(), by, access.Key{})
		if i == 4 {
			if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "keys may be nested 4 levels deep") {
				t.Errorf("a key of depth 5: %v", err)
			}
			break
		}
		if err != nil {
			t.Fatalf("depth %d: %v", i+1, err)
		}
		if by, err = keys.ByText(t.Context(), raw, noAddress); err != nil || by.ID != root.ID || by.Key != key.ID {
			t.Fatalf("a key of depth %d is not valid: %+v, %v", i+1, by, err)
		}
	}
}

// Without the store a key is neither made nor listed: the bounds could not be checked.
func TestOwnedKeysNeedTheStore(t *testing.T) {
	p := newPeople(t)
	p.db.err = errors.New("gone")
	if _, raw, err := p.keys.CreateFor(t.Context(), access.Principal{ID: ana, Scope: access.AllScopes, Plan: "pro"}, access.Key{}); err == nil || raw != "" {
		t.Errorf("made a key %q while the store fails", raw)
	}
	if owned, err := p.keys.Owned(t.Context(), access.WholeAccount(ana)); err == nil {
		t.Errorf("%v while the store fails", owned)
	}
}
