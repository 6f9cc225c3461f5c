package segment

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

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

// builder makes a segment.
type builder struct {
	*Segment
	Vocabulary

	goroutines int
	kept       []*Set // those of the segment by number; the first is nil
}

// Build makes a segment of docs, which must be in order. It uses several
// goroutines at a start. A merge runs concurrently with readers and uses one.
func Build(docs []Doc, v Vocabulary, goroutines int) *Segment {
	b := &builder{
		Segment: &Segment{
			Docs:       docs,
			memory:     v.Memory,
			vocabulary: v.Words,
			words:      newPostings(len(docs), len(v.Words)),
			stems:      newPostings(len(docs), int(v.Stems)+1),
			last:       newPostings(len(docs), len(v.Words)),
			types:      newPostings(0, 0),
			refs:       newPostings(0, 0),
			categories: newPostings(0, 0),
		},
		Vocabulary: v,
		goroutines: goroutines,
		kept:       make([]*Set, 1),
	}
	if len(docs) < denseDocs {
		b.goroutines = 1 // small ones keep their words in a map, which one may write
	}
	words := newLists(len(docs), len(v.Words))
	tasks := []func(){b.sortKeys}
	for n := range b.goroutines {
		tasks = append(tasks, func() { b.listWords(words, uint32(n), uint32(b.goroutines)) })
	}
	share(tasks, b.goroutines)
	b.keepAll(&b.words, words)
	b.keepFields()
	b.keepStems()
	if v.Lean {
		b.keepLast(b.lastSets(nil))
		b.sets = newSets(b.kept)
		return b.Segment
	}
	var (
		prefixes map[string]*Set
		last     map[uint32]*Set
		runs     map[uint64]run
	)
	share([]func(){
		func() { runs = b.grams.gather(b) },
		func() {
			prefixes = b.prefixSets()
			last = b.lastSets(prefixes)
		},
	}, b.goroutines)
	b.keepPrefixes(prefixes)
	b.keepLast(last)
	b.keepGrams(runs)
	b.sets = newSets(b.kept)
	return b.Segment
}

// share runs tasks on some goroutines. If that is one, it is the goroutine of the caller,
// which recovers from a damaged file: see saved.Broken. Only a start uses several, and has
// all texts in memory.
func share(tasks []func(), goroutines int) {
	if goroutines == 1 {
		for _, t := range tasks {
			t()
		}
		return
	}
	var g errgroup.Group
	g.SetLimit(goroutines)
	for _, t := range tasks {
		g.Go(func() error { t(); return nil })
	}
	_ = g.Wait()
}

// keep returns the number of a set among those that the segment keeps.
func (b *builder) keep(s *Set) uint32 {
	if s == nil {
		return 0
	}
	if s.id == 0 {
		s.id = uint32(len(b.kept))
		b.kept = append(b.kept, s)
	}
	return s.id
}

// setOf returns the set of a number, while the segment is built.
func (b *builder) setOf(p *postings, n uint32) *Set { return b.kept[p.get(n)] }

// lists are ascending lists of reports by number, like postings.
type lists struct {
	dense  [][]uint32
	sparse map[uint32][]uint32
}

func newLists(docs, numbers int) *lists {
	if docs >= denseDocs {
		return &lists{dense: make([][]uint32, numbers)}
	}
	return &lists{sparse: map[uint32][]uint32{}}
}

// add adds a report that is not before those in the list of the number.
func (l *lists) add(n, doc uint32) {
	if l.sparse != nil {
		l.sparse[n] = appendNew(l.sparse[n], doc)
		return
	}
	l.dense[n] = appendNew(l.dense[n], doc)
}

func appendNew(list []uint32, doc uint32) []uint32 {
	if n := len(list); n > 0 && list[n-1] == doc {
		return list
	}
	return append(list, doc)
}

// keepAll makes lists sets, and empties them.
func (b *builder) keepAll(p *postings, l *lists) {
	for n, list := range l.dense {
		p.set(uint32(n), b.keep(newSet(slices.Clip(slices.Clone(list)), len(b.Docs))))
		l.dense[n] = nil
	}
	for n, list := range l.sparse {
		p.set(n, b.keep(newSet(list, len(b.Docs))))
	}
	l.sparse = nil
}

// listWords adds every report to the lists of its words, for the words whose number
// leaves a given remainder.
func (b *builder) listWords(words *lists, remainder, divisor uint32) {
	for i := range b.Docs {
		d := &b.Docs[i]
		length := 0
		for t := d.text(b.memory); len(t) > 0; length++ {
			var n uint32
			if n, t = t.next(); n%divisor == remainder && n != gap {
				words.add(n, uint32(i))
			}
		}
		if remainder == 0 {
			b.Longest = max(b.Longest, length)
		}
		for _, n := range b.Tickers[d.Ref] {
			if n%divisor == remainder {
				words.add(n, uint32(i))
			}
		}
	}
}

// keepFields adds every report to the sets of its type, issuer and categories.
func (b *builder) keepFields() {
	types := newLists(0, 0)
	refs := newLists(0, 0)
	categories := newLists(0, 0)
	for i := range b.Docs {
		d := &b.Docs[i]
		n := uint32(i)
		types.add(uint32(d.Key&3), n)
		refs.add(d.Ref, n)
		for _, c := range b.Categories[d.CategoryLine] {
			categories.add(c, n)
		}
	}
	b.keepAll(&b.types, types)
	b.keepAll(&b.refs, refs)
	b.keepAll(&b.categories, categories)
}

func (b *builder) sortKeys() {
	b.byKey = make([]uint32, len(b.Docs))
	for i := range b.byKey {
		b.byKey[i] = uint32(i)
	}
	slices.SortFunc(b.byKey, func(x, y uint32) int { return cmp.Compare(b.Docs[x].Key, b.Docs[y].Key) })
}

// keepStems builds the lexicon, and joins the words of each stem; a stem with one word
// shares its set.
func (b *builder) keepStems() {
	for n := range b.words.all() {
		b.lexicon = append(b.lexicon, n)
	}
	slices.SortFunc(b.lexicon, func(x, y uint32) int { return strings.Compare(b.Words[x].Text, b.Words[y].Text) })
	several := map[uint32][]uint32{}
	first := make(map[uint32]uint32, len(b.lexicon))
	for _, n := range b.lexicon {
		stem := b.Words[n].stem
		have, known := first[stem]
		if !known {
			first[stem] = n
			b.stems.set(stem, b.words.get(n))
			continue
		}
		if several[stem] == nil {
			several[stem] = []uint32{have}
		}
		several[stem] = append(several[stem], n)
	}
	for stem, words := range several {
		b.stems.set(stem, b.keep(b.union(words)))
	}
}

// union returns the reports that have one of some words.
func (b *builder) union(words []uint32) *Set {
	sets := make([]*Set, len(words))
	for i, n := range words {
		sets[i] = b.setOf(&b.words, n)
	}
	return Union(sets, len(b.Docs))
}

// lastSets joins for every word its matches as the last word of a query: the words
// that begin with it, and those of its stem. For most words that is only the word
// itself, and no set is kept.
func (b *builder) lastSets(prefixes map[string]*Set) map[uint32]*Set {
	sets := map[uint32]*Set{}
	for i, n := range b.lexicon {
		word := b.Words[n]
		_, to := b.lexemes(word.Text, i)
		own := b.setOf(&b.words, n)
		begin := own
		stem := b.setOf(&b.stems, word.stem)
		if to > i+1 {
			if begin = prefixes[word.Text]; begin == nil {
				begin = b.union(b.lexicon[i:to])
			}
		}
		switch {
		case begin == own && stem == own:
		case stem == own:
			sets[n] = begin
		case begin == own:
			sets[n] = stem
		default:
			sets[n] = Union([]*Set{begin, stem}, len(b.Docs))
		}
	}
	return sets
}

func (b *builder) keepLast(sets map[uint32]*Set) {
	for n, s := range sets {
		b.last.set(n, b.keep(s))
	}
}

// Short prefixes match many words, and are typed first. Their sets are computed
// in advance, those of others on demand.
const (
	readyLetters = 3
	readyWords   = 8
)

func (b *builder) prefixSets() map[string]*Set {
	var ready [readyLetters]map[string]*Set
	var tasks []func()
	for i := range ready {
		tasks = append(tasks, func() { ready[i] = b.readyPrefixes(readyLetters - i) })
	}
	share(tasks, b.goroutines)
	prefixes := map[string]*Set{}
	for _, r := range ready {
		maps.Copy(prefixes, r)
	}
	return prefixes
}

// readyPrefixes joins the words that share their first letters.
func (b *builder) readyPrefixes(letters int) map[string]*Set {
	ready := map[string]*Set{}
	for from := 0; from < len(b.lexicon); {
		text := b.Words[b.lexicon[from]].Text
		to := from + 1
		if len(text) >= letters {
			_, to = b.lexemes(text[:letters], from)
			if to-from >= readyWords {
				ready[text[:letters]] = b.union(b.lexicon[from:to])
			}
		}
		from = to
	}
	return ready
}

func (b *builder) keepPrefixes(sets map[string]*Set) {
	b.prefixes = make(map[string]uint32, len(sets))
	for text, s := range sets {
		b.prefixes[text] = b.keep(s)
	}
}

// keepGrams keeps the sets of phrases in the order of their keys.
func (b *builder) keepGrams(runs map[uint64]run) {
	b.grams.keys = slices.Sorted(maps.Keys(runs))
	b.grams.next = make([]gram, len(runs))
	for i, key := range b.grams.keys {
		b.grams.next[i] = gram{set: b.keep(runs[key].set), id: runs[key].id}
	}
}
