package main_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A signing key that is replaced at once ends the streams of its tokens
// on every replica, while they run.
func TestSigningKeyRotatedAtOnce(t *testing.T) {
	t.Parallel()
	store := engines["sqlite"](t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", trustKey(t, &key.PublicKey)}
	replicas := []*service{startReplica(t, store, args...), startReplica(t, store, args...)}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var open []io.ReadCloser
	for _, s := range replicas {
		token := tokenOf(t, s, key)
		for _, path := range []string{"/api/v1/stream", "/api/v1/stream?type=HR"} {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Fatalf("%s: status %d", path, res.StatusCode)
			}
			open = append(open, res.Body)
		}
	}
	pregon(t, store, "signing-key", "rotate", "--at-once")
	for i, body := range open {
		said, err := io.ReadAll(body)
		if err != nil || !strings.Contains(string(said), "the credential is no longer valid") {
			t.Errorf("stream %d ended with %v:\n%s", i, err, said)
		}
	}
}

// trustKey returns a configuration that trusts the assertions that a key signed.
func trustKey(t *testing.T, public *ecdsa.PublicKey) string {
	t.Helper()
	dir := t.TempDir()
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "idp.jwks.json"), set, 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "access.yaml")
	if err := os.WriteFile(config, []byte(`
issuers:
  - issuer: https://idp.example
    audiences: [pregon]
    jwks_file: idp.jwks.json
    scopes: [read:reports]
    clients: [{ id: agent, auth: none }]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

// tokenOf exchanges an assertion that a key signed for an access token.
func tokenOf(t *testing.T, s *service, key *ecdsa.PrivateKey) string {
	t.Helper()
	return tokenAt(t, s, key, time.Now())
}

// tokenAt is tokenOf at the time of another clock.
func tokenAt(t *testing.T, s *service, key *ecdsa.PrivateKey, now time.Time) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(fmt.Appendf(nil, `{"iss":"https://idp.example","sub":"ana","aud":"pregon","client_id":"agent","jti":%q,"iat":%d,"exp":%d}`,
		rand.Text(), now.Unix(), now.Add(time.Minute).Unix()))
	if err != nil {
		t.Fatal(err)
	}
	assertion, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.PostForm(s.url+"/api/auth/token", url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"},
		"assertion":  {assertion},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v", res.StatusCode, err)
	}
	return got.Access
}
