package fact_test

import (
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/document/fact"
	"pregon/internal/sim/paper/statement"
	"pregon/internal/sim/paper/statement/statementtest"
)

// inputOf returns a document of the simulator as the rules read it.
func inputOf(d *statement.Document) fact.Document {
	return fact.Document{
		Company:   d.Company,
		Title:     d.Title,
		Category:  d.Category,
		Language:  d.Language,
		Published: d.Day,
		Pages:     d.Pages(),
	}
}

// score compares what the rules find in a document with what it states.
func score(truth []statement.Fact, d fact.Document) statementtest.Score {
	var facts []disclosure.Fact
	var rows [][]map[string]string
	for _, found := range fact.Find(d) {
		facts = append(facts, found.Fact)
		rows = append(rows, found.Rows)
	}
	return statementtest.Compare(truth, facts, rows)
}

// TestQuality measures the rules over documents of every kind and layout that the
// simulator writes, with the truth beside them.
func TestQuality(t *testing.T) {
	const documents = 2000
	var tally statementtest.Tally
	for d := range statement.Sample(documents, 1) {
		tally.Add(d.Layout, d.Voice+" "+d.Trap, score(d.Facts, inputOf(&d)))
	}
	t.Log("\n" + tally.String())
	for _, line := range tally.Mistakes {
		t.Error(line)
	}
	if got := tally.Total().Share(); got < 95 {
		t.Errorf("%.1f %% of the values were found, want at least 95", got)
	}
}
