package search

import (
	"cmp"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
	"pregon/internal/text"
)

// Directory holds all issuers, by identifier, name and ticker. It is immutable; a
// change of an issuer requires a new one.
type Directory struct {
	issuers  []*Issuer
	byID     map[string]*Issuer
	byKey    map[string][]*Issuer // by any identifier
	byName   map[string]*Issuer   // by folded name; nil where two share it
	clashes  map[*Issuer]bool     // has an alias that is the id of another
	byTicker map[string][]*Issuer // by ticker in lower case
	byPart   map[string][]*Issuer // by two or more adjacent words of its ticker
	byBare   map[string][]*Issuer // by name and former names without their legal forms
	byBrief  map[string][]*Issuer // the same without particles
	markets  shared
	sectors  shared
	index    *issuerIndex
}

// NewDirectory returns a directory of issuers.
func NewDirectory(issuers []*Issuer) *Directory {
	d := &Directory{
		issuers:  issuers,
		byID:     make(map[string]*Issuer, len(issuers)),
		byKey:    make(map[string][]*Issuer, 2*len(issuers)),
		byName:   make(map[string]*Issuer, len(issuers)),
		clashes:  map[*Issuer]bool{},
		byTicker: map[string][]*Issuer{},
		byPart:   map[string][]*Issuer{},
		byBare:   make(map[string][]*Issuer, len(issuers)),
		byBrief:  make(map[string][]*Issuer, len(issuers)),
		markets:  shared{at: map[string]int{}},
		sectors:  shared{at: map[string]int{}},
	}
	for _, e := range d.issuers {
		d.byID[e.Issuer.ID] = e
	}
	slices.SortFunc(d.issuers, func(a, b *Issuer) int {
		return cmp.Or(cmp.Compare(a.Folded, b.Folded), cmp.Compare(a.Issuer.ID, b.Issuer.ID))
	})
	for _, e := range d.issuers {
		d.addKeys(e)
		if _, taken := d.byName[e.Folded]; taken || e.Folded == "" {
			d.byName[e.Folded] = nil // an ambiguous or empty name identifies no issuer
		} else {
			d.byName[e.Folded] = e
		}
		d.addTicker(e)
		d.markets.add(e.market, e.Issuer.Market)
		d.sectors.add(e.sector, e.Issuer.Sector)
		for _, bare := range e.bare {
			d.byBare[bare] = append(d.byBare[bare], e)
			short := brief(bare)
			if all := d.byBrief[short]; short != "" && (len(all) == 0 || all[len(all)-1] != e) {
				d.byBrief[short] = append(all, e)
			}
		}
	}
	d.index = newIssuerIndex(d.issuers)
	return d
}

// addKeys indexes the issuer by its identifiers, except for those that are the id
// of another issuer.
func (d *Directory) addKeys(e *Issuer) {
	for _, key := range e.Issuer.Keys() {
		if other := d.byID[key]; other != nil && other != e {
			d.clashes[e] = true
			continue
		}
		d.byKey[key] = append(d.byKey[key], e)
	}
}

// keysOf returns the identifiers by which an issuer is found.
func (d *Directory) keysOf(e *Issuer) []string {
	keys := e.Issuer.Keys()
	if !d.clashes[e] {
		return keys
	}
	return slices.DeleteFunc(keys, func(key string) bool { return d.byID[key] != nil && d.byID[key] != e })
}

// Len returns the number of issuers.
func (d *Directory) Len() int { return len(d.issuers) }

// Issuers returns all issuers, by name. The slice must not be modified.
func (d *Directory) Issuers() []*Issuer { return d.issuers }

// Find returns an issuer by any of its identifiers, as a user typed it.
func (d *Directory) Find(key string) (*Issuer, bool) {
	if found := d.byKey[disclosure.IssuerKey(key)]; len(found) > 0 {
		return found[0], true
	}
	return nil, false
}

func tickerKey(ticker string) string { return strings.ToLower(strings.TrimSpace(ticker)) }

// Lookup returns the issuer with an identifier or, if there is none, the issuers
// with a ticker or, if there are none, those with a name: see ofName.
func (d *Directory) Lookup(name string) []*Issuer {
	if e, ok := d.Find(name); ok {
		return []*Issuer{e}
	}
	if found := d.byTicker[tickerKey(name)]; len(found) > 0 {
		return found
	}
	return d.ofName(name)
}

// Named returns the only issuer with a name, in any spelling.
func (d *Directory) Named(name string) (*Issuer, bool) {
	e := d.byName[text.Fold(name)]
	return e, e != nil
}

// IssuerOf returns the issuer of a report, nil if the directory does not know it.
func (d *Directory) IssuerOf(r *disclosure.Report) *disclosure.Issuer {
	if e := d.issuerOf(refOf(r)); e != nil {
		return e.Issuer
	}
	return nil
}

// issuerOf joins a report with its issuer: by its NIF or code, and only when it
// has none by exact name.
func (d *Directory) issuerOf(ref string) *Issuer {
	if name, ok := strings.CutPrefix(ref, byNamePrefix); ok {
		return d.byName[name]
	}
	if found := d.byKey[ref]; len(found) > 0 {
		return found[0]
	}
	return nil
}

// byNamePrefix marks a reference that is a folded name. No key begins with it.
const byNamePrefix = "\x00"

// refOf returns the reference of a report to its issuer: the key of its NIF, else
// its folded name.
func refOf(r *disclosure.Report) string {
	if key := r.IssuerKey(); key != "" {
		return key
	}
	return byNamePrefix + text.Fold(r.CompanyName)
}

// addTicker indexes the issuer by the phrases in its ticker. Single words of
// tickers are in the index.
func (d *Directory) addTicker(e *Issuer) {
	if key := tickerKey(e.Issuer.Ticker); key != "" {
		d.byTicker[key] = append(d.byTicker[key], e)
	}
	words := text.Words(e.Issuer.Ticker)
	for from := range words {
		for to := from + 2; to <= len(words); to++ {
			part := strings.Join(words[from:to], " ")
			if !slices.Contains(d.byPart[part], e) {
				d.byPart[part] = append(d.byPart[part], e)
			}
		}
	}
}

// HasMarket reports whether a filter selects a market of the directory.
func (d *Directory) HasMarket(f disclosure.Filter) bool { return len(d.marketsOf(f)) > 0 }

// HasSector reports whether a filter selects a sector of the directory.
func (d *Directory) HasSector(f disclosure.Filter) bool { return len(d.sectorsOf(f)) > 0 }

// Markets returns the names of the markets, those of the most issuers first.
func (d *Directory) Markets() []string { return d.markets.mostFirst() }

// Sectors returns the names of the sectors, those of the most issuers first.
func (d *Directory) Sectors() []string { return d.sectors.mostFirst() }

// marketsOf returns the groups of the markets that a filter selects.
func (d *Directory) marketsOf(f disclosure.Filter) []segment.Group {
	return d.markets.groups(NewNameFilter(f.Market, f.MarketWords), marketGroup)
}

// sectorsOf returns the groups of the sectors that a filter selects.
func (d *Directory) sectorsOf(f disclosure.Filter) []segment.Group {
	return d.sectors.groups(NewNameFilter(f.Sector, f.SectorWords), sectorGroup)
}

// Lookups answers what ingest asks about the issuers of the directory that the
// function returns, nil for none.
type Lookups func() *Directory

// Issuer returns an issuer by any of its identifiers.
func (l Lookups) Issuer(key string) (disclosure.Issuer, bool) { return l.value((*Directory).Find, key) }

// Named returns the only issuer of a name, in any spelling.
func (l Lookups) Named(name string) (disclosure.Issuer, bool) {
	return l.value((*Directory).Named, name)
}

func (l Lookups) value(find func(*Directory, string) (*Issuer, bool), key string) (disclosure.Issuer, bool) {
	if d := l(); d != nil {
		if e, ok := find(d, key); ok {
			return *e.Issuer, true
		}
	}
	return disclosure.Issuer{}, false
}

// Issuers returns the issuers of some kinds, or all issuers.
func (l Lookups) Issuers(kinds ...disclosure.Kind) (out []disclosure.Issuer) {
	if d := l(); d != nil {
		for _, e := range d.issuers {
			if len(kinds) == 0 || slices.Contains(kinds, e.Issuer.Kind) {
				out = append(out, *e.Issuer)
			}
		}
	}
	return out
}
