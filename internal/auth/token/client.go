package token

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/auth/access"
)

// client is a client of the configuration.
type client struct {
	id, auth string
	secret   [sha256.Size]byte // SHA-256 of the secret
	keys     KeySource
	scopes   access.Scope
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
func readCredentials(h http.Header, f form) (credentials, error) {
	var found []credentials
	switch headers := h.Values("Authorization"); len(headers) {
	case 0:
	case 1:
		id, secret, ok := basic(headers[0])
		if !ok {
			return credentials{}, invalidClient("the Authorization header must be Basic with client id and secret, each form-encoded, or be left out")
		}
		found = append(found, credentials{method: authBasic, id: id, secret: secret})
	default:
		return credentials{}, refuse(codeInvalidRequest, "there must be one Authorization header at most")
	}
	if secret := f["client_secret"]; secret != "" {
		found = append(found, credentials{method: authPost, id: f["client_id"], secret: secret})
	}
	if f["client_assertion"] != "" || f["client_assertion_type"] != "" {
		found = append(found, credentials{method: authJWT, id: f["client_id"], assertion: f["client_assertion"]})
	}
	if len(found) == 0 {
		return credentials{method: authNone, id: f["client_id"]}, nil
	}
	if len(found) > 1 {
		return credentials{}, refuse(codeInvalidRequest, "use one method of client authentication, not several at once")
	}
	c := found[0]
	switch {
	case c.method == authBasic && f["client_id"] != "" && f["client_id"] != c.id:
		return c, refuse(codeInvalidRequest, "client_id differs from the client in the Authorization header")
	case c.method == authPost && c.id == "":
		return c, refuse(codeInvalidRequest, "client_secret needs client_id beside it")
	case c.method == authJWT && c.assertion == "":
		return c, refuse(codeInvalidRequest, "client_assertion_type needs client_assertion beside it")
	case c.method == authJWT && f["client_assertion_type"] != assertionTypeJWT:
		return c, invalidClient("client_assertion_type must be " + assertionTypeJWT)
	}
	return c, nil
}

// basic parses the header. Both parts are form-encoded (RFC 6749).
func basic(header string) (id, secret string, ok bool) {
	scheme, encoded, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
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

// authenticate returns the client, which must be registered under the issuer of the
// assertion, and the nonces to claim when all other checks have succeeded.
func (s *Server) authenticate(ctx context.Context, c credentials, a *assertion) (*client, []nonce, error) {
	var proof *jws
	switch {
	case c.method == authJWT:
		var err error
		if proof, err = parse(c.assertion, maxForeign); err != nil {
			return nil, nil, badClientAssertion(err)
		}
		sub, _ := proof.claims["sub"].(string)
		if c.id != "" && c.id != sub {
			return nil, nil, badClientAssertion(tokenError("its sub is not the client_id of the request"))
		}
		c.id = sub
	case c.method == authNone && c.id == "":
		c.id = a.clientID
	}
	found := a.issuer.clients[c.id]
	if found == nil || found.auth != c.method {
		return nil, nil, invalidClient("there is no client of this id and this method of authentication under the issuer of the assertion")
	}
	var marks []nonce
	switch c.method {
	case authBasic, authPost:
		sum := sha256.Sum256([]byte(c.secret))
		if subtle.ConstantTimeCompare(sum[:], found.secret[:]) == 0 {
			return nil, nil, invalidClient("the client secret is wrong")
		}
	case authJWT:
		m, err := s.clientAssertion(ctx, proof, found, a.issuer)
		if err != nil {
			return nil, nil, badClientAssertion(err)
		}
		marks = append(marks, m)
	}
	if found.id != a.clientID {
		return nil, nil, tokenError("its client_id is not the client that sent it")
	}
	return found, marks, nil
}

// clientAssertion verifies the JWT with which a client authenticates.
func (s *Server) clientAssertion(ctx context.Context, j *jws, c *client, iss *issuer) (nonce, error) {
	if j.typ != "" && !strings.EqualFold(j.typ, "JWT") && !j.typed("client-authentication+jwt") {
		return nonce{}, tokenError("typ in its header must be absent, JWT or client-authentication+jwt")
	}
	if err := j.verify(ctx, c.keys, iss.algs); err != nil {
		return nonce{}, err
	}
	if j.claims["iss"] != c.id || j.claims["sub"] != c.id {
		return nonce{}, tokenError("its iss and sub must both be the client id")
	}
	aud, err := j.audience()
	if err != nil {
		return nonce{}, err
	}
	if aud != s.o.BaseURL && aud != s.o.BaseURL+tokenPath {
		return nonce{}, tokenError("aud must be " + s.o.BaseURL)
	}
	exp, err := j.times(time.Now(), false)
	if err != nil {
		return nonce{}, err
	}
	jti, err := j.text("jti")
	if err != nil {
		return nonce{}, err
	}
	return newNonce("client-assertion", exp, iss.name, c.id, jti), nil
}

func badClientAssertion(err error) error {
	if u, ok := errors.AsType[tokenError](err); ok {
		return invalidClient("the client_assertion is refused: " + string(u))
	}
	return err
}
