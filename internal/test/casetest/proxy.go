package casetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/test/waittest"
)

// Fault is what the proxy does to some requests.
type Fault struct {
	Path         string            `json:"path"`  // that of the request begins with it
	Skip         int               `json:"skip"`  // requests that pass first
	Times        int               `json:"times"` // requests that are faulty then; 0 for all
	Kind         string            `json:"kind"`
	Status       int               `json:"status,omitempty"`
	Headers      map[string]string `json:"headers,omitempty"`
	Body         any               `json:"body,omitempty"` // a text as it is, anything else as JSON
	Bytes        int64             `json:"bytes,omitempty"`
	Milliseconds int               `json:"milliseconds,omitempty"`
}

// kinds are the kinds of faults.
var kinds = []string{"status", "cut", "delay", "repeat", "refuse", "corrupt"}

// maxDelay bounds a delay.
const maxDelay = time.Minute

func (f Fault) check() error {
	switch {
	case !strings.HasPrefix(f.Path, "/"):
		return fmt.Errorf("path %q of a fault: it begins with a slash", f.Path)
	case !slices.Contains(kinds, f.Kind):
		return fmt.Errorf("unknown kind of fault %q: use one of %s", f.Kind, strings.Join(kinds, ", "))
	case f.Kind == "status" && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status %d of a fault: it is from 200 to 599", f.Status)
	case f.Kind == "delay" && (f.Milliseconds <= 0 || f.delay() > maxDelay):
		return fmt.Errorf("milliseconds %d of a fault: it is from 1 to %d", f.Milliseconds, maxDelay.Milliseconds())
	case f.Skip < 0 || f.Times < 0 || f.Bytes < 0:
		return errors.New("a fault has a negative number")
	}
	return nil
}

func (f Fault) delay() time.Duration { return time.Duration(f.Milliseconds) * time.Millisecond }

// Proxy passes requests on to a service, except those that a fault affects.
type Proxy struct {
	target  func() string
	forward *httputil.ReverseProxy

	mu       sync.Mutex // requests arrive at the same time
	faults   []Fault    // guarded by mu
	seen     []int      // guarded by mu: how many requests each fault matched
	requests []string   // guarded by mu: the paths, in the order of arrival
}

// NewProxy returns a proxy without faults. target returns the address of the service,
// which can change.
func NewProxy(target func() string) *Proxy {
	p := &Proxy{target: target}
	p.forward = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		ModifyResponse: damage,
		FlushInterval:  -1,                         // at once
		ErrorLog:       log.New(io.Discard, "", 0), // of bodies that are cut
		Transport: &http.Transport{
			DisableCompression: true, // clients choose it
		},
		// A service that does not run refuses connections.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	return p
}

// Reset forgets the requests and installs faults.
func (p *Proxy) Reset(faults []Fault) {
	p.mu.Lock()
	p.requests = nil
	p.mu.Unlock()
	p.Inject(faults)
}

// Inject replaces the faults.
func (p *Proxy) Inject(faults []Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = slices.Clone(faults)
	p.seen = make([]int, len(faults))
}

// Requests returns the paths of the requests since the last reset.
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// faultKey is that of the fault in the context of a request.
type faultKey struct{}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := p.record(r)
	switch f.Kind {
	case "refuse":
		panic(http.ErrAbortHandler) // closes the connection
	case "status":
		f.answer(w)
		return
	case "delay":
		if f.Bytes == 0 {
			waittest.Pace(r.Context(), f.delay())
		}
	}
	p.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), faultKey{}, f)))
}

// record counts a request and returns the fault that affects it. Each fault counts the
// requests to its path; the first one whose turn it is counts.
func (p *Proxy) record(r *http.Request) (found Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r.URL.RequestURI())
	for i, f := range p.faults {
		if !strings.HasPrefix(r.URL.Path, f.Path) {
			continue
		}
		n := p.seen[i]
		p.seen[i]++
		if found.Kind == "" && n >= f.Skip && (f.Times == 0 || n < f.Skip+f.Times) {
			found = f
		}
	}
	return found
}

// answer sends the status, headers and body of the fault, without asking the service. A
// header value <date+N> is the time in N seconds.
func (f Fault) answer(w http.ResponseWriter) {
	var body []byte
	switch content := f.Body.(type) {
	case nil:
		body, _ = json.Marshal(map[string]any{
			"type":   "about:blank",
			"title":  http.StatusText(f.Status),
			"status": f.Status,
			"detail": "This answer was made by a test.",
		})
		w.Header().Set("Content-Type", "application/problem+json")
	case string:
		body = []byte(content)
	default:
		body, _ = json.Marshal(content)
		w.Header().Set("Content-Type", "application/json")
	}
	for name, value := range f.Headers {
		var seconds int
		if n, _ := fmt.Sscanf(value, "<date+%d>", &seconds); n == 1 {
			value = time.Now().Add(time.Duration(seconds) * time.Second).UTC().Format(http.TimeFormat)
		}
		w.Header().Set(name, value)
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write(body)
}

func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	target, err := url.Parse(p.target())
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.SetURL(target)
	if f, _ := r.In.Context().Value(faultKey{}).(Fault); f.Kind != "" {
		r.Out.Header.Del("Accept-Encoding") // so that bytes are counted as the client reads them
	}
}

// damage replaces the body of an answer.
func damage(r *http.Response) error {
	f, _ := r.Request.Context().Value(faultKey{}).(Fault)
	switch f.Kind {
	case "cut":
		r.Body = &body{ReadCloser: r.Body, from: limited(r.Body, f.Bytes)}
	case "corrupt":
		r.Body = &body{ReadCloser: r.Body, from: &corrupted{r.Body, f.Bytes}}
	case "repeat":
		r.ContentLength = -1
		r.Header.Del("Content-Length")
		r.Body = &body{ReadCloser: r.Body, from: &repeated{from: r.Body}}
	case "delay":
		if f.Bytes > 0 {
			pause := pausing{r.Request.Context(), f.delay()}
			r.Body = &body{ReadCloser: r.Body, from: io.MultiReader(io.LimitReader(r.Body, f.Bytes), pause, r.Body)}
		}
	}
	return nil
}

// body reads from another reader than it closes.
type body struct {
	io.ReadCloser
	from io.Reader
}

func (b *body) Read(p []byte) (int, error) { return b.from.Read(p) }

// errCut makes the proxy close the connection.
var errCut = errors.New("cut by a fault")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errCut }

// limited returns a reader that fails after n bytes.
func limited(from io.Reader, n int64) io.Reader {
	return io.MultiReader(io.LimitReader(from, n), failing{})
}

// corrupted changes the byte after left bytes.
type corrupted struct {
	from io.Reader
	left int64
}

func (c *corrupted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if c.left >= 0 && c.left < int64(n) {
		p[c.left] ^= 1
	}
	c.left -= int64(n)
	return n, err
}

// repeated reads each event of a stream twice.
type repeated struct {
	from  io.Reader
	event []byte // what was read of the next event
	out   []byte // what is to be returned
}

func (r *repeated) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		chunk := make([]byte, 4096)
		n, err := r.from.Read(chunk)
		r.event = append(r.event, chunk[:n]...)
		for {
			event, rest, complete := bytes.Cut(r.event, []byte("\n\n"))
			if !complete {
				break
			}
			for range 2 {
				r.out = append(append(r.out, event...), "\n\n"...)
			}
			r.event = bytes.Clone(rest)
		}
		if err != nil {
			r.out = append(r.out, r.event...)
			r.event = nil
		}
		if err != nil && len(r.out) == 0 {
			return 0, err
		}
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// pausing is empty, and ends after a while.
type pausing struct {
	ctx context.Context
	d   time.Duration
}

func (p pausing) Read([]byte) (int, error) {
	waittest.Pace(p.ctx, p.d)
	return 0, io.EOF
}
