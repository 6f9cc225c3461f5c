package token_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/access"
	"pregon/internal/auth/token"
)

func TestExchangeIssuesToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.exchange().good()
		if a.TokenType != "Bearer" || a.IssuedType != token.TypeAccess || a.ExpiresIn != 600 || a.Scope != "read:reports" {
			t.Errorf("the answer is %s", a.Body)
		}
		got, err := w.server.Verify(t.Context(), a.AccessToken)
		if err != nil {
			t.Fatal(err)
		}
		want := access.Token{
			KeyID:   w.kids()[0],
			Subject: idp + "#alice", Issuer: idp, ClientID: "agent", Audience: base, Scope: access.ReadReports,
			Expires: time.Now().Add(10 * time.Minute), ID: got.ID,
		}
		if diff := cmp.Diff(want, got); diff != "" || got.ID == "" {
			t.Error(diff)
		}
		e := w.lastEvent()
		if diff := cmp.Diff(event{"token.issued", map[string]string{
			"issuer": idp, "sub": idp + "#alice", "client_id": "agent", "scope": "read:reports", "audience": base, "jti": got.ID, "client_ip": "192.0.2.1",
		}}, e, cmp.AllowUnexported(event{})); diff != "" {
			t.Error(diff)
		}
		if len(w.limiter.failed) != 0 {
			t.Error("a success was counted as a failure")
		}
	})
}

func TestBearerGrantIssuesToken(t *testing.T) {
	w := newWorld(t)
	a := w.bearer().good()
	if a.TokenType != "Bearer" || strings.Contains(a.Body.String(), "issued_token_type") || a.Scope != "read:reports" {
		t.Errorf("the answer is %s", a.Body)
	}
}

// rule is a request that differs from a valid one. Without a code it is valid too; the
// code "assertion" is the code of the grant for an invalid assertion.
type rule struct {
	name   string
	change func(c *call)
	code   string
	says   string // part of the description, or of the scope granted
}

func setClaim(name string, value any) func(*call) {
	return func(c *call) { c.claims[name] = value }
}

func noClaim(name string) func(*call) { return func(c *call) { delete(c.claims, name) } }

func setHeader(name string, value any) func(*call) {
	return func(c *call) { c.header[name] = value }
}

func setForm(name string, values ...string) func(*call) {
	return func(c *call) { c.form[name] = values }
}

func all(changes ...func(*call)) func(*call) {
	return func(c *call) {
		for _, change := range changes {
			change(c)
		}
	}
}

// claimAt sets a time claim relative to now, in seconds.
func claimAt(name string, seconds float64) func(*call) {
	return func(c *call) { c.claims[name] = float64(time.Now().Unix()) + seconds }
}

func signedBy(alg, kid string, key any) func(*call) {
	return func(c *call) { c.alg, c.key, c.header["kid"] = alg, key, kid }
}

// fromLone makes it an assertion of the issuer that has one key without an id.
func fromLone(c *call) {
	c.alg, c.key = "ES256", loneEC()
	delete(c.header, "kid")
	c.claims["iss"], c.claims["aud"] = lone, "urn:pregon"
}

// assertionRules hold for both grants.
var assertionRules = []rule{
	{"as it should be", func(*call) {}, "", "read:reports"},

	{"PS256", func(c *call) { signedBy("PS256", "rsa", idpRSA())(c) }, "", ""},
	{"ES256", func(c *call) { signedBy("ES256", "ec", idpEC())(c) }, "", ""},
	{"ES384", func(c *call) { signedBy("ES384", "ec384", idpEC384())(c) }, "", ""},
	{"EdDSA", func(c *call) { signedBy("EdDSA", "ed", idpEd())(c) }, "", ""},
	{"an algorithm that this issuer does not use", func(c *call) { signedBy("RS512", "rsa", idpRSA())(c) }, "assertion", "alg in its header must be one of RS256 PS256 ES256 ES384 EdDSA"},
	{"an algorithm that another issuer does not use", func(c *call) { fromLone(c); c.alg, c.key = "RS256", idpRSA() }, "assertion", "must be one of ES256 RS512"},
	{"a curve for another algorithm", func(c *call) { signedBy("ES256", "ec384", idpEC384())(c) }, "assertion", "no key"},
	{"a key for another algorithm", func(c *call) { signedBy("RS256", "pss-only", otherRSA())(c) }, "assertion", "no key"},
	{"a key for encryption", func(c *call) { signedBy("RS256", "encrypts", otherRSA())(c) }, "assertion", "no key"},
	{"a short key", func(c *call) { signedBy("RS256", "weak", weakRSA())(c) }, "assertion", "no key"},
	{"a private key in the set", func(c *call) { signedBy("RS256", "private", otherRSA())(c) }, "assertion", "no key"},
	{"another key", func(c *call) { c.key = otherRSA() }, "assertion", "signature is wrong"},
	{"the key of another issuer", func(c *call) { c.claims["iss"] = lone; signedBy("ES256", "", idpEC())(c) }, "assertion", "signature is wrong"},
	{"an unknown kid", setHeader("kid", "unknown"), "assertion", "no key"},
	{"no kid, many keys", func(c *call) { delete(c.header, "kid") }, "", ""}, // but one RSA key for RS256 alone
	{"no kid, two that fit", func(c *call) {
		s := c.w.sources["https://idp.example/keys"]
		s.keys = append(s.keys, public("rsa-2", clientRSA()))
		delete(c.header, "kid")
	}, "assertion", "must have a kid"},
	{"no kid, one key", fromLone, "", "read:analytics"},
	{"an empty kid is none", func(c *call) { fromLone(c); c.header["kid"] = "" }, "", ""},
	{"a kid that is a number", setHeader("kid", 7), "assertion", "kid in its header must be a string"},
	{"a long kid", setHeader("kid", strings.Repeat("k", 257)), "assertion", "kid in its header is too long"},

	{"an unknown issuer", setClaim("iss", "https://evil.example"), "assertion", "issuer is not trusted"},
	{"an issuer with a slash more", setClaim("iss", idp+"/"), "assertion", "issuer is not trusted"},
	{"an issuer in capitals", setClaim("iss", strings.ToUpper(idp)), "assertion", "issuer is not trusted"},
	{"no issuer", noClaim("iss"), "assertion", "issuer is not trusted"},
	{"a list of issuers", setClaim("iss", []string{idp}), "assertion", "issuer is not trusted"},
	{"our own name as the issuer", setClaim("iss", base), "assertion", "issuer is not trusted"},

	{"aud in a list", setClaim("aud", []string{base}), "", ""},
	{"another aud of the issuer", func(c *call) { fromLone(c); c.claims["aud"] = base + "/" }, "", ""},
	{"aud that only another issuer uses", setClaim("aud", "urn:pregon"), "assertion", "aud must be " + base},
	{"two audiences", setClaim("aud", []string{base, "https://other.example"}), "assertion", "exactly one"},
	{"twice the same audience", setClaim("aud", []string{base, base}), "assertion", "exactly one"},
	{"no audience in the list", setClaim("aud", []string{}), "assertion", "exactly one"},
	{"the audience in a list in a list", setClaim("aud", []any{[]string{base}}), "assertion", "exactly one"},
	{"no aud", noClaim("aud"), "assertion", "exactly one"},
	{"aud is the token endpoint", setClaim("aud", base+"/api/auth/token"), "assertion", "aud must be"},
	{"aud with a slash more", setClaim("aud", base+"/"), "assertion", "aud must be"},
	{"aud is a number", setClaim("aud", 1), "assertion", "exactly one"},

	{"no exp", noClaim("exp"), "assertion", "exp is missing"},
	{"exp is a text", setClaim("exp", "9999999999"), "assertion", "exp must be a number"},
	{"exp is null", setClaim("exp", nil), "assertion", "exp must be a number"},
	{"exp is a list", setClaim("exp", []int{1}), "assertion", "exp must be a number"},
	{"exp before 1970", setClaim("exp", -1), "assertion", "exp must be a number"},
	{"exp beyond all years", setClaim("exp", 1e18), "assertion", "exp must be a number"},
	{"just expired", claimAt("exp", -29.5), "", ""},
	{"expired", claimAt("exp", -30), "assertion", "has expired"},
	{"long expired", setClaim("exp", 0), "assertion", "has expired"},
	{"a day ahead", claimAt("exp", 86400), "", ""},
	{"more than a day ahead", claimAt("exp", 86401), "assertion", "24 hours"},
	{"no iat", noClaim("iat"), "assertion", "iat is missing"},
	{"iat a little ahead", claimAt("iat", 30), "", ""},
	{"iat ahead", claimAt("iat", 31), "assertion", "iat is in the future"},
	{"iat long ago", setClaim("iat", 0), "", ""},
	{"iat is a text", setClaim("iat", "now"), "assertion", "iat must be a number"},
	{"nbf past", claimAt("nbf", -100), "", ""},
	{"nbf a little ahead", claimAt("nbf", 29.75), "", ""},
	{"not valid yet", claimAt("nbf", 30.25), "assertion", "nbf is in the future"},
	{"nbf is a text", setClaim("nbf", "soon"), "assertion", "nbf must be a number"},
	{"nbf is null", setClaim("nbf", nil), "assertion", "nbf must be a number"},

	{"no sub", noClaim("sub"), "assertion", "sub must be a string"},
	{"an empty sub", setClaim("sub", ""), "assertion", "sub must be a string"},
	{"sub is a number", setClaim("sub", 7), "assertion", "sub must be a string"},
	{"a long sub", setClaim("sub", strings.Repeat("s", 255)), "", ""},
	{"too long a sub", setClaim("sub", strings.Repeat("s", 256)), "assertion", "sub must be a string"},
	{"sub counted in bytes", setClaim("sub", strings.Repeat("ñ", 128)), "assertion", "sub must be a string"},
	{"sub with a newline", setClaim("sub", "a\nb"), "assertion", "sub must be a string"},
	{"sub with NUL", setClaim("sub", "a\x00b"), "assertion", "sub must be a string"},
	{"sub with half a character", func(c *call) {
		c.claimsText = strings.Replace(asJSON(c.claims), `"alice"`, `"al\ud800ice"`, 1)
	}, "assertion", "sub must be a string"},
	{"sub in other letters", setClaim("sub", "Þórður#ñ"), "", ""},
	{"no client_id", noClaim("client_id"), "assertion", "client_id must be a string"},
	{"client_id is a list", setClaim("client_id", []string{"agent"}), "assertion", "client_id must be a string"},
	{"no jti", noClaim("jti"), "assertion", "jti must be a string"},
	{"an empty jti", setClaim("jti", ""), "assertion", "jti must be a string"},
	{"a long jti", setClaim("jti", strings.Repeat("j", 256)), "assertion", "jti must be a string"},
	{"bound to a key", setClaim("cnf", object{"jkt": "x"}), "assertion", "proof of possession is not supported"},
	{"bound to null", setClaim("cnf", nil), "assertion", "proof of possession is not supported"},
	{"claims that mean nothing to us", all(setClaim("act", object{"sub": "x"}), setClaim("email", "a@b.example")), "", ""},

	{"embedded key", setHeader("jwk", object{"kty": "oct"}), "assertion", "must not have jwk"},
	{"key elsewhere", setHeader("jku", "https://evil.example/keys"), "assertion", "must not have jku"},
	{"certificate elsewhere", setHeader("x5u", "https://evil.example/cert"), "assertion", "must not have x5u"},
	{"critical header", setHeader("crit", []string{"exp"}), "assertion", "must not have crit"},
	{"empty critical header", setHeader("crit", []string{}), "assertion", "must not have crit"},
	{"not encoded", all(setHeader("b64", false), setHeader("crit", []string{"b64"})), "assertion", "must not have"},
	{"b64 alone", setHeader("b64", true), "assertion", "must not have b64"},
	{"compressed", setHeader("zip", "DEF"), "assertion", "must not have zip"},
	{"a hint of a certificate", setHeader("x5t", "abc"), "", ""},

	{"no scope asked, narrowed by the assertion", setClaim("scope", "read:issuers"), "invalid_scope", "none of the scopes"},
	{"the assertion's scope holds the default", setClaim("scope", "read:reports openid"), "", "read:reports"},
	{"asked and asserted", all(setClaim("scope", "read:issuers"), setForm("scope", "read:reports read:issuers")), "", "read:issuers"},
	{"asked for all", setForm("scope", "read:analytics read:issuers read:reports"), "", "read:reports read:issuers"},
	{"asked twice in one", setForm("scope", "read:issuers read:issuers"), "", "read:issuers"},
	{"asked with spaces around", setForm("scope", "  read:issuers   read:reports "), "", "read:reports read:issuers"},
	{"asked for something else too", setForm("scope", "openid read:issuers"), "", "read:issuers"},
	{"asked for something else only", setForm("scope", "openid"), "invalid_scope", "none of the scopes"},
	{"asked for what the issuer may not grant", setForm("scope", "read:analytics"), "invalid_scope", "none of the scopes"},
	{"asked for in capitals", setForm("scope", "READ:REPORTS"), "invalid_scope", "none of the scopes"},
	{"asked for nothing", setForm("scope", ""), "", "read:reports"},
	{"asked for a space", setForm("scope", " "), "invalid_scope", "names with spaces"},
	{"asked with a quote", setForm("scope", `read:reports "`), "invalid_scope", "names with spaces"},
	{"asked with a tab", setForm("scope", "read:reports\tread:issuers"), "invalid_scope", "names with spaces"},
	{"asked with a letter beyond ASCII", setForm("scope", "read:reports ñ"), "invalid_scope", "names with spaces"},
	{"asked with a space beyond ASCII", setForm("scope", "read:reports\u00a0read:issuers"), "invalid_scope", "names with spaces"},
	{"asked with a backslash", setForm("scope", `read:reports\`), "invalid_scope", "names with spaces"},
	{"an empty scope claim", setClaim("scope", ""), "invalid_scope", "none of the scopes"},
	{"the scope claim is a list", setClaim("scope", []string{"read:reports"}), "assertion", "scope must be a string"},
	{"the scope claim is odd", setClaim("scope", "read:reports\n"), "assertion", "scope must be a string"},
	{"a narrow client", setClaim("client_id", "narrow"), "invalid_scope", "none of the scopes"},
	{"a narrow client asks", all(setClaim("client_id", "narrow"), setForm("scope", "read:reports read:issuers")), "", "read:issuers"},

	{"resource claim", setClaim("resource", base), "", ""},
	{"resource claim with a slash", setClaim("resource", base+"/"), "", ""},
	{"resource claim of MCP", setClaim("resource", base+"/api/mcp"), "", ""},
	{"resource claim in a list", setClaim("resource", []string{"https://other.example", base + "/api/mcp"}), "", ""},
	{"resource claim of both", setClaim("resource", []string{base + "/api/mcp", base}), "", ""},
	{"resource claim of another service", setClaim("resource", "https://other.example"), "assertion", "resource does not name"},
	{"resource claim that lacks what is asked", all(setClaim("resource", base), setForm("resource", base+"/api/mcp")), "assertion", "resource does not name " + base + "/api/mcp"},
	{"resource claim that lacks what is asked, the other way", all(setClaim("resource", base+"/api/mcp"), setForm("resource", base)), "assertion", "resource does not name"},
	{"resource claim that is empty", setClaim("resource", []string{}), "assertion", "resource does not name"},
	{"resource claim that is a number", setClaim("resource", 1), "assertion", "resource must be a string"},
	{"resource claim with a number", setClaim("resource", []any{base, 1}), "assertion", "resource must be a string"},
	{"resource claim that is null", setClaim("resource", nil), "assertion", "resource must be a string"},

	{"resource asked", setForm("resource", base), "", ""},
	{"resource asked with a slash", setForm("resource", base+"/"), "", ""},
	{"resource asked of MCP", setForm("resource", base+"/api/mcp"), "", ""},
	{"resource asked twice", setForm("resource", base, base), "", ""},
	{"two resources asked", setForm("resource", base, base+"/api/mcp"), "invalid_target", "one resource"},
	{"an unknown resource asked", setForm("resource", "https://other.example"), "invalid_target", "resource and audience must be"},
	{"a part of ours asked", setForm("resource", base+"/api/v1/reports"), "invalid_target", "resource and audience must be"},
	{"MCP with a slash asked", setForm("resource", base+"/api/mcp/"), "invalid_target", "resource and audience must be"},
	{"a fragment asked", setForm("resource", base+"#x"), "invalid_target", "resource and audience must be"},
	{"an empty resource", setForm("resource", ""), "", ""},
	{"audience asked", setForm("audience", base+"/api/mcp"), "", ""},
	{"an unknown audience asked", setForm("audience", "pregon"), "invalid_target", "resource and audience must be"},
	{"two audiences asked", setForm("audience", base, "x"), "invalid_target", "one audience"},
	{"resource and audience agree", all(setForm("audience", base), setForm("resource", base+"/")), "", ""},
	{"resource and audience differ", all(setForm("audience", base), setForm("resource", base+"/api/mcp")), "invalid_target", "equal if both"},

	{"client_id beside it", setForm("client_id", "agent"), "", ""},
	{"another client_id beside it", setForm("client_id", "narrow"), "assertion", "client_id is not the client that sent it"},
	{"an unknown client_id beside it", setForm("client_id", "unknown"), "invalid_client", "no client of this id"},
	{"an unknown client", setClaim("client_id", "unknown"), "invalid_client", "no client of this id"},
	{"a client that must authenticate", setClaim("client_id", "poster"), "invalid_client", "no client of this id"},
	{"a client of another issuer", func(c *call) { fromLone(c); c.claims["client_id"] = "narrow" }, "invalid_client", "no client of this id"},
}

func TestAssertionRules(t *testing.T) {
	grants := []struct {
		name, bad string
		make      func(*world) *call
	}{
		{"exchange", "invalid_request", (*world).exchange},
		{"bearer", "invalid_grant", (*world).bearer},
	}
	for _, g := range grants {
		for _, r := range assertionRules {
			if r.code == "assertion" {
				r.code = g.bad
			}
			t.Run(g.name+"/"+r.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { r.check(t, g.make) })
			})
		}
	}
}

// check tests a rule with a server of its own.
func (r rule) check(t *testing.T, make func(*world) *call) {
	t.Helper()
	w := newWorld(t)
	c := make(w)
	r.change(c)
	a := c.do()
	if r.code == "" {
		if a.Code != 200 || !strings.Contains(a.Scope, r.says) {
			t.Errorf("%d %s", a.Code, a.Body)
		}
		if got, err := w.server.Verify(t.Context(), a.AccessToken); err != nil || got.Scope.String() != a.Scope {
			t.Errorf("the token is %+v, %v", got, err)
		}
		if n := len(w.limiter.failed); n != 0 {
			t.Errorf("%d failures were counted", n)
		}
		return
	}
	status := map[string]int{"invalid_client": 401, "temporarily_unavailable": 503}[r.code]
	if status == 0 {
		status = 400
	}
	if a.Code != status || a.Error != r.code || !strings.Contains(a.Description, r.says) {
		t.Errorf("%d %s\nwant %d %s, %q", a.Code, a.Body, status, r.code, r.says)
	}
	if names := w.store.markNames(); len(names) > 0 {
		t.Errorf("it used something up: %q", names)
	}
	if n := len(w.limiter.failed); n != 1 {
		t.Errorf("%d failures were counted", n)
	}
	if e := w.lastEvent(); e.name != "token.refused" || e.attrs["error_code"] != r.code || e.attrs["reason"] == "" || e.attrs["client_ip"] != "192.0.2.1" {
		t.Errorf("the audit has %v", e)
	}
}

// requestRules concern the request without the assertion.
var requestRules = []rule{
	{"charset", func(c *call) { c.contentType = "Application/X-WWW-Form-Urlencoded; charset=UTF-8" }, "", ""},
	{"another charset", func(c *call) { c.contentType = "application/x-www-form-urlencoded; charset=latin1" }, "invalid_request", "content type"},
	{"JSON", func(c *call) { c.contentType = "application/json" }, "invalid_request", "content type"},
	{"multipart", func(c *call) { c.contentType = "multipart/form-data; boundary=x" }, "invalid_request", "content type"},
	{"no content type", func(c *call) { c.contentType = "" }, "invalid_request", "content type"},
	{"no body", func(c *call) { c.body = "&" }, "invalid_request", "grant_type is missing"},
	{"too large", setForm("x", strings.Repeat("x", 64<<10)), "invalid_request", "64 KiB"},
	{"many fields", func(c *call) {
		for i := range 29 { // and three more
			c.form.Set("x"+string(rune('A'+i)), "1")
		}
	}, "", ""},
	{"too many fields", func(c *call) {
		for i := range 30 {
			c.form.Set("x"+string(rune('A'+i)), "1")
		}
	}, "invalid_request", "32 fields"},
	{"bad escape", func(c *call) { c.body = "grant_type=%zz" }, "invalid_request", "form-encoded"},
	{"semicolons", func(c *call) { c.body = "grant_type=a;scope=b" }, "invalid_request", "form-encoded"},
	{"not UTF-8", setForm("x", "\xff"), "invalid_request", "UTF-8"},
	{"a name that is not UTF-8", setForm("\xff", "x"), "invalid_request", "UTF-8"},
	{"a field twice", setForm("scope", "read:reports", "read:issuers"), "invalid_request", "is repeated"},
	{"a field twice with one value", setForm("scope", "read:reports", "read:reports"), "invalid_request", "is repeated"},
	{"an unknown field twice", setForm("x", "", ""), "invalid_request", "is repeated"},
	{"an unknown field", setForm("x", "y"), "", ""},

	{"a parameter in the query", func(c *call) { c.query = "scope=read:issuers&tokens=x" }, "", "read:reports"},
	{"a subject token in the query", func(c *call) { c.query = "x=1&subject_token=x" }, "invalid_request", "subject_token must be in the body"},
	{"an assertion in the query", func(c *call) { c.query = "assertion" }, "invalid_request", "assertion must be in the body"},
	{"a secret in the query", func(c *call) { c.query = "client%5Fsecret=x" }, "invalid_request", "client_secret must be in the body"},
	{"an API key in the query", func(c *call) { c.query = "API_KEY=x" }, "invalid_request", "api_key must be in the body"},
	{"a token in the query", func(c *call) { c.query = "a;token=x" }, "invalid_request", "token must be in the body"},
	{"an access token in a bad query", func(c *call) { c.query = "%zz&access_token=x" }, "invalid_request", "access_token must be in the body"},
	{"a client assertion in the query", func(c *call) { c.query = "client_assertion=" }, "invalid_request", "client_assertion must be in the body"},

	{"no grant type", setForm("grant_type"), "invalid_request", "grant_type is missing"},
	{"an empty grant type", setForm("grant_type", ""), "invalid_request", "grant_type is missing"},
	{"another grant type", setForm("grant_type", "client_credentials"), "unsupported_grant_type", "grant_type must be"},
	{"a short grant type", setForm("grant_type", "token-exchange"), "unsupported_grant_type", "grant_type must be"},
	{"no subject token", func(c *call) { c.name = "" }, "invalid_request", "subject_token is missing"},
	{"an empty subject token", setForm("subject_token", ""), "invalid_request", "subject_token is missing"},
	{"no type of it", setForm("subject_token_type", ""), "invalid_request", "subject_token_type must be"},
	{"an access token's type", setForm("subject_token_type", token.TypeAccess), "invalid_request", "subject_token_type must be"},
	{"an ID token's type", setForm("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"), "invalid_request", "subject_token_type must be"},
	{"an access token wanted", setForm("requested_token_type", token.TypeAccess), "", ""},
	{"a JWT wanted", setForm("requested_token_type", token.TypeJWT), "", ""},
	{"nothing special wanted", setForm("requested_token_type", ""), "", ""},
	{"a refresh token wanted", setForm("requested_token_type", "urn:ietf:params:oauth:token-type:refresh_token"), "invalid_request", "requested_token_type must be"},
	{"an identity assertion wanted", setForm("requested_token_type", token.TypeIDJAG), "invalid_request", "requested_token_type must be"},
	{"an actor", setForm("actor_token", "x"), "invalid_request", "actor_token is not supported"},
	{"the type of an actor", setForm("actor_token_type", token.TypeJWT), "invalid_request", "actor_token is not supported"},
	{"an empty actor", setForm("actor_token", ""), "", ""},

	{"id-jag spelt out", setHeader("typ", "application/OAuth-ID-JAG+JWT"), "", ""},
	{"id-jag in capitals", setHeader("typ", "OAUTH-ID-JAG+JWT"), "", ""},
	{"id-jag with typ JWT", setHeader("typ", "JWT"), "invalid_request", "typ in its header must be oauth-id-jag+jwt"},
	{"id-jag without typ", func(c *call) { delete(c.header, "typ") }, "invalid_request", "typ in its header must be oauth-id-jag+jwt"},
	{"id-jag that is an access token", setHeader("typ", "at+jwt"), "invalid_request", "typ in its header"},
	{"id-jag with typ as a list", setHeader("typ", []string{"oauth-id-jag+jwt"}), "invalid_request", "typ in its header must be a string"},
	{"id-jag with another hyphen character", setHeader("typ", "oauth\u2010id\u2010jag+jwt"), "invalid_request", "typ in its header"},
	{"jwt", all(setForm("subject_token_type", token.TypeJWT), setHeader("typ", "JWT")), "", ""},
	{"jwt in small letters", all(setForm("subject_token_type", token.TypeJWT), setHeader("typ", "jwt")), "", ""},
	{"jwt without typ", all(setForm("subject_token_type", token.TypeJWT), func(c *call) { delete(c.header, "typ") }), "", ""},
	{"jwt that is an id-jag", setForm("subject_token_type", token.TypeJWT), "invalid_request", "typ in its header must be JWT or absent"},
	{"jwt that is an access token", all(setForm("subject_token_type", token.TypeJWT), setHeader("typ", "at+jwt")), "invalid_request", "typ in its header must be JWT"},
	{"jwt that is an access token, spelt out", all(setForm("subject_token_type", token.TypeJWT), setHeader("typ", "application/at+jwt")), "invalid_request", "typ in its header must be JWT"},
	{"jwt that is a logout token", all(setForm("subject_token_type", token.TypeJWT), setHeader("typ", "logout+jwt")), "invalid_request", "typ in its header must be JWT"},
}

func TestRequestRules(t *testing.T) {
	for _, r := range requestRules {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { r.check(t, (*world).exchange) })
		})
	}
}

var bearerRules = []rule{
	{"no assertion", func(c *call) { c.name = "" }, "invalid_request", "assertion is missing"},
	{"a subject token instead", func(c *call) { c.name = "subject_token" }, "invalid_request", "assertion is missing"},
	{"the fields of the other grant", all(setForm("requested_token_type", "x"), setForm("actor_token", "x")), "", ""},
	{"typ JWT", setHeader("typ", "JWT"), "", ""},
	{"no typ", func(c *call) { delete(c.header, "typ") }, "", ""},
	{"an access token", setHeader("typ", "at+jwt"), "invalid_grant", "typ in its header must be oauth-id-jag+jwt or JWT"},
}

func TestBearerRules(t *testing.T) {
	for _, r := range bearerRules {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { r.check(t, (*world).bearer) })
		})
	}
}

// The audience of the token is the requested one, or that of the assertion.
func TestAudience(t *testing.T) {
	mcp := base + "/api/mcp"
	for _, test := range []struct {
		name   string
		change func(*call)
		want   string
	}{
		{"nothing said", func(*call) {}, base},
		{"resource", setForm("resource", mcp), mcp},
		{"audience", setForm("audience", mcp), mcp},
		{"base with a slash", setForm("resource", base+"/"), base},
		{"claim", setClaim("resource", mcp), mcp},
		{"claim among others", setClaim("resource", []string{"https://x.example", mcp}), mcp},
		{"claim twice", setClaim("resource", []string{mcp, mcp}), mcp},
		{"claim of both", setClaim("resource", []string{mcp, base}), base},
		{"claim of both, one asked", all(setClaim("resource", []string{mcp, base}), setForm("resource", mcp)), mcp},
	} {
		w := newWorld(t)
		c := w.exchange()
		test.change(c)
		if got, err := w.server.Verify(t.Context(), c.good().AccessToken); err != nil || got.Audience != test.want {
			t.Errorf("%s: the audience is %q, want %q (%v)", test.name, got.Audience, test.want, err)
		}
	}
}

func TestIssuedTypeIsAsRequested(t *testing.T) {
	w := newWorld(t)
	c := w.exchange()
	c.form.Set("requested_token_type", token.TypeJWT)
	if a := c.good(); a.IssuedType != token.TypeJWT {
		t.Errorf("it is %q", a.IssuedType)
	}
}

// An assertion is valid for one token in all replicas, as long as it would be accepted.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.exchange()
		raw := c.signed()
		c.assertion = raw
		c.good()
		if a := c.do(); a.Error != "invalid_request" || !strings.Contains(a.Description, "used before") {
			t.Errorf("the second time it is %d %s", a.Code, a.Body)
		}
		other := w.bearer()
		other.assertion = raw
		if a := other.do(); a.Error != "invalid_grant" || !strings.Contains(a.Description, "used before") {
			t.Errorf("by the other grant it is %d %s", a.Code, a.Body)
		}
		w.serve(config()) // a replica
		if a := c.do(); a.Error != "invalid_request" {
			t.Errorf("at another replica it is %d %s", a.Code, a.Body)
		}
		time.Sleep(5*time.Minute + 29*time.Second)
		if a := c.do(); !strings.Contains(a.Description, "used before") {
			t.Errorf("just before its end it is %d %s", a.Code, a.Body)
		}
		time.Sleep(time.Second)
		if a := c.do(); !strings.Contains(a.Description, "expired") {
			t.Errorf("after its end it is %d %s", a.Code, a.Body)
		}
	})
}

// The same jti of two issuers is two assertions.
func TestJTIIsTheIssuers(t *testing.T) {
	w := newWorld(t)
	c := w.exchange()
	c.claims["jti"] = "same"
	c.good()
	c = w.exchange()
	fromLone(c)
	c.claims["jti"] = "same"
	c.good()
}

func TestConcurrentReplay(t *testing.T) {
	w := newWorld(t)
	c := w.exchange()
	c.assertion = c.signed()
	const many = 50
	codes := make([]int, many)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range many {
		r := c.request()
		r.Header = maps.Clone(r.Header)
		wg.Go(func() {
			<-start
			rec := httptest.NewRecorder()
			w.mux.ServeHTTP(rec, r)
			codes[i] = rec.Code
		})
	}
	close(start)
	wg.Wait()
	won := 0
	for _, code := range codes {
		if code == 200 {
			won++
		} else if code != 400 {
			t.Errorf("answered with %d", code)
		}
	}
	if won != 1 {
		t.Errorf("%d got a token, want exactly one", won)
	}
}

// While the store fails no token is issued, and the assertion stays valid.
func TestStoreFails(t *testing.T) {
	w := newWorld(t)
	c := w.exchange()
	c.assertion = c.signed()
	w.store.fail(errors.New("disk\nfull"))
	a := c.do()
	if a.Code != 503 || a.Error != "temporarily_unavailable" || a.Header().Get("Retry-After") != "2" || strings.Contains(a.Body.String(), "disk") {
		t.Errorf("%d %v %s", a.Code, a.Header(), a.Body)
	}
	if e := w.lastEvent(); e.name != "token.refused" || e.attrs["cause"] != "diskfull" || e.attrs["issuer"] != idp || e.attrs["client_id"] != "agent" {
		t.Errorf("the audit has %v", e)
	}
	if len(w.limiter.failed) != 0 {
		t.Error("our own failure was counted as the caller's")
	}
	w.store.fail(nil)
	c.good()
}

func TestKeysUnavailable(t *testing.T) {
	w := newWorld(t)
	w.sources["https://idp.example/keys"].err = errors.New("no route to host")
	a := w.exchange().do()
	if a.Code != 503 || a.Error != "temporarily_unavailable" || a.Header().Get("Retry-After") == "" || strings.Contains(a.Body.String(), "route") {
		t.Errorf("%d %v %s", a.Code, a.Header(), a.Body)
	}
	c := w.exchange()
	fromLone(c)
	c.good() // another issuer is not touched by it
}

func TestTooManyFailures(t *testing.T) {
	w := newWorld(t)
	w.limiter.closed = true
	c := w.exchange()
	c.assertion = c.signed()
	a := c.do()
	if a.Code != 429 || a.Header().Get("Retry-After") != "17" || a.Error != "temporarily_unavailable" {
		t.Errorf("%d %v %s", a.Code, a.Header(), a.Body)
	}
	if len(w.limiter.failed) != 0 {
		t.Error("who must wait is counted, and would wait for ever")
	}
	w.limiter.closed = false
	c.good() // no work was done

	w.limiter.full = true // concurrent requests: all may try, and only a limited number receives the reason
	if a := c.do(); a.Code != 429 || a.Header().Get("Retry-After") != "18" {
		t.Errorf("%d %v %s", a.Code, a.Header(), a.Body)
	}
}

// Without issuers the endpoint refuses all requests.
func TestNoIssuers(t *testing.T) {
	w := newWorldWith(t, token.Config{})
	if a := w.exchange().do(); a.Error != "invalid_request" || !strings.Contains(a.Description, "not trusted") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := w.bearer().do(); a.Error != "invalid_grant" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestTokenLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.TokenLifetime = 90 * time.Second
		w := newWorldWith(t, c)
		a := w.exchange().good()
		if a.ExpiresIn != 90 {
			t.Errorf("expires_in is %d", a.ExpiresIn)
		}
		time.Sleep(90*time.Second - time.Nanosecond)
		if _, err := w.server.Verify(t.Context(), a.AccessToken); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := w.server.Verify(t.Context(), a.AccessToken); err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("after its end: %v", err)
		}
	})
}

// Audit entries contain no secret, and nothing that could fake a line.
func TestAuditIsClean(t *testing.T) {
	w := newWorld(t)
	c := w.exchange()
	c.claims["iss"] = "https://evil.example/\n\x1b[31m\u202e" + strings.Repeat("x", 300)
	c.claims["client_id"] = "a\rb"
	c.form.Set("client_id", "web app")
	c.form.Set("client_secret", "hunter2hunter2")
	c.do()
	e := w.lastEvent()
	if want := "https://evil.example/[31m" + strings.Repeat("x", 175) + "…"; e.attrs["issuer"] != want || e.attrs["client_id"] != "ab" {
		t.Errorf("the audit has %q, want the issuer %q and the client ab", e.attrs, want)
	}
	raw := w.exchange()
	raw.basic("agent", "hunter2hunter2").do()
	raw.http = http.Header{}
	good := raw.good()
	for _, e := range w.events {
		for _, v := range e.attrs {
			if strings.Contains(v, "hunter2") || strings.Contains(v, good.AccessToken[:20]) || strings.Contains(v, raw.signed()[:20]) {
				t.Errorf("the audit has %v", e)
			}
		}
	}
}

// A truncated body is an error of the client and is answered.
func TestBodyBreaksOff(t *testing.T) {
	w := newWorld(t)
	r := httptest.NewRequest("POST", "/api/auth/token", io.MultiReader(strings.NewReader("grant_type="), broken{}))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.mux.ServeHTTP(rec, r)
	if a := wellFormed(t, rec); a.Error != "invalid_request" || !strings.Contains(a.Description, "could not be read") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// The subject of a token is unique over the issuers.
func TestSubjectsOfIssuersDiffer(t *testing.T) {
	w := newWorld(t)
	first, err := w.server.Verify(t.Context(), w.token())
	if err != nil {
		t.Fatal(err)
	}
	c := w.exchange()
	fromLone(c)
	second, err := w.server.Verify(t.Context(), c.good().AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	if first.Subject == second.Subject || first.Issuer != idp || second.Issuer != lone {
		t.Errorf("%+v and %+v", first, second)
	}
}

func TestFormEncoding(t *testing.T) {
	w := newWorld(t)
	c := w.exchange()
	form := url.Values{"subject_token": {c.signed()}, "scope": {"read:reports read:issuers"}}
	for name, values := range c.form {
		form[name] = values
	}
	c.body = strings.ReplaceAll(form.Encode(), "+", "%20")
	if a := c.good(); a.Scope != "read:reports read:issuers" {
		t.Errorf("the scope is %q", a.Scope)
	}
}
