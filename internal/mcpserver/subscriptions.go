package mcpserver

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/desk"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/feed"
)

// subscriptions are what callers of this process want to be told of. Each
// process follows the feed by itself, so that a subscriber is told by whichever
// replica has it.
type subscriptions struct {
	hub  *feed.Hub
	tell func(ctx context.Context, uri string)

	mu     sync.Mutex
	wanted map[string]*wanted // guarded by mu: by URI
}

// wanted is something that somebody is subscribed to.
type wanted struct {
	selector *feed.Selector
	count    int
}

// The events after which a list of filings is another.
var listEvents = []disclosure.Event{disclosure.Published, disclosure.Updated, disclosure.Corrected}

const (
	mostURIs = 50                     // of one subscriber
	mostURI  = 2000                   // bytes of an address
	breath   = 200 * time.Millisecond // between two rounds: a burst is told once
	gulp     = 256                    // events looked at in one round
)

// selectorOf reads what an address selects.
func selectorOf(uri string) (*feed.Selector, error) {
	at, query, _ := strings.Cut(uri, "?")
	if len(uri) > mostURI || at != latestURI && at != searchURI {
		return nil, fault.New(fault.Invalid, "There is nothing to subscribe to at that address: use %s, or %s?… with search, type, issuer, from, to, category, kind.", latestURI, searchURI)
	}
	p, err := desk.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	filter := p.Filter()
	if err := p.Err(); err != nil {
		return nil, err
	}
	return feed.Selection{Events: listEvents, Filter: filter}.Compile(), nil
}

// subscribe is called by the SDK for each address. Before 2026-07-28 a
// subscription belonged to a session, of which this server keeps none: whatever
// it is to, it is answered and comes to nothing.
func (s *Server) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	if !listening(ctx) {
		return nil
	}
	selector, err := selectorOf(req.Params.URI)
	if err != nil {
		return wireError(fault.New(fault.KindOf(err), "%s", s.explain(ctx, "subscribe", err)))
	}
	s.subs.add(req.Params.URI, selector)
	return nil
}

func (s *Server) unsubscribe(ctx context.Context, req *mcp.UnsubscribeRequest) error {
	if listening(ctx) {
		s.subs.remove(req.Params.URI)
	}
	return nil
}

// updated tells subscribers that what they watch is another.
func (s *Server) updated(ctx context.Context, uri string) {
	if err := s.sdk.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
		s.o.Logger.WarnContext(ctx, "subscribers were not told", "err", err)
	}
}

func (s *subscriptions) add(uri string, selector *feed.Selector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wanted == nil {
		s.wanted = map[string]*wanted{}
	}
	if s.wanted[uri] == nil {
		s.wanted[uri] = &wanted{selector: selector}
	}
	s.wanted[uri].count++
}

func (s *subscriptions) remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.wanted[uri]; w != nil {
		if w.count--; w.count == 0 {
			delete(s.wanted, uri)
		}
	}
}

// touched returns the addresses that events change: all of them when nobody
// knows what happened.
func (s *subscriptions) touched(events []*feed.Event, all bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for uri, w := range s.wanted {
		match := all
		for i := 0; i < len(events) && !match; i++ {
			match = w.selector.Match(events[i])
		}
		if match {
			out = append(out, uri)
		}
	}
	return out
}

// run tells subscribers of changes until the context ends.
func (s *subscriptions) run(ctx context.Context) error {
	cursor, first := int64(0), true
	for {
		events, wake, ok := s.hub.Since(cursor, gulp)
		switch {
		case first: // what there was before is no news
			cursor, first = s.hub.Newest(), !s.hub.Ready()
			events = nil
		case !ok: // the catalogue was loaded anew, or more came than is kept
			cursor = s.hub.Newest()
		case len(events) > 0:
			cursor = events[len(events)-1].Seq
		}
		for _, uri := range s.touched(events, !ok && !first) {
			s.tell(ctx, uri)
		}
		if len(events) == gulp { // there may be more at once
			wake = nil
		}
		if err := rest(ctx, wake); err != nil {
			return err
		}
	}
}

// rest waits for news, and no less than a breath.
func rest(ctx context.Context, wake <-chan struct{}) error {
	select {
	case <-time.After(breath):
	case <-ctx.Done():
		return ctx.Err()
	}
	if wake == nil {
		return nil
	}
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
