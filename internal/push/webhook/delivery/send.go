package delivery

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"pregon/internal/push/queue"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/server/outbound"
	"pregon/internal/store"
)

const (
	sendTimeout = 15 * time.Second // of the whole exchange
	maxExcerpt  = 1 << 10          // of a response body, in bytes
	// idlePerHost is as many webhooks as one account may have served at a time. Services
	// that receive for many have one host.
	idlePerHost = 64
)

// attempt is the result of one request.
type attempt struct {
	store.Attempt
	ok         bool
	gone       bool          // the receiver answered 410
	retryAfter time.Duration // requested by the receiver
	canceled   bool          // by this process: it says nothing about the receiver
}

// sender makes requests to receivers.
type sender struct {
	client    *http.Client // follows no redirects
	timeout   time.Duration
	userAgent string
	observe   func(host string, status int, delivered bool, start time.Time, took time.Duration)
	log       *slog.Logger
}

func newSender(o Options) *sender {
	client := o.Client
	if client == nil {
		client = outbound.NewClient(outbound.Options{
			AllowPrivate: o.AllowPrivate,
			Timeout:      sendTimeout,
			IdlePerHost:  idlePerHost,
		})
	}
	own := *client
	own.Timeout = 0 // each request has its own
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &sender{
		client:    &own,
		timeout:   sendTimeout,
		userAgent: cmp.Or(o.UserAgent, "pregon"),
		observe:   o.Observe,
		log:       o.Logger,
	}
}

// send makes one attempt. It is canceled with the context.
func (s *sender) send(ctx context.Context, h *subscription.Hook, id string, body []byte) attempt {
	start := time.Now()
	a := s.exchange(ctx, h, id, start, body)
	a.At, a.Latency = start.UTC(), time.Since(start)
	a.canceled = !a.ok && ctx.Err() != nil
	if s.observe != nil && !a.canceled {
		if u, err := url.Parse(h.URL); err == nil {
			s.observe(u.Hostname(), a.Status, a.ok, start, a.Latency)
		}
	}
	return a
}

// exchange sends a body, and classifies the answer.
func (s *sender) exchange(ctx context.Context, h *subscription.Hook, id string, at time.Time, body []byte) (a attempt) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		a.Error = "the address is not a URL"
		return a
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", s.userAgent)
	if !sign(req.Header, h.SigningKeys(at), id, at, body) {
		a.Error = "the secret of this webhook cannot be decrypted: rotate it"
		return a
	}
	res, err := s.client.Do(req)
	if err != nil {
		a.Error = s.describeError(err)
		return a
	}
	defer res.Body.Close()
	a.Status = res.StatusCode
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxExcerpt)) // the status decides; an unreadable body is not shown
	a.Excerpt = excerpt(text)
	switch {
	case a.Status >= 300 && a.Status < 400:
		a.Error = fmt.Sprintf("the answer was %d: redirects are not followed", a.Status)
	case a.Status < 200 || a.Status >= 300:
		a.Error = fmt.Sprintf("the answer was %d", a.Status)
	default:
		a.ok = true
	}
	a.gone = a.Status == http.StatusGone
	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		a.retryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
	}
	return a
}

// describeError describes a failure to the account of the webhook without details
// of our network.
func (s *sender) describeError(err error) string {
	if described := outbound.Describe(err, s.timeout); described != "" {
		return described
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // without the URL, which may contain a password
	}
	s.log.Debug("cannot deliver to a webhook", "err", err)
	return "the HTTP request failed"
}

// excerpt returns a text without control and invalid characters.
func excerpt(b []byte) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, string(b))
	return strings.TrimSpace(text)
}

// maxFailing is the time after which a webhook is disabled.
const maxFailing = 5 * 24 * time.Hour

// retryAfter parses the header Retry-After.
func retryAfter(header string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseInt(header, 10, 64); err == nil {
		wait = time.Duration(min(seconds, int64(queue.MaxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return max(0, min(wait, queue.MaxRetryAfter))
}
