package document

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	maxContents     = 64 << 20         // bytes of the contents in memory, about
	contentTime     = 10 * time.Minute // after which a content is loaded again: its text may be of a newer edition
	loadContentTime = 30 * time.Second
	loadsAtOnce     = 2
)

// Pages is the part of the store from which the texts of documents are loaded.
type Pages interface {
	DocumentPages(ctx context.Context, sha256 ...string) (map[string][]string, error)
}

// Contents loads the words of documents and keeps those of the newest in memory.
// A document that many callers ask for at the same time is loaded once.
type Contents struct {
	pages   Pages
	limit   int                // of bytes in memory
	loading singleflight.Group // by the SHA-256 of a document
	slots   chan struct{}      // bounds the texts that are being split

	mu    sync.Mutex
	order *list.List               // guarded by mu: of *loaded, the newest first
	known map[string]*list.Element // guarded by mu: by the SHA-256 of a document
	bytes int                      // guarded by mu
}

type loaded struct {
	sha256  string
	content *Content
	bytes   int
	at      time.Time
}

// NewContents returns a loader without contents.
func NewContents(pages Pages) *Contents {
	return &Contents{
		pages: pages,
		limit: maxContents,
		slots: make(chan struct{}, loadsAtOnce),
		order: list.New(),
		known: map[string]*list.Element{},
	}
}

// Get returns the words of a stored document. A document that is not stored has
// none, since no search finds it either. Loading continues after the context of a
// caller has ended, so that a later call finds the result of a slow store.
func (c *Contents) Get(ctx context.Context, sha256 string) (*Content, error) {
	if content := c.cached(sha256); content != nil {
		return content, nil
	}
	results := c.loading.DoChan(sha256, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadContentTime)
		defer cancel()
		return c.load(ctx, sha256)
	})
	select {
	case r := <-results:
		if r.Err != nil {
			return nil, fmt.Errorf("load the text of document %s: %w", sha256, r.Err)
		}
		return r.Val.(*Content), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("load the text of document %s: %w", sha256, ctx.Err())
	}
}

func (c *Contents) load(ctx context.Context, sha256 string) (*Content, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if content := c.cached(sha256); content != nil { // loaded since the caller looked
		return content, nil
	}
	texts, err := c.pages.DocumentPages(ctx, sha256)
	if err != nil {
		return nil, err
	}
	pages, ok := texts[sha256]
	if !ok {
		return &Content{}, nil
	}
	content := NewContent(pages)
	c.keep(sha256, content)
	return content, nil
}

func (c *Contents) cached(sha256 string) *Content {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.known[sha256]
	if e == nil {
		return nil
	}
	l := e.Value.(*loaded)
	if time.Since(l.at) > contentTime {
		c.drop(e)
		return nil
	}
	c.order.MoveToFront(e)
	return l.content
}

// keep adds a content that is not in memory, and drops the oldest while there are too
// many bytes.
func (c *Contents) keep(sha256 string, content *Content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &loaded{sha256, content, content.size(), time.Now()}
	c.known[sha256] = c.order.PushFront(l)
	c.bytes += l.bytes
	for c.bytes > c.limit && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

// drop removes a content. c.mu is held.
func (c *Contents) drop(e *list.Element) {
	l := c.order.Remove(e).(*loaded)
	delete(c.known, l.sha256)
	c.bytes -= l.bytes
}
