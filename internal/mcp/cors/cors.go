// Package cors protects an endpoint against calls from foreign web pages.
package cors

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pregon/internal/fault"
	"pregon/internal/server/private"
	"pregon/internal/text"
)

// Checker knows the names of the service and the origins of the pages that may
// call it.
//
// A page may make a name of its own resolve to this machine (DNS rebinding), and
// would then have the same origin as the service. So the Host of a request must
// be the name of the service, an IP address or a name without a dot, which no
// page can redirect; and the Origin must be allowed.
type Checker struct {
	name    string // of the base URL
	origins []string
	any     bool
}

// New returns a Checker for a service at baseURL and further origins; "*" allows any.
func New(baseURL string, origins []string) Checker {
	h := Checker{any: slices.Contains(origins, "*")}
	if u, err := url.Parse(baseURL); err == nil {
		h.name = u.Hostname()
		h.origins = append(h.origins, u.Scheme+"://"+u.Host)
	}
	for _, o := range origins {
		h.origins = append(h.origins, strings.ToLower(strings.TrimSuffix(o, "/")))
	}
	return h
}

// Check rejects a request for another host, or from a page that may not call. It
// sets the CORS header for a page that may.
func (h Checker) Check(w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	header.Del("Access-Control-Allow-Origin") // other endpoints allow any origin
	header["Vary"] = append(header["Vary"], "Origin")
	if name := private.Hostname(r.Host); !h.known(name) {
		return fault.New(fault.Forbidden,
			"%q is not a name of this service: use %s, or have its operator set --base-url.",
			text.Clip(name, 100), h.name)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if !h.allows(origin, r.Host) {
		return fault.New(fault.Forbidden,
			"Pages of %q may not call this endpoint: its operator can allow them with --mcp-origin.",
			text.Clip(origin, 100))
	}
	header.Set("Access-Control-Allow-Origin", origin)
	return nil
}

func (h Checker) known(name string) bool {
	return private.Local(name) || strings.EqualFold(name, h.name)
}

// allows reports whether a page may call: one of the service itself under any of
// its names, or of an allowed origin.
func (h Checker) allows(origin, host string) bool {
	if h.any || slices.Contains(h.origins, strings.ToLower(origin)) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}
