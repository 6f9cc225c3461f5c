package llm_test

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/document/llm"
)

// endpoint answers the nth request without a network, for tests with fake time. A
// status of 0 means no answer.
type endpoint func(n int, r *http.Request) (status int, body string)

type transport struct {
	endpoint
	times atomic.Int64
	after string // Retry-After of responses other than 200
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := t.endpoint(int(t.times.Add(1)), r)
	if status == 0 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
	if status != 200 && t.after != "" {
		res.Header.Set("Retry-After", t.after)
	}
	return res, nil
}

// completion returns a response that used a number of tokens.
func completion(tokens int) string {
	return `{"choices":[{"message":{"content":"x"}}],"usage":{"total_tokens":` + strconv.Itoa(tokens) + `}}`
}

// newTimedClient returns a client of an endpoint, and its transport.
func newTimedClient(t *testing.T, e endpoint, o llm.Options) (*llm.Client, *transport) {
	t.Helper()
	tr := &transport{endpoint: e}
	o.URL, o.Model, o.Transport = "https://models.example/v1", "m", tr
	c, err := llm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c, tr
}

func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := newTimedClient(t, func(int, *http.Request) (int, string) { return 0, "" }, llm.Options{})
		start := time.Now()
		_, err := ask(t, c)
		if took := time.Since(start); err == nil || took > 45*time.Second || took < 40*time.Second {
			t.Errorf("got %v after %v, want the deadline", err, took)
		}
		if n := tr.times.Load(); n < 2 || n > 3 {
			t.Errorf("got %d requests, want 2 or 3", n)
		}
	})
}

func TestBackoffHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		c, tr := newTimedClient(t, func(n int, _ *http.Request) (int, string) {
			at = append(at, time.Now())
			if n < 3 {
				return 429, ""
			}
			return 200, completion(5)
		}, llm.Options{})
		tr.after = "7"
		if _, err := ask(t, c); err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			if apart := at[n+1].Sub(at[n]); apart != 7*time.Second {
				t.Errorf("got a retry after %v, want 7s", apart)
			}
		}
		// A long Retry-After fails the request and opens the breaker.
		tr.times.Store(0)
		tr.after = "120"
		if _, err := ask(t, c); err == nil {
			t.Fatal("got an answer, want an error")
		}
		time.Sleep(119 * time.Second)
		if _, err := ask(t, c); !errors.Is(err, llm.ErrOpen) || tr.times.Load() != 1 {
			t.Errorf("got %v after %d requests, want ErrOpen", err, tr.times.Load())
		}
		time.Sleep(2 * time.Second)
		tr.times.Store(5)
		if _, err := ask(t, c); err != nil {
			t.Error(err)
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		healthy := false
		c, tr := newTimedClient(t, func(int, *http.Request) (int, string) {
			if healthy {
				return 200, completion(5)
			}
			return 404, ""
		}, llm.Options{})
		for n := range 5 {
			if _, err := ask(t, c); err == nil || errors.Is(err, llm.ErrOpen) {
				t.Fatalf("request %d: got error %v, want one other than ErrOpen", n, err)
			}
		}
		for _, pause := range []time.Duration{1, 2, 4, 8, 15, 15} {
			if !c.Stats().Open {
				t.Fatal("got a closed breaker, want it open")
			}
			before := tr.times.Load()
			time.Sleep(pause*time.Minute - time.Second)
			if _, err := ask(t, c); !errors.Is(err, llm.ErrOpen) || tr.times.Load() != before {
				t.Fatalf("got %v within a pause of %d min, want ErrOpen", err, pause)
			}
			time.Sleep(2 * time.Second)
			if _, err := ask(t, c); errors.Is(err, llm.ErrOpen) || tr.times.Load() != before+1 {
				t.Fatalf("got %v after a pause of %d min, want a probe", err, pause)
			}
		}
		healthy = true
		time.Sleep(16 * time.Minute)
		for range 3 {
			if _, err := ask(t, c); err != nil {
				t.Fatal(err)
			}
		}
		if s := c.Stats(); s.Open {
			t.Errorf("got stats %+v, want a closed breaker", s)
		}
	})
}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := newTimedClient(t, func(int, *http.Request) (int, string) { return 200, completion(40) }, llm.Options{TokensPerDay: 100})
		for n := range 5 {
			if _, err := ask(t, c); (err != nil) != (n >= 3) || err != nil && !errors.Is(err, llm.ErrBudget) {
				t.Errorf("request %d: got error %v, want ErrBudget from request 3 on and none before", n, err)
			}
		}
		time.Sleep(24 * time.Hour)
		if _, err := ask(t, c); err != nil {
			t.Errorf("got error %v on the next day, want none", err)
		}
		if s := c.Stats(); tr.times.Load() != 4 || s.Tokens != 160 {
			t.Errorf("got %d requests and stats %+v, want 4 requests and 160 tokens", tr.times.Load(), s)
		}
	})
}

func TestInvalidTokenCounts(t *testing.T) {
	for _, usage := range []string{`{"total_tokens":-5}`, `{"total_tokens":1e99}`, `{}`, `{"total_tokens":99999999999999}`, `null`} {
		c, _ := newTimedClient(t, func(int, *http.Request) (int, string) {
			return 200, `{"choices":[{"message":{"content":"x"}}],"usage":` + usage + `}`
		}, llm.Options{})
		if _, err := ask(t, c); err != nil || c.Stats().Tokens == 0 {
			t.Errorf("%s: got error %v and stats %+v, want no error and an estimate of the tokens", usage, err, c.Stats())
		}
	}
}

func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		c, _ := newTimedClient(t, func(int, *http.Request) (int, string) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return 200, completion(5)
		}, llm.Options{})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := ask(t, c); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if most.Load() != 1 {
			t.Errorf("got %d requests at a time, want 1", most.Load())
		}
	})
}
