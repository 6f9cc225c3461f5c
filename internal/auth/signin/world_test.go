package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/sealing"
	"pregon/internal/auth/secret"
	"pregon/internal/auth/signin"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

const base = "https://pregon.example"

// idp is an OpenID provider whose answers a test can change.
type idp struct {
	*httptest.Server
	key    *rsa.PrivateKey
	claims map[string]any // of the next ID token, besides the usual ones
	nonces map[string]string
	mu     sync.Mutex
	down   bool // it does not say where its endpoints are
	asked  int  // for them
	broken bool // its token endpoint fails
	silent bool // it sends no ID token
}

var signer = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func newIDP(t *testing.T) *idp {
	p := &idp{key: signer(), claims: map[string]any{}, nonces: map[string]string{}}
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.asked++; p.down {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		reply(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		// The oidc package would refuse both keys because the second one is long.
		long := &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 8191, 1), E: 65537}
		reply(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
			{Key: p.key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"},
			{Key: long, KeyID: "2", Algorithm: "RS256", Use: "sig"},
		}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		nonce, ok := p.nonces[r.PostFormValue("code")]
		if !ok || r.PostFormValue("code_verifier") == "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			reply(w, map[string]any{"error": "invalid_grant"})
			return
		}
		if p.broken {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		answer := map[string]any{"access_token": "x", "token_type": "Bearer"}
		if !p.silent {
			answer["id_token"] = p.token(nonce)
		}
		reply(w, answer)
	})
	return p
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (p *idp) token(nonce string) string {
	claims := map[string]any{
		"iss": p.URL, "sub": "ana", "aud": "pregon", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(), "nonce": nonce,
		"name": "Ana", "email": "ana@example.com", "email_verified": true,
	}
	for name, value := range p.claims {
		claims[name] = value
	}
	payload, _ := json.Marshal(claims)
	s, _ := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}, nil)
	signed, _ := s.Sign(payload)
	raw, _ := signed.CompactSerialize()
	return raw
}

// world is a service with two providers, and a browser.
type world struct {
	*signin.Service
	t        *testing.T
	one, two *idp
	keys     *access.Keyring
	accounts *account.Accounts
	cookies  map[string]string
	set      []*http.Cookie
	audit    []string
	from     netip.Addr // of the browser
	fails    error      // of claims of nonces
	sealer   *sealing.Key
	db       *sqlite.Store
}

// nonces are those of the store.
type nonces struct {
	store.Nonces
	w *world
}

func (n nonces) ClaimNonce(ctx context.Context, name string, until time.Time) (bool, error) {
	if n.w.fails != nil {
		return false, n.w.fails
	}
	return n.Nonces.ClaimNonce(ctx, name, until)
}

func newWorld(t *testing.T, change func(*signin.Config)) *world {
	t.Helper()
	return newWorldAt(t, base, change)
}

// newWorldAt is newWorld for a service with another public address.
func newWorldAt(t *testing.T, baseURL string, change func(*signin.Config)) *world {
	t.Helper()
	w := &world{t: t, one: newIDP(t), two: newIDP(t), cookies: map[string]string{}, from: netip.MustParseAddr("203.0.113.9")}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	box, _ := secret.NewBox("")
	sealer := sealing.New(db, box, nil)
	if err := sealer.LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.sealer = sealer
	w.db = db
	config := signin.Config{Providers: []signin.Provider{
		{ID: "one", Issuer: w.one.URL, ClientID: "pregon", AllowPrivate: true, Allow: signin.Rules{Domains: []string{"example.com"}}, Scopes: []string{"read:reports"}},
		{
			ID: "two", Issuer: w.two.URL, ClientID: "pregon", AllowPrivate: true, Allow: signin.Rules{Claims: map[string][]string{"groups": {"staff"}}},
			Operators: signin.Rules{Claims: map[string][]string{"groups": {"ops"}}},
		},
	}}
	if change != nil {
		change(&config)
	}
	audit := func(_ context.Context, event string, attrs ...slog.Attr) {
		w.audit = append(w.audit, fmt.Sprint(event, attrs))
	}
	w.keys = access.NewKeyring(db, audit)
	w.accounts = account.New(account.Options{Store: db, Key: w.keys.State, Configured: config.Has, Audit: audit})
	w.keys.SetAccounts(w.accounts)
	w.Service, err = signin.New(signin.Options{
		Config: config, BaseURL: baseURL, Accounts: w.accounts, Keys: w.keys, Sealer: sealer, Nonces: nonces{db, w}, Audit: audit, Logger: slog.New(slog.DiscardHandler),
		Client:    func(*http.Request) netip.Addr { return w.from },
		Refused:   ratelimit.NewWindow(ratelimit.Policy{Name: "signin", Limit: 30, Window: time.Minute}),
		ByAddress: ratelimit.NewWindow(ratelimit.Policy{Name: "signin-address", Limit: 60, Window: time.Minute}),
		ByKey:     ratelimit.NewWindow(ratelimit.Policy{Name: "signin-key", Limit: 30, Window: time.Minute}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// hits expects the entries of the audit about limits.
func (w *world) hits(want ...string) {
	w.t.Helper()
	var got []string
	for _, line := range w.audit {
		if strings.HasPrefix(line, "limit.hit") {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the audit has %q, want %q", got, want)
	}
}

// request returns a request of the browser with its cookies.
func (w *world) request(address string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	for name, value := range w.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	return r
}

// keep stores the cookies of a response as a browser does.
func (w *world) keep(rec *httptest.ResponseRecorder) {
	w.set = rec.Result().Cookies()
	for _, c := range w.set {
		if c.MaxAge < 0 {
			delete(w.cookies, c.Name)
		} else {
			w.cookies[c.Name] = c.Value
		}
	}
}

// start begins to sign in, and returns the parameters that the provider gets.
func (w *world) start(provider, next string) url.Values {
	w.t.Helper()
	rec := httptest.NewRecorder()
	if err := w.Start(rec, w.request("/signin/start"), provider, next); err != nil {
		w.t.Fatal(err)
	}
	w.keep(rec)
	to, err := url.Parse(rec.Header().Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	return to.Query()
}

// finish comes back from a provider, which has seen the nonce.
func (w *world) finish(provider string, p *idp, asked url.Values, change func(url.Values)) (string, error) {
	code := rand.Text()
	p.mu.Lock()
	p.nonces[code] = asked.Get("nonce")
	p.mu.Unlock()
	back := url.Values{"code": {code}, "state": {asked.Get("state")}, "iss": {p.URL}}
	if change != nil {
		change(back)
	}
	rec := httptest.NewRecorder()
	next, err := w.Finish(rec, w.request(signin.CallbackPath+provider+"?"+back.Encode()), w.session(), provider)
	w.keep(rec)
	return next, err
}

func (w *world) session() *signin.Session { return w.Session(w.request("/account")) }
