package search

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"pregon/internal/disclosure"
)

// Doc is a report as the index keeps it. Docs are ordered by At, then Key,
// which is the order of lists from their end.
type Doc struct {
	At      int64  // publication, in Unix nanoseconds
	Key     uint64 // see KeyOf
	Ref     uint32 // whose it is: see Writer.ref
	Heading uint32 // its categories: see Writer.heading

	// Where in the memory of the index its record is, which is nothing to the
	// index, and behind it its words. It holds no pointers, so that a million
	// of them cost the collector nothing.
	place  place
	record uint32 // bytes before the words
}

func (d *Doc) text(m memory) tokens { return tokens(m.at(d.place)[d.record:]) }

// typeRank orders reports of one number: the later in a list, the lower. It is
// the last two bits of a key.
func typeRank(t disclosure.Type) uint64 {
	switch t {
	case disclosure.HR:
		return 2
	case disclosure.IP:
		return 1
	}
	return 0
}

// KeyOf packs type and number, which together name a report.
func KeyOf(t disclosure.Type, number int64) uint64 { return uint64(number)<<2 | typeRank(t) }

// Type returns the type that is in the key.
func (d *Doc) Type() disclosure.Type {
	return [...]disclosure.Type{disclosure.OIR, disclosure.IP, disclosure.HR, ""}[d.Key&3]
}

// Number returns the registration number that is in the key.
func (d *Doc) Number() int64 { return int64(d.Key >> 2) }

// Published returns the instant of publication.
func (d *Doc) Published() time.Time { return time.Unix(0, d.At).UTC() }

func compareDocs(a, b *Doc) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Key, b.Key)) }

// segment is an immutable piece of the index: some reports, oldest first, and
// for everything that can be asked for the set of those that have it.
type segment struct {
	docs       []Doc
	memory     memory
	byKey      []uint32 // ordinals of docs in order of their keys
	words      postings
	stems      postings
	last       postings // what a word means when it is the last one typed, where that is more than the word
	types      postings // by typeRank
	refs       postings
	categories postings
	lexicon    []lexeme // the words there are, in order of their text
	prefixes   map[string]*set
	longest    int // words in the longest text
	grams      grams
}

type lexeme struct {
	word
	number uint32
	posts  *set
}

// postings are sets by number. A large segment has most numbers, so that a
// slice serves it best; a small one has few.
type postings struct {
	dense  []*set
	sparse map[uint32]*set
}

const denseDocs = 2048 // from this many reports on

func newPostings(docs, numbers int) postings {
	if docs >= denseDocs {
		return postings{dense: make([]*set, numbers)}
	}
	return postings{sparse: map[uint32]*set{}}
}

func (p *postings) get(n uint32) *set {
	if p.sparse != nil {
		return p.sparse[n]
	}
	if int(n) < len(p.dense) {
		return p.dense[n]
	}
	return nil
}

func (p *postings) set(n uint32, s *set) {
	if p.sparse != nil {
		p.sparse[n] = s
	} else {
		p.dense[n] = s
	}
}

// add puts a report into the list of a number: for the making, when all sets
// are lists. See seal.
func (p *postings) add(n, doc uint32) {
	s := p.get(n)
	if s == nil {
		s = &set{list: roaring.New()}
		p.set(n, s)
	}
	s.list.Add(doc)
}

// seal gives the sets their final form.
func (p *postings) seal(docs int) {
	for n, s := range p.all() {
		p.set(n, newSet(s.list, docs))
	}
}

// all passes every set that there is.
func (p *postings) all() iter.Seq2[uint32, *set] {
	return func(yield func(uint32, *set) bool) {
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

// vocabulary is what the numbers in docs stand for, as of the building.
type vocabulary struct {
	words    []word
	stems    uint32
	headings []heading
	tickers  [][]uint32 // by reference
	memory   memory
}

// build makes a segment of docs, which must be in order. It uses several
// goroutines when told to, for a start; a merge goes on beside readers and
// takes one.
func build(docs []Doc, v vocabulary, goroutines int) *segment {
	s := &segment{
		docs:       docs,
		memory:     v.memory,
		words:      newPostings(len(docs), len(v.words)),
		stems:      newPostings(len(docs), int(v.stems)+1),
		last:       newPostings(len(docs), len(v.words)),
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
	share([]func(){s.gatherGrams, func() {
		s.gatherPrefixes(goroutines)
		s.gatherLast()
	}}, goroutines)
	return s
}

// share runs tasks on some goroutines.
func share(tasks []func(), goroutines int) {
	if goroutines == 1 {
		for _, t := range tasks {
			t()
		}
		return
	}
	var wg sync.WaitGroup
	free := make(chan struct{}, goroutines)
	for _, t := range tasks {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			t()
		})
	}
	wg.Wait()
}

// indexWords puts every report into the sets of its words, of those words
// whose number leaves a remainder.
func (s *segment) indexWords(v vocabulary, remainder, divisor uint32) {
	for i := range s.docs {
		d := &s.docs[i]
		words := 0
		for t := d.text(s.memory); len(t) > 0; words++ {
			var n uint32
			if n, t = t.next(); n%divisor == remainder && n != gap {
				s.words.add(n, uint32(i))
			}
		}
		if remainder == 0 {
			s.longest = max(s.longest, words)
		}
		for _, n := range v.tickers[d.Ref] {
			if n%divisor == remainder {
				s.words.add(n, uint32(i))
			}
		}
	}
}

// indexFields puts every report into the sets of its type, issuer and
// categories.
func (s *segment) indexFields(v vocabulary) {
	for i := range s.docs {
		d, n := &s.docs[i], uint32(i)
		s.refs.add(d.Ref, n)
		for _, c := range v.headings[d.Heading].categories {
			s.categories.add(c, n)
		}
		s.types.add(uint32(d.Key&3), n)
	}
	for _, p := range []*postings{&s.refs, &s.categories, &s.types} {
		p.seal(len(s.docs))
	}
}

func (s *segment) sortKeys() {
	s.byKey = make([]uint32, len(s.docs))
	for i := range s.byKey {
		s.byKey[i] = uint32(i)
	}
	slices.SortFunc(s.byKey, func(a, b uint32) int { return cmp.Compare(s.docs[a].Key, s.docs[b].Key) })
}

// gatherWords makes the lexicon, and joins the words of each stem; a stem with
// one word shares its set.
func (s *segment) gatherWords(v vocabulary) {
	s.words.seal(len(s.docs))
	for n, posts := range s.words.all() {
		s.lexicon = append(s.lexicon, lexeme{v.words[n], n, posts})
	}
	slices.SortFunc(s.lexicon, func(a, b lexeme) int { return strings.Compare(a.text, b.text) })

	several := map[uint32][]lexeme{}
	first := make(map[uint32]lexeme, len(s.lexicon))
	for _, l := range s.lexicon {
		if have, ok := first[l.stem]; !ok {
			first[l.stem] = l
			s.stems.set(l.stem, l.posts)
		} else {
			if several[l.stem] == nil {
				several[l.stem] = []lexeme{have}
			}
			several[l.stem] = append(several[l.stem], l)
		}
	}
	for stem, words := range several {
		s.stems.set(stem, s.union(words))
	}
}

// gatherLast joins for every word what it means as the last one typed: the
// words that begin with it, and those of its stem. For most that is the word
// alone, and nothing is kept.
func (s *segment) gatherLast() {
	for i, l := range s.lexicon {
		to := i + 1
		for to < len(s.lexicon) && strings.HasPrefix(s.lexicon[to].text, l.text) {
			to++
		}
		begin, stem := l.posts, s.stems.get(l.stem)
		if to > i+1 {
			if begin = s.prefixes[l.text]; begin == nil {
				begin = s.union(s.lexicon[i:to])
			}
		}
		switch {
		case begin == l.posts && stem == l.posts:
		case stem == l.posts:
			s.last.set(l.number, begin)
		case begin == l.posts:
			s.last.set(l.number, stem)
		default:
			s.last.set(l.number, unite([]*set{begin, stem}, len(s.docs)))
		}
	}
}

// Short prefixes stand for many words, and are what people type first; their
// sets are kept ready. The rest is joined when asked for.
const (
	readyLetters = 3
	readyWords   = 8
)

func (s *segment) gatherPrefixes(goroutines int) {
	var ready [readyLetters]map[string]*set
	var tasks []func()
	for i := range ready {
		tasks = append(tasks, func() { ready[i] = s.readyPrefixes(readyLetters - i) })
	}
	share(tasks, goroutines)
	s.prefixes = map[string]*set{}
	for _, r := range ready {
		maps.Copy(s.prefixes, r)
	}
}

// readyPrefixes joins the words that begin alike, by so many letters.
func (s *segment) readyPrefixes(letters int) map[string]*set {
	ready := map[string]*set{}
	for from := 0; from < len(s.lexicon); {
		text := s.lexicon[from].text
		to := from + 1
		if len(text) >= letters {
			for to < len(s.lexicon) && strings.HasPrefix(s.lexicon[to].text, text[:letters]) {
				to++
			}
			if to-from >= readyWords {
				ready[text[:letters]] = s.union(s.lexicon[from:to])
			}
		}
		from = to
	}
	return ready
}

func (s *segment) union(lexemes []lexeme) *set {
	sets := make([]*set, len(lexemes))
	for i, l := range lexemes {
		sets[i] = l.posts
	}
	return unite(sets, len(s.docs))
}

// prefix returns the reports that have a word which begins so.
func (s *segment) prefix(text string) *set {
	if b := s.prefixes[text]; b != nil {
		return b
	}
	from := sort.Search(len(s.lexicon), func(i int) bool { return s.lexicon[i].text >= text })
	to := from
	for to < len(s.lexicon) && strings.HasPrefix(s.lexicon[to].text, text) {
		to++
	}
	if from == to {
		return nil
	}
	return s.union(s.lexicon[from:to])
}

// find returns the ordinal of a report.
func (s *segment) find(key uint64) (uint32, bool) {
	i := sort.Search(len(s.byKey), func(i int) bool { return s.docs[s.byKey[i]].Key >= key })
	if i == len(s.byKey) || s.docs[s.byKey[i]].Key != key {
		return 0, false
	}
	return s.byKey[i], true
}

// newer returns the ordinal of the first report that comes after d.
func (s *segment) newer(d *Doc) int {
	return sort.Search(len(s.docs), func(i int) bool { return compareDocs(&s.docs[i], d) > 0 })
}

// since returns the ordinal of the first report published at an instant or
// later.
func (s *segment) since(at int64) int {
	return sort.Search(len(s.docs), func(i int) bool { return s.docs[i].At >= at })
}
