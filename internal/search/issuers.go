package search

import (
	"context"
	"slices"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
)

// issuerIndex finds issuers by their words: a segment of its own, whose
// reports are issuers, in order of their names.
type issuerIndex struct {
	dict *segment.Dictionary
	seg  *segment.Segment
	keys map[*Issuer]uint64
}

func newIssuerIndex(issuers []*Issuer) *issuerIndex {
	dict := segment.NewDictionary()
	x := &issuerIndex{dict: dict, keys: make(map[*Issuer]uint64, len(issuers))}
	a := segment.Analyzer{Dict: dict}
	var kept segment.Arena
	docs := make([]segment.Doc, len(issuers))
	for i, e := range issuers {
		var text []byte
		for _, field := range e.fields() {
			text = a.Append(text, field)
		}
		docs[i] = segment.Doc{At: int64(i), Key: uint64(i) << 2, Place: kept.Add(text)}
		x.keys[e] = docs[i].Key
	}
	x.seg = segment.Build(docs, segment.Vocabulary{
		Words:      dict.List,
		Stems:      dict.StemCount,
		Categories: make([][]uint32, 1),
		Tickers:    make([][]uint32, 1),
		Memory:     kept.Memory,
	}, 1)
	return x
}

// Search returns the issuers that match a query, best first, then by name. If
// there are none, it tolerates one typing error in each long word.
func (d *Directory) Search(ctx context.Context, text string, kind disclosure.Kind, limit int) ([]*Issuer, error) {
	q := Parse(text)
	if q.wordless {
		return nil, ctx.Err()
	}
	w := segment.NewWork(ctx, len(d.issuers))
	var ranked [Identity + 1][]*Issuer
	err := d.candidates(q, w, func(e *Issuer) {
		if kind == "" || e.Issuer.Kind == kind {
			rank := q.Rank(e)
			ranked[rank] = append(ranked[rank], e)
		}
	})
	if err != nil {
		return nil, err
	}
	var out []*Issuer
	for rank := Identity; rank > NoMatch; rank-- {
		out = append(out, ranked[rank]...)
	}
	if len(out) == 0 && len(q.must) <= mostForgiven {
		err = d.forgive(q, w, func(e *Issuer) {
			if kind == "" || e.Issuer.Kind == kind {
				out = append(out, e)
			}
		})
	}
	return out[:min(limit, len(out))], err
}

// candidates calls yield for the issuers that match all terms, by name.
func (d *Directory) candidates(q Query, w *segment.Work, yield func(*Issuer)) error {
	c := segment.Query{Type: -1, Must: make([]segment.Lookup, 0, len(q.must))}
	for _, t := range q.must {
		l := d.lookup(t)
		if !l.Possible() {
			return nil
		}
		c.Must = append(c.Must, l)
	}
	if !c.Simplify(d.index.seg.Longest) {
		return nil
	}
	h, err := c.Run(segment.Part{Seg: d.index.seg}, w)
	if err != nil {
		return err
	}
	return d.each(h, w, yield)
}

// each calls yield for the issuers of some hits, by name.
func (d *Directory) each(h segment.Hits, w *segment.Work, yield func(*Issuer)) error {
	found := make([]*Issuer, 0, h.N)
	for doc := h.Next(); doc != nil; doc = h.Next() {
		found = append(found, d.issuers[doc.At])
	}
	for _, e := range slices.Backward(found) { // hits come last first
		if err := w.Step(); err != nil {
			return err
		}
		yield(e)
	}
	return nil
}

// set returns the issuers that match a term, or nil.
func (d *Directory) set(t term, w *segment.Work) (*segment.Set, error) {
	l := d.lookup(t)
	named := l.Set(d.index.seg)
	if l.Phrase == nil {
		return named, nil
	}
	some, err := d.index.seg.WithAnyPhrase([][]uint32{l.Phrase}, nil, nil, w)
	return segment.Union([]*segment.Set{named, some}, len(d.issuers)), err
}

func (d *Directory) lookup(t term) segment.Lookup {
	l := t.lookup(d.index.dict)
	for _, e := range d.byKey[t.ident] {
		l.Keys = append(l.Keys, d.index.keys[e])
	}
	return l
}

// forgive calls yield for the issuers that have all words, where a word of five
// letters or more may have one typing error.
func (d *Directory) forgive(q Query, w *segment.Work, yield func(*Issuer)) error {
	var sets []*segment.Set
	forgiven := false
	for _, t := range q.must {
		if err := w.Ctx.Err(); err != nil {
			return err
		}
		exact, err := d.set(t, w)
		if err != nil {
			return err
		}
		near := []*segment.Set{exact}
		if len(t.words) == 1 && !t.exact && utf8.RuneCountInString(t.words[0]) >= forgivenLetters {
			forgiven = true
			for word, set := range d.index.seg.Lexicon() {
				if nearly(t.words[0], word, t.prefix) {
					near = append(near, set)
				}
			}
		}
		all := segment.Union(near, len(d.issuers))
		if all == nil {
			return nil
		}
		sets = append(sets, all)
	}
	if !forgiven {
		return nil
	}
	not := Query{not: q.not, excluded: q.excluded}
	return d.each(segment.NewHits(d.index.seg, sets, nil), w, func(e *Issuer) {
		if not.Match(&e.doc) {
			yield(e)
		}
	})
}

// Limits of the tolerance for typing errors: the least letters of a word, and the
// most terms of a query, each of which is compared with every word of the directory.
const (
	forgivenLetters = 5
	mostForgiven    = 8
)

// nearly reports whether a word, or its beginning, differs by one typing error: an
// additional, missing or different letter, or two exchanged letters.
func nearly(typed, word string, prefix bool) bool {
	if oneError(typed, word) {
		return true
	}
	if !prefix {
		return false
	}
	for n := len(typed) - 1; n <= len(typed)+1; n++ {
		if n < len(word) && oneError(typed, word[:n]) {
			return true
		}
	}
	return false
}

func oneError(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:] // one letter more in b
	}
	if i == len(a) || a[i+1:] == b[i+1:] { // the same, or another letter
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
