package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pregon/internal/auth/oauth"
	"pregon/internal/auth/token"
	"pregon/internal/test/longtest"
)

// object is a document.
type object map[string]any

func (o object) String() string {
	body, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(body)
}

const appURI = "https://app.example/cb"

// site serves documents.
type site struct {
	*httptest.Server
	fetches atomic.Int32

	mu      sync.Mutex
	handler http.HandlerFunc // guarded by mu
}

func newSite(t *testing.T) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fetches.Add(1)
		s.mu.Lock()
		handler := s.handler
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) id() string { return s.URL + "/app.json" }

func (s *site) serve(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = h
}

// document serves a good document with changes.
func (s *site) document(changes object) {
	doc := object{"client_id": s.id(), "client_name": "App", "redirect_uris": []string{appURI}}
	for name, value := range changes {
		if doc[name] = value; value == nil {
			delete(doc, name)
		}
	}
	s.text("application/json", doc.String())
}

func (s *site) text(kind, body string) {
	s.serve(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	})
}

func TestDocument(t *testing.T) {
	w, s := newWorld(t), newSite(t)
	s.document(nil)
	q := w.ask(query(s.id(), appURI))
	if q.Client.Kind != oauth.Document || q.Client.Name != "App" || q.Client.Host != strings.TrimPrefix(s.URL, "http://") || q.RedirectHost() != "app.example" {
		t.Errorf("%+v", q.Client)
	}
	code := w.allow(query(s.id(), appURI), w.person("ana")).Get("code")
	a := w.post("/api/auth/token", exchange(s.id(), appURI, code))
	if a.Code != 200 || !w.works(a.Access) {
		t.Fatal(a)
	}
	if b := w.post("/api/auth/token", refresh(s.id(), a.Refresh)); b.Code != 200 {
		t.Error(b)
	}
	if n := s.fetches.Load(); n != 1 {
		t.Errorf("it was fetched %d times", n)
	}
}

// Documents that are not good, or addresses that must not be fetched.
func TestBadDocument(t *testing.T) {
	good := func(id string) string { return object{"client_id": id, "redirect_uris": []string{appURI}}.String() }
	for name, test := range map[string]struct {
		serve func(*site)
		says  string
	}{
		"too large":      {func(s *site) { s.text("application/json", strings.Repeat(" ", 5<<10)+good(s.id())) }, "5 KiB"},
		"HTML":           {func(s *site) { s.text("text/html", good(s.id())) }, "type"},
		"text":           {func(s *site) { s.text("text/plain", good(s.id())) }, "type"},
		"text+json":      {func(s *site) { s.text("text/x+json", good(s.id())) }, "type"},
		"no type":        {func(s *site) { s.text("", good(s.id())) }, "type"},
		"not JSON":       {func(s *site) { s.text("application/json", "client") }, "JSON"},
		"a list":         {func(s *site) { s.text("application/json", "["+good(s.id())+"]") }, "JSON"},
		"a member twice": {func(s *site) { s.text("application/json", `{"client_id":"x",`+good(s.id())[1:]) }, "twice"},
		"other id":       {func(s *site) { s.document(object{"client_id": s.id() + "?"}) }, "client_id"},
		"id in capitals": {func(s *site) { s.document(object{"client_id": strings.ToUpper(s.id())}) }, "client_id"},
		"no id":          {func(s *site) { s.document(object{"client_id": nil}) }, "client_id"},
		"no redirect":    {func(s *site) { s.document(object{"redirect_uris": nil}) }, "redirect_uris"},
		"bad redirect":   {func(s *site) { s.document(object{"redirect_uris": []string{appURI, "http://app.example/cb"}}) }, "redirect_uris[1]"},
		"many redirects": {func(s *site) {
			s.document(object{"redirect_uris": strings.Split(strings.Repeat(appURI+" ", 20)+appURI, " ")})
		}, "20"},
		"a secret":       {func(s *site) { s.document(object{"client_secret": "s"}) }, "secret"},
		"a secret's end": {func(s *site) { s.document(object{"client_secret_expires_at": 0}) }, "secret"},
		"authentication": {func(s *site) { s.document(object{"token_endpoint_auth_method": "client_secret_basic"}) }, "auth_method"},
		"no keys":        {func(s *site) { s.document(object{"token_endpoint_auth_method": "private_key_jwt"}) }, "jwks"},
		"bad keys": {func(s *site) {
			s.document(object{"token_endpoint_auth_method": "private_key_jwt", "jwks": object{"keys": []any{}}})
		}, "jwks"},
		"bad address of keys": {func(s *site) {
			s.document(object{"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "ftp://keys.example/"})
		}, "jwks_uri"},
		"not found": {func(s *site) { s.serve(http.NotFound) }, "404"},
		"redirect": {func(s *site) {
			s.serve(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/app.json" {
					http.Redirect(w, r, "/other.json", http.StatusFound)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, good(s.id()))
			})
		}, "302"},
		"cut": {func(s *site) {
			s.serve(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", "1000")
				_, _ = io.WriteString(w, good(s.id()))
			})
		}, "cannot be fetched"},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(t), newSite(t)
			test.serve(s)
			for range 2 { // the second time from the cache
				if why := w.refused(query(s.id(), appURI)); !strings.Contains(why.Text, test.says) || why.Redirect != "" || why.Return != "" {
					t.Errorf("%+v", why)
				}
			}
			if n := s.fetches.Load(); n != 1 {
				t.Errorf("it was fetched %d times", n)
			}
			if a := w.post("/oauth/revoke", url.Values{"client_id": {s.id()}, "token": {"x"}}); a.Code != 401 && a.Code != 503 {
				t.Errorf("at an endpoint: %s", a)
			}
		})
	}
}

// The service does not fetch from its own network.
func TestPrivateDocument(t *testing.T) {
	s := newSite(t)
	s.document(nil)
	c := config()
	c.AllowPrivateDocuments = false
	w := newWorldWith(t, c)
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	for _, id := range []string{
		s.id(), "https://127.0.0.1/app.json", "https://127.0.0.1" + port + "/app.json", "https://localhost/app.json", "https://10.0.0.1/app.json",
		"https://169.254.169.254/latest/meta-data", "https://[::1]/app.json", "https://[::ffff:127.0.0.1]/app.json", "https://2130706433/app.json",
		"https://0x7f.1/app.json", "https://printer.local/app.json", "https://host/app.json", "http://app.example/app.json",
		"https://user@app.example/app.json", "https://app.example/app.json#x", "https://app.example/", "https://app.example", "https://app.example?x=/y",
		"https://app.example/a/../app.json", "https://app.example/%2e%2e/app.json", "https://app.example:22/app.json", "file:///etc/passwd",
		"https://app.example/" + strings.Repeat("x", 500), "https://app.example/a b", "https://app.exámple/x", "https://app.example\\@127.0.0.1/x", "javascript://x/y",
	} {
		why := w.refused(query(id, appURI))
		if why.Redirect != "" || why.Return != "" {
			t.Errorf("%s: %+v", id, why)
		}
		if a := w.post("/oauth/revoke", url.Values{"client_id": {id}, "token": {"x"}}); a.Code != 401 {
			t.Errorf("%s: %s", id, a)
		}
	}
	if n := s.fetches.Load(); n != 0 {
		t.Errorf("%d fetches", n)
	}
}

// network answers in memory, so that the clock of a test can move.
type network func(*http.Request) (body string, header http.Header)

func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	body, header := n(r)
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/json")
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

const appID = "https://app.example/app.json"

// A document that changes while a person decides is shown again, and what was shown
// before has no effect.
func TestChangedDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.db.Close()
		doc := object{"client_id": appID, "client_name": "App", "redirect_uris": []string{appURI}}
		w.server.SetTransport(network(func(*http.Request) (string, http.Header) {
			return doc.String(), http.Header{"Cache-Control": {"no-store"}}
		}))
		ana := w.person("ana")
		for _, change := range []object{
			{"client_name": "Bank"},
			{"redirect_uris": []string{appURI, "https://evil.example/cb"}},
			{"redirect_uris": []string{"https://evil.example/cb"}},
		} {
			form := w.server.FinalForm(w.ask(query(appID, appURI)), ana)
			old := doc
			doc = object{"client_id": appID, "client_name": "App", "redirect_uris": []string{appURI}}
			for name, value := range change {
				doc[name] = value
			}
			time.Sleep(time.Minute) // the shortest time that a document is cached
			address, err := w.server.Decide(t.Context(), form, ana, true)
			var why *oauth.Refusal
			if !errors.As(err, &why) || address != "" || !strings.HasPrefix(why.Again, "/oauth/authorize?") {
				t.Errorf("%v: %q, %v", change, address, err)
			}
			doc = old
			time.Sleep(time.Minute)
		}
	})
}

// How long a document is cached, and how a failure is.
func TestDocumentCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.db.Close()
		fetches, control, name := 0, "", "App"
		w.server.SetTransport(network(func(*http.Request) (string, http.Header) {
			fetches++
			return object{"client_id": appID, "client_name": name, "redirect_uris": []string{appURI}}.String(), http.Header{"Cache-Control": {control}}
		}))
		for directive, fresh := range map[string]time.Duration{
			"": 10 * time.Minute, "no-store": time.Minute, "max-age=1": time.Minute, "max-age=600": 10 * time.Minute, "max-age=999999": time.Hour,
		} {
			time.Sleep(2 * time.Hour)
			fetches, control = 0, directive
			w.ask(query(appID, appURI))
			time.Sleep(fresh - time.Second)
			w.ask(query(appID, appURI))
			if fetches != 1 {
				t.Errorf("%q: %d fetches", directive, fetches)
			}
			time.Sleep(time.Second)
			if w.ask(query(appID, appURI)); fetches != 2 {
				t.Errorf("%q: %d fetches after %v", directive, fetches, fresh)
			}
		}
		time.Sleep(2 * time.Hour)
		fetches = 0
		w.server.SetTransport(network(func(*http.Request) (string, http.Header) { fetches++; return "no", nil }))
		w.refused(query(appID, appURI))
		time.Sleep(29 * time.Second)
		w.refused(query(appID, appURI))
		if fetches != 1 {
			t.Errorf("a failure: %d fetches", fetches)
		}
		time.Sleep(time.Second)
		if w.refused(query(appID, appURI)); fetches != 2 {
			t.Errorf("a failure: %d fetches later", fetches)
		}
	})
}

// While the host of a document does not answer, the old one is used for a day. What it
// answers counts, even if that is no document any more.
func TestDocumentHostDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.db.Close()
		good := network(func(*http.Request) (string, http.Header) {
			return object{"client_id": appID, "redirect_uris": []string{appURI}}.String(), nil
		})
		w.server.SetTransport(good)
		w.ask(query(appID, appURI))
		w.server.SetTransport(down{})
		time.Sleep(23 * time.Hour)
		w.ask(query(appID, appURI))
		time.Sleep(2 * time.Hour)
		if why := w.refused(query(appID, appURI)); why.Code != token.CodeUnavailable {
			t.Errorf("after a day: %v", why)
		}
		w.server.SetTransport(good)
		time.Sleep(time.Minute)
		w.ask(query(appID, appURI))
		w.server.SetTransport(network(func(*http.Request) (string, http.Header) { return "no", nil }))
		time.Sleep(time.Hour)
		w.refused(query(appID, appURI))
	})
}

// down is a network without an answer.
type down struct{}

func (down) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }

// Simultaneous requests share one fetch.
func TestDocumentFetchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.db.Close()
		var fetches atomic.Int32
		w.server.SetTransport(network(func(*http.Request) (string, http.Header) {
			fetches.Add(1)
			time.Sleep(time.Second)
			return object{"client_id": appID, "redirect_uris": []string{appURI}}.String(), nil
		}))
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := w.read(query(appID, appURI)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if fetches.Load() != 1 {
			t.Errorf("%d fetches", fetches.Load())
		}
	})
}

// Neither an address nor all of them can make the service fetch or keep without end.
func TestDocumentFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.db.Close()
		fetches := 0
		w.server.SetTransport(network(func(r *http.Request) (string, http.Header) {
			fetches++
			return object{"client_id": r.URL.String(), "redirect_uris": []string{appURI}}.String(), nil
		}))
		id := func(i int) string { return fmt.Sprintf("https://app.example/%d", i) }
		for i := range oauth.MaxCaused {
			w.ask(query(id(i), appURI))
		}
		if why := w.refused(query(id(-1), appURI)); fetches != oauth.MaxCaused || why.Code != "temporarily_unavailable" {
			t.Errorf("%d fetches, %+v", fetches, why)
		}
		w.ask(query(id(0), appURI)) // it is in the cache
		for i := range oauth.MaxDocuments + 100 {
			w.from = fmt.Sprintf("10.%d.%d.1:1", i/250, i%250)
			w.ask(query(id(1000+i), appURI))
		}
		if n := w.server.Documents(); n > oauth.MaxDocuments {
			t.Errorf("%d documents are kept", n)
		}
		w.ask(query(id(1000+oauth.MaxDocuments+99), appURI))
	})
}

// A client of a document may sign its requests.
func TestSigningClient(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "ES256"}}}
	for name, inline := range map[string]bool{"in the document": true, "at an address": false} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(t), newSite(t)
			doc := object{"client_id": s.id(), "redirect_uris": []string{appURI}, "token_endpoint_auth_method": "private_key_jwt"}
			if doc["jwks"] = set; !inline {
				delete(doc, "jwks")
				doc["jwks_uri"] = s.URL + "/keys"
			}
			s.serve(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Path == "/keys" {
					_ = json.NewEncoder(w).Encode(set)
					return
				}
				_, _ = io.WriteString(w, doc.String())
			})
			code := w.allow(query(s.id(), appURI), w.person("ana")).Get("code")
			proof := assertion(t, key, s.id())
			form := exchange(s.id(), appURI, code)
			if a := w.post("/api/auth/token", form); a.Error != "invalid_client" {
				t.Errorf("without a signature: %s", a)
			}
			form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
			form.Set("client_assertion", assertion(t, key, "https://evil.example/app.json"))
			if a := w.post("/api/auth/token", form); a.Error != "invalid_client" {
				t.Errorf("with that of another client: %s", a)
			}
			form.Set("client_assertion", proof)
			a := w.post("/api/auth/token", form)
			if a.Code != 200 {
				t.Fatal(a)
			}
			next := refresh(s.id(), a.Refresh, "client_assertion_type", form.Get("client_assertion_type"), "client_assertion", proof)
			if b := w.post("/api/auth/token", next); b.Error != "invalid_client" {
				t.Errorf("the assertion a second time: %s", b)
			}
			next.Set("client_assertion", assertion(t, key, s.id()))
			if b := w.post("/api/auth/token", next); b.Code != 200 {
				t.Error(b)
			}
		})
	}
}

// signer returns a client of a document that signs its requests, as anyone can make
// one, and a function that adds its assertion to a request.
func signer(t *testing.T, w *world, s *site) func(form url.Values) url.Values {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.document(object{
		"token_endpoint_auth_method": "private_key_jwt",
		"jwks":                       jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "ES256"}}},
	})
	return func(form url.Values) url.Values {
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", assertion(t, key, s.id()))
		return form
	}
}

// Nothing is stored for requests without effect, of which a stranger with a document can
// send any number.
func TestNothingIsStoredWithoutEffect(t *testing.T) {
	w, s := newWorld(t), newSite(t)
	signed := signer(t, w, s)
	ana := w.person("ana")
	code := w.allow(query(s.id(), appURI), ana).Get("code")
	first := w.post("/api/auth/token", signed(exchange(s.id(), appURI, code)))
	if first.Code != 200 {
		t.Fatal(first)
	}
	foreign := w.connect(ana)
	second := w.allow(query(s.id(), appURI), ana).Get("code")
	stored := 0
	w.claimed = func(string) { stored++ }
	for name, test := range map[string]struct {
		path string
		form url.Values
		code int
	}{
		"revocation of an unknown token":   {"/oauth/revoke", url.Values{"token": {"unknown"}}, 200},
		"revocation of a token of another": {"/oauth/revoke", url.Values{"token": {foreign.Refresh}}, 200},
		"refresh of an unknown token":      {"/api/auth/token", refresh(s.id(), "unknown"), 400},
		"refresh of a token of another":    {"/api/auth/token", refresh(s.id(), foreign.Refresh), 400},
		"refresh that asks for too much":   {"/api/auth/token", refresh(s.id(), first.Refresh, "scope", "write:all"), 400},
		"code with another verifier":       {"/api/auth/token", exchange(s.id(), appURI, second, "code_verifier", strings.Repeat("x", 43)), 400},
	} {
		if a := w.post(test.path, signed(test.form)); a.Code != test.code || stored != 0 {
			t.Errorf("%s: %s, %d nonces were stored", name, a, stored)
			stored = 0
		}
	}
	form := signed(url.Values{"token": {first.Refresh}})
	if a := w.post("/oauth/revoke", form); a.Code != 200 || stored != 1 || w.works(first.Access) {
		t.Errorf("revocation: %s, %d nonces were stored", a, stored)
	}
}

// Requests to revoke are limited as those for tokens are.
func TestRevocationLimit(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	w, s := newWorld(t), newSite(t)
	signed := signer(t, w, s)
	revoke := func() answer { return w.post("/oauth/revoke", signed(url.Values{"token": {"unknown"}})) }
	for range 60 {
		if a := revoke(); a.Code != 200 {
			t.Fatal(a)
		}
	}
	if a := revoke(); a.Code != 429 || a.Error != "temporarily_unavailable" || a.Header().Get("Retry-After") == "" {
		t.Errorf("the client: %s", a)
	}
	if a := w.connect(w.person("ana")); a.Code != 200 {
		t.Errorf("another client at the same address: %s", a)
	}
	for range 600 - 62 { // 62 were sent before
		w.post("/oauth/revoke", url.Values{})
	}
	if a := w.post("/oauth/revoke", url.Values{"client_id": {"cli"}, "token": {"x"}}); a.Code != 429 || a.Header().Get("Retry-After") == "" {
		t.Errorf("the address: %s", a)
	}
}

// The assertions of a client for which nobody vouches end within five minutes.
func TestLongAssertion(t *testing.T) {
	w, s := newWorld(t), newSite(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.document(object{
		"token_endpoint_auth_method": "private_key_jwt",
		"jwks":                       jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "ES256"}}},
	})
	for after, code := range map[time.Duration]int{5 * time.Minute: 200, 6 * time.Minute: 401, 23 * time.Hour: 401} {
		a := w.post("/oauth/revoke", url.Values{
			"token":                 {"unknown"},
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"client_assertion":      {assertionFor(t, key, s.id(), after)},
		})
		if a.Code != code || code != 200 && !strings.Contains(a.Description, "five minutes") {
			t.Errorf("%v: %s", after, a)
		}
	}
}

func assertion(t *testing.T, key *ecdsa.PrivateKey, id string) string {
	t.Helper()
	return assertionFor(t, key, id, time.Minute)
}

// assertionFor returns an assertion that is valid for some time.
func assertionFor(t *testing.T, key *ecdsa.PrivateKey, id string, valid time.Duration) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	signed, err := signer.Sign([]byte(object{"iss": id, "sub": id, "aud": base, "jti": rand.Text(), "exp": now + int64(valid.Seconds()), "iat": now}.String()))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Documents can be turned off.
func TestDocumentsOff(t *testing.T) {
	s := newSite(t)
	s.document(nil)
	c := config()
	c.ClientDocuments = new(bool)
	w := newWorldWith(t, c)
	w.refused(query(s.id(), appURI))
	if m := w.metadata(); s.fetches.Load() != 0 || m["client_id_metadata_document_supported"] != false {
		t.Errorf("%d fetches, %v", s.fetches.Load(), m)
	}
}
