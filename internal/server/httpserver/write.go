package httpserver

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Bodies of this size are sent in one write. The buffer of net/http has 4 KiB: it sends a
// smaller response in one write by itself, and a larger one in two or three, each of which
// takes about a seventh of the time of a request.
const (
	minHeld = 2 << 10
	maxHeld = 64 << 10
)

// A reader must accept every part of a response in time. Otherwise the connection, or
// the stream of HTTP/2, is closed: a response that nobody reads would count as an
// active request for a minute. The buffers of the socket accept the first megabytes at
// once; when they are full, the kernel wakes the writer for large pieces only, so that a
// slow reader of many megabytes may be cut off. Such answers are parked.
const (
	partSize    = 64 << 10
	partTimeout = 10 * time.Second
)

// send writes a part of a response, as whole in one write. A parked request has
// deadlines of its own.
func (r *recorder) send(b []byte, whole bool) (n int, err error) {
	if !r.active {
		return r.ResponseWriter.Write(b)
	}
	control := http.NewResponseController(r.ResponseWriter)
	for {
		part := b[n:min(len(b), n+partSize)]
		_ = control.SetWriteDeadline(time.Now().Add(partTimeout))
		var sent int
		if whole {
			sent, err = r.conn.writeAtOnce(r.ResponseWriter, part)
		} else {
			sent, err = r.ResponseWriter.Write(part)
		}
		n += sent
		if err != nil || n == len(b) {
			break
		}
	}
	if r.conn == nil { // over HTTP/2 an expired deadline ends the stream even without a write
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
	}
	return n, err
}

var heldBuffers = sync.Pool{New: func() any { return new([]byte) }}

type connKey struct{}

// withConn implements http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection of an HTTP/1 request, or nil.
func connOf(r *http.Request) *boundConn {
	if r.ProtoMajor != 1 {
		return nil
	}
	c, _ := r.Context().Value(connKey{}).(*boundConn)
	return c
}

// Write sends b, or keeps it for writeAtOnce.
func (h *boundConn) Write(b []byte) (int, error) {
	if h.held == nil {
		return h.Conn.Write(b)
	}
	*h.held = append(*h.held, b...)
	return len(b), nil
}

// writeAtOnce writes a whole body to w, and sends it together with the header.
func (h *boundConn) writeAtOnce(w http.ResponseWriter, body []byte) (int, error) {
	held := heldBuffers.Get().(*[]byte)
	h.held = held
	n, err := w.Write(body)
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	h.held = nil
	if _, sendErr := h.Conn.Write(*held); sendErr != nil {
		_ = h.Close() // net/http does not know that the response is incomplete
		n, err = 0, sendErr
	}
	*held = (*held)[:0]
	heldBuffers.Put(held)
	return n, err
}
