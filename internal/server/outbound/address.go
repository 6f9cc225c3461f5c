package outbound

import (
	"errors"
	"fmt"
	"net/netip"

	"code.dny.dev/ssrf"
)

// guardian refuses IANA's special ranges, and of IPv6 all that is not global
// unicast: with it go NAT64, 6to4 and Teredo, which lead to an IPv4 address
// that nobody would have checked.
var guardian = ssrf.New(
	ssrf.WithPorts(443, 8443),
	ssrf.WithDeniedV4Prefixes(
		netip.MustParsePrefix("168.63.129.16/32"), // looks public, but is the host beneath every Azure machine
	),
)

// judge decides on a dial: host is what was asked for, address what it led to.
func judge(host, network, address string) error {
	err := guardian.Safe(network, address, nil)
	if err == nil {
		return nil
	}
	target, parseErr := netip.ParseAddrPort(address)
	if parseErr != nil || !errors.Is(err, ssrf.ErrProhibitedIP) {
		return &refusal{host + " leads to an address or port that is not allowed"}
	}
	kind, _ := kindOf(target.Addr())
	if _, err := netip.ParseAddr(host); err == nil {
		return &refusal{fmt.Sprintf("%s is %s", host, kind)}
	}
	return &refusal{"the address of " + host + " is " + kind}
}

// kindOf reports whether an address is public, and what it is if it is not.
func kindOf(a netip.Addr) (kind string, public bool) {
	switch {
	case guardian.SafeAddr(a) == nil:
		return "a public address", true
	case a.IsUnspecified():
		return "no address of any machine", false
	case a.IsLoopback():
		return "a loopback address", false
	case a.IsPrivate():
		return "a private address", false
	case a.IsLinkLocalUnicast():
		return "a link-local address", false
	case a.IsMulticast():
		return "a multicast address", false
	}
	return "not a public address", false
}
