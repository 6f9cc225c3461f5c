package position

import (
	"context"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

// Filter selects positions. The zero value selects all.
type Filter struct {
	Kinds []disclosure.PositionKind // nil: all
	// Issuers are the keys of issuers: see Book.Key. Without any, all are selected.
	Issuers []string
	// Name is words that the name of the position has, in any spelling, as in
	// disclosure.Filter. Without exactly one of Issuers it selects only the positions of legal
	// persons, because nobody may search for what a natural person has across issuers.
	Name     string
	From, To disclosure.Day // by which positions are ordered, inclusive; zero is open
	Current  bool           // only those in the present table of their register
	// Side selects notices of dealings with a trade of that side.
	Side disclosure.Side
	// MinAmount selects notices of dealings with trades that add up to at least this
	// decimal, in Currency: all trades, or those of Side.
	MinAmount string
	Currency  string
	// MinPercent selects positions of at least this percentage, which dealings do not have.
	MinPercent string
	// Among, if not nil, selects the positions of the issuers for which it returns true.
	// It receives nil for an issuer that is not in the directory.
	Among func(*disclosure.Issuer) bool
	// Any, if not nil, are filters: at least one must select the position.
	Any []Filter
}

// Page is one page of a list, with the total number of positions.
type Page struct {
	Total   int
	Entries []Entry
}

// checkEvery is the number of positions between two checks of a context.
const checkEvery = 4096

// List returns a page of the positions that match a filter, the newest first. Pages count
// from 1; one past the end is empty.
func (b *Book) List(ctx context.Context, f Filter, page, limit int) (Page, error) {
	var out Page
	first := (int64(page) - 1) * int64(limit)
	m := b.matcher(f)
	walk := b.walk(f)
	for n := 1; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return out, ctx.Err()
		}
		r := walk.next()
		if r == nil || f.From != 0 && r.day < f.From { // the newest are first
			return out, ctx.Err()
		}
		if !m.match(r) {
			continue
		}
		if int64(out.Total) >= first && len(out.Entries) < limit {
			out.Entries = append(out.Entries, Entry{r, b})
		}
		out.Total++
	}
}

// Match reports whether a position matches a filter.
func (e Entry) Match(f Filter) bool {
	if f.Kinds != nil && !slices.Contains(f.Kinds, e.r.kind) ||
		f.Issuers != nil && !slices.Contains(f.Issuers, e.IssuerKey()) {
		return false
	}
	return (f.From == 0 || e.r.day >= f.From) && e.of.matcher(f).match(e.r)
}

// selects is match for a filter whose kinds, issuers and first day were not compared.
func (m *matcher) selects(r *record) bool {
	return (m.Kinds == nil || slices.Contains(m.Kinds, r.kind)) &&
		(m.keys == nil || m.keys[m.of.join.keyOf(r.ref)]) &&
		(m.From == 0 || r.day >= m.From) &&
		m.match(r)
}

// walk returns the positions of the kinds and the issuers of a filter, from its last day.
func (b *Book) walk(f Filter) *merged {
	kinds := f.Kinds
	if kinds == nil {
		kinds = disclosure.PositionKinds
	}
	last := lastDay
	if f.To != 0 {
		last = f.To
	}
	if f.Issuers != nil {
		return b.ofIssuersUntil(f.Issuers, kinds, last)
	}
	m := &merged{}
	for _, kind := range kinds {
		m.add(run{
			cursor: b.byKind.from(&record{kind: kind, day: last, id: lastID}),
			kind:   kind,
		})
	}
	return m
}

func (b *Book) ofIssuer(key string, kinds []disclosure.PositionKind) *merged {
	return b.ofIssuersUntil([]string{key}, kinds, lastDay)
}

func (b *Book) ofIssuersUntil(keys []string, kinds []disclosure.PositionKind, last disclosure.Day) *merged {
	m := &merged{}
	seen := map[string]bool{}
	for _, key := range keys {
		if seen[key] {
			continue
		}
		seen[key] = true
		for _, of := range b.join.groups[key] {
			for _, kind := range kinds {
				newest := &record{
					ref:  of,
					kind: kind,
					day:  last,
					id:   lastID,
				}
				m.add(run{
					cursor: b.byRef.from(newest),
					kind:   kind,
					ref:    of,
				})
			}
		}
	}
	return m
}

// merged walks through several runs in the order of lists.
type merged struct{ runs []run }

// run is the part of a list that has one kind and, if ref is set, one reference.
type run struct {
	cursor cursor
	kind   disclosure.PositionKind
	ref    ref
	first  *record
}

func (m *merged) add(r run) {
	if r.advance() {
		m.runs = append(m.runs, r)
	}
}

// advance sets first to the next record, and reports whether there is one.
func (r *run) advance() bool {
	r.first = r.cursor.next()
	return r.first != nil && r.first.kind == r.kind && (r.ref == ref{} || r.first.ref == r.ref)
}

func (m *merged) next() *record {
	if len(m.runs) == 0 {
		return nil
	}
	best := 0
	for i := 1; i < len(m.runs); i++ {
		if compareDays(m.runs[i].first, m.runs[best].first) < 0 {
			best = i
		}
	}
	found := m.runs[best].first
	if !m.runs[best].advance() {
		m.runs = slices.Delete(m.runs, best, best+1)
	}
	return found
}

// matcher is a filter, prepared for a book. It does not compare kinds, Issuers and the
// first day.
type matcher struct {
	Filter

	of      *Book
	words   []string
	names   map[string]bool // that were compared
	issuers map[ref]bool    // the same
	keys    map[string]bool // Issuers; nil: all
	any     []*matcher
}

func (b *Book) matcher(f Filter) *matcher {
	m := &matcher{
		Filter:  f,
		of:      b,
		words:   text.Words(f.Name),
		names:   map[string]bool{},
		issuers: map[ref]bool{},
	}
	if f.Issuers != nil {
		m.keys = make(map[string]bool, len(f.Issuers))
	}
	for _, key := range f.Issuers {
		m.keys[key] = true
	}
	for _, one := range f.Any {
		m.any = append(m.any, b.matcher(one))
	}
	return m
}

func (m *matcher) match(r *record) bool {
	switch {
	case m.To != 0 && r.day > m.To,
		m.Current && r.state != disclosure.StateCurrent,
		m.Name != "" && !m.matchName(r),
		m.Side != "" && !r.sums.hasSide(m.Side),
		m.MinAmount != "" && !r.sums.reach(m.Side, m.MinAmount, m.Currency),
		m.MinPercent != "" && !r.hasPercent(m.MinPercent):
		return false
	}
	return (m.Among == nil || m.matchIssuer(r)) &&
		(m.Any == nil || slices.ContainsFunc(m.any, func(one *matcher) bool { return one.selects(r) }))
}

func (m *matcher) matchIssuer(r *record) bool {
	match, known := m.issuers[r.ref]
	if !known {
		match = m.Among(m.of.join.issuer(r.ref))
		m.issuers[r.ref] = match
	}
	return match
}

func (m *matcher) matchName(r *record) bool {
	if len(m.Issuers) != 1 && r.natural {
		return false
	}
	name := r.name.Value()
	match, known := m.names[name]
	if !known {
		match = hasWords(text.Words(name), m.words)
		m.names[name] = match
	}
	return match
}

// HasName reports whether a filter with these words as its Name, and without an issuer,
// would select a position: whether a legal person has them in its name.
func (b *Book) HasName(words string) bool {
	m := b.matcher(Filter{Name: words})
	c := b.byID.from(&record{})
	for r := c.next(); r != nil; r = c.next() {
		if m.matchName(r) {
			return true
		}
	}
	return false
}

// hasWords reports whether a name has all of some words.
func hasWords(name, wanted []string) bool {
	for _, w := range wanted {
		if !slices.Contains(name, w) {
			return false
		}
	}
	return len(name) > 0
}

func (s *sums) hasSide(side disclosure.Side) bool {
	n := slices.Index(disclosure.Sides, side)
	return s != nil && n >= 0 && s.has[n]
}

// hasPercent reports whether the percentage is at least a decimal.
func (r *record) hasPercent(least string) bool {
	return r.kind.HasPercent() && disclosure.IsDecimal(r.percent) && disclosure.CompareDecimals(r.percent, least) >= 0
}

// reach reports whether an amount is at least a decimal in a currency.
func (s *sums) reach(side disclosure.Side, least, currency string) bool {
	if s == nil {
		return false
	}
	of := s.of(side)
	return of.value != "" && of.currency == currency && disclosure.CompareDecimals(of.value, least) >= 0
}

// of returns the amount of all trades, or of those of a side.
func (s *sums) of(side disclosure.Side) amount {
	if n := slices.Index(disclosure.Sides, side); n >= 0 {
		return s.sides[n]
	}
	return s.all
}
