package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	strictjson "github.com/go-jose/go-jose/v4/json"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

const (
	typeAccess = "at+jwt" // RFC 9068
	maxAccess  = 8 << 10
)

// accessClaims are the claims of RFC 9068.
type accessClaims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	ClientID string `json:"client_id"`
	Scope    string `json:"scope"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
	Grant    string `json:"grant,omitempty"` // of a person to an application
}

// issue signs a token. It sets its id and expiry.
func (s *Server) issue(t access.Token, key *signingKey, now time.Time) (issued, error) {
	t.ID, t.Expires = rand.Text(), now.Add(s.lifetime).Truncate(time.Second)
	payload, err := json.Marshal(accessClaims{
		Issuer:   s.o.BaseURL,
		Subject:  t.Subject,
		Audience: t.Audience,
		ClientID: t.ClientID,
		Scope:    t.Scope.String(),
		IssuedAt: now.Unix(),
		Expires:  t.Expires.Unix(),
		ID:       t.ID,
		Grant:    t.Grant,
	})
	if err != nil {
		return issued{}, err
	}
	signed, err := key.signer.Sign(payload)
	if err != nil {
		return issued{}, err
	}
	raw, err := signed.CompactSerialize()
	return issued{raw: raw, token: t}, err
}

// Verify returns the claims of a token issued by this service that is valid now. It
// returns Unauthorized with a text for the client, or Unavailable when it cannot
// decide.
func (s *Server) Verify(ctx context.Context, raw string) (access.Token, error) {
	if len(raw) > maxAccess {
		return access.Token{}, refused("it is too long")
	}
	sum := digest(raw)
	t, seen := s.cache.get(sum)
	if !seen {
		var err error
		if t, err = s.check(ctx, raw); err != nil {
			return access.Token{}, err
		}
	}
	// A cached token and its key may have expired.
	now := time.Now()
	if !s.o.Ring.Trusts(t.KeyID) {
		return access.Token{}, refused(noKey)
	}
	if !now.Before(t.Expires) {
		return access.Token{}, refused("it has expired")
	}
	if !seen {
		s.cache.add(sum, t)
	}
	return t, nil
}

// digest copies a token of the usual size to the stack, to avoid an allocation.
func digest(raw string) [sha256.Size]byte {
	var usual [2048]byte
	return sha256.Sum256(append(usual[:0], raw...))
}

// check parses a token and verifies its signature.
func (s *Server) check(ctx context.Context, raw string) (t access.Token, err error) {
	j, err := parse(raw, maxAccess)
	if err != nil {
		return t, refused(err.Error())
	}
	if !j.typed(typeAccess) || j.alg != string(jose.RS256) {
		return t, refused("it is not an access token of this service")
	}
	key, err := s.o.Ring.find(ctx, j.kid)
	if err != nil {
		return t, err
	}
	if key == nil || !key.trusted(time.Now()) {
		return t, refused(noKey)
	}
	signed, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return t, refused("it cannot be read as a signed JWT")
	}
	payload, err := signed.Verify(key.public)
	if err != nil {
		return t, refused("its signature is wrong")
	}
	var c accessClaims
	if err := strictjson.Unmarshal(payload, &c); err != nil || c.Issuer != s.o.BaseURL {
		return t, refused("it is not an access token of this service")
	}
	// With a stolen signing key one could make tokens with a long lifetime. The
	// service issues none.
	if issued := time.Unix(c.IssuedAt, 0); c.IssuedAt <= 0 || issued.After(time.Now().Add(leeway)) ||
		c.Expires > issued.Add(maxLifetime).Unix() {
		return t, refused("its lifetime is longer than an hour, or it was issued in the future: this service does " +
			"not issue such tokens")
	}
	issuer, _, _ := strings.Cut(c.Subject, "#")
	return access.Token{
		Subject:  c.Subject,
		Issuer:   issuer,
		ClientID: c.ClientID,
		Audience: c.Audience,
		Scope:    knownScopes(strings.Fields(c.Scope)),
		Expires:  time.Unix(c.Expires, 0),
		ID:       c.ID,
		Grant:    c.Grant,
		KeyID:    j.kid,
	}, nil
}

const noKey = "no current key of this service has signed it"

func refused(why string) error {
	return fault.New(fault.Unauthorized, "The access token is refused: %s.", why)
}

// maxCached is the number of tokens in the cache.
const maxCached = 20_000

// tokenCache holds verified tokens by their hash. It is emptied when it is full.
type tokenCache struct {
	mu     sync.RWMutex
	tokens map[[sha256.Size]byte]access.Token // guarded by mu
}

func (m *tokenCache) get(sum [sha256.Size]byte) (t access.Token, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	t, ok = m.tokens[sum]
	return t, ok
}

func (m *tokenCache) add(sum [sha256.Size]byte, t access.Token) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tokens == nil || len(m.tokens) >= maxCached {
		m.tokens = map[[sha256.Size]byte]access.Token{}
	}
	m.tokens[sum] = t
}
