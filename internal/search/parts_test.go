package search_test

import (
	"slices"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

func TestParts(t *testing.T) {
	for _, test := range []struct {
		search string
		want   []string
	}{
		{"", nil},
		{"-fondo", nil},
		{"Junta general", []string{"junta", "general"}},
		{`"junta general" 2025 -fondo`, []string{`"junta general"`, "2025"}},
		{"share buy-back Valdebrisa, S.A.", []string{"share buy back", "valdebrisa"}},
		{"dividends rights issue", []string{"dividends", "rights issue"}},
		{"A-69000016 agm", []string{"A69000016", "agm"}},
		{"oir-40374 agm", []string{"oir-40374", "agm"}},
	} {
		var got []string
		for _, p := range search.ParseFilter(disclosure.Filter{Search: test.search, Widen: true}).Parts() {
			got = append(got, p.Text)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.search, got, test.want)
		}
	}
	parts := search.ParseFilter(disclosure.Filter{Search: "takeover", Widen: true}).Parts()
	if len(parts) != 1 || !slices.Contains(parts[0].Alternatives, "opa") {
		t.Errorf("the alternatives of takeover: %+v", parts)
	}
	parts = search.ParseFilter(disclosure.Filter{Search: "takeover"}).Parts()
	if len(parts) != 1 || len(parts[0].Alternatives) != 0 {
		t.Errorf("a search that is not widened has alternatives: %+v", parts)
	}
}

// Each part can be searched by itself and stays the same.
func FuzzParts(f *testing.F) {
	f.Add(`share buy-back "junta general" A-69000016`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, part := range search.ParseFilter(disclosure.Filter{Search: text, Widen: true}).Parts() {
			if part.Text == "" {
				t.Fatalf("%q has an empty part", text)
			}
			again := search.ParseFilter(disclosure.Filter{Search: part.Text, Widen: true}).Parts()
			if len(again) != 1 {
				t.Errorf("the part %q of %q has the parts %+v", part.Text, text, again)
			}
		}
	})
}
