package catalog_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// A category is suggested in its current spelling if the first spelling is no
// longer used.
func TestSuggestsTheSpellingInUse(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		report := newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas)
		report.Category = "Sobre Gobierno corporativo"
		add(t, f.db, nil, report)
		settle()
		report.Category = "Sobre gobierno corporativo"
		add(t, f.db, nil, report)
		settle()
		got := suggest(f.Snapshot(), "gobierno", 10).Categories
		if len(got) != 1 || got[0].Category != report.Category || got[0].Total != 1 {
			t.Errorf("got suggestions %+v, want only %s", got, report.Category)
		}
	})
}
