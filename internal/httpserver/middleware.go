package httpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"pregon/internal/fault"
	"pregon/internal/problem"
)

// observe gives the request its id, and tells the log and the metrics how it
// ended: one event a request. The query is left out of the log on purpose: it
// says what somebody is looking for.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := requestID(r)
		w.Header().Set(problem.RequestIDHeader, id)
		rec := &recorder{ResponseWriter: w}
		next.ServeHTTP(rec, r)

		took := time.Since(start)
		s.o.Observe(Observation{Route: routeOf(r), Method: methodOf(r), Status: rec.Status(), Duration: took})
		level := slog.LevelInfo
		if rec.Status() >= 500 {
			level = slog.LevelError
		}
		if !s.o.Logger.Enabled(r.Context(), level) {
			return
		}
		s.o.Logger.LogAttrs(r.Context(), level, "request",
			slog.String("id", id), slog.String("method", methodOf(r)), slog.String("route", routeOf(r)),
			slog.String("path", clip(r.URL.Path)), slog.Int("status", rec.Status()), slog.Int64("bytes", rec.bytes),
			slog.Duration("took", took), slog.String("remote", remoteOf(r)))
	})
}

// routeOf names the pattern that took the request; the mux has noted it there.
func routeOf(r *http.Request) string {
	if r.Pattern == "" || r.Pattern == "/" {
		return "none"
	}
	return r.Pattern
}

// methodOf keeps made-up methods out of the log and the metrics.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

func remoteOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func clip(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// requestID takes the caller's id when it is a plain one, so that a request
// can be followed through a proxy, and makes one otherwise.
func requestID(r *http.Request) string {
	id := r.Header.Get(problem.RequestIDHeader)
	if id == "" || len(id) > 64 {
		return rand.Text()
	}
	for i := range len(id) {
		c := id[i]
		plain := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.'
		if !plain {
			return rand.Text()
		}
	}
	return id
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Status returns what was answered, which is 200 unless somebody said else.
func (r *recorder) Status() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// recoverPanics keeps a bug in one request from ending the others. The stack
// goes to the log, and nothing of it to the client.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(cause)
			}
			s.o.Logger.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelError, "panic in a request",
				slog.String("id", w.Header().Get(problem.RequestIDHeader)), slog.Any("cause", cause), slog.String("stack", string(debug.Stack())))
			if rec, ok := w.(*recorder); ok && rec.status == 0 {
				problem.Write(w, fault.New(fault.Internal, "panic"))
				return
			}
			panic(http.ErrAbortHandler) // half an answer must not look whole
		}()
		next.ServeHTTP(w, r)
	})
}

// mark puts on every answer what holds for all of them: where the filings come
// from, and that any page may read it.
func (s *Server) mark(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if s.o.Source != "" {
			h.Set("Pregon-Source", s.o.Source)
		}
		h.Set("X-Content-Type-Options", "nosniff")
		if r.Header.Get("Origin") != "" {
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Access-Control-Expose-Headers", "ETag, X-Request-Id, Pregon-Source, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset")
		}
		next.ServeHTTP(w, r)
	})
}

// limitBody refuses a body that says it is too large, and cuts off one that
// turns out to be.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > maxBodyBytes {
			w.Header().Set("Connection", "close")
			problem.WriteStatus(w, http.StatusRequestEntityTooLarge, "body-too-large", "The body may have 1 MiB at most.")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
		next.ServeHTTP(w, r)
	})
}
