package jwks

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/fault"
)

// Keys that can be broken, or cost too much time, do not verify anything.
func TestStrengthOfKeys(t *testing.T) {
	for _, test := range []struct {
		name string
		key  any
		alg  jose.SignatureAlgorithm
		want bool
	}{
		{"RSA of 2048 bits", rsaKey(2048), jose.RS256, true},
		{"RSA of 2047 bits", rsaKey(2047), jose.RS256, false},
		{"RSA of 8192 bits", rsaKey(8192), jose.PS512, true},
		{"RSA of 8193 bits", rsaKey(8193), jose.RS256, false},
		{"RSA with a symmetric algorithm", rsaKey(2048), jose.HS256, false},
		{"RSA without an algorithm", rsaKey(2048), "none", false},
		{"P-256", ecKey(elliptic.P256()), jose.ES256, true},
		{"P-256 with the algorithm of P-384", ecKey(elliptic.P256()), jose.ES384, false},
		{"P-224", ecKey(elliptic.P224()), jose.ES256, false},
		{"a curve that is not known", &ecdsa.PublicKey{}, jose.ES256, false},
		{"Ed25519", edKey(), jose.EdDSA, true},
		{"Ed25519 with another algorithm", edKey(), jose.RS256, false},
		{"a private key", &rsa.PrivateKey{PublicKey: *rsaKey(2048)}, jose.RS256, false},
		{"a secret", []byte("secret"), jose.HS256, false},
	} {
		if got := CanVerify(test.key, string(test.alg)); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// RSA keys of a set need a length, a modulus and an exponent that are safe.
func TestRSAKeysOfASet(t *testing.T) {
	even := new(big.Int).Lsh(big.NewInt(1), 2047)
	for _, test := range []struct {
		name string
		key  rsa.PublicKey
		want bool
	}{
		{"the usual exponent", rsa.PublicKey{N: modulus(2048), E: 65537}, true},
		{"the exponent 3", rsa.PublicKey{N: modulus(2048), E: 3}, true},
		{"the exponent 1", rsa.PublicKey{N: modulus(2048), E: 1}, false},
		{"an even exponent", rsa.PublicKey{N: modulus(2048), E: 65536}, false},
		{"the largest exponent", rsa.PublicKey{N: modulus(2048), E: 1<<31 - 1}, true},
		{"a larger exponent", rsa.PublicKey{N: modulus(2048), E: 1<<31 + 1}, false},
		{"an even modulus", rsa.PublicKey{N: even, E: 65537}, false},
		{"a short modulus", rsa.PublicKey{N: modulus(2047), E: 65537}, false},
		{"the longest modulus", rsa.PublicKey{N: modulus(8192), E: 65537}, true},
		{"a longer modulus", rsa.PublicKey{N: modulus(8193), E: 65537}, false},
	} {
		raw, err := json.Marshal(map[string]string{
			"kty": "RSA",
			"n":   base64url(test.key.N.Bytes()),
			"e":   base64url(big.NewInt(int64(test.key.E)).Bytes()),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := parseKey(raw); ok != test.want {
			t.Errorf("%s: usable %v, want %v", test.name, ok, test.want)
		}
	}
}

// A set has up to 100 keys.
func TestNumberOfKeys(t *testing.T) {
	key := ed("a")
	for n, want := range map[int]bool{1: true, 100: true, 101: false} {
		all := make([]string, n)
		for i := range all {
			all[i] = key
		}
		if keys, err := parse([]byte(set(all...))); (err == nil) != want || want && len(keys) != n {
			t.Errorf("%d keys: %d, %v", n, len(keys), err)
		}
	}
}

// The set in a text must be valid, and needs no server.
func TestInline(t *testing.T) {
	s, err := Inline([]byte(set(ed("a"))))
	if err != nil {
		t.Fatal(err)
	}
	wantKeys(t, s, "a", 1)
	for _, bad := range []string{"", "{}", set()} {
		if _, err := Inline([]byte(bad)); err == nil {
			t.Errorf("%q is a set", bad)
		}
	}
}

// The reason for which a set cannot be read is said.
func TestReasons(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long")
	write(t, long, strings.Repeat(" ", maxSize+1))
	unreadable := filepath.Join(dir, "unreadable")
	if err := os.Symlink(unreadable, unreadable); err != nil { // a circle
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                         "not a regular file",
		long:                        "longer than 512 KiB",
		filepath.Join(dir, "none"):  "no such file",
		unreadable:                  "too many",
		filepath.Join(long, "none"): "not a directory",
	} {
		if _, err := File(path, quiet); fault.KindOf(err) != fault.Invalid || !strings.Contains(errorText(err), want) {
			t.Errorf("%s: %v, want %q", path, errorText(err), want)
		}
	}
	exact := filepath.Join(dir, "exact")
	text := set(ed("a"))
	write(t, exact, text+strings.Repeat(" ", maxSize-len(text)))
	if _, err := File(exact, quiet); err != nil {
		t.Errorf("a set of the largest size: %v", err)
	}
	i := &issuer{answer: func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }}
	if _, err := i.set().Keys(t.Context(), "a", "EdDSA"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(errorText(err), "refused") {
		t.Errorf("%v", errorText(err))
	}
	if _, err := Remote("https://issuer.example/\x7f", &http.Client{Transport: i}, quiet).Keys(t.Context(), "a", "EdDSA"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(errorText(err), "invalid control character") {
		t.Errorf("an address that is none: %v", errorText(err))
	}
}

// errorText returns all texts in the chain of an error.
func errorText(err error) string {
	text := ""
	for ; err != nil; err = errors.Unwrap(err) {
		text += err.Error() + "; "
	}
	return text
}
