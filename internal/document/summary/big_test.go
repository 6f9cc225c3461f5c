package summary_test

import (
	"strings"
	"testing"

	"pregon/internal/document/summary"
)

// TestBigTexts has texts of ten megabytes that are nothing like prose. Anything
// quadratic in them runs into the time limit of the tests.
func TestBigTexts(t *testing.T) {
	const size = 10 << 20
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
			summary.Extract(s)
			quote := strings.Repeat(unit, 1+300/len(unit))
			summary.Judge(s, []summary.Sentence{
				{Text: "La sociedad ha vendido su filial.", Page: 1, Quote: quote},
				{Text: "La sociedad ha vendido su filial.", Page: 7, Quote: unit + quote},
				{Text: "La sociedad ha vendido su filial.", Page: 7, Quote: quote + "x"},
			})
		})
	}
}
