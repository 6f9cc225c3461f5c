package search

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
	"pregon/internal/text"
)

// Index is a searchable set of all reports at one moment. It is immutable; a Writer
// builds the next one from it.
type Index struct {
	dict          *segment.Dictionary
	parts         []segment.Part
	join          *join
	categoryLines []categoryLine
	categories    map[string]uint32 // by folded name
	categoryNames []name            // by number
	memory        segment.Memory
	facts         FactsOf
}

// categoryLine is the line in which the regulator lists the categories of a report.
type categoryLine struct {
	line    string
	names   []string // of the categories
	numbers []uint32 // of the categories, the same in any spelling
	text    []byte   // its words as tokens
}

// Len returns the number of reports.
func (x *Index) Len() int {
	n := 0
	for _, p := range x.parts {
		n += p.Live()
	}
	return n
}

// Directory returns the issuers.
func (x *Index) Directory() *Directory { return x.join.dir }

// Issuer returns the issuer of a report, or nil.
func (x *Index) Issuer(d *segment.Doc) *disclosure.Issuer { return x.IssuerByRef(d.Ref) }

// IssuerByRef returns the issuer of a reference, or nil.
func (x *Index) IssuerByRef(ref uint32) *disclosure.Issuer {
	if e := x.join.issuers[ref]; e != nil {
		return e.Issuer
	}
	return nil
}

// IssuerID returns the id of the issuer of a reference, even if it is not in the
// directory. It returns "" for a reference that is a name.
func (x *Index) IssuerID(ref uint32) string {
	if e := x.join.issuers[ref]; e != nil {
		return e.Issuer.ID
	}
	if key := x.join.refText[ref]; !strings.HasPrefix(key, byNamePrefix) {
		return key
	}
	return ""
}

// Knows reports whether an identifier is that of an issuer in the directory, or
// occurs in a report.
func (x *Index) Knows(ident string) bool {
	key := disclosure.IssuerKey(ident)
	return len(x.join.dir.byKey[key]) > 0 || len(x.join.named(key)) > 0
}

// Record returns the record of a report: see Writer.Doc.
func (x *Index) Record(d *segment.Doc) string { return x.memory.At(d.Place)[:d.RecordLen] }

// CategoryLine returns the line of categories of a report.
func (x *Index) CategoryLine(d *segment.Doc) string { return x.categoryLines[d.CategoryLine].line }

// Categories returns the categories of a category line, by its number: their names,
// and their numbers, which are the same in any spelling. The slices must not be
// modified.
func (x *Index) Categories(n uint32) (names []string, numbers []uint32) {
	return x.categoryLines[n].names, x.categoryLines[n].numbers
}

// CategoryCount returns the number of categories. Their numbers are below it.
func (x *Index) CategoryCount() int { return len(x.categories) }

// CategoryLines returns the number of category lines. Their numbers are below it.
func (x *Index) CategoryLines() int { return len(x.categoryLines) }

// Refs returns the number of references to issuers. Their numbers are below it.
func (x *Index) Refs() int { return len(x.join.refText) }

// Find returns a report.
func (x *Index) Find(key uint64) *segment.Doc {
	for _, p := range x.parts {
		if i, ok := p.Find(key); ok {
			return &p.Seg.Docs[i]
		}
	}
	return nil
}

// Search returns the reports that match a filter, newest first: their number, and
// those from offset on.
func (x *Index) Search(
	ctx context.Context,
	f disclosure.Filter,
	offset int64,
	limit int,
) (total int, found []*segment.Doc, err error) {
	total, all, err := x.run(ctx, f)
	if err != nil || offset >= int64(total) || limit == 0 {
		return total, nil, err
	}
	return total, segment.Page(all, int(offset), min(limit, total-int(offset))), nil
}

// Walk returns all reports that match a filter, newest first.
func (x *Index) Walk(ctx context.Context, f disclosure.Filter) (iter.Seq[*segment.Doc], error) {
	_, all, err := x.run(ctx, f)
	return func(yield func(*segment.Doc) bool) {
		for m := segment.NewMerger(all); ; {
			if d := m.Next(); d == nil || !yield(d) {
				return
			}
		}
	}, err
}

// Each calls visit for all reports that match a filter: newest first in each
// segment, one segment after another.
func (x *Index) Each(ctx context.Context, f disclosure.Filter, visit func(*segment.Doc)) error {
	_, all, err := x.run(ctx, f)
	if err != nil {
		return err
	}
	const some = 4096 // between two checks of the context
	for i := range all {
		for h := &all[i]; h.Left > 0; {
			if h.Left%some == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			visit(h.Next())
		}
	}
	return ctx.Err()
}

// Before returns the n reports of the same issuer just before a report, the oldest
// first.
func (x *Index) Before(d *segment.Doc, n int) []*segment.Doc {
	return segment.Before(x.sameIssuer(d), d, n)
}

// After returns the n reports of the same issuer just after a report, the oldest
// first.
func (x *Index) After(d *segment.Doc, n int) []*segment.Doc {
	return segment.After(x.sameIssuer(d), d, n)
}

// sameIssuer finds the reports of the issuer of a report.
func (x *Index) sameIssuer(d *segment.Doc) (all []segment.Hits) {
	refs := []uint32{d.Ref}
	if e := x.join.issuers[d.Ref]; e != nil {
		refs = x.join.refs[e]
	}
	for _, p := range x.parts {
		if s := p.Seg.RefSet(refs); s != nil {
			all = append(all, segment.NewHits(p.Seg, []*segment.Set{s}, p.Gone))
		}
	}
	return all
}

// Documents returns the documents of the reports that match a filter.
func (x *Index) Documents(ctx context.Context, f disclosure.Filter) (found NumberSet, err error) {
	all, err := x.Walk(ctx, f)
	if err != nil {
		return nil, err
	}
	found = NumberSet{}
	for d := range all {
		if d.Document != 0 {
			found.Add(d.Document)
		}
	}
	return found, nil
}

// Among is like Search, but considers only the reports with some documents.
func (x *Index) Among(
	ctx context.Context,
	documents NumberSet,
	f disclosure.Filter,
	offset int64,
	limit int,
) (total int, found []*segment.Doc, err error) {
	all, err := x.Walk(ctx, f)
	if err != nil {
		return 0, nil, err
	}
	for d := range all {
		if !documents.Has(d.Document) {
			continue
		}
		if int64(total) >= offset && len(found) < limit {
			found = append(found, d)
		}
		total++
	}
	return total, found, nil
}

// run finds the hits of every segment, and counts them.
func (x *Index) run(ctx context.Context, f disclosure.Filter) (total int, all []segment.Hits, err error) {
	q := x.compile(f)
	if q.Empty {
		return 0, nil, ctx.Err()
	}
	w := segment.NewWork(ctx, x.Len())
	all = make([]segment.Hits, 0, len(x.parts))
	for _, p := range x.parts {
		h, err := q.Run(p, w)
		if err != nil {
			return 0, nil, err
		}
		if h.N > 0 {
			all = append(all, h)
			total += h.N
		}
	}
	return total, all, nil
}

func (x *Index) compile(f disclosure.Filter) segment.Query {
	c := segment.Query{
		Issuers: x.join,
		ByDay:   f.From != 0 || f.To != 0,
		From:    math.MinInt64,
		To:      math.MaxInt64,
		Type:    -1,
	}
	for _, g := range wantedGroups(f) {
		c.Groups = append(c.Groups, []segment.Group{g})
	}
	if f.From != 0 {
		c.From = startOf(f.From)
	}
	if f.To != 0 {
		c.To = startOf(f.To + 1)
	}
	if f.Type != "" {
		c.Type = int(typeRank(f.Type))
	}
	if f.Issuer != "" {
		c.ByIssuer, c.Refs = true, x.join.namedAny(f.IssuerKeys())
	}
	if f.Category != "" {
		c.Categories, c.ByCategory = x.categoriesOf(f), true
		c.Empty = len(c.Categories) == 0
	}
	if f.Market != "" {
		markets := x.join.dir.marketsOf(f)
		c.Groups = append(c.Groups, markets)
		c.Empty = c.Empty || len(markets) == 0
	}
	if f.Sector != "" {
		sectors := x.join.dir.sectorsOf(f)
		c.Groups = append(c.Groups, sectors)
		c.Empty = c.Empty || len(sectors) == 0
	}
	if f.Fact != "" {
		c.Word = x.dict.Word(factWord(f.Fact))
		c.ByWord = true
		c.Empty = c.Empty || c.Word == 0
	}
	if f.HasList() {
		c.Choice = x.choice(f.Entries)
	}
	if f.MinAmount != "" {
		c.Check = func(d *segment.Doc) bool { return f.MatchFacts(x.facts(x.Record(d))) }
	}
	q := ParseFilter(f)
	c.Empty = c.Empty || q.wordless || f.ForPositions()
	c.Must, c.Not = make([]segment.Lookup, 0, len(q.must)), make([]segment.Lookup, 0, len(q.not))
	for i, t := range q.must {
		l := x.lookup(t)
		switch {
		case t.others == nil:
		case i > 0 && t.others == q.must[i-1].others: // two words of one term share the set
			l.Or = c.Must[i-1].Or
		default:
			l.Or = x.alternatives(t.others)
		}
		if l.Possible() {
			c.Must = append(c.Must, l)
			continue
		}
		c.Empty = true
		return c
	}
	if !c.Simplify(x.longest()) {
		c.Empty = true
		return c
	}
	if routine := x.dict.Word(routineWord); f.NoRoutine && routine != 0 {
		c.Not = append(c.Not, segment.Lookup{Word: routine})
	}
	for _, t := range q.not {
		if l := x.lookup(t); l.Possible() {
			c.Not = append(c.Not, l)
		}
	}
	return c
}

// categoriesOf returns the numbers of the categories that a filter selects.
func (x *Index) categoriesOf(f disclosure.Filter) (numbers []uint32) {
	if !f.CategoryWords {
		folded := text.Fold(f.Category)
		if n, ok := x.categories[folded]; ok && folded != "" {
			numbers = append(numbers, n)
		}
		return numbers
	}
	wanted := NewNameFilter(f.Category, true)
	for n := range x.categoryNames {
		if wanted.match(&x.categoryNames[n]) {
			numbers = append(numbers, uint32(n))
		}
	}
	return numbers
}

// HasCategory reports whether a filter selects a category of the reports.
func (x *Index) HasCategory(f disclosure.Filter) bool { return len(x.categoriesOf(f)) > 0 }

// CategoryNames returns the names of all categories, each in one of its spellings.
func (x *Index) CategoryNames() []string {
	names := make([]string, len(x.categoryNames))
	for _, l := range x.categoryLines {
		for i, number := range l.numbers {
			if int(number) < len(names) {
				names[number] = l.names[i]
			}
		}
	}
	return names
}

// longest returns the number of words in the longest text.
func (x *Index) longest() (n int) {
	for _, p := range x.parts {
		n = max(n, p.Seg.Longest)
	}
	return n
}

// startOf returns the first instant of a day. Nanoseconds end in 2262; later
// days begin after every report.
func startOf(d disclosure.Day) int64 {
	start := d.Start()
	if start.Year() > 2200 {
		return math.MaxInt64
	}
	return start.UnixNano()
}

func (x *Index) lookup(t term) segment.Lookup {
	l := t.lookup(x.dict)
	if t.ident != "" {
		l.Refs = x.join.named(t.ident)
		l.Keys = keysOf(t.ident)
	}
	if len(t.words) > 1 {
		for _, e := range x.join.dir.byPart[strings.Join(t.words, " ")] {
			l.Refs = append(l.Refs, x.join.refs[e]...)
		}
	}
	return l
}

// alternatives returns those alternatives of a term that a report may have, or nil.
func (x *Index) alternatives(m *marketTerm) *segment.Alternatives {
	out := &segment.Alternatives{}
	for i := range m.terms {
		l := m.terms[i].lookup(x.dict)
		switch {
		case l.Phrase != nil:
			out.Phrases = append(out.Phrases, l.Phrase)
		case l.Stem != 0:
			out.Stems = append(out.Stems, l.Stem)
		}
		for _, e := range x.join.dir.byPart[strings.Join(m.terms[i].words, " ")] {
			out.Refs = append(out.Refs, x.join.refs[e]...)
		}
	}
	if len(out.Phrases) == 0 && len(out.Stems) == 0 && len(out.Refs) == 0 {
		return nil
	}
	return out
}

// lookup returns the words of a term as numbers of a dictionary.
func (t *term) lookup(d *segment.Dictionary) (l segment.Lookup) {
	switch {
	case len(t.words) > 1:
		l.Phrase = d.Numbers(t.words)
		return l
	case t.exact:
		l.Word = d.Word(t.words[0])
		return l
	}
	s := d.Stem(t.stem)
	if t.prefix {
		l.Prefix = t.words[0]
		l.Typed = d.Word(l.Prefix)
		if !slices.ContainsFunc(s.Words, func(w string) bool { return !strings.HasPrefix(w, l.Prefix) }) {
			return l // the prefix finds all words of the stem
		}
	}
	l.Stem = s.Number
	return l
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

// Texts returns the record and the words of every report as they are kept, in order.
func (x *Index) Texts() (all []string) {
	for _, d := range x.Live() {
		all = append(all, x.memory.At(d.Place))
	}
	return all
}
