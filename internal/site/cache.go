package site

import (
	"sync"

	"pregon/internal/catalog"
)

// state is everything besides the request that a page depends on.
type state struct {
	of     *catalog.Snapshot
	minute int64  // times are relative within the last hour
	source string // health of the source
	demo   bool
}

// maxCached is the size of all cached pages, in bytes, and maxCachedPage that of one
// page.
const (
	maxCached     = 32 << 20
	maxCachedPage = 1 << 20
)

// cache holds the pages of one state. A new state empties it, so no page is
// outdated. When the new pages take half of the space, they become the old ones, and
// those that were old and not asked for again are dropped. So pages that are asked
// for often stay, however many others are asked for once.
type cache struct {
	mu    sync.Mutex
	state state             // guarded by mu
	pages map[string]*entry // guarded by mu
	old   map[string]*entry // guarded by mu
	bytes int               // guarded by mu: of pages
}

// entry is one page. Its lock is held while it is rendered, so that readers who
// ask for the same page at the same moment wait for one of them.
type entry struct {
	mu       sync.Mutex
	response *response // guarded by mu; nil until it is rendered
}

// get returns the page of a key, and renders it if it is not there. Errors are not
// kept.
func (c *cache) get(now state, key string, render func() (*response, error)) (*response, error) {
	e := c.entry(now, key)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.response != nil {
		return e.response, nil
	}
	out, err := render()
	if err == nil && len(out.body) <= maxCachedPage {
		e.response = out
		c.grow(now, len(out.body))
	}
	return out, err
}

// entry returns the entry of a key, a new one if there is none.
func (c *cache) entry(now state, key string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != now || c.pages == nil {
		c.state, c.pages, c.old, c.bytes = now, map[string]*entry{}, nil, 0
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
	if !e.mu.TryLock() {
		return 0
	}
	defer e.mu.Unlock()
	if e.response == nil {
		return 0
	}
	return len(e.response.body)
}

// grow counts the bytes of a page that was rendered.
func (c *cache) grow(now state, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == now {
		c.add(n)
	}
}

// add counts bytes, and makes the pages old when there are too many. The caller holds
// mu.
func (c *cache) add(n int) {
	if c.bytes += n; c.bytes > maxCached/2 {
		c.pages, c.old, c.bytes = map[string]*entry{}, c.pages, 0
	}
}
