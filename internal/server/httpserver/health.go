package httpserver

import (
	"net/http"

	"pregon/internal/fault"
	"pregon/internal/server/problem"
)

// health reports that the process runs.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) { status(w, "ok") }

// ready reports whether the service can answer. Load balancers poll it.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.isDraining() {
		problem.Write(w, fault.New(fault.Unavailable, "Shutting down."))
		return
	}
	if err := s.o.Ready(); err != nil {
		problem.Write(w, err)
		return
	}
	status(w, "ready")
}

// isDraining reports whether shutdown has begun.
func (s *Server) isDraining() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

func status(w http.ResponseWriter, s string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(`{"status":"` + s + `"}`))
}
