package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	strictjson "github.com/go-jose/go-jose/v4/json" // refuses members that are there twice

	"pregon/internal/auth/access"
	"pregon/internal/auth/jwks"
	"pregon/internal/auth/token"
	"pregon/internal/fault"
	"pregon/internal/server/origin"
	"pregon/internal/server/outbound"
	"pregon/internal/server/ratelimit"
)

const (
	maxDocument     = 5 << 10 // bytes
	maxDocumentURL  = 500     // bytes
	maxDocuments    = 1000    // in the cache, which is emptied when it is full
	maxDocumentURIs = 20
	documentTimeout = 5 * time.Second
	failureTime     = 30 * time.Second // how long a failure is cached
	maxStale        = 24 * time.Hour   // how long a document is used while its host does not answer
	maxFetches      = 32               // at the same time

	// One address may cause so many fetches in so much time. A document is fetched
	// once a minute at most, so that the limit does not concern the servers of a
	// hosted assistant.
	maxCaused    = 60
	causedWindow = 10 * time.Minute
)

// documents holds the documents that describe clients (Client ID Metadata Documents).
// Anyone can make the service fetch one, so that all of it is bounded.
type documents struct {
	client       *http.Client
	allowPrivate bool
	logger       *slog.Logger
	fetches      chan struct{} // has an element for each running fetch
	causes       *ratelimit.Window

	mu    sync.Mutex
	known map[string]*fetched // by address; guarded by mu
}

// fetched is a document, or one that is being fetched until done is closed.
type fetched struct {
	done   chan struct{}
	until  time.Time // zero while it is being fetched; guarded by documents.mu
	loaded time.Time // when client was fetched
	client *Client
	err    error
}

func newDocuments(allowPrivate bool, logger *slog.Logger) *documents {
	return &documents{
		client:       outbound.NewClient(outbound.Options{AllowPrivate: allowPrivate, Timeout: documentTimeout}),
		allowPrivate: allowPrivate,
		logger:       logger,
		fetches:      make(chan struct{}, maxFetches),
		known:        map[string]*fetched{},
		causes: ratelimit.NewWindow(ratelimit.Policy{
			Name:   "client-documents",
			Limit:  maxCaused,
			Window: causedWindow,
		}),
	}
}

// get returns the client whose id is an address.
func (d *documents) get(ctx context.Context, id string, from ratelimit.Subject) (*Client, error) {
	if reason := d.checkURL(id); reason != "" {
		return nil, fault.New(fault.Invalid, "The application is not known here: its client_id %s.", reason)
	}
	f, err := d.find(ctx, id, from)
	if err != nil {
		return nil, err
	}
	select {
	case <-f.done:
		return f.client, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// checkURL returns what is wrong with the address of a document, or "".
func (d *documents) checkURL(id string) string {
	if len(id) > maxDocumentURL {
		return fmt.Sprintf("may have at most %d bytes", maxDocumentURL)
	}
	if strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' || c == '\\' }) {
		return "has characters that an address cannot have"
	}
	if !origin.PlainHost(id) {
		return "has a percent-encoded host, which would be shown as another host: write an internationalized name " +
			"in its xn-- form"
	}
	if err := outbound.Check(id, d.allowPrivate); err != nil {
		return "is not allowed: " + err.Error()
	}
	u, err := url.Parse(id)
	switch {
	case err != nil || u.Path == "" || u.Path == "/":
		return "must be an address with a path"
	case hasDotSegment(u):
		return "must not have the path segments . or .."
	}
	return ""
}

// find returns a known document, or starts to fetch it.
func (d *documents) find(ctx context.Context, id string, from ratelimit.Subject) (*fetched, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.known[id]
	if old != nil && (old.until.IsZero() || time.Now().Before(old.until)) {
		return old, nil
	}
	if !d.causes.Take(ctx, from).OK {
		return nil, fault.New(fault.RateLimited, "Too many descriptions of applications were asked for from "+
			"this address. Try again in ten minutes.")
	}
	select {
	case d.fetches <- struct{}{}:
	default:
		return nil, fault.New(fault.Unavailable,
			"Too many descriptions of applications are being fetched. Try again in a few seconds.")
	}
	f := &fetched{done: make(chan struct{})}
	if len(d.known) >= maxDocuments {
		clear(d.known)
	}
	d.known[id] = f
	go d.fetch(id, f, old)
	return f, nil
}

// fetch does not end with the request that caused it, since others may wait for it.
// While the host of a document does not answer, the old one is used for a day, so that
// applications can go on.
func (d *documents) fetch(id string, f, old *fetched) {
	ctx, cancel := context.WithTimeout(context.Background(), documentTimeout)
	defer cancel()
	fresh := failureTime
	body, header, err := d.load(ctx, id)
	if err == nil {
		if f.client, err = d.parse(id, body); err == nil {
			fresh, f.loaded = jwks.Freshness(header), time.Now()
		}
	}
	if err != nil {
		f.client, f.err = nil, describe(id, err)
		if fault.KindOf(f.err) == fault.Unavailable && old != nil && old.client != nil &&
			time.Since(old.loaded) < maxStale {
			f.client = old.client
			f.loaded = old.loaded
			f.err = nil
		}
	}
	d.mu.Lock()
	f.until = time.Now().Add(fresh)
	d.mu.Unlock()
	<-d.fetches
	close(f.done)
}

// badDocument is what is wrong with a document, for people to read.
type badDocument string

func (b badDocument) Error() string { return string(b) }

// describe returns the fault for a document. Why a connection failed is for the log
// only: it says something about the network of this machine.
func describe(id string, err error) error {
	u, _ := url.Parse(id) // it was checked
	if bad, ok := errors.AsType[badDocument](err); ok {
		return fault.New(fault.Invalid, "The description of the application at %s cannot be used: %s.", u.Host,
			string(bad))
	}
	if reason, refused := outbound.Refused(err); refused {
		return fault.New(fault.Invalid, "The description of the application at %s is not fetched: %s.", u.Host, reason)
	}
	return fault.Wrap(fault.Unavailable, err,
		"The description of the application cannot be fetched from %s now. Try again in a minute.", u.Host)
}

func (d *documents) load(ctx context.Context, id string) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("User-Agent", "pregon")
	req.Header.Set("Accept", "application/json")
	res, err := d.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, nil, badDocument(fmt.Sprintf("its address answers with status %d, not 200", res.StatusCode))
	}
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" &&
		!(strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) {
		return nil, nil, badDocument("its type is not application/json")
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	if err != nil {
		return nil, nil, err
	}
	if len(body) > maxDocument {
		return nil, nil, badDocument("it is longer than 5 KiB")
	}
	return body, res.Header, nil
}

// metadata is the description that a client gives of itself (RFC 7591).
type metadata struct {
	ClientID      string          `json:"client_id"`
	Name          string          `json:"client_name"`
	RedirectURIs  []string        `json:"redirect_uris"`
	Auth          string          `json:"token_endpoint_auth_method"`
	JWKSURI       string          `json:"jwks_uri"`
	JWKS          json.RawMessage `json:"jwks"`
	Secret        any             `json:"client_secret"`
	SecretExpires any             `json:"client_secret_expires_at"`
	GrantTypes    []string        `json:"grant_types"`
	ResponseTypes []string        `json:"response_types"`
}

// parse reads a document.
func (d *documents) parse(id string, body []byte) (*Client, error) {
	var m metadata
	if err := strictjson.Unmarshal(body, &m); err != nil {
		return nil, badDocument("it is not JSON of the right form, or has a member twice")
	}
	switch {
	case m.ClientID != id:
		return nil, badDocument("its client_id is not its own address")
	case m.Secret != nil || m.SecretExpires != nil:
		return nil, badDocument("it has a client_secret, which would not be secret")
	}
	if reason := checkRedirects(m.RedirectURIs, maxDocumentURIs); reason != "" {
		return nil, badDocument(reason)
	}
	u, err := url.Parse(id)
	if err != nil {
		return nil, err
	}
	c := &Client{
		ID:           id,
		Name:         cleanName(m.Name),
		Host:         u.Host,
		RedirectURIs: m.RedirectURIs,
		Kind:         Document,
		scopes:       access.AllScopes,
	}
	if c.Name == "" {
		c.Name = c.Host
	}
	c.authentication, err = d.authentication(m)
	return c, err
}

// checkRedirects returns what is wrong with the redirect URIs of a client, or "".
func checkRedirects(uris []string, most int) string {
	if len(uris) < 1 || len(uris) > most {
		return fmt.Sprintf("redirect_uris must have 1 to %d elements", most)
	}
	for i, uri := range uris {
		if reason := checkRedirect(uri); reason != "" {
			return fmt.Sprintf("redirect_uris[%d] %s", i, reason)
		}
	}
	return ""
}

func (d *documents) authentication(m metadata) (a token.Authentication, err error) {
	a.Method = m.Auth
	a.Unvouched = true
	switch {
	case m.Auth == "" || m.Auth == token.AuthNone:
		a.Method = token.AuthNone
	case m.Auth != token.AuthJWT:
		return a, badDocument("its token_endpoint_auth_method must be none or private_key_jwt")
	case (m.JWKSURI == "") == (m.JWKS == nil):
		return a, badDocument("it must have either jwks_uri or jwks")
	case m.JWKS != nil:
		if a.Keys, err = jwks.Inline(m.JWKS); err != nil {
			return a, badDocument("its jwks cannot be used: " + err.Error())
		}
	default:
		if err := outbound.Check(m.JWKSURI, d.allowPrivate); err != nil {
			return a, badDocument("its jwks_uri is not allowed: " + err.Error())
		}
		a.Keys = jwks.Remote(m.JWKSURI, d.client, d.logger)
	}
	return a, nil
}
