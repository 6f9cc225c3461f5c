package query

import (
	"context"
	"slices"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// CountList is a request for a page of counts: the reports of a list by a dimension.
type CountList struct {
	List
	By catalog.Dimension
}

// Counts reads the parameters of counts: those of a list of reports, and by.
func (p *Params) Counts(s *catalog.Snapshot) CountList {
	l := CountList{List: p.List(s), By: catalog.Dimension(p.Text("by"))}
	if !slices.Contains(catalog.Dimensions, l.By) {
		reason := "must be " + dimensionNames()
		if l.By == "" {
			reason = "is needed: " + dimensionNames()
		}
		p.Reject("by", string(l.By), "%s", reason)
	}
	return l
}

func dimensionNames() string {
	names := make([]string, len(catalog.Dimensions))
	for i, d := range catalog.Dimensions {
		names[i] = string(d)
	}
	return search.OrList(names)
}

// Count is the number of reports with a value. The value is one that the filter of the
// same name accepts, null for a company that has no id. A day or a month is its own name.
type Count struct {
	Value  *string `json:"value"`
	Name   string  `json:"name"`
	NameEN *string `json:"name_en"` // null if it is not known, or as in Spanish
	Count  int     `json:"count"`
}

// Counts is a page of counts.
type Counts struct {
	By     catalog.Dimension `json:"by"`
	Data   []Count           `json:"data"`
	Total  int               `json:"total"`  // reports that match
	Values int               `json:"values"` // on all pages
	Page   int               `json:"page"`
	Limit  int               `json:"limit"`
	Seq    int64             `json:"seq"`

	Most Count `json:"-"` // the value with the most reports, which may be on another page

	AsOfSeq *int64 `json:"as_of_seq,omitempty"` // only of a past state
}

// Counts returns a page of the counts of reports by a dimension: see catalog.Snapshot.Count.
func (q *Service) Counts(ctx context.Context, s *catalog.Snapshot, l CountList) (*Counts, error) {
	found, err := q.counted(ctx, s, l)
	if err != nil {
		return nil, err
	}
	out := &Counts{
		By:     l.By,
		Data:   make([]Count, len(found.Counts)),
		Total:  found.Total,
		Values: found.Values,
		Page:   l.Page,
		Limit:  l.Limit,
		Seq:    s.Seq(),
	}
	for i, c := range found.Counts {
		out.Data[i] = newCount(l.By, c)
	}
	out.Most = newCount(l.By, found.Most)
	return out, nil
}

func newCount(by catalog.Dimension, c catalog.Count) Count {
	spanish, english := dimensionName(by, c)
	return Count{
		Value:  OrNull(c.Value),
		Name:   spanish,
		NameEN: OrNull(english),
		Count:  c.Total,
	}
}

func (q *Service) counted(ctx context.Context, s *catalog.Snapshot, l CountList) (catalog.Counted, error) {
	var err error
	if l.Filter, err = q.withDocuments(ctx, s, l.Filter); err != nil {
		return catalog.Counted{}, err
	}
	if !l.InDocuments {
		return s.Count(ctx, l.Filter, l.By, l.Page, l.Limit)
	}
	found, rest, err := q.inDocuments(ctx, s, l.Filter)
	if err != nil {
		return catalog.Counted{}, err
	}
	return s.CountAmong(ctx, found, rest, l.By, l.Page, l.Limit)
}

// dimensionName returns the Spanish and the English name of a value of a dimension. The
// English one is "" if there is none.
func dimensionName(by catalog.Dimension, c catalog.Count) (spanish, english string) {
	set, named := map[catalog.Dimension]ValueSet{
		catalog.ByType:     Types,
		catalog.ByCategory: Categories,
		catalog.BySector:   Sectors,
		catalog.ByKind:     IssuerKinds,
	}[by]
	if !named {
		return c.Name, ""
	}
	return set.names(c.Value)
}

// Selects returns the filter of the reports that a count of a list counts, and false if no
// filter selects them: those of a company without an id, or those that have a category
// beside the one that the list is about.
func (l CountList) Selects(c Count) (disclosure.Filter, bool) {
	f := l.Filter
	if c.Value == nil || l.InDocuments {
		return f, false
	}
	switch value := *c.Value; l.By {
	case catalog.ByIssuer:
		f.Issuer = value
	case catalog.ByType:
		f.Type = disclosure.Type(value)
	case catalog.ByCategory:
		if f.Category != "" {
			return f, false
		}
		f.Category = value
	case catalog.ByMarket:
		f.Market, f.MarketWords = value, false
	case catalog.BySector:
		f.Sector, f.SectorWords = value, false
	case catalog.ByKind:
		f.Kind = disclosure.Kind(value)
	case catalog.ByDay, catalog.ByMonth:
		return l.within(value)
	}
	return f, true
}

// within returns the filter of a list for a day, or for the days of a month that it has.
func (l CountList) within(period string) (disclosure.Filter, bool) {
	f := l.Filter
	first, ok := disclosure.ParseDay(period)
	last := first
	if l.By == catalog.ByMonth {
		first, ok = disclosure.ParseDay(period + "-01")
		last = disclosure.DayOf(first.Start().AddDate(0, 1, 0)) - 1
	}
	f.From = max(f.From, first)
	if f.To == 0 || f.To > last {
		f.To = last
	}
	return f, ok
}

// ListPage returns the address of the page of the reports that a filter selects.
func ListPage(base string, f disclosure.Filter) string {
	return base + "/?" + NewFilterBody(f).Values().Encode()
}
