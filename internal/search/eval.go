package search

import (
	"github.com/RoaringBitmap/roaring/v2"

	"pregon/internal/disclosure"
)

// run finds the hits of one segment. Phrases come last, among what is left, and
// all of them together: each report is read once, however many there are.
func (c *compiled) run(p part, w *work) (hits, error) {
	none := hits{seg: p.seg}
	if err := w.ctx.Err(); err != nil {
		return none, err
	}
	sets, ok := c.conditions(p)
	if !ok {
		return none, nil
	}
	var phrases [][]uint32
	for i := range c.must {
		l := &c.must[i]
		named := l.set(p.seg)
		if named == nil && l.phrase != nil {
			more, settled, ok := p.seg.mayHave(l.phrase, sets)
			if !ok {
				return none, nil
			}
			sets = more
			if !settled {
				phrases = append(phrases, l.phrase)
			}
			continue
		}
		if l.phrase != nil { // or what it names
			some, err := p.seg.withAnyPhrase([][]uint32{l.phrase}, nil, nil, w)
			if err != nil {
				return none, err
			}
			named = unite([]*set{named, some}, len(p.seg.docs))
		}
		if named == nil {
			return none, nil
		}
		sets = append(sets, named)
	}
	if len(phrases) > 0 {
		s, err := p.seg.withPhrases(phrases, sets, p.goneSet(), w)
		if s == nil || err != nil {
			return none, err
		}
		sets = append(sets, s)
	}
	excluded, err := c.excluded(p, sets, w)
	if err != nil {
		return none, err
	}
	return newHits(p.seg, sets, excluded), nil
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
func (c *compiled) excluded(p part, among []*set, w *work) (*set, error) {
	if len(c.not) == 0 {
		return p.goneSet(), nil
	}
	sets := make([]*set, 0, len(c.not)+2)
	sets = append(sets, p.goneSet())
	var phrases [][]uint32
	for i := range c.not {
		l := &c.not[i]
		sets = append(sets, l.set(p.seg))
		if l.phrase != nil {
			phrases = append(phrases, l.phrase)
		}
	}
	out := unite(sets, len(p.seg.docs))
	if len(phrases) == 0 {
		return out, nil
	}
	return p.seg.withAnyPhrase(phrases, among, out, w)
}

// set returns the reports of a segment that a lookup means, its phrase left
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

// named returns the reports of the references and keys.
func (l *lookup) named(s *segment) *set {
	sets := []*set{s.refSet(l.refs)}
	for _, key := range l.keys {
		if i, ok := s.find(key); ok {
			sets = append(sets, &set{n: 1, list: roaring.BitmapOf(i)})
		}
	}
	return unite(sets, len(s.docs))
}

// refSet returns the reports of some references, or nil.
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

// ofKind returns the reports whose issuer is of a kind.
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
