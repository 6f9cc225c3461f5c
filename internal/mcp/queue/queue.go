// Package queue decouples the writer of an event stream from a slow reader.
package queue

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	// HeartbeatInterval is the longest time between two writes.
	HeartbeatInterval = 15 * time.Second
	// WriteTimeout limits one write to the connection.
	WriteTimeout = 10 * time.Second
	// MaxPending limits the bytes that wait for a slow reader. It is more than the
	// notifications of all URIs of one listener.
	MaxPending = 256 << 10
)

// Writer buffers the response of one listener. Listeners are notified one after
// the other, so that without a buffer a slow reader would delay the others.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	cancel  func()
	wake    chan struct{}
	done    chan struct{} // closed when the last byte is written

	mu      sync.Mutex
	pending []byte // guarded by mu
	closed  bool   // guarded by mu
	slow    bool   // guarded by mu: the reader was too slow
}

// New returns a Writer and starts to write to w. It calls cancel if the reader is
// too slow or gone.
func New(w http.ResponseWriter, cancel func()) *Writer {
	q := &Writer{
		w:       w,
		control: http.NewResponseController(w),
		cancel:  cancel,
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
	_ = q.control.SetReadDeadline(time.Time{}) // otherwise the connection ends at the deadline of the request
	w.Header().Set("X-Accel-Buffering", "no")
	go q.run()
	return q
}

// Write never blocks. It cancels the request if too much is pending.
func (q *Writer) Write(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.pending)+len(b) > MaxPending {
		q.slow = q.slow || !q.closed
		q.cancel()
		return 0, errors.New("the listener is too slow")
	}
	q.pending = append(q.pending, b...)
	q.signal()
	return len(b), nil
}

func (q *Writer) signal() {
	select {
	case q.wake <- struct{}{}:
	default: // a signal is pending
	}
}

// Close waits until everything is written, and reports whether the reader was too
// slow. It leaves a deadline for the end of the response.
func (q *Writer) Close() (slow bool) {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
	<-q.done
	_ = q.control.SetWriteDeadline(time.Now().Add(WriteTimeout))
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.slow
}

func (q *Writer) take() (b []byte, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	b, q.pending = q.pending, nil
	return b, q.closed
}

// run writes pending bytes, and heartbeats so that no proxy closes the connection.
func (q *Writer) run() {
	defer close(q.done)
	// so that listeners are not written at the same moment
	beat := time.NewTicker(HeartbeatInterval - rand.N(HeartbeatInterval/8))
	defer beat.Stop()
	started := false
	for {
		var ticked bool
		select {
		case <-q.wake:
		case <-beat.C:
			ticked = started // not before the first event
		}
		b, closed := q.take()
		if ticked {
			b = append(b, ": all is well\n\n"...)
		}
		if len(b) > 0 {
			started = true
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

func (q *Writer) send(b []byte) error {
	_ = q.control.SetWriteDeadline(time.Now().Add(WriteTimeout))
	if _, err := q.w.Write(b); err != nil {
		return err
	}
	if err := q.control.Flush(); err != nil {
		return err
	}
	_ = q.control.SetWriteDeadline(time.Time{}) // over HTTP/2 an expired deadline ends the stream even without a write
	return nil
}
