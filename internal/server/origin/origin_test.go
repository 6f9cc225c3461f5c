package origin

import (
	"strings"
	"testing"
)

// An address has one form, however it is written: it is compared with what
// clients send, and stands in tokens and documents.
func TestCanonical(t *testing.T) {
	for origin, want := range map[string]string{
		"https://pregon.example":                 "https://pregon.example",
		"https://pregon.example/":                "https://pregon.example",
		"https://Pregon.Example:443":             "https://pregon.example",
		"HTTPS://PREGON.EXAMPLE:0443/":           "https://pregon.example",
		"HTTP://pregon.example:80":               "http://pregon.example",
		"http://pregon.example:443":              "http://pregon.example:443",
		"https://pregon.example:80":              "https://pregon.example:80",
		"https://pregon.example:8443":            "https://pregon.example:8443",
		"https://pregon.example:":                "https://pregon.example",
		"https://pregon.example.":                "https://pregon.example",
		"https://pregon.example.:443":            "https://pregon.example",
		"https://pregón.es":                      "https://xn--pregn-3ta.es",
		"https://PREGÓN.es:443":                  "https://xn--pregn-3ta.es",
		"https://prego\u0301n.es":                "https://xn--pregn-3ta.es",
		"https://preg%C3%B3n.es":                 "https://xn--pregn-3ta.es",
		"https://pregón。es。":                     "https://xn--pregn-3ta.es",
		"https://XN--Pregn-3ta.es":               "https://xn--pregn-3ta.es",
		"https://ｐｒｅｇｏｎ.example":                 "https://pregon.example",
		"http://localhost:8080":                  "http://localhost:8080",
		"http://my_service:8080":                 "http://my_service:8080",
		"http://192.0.2.7:80":                    "http://192.0.2.7",
		"http://[2001:DB8:0:0::1]:80":            "http://[2001:db8::1]",
		"http://[::1]:8080":                      "http://[::1]:8080",
		"https://" + strings.Repeat("a", 63):     "https://" + strings.Repeat("a", 63),
		"https://2.pregon.example":               "https://2.pregon.example",
		"https://pregon.example:65535":           "https://pregon.example:65535",
		"https://" + strings.Repeat("a.", 127):   "https://" + strings.TrimSuffix(strings.Repeat("a.", 127), "."),
		"https://preg-on.xn--ngbc5azd.example:1": "https://preg-on.xn--ngbc5azd.example:1",
	} {
		got, err := Canonical(origin)
		if err != nil || got != want {
			t.Errorf("%s becomes %s, %v, want %s", origin, got, err, want)
		}
		if again, err := Canonical(got); err != nil || again != got {
			t.Errorf("%s is not final: %s, %v", got, again, err)
		}
	}
}

func TestNotCanonical(t *testing.T) {
	const form, host, port = "must be http:// or https://", "which is neither a name nor an address", "a port is a number from 1 to 65535"
	for origin, why := range map[string]string{
		"":                                     form,
		"pregon.example":                       form,
		"ftp://pregon.example":                 form,
		"http://":                              form,
		"https://a@pregon.example":             form,
		"https://pregon.example/api":           form,
		"https://pregon.example?":              form,
		"https://pregon.example#":              form,
		"https://pregon.example:https":         form,
		"https://pregon.example:65536":         port,
		"https://pregon.example:0":             port,
		"https://:443":                         host,
		"https://.":                            host,
		"https://.pregon.example":              host,
		"https://pregon..example":              host,
		"https://pregon.example..":             host,
		"https://-pregon.example":              host,
		"https://pregon*.example":              host,
		"https://127.1":                        host,
		"https://0x7f.1":                       host,
		"https://pregon.0x7f":                  host,
		"https://192.0.2.07":                   host,
		"https://" + strings.Repeat("a", 64):   host,
		"https://" + strings.Repeat("ab.", 85): host,
		"https://preg\u00f3n_es.example":       "cannot be written in ASCII",
		"https://preg\u2028n.example":          "cannot be written in ASCII",
		"https://xn--a.example":                "cannot be written in ASCII",
		"https://xn--pregon-.example":          "cannot be written in ASCII",
		"http://[fe80::1%25eth0]:8080":         `the zone "eth0"`,
	} {
		if got, err := Canonical(origin); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s becomes %s, %v, want that it is refused: %s", origin, got, err, why)
		}
	}
}

func TestPlainHost(t *testing.T) {
	for address, want := range map[string]bool{
		"https://claude.ai/cb":                      true,
		"https://xn--laude-0ye.ai/":                 true,
		"https://app.example/%D1%81?x=%20":          true,
		"https://app.example?x=https://%41.example": true,
		"com.example.app:/x?u=https://%D1%81.ai":    true,
		"vscode://vendor.extension/%20":             true,
		"https://[::1]:8443/":                       true,
		"https://%D1%81laude.ai/":                   false,
		"https://%D1%81laude.ai":                    false,
		"https://claud%65.ai?x":                     false,
		"https://\u0441laude.ai/":                   false,
		"https://[fe80::1%25eth0]/":                 false,
		"vscode://%D1%81laude.ai/":                  false,
		"https://user%40claude.ai@evil.example/":    false,
	} {
		if got := PlainHost(address); got != want {
			t.Errorf("PlainHost(%q) = %v", address, got)
		}
	}
}

// An origin is on this machine if its host is localhost or a loopback address.
func TestIsLocal(t *testing.T) {
	for origin, want := range map[string]bool{
		"http://localhost":           true,
		"http://localhost:8080":      true,
		"https://127.0.0.1:8443":     true,
		"http://127.255.0.1":         true,
		"http://[::1]:8080":          true,
		"http://192.0.2.1":           false,
		"http://[2001:db8::1]":       false,
		"http://0.0.0.0":             false,
		"https://pregon.example":     false,
		"http://localhost.example":   false,
		"http://127.0.0.1.example":   false,
		"http://localhost:port":      false,
		"http://[::1":                false,
		"":                           false,
		"localhost":                  false,
		"http://user@localhost:8080": true,
	} {
		if got := IsLocal(origin); got != want {
			t.Errorf("IsLocal(%q) = %v, want %v", origin, got, want)
		}
	}
}

func TestASCIIHost(t *testing.T) {
	for host, want := range map[string]string{
		"claude.ai":              "claude.ai",
		"127.0.0.1:8080":         "127.0.0.1:8080",
		"vscode:":                "vscode:",
		"\u0441laude.ai":         "xn--laude-0ye.ai",
		"\u0441laude.ai:8443":    "xn--laude-0ye.ai:8443",
		"\u0441laude_x y.ai":     `\u0441laude_x y.ai`,
		"a\u202eb.example\xff\"": `a\u202eb.example\xff\"`,
	} {
		if got := ASCIIHost(host); got != want {
			t.Errorf("ASCIIHost(%q) = %q, want %q", host, got, want)
		}
	}
}

// Valid accepts an origin and nothing more.
func TestValid(t *testing.T) {
	for origin, want := range map[string]bool{
		"https://pregon.example":       true,
		"http://pregon.example:8080":   true,
		"https://pregon.example/":      true,
		"https://pregon.example/x":     false,
		"https://pregon.example?":      false,
		"https://pregon.example#":      false,
		"https://a@pregon.example":     false,
		"ws://pregon.example":          false,
		"https:pregon.example":         false,
		"https://":                     false,
		"https://pregon.example:port":  false,
		"https://pregon.example\x7f":   false,
		"https://pregon.example/%zz":   false,
		"https://pregon.example//":     true,
		"https://pregon.example/../..": false,
	} {
		if got := Valid(origin); got != want {
			t.Errorf("Valid(%q) = %v, want %v", origin, got, want)
		}
	}
}

func TestParseHTTP(t *testing.T) {
	for address, want := range map[string]bool{
		"https://pregon.example":             true,
		"http://127.0.0.1:8080/v1?a=b#c":     true,
		"HTTPS://pregon.example":             true,
		"":                                   false,
		"pregon.example":                     false,
		"https:///v1":                        false,
		"https:pregon.example":               false,
		"ftp://pregon.example":               false,
		"https://user:secret@pregon.example": false,
		"https://pregon.example:port":        false,
	} {
		if u, ok := ParseHTTP(address); ok != want || ok && u.Host == "" {
			t.Errorf("ParseHTTP(%q) = %v, %v; want %v", address, u, ok, want)
		}
	}
}
