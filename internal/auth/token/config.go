package token

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/server/origin"
)

// Config configures the trusted issuers.
type Config struct {
	// TokenLifetime is the lifetime of access tokens: 1m to 1h, default 10m.
	TokenLifetime time.Duration `yaml:"token_lifetime"`
	// Issuers may issue assertions. Without any, no token is issued.
	Issuers []Issuer `yaml:"issuers"`
}

// Issuer is a trusted issuer of assertions.
type Issuer struct {
	// Issuer is the exact value of iss.
	Issuer string `yaml:"issuer"`
	// JWKSURL or JWKSFile is the location of its keys: one of the two.
	JWKSURL  string `yaml:"jwks_url"`
	JWKSFile string `yaml:"jwks_file"`
	// AllowPrivate means that it is on our own network: its keys, and those of its
	// clients, may be fetched from private addresses and over http.
	AllowPrivate bool `yaml:"allow_private"`
	// Audiences are the accepted values of aud; default the base URL.
	Audiences []string `yaml:"audiences"`
	// Scopes are the scopes that it may grant.
	Scopes []string `yaml:"scopes"`
	// DefaultScopes are granted to requests without a scope; default all Scopes.
	DefaultScopes []string `yaml:"default_scopes"`
	// Algorithms are accepted for its assertions and those of its clients; default
	// RS256, PS256, ES256, ES384 and EdDSA.
	Algorithms []string `yaml:"algorithms"`
	// Clients may present its assertions.
	Clients []Client `yaml:"clients"`
}

// Client is a program that may present assertions of an issuer.
type Client struct {
	// ID is the client_id of its assertions.
	ID string `yaml:"id"`
	// Auth is its authentication method: none, client_secret_basic,
	// client_secret_post or private_key_jwt.
	Auth string `yaml:"auth"`
	// SecretSHA256 is the SHA-256 of its secret in hex:
	// printf %s "$SECRET" | sha256sum
	SecretSHA256 string `yaml:"secret_sha256"`
	// JWKSURL or JWKSFile is the location of its keys, for private_key_jwt.
	JWKSURL  string `yaml:"jwks_url"`
	JWKSFile string `yaml:"jwks_file"`
	// Scopes restrict what it can be granted; default all scopes of the issuer.
	Scopes []string `yaml:"scopes"`
}

// The client authentication methods (RFC 7591).
const (
	AuthNone  = "none"
	AuthBasic = "client_secret_basic"
	AuthPost  = "client_secret_post"
	AuthJWT   = "private_key_jwt"
)

// AuthMethods are all of them.
var AuthMethods = []string{AuthNone, AuthBasic, AuthPost, AuthJWT}

// Limits and default of the token lifetime.
const (
	minLifetime     = time.Minute
	maxLifetime     = time.Hour
	defaultLifetime = 10 * time.Minute
)

// algorithms are the supported algorithms. None uses a shared secret, and "none" is
// missing: a public key must never be accepted as a secret.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

var defaultAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.ES384, jose.EdDSA}

// Validate sets defaults, and returns all errors with their places.
func (c *Config) Validate(baseURL string) error {
	var v validation
	if c.TokenLifetime == 0 {
		c.TokenLifetime = defaultLifetime
	}
	if c.TokenLifetime < minLifetime || c.TokenLifetime > maxLifetime {
		v.wrong("token_lifetime", "%v is not allowed: use 1m to 1h", c.TokenLifetime)
	}
	seen := map[string]bool{}
	for i := range c.Issuers {
		iss, at := &c.Issuers[i], fmt.Sprintf("issuers[%d]", i)
		v.issuer(at, iss, baseURL)
		if seen[iss.Issuer] {
			v.wrong(at+".issuer", "%q is listed twice: name each issuer once", iss.Issuer)
		}
		seen[iss.Issuer] = true
	}
	return v.err()
}

// validation collects errors.
type validation []error

func (v *validation) wrong(place, format string, args ...any) {
	*v = append(*v, fmt.Errorf("%s: "+format, append([]any{place}, args...)...))
}

func (v *validation) err() error {
	if len(*v) == 0 {
		return nil
	}
	return fault.New(fault.Invalid, "%s", errors.Join(*v...))
}

// maxIssuer limits the length of issuer names, which our tokens repeat.
const maxIssuer = 512

func (v *validation) issuer(at string, iss *Issuer, baseURL string) {
	switch {
	case iss.Issuer == "":
		v.wrong(at+".issuer", "is missing: use the iss of its assertions")
	case iss.Issuer == baseURL:
		v.wrong(at+".issuer", "%q is this service itself: use another", iss.Issuer)
	case len(iss.Issuer) > maxIssuer || !isPrintable(iss.Issuer) || strings.ContainsAny(iss.Issuer, "# "):
		// The # separates issuer and subject in our tokens.
		v.wrong(at+".issuer", "%q is not allowed: use up to %d bytes without spaces, # or control characters",
			iss.Issuer, maxIssuer)
	}
	v.keys(at, iss.JWKSURL, iss.JWKSFile, iss.AllowPrivate)
	if len(iss.Audiences) == 0 {
		iss.Audiences = []string{baseURL}
	}
	if i := slices.Index(iss.Audiences, ""); i >= 0 {
		v.wrong(fmt.Sprintf("%s.audiences[%d]", at, i), "is empty: use the aud of its assertions")
	}
	if len(iss.Scopes) == 0 {
		v.wrong(at+".scopes", "is missing: use some of %s", access.AllScopes)
	}
	most := v.scopes(at+".scopes", iss.Scopes, access.AllScopes)
	if len(iss.DefaultScopes) == 0 {
		iss.DefaultScopes = iss.Scopes
	} else {
		v.scopes(at+".default_scopes", iss.DefaultScopes, most)
	}
	v.algorithms(at+".algorithms", iss)
	if len(iss.Clients) == 0 {
		v.wrong(at+".clients", "is missing: name the clients that may present its assertions")
	}
	seen := map[string]bool{}
	for i := range iss.Clients {
		c, at := &iss.Clients[i], fmt.Sprintf("%s.clients[%d]", at, i)
		v.client(at, c, iss.AllowPrivate, most)
		if seen[c.ID] {
			v.wrong(at+".id", "%q is listed twice: name each client once", c.ID)
		}
		seen[c.ID] = true
	}
}

// Validate returns what is wrong with a client of another configuration, with its
// place there.
func (c *Client) Validate(place string) error {
	var v validation
	v.client(place, c, false, access.AllScopes)
	return v.err()
}

func (v *validation) client(at string, c *Client, allowPrivate bool, most access.Scope) {
	if c.ID == "" || len(c.ID) > maxText || !isPrintable(c.ID) {
		v.wrong(at+".id", "%q is not allowed: use 1 to %d bytes without control characters", c.ID, maxText)
	}
	if !slices.Contains(AuthMethods, c.Auth) {
		v.wrong(at+".auth", "%q is not allowed: use one of %s", c.Auth, strings.Join(AuthMethods, ", "))
		return // the other requirements depend on it
	}
	switch secret := c.Auth == AuthBasic || c.Auth == AuthPost; {
	case secret && !isSHA256(c.SecretSHA256):
		v.wrong(at+".secret_sha256", "must be the SHA-256 of the secret: 64 hexadecimal digits")
	case secret && strings.EqualFold(c.SecretSHA256, emptySHA256):
		v.wrong(at+".secret_sha256", "is that of an empty secret: use a real one")
	case !secret && c.SecretSHA256 != "":
		v.wrong(at+".secret_sha256", "is not used with auth %s: leave it out", c.Auth)
	}
	switch {
	case c.Auth == AuthJWT:
		v.keys(at, c.JWKSURL, c.JWKSFile, allowPrivate)
	case c.JWKSURL != "":
		v.wrong(at+".jwks_url", "is not used with auth %s: leave it out", c.Auth)
	case c.JWKSFile != "":
		v.wrong(at+".jwks_file", "is not used with auth %s: leave it out", c.Auth)
	}
	v.scopes(at+".scopes", c.Scopes, most)
}

func (v *validation) keys(at, address, file string, allowPrivate bool) {
	if (address == "") == (file == "") {
		v.wrong(at+".jwks_url", "must be given, or jwks_file, but not both")
		return
	}
	if address == "" {
		return
	}
	u, ok := origin.ParseHTTP(address)
	if !ok || u.Fragment != "" {
		v.wrong(at+".jwks_url", "is not allowed: use https:// and a host, without a password or #")
	} else if u.Scheme == "http" && !allowPrivate {
		// An attacker who changes the response could sign for the issuer.
		v.wrong(at+".jwks_url", "%q is not allowed: use https, or set allow_private when it is on your own network", address)
	}
}

// scopes parses names, which must be within a set.
func (v *validation) scopes(at string, names []string, within access.Scope) access.Scope {
	var all access.Scope
	for i, name := range names {
		s := access.ScopeOf(name)
		if s == 0 || !within.Has(s) {
			v.wrong(fmt.Sprintf("%s[%d]", at, i), "%q is not allowed: use some of %s", name, within)
		}
		all |= s
	}
	return all
}

func (v *validation) algorithms(at string, iss *Issuer) {
	if len(iss.Algorithms) == 0 {
		for _, alg := range defaultAlgorithms {
			iss.Algorithms = append(iss.Algorithms, string(alg))
		}
	}
	for i, name := range iss.Algorithms {
		if !slices.Contains(algorithms, jose.SignatureAlgorithm(name)) {
			v.wrong(fmt.Sprintf("%s[%d]", at, i), "%q is not allowed: use some of %s", name, joinNames(algorithms))
		}
	}
}

// emptySHA256 is the hash when the shell variable with the secret was not set.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func isSHA256(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32
}

// joinNames joins names with spaces.
func joinNames[T ~string](names []T) string { return strings.Trim(fmt.Sprint(names), "[]") }
