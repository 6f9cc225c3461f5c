package query

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/search"
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
	Sector   string `json:"sector,omitempty"`
	Without  string `json:"without,omitempty"`
	In       string `json:"in,omitempty"`

	Fact      string `json:"fact,omitempty"`
	MinAmount string `json:"min_amount,omitempty"`
	Currency  string `json:"currency,omitempty"`

	Position   string `json:"position,omitempty"` // kinds, separated by commas
	HeldBy     string `json:"holder,omitempty"`
	MinPercent string `json:"min_percent,omitempty"`
	Side       string `json:"side,omitempty"`

	Watchlist string `json:"watchlist,omitempty"` // its id
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
		Sector:   f.Sector,

		Fact:      string(f.Fact),
		MinAmount: f.MinAmount,
		Currency:  f.Currency,

		Position:   f.Positions.String(),
		HeldBy:     f.HeldBy,
		MinPercent: f.MinPercent,
		Side:       string(f.Side),

		Watchlist: f.Watchlist,
	}
	if f.From != 0 {
		b.From = f.From.String()
	}
	if f.To != 0 {
		b.To = f.To.String()
	}
	switch {
	case f.NoRoutine:
		b.Without = WithoutRoutine
	case f.NoSecuritisation:
		b.Without = WithoutSecuritisation
	}
	if f.InDocument {
		b.In = InDocument
	}
	return b
}

// Read parses the fields as the parameters of the same names.
func (b FilterBody) Read(p *Params, s *catalog.Snapshot) disclosure.Filter {
	p.SetValues(b.Values())
	p.inBody = true
	return p.LiveFilter(s)
}

// Values returns the parameters that have the fields.
func (b FilterBody) Values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"search":      b.Search,
		"type":        b.Type,
		"issuer":      b.Issuer,
		"from":        b.From,
		"to":          b.To,
		"category":    b.Category,
		"kind":        b.Kind,
		"market":      b.Market,
		"sector":      b.Sector,
		"without":     b.Without,
		"in":          b.In,
		"fact":        b.Fact,
		"min_amount":  b.MinAmount,
		"currency":    b.Currency,
		"position":    b.Position,
		"holder":      b.HeldBy,
		"min_percent": b.MinPercent,
		"side":        b.Side,
		"watchlist":   b.Watchlist,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// CheckFilter rejects a filter that is too long to be evaluated for every change.
func (p *Params) CheckFilter(f disclosure.Filter) {
	if reason := events.FilterError(f); reason.Format != "" {
		p.Reject("filter", f.Search, "%s", reason)
	}
}

// Preview is what a selection would have had in the last days.
type Preview struct {
	Total   int               `json:"total"`
	Days    []DayCount        `json:"days"`
	Samples []json.RawMessage `json:"samples"` // the newest reports, then the newest positions

	Reports   []catalog.Report `json:"-"` // of the samples
	Positions []position.Entry `json:"-"` // the same
}

// DayCount is the number of reports and positions on a day.
type DayCount struct {
	Date  string `json:"date"`
	Count int    `json:"count"`
}

// previewSamples is the number of reports, and that of positions, in a preview.
const previewSamples = 5

// Preview returns what a selection would have had in the last days. A position counts on
// the day by which positions are ordered.
func (q *Service) Preview(
	ctx context.Context,
	s *catalog.Snapshot,
	selection events.Selection,
	days int,
) (Preview, error) {
	today := disclosure.DayOf(time.Now())
	first := today - disclosure.Day(days) + 1
	out := Preview{Days: []DayCount{}, Samples: []json.RawMessage{}}
	f := selection.Filter
	f.From = max(f.From, first)
	f.To = min(cmp.Or(f.To, today), today)
	byDay := map[disclosure.Day]int{}
	if f.From <= f.To && selection.Has(disclosure.OfReport) && !f.ForPositions() {
		if err := q.previewReports(ctx, s, f, &out, byDay); err != nil {
			return Preview{}, err
		}
	}
	if f.From <= f.To && selection.Has(disclosure.OfPosition) && !f.ForReports() {
		if err := previewPositions(ctx, s, f, &out, byDay); err != nil {
			return Preview{}, err
		}
	}
	for d := first; d <= today; d++ {
		out.Days = append(out.Days, DayCount{d.String(), byDay[d]})
	}
	return out, nil
}

// previewReports adds the reports that a filter selects.
func (q *Service) previewReports(
	ctx context.Context,
	s *catalog.Snapshot,
	f disclosure.Filter,
	out *Preview,
	byDay map[disclosure.Day]int,
) error {
	list := List{
		Filter:      f,
		Page:        1,
		Limit:       math.MaxInt32,
		InDocuments: f.InDocument,
	}
	list.Filter.InDocument = false
	found, err := q.Reports(ctx, s, list)
	if err != nil {
		return err
	}
	out.Total += found.Total
	for _, r := range found.Reports {
		byDay[disclosure.DayOf(r.Listed())]++
	}
	out.Reports = found.Reports[:min(len(found.Reports), previewSamples)]
	for _, r := range out.Reports {
		out.Samples = append(out.Samples, r.AppendJSON(nil))
	}
	return nil
}

// previewPositions adds the positions that a filter selects, as it selects their changes.
func previewPositions(
	ctx context.Context,
	s *catalog.Snapshot,
	f disclosure.Filter,
	out *Preview,
	byDay map[disclosure.Day]int,
) error {
	matcher := search.Compile(f)
	directory := s.Directory()
	var found []position.Entry
	for _, kind := range disclosure.PositionKinds {
		for e := range s.Positions().All(kind) {
			if e.Day() < f.From || ctx.Err() != nil { // the newest are first
				break
			}
			if e.Day() <= f.To && matcher.MatchPosition(directory.AnalyzePosition(e.Decode())) {
				found = append(found, e)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b position.Entry) int { return cmp.Compare(b.Day(), a.Day()) })
	out.Total += len(found)
	for _, e := range found {
		byDay[e.Day()]++
	}
	out.Positions = found[:min(len(found), previewSamples)]
	for _, e := range out.Positions {
		out.Samples = append(out.Samples, AppendPosition(nil, e))
	}
	return ctx.Err()
}
