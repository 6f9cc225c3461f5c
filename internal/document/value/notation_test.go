package value

import "testing"

func TestDateWithShortYear(t *testing.T) {
	values := Read(Tokenise("02-jun-25"), false)
	if len(values) != 1 || values[0].Year != 2025 || values[0].Month != 6 || values[0].Day != 2 {
		t.Errorf("got %+v, want 2 June 2025", values)
	}
}

func TestCurrencyBeforeShares(t *testing.T) {
	values := Read(Tokenise("a €1.5bn share buyback"), true)
	if len(values) != 1 || values[0].Unit != "eur" || values[0].Number.String() != "1500000000" {
		t.Errorf("got %+v, want 1.5 billion euros", values)
	}
}
