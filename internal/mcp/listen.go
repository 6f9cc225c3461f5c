package mcp

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/events"
	"pregon/internal/mcp/queue"
	"pregon/internal/server/problem"
)

const (
	maxAnonymousPerNetwork = 4               // connections of one network without a credential
	maxAnonymous           = 1000            // connections of all networks without a credential
	drainSpread            = 3 * time.Second // over which listeners are ended when the service stops
)

type listenKey struct{}

// listening reports whether ctx belongs to subscriptions/listen.
func listening(ctx context.Context) bool { return ctx.Value(listenKey{}) != nil }

// listen serves subscriptions/listen until the client disconnects, is too slow,
// or its credential ends.
func (s *Server) listen(out *responseWriter, r *http.Request, principal access.Principal) {
	release, err := s.acquireConn(r, principal)
	if err != nil {
		out.writeError(err)
		return
	}
	defer release()
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), listenKey{}, true))
	defer cancel()
	go s.cancelOnExpiry(ctx, cancel, principal)
	w := out.ResponseWriter
	problem.Park(w) // it is counted as a connection instead
	q := queue.New(w, cancel)
	out.ResponseWriter = q
	s.protocol.ServeHTTP(out, r.WithContext(ctx))
	if q.Close() {
		s.o.Conns.CountCut()
	}
	out.ResponseWriter = w // an error is written as any other
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

// cancelOnExpiry cancels the request when its credential ends or the service stops.
func (s *Server) cancelOnExpiry(ctx context.Context, cancel func(), p access.Principal) {
	defer cancel()
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
