package render

import (
	"context"
	"sync"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
)

// State is everything besides the request that a page depends on.
type State struct {
	Snapshot *catalog.Snapshot
	Epoch    string // of the log, for pages that do not depend on one snapshot
	Period   int64  // the minute, since times are relative within the last hour; or longer
	Source   string // health of the source
	Demo     bool
}

// maxCached is the size of all cached pages, in bytes, and maxCachedPage that of one
// page.
const (
	maxCached     = 32 << 20
	maxCachedPage = 2 << 20
)

// Cache holds the pages of one state. A new state empties it, so no page is
// outdated. When the new pages take half of the space, they become the old ones, and
// those that were old and not asked for again are dropped. So pages that are asked
// for often stay, however many others are asked for once.
type Cache struct {
	mu    sync.Mutex        // held for a few operations on memory, never while a page is rendered
	state State             // guarded by mu
	pages map[string]*entry // guarded by mu
	old   map[string]*entry // guarded by mu
	bytes int               // guarded by mu: of pages
}

// entry is one page. Its fields are guarded by the mu of the cache.
type entry struct {
	response *Response // nil until it is rendered
	flight   *flight   // of the requests that wait for it; nil if there are none
}

// flight is shared by the requests that wait for the same page. The first of them that
// gets a turn renders it.
type flight struct {
	led  bool          // a request renders it; guarded by the mu of the cache
	done chan struct{} // closed when that request has ended

	response *Response // set before done is closed; nil if it failed
}

// Lookup returns the page of a key if it is in the cache, else nil.
func (c *Cache) Lookup(now State, key string) *Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != now || c.pages[key] == nil && c.old[key] == nil {
		return nil
	}
	return c.entry(now, key).response
}

// Get returns the page of a key, and renders it if it is not in the cache. Requests for
// the same page share the work. None of them is the one to render it before it has its
// turn: so a caller that has to wait for its turn delays no other caller. Errors are
// not kept.
func (c *Cache) Get(
	ctx context.Context,
	now State,
	key string,
	queue Queue,
	render func() (*Response, error),
) (*Response, error) {
	c.mu.Lock()
	e := c.entry(now, key)
	c.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, MaxWait, access.ErrBusy())
	defer cancel()
	for {
		f, cached := c.join(e)
		if cached != nil {
			return cached, nil
		}
		turn := queue.Ask()
		select {
		case <-f.done:
		case <-ctx.Done():
		case <-turn.Granted():
			if c.lead(f) {
				defer turn.End()
				return c.render(now, e, f, render)
			}
		}
		turn.End() // another request renders it, or has rendered it
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if f.response != nil {
			return f.response, nil
		}
	}
}

// MaxWait is how long a request waits for a page, without the time in which it
// renders the page itself.
const MaxWait = 5 * time.Second

// Queue is the queue in which a caller waits for its turn to render.
type Queue struct {
	*access.Turns
	Caller access.Caller
}

// Ask joins the queue.
func (t Queue) Ask() *access.Turn { return t.Turns.Ask(t.Caller) }

// join returns the page if it is rendered, else the flight of the requests that wait
// for it.
func (c *Cache) join(e *entry) (*flight, *Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.response == nil && e.flight == nil {
		e.flight = &flight{done: make(chan struct{})}
	}
	return e.flight, e.response
}

// lead reports whether the request that calls it is the one to render the page.
func (c *Cache) lead(f *flight) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.led {
		return false
	}
	f.led = true
	return true
}

// render renders the page of a flight.
func (c *Cache) render(now State, e *entry, f *flight, render func() (*Response, error)) (out *Response, err error) {
	defer func() { c.land(now, e, f, out) }() // after a panic too: others wait for it
	return render()
}

// land passes a page to the requests that wait for it, and keeps it unless it is too
// large. A page that is nil has failed: they try again.
func (c *Cache) land(now State, e *entry, f *flight, out *Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.flight = nil
	f.response = out
	close(f.done)
	if out == nil || len(out.body) > maxCachedPage {
		return
	}
	e.response = out
	if c.state == now {
		c.add(len(out.body))
	}
}

// entry returns the entry of a key, a new one if there is none. c.mu is held.
func (c *Cache) entry(now State, key string) *entry {
	if c.state != now || c.pages == nil {
		c.state = now
		c.pages = map[string]*entry{}
		c.old = nil
		c.bytes = 0
	}
	e := c.pages[key]
	if e != nil {
		return e
	}
	size := entryBytes + len(key)
	if e = c.old[key]; e != nil {
		size += e.size()
	} else {
		e = &entry{}
	}
	c.pages[key] = e
	c.add(size)
	return e
}

// entryBytes is about what an entry takes without its key and page.
const entryBytes = 256

// size returns the size of its page, 0 while it is being rendered.
func (e *entry) size() int {
	if e.response == nil {
		return 0
	}
	return len(e.response.body)
}

// add counts bytes, and makes the pages old when there are too many. c.mu is held.
func (c *Cache) add(n int) {
	if c.bytes += n; c.bytes > maxCached/2 {
		c.old = c.pages
		c.pages = map[string]*entry{}
		c.bytes = 0
	}
}
