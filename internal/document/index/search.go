package index

import (
	"context"
	"iter"
	"slices"
	"sort"

	"pregon/internal/search"
	"pregon/internal/store"
)

// segment is a segment whose head is in memory.
type segment struct {
	id      int64
	token   int64    // see store.Segment
	numbers []uint32 // of its documents, see search.Numbers
	firsts  []string // key of the first entry of each block
	common  uint32   // the least number of documents that have a common word, see pair.go
	dead    set      // documents that a newer segment has too; nil: none
}

// at returns the number of the block that has a key, if any has.
func (s *segment) at(key []byte) int {
	return max(0, sort.Search(len(s.firsts), func(i int) bool { return s.firsts[i] > string(key) })-1)
}

// within returns the numbers of the blocks that may have keys of a range.
func (s *segment) within(r keyRange) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n, last := s.at(r.from), s.at(r.to); n <= last && n < len(s.firsts); n++ {
			if !yield(n) {
				return
			}
		}
	}
}

// evaluation is the search for a query in some segments.
type evaluation struct {
	store    store.Index
	query    Query
	among    search.NumberSet // the documents to consider; nil: all
	segments []*segment
	blocks   map[int64][]byte // read so far
	common   map[wordOf]bool  // the common words of phrases
}

// run returns the numbers of the documents that match.
func (e *evaluation) run(ctx context.Context) (out search.NumberSet, err error) {
	if err := e.load(ctx); err != nil {
		return nil, err
	}
	found := make([]set, len(e.segments)) // documents that may match
	for i, s := range e.segments {
		if found[i], err = e.candidates(s); err != nil {
			return nil, err
		}
	}
	excluded := make([][]set, len(e.query.None)) // documents that may contain the phrase
	for i, p := range e.query.None {
		if excluded[i], err = e.withAll(found, p); err != nil {
			return nil, err
		}
		if len(p.Words) == 1 { // so that fewer documents are verified
			exclude(found, excluded[i])
		}
	}
	phrases, err := e.alternatives(found)
	if err != nil {
		return nil, err
	}
	clear(e.blocks)
	for i, group := range e.query.All {
		if err := e.verifyGroup(ctx, group, found, phrases[i]); err != nil {
			return nil, err
		}
	}
	for i, p := range e.query.None {
		if err := e.verify(ctx, p.Words, excluded[i]); err != nil {
			return nil, err
		}
		exclude(found, excluded[i])
	}
	for i, s := range e.segments {
		found[i].each(func(n int) { out.Add(s.numbers[n]) })
	}
	return out, nil
}

// alternatives returns, for each group of which one phrase of several has several words,
// the documents of sets that contain all words of each of its phrases. For other groups
// it returns nil.
func (e *evaluation) alternatives(found []set) ([][][]set, error) {
	out := make([][][]set, len(e.query.All))
	for i, group := range e.query.All {
		if len(group) == 1 || !slices.ContainsFunc(group, func(p Phrase) bool { return len(p.Words) > 1 }) {
			continue
		}
		for _, p := range group {
			with, err := e.withAll(found, p)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], with)
		}
	}
	return out, nil
}

// verifyGroup removes the documents from the sets that contain no phrase of a group. The
// alternatives are those of the group.
func (e *evaluation) verifyGroup(ctx context.Context, group []Phrase, found []set, alternatives [][]set) error {
	if alternatives == nil {
		return e.verify(ctx, group[0].Words, found)
	}
	some := make([]set, len(found))
	for i, s := range e.segments {
		some[i] = newSet(len(s.numbers))
	}
	for k, p := range group {
		if err := e.verify(ctx, p.Words, alternatives[k]); err != nil {
			return err
		}
		for i := range some {
			some[i].or(alternatives[k][i])
		}
	}
	for i := range found {
		found[i].and(some[i])
	}
	return nil
}

// exclude removes the documents of other sets, one for each segment.
func exclude(found, others []set) {
	for i := range found {
		found[i].andNot(others[i])
	}
}

// withAll returns the documents of sets that contain all words of a phrase.
func (e *evaluation) withAll(found []set, p Phrase) ([]set, error) {
	out := make([]set, len(found))
	for i, s := range e.segments {
		with, err := e.documents(s, p)
		if err != nil {
			return nil, err
		}
		with.and(found[i])
		out[i] = with
	}
	return out, nil
}

// load reads the blocks that have the words of the query in all segments.
func (e *evaluation) load(ctx context.Context) error {
	var ids []int64
	for _, group := range append(slices.Clip(e.query.All), e.query.None) {
		for _, p := range group {
			for _, r := range p.ranges() {
				for _, s := range e.segments {
					for n := range s.within(r) {
						ids = append(ids, store.BlockID(s.id, n))
					}
				}
			}
		}
	}
	return e.fetch(ctx, ids)
}

// idsAtOnce is the number of blocks that a statement reads at most.
const idsAtOnce = 500

// fetch reads blocks.
func (e *evaluation) fetch(ctx context.Context, ids []int64) error {
	slices.Sort(ids)
	ids = slices.Compact(ids) // a block of a small segment has many words
	for len(ids) > 0 {
		some := ids[:min(idsAtOnce, len(ids))]
		ids = ids[len(some):]
		if err := e.store.Blocks(ctx, some, func(id int64, block []byte) { e.blocks[id] = block }); err != nil {
			return err
		}
	}
	return nil
}

// keyRange is a range of keys, both ends included.
type keyRange struct{ from, to []byte }

// ranges returns the keys of the documents that may contain a phrase: one range for
// each word.
func (p Phrase) ranges() []keyRange {
	word := p.Words[0]
	switch {
	case p.Stem:
		return exactly(stemKind, word)
	case p.Prefix && len(word) <= longestPrefix:
		return exactly(prefixKind, word)
	case p.Prefix:
		return []keyRange{{key(wordKind, word), append(key(wordKind, word), 0xff)}} // no UTF-8 contains 0xff
	}
	var list []keyRange
	for _, word := range p.Words {
		list = append(list, exactly(wordKind, word)...)
	}
	return list
}

func exactly(kind byte, word string) []keyRange {
	k := key(kind, word)
	return []keyRange{{k, k}}
}

// candidates returns the documents of a segment that contain at least one phrase of
// each group. Of phrases of several words, it checks only that all words are in the
// document.
func (e *evaluation) candidates(s *segment) (set, error) {
	found := newSet(len(s.numbers))
	for i, number := range s.numbers {
		if e.among == nil || e.among.Has(number) {
			found.add(i)
		}
	}
	if s.dead != nil {
		found.andNot(s.dead)
	}
	for _, group := range e.query.All {
		any := newSet(len(s.numbers))
		for _, p := range group {
			matching, err := e.documents(s, p)
			if err != nil {
				return nil, err
			}
			any.or(matching)
		}
		if found.and(any); found.empty() {
			return found, nil
		}
	}
	return found, nil
}

// documents returns the documents of a segment that contain all words of a phrase.
func (e *evaluation) documents(s *segment, p Phrase) (set, error) {
	var all set
	for i, r := range p.ranges() {
		with := newSet(len(s.numbers))
		for n := range s.within(r) {
			in := entries{block: e.blocks[store.BlockID(s.id, n)]}
			for in.next() && string(in.key) <= string(r.to) {
				if string(in.key) < string(r.from) {
					continue
				}
				if err := addDocuments(with, in.value, len(s.numbers)); err != nil {
					return nil, err
				}
			}
			if in.err != nil {
				return nil, in.err
			}
		}
		if len(p.Words) > 1 {
			e.remember(s, p.Words[i], with)
		}
		if all == nil {
			all = with
		} else {
			all.and(with)
		}
	}
	return all, nil
}

// place is a chunk of a segment.
type place struct{ segment, chunk int }

// positionsAtOnce is about how many entries of positions are in memory at once. Those
// of a common word take some megabytes each.
const positionsAtOnce = 16

// verify removes the documents from the sets that do not contain the words one
// after the other.
func (e *evaluation) verify(ctx context.Context, words []string, found []set) error {
	if len(words) < 2 {
		return nil
	}
	var places []place
	units := make([][]unit, len(e.segments))
	for i, s := range e.segments {
		units[i] = e.units(s, words)
		for chunk := 0; chunk<<chunkBits < len(e.segments[i].numbers); chunk++ {
			if !chunkOf(found[i], chunk).empty() {
				places = append(places, place{i, chunk})
			}
		}
	}
	for len(places) > 0 {
		some := places[:min(max(1, positionsAtOnce/len(words)), len(places))]
		places = places[len(some):]
		var ids []int64
		for _, at := range some {
			s := e.segments[at.segment]
			for _, u := range units[at.segment] {
				ids = append(ids, store.BlockID(s.id, s.at(u.key(at.chunk))))
			}
		}
		if err := e.fetch(ctx, ids); err != nil {
			return err
		}
		for _, at := range some {
			if err := e.verifyChunk(units[at.segment], at, found[at.segment]); err != nil {
				return err
			}
		}
		clear(e.blocks)
	}
	return nil
}

// chunkOf returns the part of a set that has the documents of a chunk.
func chunkOf(s set, chunk int) set {
	const words = chunkDocuments / 64
	return s[chunk*words : min(len(s), (chunk+1)*words)]
}

// verifyChunk does the work of verify for one chunk of a segment.
func (e *evaluation) verifyChunk(units []unit, at place, found set) error {
	s := e.segments[at.segment]
	lists := make([]positions, len(units))
	for i, u := range units {
		k := u.key(at.chunk)
		value, err := valueOf(e.blocks[store.BlockID(s.id, s.at(k))], k)
		if err != nil {
			return err
		}
		if value == nil && !u.isPair() {
			return ErrDamaged // the chunk has documents with the word
		}
		lists[i] = newPositions(value, at.chunk)
	}
	p := phraseFinder{units: units}
	for n := at.chunk << chunkBits; n < min(len(s.numbers), (at.chunk+1)<<chunkBits); n++ {
		if !found.has(n) {
			continue
		}
		has, err := seek(units, lists, n)
		if err != nil {
			return err
		}
		if !has || !p.adjacent(lists) {
			found.remove(n)
		}
	}
	for i := range lists {
		if lists[i].err != nil {
			return lists[i].err
		}
	}
	return nil
}

// seek advances the positions of units to a document that has all their words. It returns
// false if a pair is not in the document.
func seek(units []unit, lists []positions, n int) (bool, error) {
	for i := range lists {
		list := &lists[i]
		for list.encoded == nil || list.n < n {
			if !list.advance() {
				break
			}
		}
		if list.err != nil {
			return false, list.err
		}
		if list.encoded != nil && list.n == n {
			continue
		}
		if !units[i].isPair() {
			return false, ErrDamaged
		}
		return false, nil
	}
	return true, nil
}

// phraseFinder compares positions. It reuses its memory.
type phraseFinder struct {
	units         []unit
	order         []int
	starts, other []uint32
}

// adjacent reports whether a document has units one after the other, given their
// positions. It begins with the rarest.
func (p *phraseFinder) adjacent(lists []positions) bool {
	p.order = p.order[:0]
	for i := range lists {
		p.order = append(p.order, i)
	}
	slices.SortFunc(p.order, func(a, b int) int { return len(lists[a].encoded) - len(lists[b].encoded) })
	for k, i := range p.order {
		offset := uint32(p.units[i].offset)
		if k == 0 {
			p.starts = lists[i].decode(p.starts[:0])
			kept := p.starts[:0]
			for _, at := range p.starts {
				if at >= offset {
					kept = append(kept, at-offset)
				}
			}
			p.starts = kept
		} else {
			p.other = lists[i].decode(p.other[:0])
			p.starts = shifted(p.starts, p.other, offset)
		}
		if len(p.starts) == 0 {
			return false
		}
	}
	return true
}

// shifted returns the starts for which start+offset is in list. Both are in order.
func shifted(starts, list []uint32, offset uint32) []uint32 {
	kept := starts[:0]
	i := 0
	for _, start := range starts {
		for i < len(list) && list[i] < start+offset {
			i++
		}
		if i < len(list) && list[i] == start+offset {
			kept = append(kept, start)
		}
	}
	return kept
}
