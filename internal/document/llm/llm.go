// Package llm asks a language model behind any endpoint that speaks the
// protocol of OpenAI's chat completions.
//
// The endpoint is somebody else's: it may be slow, down, dear or wrong. So every
// answer has a time and a size, a day has a budget, failures are tried again a
// few times and then, when they go on, not at all for a while. Whoever asks must
// be able to do without an answer. The key goes to the endpoint and nowhere else:
// redirects are not followed, and no error or log line has it.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pregon/internal/fault"
)

// Options are how a model is asked. URL and Model are needed, the rest has
// defaults.
type Options struct {
	// URL is where the endpoint is: the whole address, which then ends with
	// /chat/completions; or the base that clients of OpenAI are given, which
	// mostly ends with /v1; or only scheme and host, which stand for the base
	// /v1 there. A query is kept.
	URL   string
	Model string
	Key   string // sent as a bearer token, unless empty

	RequestsPerDay int // attempts, by the days of UTC; 0 is no limit
	TokensPerDay   int // both ways, as the endpoint counts them; 0 is no limit
	Concurrency    int // answers waited for at a time; 0 is 1, and 2 is the most
	MaxTokens      int // of an answer; 0 is 2000

	AttemptTimeout time.Duration // 0 is 20 s
	Timeout        time.Duration // for all attempts together; 0 is 45 s

	Transport http.RoundTripper // for tests; nil is one of our own
	Logger    *slog.Logger      // nil is silence
}

const (
	defaultAttempt   = 20 * time.Second
	defaultTimeout   = 45 * time.Second
	defaultMaxTokens = 2000
	mostConcurrent   = 2
)

// ErrBudget is the error when the day's budget is used up.
var ErrBudget = fault.New(fault.RateLimited, "the day's budget for the language model is used up")

// ErrOpen is the error while the endpoint is left alone after failures.
var ErrOpen = fault.New(fault.Unavailable, "the language model failed repeatedly and is left alone for a while")

// Client asks one model. It is safe for concurrent use.
type Client struct {
	o       Options
	address string
	client  *http.Client
	log     *slog.Logger
	turns   chan struct{} // holds as many as wait for answers
	budget  budget
	breaker breaker
	dialect dialects
	stats   counters
}

// New returns a client, or what is wrong with the options. It asks nothing.
func New(o Options) (*Client, error) {
	address, err := endpoint(o.URL)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(o.Model) == "" {
		return nil, fault.New(fault.Invalid, "the language model has no name")
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fault.New(fault.Invalid, "the key of the language model has characters that no key has: a space, a line break?")
	}
	o.AttemptTimeout = cmp.Or(o.AttemptTimeout, defaultAttempt)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.MaxTokens = cmp.Or(o.MaxTokens, defaultMaxTokens)
	if o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = mostConcurrent
		o.Transport = t
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{
		o: o, address: address, log: o.Logger,
		client: &http.Client{
			Transport:     o.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		turns:  make(chan struct{}, min(max(o.Concurrency, 1), mostConcurrent)),
		budget: budget{requests: o.RequestsPerDay, tokens: o.TokensPerDay},
	}, nil
}

// endpoint returns the address that requests are sent to.
func endpoint(base string) (string, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fault.New(fault.Invalid, "the address of the language model is not a URL like https://models.example/v1")
	case u.User != nil:
		return "", fault.New(fault.Invalid, "the address of the language model has a password in it: give it as the key")
	}
	const path = "/chat/completions"
	switch own := strings.TrimRight(u.Path, "/"); {
	case strings.HasSuffix(own, path):
		u.Path = own
	case own == "":
		u.Path = "/v1" + path
	default:
		u.Path = own + path
	}
	u.RawPath, u.Fragment, u.RawFragment = "", "", ""
	return u.String(), nil
}

// Close lets go of idle connections.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Complete asks the model, and returns what it said. The schema is that of the
// JSON it should answer; endpoints that know no schemas are asked without, so
// that the answer is to be checked.
func (c *Client) Complete(ctx context.Context, system, user string, schema json.RawMessage) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	case <-ctx.Done():
		return "", fault.Wrap(fault.Unavailable, ctx.Err(), "the language model is busy")
	}
	return c.try(ctx, question{system, user, schema})
}

// question is what a model is asked.
type question struct {
	system, user string
	schema       json.RawMessage
}
