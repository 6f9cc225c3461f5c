package exchange_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/fault"
	"pregon/internal/source/exchange"
)

// transport answers without a network, so that time can be simulated.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Location": {"/again"}},
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

const origin = "https://exchange.example"

// All requests, including redirects, are a second apart.
func TestRequestsAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var times []time.Time
		c := client(t, exchange.Options{Origin: origin, Gap: time.Second, Transport: transport(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			times = append(times, time.Now())
			switch {
			case strings.HasSuffix(r.URL.Path, "/ShareDetailsInfo"):
				return answer(http.StatusFound, ""), nil
			case r.URL.Path == "/again":
				return answer(http.StatusOK, details), nil
			case strings.HasSuffix(r.URL.Path, "/ListedCompanies"):
				return answer(http.StatusOK, list(almazara, noria)), nil
			}
			return answer(http.StatusOK, `{"nif":"A00000000"}`), nil
		})})
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := c.Listed(t.Context()); err != nil {
				t.Error(err)
			}
		})
		for range 3 {
			all.Go(func() {
				if _, err := c.Ticker(t.Context(), isin); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if _, err := c.NIF(t.Context(), "90001"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(times) != 2+3*2+3 {
			t.Errorf("%d requests", len(times))
		}
		for n := range len(times) - 1 {
			if apart := times[n+1].Sub(times[n]); apart < time.Second {
				t.Errorf("requests %d and %d are %v apart", n, n+1, apart)
			}
		}
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(t, exchange.Options{Origin: origin, Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		start := time.Now()
		_, err := c.Ticker(t.Context(), isin)
		wantKind(t, err, fault.Unavailable)
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// The wait for a turn does not count against the timeout, and ends with its context.
func TestLongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(t, exchange.Options{Origin: origin, Gap: time.Minute, Transport: transport(func(*http.Request) (*http.Response, error) {
			return answer(http.StatusOK, details), nil
		})})
		for range 2 {
			if _, err := c.Ticker(t.Context(), isin); err != nil {
				t.Error(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Ticker(ctx, isin); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}
