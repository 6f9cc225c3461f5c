package channel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"pregon/internal/server/outbound"
)

const (
	postTimeout   = 15 * time.Second // of the whole exchange
	maxAnswer     = 64 << 10         // of what a service answers, in bytes
	maxRetryAfter = 24 * time.Hour
)

// poster sends requests to the services of chats and browsers.
type poster struct {
	client       *http.Client // follows no redirects
	allowPrivate bool
	userAgent    string
	timeout      time.Duration // of the whole exchange
	maxAnswer    int64         // of which the beginning is read, in bytes
	log          *slog.Logger
}

func newPoster(s Settings) *poster {
	client := s.Client
	if client == nil {
		client = outbound.NewClient(outbound.Options{AllowPrivate: s.AllowPrivate, Timeout: postTimeout})
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &poster{
		client:       &own,
		allowPrivate: s.AllowPrivate,
		userAgent:    cmp.Or(s.UserAgent, "pregon"),
		timeout:      postTimeout,
		maxAnswer:    maxAnswer,
		log:          s.Logger,
	}
}

// answer is what a service answered.
type answer struct {
	status     int
	body       []byte // its beginning
	retryAfter time.Duration
}

// postJSON sends a value as JSON, and classifies the answer.
func (p *poster) postJSON(ctx context.Context, address string, value any) (Outcome, answer) {
	body, err := json.Marshal(value)
	if err != nil {
		return Outcome{Error: "the message could not be encoded"}, answer{}
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return p.post(ctx, address, header, body)
}

// post sends a body, and classifies the answer.
func (p *poster) post(ctx context.Context, address string, header http.Header, body []byte) (Outcome, answer) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return Outcome{Permanent: true, Error: "the stored address is not a URL"}, answer{}
	}
	req.Header = header
	req.Header.Set("User-Agent", p.userAgent)
	got, err := p.exchange(req)
	if err != nil {
		return Outcome{Error: p.describe(err)}, answer{}
	}
	return outcomeOf(got), got
}

// exchange makes a request and reads the beginning of the answer.
func (p *poster) exchange(req *http.Request) (answer, error) {
	res, err := p.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, p.maxAnswer)) // the status decides
	return answer{
		status:     res.StatusCode,
		body:       body,
		retryAfter: retryAfter(res.Header.Get("Retry-After"), time.Now()),
	}, nil
}

// describe says why a request failed, without its address.
func (p *poster) describe(err error) string {
	described := outbound.Describe(err, p.timeout)
	if described == "" {
		p.log.Debug("a request of an alert failed in an unexpected way")
		return "the HTTP request failed"
	}
	return described
}

// outcomeOf classifies a status: an address that is gone or refuses us is permanent,
// and so is a redirect, because redirects are not followed.
func outcomeOf(a answer) Outcome {
	o := Outcome{Status: a.status}
	switch {
	case a.status >= 200 && a.status < 300:
		o.OK = true
		return o
	case a.status < 400:
		o.Permanent = true
		o.Error = fmt.Sprintf("the answer was %d: redirects are not followed", a.status)
		return o
	case isTemporary(a.status):
		o.RetryAfter = a.retryAfter
	default:
		o.Permanent = true
	}
	o.Error = fmt.Sprintf("the answer was %d", a.status)
	return o
}

// isTemporary reports whether a request with this answer may succeed later.
func isTemporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// retryAfter parses the header Retry-After.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseFloat(header, 64); err == nil {
		return wait(seconds)
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, min(at.Sub(now), maxRetryAfter))
	}
	return 0
}

// wait returns a number of seconds that a service asks to wait, with a bound.
func wait(seconds float64) time.Duration {
	if !(seconds > 0) { // also not a number
		return 0
	}
	if seconds > maxRetryAfter.Seconds() {
		return maxRetryAfter
	}
	return time.Duration(math.Ceil(seconds*1000)) * time.Millisecond
}
