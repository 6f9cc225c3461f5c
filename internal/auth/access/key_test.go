package access

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var shape = regexp.MustCompile(`^pregon_live_[0-9A-Za-z]{38}$`)

func TestNewKeys(t *testing.T) {
	seen := map[string]bool{}
	counts := map[rune]int{}
	const keys = 2000
	for range keys {
		raw, secret := newSecret(time.Now())
		if !shape.MatchString(raw) || !wellFormed(raw) || seen[raw] || secret.Digest != digestOf(raw) {
			t.Fatalf("%q", raw)
		}
		seen[raw] = true
		for _, c := range raw[len(keyPrefix) : len(raw)-checkLength] {
			counts[c]++
		}
	}
	// Each character is as likely as any other: the mean is 1,032 and the
	// standard deviation 32, so that six of those are beyond chance.
	const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	const mean = keys * randomLength / len(base62)
	for _, c := range base62 {
		if n := counts[c]; n < mean-200 || n > mean+200 {
			t.Errorf("%c was drawn %d times, of %d expected", c, n, mean)
		}
	}
}

// The format of keys must not change: issued keys must stay valid.
func TestKnownKey(t *testing.T) {
	const known = "pregon_live_0123456789ABCDEFGHIJKLMNOPQRSTUV"
	if got := checksum(known); got != "1XA6Dk" {
		t.Errorf("the checksum is %s", got)
	}
}

func TestBrokenKeys(t *testing.T) {
	raw, _ := newSecret(time.Now())
	for i := range raw {
		other := byte('x')
		if raw[i] == other {
			other = 'y'
		}
		if broken := raw[:i] + string(other) + raw[i+1:]; wellFormed(broken) {
			t.Errorf("%q passes for %q", broken, raw)
		}
	}
	for _, broken := range []string{"", keyPrefix, raw[1:], raw[:len(raw)-1], raw + "0", " " + raw, strings.ToUpper(raw), strings.Repeat("x", 1<<20)} {
		if wellFormed(broken) {
			t.Errorf("%.60q passes", broken)
		}
	}
}

// A name must not look like another one in the lists of operators.
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"Ana, 🖥️ at home": true, "a\u202eb": false, "a\u2066b": false, "a\nb": false, "a\x7f": false} {
		k := Key{Name: name, Plan: "pro", Scopes: AllScopes}
		if err := k.validate(time.Now()); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzWellFormed(f *testing.F) {
	raw, _ := newSecret(time.Now())
	f.Add(raw)
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if wellFormed(s) && (!shape.MatchString(s) && len(s) != keyLength) {
			t.Errorf("%q passes", s)
		}
	})
}

func TestScopes(t *testing.T) {
	if got := AllScopes.String(); got != "read:reports read:issuers read:analytics" {
		t.Error(got)
	}
	s, err := ParseScopes([]string{"read:analytics", "read:reports", "read:reports"})
	if err != nil || s != ReadReports|ReadAnalytics || s.Has(ReadIssuers) || !s.Has(ReadReports) || !s.Has(0) {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{"", "READ:REPORTS", "read:reports read:issuers", "write:reports"} {
		if _, err := ParseScopes([]string{bad}); err == nil {
			t.Errorf("%q is a scope", bad)
		}
	}
	if !slices.Equal(Scope(0).Names(), []string{}) {
		t.Error("no scope has a name")
	}
}
