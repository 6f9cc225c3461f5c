package token_test

import (
	"strings"
	"testing"
	"time"

	"pregon/internal/server/ratelimit"
)

const (
	here  = "198.51.100.1"
	there = "198.51.100.2"
)

// limited returns a service that allows so many requests a minute of an address and of a
// client.
func limited(t *testing.T, ofAddress, ofClient int) *world {
	t.Helper()
	w := newWorld(t)
	w.addresses = ratelimit.NewWindow(ratelimit.Policy{Name: "token-address", Limit: ofAddress, Window: time.Minute})
	w.clients = ratelimit.NewWindow(ratelimit.Policy{Name: "token-client", Limit: ofClient, Window: time.Minute})
	w.serve(config())
	return w
}

// at sends a request from an address.
func (c *call) at(address string) *call {
	c.from = address
	return c
}

// tooMany expects that a request is over a limit. Nothing is stored for it, and it is no
// failure.
func (c *call) tooMany() {
	c.w.t.Helper()
	stored, failed := len(c.w.store.markNames()), len(c.w.limiter.failed)
	a := c.do()
	if a.Code != 429 || a.Error != "temporarily_unavailable" || a.Header().Get("Retry-After") == "" {
		c.w.t.Errorf("%d %s, Retry-After %q", a.Code, a.Body, a.Header().Get("Retry-After"))
	}
	if len(c.w.store.markNames()) != stored || len(c.w.limiter.failed) != failed {
		c.w.t.Errorf("%d nonces were stored, %d failures counted", len(c.w.store.markNames())-stored, len(c.w.limiter.failed)-failed)
	}
}

// Every request counts for its network, whatever its answer and its client.
func TestAddressLimit(t *testing.T) {
	w := limited(t, 4, 100)
	w.exchange().at("2001:db8::1").good()
	w.bearer().at("2001:db8::2").asSigner().good()
	bad := w.exchange().at("2001:db8::3")
	bad.claims["aud"] = "https://evil.example"
	if a := bad.do(); a.Code != 400 {
		t.Errorf("%s", a.Body)
	}
	if a := (&call{w: w, form: map[string][]string{"grant_type": {"password"}}, http: map[string][]string{}, contentType: "application/x-www-form-urlencoded"}).at("2001:db8::4").do(); a.Code != 400 {
		t.Errorf("%s", a.Body)
	}
	w.exchange().at("2001:db8::5").tooMany()
	if e := w.lastEvent(); e.name != "limit.hit" || e.attrs["limit"] != "token-address" || e.attrs["client_ip"] != "2001:db8::5" {
		t.Errorf("%+v", e)
	}
	events := len(w.events)
	w.exchange().at("2001:db8::6").tooMany()
	if len(w.events) != events {
		t.Error("the audit has more than one entry for a network")
	}
	w.exchange().at("2001:db8:0:1::1").good()
}

// A client without authentication is counted together with the network: its id is
// public.
func TestPublicClientLimit(t *testing.T) {
	w := limited(t, 100, 3)
	for range 3 {
		w.exchange().at(here).good()
	}
	w.exchange().at(here).tooMany()
	if e := w.lastEvent(); e.name != "limit.hit" || e.attrs["limit"] != "token-client" || e.attrs["client_id"] != "agent" {
		t.Errorf("%+v", e)
	}
	w.exchange().at(there).good()
	other := w.exchange().at(here)
	other.claims["client_id"] = "narrow"
	other.form.Set("scope", "read:issuers")
	other.good()
}

// A client with a secret is counted everywhere together, but only if the secret is right.
func TestSecretClientLimit(t *testing.T) {
	w := limited(t, 100, 3)
	web := func(secret string) *call {
		c := w.exchange().basic("web app", secret)
		c.claims["client_id"] = "web app"
		return c
	}
	for range 10 {
		if a := web("guess").at(there).do(); a.Code != 401 {
			t.Fatalf("%s", a.Body)
		}
	}
	web(password).at(here).good()
	web(password).at(here).good()
	web(password).at(there).good()
	web(password).at(here).tooMany()
	web(password).at("203.0.113.1").tooMany()
}

// A client that signs is counted everywhere together when its assertion is claimed. Who
// sends a copy of one cannot use up its limit.
func TestSigningClientLimit(t *testing.T) {
	w := limited(t, 100, 3)
	copied := w.bearer().asSigner().at(here)
	copied.good()
	proof := copied.proof.signed() // signed again, with the same jti
	for i := range 5 {
		c := w.bearer().asSigner().at(there)
		c.form.Set("client_assertion", proof)
		want := 401
		if i >= 3 {
			want = 429 // of the client at this address
		}
		if a := c.do(); a.Code != want {
			t.Fatalf("copy %d: %d %s", i, a.Code, a.Body)
		}
	}
	w.bearer().asSigner().at(here).good()
	w.bearer().asSigner().at("203.0.113.1").good()
	w.bearer().asSigner().at("203.0.113.2").tooMany()
}

// A client of the configuration may sign for a day ahead, as before.
func TestConfiguredClientMaySignLong(t *testing.T) {
	w := newWorld(t)
	c := w.bearer().asSigner()
	c.proof.claims["exp"] = time.Now().Add(23 * time.Hour).Unix()
	c.good()
	c = w.bearer().asSigner()
	c.proof.claims["exp"] = time.Now().Add(25 * time.Hour).Unix()
	if a := c.do(); a.Code != 401 || !strings.Contains(a.Description, "24 hours") {
		t.Errorf("%s", a.Body)
	}
}
