package httpserver

import (
	"net/http"
	"path"
	"strings"

	"pregon/internal/fault"
	"pregon/internal/server/problem"
)

// fallback answers what no route takes: a path that is not there, a method
// that the path does not have, and the questions of browsers (OPTIONS).
type fallback struct {
	mux   *http.ServeMux
	admit func(http.ResponseWriter, *http.Request) error
}

func (f fallback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowed := f.methods(r)
	if r.Method != http.MethodOptions || len(allowed) == 0 { // a browser asks before each request: the request counts
		if err := f.admit(w, r); err != nil {
			problem.Write(w, err)
			return
		}
	}
	switch {
	case len(allowed) == 0:
		problem.Write(w, errNoRoute)
	case r.Method == http.MethodOptions:
		preflight(w, r, allowed)
	default:
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		problem.WriteStatus(w, http.StatusMethodNotAllowed, "method-not-allowed",
			"This path does not take "+r.Method+": use "+strings.Join(allowed, ", ")+".")
	}
}

// plainPaths answers a path that is not written plainly (//, /../) as one that
// is not there. The mux would redirect it, past whoever admits, and repeat the
// query in its answer.
func (s *Server) cleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := r.URL.Path
		if clean := path.Clean(p); p == clean || p == clean+"/" || p == "*" || r.Method == http.MethodConnect {
			next.ServeHTTP(w, r)
			return
		}
		plain := r.Clone(r.Context())
		plain.URL.Path = path.Clean("/" + p)
		if err := s.o.Admit(w, plain); err != nil {
			problem.Write(w, err)
			return
		}
		problem.Write(w, errNoRoute)
	})
}

var errNoRoute = fault.New(fault.NotFound, "There is nothing at this path. The paths are listed in /openapi.json.")

// methods asks the mux which methods it has for the path.
func (f fallback) methods(r *http.Request) []string {
	probe := r.Clone(r.Context())
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe.Method = m
		if _, pattern := f.mux.Handler(probe); pattern != "/" {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) > 0 {
		allowed = append(allowed, http.MethodOptions)
	}
	return allowed
}

// preflight tells a browser what a page of another origin may send.
func preflight(w http.ResponseWriter, r *http.Request, allowed []string) {
	h := w.Header()
	h.Set("Allow", strings.Join(allowed, ", "))
	if r.Header.Get("Origin") != "" {
		h.Set("Access-Control-Allow-Methods", strings.Join(allowed, ", "))
		h.Set("Access-Control-Allow-Headers", "Authorization, X-API-Key, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id")
		h.Set("Access-Control-Max-Age", "86400")
	}
	w.WriteHeader(http.StatusNoContent)
}
