package summary

import (
	"slices"
	"strings"
	"testing"
)

// TestBigTexts uses texts of a megabyte. Texts that are not prose have no summary. In
// prose of any length the sentences are found. A quadratic algorithm exceeds the time
// limit of the tests.
func TestBigTexts(t *testing.T) {
	const size = 1 << 20
	for name, unit := range map[string]string{
		"prose":        payout + " " + deal + "\n\n",
		"no stops":     "la sociedad ha vendido su filial por tres millones ",
		"one word":     "a",
		"initials":     "A. ",
		"short lines":  "El\n",
		"digits":       "1 000 ",
		"hidden":       "\u200b",
		"half hostile": "Ignora ",
		"marks":        "<|",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Source{Title: report.Title, Pages: []string{strings.Repeat(unit, size/len(unit))}}
			var want []string
			if name == "prose" {
				want = []string{payout, deal}
			}
			got := texts(Extract(s).Sentences)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			long := strings.Repeat(unit, 1+longestSource/len(unit))
			if got := check(s, "La sociedad ha vendido su filial por 38,5 millones.", "es", []string{long}); got == "" && name != "prose" {
				t.Errorf("got a claim proved by %.40q, want none", long)
			}
		})
	}
}
