package jwks

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func TestParseKey(t *testing.T) {
	var (
		r = jwk(jose.JSONWebKey{Key: rsaKey(2048)})
		c = jwk(jose.JSONWebKey{Key: ecKey(elliptic.P256())})
		e = ed("a")
	)
	p224, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		key string
		ok  bool
	}{
		"RSA":                     {r, true},
		"EC":                      {c, true},
		"Ed25519":                 {e, true},
		"unknown members":         {with(e, map[string]any{"x5u": "::", "x5c": []string{"?"}, "more": map[string]any{"a": 1}}), true},
		"RSA of 2047 bits":        {jwk(jose.JSONWebKey{Key: rsaKey(2047)}), false},
		"RSA of 1024 bits":        {jwk(jose.JSONWebKey{Key: rsaKey(1024)}), false},
		"RSA of 8192 bits":        {jwk(jose.JSONWebKey{Key: rsaKey(8192)}), true},
		"RSA of 8193 bits":        {jwk(jose.JSONWebKey{Key: rsaKey(8193)}), false},
		"RSA of 200000 bits":      {jwk(jose.JSONWebKey{Key: rsaKey(200_000)}), false},
		"RSA, even":               {jwk(jose.JSONWebKey{Key: &rsa.PublicKey{N: new(big.Int).SetBit(modulus(2048), 0, 0), E: 3}}), false},
		"RSA, e of 1":             {jwk(jose.JSONWebKey{Key: &rsa.PublicKey{N: modulus(2048), E: 1}}), false},
		"RSA, e of 2":             {jwk(jose.JSONWebKey{Key: &rsa.PublicKey{N: modulus(2048), E: 2}}), false},
		"RSA, e of 3":             {jwk(jose.JSONWebKey{Key: &rsa.PublicKey{N: modulus(2048), E: 3}}), true},
		"RSA, e too large":        {jwk(jose.JSONWebKey{Key: &rsa.PublicKey{N: modulus(2048), E: 1<<31 + 1}}), false},
		"RSA, e of 64 bits and 3": {with(r, map[string]any{"e": "AQAAAAAAAAAD"}), false},
		"RSA, padded":             {with(r, map[string]any{"e": "AQAB===="}), false},
		"RSA without n":           {with(r, map[string]any{"n": nil}), false},
		"RSA with empty n":        {with(r, map[string]any{"n": ""}), false},
		"RSA without e":           {with(r, map[string]any{"e": nil}), false},
		"RSA with odd n":          {with(r, map[string]any{"n": "?"}), false},
		"RSA that is a list":      {with(r, map[string]any{"n": []int{1}}), false},
		"EC off its curve":        {with(c, map[string]any{"x": base64url(make([]byte, 32))}), false},
		"EC at infinity":          {with(c, map[string]any{"x": base64url(make([]byte, 32)), "y": base64url(make([]byte, 32))}), false},
		"EC on another":           {with(c, map[string]any{"crv": "P-384"}), false},
		"EC without y":            {with(c, map[string]any{"y": nil}), false},
		"EC on P-224":             {with(c, map[string]any{"crv": "P-224", "x": base64url(p224.X.Bytes()), "y": base64url(p224.Y.Bytes())}), false},
		"EC on secp256k1":         {with(c, map[string]any{"crv": "secp256k1"}), false},
		"Ed25519, too short":      {with(e, map[string]any{"x": base64url(make([]byte, 31))}), false},
		"Ed25519, empty":          {with(e, map[string]any{"x": ""}), false},
		"Ed448":                   {with(e, map[string]any{"crv": "Ed448", "x": base64url(make([]byte, 57))}), false},
		"X25519":                  {with(e, map[string]any{"crv": "X25519"}), false},
		"symmetric":               {`{"kty":"oct","kid":"a","alg":"HS256","k":"` + base64url(make([]byte, 32)) + `"}`, false},
		"a new type":              {with(e, map[string]any{"kty": "AKP"}), false},
		"another case":            {with(e, map[string]any{"kty": "okp"}), false},
		"no type":                 {with(e, map[string]any{"kty": nil}), false},
		"a type of mine":          {with(e, map[string]any{"kty": 7}), false},
		"use sig":                 {with(e, map[string]any{"use": "sig"}), true},
		"use enc":                 {with(e, map[string]any{"use": "enc"}), false},
		"use SIG":                 {with(e, map[string]any{"use": "SIG"}), false},
		"ops verify":              {with(e, map[string]any{"key_ops": []string{"sign", "verify"}}), true},
		"ops sign":                {with(e, map[string]any{"key_ops": []string{"sign"}}), false},
		"no ops at all":           {with(e, map[string]any{"key_ops": []string{}}), false},
		"ops of a text":           {with(e, map[string]any{"key_ops": "verify"}), false},
		"use against ops":         {with(e, map[string]any{"use": "enc", "key_ops": []string{"verify"}}), false},
		"a kid of a number":       {with(e, map[string]any{"kid": 7}), false},
		"null":                    {`null`, false},
		"a text":                  {`"key"`, false},
		"a list":                  {`[]`, false},
		"an empty object":         {`{}`, false},
	} {
		if k, ok := parseKey([]byte(test.key)); ok != test.ok {
			t.Errorf("%s: %v, want %v: %+v", name, ok, test.ok, k)
		}
		// None spoils a set.
		keys, err := parse([]byte(set(ed("other"), test.key)))
		want := 1
		if test.ok {
			want = 2
		}
		if err != nil || len(keys) != want {
			t.Errorf("%s: a set has %d keys, %v; want %d", name, len(keys), err, want)
		}
	}
}

// Only the public half of a private key is used.
func TestPrivatePartsAreLeftOut(t *testing.T) {
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, e, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []any{r, c, e} {
		text := jwk(jose.JSONWebKey{Key: private, KeyID: "a"})
		if !strings.Contains(text, `"d":`) {
			t.Fatalf("%T is not private as it is written", private)
		}
		k, ok := parseKey([]byte(text))
		want := jose.JSONWebKey{Key: private, KeyID: "a"}
		if public := want.Public(); !ok || jwk(k) != jwk(public) {
			t.Errorf("%T: %v, %T", private, ok, k.Key)
		}
	}
	// Nor does it matter what they are.
	for _, d := range []any{"?", 7, strings.Repeat("_", 400_000)} {
		if _, ok := parseKey([]byte(with(jwk(jose.JSONWebKey{Key: r.Public()}), map[string]any{"d": d, "p": d, "q": d}))); !ok {
			t.Errorf("d of %T spoils the key", d)
		}
	}
}

func TestParse(t *testing.T) {
	a := ed("a")
	many := func(n int) string { return set(strings.Split(strings.Repeat(a+"\n", n-1)+a, "\n")...) }
	for name, test := range map[string]struct {
		body string
		want int // 0: an error
	}{
		"one":               {set(a), 1},
		"two":               {set(a, ed("b")), 2},
		"more members":      {`{"issuer":"x","keys":[` + a + `],"n":null}`, 1},
		"a hundred":         {many(100), 100},
		"a hundred and one": {many(101), 0},
		"none":              {set(), 0},
		"none of use":       {set(`{"kty":"oct","k":"AAAA"}`), 0},
		"null":              {`{"keys":null}`, 0},
		"no list":           {`{"keys":{}}`, 0},
		"no keys":           {`{}`, 0},
		"a key alone":       {a, 0},
		"a list":            {`[` + a + `]`, 0},
		"nothing":           {``, 0},
		"nothing at all":    {`null`, 0},
		"a page":            {`<!DOCTYPE html><html><body>Sign in</body></html>`, 0},
		"cut short":         {set(a)[:40], 0},
		"with a tail":       {set(a) + set(a), 0},
		"deep":              {strings.Repeat("[", 100_000), 0},
		"deep within":       {set(a, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)), 0},
	} {
		keys, err := parse([]byte(test.body))
		if (err == nil) != (test.want > 0) || len(keys) != test.want {
			t.Errorf("%s: %d keys, %v; want %d", name, len(keys), err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(set(ed("a"), jwk(jose.JSONWebKey{Key: ecKey(elliptic.P256()), Use: "sig"}))))
	f.Add([]byte(set(jwk(jose.JSONWebKey{Key: rsaKey(2048), KeyID: "r", Algorithm: "RS256"}))))
	f.Add([]byte(`{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"AKP"},null,7]}`))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-521","x":"","y":"","d":"AA","key_ops":["verify"]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		keys, err := parse(body)
		if (err == nil) != (len(keys) > 0) || len(keys) > maxKeys {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		for _, k := range keys {
			if !k.IsPublic() || !k.Valid() || (k.Use != "" && k.Use != "sig") {
				t.Errorf("%+v", k)
			}
			if CanVerify(k.Key, "") || CanVerify(k.Key, "none") || CanVerify(k.Key, "HS256") {
				t.Errorf("%T fits what it cannot", k.Key)
			}
			again, ok := parseKey([]byte(jwk(k)))
			if !ok || jwk(again) != jwk(k) {
				t.Errorf("%+v is %+v when it is read again", k, again)
			}
		}
	})
}
