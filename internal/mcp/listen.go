package mcp

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/events"
)

const (
	maxAnonymousPerNetwork = 4    // that a network without a credential may have
	maxAnonymous           = 1000 // of all of those together
	heartbeatInterval      = 15 * time.Second
	writeTimeout           = 10 * time.Second // for one write: whoever takes longer is let go
	maxPending             = 256 << 10        // bytes that wait for a slow reader: more than all addresses of one together
	drainSpread            = 3 * time.Second  // over which listeners are let go when the service stops
)

type listenKey struct{}

// listening reports whether a subscription is of a request that stays open.
func listening(ctx context.Context) bool { return ctx.Value(listenKey{}) != nil }

// listen keeps a request open on which the caller is told what it subscribed
// to, until it goes, is too slow, or is no longer let in.
func (s *Server) listen(out *responseWriter, r *http.Request, principal access.Principal) {
	leave, err := s.acquireConn(r, principal)
	if err != nil {
		out.writeError(err)
		return
	}
	defer leave()
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), listenKey{}, true))
	defer cancel()
	go s.cancelOnExpiry(ctx, cancel, principal)
	w := out.ResponseWriter
	if p, ok := w.(interface{ Park() }); ok {
		p.Park() // who listens has a seat, and is not in work
	}
	q := newQueue(w, cancel)
	out.ResponseWriter = q
	s.protocol.ServeHTTP(out, r.WithContext(ctx))
	if q.close() {
		s.o.Conns.CountCut()
	}
	_ = q.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // for what the server says at the end
	out.ResponseWriter = w                                       // an error, if it was one, is told as any other
}

// seat takes a place among those who listen. Who has no credential has few,
// and shares them with his network.
func (s *Server) acquireConn(r *http.Request, p access.Principal) (leave func(), err error) {
	if p.Mode != access.Anonymous {
		return s.o.Conns.Acquire(p.ID, events.MaxOpen)
	}
	leaveAll, err := s.anonymousConns.Acquire("", maxAnonymous)
	if err != nil {
		return nil, err
	}
	leaveOwn, err := s.o.Conns.Acquire("anonymous "+s.o.Guard.NetworkKey(r), maxAnonymousPerNetwork)
	if err != nil {
		leaveAll()
		return nil, err
	}
	return func() { leaveOwn(); leaveAll() }, nil
}

// watch ends the request when its credential does, or the service.
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

// queue stands between the SDK, which tells one subscriber after the other,
// and a reader who may be slow: the others need not wait for him.
type queue struct {
	http.ResponseWriter
	control *http.ResponseController
	cancel  func()
	wake    chan struct{}
	done    chan struct{} // closed when the last byte is written

	mu      sync.Mutex
	pending []byte // guarded by mu
	closed  bool   // guarded by mu
	slow    bool   // guarded by mu: it was ended because its reader was
}

func newQueue(w http.ResponseWriter, cancel func()) *queue {
	q := &queue{ResponseWriter: w, control: http.NewResponseController(w), cancel: cancel, wake: make(chan struct{}, 1), done: make(chan struct{})}
	_ = q.control.SetReadDeadline(time.Time{}) // else the connection ends when the request should have been read
	w.Header().Set("X-Accel-Buffering", "no")
	go q.run()
	return q
}

// Write never waits. Whoever is too far behind is let go.
func (q *queue) Write(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.pending)+len(b) > maxPending {
		q.slow = q.slow || !q.closed
		q.cancel()
		return 0, errors.New("the listener is too slow")
	}
	q.pending = append(q.pending, b...)
	q.signal()
	return len(b), nil
}

// Flush does nothing: whatever is written is sent at once.
func (q *queue) Flush() {}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default: // it is awake
	}
}

// close waits until all is written, and reports whether the reader was too slow.
func (q *queue) close() (slow bool) {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
	<-q.done
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.slow
}

func (q *queue) take() (b []byte, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	b, q.pending = q.pending, nil
	return b, q.closed
}

// run writes what comes, and something every now and then, so that nobody
// between takes the connection for dead.
func (q *queue) run() {
	defer close(q.done)
	beat := time.NewTicker(heartbeatInterval - rand.N(heartbeatInterval/8)) // not all at the same moment
	defer beat.Stop()
	begun := false
	for {
		var ticked bool
		select {
		case <-q.wake:
		case <-beat.C:
			ticked = begun // nothing may come before the first event
		}
		b, closed := q.take()
		if ticked {
			b = append(b, ": all is well\n\n"...)
		}
		if len(b) > 0 {
			begun = true
			if err := q.send(b); err != nil {
				q.mu.Lock()
				q.slow = q.slow || errors.Is(err, os.ErrDeadlineExceeded)
				q.mu.Unlock()
				q.cancel()
				return
			}
		}
		if closed {
			return
		}
	}
}

func (q *queue) send(b []byte) error {
	_ = q.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := q.ResponseWriter.Write(b); err != nil {
		return err
	}
	if err := q.control.Flush(); err != nil {
		return err
	}
	_ = q.control.SetWriteDeadline(time.Time{}) // over HTTP/2 its coming ends the stream, though nothing is being written
	return nil
}
