package jwks

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"pregon/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// modulus is a number that looks like the modulus of an RSA key of a size.
func modulus(bits int) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	return n.SetBit(n, 0, 1)
}

func rsaKey(bits int) *rsa.PublicKey { return &rsa.PublicKey{N: modulus(bits), E: 65537} }

func ecKey(c elliptic.Curve) *ecdsa.PublicKey {
	k, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		panic(err)
	}
	return &k.PublicKey
}

func edKey() ed25519.PublicKey {
	k, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return k
}

// ed is an Ed25519 key of a set with a kid only.
func ed(kid string) string { return jwk(jose.JSONWebKey{Key: edKey(), KeyID: kid}) }

func jwk(k jose.JSONWebKey) string {
	text, err := k.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(text)
}

// with returns a key with members added or, if nil, removed.
func with(key string, members map[string]any) string {
	m := map[string]any{}
	if err := json.Unmarshal([]byte(key), &m); err != nil {
		panic(err)
	}
	for name, value := range members {
		if value == nil {
			delete(m, name)
		} else {
			m[name] = value
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func set(keys ...string) string { return `{"keys":[` + strings.Join(keys, ",") + `]}` }

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// issuer answers requests without a network, for use with synctest.
type issuer struct {
	asked  atomic.Int32
	answer func(*http.Request) (*http.Response, error)
}

func (i *issuer) RoundTrip(req *http.Request) (*http.Response, error) {
	i.asked.Add(1)
	return i.answer(req)
}

func (i *issuer) set() *Set {
	return Remote("https://issuer.example/keys", &http.Client{Transport: i}, quiet)
}

func (i *issuer) wantAsked(t *testing.T, want int32) {
	t.Helper()
	if got := i.asked.Load(); got != want {
		t.Errorf("asked %d times, want %d", got, want)
	}
}

// says returns a response with a body and headers, given as names and values.
func says(body string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}
		for i := 0; i < len(header); i += 2 {
			res.Header.Add(header[i], header[i+1])
		}
		return res, nil
	}
}

var errDown = errors.New("the issuer is down")

func down(*http.Request) (*http.Response, error) { return nil, errDown }

// hangs does not answer until the request is canceled.
func hangs(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// wantKeys checks how many keys of Ed25519 a set has for a kid.
func wantKeys(t *testing.T, s *Set, kid string, want int) {
	t.Helper()
	keys, err := s.Keys(t.Context(), kid, "EdDSA")
	if err != nil || len(keys) != want {
		t.Errorf("kid %q: %d keys, %v; want %d", kid, len(keys), err, want)
	}
}

// wantUnavailable checks that Keys returns an Unavailable fault.
func wantUnavailable(t *testing.T, s *Set, says string) {
	t.Helper()
	keys, err := s.Keys(t.Context(), "a", "EdDSA")
	if keys != nil || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), says) {
		t.Errorf("%d keys, %v; want Unavailable that says %q", len(keys), err, says)
	}
}

func TestKeysByIDAndAlgorithm(t *testing.T) {
	p256, p384, p521 := ecKey(elliptic.P256()), ecKey(elliptic.P384()), ecKey(elliptic.P521())
	i := issuer{answer: says(set(
		jwk(jose.JSONWebKey{Key: rsaKey(2048), KeyID: "rsa"}),
		jwk(jose.JSONWebKey{Key: rsaKey(4096), KeyID: "ps", Algorithm: "PS256", Use: "sig"}),
		jwk(jose.JSONWebKey{Key: p256, KeyID: "p256"}),
		jwk(jose.JSONWebKey{Key: p384, KeyID: "p384"}),
		jwk(jose.JSONWebKey{Key: p521, KeyID: "p521", Algorithm: "ES512"}),
		jwk(jose.JSONWebKey{Key: edKey(), KeyID: "ed"}),
		jwk(jose.JSONWebKey{Key: edKey()}),
		jwk(jose.JSONWebKey{Key: edKey(), KeyID: "twice"}),
		jwk(jose.JSONWebKey{Key: p256, KeyID: "twice"}),
		jwk(jose.JSONWebKey{Key: edKey(), KeyID: "odd", Algorithm: "RS256"}),
	))}
	s := i.set()
	for _, c := range []struct {
		kid, alg string
		want     int
	}{
		{"rsa", "RS256", 1},
		{"rsa", "RS384", 1},
		{"rsa", "RS512", 1},
		{"rsa", "PS256", 1},
		{"rsa", "PS384", 1},
		{"rsa", "PS512", 1},
		{"rsa", "ES256", 0},
		{"rsa", "EdDSA", 0},
		{"rsa", "HS256", 0},
		{"rsa", "rs256", 0},
		{"rsa", "none", 0},
		{"rsa", "", 0},
		{"RSA", "RS256", 0},
		{"rs", "RS256", 0},
		{"ps", "PS256", 1},
		{"ps", "RS256", 0},
		{"p256", "ES256", 1},
		{"p256", "ES384", 0},
		{"p256", "", 0},
		{"p384", "ES384", 1},
		{"p384", "ES256", 0},
		{"p521", "ES512", 1},
		{"p521", "ES256", 0},
		{"p521", "HS512", 0},
		{"ed", "EdDSA", 1},
		{"ed", "RS256", 0},
		{"ed", "", 0},
		{"twice", "EdDSA", 1},
		{"twice", "ES256", 1},
		{"odd", "EdDSA", 0},
		{"odd", "RS256", 0},
		{"", "RS256", 1},
		{"", "PS256", 2},
		{"", "ES256", 2},
		{"", "EdDSA", 3},
		{"", "", 0},
		{"", "none", 0},
		{"", "HS256", 0},
	} {
		keys, err := s.Keys(t.Context(), c.kid, c.alg)
		if err != nil || len(keys) != c.want {
			t.Errorf("%q, %q: %d keys, %v; want %d", c.kid, c.alg, len(keys), err, c.want)
		}
		for _, k := range keys {
			if (c.kid != "" && k.KeyID != c.kid) || !k.IsPublic() || !k.Valid() {
				t.Errorf("%q, %q: %+v", c.kid, c.alg, k)
			}
		}
	}
	i.wantAsked(t, 1) // unknown keys too: the set has only just been fetched
}

// A signature made with the private key verifies with the key of the set.
func TestVerify(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := issuer{answer: says(set(jwk(jose.JSONWebKey{Key: public, KeyID: "a"})))}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := i.set().Keys(t.Context(), "a", "EdDSA")
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	if got, err := signed.Verify(keys[0]); err != nil || !bytes.Equal(got, []byte("text")) {
		t.Errorf("%q, %v", got, err)
	}
}

// The caller may modify the returned slice.
func TestListIsTheCallers(t *testing.T) {
	i := issuer{answer: says(set(ed("a")))}
	s := i.set()
	keys, err := s.Keys(context.Background(), "a", "EdDSA")
	if err != nil {
		t.Fatal(err)
	}
	keys[0] = jose.JSONWebKey{}
	wantKeys(t, s, "a", 1)
}
