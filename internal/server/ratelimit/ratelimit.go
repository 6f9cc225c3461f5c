// Package ratelimit counts requests in sliding windows, exactly, in this process or,
// with Redis, in all processes together.
package ratelimit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Subject is a caller or network that is counted.
type Subject [16]byte

// Network returns the network that an address counts for: that of an IPv6 address is
// its /64, the smallest that a customer gets. An invalid address has the zero Prefix.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap()
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}

// Address returns the subject of the network of an address. That of an IPv4 address
// has its IPv4-mapped form, which differs from every /64.
func Address(a netip.Addr) Subject { return Network(a).Addr().As16() }

// SiteNetwork returns the /48 network of an IPv6 address, the largest that a customer
// gets. IPv4 has none: the result is then invalid.
func SiteNetwork(a netip.Addr) netip.Prefix {
	if !a.Is6() || a.Is4In6() {
		return netip.Prefix{}
	}
	p, _ := a.WithZone("").Prefix(48)
	return p
}

// Site returns the subject of the SiteNetwork of an address, if it has one.
func Site(a netip.Addr) (s Subject, ok bool) {
	p := SiteNetwork(a)
	if !p.IsValid() {
		return s, false
	}
	return p.Addr().As16(), true
}

// Name returns the subject of a name.
func Name(s string) Subject {
	sum := sha256.Sum256([]byte(s))
	return Subject(sum[:])
}

// Policy allows Limit requests in any Window of time.
type Policy struct {
	Name   string // letters, digits, '-', '_' and '.'
	Limit  int
	Window time.Duration
}

// maxLimit bounds Policy.Limit, since each allowed request is stored for a window.
const maxLimit = 1_000_000

// check panics for an invalid policy. Policies are constants of the program.
func (p Policy) check() {
	if p.Name == "" || strings.ContainsFunc(p.Name, notInName) {
		panic(fmt.Sprintf("ratelimit: a policy is named %q", p.Name))
	}
	if p.Limit < 1 || p.Limit > maxLimit {
		panic(fmt.Sprintf("ratelimit: policy %s has the limit %d", p.Name, p.Limit))
	}
	if p.Window < time.Millisecond {
		panic(fmt.Sprintf("ratelimit: policy %s has the window %v", p.Name, p.Window))
	}
}

// notInName reports whether a character cannot be part of headers and Redis keys.
func notInName(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r))
}

// Header returns the value of RateLimit-Policy.
func (p Policy) Header() string {
	return fmt.Sprintf(`"%s";q=%d;w=%d`, p.Name, p.Limit, seconds(p.Window))
}

// Decision is the result for one request.
type Decision struct {
	OK        bool          // the request is allowed
	Remaining int           // number of further requests allowed now
	Reset     time.Duration // until one more is allowed; 0 when nothing is counted
}

// Header returns the value of RateLimit.
func (v Decision) Header(p Policy) string {
	reset := seconds(v.Reset)
	if !v.OK {
		reset = max(reset, 1)
	}
	return fmt.Sprintf(`"%s";r=%d;t=%d`, p.Name, v.Remaining, reset)
}

// RetryAfter returns the value of Retry-After for a refused request.
func (v Decision) RetryAfter() string {
	return strconv.FormatInt(max(seconds(v.Reset), 1), 10)
}

// seconds rounds up, so that a client that waits so long is not too early.
func seconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}

// Limiter counts the requests of each subject.
type Limiter interface {
	// Take allows a request and counts it, or refuses it without counting.
	Take(context.Context, Subject) Decision
	// Peek returns the decision of Take without counting.
	Peek(context.Context, Subject) Decision
}
