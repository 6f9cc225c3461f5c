package query

import (
	"net/url"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/search"
)

const (
	maxName      = 200 // bytes of the name of a category, a market or a sector
	maxNearNames = 5
)

// NewParams returns Params that read values. Names that are not known are refused only
// once the history is loaded.
func (q *Service) NewParams(values url.Values) *Params {
	p := NewParams(values)
	p.partial = q.Partial
	return p
}

// ParseQuery reads the parameters of a query string: see NewParams.
func (q *Service) ParseQuery(raw string) *Params {
	p := ParseQuery(raw)
	p.partial = q.Partial
	return p
}

// category reads the parameter category: the whole name of a category, or some words
// of one. byWords reports which of both.
func (p *Params) category(s *catalog.Snapshot) (value string, byWords bool) {
	return p.name("category", func(value string, byWords bool) bool {
		return s.KnowsCategory(disclosure.Filter{Category: value, CategoryWords: byWords})
	}, s.SimilarCategories)
}

// Market reads the parameter market: the whole name of a market, or some words of one.
// byWords reports which of both.
func (p *Params) Market(s *catalog.Snapshot) (value string, byWords bool) {
	return p.name("market", func(value string, byWords bool) bool {
		return s.KnowsMarket(disclosure.Filter{Market: value, MarketWords: byWords})
	}, s.SimilarMarkets)
}

// Sector reads the parameter sector: the whole name of a sector, or some words of one, in
// Spanish or English. byWords reports which of both.
func (p *Params) Sector(s *catalog.Snapshot) (value string, byWords bool) {
	return p.name("sector", func(value string, byWords bool) bool {
		return s.KnowsSector(disclosure.Filter{Sector: value, SectorWords: byWords})
	}, s.SimilarSectors)
}

// name reads a parameter that names categories, markets or sectors. A value that is the whole
// name of one selects only that, as the counts of facets promise. Any other value
// selects all names that have its words.
func (p *Params) name(
	parameter string,
	known func(value string, byWords bool) bool,
	similar func(string, int) ([]string, bool),
) (value string, byWords bool) {
	value = p.LimitedText(parameter, maxName)
	if strings.TrimSpace(value) == "" {
		return "", false
	}
	if known(value, false) {
		return value, false
	}
	if known(value, true) {
		return value, true
	}
	if p.partial != nil && p.partial() {
		p.warnings = append(p.warnings, "No "+parameter+
			" with these words is known so far, and the history is not loaded yet: check the spelling.")
		return value, true
	}
	near, alike := similar(value, maxNearNames)
	p.rejectName(parameter, value, unknownName(parameter, value, near, alike), near)
	return value, true
}

// unknownName says that a value names nothing, and what may be meant.
func unknownName(parameter, value string, near []string, alike bool) string {
	said := "Unknown " + parameter + " " + search.Quoted(value) + "."
	quoted := make([]string, len(near))
	for i, name := range near {
		quoted[i] = "«" + search.Visible(name) + "»"
	}
	switch {
	case len(near) == 0:
		return said
	case alike:
		return said + " Did you mean " + search.OrList(quoted) + "?"
	}
	return said + " Known names are, for example, " + strings.Join(quoted, ", ") + "."
}
