package token_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Every request gets a well-formed error or a token, and no token exceeds its
// assertion. The issuer signs anything, so that its claims are fuzzed too.
func FuzzEndpoint(f *testing.F) {
	w := newWorld(f)
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // the same in all workers
	w.sources["https://idp.example/keys"].keys = []jose.JSONWebKey{public("ed", key)}
	w.sources["https://client.example/keys"].keys = []jose.JSONWebKey{public("ed", key)}

	const header = `{"alg":"EdDSA","kid":"ed","typ":"oauth-id-jag+jwt"}`
	const exchange = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&subject_token_type=urn:ietf:params:oauth:token-type:id-jag"
	const bearer = "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer"
	claims := strings.NewReplacer("$IDP", idp, "$BASE", base).
		Replace(`{"iss":"$IDP","sub":"alice","aud":"$BASE","client_id":"agent","jti":"1","exp":EXP,"iat":0}`)
	f.Add(header, claims, exchange, "subject_token", "", "")
	f.Add(header, claims, bearer+"&scope=read:issuers&resource="+base+"/api/mcp", "assertion", "", "")
	f.Add(`{"alg":"EdDSA"}`, strings.Replace(claims, "agent", "signer", 1), bearer+"&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "assertion", "", "")
	f.Add(`{"alg":"EdDSA","typ":"JWT"}`, strings.Replace(claims, "agent", "web app", 1), bearer, "assertion", "Basic d2ViK2FwcDp4", "x=1")
	f.Add(`{"alg":"none"}`, `{"iss":"`+idp+`","aud":["a","b"],"exp":1e400,"exp":"x"}`, exchange+"&scope=a&scope=b", "subject_token", "Bearer x", "token=x")
	f.Add(`{"alg":"HS256","jwk":{},"crit":["b64"],"b64":false}`, `[]`, "a=%zz;b", "x", "Basic Og==", "%zz;api_key")

	f.Fuzz(func(t *testing.T, header, claims, form, field, authorization, query string) {
		clear(w.store.marks)
		w.events, w.limiter.failed = nil, nil
		claims = strings.ReplaceAll(claims, "EXP", asJSON(time.Now().Unix()+60))
		signed := encode([]byte(header)) + "." + encode([]byte(claims))
		signed += "." + encode(sign("EdDSA", key, signed))
		r := httptest.NewRequest("POST", "/api/auth/token", strings.NewReader(form+"&"+url.QueryEscape(field)+"="+signed))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		rec := httptest.NewRecorder()
		w.mux.ServeHTTP(rec, r)
		a := wellFormed(t, rec)
		switch a.Code {
		case 400, 401:
		case 200:
			asserted(t, w, a, header, claims)
		default:
			t.Errorf("answered with %d %s", a.Code, a.Body)
		}
		if len(w.events) != 1 {
			t.Fatalf("the audit has %v", w.events)
		}
		for _, v := range w.events[0].attrs {
			if len([]rune(v)) > 200 || strings.ContainsAny(v, "\r\n\x00\x1b") {
				t.Errorf("the audit has %q", v)
			}
		}
	})
}

// asserted compares a token with the signed claims, read by another decoder.
func asserted(t *testing.T, w *world, a answer, header, claims string) {
	t.Helper()
	got, err := w.server.Verify(t.Context(), a.AccessToken)
	if err != nil {
		t.Errorf("a token that is not good: %v", err)
	}
	var h, c map[string]any
	for text, to := range map[string]*map[string]any{header: &h, claims: &c} {
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		if err := d.Decode(to); err != nil {
			t.Fatalf("a token for %q and %q", header, claims)
		}
	}
	iss, _ := c["iss"].(string)
	sub, _ := c["sub"].(string)
	if h["alg"] != "EdDSA" || iss != idp || sub == "" || got.Subject != iss+"#"+sub || got.ClientID != c["client_id"] || got.Scope == 0 {
		t.Errorf("%+v was given for %s %s", got, header, claims)
	}
}

// Only tokens signed by this service are accepted.
func FuzzVerify(f *testing.F) {
	w := newWorld(f)
	good := w.token()
	f.Add(good)
	f.Add(w.minted(nil, object{"exp": 1}))
	f.Add(w.minted(object{"typ": "JWT"}, nil))
	f.Add(w.minted(object{"alg": "none"}, nil))
	f.Add(w.minted(object{"key": otherRSA()}, nil))
	f.Add("a.b.c")
	f.Add(w.exchange().signed())
	f.Fuzz(func(t *testing.T, raw string) {
		if _, err := w.server.Verify(t.Context(), raw); err == nil && raw != good {
			t.Errorf("%q is accepted", raw)
		}
	})
}
