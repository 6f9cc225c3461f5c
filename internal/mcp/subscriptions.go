package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/mcp/tools"
	"pregon/internal/push/events"
	"pregon/internal/retry"
)

// subscriptions are the URIs that listeners of this process are subscribed to.
// Each process follows the events itself, so that a listener is notified by
// the replica it is connected to.
type subscriptions struct {
	events *events.Hub
	failed func(error) // called when the log cannot be read

	mu    sync.Mutex
	byURI map[string]*subscription // guarded by mu
}

// subscription is a URI and its listeners.
type subscription struct {
	selector  *events.Selector
	listeners map[*listener]bool
}

// listEvents are the events that change a list of reports.
var listEvents = []disclosure.Event{disclosure.Published, disclosure.Updated, disclosure.Corrected}

const (
	maxURIs       = 10                     // of one request
	minInterval   = 200 * time.Millisecond // between two rounds, so that a burst is notified once
	batchSize     = 1000                   // events of one round
	retryInterval = 5 * time.Second        // after an error, or without events
	textTimeout   = 10 * time.Second       // for the texts of one round
)

// selectorOf returns the selector of a URI for a caller. A URI that names a watchlist selects
// the same for all callers who may name it.
func (s *Server) selectorOf(uri string, by access.Principal) (*events.Selector, error) {
	at, rawQuery, _ := strings.Cut(uri, "?")
	selection := events.Selection{Events: listEvents}
	switch {
	case len(uri) <= tools.MaxURI && at == tools.PositionsURI:
		selection.Events = tools.PositionEvents
	case len(uri) > tools.MaxURI || at != tools.LatestURI && at != tools.SearchURI:
		return nil, fault.New(fault.Invalid, "This URI does not have subscriptions: use %s, or %s?… with "+
			"search, type, issuer, from, to, category, kind, market, sector, without, in=document, or %s?… with "+
			"position, issuer, holder, min_percent, side, min_amount, in %d bytes.",
			tools.LatestURI, tools.SearchURI, tools.PositionsURI, tools.MaxURI)
	}
	p := s.o.Query.ParseQuery(rawQuery).For(by)
	snapshot, err := s.o.Query.Snapshot()
	if err != nil {
		return nil, err
	}
	selection.Filter = p.LiveFilter(snapshot)
	p.CheckSelection(selection)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return selection.Compile(s.o.Query.Lists()), nil
}

// add subscribes a listener to URIs, and acknowledges it: after the acknowledgement
// no change is missed, and before it none is notified.
func (s *subscriptions) add(l *listener, selectors map[string]*events.Selector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byURI == nil {
		s.byURI = map[string]*subscription{}
	}
	for uri, selector := range selectors {
		if s.byURI[uri] == nil {
			s.byURI[uri] = &subscription{selector, map[*listener]bool{}}
		}
		s.byURI[uri].listeners[l] = true
	}
	l.acknowledge()
}

// remove ends the subscriptions of a listener.
func (s *subscriptions) remove(l *listener, selectors map[string]*events.Selector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range selectors {
		if delete(s.byURI[uri].listeners, l); len(s.byURI[uri].listeners) == 0 {
			delete(s.byURI, uri)
		}
	}
}

// notify tells the listeners of URIs that these have changed.
func (s *subscriptions) notify(uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, uri := range uris {
		if changed := s.byURI[uri]; changed != nil {
			for l := range changed.listeners {
				l.updated(uri)
			}
		}
	}
}

// selectors returns the selectors of the URIs that search in documents, or of the
// others.
func (s *subscriptions) selectors(inDocuments bool) map[string]*events.Selector {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]*events.Selector{}
	for uri, w := range s.byURI {
		if w.selector.InDocument() == inDocuments {
			out[uri] = w.selector
		}
	}
	return out
}

// matching returns the URIs that events change. A text that cannot be loaded counts
// as a match: the notification only makes the client read the list again.
func (s *subscriptions) matching(ctx context.Context, changes []*events.Event, inDocuments bool) (out []string) {
	ctx, cancel := context.WithTimeout(ctx, textTimeout)
	defer cancel()
	for uri, selector := range s.selectors(inDocuments) {
		if slices.ContainsFunc(changes, func(e *events.Event) bool {
			matched, err := s.events.Match(ctx, selector, e)
			return matched || err != nil
		}) {
			out = append(out, uri)
		}
	}
	return out
}

// run notifies subscribers of changes until the context ends: those that search in
// documents, or the others, which do not wait for texts.
func (s *subscriptions) run(ctx context.Context, inDocuments bool) error {
	cursor := disclosure.Cursor{Seq: -1} // start at the head
	for {
		_, wake, _ := s.events.Since(cursor, 0)
		switch head := s.events.Head(); {
		case cursor.Seq < 0 && head.Epoch != "": // the catalogue is loaded
			cursor = head.Cursor
		case cursor.Seq >= 0 && cursor.Epoch != head.Epoch: // a backup was restored
			cursor = head.Cursor
			s.notify(slices.Collect(maps.Keys(s.selectors(inDocuments))))
		case cursor.Seq >= 0 && cursor.Seq < head.Seq:
			events, err := s.events.After(ctx, cursor, batchSize)
			if err != nil {
				s.failed(err)
				break
			}
			if len(events) > 0 {
				cursor.Seq = events[len(events)-1].Seq
				s.notify(s.matching(ctx, events, inDocuments))
				continue // there may be more already
			}
		}
		if err := waitForEvents(ctx, wake); err != nil {
			return err
		}
	}
}

// waitForEvents waits for new events, and for minInterval at least.
func waitForEvents(ctx context.Context, wake <-chan struct{}) error {
	if err := retry.Sleep(ctx, minInterval); err != nil {
		return err
	}
	select {
	case <-wake:
		return nil
	case <-time.After(retryInterval):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
