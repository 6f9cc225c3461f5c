package segment

import "slices"

// grams are the sets of phrases of common words. Without them, a search for such a
// phrase would read all texts that have the words. A run of words is kept if the
// run without its last word and the run without its first are both common. So a
// phrase of three words is either kept whole or has a rare part, and few texts are
// read for it.
type grams struct {
	common []bool // by number of a word

	// By the run without its last word, and that word.
	keys []uint64 // ascending
	next []gram
}

// gram is a run of words.
type gram struct {
	set uint32 // its number
	id  uint32 // of a common one, which others may continue
}

// run is a gram while the segment is built.
type run struct {
	set *Set
	id  uint32
}

const (
	mostCommon  = 512 // words
	longestGram = 3   // words: each more would cost as much memory again; a change needs a new catalog.saveVersion
)

func gramKey(id, word uint32) uint64 { return uint64(id)<<32 | uint64(word) }

func (g *grams) isCommon(word uint32) bool { return int(word) < len(g.common) && g.common[word] }

func (g *grams) find(key uint64) (gram, bool) {
	at, found := slices.BinarySearch(g.keys, key)
	if !found {
		return gram{}, false
	}
	return g.next[at], true
}

// setCommon records which words are common.
func (g *grams) setCommon(words []uint32) {
	if len(words) > 0 {
		g.common = make([]bool, slices.Max(words)+1)
	}
	for _, n := range words {
		g.common[n] = true
	}
}

// gather builds the sets of runs, those of two words first.
func (g *grams) gather(b *builder) map[uint64]run {
	var common []uint32
	for _, n := range b.lexicon {
		if b.setOf(&b.words, n).Bits != nil {
			common = append(common, n)
		}
	}
	slices.SortFunc(common, func(x, y uint32) int { return b.setOf(&b.words, y).n - b.setOf(&b.words, x).n })
	common = common[:min(len(common), mostCommon)]
	if len(common) == 0 {
		return nil
	}
	g.setCommon(common)
	runs := map[uint64]run{}
	ids := slices.Max(common)            // as many words, and then other runs
	last := make([]*Set, 0, len(common)) // the common runs of the length before
	for _, n := range common {
		last = append(last, b.setOf(&b.words, n))
	}
	var words []uint32
	var starts []uint32 // by position: the common run of the previous length that begins there, or 0
	for length := 2; length <= longestGram && len(last) > 0; length++ {
		lists := map[uint64][]uint32{}
		among := Union(last, len(b.Docs))
		for i := range b.Docs {
			if !among.Has(uint32(i)) {
				continue
			}
			words, starts = g.starts(b.Docs[i].text(b.memory), length-1, runs, words[:0], starts[:0])
			for at := range max(0, len(words)-length+1) {
				if starts[at] == 0 || starts[at+1] == 0 {
					continue
				}
				key := gramKey(starts[at], words[at+length-1])
				lists[key] = appendNew(lists[key], uint32(i))
			}
		}
		last = last[:0]
		for key, list := range lists {
			r := run{set: newGramSet(list, len(b.Docs))}
			if isDense(r.set.n, len(b.Docs)) {
				ids++
				r.id = ids
				last = append(last, r.set)
			}
			runs[key] = r
		}
	}
	return runs
}

// bitsFrom is the share of reports from which a run's set is plain bits. There are
// a thousand common runs, most of which are in less than one report of 50, where
// a list takes less memory.
const bitsFrom = 32

func newGramSet(list []uint32, docs int) *Set {
	if len(list)*bitsFrom < docs {
		return &Set{n: len(list), list: slices.Clip(slices.Clone(list))} // without spare capacity
	}
	return newSet(list, docs)
}

// starts returns the words of a text and, for each position, the common run
// of a length that begins there.
func (g *grams) starts(t tokens, length int, runs map[uint64]run, words, starts []uint32) (_, _ []uint32) {
	for len(t) > 0 {
		var w uint32
		w, t = t.next()
		words = append(words, w)
		if !g.isCommon(w) {
			w = 0
		}
		starts = append(starts, w)
	}
	for n := 2; n <= length; n++ {
		for at := range starts {
			if at+n > len(words) || at+1 < len(starts) && starts[at+1] == 0 {
				starts[at] = 0
			}
			if starts[at] != 0 {
				starts[at] = runs[gramKey(starts[at], words[at+n-1])].id
			}
		}
	}
	return words, starts
}

// mayHave appends sets that all contain every report with the phrase. settled means
// that there is one set, of exactly those reports. ok is false if no report has the
// phrase.
func (s *Segment) mayHave(phrase []uint32, sets []*Set) (_ []*Set, settled, ok bool) {
	if len(phrase) > s.Longest {
		return nil, false, false
	}
	from := len(sets)
	follows := 0 // words in the longest common run that begins at the next position
	for at := len(phrase) - 1; at >= 0; at-- {
		posts := s.of(&s.words, phrase[at])
		if posts == nil {
			return nil, false, false
		}
		rarest, common := posts, 0
		id := phrase[at]
		if s.grams.isCommon(id) {
			common = 1
		}
		for n := 2; n <= longestGram && common == n-1 && follows >= n-1; n++ {
			g, kept := s.grams.find(gramKey(id, phrase[at+n-1]))
			if !kept {
				return nil, false, false
			}
			set := s.sets.get(g.set)
			if n == len(phrase) {
				return append(sets[:from], set), true, true
			}
			if rarest = set; g.id != 0 {
				common, id = n, g.id
			}
		}
		follows = common
		if !slices.Contains(sets[from:], rarest) { // a phrase is no longer than a text
			sets = append(sets, rarest)
		}
	}
	return sets, false, true
}
