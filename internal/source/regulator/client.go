// Package regulator reads the regulator's web site: the feeds of IP, OIR and HR,
// the permalink of a report, the lists by date of IP and OIR, those by entity of HR,
// the registers of managers and funds, the monthly open data, and documents.
//
// It has two halves. The Client sends requests: with a user agent, each request
// and each redirect in its turn of the queue, within limits of size and time, and
// only to the host that it was given. It never retries; that is up to the caller.
//
// The parsers are pure functions. The site has no API and changes its pages without
// notice. So the parsers rely on the few ids and labels that have been stable and
// accept any form of the rest. They never treat an unknown page as an empty
// one: a page without its list, or one that ends too early, is a MarkupError and not an
// empty list. A row is returned complete or not at all.
package regulator

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"pregon/internal/fault"
	"pregon/internal/server/origin"
	"pregon/internal/source/throttle"
)

// Options holds the settings of New.
type Options struct {
	Origin    string            // scheme://host[:port] that receives all requests, whatever host a link names
	UserAgent string            // name of the program, with a contact
	Queue     *throttle.Queue   // each request waits for its turn here
	Transport http.RoundTripper // nil for a default
}

// Client reads the site. It is safe for concurrent use.
type Client struct {
	origin    *url.URL
	agent     string
	queue     *throttle.Queue
	http      *http.Client
	priority  throttle.Priority
	simulated *atomic.Bool   // shared by all copies
	answered  *atomic.Bool   // shared by all copies
	redirects *redirectCache // shared by all copies
	limits    limits
}

// limit bounds the time and the size of an answer, and says which one is not needed.
type limit struct {
	within time.Duration
	most   int64
	unless Validators // the version that is known
}

type limits struct {
	feed, page, document, archive, workbook limit
	stall                                   time.Duration // longest pause within a body
}

// MaxDocument is the size of the largest document that Document returns.
const MaxDocument = 50 << 20

// Real pages have a quarter of a megabyte, and the site sometimes takes half a minute
// for one. A feed has 200 KB on the busiest days, and is polled again soon.
var defaultLimits = limits{
	feed:     limit{within: 10 * time.Second, most: 2 << 20},
	page:     limit{within: 30 * time.Second, most: 8 << 20},
	document: limit{within: 2 * time.Minute, most: MaxDocument},
	archive:  limit{within: 2 * time.Minute, most: 64 << 20},
	workbook: limit{within: time.Minute, most: MaxWorkbook},
	stall:    10 * time.Second,
}

// New returns a client with the priority throttle.Reconcile.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.Origin)
	if err != nil || !origin.Valid(o.Origin) || u.Hostname() == "" {
		return nil, fault.New(fault.Invalid,
			"the regulator's address %q must have the form https://host[:port]", o.Origin)
	}
	if strings.TrimSpace(o.UserAgent) == "" || strings.ContainsAny(o.UserAgent, "\r\n\x00") {
		return nil, fault.New(fault.Invalid, "the user agent is missing: the regulator requires a name and a contact")
	}
	if o.Queue == nil {
		return nil, errors.New("the client of the regulator needs a queue")
	}
	transport := o.Transport
	if transport == nil {
		transport = NewTransport()
	}
	return &Client{
		origin:   &url.URL{Scheme: u.Scheme, Host: u.Host},
		agent:    o.UserAgent,
		queue:    o.Queue,
		priority: throttle.Reconcile,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		simulated: new(atomic.Bool),
		answered:  new(atomic.Bool),
		redirects: newRedirectCache(),
		limits:    defaultLimits,
	}, nil
}

// NewTransport returns a transport for few connections: the queue spaces the requests.
func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 2, 2
	t.MaxResponseHeaderBytes = 256 << 10
	return t
}

// For returns a copy of the client with another priority.
func (c *Client) For(class throttle.Priority) *Client {
	other := *c
	other.priority = class
	return &other
}

// Simulated reports whether an answer declared its source a simulation.
func (c *Client) Simulated() bool { return c.simulated.Load() }

// Waiting returns how many requests of a priority wait for their turn.
func (c *Client) Waiting(class throttle.Priority) int { return c.queue.Waiting(class) }

// Published notes that a report was published. Shared reports whether back-fill has a
// share of the requests, since nothing was. See throttle.
func (c *Client) Published()   { c.queue.Published() }
func (c *Client) Shared() bool { return c.queue.Shared() }

// Answered reports whether the source has ever answered. Before that, Simulated
// is not known.
func (c *Client) Answered() bool { return c.answered.Load() }

func (c *Client) site() site {
	s := site{public: PublicOrigin, own: c.origin.Host}
	if c.Simulated() {
		s.public = SimulatedOrigin
	}
	return s
}

// Document is a downloaded document.
type Document struct {
	Body        []byte
	ContentType string
	URL         string // public link, after redirects
}

// Document downloads a document by its public link. It refuses links that are not
// on the regulator's site.
func (c *Client) Document(ctx context.Context, link string) (Document, error) {
	a, err := c.get(ctx, link, c.limits.document)
	if err != nil {
		return Document{}, err
	}
	return Document{Body: a.body, ContentType: a.contentType, URL: c.site().public + pathOf(a.address)}, nil
}
