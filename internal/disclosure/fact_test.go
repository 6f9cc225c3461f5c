package disclosure_test

import (
	"testing"

	"pregon/internal/disclosure"
)

func TestCompareDecimals(t *testing.T) {
	ordered := []string{"-20", "-3.5", "-3.25", "0", "0.0850", "0.09", "1", "1.5", "9.99", "10", "50000000", "50000000.01"}
	for i, a := range ordered {
		for k, b := range ordered {
			got := disclosure.CompareDecimals(a, b)
			if (got < 0) != (i < k) || (got > 0) != (i > k) {
				t.Errorf("CompareDecimals(%s, %s) = %d", a, b, got)
			}
		}
	}
	for _, same := range [][2]string{{"0", "-0.00"}, {"007", "7.0"}, {"1.50", "1.5"}, {"-2.0", "-2"}} {
		if got := disclosure.CompareDecimals(same[0], same[1]); got != 0 {
			t.Errorf("CompareDecimals(%s, %s) = %d", same[0], same[1], got)
		}
	}
}

func TestIsDecimal(t *testing.T) {
	for _, s := range []string{"0", "12", "0.0850", "-3.5"} {
		if !disclosure.IsDecimal(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", "-", ".5", "5.", "1,5", "+1", "1e3", "--1", "1.2.3", " 1"} {
		if disclosure.IsDecimal(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}
