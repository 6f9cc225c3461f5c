package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/mcp/queue"
	"pregon/internal/push/events"
	"pregon/internal/query"
	"pregon/internal/server/problem"
)

const (
	maxAnonymousPerNetwork = 4               // connections of one network without a credential
	maxAnonymous           = 1000            // connections of all networks without a credential
	drainSpread            = 3 * time.Second // over which listeners are ended when the service stops
)

// listener is a request subscriptions/listen.
type listener struct {
	id   json.RawMessage // of the request; notifications repeat it
	uris []string        // that it is subscribed to
	w    *queue.Writer
}

// acknowledge sends the URIs of the subscription. Lists of tools, prompts and
// resources do not change, so that subscriptions to them are not acknowledged.
func (l *listener) acknowledge() {
	accepted := object{}
	if len(l.uris) > 0 {
		accepted["resourceSubscriptions"] = l.uris
	}
	l.send("notifications/subscriptions/acknowledged", object{"notifications": accepted})
}

// updated sends a notification that a resource has changed.
func (l *listener) updated(uri string) {
	l.send("notifications/resources/updated", object{"uri": uri})
}

func (l *listener) send(method string, params object) {
	params["_meta"] = object{subscriptionID: l.id}
	l.event(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// event writes a message as an event. An error means that the listener is too slow,
// and ends it.
func (l *listener) event(message object) {
	b, _ := query.Encode(message) // decoded values always encode
	_, _ = fmt.Fprintf(l.w, "event: message\ndata: %s\n\n", b)
}

// subscribed returns the URIs in the params of subscriptions/listen.
func (m message) subscribed() (uris []string) {
	wanted, _ := m.params["notifications"].(object)
	all, _ := wanted["resourceSubscriptions"].([]any)
	for _, v := range all {
		uri, _ := v.(string)
		uris = append(uris, uri) // "" is refused later
	}
	return uris
}

// selectorsOf returns the selectors of the URIs that a listener subscribes to.
func (s *Server) selectorsOf(m message, by access.Principal) (map[string]*events.Selector, error) {
	wanted, ok := m.params["notifications"].(object)
	if !ok {
		return nil, wrongType("notifications", "an object")
	}
	all := wanted["resourceSubscriptions"]
	if _, ok := all.([]any); !ok && all != nil {
		return nil, wrongType("resourceSubscriptions", "a list of URIs")
	}
	uris := m.subscribed()
	if len(uris) > maxURIs {
		return nil, fault.New(fault.Invalid,
			"One request may subscribe to %d addresses: use fewer, or a search that finds more.", maxURIs)
	}
	out := map[string]*events.Selector{}
	for _, uri := range uris {
		selector, err := s.selectorOf(uri, by)
		if err != nil {
			return nil, err
		}
		out[uri] = selector
	}
	return out, nil
}

// listen serves subscriptions/listen until the client disconnects, is too slow,
// or its credential ends. It returns an error if it has written nothing.
func (s *Server) listen(w http.ResponseWriter, r *http.Request, m message, principal access.Principal) error {
	selectors, err := s.selectorsOf(m, principal)
	if err != nil {
		return err
	}
	release, err := s.acquireConn(r, principal)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	problem.Park(w) // it is counted as a connection instead
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	l := &listener{m.id, m.subscribed(), queue.New(w, cancel)}
	s.subs.add(l, selectors)
	if len(selectors) > 0 {
		s.waitForEnd(ctx, principal)
	}
	s.subs.remove(l, selectors)
	if ctx.Err() == nil {
		l.event(object{
			"jsonrpc": "2.0", "id": m.id,
			"result": object{"resultType": "complete", "_meta": object{subscriptionID: m.id}},
		})
	}
	if l.w.Close() {
		s.o.Conns.CountCut()
	}
	return nil
}

// acquireConn takes one of the connections of a caller. A network without a
// credential has few, which its callers share.
func (s *Server) acquireConn(r *http.Request, p access.Principal) (release func(), err error) {
	if p.Mode != access.Anonymous {
		return s.o.Conns.Acquire(p.ID, events.MaxOpen)
	}
	releaseAll, err := s.anonymousConns.Acquire("", maxAnonymous)
	if err != nil {
		return nil, err
	}
	releaseOwn, err := s.o.Conns.Acquire("anonymous "+s.o.Guard.NetworkKey(r), maxAnonymousPerNetwork)
	if err != nil {
		releaseAll()
		return nil, err
	}
	return func() { releaseOwn(); releaseAll() }, nil
}

// waitForEnd waits until the client disconnects or is too slow, its credential ends,
// or the service stops.
func (s *Server) waitForEnd(ctx context.Context, p access.Principal) {
	var ends <-chan time.Time
	if !p.Expires.IsZero() {
		timer := time.NewTimer(time.Until(p.Expires))
		defer timer.Stop()
		ends = timer.C
	}
	for {
		alive, changed := s.o.Guard.StillValid(p)
		if !alive {
			return
		}
		select {
		case <-changed:
		case <-ends:
			return
		case <-ctx.Done():
			return
		case <-s.o.Stopping:
			select {
			case <-time.After(rand.N(drainSpread)):
			case <-ctx.Done():
			}
			return
		}
	}
}
