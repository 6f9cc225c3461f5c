package segment

import (
	"slices"
	"sync/atomic"
)

// Part is a segment and the reports of it that were replaced.
type Part struct {
	Seg    *Segment
	Gone   *Set // reports replaced by a later state elsewhere
	groups *atomic.Pointer[groupSets]
}

// Group is a group of issuers, such as those of a market.
type Group string

// groupSets are the reports of each group of issuers, for one directory. They are
// computed on first use.
type groupSets struct {
	issuers Issuers
	sets    map[Group]*Set
}

// Issuers resolves the references of reports.
type Issuers interface {
	// Groups returns the groups to which the issuer of a reference belongs.
	Groups(ref uint32) []Group
}

func NewPart(s *Segment) Part { return Part{Seg: s, groups: new(atomic.Pointer[groupSets])} }

// Live returns the number of reports that were not replaced.
func (p Part) Live() int { return len(p.Seg.Docs) - p.Gone.Len() }

// Find returns the ordinal of a report that was not replaced.
func (p Part) Find(key uint64) (uint32, bool) {
	i, ok := p.Seg.Find(key)
	return i, ok && !p.Gone.Has(i)
}

// Without returns the part without some more reports, whose order it may change.
func (p Part) Without(more []uint32) Part {
	p.Gone = p.Gone.With(more, len(p.Seg.Docs))
	return p
}

// Query is a filter in the numbers of the index.
type Query struct {
	Issuers    Issuers
	Empty      bool // no report can match
	ByDay      bool
	From, To   int64
	Type       int       // rank, or -1
	Groups     [][]Group // of the issuer: one of each list
	Refs       []uint32
	ByIssuer   bool
	Categories []uint32 // one of them
	ByCategory bool
	Word       uint32 // which a report must have
	ByWord     bool
	Must       []Lookup
	Not        []Lookup
	Choice     *Choice // nil: there is none
	// Check is a condition that no set has. It is asked for every report that meets all
	// others; nil: there is none.
	Check func(*Doc) bool
}

// Lookup is a term in the numbers of the index: the reports that have the
// stem, or the exact word, or the phrase, or a word with the prefix, or belong
// to one of the references, or are one of the keys.
type Lookup struct {
	Stem   uint32
	Word   uint32
	Phrase []uint32
	Prefix string
	Typed  uint32 // the word that the prefix is, if it is one
	Refs   []uint32
	Keys   []uint64
	Or     *Alternatives // or these; nil: none
}

// Alternatives are the reports that have one of some stems, one of some phrases, or
// belong to one of some references.
type Alternatives struct {
	Stems   []uint32
	Phrases [][]uint32
	Refs    []uint32
}

// Simplify drops the phrases that are part of another. The remaining
// ones begin at different words of a text. It returns false if there are more of
// them than words in the longest text.
func (c *Query) Simplify(longest int) bool {
	var phrases []Lookup
	rest := c.Must[:0:0]
	for _, l := range c.Must {
		if l.Phrase == nil || len(l.Refs) > 0 || len(l.Keys) > 0 {
			rest = append(rest, l)
			continue
		}
		if len(l.Phrase) > longest || len(phrases) > longest*longest {
			return false
		}
		phrases = append(phrases, l)
	}
	if len(phrases) < 2 {
		return true
	}
	slices.SortStableFunc(phrases, func(a, b Lookup) int { return len(b.Phrase) - len(a.Phrase) })
	kept := phrases[:0]
	for _, l := range phrases {
		if slices.ContainsFunc(kept, func(k Lookup) bool { return contains(k.Phrase, l.Phrase) }) {
			continue
		}
		if kept = append(kept, l); len(kept) > longest {
			return false
		}
	}
	c.Must = append(rest, kept...)
	return true
}

// contains reports whether a phrase is part of another.
func contains(long, short []uint32) bool {
	for i := range len(long) - len(short) + 1 {
		if long[i] == short[0] && slices.Equal(long[i:i+len(short)], short) {
			return true
		}
	}
	return false
}

// Possible reports whether a report can match the lookup.
func (l *Lookup) Possible() bool {
	return l.Stem != 0 || l.Word != 0 || l.Phrase != nil || l.Prefix != "" || len(l.Refs) > 0 || len(l.Keys) > 0 ||
		l.Or != nil
}

// Run finds the hits of one segment. It checks phrases last, among the remaining
// reports, and all of them together, so that it reads each report once.
func (c *Query) Run(p Part, w *Work) (Hits, error) {
	none := Hits{seg: p.Seg}
	if err := w.Ctx.Err(); err != nil {
		return none, err
	}
	sets, ok := c.conditions(p)
	if !ok {
		return none, nil
	}
	if c.Choice != nil {
		chosen, err := c.Choice.set(p, w)
		if chosen == nil || err != nil {
			return none, err
		}
		sets = append(sets, chosen)
	}
	var phrases [][]uint32
	var others *Set // of the last alternatives
	given := slices.Clip(sets)
	for i := range c.Must {
		l := &c.Must[i]
		named := l.Set(p.Seg)
		if l.Or != nil {
			if i == 0 || l.Or != c.Must[i-1].Or {
				var err error
				if others, err = l.Or.set(p.Seg, given, w); err != nil {
					return none, err
				}
			}
			named = Union([]*Set{named, others}, len(p.Seg.Docs))
		}
		if named == nil && l.Phrase != nil {
			more, settled, ok := p.Seg.mayHave(l.Phrase, sets)
			if !ok {
				return none, nil
			}
			sets = more
			if !settled {
				phrases = append(phrases, l.Phrase)
			}
			continue
		}
		if l.Phrase != nil { // or what it names
			some, err := p.Seg.WithAnyPhrase([][]uint32{l.Phrase}, nil, nil, w)
			if err != nil {
				return none, err
			}
			named = Union([]*Set{named, some}, len(p.Seg.Docs))
		}
		if named == nil {
			return none, nil
		}
		sets = append(sets, named)
	}
	if len(phrases) > 0 {
		s, err := p.Seg.withPhrases(phrases, sets, p.Gone, w)
		if s == nil || err != nil {
			return none, err
		}
		sets = append(sets, s)
	}
	excluded, err := c.excluded(p, sets, w)
	if err != nil {
		return none, err
	}
	h := NewHits(p.Seg, sets, excluded)
	if c.Check == nil {
		return h, nil
	}
	return c.checked(h, w)
}

// checked returns the hits that meet the condition Check.
func (c *Query) checked(h Hits, w *Work) (Hits, error) {
	var found []uint32
	for h.Left > 0 {
		if err := w.Step(); err != nil {
			return Hits{seg: h.seg}, err
		}
		if i := h.NextOrdinal(); c.Check(&h.seg.Docs[i]) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return Hits{seg: h.seg}, nil
	}
	return NewHits(h.seg, []*Set{setOf(found, len(h.seg.Docs))}, nil), nil
}

// conditions returns the sets of all conditions except the text, or false if no
// report can match.
func (c *Query) conditions(p Part) (sets []*Set, ok bool) {
	if c.Empty {
		return nil, false
	}
	sets = make([]*Set, 0, 8)
	need := func(s *Set) { sets = append(sets, s) }
	if c.Type >= 0 {
		need(p.Seg.of(&p.Seg.types, uint32(c.Type)))
	}
	if c.ByWord {
		need(p.Seg.of(&p.Seg.words, c.Word))
	}
	if c.ByIssuer {
		need(p.Seg.RefSet(c.Refs))
	}
	if c.ByCategory {
		need(p.Seg.withAny(&p.Seg.categories, c.Categories))
	}
	for _, groups := range c.Groups {
		need(p.ofGroups(groups, c.Issuers))
	}
	if c.ByDay {
		if lo, hi := p.Seg.since(c.From), p.Seg.since(c.To); lo > 0 || hi < len(p.Seg.Docs) {
			need(rangeSet(lo, hi, len(p.Seg.Docs)))
		}
	}
	for _, s := range sets {
		if s == nil {
			return nil, false
		}
	}
	return sets, true
}

// excluded adds the reports that match an excluded term to those that are gone.
func (c *Query) excluded(p Part, among []*Set, w *Work) (*Set, error) {
	if len(c.Not) == 0 {
		return p.Gone, nil
	}
	sets := make([]*Set, 0, len(c.Not)+2)
	sets = append(sets, p.Gone)
	var phrases [][]uint32
	for i := range c.Not {
		l := &c.Not[i]
		sets = append(sets, l.Set(p.Seg))
		if l.Phrase != nil {
			phrases = append(phrases, l.Phrase)
		}
	}
	out := Union(sets, len(p.Seg.Docs))
	if len(phrases) == 0 {
		return out, nil
	}
	return p.Seg.withAnyPhrase(phrases, among, out, w, true)
}

// Set returns the reports of a segment that match a lookup without its phrase, or
// nil. The set may be shared and must not be changed.
func (l *Lookup) Set(s *Segment) *Set {
	var sets [3]*Set
	n := 0
	add := func(b *Set) {
		sets[n] = b
		n++
	}
	if whole := s.of(&s.words, l.Typed); l.Typed != 0 && whole != nil {
		if more := s.of(&s.last, l.Typed); more != nil {
			whole = more
		}
		add(whole)
	} else {
		if l.Prefix != "" {
			add(s.prefix(l.Prefix))
		}
		if l.Stem != 0 {
			add(s.of(&s.stems, l.Stem))
		}
	}
	if l.Word != 0 {
		add(s.of(&s.words, l.Word))
	}
	if len(l.Refs) > 0 || len(l.Keys) > 0 {
		add(l.named(s))
	}
	return Union(sets[:n], len(s.Docs))
}

// set returns the reports of a segment that match the alternatives, or nil. It considers
// those in all of the sets, at least.
func (a *Alternatives) set(s *Segment, among []*Set, w *Work) (*Set, error) {
	words := s.withAny(&s.stems, a.Stems)
	if len(a.Refs) > 0 {
		words = Union([]*Set{words, s.RefSet(a.Refs)}, len(s.Docs))
	}
	if len(a.Phrases) == 0 {
		return words, nil
	}
	if len(s.Docs) < plainFrom {
		return s.WithAnyPhrase(a.Phrases, among, words, w)
	}
	sets := []*Set{words}
	for _, phrase := range a.Phrases {
		found, err := s.withPhrase(phrase, w)
		if err != nil {
			return nil, err
		}
		sets = append(sets, found)
	}
	return Union(sets, len(s.Docs)), nil
}

// named returns the reports of the references and keys.
func (l *Lookup) named(s *Segment) *Set {
	sets := []*Set{s.RefSet(l.Refs)}
	for _, key := range l.Keys {
		if i, ok := s.Find(key); ok {
			sets = append(sets, one(i))
		}
	}
	return Union(sets, len(s.Docs))
}

// RefSet returns the reports of some references, or nil.
func (s *Segment) RefSet(refs []uint32) *Set {
	return s.withAny(&s.refs, refs)
}

// withAny returns the reports with one of some terms, or nil.
func (s *Segment) withAny(p *postings, terms []uint32) *Set {
	if len(terms) == 1 {
		return s.of(p, terms[0])
	}
	sets := make([]*Set, 0, len(terms))
	for _, t := range terms {
		sets = append(sets, s.of(p, t))
	}
	return Union(sets, len(s.Docs))
}

// ofGroups returns the reports whose issuer belongs to one of some groups, or nil.
func (p Part) ofGroups(groups []Group, who Issuers) *Set {
	if len(groups) == 1 {
		return p.ofGroup(groups[0], who)
	}
	sets := make([]*Set, 0, len(groups))
	for _, g := range groups {
		sets = append(sets, p.ofGroup(g, who))
	}
	return Union(sets, len(p.Seg.Docs))
}

// ofGroup returns the reports whose issuer belongs to a group.
func (p Part) ofGroup(g Group, who Issuers) *Set {
	if ready := p.groups.Load(); ready != nil && ready.issuers == who {
		return ready.sets[g]
	}
	byGroup := map[Group][]*Set{}
	for ref, set := range p.Seg.refs.all() {
		for _, group := range who.Groups(ref) {
			byGroup[group] = append(byGroup[group], p.Seg.sets.get(set))
		}
	}
	ready := &groupSets{issuers: who, sets: map[Group]*Set{}}
	for group, sets := range byGroup {
		ready.sets[group] = Union(sets, len(p.Seg.Docs))
	}
	p.groups.Store(ready)
	return ready.sets[g]
}
