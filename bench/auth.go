package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// auth compares requests a second with a credential to those without a credential
// and without a limit. It alternates between two services that differ only in the
// limit. It compares the processor time of a request too, which varies less on a machine
// with other work.
func (b *bench) auth() error {
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-auth-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	idp, err := newIDP(dir)
	if err != nil {
		return err
	}
	open, err := b.serve(path, "--config", idp.config)
	if err != nil {
		return err
	}
	defer open.stop()
	limited, err := b.serve(path, "--anonymous-limit", "1000000")
	if err != nil {
		return err
	}
	defer limited.stop()
	out, err := exec.Command(b.program, "keys", "create", "--plan", "pro", "--store", "sqlite:"+path).Output()
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	token, err := idp.token(open.url)
	if err != nil {
		return err
	}
	const target = "/api/v1/reports"
	kinds := []struct {
		name    string
		p       *process
		request []byte
	}{
		{"auth.overhead.key", open, request(target, "X-API-Key: "+strings.TrimSpace(string(out)))},
		{"auth.overhead.jwt", open, request(target, "Authorization: Bearer "+token)},
		{"auth.overhead.anonymous", limited, request(target)},
	}
	rates, costs := make([][]float64, len(kinds)), make([][]float64, len(kinds))
	for range rounds {
		for i, k := range kinds {
			without, withoutCost, err := open.rateAndCost([][]byte{request(target)})
			if err != nil {
				return err
			}
			with, withCost, err := k.p.rateAndCost([][]byte{k.request})
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], with/without)
			costs[i] = append(costs[i], withoutCost/withCost)
		}
	}
	for i, k := range kinds {
		figure(k.name, median(rates[i]), "ratio")
		figure(k.name+".processor", median(costs[i]), "ratio")
	}
	return nil
}

// rateAndCost returns the requests a second that a service answers, and its processor time
// for each of them in seconds.
func (p *process) rateAndCost(requests [][]byte) (perSecond, cost float64, err error) {
	before, err := p.busy()
	if err != nil {
		return 0, 0, err
	}
	if perSecond, err = rate(p.url, requests, spell); err != nil {
		return 0, 0, err
	}
	after, err := p.busy()
	return perSecond, (after - before).Seconds() / (perSecond * spell.Seconds()), err
}

// idp is an identity provider that a service trusts.
type idp struct {
	key    *ecdsa.PrivateKey
	config string
}

func newIDP(dir string) (*idp, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
	if err != nil {
		return nil, err
	}
	p := &idp{key, filepath.Join(dir, "access.yaml")}
	if err := os.WriteFile(filepath.Join(dir, "keys.json"), keys, 0o600); err != nil {
		return nil, err
	}
	return p, os.WriteFile(p.config, fmt.Appendf(nil, `
issuers:
  - issuer: https://idp.example
    jwks_file: %s/keys.json
    scopes: [read:reports, read:issuers, read:analytics]
    clients: [{ id: bench, auth: none }]
`, dir), 0o600)
}

// token exchanges an assertion for an access token.
func (p *idp) token(base string) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}},
		(&jose.SignerOptions{}).WithType("oauth-id-jag+jwt"))
	if err != nil {
		return "", err
	}
	now := time.Now()
	assertion, err := jwt.Signed(signer).Claims(map[string]any{
		"iss": "https://idp.example", "sub": "bench", "aud": base, "client_id": "bench", "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	}).Serialize()
	if err != nil {
		return "", err
	}
	resp, err := http.PostForm(base+"/api/auth/token", url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion},
	})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
		Error string `json:"error_description"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("no token: %s %v", answer.Error, err)
	}
	return answer.Token, nil
}
