package catalog_test

import (
	"testing"

	"pregon/internal/disclosure"
)

// A heading is suggested as it is spelt now, when the spelling first seen is
// no longer in use.
func TestSuggestsTheSpellingInUse(t *testing.T) {
	following(t, func(t *testing.T, f *follower) {
		report := filing(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas)
		report.Category = "Sobre Gobierno corporativo"
		add(t, f.db, nil, report)
		settle()
		report.Category = "Sobre gobierno corporativo"
		add(t, f.db, nil, report)
		settle()
		got := suggest(f.Snapshot(), "gobierno", 10).Categories
		if len(got) != 1 || got[0].Category != report.Category || got[0].Total != 1 {
			t.Errorf("it suggests %+v", got)
		}
	})
}
