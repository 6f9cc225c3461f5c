package index

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// A pair is two common words, one after the other. It has positions, as a word has. A
// phrase of common words is found by the positions of its pairs: those of the words are
// most of the index, and reading them for all documents takes long.
//
// A merge finds the pairs of each chunk after it has written the positions of all words,
// and writes them after these. The last entry of the segment is its mark, which has the
// least number of documents that a common word is in. A segment with a mark has all pairs
// of its common words: if a pair has no entry in a chunk, it is in no document there.
//
// Segments of fewer than pairsFrom documents, and those that a program from before pairs
// wrote, have no mark. Phrases are found in them by the positions of words. Such a program
// does not search for pairs. It merges their entries as those of a word, so that they
// may be incomplete, and drops the mark. So entries of pairs are not used without a mark,
// and a merge does not copy them.

const (
	// pairsFrom is the number of documents from which a segment has a mark. In fewer
	// documents, reading positions is fast enough.
	pairsFrom = 1024
	// commonShare is the share of documents that have a common word: one in so many.
	// Less common words have few positions.
	commonShare = 4
	// mostCommon is the number of common words that a segment has at most. Their
	// numbers take commonBits.
	commonBits = 12
	mostCommon = 1 << commonBits
	// mostPositions is the number of bytes that the positions of the common words of a
	// chunk take at most, since they are in memory while its pairs are found. It is
	// about ten times what documents of usual length take.
	mostPositions = 64 << 20
	// noPairs is the mark of a segment without pairs: no word is common.
	noPairs = math.MaxUint32
)

// pairWord begins the key of a pair in place of a word, so that pairs follow all words.
// No UTF-8 contains it.
const pairWord = 0xff

// pairKey returns the key of the positions of a pair in a chunk. The chunk is before the
// pair too, since the pairs of a chunk are written together.
func pairKey(first, second string, chunk int) []byte {
	b := []byte{positionKind, pairWord}
	b = binary.BigEndian.AppendUint32(b, uint32(chunk))
	b = append(b, first...)
	b = append(b, 0)
	b = append(b, second...)
	b = append(b, 0)
	return binary.BigEndian.AppendUint32(b, uint32(chunk))
}

// isPair reports whether a key, with or without its last chunk, is that of a pair.
func isPair(key []byte) bool { return len(key) > 1 && key[0] == positionKind && key[1] == pairWord }

// appendMark appends the key of a mark.
func appendMark(b []byte, leastDocuments uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, markKind), leastDocuments)
}

// markOf returns the mark of a segment with the given first keys of its blocks.
func markOf(firsts []string) (leastDocuments uint32, ok bool) {
	if len(firsts) == 0 {
		return noPairs, false
	}
	last := firsts[len(firsts)-1]
	if len(last) != 1+4 || last[0] != markKind {
		return noPairs, false
	}
	return binary.BigEndian.Uint32([]byte(last[1:])), true
}

// commonWords are the words of a segment that may be common, as a merge finds them.
type commonWords struct {
	documents map[string]int // that have the word
	bytes     map[int]int    // of all their positions, by chunk
}

// add adds a word if it may be common among all documents of the segment.
func (c *commonWords) add(word []byte, documents, all int) {
	if all >= pairsFrom && documents*commonShare >= all {
		c.documents[string(word)] = documents
	}
}

// addPositions adds to the bytes of a word's positions in a chunk.
func (c *commonWords) addPositions(word []byte, chunk, size int) {
	if _, ok := c.documents[string(word)]; ok {
		c.bytes[chunk] += size
	}
}

// list returns the common words in order, and the least number of documents that have
// one of them. It returns none if their positions take too much memory.
func (c *commonWords) list() (words []string, leastDocuments uint32) {
	for _, size := range c.bytes {
		if size > mostPositions {
			return nil, noPairs
		}
	}
	words = slices.Collect(maps.Keys(c.documents))
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(c.documents[b], c.documents[a]) })
	if len(words) == 0 {
		return nil, noPairs
	}
	least := c.documents[words[len(words)-1]]
	if len(words) > mostCommon {
		least = c.documents[words[mostCommon]] + 1
		words = words[:mostCommon]
		for len(words) > 0 && c.documents[words[len(words)-1]] < least {
			words = words[:len(words)-1]
		}
	}
	slices.Sort(words)
	return words, uint32(least)
}

// addPairs writes the pairs and the mark, after all other entries.
func (m *merger) addPairs(ctx context.Context) error {
	if len(m.hashes) < pairsFrom {
		return nil
	}
	words, mark := m.common.list()
	if err := m.flush(ctx); err != nil {
		return err
	}
	written := segment{firsts: make([]string, len(m.out.firsts))}
	for i, first := range m.out.firsts {
		written.firsts[i] = string(first)
	}
	for chunk := 0; len(words) > 0 && chunk<<chunkBits < len(m.hashes); chunk++ {
		f, err := written.pairFinder(ctx, words, chunk, m.to)
		if err != nil {
			return err
		}
		if err := f.find(min(chunkDocuments, len(m.hashes)-chunk<<chunkBits)); err != nil {
			return err
		}
		if err := m.writePairs(ctx, f); err != nil {
			return err
		}
	}
	m.out.end() // so that the mark is the first key of a block, and in the head
	m.out.add(appendMark(nil, mark), appendDocuments(nil, nil, 0))
	return nil
}

// pairFinder returns what finds the pairs of a chunk.
func (s *segment) pairFinder(ctx context.Context, words []string, chunk int, from output) (*pairFinder, error) {
	numbers := make([]int, len(words)) // in order, as words are
	for i, word := range words {
		numbers[i] = s.at(positionKey(word, chunk))
	}
	blocks, err := from.get(ctx, slices.Compact(slices.Clone(numbers)))
	if err != nil {
		return nil, err
	}
	f := pairFinder{
		words: words,
		chunk: chunk,
		lists: make([]positions, len(words)),
		pairs: map[uint32]*pairPositions{},
	}
	for i, word := range words {
		value, err := valueOf(blocks[numbers[i]], positionKey(word, chunk))
		if err != nil {
			return nil, err
		}
		f.lists[i] = newPositions(value, chunk)
		if f.lists[i].advance(); f.lists[i].err != nil {
			return nil, f.lists[i].err
		}
	}
	return &f, nil
}

// pairFinder finds the pairs of a chunk.
type pairFinder struct {
	words     []string // the common ones, in order
	chunk     int
	lists     []positions               // of each word, at its next document
	pairs     map[uint32]*pairPositions // by the numbers of the words
	places    []uint64                  // reused: position and number of each common word of a document
	found     []uint64                  // reused: pair and position of each pair of a document
	positions []uint32                  // reused
	encoded   []byte                    // reused
}

// pairPositions are the positions of a pair.
type pairPositions struct {
	next  int    // the least number that the next document can have
	value []byte // see positions
}

// find finds the pairs of the documents of the chunk.
func (f *pairFinder) find(documents int) error {
	for n := f.chunk << chunkBits; n < f.chunk<<chunkBits+documents; n++ {
		f.places = f.places[:0]
		for word := range f.lists {
			list := &f.lists[word]
			if list.encoded == nil || list.n != n {
				continue
			}
			f.positions = list.decode(f.positions[:0])
			for _, at := range f.positions {
				f.places = append(f.places, uint64(at)<<commonBits|uint64(word))
			}
			if !list.advance() {
				list.encoded = nil
			}
			if list.err != nil {
				return list.err
			}
		}
		f.addDocument(n)
	}
	return nil
}

// addDocument adds the pairs of a document whose common words are in f.places.
func (f *pairFinder) addDocument(n int) {
	slices.Sort(f.places)
	f.found = f.found[:0]
	for i := 1; i < len(f.places); i++ {
		at, next := f.places[i-1]>>commonBits, f.places[i]>>commonBits
		if next == at+1 {
			pair := f.places[i-1]%mostCommon<<commonBits | f.places[i]%mostCommon
			f.found = append(f.found, pair<<32|at)
		}
	}
	slices.Sort(f.found)
	for rest := f.found; len(rest) > 0; {
		pair := uint32(rest[0] >> 32)
		f.encoded = f.encoded[:0]
		next := uint32(0)
		for len(rest) > 0 && uint32(rest[0]>>32) == pair {
			at := uint32(rest[0])
			f.encoded = binary.AppendUvarint(f.encoded, uint64(at-next))
			next = at + 1
			rest = rest[1:]
		}
		p := f.pairs[pair]
		if p == nil {
			p = &pairPositions{next: f.chunk << chunkBits}
			f.pairs[pair] = p
		}
		p.value = appendPositions(p.value, n-p.next, f.encoded)
		p.next = n + 1
	}
}

// writePairs writes the pairs of a chunk.
func (m *merger) writePairs(ctx context.Context, f *pairFinder) error {
	for _, pair := range slices.Sorted(maps.Keys(f.pairs)) {
		first, second := f.words[pair>>commonBits], f.words[pair%mostCommon]
		m.out.add(pairKey(first, second, f.chunk), f.pairs[pair].value)
		if err := m.flushMany(ctx); err != nil {
			return err
		}
	}
	return nil
}

// valueOf returns the value of a key in a block, or nil if the block does not have it.
func valueOf(block, key []byte) ([]byte, error) {
	in := entries{block: block}
	for in.next() {
		if order := bytes.Compare(in.key, key); order >= 0 {
			if order == 0 {
				return in.value, nil
			}
			break
		}
	}
	return nil, in.err
}

// unit is a word of a phrase, or two of its words that are a pair.
type unit struct {
	offset int      // of its first word in the phrase
	words  []string // one or two
}

func (u unit) isPair() bool { return len(u.words) == 2 }

// key returns the key of the unit's positions in a chunk.
func (u unit) key(chunk int) []byte {
	if len(u.words) == 1 {
		return positionKey(u.words[0], chunk)
	}
	return pairKey(u.words[0], u.words[1], chunk)
}

// units returns units of a phrase, in a segment, that together have all its words: its
// pairs, and the words that are in none.
func (e *evaluation) units(s *segment, words []string) (list []unit) {
	common := func(i int) bool { return i >= 0 && i < len(words) && e.common[wordOf{s, words[i]}] }
	for i := range words {
		switch {
		case common(i) && common(i+1):
			list = append(list, unit{i, words[i : i+2]})
		case common(i) && common(i-1): // the second word of a pair
		default:
			list = append(list, unit{i, words[i : i+1]})
		}
	}
	return list
}

// wordOf is a word of a segment.
type wordOf struct {
	segment *segment
	word    string
}

// remember remembers whether a word is common in a segment, in which some documents
// have it.
func (e *evaluation) remember(s *segment, word string, with set) {
	if s.common != noPairs && with.count() >= int(s.common) {
		e.common[wordOf{s, word}] = true
	}
}
