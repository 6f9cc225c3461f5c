package text_test

import (
	"testing"

	"pregon/internal/text"
)

func TestASCIICase(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		equal bool
	}{
		{"", "", true},
		{"Example.COM", "eXAMPLE.com", true},
		{"spain.example", "\u017fpain.example", false}, // long s
		{"bank.example", "ban\u212a.example", false},   // Kelvin sign
		{"ñ", "Ñ", false},
		{"\xff", "\ufffd", false},
		{"a", "ab", false},
	} {
		if got := text.EqualFoldASCII(test.a, test.b); got != test.equal {
			t.Errorf("EqualFoldASCII(%q, %q) = %v", test.a, test.b, got)
		}
	}
	if got := text.LowerASCII("Ana@BAN\u212a.Ñ"); got != "ana@ban\u212a.Ñ" {
		t.Errorf("LowerASCII returned %q", got)
	}
}
