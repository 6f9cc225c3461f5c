package access_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/store"
)

var (
	noAddress   netip.Addr
	homeAddress = netip.MustParseAddr("192.0.2.1")
	awayAddress = netip.MustParseAddr("198.51.100.7")
	homeNetwork = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
)

// child makes a key with another key.
func child(t *testing.T, keys *access.Keyring, parent access.Key, key access.Key) (access.Key, string) {
	t.Helper()
	key.Parent = parent.ID
	key.AccountID = parent.Account()
	return create(t, keys, key)
}

// A key that was made with a key is not valid without it, nor from where that is not,
// and has no right that it lacks.
func TestKeyNeedsItsParent(t *testing.T) {
	for _, test := range []struct {
		name   string
		parent access.Key
		after  func(keys *access.Keyring, parent string) error
		from   netip.Addr
		want   string // a part of the refusal; empty: valid
	}{
		{"a valid parent", access.Key{}, nil, homeAddress, ""},
		{"a parent that was revoked", access.Key{}, func(keys *access.Keyring, id string) error {
			_, err := keys.Revoke(context.Background(), id)
			return err
		}, homeAddress, "the key that created this one is revoked"},
		{"a parent that has expired", access.Key{ExpiresAt: time.Date(2000, 1, 1, 0, 0, 30, 0, time.UTC)}, func(*access.Keyring, string) error {
			time.Sleep(30 * time.Second)
			return nil
		}, homeAddress, "the key that created this one is expired"},
		{"from the network of the parent", access.Key{Networks: homeNetwork}, nil, homeAddress, ""},
		{"from another network", access.Key{Networks: homeNetwork}, nil, awayAddress, "not for use from 198.51.100.7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys, _, _ := replicas(t)
				test.parent.Scopes = access.ReadReports | access.ReadIssuers
				parent, _ := create(t, keys, test.parent)
				key, raw := child(t, keys, parent, access.Key{Scopes: access.ReadIssuers | access.ReadAnalytics})
				if test.after != nil {
					if err := test.after(keys, parent.ID); err != nil {
						t.Fatal(err)
					}
				}
				who, err := keys.ByText(t.Context(), " "+raw+"\n", test.from)
				if test.want != "" {
					if err == nil || !strings.Contains(err.Error(), test.want) || who != (access.Principal{}) {
						t.Errorf("%+v, %v; want a refusal that says %q", who, err, test.want)
					}
					return
				}
				want := access.Principal{
					ID:         parent.ID,
					Mode:       access.ByKey,
					Scope:      access.ReadIssuers,
					Expires:    parent.ExpiresAt,
					Credential: key.ID,
					Key:        key.ID,
					KeyText:    sha256.Sum256([]byte(raw)),
					Plan:       "pro",
				}
				if err != nil || who != want {
					t.Errorf("%+v, %v; want %+v", who, err, want)
				}
			})
		})
	}
}

// What a key opens ends with the first of the key, its secret and its parents.
func TestKeyEndsWithTheFirst(t *testing.T) {
	keys, _, _ := replicas(t)
	now := time.Now().UTC().Truncate(time.Second)
	hour := func(n int) time.Time {
		if n == 0 {
			return time.Time{}
		}
		return now.Add(time.Duration(n) * time.Hour)
	}
	for _, test := range []struct {
		name                string
		parent, child, want int // in hours; 0 is never
	}{
		{"never", 0, 0, 0},
		{"the key", 0, 1, 1},
		{"the parent", 1, 0, 1},
		{"the key first", 2, 1, 1},
		{"the parent first", 1, 2, 1},
	} {
		parent, _ := create(t, keys, access.Key{ExpiresAt: hour(test.parent)})
		_, raw := child(t, keys, parent, access.Key{ExpiresAt: hour(test.child)})
		if who, err := keys.ByText(t.Context(), raw, noAddress); err != nil || !who.Expires.Equal(hour(test.want)) {
			t.Errorf("%s: ends at %v, %v; want %v", test.name, who.Expires, err, hour(test.want))
		}
	}
}

// A key with a parent that is not there, or in a circle, is not valid.
func TestBrokenChains(t *testing.T) {
	keys, _, _ := replicas(t)
	_, orphan := create(t, keys, access.Key{Parent: "key_gone", AccountID: ana})
	if _, err := keys.ByText(t.Context(), orphan, noAddress); err == nil || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("a key without its parent: %v", err)
	}
	last, raw := create(t, keys, access.Key{})
	for range 5 { // one more than CreateFor would make
		last, raw = child(t, keys, last, access.Key{})
	}
	if _, err := keys.ByText(t.Context(), raw, noAddress); err == nil || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("a chain of five: %v", err)
	}
}

// The owner of a key decides over it: a person who is gone has no keys, and a key has no
// right that its owner has lost.
func TestKeyNeedsItsOwner(t *testing.T) {
	p := newPeople(t)
	p.signIn(t, ana, access.ReadReports|access.ReadIssuers)
	of := func(owner string) (access.Key, string) {
		return create(t, p.keys, access.Key{AccountID: owner, Scopes: access.ReadIssuers | access.ReadAnalytics})
	}
	key, raw := of(ana)
	who, err := p.keys.ByText(t.Context(), raw, noAddress)
	want := access.Principal{
		ID:         ana,
		Mode:       access.ByKey,
		Scope:      access.ReadIssuers,
		Credential: key.ID,
		Key:        key.ID,
		KeyText:    sha256.Sum256([]byte(raw)),
		Plan:       "enterprise",
	}
	if err != nil || who != want {
		t.Errorf("%+v, %v; want %+v", who, err, want)
	}
	state, known := p.keys.State(key.ID)
	if want := (access.AccountState{Scope: access.ReadIssuers, Plan: "enterprise"}); !known || state != want {
		t.Errorf("the state is %+v, %v; want %+v", state, known, want)
	}
	p.block(t, ana)
	if _, err := p.keys.ByText(t.Context(), raw, noAddress); err == nil || !strings.Contains(err.Error(), "blocked") {
		t.Errorf("a key of a blocked person: %v", err)
	}
	if state, known := p.keys.State(key.ID); !known || state.Gone == "" || p.keys.Valid(key.ID) {
		t.Errorf("the state of a key of a blocked person is %+v, %v", state, known)
	}
	unowned, raw := of(eva)
	if _, err := p.keys.ByText(t.Context(), raw, noAddress); err == nil || !strings.Contains(err.Error(), "its owner is not known") {
		t.Errorf("a key of an unknown person: %v", err)
	}
	if p.keys.Valid(unowned.ID) {
		t.Error("a key of an unknown person is valid")
	}
	// Another process creates the account. It is found at once.
	_, accounts := p.replica()
	p.accounts, accounts = accounts, p.accounts
	p.signIn(t, eva, access.AllScopes)
	p.accounts = accounts
	if _, err := p.keys.ByText(t.Context(), raw, noAddress); err != nil {
		t.Errorf("a key of a person who signed in elsewhere: %v", err)
	}
	_, raw = of("https://idp.example#nil")
	p.db.err = errors.New("gone")
	if _, err := p.keys.ByText(t.Context(), raw, noAddress); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("while the store fails: %v, want that it is not available", err)
	}
}

// Where nobody can sign in, a key with a person as its owner is not valid, and a key
// with a key as its owner is.
func TestOwnersWithoutAccounts(t *testing.T) {
	keys, _, _ := replicas(t)
	root, _ := create(t, keys, access.Key{Plan: access.OperatorPlan})
	mine, raw := child(t, keys, root, access.Key{})
	if who, err := keys.ByText(t.Context(), raw, noAddress); err != nil || who.Operator {
		t.Errorf("%+v, %v", who, err)
	}
	if state, known := keys.State(mine.ID); !known || state.Gone != "" || state.Operator || !keys.Valid(mine.ID) {
		t.Errorf("%+v, %v", state, known)
	}
	if state, known := keys.State(root.ID); !known || !state.Operator || state.Scope != access.AllScopes || state.Plan != access.OperatorPlan {
		t.Errorf("the key of an operator: %+v, %v", state, known)
	}
	person, raw := create(t, keys, access.Key{AccountID: ana})
	if _, err := keys.ByText(t.Context(), raw, noAddress); err == nil || !strings.Contains(err.Error(), "its owner is not known") {
		t.Errorf("a key of a person: %v", err)
	}
	if _, known := keys.State(person.ID); known || keys.Valid(person.ID) {
		t.Error("a key of a person is valid although nobody can sign in")
	}
	if _, known := keys.State("key_gone"); known || keys.Valid("key_gone") {
		t.Error("an unknown key is valid")
	}
	if _, err := keys.Revoke(t.Context(), root.ID); err != nil {
		t.Fatal(err)
	}
	if state, known := keys.State(mine.ID); !known || state.Gone == "" {
		t.Errorf("the state of a key whose parent was revoked is %+v, %v", state, known)
	}
	if who, err := keys.ByText(t.Context(), "pregon_live_", noAddress); err == nil {
		t.Errorf("half a key is that of %+v", who)
	}
}

// An address must be allowed by a key and by all with which it was made.
func TestAllows(t *testing.T) {
	keys, _, _ := replicas(t)
	free, _ := create(t, keys, access.Key{})
	fenced, _ := create(t, keys, access.Key{Networks: homeNetwork})
	mine, _ := child(t, keys, fenced, access.Key{})
	for _, test := range []struct {
		name string
		id   string
		from netip.Addr
		want bool
	}{
		{"no key", "", awayAddress, true},
		{"a key without networks", free.ID, awayAddress, true},
		{"a key in its network", fenced.ID, homeAddress, true},
		{"a key elsewhere", fenced.ID, awayAddress, false},
		{"a key whose parent is in its network", mine.ID, homeAddress, true},
		{"a key whose parent is elsewhere", mine.ID, awayAddress, false},
	} {
		if got := keys.Allows(test.id, test.from); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// The reason for a replaced secret is that, unless the whole key has ended.
func TestReplacedSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			name   string
			end    time.Duration // of the key, after the rotation
			revoke bool
			want   string
		}{
			{"replaced", 0, false, "this key was replaced by a newer one"},
			{"replaced and revoked", 0, true, "this key was revoked"},
			{"replaced and expired", time.Minute, false, "this key has expired"},
		} {
			keys, _, _ := replicas(t)
			key := access.Key{}
			if test.end > 0 {
				key.ExpiresAt = time.Now().Add(test.end)
			}
			made, old := create(t, keys, key)
			if _, _, err := keys.Rotate(t.Context(), made.ID, 0); err != nil {
				t.Fatal(err)
			}
			if test.revoke {
				if _, err := keys.Revoke(t.Context(), made.ID); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(test.end)
			if _, err := keys.ByText(t.Context(), old, noAddress); err == nil || err.Error() != test.want {
				t.Errorf("%s: %v, want %s", test.name, err, test.want)
			}
		}
	})
}

// A record with a digest of another length is not a key.
func TestDigestOfARecord(t *testing.T) {
	p := newPeople(t)
	key, raw := create(t, p.keys, access.Key{})
	body, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	sum := strings.SplitN(strings.SplitN(string(body), `"sha256":"`, 2)[1], `"`, 2)[0]
	for _, bad := range []string{sum[:62], sum + "00", "zz" + sum[2:]} {
		record := store.Record{Kind: "key", ID: key.ID, Body: strings.Replace(string(body), sum, bad, 1), Revision: store.AnyRevision}
		if _, err := store.PutRecord(t.Context(), p.db, record); err != nil {
			t.Fatal(err)
		}
		if err := p.keys.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, known := p.keys.Key(key.ID); known {
			t.Errorf("a key with the digest %s is known", bad)
		}
	}
	if err := admitted(t, p.keys, raw); err == nil {
		t.Error("a key whose record cannot be read is admitted")
	}
}
