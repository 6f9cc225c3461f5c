package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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

// TestKeyEndsItsWebhooks revokes a key while a webhook that was made with it gets
// deliveries from two replicas: both stop, other webhooks continue, and after the
// adoption nothing is missing.
func TestKeyEndsItsWebhooks(t *testing.T) {
	t.Parallel()
	for engine, newStore := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			start := func() *service { return startReplica(t, store, "--source", "none", "--webhook-allow-private") }
			one, other := start(), start()
			owner := pregon(t, store, "keys", "create", "--plan", "pro")
			var made struct{ ID, Key string }
			demand(t, one.url, owner, http.MethodPost, "/api/v1/account/keys", map[string]any{"name": "desk"}, &made, http.StatusCreated)
			kept, ended := newReceiver(t, false), newReceiver(t, false)
			kept.register(t, one.url, owner)
			ended.register(t, other.url, made.Key)
			published := int64(0)
			publish := func(n int) {
				t.Helper()
				file := filepath.Join(t.TempDir(), "reports.jsonl")
				var lines strings.Builder
				for range n {
					published++
					fmt.Fprintf(&lines, `{"type":"OIR","cnmv_registration_number":"%d","company_name":"FICTICIA, S.A.","title":"[Simulación] %d","published_at":%q}`+"\n",
						43000+published, published, time.Now().UTC().Format(time.RFC3339))
				}
				if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				pregon(t, store, "import", "reports", file)
			}
			complete := func(r *receiver) { t.Helper(); eventually(t, func() error { return r.complete(0, published) }) }
			publish(50)
			complete(kept)
			complete(ended)

			publish(500)
			pregon(t, store, "keys", "revoke", made.ID) // while deliveries are sent
			for _, s := range []*service{one, other} {
				eventually(t, func() error {
					var h struct {
						Paused *string `json:"paused_reason"`
					}
					if _, err := call(t.Context(), s.url, owner, http.MethodGet, "/api/v1/webhooks/"+ended.hook.ID, nil, &h); err != nil || h.Paused == nil {
						return errors.Join(err, errors.New("the webhook is not paused"))
					}
					return nil
				})
			}
			sent, err := ended.all()
			if err != nil {
				t.Fatal(err)
			}
			publish(50)
			complete(kept)
			if now, err := ended.all(); err != nil || len(now) > len(sent)+1 { // one may have been in progress
				t.Errorf("%d deliveries after the key was revoked, %v", len(now)-len(sent), err)
			}
			demand(t, other.url, owner, http.MethodPost, "/api/v1/webhooks/"+ended.hook.ID+"/adopt", nil, nil, http.StatusOK)
			complete(ended)
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
