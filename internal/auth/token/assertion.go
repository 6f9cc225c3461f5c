package token

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/auth/access"
	"pregon/internal/server/ratelimit"
)

const typeIDJAG = "oauth-id-jag+jwt" // typ of an identity assertion

// issuer is a trusted issuer of the configuration.
type issuer struct {
	name             string
	audiences        []string
	keys             KeySource
	algs             []jose.SignatureAlgorithm
	scopes, defaults access.Scope
	clients          map[string]*client
}

// assertion holds the claims of an assertion after all checks that do not depend on
// the request.
type assertion struct {
	issuer    *issuer
	subject   string
	clientID  string
	scope     access.Scope // that may be granted
	resources []string     // where it may be used; nil for anywhere
	nonce     nonce
}

// nonce is the name under which a single-use token is claimed in the store.
type nonce struct {
	name   string
	until  time.Time
	client ratelimit.Subject // that is counted with the claim; zero for the assertion of an issuer
}

// clockSkew is the maximum difference between the clocks of replicas and store. A
// nonce must be kept while one of them would still accept the token.
const clockSkew = time.Minute

// newNonce hashes its parts, so that names are short and uniform.
func newNonce(kind string, exp time.Time, parts ...string) nonce {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return nonce{name: kind + ":" + hex.EncodeToString(sum[:]), until: exp.Add(leeway + clockSkew)}
}

// assertion parses and verifies an assertion. The caller compares client and target.
func (s *Server) assertion(ctx context.Context, g grant, known *Known) (*assertion, error) {
	j, err := parse(g.assertion, maxForeign)
	if err != nil {
		return nil, err
	}
	known.Issuer, _ = j.claims["iss"].(string)
	known.Client, _ = j.claims["client_id"].(string)
	if err := g.accepts(j); err != nil {
		return nil, err
	}
	iss := s.issuers[known.Issuer]
	if iss == nil {
		return nil, tokenError("its issuer is not trusted here")
	}
	if err := j.verify(ctx, iss.keys, iss.algs); err != nil {
		return nil, err
	}
	a := &assertion{issuer: iss}
	if err := a.read(j, time.Now()); err != nil {
		return nil, err
	}
	return a, nil
}

// read reads the claims of a verified assertion.
func (a *assertion) read(j *jws, now time.Time) error {
	aud, err := j.audience()
	if err != nil {
		return err
	}
	if !slices.Contains(a.issuer.audiences, aud) {
		return tokenError("aud must be " + strings.Join(a.issuer.audiences, " or "))
	}
	exp, err := j.times(now, true)
	if err != nil {
		return err
	}
	if a.subject, err = j.text("sub"); err != nil {
		return err
	}
	if a.clientID, err = j.text("client_id"); err != nil {
		return err
	}
	jti, err := j.text("jti")
	if err != nil {
		return err
	}
	if _, there := j.claims["cnf"]; there {
		return tokenError("cnf binds it to a key, but proof of possession is not supported")
	}
	if a.scope, err = j.scope(); err != nil {
		return err
	}
	if a.resources, err = j.resources(); err != nil {
		return err
	}
	a.nonce = newNonce("assertion", exp, a.issuer.name, jti)
	return nil
}

// scope returns the scope that may be granted: all if the claim is absent.
func (j *jws) scope() (access.Scope, error) {
	value, there := j.claims["scope"]
	if !there {
		return access.AllScopes, nil
	}
	text, ok := value.(string)
	if !ok || !scopeText(text) {
		return 0, tokenError("scope must be a string: names with spaces between them")
	}
	return knownScopes(strings.Fields(text)), nil
}

// resources returns where the token may be used: nil for anywhere.
func (j *jws) resources() ([]string, error) {
	value, there := j.claims["resource"]
	if !there {
		return nil, nil
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	out := make([]string, 0, len(list))
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, tokenError("resource must be a string or a list of strings")
		}
		out = append(out, text)
	}
	return out, nil
}

// scopeText reports whether a text has only the characters that RFC 6749 allows in a scope.
func scopeText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
}

// knownScopes converts names and ignores unknown ones.
func knownScopes(names []string) (all access.Scope) {
	for _, name := range names {
		all |= access.ScopeOf(name)
	}
	return all
}
