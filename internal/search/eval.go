package search

import (
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
	if len(c.not) > 0 {
		p.gone = c.excluded(p)
	}
	return newHits(p, sets)
}

// conditions returns the sets of everything but the text, or false when there
// is nothing to be found.
func (c *compiled) conditions(p part) (sets []*roaring.Bitmap, ok bool) {
	if c.nothing {
		return nil, false
	}
	sets = make([]*roaring.Bitmap, 0, 8)
	need := func(s *roaring.Bitmap) { sets = append(sets, s) }
	if c.typ >= 0 {
		need(p.seg.types[c.typ])
	}
	if c.byIssuer {
		need(p.seg.refSet(c.issuer))
	}
	if c.byCat {
		need(p.seg.categories[c.category])
	}
	if c.kind != "" {
		need(p.ofKind(c.kind, c.join))
	}
	if lo, hi := p.seg.since(c.from), p.seg.since(c.to); lo > 0 || hi < len(p.seg.docs) {
		days := roaring.New()
		days.AddRange(uint64(lo), uint64(max(lo, hi)))
		need(days)
	}
	for _, s := range sets {
		if s == nil {
			return nil, false
		}
	}
	return sets, true
}

// excluded adds what must not be there to what is gone.
func (c *compiled) excluded(p part) *roaring.Bitmap {
	sets := make([]*roaring.Bitmap, 0, len(c.not)+1)
	if p.gone != nil {
		sets = append(sets, p.gone)
	}
	for i := range c.not {
		l := &c.not[i]
		s := l.set(p.seg)
		if len(l.phrase) > 1 {
			s = l.phraseSet(p.seg, nil)
		}
		if s != nil {
			sets = append(sets, s)
		}
	}
	return unite(sets)
}

// unite returns the union of some sets, nil for none. It may be one of them.
func unite(sets []*roaring.Bitmap) *roaring.Bitmap {
	switch len(sets) {
	case 0:
		return nil
	case 1:
		return sets[0]
	}
	return roaring.FastOr(sets...)
}

// set returns the filings of a segment that a lookup means, its phrase left
// out, or nil. The set may be shared and is not to be changed.
func (l *lookup) set(s *segment) *roaring.Bitmap {
	var sets [4]*roaring.Bitmap
	n := 0
	add := func(b *roaring.Bitmap) {
		if b != nil {
			sets[n] = b
			n++
		}
	}
	if l.prefix != "" {
		add(s.prefix(l.prefix))
	}
	if l.stem != 0 {
		add(s.stems.get(l.stem))
	}
	if l.word != 0 {
		add(s.words.get(l.word))
	}
	if len(l.refs) > 0 || len(l.keys) > 0 {
		add(l.named(s))
	}
	return unite(sets[:n])
}

// named returns the filings of the references and keys.
func (l *lookup) named(s *segment) *roaring.Bitmap {
	b := s.refSet(l.refs)
	for _, key := range l.keys {
		if i, ok := s.find(key); ok {
			own := roaring.BitmapOf(i)
			if b != nil {
				own.Or(b)
			}
			b = own
		}
	}
	return b
}

// phraseSet returns the filings among those in all of the sets that have the
// phrase, or are named instead.
func (l *lookup) phraseSet(s *segment, among []*roaring.Bitmap) *roaring.Bitmap {
	named := l.set(s)
	sets := append(make([]*roaring.Bitmap, 0, len(among)+len(l.phrase)), among...)
	for _, w := range l.phrase {
		b := s.words.get(w)
		if b == nil {
			return named
		}
		sets = append(sets, b)
	}
	found := roaring.New()
	for i := roaring.FastAnd(sets...).Iterator(); i.HasNext(); {
		if n := i.Next(); s.docs[n].Text.has(l.phrase) {
			found.Add(n)
		}
	}
	if named != nil {
		found.Or(named)
	}
	return found
}

// refSet returns the filings of some references, or nil.
func (s *segment) refSet(refs []uint32) *roaring.Bitmap {
	var sets []*roaring.Bitmap
	for _, r := range refs {
		if b := s.refs[r]; b != nil {
			sets = append(sets, b)
		}
	}
	return unite(sets)
}

// ofKind returns the filings whose issuer is of a kind.
func (p part) ofKind(k disclosure.Kind, j *join) *roaring.Bitmap {
	if ready := p.kinds.Load(); ready != nil && ready.join == j {
		return ready.sets[k]
	}
	byKind := map[disclosure.Kind][]*roaring.Bitmap{}
	for ref, b := range p.seg.refs {
		if e := j.issuers[ref]; e != nil {
			byKind[e.Issuer.Kind] = append(byKind[e.Issuer.Kind], b)
		}
	}
	ready := &kindSets{join: j, sets: map[disclosure.Kind]*roaring.Bitmap{}}
	for kind, sets := range byKind {
		ready.sets[kind] = unite(sets)
	}
	p.kinds.Store(ready)
	return ready.sets[k]
}
