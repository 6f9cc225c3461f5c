package auth_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth"
	"pregon/internal/auth/access"
	"pregon/internal/auth/oauth"
	"pregon/internal/auth/secret"
	"pregon/internal/auth/token"
	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// Requests of a client are limited, as New sets it up.
func TestClientLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		box, err := secret.NewBox("")
		if err != nil {
			t.Fatal(err)
		}
		var c auth.Config
		c.SignIn.OAuth.Clients = []oauth.ClientConfig{{Client: token.Client{ID: "desk", Auth: "none"}, RedirectURIs: []string{"https://desk.example/cb"}}}
		a, err := auth.New(t.Context(), auth.Options{
			Config: c, SignIn: true,
			Store: db, Box: box, BaseURL: "https://pregon.example", Logger: slog.New(slog.DiscardHandler), Audit: func(context.Context, string, ...slog.Attr) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		mux := http.NewServeMux()
		a.OAuth.Register(mux)
		for i := range 61 {
			r := httptest.NewRequest(http.MethodPost, "/oauth/revoke", strings.NewReader("client_id=desk&token=unknown"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			if want := i < 60; (w.Code == http.StatusOK) != want || !want && w.Code != http.StatusTooManyRequests {
				t.Fatalf("request %d: %d %s", i, w.Code, w.Body)
			}
		}
	})
}

// TestUsage: what a key uses is in the store when the service has stopped.
func TestUsage(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	box, err := secret.NewBox("")
	if err != nil {
		t.Fatal(err)
	}
	a, err := auth.New(t.Context(), auth.Options{
		Store: db, Box: box, BaseURL: "https://pregon.example", Logger: slog.New(slog.DiscardHandler), Audit: func(context.Context, string, ...slog.Attr) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	key, raw, err := a.Keys.Create(t.Context(), access.Key{Plan: "pro", Scopes: access.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- a.Run(ctx) }()
	first := disclosure.DayOf(time.Now())
	r := httptest.NewRequest(http.MethodGet, "/api/v1/reports", nil)
	r.Header.Set("X-API-Key", raw)
	if _, err := a.Guard.Admit(httptest.NewRecorder(), r, access.Requirement{Operation: "getReports"}); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-ended
	got, err := db.Counts(t.Context(), key.ID, first, first+1)
	if err != nil || len(got) != 1 {
		t.Fatalf("Counts = %v, %v", got, err)
	}
	if diff := cmp.Diff(store.Count{Account: key.ID, Day: got[0].Day, Operation: "getReports", N: 1}, got[0]); diff != "" {
		t.Errorf("the count (-want +got):\n%s", diff)
	}
}
