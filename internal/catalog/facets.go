package catalog

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/segment"
	"pregon/internal/text"
)

// Facets count the reports of a search by what they can be narrowed down to. A
// report with several categories counts in each. Those with the most reports come
// first, and the newest year.
type Facets struct {
	Total      int     `json:"total"`
	Types      []Facet `json:"types"`
	Years      []Facet `json:"years"` // in Madrid
	Categories []Facet `json:"categories"`
	Markets    []Facet `json:"markets"`
	Sectors    []Facet `json:"sectors"`
}

// Facet is a value of a filter and the number of reports that it selects.
type Facet struct {
	Value string `json:"value"`
	Total int    `json:"total"`
}

// Facets counts the reports that match a filter.
func (s *Snapshot) Facets(ctx context.Context, f disclosure.Filter) (Facets, error) {
	if f == (disclosure.Filter{}) {
		return s.facetsOf(s.tally.years(), s.tally.categoryLines, s.tally.refs), ctx.Err()
	}
	return s.facets(ctx, f, func(uint32) bool { return true })
}

// FacetsAmong is like Facets, but counts only the reports with some documents: see
// Among.
func (s *Snapshot) FacetsAmong(ctx context.Context, documents search.NumberSet, f disclosure.Filter) (Facets, error) {
	return s.facets(ctx, f, documents.Has)
}

func (s *Snapshot) facets(ctx context.Context, f disclosure.Filter, has func(document uint32) bool) (Facets, error) {
	years := newPeriods(12)
	lines, refs := make([]int32, s.index.CategoryLines()), make([]int32, s.index.Refs())
	err := s.index.Each(ctx, f, func(d *segment.Doc) {
		if has(d.Document) {
			years.count(d)
			lines[d.CategoryLine]++
			refs[d.Ref]++
		}
	})
	if err != nil {
		return Facets{}, err
	}
	return s.facetsOf(years, lines, refs), nil
}

// facetsOf returns the counts of years, category lines and references to issuers as
// facets.
func (s *Snapshot) facetsOf(years *periods, lines, refs []int32) Facets {
	out := Facets{
		Types:      []Facet{},
		Years:      years.byYear(),
		Categories: s.categoryFacets(lines),
		Markets:    s.issuerFacets(refs, func(i *disclosure.Issuer) string { return i.Market }),
		Sectors:    s.issuerFacets(refs, func(i *disclosure.Issuer) string { return i.Sector }),
	}
	byType := years.total()
	for i, t := range disclosure.Types {
		out.Total += byType[i]
		if byType[i] > 0 {
			out.Types = append(out.Types, Facet{string(t), byType[i]})
		}
	}
	slices.SortFunc(out.Types, mostFirst)
	return out
}

func mostFirst(a, b Facet) int { return cmp.Or(b.Total-a.Total, cmp.Compare(a.Value, b.Value)) }

func (s *Snapshot) categoryFacets(lines []int32) []Facet {
	used := s.categoryCounts(lines)
	out := make([]Facet, len(used))
	for i, u := range used {
		out[i] = Facet{u.Category, u.Total}
	}
	slices.SortFunc(out, mostFirst)
	return out
}

// issuerFacets adds up the references to issuers with a name in common: that of their
// market or their sector. Of several spellings the most used is returned.
func (s *Snapshot) issuerFacets(refs []int32, nameOf func(*disclosure.Issuer) string) []Facet {
	spelt := map[string]int{}
	for ref, total := range refs {
		if total == 0 {
			continue
		}
		if i := s.index.IssuerByRef(uint32(ref)); i != nil && nameOf(i) != "" {
			spelt[nameOf(i)] += int(total)
		}
	}
	all := make([]Facet, 0, len(spelt))
	for name, total := range spelt {
		all = append(all, Facet{name, total})
	}
	slices.SortFunc(all, mostFirst)
	place := make(map[string]int, len(all))
	out := all[:0]
	for _, m := range all {
		folded := text.Fold(m.Value)
		at, known := place[folded]
		switch {
		case folded == "": // not a name: see disclosure.Filter
		case known:
			out[at].Total += m.Total
		default:
			place[folded] = len(out)
			out = append(out, m)
		}
	}
	slices.SortFunc(out, mostFirst)
	return out
}

// Monthly is the number of reports in a month.
type Monthly struct {
	Month string `json:"month"` // as 2026-11
	Total int    `json:"total"`
	Counts
}

// maxMonths is the maximum number of months that Months returns.
const maxMonths = 600

// Months counts the reports that match a filter in each of the last months of
// Madrid, the present one last. It returns from 1 to 600 months.
func (s *Snapshot) Months(ctx context.Context, f disclosure.Filter, last int) ([]Monthly, error) {
	return s.months(ctx, f, last, time.Now())
}

func (s *Snapshot) months(ctx context.Context, f disclosure.Filter, last int, now time.Time) ([]Monthly, error) {
	last = min(max(last, 1), maxMonths)
	y, m, _ := now.In(disclosure.Madrid).Date()
	first := y*12 + int(m) - last // months since year 0
	f.From = max(f.From, disclosure.DayOf(monthStart(first)))
	found := newPeriods(1)
	if err := s.index.Each(ctx, f, found.count); err != nil {
		return nil, err
	}
	out := make([]Monthly, last)
	for i := range out {
		byType := *found.at(first + i)
		out[i] = Monthly{monthStart(first + i).Format("2006-01"), byType[0] + byType[1] + byType[2], countsOf(byType)}
	}
	return out, nil
}

// monthStart returns the first instant of a month, by its number since year 0.
func monthStart(n int) time.Time {
	return time.Date(0, time.Month(n+1), 1, 0, 0, 0, 0, disclosure.Madrid)
}

// periods counts reports by Madrid's years or months. Computing the date of an
// instant is slow, but reports come in order of time: nearly all are in the same
// period as the one before.
type periods struct {
	months   int             // in a period
	byNumber map[int]*[3]int // reports in the order of disclosure.Types
	current  *[3]int
	from, to int64 // the bounds of the current one, in Unix nanoseconds
}

func newPeriods(months int) *periods { return &periods{months: months, byNumber: map[int]*[3]int{}} }

func (p *periods) count(d *segment.Doc) {
	if d.At < p.from || d.At >= p.to {
		p.enter(d)
	}
	p.current[typeIndex[d.Key&3]]++
}

// typeIndex is the index in disclosure.Types by the last bits of a key.
var typeIndex = func() (index [4]int) {
	for i, t := range disclosure.Types {
		index[search.KeyOf(t, 0)] = i
	}
	return index
}()

// enter makes the period of a report the current one.
func (p *periods) enter(d *segment.Doc) {
	y, m, _ := d.Listed().In(disclosure.Madrid).Date()
	n := (y*12 + int(m) - 1) / p.months
	p.current = p.at(n)
	p.from, p.to = monthStart(n*p.months).UnixNano(), monthStart((n+1)*p.months).UnixNano()
}

// at returns the reports of a period.
func (p *periods) at(n int) *[3]int {
	if p.byNumber[n] == nil {
		p.byNumber[n] = new([3]int)
	}
	return p.byNumber[n]
}

// total returns all reports.
func (p *periods) total() (byType [3]int) {
	for _, found := range p.byNumber {
		for i, total := range found {
			byType[i] += total
		}
	}
	return byType
}

// byYear returns the years, the newest first, if periods are years.
func (p *periods) byYear() []Facet {
	out := make([]Facet, 0, len(p.byNumber))
	for _, year := range slices.Backward(slices.Sorted(maps.Keys(p.byNumber))) {
		if byType := p.at(year); *byType != [3]int{} {
			out = append(out, Facet{strconv.Itoa(year), byType[0] + byType[1] + byType[2]})
		}
	}
	return out
}
