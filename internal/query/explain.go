package query

import (
	"context"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// maxExplained is the number of words of a search text that are counted one by one.
const maxExplained = 12

// Explanation says why a search finds little: what each word of it finds alone, and which
// of its other conditions exclude everything.
type Explanation struct {
	Words []WordCount // the first of the search text
	More  int         // further words, which were not counted
	Rest  *int        // reports that meet the other conditions; nil if there are none
	// Left are what the other conditions find if one of them is left out. They are counted
	// if there are several, and all together find nothing.
	Left []ConditionCount
}

// ConditionCount says how many reports a filter finds without one of its conditions.
type ConditionCount struct {
	Condition string // the name of the parameter
	Count     int
}

// WordCount says how many reports a word or phrase of a search text finds by itself.
type WordCount struct {
	search.Part
	Here     int // of those that meet the other conditions
	Anywhere int // without the other conditions
}

// Explain counts what each word of the search text of a list finds by itself, with and
// without the other conditions of the list, and what excludes everything of these. Excluded
// words are left out.
func (q *Service) Explain(ctx context.Context, s *catalog.Snapshot, l List) (Explanation, error) {
	return explain(l.Filter, disclosure.Filter{}, func(f disclosure.Filter) (int, error) {
		page, err := q.Reports(ctx, s, List{
			Filter:      f,
			Page:        1,
			Limit:       1,
			InDocuments: l.InDocuments && f.Search != "",
		})
		return page.Total, err
	})
}

// ExplainFacts is Explain for a list of facts. It counts facts of any kind.
func (q *Service) ExplainFacts(ctx context.Context, s *catalog.Snapshot, l FactList) (Explanation, error) {
	return explain(l.Filter, disclosure.Filter{Fact: disclosure.AnyFact}, func(f disclosure.Filter) (int, error) {
		page, err := q.FactList(ctx, s, FactList{Filter: f, Page: 1, Limit: 1})
		return page.Total, err
	})
}

// explain counts what each word of the search text of a filter finds by itself. All is the
// filter that selects everything.
func explain(
	filter, all disclosure.Filter,
	count func(disclosure.Filter) (int, error),
) (Explanation, error) {
	out := Explanation{Words: []WordCount{}}
	rest := filter
	rest.Search, rest.Widen = "", false
	if rest != all {
		n, err := count(rest)
		if err != nil {
			return out, err
		}
		out.Rest = &n
		if n == 0 {
			if out.Left, err = leaveOut(rest, all, count); err != nil {
				return out, err
			}
		}
	}
	parts := search.ParseFilter(filter).Parts()
	out.More = max(0, len(parts)-maxExplained)
	for _, part := range parts[:len(parts)-out.More] {
		counted := WordCount{Part: part}
		var err error
		alone := all
		alone.Search, alone.Widen = part.Text, len(part.Alternatives) > 0
		if counted.Anywhere, err = count(alone); err != nil {
			return out, err
		}
		counted.Here = counted.Anywhere
		if out.Rest != nil && counted.Anywhere > 0 {
			here := rest
			here.Search, here.Widen = alone.Search, alone.Widen
			if counted.Here, err = count(here); err != nil {
				return out, err
			}
		}
		out.Words = append(out.Words, counted)
	}
	return out, nil
}

// conditions are the conditions of a filter beside its search text, by the names of their
// parameters. Each function takes one from all, where it is the one of no condition.
var conditions = []struct {
	name  string
	clear func(f, all *disclosure.Filter)
}{
	{"type", func(f, all *disclosure.Filter) { f.Type = all.Type }},
	{"issuer", func(f, all *disclosure.Filter) { f.Issuer = all.Issuer }},
	{"from and to", func(f, all *disclosure.Filter) { f.From, f.To = all.From, all.To }},
	{"category", func(f, all *disclosure.Filter) { f.Category, f.CategoryWords = all.Category, all.CategoryWords }},
	{"kind", func(f, all *disclosure.Filter) { f.Kind = all.Kind }},
	{"market", func(f, all *disclosure.Filter) { f.Market, f.MarketWords = all.Market, all.MarketWords }},
	{"sector", func(f, all *disclosure.Filter) { f.Sector, f.SectorWords = all.Sector, all.SectorWords }},
	{"without", func(f, all *disclosure.Filter) {
		f.NoSecuritisation = all.NoSecuritisation
		f.NoRoutine = all.NoRoutine
	}},
	{"fact", func(f, all *disclosure.Filter) {
		f.Fact = all.Fact
		f.MinAmount = all.MinAmount
		f.Currency = all.Currency
	}},
	{"min_amount", func(f, all *disclosure.Filter) { f.MinAmount, f.Currency = all.MinAmount, all.Currency }},
	{"watchlist", func(f, all *disclosure.Filter) { f.Watchlist, f.Entries = all.Watchlist, all.Entries }},
}

// leaveOut counts what a filter without a search text finds if one of its conditions is left
// out. It counts nothing if the filter has only one.
func leaveOut(
	rest, all disclosure.Filter,
	count func(disclosure.Filter) (int, error),
) ([]ConditionCount, error) {
	var left []ConditionCount
	for _, c := range conditions {
		without := rest
		c.clear(&without, &all)
		if without == rest || without == all {
			continue
		}
		n, err := count(without)
		if err != nil {
			return nil, err
		}
		left = append(left, ConditionCount{c.name, n})
	}
	return left, nil
}
