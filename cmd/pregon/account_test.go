package main_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// TestAccountOfKeys manages keys over REST, with two replicas: what one of them makes
// or revokes holds at the other, and the audit names who did it.
func TestAccountOfKeys(t *testing.T) {
	t.Parallel()
	for engine, newStore := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			one, other := startReplica(t, store, "--source", "none"), startReplica(t, store, "--source", "none")
			holder, operator := pregon(t, store, "keys", "create", "--plan", "pro"), pregon(t, store, "keys", "create", "--plan", "operator")
			var made, by struct{ ID, Key string }
			if status, err := call(t.Context(), one.url, holder, http.MethodPost, "/api/v1/account/keys", map[string]any{"name": "export"}, &made); err != nil || status != http.StatusCreated {
				t.Fatal(status, err)
			}
			if status, err := call(t.Context(), other.url, made.Key, http.MethodGet, "/api/v1/account", nil, nil); err != nil || status != http.StatusOK {
				t.Fatal(status, err)
			}
			if _, err := call(t.Context(), other.url, operator, http.MethodGet, "/api/v1/account", nil, &by); err != nil {
				t.Fatal(err)
			}
			if status, _ := call(t.Context(), other.url, operator, http.MethodDelete, "/api/v1/account/keys/"+made.ID, nil, nil); status != http.StatusNoContent {
				t.Fatalf("the operator got %d", status)
			}
			eventually(t, func() error {
				if one.status(t, "/api/v1/account", "X-API-Key", made.Key) != http.StatusUnauthorized {
					return errors.New("the revoked key is valid")
				}
				return nil
			})
			if err := other.end(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			if log := other.log.String(); !strings.Contains(log, "event=key.revoked key="+made.ID) || !strings.Contains(log, "actor="+by.ID) {
				t.Errorf("the log does not tell that %s revoked %s:\n%s", by.ID, made.ID, log)
			}
		})
	}
}

// TestNoSignIn serves no account and tells of none.
func TestNoSignIn(t *testing.T) {
	t.Parallel()
	store := engines["sqlite"](t)
	s := startReplica(t, store, "--source", "none", "--signin", "off")
	key := pregon(t, store, "keys", "create", "--plan", "operator")
	for _, path := range []string{"/api/v1/account", "/api/v1/account/keys", "/api/v1/account/owners", "/signin", "/account", "/oauth/authorize"} {
		if status := s.status(t, path, "X-API-Key", key); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
	for _, path := range []string{"/openapi.json", "/openapi.yaml", "/llms.txt", "/llms-full.txt"} {
		text, err := get(s.url, []string{path})
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"/api/v1/account", "sign-in", "authorization_code"} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s has %q", path, word)
			}
		}
	}
	resp, err := http.Get(s.url + "/developers")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte("<html")) || bytes.Contains(page, []byte(`href="/account"`)) {
		t.Error("pages link to an account")
	}
}
