package query

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
)

// FilterBody is the common filter as JSON. Its fields have the names of the
// parameters.
type FilterBody struct {
	Search   string `json:"search,omitempty"`
	Type     string `json:"type,omitempty"`
	Issuer   string `json:"issuer,omitempty"`
	From     string `json:"from,omitempty"`
	To       string `json:"to,omitempty"`
	Category string `json:"category,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Market   string `json:"market,omitempty"`
	Without  string `json:"without,omitempty"`
	In       string `json:"in,omitempty"`

	Fact      string `json:"fact,omitempty"`
	MinAmount string `json:"min_amount,omitempty"`
	Currency  string `json:"currency,omitempty"`
}

// NewFilterBody returns a filter as JSON.
func NewFilterBody(f disclosure.Filter) FilterBody {
	b := FilterBody{
		Search:   f.Search,
		Type:     string(f.Type),
		Issuer:   f.Issuer,
		Category: f.Category,
		Kind:     string(f.Kind),
		Market:   f.Market,

		Fact:      string(f.Fact),
		MinAmount: f.MinAmount,
		Currency:  f.Currency,
	}
	if f.From != 0 {
		b.From = f.From.String()
	}
	if f.To != 0 {
		b.To = f.To.String()
	}
	if f.NoSecuritisation {
		b.Without = WithoutSecuritisation
	}
	if f.InDocument {
		b.In = InDocument
	}
	return b
}

// Read parses the fields as the parameters of the same names.
func (b FilterBody) Read(p *Params, s *catalog.Snapshot) disclosure.Filter {
	p.SetValues(map[string][]string{
		"search": {b.Search}, "type": {b.Type}, "issuer": {b.Issuer}, "from": {b.From}, "to": {b.To}, "category": {b.Category},
		"kind": {b.Kind}, "market": {b.Market}, "without": {b.Without}, "in": {b.In},
		"fact": {b.Fact}, "min_amount": {b.MinAmount}, "currency": {b.Currency},
	})
	return p.LiveFilter(s)
}

// CheckFilter rejects a filter that is too long to be evaluated for every change.
func (p *Params) CheckFilter(f disclosure.Filter) {
	if reason := events.FilterError(f); reason != "" {
		p.Reject("filter", f.Search, reason)
	}
}

// Preview is what a selection would have had in the last days.
type Preview struct {
	Total   int               `json:"total"`
	Days    []DayCount        `json:"days"`
	Samples []json.RawMessage `json:"samples"` // the newest
	Newest  []catalog.Report  `json:"-"`       // the same
}

// DayCount is the number of reports on a day.
type DayCount struct {
	Date  string `json:"date"`
	Count int    `json:"count"`
}

const previewSamples = 5

// Preview returns what a selection would have had in the last days.
func (q *Service) Preview(
	ctx context.Context,
	s *catalog.Snapshot,
	selection events.Selection,
	days int,
) (Preview, error) {
	filter := selection.Filter
	reports := len(selection.Events) == 0 ||
		slices.ContainsFunc(selection.Events, func(e disclosure.Event) bool { return e != disclosure.IssuerUpdated })
	today := disclosure.DayOf(time.Now())
	first := today - disclosure.Day(days) + 1
	out := Preview{Days: []DayCount{}, Samples: []json.RawMessage{}}
	filter.From, filter.To = max(filter.From, first), min(cmp.Or(filter.To, today), today)
	byDay := map[disclosure.Day]int{}
	if reports && filter.From <= filter.To {
		list := List{
			Filter:      filter,
			Page:        1,
			Limit:       math.MaxInt32,
			InDocuments: filter.InDocument,
		}
		list.Filter.InDocument = false
		found, err := q.Reports(ctx, s, list)
		if err != nil {
			return Preview{}, err
		}
		out.Total = found.Total
		for _, f := range found.Reports {
			byDay[disclosure.DayOf(f.Listed())]++
		}
		out.Newest = found.Reports[:min(len(found.Reports), previewSamples)]
		for _, f := range out.Newest {
			out.Samples = append(out.Samples, f.AppendJSON(nil))
		}
	}
	for d := first; d <= today; d++ {
		out.Days = append(out.Days, DayCount{d.String(), byDay[d]})
	}
	return out, nil
}
