package site

import (
	"testing"

	"pregon/internal/site/render"
)

func TestDecimals(t *testing.T) {
	spanish := edition{render.Edition{Language: render.Spanish}}
	english := edition{render.Edition{Language: render.English}}
	for _, c := range []struct{ got, want string }{
		{spanish.percentage("5.033"), "5,033\u00a0%"},
		{english.percentage("5.033"), "5.033%"},
		{spanish.percentage(""), ""},
		{spanish.decimal("-0.49"), "−0,49"},
		{spanish.decimal("1000"), "1000"},
		{spanish.decimal("1234567.5"), "1.234.567,5"},
		{english.decimal("1000"), "1,000"},
		{english.decimal("x"), "x"},
		{spanish.money("8290430.0005", "EUR"), "8.290.430\u00a0€"},
		{spanish.money("2.5", "EUR"), "2,50\u00a0€"},
		{english.money("2600", "EUR"), "€2,600"},
		{english.money("0", "USD"), "0\u00a0USD"},
		{spanish.money("", "EUR"), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	for s, want := range map[string]int{"0.49": 49, "5.033": 503, "-1.2": -120, "": 0, "x": 0, "99999999999999999999": 0} {
		if got := hundredths(s); got != want {
			t.Errorf("hundredths(%q) is %d, want %d", s, got, want)
		}
	}
}
