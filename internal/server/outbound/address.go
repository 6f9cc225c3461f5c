package outbound

import (
	"errors"
	"fmt"
	"net/netip"

	"code.dny.dev/ssrf"
)

// guardian denies IANA's special ranges, and of IPv6 everything but global
// unicast. That excludes NAT64, 6to4 and Teredo, which lead to an unchecked IPv4
// address.
var guardian = ssrf.New(
	ssrf.WithPorts(443, 8443),
	ssrf.WithDeniedV4Prefixes(
		netip.MustParsePrefix("168.63.129.16/32"), // looks public, but is the host of every Azure machine
	),
)

// checkDial returns an error if an address must not be dialled. host is the name
// that resolved to it.
func checkDial(host, network, address string) error {
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
		return "the unspecified address", false
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
