package oauth_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/oauth"
)

// Which redirect URIs a client may register.
func TestCheckRedirect(t *testing.T) {
	for uri, says := range map[string]string{
		"https://app.example/callback":              "",
		"https://app.example":                       "",
		"https://app.example:8443/cb?tenant=1":      "",
		"https://app.example/%E2%82%AC":             "",
		"http://127.0.0.1/cb":                       "",
		"http://127.0.0.1:3000/cb":                  "",
		"http://[::1]:3000":                         "",
		"http://localhost?x=1":                      "",
		"com.example.app:/oauth":                    "",
		"com.example.app://oauth/done":              "",
		"cursor://anysphere.cursor-mcp/oauth/done":  "",
		"vscode://vendor.extension/auth":            "",
		"https://" + strings.Repeat("a", 493):       "500 bytes",
		"":                                          "500 bytes",
		"/callback":                                 "absolute",
		"//app.example/cb":                          "absolute",
		"app.example/cb":                            "absolute",
		"https:":                                    "host",
		"https:///cb":                               "host",
		"https://:443/cb":                           "host",
		"https:app.example/cb":                      "host",
		"HTTPS://app.example/cb":                    "lower case",
		"https://app.example/cb#":                   "fragment",
		"https://app.example/cb#code=1":             "fragment",
		"https://user@app.example/cb":               "user",
		"https://user:pw@app.example/cb":            "user",
		"https://@app.example/cb":                   "user",
		"http://127.0.0.1:80@evil.example/cb":       "user",
		"http://localhost@evil.example/cb":          "user",
		"https://*.app.example/cb":                  "wildcard",
		"https://app.example/*":                     "wildcard",
		"https://app.example/a b":                   "spaces",
		"https://app.example/\n":                    "spaces",
		"https://app.example\\@evil.example/":       "characters",
		"https://app.exámple/cb":                    "characters",
		"https://%D1%81laude.ai/":                   "percent-encoding",
		"https://claud%65.ai/cb":                    "percent-encoding",
		"https://\u0441laude.ai/":                   "characters",
		"vscode://%D1%81laude.ai/":                  "percent-encoding",
		"com.example.app://%61/":                    "percent-encoding",
		"https://[fe80::1%25eth0]/cb":               "percent-encoding",
		"https://claude.ai;x.evil.example/cb":       "neither a name nor an address",
		"https://xn--a/cb":                          "cannot be written in ASCII",
		"https://xn--laude-0ye.ai/cb":               "",
		"https://app.example/%zz":                   "absolute",
		"https://app.example/cb?x=%zz":              "query",
		"https://app.example/cb?code=1":             "parameter code",
		"https://app.example/cb?a=1&state=2":        "parameter state",
		"https://app.example/cb?%69ss=2":            "parameter iss",
		"https://app.example/a/../b":                "segments",
		"https://app.example/a/%2e%2E/b":            "segments",
		"https://app.example/./b":                   "segments",
		"http://app.example/cb":                     "https://",
		"http://127.0.0.2/cb":                       "https://",
		"http://127.0.0.1.evil.example/cb":          "https://",
		"http://localhost.evil.example/cb":          "https://",
		"http://localhostevil.example/cb":           "https://",
		"http://LOCALHOST/cb":                       "https://",
		"http://127.0.0.1:/cb":                      "https://",
		"http://127.0.0.1:0/cb":                     "https://",
		"http://127.0.0.1:65536/cb":                 "https://",
		"http://127.0.0.1:80.evil.example/cb":       "absolute",
		"http://2130706433/cb":                      "https://",
		"javascript:alert(1)":                       "dot",
		"javascript://app.example/%0aalert(1)":      "dot",
		"data:text/html,hi":                         "dot",
		"file:///etc/passwd":                        "dot",
		"vbscript:x":                                "dot",
		"blob:https://app.example/1":                "dot",
		"about:blank":                               "dot",
		"ftp://app.example/cb":                      "dot",
		"mailto:ana@app.example":                    "dot",
		"myapp://callback":                          "dot",
		"intent://x#Intent;scheme=https;end":        "fragment",
		"com.example.app://user@evil/":              "user",
		"com.example.app:/../../x":                  "segments",
		"com.example.app:?error=1":                  "parameter error",
		"https://app.example/cb\"><script>":         "characters",
		"https://[::1":                              "absolute",
		"https://app.example/cb?x=1;iss=2":          "query",
		"urn:ietf:wg:oauth:2.0:oob":                 "dot",
		"ms-appx-web://Microsoft.AAD.BrokerPlugin/": "dot",
	} {
		got := oauth.CheckRedirect(uri)
		if (got == "") != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%q: %q, want %q", uri, got, says)
		}
	}
}

// A request may name a registered redirect URI only.
func TestMatches(t *testing.T) {
	const app = "https://app.example/callback"
	for _, test := range []struct {
		registered, uri string
		want            bool
	}{
		{app, app, true},
		{app, app + "/", false},
		{app, app + "2", false},
		{app, app + "?x=1", false},
		{app, app + "?", false},
		{app, app + "#x", false},
		{app, app + "/../evil", false},
		{app, app + "/%2e%2e/evil", false},
		{app, app + "%2f..%2fevil", false},
		{app, app[:len(app)-1], false},
		{app, "https://app.example/Callback", false},
		{app, "https://APP.example/callback", false},
		{app, "HTTPS://app.example/callback", false},
		{app, "http://app.example/callback", false},
		{app, "https://app.example:443/callback", false},
		{app, "https://app.example:8443/callback", false},
		{app, "https://app.example./callback", false},
		{app, "https://app.example//callback", false},
		{app, "https://app.example/%63allback", false},
		{app, "https://app.example.evil.example/callback", false},
		{app, "https://evil.example/https://app.example/callback", false},
		{app, "https://evil.example/?" + app, false},
		{app, "https://app.example@evil.example/callback", false},
		{app, "https://evil.example\\@app.example/callback", false},
		{app, "https://app.example%2f@evil.example/callback", false},
		{app, " " + app, false},
		{app, app + " ", false},
		{app, app + "\x00", false},
		{app, "javascript:" + app, false},
		{app, "", false},

		{"http://127.0.0.1/cb", "http://127.0.0.1:1/cb", true},
		{"http://127.0.0.1/cb", "http://127.0.0.1:65535/cb", true},
		{"http://127.0.0.1:3000/cb", "http://127.0.0.1:4000/cb", true},
		{"http://127.0.0.1:3000/cb", "http://127.0.0.1/cb", true},
		{"http://[::1]/cb", "http://[::1]:5000/cb", true},
		{"http://localhost/cb?a=1", "http://localhost:5000/cb?a=1", true},
		{"http://localhost", "http://localhost:5000", true},
		{"http://localhost", "http://localhost:5000/", false},
		{"http://localhost/cb", "http://127.0.0.1/cb", false},
		{"http://127.0.0.1/cb", "http://[::1]/cb", false},
		{"http://127.0.0.1/cb", "https://127.0.0.1:5000/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:5000/cb2", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:5000/cb?x=1", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:+80/cb", false},
		{"https://127.0.0.1/cb", "https://127.0.0.1:5000/cb", false},

		{"com.example.app:/cb", "com.example.app:/cb", true},
		{"com.example.app:/cb", "com.example.app2:/cb", false},
		{"com.example.app:/cb", "com.example.app:/cb2", false},
		{"com.example.app:/cb", "com.example.app://cb", false},
	} {
		if got := oauth.Matches(test.registered, test.uri); got != test.want {
			t.Errorf("%q registered, %q asked: %v", test.registered, test.uri, got)
		}
	}
}

// Whatever is asked, the browser goes to a registered place: the same text, or another
// port of the person's own machine.
func FuzzMatches(f *testing.F) {
	f.Add("https://app.example/callback", "https://app.example@evil.example/callback")
	f.Add("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb")
	f.Add("http://[::1]:1/cb?a", "http://[::1]:22/cb?a")
	f.Add("http://localhost", "http://localhost:5?x#y")
	f.Add("com.example.app:/cb", "com.example.app:/cb")
	f.Fuzz(func(t *testing.T, registered, uri string) {
		if oauth.CheckRedirect(registered) != "" || !oauth.Matches(registered, uri) {
			return
		}
		u, err := url.Parse(uri)
		if err != nil || u.User != nil || strings.Contains(uri, "#") || strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' }) {
			t.Fatalf("%q is allowed", uri)
		}
		if slices.Contains([]string{"javascript", "data", "file", "vbscript", "blob", "about", ""}, u.Scheme) {
			t.Fatalf("%q is allowed", uri)
		}
		if registered == uri {
			return
		}
		want, err := url.Parse(registered)
		if err != nil || u.Scheme != "http" || want.Scheme != "http" || u.Hostname() != want.Hostname() || u.EscapedPath() != want.EscapedPath() || u.RawQuery != want.RawQuery {
			t.Fatalf("%q is allowed, registered is %q", uri, registered)
		}
		if !slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, u.Hostname()) {
			t.Fatalf("%q is not on this machine", uri)
		}
	})
}
