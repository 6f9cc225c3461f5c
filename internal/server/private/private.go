// Package private protects listeners for operators: metrics, profiles and the
// controls of the simulator. They require no credential, so a web page in an
// operator's browser could call them. This package refuses such requests.
package private

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Serve serves HTTP on a listener until the context ends.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Guard refuses requests of web pages.
type Guard struct {
	// Names are the host names of the listener, in addition to IP addresses and
	// names without a dot.
	Names []string
}

// Handler returns a handler that passes requests to next if Check accepts them.
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

// Check returns an error if a request must be refused. Pages of other sites are
// refused even if they only read, since a profile is expensive. So are host names
// that a page could make resolve to this machine (DNS rebinding).
func (g Guard) Check(r *http.Request) error {
	if name := Hostname(r.Host); !Local(name) &&
		!slices.ContainsFunc(g.Names, func(n string) bool { return strings.EqualFold(n, name) }) {
		return fmt.Errorf("this listener does not have the name %.100q: call it by its address, or by a name "+
			"that its operator configured", name)
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
	default:
		return fmt.Errorf("pages of other origins may not call this listener (Sec-Fetch-Site: %.20q)", site)
	}
	if origin := r.Header.Get("Origin"); origin != "" &&
		!strings.EqualFold(strings.TrimPrefix(strings.TrimPrefix(origin, "http://"), "https://"), r.Host) {
		return fmt.Errorf("pages of %.100q may not call this listener", origin)
	}
	return nil
}

// Local reports whether a host is an IP address or a name that no page can make
// resolve elsewhere: localhost and names without a dot.
func Local(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return !strings.Contains(name, ".") || strings.HasSuffix(strings.ToLower(name), ".localhost")
}

// Hostname returns the host of a Host header, without port and brackets.
func Hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}
