package access

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestClient(t *testing.T) {
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, test := range []struct {
		proxies   Proxies
		peer      string
		forwarded []string
		want      string
	}{
		{nil, "203.0.113.9:4711", nil, "203.0.113.9"},
		{nil, "203.0.113.9:4711", []string{"198.51.100.1"}, "203.0.113.9"}, // forged
		{nil, "127.0.0.1:1", []string{"198.51.100.1"}, "127.0.0.1"},
		{nil, "[2001:db8::1]:80", nil, "2001:db8::1"},
		{nil, "[::ffff:203.0.113.9]:80", nil, "203.0.113.9"},
		{nil, "[fe80::1%eth0]:80", nil, "fe80::1"},
		{nil, "@", nil, "invalid IP"},
		{proxies, "203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		{proxies, "10.0.0.1:1", nil, "10.0.0.1"},
		{proxies, "10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{proxies, "10.0.0.1:1", []string{"1.2.3.4, 198.51.100.1"}, "198.51.100.1"}, // the first was the client's own word
		{proxies, "10.0.0.1:1", []string{"1.2.3.4", "198.51.100.1, 10.9.9.9"}, "198.51.100.1"},
		{proxies, "10.0.0.1:1", []string{"10.1.1.1, 10.9.9.9"}, "10.1.1.1"},
		{proxies, "[fd00::1]:1", []string{"2001:db8::7"}, "2001:db8::7"},
		{proxies, "10.0.0.1:1", []string{"[2001:db8::7]:443"}, "2001:db8::7"},
		{proxies, "10.0.0.1:1", []string{"198.51.100.1:9"}, "198.51.100.1"},
		{proxies, "10.0.0.1:1", []string{"1.2.3.4, nonsense"}, "10.0.0.1"},
		{proxies, "10.0.0.1:1", []string{"1.2.3.4, nonsense, 10.2.2.2"}, "10.2.2.2"},
		{proxies, "10.0.0.1:1", []string{""}, "10.0.0.1"},
	} {
		r := &http.Request{RemoteAddr: test.peer, Header: http.Header{"X-Forwarded-For": test.forwarded}}
		if got := test.proxies.Client(r).String(); got != test.want {
			t.Errorf("%s, %q: %s, want %s", test.peer, test.forwarded, got, test.want)
		}
	}
}
