package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"pregon/internal/fault"
	"pregon/internal/server/content"
	"pregon/internal/server/problem"
	"pregon/internal/text"
	"pregon/internal/text/mask"
)

// observe assigns the request id, and passes the result to Options.Observer.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := requestID(r)
		w.Header()[problem.RequestIDHeader] = []string{id}
		if s.isDraining() {
			w.Header().Set("Connection", "close") // the next request goes to another replica
		}
		remote := s.o.Clients.Remote(r)
		rec := &recorder{ResponseWriter: w, server: s, conn: connOf(r), verified: !s.mustVerify(r)}
		defer rec.Park()
		if err := rec.acquire(r, remote); err != nil {
			s.refuseConnection(w, r, err)
			return
		}
		defer releaseHead(r)
		next.ServeHTTP(rec, r)
		s.report(r, rec, id, remote, start)
	})
}

// refuseConnection answers a request beyond the limit, and ends its connection.
func (s *Server) refuseConnection(w http.ResponseWriter, r *http.Request, err error) {
	s.o.Limits.Refused()
	if r.ProtoMajor > 1 {
		panic(http.ErrAbortHandler) // the server would keep an unread response
	}
	w.Header().Set("Connection", "close")
	s.writeError(w, r, problem.Of(err))
}

// report passes a finished request to the observer. As refuseConnection, it is not a part
// of the handler, whose stack an open stream keeps.
func (s *Server) report(r *http.Request, rec *recorder, id string, remote netip.Addr, start time.Time) {
	end := time.Now()
	route := routeOf(r)
	observed := Observation{
		Expected: route == "GET "+readyPath && rec.Status() == http.StatusServiceUnavailable,
		ID:       id,
		Route:    route,
		Method:   methodOf(r),
		Path:     text.ClipBytes(mask.Credentials(r.URL.Path), 200),
		Status:   rec.Status(),
		Bytes:    rec.bytes,
		Client:   remote,
		Time:     end,
		Duration: end.Sub(start),
	}
	s.o.Observer.Request(observed)
	if s.o.Observer.Trace != nil {
		s.o.Observer.Trace(observed, r.Header.Get("Traceparent"))
	}
}

// releaseHead drops the header of a finished HTTP/2 request. The server keeps the
// request until the client has read the response, which an attacker never does.
func releaseHead(r *http.Request) {
	if r.ProtoMajor == 2 {
		r.Header = nil
		r.URL = &url.URL{}
		r.RequestURI = ""
		r.Host = ""
		r.Form = nil
	}
}

// routeOf returns the pattern of the route.
func routeOf(r *http.Request) string {
	if r.Pattern == "" || r.Pattern == "/" {
		return "none"
	}
	return r.Pattern
}

// methodOf keeps invented methods out of the log and the metrics.
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
	if id == "" || len(id) > 64 || mask.Credentials(id) != id {
		return newRequestID()
	}
	for i := range len(id) {
		c := id[i]
		plain := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' ||
			c == '.'
		if !plain {
			return newRequestID()
		}
	}
	return id
}

// newRequestID returns 26 random letters and digits. They need not be secret, and
// math/rand takes a tenth of the time of crypto/rand.
func newRequestID() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	var id [26]byte
	for i := 0; i < len(id); {
		for bits, n := rand.Uint64(), 0; n < 12 && i < len(id); n, i, bits = n+1, i+1, bits>>5 {
			id[i] = letters[bits&31]
		}
	}
	return string(id[:])
}

// recorder records the status and size of a response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	server *Server
	conn   *boundConn // of an HTTP/1 request, or nil

	verified bool // the data that was read, or that is not necessary: see Data.Verify
	refuted  bool // Data.Verify has panicked

	active bool
	client netip.Addr // for which it is counted, or invalid
	sender netip.Addr // for which its body is counted, or invalid
}

// Status returns the status of the response, by default 200.
func (r *recorder) Status() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.verify()
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.verify()
		r.status = http.StatusOK
	}
	whole := r.isWhole(b)
	n, err := r.send(b, whole)
	r.bytes += int64(n)
	return n, err
}

// verify calls Data.Verify once, before anything is sent. If that panics, so does every
// attempt to send something, such as that of a compressor that is closed by the panic.
func (r *recorder) verify() {
	switch {
	case r.verified:
	case r.refuted:
		panic(http.ErrAbortHandler)
	default:
		r.refuted = true
		r.server.o.Data.Verify()
		r.refuted = false
		r.verified = true
	}
}

// mustVerify reports whether the data of an answer is verified: it is for every answer to a
// request that changes nothing, and so can be repeated.
func (s *Server) mustVerify(r *http.Request) bool {
	_, own := s.o.Errors.Writers[r.URL.Path]
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead || own
	return s.o.Data.Verify != nil && reads && r.URL.Path != healthPath
}

// isWhole reports whether b is a whole body which should be sent in one write.
func (r *recorder) isWhole(b []byte) bool {
	if r.conn == nil || r.bytes > 0 || len(b) < minHeld || len(b) > maxHeld {
		return false
	}
	length := r.Header()["Content-Length"]
	if len(length) != 1 {
		return false
	}
	n, err := strconv.Atoi(length[0])
	return err == nil && n == len(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// recoverPanics keeps a panic in one request from ending the process. The stack is
// logged and not sent to the client.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		debug.SetPanicOnFault(true) // see Data.Broken
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			rec, ok := w.(*recorder)
			refuted := ok && rec.refuted // a compressor that is closed then panics in its own way
			if ok {
				rec.verified = true // an error has nothing from the data
			}
			if refuted || s.o.Data.Broken != nil && s.o.Data.Broken(cause) {
				if ok && rec.status == 0 {
					problem.Of(errReading).Write(w)
					return
				}
				panic(http.ErrAbortHandler)
			}
			if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(cause)
			}
			s.o.Logger.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelError, "panic in a request",
				slog.String("request_id", w.Header().Get(problem.RequestIDHeader)), slog.Any("cause", cause),
				slog.String("stack", string(debug.Stack())))
			if ok && rec.status == 0 {
				s.errorWriter(r).Failed(w, r)
				return
			}
			panic(http.ErrAbortHandler) // an incomplete response must not look complete
		}()
		next.ServeHTTP(w, r)
	})
}

var errReading = fault.New(fault.Unavailable, "The catalogue is still loading. Try again in a few seconds.")

// Constant headers. They are set with canonical keys and shared values, to avoid
// allocations.
var (
	nosniff  = []string{"nosniff"}
	https    = []string{"max-age=31536000"} // a year; subdomains may not be ours
	encoding = []string{"Accept-Encoding"}
	anyone   = []string{"*"}
	exposed  = []string{"ETag, Link, X-Request-Id, Pregon-Source, Pregon-Age, Pregon-Total, Pregon-Seq, " +
		"Pregon-Ignored, Pregon-Warning, Pregon-Widened, WWW-Authenticate, Retry-After, RateLimit, RateLimit-Policy, " +
		"Deprecation, Sunset"}
)

// maxFresh is the age from which responses say how old they are. A service whose
// store answers is never older than two seconds.
const maxFresh = 5 * time.Second

// commonHeaders sets the headers of every response: the source of the reports, the
// age of data that cannot be brought up to date, and access from any origin. An answer to
// a shared cache does not depend on the origin of the request, since it is for all clients.
func (s *Server) commonHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if source := s.o.Data.Source(); source != "" {
			h["Pregon-Source"] = []string{source}
		}
		if age := s.o.Data.Age(); age >= maxFresh {
			h["Pregon-Age"] = []string{strconv.FormatInt(int64(age/time.Second), 10)}
		}
		h["X-Content-Type-Options"] = nosniff
		if s.o.Clients.HTTPS {
			h["Strict-Transport-Security"] = https
		}
		h["Access-Control-Allow-Origin"] = anyone
		if r.Header["Origin"] != nil || content.ThroughCache(r) {
			h["Access-Control-Expose-Headers"] = exposed
		}
		next.ServeHTTP(w, r)
	})
}

// compress selects the handler with compression, except for streams and for clients
// that do not support it.
func (s *Server) compress(compressed, plain http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead && !s.o.IsStream(r) &&
			strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			compressed.ServeHTTP(w, r)
		} else {
			w.Header()["Vary"] = encoding // the other handler sets it itself
			plain.ServeHTTP(w, r)
		}
	})
}

// limitBody refuses a body that is declared too large, and truncates others.
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

// errorWriter returns the error format of the surface of a request.
func (s *Server) errorWriter(r *http.Request) ErrorWriter {
	if own, ok := s.o.Errors.Writers[r.URL.Path]; ok {
		return own
	}
	return ErrorWriter{
		TooLarge: func(w http.ResponseWriter, r *http.Request) {
			s.writeError(w, r, problem.OfStatus(http.StatusRequestEntityTooLarge, "body-too-large",
				"The body may have 1 MiB at most."))
		},
		Failed: func(w http.ResponseWriter, r *http.Request) {
			s.writeError(w, r, problem.Of(fault.New(fault.Internal, "panic")))
		},
	}
}

// writeError writes an error of the server itself, as a page if the request is for
// one.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, d problem.Document) {
	if _, own := s.o.Errors.Writers[r.URL.Path]; s.o.Errors.Page != nil && !own {
		d.SetHeader(w.Header())
		d.Instance = w.Header().Get(problem.RequestIDHeader)
		if s.o.Errors.Page(w, r, d) {
			return
		}
	}
	d.Write(w)
}
