package token

import (
	"context"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json" // unlike encoding/json it refuses duplicate members

	"pregon/internal/auth/jwks"
)

// KeySource holds the public keys of another party.
type KeySource interface {
	// Keys returns the keys for an algorithm: those with a key id, or all if it is
	// empty. To find none is not an error.
	Keys(ctx context.Context, kid, alg string) ([]jose.JSONWebKey, error)
}

// tokenError says what is wrong with a token, in words for the client.
type tokenError string

func (u tokenError) Error() string { return string(u) }

const (
	maxForeign = 16 << 10 // bytes of a token of another party
	maxKeyID   = 256
	maxText    = 255 // bytes of an identifier in a claim
)

// jws is a parsed token. Nothing in it is trustworthy before verify.
type jws struct {
	raw           string
	alg, kid, typ string
	claims        map[string]any
}

// parse parses a token in the compact form.
func parse(raw string, most int) (*jws, error) {
	if len(raw) > most {
		return nil, tokenError("it is too long")
	}
	header, claims, err := open(raw)
	if err != nil {
		return nil, err
	}
	// Keys come from the configuration, never from the token. Extensions that may
	// change the meaning of the rest are refused.
	for _, name := range []string{"jwk", "jku", "x5u", "crit", "b64", "zip"} {
		if _, there := header[name]; there {
			return nil, tokenError("its header must not have " + name)
		}
	}
	j := &jws{raw: raw, claims: claims}
	for _, m := range []struct {
		name string
		to   *string
	}{{"alg", &j.alg}, {"kid", &j.kid}, {"typ", &j.typ}} {
		value, there := header[m.name]
		text, ok := value.(string)
		if there && !ok {
			return nil, tokenError(m.name + " in its header must be a string")
		}
		*m.to = text
	}
	if len(j.kid) > maxKeyID {
		return nil, tokenError("kid in its header is too long")
	}
	return j, nil
}

// strict accepts a single encoding of each value.
var strict = base64.RawURLEncoding.Strict()

// open decodes header and claims.
func open(raw string) (header, claims map[string]any, err error) {
	parts := strings.SplitN(raw, ".", 4)
	if len(parts) != 3 || parts[2] == "" || strings.ContainsAny(raw, "\r\n") { // which the decoder would skip
		return nil, nil, tokenError("it must be a signed JWT: three parts in base64url with dots between them")
	}
	decoded := make([][]byte, len(parts))
	for i, part := range parts {
		if decoded[i], err = strict.DecodeString(part); err != nil {
			return nil, nil, tokenError("it is not base64url without padding")
		}
	}
	if header, err = decodeObject(decoded[0]); err != nil {
		return nil, nil, tokenError("its header is not a JSON object, or has a member twice")
	}
	if claims, err = decodeObject(decoded[1]); err != nil {
		return nil, nil, tokenError("its claims are not a JSON object, or have a member twice")
	}
	return header, claims, nil
}

func decodeObject(b []byte) (map[string]any, error) {
	if !utf8.Valid(b) {
		return nil, errors.New("not UTF-8")
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("null")
	}
	return m, nil
}

// verify checks the signature. It returns a tokenError for an invalid signature, and
// another error when the keys are not available.
func (j *jws) verify(ctx context.Context, source KeySource, algs []jose.SignatureAlgorithm) error {
	if !slices.Contains(algs, jose.SignatureAlgorithm(j.alg)) {
		return tokenError("alg in its header must be one of " + joinNames(algs))
	}
	signed, err := jose.ParseSignedCompact(j.raw, algs)
	if err != nil {
		return tokenError("it cannot be read as a signed JWT")
	}
	keys, err := source.Keys(ctx, j.kid, j.alg)
	if err != nil {
		return Unavailable(err)
	}
	keys = slices.DeleteFunc(slices.Clone(keys), func(k jose.JSONWebKey) bool { return !j.fits(k) })
	if len(keys) == 0 {
		return tokenError("no key of its signer has this kid and alg")
	}
	if j.kid == "" && len(keys) > 1 {
		return tokenError("its header must have a kid: the signer has several keys")
	}
	for _, k := range keys {
		if _, err := signed.Verify(k.Key); err == nil {
			return nil
		}
	}
	return tokenError("its signature is wrong")
}

// fits reports whether a key may have made the signature. Keys for another use are
// ignored, even if the source returned them.
func (j *jws) fits(k jose.JSONWebKey) bool {
	signs := k.Use == "" || k.Use == "sig"
	hasAlgorithm := k.Algorithm == "" || k.Algorithm == j.alg
	hasID := j.kid == "" || k.KeyID == j.kid
	return k.Valid() && signs && hasAlgorithm && hasID && jwks.CanVerify(k.Key, j.alg)
}

// typed reports whether typ has a value, with or without application/ (RFC 7515).
func (j *jws) typed(name string) bool {
	return strings.EqualFold(j.typ, name) || strings.EqualFold(j.typ, "application/"+name)
}

// isPrintable reports whether a text has neither control characters nor invalid UTF-8.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError })
}

const (
	leeway   = 30 * time.Second // for the clocks of other parties
	maxAhead = 24 * time.Hour   // maximum of exp
)

// text returns a claim that must be an identifier.
func (j *jws) text(name string) (string, error) {
	s, ok := j.claims[name].(string)
	if !ok || s == "" || len(s) > maxText || !isPrintable(s) {
		return "", tokenError(name + " must be a string of 1 to 255 bytes without control characters")
	}
	return s, nil
}

// audience returns the single value of aud.
func (j *jws) audience() (string, error) {
	aud := j.claims["aud"]
	if list, ok := aud.([]any); ok && len(list) == 1 {
		aud = list[0]
	}
	s, ok := aud.(string)
	if !ok || s == "" {
		return "", tokenError("aud must be one string, or a list of exactly one")
	}
	return s, nil
}

// year9999 is the last time that RFC 3339 can represent.
const year9999 = 253402300799

// instant returns a claim in seconds since 1970, which may have a fraction.
func (j *jws) instant(name string) (at time.Time, there bool, err error) {
	value, there := j.claims[name]
	if !there {
		return time.Time{}, false, nil
	}
	seconds, ok := value.(float64)
	if !ok || !(seconds >= 0 && seconds <= year9999) {
		return time.Time{}, false, tokenError(name + " must be a number: seconds since 1970")
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), true, nil
}

// times checks exp, iat and nbf, and returns exp.
func (j *jws) times(now time.Time, iatNeeded bool) (time.Time, error) {
	exp, there, err := j.instant("exp")
	if err != nil {
		return time.Time{}, err
	}
	if !there {
		return time.Time{}, tokenError("exp is missing")
	}
	if !now.Before(exp.Add(leeway)) {
		return time.Time{}, tokenError("it has expired")
	}
	if exp.After(now.Add(maxAhead)) {
		return time.Time{}, tokenError("exp may be 24 hours ahead at most")
	}
	for _, name := range []string{"iat", "nbf"} {
		from, there, err := j.instant(name)
		if err != nil {
			return time.Time{}, err
		}
		if !there && name == "iat" && iatNeeded {
			return time.Time{}, tokenError("iat is missing")
		}
		if from.After(now.Add(leeway)) {
			return time.Time{}, tokenError(name + " is in the future: it is not valid yet")
		}
	}
	return exp, nil
}
