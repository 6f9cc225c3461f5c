package ratelimit_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/server/ratelimit"
)

func TestMain(m *testing.M) {
	// The first look-up of a name creates a channel for all later ones. Inside a bubble
	// of synctest, those outside could not use it.
	_, _ = net.DefaultResolver.LookupIPAddr(context.Background(), "localhost")
	goleak.VerifyTestMain(m)
}

func TestAddress(t *testing.T) {
	address := func(s string) ratelimit.Subject { return ratelimit.Address(netip.MustParseAddr(s)) }
	for _, same := range [][2]string{
		{"192.0.2.1", "::ffff:192.0.2.1"},
		{"2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff"},
		{"fe80::1%eth0", "fe80::2%eth1"},
	} {
		if address(same[0]) != address(same[1]) {
			t.Errorf("%s and %s are counted apart", same[0], same[1])
		}
	}
	seen := map[ratelimit.Subject]string{}
	for _, s := range []string{
		"0.0.0.0", "0.0.0.1", "192.0.2.1", "192.0.2.2",
		"::1", "0:0:0:1::", "2001:db8::", "2001:db8:0:1::", "64:ff9b::192.0.2.1", "c000:201::",
	} {
		if other, ok := seen[address(s)]; ok {
			t.Errorf("%s and %s are counted together", s, other)
		}
		seen[address(s)] = s
	}
}

func TestName(t *testing.T) {
	if got := fmt.Sprintf("%x", ratelimit.Name("abc")); got != "ba7816bf8f01cfea414140de5dae2223" {
		t.Errorf("the subject of abc is %s, want the start of its SHA-256", got)
	}
}

func TestHeaders(t *testing.T) {
	p := ratelimit.Policy{Name: "anonymous", Limit: 60, Window: time.Minute}
	if got := p.Header(); got != `"anonymous";q=60;w=60` {
		t.Errorf("RateLimit-Policy: %s", got)
	}
	for _, c := range []struct {
		verdict           ratelimit.Decision
		header, retryWait string
	}{
		{ratelimit.Decision{OK: true, Remaining: 59, Reset: time.Minute}, `"anonymous";r=59;t=60`, "60"},
		{ratelimit.Decision{OK: true, Remaining: 58, Reset: time.Second + 1}, `"anonymous";r=58;t=2`, "2"},
		{ratelimit.Decision{OK: true, Remaining: 60}, `"anonymous";r=60;t=0`, "1"},
		{ratelimit.Decision{Reset: 1}, `"anonymous";r=0;t=1`, "1"},
		{ratelimit.Decision{}, `"anonymous";r=0;t=1`, "1"},
	} {
		if got := c.verdict.Header(p); got != c.header {
			t.Errorf("RateLimit: %s, want %s", got, c.header)
		}
		if got := c.verdict.RetryAfter(); got != c.retryWait {
			t.Errorf("Retry-After: %s, want %s", got, c.retryWait)
		}
	}
}

func TestPolicies(t *testing.T) {
	for _, p := range []ratelimit.Policy{
		{},
		{Limit: 60, Window: time.Minute},
		{Name: `a"b`, Limit: 60, Window: time.Minute},
		{Name: "a:b", Limit: 60, Window: time.Minute},
		{Name: "a", Limit: 0, Window: time.Minute},
		{Name: "a", Limit: -1, Window: time.Minute},
		{Name: "a", Limit: 1_000_001, Window: time.Minute},
		{Name: "a", Limit: 60},
		{Name: "a", Limit: 60, Window: -time.Minute},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is taken for a policy", p)
				}
			}()
			ratelimit.NewWindow(p)
		}()
	}
}
