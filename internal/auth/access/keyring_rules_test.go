package access_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// The owner of a key may change its name, end and networks while it is valid.
func TestChange(t *testing.T) {
	keys, _, log := replicas(t)
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	key, _ := create(t, keys, access.Key{Name: "first", ExpiresAt: end, Networks: homeNetwork})
	if got, err := keys.Change(t.Context(), key.ID, access.KeyChange{}); err != nil || got.Name != "first" || !got.ExpiresAt.Equal(end) || len(got.Networks) != 1 {
		t.Errorf("a change of nothing: %+v, %v", got, err)
	}
	name := "second"
	never := time.Time{}
	if got, err := keys.Change(t.Context(), key.ID, access.KeyChange{Name: &name, ExpiresAt: &never, Networks: &[]netip.Prefix{}}); err != nil || got.Name != name || !got.ExpiresAt.IsZero() || len(got.Networks) != 0 {
		t.Errorf("a change of everything: %+v, %v", got, err)
	}
	if stored, known := keys.Key(key.ID); !known || stored.Name != name {
		t.Errorf("%+v, %v", stored, known)
	}
	if log.count("key.changed") != 2 {
		t.Error(log)
	}
	past := time.Now().Add(-time.Hour)
	if _, err := keys.Change(t.Context(), key.ID, access.KeyChange{ExpiresAt: &past}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an end in the past: %v", err)
	}
	if _, err := keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Change(t.Context(), key.ID, access.KeyChange{Name: &name}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a change of a revoked key: %v", err)
	}
	if _, _, err := keys.Rotate(t.Context(), key.ID, 0); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a rotation of a revoked key: %v", err)
	}
	if got, known := keys.Key("key_gone"); known || got.ID != "" {
		t.Errorf("a key that does not exist: %+v", got)
	}
}

// A key has five secrets at most. Those that have ended do not count, and a rotation
// without an overlap is always possible.
func TestSecretsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, _, _ := replicas(t)
		key, _ := create(t, keys, access.Key{})
		for i := range 4 {
			if _, _, err := keys.Rotate(t.Context(), key.ID, time.Hour); err != nil {
				t.Fatalf("rotation %d: %v", i+1, err)
			}
		}
		if _, _, err := keys.Rotate(t.Context(), key.ID, time.Hour); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "was rotated 4 times") {
			t.Errorf("the fifth rotation: %v", err)
		}
		time.Sleep(time.Hour)
		if got, _, err := keys.Rotate(t.Context(), key.ID, time.Hour); err != nil || len(got.Secrets) != 2 {
			t.Errorf("after the overlap: %+v, %v", got.Secrets, err)
		}
		if got, _, err := keys.Rotate(t.Context(), key.ID, time.Minute); err != nil || time.Until(got.Secrets[0].ExpiresAt) > time.Minute {
			t.Errorf("a shorter overlap does not shorten the one before: %+v, %v", got.Secrets, err)
		}
		if got, _, err := keys.Rotate(t.Context(), key.ID, time.Hour); err != nil || time.Until(got.Secrets[0].ExpiresAt) > time.Minute {
			t.Errorf("a longer overlap lengthens the one before: %+v, %v", got.Secrets, err)
		}
	})
}

// OverlapEnds is the end of the last replaced secret that still works.
func TestOverlapEnds(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) access.Secret { return access.Secret{ExpiresAt: now.Add(d)} }
	for _, test := range []struct {
		name    string
		secrets []access.Secret
		want    time.Time
	}{
		{"no rotation", []access.Secret{{}}, time.Time{}},
		{"one", []access.Secret{at(time.Hour), {}}, now.Add(time.Hour)},
		{"the later of two", []access.Secret{at(2 * time.Hour), at(time.Hour), {}}, now.Add(2 * time.Hour)},
		{"one that is over", []access.Secret{at(0), {}}, time.Time{}},
	} {
		key := access.Key{Secrets: test.secrets}
		if got := key.OverlapEnds(now); !got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// The bounds of a key are those that its error names.
func TestKeyBounds(t *testing.T) {
	keys, _, _ := replicas(t)
	for _, test := range []struct {
		name string
		key  access.Key
		want bool
	}{
		{"a name of 100 bytes", access.Key{Name: strings.Repeat("x", 100)}, true},
		{"a name of 101 bytes", access.Key{Name: strings.Repeat("x", 101)}, false},
		{"a name with a space", access.Key{Name: "my key"}, true},
		{"50 networks", access.Key{Networks: make([]netip.Prefix, 50)}, true},
		{"51 networks", access.Key{Networks: make([]netip.Prefix, 51)}, false},
	} {
		test.key.Plan = "pro"
		test.key.Scopes = access.AllScopes
		if _, _, err := keys.Create(t.Context(), test.key); (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// Changes and lists need the store.
func TestKeysNeedTheStore(t *testing.T) {
	p := newPeople(t)
	key, _ := create(t, p.keys, access.Key{})
	p.db.err = errors.New("gone")
	if _, err := p.keys.Revoke(t.Context(), key.ID); err == nil {
		t.Error("a key is reported as revoked although the store fails")
	}
	if _, raw, err := p.keys.Rotate(t.Context(), key.ID, 0); err == nil || raw != "" {
		t.Errorf("the rotation returned %q although the store fails", raw)
	}
	if _, err := p.keys.List(t.Context()); err == nil {
		t.Error("keys are listed although the store fails")
	}
	if _, err := p.keys.Change(t.Context(), key.ID, access.KeyChange{}); err == nil {
		t.Error("a key is reported as changed although the store fails")
	}
}

// Anonymous callers may read what is public. Others need the scope.
func TestMayRead(t *testing.T) {
	for _, test := range []struct {
		who  access.Principal
		want bool
	}{
		{access.Principal{}, true},
		{access.Principal{Mode: access.ByKey, Scope: access.ReadReports}, true},
		{access.Principal{Mode: access.ByToken, Scope: access.ReadReports | access.ReadIssuers}, true},
		{access.Principal{Mode: access.ByKey, Scope: access.ReadIssuers}, false},
		{access.Principal{Mode: access.BySession}, false},
	} {
		if got := test.who.MayRead(access.ReadReports); got != test.want {
			t.Errorf("%+v: %v, want %v", test.who, got, test.want)
		}
	}
}

// The challenge for a missing scope names it. Other errors have none.
func TestChallengeForAScope(t *testing.T) {
	g := access.NewGuard(access.Options{BaseURL: baseURL})
	h := http.Header{}
	g.Challenge(h, errors.New("another"))
	if got := h.Get("WWW-Authenticate"); got != "" {
		t.Errorf("another error is challenged: %s", got)
	}
	g.Challenge(h, access.Principal{Mode: access.ByKey}.MissingScope(access.ReadIssuers, "This"))
	want := `Bearer error="insufficient_scope", scope="read:issuers", resource_metadata="` + baseURL + `/.well-known/oauth-protected-resource"`
	if got := h.Get("WWW-Authenticate"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The parameter that a refusal names is never a key.
func TestKeyAsTheNameOfAParameter(t *testing.T) {
	_, raw := create(t, access.NewKeyring(openStore(t, t.TempDir()+"/pregon.db"), nil), access.Key{})
	for query, want := range map[string]string{raw: "query", "q=" + raw: "q", "Token=x": "Token"} {
		err := access.RefuseInQuery(query)
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || len(e.Fields) != 1 || e.Fields[0].Name != want {
			t.Errorf("%.20s: %+v, want the field %s", query, e, want)
		}
	}
}

// unwritable is a store of which some calls fail.
type unwritable struct {
	store.Store
	fails map[string]bool // by the name of the method
	uses  chan string     // names of recorded uses
}

func (u *unwritable) PutRecords(ctx context.Context, lease *store.Lease, records ...store.Record) ([]store.Record, error) {
	if u.fails["PutRecords"] {
		return nil, errGone
	}
	return u.Store.PutRecords(ctx, lease, records...)
}

func (u *unwritable) Uses(ctx context.Context) (map[string]store.Use, error) {
	if u.fails["Uses"] {
		return nil, errGone
	}
	return u.Store.Uses(ctx)
}

func (u *unwritable) RecordUse(ctx context.Context, name string, at time.Time) (time.Time, error) {
	defer func() { u.uses <- name }()
	if u.fails["RecordUse"] {
		return time.Time{}, errGone
	}
	return u.Store.RecordUse(ctx, name, at)
}

var errGone = errors.New("gone")

// A key that could not be stored is neither returned nor valid, and a change that could
// not be stored has no effect.
func TestKeysThatAreNotStored(t *testing.T) {
	db := &unwritable{Store: openStore(t, t.TempDir()+"/pregon.db"), fails: map[string]bool{}}
	keys := access.NewKeyring(db, nil)
	key, raw := create(t, keys, access.Key{Name: "first"})
	db.fails["PutRecords"] = true
	if _, raw, err := keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes}); !errors.Is(err, errGone) || raw != "" {
		t.Errorf("a new key: %q, %v", raw, err)
	}
	if _, err := keys.Revoke(t.Context(), key.ID); !errors.Is(err, errGone) {
		t.Errorf("a revocation: %v", err)
	}
	if _, raw, err := keys.Rotate(t.Context(), key.ID, 0); !errors.Is(err, errGone) || raw != "" {
		t.Errorf("a rotation: %q, %v", raw, err)
	}
	if _, err := keys.ByText(t.Context(), raw, noAddress); err != nil || !keys.Valid(key.ID) {
		t.Errorf("the key is not valid after changes that were not stored: %v", err)
	}
	db.fails["Uses"] = true
	if all, err := keys.List(t.Context()); !errors.Is(err, errGone) {
		t.Errorf("a list without the uses: %v, %v", all, err)
	}
}

// A use that could not be recorded is recorded the next time. Otherwise there is one
// record a minute.
func TestUseThatIsNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &unwritable{
			Store: openStore(t, t.TempDir()+"/pregon.db"),
			fails: map[string]bool{"RecordUse": true},
			uses:  make(chan string, 10),
		}
		keys := access.NewKeyring(db, nil)
		_, raw := create(t, keys, access.Key{})
		follow(t, keys)
		use := func(want int) {
			t.Helper()
			if _, err := keys.ByText(t.Context(), raw, noAddress); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if len(db.uses) != want {
				t.Errorf("%d uses were recorded, want %d", len(db.uses), want)
			}
		}
		use(1)
		use(2)
		db.fails["RecordUse"] = false
		use(3)
		use(3)
		time.Sleep(time.Minute)
		use(4)
	})
}

// Only texts with the prefix of keys are keys, even with a right checksum.
func TestPrefixOfKeys(t *testing.T) {
	keys, _, _ := replicas(t)
	random := strings.Repeat("0123456789ABCDEF", 2)
	for text, want := range map[string]string{
		"pregon_live_" + random: "there is no such key",
		"pregon_dead_" + random: "this is not a key of this service",
	} {
		if _, err := keys.ByText(t.Context(), access.WithChecksum(text), noAddress); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A request that did not get a slot does not count for the next ones.
func TestRefusedRequestsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := access.NewSlotLimiter(1, false)
		only := enter(t, p, "ana")
		for range 3 {
			if _, err := p.Acquire(t.Context(), "ana"); fault.KindOf(err) != fault.RateLimited {
				t.Errorf("%v, want that the slots are full", err)
			}
		}
		only.Release()
		next := enter(t, p, "ana")
		next.Release()
	})
}

// Keys are listed with the oldest first, and those of the same second by their ids.
func TestOrderOfKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, _, _ := replicas(t)
		for range 5 {
			create(t, keys, access.Key{AccountID: ana})
			create(t, keys, access.Key{AccountID: ana})
			time.Sleep(time.Second)
		}
		all, err := keys.List(t.Context())
		if err != nil || len(all) != 10 {
			t.Fatal(all, err)
		}
		for i := 1; i < len(all); i++ {
			before, after := all[i-1], all[i]
			if order := before.CreatedAt.Compare(after.CreatedAt); order > 0 || order == 0 && before.ID > after.ID {
				t.Errorf("%s of %v is before %s of %v", before.ID, before.CreatedAt, after.ID, after.CreatedAt)
			}
		}
	})
}
