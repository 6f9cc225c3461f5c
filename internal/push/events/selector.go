package events

import (
	"slices"
	"sync/atomic"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/search"
)

// Lists are the watchlists of accounts.
type Lists interface {
	// Entries returns what a watchlist names now, or nil if it is gone. It returns the same
	// pointer until the list changes.
	Entries(id string) *disclosure.Entries
}

// Selector is a compiled selection.
type Selector struct {
	events  []disclosure.Event
	filter  disclosure.Filter
	matcher *search.Matcher   // nil matches every report
	words   *document.Matcher // of the filter's search if it is InDocument; nil matches no document
	lists   Lists             // nil: there are none
	// compiled are the entries of the filter's watchlist as they last were.
	compiled atomic.Pointer[entries]
}

// Compile prepares a selection for matching. Of a watchlist it has the id: what the list names
// is asked of lists for each event. Without lists, a filter with a watchlist selects nothing.
func (s Selection) Compile(lists Lists) *Selector {
	out := &Selector{events: s.Names(), filter: s.Filter, lists: lists}
	if s.Filter.Watchlist != "" {
		out.filter.Entries = nil // they may be outdated with the next event
	}
	f := s.Filter.WithoutList()
	if f.InDocument {
		out.words, _ = document.NewMatcher(search.ParseFilter(f)) // was checked when the filter was accepted
		f.Search = ""
		f.Widen = false
	}
	if f != (disclosure.Filter{}) {
		out.matcher = search.Compile(f)
	}
	return out
}

// list returns the entries of the watchlist as they are now, or nil if it is gone. They are
// compiled once for each revision and all selectors.
func (s *Selector) list() *entries {
	now := s.filter.Entries
	if s.filter.Watchlist != "" {
		if s.lists == nil {
			return nil
		}
		now = s.lists.Entries(s.filter.Watchlist)
	}
	if now == nil {
		return nil
	}
	if known := s.compiled.Load(); known != nil && known.of == now {
		return known
	}
	next := compiled.of(now)
	s.compiled.Store(next)
	return next
}

// InDocument reports whether the selector searches the texts of documents, now. Then
// Match decides only whether the text has to be compared: see Hub.Match.
func (s *Selector) InDocument() bool {
	if s.filter.InDocument || !s.filter.HasList() {
		return s.filter.InDocument
	}
	list := s.list()
	return list != nil && len(list.texts) > 0
}

// Match reports whether an event is selected. A change of an issuer matches a
// filter that has only conditions on issuers, because all others apply to
// reports or positions. If NeedsText reports true for the event, Match reports
// whether the event has a text and meets all other conditions.
func (s *Selector) Match(e *Event) bool {
	switch {
	case !slices.Contains(s.events, e.Name), s.filter.InDocument && e.document() == "":
		return false
	case !e.match(s.matcher):
		return false
	case !s.filter.HasList():
		return true
	}
	list := s.list()
	if list == nil {
		return false
	}
	compared := list.compare(e)
	return compared.matched || len(compared.texts) > 0
}

// NeedsText reports whether the text of a document decides about an event when Match
// reports true.
func (s *Selector) NeedsText(e *Event) bool {
	if s.filter.InDocument || !s.filter.HasList() {
		return s.filter.InDocument
	}
	list := s.list()
	return list == nil || !list.compare(e).matched
}

// MatchText reports whether a document has the words for which the selector searches in that
// of an event.
func (s *Selector) MatchText(e *Event, c *document.Content) bool {
	if s.filter.InDocument && (s.words == nil || !s.words.Match(c)) {
		return false
	}
	if !s.filter.HasList() {
		return true
	}
	list := s.list()
	return list != nil && list.compare(e).matchText(c)
}

// match reports whether a matcher selects what changed. A nil matcher selects everything.
func (e *Event) match(m *search.Matcher) bool {
	switch {
	case m == nil:
		return true
	case e.report != nil:
		return m.Match(e.report)
	case e.position != nil:
		return m.MatchPosition(e.position)
	}
	return m.MatchIssuer(e.issuer)
}
