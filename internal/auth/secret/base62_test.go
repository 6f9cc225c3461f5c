package secret_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/text/mask"
)

// Base62 writes the last digits of a number, the most significant first.
func TestBase62(t *testing.T) {
	for _, test := range []struct {
		n      uint64
		digits int
		want   string
	}{
		{0, 1, "0"},
		{0, 3, "000"},
		{9, 1, "9"},
		{10, 1, "A"},
		{61, 1, "z"},
		{62, 2, "10"},
		{63, 1, "1"}, // the others are left out
		{62*62 + 2*62 + 3, 4, "0123"},
		{math.MaxUint64, 11, "LygHa16AHYF"},
		{7, 0, ""},
	} {
		if got := secret.Base62(test.n, test.digits); got != test.want {
			t.Errorf("Base62(%d, %d) = %q, want %q", test.n, test.digits, got, test.want)
		}
	}
}

// A random text has letters and digits, all as often as the others, and each is another.
func TestRandomText(t *testing.T) {
	const (
		alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		texts    = 2000
		length   = 62
	)
	counts := map[rune]int{}
	seen := map[string]bool{}
	for range texts {
		text := secret.RandomText(length)
		if len(text) != length || seen[text] {
			t.Fatalf("%q", text)
		}
		seen[text] = true
		for _, c := range text {
			counts[c]++
		}
	}
	// The mean is 2,000 and the standard deviation 44: ten of those are beyond chance. A
	// byte above the largest multiple of 62 would make the first characters 25 % more frequent.
	for c, n := range counts {
		if !strings.ContainsRune(alphabet, c) || n < texts-440 || n > texts+440 {
			t.Errorf("%c was drawn %d times, of %d expected", c, n, texts)
		}
	}
	if len(counts) != len(alphabet) {
		t.Errorf("%d characters, want %d", len(counts), len(alphabet))
	}
	for _, length := range []int{1, 43, 64, 65, 200} {
		if got := len(secret.RandomText(length)); got != length {
			t.Errorf("%d characters, want %d", got, length)
		}
	}
}

// A writer that fails is reported, whether or not something was masked.
func TestMaskingWriterFails(t *testing.T) {
	for _, line := range []string{"nothing", "pregon_live_0123456789"} {
		if _, err := (mask.Writer{Writer: brokenWriter{}}).Write([]byte(line)); !errors.Is(err, errWriter) {
			t.Errorf("%q: %v, want the error of the writer", line, err)
		}
	}
}

var errWriter = errors.New("the disk is full")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errWriter }

// A sealed value that is shorter than the id of a key is damaged, and not one of
// another key.
func TestShorterThanAKeyID(t *testing.T) {
	b := box(t, key)
	_, err := b.Open(place, "v1:AAAA")
	wantFault(t, err, fault.Internal, "changed, truncated, or copied")
	_, err = b.Open(place, "v1:AAAAAA==")
	wantFault(t, err, fault.Internal, "PREGON_SECRET_KEY differs")
}
