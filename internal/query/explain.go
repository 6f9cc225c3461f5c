package query

import (
	"context"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// maxExplained is the number of words of a search text that are counted one by one.
const maxExplained = 12

// Explanation says why a search finds little: what each word of it finds alone.
type Explanation struct {
	Words []WordCount `json:"words"`   // the first of the search text
	More  int         `json:"more"`    // further words, which were not counted
	Rest  *int        `json:"without"` // reports that meet the other conditions; nil if there are none
}

// WordCount says how many reports a word or phrase of a search text finds by itself.
type WordCount struct {
	search.Part
	Here     int `json:"here"`     // of those that meet the other conditions
	Anywhere int `json:"anywhere"` // without the other conditions
}

// Explain counts what each word of the search text of a list finds by itself, with and
// without the other conditions of the list. Excluded words are left out.
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
