package token_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"pregon/internal/auth/token"
	"pregon/internal/server/ratelimit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	base = "https://pregon.example"
	idp  = "https://idp.example/tenant"
	lone = "https://lone.example"

	password = "p%ss w+rd:ñ/&="
)

// Generating keys is slow, so all tests share them.
var (
	rsaKeys = sync.OnceValue(func() (out [6]*rsa.PrivateKey) {
		for i := range out {
			out[i] = must1(rsa.GenerateKey(rand.Reader, 2048))
		}
		return out
	})
	idpRSA    = func() *rsa.PrivateKey { return rsaKeys()[0] }
	clientRSA = func() *rsa.PrivateKey { return rsaKeys()[1] }
	otherRSA  = func() *rsa.PrivateKey { return rsaKeys()[2] }
	weakRSA   = sync.OnceValue(func() *rsa.PrivateKey { return must1(rsa.GenerateKey(rand.Reader, 1024)) })
	idpEC     = sync.OnceValue(func() *ecdsa.PrivateKey { return must1(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	idpEC384  = sync.OnceValue(func() *ecdsa.PrivateKey { return must1(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)) })
	loneEC    = sync.OnceValue(func() *ecdsa.PrivateKey { return must1(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	idpEd     = sync.OnceValue(func() ed25519.PrivateKey {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return must2(private, err)
	})
)

func must1[T any](v T, err error) T { return must2(v, err) }

func must2[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// signingKeys returns the keys of the service in turn.
func signingKeys() func() (*rsa.PrivateKey, error) {
	var mu sync.Mutex
	next := 3
	return func() (*rsa.PrivateKey, error) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(rsaKeys()) {
			return nil, errors.New("the test needs more keys")
		}
		next++
		return rsaKeys()[next-1], nil
	}
}

// source is a KeySource that returns all keys.
type source struct {
	keys []jose.JSONWebKey
	err  error
}

func (s *source) Keys(context.Context, string, string) ([]jose.JSONWebKey, error) {
	return s.keys, s.err
}

func public(kid string, key crypto.Signer) jose.JSONWebKey {
	return jose.JSONWebKey{KeyID: kid, Key: key.Public()}
}

// event is one call of Audit.
type event struct {
	name  string
	attrs map[string]string
}

// limiter counts failures.
type limiter struct {
	mu     sync.Mutex
	closed bool // to all
	full   bool // to one more failure
	failed []ratelimit.Subject
}

func (l *limiter) Peek(context.Context, ratelimit.Subject) ratelimit.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	return ratelimit.Decision{OK: !l.closed, Reset: 17 * time.Second}
}

func (l *limiter) Take(_ context.Context, from ratelimit.Subject) ratelimit.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = append(l.failed, from)
	return ratelimit.Decision{OK: !l.full, Reset: 18 * time.Second}
}

// world is a service with two issuers.
type world struct {
	t       testing.TB
	store   *memoryStore
	ring    *token.Ring
	server  *token.Server
	mux     *http.ServeMux
	sources map[string]*source // by jwks_url
	limiter *limiter
	// limits of all requests; nil for none
	addresses, clients ratelimit.Limiter

	mu     sync.Mutex
	events []event // guarded by mu
}

func config() token.Config {
	sum := sha256.Sum256([]byte(password))
	return token.Config{Issuers: []token.Issuer{
		{
			Issuer: idp, JWKSURL: "https://idp.example/keys",
			Scopes:        []string{"read:reports", "read:issuers"},
			DefaultScopes: []string{"read:reports"},
			Clients: []token.Client{
				{ID: "agent", Auth: "none"},
				{ID: "narrow", Auth: "none", Scopes: []string{"read:issuers"}},
				{ID: "web app", Auth: "client_secret_basic", SecretSHA256: hex.EncodeToString(sum[:])},
				{ID: "poster", Auth: "client_secret_post", SecretSHA256: strings.ToUpper(hex.EncodeToString(sum[:]))},
				{ID: "signer", Auth: "private_key_jwt", JWKSURL: "https://client.example/keys"},
			},
		},
		{
			Issuer: lone, JWKSURL: "https://lone.example/keys", Audiences: []string{"urn:pregon", base + "/"},
			Scopes: []string{"read:analytics"}, Algorithms: []string{"ES256", "RS512"},
			Clients: []token.Client{{ID: "agent", Auth: "none"}},
		},
	}}
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldWith(t, config())
}

func newWorldWith(t testing.TB, c token.Config) *world {
	t.Helper()
	w := &world{t: t, store: newStore(), limiter: &limiter{}, sources: map[string]*source{
		"https://idp.example/keys": {keys: []jose.JSONWebKey{
			public("rsa", idpRSA()), public("ec", idpEC()), public("ec384", idpEC384()), public("ed", idpEd()), public("weak", weakRSA()),
			{KeyID: "encrypts", Key: otherRSA().Public(), Use: "enc"},
			{KeyID: "pss-only", Key: otherRSA().Public(), Algorithm: "PS256"},
			{KeyID: "private", Key: otherRSA()},
			{KeyID: "shared", Key: []byte("a secret of thirty-two bytes, ok")},
		}},
		"https://client.example/keys": {keys: []jose.JSONWebKey{public("c", clientRSA())}},
		"https://lone.example/keys":   {keys: []jose.JSONWebKey{public("", loneEC())}},
	}}
	w.ring = token.NewRing(w.store, seal{"s"}, nil)
	w.ring.SetGenerate(signingKeys())
	if _, err := w.ring.LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.serve(c)
	return w
}

// serve installs a server with an empty cache.
func (w *world) serve(c token.Config) {
	w.t.Helper()
	var err error
	w.server, err = token.New(token.Options{
		Config: c, BaseURL: base, Ring: w.ring, Nonces: w.store, Failures: w.limiter, Addresses: w.addresses, Clients: w.clients,
		Keys: func(url, file string, _ bool) (token.KeySource, error) {
			if s, ok := w.sources[url]; ok && file == "" {
				return s, nil
			}
			return nil, fmt.Errorf("no keys at %q %q", url, file)
		},
		Client: func(r *http.Request) netip.Addr { return netip.MustParseAddrPort(r.RemoteAddr).Addr() },
		Audit: func(_ context.Context, name string, attrs ...slog.Attr) {
			e := event{name: name, attrs: map[string]string{}}
			for _, a := range attrs {
				e.attrs[a.Key] = a.Value.String()
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mux = http.NewServeMux()
	w.server.Register(w.mux)
}

func (w *world) lastEvent() event {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.events) == 0 {
		w.t.Fatal("nothing was noted in the audit")
	}
	return w.events[len(w.events)-1]
}

// object is the content of a JWT.
type object map[string]any

// call is a valid request for a token, which tests change.
type call struct {
	w      *world
	name   string // of the field with the assertion
	alg    string
	key    any
	header object
	claims object

	// These replace what would be made of the above.
	headerText, claimsText, assertion string

	form        url.Values
	http        http.Header
	query       string
	contentType string
	body        string
	from        string // address

	// proof, when set, is signed into client_assertion.
	proof *call
}

var serial struct {
	sync.Mutex
	n int
}

// unique returns a new jti.
func unique() string {
	serial.Lock()
	defer serial.Unlock()
	serial.n++
	return fmt.Sprintf("jti-%d", serial.n)
}

// exchange returns a valid token exchange with an identity assertion.
func (w *world) exchange() *call {
	now := time.Now().Unix()
	return &call{
		w: w, name: "subject_token", alg: "RS256", key: idpRSA(), header: object{"typ": "oauth-id-jag+jwt", "kid": "rsa"},
		claims: object{
			"iss": idp, "sub": "alice", "aud": base, "client_id": "agent", "jti": unique(), "exp": now + 300, "iat": now,
		},
		form:        url.Values{"grant_type": {token.GrantExch}, "subject_token_type": {token.TypeIDJAG}},
		http:        http.Header{},
		contentType: "application/x-www-form-urlencoded",
	}
}

// bearer returns a valid request of the JWT bearer grant.
func (w *world) bearer() *call {
	c := w.exchange()
	c.name, c.form = "assertion", url.Values{"grant_type": {token.GrantJWT}}
	return c
}

// asSigner sends it from the client that signs.
func (c *call) asSigner() *call {
	now := time.Now().Unix()
	c.claims["client_id"] = "signer"
	c.form.Set("client_assertion_type", token.AssertionJWT)
	c.proof = &call{
		alg: "RS256", key: clientRSA(), header: object{"kid": "c"},
		claims: object{"iss": "signer", "sub": "signer", "aud": base, "jti": unique(), "exp": now + 60, "iat": now},
	}
	return c
}

func (c *call) basic(id, secret string) *call {
	c.http.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret))))
	return c
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func asJSON(v any) string { return string(must1(json.Marshal(v))) }

// signed returns the assertion.
func (c *call) signed() string {
	if c.assertion != "" {
		return c.assertion
	}
	header, claims := c.headerText, c.claimsText
	if header == "" {
		h := maps.Clone(c.header)
		if _, there := h["alg"]; !there {
			h["alg"] = c.alg
		}
		header = asJSON(h)
	}
	if claims == "" {
		claims = asJSON(c.claims)
	}
	input := encode([]byte(header)) + "." + encode([]byte(claims))
	return input + "." + encode(sign(c.alg, c.key, input))
}

// sign signs without the checks of a library.
func sign(alg string, key any, input string) []byte {
	if alg == "none" {
		return nil
	}
	hash := map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512, "SA": 0}[strings.TrimLeft(alg, "RSPEHd")]
	var sum []byte
	if hash != 0 {
		h := hash.New()
		h.Write([]byte(input))
		sum = h.Sum(nil)
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		if strings.HasPrefix(alg, "PS") {
			return must1(rsa.SignPSS(rand.Reader, key, hash, sum, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}))
		}
		return must1(rsa.SignPKCS1v15(rand.Reader, key, hash, sum))
	case *ecdsa.PrivateKey:
		r, s := must3(ecdsa.Sign(rand.Reader, key, sum))
		size := (key.Curve.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	case ed25519.PrivateKey:
		return ed25519.Sign(key, []byte(input))
	case []byte:
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(input))
		return mac.Sum(nil)
	}
	panic(fmt.Sprintf("%s with %T", alg, key))
}

func must3(r, s *big.Int, err error) (*big.Int, *big.Int) {
	if err != nil {
		panic(err)
	}
	return r, s
}

// answer is a response of the endpoint.
type answer struct {
	*httptest.ResponseRecorder
	Error       string `json:"error"`
	Description string `json:"error_description"`

	AccessToken string `json:"access_token"`
	IssuedType  string `json:"issued_token_type"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
}

func (c *call) request() *http.Request {
	body := c.body
	if body == "" {
		form := maps.Clone(c.form)
		if _, there := form[c.name]; !there && c.name != "" {
			form[c.name] = []string{c.signed()}
		}
		if c.proof != nil && !form.Has("client_assertion") {
			form.Set("client_assertion", c.proof.signed())
		}
		body = form.Encode()
	}
	r := httptest.NewRequest("POST", "/api/auth/token?"+c.query, strings.NewReader(body))
	r.Header = c.http
	if c.from != "" {
		r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(c.from), 4711).String()
	}
	r.Header.Set("Content-Type", c.contentType)
	return r
}

// do sends the request and checks the properties of every response.
func (c *call) do() answer {
	c.w.t.Helper()
	rec := httptest.NewRecorder()
	c.w.mux.ServeHTTP(rec, c.request())
	return wellFormed(c.w.t, rec)
}

func wellFormed(t testing.TB, rec *httptest.ResponseRecorder) answer {
	t.Helper()
	a := answer{ResponseRecorder: rec}
	h := rec.Header()
	if h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-store" || h.Get("Pragma") != "no-cache" {
		t.Errorf("the headers are %v", h)
	}
	d := json.NewDecoder(bytes.NewReader(rec.Body.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		t.Fatalf("the answer is %q: %v", rec.Body, err)
	}
	if (rec.Code == 200) != (a.Error == "") || (rec.Code == 200) != (a.AccessToken != "") || (rec.Code == 401) != (a.Error == "invalid_client") {
		t.Errorf("%d with %s", rec.Code, rec.Body)
	}
	if rec.Code != 200 && (a.Description == "" || strings.ContainsFunc(a.Description, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })) {
		t.Errorf("the description is %q", a.Description)
	}
	return a
}

// good sends the request and expects a token.
func (c *call) good() answer {
	c.w.t.Helper()
	a := c.do()
	if a.Code != 200 {
		c.w.t.Fatalf("refused with %d %s", a.Code, a.Body)
	}
	return a
}

// token returns a new token.
func (w *world) token() string {
	w.t.Helper()
	return w.exchange().good().AccessToken
}
