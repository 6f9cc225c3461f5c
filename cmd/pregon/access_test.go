package main_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pregon/internal/server/ratelimit/redistest"
	"pregon/internal/test/longtest"
)

// startReplica starts a service on a store, until the test ends.
func startReplica(t *testing.T, store string, args ...string) *service {
	t.Helper()
	s, err := startService([]string{"PREGON_STORE=" + store}, t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// status sends a request with one header, and returns the status.
func (s *service) status(t *testing.T, path, header, value string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != "" {
		req.Header.Set(header, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// pregon runs a command on a store and returns its output.
func pregon(t *testing.T, store string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, append(args, "--store", store)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pregon %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// A key works on every replica as soon as it is printed, and on none soon after
// it was revoked.
func TestKeysOnReplicas(t *testing.T) {
	longtest.Skip(t, "two programs read and write keys")
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			replicas := []*service{startReplica(t, store), startReplica(t, store)}
			key := pregon(t, store, "keys", "create", "--plan", "enterprise")
			for i, s := range replicas {
				if got := s.status(t, "/api/v1/reports", "X-API-Key", key); got != http.StatusOK {
					t.Errorf("replica %d with a new key: got status %d, want 200", i, got)
				}
			}
			id, _, _ := strings.Cut(strings.SplitAfter(pregon(t, store, "keys", "list"), "\n")[1], " ")
			pregon(t, store, "keys", "revoke", id)
			for i, s := range replicas {
				eventually(t, func() error { // two seconds are promised; this machine may be busy
					if s.status(t, "/api/v1/reports", "X-API-Key", key) != http.StatusUnauthorized {
						return fmt.Errorf("replica %d still accepts a revoked key", i)
					}
					return nil
				})
			}
		})
	}
}

// Exactly 60 of 200 simultaneous requests are allowed by two processes that
// share their counts. Without Redis each counts for itself, from the requests it has
// allowed, and logs it. On a machine so busy that Redis does not answer in time,
// each counts for itself from the start; internal/server/ratelimit has the exact test.
func TestAnonymousLimitThroughRedis(t *testing.T) {
	longtest.Skip(t, "it needs Redis")
	redis := redistest.Start(t)
	store := engines["sqlite"](t)
	args := []string{"--anonymous-limit", "60", "--redis", redis.URL()}
	replicas := []*service{startReplica(t, store, args...), startReplica(t, store, args...)}
	var mu sync.Mutex
	passed := map[int]int{}
	began := time.Now()
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			status := replicas[i%2].status(t, "/api/v1/issuers", "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i))
			mu.Lock()
			defer mu.Unlock()
			passed[status]++
		})
	}
	all.Wait()
	most := 60
	if time.Since(began) > time.Second || slices.ContainsFunc(replicas, func(s *service) bool { return strings.Contains(s.log.String(), "Redis does not answer") }) {
		most = 2 * 60 // a request may have waited too long for Redis
	}
	if n := passed[200]; n < 60 || n > most && time.Since(began) < time.Minute || n+passed[429] != 200 {
		t.Errorf("statuses: got %v, want 200 at most %d times", passed, most)
	}
	key := pregon(t, store, "keys", "create", "--plan", "pro")
	shared := func(want string) {
		t.Helper()
		eventually(t, func() error {
			if got := replicas[0].shared(t, key); got != want {
				return fmt.Errorf("shared is %s, want %s", got, want)
			}
			return nil
		})
	}
	shared("up")
	redis.Kill()
	more := 0
	for range 200 {
		for _, s := range replicas {
			if s.status(t, "/api/v1/issuers", "", "") == http.StatusOK {
				more++
			}
		}
	}
	// The limit is twice 60, and each process counts the requests of the last minute.
	if passed[200]+more > 120 && time.Since(began) < time.Minute {
		t.Errorf("without Redis: got %d more allowed requests after %d", more, passed[200])
	}
	shared("down")
}

// shared returns the field of the status that says whether replicas share their
// counts.
func (s *service) shared(t *testing.T, key string) string {
	t.Helper()
	dump, err := get(s.url, []string{"-H", "X-API-Key: " + key, "/api/v1/status"})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(dump), `"shared":"`)
	word, _, _ := strings.Cut(rest, `"`)
	return word
}

// Third-party clients authenticate and verify the tokens and metadata they get.
func TestOAuthClients(t *testing.T) {
	longtest.Skip(t, "it needs clients from npm")
	const checker = "../../checkers/oauth.mjs"
	dir := t.TempDir()
	node := func(args ...string) {
		t.Helper()
		out, err := exec.Command("node", append([]string{checker}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", checker, err, out)
		}
	}
	node("keys", dir)
	config := filepath.Join(dir, "access.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, `
issuers:
  - issuer: https://idp.example
    jwks_file: %[1]s/idp.jwks.json
    scopes: [read:reports, read:issuers]
    clients:
      - { id: public, auth: none }
      - { id: basic, auth: client_secret_basic, secret_sha256: %[2]s }
      - { id: post, auth: client_secret_post, secret_sha256: %[2]s }
      - { id: signed, auth: private_key_jwt, jwks_file: %[1]s/client.jwks.json }
`, dir, clientSecretSHA256), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startReplica(t, engines["sqlite"](t), "--config", config)
	node("check", s.url, dir)
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	log := s.log.String()
	for _, event := range []string{"token.issued", "token.refused", "credential.refused"} {
		if !strings.Contains(log, "msg=audit event="+event) {
			t.Errorf("the log has no %s event", event)
		}
	}
	for _, secret := range []string{"eyJ", "s3cret"} {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in the log:\n%s", secret, log)
		}
	}
}

// clientSecretSHA256 is the hash of the secret in checkers/oauth.mjs.
const clientSecretSHA256 = "215fe5106c263fb1baabe9f38bc8f67f88a92d77b2e7d4640ba39d88e4568909"
