package mcp

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pregon/internal/fault"
	"pregon/internal/server/private"
	"pregon/internal/text"
)

// hosts returns which names the service goes by, and whose pages may call it.
//
// A page that a person opens may make a name of its own point to this machine
// (DNS rebinding), and would then be of the same origin as the service. So a
// request must name the service as it is known, or by an address or a name
// without a dot, which no page can make point here; and a browser says which
// page it asks for.
type hosts struct {
	name    string // of the base URL
	origins []string
	any     bool
}

func newHosts(baseURL string, origins []string) hosts {
	h := hosts{any: slices.Contains(origins, "*")}
	if u, err := url.Parse(baseURL); err == nil {
		h.name = u.Hostname()
		h.origins = append(h.origins, u.Scheme+"://"+u.Host)
	}
	for _, o := range origins {
		h.origins = append(h.origins, strings.ToLower(strings.TrimSuffix(o, "/")))
	}
	return h
}

// check refuses a request for another host, or of a page that may not call.
// Who may is told so, for the browser's sake.
func (h hosts) check(w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	header.Del("Access-Control-Allow-Origin") // which is everybody elsewhere
	header["Vary"] = append(header["Vary"], "Origin")
	if name := private.Hostname(r.Host); !h.known(name) {
		return fault.New(fault.Forbidden, "This service is not known as %q: use %s, or have its operator set --base-url.", text.Clip(name, 100), h.name)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if !h.allows(origin, r.Host) {
		return fault.New(fault.Forbidden, "Pages of %q may not call this endpoint: its operator can let them with --mcp-origin.", text.Clip(origin, 100))
	}
	header.Set("Access-Control-Allow-Origin", origin)
	return nil
}

func (h hosts) known(name string) bool {
	return private.Local(name) || strings.EqualFold(name, h.name)
}

// allows reports whether a page may call: one of the service itself, under
// whichever of its names, or of an origin that was named.
func (h hosts) allows(origin, host string) bool {
	if h.any || slices.Contains(h.origins, strings.ToLower(origin)) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}
