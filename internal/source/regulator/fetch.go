package regulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pregon/internal/fault"
)

const (
	maxHops = 5
	// accept is required: without it the site answers 500.
	accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
)

// ErrTooLarge is the error for an answer above its size limit.
var ErrTooLarge = errors.New("the answer is larger")

// answer is a page with status 200.
type answer struct {
	body        []byte
	contentType string
	address     *url.URL // after redirects
	received    time.Time
	taken       []cachedRedirect // cached redirects that were followed
	validators  Validators
	unchanged   bool // it has status 304 and no body
}

// get requests a path of the site with its query.
func (c *Client) get(ctx context.Context, path string, l limit) (answer, error) {
	u, err := c.locate(path)
	if err != nil {
		return answer{}, err
	}
	a, err := c.ask(ctx, u, l)
	if e, ok := errors.AsType[*TransportError](err); ok {
		e.Path = shown(u)
		return answer{}, e
	}
	if err != nil {
		return answer{}, fmt.Errorf("asking the regulator for %s: %w", shown(u), err)
	}
	return a, nil
}

// ask requests an address, or directly its cached redirect target. When the target
// does not exist any more, it requests the address itself, which may have moved again.
func (c *Client) ask(ctx context.Context, u *url.URL, l limit) (answer, error) {
	to, taken := c.redirects.resolve(u)
	a, err := c.follow(ctx, to, l)
	if err == nil {
		a.taken = taken
		return a, nil
	}
	if len(taken) == 0 || ctx.Err() != nil {
		return a, err
	}
	c.redirects.forget(taken)
	if isGone(err) || fault.KindOf(err) == fault.NotFound {
		return c.follow(ctx, u, l)
	}
	return a, err
}

// checkRedirects returns the parse error of an answer unchanged. When the page as a
// whole is unreliable, it drops the cached redirects that led there.
func (c *Client) checkRedirects(a *answer, err error) error {
	if e, ok := errors.AsType[*MarkupError](err); ok && e.Whole {
		c.redirects.forget(a.taken)
	}
	return err
}

// isGone reports whether the status means that the page does not exist.
func isGone(err error) bool {
	e, ok := errors.AsType[*StatusError](err)
	return ok && (e.Status == http.StatusNotFound || e.Status == http.StatusGone)
}

// locate converts a path or link of the site to the requested address.
func (c *Client) locate(link string) (*url.URL, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%q is not an address", WithoutSession(link))
	}
	return c.rebase(u)
}

// rebase moves an address of any of the regulator's hosts to the requested host.
func (c *Client) rebase(u *url.URL) (*url.URL, error) {
	ours := u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/")
	if u.Scheme == "https" || u.Scheme == "http" {
		ours = c.site().origin(u) != "" || isHost(simulatedHosts, u)
	}
	if !ours || u.Opaque != "" {
		return nil, fault.New(fault.Invalid, "%s is not on the regulator's site", WithoutSession(u.Redacted()))
	}
	return &url.URL{
		Scheme:   c.origin.Scheme,
		Host:     c.origin.Host,
		Path:     u.Path,
		RawPath:  u.RawPath,
		RawQuery: escapeQuery(u.RawQuery),
	}, nil
}

// follow sends a request and follows redirects. Waiting for a turn does not count
// against the time limit.
func (c *Client) follow(ctx context.Context, u *url.URL, l limit) (answer, error) {
	been := map[string]bool{}
	var learned []cachedRedirect
	for range 1 + maxHops {
		if been[u.String()] {
			return answer{}, transport(errLoop)
		}
		been[u.String()] = true
		if err := c.queue.Wait(ctx, c.priority); err != nil {
			return answer{}, err
		}
		begun := time.Now()
		a, next, err := c.roundTrip(ctx, u, l)
		if err != nil {
			return answer{}, err
		}
		if next == nil {
			c.redirects.remember(learned, u)
			return a, nil
		}
		if m, ok := newCachedRedirect(u, next.to); ok && next.permanent {
			learned = append(learned, m)
		}
		l.within -= time.Since(begun)
		u = next.to
	}
	return answer{}, transport(errHops)
}

// redirect is the answer that names another address.
type redirect struct {
	to        *url.URL
	permanent bool
}

// roundTrip makes one request and returns the answer or the redirect.
func (c *Client) roundTrip(parent context.Context, u *url.URL, l limit) (answer, *redirect, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	slow := time.AfterFunc(l.within, func() { cancel(ErrSlow) })
	defer slow.Stop()
	a, next, err := c.send(ctx, cancel, u, l)
	switch {
	case err == nil:
		return a, next, nil
	case parent.Err() != nil:
		return answer{}, nil, parent.Err()
	case ctx.Err() != nil:
		return answer{}, nil, transport(context.Cause(ctx))
	}
	return answer{}, nil, err
}

func (c *Client) send(
	ctx context.Context,
	cancel context.CancelCauseFunc,
	u *url.URL,
	l limit,
) (answer, *redirect, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return answer{}, nil, transport(err)
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", accept)
	req.Header.Set("Accept-Language", "es")
	l.unless.set(req.Header)
	res, err := c.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			e.URL = WithoutSession(e.URL)
			if text := e.Err.Error(); WithoutSession(text) != text { // of a redirect
				e.Err = errors.New(WithoutSession(text))
			}
		}
		return answer{}, nil, transport(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Pregon-Source") == "demo" {
		c.simulated.Store(true)
	}
	c.answered.Store(true)
	if isRedirect(res) {
		_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // to reuse the connection
		to, err := c.target(u, res.Header.Get("Location"))
		if err != nil {
			return answer{}, nil, err
		}
		forGood := res.StatusCode == http.StatusMovedPermanently || res.StatusCode == http.StatusPermanentRedirect
		return answer{}, &redirect{to: to, permanent: forGood}, nil
	}
	body, err := readBody(res, l.most, c.limits.stall, cancel)
	if err != nil {
		return answer{}, nil, err
	}
	a := answer{
		body:        body,
		contentType: res.Header.Get("Content-Type"),
		address:     u,
		received:    time.Now(),
		validators:  validatorsOf(res.Header),
		unchanged:   res.StatusCode == http.StatusNotModified && l.unless != (Validators{}),
	}
	if a.unchanged {
		return a, nil, nil
	}
	if a.saysMissing() {
		return answer{}, nil, errMissing()
	}
	if res.StatusCode != http.StatusOK {
		return answer{}, nil, &StatusError{Status: res.StatusCode}
	}
	if a.saysFailed() {
		return answer{}, nil, errFailed()
	}
	return a, nil, nil
}

func isRedirect(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return res.Header.Get("Location") != ""
	}
	return false
}

// target returns the target of a redirect. A redirect to the error page "no such
// page" is not followed.
func (c *Client) target(from *url.URL, location string) (*url.URL, error) {
	to, err := from.Parse(location)
	if err != nil {
		return nil, &TransportError{
			Reason: "the regulator redirects to a link that is not an address",
			Err:    errors.New(WithoutSession(err.Error())),
		}
	}
	if namesMissing(to) {
		return nil, errMissing()
	}
	next, err := c.rebase(to)
	if err != nil {
		return nil, &TransportError{Reason: "the regulator redirects to another host", Err: errors.New(WithoutSession(to.Redacted()))}
	}
	return next, nil
}

// readBody reads a decompressed body up to a size. A body that stalls cancels the
// request.
func readBody(res *http.Response, most int64, stall time.Duration, cancel context.CancelCauseFunc) ([]byte, error) {
	silence := time.AfterFunc(stall, func() { cancel(ErrStalled) })
	defer silence.Stop()
	var body bytes.Buffer
	if n := res.ContentLength; n > 0 && n <= most {
		body.Grow(int(n) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(&stallReader{io.LimitReader(res.Body, most+1), silence, stall}); err != nil {
		return nil, transport(err)
	}
	if int64(body.Len()) > most {
		return nil, transport(fmt.Errorf("%w than %d MB", ErrTooLarge, most>>20))
	}
	return body.Bytes(), nil
}

// stallReader resets a timer with each read.
type stallReader struct {
	r     io.Reader
	timer *time.Timer
	after time.Duration
}

func (a *stallReader) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if n > 0 {
		a.timer.Reset(a.after)
	}
	return n, err
}

// The site reports a missing page by a code in the address or words in the page,
// with any status, even 200.
const (
	missingCode  = "errorcode=cvfe"
	missingWords = "verifique la ruta"
	// failedWords are on another error page, which has no code.
	failedWords = "no ha sido posible completar su consulta"
)

func errMissing() error { return fault.New(fault.NotFound, "the regulator does not have this page") }

func errFailed() error {
	return fault.New(fault.Unavailable, "the regulator answers with its error page: it could not complete the request")
}

func namesMissing(u *url.URL) bool {
	return strings.Contains(strings.ToLower(u.RawQuery), missingCode)
}

// saysMissing reports whether the page is the error page "no such page". A page
// with a list is not, since a report may quote its words.
func (a *answer) saysMissing() bool {
	if namesMissing(a.address) {
		return true
	}
	if !bytes.Contains(a.body, []byte("erifique la ruta")) && !bytes.Contains(a.body, []byte("CVFE")) {
		return false
	}
	return a.saysOnly(missingWords, missingCode)
}

// saysFailed reports whether the page is the error page without a code.
func (a *answer) saysFailed() bool {
	return bytes.Contains(a.body, []byte("completar su consulta")) && a.saysOnly(failedWords)
}

// saysOnly reports whether a page has one of the words, in lower case, and no
// list, table or channel.
func (a *answer) saysOnly(words ...string) bool {
	if a.contentType != "" && !strings.HasPrefix(a.contentType, "text/") {
		return false
	}
	page := bytes.ToLower(a.body)
	has := func(s string) bool { return bytes.Contains(page, []byte(s)) }
	return slices.ContainsFunc(words, has) && !has(listPart) && !has(rowPart) && !has(tablePart) && !has("<channel")
}
