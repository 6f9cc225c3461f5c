// Package outbound makes requests to addresses that others gave us: the key
// sets of issuers, the receivers of webhooks.
//
// Such an address may try to make us speak to what only we can reach: the
// machine itself, its network, the metadata service of its cloud. So only
// public addresses are dialled, on the ports of https, and that is decided on
// the address that a name has led to, at every dial: a name that was harmless
// when it was given may lead elsewhere a second later. Nothing is believed of
// what the other side says about where to go next: no redirects, no cookies,
// and no proxy either.
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
	defaultTimeout  = 10 * time.Second
	idleTimeout     = 30 * time.Second
	mostIdle        = 512
	mostIdlePerHost = 2
	mostHeader      = 64 << 10
)

// Options of NewClient.
type Options struct {
	AllowPrivate bool          // any address and port, and plain http: for tests, and for hosts on the operator's own network
	Timeout      time.Duration // for the whole exchange, body and all; ten seconds if zero
	Resolver     *net.Resolver // nil: the system's

	passed func(address string) error // for tests: sees an address that passed, before anything is sent to it
}

// NewClient returns a client that keeps to the rules of Check, and dials public
// addresses only. It never follows a redirect: the answer that asks for it is
// returned as it is.
func NewClient(o Options) *http.Client {
	timeout := cmp.Or(o.Timeout, defaultTimeout)
	return &http.Client{
		Transport: &guard{
			allowPrivate: o.AllowPrivate,
			next: &http.Transport{
				Proxy:                  nil, // whatever the environment says: a proxy would dial in our stead, unchecked
				DialContext:            o.dial,
				TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
				TLSHandshakeTimeout:    timeout,
				ForceAttemptHTTP2:      true, // not the default beside a dialler of our own
				MaxIdleConns:           mostIdle,
				MaxIdleConnsPerHost:    mostIdlePerHost,
				IdleConnTimeout:        idleTimeout,
				MaxResponseHeaderBytes: mostHeader,
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       timeout,
	}
}

// dial connects to a host. The check is the last thing before the connection,
// for each of the addresses that the host has.
func (o Options) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: cmp.Or(o.Timeout, defaultTimeout), Resolver: o.Resolver}
	d.Control = func(network, address string, _ syscall.RawConn) error {
		if !o.AllowPrivate {
			if err := judge(host, network, address); err != nil {
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

// guard holds every request to the rules of Check, for an address may have
// come another way.
type guard struct {
	allowPrivate bool
	next         *http.Transport
}

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := check(req.URL, g.allowPrivate); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as a RoundTripper must, whatever happens
		}
		return nil, &refusal{err.Message}
	}
	return g.next.RoundTrip(req)
}

// CloseIdleConnections is what the method of http.Client of that name calls.
func (g *guard) CloseIdleConnections() { g.next.CloseIdleConnections() }

// refusal is why a request was not made.
type refusal struct{ reason string }

func (r *refusal) Error() string { return "refused: " + r.reason }

// Refused reports whether a request failed because its address is not allowed,
// and why, in words fit for whoever gave the address.
func Refused(err error) (reason string, ok bool) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.reason, true
	}
	return "", false
}
