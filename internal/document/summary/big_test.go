package summary_test

import (
	"slices"
	"strings"
	"testing"

	"pregon/internal/document/summary"
)

// TestBigTexts uses texts of a megabyte. Texts that are not prose have no summary and
// no evidence. In prose of any length the sentences are found. A quadratic algorithm
// exceeds the time limit of the tests.
func TestBigTexts(t *testing.T) {
	const size = 1 << 20
	sold := "La sociedad ha vendido su filial."
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
			s := summary.Source{Title: filing.Title, Pages: []string{strings.Repeat(unit, size/len(unit))}}
			var want []string
			if name == "prose" {
				want = []string{payout, deal}
			}
			var got []string
			for _, sentence := range summary.Extract(s) {
				got = append(got, sentence.Text)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("extracted %q, want %q", got, want)
			}
			quote := strings.Repeat(unit, 1+300/len(unit))
			kept, dropped := summary.Judge(s, []summary.Sentence{
				{Text: sold, Page: 1, Quote: quote},
				{Text: sold, Page: 7, Quote: unit + quote},
				{Text: sold, Page: 7, Quote: quote + "x"},
			})
			if len(kept) != 0 || len(dropped) != 3 {
				t.Errorf("%d sentences are kept and %d dropped, want all dropped: %+v", len(kept), len(dropped), kept)
			}
		})
	}
}
