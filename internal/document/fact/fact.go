// Package fact finds out what the document of a report states: dividends, meetings,
// results, and so on. Rules find it, without a model, so the same document always gives
// the same facts. A value that is not certain is left out: a missing value sends a
// reader to the document, a wrong one misleads them.
//
// A document is first read as a whole: reading.go splits it into sentences and rows of
// tables, and finds their values (package value) and their cues, which are the phrases
// of words/*.txt. Each kind of fact has a file with its rule. A rule looks for values
// near cues, drops those of other periods, plans and conditions (clause.go), and keeps
// those on which all places of the document agree (candidate.go).
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
	Category  string // of the report
	Language  string // es, en, ca…; empty if it is unknown
	Published time.Time
	Pages     []string // paragraphs are separated by an empty line, rows by a line feed, cells by a tab
}

// Found is a fact with what proves it.
type Found struct {
	disclosure.Fact
	disclosure.FactDetail
}

// rules are the rules of all kinds, in the order of their results.
var rules = []struct {
	kind disclosure.FactKind
	find func(*reading) []draft
}{
	{disclosure.Dividend, dividends},
	{disclosure.Meeting, meetings},
	{disclosure.Results, results},
	{disclosure.BuybackProgramme, buybackProgrammes},
	{disclosure.BuybackTrades, buybackTrades},
	{disclosure.VotingRights, votingRights},
	{disclosure.Capital, capitalChanges},
	{disclosure.Suspension, suspensions},
	{disclosure.Board, boardChanges},
	{disclosure.Rating, ratings},
	{disclosure.Takeover, takeovers},
	{disclosure.LiquidityContract, liquidityContracts},
	{disclosure.Securitisation, securitisationPayments},
}

// mostFacts is the number of facts that one document may have.
const mostFacts = 40

// Find returns the facts of a document.
func Find(d Document) []Found {
	r := readDocument(d)
	var found []Found
	for _, rule := range rules {
		for _, draft := range rule.find(r) {
			if len(found) < mostFacts && len(draft.fields) > 0 {
				found = append(found, r.finish(rule.kind, draft))
			}
		}
	}
	return found
}

// draft is a fact with the places that prove its fields.
type draft struct {
	fields map[string]string
	proof  map[string]place
	rows   []map[string]string
}

func newDraft() draft {
	return draft{fields: map[string]string{}, proof: map[string]place{}}
}

// set sets a field.
func (d *draft) set(name, text string, at place) {
	d.fields[name] = text
	d.proof[name] = at
}

// setAgreed sets a field if all candidates agree on it, and reports whether they do.
func (d *draft) setAgreed(name string, all []candidate) bool {
	c, ok := agreed(all)
	if ok {
		d.set(name, c.text, c.at)
	}
	return ok
}

func (r *reading) finish(kind disclosure.FactKind, d draft) Found {
	f := Found{
		Fact:       disclosure.Fact{Kind: kind, Fields: d.fields},
		FactDetail: disclosure.FactDetail{Rows: d.rows, Evidence: make(map[string]disclosure.Quote, len(d.proof))},
	}
	for name, at := range d.proof {
		f.Evidence[name] = r.quote(at)
	}
	return f
}
