package httpserver

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Bodies of this size are sent in one write. The buffer of net/http has 4 KiB: it sends a
// smaller response in one write by itself, and a larger one in two or three, each of which
// takes about a seventh of the time of a request.
const (
	minHeld = 2 << 10
	maxHeld = 64 << 10
)

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
