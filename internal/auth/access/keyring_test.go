package access_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trail is an audit that tests can read.
type trail struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (l *trail) record(ctx context.Context, event string, attrs ...slog.Attr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slog.New(slog.NewTextHandler(&l.buf, nil)).LogAttrs(ctx, slog.LevelInfo, event, attrs...)
}

func (l *trail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *trail) count(event string) int { return strings.Count(l.String(), "msg="+event+" ") }

func openStore(t testing.TB, path string) store.Store {
	t.Helper()
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// replicas returns two keyrings on one store, as in two processes.
func replicas(t testing.TB) (a, b *access.Keyring, log *trail) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pregon.db")
	log = &trail{}
	return access.NewKeyring(openStore(t, path), log.record), access.NewKeyring(openStore(t, path), log.record), log
}

func create(t testing.TB, k *access.Keyring, key access.Key) (access.Key, string) {
	t.Helper()
	if key.Plan == "" {
		key.Plan = "pro"
	}
	if key.Scopes == 0 {
		key.Scopes = access.AllScopes
	}
	key, raw, err := k.Create(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return key, raw
}

// admitted reports whether a guard admits a key, or why not.
func admitted(t testing.TB, k *access.Keyring, raw string) error {
	t.Helper()
	g := access.NewGuard(access.Options{Keys: k, BaseURL: "https://pregon.example"})
	_, _, err := ask(g, access.Requirement{}, "", "X-API-Key", raw)
	return err
}

func follow(t testing.TB, keyrings ...*access.Keyring) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	for _, k := range keyrings {
		done.Go(func() { _ = k.Follow(ctx) })
	}
	t.Cleanup(func() { cancel(); done.Wait() })
}

// eventually waits for what must happen.
func eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	waittest.For(t, what, happened)
}

func TestKeyIsKnownAtOnceAndRevokedEverywhere(t *testing.T) {
	a, b, log := replicas(t)
	key, raw := create(t, a, access.Key{Name: "Ana"})
	if err := admitted(t, b, raw); err != nil { // which has not looked since
		t.Fatalf("a new key is refused by another replica: %v", err)
	}
	follow(t, a, b)
	if _, err := a.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]*access.Keyring{"this": a, "another": b} {
		eventually(t, "revoked on "+name, func() bool { return admitted(t, k, raw) != nil })
		if err := admitted(t, k, raw); fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("on %s: %v", name, err)
		}
	}
	if b.Valid(key.ID) {
		t.Error("a revoked key is alive")
	}
	again, err := b.Revoke(t.Context(), key.ID)
	if err != nil || again.RevokedAt.IsZero() {
		t.Errorf("revoked again: %v", err)
	}
	if _, _, err := b.Rotate(t.Context(), key.ID, time.Hour); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a revoked key was rotated: %v", err)
	}
	g := access.NewGuard(access.Options{Keys: a, BaseURL: "https://pregon.example", Audit: log.record})
	_, _, _ = ask(g, access.Requirement{}, "", "X-API-Key", raw)
	if !strings.Contains(log.String(), "msg=credential.refused reason=\"this key was revoked\" client_ip=192.0.2.1 key="+key.ID) {
		t.Errorf("the audit does not name the key: %s", log)
	}
	if _, err := a.Revoke(t.Context(), raw); err == nil || strings.Contains(err.Error(), raw) {
		t.Errorf("a key in the place of an id is repeated: %v", err)
	}
	if log.count("key.created") != 1 || log.count("key.revoked") != 2 || strings.Contains(log.String(), raw) {
		t.Error(log)
	}
}

func TestUnknownKey(t *testing.T) {
	a, b, _ := replicas(t)
	_, raw := create(t, access.NewKeyring(openStore(t, filepath.Join(t.TempDir(), "other.db")), nil), access.Key{})
	for _, k := range []*access.Keyring{a, b} {
		if err := admitted(t, k, raw); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("a key of another store: %v", err)
		}
	}
	if _, err := a.Revoke(t.Context(), "key_x"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if _, err := a.Find(raw); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

func TestExpiry(t *testing.T) {
	a, _, _ := replicas(t)
	_, raw := create(t, a, access.Key{ExpiresAt: time.Now().Add(2 * time.Second)})
	if err := admitted(t, a, raw); err != nil {
		t.Fatal(err)
	}
	eventually(t, "expired", func() bool { return admitted(t, a, raw) != nil })
	if err := admitted(t, a, raw); !strings.Contains(err.Error(), "expired") {
		t.Error(err)
	}
	if _, _, err := a.Create(t.Context(), access.Key{Plan: "pro", Scopes: 1, ExpiresAt: time.Now().Add(-time.Hour)}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("made a key that has expired: %v", err)
	}
}

func TestRotation(t *testing.T) {
	a, b, _ := replicas(t)
	key, first := create(t, a, access.Key{Scopes: access.ReadIssuers})
	rotated, second, err := b.Rotate(t.Context(), key.ID, time.Hour)
	if err != nil || rotated.ID != key.ID || second == first || len(rotated.Secrets) != 2 {
		t.Fatalf("%+v, %v", rotated, err)
	}
	for _, raw := range []string{first, second} {
		if err := admitted(t, a, raw); err != nil {
			t.Errorf("while they overlap: %v", err)
		}
	}
	g := access.NewGuard(access.Options{Keys: a, BaseURL: "https://pregon.example"})
	if p, _, err := ask(g, access.Requirement{}, "", "X-API-Key", first); err != nil || p.Expires.IsZero() { // what it opened must end with it
		t.Errorf("the older key ends at %v, %v", p.Expires, err)
	}
	// Without an overlap only the newest is left, also of those before.
	if err := a.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, third, err := a.Rotate(t.Context(), key.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]bool{first: false, second: false, third: true} {
		if err := admitted(t, b, raw); (err == nil) != want {
			t.Errorf("after a rotation without overlap: %v", err)
		}
	}
	if id, err := b.Find(third + "\n"); err != nil || id != key.ID {
		t.Errorf("%s, %v", id, err)
	}
}

// Two concurrent changes of a key both succeed, and neither undoes the other: a revoked
// key stays revoked.
func TestConcurrentChanges(t *testing.T) {
	a, b, _ := replicas(t)
	for range 10 {
		key, _ := create(t, a, access.Key{})
		var changes sync.WaitGroup
		changes.Go(func() { _, _, _ = a.Rotate(t.Context(), key.ID, time.Hour) })
		changes.Go(func() {
			if _, err := b.Revoke(t.Context(), key.ID); err != nil {
				t.Error(err)
			}
		})
		changes.Wait()
		if err := a.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a.Valid(key.ID) {
			t.Fatal("a revoked key lives again")
		}
	}
}

func TestUseIsRecorded(t *testing.T) {
	a, b, log := replicas(t)
	key, raw := create(t, a, access.Key{})
	idle, _ := create(t, a, access.Key{Name: "idle"})
	follow(t, a, b)
	for range 100 {
		for _, k := range []*access.Keyring{a, b} {
			if err := admitted(t, k, raw); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, "the use of a key is noted", func() bool {
		keys, err := a.List(t.Context())
		if err != nil || len(keys) != 2 {
			t.Fatal(keys, err)
		}
		for _, k := range keys {
			if k.ID == idle.ID && !k.Last.IsZero() {
				t.Error("a key that was not used is noted")
			}
		}
		return !keys[0].Last.IsZero() || !keys[1].Last.IsZero()
	})
	eventually(t, "the audit knows of the first use", func() bool { return log.count("key.first_used") == 1 })
	if !strings.Contains(log.String(), "key.first_used key="+key.ID) || strings.Contains(log.String(), raw) {
		t.Error(log)
	}
}

// While the store does not answer, known keys stay valid, and Behind reports it.
func TestStoreIsDown(t *testing.T) {
	db := &broken{Store: openStore(t, filepath.Join(t.TempDir(), "pregon.db"))}
	k := access.NewKeyring(db, nil)
	_, raw := create(t, k, access.Key{})
	if err := admitted(t, k, raw); err != nil {
		t.Fatal(err)
	}
	other := access.NewKeyring(db.Store, nil)
	_, unseen := create(t, other, access.Key{})
	db.err = errors.New("gone")
	if err := admitted(t, k, raw); err != nil {
		t.Errorf("a known key is refused: %v", err)
	}
	if err := admitted(t, k, unseen); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("an unknown key while the store fails: error %v, want Unavailable", err)
	}
	if err := k.Refresh(t.Context()); err == nil {
		t.Error("the failure is not reported")
	}
	eventually(t, "the keyring falls behind", func() bool { return k.Behind() > 0 })
}

type broken struct {
	store.Store
	err error
}

func (b *broken) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.Store.RecordsSince(ctx, kind, revision)
}

// A record of a newer program does not affect the others.
func TestUnreadableRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	db, log := openStore(t, path), &trail{}
	k := access.NewKeyring(db, log.record)
	_, raw := create(t, k, access.Key{})
	for id, body := range map[string]string{"key_a": "{", "key_b": `{"id":"key_b","plan":"pro","scopes":"write:all"}`, "key_c": `{"id":"key_d","plan":"pro","scopes":"read:reports"}`} {
		if _, err := store.PutRecord(t.Context(), db, store.Record{Kind: "key", ID: id, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := admitted(t, k, raw); err != nil {
		t.Errorf("a good key is refused: %v", err)
	}
	if log.count("key.unreadable") != 3 {
		t.Error(log)
	}
}

func TestInvalidKeys(t *testing.T) {
	a, _, _ := replicas(t)
	for name, key := range map[string]access.Key{
		"no plan":      {Scopes: 1},
		"another plan": {Plan: "free", Scopes: 1},
		"no scope":     {Plan: "pro"},
		"long name":    {Plan: "pro", Scopes: 1, Name: strings.Repeat("x", 101)},
		"two lines":    {Plan: "pro", Scopes: 1, Name: "a\nb"},
	} {
		if _, _, err := a.Create(t.Context(), key); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A look-up tells nothing about a part of a key: keys that begin like a valid one are
// answered like any other.
func TestGuessesByPart(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	keys, _, log := replicas(t)
	_, raw := create(t, keys, access.Key{})
	const unknown = "pregon_live_0123456789ABCDEFGHIJKLMNOPQRSTUV1XA6Dk"
	want := admitted(t, keys, unknown)
	if want == nil {
		t.Fatal("an unknown key is admitted")
	}
	const prefix = len("pregon_live_")
	for n := 1; n <= 32; n++ {
		guess := raw[:prefix+n] + strings.Repeat("0", 32-n)
		if guess == raw[:prefix+32] {
			continue
		}
		if got := admitted(t, keys, access.WithChecksum(guess)); got == nil || got.Error() != want.Error() {
			t.Errorf("with %d right characters: %v, want %v", n, got, want)
		}
	}
	if err := admitted(t, keys, raw); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), raw[:prefix+8]) {
		t.Error("the audit has a part of the key")
	}
}
