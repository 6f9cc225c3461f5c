package query

import (
	"net/url"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
)

const (
	maxName      = 200 // bytes of the name of a category, a market or a sector
	maxNearNames = 5
)

// NewParams returns Params that read values. Names that are not known are refused only
// once the history is loaded.
func (q *Service) NewParams(values url.Values) *Params {
	return NewParams(values).of(q)
}

// ParseQuery reads the parameters of a query string: see NewParams.
func (q *Service) ParseQuery(raw string) *Params {
	return ParseQuery(raw).of(q)
}

// of sets what parameters mean in a service.
func (p *Params) of(q *Service) *Params {
	p.partial = q.Partial
	p.lists = q.Watchlists
	return p
}

// Strict makes Params refuse names that are not known before the history is loaded, too. A
// model would take the empty answer for the truth.
func (p *Params) Strict() { p.strict = true }

// rejectValue records that a parameter is not one of a set of values of the program, and
// names those that may be meant.
func (p *Params) rejectValue(parameter, value string, of ValueSet, allowed fault.Alternatives) {
	field := fault.NewField(parameter, value, "must be %s", allowed)
	if near := of.near(value); len(near) > 0 {
		field = fault.NewField(parameter, value, "must be %s (did you mean %s?)", allowed, fault.Alternatives(near))
		field.Suggestions = near
	}
	p.bad = append(p.bad, field)
}

// DidYouMean names values that may be meant, for the end of a reason.
func DidYouMean(near []string) string { return " (did you mean " + search.OrList(near) + "?)" }

// category reads the parameter category: the whole name of a category, or some words
// of one, in Spanish or English. byWords reports which of both.
func (p *Params) category(s *catalog.Snapshot) (value string, byWords bool) {
	value, byWords = p.name("category", func(value string, byWords bool) bool {
		return s.KnowsCategory(disclosure.Filter{Category: value, CategoryWords: byWords})
	}, s.SimilarCategories)
	if name, known := disclosure.CategoryOf(value); known && byWords {
		return name, false // the whole English name selects only that category
	}
	return value, byWords
}

// subject returns the parameter category if it is not a category but a subject that
// searches know in Spanish and English, such as a capital increase. A model takes one for
// the other, so it gets the reports with these words, and a warning. Other clients get the
// error that names the categories.
func (p *Params) subject(s *catalog.Snapshot) string {
	if !p.strict {
		return ""
	}
	value := strings.TrimSpace(p.Text("category"))
	if value == "" || len(value) > maxName || search.HasOperators(value) {
		return ""
	}
	for _, byWords := range []bool{false, true} {
		if s.KnowsCategory(disclosure.Filter{Category: value, CategoryWords: byWords}) {
			return ""
		}
	}
	if !s.Directory().Widens(value) {
		return ""
	}
	p.warnings = append(p.warnings, search.Quoted(value)+" is not a category: these are the reports with its words, "+
		"in whichever category. list_values has all categories.")
	return value
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
	partial := p.partial != nil && p.partial()
	if partial && !p.strict {
		p.warnings = append(p.warnings, "No "+parameter+
			" with these words is known so far, and the history is not loaded yet: check the spelling.")
		return value, true
	}
	near, alike := similar(value, maxNearNames)
	said := unknownName(parameter, value, near, alike)
	if partial {
		said += " The history is not loaded yet: others may exist."
	}
	p.rejectName(parameter, value, fault.Text{Format: said}, near)
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
