package token

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/auth/access"
	"pregon/internal/text"
)

// client is a client of the configuration.
type client struct {
	id     string
	scopes access.Scope
	Authentication
}

// Authentication is how a client authenticates.
type Authentication struct {
	Method string            // none, client_secret_basic, client_secret_post or private_key_jwt
	Secret [sha256.Size]byte // SHA-256 of the secret
	Keys   KeySource         // of private_key_jwt
	// Unvouched clients describe themselves: anyone can have one. Their assertions must
	// end soon, because the service stores each until then.
	Unvouched bool
}

const assertionTypeJWT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// credentials are the client authentication of a request. Fields that the method
// does not use are empty.
type credentials struct {
	method    string
	id        string
	secret    string
	assertion string
}

// readCredentials returns the credentials of the only method that the request uses.
func readCredentials(h http.Header, f Form) (credentials, error) {
	var found []credentials
	switch headers := h.Values("Authorization"); len(headers) {
	case 0:
	case 1:
		id, secret, ok := basic(headers[0])
		if !ok {
			return credentials{}, InvalidClient("the Authorization header must be Basic with client id and " +
				"secret, each form-encoded, or be left out")
		}
		found = append(found, credentials{method: AuthBasic, id: id, secret: secret})
	default:
		return credentials{}, Refuse(CodeInvalidRequest, "there must be one Authorization header at most")
	}
	if secret := f["client_secret"]; secret != "" {
		found = append(found, credentials{method: AuthPost, id: f["client_id"], secret: secret})
	}
	if f["client_assertion"] != "" || f["client_assertion_type"] != "" {
		found = append(found, credentials{method: AuthJWT, id: f["client_id"], assertion: f["client_assertion"]})
	}
	if len(found) == 0 {
		return credentials{method: AuthNone, id: f["client_id"]}, nil
	}
	if len(found) > 1 {
		return credentials{}, Refuse(CodeInvalidRequest, "several methods of client authentication were used: use one")
	}
	c := found[0]
	switch {
	case c.method == AuthBasic && f["client_id"] != "" && f["client_id"] != c.id:
		return c, Refuse(CodeInvalidRequest, "client_id differs from the client in the Authorization header")
	case c.method == AuthPost && c.id == "":
		return c, Refuse(CodeInvalidRequest, "client_secret needs client_id beside it")
	case c.method == AuthJWT && c.assertion == "":
		return c, Refuse(CodeInvalidRequest, "client_assertion_type needs client_assertion beside it")
	case c.method == AuthJWT && f["client_assertion_type"] != assertionTypeJWT:
		return c, InvalidClient("client_assertion_type must be " + assertionTypeJWT)
	}
	return c, nil
}

// basic parses the header. Both parts are form-encoded (RFC 6749).
func basic(header string) (id, secret string, ok bool) {
	scheme, encoded, _ := strings.Cut(header, " ")
	if !text.EqualFoldASCII(scheme, "Basic") {
		return "", "", false
	}
	both, err := base64.StdEncoding.DecodeString(strings.TrimLeft(encoded, " "))
	if err != nil {
		return "", "", false
	}
	id, secret, ok = strings.Cut(string(both), ":")
	id, idErr := url.QueryUnescape(id)
	secret, secretErr := url.QueryUnescape(secret)
	return id, secret, ok && idErr == nil && secretErr == nil && id != "" && utf8.ValidString(id)
}

// identify sets the id of a client that signs, which is in its assertion. It returns
// that assertion, unverified.
func (c *credentials) identify() (*jws, error) {
	if c.method != AuthJWT {
		return nil, nil
	}
	proof, err := parse(c.assertion, maxForeign)
	if err != nil {
		return nil, badClientAssertion(err)
	}
	sub, _ := proof.claims["sub"].(string)
	if c.id != "" && c.id != sub {
		return nil, badClientAssertion(tokenError("its sub is not the client_id of the request"))
	}
	c.id = sub
	return proof, nil
}

// authenticate returns the client, which must be registered under the issuer of the
// assertion, and the nonces to claim when all other checks have succeeded.
func (s *Server) authenticate(
	ctx context.Context,
	c credentials,
	a *assertion,
	from netip.Addr,
) (*client, []nonce, error) {
	proof, err := c.identify()
	if err != nil {
		return nil, nil, err
	}
	if c.method == AuthNone && c.id == "" {
		c.id = a.clientID
	}
	found := a.issuer.clients[c.id]
	if found == nil || found.Method != c.method {
		return nil, nil, InvalidClient("there is no client of this id and this method of authentication under " +
			"the issuer of the assertion")
	}
	nonces, err := s.prove(ctx, c, proof, found.Authentication, a.issuer, from)
	if err != nil {
		return nil, nil, err
	}
	if found.id != a.clientID {
		return nil, nil, tokenError("its client_id is not the client that sent it")
	}
	return found, nonces, nil
}

// prove checks the secret or the signature of a client and counts the request for it. It
// returns the nonces to claim.
func (s *Server) prove(
	ctx context.Context,
	c credentials,
	proof *jws,
	known Authentication,
	iss *issuer,
	from netip.Addr,
) ([]nonce, error) {
	subject := clientSubject(iss.name, c.id)
	switch c.method {
	case AuthBasic, AuthPost:
		sum := sha256.Sum256([]byte(c.secret))
		if subtle.ConstantTimeCompare(sum[:], known.Secret[:]) == 0 {
			return nil, InvalidClient("the client secret is wrong")
		}
		return nil, s.countClient(ctx, subject)
	case AuthJWT:
		m, err := s.clientAssertion(ctx, proof, c.id, known, iss)
		if err != nil {
			return nil, badClientAssertion(err)
		}
		if err := s.checkClient(ctx, subject); err != nil {
			return nil, err
		}
		m.client = subject
		return []nonce{m}, s.countClient(ctx, clientAtAddress(iss.name, c.id, from))
	}
	return nil, s.countClient(ctx, clientAtAddress(iss.name, c.id, from))
}

// maxUnvouched is how far in the future the exp of an assertion of a client may be for
// which nobody vouches.
const maxUnvouched = 5 * time.Minute

// clientAssertion verifies the JWT with which a client authenticates.
func (s *Server) clientAssertion(
	ctx context.Context,
	j *jws,
	id string,
	known Authentication,
	iss *issuer,
) (nonce, error) {
	if j.typ != "" && !strings.EqualFold(j.typ, "JWT") && !j.typed("client-authentication+jwt") {
		return nonce{}, tokenError("typ in its header must be absent, JWT or client-authentication+jwt")
	}
	if err := j.verify(ctx, known.Keys, iss.algs); err != nil {
		return nonce{}, err
	}
	if j.claims["iss"] != id || j.claims["sub"] != id {
		return nonce{}, tokenError("its iss and sub must both be the client id")
	}
	aud, err := j.audience()
	if err != nil {
		return nonce{}, err
	}
	if aud != s.o.BaseURL && aud != s.o.BaseURL+tokenPath {
		return nonce{}, tokenError("aud must be " + s.o.BaseURL)
	}
	now := time.Now()
	exp, err := j.times(now, false)
	if err != nil {
		return nonce{}, err
	}
	if known.Unvouched && exp.After(now.Add(maxUnvouched+leeway)) {
		return nonce{}, tokenError("exp may be five minutes ahead at most for a client that describes itself")
	}
	jti, err := j.text("jti")
	if err != nil {
		return nonce{}, err
	}
	return newNonce("client-assertion", exp, iss.name, id, jti), nil
}

func badClientAssertion(err error) error {
	if u, ok := errors.AsType[tokenError](err); ok {
		return InvalidClient("the client_assertion is refused: " + string(u))
	}
	return err
}
