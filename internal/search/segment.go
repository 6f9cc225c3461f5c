package search

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"pregon/internal/disclosure"
)

// Doc is a filing as the index keeps it. Docs are ordered by At, then Key,
// which is the order of lists from their end.
type Doc struct {
	At      int64  // publication, in Unix nanoseconds
	Key     uint64 // see KeyOf
	Ref     uint32 // whose it is: see refs
	Heading uint32 // its categories: see headings
	Text    tokens
	Record  string // what the catalogue shows of it, and nothing to the index
}

// typeRank orders filings of one number: the later in a list, the lower. It is
// the last two bits of a key.
var typeRank = map[disclosure.Type]uint64{disclosure.HR: 2, disclosure.IP: 1, disclosure.OIR: 0}

// KeyOf packs type and number, which together name a filing.
func KeyOf(t disclosure.Type, number int64) uint64 { return uint64(number)<<2 | typeRank[t] }

// Type returns the type that is in the key.
func (d *Doc) Type() disclosure.Type {
	for t, rank := range typeRank {
		if d.Key&3 == rank {
			return t
		}
	}
	return ""
}

func compareDocs(a, b *Doc) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Key, b.Key)) }

// segment is an immutable piece of the index: some filings, oldest first, and
// for everything that can be asked for the set of those that have it.
type segment struct {
	docs       []Doc
	byKey      []uint32 // ordinals of docs in order of their keys
	words      postings
	stems      postings
	types      [4]*roaring.Bitmap // by typeRank
	refs       map[uint32]*roaring.Bitmap
	categories map[uint32]*roaring.Bitmap
	lexicon    []lexeme // the words there are, in order of their text
	prefixes   map[string]*roaring.Bitmap
}

type lexeme struct {
	text  string
	posts *roaring.Bitmap
}

// postings are sets by number. A large segment has most numbers, so that a
// slice serves it best; a small one has few.
type postings struct {
	dense  []*roaring.Bitmap
	sparse map[uint32]*roaring.Bitmap
}

const denseDocs = 2048 // from this many filings on

func newPostings(docs, numbers int) postings {
	if docs >= denseDocs {
		return postings{dense: make([]*roaring.Bitmap, numbers)}
	}
	return postings{sparse: map[uint32]*roaring.Bitmap{}}
}

func (p *postings) get(n uint32) *roaring.Bitmap {
	if p.sparse != nil {
		return p.sparse[n]
	}
	if int(n) < len(p.dense) {
		return p.dense[n]
	}
	return nil
}

func (p *postings) set(n uint32, b *roaring.Bitmap) {
	if p.sparse != nil {
		p.sparse[n] = b
	} else {
		p.dense[n] = b
	}
}

// add puts a filing into the set of a number.
func (p *postings) add(n, doc uint32) {
	b := p.get(n)
	if b == nil {
		b = roaring.New()
		p.set(n, b)
	}
	b.Add(doc)
}

// vocabulary is what the numbers in docs stand for, as of the building.
type vocabulary struct {
	words    []word
	stems    uint32
	headings []heading
}

// build makes a segment of docs, which must be in order.
func build(docs []Doc, v vocabulary) *segment {
	s := &segment{
		docs:       docs,
		words:      newPostings(len(docs), len(v.words)),
		stems:      newPostings(len(docs), int(v.stems)+1),
		refs:       map[uint32]*roaring.Bitmap{},
		categories: map[uint32]*roaring.Bitmap{},
	}
	for i := range docs {
		s.index(uint32(i), v)
	}
	s.sortKeys()
	s.gatherWords(v)
	s.gatherPrefixes()
	for _, sets := range []map[uint32]*roaring.Bitmap{s.refs, s.categories} {
		for _, b := range sets {
			b.RunOptimize()
		}
	}
	return s
}

func (s *segment) index(i uint32, v vocabulary) {
	d := &s.docs[i]
	for t := d.Text; len(t) > 0; {
		var n uint32
		if n, t = t.next(); n != gap {
			s.words.add(n, i)
		}
	}
	addTo(s.refs, d.Ref, i)
	for _, c := range v.headings[d.Heading].categories {
		addTo(s.categories, c, i)
	}
	rank := d.Key & 3
	if s.types[rank] == nil {
		s.types[rank] = roaring.New()
	}
	s.types[rank].Add(i)
}

func addTo(sets map[uint32]*roaring.Bitmap, n, doc uint32) {
	b := sets[n]
	if b == nil {
		b = roaring.New()
		sets[n] = b
	}
	b.Add(doc)
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
	byStem := map[uint32][]*roaring.Bitmap{}
	each := func(n uint32, b *roaring.Bitmap) {
		b.RunOptimize()
		w := v.words[n]
		s.lexicon = append(s.lexicon, lexeme{w.text, b})
		if have := s.stems.get(w.stem); have == nil {
			s.stems.set(w.stem, b)
		} else {
			if len(byStem[w.stem]) == 0 {
				byStem[w.stem] = append(byStem[w.stem], have)
			}
			byStem[w.stem] = append(byStem[w.stem], b)
		}
	}
	for n, b := range s.words.dense {
		if b != nil {
			each(uint32(n), b)
		}
	}
	for n, b := range s.words.sparse {
		each(n, b)
	}
	for stem, sets := range byStem {
		s.stems.set(stem, roaring.FastOr(sets...))
	}
	slices.SortFunc(s.lexicon, func(a, b lexeme) int { return strings.Compare(a.text, b.text) })
}

// Short prefixes stand for many words, and are what people type first; their
// sets are kept ready. The rest is joined when asked for.
const (
	readyLetters = 3
	readyWords   = 8
)

func (s *segment) gatherPrefixes() {
	s.prefixes = map[string]*roaring.Bitmap{}
	for letters := 1; letters <= readyLetters; letters++ {
		for from := 0; from < len(s.lexicon); {
			text := s.lexicon[from].text
			to := from + 1
			if len(text) >= letters {
				for to < len(s.lexicon) && strings.HasPrefix(s.lexicon[to].text, text[:letters]) {
					to++
				}
				if to-from >= readyWords {
					s.prefixes[text[:letters]] = union(s.lexicon[from:to])
				}
			}
			from = to
		}
	}
}

func union(lexemes []lexeme) *roaring.Bitmap {
	if len(lexemes) == 1 {
		return lexemes[0].posts
	}
	sets := make([]*roaring.Bitmap, len(lexemes))
	for i, l := range lexemes {
		sets[i] = l.posts
	}
	b := roaring.FastOr(sets...)
	if len(lexemes) >= readyWords {
		b.RunOptimize()
	}
	return b
}

// prefix returns the filings that have a word which begins so.
func (s *segment) prefix(text string) *roaring.Bitmap {
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
	return union(s.lexicon[from:to])
}

// find returns the ordinal of a filing.
func (s *segment) find(key uint64) (uint32, bool) {
	i := sort.Search(len(s.byKey), func(i int) bool { return s.docs[s.byKey[i]].Key >= key })
	if i == len(s.byKey) || s.docs[s.byKey[i]].Key != key {
		return 0, false
	}
	return s.byKey[i], true
}

// newer returns the ordinal of the first filing that comes after d.
func (s *segment) newer(d *Doc) int {
	return sort.Search(len(s.docs), func(i int) bool { return compareDocs(&s.docs[i], d) > 0 })
}

// since returns the ordinal of the first filing published at an instant or
// later.
func (s *segment) since(at int64) int {
	return sort.Search(len(s.docs), func(i int) bool { return s.docs[i].At >= at })
}
