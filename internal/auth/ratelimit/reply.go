package ratelimit

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	// longestReply is how many bytes are read of what answers a command. The
	// longest tells, at the start of a connection, which modules Redis has.
	maxReply = 16 << 10
	// longestArray is how many elements an array may have.
	maxArray = 64
	// longestNumber is how many bytes tell the length of anything short enough.
	maxDigits = len("16384\r")
)

var errReply = errors.New("what answers is not Redis: its reply is too long or not one")

// replies is a connection that fails before a reply is read which no command of
// ours has. The client makes room for as much as a reply says it is long: a line
// of a dozen bytes would take all memory.
type limitedConn struct {
	net.Conn
	left   int    // bytes that may still come
	skip   int    // bytes of a string that are still to come
	kind   byte   // how the line began that is being read, 0 at its start
	number []byte // what came of the length in that line
	failed bool
}

// bound makes a dialer's connections fail on such replies.
func limitReplies(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		r := &limitedConn{Conn: conn, left: maxReply}
		if raw, ok := conn.(syscall.Conn); ok {
			// The client looks through it if a connection was closed meanwhile.
			return struct {
				*limitedConn
				syscall.Conn
			}{r, raw}, nil
		}
		return r, nil
	}
}

// Write sends a command, which is answered anew.
func (r *limitedConn) Write(b []byte) (int, error) {
	r.left = maxReply
	return r.Conn.Write(b)
}

func (r *limitedConn) Read(b []byte) (int, error) {
	if r.failed || r.left == 0 {
		return 0, errReply
	}
	n, err := r.Conn.Read(b[:min(len(b), r.left)])
	r.left -= n
	if !r.scan(b[:n]) {
		r.failed = true
		return 0, errReply
	}
	return n, err
}

// follow reads replies as the client will, and tells if it may. They may be cut
// anywhere.
func (r *limitedConn) scan(b []byte) bool {
	for len(b) > 0 {
		if r.skip > 0 {
			n := min(r.skip, len(b))
			r.skip -= n
			b = b[n:]
			continue
		}
		c := b[0]
		b = b[1:]
		sized := r.kind == '*' || r.kind == '$'
		switch {
		case r.kind == 0:
			// There is nothing else in version 2 of the protocol.
			if !slices.Contains([]byte("+-:*$"), c) {
				return false
			}
			r.kind = c
		case c == '\n':
			if sized && !r.setLength() {
				return false
			}
			r.kind, r.number = 0, r.number[:0]
		case sized:
			if len(r.number) == maxDigits {
				return false
			}
			r.number = append(r.number, c)
		}
	}
	return true
}

// sized takes note of a length that was read, and tells if it is a good one.
func (r *limitedConn) setLength() bool {
	digits, ok := strings.CutSuffix(string(r.number), "\r")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < -1 { // -1 is of what does not exist
		return false
	}
	if r.kind == '*' {
		return n <= maxArray
	}
	if n >= 0 {
		r.skip = n + len("\r\n")
	}
	return n <= maxReply
}
