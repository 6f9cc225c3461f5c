package ratelimit

import (
	"net/netip"
	"testing"
	"time"
)

// The site of an IPv6 address is its /48 network. IPv4 has none.
func TestSite(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"2001:db8:1:2::3", "2001:db8:1::", true},
		{"2001:db8:1:ffff:ffff:ffff:ffff:ffff", "2001:db8:1::", true},
		{"2001:db8:1::", "2001:db8:2::", false},
		{"2001:db8:0:ffff::", "2001:db8:1::", false},
	} {
		a, ok := Site(netip.MustParseAddr(test.a))
		b, alsoOK := Site(netip.MustParseAddr(test.b))
		if !ok || !alsoOK || (a == b) != test.same {
			t.Errorf("%s and %s: %x, %x; want the same: %v", test.a, test.b, a, b, test.same)
		}
	}
	for _, none := range []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("::ffff:192.0.2.1"), {}} {
		if s, ok := Site(none); ok || s != (Subject{}) {
			t.Errorf("%s has the site %x", none, s)
		}
	}
}

// Both decisions must allow a request, and the one with fewer remaining requests gives
// the numbers; of equal ones, the one that lasts longer.
func TestStricter(t *testing.T) {
	for _, test := range []struct {
		name       string
		a, b, want Decision
	}{
		{"the first has fewer", Decision{true, 1, time.Second}, Decision{true, 2, time.Minute}, Decision{true, 1, time.Second}},
		{"the second has fewer", Decision{true, 2, time.Minute}, Decision{true, 1, time.Second}, Decision{true, 1, time.Second}},
		{"the first lasts longer", Decision{true, 1, time.Minute}, Decision{true, 1, time.Second}, Decision{true, 1, time.Minute}},
		{"the second lasts longer", Decision{true, 1, time.Second}, Decision{true, 1, time.Minute}, Decision{true, 1, time.Minute}},
		{"the first refuses", Decision{false, 0, time.Second}, Decision{true, 5, 0}, Decision{false, 0, time.Second}},
		{"the second refuses", Decision{true, 5, 0}, Decision{false, 0, time.Second}, Decision{false, 0, time.Second}},
		{"one refuses with more remaining", Decision{false, 5, 0}, Decision{true, 0, time.Second}, Decision{false, 0, time.Second}},
	} {
		if got := stricter(test.a, test.b); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// The name of a policy is part of headers and of keys in Redis.
func TestNamesOfPolicies(t *testing.T) {
	for name, want := range map[string]bool{
		"az": true, "AZ": true, "09": true, "a-b_c.d": true,
		"": false, "a b": false, `a"b`: false, "a:b": false, "a/b": false, "a@b": false, "a[b": false, "a`b": false, "a{b": false, "ñ": false, "a,b": false,
	} {
		panicked := func() (panicked bool) {
			defer func() { panicked = recover() != nil }()
			Policy{Name: name, Limit: 1, Window: time.Second}.check()
			return false
		}()
		if panicked == want {
			t.Errorf("the name %q: allowed %v, want %v", name, !panicked, want)
		}
	}
	for _, test := range []struct {
		policy Policy
		want   bool
	}{
		{Policy{"a", 1, time.Millisecond}, true},
		{Policy{"a", 1_000_000, time.Hour}, true},
		{Policy{"a", 0, time.Second}, false},
		{Policy{"a", 1_000_001, time.Second}, false},
		{Policy{"a", 1, time.Millisecond - 1}, false},
	} {
		panicked := func() (panicked bool) {
			defer func() { panicked = recover() != nil }()
			test.policy.check()
			return false
		}()
		if panicked == test.want {
			t.Errorf("%+v: allowed %v, want %v", test.policy, !panicked, test.want)
		}
	}
}
