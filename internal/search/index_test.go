package search_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/segment"
	"pregon/internal/sim/market"
	"pregon/internal/test/longtest"
)

// reference holds every report and issuer in plain maps, for comparison with the
// index.
type reference struct {
	writer  *search.Writer
	reports map[string]*disclosure.Report
	issuers map[string]*disclosure.Issuer
	dir     *search.Directory
	read    map[*disclosure.Report]*search.Report // analysed already, for dir
}

func newReference() *reference {
	return &reference{
		writer: search.NewWriter(&search.Numbers{}, recordedFacts), dir: search.NewDirectory(nil),
		reports: map[string]*disclosure.Report{}, issuers: map[string]*disclosure.Issuer{},
	}
}

// apply writes to the index and to the reference.
func (m *reference) apply(reports []disclosure.Report, issuers []disclosure.Issuer) {
	var docs []segment.Doc
	for i := range reports {
		r := &reports[i]
		m.reports[r.ID] = r
		docs = append(docs, m.writer.Doc(r, []byte(record(r))))
	}
	var dir *search.Directory
	if len(issuers) > 0 {
		for i := range issuers {
			m.issuers[issuers[i].ID] = &issuers[i]
		}
		var all []*search.Issuer
		for _, i := range m.issuers {
			all = append(all, search.NewIssuer(i))
		}
		dir = search.NewDirectory(all)
		m.dir, m.read = dir, nil
	}
	m.writer.Apply(docs, dir)
}

// sorted returns the analysed reports in the order of lists. It keeps them, so that
// thousands of queries need not analyse them again.
func (m *reference) sorted() []*search.Report {
	read := make(map[*disclosure.Report]*search.Report, len(m.reports))
	all := make([]*search.Report, 0, len(m.reports))
	for _, r := range m.reports {
		f := m.read[r]
		if f == nil {
			f = m.dir.Analyze(r)
		}
		read[r] = f
		all = append(all, f)
	}
	m.read = read
	slices.SortFunc(all, compareReports)
	return all
}

// record returns the record of a report. It differs between states of the report.
func record(r *disclosure.Report) string {
	s := r.ID + " " + r.Title
	for _, f := range r.Facts {
		amount, currency := f.Amount()
		s += "\x01" + string(f.Kind) + "\x02" + amount + "\x02" + currency
	}
	return s
}

// recordedFacts returns the facts of a record.
func recordedFacts(record string) (facts []disclosure.Fact) {
	for i, one := range strings.Split(record, "\x01") {
		if i > 0 {
			values := strings.Split(one, "\x02")
			facts = append(facts, newFact(disclosure.FactKind(values[0]), values[1], values[2]))
		}
	}
	return facts
}

func newFact(kind disclosure.FactKind, amount, currency string) disclosure.Fact {
	f := disclosure.Fact{Kind: kind, Fields: map[string]string{"currency": currency}}
	switch kind {
	case disclosure.BuybackProgramme:
		f.Fields["max_amount"] = amount
	case disclosure.BuybackTrades, disclosure.Capital:
		f.Fields["amount"] = amount
	}
	return f
}

var (
	randomKinds = []disclosure.FactKind{
		disclosure.Dividend, disclosure.BuybackProgramme, disclosure.BuybackTrades, disclosure.Capital,
	}
	randomAmounts    = []string{"", "0", "0.25", "0.3", "50000000", "49999999.99", "50000000.00", "1200"}
	randomCurrencies = []string{"EUR", "EUR", "USD", ""}
)

// randomFacts returns a few facts, mostly none.
func randomFacts(rng *rand.Rand) (facts []disclosure.Fact) {
	for range max(0, rng.IntN(6)-3) {
		kind := randomKinds[rng.IntN(len(randomKinds))]
		facts = append(facts, newFact(kind, pick(rng, randomAmounts), pick(rng, randomCurrencies)))
	}
	return facts
}

// askFacts adds a condition on facts to a filter, sometimes.
func askFacts(f *disclosure.Filter, rng *rand.Rand) {
	if rng.IntN(4) > 0 {
		return
	}
	f.Fact = randomKinds[rng.IntN(len(randomKinds))]
	if f.Fact.HasAmount() && rng.IntN(2) == 0 {
		f.MinAmount = pick(rng, randomAmounts[1:])
		f.Currency = pick(rng, randomCurrencies[:3])
	}
}

func records(x *search.Index, docs []*segment.Doc) []string {
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = x.Record(d)
	}
	return ids
}

var until = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// TestIndexAgreesWithLoops compares the index with plain loops on random queries:
// order, totals, and pages of any depth. With the race detector it runs fewer
// queries; make test-all also runs it without.
func TestIndexAgreesWithLoops(t *testing.T) {
	size, questions, workers := 20_000, 10_000, 2
	if longtest.Race || testing.Short() {
		size, questions = 6_000, 600 // enough for every kind of set
	}
	m := simulated(size, rand.New(rand.NewPCG(1, 2)))
	reports := m.sorted()
	if x := m.writer.Index(); x.Len() != len(reports) {
		t.Fatalf("the index has %d reports, want %d", x.Len(), len(reports))
	}
	for worker := range workers {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, uint64(worker)))
			ask := newQuestions(reports, m, rng)
			loop := newLoop(reports)
			answered := 0
			for range questions / workers {
				f := ask.filter()
				want := loop.matching(f)
				loop.sample(t, want, f, rng)
				answered += compareWith(t, m.writer.Index(), want, f, rng)
			}
			if answered < questions/workers/4 {
				t.Errorf("only %d of %d queries had a result, want a quarter", answered, questions/workers)
			}
		})
	}
}

// find searches. It panics if that fails, which the queries of the tests never do.
func find(x *search.Index, f disclosure.Filter, offset int64, limit int) (total int, found []*segment.Doc) {
	total, found, err := x.Search(context.Background(), f, offset, limit)
	if err != nil {
		panic(err)
	}
	return total, found
}

func walk(x *search.Index, f disclosure.Filter) iter.Seq[*segment.Doc] {
	all, err := x.Walk(context.Background(), f)
	if err != nil {
		panic(err)
	}
	return all
}

func findIssuers(d *search.Directory, text string, kind disclosure.Kind, limit int) []*search.Issuer {
	found, err := d.Search(context.Background(), text, kind, limit)
	if err != nil {
		panic(err)
	}
	return found
}

// loop is a plain loop over reports. So that thousands of queries take seconds, it
// tries the term of a query on every word instead of on every report.
type loop struct {
	reports []*search.Report
	words   map[string]*word
	initial map[byte][]*word // by the first byte, which all forms of a word share
	idents  map[string]bits
	known   map[string]bits // by the key of a term
}

// word is a document of one word, and the reports that have the word.
type word struct {
	search.Document
	in bits
}

// bits has a bit for each report.
type bits []uint64

func (b bits) has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }

func newLoop(reports []*search.Report) *loop {
	l := &loop{reports: reports, words: map[string]*word{}, initial: map[byte][]*word{}, idents: map[string]bits{}, known: map[string]bits{}}
	for i, r := range reports {
		for _, w := range r.Document().Words() {
			if w == "" { // between two fields
				continue
			}
			if l.words[w] == nil {
				l.words[w] = &word{search.NewDocument(nil, w), l.none()}
				l.initial[w[0]] = append(l.initial[w[0]], l.words[w])
			}
			l.words[w].in.set(i)
		}
		for _, ident := range r.Document().Idents() {
			if l.idents[ident] == nil {
				l.idents[ident] = l.none()
			}
			l.idents[ident].set(i)
		}
	}
	return l
}

func (l *loop) none() bits { return make(bits, len(l.reports)/64+1) }

// matching returns the reports that match a filter, as the function matching does.
func (l *loop) matching(f disclosure.Filter) (want []*search.Report) {
	all, none, ok := search.Compile(f).Terms()
	if !ok {
		return nil
	}
	left := l.none()
	for i := range left {
		left[i] = ^uint64(0)
	}
	for _, term := range all {
		for i, with := range l.withAny(term) {
			left[i] &= with
		}
	}
	for _, term := range none {
		for i, with := range l.with(term) {
			left[i] &^= with
		}
	}
	f.Search = ""
	others := search.Compile(f)
	for i, r := range l.reports {
		if left.has(i) && others.Match(r) {
			want = append(want, r)
		}
	}
	return want
}

// withAny returns the reports that have a term or one of its alternatives.
func (l *loop) withAny(term search.Term) bits {
	found := slices.Clone(l.with(term))
	for _, other := range term.Others {
		for i, with := range l.with(other) {
			found[i] |= with
		}
	}
	return found
}

// with returns the reports that have a term.
func (l *loop) with(term search.Term) bits {
	if found, ok := l.known[term.Key]; ok {
		return found
	}
	found := l.none()
	if first := l.words[term.Words[0]]; len(term.Words) > 1 && first != nil {
		for i, r := range l.reports {
			if first.in.has(i) && term.In(r.Document()) {
				found.set(i)
			}
		}
	} else if len(term.Words) == 1 {
		for _, w := range l.initial[term.Words[0][0]] {
			if term.In(&w.Document) {
				for i, with := range w.in {
					found[i] |= with
				}
			}
		}
	}
	for i, with := range l.idents[term.Ident] {
		found[i] |= with
	}
	l.known[term.Key] = found
	return found
}

// sample compares want with the whole matcher for some reports.
func (l *loop) sample(t *testing.T, want []*search.Report, f disclosure.Filter, rng *rand.Rand) {
	t.Helper()
	matcher := search.Compile(f)
	for range 100 {
		r := l.reports[rng.IntN(len(l.reports))]
		_, found := slices.BinarySearchFunc(want, r, compareReports)
		if matched := matcher.Match(r); matched != found {
			t.Fatalf("%+v: Match(%s) = %v, want %v by its terms", f, r.Report.ID, matched, found)
		}
	}
	for range min(100, len(want)) {
		if r := want[rng.IntN(len(want))]; !matcher.Match(r) {
			t.Fatalf("%+v: Match(%s) = false, want true by its terms", f, r.Report.ID)
		}
	}
}

func compareReports(a, b *search.Report) int { return disclosure.CompareReports(a.Report, b.Report) }

// compare runs one query on both and returns 1 if it had a result.
func compare(t *testing.T, x *search.Index, reports []*search.Report, f disclosure.Filter, rng *rand.Rand) int {
	t.Helper()
	return compareWith(t, x, matching(reports, f), f, rng)
}

// compareWith runs one query on the index, which must find the reports in want.
func compareWith(t *testing.T, x *search.Index, want []*search.Report, f disclosure.Filter, rng *rand.Rand) int {
	t.Helper()
	limit, offset := 1+rng.IntN(50), 0
	if rng.IntN(3) > 0 {
		offset = rng.IntN(len(want) + 2)
	}
	comparePage(t, x, want, f, offset, limit)
	compareWalk(t, x, want, f)
	return min(len(want), 1)
}

// compareWalk checks that a walk returns all reports that the loop found.
func compareWalk(t *testing.T, x *search.Index, want []*search.Report, f disclosure.Filter) {
	t.Helper()
	n := 0
	for d := range walk(x, f) {
		if n == len(want) {
			t.Fatalf("%+v: Walk continues after all %d reports", f, n)
		}
		r := want[n].Report
		if search.TypeOf(d.Key) != r.Type || d.Number() != r.Number || !d.Listed().Equal(r.PublishedAt) {
			t.Fatalf("%+v: Walk returned %s %d of %v, want %s of %v", f, search.TypeOf(d.Key), d.Number(), d.Listed(), r.ID, r.PublishedAt)
		}
		n++
	}
	if n != len(want) {
		t.Fatalf("%+v: Walk returned %d reports, want %d", f, n, len(want))
	}
}

// matching returns the reports that match a filter, by a plain loop.
func matching(reports []*search.Report, f disclosure.Filter) []*search.Report {
	matcher := search.Compile(f)
	var want []*search.Report
	for _, report := range reports {
		if matcher.Match(report) {
			want = append(want, report)
		}
	}
	return want
}

// comparePage checks one page of the reports that the loop found.
func comparePage(t *testing.T, x *search.Index, want []*search.Report, f disclosure.Filter, offset, limit int) {
	t.Helper()
	var expected []string
	for _, report := range want[min(offset, len(want)):min(offset+limit, len(want))] {
		expected = append(expected, record(report.Report))
	}
	total, docs := find(x, f, int64(offset), limit)
	if got := records(x, docs); total != len(want) || !slices.Equal(got, expected) {
		t.Fatalf("%+v from %d:\ngot  %d %q\nwant %d %q", f, offset, total, got, len(want), expected)
	}
}

// simulated returns a market with a history of updates: reports came late and out
// of order, some changed, and issuers came after their reports.
func simulated(size int, rng *rand.Rand) *reference {
	source := market.New(7)
	m := newReference()
	reports := slices.Collect(source.Bulk(size, until))
	for i := range reports {
		reports[i].Facts = randomFacts(rng)
	}
	issuers := source.Issuers()
	late := reports[:0:0]
	for i := range reports { // some come late
		if rng.IntN(20) == 0 {
			late = append(late, reports[i])
			continue
		}
	}
	kept := slices.DeleteFunc(reports, func(r disclosure.Report) bool {
		return slices.ContainsFunc(late, func(l disclosure.Report) bool { return l.ID == r.ID })
	})
	m.apply(slices.Clone(kept[:len(kept)/2]), issuers[:len(issuers)/2])
	for rest := kept[len(kept)/2:]; len(rest) > 0; {
		n := min(1+rng.IntN(300), len(rest))
		m.apply(slices.Clone(rest[:n]), nil)
		rest = rest[n:]
	}
	m.apply(late, issuers)
	var changed []disclosure.Report
	for _, id := range slices.Sorted(maps.Keys(m.reports)) {
		if r := m.reports[id]; rng.IntN(50) == 0 {
			c := *r
			c.Facts = randomFacts(rng)
			c.Summary = "Resumen con dividendo de prueba " + r.ID
			c.PublishedAt = c.PublishedAt.Add(time.Duration(rng.IntN(7200)-3600) * time.Second)
			changed = append(changed, c)
		}
	}
	m.apply(changed, nil)
	return m
}

// questions generates filters from the contents of the reports, and some that
// match none.
type questions struct {
	rng        *rand.Rand
	words      []string
	phrases    []string
	categories []string
	issuers    []string
	idents     []string
	markets    []string
	from, to   disclosure.Day
}

func newQuestions(reports []*search.Report, m *reference, rng *rand.Rand) *questions {
	q := &questions{rng: rng, from: reports[len(reports)-1].Day(), to: reports[0].Day()}
	for range 3000 {
		f := reports[rng.IntN(len(reports))]
		words := strings.Fields(f.Report.Title + " " + f.Report.CompanyName)
		q.words = append(q.words, words[rng.IntN(len(words))])
		at := rng.IntN(len(words) - 1) // mostly adjacent, sometimes across two fields
		q.phrases = append(q.phrases, strings.Join(words[at:min(at+2+rng.IntN(5), len(words))], " "))
		if c := f.Report.Categories(); len(c) > 0 {
			q.categories = append(q.categories, c[rng.IntN(len(c))])
		}
		q.idents = append(q.idents, f.Report.ID, fmt.Sprint(f.Report.Number), f.Report.NIF)
		if f.Ticker != "" {
			q.words = append(q.words, f.Ticker)
		}
	}
	for _, i := range m.issuers {
		q.issuers = append(q.issuers, i.Keys()...)
		if i.Market != "" {
			q.markets = append(q.markets, i.Market)
		}
	}
	slices.Sort(q.issuers)
	slices.Sort(q.markets)
	q.words = append(q.words, "inexistente", "S.A.", "-", "2026", "de", "la")
	return q
}

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }

func (q *questions) filter() disclosure.Filter {
	var f disclosure.Filter
	var parts []string
	for range q.rng.IntN(4) {
		parts = append(parts, q.term())
	}
	if f.Widen = q.rng.IntN(2) == 0; f.Widen {
		parts = append(parts, pick(q.rng, search.EnglishTerms()))
		q.rng.Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
	}
	f.Search = strings.Join(parts, " ")
	if q.rng.IntN(4) == 0 {
		f.Type = disclosure.Types[q.rng.IntN(3)]
	}
	if q.rng.IntN(8) == 0 {
		f.Category = pick(q.rng, q.categories)
		if q.rng.IntN(2) == 0 {
			f.Category, f.CategoryWords = pick(q.rng, strings.Fields(f.Category)), true
		}
	}
	if q.rng.IntN(8) == 0 {
		f.Issuer = pick(q.rng, q.issuers)
		if q.rng.IntN(2) == 0 {
			f.Issuer = disclosure.JoinIssuers([]string{f.Issuer, pick(q.rng, q.issuers), pick(q.rng, q.issuers)})
		}
	}
	if q.rng.IntN(8) == 0 {
		f.Kind = disclosure.Kinds[q.rng.IntN(4)]
	}
	if q.rng.IntN(8) == 0 {
		f.Market = pick(q.rng, q.markets)
		if q.rng.IntN(2) == 0 {
			f.Market, f.MarketWords = pick(q.rng, strings.Fields(f.Market)), true
		}
	}
	f.NoSecuritisation = q.rng.IntN(6) == 0
	f.NoRoutine = q.rng.IntN(6) == 0
	askFacts(&f, q.rng)
	if q.rng.IntN(4) == 0 {
		f.From = q.from + disclosure.Day(q.rng.IntN(int(q.to-q.from)+2))
	}
	if q.rng.IntN(4) == 0 {
		f.To = q.from + disclosure.Day(q.rng.IntN(int(q.to-q.from)+2))
	}
	if q.rng.IntN(8) == 0 {
		f.Watchlist = "wl_any"
		f.Entries = q.entries()
	}
	return f
}

// entries returns what a watchlist may name: nothing, issuers, searches, or that it is gone.
func (q *questions) entries() *disclosure.Entries {
	if q.rng.IntN(10) == 0 {
		return nil
	}
	e := &disclosure.Entries{}
	for range q.rng.IntN(4) {
		e.Issuers = append(e.Issuers, disclosure.IssuerKey(pick(q.rng, q.issuers)))
	}
	for range q.rng.IntN(4) {
		saved := q.filter()
		if !saved.HasList() {
			e.Filters = append(e.Filters, saved)
		}
	}
	return e
}

func (q *questions) term() string {
	w := pick(q.rng, q.words)
	switch q.rng.IntN(11) {
	case 0:
		return `"` + pick(q.rng, q.phrases) + `"`
	case 10:
		return `-"` + pick(q.rng, q.phrases) + `"`
	case 1:
		return "-" + w
	case 2:
		return pick(q.rng, q.idents)
	case 3:
		return string([]rune(w)[:1+q.rng.IntN(len([]rune(w)))])
	case 4:
		return strings.ToLower(w)
	case 5:
		return `"` + w + `"`
	}
	return w
}
