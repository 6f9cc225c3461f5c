package search

import (
	"slices"
	"strings"

	"pregon/internal/text"
)

// Document holds the searchable words of a report or an issuer.
type Document struct {
	words  []string // folded, field after field, an empty word between fields
	stems  []string // of the words
	idents []string // in the form of disclosure.IssuerKey
}

// NewDocument analyses the fields of a record. A phrase never spans two
// fields.
func NewDocument(idents []string, fields ...string) Document {
	d := Document{idents: idents}
	for _, f := range fields {
		if words := text.Words(f); len(words) > 0 {
			d.words = append(append(d.words, words...), "")
		}
	}
	d.stems = make([]string, len(d.words))
	for i, w := range d.words {
		d.stems[i] = text.Stem(w)
	}
	return d
}

// Match reports whether the document matches the query.
func (q Query) Match(d *Document) bool {
	if q.wordless {
		return false
	}
	for i := range q.must {
		if !q.must[i].in(d) {
			return false
		}
	}
	return len(q.not) == 0 || !q.excluded.in(d)
}

func (x *excluded) in(d *Document) bool {
	for i, w := range d.words {
		if x.words[w] || x.stems[d.stems[i]] || x.phrases.Begins(d.words[i:]) {
			return true
		}
	}
	return slices.ContainsFunc(d.idents, func(ident string) bool { return x.idents[ident] })
}

func (t *term) in(d *Document) bool {
	if t.ident != "" && slices.Contains(d.idents, t.ident) {
		return true
	}
	for i := range d.words {
		if t.at(d, i) {
			return true
		}
	}
	return t.others.in(d)
}

// in reports whether the document has one of the alternatives.
func (m *marketTerm) in(d *Document) bool {
	return m != nil && slices.ContainsFunc(m.terms, func(t term) bool { return t.in(d) })
}

// at reports whether the term's words are in the document at its i-th word.
func (t *term) at(d *Document, i int) bool {
	if len(t.words) == 1 {
		w := d.words[i]
		return w == t.words[0] || t.prefix && strings.HasPrefix(w, t.words[0]) || !t.exact && d.stems[i] == t.stem
	}
	return len(d.words)-i >= len(t.words) && slices.Equal(t.words, d.words[i:i+len(t.words)])
}
