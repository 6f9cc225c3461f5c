package httpserver

import (
	"net/http"
	"path"
	"strings"

	"pregon/internal/fault"
	"pregon/internal/server/problem"
)

// fallback answers requests without a route: unknown paths, unsupported methods and
// preflight requests (OPTIONS).
func (s *Server) fallback(w http.ResponseWriter, r *http.Request) {
	allowed := s.methods(r)
	if r.Method != http.MethodOptions || len(allowed) == 0 { // a preflight is not counted: its request is
		if err := s.o.Admit(w, r); err != nil {
			s.writeError(w, r, problem.Of(err))
			return
		}
	}
	switch {
	case len(allowed) == 0:
		s.writeError(w, r, problem.Of(s.o.Errors.NoRoute))
	case r.Method == http.MethodOptions:
		preflight(w, r, allowed)
	default:
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.writeError(w, r, problem.OfStatus(http.StatusMethodNotAllowed, "method-not-allowed",
			"This path does not take %s: use %s.", r.Method, strings.Join(allowed, ", ")))
	}
}

// cleanPaths answers 404 for a path that is not clean (//, /../). The mux would
// redirect it without admission, and repeat the query.
func (s *Server) cleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := r.URL.Path
		if clean := path.Clean(p); p == clean || p == clean+"/" || p == "*" || r.Method == http.MethodConnect {
			next.ServeHTTP(w, r)
			return
		}
		s.refusePath(w, r)
	})
}

// refusePath answers a request whose path is not clean. It is not a part of the handler,
// whose stack an open stream keeps.
func (s *Server) refusePath(w http.ResponseWriter, r *http.Request) {
	plain := r.Clone(r.Context())
	plain.URL.Path = path.Clean("/" + r.URL.Path)
	if err := s.o.Admit(w, plain); err != nil {
		s.writeError(w, r, problem.Of(err))
		return
	}
	s.writeError(w, r, problem.Of(s.o.Errors.NoRoute))
}

var defaultNoRoute = fault.New(fault.NotFound, "There is nothing at this path. The paths are listed in /openapi.json.")

// methods returns the methods that the mux has for the path.
func (s *Server) methods(r *http.Request) []string {
	probe := r.Clone(r.Context())
	var allowed []string
	for _, m := range []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete,
	} {
		probe.Method = m
		if _, pattern := s.o.Mux.Handler(probe); pattern != "/" {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) > 0 {
		allowed = append(allowed, http.MethodOptions)
	}
	return allowed
}

// preflight answers which requests a page of another origin may send.
func preflight(w http.ResponseWriter, r *http.Request, allowed []string) {
	h := w.Header()
	h.Set("Allow", strings.Join(allowed, ", "))
	if r.Header.Get("Origin") != "" {
		h.Set("Access-Control-Allow-Methods", strings.Join(allowed, ", "))
		h.Set("Access-Control-Allow-Headers",
			"Authorization, X-API-Key, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id")
		h.Set("Access-Control-Max-Age", "86400")
	}
	w.WriteHeader(http.StatusNoContent)
}
