package segment

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/sync/errgroup"
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
	Docs       []Doc
	memory     Memory
	byKey      []uint32 // ordinals of docs in order of their keys
	Words      postings
	stems      postings
	last       postings // by word: its matches as the last word of a query, where that is more than the word
	types      postings // by typeRank
	refs       postings
	categories postings
	Lexicon    []Lexeme // all words, in order of their text
	prefixes   map[string]*Set
	Longest    int // words in the longest text
	grams      grams
	phrases    sync.Map // of alternatives, once asked for: see withPhrase
}

type Lexeme struct {
	Word
	number uint32
	Posts  *Set
}

// postings are sets by number. A large segment has most numbers, and uses a
// slice; a small one has few, and uses a map.
type postings struct {
	dense  []*Set
	sparse map[uint32]*Set
}

const denseDocs = 2048 // from this many reports on

func newPostings(docs, numbers int) postings {
	if docs >= denseDocs {
		return postings{dense: make([]*Set, numbers)}
	}
	return postings{sparse: map[uint32]*Set{}}
}

func (p *postings) get(n uint32) *Set {
	if p.sparse != nil {
		return p.sparse[n]
	}
	if int(n) < len(p.dense) {
		return p.dense[n]
	}
	return nil
}

func (p *postings) set(n uint32, s *Set) {
	if p.sparse != nil {
		p.sparse[n] = s
	} else {
		p.dense[n] = s
	}
}

// add adds a report to the set of a number while the segment is built, when all
// sets are lists. See seal.
func (p *postings) add(n, doc uint32) {
	s := p.get(n)
	if s == nil {
		s = &Set{list: roaring.New()}
		p.set(n, s)
	}
	s.list.Add(doc)
}

// seal gives the sets their final form.
func (p *postings) seal(docs int) {
	for n, s := range p.All() {
		p.set(n, newSet(s.list, docs))
	}
}

// All returns all sets.
func (p *postings) All() iter.Seq2[uint32, *Set] {
	return func(yield func(uint32, *Set) bool) {
		for n, s := range p.dense {
			if s != nil && !yield(uint32(n), s) {
				return
			}
		}
		for n, s := range p.sparse {
			if !yield(n, s) {
				return
			}
		}
	}
}

// Vocabulary holds the meaning of the numbers in documents.
type Vocabulary struct {
	Words      []Word
	Stems      uint32
	Categories [][]uint32 // by number of the category line
	Tickers    [][]uint32 // by reference
	Memory     Memory
	// Lean leaves out the sets of phrases and of short prefixes, which take half of the
	// time. Searches for them take longer: it is for an index that is searched a few
	// times.
	Lean bool
}

// Build makes a segment of docs, which must be in order. It uses several
// goroutines at a start. A merge runs concurrently with readers and uses one.
func Build(docs []Doc, v Vocabulary, goroutines int) *Segment {
	s := &Segment{
		Docs:       docs,
		memory:     v.Memory,
		Words:      newPostings(len(docs), len(v.Words)),
		stems:      newPostings(len(docs), int(v.Stems)+1),
		last:       newPostings(len(docs), len(v.Words)),
		types:      newPostings(0, 0),
		refs:       newPostings(0, 0),
		categories: newPostings(0, 0),
	}
	if len(docs) < denseDocs {
		goroutines = 1 // small ones keep their words in a map, which one may write
	}
	tasks := []func(){s.sortKeys, func() { s.indexFields(v) }}
	for n := range goroutines {
		tasks = append(tasks, func() { s.indexWords(v, uint32(n), uint32(goroutines)) })
	}
	share(tasks, goroutines)
	s.gatherWords(v)
	if v.Lean {
		s.gatherLast()
		return s
	}
	share([]func(){s.gatherGrams, func() {
		s.gatherPrefixes(goroutines)
		s.gatherLast()
	}}, goroutines)
	return s
}

// share runs tasks on some goroutines.
func share(tasks []func(), goroutines int) {
	var g errgroup.Group
	g.SetLimit(goroutines)
	for _, t := range tasks {
		g.Go(func() error { t(); return nil })
	}
	_ = g.Wait()
}

// indexWords adds every report to the sets of its words, for the words whose number
// leaves a given remainder.
func (s *Segment) indexWords(v Vocabulary, remainder, divisor uint32) {
	for i := range s.Docs {
		d := &s.Docs[i]
		words := 0
		for t := d.text(s.memory); len(t) > 0; words++ {
			var n uint32
			if n, t = t.next(); n%divisor == remainder && n != gap {
				s.Words.add(n, uint32(i))
			}
		}
		if remainder == 0 {
			s.Longest = max(s.Longest, words)
		}
		for _, n := range v.Tickers[d.Ref] {
			if n%divisor == remainder {
				s.Words.add(n, uint32(i))
			}
		}
	}
}

// indexFields adds every report to the sets of its type, issuer and
// categories.
func (s *Segment) indexFields(v Vocabulary) {
	for i := range s.Docs {
		d, n := &s.Docs[i], uint32(i)
		s.refs.add(d.Ref, n)
		for _, c := range v.Categories[d.CategoryLine] {
			s.categories.add(c, n)
		}
		s.types.add(uint32(d.Key&3), n)
	}
	for _, p := range []*postings{&s.refs, &s.categories, &s.types} {
		p.seal(len(s.Docs))
	}
}

func (s *Segment) sortKeys() {
	s.byKey = make([]uint32, len(s.Docs))
	for i := range s.byKey {
		s.byKey[i] = uint32(i)
	}
	slices.SortFunc(s.byKey, func(a, b uint32) int { return cmp.Compare(s.Docs[a].Key, s.Docs[b].Key) })
}

// gatherWords builds the lexicon, and joins the words of each stem; a stem with
// one word shares its set.
func (s *Segment) gatherWords(v Vocabulary) {
	s.Words.seal(len(s.Docs))
	for n, posts := range s.Words.All() {
		s.Lexicon = append(s.Lexicon, Lexeme{v.Words[n], n, posts})
	}
	slices.SortFunc(s.Lexicon, func(a, b Lexeme) int { return strings.Compare(a.Text, b.Text) })

	several := map[uint32][]Lexeme{}
	first := make(map[uint32]Lexeme, len(s.Lexicon))
	for _, l := range s.Lexicon {
		if have, ok := first[l.stem]; !ok {
			first[l.stem] = l
			s.stems.set(l.stem, l.Posts)
		} else {
			if several[l.stem] == nil {
				several[l.stem] = []Lexeme{have}
			}
			several[l.stem] = append(several[l.stem], l)
		}
	}
	for stem, words := range several {
		s.stems.set(stem, s.union(words))
	}
}

// gatherLast joins for every word its matches as the last word of a query: the words
// that begin with it, and those of its stem. For most words that is only the word
// itself, and no set is kept.
func (s *Segment) gatherLast() {
	for i, l := range s.Lexicon {
		to := i + 1
		for to < len(s.Lexicon) && strings.HasPrefix(s.Lexicon[to].Text, l.Text) {
			to++
		}
		begin, stem := l.Posts, s.stems.get(l.stem)
		if to > i+1 {
			if begin = s.prefixes[l.Text]; begin == nil {
				begin = s.union(s.Lexicon[i:to])
			}
		}
		switch {
		case begin == l.Posts && stem == l.Posts:
		case stem == l.Posts:
			s.last.set(l.number, begin)
		case begin == l.Posts:
			s.last.set(l.number, stem)
		default:
			s.last.set(l.number, Union([]*Set{begin, stem}, len(s.Docs)))
		}
	}
}

// Short prefixes match many words, and are typed first. Their sets are computed
// in advance, those of others on demand.
const (
	readyLetters = 3
	readyWords   = 8
)

func (s *Segment) gatherPrefixes(goroutines int) {
	var ready [readyLetters]map[string]*Set
	var tasks []func()
	for i := range ready {
		tasks = append(tasks, func() { ready[i] = s.readyPrefixes(readyLetters - i) })
	}
	share(tasks, goroutines)
	s.prefixes = map[string]*Set{}
	for _, r := range ready {
		maps.Copy(s.prefixes, r)
	}
}

// readyPrefixes joins the words that share their first letters.
func (s *Segment) readyPrefixes(letters int) map[string]*Set {
	ready := map[string]*Set{}
	for from := 0; from < len(s.Lexicon); {
		text := s.Lexicon[from].Text
		to := from + 1
		if len(text) >= letters {
			for to < len(s.Lexicon) && strings.HasPrefix(s.Lexicon[to].Text, text[:letters]) {
				to++
			}
			if to-from >= readyWords {
				ready[text[:letters]] = s.union(s.Lexicon[from:to])
			}
		}
		from = to
	}
	return ready
}

func (s *Segment) union(lexemes []Lexeme) *Set {
	sets := make([]*Set, len(lexemes))
	for i, l := range lexemes {
		sets[i] = l.Posts
	}
	return Union(sets, len(s.Docs))
}

// prefix returns the reports that have a word with a prefix.
func (s *Segment) prefix(text string) *Set {
	if b := s.prefixes[text]; b != nil {
		return b
	}
	from := sort.Search(len(s.Lexicon), func(i int) bool { return s.Lexicon[i].Text >= text })
	to := from
	for to < len(s.Lexicon) && strings.HasPrefix(s.Lexicon[to].Text, text) {
		to++
	}
	if from == to {
		return nil
	}
	return s.union(s.Lexicon[from:to])
}

// setBytes is about what a set takes besides its bits or list.
const setBytes = 120

// Bytes returns about how many bytes of memory the segment takes, without the texts.
func (s *Segment) Bytes() int64 {
	n := int64(len(s.Docs)) * (int64(unsafe.Sizeof(Doc{})) + 4)
	n += int64(len(s.Lexicon)) * int64(unsafe.Sizeof(Lexeme{}))
	for _, p := range []*postings{&s.Words, &s.stems, &s.last, &s.types, &s.refs, &s.categories} {
		n += int64(len(p.dense)) * 8
		for _, set := range p.All() {
			n += set.bytes()
		}
	}
	for _, set := range s.prefixes {
		n += set.bytes()
	}
	for _, g := range s.grams.next {
		n += g.set.bytes()
	}
	for _, set := range s.phrases.Range {
		if set := set.(*Set); set != nil {
			n += set.bytes()
		}
	}
	return n
}

func (s *Set) bytes() int64 {
	n := int64(setBytes) + int64(len(s.Bits))*8
	if s.list != nil {
		n += int64(s.list.GetSizeInBytes())
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
