package token

import (
	"crypto/rsa"
	"crypto/sha256"

	"pregon/internal/auth/access"
)

const (
	Notice       = publishLead
	MaxLifetime  = maxLifetime
	MaxCached    = maxCached
	MaxForeign   = maxForeign
	GrantJWT     = grantJWTBearer
	GrantExch    = grantExchange
	TypeIDJAG    = tokenIDJAG
	TypeJWT      = tokenJWT
	TypeAccess   = tokenAccess
	AssertionJWT = assertionTypeJWT
)

// SetGenerate replaces the generation of keys, which is slow.
func (r *Ring) SetGenerate(f func() (*rsa.PrivateKey, error)) { r.generate = f }

// Remembered returns the number of cached tokens.
func (s *Server) Remembered() int {
	s.cache.mu.RLock()
	defer s.cache.mu.RUnlock()
	return len(s.cache.tokens)
}

// Remember caches a token as if it had been verified.
func (s *Server) Remember(raw string, t access.Token, kid string) {
	t.KeyID = kid
	s.cache.add(sha256.Sum256([]byte(raw)), t)
}
