package access

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of trusted reverse proxies.
type Proxies []netip.Prefix

// Client returns the address of the client. Every proxy appends the address of its
// peer to X-Forwarded-For. So the header is read from its end as long as the
// addresses are trusted proxies; anything before may be forged.
func (p Proxies) Client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // such callers count as one
	}
	client := normalize(peer.Addr())
	if len(p) == 0 {
		return client
	}
	rest := strings.Join(r.Header["X-Forwarded-For"], ",")
	for rest != "" && p.Contains(client) {
		comma := strings.LastIndexByte(rest, ',')
		hop, err := parseHop(strings.TrimSpace(rest[comma+1:]))
		if err != nil {
			break
		}
		client, rest = hop, rest[:max(comma, 0)]
	}
	return client
}

// Contains reports whether an address is that of a proxy.
func (p Proxies) Contains(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(a) })
}

// parseHop parses an address, with a port or without.
func parseHop(s string) (netip.Addr, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		return normalize(a), nil
	}
	a, err := netip.ParseAddrPort(s)
	return normalize(a.Addr()), err
}

// normalize returns the same value for all forms of an address.
func normalize(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
