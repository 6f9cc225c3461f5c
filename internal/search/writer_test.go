package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/segment"
)

// life is a market under change, with the past that somebody still holds.
type life struct {
	*reference
	rng   *rand.Rand
	state int // makes every state of every report another
	merge *search.Merge
	ran   bool
	held  []moment
}

// moment is an index and what it ought to answer for ever.
type moment struct {
	index   *search.Index
	filings []*search.Report
}

func newLife(seed uint64) *life {
	return &life{reference: newReference(), rng: rand.New(rand.NewPCG(seed, 23))}
}

// The first words are in most reports and the last in few.
var lifeWords = strings.Fields("de pago junta general extraordinaria dividendo dividendos fusión acciones acción ñandú nandu bono cupón relevo cese 2025 2026 40374 sol sola solar")

func (l *life) word() string { return lifeWords[min(l.rng.IntN(20), l.rng.IntN(20), l.rng.IntN(20))] }

var (
	lifeNIFs       = []string{"A-69000016", "a69000024", "V69000107", "0194", "fi-1", ""}
	lifeNames      = []string{"SOL DE BENICARZA, S.A.", "MINAS, S.A.", "BANCO", "***"}
	lifeTickers    = []string{"SOL", "MIN", "BO SI", "BVB", ""}
	lifeCategories = []string{"Sobre resultados", "Sobre resultados - Otra información", "SOBRE RESULTADOS - Sobre dividendos", ""}
)

// report makes a state of a report, all of it at random.
func (l *life) filing(t disclosure.Type, number int64) disclosure.Report {
	l.state++
	words := []string{fmt.Sprintf("estado%d", l.state)}
	for range 1 + l.rng.IntN(6) {
		words = append(words, l.word())
	}
	r := disclosure.Report{
		ID: disclosure.ReportID(t, number), Type: t, Number: number, NIF: pick(l.rng, lifeNIFs), CompanyName: pick(l.rng, lifeNames),
		Title: strings.Join(words, " "), Category: pick(l.rng, lifeCategories),
		PublishedAt: time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC).Add(time.Duration(l.rng.IntN(96)) * 30 * time.Minute), // many at once
	}
	if l.rng.IntN(4) == 0 {
		r.Ticker = pick(l.rng, lifeTickers)
	}
	return r
}

// some makes up to n reports out of so many that there can be: new ones,
// late ones, and changes of those that are there.
func (l *life) some(n, of int) []disclosure.Report {
	var out []disclosure.Report
	seen := map[string]bool{}
	for range n {
		r := l.filing(disclosure.Types[l.rng.IntN(3)], int64(1+l.rng.IntN(of)))
		if !seen[r.ID] {
			seen[r.ID] = true
			out = append(out, r)
		}
	}
	return out
}

// issuer makes a state of one of a few issuers.
func (l *life) issuer() disclosure.Issuer {
	i := disclosure.Issuer{
		ID: pick(l.rng, []string{"A69000016", "A69000024", "V69000107", "sgiic-194", "fi-1"}), Name: pick(l.rng, lifeNames),
		Ticker: pick(l.rng, lifeTickers), Kind: disclosure.Kinds[l.rng.IntN(4)],
	}
	if l.rng.IntN(3) == 0 {
		i.Aliases = []string{pick(l.rng, []string{"0194", "V69000107", "sicav-9"})} // of another, maybe
	}
	return i
}

// question makes a filter.
func (l *life) question() disclosure.Filter {
	var f disclosure.Filter
	var parts []string
	for range l.rng.IntN(3) {
		w := l.word()
		switch l.rng.IntN(8) {
		case 0:
			w = "-" + w
		case 1:
			w = `"` + w + " " + l.word() + `"`
		case 2:
			w = `-"` + w + " " + l.word() + `"`
		case 3:
			w = string([]rune(w)[:1+l.rng.IntN(2)])
		case 4:
			w = pick(l.rng, []string{"bvb", "min", "sol", `"bo si"`, "-bvb", "a69000016", "-A-69000016", "fi-1", "ip-3", "-oir-2", "1"})
		}
		parts = append(parts, w)
	}
	f.Search = strings.Join(parts, " ")
	if l.rng.IntN(4) == 0 {
		f.Type = disclosure.Types[l.rng.IntN(3)]
	}
	if l.rng.IntN(6) == 0 {
		f.Issuer = pick(l.rng, []string{"A-69000016", "0194", "fi-1", "sicav-9", "V69000107", "nobody"})
	}
	if l.rng.IntN(6) == 0 {
		f.Category = pick(l.rng, []string{"sobre resultados", "otra informacion", "sobre dividendos", "ninguna"})
	}
	if l.rng.IntN(6) == 0 {
		f.Kind = disclosure.Kinds[l.rng.IntN(4)]
	}
	day := disclosure.DayOf(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC))
	if l.rng.IntN(5) == 0 {
		f.From = day + disclosure.Day(l.rng.IntN(3))
	}
	if l.rng.IntN(5) == 0 {
		f.To = day + disclosure.Day(l.rng.IntN(3))
	}
	return f
}

// tend lets a merge begin, run or end. One begins where the writer says so or,
// so that small ones are seen under way too, anywhere.
func (l *life) tend() {
	switch {
	case l.merge == nil:
		if l.merge = l.writer.Due(); l.merge == nil {
			l.merge = l.writer.BeginMerge(1 + l.rng.IntN(4))
		}
		l.ran = false
	case !l.ran:
		l.merge.Run()
		l.ran = true
	default:
		l.writer.Install(l.merge)
		l.merge = nil
	}
}

// check compares the index, and some of the past, with plain loops.
func (l *life) check(t *testing.T, questions int) {
	t.Helper()
	now := moment{l.writer.Index(), l.filings()}
	if len(l.held) < 4 {
		l.held = append(l.held, now)
	} else if l.rng.IntN(8) == 0 {
		l.held[l.rng.IntN(len(l.held))] = now
	}
	for range questions {
		compare(t, now.index, now.filings, l.question(), l.rng)
		old := l.held[l.rng.IntN(len(l.held))]
		compare(t, old.index, old.filings, l.question(), l.rng)
	}
	now.whole(t)
	l.held[l.rng.IntN(len(l.held))].whole(t)
}

// whole checks that every report is there once, in its present state, and that
// others are not.
func (m moment) whole(t *testing.T) {
	t.Helper()
	if m.index.Len() != len(m.filings) {
		t.Fatalf("the index has %d reports, want %d", m.index.Len(), len(m.filings))
	}
	for _, f := range m.filings {
		r := f.Report
		d := m.index.Find(search.KeyOf(r.Type, r.Number))
		if d == nil || m.index.Record(d) != record(r) || search.TypeOf(d.Key) != r.Type || d.At != r.PublishedAt.UnixNano() || m.index.Heading(d) != r.Category {
			t.Fatalf("%s is not found as it is: %+v", r.ID, d)
		}
		if m.index.Issuer(d) != f.Issuer {
			t.Fatalf("%s is of %v, want %v", r.ID, m.index.Issuer(d), f.Issuer)
		}
	}
	if d := m.index.Find(search.KeyOf(disclosure.IP, 1<<40)); d != nil {
		t.Fatalf("found what never was: %+v", d)
	}
}

// TestWriterLife changes a small market thousands of times, with merges under
// way at every moment, and compares all of it with plain loops after each step.
func TestWriterLife(t *testing.T) {
	steps := 3000
	if raceDetector || testing.Short() {
		steps = 600
	}
	l := newLife(1)
	merges := 0
	for step := range steps {
		switch l.rng.IntN(10) {
		case 0:
			l.apply(nil, []disclosure.Issuer{l.issuer()})
		case 1:
			l.apply(l.some(1+l.rng.IntN(20), 30), []disclosure.Issuer{l.issuer(), l.issuer()})
		case 2: // one report, again and again
			for n := range int64(1 + l.rng.IntN(4)) {
				l.apply([]disclosure.Report{l.filing(disclosure.OIR, 1+n/2)}, nil)
			}
		case 3, 4, 5, 6:
			l.tend()
			if l.merge == nil {
				merges++
			}
		default:
			l.apply(l.some(l.rng.IntN(6), 30), nil)
		}
		l.check(t, 2)
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
	}
	if merges < steps/20 {
		t.Errorf("only %d merges in %d steps", merges, steps)
	}
}

// TestWriterLifeOfManyFilings does the same to segments so large that common
// words are kept as plain bits, with pages of any depth.
func TestWriterLifeOfManyFilings(t *testing.T) {
	size, steps := 2200, 60 // numbers of each type
	if raceDetector || testing.Short() {
		size, steps = 1500, 12
	}
	l := newLife(2)
	var all []disclosure.Report
	for n := range size {
		for _, typ := range disclosure.Types {
			all = append(all, l.filing(typ, int64(n+1)))
		}
	}
	l.apply(all, []disclosure.Issuer{l.issuer(), l.issuer(), l.issuer()})
	if n := l.writer.Index().PlainSets(); n < 10 {
		t.Fatalf("%d words are plain bits: the test proves little", n)
	}
	background, interleaved := 0, 0
	for range steps {
		switch l.rng.IntN(8) {
		case 0:
			l.apply(nil, []disclosure.Issuer{l.issuer()}) // re-indexes a good part, maybe
		case 1, 2, 3:
			l.tend()
		default:
			l.apply(l.some(l.rng.IntN(700), size), nil)
		}
		if l.merge == nil {
			if l.merge = l.writer.Due(); l.merge != nil {
				background++
				l.ran = false
			}
		}
		sizes, gone := l.writer.Index().Segments()
		if len(sizes) > 1 && slices.Max(gone) > 0 && l.writer.Index().PlainSets() > 10 {
			interleaved++
		}
		l.check(t, 2)
		l.deep(t)
	}
	if background < 1 || interleaved < steps/4 {
		t.Errorf("%d merges beside the writer, %d steps with reports gone from plain bits: the test proves little", background, interleaved)
	}
}

// deep compares pages of one question at many depths.
func (l *life) deep(t *testing.T) {
	t.Helper()
	filings := l.filings()
	for _, f := range []disclosure.Filter{
		{},
		{Search: pick(l.rng, []string{"-de", "-pago", "-junta", "-solar", "-cese -bono"})}, // what is gone, and what is not wanted
		{Search: l.word(), Type: disclosure.Types[l.rng.IntN(3)]},
		l.question(),
	} {
		want := matching(filings, f)
		for range 12 {
			comparePage(t, l.writer.Index(), want, f, l.rng.IntN(len(want)+2), 1+l.rng.IntN(130))
		}
	}
}

// Pages cut a list without a gap or a repeat, wherever segments begin and end
// in time: behind each other, within each other, or at one instant.
func TestDeepPagesOverSegments(t *testing.T) {
	noon := time.Date(2026, 4, 22, 12, 0, 0, 0, time.UTC)
	for name, minute := range map[string]func(n int) int{
		"one after another":        func(n int) int { return n },
		"newest first":             func(n int) int { return -n },
		"interleaved":              func(n int) int { return n * 7919 % 4500 },
		"all at once":              func(int) int { return 0 },
		"later ones in one moment": func(n int) int { return min(n, 2000) },
		"later ones far away":      func(n int) int { return n + n/4200*90000 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLife(3)
			n := 0
			for _, size := range []int{4200, 1500, 300, 90, 20, 1} { // none is due to be merged
				batch := make([]disclosure.Report, size)
				for i := range batch {
					n++
					batch[i] = l.filing(disclosure.OIR, int64(n))
					batch[i].PublishedAt = noon.Add(time.Duration(minute(n)) * time.Minute)
				}
				l.apply(batch, nil)
			}
			if sizes, _ := l.writer.Index().Segments(); len(sizes) != 6 {
				t.Fatalf("segments of %v", sizes)
			}
			for _, f := range []disclosure.Filter{{}, {Search: "cupon"}, {Search: "-de", Category: "sobre resultados"}} {
				want := matching(l.filings(), f)
				for _, offset := range []int{0, 1, 63, 64, 65, 66, len(want) / 2, len(want) - 65, len(want) - 2, len(want) - 1, len(want), len(want) + 1} {
					comparePage(t, l.writer.Index(), want, f, max(offset, 0), 30)
				}
				for range 20 {
					comparePage(t, l.writer.Index(), want, f, l.rng.IntN(len(want)), 1+l.rng.IntN(10))
				}
			}
		})
	}
}

// found lists the reports that a text finds.
func (m *reference) found(text string) string {
	x := m.writer.Index()
	total, docs := find(x, disclosure.Filter{Search: text}, 0, 1000)
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i], _, _ = strings.Cut(x.Record(d), " ")
	}
	if total != len(docs) {
		return fmt.Sprintf("%d: %v", total, ids)
	}
	return strings.Join(ids, " ")
}

func (m *reference) wantFound(t *testing.T, want map[string]string) {
	t.Helper()
	for _, text := range slices.Sorted(maps.Keys(want)) {
		if got := m.found(text); got != want[text] {
			t.Errorf("%q finds %q, want %q", text, got, want[text])
		}
	}
}

func plain(number int64, hour int, nif, title string) disclosure.Report {
	return disclosure.Report{
		ID: disclosure.ReportID(disclosure.OIR, number), Type: disclosure.OIR, Number: number, NIF: nif, CompanyName: "X", Title: title,
		PublishedAt: time.Date(2026, 4, 22, hour, 0, 0, 0, time.UTC),
	}
}

// The reports of an issuer that changes its ticker are found by the new one
// and not by the old, each once, also while a merge that knows only the old is
// under way, before and after it has run.
func TestTickerChanges(t *testing.T) {
	for _, when := range []string{"alone", "before the run", "after the run"} {
		t.Run(when, func(t *testing.T) {
			m := newReference()
			issuer := disclosure.Issuer{ID: "A69000016", Name: "BODEGAS", Ticker: "BVB"}
			other := disclosure.Issuer{ID: "A69000024", Name: "ACEROS", Ticker: "ANB"}
			m.apply([]disclosure.Report{plain(1, 8, "A69000016", "uno"), plain(2, 9, "A69000024", "dos")}, []disclosure.Issuer{issuer, other})
			m.apply([]disclosure.Report{plain(3, 7, "A-69000016", "tres"), plain(4, 10, "", "cuatro")}, nil)
			m.wantFound(t, map[string]string{"bvb": "oir-1 oir-3", "anb": "oir-2", "b": "oir-1 oir-3", "-bvb": "oir-4 oir-2"})

			var merge *search.Merge
			if when != "alone" {
				if merge = m.writer.BeginMerge(1); merge == nil {
					t.Fatal("nothing to merge")
				}
				if when == "after the run" {
					merge.Run()
				}
			}
			issuer.Ticker = "VVB"
			m.apply([]disclosure.Report{plain(1, 8, "A69000016", "otra vez uno")}, []disclosure.Issuer{issuer}) // and one of them changes
			after := map[string]string{"bvb": "", "vvb": "oir-1 oir-3", "anb": "oir-2", "vvb uno": "oir-1", "vv": "oir-1 oir-3", "-vvb": "oir-4 oir-2", "": "oir-4 oir-2 oir-1 oir-3"}
			m.wantFound(t, after)
			if merge != nil {
				if when == "before the run" {
					merge.Run()
				}
				m.writer.Install(merge)
				m.wantFound(t, after)
			}

			issuer.Ticker = "VVB B" // of several words
			m.apply(nil, []disclosure.Issuer{issuer})
			m.wantFound(t, map[string]string{"vvb": "oir-1 oir-3", `"vvb b"`: "oir-1 oir-3", `"b vvb"`: "", `-"vvb b"`: "oir-4 oir-2"})
			issuer.Ticker = ""
			m.apply(nil, []disclosure.Issuer{issuer})
			m.wantFound(t, map[string]string{"vvb": "", `"vvb b"`: "", "anb": "oir-2", "": "oir-4 oir-2 oir-1 oir-3"})
			moment{m.writer.Index(), m.filings()}.whole(t)
		})
	}
}

// A merge takes in what happened while it ran: what was replaced is gone from
// its result, be it replaced once or twice, before its run or after.
func TestUpdatesDuringMerge(t *testing.T) {
	l := newLife(4)
	l.apply(l.some(60, 20), nil)
	for round := range 40 {
		if sizes, _ := l.writer.Index().Segments(); round%5 == 0 {
			l.merge, l.ran = l.writer.BeginMerge(len(sizes)), false
		}
		if again := l.writer.BeginMerge(1); again != nil || l.writer.Due() != nil {
			t.Fatal("two merges at a time")
		}
		if round%5 == 2 && round%2 == 0 {
			l.merge.Run()
			l.ran = true
		}
		l.apply(l.some(8, 20), nil)
		l.check(t, 3)
		if round%5 == 4 {
			for l.merge != nil {
				l.tend()
			}
			l.check(t, 3)
		}
	}
}

// A segment of which everything was replaced while it was merged leaves
// nothing behind.
func TestMergeOfWhatIsGone(t *testing.T) {
	for _, ranBefore := range []bool{true, false} {
		m := newReference()
		var first, second []disclosure.Report
		for n := range int64(5) {
			first = append(first, plain(n+1, 8, "", "antes"))
			second = append(second, plain(n+1, 9, "", "ahora"))
		}
		m.apply(first, nil)
		merge := m.writer.BeginMerge(1)
		if ranBefore {
			merge.Run()
		}
		m.apply(second, nil)
		if !ranBefore {
			merge.Run()
		}
		m.writer.Install(merge)
		m.wantFound(t, map[string]string{"antes": "", "ahora": "oir-5 oir-4 oir-3 oir-2 oir-1"})
		m.apply([]disclosure.Report{plain(9, 10, "", "nueva")}, nil)
		if sizes, gone := m.writer.Index().Segments(); slices.Max(gone) != 0 || len(sizes) > 2 {
			t.Errorf("segments of %v with %v gone are left", sizes, gone)
		}
	}
}

// A segment that is mostly gone is merged alone where those behind it are not
// to be merged with it.
func TestMostlyGoneIsMergedAlone(t *testing.T) {
	l := newLife(8)
	batch := func(from, to int64) (out []disclosure.Report) {
		for n := from; n < to; n++ {
			out = append(out, l.filing(disclosure.HR, n))
		}
		return out
	}
	l.apply(batch(1, 1001), nil)
	merge := l.writer.BeginMerge(1) // holds it, while two more grow behind it
	merge.Run()
	l.apply(batch(1, 601), nil)
	l.apply(batch(2001, 2002), nil)
	l.check(t, 3)
	l.writer.Install(merge)
	sizes, gone := l.writer.Index().Segments()
	if diff := cmp.Diff([][]int{{400, 600, 1}, {0, 0, 0}}, [][]int{sizes, gone}); diff != "" {
		t.Errorf("segments, and what is gone of them: %s", diff)
	}
	l.check(t, 3)
}

// Merges of large segments go on beside the writer and queue: the next is due
// when one is in, until little is gone anywhere.
func TestMergesQueue(t *testing.T) {
	l := newLife(5)
	batch := func(from, to int64) (out []disclosure.Report) {
		for n := from; n < to; n++ {
			out = append(out, l.filing(disclosure.HR, n))
		}
		return out
	}
	l.apply(batch(1, 9000), nil)
	if l.writer.Due() != nil {
		t.Fatal("one whole segment is to be merged")
	}
	for from := int64(1); from < 4600; from += 1150 { // half of it, and a little more
		l.apply(batch(from, from+1150), nil)
	}
	merges := 0
	for m := l.writer.Due(); m != nil; m = l.writer.Due() {
		merges++
		l.apply(batch(8000, 8100), nil) // meanwhile
		m.Run()
		l.writer.Install(m)
	}
	sizes, gone := l.writer.Index().Segments()
	for i := range sizes {
		if gone[i] > (sizes[i]+1)/2 {
			t.Errorf("of %v are %v gone, and nothing is due", sizes, gone)
		}
	}
	if merges == 0 || len(sizes) > 4 {
		t.Errorf("%d merges led to segments of %v", merges, sizes)
	}
	l.check(t, 3)
	l.deep(t)
}

// Few segments stand, whatever comes: each is more than twice the next.
func TestSegmentsStayFew(t *testing.T) {
	l := newLife(6)
	for n := range int64(600) {
		l.apply([]disclosure.Report{l.filing(disclosure.IP, n+1)}, nil)
		sizes, _ := l.writer.Index().Segments()
		for i := 1; i < len(sizes); i++ {
			if sizes[i-1] <= 2*sizes[i] {
				t.Fatalf("segments of %v", sizes)
			}
		}
	}
	l.check(t, 3)
}

// Apply returns which states it replaced, so that they can be counted out.
func TestApplyReturnsWhatItReplaced(t *testing.T) {
	m := newReference()
	m.apply([]disclosure.Report{plain(1, 8, "", "uno"), plain(2, 9, "", "dos")}, nil)
	m.apply([]disclosure.Report{plain(3, 7, "", "tres")}, nil)
	old := m.writer.Index()
	again := []disclosure.Report{plain(1, 11, "", "uno otra vez"), plain(3, 12, "", "tres otra vez"), plain(4, 12, "", "cuatro")}
	var docs []segment.Doc
	for i := range again {
		docs = append(docs, m.writer.Doc(&again[i], nil))
	}
	if diff := cmp.Diff([]string{"oir-1 uno", "oir-3 tres"}, records(old, m.writer.Apply(docs, nil))); diff != "" {
		t.Error(diff)
	}
	if replaced := m.writer.Apply(nil, directory(disclosure.Issuer{ID: "fi-1", Name: "X", Ticker: "EQUIS"})); replaced != nil {
		t.Errorf("a new ticker replaced %d states", len(replaced))
	}
	if got := m.writer.Index().Len(); got != 4 {
		t.Errorf("%d reports, want 4", got)
	}
}
