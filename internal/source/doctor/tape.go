package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"

	"pregon/internal/source/regulator"
)

// The sites of answers.
const (
	Regulator = "regulator"
	Exchange  = "exchange"
)

// Answer is an answer to one request.
type Answer struct {
	Site    string      `json:"site"`
	Request string      `json:"request"` // path and query
	Status  int         `json:"status,omitempty"`
	Header  http.Header `json:"header,omitempty"` // those in kept
	At      time.Time   `json:"received_at"`
	Seconds float64     `json:"duration_seconds"`
	Bytes   int         `json:"bytes"`
	Broken  string      `json:"broken,omitempty"` // why it did not come or did not end: one of causes
	File    string      `json:"file,omitempty"`   // in a bundle: its body

	body []byte
}

// kept are the headers that are kept. Cookies are not among them.
var kept = []string{
	"Content-Type", "Content-Length", "Content-Language", "Date", "Server", "Location", "Cache-Control", "Etag", "Last-Modified",
	"Expires", "Age", "Vary", "Retry-After", "Strict-Transport-Security", "Pregon-Source",
}

// causes are the reasons why an answer is broken, with the error that replaces them
// when the tape is played.
var causes = []struct {
	name string
	err  error
}{
	{"slow", regulator.ErrSlow},
	{"stalled", regulator.ErrStalled},
	{"refused", syscall.ECONNREFUSED},
	{"reset", syscall.ECONNRESET},
	{"ended", io.ErrUnexpectedEOF},
	{"name", &net.DNSError{Err: "no such host"}},
	{"certificate", &tls.CertificateVerificationError{Err: errors.New("not valid")}},
	{"other", errors.New("the answer did not come")},
}

// cause returns the name of an error of a request.
func cause(ctx context.Context, err error) string {
	if why := context.Cause(ctx); why != nil {
		err = why
	}
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		waited      net.Error
	)
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	switch {
	case errors.As(err, &name):
		return "name"
	case errors.As(err, &certificate):
		return "certificate"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &waited) && waited.Timeout():
		return "slow"
	case errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, io.EOF):
		return "ended"
	}
	return "other"
}

// maxTape bounds the bytes of all answers that are kept.
const maxTape = 256 << 20

// Tape records the answers of the sites, or plays those of a bundle. Requests are
// made one at a time.
type Tape struct {
	base   http.RoundTripper    // nil to play
	played map[string][]*Answer // of the bundle, by site and request

	mu       sync.Mutex
	answers  []*Answer      // guarded by mu
	size     int            // guarded by mu
	sessions map[string]int // guarded by mu: numbers of the tokens of sessions
}

// Record returns a tape of what the sites answer.
func Record(base http.RoundTripper) *Tape { return &Tape{base: base} }

// For returns the transport of a site.
func (t *Tape) For(site string) http.RoundTripper { return track{t, site} }

func (t *Tape) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.answers)
}

// since returns the answers from the n-th on.
func (t *Tape) since(n int) []*Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.answers[n:])
}

// last returns the last answer. There must be one.
func (t *Tape) last() *Answer { return t.since(t.len() - 1)[0] }

func (t *Tape) add(a *Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers = append(t.answers, a)
}

// keep appends to the body of an answer as far as there is room.
func (t *Tape) keep(a *Answer, piece []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.Bytes += len(piece)
	piece = piece[:min(len(piece), maxTape-t.size)]
	a.body = append(a.body, piece...)
	t.size += len(piece)
}

type track struct {
	*Tape
	site string
}

// RoundTrip implements http.RoundTripper.
func (t track) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.base == nil {
		return t.play(req)
	}
	a := &Answer{Site: t.site, Request: string(t.withoutSessions([]byte(req.URL.RequestURI())))}
	t.add(a)
	begun := time.Now()
	ended := func(err error) {
		a.At = time.Now().UTC()
		a.Seconds = a.At.Sub(begun).Seconds()
		if err != nil && err != io.EOF {
			a.Broken = cause(req.Context(), err)
		}
	}
	res, err := t.base.RoundTrip(req)
	if ended(err); err != nil {
		return nil, err
	}
	a.Status, a.Header = res.StatusCode, http.Header{}
	for _, name := range kept {
		if values := res.Header.Values(name); len(values) > 0 {
			a.Header[name] = values
		}
	}
	if location := a.Header.Get("Location"); location != "" {
		if to, err := url.Parse(location); err == nil && to.User != nil {
			to.User = nil
			location = to.String()
		}
		a.Header.Set("Location", string(t.withoutSessions([]byte(location))))
	}
	res.Body = &recorded{ReadCloser: res.Body, keep: func(b []byte) { t.keep(a, b) }, ended: ended}
	return res, nil
}

// recorded is a body that is copied while it is read.
type recorded struct {
	io.ReadCloser
	keep  func([]byte)
	ended func(error)
}

func (r *recorded) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.keep(p[:n])
	if err != nil {
		r.ended(err)
	}
	return n, err
}

var errNotSaved = errors.New("the bundle does not have it")

// play answers a request from the bundle.
func (t track) play(req *http.Request) (*http.Response, error) {
	key := t.site + " " + req.URL.RequestURI()
	t.mu.Lock()
	left := t.played[key]
	if len(left) > 0 {
		t.played[key] = left[1:]
	}
	t.mu.Unlock()
	if len(left) == 0 {
		return nil, errNotSaved
	}
	a := left[0]
	t.add(a)
	if a.Status == 0 {
		return nil, a.err()
	}
	body := io.Reader(bytes.NewReader(a.body))
	if a.Broken != "" {
		body = io.MultiReader(body, broken{a.err()})
	}
	return &http.Response{
		Status:        http.StatusText(a.Status),
		StatusCode:    a.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        a.Header.Clone(),
		Body:          io.NopCloser(body),
		ContentLength: -1,
		Request:       req,
	}, nil
}

// err returns the error of a broken answer.
func (a *Answer) err() error {
	for _, c := range causes {
		if c.name == a.Broken {
			return c.err
		}
	}
	return causes[len(causes)-1].err
}

// broken is the end of a broken body.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
