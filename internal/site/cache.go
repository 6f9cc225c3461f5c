package site

import (
	"context"
	"sync"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
)

// state is everything besides the request that a page depends on.
type state struct {
	of     *catalog.Snapshot
	epoch  string // of the log, for pages that do not depend on one snapshot
	period int64  // the minute, since times are relative within the last hour; or longer
	source string // health of the source
	demo   bool
}

// maxCached is the size of all cached pages, in bytes, and maxCachedPage that of one
// page.
const (
	maxCached     = 32 << 20
	maxCachedPage = 2 << 20
)

// cache holds the pages of one state. A new state empties it, so no page is
// outdated. When the new pages take half of the space, they become the old ones, and
// those that were old and not asked for again are dropped. So pages that are asked
// for often stay, however many others are asked for once.
type cache struct {
	mu    sync.Mutex        // held for a few operations on memory, never while a page is rendered
	state state             // guarded by mu
	pages map[string]*entry // guarded by mu
	old   map[string]*entry // guarded by mu
	bytes int               // guarded by mu: of pages
}

// entry is one page. Its fields are guarded by the mu of the cache.
type entry struct {
	response *response // nil until it is rendered
	flight   *flight   // of the requests that wait for it; nil if there are none
}

// flight is shared by the requests that wait for the same page. The first of them that
// gets a turn renders it.
type flight struct {
	led  bool          // a request renders it; guarded by the mu of the cache
	done chan struct{} // closed when that request has ended

	response *response // set before done is closed; nil if it failed
}

// lookup returns the page of a key if it is in the cache, else nil.
func (c *cache) lookup(now state, key string) *response {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != now || c.pages[key] == nil && c.old[key] == nil {
		return nil
	}
	return c.entry(now, key).response
}

// get returns the page of a key, and renders it if it is not in the cache. Requests for
// the same page share the work. None of them is the one to render it before it has its
// turn: so a caller that has to wait for its turn delays no other caller. Errors are
// not kept.
func (c *cache) get(ctx context.Context, now state, key string, queue turns, render func() (*response, error)) (*response, error) {
	c.mu.Lock()
	e := c.entry(now, key)
	c.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, maxRenderWait, access.ErrBusy())
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

// maxRenderWait is how long a request waits for a page, without the time in which it
// renders the page itself.
const maxRenderWait = 5 * time.Second

// turns is the queue in which a caller waits for its turn to render.
type turns struct {
	*access.Turns
	caller access.Caller
}

// Ask joins the queue.
func (t turns) Ask() *access.Turn { return t.Turns.Ask(t.caller) }

// join returns the page if it is rendered, else the flight of the requests that wait
// for it.
func (c *cache) join(e *entry) (*flight, *response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.response == nil && e.flight == nil {
		e.flight = &flight{done: make(chan struct{})}
	}
	return e.flight, e.response
}

// lead reports whether the request that calls it is the one to render the page.
func (c *cache) lead(f *flight) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.led {
		return false
	}
	f.led = true
	return true
}

// render renders the page of a flight.
func (c *cache) render(now state, e *entry, f *flight, render func() (*response, error)) (out *response, err error) {
	defer func() { c.land(now, e, f, out) }() // after a panic too: others wait for it
	return render()
}

// land passes a page to the requests that wait for it, and keeps it unless it is too
// large. A page that is nil has failed: they try again.
func (c *cache) land(now state, e *entry, f *flight, out *response) {
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
func (c *cache) entry(now state, key string) *entry {
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
func (c *cache) add(n int) {
	if c.bytes += n; c.bytes > maxCached/2 {
		c.old = c.pages
		c.pages = map[string]*entry{}
		c.bytes = 0
	}
}
