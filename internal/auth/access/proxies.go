package access

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks whose word is taken on where a request comes from.
type Proxies []netip.Prefix

// Client returns the address of whoever made a request. Every proxy adds the
// address it was called from at the end of X-Forwarded-For, so that the header
// is read from its end, for as long as those named are proxies of ours: what
// stands before the first that is not, anybody may have written.
func (p Proxies) Client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // of no network: all such callers are one
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

// Trust reports whether an address is that of a proxy.
func (p Proxies) Contains(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(a) })
}

// parseHop reads an address, with which some proxies write a port.
func parseHop(s string) (netip.Addr, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		return normalize(a), nil
	}
	a, err := netip.ParseAddrPort(s)
	return normalize(a.Addr()), err
}

// plain is one form for one address.
func normalize(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
