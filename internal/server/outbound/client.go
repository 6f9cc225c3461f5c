// Package outbound is an HTTP client for addresses that users configure: the key
// sets of token issuers and the receivers of webhooks.
//
// Such an address may point at services that only this machine can reach: itself,
// its network, or the metadata service of its cloud (server-side request forgery).
// So only public addresses are dialled, on the ports of https. The check runs at
// every dial on the resolved address, since a name may resolve to another address
// each time. Redirects are not followed, and cookies and proxies are not used.
package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"
)

const (
	defaultTimeout = 10 * time.Second
	idleTimeout    = 30 * time.Second
	maxIdle        = 512
	idlePerHost    = 2
	maxHeader      = 64 << 10
)

// Options of NewClient.
type Options struct {
	// allow any address and port, and http: for tests, and for hosts on the operator's
	// own network
	AllowPrivate bool
	Timeout      time.Duration // of the whole exchange, including the body; 0: ten seconds
	Resolver     *net.Resolver // nil: the system's
	IdlePerHost  int           // connections to one host that are kept for a while; 0: two

	passed func(address string) error // for tests: called with an address that passed, before it is dialled
}

// NewClient returns a client that enforces the rules of Check and dials public
// addresses only. It returns redirects instead of following them.
func NewClient(o Options) *http.Client {
	timeout := cmp.Or(o.Timeout, defaultTimeout)
	return &http.Client{
		Transport: &guard{
			allowPrivate: o.AllowPrivate,
			next: &http.Transport{
				Proxy:                  nil, // ignore the environment: a proxy would dial unchecked addresses
				DialContext:            o.dial,
				TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
				TLSHandshakeTimeout:    timeout,
				ForceAttemptHTTP2:      true, // not the default with a custom DialContext
				MaxIdleConns:           maxIdle,
				MaxIdleConnsPerHost:    cmp.Or(o.IdlePerHost, idlePerHost),
				IdleConnTimeout:        idleTimeout,
				MaxResponseHeaderBytes: maxHeader,
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       timeout,
	}
}

// dial connects to a host. Each address of the host is checked right before it is
// dialled.
func (o Options) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: cmp.Or(o.Timeout, defaultTimeout), Resolver: o.Resolver}
	d.Control = func(network, address string, _ syscall.RawConn) error {
		if !o.AllowPrivate {
			if err := checkDial(host, network, address); err != nil {
				return err
			}
		}
		if o.passed != nil {
			return o.passed(address)
		}
		return nil
	}
	return d.DialContext(ctx, network, hostPort)
}

// guard applies the rules of Check to every request, since an address may not
// have been checked before.
type guard struct {
	allowPrivate bool
	next         *http.Transport
}

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := check(req.URL, g.allowPrivate); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper must close it
		}
		return nil, &refusal{err.Message}
	}
	return g.next.RoundTrip(req)
}

// CloseIdleConnections is called by the method of http.Client of the same name.
func (g *guard) CloseIdleConnections() { g.next.CloseIdleConnections() }

// refusal is the error of a request that was not sent.
type refusal struct{ reason string }

func (r *refusal) Error() string { return "refused: " + r.reason }

// Refused reports whether a request failed because its address is not allowed. The
// reason may be shown to the user who configured the address.
func Refused(err error) (reason string, ok bool) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.reason, true
	}
	return "", false
}
