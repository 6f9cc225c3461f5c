package token_test

import (
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/auth/secret"
	"pregon/internal/auth/token"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// process is the service on a real store.
func process(t *testing.T, path, key string) (*world, *sqlite.Store) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	box, err := secret.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	ring := token.NewRing(db, box, nil)
	if _, err := ring.LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := config()
	c.Issuers = c.Issuers[:1]
	c.Issuers[0].Clients = c.Issuers[0].Clients[:1]
	server, err := token.New(token.Options{
		Config: c, BaseURL: base, Ring: ring, Nonces: db,
		Keys: func(string, string, bool) (token.KeySource, error) {
			return &source{keys: []jose.JSONWebKey{public("rsa", idpRSA())}}, nil
		},
		Client: func(*http.Request) netip.Addr { return netip.Addr{} }, Failures: &limiter{},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, ring: ring, server: server, mux: http.NewServeMux()}
	server.Register(w.mux)
	return w, db
}

// Two processes on one database are one service.
func TestReplicas(t *testing.T) {
	path, key := filepath.Join(t.TempDir(), "pregon.db"), strings.Repeat("k", 32)
	a, db := process(t, path, key)
	b, _ := process(t, path, key)

	ask := a.exchange()
	ask.assertion = ask.signed()
	raw := ask.good().AccessToken
	if !a.accepts(raw) || !b.accepts(raw) {
		t.Error("a token is not good at both")
	}
	ask.w = b
	if got := ask.do(); got.Error != "invalid_request" || !strings.Contains(got.Description, "used before") {
		t.Errorf("the assertion is good at the other too: %d %s", got.Code, got.Body)
	}

	a.rotate(true)
	if fresh := a.token(); !b.accepts(fresh) || a.accepts(raw) || b.accepts(raw) {
		t.Error("they do not agree after a rotation")
	}

	records, err := store.Records(db).RecordsSince(t.Context(), "signing-key", 0)
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		if !strings.Contains(r.Body, `"private_key":"v1:`) {
			t.Errorf("not sealed: %s", r.Body)
		}
	}
}
