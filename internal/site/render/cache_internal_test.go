package render

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

// of returns the queue of a caller, with turns for so many at the same time.
func of(caller access.Caller, most int) Queue {
	return Queue{access.NewTurns(most, time.Second), caller}
}

// body returns a function that renders a page of a size.
func body(size int) func() (*Response, error) {
	return func() (*Response, error) { return &Response{body: make([]byte, size)}, nil }
}

// Pages that are asked for often stay in the cache, and the cache stays small,
// however many others are asked for once.
func TestCacheKeepsWhatIsUsed(t *testing.T) {
	var c Cache
	queue := of("a", 1)
	rendered := 0
	hot := func() {
		if _, err := c.Get(t.Context(), State{}, "hot", queue, func() (*Response, error) { rendered++; return &Response{body: make([]byte, 1000)}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10_000 {
		hot()
		_, _ = c.Get(t.Context(), State{}, strconv.Itoa(i), queue, body(20_000))
	}
	if rendered != 1 {
		t.Errorf("rendered the page %d times", rendered)
	}
	total := 0
	for _, pages := range []map[string]*entry{c.pages, c.old} {
		for key, e := range pages {
			total += entryBytes + len(key) + e.size()
		}
	}
	if total > maxCached+maxCachedPage {
		t.Errorf("the cache has %d bytes", total)
	}
	c.Get(t.Context(), State{Period: 1}, "hot", queue, func() (*Response, error) { rendered++; return &Response{}, nil })
	if rendered != 2 {
		t.Error("a page of another minute was used")
	}
}

// Readers who ask for the same page at once share the work.
func TestCacheSharesWork(t *testing.T) {
	var c Cache
	queue := of("a", 1)
	var rendered atomic.Int32
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, _ = c.Get(t.Context(), State{}, "page", queue, func() (*Response, error) { rendered.Add(1); return &Response{body: []byte("x")}, nil })
		})
	}
	wg.Wait()
	if n := rendered.Load(); n != 1 {
		t.Errorf("rendered the page %d times", n)
	}
}

// A caller that cannot render a page, because it has no turn, does not delay another
// caller that can: the attack with which one caller stopped a page for everybody.
func TestCacheWaitsForNoTurnOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Cache
		busy := of("attacker", 1)
		held := busy.Ask() // it renders something else, for ever
		defer held.End()
		for range 40 {
			go func() { _, _ = c.Get(t.Context(), State{}, "page", busy, body(1)) }()
		}
		synctest.Wait()
		start := time.Now()
		out, err := c.Get(t.Context(), State{}, "page", of("other", 1), body(2))
		if err != nil || len(out.body) != 2 || time.Since(start) > 0 {
			t.Errorf("another caller got %v, %v after %v", out, err, time.Since(start))
		}
		synctest.Wait() // those that waited have the page too
		if e := c.pages["page"]; e.flight != nil {
			t.Error("requests still wait for a page that is rendered")
		}
	})
}

// The wait for the rendering of another request ends with the own request, and has a
// limit.
func TestCacheWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Cache
		queue := of("a", 2)
		finish := make(chan struct{})
		go func() {
			_, _ = c.Get(t.Context(), State{}, "page", queue, func() (*Response, error) {
				<-finish
				return nil, errors.New("too late")
			})
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); cancel() }()
		start := time.Now()
		if _, err := c.Get(ctx, State{}, "page", queue, body(1)); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		start = time.Now()
		if _, err := c.Get(t.Context(), State{}, "page", queue, body(1)); fault.KindOf(err) != fault.Unavailable || time.Since(start) != MaxWait {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		close(finish)
	})
}

// A rendering that fails, panics or gives a page that is too large to keep leaves
// nothing behind that others wait for.
func TestCacheAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, render := range map[string]func() (*Response, error){
			"error":     func() (*Response, error) { return nil, errors.New("no") },
			"panic":     func() (*Response, error) { panic("no") },
			"too large": body(maxCachedPage + 1),
		} {
			var c Cache
			queue := of("a", 1)
			start := make(chan struct{})
			go func() {
				defer func() { _ = recover() }()
				_, _ = c.Get(t.Context(), State{}, "page", queue, func() (*Response, error) { <-start; return render() })
			}()
			synctest.Wait()
			var got *Response
			go func() { got, _ = c.Get(t.Context(), State{}, "page", queue, body(7)) }()
			synctest.Wait()
			close(start)
			synctest.Wait()
			want := 7
			if name == "too large" {
				want = maxCachedPage + 1 // shared by those that wait, and not kept
			}
			if got == nil || len(got.body) != want {
				t.Errorf("%s: the next request got %v", name, got)
			}
			if kept := c.Lookup(State{}, "page"); (kept != nil) != (want == 7) {
				t.Errorf("%s: kept %v", name, kept)
			}
		}
	})
}
