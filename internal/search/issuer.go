package search

import (
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
	"pregon/internal/text"
)

// Issuer is an issuer with its searchable words.
type Issuer struct {
	Issuer *disclosure.Issuer
	Folded string // the name, for the order of lists

	groups []segment.Group
	market *name     // nil if it has none
	sector *name     // nil if it has none
	bare   []string  // its names without their legal forms: see Directory.Lookup
	doc    Document  // its first field is the name
	names  *Document // without manager and depositary; nil if it has neither
}

// NewIssuer returns an issuer that can be searched.
func NewIssuer(i *disclosure.Issuer) *Issuer {
	e := &Issuer{
		Issuer: i,
		Folded: text.Fold(i.Name),
		groups: groupsOf(i),
	}
	for _, s := range append([]string{i.Name}, i.FormerNames...) {
		if bare := fullName(s).bare; bare != "" && !slices.Contains(e.bare, bare) {
			e.bare = append(e.bare, bare)
		}
	}
	if market := newName(i.Market); market.folded != "" {
		e.market = &market
	}
	if sector := newSector(i.Sector); sector.folded != "" {
		e.sector = &sector
	}
	e.doc = NewDocument(i.Keys(), e.fields()...)
	if i.Manager != "" || i.Depositary != "" {
		names := NewDocument(i.Keys(), e.own()...)
		e.names = &names
	}
	return e
}

// own returns the texts that name the issuer itself.
func (e *Issuer) own() []string {
	return append([]string{e.Issuer.Name, e.Issuer.Ticker}, e.Issuer.FormerNames...)
}

// fields returns the texts that are searched.
func (e *Issuer) fields() []string {
	fields := e.own()
	for _, name := range []string{e.Issuer.Manager, e.Issuer.Depositary} {
		if name != "" {
			fields = append(fields, name)
		}
	}
	return fields
}

// Rank is the quality of a match.
type Rank uint8

const (
	NoMatch  Rank = iota
	InOthers      // some word is only in the name of its manager or depositary
	InWords       // every word is somewhere in its names
	InName        // its name begins with the query
	Identity      // the query is its ticker, tax number or another identifier
)

// Rank returns how well an issuer matches the query.
func (q Query) Rank(e *Issuer) Rank {
	if !q.Match(&e.doc) {
		return NoMatch
	}
	if e.names != nil && !q.Match(e.names) {
		return InOthers
	}
	if len(q.must) == 1 && len(q.not) == 0 {
		t := q.must[0]
		ticker := text.Words(e.Issuer.Ticker)
		if t.ident != "" && slices.Contains(e.doc.idents, t.ident) || len(ticker) > 0 && slices.Equal(t.words, ticker) {
			return Identity
		}
	}
	if len(q.must) > 0 && e.Folded != "" && q.begins(&e.doc) {
		return InName
	}
	return InWords
}

// begins reports whether the document begins with the query's terms in their
// order. The first field of an issuer is its name, unless that has no words.
func (q Query) begins(d *Document) bool {
	at := 0
	for i := range q.must {
		t := &q.must[i]
		if at+len(t.words) > len(d.words) || !t.at(d, at) {
			return false
		}
		at += len(t.words)
	}
	return true
}
