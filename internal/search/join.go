package search

import (
	"slices"
	"strings"

	"pregon/internal/search/segment"
)

// join maps the references of reports to the issuers of the directory. A change
// of the directory changes the join and no report, except for the ticker, which is
// a word in the index.
type join struct {
	dir     *Directory
	refText []string             // as in the reports, by number of the reference
	issuers []*Issuer            // by number of the reference; nil if unknown
	tickers [][]uint32           // the words of the issuer's ticker
	refs    map[*Issuer][]uint32 // the references to each issuer
	numbers map[string]uint32    // of references, by their text
}

// newJoin resolves every reference.
func (w *Writer) newJoin(dir *Directory) *join {
	j := &join{
		dir:     dir,
		refText: w.refs,
		issuers: make([]*Issuer, len(w.refs)),
		tickers: make([][]uint32, len(w.refs)),
		refs:    map[*Issuer][]uint32{},
		numbers: make(map[string]uint32, len(w.refs)),
	}
	for i, ref := range w.refs {
		n := uint32(i)
		j.numbers[ref] = n
		if e := dir.issuerOf(ref); e != nil {
			j.issuers[n] = e
			j.refs[e] = append(j.refs[e], n)
			w.analyser.Tokenizer.Words(e.Issuer.Ticker,
				func(word []byte) { j.tickers[n] = append(j.tickers[n], w.dict.Add(word)) })
		}
	}
	return j
}

// Groups returns the groups of the issuer of a reference.
func (j *join) Groups(ref uint32) []segment.Group { return groupsAt(j.issuers[ref], j.refText[ref]) }

// retickered returns the references whose ticker differs in the next join.
func (j *join) retickered(next *join) []uint32 {
	var refs []uint32
	for n := range j.tickers {
		if !slices.Equal(j.tickers[n], next.tickers[n]) {
			refs = append(refs, uint32(n))
		}
	}
	return refs
}

// named returns the references to all issuers that have an identifier, and the
// one of the reports that state it themselves.
func (j *join) named(key string) []uint32 {
	if strings.HasPrefix(key, byNamePrefix) {
		return nil // a name is not an identifier
	}
	var refs []uint32
	for _, e := range j.dir.byKey[key] {
		refs = append(refs, j.refs[e]...)
	}
	if n, ok := j.numbers[key]; ok && !slices.Contains(refs, n) {
		refs = append(refs, n)
	}
	return refs
}

// namedAny returns the references of named for some identifiers.
func (j *join) namedAny(keys []string) (refs []uint32) {
	for _, key := range keys {
		refs = append(refs, j.named(key)...)
	}
	return refs
}
