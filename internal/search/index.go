package search

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

// Index answers searches over all reports as of one moment. It never changes:
// a Writer makes the next one out of it.
type Index struct {
	dict       view
	parts      []part
	join       *join
	headings   []heading
	categories map[string]uint32 // by folded name
	memory     memory
}

// part is a segment and what of it is no longer so.
type part struct {
	seg   *segment
	gone  *roaring.Bitmap // reports replaced by a later state elsewhere; nil: none
	kinds *atomic.Pointer[kindSets]
}

// goneSet returns what is gone as a set.
func (p part) goneSet() *set {
	if p.gone == nil {
		return nil
	}
	return &set{n: int(p.gone.GetCardinality()), list: p.gone}
}

// kindSets are the reports of each kind of issuer, for one directory. They are
// worked out when first asked for.
type kindSets struct {
	join *join
	sets map[disclosure.Kind]*set
}

// heading is the regulator's line over a report, and the categories in it.
type heading struct {
	line       string
	text       []byte // its words, analysed
	categories []uint32
}

// Len returns the number of reports.
func (x *Index) Len() int {
	n := 0
	for _, p := range x.parts {
		n += p.live()
	}
	return n
}

// Directory returns the issuers.
func (x *Index) Directory() *Directory { return x.join.dir }

// Issuer returns the issuer of a report, or nil.
func (x *Index) Issuer(d *Doc) *disclosure.Issuer { return x.IssuerByRef(d.Ref) }

// IssuerByRef returns the issuer that a reference means, or nil.
func (x *Index) IssuerByRef(ref uint32) *disclosure.Issuer {
	if e := x.join.issuers[ref]; e != nil {
		return e.Issuer
	}
	return nil
}

// IssuerID returns the id of the issuer that a reference means, or would mean
// if the directory knew it; nothing for a mere name.
func (x *Index) IssuerID(ref uint32) string {
	if e := x.join.issuers[ref]; e != nil {
		return e.Issuer.ID
	}
	if key := x.join.refText[ref]; !strings.HasPrefix(key, byNamePrefix) {
		return key
	}
	return ""
}

// Knows reports whether an identifier is that of an issuer, or of a report's
// issuer that the directory does not have.
func (x *Index) Knows(ident string) bool {
	key := disclosure.IssuerKey(ident)
	return len(x.join.dir.byKey[key]) > 0 || len(x.join.named(key)) > 0
}

// Record returns what was kept beside a report.
func (x *Index) Record(d *Doc) string { return x.memory.at(d.place)[:d.record] }

// Heading returns the regulator's line over a report.
func (x *Index) Heading(d *Doc) string { return x.headings[d.Heading].line }

// Categories returns the categories in a heading.
func (x *Index) Categories(heading uint32) []string {
	return disclosure.SplitCategories(x.headings[heading].line)
}

// Find returns a report.
func (x *Index) Find(key uint64) *Doc {
	for _, p := range x.parts {
		if i, ok := p.seg.find(key); ok && (p.gone == nil || !p.gone.Contains(i)) {
			return &p.seg.docs[i]
		}
	}
	return nil
}

// Search returns the reports that a filter lets through, newest first: how
// many there are, and those from offset on.
func (x *Index) Search(ctx context.Context, f disclosure.Filter, offset int64, limit int) (total int, found []*Doc, err error) {
	total, all, err := x.run(ctx, f)
	if err != nil || offset >= int64(total) || limit == 0 {
		return total, nil, err
	}
	return total, page(all, int(offset), min(limit, total-int(offset))), nil
}

// Walk passes all reports that a filter lets through, newest first.
func (x *Index) Walk(ctx context.Context, f disclosure.Filter) (iter.Seq[*Doc], error) {
	_, all, err := x.run(ctx, f)
	return func(yield func(*Doc) bool) {
		for m := newMerger(all); ; {
			if d := m.next(); d == nil || !yield(d) {
				return
			}
		}
	}, err
}

// Among is Search over those reports alone that have one of the keys, each of
// which is given once.
func (x *Index) Among(ctx context.Context, keys []uint64, f disclosure.Filter, offset int64, limit int) (total int, found []*Doc, err error) {
	some := make([]*Doc, 0, len(keys))
	for _, key := range keys {
		if d := x.Find(key); d != nil {
			some = append(some, d)
		}
	}
	if f != (disclosure.Filter{}) {
		through := make(map[*Doc]bool, len(some))
		for _, d := range some {
			through[d] = true
		}
		some = some[:0]
		all, err := x.Walk(ctx, f)
		if err != nil {
			return 0, nil, err
		}
		for d := range all {
			if through[d] {
				some = append(some, d)
			}
		}
	} else {
		slices.SortFunc(some, func(a, b *Doc) int { return compareDocs(b, a) })
	}
	offset = min(offset, int64(len(some)))
	return len(some), some[offset:min(offset+int64(limit), int64(len(some)))], nil
}

// run finds the hits of every segment, and counts them.
func (x *Index) run(ctx context.Context, f disclosure.Filter) (total int, all []hits, err error) {
	q := x.compile(f)
	if q.nothing {
		return 0, nil, ctx.Err()
	}
	w := newWork(ctx, x.Len())
	all = make([]hits, 0, len(x.parts))
	for _, p := range x.parts {
		h, err := q.run(p, w)
		if err != nil {
			return 0, nil, err
		}
		if h.n > 0 {
			all = append(all, h)
			total += h.n
		}
	}
	return total, all, nil
}

// compiled is a filter in the numbers of the index.
type compiled struct {
	join     *join
	nothing  bool // no report can match
	byDay    bool
	from, to int64
	typ      int // rank, or -1
	kind     disclosure.Kind
	issuer   []uint32
	byIssuer bool
	category uint32
	byCat    bool
	must     []lookup
	not      []lookup
}

// lookup is a term in the numbers of the index: the reports that have the
// stem, or the exact word, or the phrase, or a word that begins so, or belong
// to one of the references, or are one of the keys.
type lookup struct {
	stem   uint32
	word   uint32
	phrase []uint32
	prefix string
	typed  uint32 // the word that the prefix is, if it is one
	refs   []uint32
	keys   []uint64
}

func (x *Index) compile(f disclosure.Filter) compiled {
	c := compiled{join: x.join, byDay: f.From != 0 || f.To != 0, from: math.MinInt64, to: math.MaxInt64, typ: -1, kind: f.Kind}
	if f.From != 0 {
		c.from = startOf(f.From)
	}
	if f.To != 0 {
		c.to = startOf(f.To + 1)
	}
	if f.Type != "" {
		c.typ = int(typeRank(f.Type))
	}
	if f.Issuer != "" {
		c.byIssuer, c.issuer = true, x.join.named(disclosure.IssuerKey(f.Issuer))
	}
	if f.Category != "" {
		c.category, c.byCat = x.categories[text.Fold(f.Category)]
		c.nothing = !c.byCat
	}
	q := Parse(f.Search)
	c.nothing = c.nothing || q.wordless
	c.must, c.not = make([]lookup, 0, len(q.must)), make([]lookup, 0, len(q.not))
	for _, t := range q.must {
		l := x.lookup(t)
		if l.finds() {
			c.must = append(c.must, l)
			continue
		}
		c.nothing = true
		return c
	}
	if !c.withoutContained(x.longest()) {
		c.nothing = true
		return c
	}
	for _, t := range q.not {
		if l := x.lookup(t); l.finds() {
			c.not = append(c.not, l)
		}
	}
	return c
}

// longest returns the number of words in the longest text.
func (x *Index) longest() (n int) {
	for _, p := range x.parts {
		n = max(n, p.seg.longest)
	}
	return n
}

// withoutContained drops the phrases that are part of another. Those that are
// left begin at different places of a text: it returns false when there are
// more of them than the longest has words.
func (c *compiled) withoutContained(longest int) bool {
	var phrases []lookup
	rest := c.must[:0:0]
	for _, l := range c.must {
		if l.phrase == nil || len(l.refs) > 0 || len(l.keys) > 0 {
			rest = append(rest, l)
			continue
		}
		if len(l.phrase) > longest || len(phrases) > longest*longest {
			return false
		}
		phrases = append(phrases, l)
	}
	if len(phrases) < 2 {
		return true
	}
	slices.SortStableFunc(phrases, func(a, b lookup) int { return len(b.phrase) - len(a.phrase) })
	kept := phrases[:0]
	for _, l := range phrases {
		if slices.ContainsFunc(kept, func(k lookup) bool { return contains(k.phrase, l.phrase) }) {
			continue
		}
		if kept = append(kept, l); len(kept) > longest {
			return false
		}
	}
	c.must = append(rest, kept...)
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

// finds reports whether there is anything that a report could have.
func (l *lookup) finds() bool {
	return l.stem != 0 || l.word != 0 || l.phrase != nil || l.prefix != "" || len(l.refs) > 0 || len(l.keys) > 0
}

// startOf returns the first instant of a day. Nanoseconds end in 2262; beyond,
// all days begin after every report.
func startOf(d disclosure.Day) int64 {
	start := d.Start()
	if start.Year() > 2200 {
		return math.MaxInt64
	}
	return start.UnixNano()
}

func (x *Index) lookup(t term) lookup {
	var l lookup
	switch {
	case len(t.words) > 1:
		l.phrase = x.dict.numbers(t.words)
	case t.exact:
		l.word = x.dict.word(t.words[0])
	default:
		l.words(&x.dict, t)
	}
	if t.ident != "" {
		l.refs = x.join.named(t.ident)
		l.keys = keysOf(t.ident)
	}
	if len(t.words) > 1 {
		for _, e := range x.join.dir.byPart[strings.Join(t.words, " ")] {
			l.refs = append(l.refs, x.join.refs[e]...)
		}
	}
	return l
}

// words asks for a word that stands for its stem, or begins one. Where all the
// words of the stem begin so, the prefix alone says it.
func (l *lookup) words(d *view, t term) {
	s := d.stem(t.stem)
	if t.prefix {
		l.prefix = t.words[0]
		l.typed = d.word(l.prefix)
		if !slices.ContainsFunc(s.words, func(w string) bool { return !strings.HasPrefix(w, l.prefix) }) {
			return
		}
	}
	l.stem = s.number
}

// keysOf returns the reports that an identifier names: one by its id, up to
// three by a number.
func keysOf(ident string) []uint64 {
	if n, ok := disclosure.ParseNumber(ident); ok {
		return []uint64{KeyOf(disclosure.IP, n), KeyOf(disclosure.HR, n), KeyOf(disclosure.OIR, n)}
	}
	if t, n, ok := disclosure.ParseReportID(ident); ok {
		return []uint64{KeyOf(t, n)}
	}
	return nil
}
