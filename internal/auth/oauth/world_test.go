package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/auth/jwks"
	"pregon/internal/auth/oauth"
	"pregon/internal/auth/sealing"
	"pregon/internal/auth/secret"
	"pregon/internal/auth/token"
	"pregon/internal/server/outbound"
	"pregon/internal/server/ratelimit"
	"pregon/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	base     = "https://pregon.example"
	mcp      = base + "/api/mcp"
	mcpFirst = base + "/api/mcp/signin"

	verifier = "a-verifier-of-at-least-43-characters-0123456789"
	password = "p%ss w+rd"
)

// challenge is the S256 challenge of the verifier.
var challenge = challengeOf(verifier)

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// event is one call of Audit.
type event struct {
	name  string
	attrs map[string]string
}

// world is one replica of the service.
type world struct {
	t        testing.TB
	dir      string
	db       *sqlite.Store
	server   *oauth.Server
	tokens   *token.Server
	ring     *token.Ring
	accounts *account.Accounts
	guard    *access.Guard
	keys     *access.Keyring
	mux      *http.ServeMux
	from     string            // address of the client
	claimed  func(name string) // called after each claim, if it is set

	mu     sync.Mutex
	events []event // guarded by mu
	log    strings.Builder
}

// seed is a store with keys, whose making is slow.
var seed = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "oauth")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pregon.db")
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{Create: true})
	if err != nil {
		panic(err)
	}
	if _, err := token.NewRing(db, newBox(), nil).LoadOrCreate(context.Background()); err != nil {
		panic(err)
	}
	if err := db.Close(); err != nil {
		panic(err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return body
})

func newBox() *secret.Box {
	box, err := secret.NewBox(strings.Repeat("k", 32))
	if err != nil {
		panic(err)
	}
	return box
}

func config() oauth.Config {
	sum := sha256.Sum256([]byte(password))
	client := func(id, auth string, uris ...string) oauth.ClientConfig {
		c := oauth.ClientConfig{Client: token.Client{ID: id, Auth: auth}, Name: "The " + id, RedirectURIs: uris}
		if strings.HasPrefix(auth, "client_secret") {
			c.SecretSHA256 = hex.EncodeToString(sum[:])
		}
		return c
	}
	narrow := client("narrow", "none", "https://narrow.example/cb")
	narrow.Scopes = []string{"read:reports"}
	return oauth.Config{
		AllowPrivateDocuments: true,
		Clients: []oauth.ClientConfig{
			client("desk", "none", "https://desk.example/callback"),
			client("other", "none", "https://desk.example/callback", "https://other.example/callback"),
			client("cli", "none", "http://127.0.0.1/callback", "com.example.cli:/done"),
			client("web", "client_secret_basic", "https://web.example/cb?keep=1"),
			client("post", "client_secret_post", "https://web.example/cb"),
			narrow,
		},
	}
}

func newWorld(t testing.TB) *world { return newWorldWith(t, config()) }

func newWorldWith(t testing.TB, c oauth.Config) *world {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pregon.db"), seed(), 0o600); err != nil {
		t.Fatal(err)
	}
	return replica(t, dir, c)
}

// replica returns one more process on a store.
func replica(t testing.TB, dir string, c oauth.Config) *world {
	t.Helper()
	w := &world{t: t, dir: dir, mux: http.NewServeMux(), from: "198.51.100.7:4711"}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	w.db, err = sqlite.Open(t.Context(), filepath.Join(dir, "pregon.db"), sqlite.Options{})
	check(err)
	t.Cleanup(func() { w.db.Close() })
	key := sealing.New(w.db, newBox(), nil)
	check(key.LoadOrCreate(t.Context()))
	keys := access.NewKeyring(w.db, w.audit)
	w.keys = keys
	w.ring = token.NewRing(w.db, newBox(), nil)
	w.ring.OnChange = keys.Broadcast
	_, err = w.ring.LoadOrCreate(t.Context())
	check(err)
	w.accounts = account.New(account.Options{Store: w.db, Key: keys.State, Configured: func(id, _ string) bool { return id == "corp" }, Audit: w.audit, OnChange: keys.Broadcast})
	keys.SetAccounts(w.accounts)
	check(errors.Join(w.accounts.Refresh(t.Context()), keys.Refresh(t.Context())))
	logger := slog.New(slog.NewTextHandler(&w.log, nil))
	w.tokens, err = token.New(token.Options{
		BaseURL: base, Ring: w.ring, Nonces: nonces{w}, Client: access.Proxies(nil).Client, Audit: w.audit,
		Failures:  ratelimit.NewWindow(ratelimit.Policy{Name: "token", Limit: 1000, Window: 1e9}),
		Addresses: ratelimit.NewWindow(ratelimit.Policy{Name: "token-address", Limit: 600, Window: time.Minute}),
		Clients:   ratelimit.NewWindow(ratelimit.Policy{Name: "token-client", Limit: 60, Window: time.Minute}),
		Keys: func(url, file string, allowPrivate bool) (token.KeySource, error) {
			return jwks.Remote(url, outbound.NewClient(outbound.Options{AllowPrivate: allowPrivate}), logger), nil
		},
	})
	check(err)
	w.server, err = oauth.New(oauth.Options{
		Config: c, BaseURL: base, Sealer: key, Tokens: w.tokens, Accounts: w.accounts, Nonces: nonces{w},
		Client: access.Proxies(nil).Client, Audit: w.audit, Logger: logger,
	})
	check(err)
	w.server.SetMinAge(0) // there is no person
	w.guard = access.NewGuard(access.Options{BaseURL: base, Keys: keys, Tokens: w.tokens.Verify, Signs: w.ring.Trusts, Accounts: w.accounts})
	w.tokens.Register(w.mux)
	w.server.Register(w.mux)
	return w
}

// nonces are those of the store.
type nonces struct{ w *world }

func (n nonces) ClaimNonce(ctx context.Context, name string, until time.Time) (bool, error) {
	first, err := n.w.db.ClaimNonce(ctx, name, until)
	if n.w.claimed != nil {
		n.w.claimed(name)
	}
	return first, err
}

func (w *world) audit(_ context.Context, name string, attrs ...slog.Attr) {
	e := event{name: name, attrs: map[string]string{}}
	for _, a := range attrs {
		e.attrs[a.Key] = a.Value.String()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// count returns how often an event was audited.
func (w *world) count(name string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.name == name {
			n++
		}
	}
	return n
}

// person signs a person in.
func (w *world) person(name string) access.Principal {
	w.t.Helper()
	profile := account.Account{ID: "https://idp.example#" + name, Provider: "corp", Name: name, Plan: "pro", Scopes: access.AllScopes}
	s, _, err := w.accounts.SignIn(w.t.Context(), profile, account.Session{})
	if err != nil {
		w.t.Fatal(err)
	}
	return access.Principal{ID: profile.ID, Mode: access.BySession, Scope: profile.Scopes, Credential: s.ID, Plan: "pro"}
}

// query returns a good authorization request of a client with the given changes: a
// name and its value in turn.
func query(id, redirect string, changes ...string) url.Values {
	q := url.Values{
		"client_id": {id}, "redirect_uri": {redirect}, "response_type": {"code"}, "state": {"st&te"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"}, "resource": {mcp},
	}
	change(q, changes)
	return q
}

// change sets fields; an empty value removes one.
func change(q url.Values, changes []string) {
	for i := 0; i < len(changes); i += 2 {
		if q.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			q.Del(changes[i])
		}
	}
}

func (w *world) read(q url.Values) (*oauth.Request, error) {
	r := httptest.NewRequestWithContext(w.t.Context(), "GET", "/oauth/authorize?"+q.Encode(), nil)
	r.RemoteAddr = w.from
	return w.server.Read(r, r.URL.Query())
}

// ask reads a request that must be good.
func (w *world) ask(q url.Values) *oauth.Request {
	w.t.Helper()
	request, err := w.read(q)
	if err != nil {
		w.t.Fatal(err)
	}
	return request
}

// refused reads a request that must be refused.
func (w *world) refused(q url.Values) *oauth.Refusal {
	w.t.Helper()
	request, err := w.read(q)
	var why *oauth.Refusal
	if !errors.As(err, &why) {
		w.t.Fatalf("%v: %+v, %v, want a refusal", q, request, err)
	}
	return why
}

// allow lets a person agree, and returns the parameters of the response.
func (w *world) allow(q url.Values, p access.Principal) url.Values {
	w.t.Helper()
	address, err := w.server.Decide(w.t.Context(), w.server.FinalForm(w.ask(q), p), p, true)
	if err != nil {
		w.t.Fatal(err)
	}
	return parameters(w.t, address)
}

func parameters(t testing.TB, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// answer is a response of an endpoint.
type answer struct {
	*httptest.ResponseRecorder
	Error       string `json:"error"`
	Description string `json:"error_description"`
	Access      string `json:"access_token"`
	Refresh     string `json:"refresh_token"`
	Scope       string `json:"scope"`
	ClientID    string `json:"client_id"`
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.Code, a.Body) }

func (w *world) post(path string, form url.Values, header ...string) answer {
	w.t.Helper()
	return w.send(path, "application/x-www-form-urlencoded", form.Encode(), header...)
}

func (w *world) send(path, kind, body string, header ...string) answer {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), "POST", path, strings.NewReader(body))
	r.RemoteAddr = w.from
	r.Header.Set("Content-Type", kind)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a := answer{ResponseRecorder: httptest.NewRecorder()}
	w.mux.ServeHTTP(a, r)
	if err := json.Unmarshal(a.Body.Bytes(), &a); err != nil {
		w.t.Fatalf("%s: %v", a, err)
	}
	if a.Header().Get("Cache-Control") != "no-store" {
		w.t.Errorf("it may be cached: %v", a.Header())
	}
	return a
}

// exchange returns the request for the tokens of a code, with changes.
func exchange(id, redirect, code string, changes ...string) url.Values {
	f := url.Values{
		"grant_type": {"authorization_code"}, "client_id": {id}, "redirect_uri": {redirect}, "code": {code},
		"code_verifier": {verifier}, "resource": {mcp},
	}
	change(f, changes)
	return f
}

func refresh(id, raw string, changes ...string) url.Values {
	f := url.Values{"grant_type": {"refresh_token"}, "client_id": {id}, "refresh_token": {raw}}
	change(f, changes)
	return f
}

const deskURI = "https://desk.example/callback"

// connect returns the tokens of a person for the client desk.
func (w *world) connect(p access.Principal) answer {
	w.t.Helper()
	code := w.allow(query("desk", deskURI), p).Get("code")
	a := w.post("/api/auth/token", exchange("desk", deskURI, code))
	if a.Code != 200 || a.Access == "" || a.Refresh == "" {
		w.t.Fatal(a)
	}
	return a
}

// use sends an access token to MCP or REST.
func (w *world) use(raw string, need access.Requirement) (access.Principal, error) {
	r := httptest.NewRequestWithContext(w.t.Context(), "GET", "/", nil)
	r.RemoteAddr = netip.MustParseAddrPort(w.from).String()
	r.Header.Set("Authorization", "Bearer "+raw)
	return w.guard.Admit(httptest.NewRecorder(), r, need)
}

// works reports whether an access token is good for MCP.
func (w *world) works(raw string) bool {
	_, err := w.use(raw, access.Requirement{MCP: true})
	return err == nil
}
