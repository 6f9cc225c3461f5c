package outbound_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/server/outbound"
	"pregon/internal/server/outbound/outboundtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// errStop ends a dial that passed the check, so that no test connects to the
// internet.
var errStop = errors.New("stop")

// quiet discards the log of servers whose clients disconnect.
var quiet = log.New(io.Discard, "", 0)

const public = "93.184.216.34"

func get(t *testing.T, c *http.Client, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err == nil {
		t.Cleanup(func() { res.Body.Close() })
	}
	return res, err
}

// serve starts a server and returns a client that may dial it.
func serve(t *testing.T, o outbound.Options, h http.HandlerFunc) (*http.Client, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	o.AllowPrivate = true
	c := outbound.NewClient(o)
	t.Cleanup(c.CloseIdleConnections)
	return c, server.URL
}

// A name that resolves to a public address first and to this machine next (DNS
// rebinding) is refused at the dial.
func TestRebinding(t *testing.T) {
	var dns outboundtest.Names
	var dialled []string
	c := outbound.NewClient(outbound.Options{Resolver: dns.Resolver(t)}.Passing(func(address string) error {
		dialled = append(dialled, address)
		return errStop
	}))
	const url = "https://x.example/keys"
	if err := outbound.Check(url, false); err != nil {
		t.Fatal(err)
	}

	dns.Set(public)
	if _, err := get(t, c, url); !errors.Is(err, errStop) {
		t.Fatalf("got error %v for the public address, want errStop", err)
	}
	if want := []string{public + ":443"}; !slices.Equal(dialled, want) {
		t.Fatalf("got dials of %q, want %q", dialled, want)
	}

	for address, kind := range map[string]string{
		"127.0.0.1": "a loopback address", "10.0.0.1": "a private address", "169.254.169.254": "a link-local address",
		"0.0.0.0": "the unspecified address", "168.63.129.16": "not a public address",
	} {
		dns.Set(address)
		dialled = nil
		_, err := get(t, c, url)
		reason, ok := outbound.Refused(err)
		if want := "the address of x.example is " + kind; !ok || reason != want {
			t.Errorf("got %v, refused %v because %q, want %q", err, ok, reason, want)
		}
		if dialled != nil {
			t.Errorf("got dials of %q, want none", dialled)
		}
	}
}

// An IPv4-mapped IPv6 address is checked as an IPv4 address.
func TestMappedAddressOfName(t *testing.T) {
	var dns outboundtest.Names
	c := outbound.NewClient(outbound.Options{Resolver: dns.Resolver(t)}.Passing(func(address string) error {
		t.Errorf("got a dial of %s, want none", address)
		return errStop
	}))
	dns.Set("::ffff:127.0.0.1")
	_, err := get(t, c, "https://x.example/")
	if reason, ok := outbound.Refused(err); !ok || !strings.HasSuffix(reason, "is a loopback address") {
		t.Errorf("got error %v, reason %q", err, reason)
	}
}

// Of a name with several addresses only the public ones are tried.
func TestEveryAddressIsChecked(t *testing.T) {
	var dns outboundtest.Names
	var dialled []string
	c := outbound.NewClient(outbound.Options{Resolver: dns.Resolver(t)}.Passing(func(address string) error {
		dialled = append(dialled, address)
		return errStop
	}))
	dns.Set("127.0.0.1", public, "10.0.0.1", "192.168.1.1")
	if _, err := get(t, c, "https://x.example:8443/"); err == nil {
		t.Error("got a connection, want an error")
	}
	if want := []string{public + ":8443"}; !slices.Equal(dialled, want) {
		t.Errorf("got dials of %q, want %q", dialled, want)
	}
}

// A name that the transport maps to another one is checked as the other one.
func TestMappedName(t *testing.T) {
	var dns outboundtest.Names
	c := outbound.NewClient(outbound.Options{Resolver: dns.Resolver(t)})
	dns.Set("127.0.0.1")
	_, err := get(t, c, "https://españa.example/")
	if reason, ok := outbound.Refused(err); !ok || reason != "the address of xn--espaa-rta.example is a loopback address" {
		t.Errorf("got error %v, reason %q", err, reason)
	}
}

// body records whether it was closed.
type body struct {
	io.Reader
	closed atomic.Bool
}

func (b *body) Close() error {
	b.closed.Store(true)
	return nil
}

func TestRefusedBeforeTheDial(t *testing.T) {
	c := outbound.NewClient(outbound.Options{})
	sent := &body{Reader: strings.NewReader("{}")}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:1/", sent)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(req)
	if reason, ok := outbound.Refused(err); !ok || reason != "the address must begin with https://, not http://" {
		t.Errorf("got error %v, reason %q", err, reason)
	}
	if !sent.closed.Load() {
		t.Error("got an open body, want it closed")
	}
}

func TestOtherErrorsAreNotRefusals(t *testing.T) {
	for _, err := range []error{nil, io.EOF, context.Canceled, &net.OpError{Op: "dial", Err: errStop}} {
		if reason, ok := outbound.Refused(err); ok || reason != "" {
			t.Errorf("got the refusal %q for %v, want none", reason, err)
		}
	}
}

func TestAllowPrivate(t *testing.T) {
	c, url := serve(t, outbound.Options{}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	res, err := get(t, c, url)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(res.Body); err != nil || string(got) != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
	_, err = get(t, c, strings.Replace(url, "http://", "http://me:secret@", 1))
	if _, ok := outbound.Refused(err); !ok {
		t.Errorf("got error %v for credentials in the address, want a refusal", err)
	}
}

// Connections are checked once and reused.
func TestReuse(t *testing.T) {
	var dials int
	c, url := serve(t, outbound.Options{}.Passing(func(string) error {
		dials++
		return nil
	}), func(http.ResponseWriter, *http.Request) {})
	for range 3 {
		res, err := get(t, c, url)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	if dials != 1 {
		t.Errorf("got %d dials for three requests, want 1", dials)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var followed atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer elsewhere.Close()
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			c, url := serve(t, outbound.Options{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", elsewhere.URL)
				w.WriteHeader(status)
			})
			req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			res, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != status || res.Header.Get("Location") != elsewhere.URL {
				t.Errorf("%s: got status %d to %q, want %d", method, res.StatusCode, res.Header.Get("Location"), status)
			}
		}
	}
	if n := followed.Load(); n != 0 {
		t.Errorf("got %d redirects followed, want none", n)
	}
}

func TestNoCookies(t *testing.T) {
	c, url := serve(t, outbound.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if len(r.Cookies()) > 0 {
			t.Errorf("got cookies %v, want none", r.Cookies())
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
	})
	for range 2 {
		if _, err := get(t, c, url); err != nil {
			t.Fatal(err)
		}
	}
}

// The host is not localhost, for which no proxy is ever used.
func TestProxiesAreIgnored(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("got a request to the proxy, want none") }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	var dns outboundtest.Names
	dns.Set("127.0.0.1")
	c, url := serve(t, outbound.Options{Resolver: dns.Resolver(t)}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	res, err := get(t, c, strings.Replace(url, "127.0.0.1", "x.example", 1))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(res.Body); string(got) != "hello" {
		t.Errorf("%q", got)
	}
	if outbound.Inner(c).Proxy != nil {
		t.Error("got a transport with a proxy, want none")
	}
}

// serveTLS is serve over TLS, with a certificate that the client trusts.
func serveTLS(t *testing.T, h http.HandlerFunc, change func(*httptest.Server)) (*http.Client, string) {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = quiet
	change(server)
	server.StartTLS()
	t.Cleanup(server.Close)
	c := outbound.NewClient(outbound.Options{AllowPrivate: true})
	t.Cleanup(c.CloseIdleConnections)
	outbound.Inner(c).TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return c, server.URL
}

func TestHTTP2(t *testing.T) {
	c, url := serveTLS(t, func(http.ResponseWriter, *http.Request) {}, func(s *httptest.Server) { s.EnableHTTP2 = true })
	res, err := get(t, c, url)
	if err != nil {
		t.Fatal(err)
	}
	if res.ProtoMajor != 2 {
		t.Errorf("got protocol %s, want HTTP/2.0", res.Proto)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	for version, ok := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c, url := serveTLS(t, func(http.ResponseWriter, *http.Request) {}, func(s *httptest.Server) {
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version}
		})
		if _, err := get(t, c, url); (err == nil) != ok {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
	}
}

func TestUnknownCertificateIsRefused(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("got a request, want none") }))
	server.Config.ErrorLog = quiet
	server.StartTLS()
	defer server.Close()
	c := outbound.NewClient(outbound.Options{AllowPrivate: true})
	if _, err := get(t, c, server.URL); err == nil {
		t.Error("got no error, want one")
	}
}

func TestHugeHeader(t *testing.T) {
	huge := func(w http.ResponseWriter, _ *http.Request) {
		for i := range 100 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1<<10))
		}
	}
	c, url := serve(t, outbound.Options{}, huge)
	if _, err := get(t, c, url); err == nil {
		t.Error("got a header of 100 KB, want an error")
	}
	c, url = serveTLS(t, huge, func(s *httptest.Server) { s.EnableHTTP2 = true })
	if _, err := get(t, c, url); err == nil {
		t.Error("got a header of 100 KB over HTTP/2, want an error")
	}
}

// The timeout covers the body too.
func TestTimeout(t *testing.T) {
	done := make(chan struct{})
	hang := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
		}
		<-done
	}
	c, url := serve(t, outbound.Options{Timeout: 100 * time.Millisecond}, hang)
	slow, slowURL := serve(t, outbound.Options{Timeout: 3 * time.Second}, hang) // in which the head comes on a slow machine, too
	t.Cleanup(func() { close(done) })
	if _, err := get(t, c, url); err == nil {
		t.Error("got no error for a silent server, want a timeout")
	}
	res, err := get(t, slow, slowURL+"/body")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("got no error for an endless body, want a timeout")
	}
	if outbound.NewClient(outbound.Options{}).Timeout <= 0 {
		t.Error("got no default timeout, want one")
	}
}
