package disclosure_test

import (
	"strings"
	"testing"

	"pregon/internal/disclosure"
)

func TestIsLEI(t *testing.T) {
	valid := []string{
		"959800SIMBANCO000072",
		"959800SIM00000000192",
		"SIM00000000000000050",
		"00000000000000000098", // no letter
		"ZZZZZZZZZZZZZZZZZZ40", // the largest
	}
	for _, s := range valid {
		if !disclosure.IsLEI(s) {
			t.Errorf("IsLEI(%q) = false", s)
		}
		if disclosure.IsLEI(strings.ToLower(s)) != (s == strings.ToLower(s)) {
			t.Errorf("IsLEI(%q): letters must be capital", strings.ToLower(s))
		}
		for i := range len(s) { // every single wrong character is found
			wrong := byte('1')
			if s[i] == wrong {
				wrong = '2'
			}
			if other := s[:i] + string(wrong) + s[i+1:]; disclosure.IsLEI(other) {
				t.Errorf("IsLEI(%q) = true, one character from %q", other, s)
			}
		}
	}
	for _, s := range []string{
		"", "-", "9598", "959800SIMBANCO0000720", "959800SIMBANCO00007", "959800SIMBANCO0000A7", "959800SIMBANCO00007A",
		" 59800SIMBANCO000072", "959800SIMBANCO-00072", "959800SIMBAÑO000072", strings.Repeat("0", 20), strings.Repeat("9", 1<<16),
		"0000000000000000001\x00", "00000000000000000001", // the remainder of 1 is 1, but 01 is not a check number
	} {
		if disclosure.IsLEI(s) {
			t.Errorf("IsLEI(%q) = true", s)
		}
	}
}
