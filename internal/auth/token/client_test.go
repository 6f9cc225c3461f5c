package token_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/token"
)

func byPost(id, secret string) func(*call) {
	return func(c *call) {
		c.claims["client_id"] = "poster"
		c.form.Set("client_id", id)
		c.form.Set("client_secret", secret)
	}
}

func byBasic(id, secret string) func(*call) {
	return func(c *call) { c.claims["client_id"] = "web app"; c.basic(id, secret) }
}

func authorization(value string) func(*call) {
	return func(c *call) { c.claims["client_id"] = "web app"; c.http.Set("Authorization", value) }
}

func raw64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// byProof signs, and changes what is signed.
func byProof(change func(*call)) func(*call) {
	return func(c *call) { c.asSigner(); change(c.proof) }
}

var clientRules = []rule{
	{"basic", byBasic("web app", password), "", ""},
	{"basic in other letters", func(c *call) {
		byBasic("web app", password)(c)
		c.http.Set("Authorization", strings.Replace(c.http.Get("Authorization"), "Basic", "bAsIc", 1))
	}, "", ""},
	{"basic with a letter that folds to s", func(c *call) {
		byBasic("web app", password)(c)
		c.http.Set("Authorization", strings.Replace(c.http.Get("Authorization"), "Basic", "Ba\u017fic", 1))
	}, "invalid_client", "must be Basic"},
	{"basic and the same client_id", all(byBasic("web app", password), setForm("client_id", "web app")), "", ""},
	{"basic and another client_id", all(byBasic("web app", password), setForm("client_id", "agent")), "invalid_request", "differs"},
	{"basic with a wrong secret", byBasic("web app", password+"x"), "invalid_client", "secret is wrong"},
	{"basic with no secret", byBasic("web app", ""), "invalid_client", "secret is wrong"},
	{"basic that is not encoded", authorization("Basic " + raw64("web app:"+password)), "invalid_client", "form-encoded"},
	{"basic of an unknown client", byBasic("unknown", password), "invalid_client", "no client of this id"},
	{"basic of who posts", func(c *call) { byBasic("poster", password)(c); c.claims["client_id"] = "poster" }, "invalid_client", "this method"},
	{"basic of who needs none", func(c *call) { byBasic("agent", password)(c); c.claims["client_id"] = "agent" }, "invalid_client", "this method"},
	{"basic without a colon", authorization("Basic " + raw64("web+app")), "invalid_client", "Authorization header must be Basic"},
	{"basic without a name", authorization("Basic " + raw64(":x")), "invalid_client", "Authorization header must be Basic"},
	{"basic that is no base64", authorization("Basic %%%"), "invalid_client", "Authorization header must be Basic"},
	{"basic alone", authorization("Basic"), "invalid_client", "Authorization header must be Basic"},
	{"basic by another name", func(c *call) {
		byBasic("web app", password)(c)
		c.http.Set("Authorization", strings.Replace(c.http.Get("Authorization"), "Basic", "Digest", 1))
	}, "invalid_client", "Authorization header must be Basic"},
	{"an API key as a bearer", authorization("Bearer pregon_live_x"), "invalid_client", "Authorization header must be Basic"},
	{"two headers", func(c *call) {
		byBasic("web app", password)(c)
		c.http["Authorization"] = append(c.http["Authorization"], c.http["Authorization"]...)
	}, "invalid_request", "one Authorization header"},
	{"a client with an assertion for another", func(c *call) { byBasic("web app", password)(c); c.claims["client_id"] = "agent" }, "assertion", "not the client that sent it"},
	{"a client under another issuer", func(c *call) { fromLone(c); byBasic("web app", password)(c) }, "invalid_client", "under the issuer"},

	{"post", byPost("poster", password), "", ""},
	{"post with a wrong secret", byPost("poster", "x"), "invalid_client", "secret is wrong"},
	{"post of the secret's hash", byPost("poster", config().Issuers[0].Clients[3].SecretSHA256), "invalid_client", "secret is wrong"},
	{"post with an empty secret", byPost("poster", ""), "invalid_client", "no client of this id"},
	{"post without a name", all(byPost("poster", password), setForm("client_id", "")), "invalid_request", "client_secret needs client_id"},
	{"post of who uses basic", func(c *call) { byPost("web app", password)(c); c.claims["client_id"] = "web app" }, "invalid_client", "this method"},
	{"post and basic", func(c *call) { byPost("poster", password)(c); c.basic("poster", password) }, "invalid_request", "several methods"},

	{"proof", byProof(func(*call) {}), "", ""},
	{"proof and the same client_id", all(byProof(func(*call) {}), setForm("client_id", "signer")), "", ""},
	{"proof and another client_id", all(byProof(func(*call) {}), setForm("client_id", "agent")), "invalid_client", "sub is not the client_id"},
	{"proof and a secret", all(byProof(func(*call) {}), setForm("client_id", "signer"), setForm("client_secret", password)), "invalid_request", "several methods"},
	{"proof and basic", func(c *call) { c.asSigner().basic("signer", password) }, "invalid_request", "several methods"},
	{"proof of another type", all(byProof(func(*call) {}), setForm("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:saml2-bearer")), "invalid_client", "client_assertion_type must be"},
	{"proof without its type", all(byProof(func(*call) {}), setForm("client_assertion_type", "")), "invalid_client", "client_assertion_type must be"},
	{"the type without a proof", all(byProof(func(*call) {}), setForm("client_assertion", "")), "invalid_request", "needs client_assertion"},
	{"proof for the endpoint", byProof(setClaim("aud", base+"/api/auth/token")), "", ""},
	{"proof for one in a list", byProof(setClaim("aud", []string{base})), "", ""},
	{"proof for two", byProof(setClaim("aud", []string{base, base + "/api/auth/token"})), "invalid_client", "exactly one"},
	{"proof for another audience", byProof(setClaim("aud", idp)), "invalid_client", "aud must be " + base},
	{"proof of who cannot have one", func(c *call) {
		c.asSigner()
		c.claims["client_id"], c.proof.claims["iss"], c.proof.claims["sub"] = "agent", "agent", "agent"
	}, "invalid_client", "this method"},
	{"proof by another issuer", byProof(setClaim("iss", idp)), "invalid_client", "iss and sub must both be"},
	{"proof without an issuer", byProof(noClaim("iss")), "invalid_client", "iss and sub must both be"},
	{"proof without a subject", byProof(noClaim("sub")), "invalid_client", "no client of this id"},
	{"proof that expired", byProof(claimAt("exp", -30)), "invalid_client", "expired"},
	{"proof that just expired", byProof(claimAt("exp", -29)), "", ""},
	{"proof for ever", byProof(claimAt("exp", 86401)), "invalid_client", "24 hours"},
	{"proof without an end", byProof(noClaim("exp")), "invalid_client", "exp is missing"},
	{"proof without iat", byProof(noClaim("iat")), "", ""},
	{"proof from the future", byProof(claimAt("iat", 31)), "invalid_client", "iat is in the future"},
	{"proof that is not valid yet", byProof(claimAt("nbf", 31)), "invalid_client", "nbf is in the future"},
	{"proof without jti", byProof(noClaim("jti")), "invalid_client", "jti must be"},
	{"proof of typ JWT", byProof(setHeader("typ", "JWT")), "", ""},
	{"proof of its own typ", byProof(setHeader("typ", "client-authentication+jwt")), "", ""},
	{"proof of its own typ spelt out", byProof(setHeader("typ", "application/client-authentication+jwt")), "", ""},
	{"proof that is an identity assertion", byProof(setHeader("typ", "oauth-id-jag+jwt")), "invalid_client", "typ in its header"},
	{"proof by another key", byProof(func(p *call) { p.key = otherRSA() }), "invalid_client", "signature is wrong"},
	{"proof by the issuer's key", byProof(signedBy("RS256", "rsa", idpRSA())), "invalid_client", "no key"},
	{"proof by PS256", byProof(func(p *call) { p.alg = "PS256" }), "", ""},
	{"proof by an algorithm that is not used", byProof(func(p *call) { p.alg = "RS512" }), "invalid_client", "alg in its header"},
	{"proof by none", byProof(func(p *call) { p.header["alg"] = "none" }), "invalid_client", "alg in its header"},
	{"proof by HS256", byProof(func(p *call) { p.alg, p.key = "HS256", []byte(password) }), "invalid_client", "alg in its header"},
	{"proof with a key in it", byProof(setHeader("jwk", object{})), "invalid_client", "must not have jwk"},
	{"proof with a member twice", byProof(func(p *call) { p.claimsText = `{"sub":"x",` + asJSON(p.claims)[1:] }), "invalid_client", "member twice"},
	{"proof that is no JWT", setForm("client_assertion", "x"), "invalid_client", "client_assertion_type"},
	{"proof that is nothing", all(byProof(func(*call) {}), setForm("client_assertion", "x.y")), "invalid_client", "three parts"},
	{"proof that is too long", byProof(setClaim("pad", strings.Repeat("x", 16<<10))), "invalid_client", "too long"},
	{"proof for another client's assertion", func(c *call) { c.asSigner(); c.claims["client_id"] = "agent" }, "assertion", "not the client that sent it"},
}

func TestClientRules(t *testing.T) {
	for _, g := range []struct {
		name, bad string
		make      func(*world) *call
	}{{"exchange", "invalid_request", (*world).exchange}, {"bearer", "invalid_grant", (*world).bearer}} {
		for _, r := range clientRules {
			if r.code == "assertion" {
				r.code = g.bad
			}
			t.Run(g.name+"/"+r.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { r.check(t, g.make) })
			})
		}
	}
}

// A client that used the header receives the scheme; others do not, for their
// libraries would then not read the error.
func TestChallenge(t *testing.T) {
	w := newWorld(t)
	const want = `Basic realm="pregon"`
	c := w.exchange()
	byBasic("web app", "wrong")(c)
	if a := c.do(); a.Code != 401 || a.Header().Get("WWW-Authenticate") != want {
		t.Errorf("%d %v", a.Code, a.Header())
	}
	c = w.exchange()
	authorization("Bearer x")(c)
	if a := c.do(); a.Code != 401 || a.Header().Get("WWW-Authenticate") != want {
		t.Errorf("%d %v", a.Code, a.Header())
	}
	c = w.exchange()
	byPost("poster", "wrong")(c)
	if a := c.do(); a.Code != 401 || a.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("%d %v", a.Code, a.Header())
	}
}

// A proof is valid once. A request that fails for another reason does not use it up, and
// its ids are separate from those of assertions.
func TestProofIsUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.exchange().asSigner()
		c.proof.claims["jti"] = c.claims["jti"]
		c.proof.assertion = c.proof.signed()
		c.form.Set("scope", "openid")
		if a := c.do(); a.Error != "invalid_scope" {
			t.Errorf("%d %s", a.Code, a.Body)
		}
		c.form.Del("scope")
		c.good()

		again := w.exchange().asSigner()
		again.proof.assertion = c.proof.assertion
		again.assertion = again.signed()
		if a := again.do(); a.Error != "invalid_client" || !strings.Contains(a.Description, "used before") {
			t.Errorf("%d %s", a.Code, a.Body)
		}
		again.proof = w.exchange().asSigner().proof
		again.good() // the assertion beside a bad proof was not used up

		time.Sleep(89*time.Second + 999*time.Millisecond)
		late := w.exchange().asSigner()
		late.proof.assertion = c.proof.assertion
		if a := late.do(); a.Error != "invalid_client" || !strings.Contains(a.Description, "used before") {
			t.Errorf("just before its end: %d %s", a.Code, a.Body)
		}
	})
}

// A client of the same name under another issuer is another client.
func TestProofIsTheIssuers(t *testing.T) {
	c := config()
	c.Issuers[1].Algorithms = append(c.Issuers[1].Algorithms, "RS256")
	c.Issuers[1].Clients = append(c.Issuers[1].Clients, token.Client{ID: "signer", Auth: "private_key_jwt", JWKSURL: "https://idp.example/keys"})
	w := newWorldWith(t, c)
	ask := w.exchange()
	fromLone(ask)
	if a := ask.asSigner().do(); a.Error != "invalid_client" {
		t.Errorf("the other's key will do: %d %s", a.Code, a.Body)
	}
	ask = w.exchange()
	fromLone(ask)
	ask.asSigner().proof.key, ask.proof.header["kid"] = idpRSA(), "rsa"
	ask.good()
}

func TestClientKeysUnavailable(t *testing.T) {
	w := newWorld(t)
	w.sources["https://client.example/keys"].err = errors.New("no route to host")
	if a := w.exchange().asSigner().do(); a.Code != 503 || a.Error != "temporarily_unavailable" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}
