package segment

import (
	"cmp"
	"iter"
	"sort"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// Doc is a report as the index keeps it. Docs are ordered by At, then Key,
// which is the order of lists from their end.
type Doc struct {
	At           int64  // by which lists order it, in Unix nanoseconds
	Key          uint64 // see search.KeyOf
	Ref          uint32 // reference to its issuer: see search.Writer
	CategoryLine uint32 // its categories: see search.Writer
	Document     uint32 // number of its document, 0 if it has none: see search.Numbers

	// The place of its record, which the index does not interpret, followed by its
	// words, in the memory of the index. It has no pointers, so that a million of
	// them cost the garbage collector nothing.
	Place     place
	RecordLen uint32 // bytes before the words
}

func (d *Doc) text(m Memory) tokens { return tokens(m.At(d.Place)[d.RecordLen:]) }

// Number returns the registration number that is in the key.
func (d *Doc) Number() int64 { return int64(d.Key >> 2) }

// Listed returns the instant by which lists order it.
func (d *Doc) Listed() time.Time { return time.Unix(0, d.At).UTC() }

func Compare(a, b *Doc) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Key, b.Key)) }

// Segment is an immutable piece of the index: some reports, oldest first, and a set
// of reports for each word, type, issuer and category.
type Segment struct {
	Docs    []Doc
	Longest int // words in the longest text

	memory     Memory
	byKey      []uint32 // ordinals of docs in order of their keys
	sets       sets     // which the others have by their numbers
	words      postings
	stems      postings
	last       postings // by word: its matches as the last word of a query, where that is more than the word
	types      postings // by typeRank
	refs       postings
	categories postings
	vocabulary []Word   // by number
	lexicon    []uint32 // the numbers of all words, in order of their text
	prefixes   map[string]uint32
	grams      grams
	phrases    sync.Map // of alternatives, once asked for: see withPhrase
}

// postings are numbers of sets, each by the number of a word, an issuer and so on. A large
// segment has most numbers, and uses a slice; a small one has few, and uses a map.
type postings struct {
	dense  []uint32
	sparse map[uint32]uint32
}

const denseDocs = 2048 // from this many reports on

func newPostings(docs, numbers int) postings {
	if docs >= denseDocs {
		return postings{dense: make([]uint32, numbers)}
	}
	return postings{sparse: map[uint32]uint32{}}
}

func (p *postings) get(n uint32) uint32 {
	if p.sparse != nil {
		return p.sparse[n]
	}
	if int(n) < len(p.dense) {
		return p.dense[n]
	}
	return 0
}

func (p *postings) set(n, set uint32) {
	if p.sparse != nil {
		p.sparse[n] = set
	} else {
		p.dense[n] = set
	}
}

// all returns all numbers that have a set.
func (p *postings) all() iter.Seq2[uint32, uint32] {
	return func(yield func(n, set uint32) bool) {
		for n, set := range p.dense {
			if set != 0 && !yield(uint32(n), set) {
				return
			}
		}
		for n, set := range p.sparse {
			if !yield(n, set) {
				return
			}
		}
	}
}

// of returns the set of a number, or nil.
func (s *Segment) of(p *postings, n uint32) *Set { return s.sets.get(p.get(n)) }

// Lexicon returns all words in order of their text, and the reports that have each.
func (s *Segment) Lexicon() iter.Seq2[string, *Set] {
	return func(yield func(string, *Set) bool) {
		for _, n := range s.lexicon {
			if !yield(s.vocabulary[n].Text, s.of(&s.words, n)) {
				return
			}
		}
	}
}

// lexemes returns the range of the lexicon whose words begin with a text, from a position on.
func (s *Segment) lexemes(text string, from int) (begin, end int) {
	word := func(i int) string { return s.vocabulary[s.lexicon[i]].Text }
	begin = from + sort.Search(len(s.lexicon)-from, func(i int) bool { return word(from+i) >= text })
	end = begin
	for end < len(s.lexicon) && strings.HasPrefix(word(end), text) {
		end++
	}
	return begin, end
}

// union returns the reports that have one of some words.
func (s *Segment) union(words []uint32) *Set {
	sets := make([]*Set, len(words))
	for i, n := range words {
		sets[i] = s.of(&s.words, n)
	}
	return Union(sets, len(s.Docs))
}

// prefix returns the reports that have a word with a prefix.
func (s *Segment) prefix(text string) *Set {
	if set := s.prefixes[text]; set != 0 {
		return s.sets.get(set)
	}
	from, to := s.lexemes(text, 0)
	return s.union(s.lexicon[from:to])
}

// Bytes returns about how many bytes of memory the segment takes, without the texts.
func (s *Segment) Bytes() int64 {
	n := int64(len(s.Docs)) * (int64(unsafe.Sizeof(Doc{})) + 4)
	n += int64(len(s.lexicon)) * 4
	for _, p := range []*postings{&s.words, &s.stems, &s.last, &s.types, &s.refs, &s.categories} {
		n += int64(len(p.dense)) * 4
	}
	n += int64(len(s.grams.next)) * int64(unsafe.Sizeof(gram{}))
	n += s.sets.bytes()
	for _, set := range s.phrases.Range {
		n += set.(*Set).Bytes()
	}
	return n
}

// Find returns the ordinal of a report.
func (s *Segment) Find(key uint64) (uint32, bool) {
	i := sort.Search(len(s.byKey), func(i int) bool { return s.Docs[s.byKey[i]].Key >= key })
	if i == len(s.byKey) || s.Docs[s.byKey[i]].Key != key {
		return 0, false
	}
	return s.byKey[i], true
}

// newer returns the ordinal of the first report that comes after d.
func (s *Segment) newer(d *Doc) int {
	return sort.Search(len(s.Docs), func(i int) bool { return Compare(&s.Docs[i], d) > 0 })
}

// since returns the ordinal of the first report published at an instant or
// later.
func (s *Segment) since(at int64) int {
	return sort.Search(len(s.Docs), func(i int) bool { return s.Docs[i].At >= at })
}
