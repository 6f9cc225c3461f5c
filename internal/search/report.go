package search

import (
	"cmp"
	"strconv"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
)

// Report is a report as a Matcher sees it: joined with its issuer and analysed.
type Report struct {
	Report *disclosure.Report
	Issuer *disclosure.Issuer // nil when the directory does not know it
	Ticker string             // the report's own, else the issuer's

	keys       []string // identifiers of its issuer
	doc        Document
	day        disclosure.Day
	categories Names
	market     *name // of its issuer; nil if that has none
	sector     *name // of its issuer; nil if that has none
	groups     []segment.Group
}

// Analyze joins a report with the directory and splits its texts into words.
func (d *Directory) Analyze(r *disclosure.Report) *Report {
	f := &Report{Report: r, Ticker: r.Ticker, day: disclosure.DayOf(r.ListedAt())}
	if key := r.IssuerKey(); key != "" {
		f.keys = append(f.keys, key)
	}
	categories := r.Categories()
	fields := append([]string{r.CompanyName, r.Ticker, r.Title, r.Summary}, categories...)
	e := d.issuerOf(refOf(r))
	f.groups = groupsAt(e, refOf(r))
	if e != nil {
		f.Issuer = e.Issuer
		f.market = e.market
		f.sector = e.sector
		f.keys = append(f.keys, d.keysOf(e)...)
		fields = append(fields, e.Issuer.Ticker)
		f.Ticker = cmp.Or(r.Ticker, e.Issuer.Ticker)
	}
	f.doc = NewDocument(append([]string{r.ID, strconv.FormatInt(r.Number, 10)}, f.keys...), fields...)
	for _, c := range categories {
		f.categories = append(f.categories, newCategory(c))
	}
	return f
}

// Day returns the Madrid day of publication: see disclosure.Report.ListedAt.
func (f *Report) Day() disclosure.Day { return f.day }

// Matcher is a compiled filter.
type Matcher struct {
	filter   disclosure.Filter
	query    Query
	issuers  map[string]bool // identifiers
	category NameFilter
	market   NameFilter
	sector   NameFilter
	groups   []segment.Group
	entries  *entriesMatcher // of a watchlist; nil: the filter does not have one

	positions bool // it selects only positions
}

// Compile returns the matcher of a filter.
func Compile(f disclosure.Filter) *Matcher {
	m := &Matcher{
		filter:   f,
		query:    ParseFilter(f),
		issuers:  setOf(f.IssuerKeys()),
		category: NewNameFilter(f.Category, f.CategoryWords),
		market:   NewNameFilter(f.Market, f.MarketWords),
		sector:   NewNameFilter(f.Sector, f.SectorWords),
		groups:   wantedGroups(f),

		positions: f.ForPositions(),
	}
	if f.HasList() {
		m.entries = compileEntries(f.Entries)
	}
	return m
}

// Match reports whether the report matches the filter.
func (m *Matcher) Match(f *Report) bool {
	switch {
	case m.positions,
		m.filter.Type != "" && m.filter.Type != f.Report.Type,
		m.filter.From != 0 && f.day < m.filter.From,
		m.filter.To != 0 && f.day > m.filter.To,
		!containsAll(f.groups, m.groups),
		m.filter.Category != "" && !m.category.MatchAny(f.categories),
		m.filter.Market != "" && (f.market == nil || !m.market.match(f.market)),
		m.filter.Sector != "" && (f.sector == nil || !m.sector.match(f.sector)),
		m.filter.Issuer != "" && !containsAny(m.issuers, f.keys),
		!m.filter.MatchFacts(f.Report.Facts),
		m.filter.NoRoutine && f.Report.IsRoutine(),
		m.entries != nil && !m.entries.match(f.keys, func(of *Matcher) bool { return of.Match(f) }):
		return false
	}
	return m.query.Match(&f.doc)
}

// MatchIssuer reports whether the conditions of the filter on issuers select one.
// It returns false if the filter has others, because they apply to reports or positions.
func (m *Matcher) MatchIssuer(i *disclosure.Issuer) bool {
	return m.filter.WithoutIssuer().WithoutList() == disclosure.Filter{} &&
		(m.filter.Issuer == "" || containsAny(m.issuers, i.Keys())) &&
		(m.filter.Market == "" || m.market.Match(i.Market)) &&
		(m.filter.Sector == "" || m.sector.MatchSector(i.Sector)) &&
		containsAll(groupsOf(i), m.groups) &&
		(m.entries == nil || m.entries.match(i.Keys(), func(of *Matcher) bool { return of.MatchIssuer(i) }))
}
