package search

import (
	"slices"
	"strings"
)

// Document is the searchable side of a filing or an issuer.
type Document struct {
	words  []string // folded, field after field, an empty word between fields
	idents []string // in the form of disclosure.IssuerKey
}

// NewDocument analyses the fields of a record. A phrase never reaches from one
// field into the next.
func NewDocument(idents []string, fields ...string) Document {
	d := Document{idents: idents}
	for _, f := range fields {
		if words := Words(f); len(words) > 0 {
			d.words = append(append(d.words, words...), "")
		}
	}
	return d
}

// Match tells whether the query means this document.
func (q Query) Match(d *Document) bool {
	for _, t := range q.must {
		if !t.in(d) {
			return false
		}
	}
	for _, t := range q.not {
		if t.in(d) {
			return false
		}
	}
	return true
}

func (t term) in(d *Document) bool {
	if t.ident != "" && slices.Contains(d.idents, t.ident) {
		return true
	}
	for i := range d.words {
		if t.at(d.words[i:]) {
			return true
		}
	}
	return false
}

// at tells whether the term's words stand at the beginning of words.
func (t term) at(words []string) bool {
	if len(t.words) == 1 {
		return sameWord(t, words[0])
	}
	return len(words) >= len(t.words) && slices.Equal(t.words, words[:len(t.words)])
}

func sameWord(t term, word string) bool {
	switch {
	case t.words[0] == word, t.prefix && strings.HasPrefix(word, t.words[0]):
		return true
	case t.exact:
		return false
	}
	return Stem(t.words[0]) == Stem(word)
}
