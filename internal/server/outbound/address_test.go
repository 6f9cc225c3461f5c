package outbound_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"pregon/internal/server/outbound"
)

// TestRanges checks the first and last address of every range that is not
// public, and their public neighbours.
func TestRanges(t *testing.T) {
	const (
		nothing   = "the unspecified address"
		loopback  = "a loopback address"
		private   = "a private address"
		link      = "a link-local address"
		multicast = "a multicast address"
		other     = "not a public address"
		public    = ""
	)
	for _, c := range []struct{ address, kind string }{
		{"0.0.0.0", nothing},
		{"0.0.0.1", other},
		{"0.255.255.255", other},
		{"1.0.0.0", public},
		{"9.255.255.255", public},
		{"10.0.0.0", private},
		{"10.255.255.255", private},
		{"11.0.0.0", public},
		{"100.63.255.255", public},
		{"100.64.0.0", other},
		{"100.100.100.200", other},
		{"100.127.255.255", other},
		{"100.128.0.0", public},
		{"126.255.255.255", public},
		{"127.0.0.0", loopback},
		{"127.0.0.1", loopback},
		{"127.255.255.255", loopback},
		{"128.0.0.0", public},
		{"168.63.129.15", public},
		{"168.63.129.16", other},
		{"168.63.129.17", public},
		{"169.253.255.255", public},
		{"169.254.0.0", link},
		{"169.254.169.254", link},
		{"169.254.255.255", link},
		{"169.255.0.0", public},
		{"172.15.255.255", public},
		{"172.16.0.0", private},
		{"172.31.255.255", private},
		{"172.32.0.0", public},
		{"191.255.255.255", public},
		{"192.0.0.0", other},
		{"192.0.0.192", other},
		{"192.0.0.255", other},
		{"192.0.1.0", public},
		{"192.0.2.0", other},
		{"192.0.2.255", other},
		{"192.0.3.0", public},
		{"192.31.196.1", other},
		{"192.52.193.1", other},
		{"192.88.99.1", other},
		{"192.175.48.1", other},
		{"192.167.255.255", public},
		{"192.168.0.0", private},
		{"192.168.255.255", private},
		{"192.169.0.0", public},
		{"198.17.255.255", public},
		{"198.18.0.0", other},
		{"198.19.255.255", other},
		{"198.20.0.0", public},
		{"198.51.100.0", other},
		{"198.51.100.255", other},
		{"203.0.113.0", other},
		{"203.0.113.255", other},
		{"203.0.114.0", public},
		{"223.255.255.255", public},
		{"224.0.0.0", multicast},
		{"239.255.255.255", multicast},
		{"240.0.0.0", other},
		{"255.255.255.255", other},

		{"::", nothing},
		{"::1", loopback},
		{"::2", other},
		{"::127.0.0.1", other},
		{"::1.1.1.1", other},
		{"::ffff:127.0.0.1", loopback},
		{"::ffff:10.0.0.1", private},
		{"::ffff:169.254.169.254", link},
		{"::ffff:1.1.1.1", other},
		{"::ffff:0:1.1.1.1", other}, // SIIT
		{"64:ff9b::1.1.1.1", other},
		{"64:ff9b::127.0.0.1", other},
		{"64:ff9b::169.254.169.254", other},
		{"64:ff9b:1::10.0.0.1", other},
		{"100::1", other},
		{"100:0:0:1::1", other},
		{"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", other},
		{"2000::", public},
		{"2001::1", other},
		{"2001:0:4136:e378:8000:63bf:3fff:fdd2", other}, // Teredo
		{"2001:2::1", other},
		{"2001:10::1", other},
		{"2001:20::1", other},
		{"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", other},
		{"2001:200::", public},
		{"2001:db8::1", other},
		{"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", other},
		{"2001:db9::", public},
		{"2002::1", other},
		{"2002:7f00:1::1", other},
		{"2002:a00:1::1", other},
		{"2003::1", public}, // 6to4
		{"2606:4700:4700::1111", public},
		{"2620:4f:8000::1", other},
		{"3ffe:ffff:ffff::1", public},
		{"3fff::1", other},
		{"3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", other},
		{"3fff:1000::", public},
		{"4000::1", other},
		{"5f00::1", other},
		{"fc00::1", private},
		{"fd00::1", private},
		{"fd00:ec2::254", private},
		{"fd20:ce::254", private},
		{"fe80::1", link},
		{"fe80::1%eth0", link},
		{"febf::1", link},
		{"fec0::1", other},
		{"feff::1", other}, // site-local
		{"ff00::1", multicast},
		{"ff02::1", multicast},
		{"ff0e::1", multicast},
		{"2606:4700:4700::1111%eth0", other},
	} {
		a := netip.MustParseAddr(c.address)
		network := "tcp4"
		if a.Is6() {
			network = "tcp6"
		}
		address := net.JoinHostPort(c.address, "443")
		reason, refused := outbound.Refused(outbound.CheckDial("x.example", network, address))
		want := "the address of x.example is " + c.kind // and not which: what our resolver says is ours
		if refused != (c.kind != public) || (refused && reason != want) {
			t.Errorf("%s: got refused %v because %q, want %q", c.address, refused, reason, want)
		}
		reason, refused = outbound.Refused(outbound.CheckDial(c.address, network, address))
		if want := c.address + " is " + c.kind; refused != (c.kind != public) || (refused && reason != want) {
			t.Errorf("%s: got refused %v because %q, want %q", c.address, refused, reason, want)
		}
		err := outbound.Check("https://"+strings.ReplaceAll(net.JoinHostPort(c.address, "443"), "%", "%25"), false)
		if (err == nil) != (c.kind == public) {
			t.Errorf("Check(%s): got %v, want %q", c.address, err, c.kind)
		}
	}
}

// Invalid input of checkDial is refused too.
func TestOddDials(t *testing.T) {
	for _, c := range []struct{ network, address string }{
		{"tcp4", "1.1.1.1:80"},
		{"tcp4", "1.1.1.1:22"},
		{"tcp4", "1.1.1.1:0"},
		{"udp4", "1.1.1.1:443"},
		{"unix", "/run/docker.sock"},
		{"tcp4", "1.1.1.1"},
		{"tcp", "x.example:443"},
		{"", ""},
	} {
		if reason, ok := outbound.Refused(outbound.CheckDial("x.example", c.network, c.address)); !ok || !strings.HasPrefix(reason, "x.example leads to") {
			t.Errorf("%v: got refused %v because %q", c, ok, reason)
		}
	}
	for _, port := range []string{"443", "8443"} {
		if err := outbound.CheckDial("x.example", "tcp4", "1.1.1.1:"+port); err != nil {
			t.Error(err)
		}
	}
}
