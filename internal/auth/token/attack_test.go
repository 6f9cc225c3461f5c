package token_test

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/auth/token"
)

// publicForms are the public key of the issuer in all forms that a careless verifier
// could use as an HMAC secret.
func publicForms(key *rsa.PublicKey) map[string][]byte {
	pkix := must1(x509.MarshalPKIXPublicKey(key))
	pkcs1 := x509.MarshalPKCS1PublicKey(key)
	return map[string][]byte{
		"PEM":         pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pkix}),
		"PEM trimmed": bytes.TrimSpace(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pkix})),
		"PKCS1 PEM":   pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: pkcs1}),
		"DER":         pkix,
		"JWK":         must1(jose.JSONWebKey{Key: key, KeyID: "rsa"}.MarshalJSON()),
		"modulus":     key.N.Bytes(),
		"empty":       {},
	}
}

// attacks are refused, whichever key signed them.
func attacks() []rule {
	out := []rule{
		{"alg none", func(c *call) { c.alg = "none"; c.assertion = strings.TrimSuffix(c.signed(), ".") + "." }, "assertion", ""},
		{"alg none with a signature", func(c *call) { c.header["alg"] = "none" }, "assertion", "alg in its header"},
		{"alg None", func(c *call) { c.header["alg"] = "None" }, "assertion", "alg in its header"},
		{"alg in small letters", func(c *call) { c.header["alg"] = "rs256" }, "assertion", "alg in its header"},
		{"no alg", func(c *call) { c.headerText = `{"typ":"oauth-id-jag+jwt","kid":"rsa"}` }, "assertion", "alg in its header"},
		{"alg is a list", func(c *call) { c.header["alg"] = []string{"RS256"} }, "assertion", "alg in its header must be a string"},
		{"alg twice", func(c *call) {
			c.headerText = `{"alg":"none","typ":"oauth-id-jag+jwt","kid":"rsa","alg":"RS256"}`
		}, "assertion", "header is not a JSON object, or has a member twice"},
		{"HS256 with a shared key in the set", signedBy("HS256", "shared", []byte("a secret of thirty-two bytes, ok")), "assertion", "alg in its header"},
		{"RS256 said, HS256 done", func(c *call) {
			c.header["alg"], c.header["kid"] = "RS256", "shared"
			c.alg, c.key = "HS256", []byte("a secret of thirty-two bytes, ok")
		}, "assertion", "no key"},
		{"another algorithm said than done", func(c *call) { c.header["alg"] = "PS256" }, "assertion", "signature is wrong"},

		{"kid is a path", setHeader("kid", "../../../../dev/null"), "assertion", "no key"},
		{"kid is SQL", setHeader("kid", "x' UNION SELECT 'key"), "assertion", "no key"},
		{"kid has NUL", setHeader("kid", "rsa\x00"), "assertion", "no key"},
		{"kid is huge", setHeader("kid", strings.Repeat("k", 1<<20)), "", ""}, // see below
		{"kid is an object", setHeader("kid", object{"a": 1}), "assertion", "kid in its header must be a string"},

		{"claims twice", func(c *call) { c.claimsText = `{"sub":"mallory",` + asJSON(c.claims)[1:] }, "assertion", "member twice"},
		{"claims twice, once escaped", func(c *call) { c.claimsText = `{"\u0073ub":"mallory",` + asJSON(c.claims)[1:] }, "assertion", "member twice"},
		{"claims twice, deeper", func(c *call) { c.claimsText = `{"act":{"sub":"a","sub":"b"},` + asJSON(c.claims)[1:] }, "assertion", "member twice"},
		{"a claim in other letters", func(c *call) { c.claimsText = `{"SUB":"mallory",` + asJSON(c.claims)[1:] }, "good", ""},
		{"only in other letters", func(c *call) { delete(c.claims, "sub"); c.claims["Sub"] = "mallory" }, "assertion", "sub must be"},
		{"claims are a list", func(c *call) { c.claimsText = `[` + asJSON(c.claims) + `]` }, "assertion", "claims are not a JSON object"},
		{"claims are null", func(c *call) { c.claimsText = `null` }, "assertion", "claims are not a JSON object"},
		{"claims are a text", func(c *call) { c.claimsText = `"x"` }, "assertion", "claims are not a JSON object"},
		{"claims and more", func(c *call) { c.claimsText = asJSON(c.claims) + `{}` }, "assertion", "claims are not a JSON object"},
		{"claims that are not UTF-8", func(c *call) {
			c.claims["sub"] = "x"
			c.claimsText = strings.Replace(asJSON(c.claims), `"x"`, "\"\xff\"", 1)
		}, "assertion", "claims are not a JSON object"},
		{"claims with a byte order mark", func(c *call) { c.claimsText = "\ufeff" + asJSON(c.claims) }, "assertion", "claims are not a JSON object"},
		{"claims nested deep", func(c *call) { c.claimsText = strings.Repeat("[", 10_000) }, "assertion", "claims are not a JSON object"},
		{"numbers too large", func(c *call) { c.claimsText = `{"exp":1e999,"iss":"` + idp + `"}` }, "assertion", "claims are not a JSON object"},
		{"header is a list", func(c *call) { c.headerText = `[]` }, "assertion", "header is not a JSON object"},
		{"header is null", func(c *call) { c.headerText = `null` }, "assertion", "header is not a JSON object"},

		{"a JWT in a JWT", func(c *call) { c.claimsText = c.signed(); c.header["cty"] = "JWT" }, "assertion", "claims are not a JSON object"},
		{"encrypted", func(c *call) { c.assertion = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..AAAA.AAAA.AAAA" }, "assertion", "three parts"},
		{"JSON serialisation", func(c *call) {
			p := strings.Split(c.signed(), ".")
			c.assertion = asJSON(object{"payload": p[1], "protected": p[0], "signature": p[2]})
		}, "assertion", "three parts"},
		{"two parts", func(c *call) {
			c.assertion = c.signed()
			c.assertion = c.assertion[:strings.LastIndex(c.assertion, ".")]
		}, "assertion", "three parts"},
		{"no signature", func(c *call) {
			c.assertion = c.signed()
			c.assertion = c.assertion[:strings.LastIndex(c.assertion, ".")+1]
		}, "assertion", "three parts"},
		{"a part more", func(c *call) { c.assertion = c.signed() + ".AAAA" }, "assertion", "three parts"},
		{"dots", func(c *call) { c.assertion = strings.Repeat(".", 10_000) }, "assertion", "three parts"},
		{"no claims", func(c *call) { p := strings.Split(c.signed(), "."); c.assertion = p[0] + ".." + p[2] }, "assertion", "claims are not a JSON object"},
		{"spaces around", func(c *call) { c.assertion = " " + c.signed() + " " }, "assertion", "base64url"},
		{"a line break inside", func(c *call) { p := strings.SplitN(c.signed(), ".", 2); c.assertion = p[0] + "\n." + p[1] }, "assertion", "three parts"},
		{"padded", func(c *call) { c.assertion = c.signed() + "==" }, "assertion", "base64url"},
		{"the other base64", func(c *call) {
			p := strings.Split(c.signed(), ".")
			sig := must1(base64.RawURLEncoding.DecodeString(p[2]))
			sig[0] = 0xff
			c.assertion = p[0] + "." + p[1] + "." + base64.RawStdEncoding.EncodeToString(sig)
		}, "assertion", "base64url"},
		{"signature spelt otherwise", func(c *call) { // the last character has bits that count for nothing
			raw := c.signed()
			const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
			last := strings.IndexByte(letters, raw[len(raw)-1])
			c.assertion = raw[:len(raw)-1] + string(letters[last^1])
		}, "assertion", "base64url"},
		{"claims changed", func(c *call) {
			p := strings.Split(c.signed(), ".")
			c.claims["sub"] = "mallory"
			c.assertion = p[0] + "." + encode([]byte(asJSON(c.claims))) + "." + p[2]
		}, "assertion", "signature is wrong"},
		{"header changed", func(c *call) {
			p := strings.Split(c.signed(), ".")
			c.assertion = encode([]byte(`{"alg":"RS256","kid":"rsa","typ":"oauth-id-jag+jwt"}`)) + "x." + p[1] + "." + p[2]
		}, "assertion", ""},
		{"an embedded key that signed it", func(c *call) {
			c.key = otherRSA()
			c.header["jwk"] = must1(jose.JSONWebKey{Key: otherRSA().Public(), KeyID: "rsa"}.MarshalJSON())
		}, "assertion", "must not have jwk"},
		{"an embedded certificate", func(c *call) { c.key = otherRSA(); c.header["x5c"] = []string{"AAAA"} }, "assertion", ""},
		{"as long as may be", func(c *call) {
			c.claims["pad"] = ""
			c.claims["pad"] = strings.Repeat("x", (token.MaxForeign-len(c.signed()))*3/4-2)
		}, "good", ""},
		{"too long", func(c *call) { c.claims["pad"] = strings.Repeat("x", token.MaxForeign) }, "assertion", "too long"},
		{"like an ID token", func(c *call) {
			delete(c.header, "typ")
			delete(c.claims, "client_id")
			delete(c.claims, "jti")
			c.claims["aud"], c.claims["azp"], c.claims["nonce"] = "agent", "agent", "n"
		}, "assertion", ""},
		{"like an ID token for us", func(c *call) {
			c.header["typ"] = "JWT"
			if c.form.Has("subject_token_type") {
				c.form.Set("subject_token_type", token.TypeJWT)
			}
			delete(c.claims, "client_id")
			delete(c.claims, "jti")
			c.claims["azp"], c.claims["nonce"] = "agent", "n"
		}, "assertion", "client_id must be"},
		{"an issuer in look-alike letters", setClaim("iss", strings.Replace(idp, "e", "\u0435", 1)), "assertion", "not trusted"},
		{"an issuer with an accent taken apart", setClaim("iss", idp+"\u0301"), "assertion", "not trusted"},
		{"a client in look-alike letters", setClaim("client_id", "\u0430gent"), "invalid_client", ""},
		{"a client in wide letters", setClaim("client_id", "\uff41gent"), "invalid_client", ""},
		{"a client with a space that is not seen", setClaim("client_id", "agent\u200b"), "invalid_client", ""},
	}
	for name, secret := range publicForms(&idpRSA().PublicKey) {
		out = append(out, rule{"HS256 with the public key as " + name, signedBy("HS256", "rsa", secret), "assertion", "alg in its header"})
	}
	return out
}

func TestAttacks(t *testing.T) {
	for _, g := range []struct {
		name, bad string
		make      func(*world) *call
	}{{"exchange", "invalid_request", (*world).exchange}, {"bearer", "invalid_grant", (*world).bearer}} {
		for _, r := range attacks() {
			switch {
			case r.name == "kid is huge": // larger than a body may be
				r.code = "invalid_request"
			case r.code == "assertion":
				r.code = g.bad
			case r.code == "good":
				r.code = ""
			}
			t.Run(g.name+"/"+r.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { r.check(t, g.make) })
			})
		}
	}
}

// Our own access token is not accepted as an assertion.
func TestOwnTokenAsAssertion(t *testing.T) {
	w := newWorld(t)
	own := w.token()
	for _, c := range []*call{w.exchange(), w.bearer()} {
		c.assertion = own
		if a := c.do(); a.Code != 400 || !strings.Contains(a.Description, "typ in its header") {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}
	c := w.exchange()
	c.assertion = own
	c.form.Set("subject_token_type", token.TypeJWT)
	if a := c.do(); a.Error != "invalid_request" || !strings.Contains(a.Description, "typ in its header") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// An invalid request does not use up an assertion.
func TestInvalidRequestKeepsAssertion(t *testing.T) {
	w := newWorld(t)
	c := w.exchange()
	c.claims["client_id"] = "poster"
	c.assertion = c.signed()
	for _, spoil := range []func(*call){
		func(*call) {}, // no secret
		func(c *call) { c.form.Set("client_id", "poster"); c.form.Set("client_secret", "guess") },
		func(c *call) { c.form.Set("scope", "openid") },
		func(c *call) { c.form.Set("resource", "https://evil.example") },
		func(c *call) { c.basic("web app", password) },
	} {
		bad := w.exchange()
		bad.assertion = c.assertion
		spoil(bad)
		if a := bad.do(); a.Code == 200 {
			t.Fatalf("given: %s", a.Body)
		}
	}
	c.form.Set("client_id", "poster")
	c.form.Set("client_secret", password)
	c.good()
}
