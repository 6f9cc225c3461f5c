package tail

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pregon/internal/cli"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/retry"
)

const (
	retryAfter   = 2 * time.Second // unless the service says another time
	longestPause = time.Minute     // whatever the service says
	maxResponse  = 64 << 20        // bytes
)

// Service prints the changes that a service answers, by long polling. The filter
// holds the query parameters of GET /api/v1/changes. It returns when the context
// ends.
func (p *Printer) Service(ctx context.Context, origin, key string, filter url.Values, after string) error {
	s := service{origin: strings.TrimRight(origin, "/"), key: key}
	if after == "" {
		answer, err := s.changes(ctx, url.Values{"after": {"0"}, "limit": {"1"}}) // for the newest
		if err != nil {
			return err
		}
		next, _ := disclosure.ParseCursor(answer.Next)
		after = disclosure.Cursor{Epoch: next.Epoch, Seq: answer.Newest}.String()
	}
	query := maps.Clone(filter)
	for first := true; ; first = false {
		query.Set("after", after)
		query.Set("wait", "25")
		answer, err := s.changes(ctx, query)
		if err == nil && answer.Ahead && !first {
			// Another replica answered before. With the cursor of this answer, changes
			// would be printed again.
			err = fault.New(fault.Unavailable, "%s does not have the latest changes yet", s.origin)
		}
		if fault.KindOf(err) == fault.Unavailable && ctx.Err() == nil {
			if err := p.pause(ctx, err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if answer.Reset != nil {
			p.reset(answer.Reset)
		}
		for _, event := range answer.Data {
			if err := p.Event(event); err != nil {
				return err
			}
		}
		after = cmp.Or(answer.Next, strconv.FormatInt(answer.NextAfter, 10)) // an older service has no cursors
	}
}

// service is a running Pregón.
type service struct{ origin, key string }

// client follows no redirects: the key is only for the service that was named.
var client = &http.Client{
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

type changes struct {
	Data      []json.RawMessage `json:"data"`
	NextAfter int64             `json:"next_after"`
	Newest    int64             `json:"newest"`
	Next      string            `json:"next"`
	Ahead     bool              `json:"ahead"`
	Reset     *events.Reset     `json:"reset"`
}

func (s *service) changes(ctx context.Context, query url.Values) (answer changes, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.origin+"/api/v1/changes?"+query.Encode(), nil)
	if err != nil {
		return answer, err
	}
	req.Header.Set("X-API-Key", s.key)
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		return answer, fault.Wrap(fault.Unavailable, err, "%s does not answer", s.origin)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return answer, fault.Wrap(fault.Unavailable, err, "the response of %s is incomplete", s.origin)
	}
	if resp.StatusCode != http.StatusOK {
		return answer, s.refused(resp, body)
	}
	return answer, json.Unmarshal(body, &answer)
}

// refused returns the error of a response that has no changes. It is Unavailable if
// the same request may succeed later.
func (s *service) refused(resp *http.Response, body []byte) error {
	var problem struct{ Detail string }
	_ = json.Unmarshal(body, &problem) // without a problem document the detail is empty
	f := fault.New(fault.Invalid, "%s answers %s: %s", s.origin, resp.Status, problem.Detail)
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		f.Kind = fault.Unavailable
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			f.RetryAfter = time.Duration(min(seconds, int(longestPause/time.Second))) * time.Second
		}
	}
	return f
}

// pause prints an Unavailable error, and waits as long as it says.
func (p *Printer) pause(ctx context.Context, err error) error {
	fmt.Fprintln(p.Err, "pregon:", cli.OneLine(err))
	wait := retryAfter
	if f, ok := errors.AsType[*fault.Error](err); ok && f.RetryAfter > 0 {
		wait = f.RetryAfter
	}
	return retry.Sleep(ctx, wait)
}
