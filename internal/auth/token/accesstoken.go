package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"strings"
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

// Token is what an access token of ours says.
type Token struct {
	Subject  string // issuer, # and its name for the caller: unique over all issuers
	Issuer   string // who vouched for the caller
	ClientID string
	Audience string // the base URL, or that of MCP: whether it fits is for the caller to say
	Scope    access.Scope
	Expires  time.Time
	ID       string // jti
}

// accessClaims are those of RFC 9068.
type accessClaims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	ClientID string `json:"client_id"`
	Scope    string `json:"scope"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
}

// issue signs a token, whose id and end it chooses.
func (s *Server) issue(t Token, key *signingKey, now time.Time) (issued, error) {
	t.ID, t.Expires = rand.Text(), now.Add(s.lifetime).Truncate(time.Second)
	payload, err := json.Marshal(accessClaims{
		Issuer: s.o.BaseURL, Subject: t.Subject, Audience: t.Audience, ClientID: t.ClientID, Scope: t.Scope.String(),
		IssuedAt: now.Unix(), Expires: t.Expires.Unix(), ID: t.ID,
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

// Verify returns what a token says if it is one of ours and good at this
// moment. It fails, Unauthorized, with words for the client, or Unavailable when
// that cannot be known now.
func (s *Server) Verify(ctx context.Context, raw string) (Token, error) {
	if len(raw) > maxAccess {
		return Token{}, refused("it is too long")
	}
	sum := digest(raw)
	t, kid, seen := s.cache.get(sum)
	if !seen {
		var err error
		if t, kid, err = s.check(ctx, raw); err != nil {
			return Token{}, err
		}
	}
	// Keys come to their end, and tokens do, while they are remembered.
	now := time.Now()
	if key := s.o.Ring.now.Load().byID[kid]; key == nil || !key.trusted(now) {
		return Token{}, refused(noKey)
	}
	if !now.Before(t.Expires) {
		return Token{}, refused("it has expired")
	}
	if !seen {
		s.cache.add(sum, t, kid)
	}
	return t, nil
}

// digest copies a token of the usual size to the stack, which spares the heap.
func digest(raw string) [sha256.Size]byte {
	var usual [2048]byte
	return sha256.Sum256(append(usual[:0], raw...))
}

// check reads a token and its signature, and returns the id of its key too.
func (s *Server) check(ctx context.Context, raw string) (t Token, kid string, err error) {
	j, err := parse(raw, maxAccess)
	if err != nil {
		return t, "", refused(err.Error())
	}
	if !j.typed(typeAccess) || j.alg != string(jose.RS256) {
		return t, "", refused("it is not an access token of this service")
	}
	key, err := s.o.Ring.find(ctx, j.kid)
	if err != nil {
		return t, "", err
	}
	if key == nil || !key.trusted(time.Now()) {
		return t, "", refused(noKey)
	}
	signed, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return t, "", refused("it cannot be read as a signed JWT")
	}
	payload, err := signed.Verify(key.public)
	if err != nil {
		return t, "", refused("its signature is wrong")
	}
	var c accessClaims
	if err := strictjson.Unmarshal(payload, &c); err != nil || c.Issuer != s.o.BaseURL {
		return t, "", refused("it is not an access token of this service")
	}
	// A stolen signing key must not make tokens that last: none that the service
	// signed does.
	if issued := time.Unix(c.IssuedAt, 0); c.IssuedAt <= 0 || issued.After(time.Now().Add(leeway)) || c.Expires > issued.Add(maxLifetime).Unix() {
		return t, "", refused("it says that it is good for more than an hour, or from a later time on: this service issues no such token")
	}
	issuer, _, _ := strings.Cut(c.Subject, "#")
	return Token{
		Subject: c.Subject, Issuer: issuer, ClientID: c.ClientID, Audience: c.Audience,
		Scope: knownScopes(c.Scope), Expires: time.Unix(c.Expires, 0), ID: c.ID,
	}, j.kid, nil
}

const noKey = "it was not signed by this service, or so long ago that the key is gone"

func refused(why string) error {
	return fault.New(fault.Unauthorized, "The access token is refused: %s.", why)
}
