package events

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/search"
)

// entries are what a watchlist names, compiled. All selectors of a list share them, since an
// account may have many alerts and webhooks of one list.
type entries struct {
	of      *disclosure.Entries
	matcher *search.Matcher // of all but the searches in documents
	texts   []textSearch
	last    atomic.Pointer[comparison]
}

// textSearch is a saved search in documents.
type textSearch struct {
	matcher *search.Matcher // of all other conditions
	words   *document.Matcher
}

// comparison is how entries compare with an event. It does not keep the event, whose name
// may be erased.
type comparison struct {
	event   weak.Pointer[Event]
	matched bool         // independent of the text
	texts   []textSearch // those whose other conditions the event meets, if it is not matched
	text    atomic.Pointer[textComparison]
}

type textComparison struct {
	content weak.Pointer[document.Content]
	matched bool
}

// compiled are the entries that a selector uses.
var compiled compiledEntries

type compiledEntries struct {
	mu  sync.Mutex // held for operations on memory only
	all map[weak.Pointer[disclosure.Entries]]weak.Pointer[entries]
}

// of returns the compiled form of what a list names.
func (c *compiledEntries) of(e *disclosure.Entries) *entries {
	key := weak.Make(e)
	if found := c.get(key); found != nil {
		return found
	}
	made := compileEntries(e)
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.all[key].Value(); found != nil {
		return found // compiled by another one at the same time
	}
	if c.all == nil {
		c.all = map[weak.Pointer[disclosure.Entries]]weak.Pointer[entries]{}
	}
	c.all[key] = weak.Make(made)
	runtime.AddCleanup(made, c.forget, key)
	return made
}

func (c *compiledEntries) get(key weak.Pointer[disclosure.Entries]) *entries {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[key].Value()
}

// forget removes entries that no selector uses, unless they were compiled again.
func (c *compiledEntries) forget(key weak.Pointer[disclosure.Entries]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[key].Value() == nil {
		delete(c.all, key)
	}
}

func compileEntries(e *disclosure.Entries) *entries {
	out := &entries{of: e, matcher: search.Compile(disclosure.Filter{Entries: e})}
	for _, f := range e.Filters {
		if !f.InDocument {
			continue
		}
		words, err := document.NewMatcher(search.ParseFilter(f))
		if err != nil {
			continue // was checked when the filter was accepted
		}
		out.texts = append(out.texts, textSearch{search.Compile(f.WithoutWords()), words})
	}
	return out
}

// compare compares an event, once for all selectors that ask one after another.
func (l *entries) compare(e *Event) *comparison {
	if last := l.last.Load(); last != nil && last.event.Value() == e {
		return last
	}
	next := &comparison{event: weak.Make(e), matched: e.match(l.matcher)}
	if !next.matched && e.document() != "" {
		for _, t := range l.texts {
			if e.match(t.matcher) {
				next.texts = append(next.texts, t)
			}
		}
	}
	l.last.Store(next)
	return next
}

// matchText reports whether the event is matched, or its document has the words of a search.
func (c *comparison) matchText(content *document.Content) bool {
	if c.matched {
		return true
	}
	if last := c.text.Load(); last != nil && last.content.Value() == content {
		return last.matched
	}
	next := &textComparison{
		content: weak.Make(content),
		matched: slices.ContainsFunc(c.texts, func(t textSearch) bool { return t.words.Match(content) }),
	}
	c.text.Store(next)
	return next.matched
}
