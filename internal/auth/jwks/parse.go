package jwks

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

const (
	maxKeys = 100

	// Shorter keys can be broken; longer ones cost too much time.
	minRSABits = 2048
	maxRSABits = 8192
)

// member is a key of a set. Private members and certificates are not decoded.
type member struct {
	Kty    string      `json:"kty"`
	Kid    string      `json:"kid"`
	Use    string      `json:"use"`
	Alg    string      `json:"alg"`
	KeyOps []string    `json:"key_ops"`
	Crv    string      `json:"crv"`
	N      base64Bytes `json:"n"`
	E      base64Bytes `json:"e"`
	X      base64Bytes `json:"x"`
	Y      base64Bytes `json:"y"`
}

// base64Bytes decodes base64url without padding.
type base64Bytes []byte

func (o *base64Bytes) UnmarshalText(text []byte) (err error) {
	*o, err = base64.RawURLEncoding.AppendDecode(nil, text)
	return err
}

// parse returns the keys that can verify signatures. It skips others, which may be
// of kinds that are not supported. A set without any usable key is an error.
func parse(body []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("it is not a key set: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("it has %d keys, more than %d", len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		if k, ok := parseKey(raw); ok {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no key that can verify a signature")
	}
	return keys, nil
}

func parseKey(raw []byte) (k jose.JSONWebKey, ok bool) {
	var m member
	if err := json.Unmarshal(raw, &m); err != nil {
		return k, false
	}
	if (m.Use != "" && m.Use != "sig") || (m.KeyOps != nil && !slices.Contains(m.KeyOps, "verify")) {
		return k, false
	}
	key := m.key()
	if key == nil {
		return k, false
	}
	return jose.JSONWebKey{Key: key, KeyID: m.Kid, Algorithm: m.Alg, Use: m.Use}, true
}

// key returns the public key, or nil if its kind or size is not supported. The jose
// package would also decode private keys, and refuse long ones.
func (m *member) key() any {
	switch {
	case m.Kty == "RSA":
		return rsaPublic(m.N, m.E)
	case m.Kty == "EC" && curves[m.Crv] != nil:
		return ecPublic(curves[m.Crv], m.X, m.Y)
	case m.Kty == "OKP" && m.Crv == "Ed25519" && len(m.X) == ed25519.PublicKeySize:
		return ed25519.PublicKey(m.X)
	}
	return nil
}

func rsaPublic(modulus, exponent []byte) any {
	n, e := new(big.Int).SetBytes(modulus), new(big.Int).SetBytes(exponent)
	if !validLength(n) || n.Bit(0) == 0 {
		return nil
	}
	if e.BitLen() < 2 || e.BitLen() > 31 || e.Bit(0) == 0 { // with exponent 1 any signature is valid
		return nil
	}
	return &rsa.PublicKey{N: n, E: int(e.Int64())}
}

func validLength(modulus *big.Int) bool {
	return modulus.BitLen() >= minRSABits && modulus.BitLen() <= maxRSABits
}

var curves = map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}

func ecPublic(curve elliptic.Curve, x, y []byte) any {
	size := (curve.Params().BitSize + 7) / 8
	if len(x) != size || len(y) != size {
		return nil
	}
	const uncompressed = 4
	key, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{uncompressed}, x, y))
	if err != nil {
		return nil
	}
	return key
}

// CanVerify reports whether a key is strong enough and fits the algorithm.
func CanVerify(key any, alg string) bool {
	a := jose.SignatureAlgorithm(alg)
	switch k := key.(type) {
	case *rsa.PublicKey:
		return validLength(k.N) && slices.Contains([]jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}, a)
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P256():
			return a == jose.ES256
		case elliptic.P384():
			return a == jose.ES384
		case elliptic.P521():
			return a == jose.ES512
		}
	case ed25519.PublicKey:
		return a == jose.EdDSA
	}
	return false
}
