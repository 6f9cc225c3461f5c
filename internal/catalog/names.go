package catalog

import (
	"cmp"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/text"
)

// The names that are known without a report and without the directory.
var (
	knownCategories = search.NewCategories(disclosure.Categories)
	knownMarkets    = search.NewNames(disclosure.Markets)
	knownSectors    = search.NewSectors(disclosure.Sectors)
)

// KnowsCategory reports whether a filter selects a category that a report has or had,
// or one of disclosure.Categories.
func (s *Snapshot) KnowsCategory(f disclosure.Filter) bool {
	wanted := search.NewNameFilter(f.Category, f.CategoryWords)
	return s.index.HasCategory(f) ||
		slices.ContainsFunc(s.changed, func(c *Snapshot) bool { return c.index.HasCategory(f) }) ||
		wanted.MatchAny(knownCategories)
}

// KnowsMarket reports whether a filter selects a market of the directory, or one of
// disclosure.Markets.
func (s *Snapshot) KnowsMarket(f disclosure.Filter) bool {
	wanted := search.NewNameFilter(f.Market, f.MarketWords)
	return s.Directory().HasMarket(f) || wanted.MatchAny(knownMarkets)
}

// KnowsSector reports whether a filter selects a sector of the directory, or one of
// disclosure.Sectors.
func (s *Snapshot) KnowsSector(f disclosure.Filter) bool {
	wanted := search.NewNameFilter(f.Sector, f.SectorWords)
	return s.Directory().HasSector(f) || wanted.MatchAny(knownSectors)
}

// SimilarCategories returns the names of the categories that are most similar to a
// value that selects none, the best first. If none is similar, it returns the most
// used ones and false.
func (s *Snapshot) SimilarCategories(value string, most int) (names []string, similar bool) {
	known := s.index.CategoryNames()
	if !s.past {
		known = s.CategoryNames() // the most used first
	}
	return similarNames(value, append(known, disclosure.Categories...), most, search.CategoryLikeness)
}

// SimilarMarkets does the same for markets.
func (s *Snapshot) SimilarMarkets(value string, most int) (names []string, similar bool) {
	return similarNames(value, append(s.Directory().Markets(), disclosure.Markets...), most, search.Likeness)
}

// SimilarSectors does the same for sectors.
func (s *Snapshot) SimilarSectors(value string, most int) (names []string, similar bool) {
	return similarNames(value, append(s.Directory().Sectors(), disclosure.Sectors...), most, search.SectorLikeness)
}

// leastLikeness is the likeness of a name that may be meant.
const leastLikeness = 0.25

// similarNames returns the names that are most similar to a value. Of equally similar
// ones the first in known is the best.
func similarNames(
	value string,
	known []string,
	most int,
	likeness func(value, of string) float64,
) (names []string, similar bool) {
	type candidate struct {
		name     string
		likeness float64
	}
	var all []candidate
	seen := map[string]bool{"": true} // a name without a word cannot be asked for
	for _, name := range known {
		folded := text.Fold(name)
		if seen[folded] {
			continue
		}
		seen[folded] = true
		all = append(all, candidate{name, likeness(value, name)})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.likeness, a.likeness) })
	if len(all) > 0 && all[0].likeness >= leastLikeness {
		similar = true
		all = slices.DeleteFunc(all, func(c candidate) bool { return c.likeness < leastLikeness })
	}
	for _, c := range all[:min(len(all), most)] {
		names = append(names, c.name)
	}
	return names, similar
}
