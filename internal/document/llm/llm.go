// Package llm is a client of language models that implement the chat completions
// API of OpenAI.
//
// The endpoint is outside our control: it may be slow, down, expensive or wrong.
// So every answer is limited in time and size, every day has a budget, failures
// are retried a few times, and a circuit breaker stops requests while they last.
// Callers must work without an answer. The key is sent to the endpoint only:
// redirects are not followed, and no error or log line contains it.
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

// Options configure a Client. URL and Model are required.
type Options struct {
	// URL is the address of the endpoint: a full address that ends with
	// /chat/completions; or a base address, as clients of OpenAI use it, which
	// mostly ends with /v1; or only a scheme and host, for the base /v1 there. A
	// query is kept.
	URL   string
	Model string
	Key   string // sent as a bearer token, unless empty

	TokensPerDay int // of prompts and answers in a UTC day, as the endpoint counts them; 0: no limit

	AttemptTimeout time.Duration // 0: 20 s
	Timeout        time.Duration // for all attempts together; 0: 45 s

	Transport http.RoundTripper // for tests; nil: a new one
	Logger    *slog.Logger      // nil: no logging

	// Trace, if not nil, is called after every attempt, with the status of the answer,
	// or 0 if there was none that could be used.
	Trace func(model string, status int, start time.Time)
}

const (
	defaultAttempt = 20 * time.Second
	defaultTimeout = 45 * time.Second
	maxTokens      = 2000 // of an answer
)

// ErrBudget is the error after the day's budget is used up.
var ErrBudget = fault.New(fault.RateLimited, "the day's budget for the language model is used up")

// ErrOpen is the error while the circuit breaker is open.
var ErrOpen = fault.New(fault.Unavailable, "the language model failed repeatedly and is not used for a while")

// Client sends requests to one model, one at a time. It is safe for concurrent use.
type Client struct {
	o       Options
	address string
	client  *http.Client
	log     *slog.Logger
	turn    chan struct{} // holds an element while a question is asked
	dialect dialect       // of the last answer; for the holder of the turn
	state
}

// New returns a client, or an error if the options are invalid. It sends nothing.
func New(o Options) (*Client, error) {
	address, err := endpoint(o.URL)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(o.Model) == "" {
		return nil, fault.New(fault.Invalid, "the language model does not have a name")
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fault.New(fault.Invalid,
			"the key of the language model has invalid characters, such as a space or a line break")
	}
	o.AttemptTimeout = cmp.Or(o.AttemptTimeout, defaultAttempt)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	if o.Transport == nil {
		o.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{
		o:       o,
		address: address,
		log:     o.Logger,
		client: &http.Client{
			Transport:     o.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		turn: make(chan struct{}, 1),
	}, nil
}

// endpoint returns the full address of the endpoint.
func endpoint(base string) (string, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fault.New(fault.Invalid,
			"the address of the language model is not a URL like https://models.example/v1")
	case u.User != nil:
		return "", fault.New(fault.Invalid,
			"the address of the language model has a password in it: give it as the key")
	}
	const path = "/chat/completions"
	switch base := strings.TrimRight(u.Path, "/"); {
	case strings.HasSuffix(base, path):
		u.Path = base
	case base == "":
		u.Path = "/v1" + path
	default:
		u.Path = base + path
	}
	u.RawPath = ""
	u.Fragment = ""
	u.RawFragment = ""
	return u.String(), nil
}

// Close closes idle connections.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Complete returns the model's answer to a prompt. The answer should be JSON of the
// schema, but some endpoints do not support schemas, so the caller must check it.
func (c *Client) Complete(ctx context.Context, system, user string, schema json.RawMessage) (string, error) {
	return c.complete(ctx, question{c.o.Model, system, user, schema})
}

// Model is another model of the endpoint of a client. It shares the client's budget,
// turn and circuit breaker.
type Model struct {
	client *Client
	name   string
}

// Model returns a model by its name, or the client's own if the name is empty.
func (c *Client) Model(name string) Model { return Model{c, cmp.Or(name, c.o.Model)} }

// Complete is like that of the client.
func (m Model) Complete(ctx context.Context, system, user string, schema json.RawMessage) (string, error) {
	return m.client.complete(ctx, question{m.name, system, user, schema})
}

func (c *Client) complete(ctx context.Context, q question) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return "", fault.Wrap(fault.Unavailable, ctx.Err(), "the language model is busy")
	}
	return c.ask(ctx, q)
}

// question is a prompt with the schema of its answer.
type question struct {
	model, system, user string
	schema              json.RawMessage
}
