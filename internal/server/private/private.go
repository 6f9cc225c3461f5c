// Package private guards listeners that are for operators alone: metrics,
// profiles, the controls of the simulator. They ask for no credential, so that
// a page in an operator's browser could use them; it is refused here.
package private

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Guard refuses what no operator sends.
type Guard struct {
	// Names are the hosts by which the listener may be called, beside addresses
	// and names without a dot.
	Names []string
}

// Handler serves next to whom Check takes.
func (g Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.Check(r); err != nil {
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Check returns why a request is refused, or nil. A page of another site is
// refused whatever it asks for: a profile is expensive though it only reads. So
// is a name that a page can make point here (DNS rebinding).
func (g Guard) Check(r *http.Request) error {
	if name := Hostname(r.Host); !Local(name) && !slices.ContainsFunc(g.Names, func(n string) bool { return strings.EqualFold(n, name) }) {
		return fmt.Errorf("this listener is not known as %.100q: call it by its address, or by a name that its operator configured", name)
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
	default:
		return fmt.Errorf("pages of other origins may not call this listener (Sec-Fetch-Site: %.20q)", site)
	}
	if origin := r.Header.Get("Origin"); origin != "" && !strings.EqualFold(strings.TrimPrefix(strings.TrimPrefix(origin, "http://"), "https://"), r.Host) {
		return fmt.Errorf("pages of %.100q may not call this listener", origin)
	}
	return nil
}

// Local reports whether a host is an address, or a name that no page can make
// point elsewhere: localhost and those of the local network, without a dot.
func Local(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return !strings.Contains(name, ".") || strings.HasSuffix(strings.ToLower(name), ".localhost")
}

// Hostname is the host of a Host header, without port and brackets.
func Hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}
