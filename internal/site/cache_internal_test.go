package site

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// Pages that are asked for often stay in the cache, and the cache stays small,
// however many others are asked for once.
func TestCacheKeepsWhatIsUsed(t *testing.T) {
	var c cache
	rendered := 0
	hot := func() {
		if _, err := c.get(state{}, "hot", func() (*response, error) { rendered++; return &response{body: make([]byte, 1000)}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10_000 {
		hot()
		_, _ = c.get(state{}, strconv.Itoa(i), func() (*response, error) { return &response{body: make([]byte, 20_000)}, nil })
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
	c.get(state{minute: 1}, "hot", func() (*response, error) { rendered++; return &response{}, nil })
	if rendered != 2 {
		t.Error("a page of another minute was used")
	}
}

// Readers who ask for the same page at once share the work.
func TestCacheSharesWork(t *testing.T) {
	var c cache
	var rendered atomic.Int32
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, _ = c.get(state{}, "page", func() (*response, error) { rendered.Add(1); return &response{body: []byte("x")}, nil })
		})
	}
	wg.Wait()
	if n := rendered.Load(); n != 1 {
		t.Errorf("rendered the page %d times", n)
	}
}
