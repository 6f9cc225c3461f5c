package sealing_test

import (
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/auth/sealing"
	"pregon/internal/auth/secret"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

func openStore(t *testing.T, path string) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func box(t *testing.T, key string) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var outer = strings.Repeat("0123456789", 4)

// Replicas open what others sealed, until the key is replaced.
func TestReplicas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	db := openStore(t, path)
	one, two := sealing.New(db, box(t, outer), nil), sealing.New(openStore(t, path), box(t, outer), nil)
	for _, k := range []*sealing.Key{one, two, one} {
		if err := k.LoadOrCreate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sealed := one.SealToken("cookie", "text")
	if text, ok := two.OpenToken("cookie", sealed); !ok || text != "text" {
		t.Errorf("%q, %v", text, ok)
	}
	if _, ok := two.OpenToken("code", sealed); ok {
		t.Error("it opens under another name")
	}
	if err := two.Replace(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := one.LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := one.OpenToken("cookie", sealed); ok {
		t.Error("it opens after the key was replaced")
	}
	records, err := db.RecordsSince(t.Context(), "sealing-key", 0)
	if err != nil || len(records) != 1 || !strings.HasPrefix(records[0].Body, "v1:") {
		t.Errorf("%v, %v", records, err)
	}
}

// Without the secret of the environment the service does not start with another key:
// replicas would not understand each other.
func TestLostSecret(t *testing.T) {
	db := openStore(t, filepath.Join(t.TempDir(), "pregon.db"))
	if err := sealing.New(db, box(t, outer), nil).LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := sealing.New(db, box(t, outer+"x"), nil)
	if err := other.LoadOrCreate(t.Context()); err == nil || !strings.Contains(err.Error(), "PREGON_SECRET_KEY") {
		t.Fatal(err)
	}
	if err := other.Replace(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := other.LoadOrCreate(t.Context()); err != nil {
		t.Error(err)
	}
}
