package token_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"pregon/internal/auth/token"
	"pregon/internal/fault"
)

// decode decodes a configuration as the program does.
func decode(t *testing.T, text string) token.Config {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	d.KnownFields(true)
	var c token.Config
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfigDefaults(t *testing.T) {
	c := decode(t, `
issuers:
  - issuer: https://idp.example
    jwks_url: https://idp.example/keys
    scopes: [read:reports, read:issuers]
    clients:
      - {id: agent, auth: none}
`)
	if err := c.Validate(base); err != nil {
		t.Fatal(err)
	}
	want := token.Config{TokenLifetime: 10 * time.Minute, Issuers: []token.Issuer{{
		Issuer: "https://idp.example", JWKSURL: "https://idp.example/keys", Audiences: []string{base},
		Scopes: []string{"read:reports", "read:issuers"}, DefaultScopes: []string{"read:reports", "read:issuers"},
		Algorithms: []string{"RS256", "PS256", "ES256", "ES384", "EdDSA"},
		Clients:    []token.Client{{ID: "agent", Auth: "none"}},
	}}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if err := c.Validate(base); err != nil || cmp.Diff(want, c) != "" {
		t.Errorf("a second look changes it: %v", err)
	}
}

func TestConfigInFull(t *testing.T) {
	c := decode(t, `
token_lifetime: 1h
issuers:
  - issuer: https://idp.example
    jwks_file: /etc/pregon/idp.json
    audiences: [https://pregon.example, "urn:pregon"]
    scopes: [read:reports, read:issuers, read:analytics]
    default_scopes: [read:reports]
    algorithms: [RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA]
    clients:
      - {id: a, auth: none, scopes: [read:issuers]}
      - {id: b, auth: client_secret_basic, secret_sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}
      - {id: c, auth: client_secret_post, secret_sha256: 9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08}
      - {id: d, auth: private_key_jwt, jwks_file: d.json}
      - {id: e, auth: private_key_jwt, jwks_url: https://e.example/keys}
  - issuer: local
    jwks_url: http://10.0.0.1/keys
    allow_private: true
    scopes: [read:reports]
    clients:
      - {id: a, auth: private_key_jwt, jwks_url: http://10.0.0.2/keys}
`)
	if err := c.Validate(base); err != nil {
		t.Error(err)
	}
	if err := (&token.Config{}).Validate(base); err != nil {
		t.Errorf("an empty one is good too: %v", err)
	}
}

func TestConfigMistakes(t *testing.T) {
	issuer := func(change func(*token.Issuer)) func(*token.Config) {
		return func(c *token.Config) { change(&c.Issuers[1]) }
	}
	client := func(i int, change func(*token.Client)) func(*token.Config) {
		return func(c *token.Config) { change(&c.Issuers[0].Clients[i]) }
	}
	for _, test := range []struct {
		change func(*token.Config)
		want   string
	}{
		{func(c *token.Config) { c.TokenLifetime = time.Minute - 1 }, "token_lifetime: 59.999999999s is not allowed: use 1m to 1h"},
		{func(c *token.Config) { c.TokenLifetime = time.Hour + 1 }, "token_lifetime: 1h0m0.000000001s is not allowed"},
		{func(c *token.Config) { c.TokenLifetime = -time.Minute }, "token_lifetime: -1m0s is not allowed"},

		{issuer(func(i *token.Issuer) { i.Issuer = "" }), "issuers[1].issuer: is missing"},
		{issuer(func(i *token.Issuer) { i.Issuer = base }), "issuers[1].issuer: \"" + base + "\" is this service itself"},
		{issuer(func(i *token.Issuer) { i.Issuer = "https://x.example/#a" }), "issuers[1].issuer: \"https://x.example/#a\" is not allowed"},
		{issuer(func(i *token.Issuer) { i.Issuer = "a b" }), "issuers[1].issuer: \"a b\" is not allowed"},
		{issuer(func(i *token.Issuer) { i.Issuer = "a\n" }), `issuers[1].issuer: "a\n" is not allowed`},
		{issuer(func(i *token.Issuer) { i.Issuer = strings.Repeat("x", 513) }), "issuers[1].issuer: \"xxx"},
		{issuer(func(i *token.Issuer) { i.Issuer = idp }), "issuers[1].issuer: \"" + idp + "\" is listed twice"},
		{issuer(func(i *token.Issuer) { i.JWKSURL = "" }), "issuers[1].jwks_url: must be given, or jwks_file, but not both"},
		{issuer(func(i *token.Issuer) { i.JWKSFile = "x" }), "issuers[1].jwks_url: must be given, or jwks_file, but not both"},
		{issuer(func(i *token.Issuer) { i.JWKSURL = "http://x.example/keys" }), "issuers[1].jwks_url: \"http://x.example/keys\" is not allowed: use https, or set allow_private"},
		{issuer(func(i *token.Issuer) { i.JWKSURL = "file:///etc/passwd" }), "issuers[1].jwks_url: is not allowed: use https://"},
		{issuer(func(i *token.Issuer) { i.JWKSURL = "https:///keys" }), "issuers[1].jwks_url: is not allowed"},
		{issuer(func(i *token.Issuer) { i.JWKSURL = "https://a:b@x.example" }), "issuers[1].jwks_url: is not allowed: use https:// and a host, without a password"},
		{issuer(func(i *token.Issuer) { i.JWKSURL = "https://x.example/#a" }), "issuers[1].jwks_url: is not allowed"},
		{issuer(func(i *token.Issuer) { i.JWKSURL = "https://x example" }), "issuers[1].jwks_url: is not allowed"},
		{issuer(func(i *token.Issuer) { i.Audiences = []string{"a", ""} }), "issuers[1].audiences[1]: is empty"},
		{issuer(func(i *token.Issuer) { i.Scopes = nil }), "issuers[1].scopes: is missing: use some of read:reports read:issuers read:analytics"},
		{issuer(func(i *token.Issuer) { i.Scopes = []string{"read:reports", "write"} }), "issuers[1].scopes[1]: \"write\" is not allowed: use some of read:reports"},
		{issuer(func(i *token.Issuer) { i.DefaultScopes = []string{"read:reports"} }), "issuers[1].default_scopes[0]: \"read:reports\" is not allowed: use some of read:analytics"},
		{issuer(func(i *token.Issuer) { i.DefaultScopes = []string{"x"} }), "issuers[1].default_scopes[0]: \"x\" is not allowed"},
		{issuer(func(i *token.Issuer) { i.Algorithms = []string{"RS256", "none"} }), "issuers[1].algorithms[1]: \"none\" is not allowed: use some of RS256 RS384"},
		{issuer(func(i *token.Issuer) { i.Algorithms = []string{"HS256"} }), "issuers[1].algorithms[0]: \"HS256\" is not allowed"},
		{issuer(func(i *token.Issuer) { i.Algorithms = []string{"rs256"} }), "issuers[1].algorithms[0]: \"rs256\" is not allowed"},
		{issuer(func(i *token.Issuer) { i.Clients = nil }), "issuers[1].clients: is missing"},

		{client(0, func(c *token.Client) { c.ID = "" }), "issuers[0].clients[0].id: \"\" is not allowed"},
		{client(0, func(c *token.Client) { c.ID = "a\x00" }), "issuers[0].clients[0].id: \"a\\x00\" is not allowed"},
		{client(0, func(c *token.Client) { c.ID = strings.Repeat("x", 256) }), "issuers[0].clients[0].id: \"xxx"},
		{client(1, func(c *token.Client) { c.ID = "agent" }), "issuers[0].clients[1].id: \"agent\" is listed twice"},
		{client(0, func(c *token.Client) { c.Auth = "" }), "issuers[0].clients[0].auth: \"\" is not allowed: use one of none, client_secret_basic, client_secret_post, private_key_jwt"},
		{client(0, func(c *token.Client) { c.Auth = "client_secret_jwt" }), "issuers[0].clients[0].auth: \"client_secret_jwt\" is not allowed"},
		{client(0, func(c *token.Client) { c.SecretSHA256 = "x" }), "issuers[0].clients[0].secret_sha256: is not used with auth none"},
		{client(0, func(c *token.Client) { c.JWKSURL = "https://x.example" }), "issuers[0].clients[0].jwks_url: is not used with auth none"},
		{client(0, func(c *token.Client) { c.JWKSFile = "x" }), "issuers[0].clients[0].jwks_file: is not used with auth none"},
		{client(0, func(c *token.Client) { c.Scopes = []string{"read:analytics"} }), "issuers[0].clients[0].scopes[0]: \"read:analytics\" is not allowed: use some of read:reports read:issuers"},
		{client(2, func(c *token.Client) { c.SecretSHA256 = "" }), "issuers[0].clients[2].secret_sha256: must be the SHA-256"},
		{client(2, func(c *token.Client) { c.SecretSHA256 = password }), "issuers[0].clients[2].secret_sha256: must be the SHA-256"},
		{client(2, func(c *token.Client) { c.SecretSHA256 = c.SecretSHA256[2:] }), "issuers[0].clients[2].secret_sha256: must be the SHA-256"},
		{client(3, func(c *token.Client) {
			c.SecretSHA256 = "E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		}), "issuers[0].clients[3].secret_sha256: is that of an empty secret"},
		{client(3, func(c *token.Client) { c.JWKSURL = "https://x.example" }), "issuers[0].clients[3].jwks_url: is not used with auth client_secret_post"},
		{client(4, func(c *token.Client) { c.SecretSHA256 = "x" }), "issuers[0].clients[4].secret_sha256: is not used with auth private_key_jwt"},
		{client(4, func(c *token.Client) { c.JWKSURL = "" }), "issuers[0].clients[4].jwks_url: must be given, or jwks_file, but not both"},
		{client(4, func(c *token.Client) { c.JWKSURL = "http://x.example" }), "issuers[0].clients[4].jwks_url: \"http://x.example\" is not allowed: use https"},
	} {
		c := config()
		test.change(&c)
		err := c.Validate(base)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("it says %v\nwant one that begins %s", err, test.want)
		}
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v is of kind %v", err, fault.KindOf(err))
		}
		if _, err := token.New(token.Options{Config: c, BaseURL: base}); err == nil {
			t.Errorf("a server was made in spite of: %s", test.want)
		}
	}
}

// All errors are returned at once, and none contains a secret.
func TestConfigReturnsAllErrors(t *testing.T) {
	c := config()
	c.TokenLifetime = time.Second
	c.Issuers[0].Clients[2].SecretSHA256 = "hunter2"
	c.Issuers[1].JWKSURL = "https://user:hunter2@x.example"
	err := c.Validate(base)
	if err == nil || strings.Count(err.Error(), "\n") != 2 || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("it says %v", err)
	}
}

// The error of a key source names its place in the configuration.
func TestKeySourceFails(t *testing.T) {
	for i, want := range []string{"issuers[0]: no keys", "issuers[0]: clients[4]: no keys"} {
		n := 0
		_, err := token.New(token.Options{Config: config(), BaseURL: base, Keys: func(string, string, bool) (token.KeySource, error) {
			if n == i {
				return nil, errors.New("no keys")
			}
			n++
			return &source{}, nil
		}})
		if err == nil || err.Error() != want {
			t.Errorf("it says %v, want %s", err, want)
		}
	}
}

// The key source receives the values of the configuration.
func TestKeySourceArguments(t *testing.T) {
	c := config()
	c.Issuers[0].AllowPrivate = true
	c.Issuers[1].JWKSURL, c.Issuers[1].JWKSFile = "", "lone.json"
	type made struct {
		URL, File string
		Private   bool
	}
	var got []made
	if _, err := token.New(token.Options{Config: c, BaseURL: base, Keys: func(url, file string, private bool) (token.KeySource, error) {
		got = append(got, made{url, file, private})
		return &source{}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	want := []made{{"https://idp.example/keys", "", true}, {"https://client.example/keys", "", true}, {"", "lone.json", false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
