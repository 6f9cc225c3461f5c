package httpserver

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"pregon/internal/server/ratelimit"
)

// boundListener limits the number of connections, in total and per network. It closes
// the others at once: a response would cost what the limit is meant to save.
type boundListener struct {
	net.Listener
	o Options

	mu     sync.Mutex
	fresh  int                    // connections without a request yet; guarded by mu
	all    count                  // guarded by mu
	byPeer map[netip.Prefix]count // guarded by mu
}

type count struct{ connections, http2 int }

func newBoundListener(l net.Listener, o Options) *boundListener {
	return &boundListener{Listener: l, o: o, byPeer: map[netip.Prefix]count{}}
}

// Accept returns the next connection within the limits.
func (c *boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if held := c.acquire(conn); held != nil {
			return held, nil
		}
		c.o.Limits.Refused()
		_ = conn.Close()
	}
}

// addressOf returns the IP address of a peer, or the zero value if it has none.
func addressOf(a net.Addr) netip.Addr {
	peer, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

// acquire counts a connection, or returns nil.
func (c *boundListener) acquire(conn net.Conn) *boundConn {
	peer := addressOf(conn.RemoteAddr())
	from, proxy := ratelimit.Network(peer), c.o.Clients.isProxy(peer)
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.byPeer[from]
	if atLimit(c.all.connections, c.o.Limits.Connections) || !proxy && atLimit(of.connections, c.o.Limits.PerAddress) {
		return nil
	}
	c.all.connections++
	of.connections++
	c.byPeer[from] = of
	return &boundConn{
		Conn:  conn,
		in:    c,
		from:  from,
		proxy: proxy,
	}
}

func atLimit(n, most int) bool { return most > 0 && n >= most }

// An HTTP/2 connection costs more: for each unfinished request the server keeps the
// header, up to 64 KiB, and a connection may have 16. So a network may have a few
// such connections, and all networks except proxies some hundreds. A client needs one.
const (
	http2PerAddress = 8
	http2InAll      = 256
)

// acquireHTTP2 counts a connection as HTTP/2, and reports whether it is within the limits.
func (c *boundListener) acquireHTTP2(h *boundConn) bool {
	if h.proxy {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.byPeer[h.from]
	if h.closed || c.all.http2 >= http2InAll || of.http2 >= http2PerAddress {
		return false
	}
	h.http2 = true
	c.all.http2++
	of.http2++
	c.byPeer[h.from] = of
	return true
}

// release uncounts a connection once.
func (c *boundListener) release(h *boundConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	of := c.byPeer[h.from]
	c.all.connections--
	of.connections--
	if h.http2 {
		c.all.http2--
		of.http2--
	}
	if c.byPeer[h.from] = of; of == (count{}) {
		delete(c.byPeer, h.from)
	}
}

// boundConn is a counted connection.
type boundConn struct {
	net.Conn
	in    *boundListener
	from  netip.Prefix
	proxy bool

	// Only Read uses these, and it is not called concurrently.
	seen        int // matched bytes of the preface; all when the protocol is known
	multiplexed bool
	head        headCounter
	refused     error // permanent

	// Only the handler of an HTTP/1 request uses it: bytes that are not yet sent, or
	// nil while writes are sent at once.
	held *[]byte

	closed, http2, fresh bool // guarded by in.mu
}

// changeState implements http.Server.ConnState.
func changeState(c net.Conn, state http.ConnState) {
	h, ok := c.(*boundConn)
	if !ok {
		return
	}
	if state == http.StateIdle {
		h.nextHead()
	}
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	if fresh := state == http.StateNew; fresh != h.fresh {
		h.fresh = fresh
		if fresh {
			h.in.fresh++
		} else {
			h.in.fresh--
		}
	}
}

// waitFirst waits until every connection has sent its first request, but not longer
// than the timeout. http.Server.Shutdown closes a connection whose request arrives
// during it without an answer.
func (c *boundListener) waitFirst(timeout time.Duration) {
	none := 0 // polls in a row without such a connection: one may be about to start its request
	for end := time.Now().Add(timeout); none < 2 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		c.mu.Lock()
		if none++; c.fresh > 0 {
			none = 0
		}
		c.mu.Unlock()
	}
}

// preface starts an HTTP/2 connection. All of it must match: "PRI /x HTTP/1.1" is an
// HTTP/1 request.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

var errHTTP2 = errors.New("too many connections from this address use HTTP/2")

func (h *boundConn) Read(b []byte) (int, error) {
	if h.refused != nil {
		return 0, h.refused // the server retries as HTTP/1
	}
	n, err := h.Conn.Read(b)
	for i := 0; i < n && h.seen < len(preface); i++ {
		if b[i] != preface[h.seen] {
			h.seen = len(preface) // HTTP/1
			continue
		}
		if h.seen++; h.seen < len(preface) {
			continue
		}
		if !h.in.acquireHTTP2(h) {
			h.in.o.Limits.Refused()
			h.refused = errHTTP2
			return 0, h.refused
		}
		h.multiplexed, h.head.over = true, true // frames have no lines
	}
	if !h.head.count(b[:n]) {
		h.in.o.Limits.Refused()
		h.refused = errLines
		return 0, h.refused
	}
	return n, err
}

// headCounter counts the lines of a request header. Each costs the server some hundred
// bytes, but only four on the wire.
type headCounter struct {
	lines int
	width int  // of the current line
	over  bool // the header is complete
}

const maxHeadLines = 256

var errLines = errors.New("a request's head has too many lines")

// count counts more bytes, and reports whether the header is within the limit.
func (h *headCounter) count(b []byte) bool {
	for _, c := range b {
		switch {
		case h.over || h.lines > maxHeadLines:
			return h.over
		case c == '\n' && h.width > 0:
			h.lines, h.width = h.lines+1, 0
		case c == '\n':
			h.over = h.lines > 0 // empty lines before a request are ignored
		case c != '\r':
			h.width++
		}
	}
	return h.lines <= maxHeadLines
}

// nextHead is called between requests.
func (h *boundConn) nextHead() {
	if !h.multiplexed {
		h.head = headCounter{}
	}
}

func (h *boundConn) Close() error {
	defer h.in.release(h)
	return h.Conn.Close()
}
