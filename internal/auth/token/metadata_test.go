package token_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/access"
	"pregon/internal/auth/token"
)

var update = flag.Bool("update", false, "write the golden files anew")

func (w *world) get(method, path string, header ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.mux.ServeHTTP(rec, r)
	return rec
}

// documents are the paths with their golden files.
var documents = map[string]string{
	"/.well-known/oauth-authorization-server":       "server.json",
	"/.well-known/oauth-protected-resource":         "resource.json",
	"/.well-known/oauth-protected-resource/api/mcp": "resource-mcp.json",
	"/.well-known/jwks.json":                        "",
}

func TestMetadata(t *testing.T) {
	w := newWorld(t)
	for path, golden := range documents {
		age := "public, max-age=3600"
		if golden == "" {
			age = "public, max-age=300"
		}
		rec := w.get("GET", path)
		h := rec.Header()
		if rec.Code != 200 || h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != age || h.Get("ETag") == "" {
			t.Errorf("%s: %d %v", path, rec.Code, h)
		}
		if shared := w.get("GET", path, "CDN-Loop", "x").Header().Get("Cache-Control"); shared != age+", s-maxage=1, stale-while-revalidate=0, stale-if-error=0" {
			t.Errorf("%s through a cache: %s", path, shared)
		}
		if head := w.get("HEAD", path); head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("ETag") != h.Get("ETag") {
			t.Errorf("HEAD %s: %d %v", path, head.Code, head.Header())
		}
		same := w.get("GET", path, "If-None-Match", `"x", `+h.Get("ETag"))
		if same.Code != 304 || same.Body.Len() != 0 || same.Header().Get("ETag") != h.Get("ETag") || same.Header().Get("Cache-Control") != age {
			t.Errorf("%s, known: %d %v", path, same.Code, same.Header())
		}
		if other := w.get("GET", path, "If-None-Match", `W/"x"`); other.Code != 200 {
			t.Errorf("%s, known otherwise: %d", path, other.Code)
		}
		if post := w.get("POST", path); post.Code != 405 {
			t.Errorf("POST %s: %d", path, post.Code)
		}
		if golden == "" {
			continue
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, rec.Body.Bytes(), "", "  "); err != nil {
			t.Fatal(err)
		}
		pretty.WriteByte('\n')
		file := filepath.Join("testdata", golden)
		if *update {
			if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), pretty.String()); diff != "" {
			t.Errorf("%s differs from %s: if that is right, use -update\n%s", path, file, diff)
		}
	}
}

// The table has every route.
func TestPatterns(t *testing.T) {
	want := []string{"POST /api/auth/token"}
	for path := range documents {
		want = append(want, "GET "+path)
	}
	got := token.Patterns()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

type serverDocument struct {
	Issuer         string   `json:"issuer"`
	TokenEndpoint  string   `json:"token_endpoint"`
	JWKS           string   `json:"jwks_uri"`
	Scopes         []string `json:"scopes_supported"`
	ResponseTypes  []string `json:"response_types_supported"`
	GrantTypes     []string `json:"grant_types_supported"`
	AuthMethods    []string `json:"token_endpoint_auth_methods_supported"`
	AuthAlgorithms []string `json:"token_endpoint_auth_signing_alg_values_supported"`
	Resources      []string `json:"protected_resources"`
}

func (w *world) serverDocument() serverDocument {
	w.t.Helper()
	var d serverDocument
	if err := json.Unmarshal(w.get("GET", "/.well-known/oauth-authorization-server").Body.Bytes(), &d); err != nil {
		w.t.Fatal(err)
	}
	return d
}

// Everything in the document works, and nothing else does.
func TestMetadataIsTrue(t *testing.T) {
	c := config()
	c.Issuers[0].Algorithms = []string{"RS256", "PS384", "EdDSA"}
	c.Issuers[0].Scopes, c.Issuers[0].DefaultScopes = []string{"read:reports", "read:issuers", "read:analytics"}, nil
	w := newWorldWith(t, c)
	d := w.serverDocument()
	path := func(address string) string {
		p, ok := strings.CutPrefix(address, d.Issuer)
		if !ok {
			t.Errorf("%s is elsewhere", address)
		}
		return p
	}

	ask := w.exchange()
	ask.form.Set("scope", strings.Join(d.Scopes, " "))
	r := ask.request()
	r.URL.Path = path(d.TokenEndpoint)
	rec := httptest.NewRecorder()
	w.mux.ServeHTTP(rec, r)
	a := wellFormed(t, rec)
	if a.Code != 200 || a.Scope != strings.Join(d.Scopes, " ") {
		t.Errorf("all scopes: %d %s", a.Code, a.Body)
	}
	checkWithPublishedKeys(t, w.get("GET", path(d.JWKS)).Body.Bytes(), a.AccessToken)

	for grant, make := range map[string]func(*world) *call{token.GrantExch: (*world).exchange, token.GrantJWT: (*world).bearer} {
		if !slices.Contains(d.GrantTypes, grant) {
			t.Errorf("%s is missing", grant)
		}
		make(w).good()
	}
	if len(d.GrantTypes) != 2 || d.ResponseTypes == nil || len(d.ResponseTypes) != 0 {
		t.Errorf("grants %v, response types %v", d.GrantTypes, d.ResponseTypes)
	}

	methods := map[string]func(*call){
		"none": func(*call) {}, "client_secret_basic": byBasic("web app", password),
		"client_secret_post": byPost("poster", password), "private_key_jwt": byProof(func(*call) {}),
	}
	for _, m := range d.AuthMethods {
		c := w.exchange()
		methods[m](c)
		c.good()
		delete(methods, m)
	}
	if len(methods) > 0 {
		t.Errorf("missing: %v", methods)
	}

	w.sources["https://client.example/keys"].keys = append(w.sources["https://client.example/keys"].keys,
		public("ec", idpEC()), public("ec384", idpEC384()), public("ed", idpEd()))
	signers := map[string]func(*call){"EdDSA": signedBy("EdDSA", "ed", idpEd()), "ES256": signedBy("ES256", "ec", idpEC()), "ES384": signedBy("ES384", "ec384", idpEC384())}
	for _, alg := range []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"} {
		signers[alg] = signedBy(alg, "c", clientRSA())
	}
	for alg, by := range signers {
		listed := slices.Contains(d.AuthAlgorithms, alg)
		c := w.exchange()
		byProof(by)(c)
		works := c.do().Code == 200
		if lonesToo := alg == "ES256" || alg == "RS512"; listed != (works || lonesToo) { // which the other issuer's clients may use
			t.Errorf("%s: listed %v, works %v", alg, listed, works)
		}
	}

	for _, res := range d.Resources {
		c := w.exchange()
		c.form.Set("resource", res)
		if got, err := w.server.Verify(t.Context(), c.good().AccessToken); err != nil || got.Audience != res {
			t.Errorf("%s: %+v, %v", res, got, err)
		}
		var doc struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal(w.get("GET", access.MetadataPath+path(res)).Body.Bytes(), &doc); err != nil || doc.Resource != res || !slices.Equal(doc.Servers, []string{d.Issuer}) {
			t.Errorf("%s has the metadata %+v, %v", res, doc, err)
		}
	}
}

// checkWithPublishedKeys verifies a token like another party, with the published keys.
func checkWithPublishedKeys(t *testing.T, jwks []byte, raw string) {
	t.Helper()
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(jwks, &set); err != nil {
		t.Fatal(err)
	}
	signed, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signed.Verify(&set); err != nil {
		t.Error(err)
	}
	for _, k := range set.Keys {
		if !k.IsPublic() || k.Use != "sig" || k.Algorithm != "RS256" {
			t.Errorf("published is %+v", k)
		}
	}
	if bytes.Contains(jwks, []byte(`"d"`)) || bytes.Contains(jwks, []byte(`"p"`)) {
		t.Error("a private key is published")
	}
}

// Without issuers the list of algorithms is not empty.
func TestMetadataWithoutIssuers(t *testing.T) {
	d := newWorldWith(t, token.Config{}).serverDocument()
	if len(d.AuthAlgorithms) == 0 || len(d.GrantTypes) != 2 {
		t.Errorf("%+v", d)
	}
}

// The key set changes with the ring, and so does its tag.
func TestKeySetFollowsTheRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		tag := func() string { return w.get("GET", "/.well-known/jwks.json").Header().Get("ETag") }
		first := tag()
		w.rotate(false)
		second := tag()
		time.Sleep(token.Notice + token.MaxLifetime)
		if third := tag(); first == second || second == third {
			t.Errorf("the tags are %s, %s and %s", first, second, third)
		}
	})
}

// With no key yet the set is empty, not null.
func TestKeySetOfAnEmptyRing(t *testing.T) {
	w := &world{t: t, store: newStore(), limiter: &limiter{}}
	w.ring = token.NewRing(w.store, seal{"s"}, nil)
	w.serve(token.Config{})
	if got := w.get(http.MethodGet, "/.well-known/jwks.json").Body.String(); got != `{"keys":[]}` {
		t.Errorf("it is %s", got)
	}
}
