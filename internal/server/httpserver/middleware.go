package httpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/server/problem"
	"pregon/internal/text"
)

// observe gives the request its id, and returns how it ended.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := requestID(r)
		w.Header()[problem.RequestIDHeader] = []string{id}
		if s.isDraining() {
			w.Header().Set("Connection", "close") // the next request goes to another replica
		}
		remote := s.o.Remote(r)
		rec := &recorder{ResponseWriter: w, server: s}
		defer rec.Park()
		if err := rec.acquire(r, remote); err != nil {
			s.o.Refused()
			if r.ProtoMajor > 1 {
				panic(http.ErrAbortHandler) // an answer that is not read would be kept
			}
			w.Header().Set("Connection", "close")
			problem.Write(w, err)
			return
		}
		defer releaseHead(r)
		next.ServeHTTP(rec, r)
		end := time.Now()
		route := routeOf(r)
		s.o.Observe(Observation{
			Expected: route == "GET "+readyPath && rec.Status() == http.StatusServiceUnavailable,
			ID:       id, Route: route, Method: methodOf(r), Path: text.ClipBytes(secret.Mask(r.URL.Path), 200), Status: rec.Status(), Bytes: rec.bytes,
			Remote: remote.String(), Time: end, Duration: end.Sub(start),
		})
	})
}

// forget drops the head of a request over HTTP/2 that was dealt with. The server
// keeps the request until the client takes the rest of the answer, which one that
// means harm never does.
func releaseHead(r *http.Request) {
	if r.ProtoMajor == 2 {
		r.Header, r.URL, r.RequestURI, r.Host, r.Form = nil, &url.URL{}, "", "", nil
	}
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

// requestID takes the caller's id when it is a plain one and no credential, so
// that a request can be followed through a proxy, and makes one otherwise.
func requestID(r *http.Request) string {
	id := r.Header.Get(problem.RequestIDHeader)
	if id == "" || len(id) > 64 || secret.Mask(id) != id {
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
	server *Server
	active bool
	sender netip.Prefix // of a body that counts; else invalid
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
				s.errorWriter(r).Failed(w, r)
				return
			}
			panic(http.ErrAbortHandler) // half an answer must not look whole
		}()
		next.ServeHTTP(w, r)
	})
}

// Headers that are the same on every answer. They are set by their proper keys
// and shared, so that they cost nothing.
var (
	nosniff  = []string{"nosniff"}
	https    = []string{"max-age=31536000"} // a year; subdomains are not ours to speak for
	encoding = []string{"Accept-Encoding"}
	anyone   = []string{"*"}
	exposed  = []string{"ETag, X-Request-Id, Pregon-Source, WWW-Authenticate, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset"}
)

// mark puts on every answer what holds for all of them: where the reports come
// from, and that any page may read it. The latter whoever asks, because shared
// caches keep answers for everybody.
func (s *Server) commonHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if source := s.o.Source(); source != "" {
			h["Pregon-Source"] = []string{source}
		}
		h["X-Content-Type-Options"] = nosniff
		if s.o.HTTPS {
			h["Strict-Transport-Security"] = https
		}
		h["Access-Control-Allow-Origin"] = anyone
		if r.Header["Origin"] != nil {
			h["Access-Control-Expose-Headers"] = exposed
		}
		next.ServeHTTP(w, r)
	})
}

// whenAsked leaves out the compressor for who does not want it, and for streams.
func (s *Server) compress(compressed, plain http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead && !slices.Contains(s.o.Streams, r.URL.Path) && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			compressed.ServeHTTP(w, r)
		} else {
			w.Header()["Vary"] = encoding // which the compressor says by itself
			plain.ServeHTTP(w, r)
		}
	})
}

// limitBody refuses a body that says it is too large, and cuts off one that
// turns out to be.
func (s *Server) limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > maxBodyBytes {
			w.Header().Set("Connection", "close")
			s.errorWriter(r).TooLarge(w, r)
			return
		}
		if r.Body != http.NoBody {
			r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
		}
		next.ServeHTTP(w, r)
	})
}

// inProblems tells in problem documents.
var problemErrors = ErrorWriter{
	TooLarge: func(w http.ResponseWriter, _ *http.Request) {
		problem.WriteStatus(w, http.StatusRequestEntityTooLarge, "body-too-large", "The body may have 1 MiB at most.")
	},
	Failed: func(w http.ResponseWriter, _ *http.Request) { problem.Write(w, fault.New(fault.Internal, "panic")) },
}

// teller is who returns what goes wrong with a request outside of its surface.
func (s *Server) errorWriter(r *http.Request) ErrorWriter {
	if t, ok := s.o.ErrorWriters[r.URL.Path]; ok {
		return t
	}
	return problemErrors
}
