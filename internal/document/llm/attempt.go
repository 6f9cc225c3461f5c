package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

const (
	maxAnswer = 1 << 20    // bytes
	maxError  = 16 << 10   // bytes of an error response, which may hold a code
	maxUsage  = 10_000_000 // tokens of one answer, whatever the endpoint claims
)

// failure is the error of an attempt.
type failure struct {
	status     int           // 0 without a response
	code       string        // the endpoint's error code, if it is safe to show
	param      string        // the request field that the endpoint rejects
	again      bool          // a retry may succeed
	retryAfter time.Duration // requested by the endpoint
	err        error
}

func (f *failure) Error() string {
	switch {
	case f.err != nil:
		return "the language model did not answer: " + f.err.Error()
	case f.code != "":
		return fmt.Sprintf("the language model answered %d (%s)", f.status, f.code)
	}
	return fmt.Sprintf("the language model answered %d", f.status)
}

func (f *failure) Unwrap() error { return f.err }

// statusCode returns the status of the response. That of no failure is 200.
func (f *failure) statusCode() int {
	if f == nil {
		return http.StatusOK
	}
	return f.status
}

// attempt sends one request.
func (c *Client) attempt(ctx context.Context, q question, d dialect) (answer, *failure) {
	ctx, cancel := context.WithTimeout(ctx, c.o.AttemptTimeout)
	defer cancel()
	body, err := json.Marshal(d.request(q))
	if err != nil {
		return answer{}, &failure{err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return answer{}, &failure{err: errors.New("the address is invalid")}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "pregon")
	if c.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Key)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return answer{}, &failure{again: true, err: withoutURL(ctx, err)}
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return answer{}, c.refusal(res)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer{}, &failure{again: true, err: withoutURL(ctx, err)}
	case len(text) > maxAnswer:
		return answer{}, &failure{err: errors.New("its answer is longer than 1 MiB")}
	}
	return decode(text)
}

// withoutURL returns an error without the address, whose query may hold a secret.
func withoutURL(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return err
}

// answer is the answer of a model and its cost.
type answer struct {
	text   string
	tokens int // 0 if the endpoint does not return it
}

// decode decodes a successful response.
func decode(body []byte) (answer, *failure) {
	var res struct {
		Choices []struct {
			Message struct {
				Content *string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			Total json.Number `json:"total_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &res); err != nil {
		return answer{}, &failure{err: errors.New("its answer is not the JSON of a completion")}
	}
	a := answer{}
	if total, err := res.Usage.Total.Int64(); err == nil {
		a.tokens = int(min(max(total, 0), maxUsage))
	}
	if len(res.Choices) == 0 || res.Choices[0].Message.Content == nil ||
		strings.TrimSpace(*res.Choices[0].Message.Content) == "" {
		return a, &failure{err: errors.New("its answer is empty")}
	}
	a.text = *res.Choices[0].Message.Content
	return a, nil
}

// plainWord matches codes that are safe to show. The sentences of endpoints may
// contain parts of the key.
var plainWord = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,63}$`)

// refusal returns the failure of a response whose status is not 200.
func (c *Client) refusal(res *http.Response) *failure {
	f := &failure{status: res.StatusCode}
	f.again = f.status == http.StatusTooManyRequests || f.status >= 500
	f.retryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
	if f.status >= 300 && f.status < 400 {
		f.err = fmt.Errorf("the answer was %d: redirects are not followed", f.status)
		return f
	}
	var body struct {
		Error struct {
			Code  any `json:"code"`
			Param any `json:"param"`
		} `json:"error"`
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxError)) // the status is enough
	if json.Unmarshal(text, &body) == nil {
		f.code, f.param = c.plain(body.Error.Code), c.plain(body.Error.Param)
	}
	return f
}

// plain returns value if it is a word that is safe to show, and otherwise "".
func (c *Client) plain(value any) string {
	word, _ := value.(string)
	if !plainWord.MatchString(word) || c.o.Key != "" &&
		(strings.Contains(word, c.o.Key) || strings.Contains(c.o.Key, word)) {
		return ""
	}
	return word
}
