package outbound_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/server/outbound"
)

var badAddresses = map[string]string{ // and a part of the complaint
	"":                              "https://",
	"x.example":                     "https://",
	"//x.example/":                  "https://",
	"/path":                         "https://",
	"ftp://x.example/":              "https://",
	"file:///etc/passwd":            "https://",
	"gopher://x.example/":           "https://",
	"javascript:alert(1)":           "https://",
	"http://x.example/":             "not http://",
	"HTTP://x.example/":             "not http://",
	"https:":                        "no host",
	"https://":                      "no host",
	"https:///path":                 "no host",
	"https://:443/":                 "no host",
	"https:x.example":               "no host",
	"https://hunter2@x.example/":    "user or a password",
	"https://me:hunter2@x.example/": "user or a password",
	"https://@x.example/":           "user or a password",
	"https://x.example@127.0.0.1/":  "user or a password",
	"https://x.example/#a":          "fragment",
	"https://x.example/#":           "fragment",

	"https://x.example:80/":    "only 443 and 8443",
	"https://x.example:22/":    "only 443 and 8443",
	"https://x.example:0443/":  "only 443 and 8443",
	"https://x.example:0/":     "not a port number",
	"https://x.example:65979/": "not a port number", // 443 in sixteen bits
	"https://x.example:-443/":  "not a URL",
	"https://x.example:https/": "not a URL",
	"https://x.example:1:443/": "not a URL",
	"https://me:hunter2":       "not a URL",

	"https://127.0.0.1/":                   "a loopback address",
	"https://127.255.1.2:8443/":            "a loopback address",
	"https://10.0.0.1/":                    "a private address",
	"https://169.254.169.254/latest/":      "a link-local address",
	"https://168.63.129.16/":               "not a public address",
	"https://0.0.0.0/":                     "the unspecified address",
	"https://224.0.0.1/":                   "a multicast address",
	"https://255.255.255.255/":             "not a public address",
	"https://[::1]/":                       "a loopback address",
	"https://[0:0:0:0:0:0:0:1]/":           "a loopback address",
	"https://[::]/":                        "the unspecified address",
	"https://[fd00:ec2::254]/":             "a private address",
	"https://[fe80::1]/":                   "a link-local address",
	"https://[fe80::1%25eth0]/":            "a link-local address",
	"https://[2606:4700::1111%25eth0]/":    "not a public address",
	"https://[::ffff:127.0.0.1]/":          "a loopback address",
	"https://[::ffff:7f00:1]/":             "a loopback address",
	"https://[::ffff:1.1.1.1]/":            "not a public address",
	"https://[64:ff9b::10.0.0.1]/":         "not a public address",
	"https://[fe80::1%25eth0%25eth1]:443/": "a link-local address",

	// What some resolvers read as 127.0.0.1.
	"https://2130706433/":               "neither a name nor an address",
	"https://0x7f000001/":               "neither a name nor an address",
	"https://0x7f.1/":                   "neither a name nor an address",
	"https://0X7F.0x1/":                 "neither a name nor an address",
	"https://017700000001/":             "neither a name nor an address",
	"https://0177.0.0.1/":               "neither a name nor an address",
	"https://127.1/":                    "neither a name nor an address",
	"https://127.0.0.01/":               "neither a name nor an address",
	"https://127.0.0.1./":               "not a valid host name",
	"https://127.0.0.1.5/":              "neither a name nor an address",
	"https://127.0.0.256/":              "neither a name nor an address",
	"https://①②⑦.⓪.⓪.①/":                "neither a name nor an address",
	"https://１２７.０.０.１/":                "neither a name nor an address",
	"https://127。0。0。1/":                "neither a name nor an address",
	"https://%E2%91%A0%E2%91%A1⑦.0.0.1": "neither a name nor an address",

	"https://localhost/":                                "private network",
	"https://LocalHost:8443/":                           "private network",
	"https://x.localhost/":                              "private network",
	"https://localhost./":                               "not a valid host name",
	"https://loc\u00adalhost/":                          "private network",
	"https://ｌｏｃａｌｈｏｓｔ/":                                "private network",
	"https://localhost.localdomain/":                    "private network",
	"https://printer.local/":                            "private network",
	"https://PRINTER.LOCAL/":                            "private network",
	"https://metadata.google.internal/computeMetadata/": "private network",
	"https://metadata.google.internal./":                "not a valid host name",
	"https://metadata.google。internal/":                 "private network",
	"https://internal/":                                 "private network",
	"https://nas.home.arpa/":                            "private network",
	"https://db/":                                       "not a full name",
	"https://xn--db/":                                   "not a full name",

	"https://x.example./":          "not a valid host name",
	"https://x.example../":         "not a valid host name",
	"https://x..example/":          "not a valid host name",
	"https://.example/":            "not a valid host name",
	"https://./":                   "not a valid host name",
	"https://-x.example/":          "not a valid host name",
	"https://x-.example/":          "not a valid host name",
	"https://*.example/":           "not a valid host name",
	"https://x!.example/":          "not a valid host name",
	"https://x.example,y.example/": "not a valid host name",
	"https://x~y.example/":         "not a valid host name",
	"https://x;y.example/":         "not a valid host name",
	"https://x=y.example/":         "not a valid host name",
	"https://x.9x/":                "neither a name nor an address",
	"https://x.0x/":                "neither a name nor an address",
	"https://" + strings.Repeat("x", 64) + ".example/":  "not a valid host name",
	"https://" + strings.Repeat("x.", 123) + "examples": "not a valid host name",
	"https://" + strings.Repeat("x.", 126) + "example/": "not a valid host name",
	"https://x.example\u2100/":                          "not a valid host name", // ℀ is mapped to a/c
	"https://x\\@127.0.0.1/":                            "not a URL",
	"https://x.example\\.y.example/":                    "not a URL",
	"https://x .example/":                               "not a URL",
	"https://x.example\n/":                              "not a URL",
	"https://x\x00.example/":                            "not a URL",
	"https://%31%32%37.0.0.1/":                          "not a URL",
	"https://[::1/":                                     "not a URL",
	"https://[x.example]/":                              "",
	"https://::1/":                                      "",
}

func TestBadAddresses(t *testing.T) {
	c := outbound.NewClient(outbound.Options{}.Passing(func(address string) error {
		t.Errorf("got a dial of %s, want none", address)
		return errStop
	}))
	for address, want := range badAddresses {
		err := outbound.Check(address, false)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", address, err, want)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got error %q, want it without the password", err)
		}
		// The client applies the same rules to unchecked addresses.
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil || strings.HasSuffix(address, "#") {
			continue
		}
		_, err = c.Do(req)
		if err == nil || errors.Is(err, errStop) {
			t.Errorf("%q: got error %v, want a refusal", address, err)
		}
	}
}

func TestGoodAddresses(t *testing.T) {
	for _, address := range []string{
		"https://x.example",
		"https://x.example/a/b?c=d",
		"https://x.example:443/",
		"https://x.example:8443/",
		"https://x.example:/",
		"HTTPS://X.Example/",
		"https://a-b.c--d.example/",
		"https://a_b.example/",
		"https://az09.zz/",
		"https://1.x.example/",
		"https://1password.example/",
		"https://127.0.0.1.example/", // the dial decides
		"https://españa.example/",
		"https://xn--espaa-rta.example/",
		"https://x。example/",
		"https://localhost.example/",
		"https://x.notlocal/",
		"https://x.internal.example/",
		"https://1.1.1.1/",
		"https://93.184.216.34:8443/",
		"https://[2606:4700:4700::1111]/",
		"https://" + strings.Repeat("x", 63) + ".example/",
		"https://" + strings.Repeat("x.", 123) + "example/", // 253 bytes
	} {
		if err := outbound.Check(address, false); err != nil {
			t.Errorf("%q: got error %v", address, err)
		}
	}
}

func TestPrivateAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://x.example/":          true,
		"http://localhost:9000/hook":  true,
		"http://db:1/":                true,
		"http://10.0.0.1:80/":         true,
		"https://[::1]:22/":           true,
		"http://printer.local./":      true,
		"http://[fe80::1%25eth0]:80/": true,
		"":                            false,
		"ftp://localhost/":            false,
		"http://":                     false,
		"http://:80":                  false,
		"http:localhost":              false,
		"http://me@localhost/":        false,
		"http://localhost/#":          false,
		"http://localhost:0/":         false,
		"http://localhost:65536/":     false,
		"http://local host/":          false,
	} {
		if err := outbound.Check(address, true); (err == nil) != ok {
			t.Errorf("%q: got error %v", address, err)
		} else if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: got error %v, want one of kind Invalid", address, err)
		}
	}
}
