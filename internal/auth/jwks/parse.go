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
	"maps"
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

// publicMembers are the members of a key that are decoded. The jose package would
// also decode private ones and certificates, and refuse a key for them.
var publicMembers = []string{"kty", "kid", "use", "alg", "crv", "n", "e", "x", "y"}

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
		return nil, errors.New("it does not have a key that can verify a signature")
	}
	return keys, nil
}

func parseKey(raw []byte) (k jose.JSONWebKey, ok bool) {
	var members map[string]json.RawMessage
	var operations struct {
		Names []string `json:"key_ops"`
	}
	if json.Unmarshal(raw, &members) != nil || json.Unmarshal(raw, &operations) != nil {
		return k, false
	}
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return !slices.Contains(publicMembers, name) })
	public, err := json.Marshal(members)
	if err != nil {
		return k, false
	}
	if string(members["kty"]) == `"RSA"` {
		err = parseRSA(public, &k)
	} else {
		err = k.UnmarshalJSON(public)
	}
	if err != nil {
		return k, false
	}
	if k.Use != "" && k.Use != "sig" || operations.Names != nil && !slices.Contains(operations.Names, "verify") {
		return k, false
	}
	r, isRSA := k.Key.(*rsa.PublicKey)
	// With the exponent 1 any signature is valid.
	return k, !isRSA || validLength(r.N) && r.N.Bit(0) == 1 && r.E > 1 && r.E < 1<<31 && r.E%2 == 1
}

// parseRSA decodes an RSA key. The jose package refuses those of more than 4096 bits,
// unless a variable is set for all its users in the process.
func parseRSA(public []byte, k *jose.JSONWebKey) error {
	var members struct {
		ID        string `json:"kid"`
		Use       string `json:"use"`
		Algorithm string `json:"alg"`
		Modulus   string `json:"n"`
		Exponent  string `json:"e"`
	}
	if err := json.Unmarshal(public, &members); err != nil {
		return err
	}
	n, err := base64.RawURLEncoding.DecodeString(members.Modulus)
	if err != nil {
		return err
	}
	e, err := base64.RawURLEncoding.DecodeString(members.Exponent)
	if err != nil {
		return err
	}
	exponent := new(big.Int).SetBytes(e)
	if exponent.BitLen() > 31 { // an int on every machine
		return errors.New("the exponent is too large")
	}
	*k = jose.JSONWebKey{
		Key:       &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())},
		KeyID:     members.ID,
		Algorithm: members.Algorithm,
		Use:       members.Use,
	}
	return nil
}

func validLength(modulus *big.Int) bool {
	return modulus.BitLen() >= minRSABits && modulus.BitLen() <= maxRSABits
}

// CanVerify reports whether a key is strong enough and fits the algorithm.
func CanVerify(key any, alg string) bool {
	a := jose.SignatureAlgorithm(alg)
	switch k := key.(type) {
	case *rsa.PublicKey:
		return validLength(k.N) && slices.Contains([]jose.SignatureAlgorithm{
			jose.RS256, jose.RS384, jose.RS512,
			jose.PS256, jose.PS384, jose.PS512,
		}, a)
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
