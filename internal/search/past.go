package search

import (
	"context"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
)

// Past returns an index of the reports that drop does not select by their keys,
// joined with the directory of another time. It shares everything else with x.
//
// The words of tickers are a part of what it shares. So the reports whose issuer has
// another ticker in dir are left out too, and returned. If there are more than most,
// they stay, and ok is false: words must not be searched for.
func (x *Index) Past(
	dir *Directory,
	drop func(key uint64) bool,
	most int,
) (past *Index, retickered []*segment.Doc, ok bool) {
	past = &Index{
		dict:          x.dict,
		parts:         make([]segment.Part, len(x.parts)),
		join:          x.join.with(dir),
		categoryLines: x.categoryLines,
		categories:    x.categories,
		categoryNames: x.categoryNames,
		memory:        x.memory,
		facts:         x.facts,
	}
	for k, p := range x.parts {
		var gone []uint32
		for i := range p.Seg.Docs {
			if drop(p.Seg.Docs[i].Key) {
				gone = append(gone, uint32(i))
			}
		}
		past.parts[k] = segment.NewPart(p.Seg)
		past.parts[k].Gone = p.Gone
		past.parts[k] = past.parts[k].Without(gone)
	}
	if retickered = past.ofOtherTickers(x.join, most); len(retickered) > most {
		return past, nil, false
	}
	for k, p := range past.parts {
		var gone []uint32
		for _, d := range retickered {
			if i, found := p.Seg.Find(d.Key); found {
				gone = append(gone, i)
			}
		}
		past.parts[k] = p.Without(gone)
	}
	return past, retickered, true
}

// ofOtherTickers returns the reports whose issuer has another ticker in another join
// of the same references, and at most one more than most.
func (x *Index) ofOtherTickers(other *join, most int) (docs []*segment.Doc) {
	var refs []uint32
	for n, e := range x.join.issuers {
		if e != other.issuers[n] && tickerOf(e) != tickerOf(other.issuers[n]) {
			refs = append(refs, uint32(n))
		}
	}
	if len(refs) == 0 {
		return nil
	}
	for _, p := range x.parts {
		s := p.Seg.RefSet(refs)
		if s == nil {
			continue
		}
		for h := segment.NewHits(p.Seg, []*segment.Set{s}, p.Gone); h.Left > 0 && len(docs) <= most; {
			docs = append(docs, h.Next())
		}
	}
	return docs
}

// with returns the join of the same references with another directory. It has no
// words of tickers, which only a writer uses.
func (j *join) with(dir *Directory) *join {
	if dir == j.dir {
		return j
	}
	other := &join{
		dir:     dir,
		refText: j.refText,
		issuers: make([]*Issuer, len(j.refText)),
		refs:    map[*Issuer][]uint32{},
		numbers: j.numbers,
	}
	for i, ref := range j.refText {
		if e := dir.issuerOf(ref); e != nil {
			other.issuers[i] = e
			other.refs[e] = append(other.refs[e], uint32(i))
		}
	}
	return other
}

func tickerOf(e *Issuer) string {
	if e == nil {
		return ""
	}
	return e.Issuer.Ticker
}

// Shares reports whether two indexes are of one writer, and so have the same memory and files.
func (x *Index) Shares(other *Index) bool { return x.dict == other.dict }

// SearchAll searches indexes with different reports as if they were one: see
// Index.Search.
func SearchAll(
	ctx context.Context,
	all []*Index,
	f disclosure.Filter,
	offset int64,
	limit int,
) (total int, found []*segment.Doc, err error) {
	var hits []segment.Hits
	for _, x := range all {
		n, in, err := x.run(ctx, f)
		if err != nil {
			return 0, nil, err
		}
		total += n
		hits = append(hits, in...)
	}
	if offset >= int64(total) || limit == 0 {
		return total, nil, nil
	}
	return total, segment.Page(hits, int(offset), min(limit, total-int(offset))), nil
}

// Live returns all reports of the index, in no particular order.
func (x *Index) Live() (docs []*segment.Doc) {
	for _, p := range x.parts {
		for i := range p.Seg.Docs {
			if !p.Gone.Has(uint32(i)) {
				docs = append(docs, &p.Seg.Docs[i])
			}
		}
	}
	return docs
}

// Size returns the number of reports for which the index has memory, including those
// that are gone.
func (x *Index) Size() (n int) {
	for _, p := range x.parts {
		n += len(p.Seg.Docs)
	}
	return n
}

// referenceBytes is about what a join takes for each reference, and wordBytes what a
// dictionary takes for each word.
const (
	referenceBytes = 48
	wordBytes      = 200
)

// PastBytes returns about how many bytes Past allocated for an index: what it does not
// share with the one that it was made from.
func (x *Index) PastBytes() int64 {
	n := int64(len(x.join.refText)) * referenceBytes
	for _, p := range x.parts {
		n += p.Gone.Bytes()
	}
	return n
}

// SharedBytes returns about how many bytes of memory the index and those that Past
// made from it share. Indexes that share them return the same key.
func (x *Index) SharedBytes() (key any, n int64) {
	n += x.memory.Bytes()
	for _, p := range x.parts {
		n += p.Seg.Bytes()
	}
	return x.dict, n + int64(len(x.dict.List))*wordBytes
}
