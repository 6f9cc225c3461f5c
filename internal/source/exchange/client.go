// Package exchange reads the public JSON of the stock exchange: listed shares with
// their market and ticker, and the tax numbers of companies.
//
// The source is not documented and may change at any time. So an unknown answer is
// always an error, never an empty list. Requests are not retried.
package exchange

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pregon/internal/fault"
	"pregon/internal/server/origin"
	"pregon/internal/source/throttle"
)

const (
	timeout      = 30 * time.Second
	maxBody      = 16 << 20 // decompressed; the longest list has less than a megabyte
	maxRedirects = 3

	// referer is the site that uses the JSON. Without it some answers are empty.
	referer = "https://www.bolsasymercados.es/"
)

// Options holds the settings of New.
type Options struct {
	Origin    string // scheme://host[:port], without a path
	UserAgent string
	Gap       time.Duration // minimum time between two requests
	Transport http.RoundTripper
}

// Client reads the exchange, one request at a time. It is safe for concurrent use.
type Client struct {
	origin    *url.URL
	userAgent string
	queue     *throttle.Queue
	http      http.Client
}

// New returns a client, or an Invalid fault for an invalid origin.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.Origin)
	if err != nil || !origin.Valid(o.Origin) || u.Hostname() == "" {
		return nil, fault.New(fault.Invalid, "the exchange's address %q must be scheme://host[:port]", o.Origin)
	}
	c := &Client{origin: &url.URL{Scheme: u.Scheme, Host: u.Host}, userAgent: o.UserAgent, queue: throttle.New(o.Gap)}
	c.http = http.Client{Transport: o.Transport, CheckRedirect: c.follow}
	return c, nil
}

// get returns the body of a resource.
func (c *Client) get(ctx context.Context, resource string, query url.Values) ([]byte, error) {
	if err := c.queue.Wait(ctx, throttle.Registers); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout) // without the wait for the turn
	defer cancel()
	target := c.origin.JoinPath("Market/v1/EQ", resource)
	target.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.userAgent)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Language", "es")
	req.Header.Set("Referer", referer)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the exchange does not answer")
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, refused(resource, res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the response of the exchange was truncated")
	}
	if len(body) > maxBody {
		return nil, fault.New(fault.Unavailable, "the exchange's answer to %s is longer than %d MB", resource,
			maxBody>>20)
	}
	return bytes.TrimPrefix(body, []byte("\ufeff")), nil // servers write a byte order mark, which JSON forbids
}

// follow allows redirects within the origin, each in its own turn: the exchange counts
// them as requests.
func (c *Client) follow(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	sameScheme := req.URL.Scheme == c.origin.Scheme || req.URL.Scheme == "https"
	if !sameScheme || !strings.EqualFold(req.URL.Host, c.origin.Host) {
		return fmt.Errorf("redirected to %s://%s, which is not followed", req.URL.Scheme, req.URL.Host)
	}
	return c.queue.Wait(req.Context(), throttle.Registers)
}

// refused returns the error for a status. The exchange forbids clients that send too
// many requests.
func refused(resource string, status int) error {
	kind := fault.Unavailable
	switch status {
	case http.StatusNotFound:
		kind = fault.NotFound
	case http.StatusForbidden, http.StatusTooManyRequests:
		kind = fault.RateLimited
	}
	return fault.New(kind, "the exchange answers %s with status %d", resource, status)
}
