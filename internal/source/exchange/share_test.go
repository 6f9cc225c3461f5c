package exchange_test

import (
	"slices"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/source/exchange"
)

func TestMarket(t *testing.T) {
	for _, test := range []struct{ system, segment, want string }{
		{"SIBE", "", "SIBE"},
		{"FLOOR", "", "Floor"},
		{"latibex", "", "Latibex"},
		{"MTF", "BMEGrowth", "BME Growth"},
		{"MTF", "BMEScaleUp", "BME Scaleup"},
		{"MTF", "BMEScaleup", "BME Scaleup"},
		{"", "BME Growth", "BME Growth"},
		{"MTF", "SICAV", ""},
		{"MTF", "HedgeFunds", ""},
		{"MTF", "VCC", ""},
		{"MTF", "", ""},
		{"SIBE", "SICAV", ""},
		{"", "", ""},
	} {
		if got := (exchange.Share{System: test.system, Segment: test.segment}).Market(); got != test.want {
			t.Errorf("%q %q: %q, want %q", test.system, test.segment, got, test.want)
		}
		if test.want != "" && !slices.Contains(disclosure.Markets, test.want) {
			t.Errorf("%q is not one of the known markets", test.want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	seen := map[string]exchange.Share{}
	for _, s := range []exchange.Share{
		{},
		{ISIN: "a"},
		{CompanyKey: "a"},
		{Name: "a"},
		{ShareName: "a"},
		{System: "a"},
		{Segment: "a"},
		{Country: "a"},
		{Name: `a" "b`},
		{Name: "a", ShareName: "b"},
		{Name: "a b"},
	} {
		print := s.Fingerprint()
		if other, ok := seen[print]; ok {
			t.Errorf("%+v and %+v have the same", s, other)
		}
		if seen[print] = s; len(print) != 16 || print != s.Fingerprint() {
			t.Errorf("%+v: %q", s, print)
		}
	}
}
