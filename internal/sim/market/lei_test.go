package market

import (
	"regexp"
	"testing"

	"pregon/internal/disclosure"
)

func TestLEI(t *testing.T) {
	form := regexp.MustCompile(`^SIM0[0-9A-Z]{14}[0-9]{2}$`)
	seen := map[string]string{}
	check := func(i disclosure.Issuer) {
		lei := LEI(i)
		if !form.MatchString(lei) || mod97(lei) != 1 {
			t.Errorf("%s: %q is no LEI", i.ID, lei)
		}
		if seen[lei] != "" {
			t.Errorf("%s and %s have the same LEI", i.ID, seen[lei])
		}
		seen[lei] = i.ID
	}
	for _, i := range New(1).Issuers() {
		check(i)
	}
	for _, id := range []string{"", "fi-1", "a-very-long-identifier-of-an-issuer"} {
		check(disclosure.Issuer{ID: id})
	}
}

// TestMod97 uses the example of ISO 17442.
func TestMod97(t *testing.T) {
	for code, want := range map[string]int{"506700GE1G29325QX363": 1, "506700GE1G29325QX364": 2, "": 0} {
		if got := mod97(code); got != want {
			t.Errorf("mod97(%q) = %d, want %d", code, got, want)
		}
	}
}
