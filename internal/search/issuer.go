package search

import (
	"slices"

	"pregon/internal/disclosure"
)

// Entity is an issuer as searches see it.
type Entity struct {
	Issuer *disclosure.Issuer
	Folded string // the name, for the order of lists

	doc  Document
	name []string // words of the name
}

// NewEntity analyses an issuer.
func NewEntity(i *disclosure.Issuer) *Entity {
	name := Words(i.Name)
	return &Entity{
		Issuer: i, Folded: Fold(i.Name), name: name,
		doc: NewDocument(i.Keys(), append([]string{i.Name, i.Ticker}, i.FormerNames...)...),
	}
}

// Rank tells how well an entity answers a query.
type Rank uint8

const (
	NoMatch  Rank = iota
	InWords       // every word is somewhere in its names
	InName        // its name begins with the query
	Identity      // the query is its ticker, tax number or another identifier
)

// Rank judges an entity.
func (q Query) Rank(e *Entity) Rank {
	if !q.Match(&e.doc) {
		return NoMatch
	}
	if len(q.must) == 1 && len(q.not) == 0 {
		t := q.must[0]
		ticker := Words(e.Issuer.Ticker)
		if t.ident != "" && slices.Contains(e.doc.idents, t.ident) || len(ticker) > 0 && slices.Equal(t.words, ticker) {
			return Identity
		}
	}
	if len(q.must) > 0 && q.begins(e.name) {
		return InName
	}
	return InWords
}

// begins tells whether the words are the query's terms in their order.
func (q Query) begins(words []string) bool {
	for _, t := range q.must {
		if len(words) < len(t.words) || !t.at(words) {
			return false
		}
		words = words[len(t.words):]
	}
	return true
}
