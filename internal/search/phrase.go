package search

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"pregon/internal/fault"
)

// work is what a search has done so far. Sets are cheap; reading the texts of
// reports for phrases is not.
type work struct {
	ctx  context.Context
	read int // texts
	most int // texts that may be read for the phrases that must not be there
}

const (
	leastMost  = 1 << 14
	fewPhrases = 4       // are always read for
	readCheck  = 1 << 12 // texts between two looks at the context
)

func newWork(ctx context.Context, filings int) *work {
	return &work{ctx: ctx, most: leastMost + filings/16}
}

var errTooMuch = fault.New(fault.Invalid,
	"The search leaves out too many phrases. Use fewer, or narrow it by date, type or issuer.")

// text counts a text that is to be read.
func (w *work) text() error {
	w.read++
	if w.read%readCheck == 0 {
		return w.ctx.Err()
	}
	return nil
}

// withPhrases returns the reports among those in all of the sets that have
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
	return setOf(found, len(s.docs)), nil
}

// withAnyPhrase returns the reports that are gone, and those in all of the sets
// that have one of the phrases. However many there are, it reads each report
// once, and only those that have the rarest part of a phrase.
func (s *segment) withAnyPhrase(phrases [][]uint32, among []*set, gone *set, w *work) (*set, error) {
	var root trie[uint32]
	var mayHave, parts []*set
	whole := []*set{gone}
	for _, phrase := range phrases {
		var settled, ok bool
		if parts, settled, ok = s.mayHave(phrase, parts[:0]); !ok {
			continue
		}
		if settled {
			whole = append(whole, parts[0])
			continue
		}
		root.add(phrase)
		mayHave = append(mayHave, slices.MinFunc(parts, func(a, b *set) int { return a.n - b.n }))
	}
	out := unite(whole, len(s.docs))
	if len(mayHave) == 0 {
		return out, nil
	}
	h := newHits(s, append(slices.Clone(among), unite(mayHave, len(s.docs))), out)
	if w.most -= h.n; w.most < 0 && len(phrases) > fewPhrases {
		return nil, errTooMuch
	}
	var found []uint32
	for h.left > 0 {
		if err := w.text(); err != nil {
			return nil, err
		}
		if i := h.ordinal(); s.docs[i].text(s.memory).hasAny(&root) {
			found = append(found, i)
		}
	}
	return unite([]*set{out, setOf(found, len(s.docs))}, len(s.docs)), nil
}

// setOf returns the reports that hits handed out, newest first.
func setOf(found []uint32, docs int) *set {
	slices.Reverse(found)
	return newSet(roaring.BitmapOf(found...), docs)
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
