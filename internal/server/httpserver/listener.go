package httpserver

import (
	"errors"
	"net"
	"net/netip"
	"sync"
)

// connections is a listener that holds no more connections than it may, in all
// and of one network. One too many is closed at once: to answer it would take
// what the bound is to save.
type boundListener struct {
	net.Listener
	o Options

	mu     sync.Mutex
	all    count                  // guarded by mu
	byPeer map[netip.Prefix]count // guarded by mu
}

type count struct{ connections, http2 int }

func newBoundListener(l net.Listener, o Options) *boundListener {
	return &boundListener{Listener: l, o: o, byPeer: map[netip.Prefix]count{}}
}

// Accept returns the next connection that may be held.
func (c *boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if held := c.acquire(conn); held != nil {
			return held, nil
		}
		c.o.Refused()
		_ = conn.Close()
	}
}

// addressOf returns the address of a peer, and none if it has no IP address.
func addressOf(a net.Addr) netip.Addr {
	peer, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

// networkOf returns the network that an address is counted for: an IPv6 address
// by its /64, the least that a customer gets. Those without an address are one.
func networkOf(addr netip.Addr) netip.Prefix {
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits)
	return p
}

// enter takes a connection up, or returns nil.
func (c *boundListener) acquire(conn net.Conn) *boundConn {
	peer := addressOf(conn.RemoteAddr())
	from, proxy := networkOf(peer), c.o.isProxy(peer)
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.byPeer[from]
	if atLimit(c.all.connections, c.o.MaxConnections) || !proxy && atLimit(of.connections, c.o.MaxPerAddress) {
		return nil
	}
	c.all.connections++
	of.connections++
	c.byPeer[from] = of
	return &boundConn{Conn: conn, in: c, from: from, proxy: proxy}
}

func atLimit(n, most int) bool { return most > 0 && n >= most }

// HTTP/2 multiplies what a connection costs: of each request that is not read to
// its end the server keeps the head, 64 KiB at most, and it has 16 at once. So a
// network may have few such connections, and all but proxies of ours together
// some hundreds. A client needs one.
const (
	http2PerAddress = 8
	http2InAll      = 256
)

// speaksHTTP2 counts a connection that turns out to speak HTTP/2, and reports
// whether it may.
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

// leave gives the place of a connection back, once.
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

// held is a connection that was taken up.
type boundConn struct {
	net.Conn
	in    *boundListener
	from  netip.Prefix
	proxy bool

	// Read sets these, of which there is one at a time.
	seen        int // of the preface of HTTP/2; all of it when that is settled
	multiplexed bool
	head        headCounter
	refused     error // for good

	closed, http2 bool // guarded by in.mu
}

// preface is how a connection begins that speaks HTTP/2. All of it counts:
// "PRI /x HTTP/1.1" is a request of HTTP/1.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

var errHTTP2 = errors.New("too many connections of this address speak HTTP/2")

func (h *boundConn) Read(b []byte) (int, error) {
	if h.refused != nil {
		return 0, h.refused // the server tries again, as HTTP/1
	}
	n, err := h.Conn.Read(b)
	for i := 0; i < n && h.seen < len(preface); i++ {
		if b[i] != preface[h.seen] {
			h.seen = len(preface) // it speaks HTTP/1
			continue
		}
		if h.seen++; h.seen < len(preface) {
			continue
		}
		if !h.in.acquireHTTP2(h) {
			h.in.o.Refused()
			h.refused = errHTTP2
			return 0, h.refused
		}
		h.multiplexed, h.head.over = true, true // what follows has no lines
	}
	if !h.head.count(b[:n]) {
		h.in.o.Refused()
		h.refused = errLines
		return 0, h.refused
	}
	return n, err
}

// head counts the lines of a request's head as it comes. Each costs the server
// some hundred bytes, though it may have four on the wire.
type headCounter struct {
	lines int
	width int  // of the present line
	over  bool // it came to its end
}

const maxHeadLines = 256

var errLines = errors.New("a request's head has too many lines")

// take reads on, and reports whether the head may be as it is.
func (h *headCounter) count(b []byte) bool {
	for _, c := range b {
		switch {
		case h.over || h.lines > maxHeadLines:
			return h.over
		case c == '\n' && h.width > 0:
			h.lines, h.width = h.lines+1, 0
		case c == '\n':
			h.over = h.lines > 0 // an empty line before it is passed over
		case c != '\r':
			h.width++
		}
	}
	return h.lines <= maxHeadLines
}

// nextHead is called when a request was answered and another may come.
func (h *boundConn) nextHead() {
	if !h.multiplexed {
		h.head = headCounter{}
	}
}

func (h *boundConn) Close() error {
	defer h.in.release(h)
	return h.Conn.Close()
}
