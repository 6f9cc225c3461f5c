package regulator_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// roundTripper answers without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newClient(t *testing.T, origin string, transport http.RoundTripper) (*regulator.Client, *throttle.Queue) {
	t.Helper()
	queue := throttle.New(0)
	c, err := regulator.New(regulator.Options{Origin: origin, UserAgent: agent, Queue: queue, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return c, queue
}

// The published text names no host, address or port, and the cause is available for the
// log.
func TestTransportErrors(t *testing.T) {
	const host, port = "source.internal", "18443"
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 18443}, Err: err}
	}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"name", dial(&net.DNSError{Err: "no such host", Name: host, Server: "10.1.2.53:53"}), "its name could not be resolved"},
		{"refused", dial(syscall.ECONNREFUSED), "the connection was refused"},
		{"reset", &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, "the connection was reset"},
		{"no route", dial(syscall.EHOSTUNREACH), "it could not be reached"},
		{"slow to connect", dial(&timeout{}), "the answer took too long"},
		{"certificate", &tls.CertificateVerificationError{Err: errors.New("valid for " + host)}, "the certificate is not valid"},
		{"closed", io.ErrUnexpectedEOF, "the connection ended before the answer did"},
		{"anything else", fmt.Errorf("http2: %s:%s is confused", host, port), "its answer could not be understood"},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, late %v", test.name, late), func(t *testing.T) {
				c, _ := newClient(t, "https://"+host+":"+port, roundTripper(func(*http.Request) (*http.Response, error) {
					if late {
						return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(failing{test.err})}, nil
					}
					return nil, test.err
				}))
				_, err := c.Permalink(t.Context(), disclosure.OIR, 7)
				wantTransport(t, err, oirList+"?nreg=7", test.want)
				if !errors.Is(err, test.err) || !errors.Is(regulator.Cause(err), test.err) {
					t.Errorf("cause: got %v, want the original error", regulator.Cause(err))
				}
			})
		}
	}
	if regulator.Cause(io.EOF) != nil || regulator.Cause(nil) != nil {
		t.Error("Cause: got an error, want nil")
	}
}

// wantTransport fails unless err is a TransportError with exactly this path and reason.
func wantTransport(t *testing.T, err error, path, reason string) {
	t.Helper()
	e, ok := errors.AsType[*regulator.TransportError](err)
	if !ok || e.Path != path || e.Reason != reason {
		t.Fatalf("error %v, want %q for %s", err, reason, path)
	}
	if got, want := err.Error(), "asking the regulator for "+path+": "+reason; got != want {
		t.Errorf("%q is shown, want %q", got, want)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type timeout struct{}

func (*timeout) Error() string   { return "i/o timeout" }
func (*timeout) Timeout() bool   { return true }
func (*timeout) Temporary() bool { return true }

// The same with a real network.
func TestRealTransportErrors(t *testing.T) {
	f, c, _ := newFake(t, map[string]http.HandlerFunc{oirList: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }})
	_, err := c.Permalink(t.Context(), disclosure.OIR, 7)
	wantTransport(t, err, oirList+"?nreg=7", "the connection ended before the answer did")
	f.Close()
	_, err = c.Permalink(t.Context(), disclosure.OIR, 7)
	wantTransport(t, err, oirList+"?nreg=7", "the connection was refused")

	safe := httptest.NewUnstartedServer(http.NotFoundHandler())
	safe.Config.ErrorLog = log.New(io.Discard, "", 0) // it logs the refused handshake
	safe.StartTLS()
	defer safe.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, _ = newClient(t, safe.URL, transport)
	_, err = c.Permalink(t.Context(), disclosure.OIR, 7)
	wantTransport(t, err, oirList+"?nreg=7", "the certificate is not valid")
}

// redirectTo redirects to a location and keeps the query.
func redirectTo(code int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		to := location
		if r.URL.RawQuery != "" && !strings.Contains(to, "?") {
			to += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", to)
		w.WriteHeader(code)
	}
}

// A permanent redirect costs one more turn once, for all clients and
// whatever the query.
func TestRedirectsAreCached(t *testing.T) {
	feed, page := read(t, "feed-oir.xml"), read(t, "permalink-oir.html")
	for _, test := range []struct {
		code  int
		to    string
		turns uint64 // of three requests
	}{
		{301, "/new", 4},
		{308, "/new", 4},
		{301, "https://internet.cnmv.es/new", 4},
		{301, "/new?iID=4", 4},
		{302, "/new", 6},
		{303, "/new", 6},
		{307, "/new", 6},
	} {
		t.Run(fmt.Sprint(test.code, test.to), func(t *testing.T) {
			_, c, queue := newFake(t, map[string]http.HandlerFunc{oirFeed: redirectTo(test.code, test.to), "/new": send(feed)})
			for n := range 3 {
				if f, err := c.For(throttle.Priorities[n]).Feed(t.Context(), disclosure.OIR, [32]byte{}); err != nil || len(f.Rows) != 2 {
					t.Fatal(f, err)
				}
			}
			if n := queue.Granted(throttle.Feeds); n != test.turns {
				t.Errorf("%d turns, want %d", n, test.turns)
			}
		})
	}
	t.Run("with a query", func(t *testing.T) {
		echo := func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, strings.ReplaceAll(string(page), "50374", r.URL.Query().Get("nreg")))
		}
		f, c, _ := newFake(t, map[string]http.HandlerFunc{
			oirList: redirectTo(301, "/a.aspx"), "/a.aspx": redirectTo(308, "/b"), "/b": echo,
		})
		for _, number := range []int64{50374, 50375} {
			if row, err := c.Permalink(t.Context(), disclosure.OIR, number); err != nil || row.Number != number {
				t.Fatal(row, err)
			}
		}
		if asked := strings.Join(f.requests(), " "); asked != oirList+"?nreg=50374 /a.aspx?nreg=50374 /b?nreg=50374 /b?nreg=50375" {
			t.Errorf("asked %s", asked)
		}
	})
	t.Run("to another query", func(t *testing.T) {
		_, c, queue := newFake(t, map[string]http.HandlerFunc{oirList: redirectTo(301, "/report?id=1"), "/report": send(page)})
		for range 2 {
			if _, err := c.For(throttle.Gaps).Permalink(t.Context(), disclosure.OIR, 50374); err != nil {
				t.Fatal(err)
			}
		}
		if n := queue.Granted(throttle.Gaps); n != 4 {
			t.Errorf("%d turns, want 4: the redirect does not apply to other queries", n)
		}
	})
}

// A cached redirect is dropped when its target fails. A missing target says nothing
// about the requested address.
func TestRedirectsAreDropped(t *testing.T) {
	feed := read(t, "feed-oir.xml")
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for _, test := range []struct {
		name   string
		broken http.HandlerFunc
		fails  bool   // so that the caller requests it again
		turns  uint64 // of both requests, after the first two
	}{
		{"status", status(503), true, 1 + 1},
		{"cut connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, 1 + 1},
		{"an error page", send([]byte("<html>Error</html>")), true, 1 + 1},
		{"elsewhere", sendTo("https://example.org/"), true, 1 + 1},
		{"gone", status(410), false, 2 + 1},
		{"no such page", sendTo("/error?errorcode=CVFE"), false, 2 + 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			pages := map[string]http.HandlerFunc{oirFeed: redirectTo(301, "/new"), "/new": send(feed)}
			f, c, queue := newFake(t, pages)
			poll := func() error { _, err := c.Feed(t.Context(), disclosure.OIR, [32]byte{}); return err }
			if err := errors.Join(poll(), poll()); err != nil {
				t.Fatal(err)
			}
			pages[oirFeed], pages["/new"] = send(feed), test.broken
			before := queue.Granted(throttle.Feeds)
			if err := poll(); (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			if err := poll(); err != nil {
				t.Errorf("error %v at the old address", err)
			}
			if n := queue.Granted(throttle.Feeds) - before; n != test.turns {
				t.Errorf("%d turns, want %d: %q", n, test.turns, f.requests())
			}
		})
	}
}

// A redirect that does not lead to an answer is not cached.
func TestBadRedirects(t *testing.T) {
	pages := map[string]http.HandlerFunc{oirFeed: redirectTo(301, "/new"), "/new": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }}
	_, c, queue := newFake(t, pages)
	for range 2 {
		if _, err := c.Feed(t.Context(), disclosure.OIR, [32]byte{}); err == nil {
			t.Error("no error")
		}
	}
	if n := queue.Granted(throttle.Feeds); n != 4 {
		t.Errorf("%d turns, want 4", n)
	}
}

func TestRedirectTTL(t *testing.T) {
	feed := read(t, "feed-oir.xml")
	synctest.Test(t, func(t *testing.T) {
		c, queue := newClient(t, "https://www.cnmv.es", roundTripper(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			if r.URL.Path == oirFeed {
				redirectTo(301, "/new")(w, r)
			} else {
				send(feed)(w, r)
			}
			return w.Result(), nil
		}))
		poll := func() uint64 {
			before := queue.Granted(throttle.Feeds)
			if _, err := c.Feed(t.Context(), disclosure.OIR, [32]byte{}); err != nil {
				t.Error(err)
			}
			return queue.Granted(throttle.Feeds) - before
		}
		for _, step := range []struct {
			wait  time.Duration
			turns uint64
		}{{0, 2}, {59 * time.Minute, 1}, {time.Minute, 2}, {59 * time.Minute, 1}} {
			time.Sleep(step.wait)
			if n := poll(); n != step.turns {
				t.Errorf("%d turns after %v more, want %d", n, step.wait, step.turns)
			}
		}
	})
}

// The number of cached redirects is bounded.
func TestRedirectCacheIsBounded(t *testing.T) {
	c, queue := newClient(t, "https://www.cnmv.es", roundTripper(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		if strings.HasPrefix(r.URL.Path, "/old") {
			redirectTo(301, "/new"+r.URL.Path)(w, r)
		} else {
			send([]byte("%PDF"))(w, r)
		}
		return w.Result(), nil
	}))
	ask := func(n int) uint64 {
		before := queue.Granted(throttle.Reconcile)
		if _, err := c.Document(t.Context(), fmt.Sprintf("/old%d", n)); err != nil {
			t.Fatal(err)
		}
		return queue.Granted(throttle.Reconcile) - before
	}
	for n := range 100 {
		if turns := ask(n); turns != 2 {
			t.Fatalf("%d turns, want 0", turns)
		}
	}
	if first, last := ask(0), ask(99); first != 2 || last != 1 {
		t.Errorf("%d turns for the first and %d for the last, want 2 and 1", first, last)
	}
	if n := c.Moves(); n != 64 {
		t.Errorf("%d are remembered, want 64", n)
	}
}
