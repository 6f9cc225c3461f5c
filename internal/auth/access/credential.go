package access

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"pregon/internal/fault"
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

// credential is the credential of a request.
type credential struct {
	text  string
	isKey bool
}

// credentialOf returns the credential in the headers. It refuses credentials in the
// query, and more than one.
func credentialOf(r *http.Request) (credential, error) {
	if err := RefuseInQuery(r.URL.RawQuery); err != nil {
		return credential{}, err
	}
	bearer, key := r.Header["Authorization"], r.Header["X-Api-Key"]
	if len(bearer) == 0 && len(key) == 0 {
		return credential{}, nil
	}
	if len(bearer) > 1 || len(key) > 1 {
		return credential{}, fault.New(fault.Invalid,
			"A request may carry one credential: send Authorization, or X-API-Key, once.")
	}
	if len(bearer) == 0 {
		return credential{strings.TrimSpace(key[0]), true}, nil
	}
	scheme, text, _ := strings.Cut(strings.TrimSpace(bearer[0]), " ")
	text = strings.TrimLeft(text, " ")
	if len(key) == 1 && (strings.TrimSpace(key[0]) != text) {
		return credential{}, fault.New(fault.Invalid,
			"Authorization and X-API-Key carry different credentials: send one of them.")
	}
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return credential{}, errors.New("the Authorization header must be Bearer and a key or token")
	}
	return credential{text, strings.HasPrefix(text, keyPrefix) || len(key) == 1}, nil
}

// RefuseInQuery returns an error for credentials in a query, which logs and browser
// histories would keep.
func RefuseInQuery(query string) error {
	if query == "" {
		return nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, value = unescape(name), unescape(value)
		if !credentialNames[strings.ToLower(name)] && !strings.Contains(name+value, keyPrefix) {
			continue
		}
		if strings.Contains(name, keyPrefix) {
			name = "query"
		}
		refused := fault.New(fault.Invalid, "Credentials do not belong in the address: send the key or token in the "+
			"Authorization or X-API-Key header, and treat this one as leaked.")
		refused.Fields = []fault.Field{fault.NewField(name, "", "is not accepted in the query")}
		return refused
	}
	return nil
}

// credentialNames are the usual parameter names of credentials.
var credentialNames = map[string]bool{
	"api_key": true, "apikey": true, "api-key": true, "x-api-key": true, "access_token": true, "refresh_token": true, "token": true,
	"authorization": true, "bearer": true, "client_secret": true, "client_assertion": true, "subject_token": true, "assertion": true,
}

func unescape(s string) string {
	if d, err := url.QueryUnescape(s); err == nil {
		return d
	}
	return s
}
