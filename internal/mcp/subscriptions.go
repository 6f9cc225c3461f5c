package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/disclosure"
	"pregon/internal/events"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/retry"
)

// subscriptions are the URIs that callers of this process are subscribed to.
// Each process follows the events itself, so that a subscriber is notified by
// the replica it is connected to.
type subscriptions struct {
	events *events.Hub
	notify func(ctx context.Context, uri string)
	failed func(error) // called when the log cannot be read

	mu    sync.Mutex
	byURI map[string]*subscription // guarded by mu: by URI
}

// subscription counts the subscribers of a URI.
type subscription struct {
	selector *events.Selector
	count    int
}

// listEvents are the events that change a list of reports.
var listEvents = []disclosure.Event{disclosure.Published, disclosure.Updated, disclosure.Corrected}

const (
	maxURIs       = 10                     // of one request
	maxURI        = 500                    // bytes of an address
	minInterval   = 200 * time.Millisecond // between two rounds, so that a burst is notified once
	batchSize     = 1000                   // events of one round
	retryInterval = 5 * time.Second        // after an error, or without events
	textTimeout   = 10 * time.Second       // for the texts of one round
)

// selectorOf returns the selector of a URI.
func (s *Server) selectorOf(uri string) (*events.Selector, error) {
	at, rawQuery, _ := strings.Cut(uri, "?")
	if len(uri) > maxURI || at != latestURI && at != searchURI {
		return nil, fault.New(fault.Invalid, "This URI has no subscriptions: use %s, or %s?… with search, type, issuer, from, to, category, kind, in=document, in %d bytes.", latestURI, searchURI, maxURI)
	}
	p := query.ParseQuery(rawQuery)
	snapshot, err := s.o.Query.Snapshot()
	if err != nil {
		return nil, err
	}
	filter := p.LiveFilter(snapshot)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return events.Selection{Events: listEvents, Filter: filter}.Compile(), nil
}

// subscribe is called by the SDK for each URI of a listener.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	selector, err := s.selectorOf(req.Params.URI)
	if err != nil {
		return sdkError(fault.New(fault.KindOf(err), "%s", s.errorText(ctx, "subscribe", err)))
	}
	s.subs.add(req.Params.URI, selector)
	return nil
}

func (s *Server) unsubscribe(ctx context.Context, req *sdk.UnsubscribeRequest) error {
	if listening(ctx) {
		s.subs.remove(req.Params.URI)
	}
	return nil
}

// updated notifies the subscribers of a URI.
func (s *Server) updated(ctx context.Context, uri string) {
	if err := s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
		s.o.Logger.WarnContext(ctx, "cannot notify subscribers", "err", err)
	}
}

func (s *subscriptions) add(uri string, selector *events.Selector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byURI == nil {
		s.byURI = map[string]*subscription{}
	}
	if s.byURI[uri] == nil {
		s.byURI[uri] = &subscription{selector: selector}
	}
	s.byURI[uri].count++
}

func (s *subscriptions) remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.byURI[uri]; w != nil {
		if w.count--; w.count == 0 {
			delete(s.byURI, uri)
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
			s.notifyAll(ctx, slices.Collect(maps.Keys(s.selectors(inDocuments))))
		case cursor.Seq >= 0 && cursor.Seq < head.Seq:
			events, err := s.events.After(ctx, cursor, batchSize)
			if err != nil {
				s.failed(err)
				break
			}
			if len(events) > 0 {
				cursor.Seq = events[len(events)-1].Seq
				s.notifyAll(ctx, s.matching(ctx, events, inDocuments))
				continue // there may be more already
			}
		}
		if err := waitForEvents(ctx, wake); err != nil {
			return err
		}
	}
}

func (s *subscriptions) notifyAll(ctx context.Context, uris []string) {
	for _, uri := range uris {
		s.notify(ctx, uri)
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
