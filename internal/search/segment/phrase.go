package segment

import (
	"context"
	"encoding/binary"
	"slices"

	"pregon/internal/fault"
)

// Work counts and limits the work of a search. Sets are cheap; reading the texts of
// reports for phrases is not.
type Work struct {
	Ctx   context.Context
	Reads int // texts
	most  int // texts that may be read for excluded phrases
}

const (
	leastMost  = 1 << 14
	fewPhrases = 4       // up to so many excluded phrases, reads are not limited
	readCheck  = 1 << 12 // texts between two checks of the context
)

func NewWork(ctx context.Context, docs int) *Work {
	return &Work{Ctx: ctx, most: leastMost + docs/16}
}

var errTooMuch = fault.New(fault.Invalid,
	"The search leaves out too many phrases. Use fewer, or narrow it by date, type or issuer.")

// Step counts a text that is to be read.
func (w *Work) Step() error {
	w.Reads++
	if w.Reads%readCheck == 0 {
		return w.Ctx.Err()
	}
	return nil
}

// withPhrases returns the reports among those in all of the sets that have
// every one of the phrases.
func (s *Segment) withPhrases(phrases [][]uint32, among []*Set, gone *Set, w *Work) (*Set, error) {
	h := NewHits(s, slices.Clone(among), gone)
	found := make([]uint32, 0, min(h.N, 1024))
	for h.Left > 0 {
		if err := w.Step(); err != nil {
			return nil, err
		}
		i := h.NextOrdinal()
		text := s.Docs[i].text(s.memory)
		if !slices.ContainsFunc(phrases, func(phrase []uint32) bool { return !text.has(phrase) }) {
			found = append(found, i)
		}
	}
	return setOf(found, len(s.Docs)), nil
}

// WithAnyPhrase returns the reports that are gone, and those in all of the sets
// that have one of the phrases. It reads each report once, and only those
// that have the rarest part of a phrase.
func (s *Segment) WithAnyPhrase(phrases [][]uint32, among []*Set, gone *Set, w *Work) (*Set, error) {
	return s.withAnyPhrase(phrases, among, gone, w, false)
}

// withAnyPhrase is WithAnyPhrase. If the phrases are excluded ones, of which a query may
// have thousands, it limits how many reports it reads.
func (s *Segment) withAnyPhrase(
	phrases [][]uint32,
	among []*Set,
	gone *Set,
	w *Work,
	excluded bool,
) (*Set, error) {
	var root Trie[uint32]
	var mayHave, parts []*Set
	whole := []*Set{gone}
	for _, phrase := range phrases {
		var settled, ok bool
		if parts, settled, ok = s.mayHave(phrase, parts[:0]); !ok {
			continue
		}
		if settled {
			whole = append(whole, parts[0])
			continue
		}
		root.Add(phrase)
		mayHave = append(mayHave, slices.MinFunc(parts, func(a, b *Set) int { return a.n - b.n }))
	}
	out := Union(whole, len(s.Docs))
	if len(mayHave) == 0 {
		return out, nil
	}
	h := NewHits(s, append(slices.Clone(among), Union(mayHave, len(s.Docs))), out)
	if excluded {
		if w.most -= h.N; w.most < 0 && len(phrases) > fewPhrases {
			return nil, errTooMuch
		}
	}
	var found []uint32
	for h.Left > 0 {
		if err := w.Step(); err != nil {
			return nil, err
		}
		if i := h.NextOrdinal(); s.Docs[i].text(s.memory).hasAny(&root) {
			found = append(found, i)
		}
	}
	return Union([]*Set{out, setOf(found, len(s.Docs))}, len(s.Docs)), nil
}

// withPhrase returns the reports that have a phrase, and keeps them, since alternatives
// have the same few phrases in all queries.
func (s *Segment) withPhrase(phrase []uint32, w *Work) (*Set, error) {
	key := phraseKey(phrase)
	if kept, ok := s.phrases.Load(key); ok {
		return kept.(*Set), nil
	}
	found, err := s.WithAnyPhrase([][]uint32{phrase}, nil, nil, w)
	if err == nil {
		s.phrases.Store(key, found)
	}
	return found, err
}

func phraseKey(phrase []uint32) string {
	key := make([]byte, 0, 16)
	for _, n := range phrase {
		key = binary.AppendUvarint(key, uint64(n))
	}
	return string(key)
}

// setOf returns the set of reports that hits returned, newest first.
func setOf(found []uint32, docs int) *Set {
	slices.Reverse(found)
	return newSet(found, docs)
}

// Trie is a set of phrases.
type Trie[W comparable] struct {
	next map[W]*Trie[W]
	end  bool // a phrase ends here, and longer ones are not needed
}

func (t *Trie[W]) Add(phrase []W) {
	for _, w := range phrase {
		if t.end {
			return
		}
		if t.next == nil {
			t.next = map[W]*Trie[W]{}
		}
		child := t.next[w]
		if child == nil {
			child = &Trie[W]{}
			t.next[w] = child
		}
		t = child
	}
	t.end, t.next = true, nil
}

// Begins reports whether some words begin with a phrase.
func (t *Trie[W]) Begins(words []W) bool {
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
