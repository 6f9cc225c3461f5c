package search

import (
	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
)

// Position is a position as a Matcher sees it: joined with its issuer.
type Position struct {
	Position *disclosure.Position
	Issuer   *disclosure.Issuer // nil if the directory does not know it

	keys   []string // identifiers of its issuer
	market *name    // of its issuer; nil if that has none
	sector *name    // of its issuer; nil if that has none
	groups []segment.Group
}

// AnalyzePosition joins a position with the directory: by the id of its issuer, else by
// NIF, LEI or ISIN.
func (d *Directory) AnalyzePosition(p *disclosure.Position) *Position {
	f := &Position{Position: p}
	var e *Issuer
	for _, s := range []string{p.Issuer, p.NIF, p.LEI, p.ISIN} {
		key := disclosure.IssuerKey(s)
		if key == "" {
			continue
		}
		f.keys = append(f.keys, key)
		if found := d.byKey[key]; e == nil && len(found) > 0 {
			e = found[0]
		}
	}
	f.groups = groupsAt(e, byNamePrefix+p.IssuerName)
	if e != nil {
		f.Issuer = e.Issuer
		f.market = e.market
		f.sector = e.sector
		f.keys = append(f.keys, d.keysOf(e)...)
	}
	return f
}

// MatchPosition reports whether a position matches the filter: see
// disclosure.Filter.MatchPosition.
func (m *Matcher) MatchPosition(p *Position) bool {
	switch {
	case !m.filter.MatchPosition(p.Position),
		!containsAll(p.groups, m.groups),
		m.filter.Market != "" && (p.market == nil || !m.market.match(p.market)),
		m.filter.Sector != "" && (p.sector == nil || !m.sector.match(p.sector)),
		m.filter.Issuer != "" && !containsAny(m.issuers, p.keys),
		m.entries != nil && !m.entries.match(p.keys, func(of *Matcher) bool { return of.MatchPosition(p) }):
		return false
	}
	return true
}
