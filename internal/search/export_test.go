package search

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
)

// BeginMerge begins a merge of the first n segments of any size, as Due does for
// those that it chooses. It returns nil while another merge is running.
func (w *Writer) BeginMerge(n int) *Merge {
	if w.busy != nil || n > len(w.index.parts) {
		return nil
	}
	w.busy = w.newMerge(w.index.parts[:n])
	return w.busy
}

// Segments returns the number of reports of each segment and how many are gone.
func (x *Index) Segments() (sizes, gone []int) {
	for _, p := range x.parts {
		sizes, gone = append(sizes, len(p.Seg.Docs)), append(gone, len(p.Seg.Docs)-p.Live())
	}
	return sizes, gone
}

// PlainSets counts the words of the index that are kept as plain bits.
func (x *Index) PlainSets() (n int) {
	for _, p := range x.parts {
		for _, s := range p.Seg.Lexicon() {
			if s.Bits != nil {
				n++
			}
		}
	}
	return n
}

// Pieces returns the first byte of each piece of the memory of an index, nil
// for those that it has released.
func (x *Index) Pieces() []*byte {
	out := make([]*byte, len(x.memory))
	for i := range x.memory {
		out[i] = x.memory.First(i)
	}
	return out
}

// Reads returns the number of texts that a search reads.
func (x *Index) Reads(ctx context.Context, f disclosure.Filter) (int, error) {
	w := segment.NewWork(ctx, x.Len())
	q := x.compile(f)
	for _, p := range x.parts {
		if q.Empty {
			break
		}
		if _, err := q.Run(p, w); err != nil {
			return w.Reads, err
		}
	}
	return w.Reads, nil
}

// LongestText returns the number of words in the longest text.
func (x *Index) LongestText() int { return x.longest() }

// Terms returns the terms of the filter's search text: a report must have all of all
// and none of none. ok is false if the text matches nothing.
func (m *Matcher) Terms() (all, none []Term, ok bool) {
	return termsOf(m.query.must), termsOf(m.query.not), !m.query.wordless
}

// Term is one term of a search text. Equal terms have equal keys.
type Term struct {
	Key   string
	Words []string
	Ident string
	In    func(*Document) bool

	Others []Term // what a document may have instead
}

func termsOf(terms []term) []Term {
	out := make([]Term, len(terms))
	for i := range terms {
		t := &terms[i]
		alone := *t
		alone.others = nil
		out[i] = Term{
			Key:   fmt.Sprintf("%+v", alone),
			Words: t.words,
			Ident: t.ident,
			In:    alone.in,
		}
		if t.others != nil {
			out[i].Others = termsOf(t.others.terms)
		}
	}
	return out
}

// Document returns the words of a report as a query sees them.
func (f *Report) Document() *Document { return &f.doc }

func (d *Document) Words() []string  { return d.words }
func (d *Document) Idents() []string { return d.idents }

// Highlight returns the parts of a text that a query matches, in their order. They
// do not overlap; adjacent words are separate unless they match as a phrase.
func Highlight(query, text string) []Span { return NewHighlighter(Parse(query)).Spans(text) }

// EnglishTerms returns the English terms that widen a query, sorted.
func EnglishTerms() []string { return slices.Sorted(maps.Keys(knownTerms().entries)) }

// ReadTerms reads a table of terms.
func ReadTerms(table string) error {
	_, err := readTerms(table)
	return err
}

// InEnglish returns the English words of a sector.
func InEnglish(sector string) []string { return inEnglish(sector) }
