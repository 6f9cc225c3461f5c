package segment

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// grams are the sets of phrases of common words. Without them, a search for such a
// phrase would read all texts that have the words. A run of words is kept if the
// run without its last word and the run without its first are both common. So a
// phrase of three words is either kept whole or has a rare part, and few texts are
// read for it.
type grams struct {
	common []bool          // by number of a word
	next   map[uint64]gram // by the run without its last word, and that word
}

// gram is a run of words.
type gram struct {
	set *Set
	id  uint32 // of a common one, which others may continue
}

const (
	mostCommon  = 512 // words
	longestGram = 3   // words: each more would cost as much memory again
)

func gramKey(id, word uint32) uint64 { return uint64(id)<<32 | uint64(word) }

func (g *grams) isCommon(word uint32) bool { return int(word) < len(g.common) && g.common[word] }

// gatherGrams builds the sets of runs, those of two words first.
func (s *Segment) gatherGrams() {
	var common []Lexeme
	for _, l := range s.Lexicon {
		if l.Posts.Bits != nil {
			common = append(common, l)
		}
	}
	slices.SortFunc(common, func(a, b Lexeme) int { return b.Posts.n - a.Posts.n })
	common = common[:min(len(common), mostCommon)]
	if len(common) == 0 {
		return
	}
	g := &s.grams
	g.next = map[uint64]gram{}
	last := make([]*Set, 0, len(common)) // the common runs of the length before
	ids := uint32(0)                     // as many words, and then other runs
	for _, l := range common {
		if int(l.number) >= len(g.common) {
			g.common = append(g.common, make([]bool, int(l.number)+1-len(g.common))...)
		}
		g.common[l.number] = true
		ids = max(ids, l.number)
		last = append(last, l.Posts)
	}
	var words []uint32
	var starts []uint32 // by position: the common run of the previous length that begins there, or 0
	for length := 2; length <= longestGram && len(last) > 0; length++ {
		lists := map[uint64]*roaring.Bitmap{}
		among := Union(last, len(s.Docs))
		for i := range s.Docs {
			if !among.has(uint32(i)) {
				continue
			}
			words, starts = g.runs(s.Docs[i].text(s.memory), length-1, words[:0], starts[:0])
			for at := range max(0, len(words)-length+1) {
				if starts[at] == 0 || starts[at+1] == 0 {
					continue
				}
				key := gramKey(starts[at], words[at+length-1])
				if lists[key] == nil {
					lists[key] = roaring.New()
				}
				lists[key].Add(uint32(i))
			}
		}
		last = last[:0]
		for key, list := range lists {
			run := gram{set: newGramSet(list, len(s.Docs))}
			if isDense(run.set.n, len(s.Docs)) {
				ids++
				run.id = ids
				last = append(last, run.set)
			}
			g.next[key] = run
		}
	}
}

// bitsFrom is the share of reports from which a run's set is plain bits. There are
// a thousand common runs, most of which are in less than one report of 50, where
// a list takes a quarter of the memory.
const bitsFrom = 16

func newGramSet(b *roaring.Bitmap, docs int) *Set {
	if n := int(b.GetCardinality()); n*bitsFrom < docs {
		b.RunOptimize()
		return &Set{n: n, list: b.Clone()} // without spare capacity
	}
	return newSet(b, docs)
}

// runs returns the words of a text and, for each position, the common run
// of a length that begins there.
func (g *grams) runs(t tokens, length int, words, starts []uint32) (_, _ []uint32) {
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
				starts[at] = g.next[gramKey(starts[at], words[at+n-1])].id
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
		posts := s.Words.get(phrase[at])
		if posts == nil {
			return nil, false, false
		}
		rarest, common := posts, 0
		id := phrase[at]
		if s.grams.isCommon(id) {
			common = 1
		}
		for n := 2; n <= longestGram && common == n-1 && follows >= n-1; n++ {
			run, kept := s.grams.next[gramKey(id, phrase[at+n-1])]
			if !kept {
				return nil, false, false
			}
			if n == len(phrase) {
				return append(sets[:from], run.set), true, true
			}
			if rarest = run.set; run.id != 0 {
				common, id = n, run.id
			}
		}
		follows = common
		if !slices.Contains(sets[from:], rarest) { // a phrase is no longer than a text
			sets = append(sets, rarest)
		}
	}
	return sets, false, true
}
