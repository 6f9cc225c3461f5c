package search

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"pregon/internal/fault"
)

// work is what a search has done so far. Sets are cheap; reading the texts of
// filings for phrases is not, and is bounded.
type work struct {
	ctx  context.Context
	read int // texts
}

const (
	mostRead  = 1 << 20 // texts that a search may read
	readCheck = 1 << 12 // texts between two looks at the context
)

var errTooMuch = fault.New(fault.Invalid,
	"The search asks for too many phrases of common words. Use fewer phrases, or narrow it by date, type or issuer.")

// text counts a text that is to be read.
func (w *work) text() error {
	w.read++
	if w.read > mostRead {
		return errTooMuch
	}
	if w.read%readCheck == 0 {
		return w.ctx.Err()
	}
	return nil
}

// Words that stand side by side, both of them common, have sets of their own:
// a phrase of common words would else mean to read a good part of all texts.
// Common are the words whose sets are plain bits, up to mostCommon of them.
const mostCommon = 512

func pairOf(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

// gatherPairs makes the sets of pairs.
func (s *segment) gatherPairs() {
	var common []lexeme
	for _, l := range s.lexicon {
		if l.posts.bits != nil {
			common = append(common, l)
		}
	}
	slices.SortFunc(common, func(a, b lexeme) int { return b.posts.n - a.posts.n })
	common = common[:min(len(common), mostCommon)]
	if len(common) == 0 {
		return
	}
	top := uint32(0)
	for _, l := range common {
		top = max(top, l.number)
	}
	s.common = make([]bool, top+1)
	places := make([]uint16, top+1)
	for i, l := range common {
		s.common[l.number], places[l.number] = true, uint16(i)
	}
	n := len(common)
	lists := make([]*roaring.Bitmap, n*n)
	for i := range s.docs {
		last := uint32(gap)
		for t := s.docs[i].text(s.memory); len(t) > 0; {
			var word uint32
			word, t = t.next()
			if s.isCommon(last) && s.isCommon(word) {
				at := int(places[last])*n + int(places[word])
				if lists[at] == nil {
					lists[at] = roaring.New()
				}
				lists[at].Add(uint32(i))
			}
			last = word
		}
	}
	s.pairs = map[uint64]*set{}
	for at, list := range lists {
		if list != nil {
			s.pairs[pairOf(common[at/n].number, common[at%n].number)] = newSet(list, len(s.docs))
		}
	}
}

func (s *segment) isCommon(word uint32) bool { return int(word) < len(s.common) && s.common[word] }

// settled reports whether the sets alone answer a phrase.
func (s *segment) settled(phrase []uint32) bool {
	return len(phrase) == 2 && s.isCommon(phrase[0]) && s.isCommon(phrase[1])
}

// mayHave appends the sets in all of which a filing with the phrase is, or
// returns false when there is none.
func (s *segment) mayHave(phrase []uint32, sets []*set) ([]*set, bool) {
	if len(phrase) > s.longest {
		return nil, false
	}
	before := len(sets)
	for i, w := range phrase {
		var next *set
		pair := i+1 < len(phrase) && s.isCommon(w) && s.isCommon(phrase[i+1])
		if pair {
			next = s.pairs[pairOf(w, phrase[i+1])]
		} else {
			next = s.words.get(w)
		}
		if next == nil {
			return nil, false
		}
		if !slices.Contains(sets[before:], next) { // a phrase is no longer than a text
			sets = append(sets, next)
		}
	}
	return sets, true
}

// withPhrases returns the filings among those in all of the sets that have
// every one of the phrases.
func (s *segment) withPhrases(phrases [][]uint32, among []*set, gone *set, w *work) (*set, error) {
	h := newHits(s, slices.Clone(among), gone)
	found := make([]uint32, 0, min(h.n, 1024))
	for h.left > 0 {
		if err := w.text(); err != nil {
			return nil, err
		}
		i := h.ordinal()
		text := s.docs[i].text(s.memory)
		if !slices.ContainsFunc(phrases, func(phrase []uint32) bool { return !text.has(phrase) }) {
			found = append(found, i)
		}
	}
	slices.Reverse(found)
	return newSet(roaring.BitmapOf(found...), len(s.docs)), nil
}

// withAnyPhrase returns the filings among those in all of the sets and not
// gone that have one of the phrases. However many there are, it reads each
// filing once, and only those that have the rarest part of a phrase.
func (s *segment) withAnyPhrase(phrases [][]uint32, among []*set, gone *set, w *work) (*set, error) {
	var root trie[uint32]
	var mayHave []*set
	var parts []*set
	for _, phrase := range phrases {
		var ok bool
		if parts, ok = s.mayHave(phrase, parts[:0]); !ok {
			continue
		}
		root.add(phrase)
		mayHave = append(mayHave, slices.MinFunc(parts, func(a, b *set) int { return a.n - b.n }))
	}
	candidates := unite(mayHave, len(s.docs))
	if candidates == nil {
		return nil, nil
	}
	var found []uint32
	for h := newHits(s, append(slices.Clone(among), candidates), gone); h.left > 0; {
		if err := w.text(); err != nil {
			return nil, err
		}
		if i := h.ordinal(); s.docs[i].text(s.memory).hasAny(&root) {
			found = append(found, i)
		}
	}
	slices.Reverse(found)
	return newSet(roaring.BitmapOf(found...), len(s.docs)), nil
}

// trie is a set of phrases.
type trie[W comparable] struct {
	next map[W]*trie[W]
	end  bool // a phrase ends here, and what is longer needs no place
}

func (t *trie[W]) add(phrase []W) {
	for _, w := range phrase {
		if t.end {
			return
		}
		if t.next == nil {
			t.next = map[W]*trie[W]{}
		}
		child := t.next[w]
		if child == nil {
			child = &trie[W]{}
			t.next[w] = child
		}
		t = child
	}
	t.end, t.next = true, nil
}

// begins reports whether some words begin with a phrase.
func (t *trie[W]) begins(words []W) bool {
	for _, w := range words {
		if t = t.next[w]; t == nil {
			return false
		}
		if t.end {
			return true
		}
	}
	return false
}
