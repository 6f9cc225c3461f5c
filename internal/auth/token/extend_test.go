package token_test

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/auth/token"
	"pregon/internal/fault"
)

const extraGrant = "urn:example:extra"

// extended returns a world with one more grant, and sends requests of it.
func extended(t *testing.T, grant token.Grant) (*world, func(form url.Values, header ...string) answerWithRefresh) {
	t.Helper()
	w := newWorld(t)
	w.server.Extend(token.Extension{Grants: map[string]token.Grant{extraGrant: grant}})
	w.mux = http.NewServeMux()
	w.server.Register(w.mux)
	return w, func(form url.Values, header ...string) answerWithRefresh {
		t.Helper()
		form.Set("grant_type", extraGrant)
		r := httptest.NewRequest("POST", "/api/auth/token", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		a := answerWithRefresh{ResponseRecorder: httptest.NewRecorder()}
		w.mux.ServeHTTP(a, r)
		if err := json.Unmarshal(a.Body.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v", a.Body, err)
		}
		return a
	}
}

type answerWithRefresh struct {
	*httptest.ResponseRecorder
	Error       string `json:"error"`
	AccessToken string `json:"access_token"`
	Refresh     string `json:"refresh_token"`
}

// A grant of the extension gets the request with its client, and its token and refresh
// token are issued.
func TestExtraGrant(t *testing.T) {
	var got token.Request
	w, send := extended(t, func(_ context.Context, q token.Request) (token.Granted, error) {
		got = q
		return token.Granted{
			Token:   access.Token{Subject: "https://idp.example#ana", ClientID: q.ClientID, Audience: base, Scope: access.ReadReports, Grant: "grant_1"},
			Refresh: "the next",
		}, nil
	})
	a := send(url.Values{"client_id": {"agent"}, "extra": {"x"}})
	if a.Code != 200 || a.Refresh != "the next" {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if got.ClientID != "agent" || got.Form["extra"] != "x" || got.Request == nil {
		t.Errorf("the request is %+v", got)
	}
	claims, err := w.server.Verify(t.Context(), a.AccessToken)
	if err != nil || claims.Grant != "grant_1" || claims.ClientID != "agent" || claims.Scope != access.ReadReports {
		t.Errorf("%+v, %v", claims, err)
	}
	if e := w.lastEvent(); e.attrs["client_id"] != "agent" || e.attrs["grant"] != "grant_1" {
		t.Errorf("audited %+v", e)
	}
}

// What the grant refuses is refused, and a request that is not well formed does not
// reach it.
func TestRefusedExtraGrant(t *testing.T) {
	calls := 0
	_, send := extended(t, func(context.Context, token.Request) (token.Granted, error) {
		calls++
		return token.Granted{}, token.Refuse(token.CodeInvalidGrant, "it is not valid")
	})
	if a := send(url.Values{"client_id": {"agent"}}); a.Code != 400 || a.Error != "invalid_grant" || a.AccessToken != "" || calls != 1 {
		t.Errorf("%d %s after %d calls", a.Code, a.Body, calls)
	}
	for name, form := range map[string]url.Values{
		"two methods":     {"client_id": {"agent"}, "client_secret": {"x"}, "client_assertion": {"y"}},
		"not a client":    {"client_assertion": {"nonsense"}, "client_assertion_type": {token.AssertionJWT}},
		"a field twice":   {"client_id": {"agent", "other"}},
		"secret, no name": {"client_secret": {"x"}},
	} {
		if a := send(form); a.Code == 200 || calls != 1 {
			t.Errorf("%s: %d %s after %d calls", name, a.Code, a.Body, calls)
		}
	}
}

// A client of the extension authenticates with its own method, and only with that.
func TestAuthenticateExtra(t *testing.T) {
	var known token.Authentication
	w, send := extended(t, nil)
	grant := func(ctx context.Context, q token.Request) (token.Granted, error) {
		proof, err := w.server.Authenticate(ctx, q, known)
		if err == nil {
			err = proof.Claim(ctx)
		}
		if err != nil {
			return token.Granted{}, err
		}
		return token.Granted{Token: access.Token{Subject: "x#ana", ClientID: q.ClientID, Audience: base, Scope: access.ReadReports}}, nil
	}
	w.server.Extend(token.Extension{Grants: map[string]token.Grant{extraGrant: grant}})
	clients := config().Issuers[0].Clients
	for _, test := range []struct {
		name   string
		client token.Client
		form   url.Values
		want   string // the error; empty: it is the client
	}{
		{"a public client", clients[0], url.Values{"client_id": {"agent"}}, ""},
		{"a public client with a secret", clients[0], url.Values{"client_id": {"agent"}, "client_secret": {password}}, "invalid_client"},
		{"a secret", clients[3], url.Values{"client_id": {"poster"}, "client_secret": {password}}, ""},
		{"a wrong secret", clients[3], url.Values{"client_id": {"poster"}, "client_secret": {"x"}}, "invalid_client"},
		{"no secret", clients[3], url.Values{"client_id": {"poster"}}, "invalid_client"},
		{"a secret in the wrong place", clients[2], url.Values{"client_id": {"web app"}, "client_secret": {password}}, "invalid_client"},
	} {
		var err error
		if known, err = w.server.Authentication(test.client, false); err != nil {
			t.Fatal(err)
		}
		if a := send(test.form); a.Error != test.want || (a.AccessToken == "") != (test.want != "") {
			t.Errorf("%s: %d %s", test.name, a.Code, a.Body)
		}
	}
	// A proof of a client counts once.
	var err error
	if known, err = w.server.Authentication(clients[4], false); err != nil {
		t.Fatal(err)
	}
	proof := w.exchange().asSigner().proof.signed()
	form := func() url.Values {
		return url.Values{"client_id": {"signer"}, "client_assertion": {proof}, "client_assertion_type": {token.AssertionJWT}}
	}
	w.store.fail(errors.New("down"))
	if a := send(form()); a.Code != http.StatusServiceUnavailable || a.AccessToken != "" {
		t.Errorf("a proof while the store fails: %d %s", a.Code, a.Body)
	}
	w.store.fail(nil)
	if a := send(form()); a.Code != 200 {
		t.Errorf("a proof: %d %s", a.Code, a.Body)
	}
	if a := send(form()); a.Error != "invalid_client" {
		t.Errorf("the same proof again: %d %s", a.Code, a.Body)
	}
}

// While nothing can be signed, the grant is not asked: it may use up what the client
// sent.
func TestExtraGrantNeedsAKey(t *testing.T) {
	calls := 0
	w := newWorld(t)
	empty := token.NewRing(newStore(), seal{"s"}, nil)
	w.ring = empty
	w.serve(config())
	w.server.Extend(token.Extension{Grants: map[string]token.Grant{extraGrant: func(context.Context, token.Request) (token.Granted, error) {
		calls++
		return token.Granted{}, nil
	}}})
	r := httptest.NewRequest("POST", "/api/auth/token", strings.NewReader(url.Values{"grant_type": {extraGrant}, "client_id": {"agent"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.mux.ServeHTTP(rec, r)
	if rec.Code != http.StatusServiceUnavailable || calls != 0 {
		t.Errorf("%d %s after %d calls", rec.Code, rec.Body, calls)
	}
}

// ReadRequest reads the client of a form, for other endpoints.
func TestReadRequest(t *testing.T) {
	read := func(body string) (token.Request, error) {
		r := httptest.NewRequest("POST", "/oauth/revoke", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return token.ReadRequest(httptest.NewRecorder(), r)
	}
	q, err := read("client_id=agent&token=x")
	if err != nil || q.ClientID != "agent" || q.Form["token"] != "x" {
		t.Errorf("%+v, %v", q, err)
	}
	for _, bad := range []string{"client_id=a&client_id=b", "client_secret=x&client_assertion=y&client_id=a", "%zz"} {
		if q, err := read(bad); err == nil {
			t.Errorf("%s is read as %+v", bad, q)
		}
	}
}

// What is wrong with a client of another configuration is named with its place.
func TestValidateClient(t *testing.T) {
	for _, test := range []struct {
		client token.Client
		want   string // empty: it is allowed
	}{
		{token.Client{ID: "a", Auth: "none"}, ""},
		{token.Client{ID: "", Auth: "none"}, "here.id"},
		{token.Client{ID: "a", Auth: "magic"}, "here.auth"},
		{token.Client{ID: "a", Auth: "client_secret_post"}, "here.secret_sha256"},
		{token.Client{ID: "a", Auth: "none", JWKSURL: "https://client.example/keys"}, "here.jwks_url"},
		{token.Client{ID: "a", Auth: "private_key_jwt", JWKSURL: "http://client.example/keys"}, "here.jwks_url"},
		{token.Client{ID: "a", Auth: "none", Scopes: []string{"write"}}, "here.scopes"},
	} {
		err := test.client.Validate("here")
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v, want %q", test.client, err, test.want)
		}
	}
}

// A store that fails is not the fault of the client.
func TestExtraGrantFails(t *testing.T) {
	_, send := extended(t, func(context.Context, token.Request) (token.Granted, error) {
		return token.Granted{}, token.Unavailable(fault.Wrap(fault.Unavailable, errors.New("gone"), "no answer"))
	})
	if a := send(url.Values{"client_id": {"agent"}}); a.Code != http.StatusServiceUnavailable || a.AccessToken != "" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// A key that cannot be made or stored is not used.
func TestKeyThatCannotBeMade(t *testing.T) {
	failure := errors.New("no randomness")
	ring := token.NewRing(newStore(), seal{"s"}, nil)
	ring.SetGenerate(func() (*rsa.PrivateKey, error) { return nil, failure })
	if id, err := ring.LoadOrCreate(t.Context()); !errors.Is(err, failure) || id != "" {
		t.Errorf("the first key: %q, %v", id, err)
	}
	for _, now := range []bool{false, true} {
		if key, err := ring.Rotate(t.Context(), now); !errors.Is(err, failure) || key.ID != "" {
			t.Errorf("a rotation at once %v: %+v, %v", now, key, err)
		}
	}
	db := newStore()
	ring = token.NewRing(db, seal{"s"}, nil)
	ring.SetGenerate(signingKeys())
	db.fail(failure)
	for _, now := range []bool{false, true} {
		if key, err := ring.Rotate(t.Context(), now); !errors.Is(err, failure) || key.ID != "" {
			t.Errorf("a rotation at once %v while the store fails: %+v, %v", now, key, err)
		}
	}
}
