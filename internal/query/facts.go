package query

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
)

// Fact is something that the document of a report states.
type Fact struct {
	Kind     string              `json:"kind"`
	Fields   map[string]string   `json:"fields"`
	Rows     []map[string]string `json:"rows,omitempty"`
	Evidence map[string]Quote    `json:"evidence,omitempty"` // by the name of the field
}

// Quote is the place of the document that states a field.
type Quote struct {
	Page   int    `json:"page"`
	Quote  string `json:"quote"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// detailWait is how long an answer waits for the rows and quotes of facts. Everything else
// of a report is in memory, and is answered while the store is not available.
const detailWait = 2 * time.Second

// Facts returns the facts of a report, with their rows and what proves them. It returns nil
// if the document was not examined, and facts alone if the rest is not stored or cannot be
// read at present.
func (q *Service) Facts(ctx context.Context, r *disclosure.Report) []Fact {
	facts := factsOf(r)
	if len(facts) == 0 || q.Documents == nil {
		return facts
	}
	ctx, cancel := context.WithTimeout(ctx, detailWait)
	defer cancel()
	details, err := document.LoadDetails(ctx, q.Documents, r)
	if err != nil {
		return facts
	}
	for i, d := range details {
		facts[i].Rows = d.Rows
		facts[i].Evidence = quotesOf(d)
	}
	return facts
}

func quotesOf(d disclosure.FactDetail) map[string]Quote {
	quotes := make(map[string]Quote, len(d.Evidence))
	for name, quote := range d.Evidence {
		quotes[name] = Quote{
			Page:   quote.Page,
			Quote:  quote.Text,
			Before: quote.Before,
			After:  quote.After,
		}
	}
	return quotes
}

// factsOf returns the facts as the record of a report has them: nil if its document was not
// examined, and an empty list if it states none.
func factsOf(r *disclosure.Report) []Fact {
	if r.FactsRules == 0 {
		return nil
	}
	out := make([]Fact, len(r.Facts))
	for i, f := range r.Facts {
		out[i] = Fact{Kind: string(f.Kind), Fields: f.Fields}
		if f.Fields == nil {
			out[i].Fields = map[string]string{}
		}
	}
	return out
}
