package signin

import (
	"context"
	"errors"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/auth/jwks"
)

// algorithms are those that an ID token may be signed with.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256,
	jose.RS384,
	jose.RS512,
	jose.ES256,
	jose.ES384,
	jose.ES512,
	jose.PS256,
	jose.PS384,
	jose.PS512,
	jose.EdDSA,
}

// supported returns the algorithms among those that a provider names. None means RS256.
func supported(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !slices.Contains(algorithms, jose.SignatureAlgorithm(name))
	})
}

// keySet implements oidc.KeySet. That of the oidc package refuses all keys of a provider
// if one of them is an RSA key of more than 4096 bits.
type keySet struct {
	keys *jwks.Set
}

// VerifySignature returns the payload of a token that one of the keys has signed. The
// caller has checked the algorithm against those of the provider.
func (s keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, err
	}
	header := signed.Signatures[0].Header
	keys, err := s.keys.Keys(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if payload, err := signed.Verify(k.Key); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("no key of the provider has signed the token")
}
