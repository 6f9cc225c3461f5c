// Package regulator reads the regulator's web site: the feeds of IP, OIR and HR,
// the permalink of a report, the lists by date of IP and OIR, those by entity of HR,
// the registers of managers and funds, the monthly open data, and documents.
//
// There are two halves. The Client asks politely: it says who it is, every
// request and every redirect takes a turn of the queue, answers are bounded in
// size and in time, and nothing is asked of any host but the one it was given.
// It never tries again; whoever calls knows better when to.
//
// The parsers are pure. The site has no API, and its pages change without
// notice, so they look for the few ids and labels that have been stable, take
// any spelling of the rest, and never read silence into what they do not know:
// a page without its list is a MarkupError and not an empty list, and so is a
// page that ends too early. A row is returned whole or not at all.
package regulator

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"pregon/internal/fault"
	"pregon/internal/source/throttle"
)

// Options of New.
type Options struct {
	Origin    string            // scheme://host[:port] that is asked, whatever host a link names
	UserAgent string            // who asks, with a way to reach them
	Queue     *throttle.Queue   // every request takes a turn of it
	Transport http.RoundTripper // nil: one made for this
}

// Client asks the site. It may be used concurrently.
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

// limit is how much of an answer is read, and for how long.
type limit struct {
	within time.Duration
	most   int64
}

type limits struct {
	feed, page, document, archive limit
	stall                         time.Duration // the longest silence in a body
}

// MaxDocument is the size of the largest document that is read.
const MaxDocument = 50 << 20

// Real pages have a quarter of a megabyte, and the site has been seen to take
// half a minute over one. A feed has 200 KB on the busiest of days, and is
// asked for again soon enough.
var defaultLimits = limits{
	feed:     limit{10 * time.Second, 2 << 20},
	page:     limit{30 * time.Second, 8 << 20},
	document: limit{2 * time.Minute, MaxDocument},
	archive:  limit{2 * time.Minute, 64 << 20},
	stall:    10 * time.Second,
}

// New returns a client whose requests wait in the class pace.Reconcile.
func New(o Options) (*Client, error) {
	origin, err := url.Parse(o.Origin)
	if err != nil || (origin.Scheme != "https" && origin.Scheme != "http") || origin.Hostname() == "" || origin.User != nil ||
		strings.TrimSuffix(origin.Path, "/") != "" || origin.RawQuery != "" || origin.Fragment != "" || origin.Opaque != "" {
		return nil, fault.New(fault.Invalid, "the regulator's address %q must have the form https://host[:port]", o.Origin)
	}
	if strings.TrimSpace(o.UserAgent) == "" || strings.ContainsAny(o.UserAgent, "\r\n\x00") {
		return nil, fault.New(fault.Invalid, "the regulator must be told who asks: the user agent is missing")
	}
	if o.Queue == nil {
		return nil, errors.New("the client of the regulator needs a queue")
	}
	transport := o.Transport
	if transport == nil {
		transport = newTransport()
	}
	return &Client{
		origin: &url.URL{Scheme: origin.Scheme, Host: origin.Host},
		agent:  o.UserAgent, queue: o.Queue, priority: throttle.Reconcile,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		simulated: new(atomic.Bool), answered: new(atomic.Bool), redirects: newRedirectCache(), limits: defaultLimits,
	}, nil
}

// newTransport keeps the one connection that the queue leaves work for.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 2, 2
	t.MaxResponseHeaderBytes = 256 << 10
	return t
}

// For returns a copy whose requests wait in a class.
func (c *Client) For(class throttle.Priority) *Client {
	other := *c
	other.priority = class
	return &other
}

// Simulated reports whether an answer said that its source is a simulation.
func (c *Client) Simulated() bool { return c.simulated.Load() }

// Waiting returns how many requests of a class wait for their turn.
func (c *Client) Waiting(class throttle.Priority) int { return c.queue.Waiting(class) }

// Answered reports whether there was an answer at all: before, nobody knows what
// the source is.
func (c *Client) Answered() bool { return c.answered.Load() }

func (c *Client) site() site {
	s := site{public: PublicOrigin, own: c.origin.Host}
	if c.Simulated() {
		s.public = SimulatedOrigin
	}
	return s
}
