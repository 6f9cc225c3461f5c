// Package ratelimit decides how many requests somebody may make: so many in a
// window of time that slides, counted exactly, in this process or, with Redis,
// in all processes together.
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

// Subject is whom a limit counts.
type Subject [16]byte

// Address is the subject of a network address. An IPv6 address counts by its
// /64, the least that a customer gets: within it they have all the addresses
// they like. An IPv4 address is kept as IPv6 maps it, which no /64 looks like.
func Address(a netip.Addr) Subject {
	s := Subject(a.As16())
	if a.Is6() && !a.Is4In6() {
		clear(s[8:])
	}
	return s
}

// Site is the subject of the /48 network of an IPv6 address, which is what a
// customer gets at most, with 65,536 networks in it. IPv4 has none.
func Site(a netip.Addr) (s Subject, ok bool) {
	if !a.Is6() || a.Is4In6() {
		return s, false
	}
	s = Subject(a.As16())
	clear(s[6:])
	return s, true
}

// Name is the subject of anything that has a name.
func Name(s string) Subject {
	sum := sha256.Sum256([]byte(s))
	return Subject(sum[:])
}

// Policy lets Limit requests in, in any Window of time.
type Policy struct {
	Name   string // letters, digits, '-', '_' and '.'
	Limit  int
	Window time.Duration
}

// most is the highest limit: every request let in is remembered for a window.
const maxLimit = 1_000_000

// check panics if nothing can be counted by the policy: policies are ours.
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

// notOfNames keeps names plain, since they stand in headers and keys.
func notInName(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r))
}

// Header is the value of RateLimit-Policy.
func (p Policy) Header() string {
	return fmt.Sprintf(`"%s";q=%d;w=%d`, p.Name, p.Limit, seconds(p.Window))
}

// Verdict is what a limit says of a request.
type Decision struct {
	OK        bool          // it is let in
	Remaining int           // how many more would be let in now
	Reset     time.Duration // until one more is; 0 when nothing is counted
}

// Header is the value of RateLimit.
func (v Decision) Header(p Policy) string {
	reset := seconds(v.Reset)
	if !v.OK {
		reset = max(reset, 1)
	}
	return fmt.Sprintf(`"%s";r=%d;t=%d`, p.Name, v.Remaining, reset)
}

// RetryAfter is the value of Retry-After for a request that is not let in.
func (v Decision) RetryAfter() string {
	return strconv.FormatInt(max(seconds(v.Reset), 1), 10)
}

// seconds rounds up, so that whoever waits as long does not come too early.
func seconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}

// Limiter counts the requests of each subject.
type Limiter interface {
	// Take lets a request in and counts it, or refuses it and does not.
	Take(context.Context, Subject) Decision
	// Look returns what Take would say, and counts nothing.
	Peek(context.Context, Subject) Decision
}
