// Package fact finds out what the document of a report states: dividends, meetings,
// results, and so on. Rules find it, without a model, so the same document always gives
// the same facts. A value that is not certain is left out: a missing value sends a
// reader to the document, a wrong one misleads them.
package fact

import (
	"time"

	"pregon/internal/disclosure"
)

// Rules is the version of the rules. Facts that were found by an earlier version are
// found again. Raise it with every change of a rule that changes a result.
const Rules = 1

// Document is what the rules read.
type Document struct {
	Company   string // of the report
	Title     string // of the report
	Category  string // of the report; it decides which kinds are tried first
	Language  string // es, en, ca…; empty if it is unknown
	Published time.Time
	Pages     []string // paragraphs are separated by an empty line, rows by a line feed, cells by a tab
}

// Found is a fact with what proves it.
type Found struct {
	disclosure.Fact
	disclosure.FactDetail
}

// Find returns the facts of a document.
func Find(d Document) []Found {
	return nil
}
