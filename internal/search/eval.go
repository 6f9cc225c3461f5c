package search

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"pregon/internal/disclosure"
)

// run finds the hits of one segment.
func (c *compiled) run(p part) hits {
	sets, ok := c.conditions(p)
	if !ok {
		return hits{seg: p.seg}
	}
	for i := range c.must {
		l := &c.must[i]
		if len(l.phrase) > 1 {
			continue
		}
		s := l.set(p.seg)
		if s == nil {
			return hits{seg: p.seg}
		}
		sets = append(sets, s)
	}
	for i := range c.must {
		if l := &c.must[i]; len(l.phrase) > 1 { // last, among what is left
			s := l.phraseSet(p.seg, sets)
			if s == nil {
				return hits{seg: p.seg}
			}
			sets = append(sets, s)
		}
	}
	return newHits(p.seg, sets, c.excluded(p))
}

// conditions returns the sets of everything but the text, or false when there
// is nothing to be found.
func (c *compiled) conditions(p part) (sets []*set, ok bool) {
	if c.nothing {
		return nil, false
	}
	sets = make([]*set, 0, 8)
	need := func(s *set) { sets = append(sets, s) }
	if c.typ >= 0 {
		need(p.seg.types.get(uint32(c.typ)))
	}
	if c.byIssuer {
		need(p.seg.refSet(c.issuer))
	}
	if c.byCat {
		need(p.seg.categories.get(c.category))
	}
	if c.kind != "" {
		need(p.ofKind(c.kind, c.join))
	}
	if c.byDay {
		if lo, hi := p.seg.since(c.from), p.seg.since(c.to); lo > 0 || hi < len(p.seg.docs) {
			need(rangeSet(lo, hi, len(p.seg.docs)))
		}
	}
	for _, s := range sets {
		if s == nil {
			return nil, false
		}
	}
	return sets, true
}

// excluded adds what must not be there to what is gone.
func (c *compiled) excluded(p part) *set {
	if len(c.not) == 0 {
		return p.goneSet()
	}
	sets := make([]*set, 0, len(c.not)+2)
	sets = append(sets, p.goneSet(), p.seg.withAnyPhrase(c.not))
	for i := range c.not {
		sets = append(sets, c.not[i].set(p.seg))
	}
	return unite(sets, len(p.seg.docs))
}

// withAnyPhrase returns the filings that have one of the phrases. However many
// there are, it reads each filing once.
func (s *segment) withAnyPhrase(lookups []lookup) *set {
	byFirst := map[uint32][][]uint32{}
	var mayHave []*set
	for i := range lookups {
		phrase := lookups[i].phrase
		if len(phrase) < 2 {
			continue
		}
		if rarest := s.rarest(phrase); rarest != nil {
			byFirst[phrase[0]] = append(byFirst[phrase[0]], phrase)
			mayHave = append(mayHave, rarest)
		}
	}
	candidates := unite(mayHave, len(s.docs))
	if candidates == nil {
		return nil
	}
	found := roaring.New()
	for h := newHits(s, []*set{candidates}, nil); h.left > 0; {
		if i := h.ordinal(); s.docs[i].text(s.memory).hasAny(byFirst) {
			found.Add(i)
		}
	}
	return newSet(found, len(s.docs))
}

// rarest returns the smallest set of a phrase's words, nil when one of them is
// in no filing.
func (s *segment) rarest(phrase []uint32) *set {
	var rarest *set
	for _, w := range phrase {
		posts := s.words.get(w)
		if posts == nil {
			return nil
		}
		if rarest == nil || posts.n < rarest.n {
			rarest = posts
		}
	}
	return rarest
}

// set returns the filings of a segment that a lookup means, its phrase left
// out, or nil. The set may be shared and is not to be changed.
func (l *lookup) set(s *segment) *set {
	var sets [3]*set
	n := 0
	add := func(b *set) {
		sets[n] = b
		n++
	}
	if whole := s.words.get(l.typed); l.typed != 0 && whole != nil {
		if more := s.last.get(l.typed); more != nil {
			whole = more
		}
		add(whole)
	} else {
		if l.prefix != "" {
			add(s.prefix(l.prefix))
		}
		if l.stem != 0 {
			add(s.stems.get(l.stem))
		}
	}
	if l.word != 0 {
		add(s.words.get(l.word))
	}
	if len(l.refs) > 0 || len(l.keys) > 0 {
		add(l.named(s))
	}
	return unite(sets[:n], len(s.docs))
}

// named returns the filings of the references and keys.
func (l *lookup) named(s *segment) *set {
	sets := []*set{s.refSet(l.refs)}
	for _, key := range l.keys {
		if i, ok := s.find(key); ok {
			sets = append(sets, &set{n: 1, list: roaring.BitmapOf(i)})
		}
	}
	return unite(sets, len(s.docs))
}

// phraseSet returns the filings among those in all of the sets that have the
// phrase, or are named instead.
func (l *lookup) phraseSet(s *segment, among []*set) *set {
	named := l.set(s)
	sets := append(make([]*set, 0, len(among)+len(l.phrase)), among...)
	for _, w := range l.phrase {
		posts := s.words.get(w)
		if posts == nil {
			return named
		}
		sets = append(sets, posts)
	}
	h := newHits(s, sets, nil)
	found := make([]uint32, 0, min(h.n, 1024))
	for h.left > 0 {
		if i := h.ordinal(); s.docs[i].text(s.memory).has(l.phrase) {
			found = append(found, i)
		}
	}
	slices.Reverse(found)
	return unite([]*set{named, newSet(roaring.BitmapOf(found...), len(s.docs))}, len(s.docs))
}

// refSet returns the filings of some references, or nil.
func (s *segment) refSet(refs []uint32) *set {
	if len(refs) == 1 {
		return s.refs.get(refs[0])
	}
	sets := make([]*set, 0, len(refs))
	for _, r := range refs {
		sets = append(sets, s.refs.get(r))
	}
	return unite(sets, len(s.docs))
}

// ofKind returns the filings whose issuer is of a kind.
func (p part) ofKind(k disclosure.Kind, j *join) *set {
	if ready := p.kinds.Load(); ready != nil && ready.join == j {
		return ready.sets[k]
	}
	byKind := map[disclosure.Kind][]*set{}
	for ref, s := range p.seg.refs.all() {
		if e := j.issuers[ref]; e != nil {
			byKind[e.Issuer.Kind] = append(byKind[e.Issuer.Kind], s)
		}
	}
	ready := &kindSets{join: j, sets: map[disclosure.Kind]*set{}}
	for kind, sets := range byKind {
		ready.sets[kind] = unite(sets, len(p.seg.docs))
	}
	p.kinds.Store(ready)
	return ready.sets[k]
}
