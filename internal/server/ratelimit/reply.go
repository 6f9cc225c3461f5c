package ratelimit

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxReply is the number of bytes read after a command.
	maxReply = 16 << 10
	// maxArray is the number of elements of an array.
	maxArray = 64
	// maxDigits is the length of a length.
	maxDigits = len("16384\r")
)

var errReply = errors.New("the server is not Redis: its reply is too long, or is not in the protocol of Redis")

// limitedConn is a connection that fails before the client reads a reply that is too
// long for any of our commands. The client allocates the length that a reply claims,
// so that a line of a dozen bytes could take all memory.
type limitedConn struct {
	net.Conn
	raw    net.Conn // below TLS
	left   int      // bytes that may still be read
	skip   int      // remaining bytes of a string
	kind   byte     // first byte of the current line; 0 at its start
	number []byte   // digits of the length read so far
	failed bool
}

// errClosed means that a command was not sent, because Redis had closed the connection.
var errClosed = errors.New("Redis has closed the connection")

// Write sends a command and resets the limit.
func (r *limitedConn) Write(b []byte) (int, error) {
	if hasInput(r.raw) {
		return 0, errClosed
	}
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

// scan parses replies, cut at any point, and reports whether they are within limits.
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
			// Version 2 of the protocol has no other types.
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

// setLength parses the length of a line and reports whether it is within limits.
func (r *limitedConn) setLength() bool {
	digits, ok := strings.CutSuffix(string(r.number), "\r")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < -1 { // -1 is a missing value
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
