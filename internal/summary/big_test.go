package summary_test

import (
	"strings"
	"testing"
	"time"

	"pregon/internal/summary"
)

// TestBigTexts has texts of ten megabytes that are nothing like prose. The time
// allowed is far more than they take, and far less than anything quadratic.
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
			start := time.Now()
			summary.Extract(s)
			quote := strings.Repeat(unit, 1+300/len(unit))
			summary.Judge(s, []summary.Sentence{
				{Text: "La sociedad ha vendido su filial.", Page: 1, Quote: quote},
				{Text: "La sociedad ha vendido su filial.", Page: 7, Quote: unit + quote},
				{Text: "La sociedad ha vendido su filial.", Page: 7, Quote: quote + "x"},
			})
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("it takes %v", took)
			}
		})
	}
}
