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
	"pregon/internal/test/longtest"
	"pregon/internal/text"
)

// randomMarket is a market that changes at random, with some earlier indexes.
type randomMarket struct {
	*reference
	rng   *rand.Rand
	state int // a counter, so that all states of reports differ
	merge *search.Merge
	ran   bool
	held  []moment
}

// moment is an index and the reports that it must always return.
type moment struct {
	index   *search.Index
	reports []*search.Report
}

func newRandomMarket(seed uint64) *randomMarket {
	return &randomMarket{reference: newReference(), rng: rand.New(rand.NewPCG(seed, 23))}
}

// The first words are in most reports and the last in few.
var randomWords = strings.Fields("de pago junta general extraordinaria dividendo dividendos fusión acciones acción ñandú nandu bono cupón relevo cese 2025 2026 40374 sol sola solar")

func (l *randomMarket) word() string {
	return randomWords[min(l.rng.IntN(20), l.rng.IntN(20), l.rng.IntN(20))]
}

var (
	randomNIFs       = []string{"A-69000016", "a69000024", "V69000107", "0194", "fi-1", ""}
	randomNames      = []string{"SOL DE BENICARZA, S.A.", "MINAS, S.A.", "BANCO", "***", "SOL 1, F.T.A.", "Sol 2, Fondo de Titulización"}
	randomMarkets    = []string{"SIBE", "Latibex", "LATIBEX", "BME Growth", "BME Scaleup", "***", ""}
	randomSectors    = []string{"BANCOS", "Bancos", "FINANCIACIÓN Y SEGUROS/BANCOS", "INMOBILIARIAS", "***", ""}
	randomTickers    = []string{"SOL", "MIN", "BO SI", "BVB", ""}
	randomCategories = []string{"Sobre resultados", "Sobre resultados - Otra información", "SOBRE RESULTADOS - Sobre dividendos", ""}
)

// newReport returns a random state of a report.
func (l *randomMarket) newReport(t disclosure.Type, number int64) disclosure.Report {
	l.state++
	words := []string{fmt.Sprintf("estado%d", l.state)}
	for range 1 + l.rng.IntN(6) {
		words = append(words, l.word())
	}
	r := disclosure.Report{
		ID: disclosure.ReportID(t, number), Type: t, Number: number, NIF: pick(l.rng, randomNIFs), CompanyName: pick(l.rng, randomNames),
		Title: strings.Join(words, " "), Category: pick(l.rng, randomCategories),
		PublishedAt: time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC).Add(time.Duration(l.rng.IntN(96)) * 30 * time.Minute), // many at once
	}
	if l.rng.IntN(4) == 0 {
		r.Ticker = pick(l.rng, randomTickers)
	}
	r.Facts = randomFacts(l.rng)
	return r
}

// some returns up to n reports with numbers up to of: new ones, late ones, and
// changes of known ones.
func (l *randomMarket) some(n, of int) []disclosure.Report {
	var out []disclosure.Report
	seen := map[string]bool{}
	for range n {
		r := l.newReport(disclosure.Types[l.rng.IntN(3)], int64(1+l.rng.IntN(of)))
		if !seen[r.ID] {
			seen[r.ID] = true
			out = append(out, r)
		}
	}
	return out
}

// issuer returns a random state of one of a few issuers.
func (l *randomMarket) issuer() disclosure.Issuer {
	i := disclosure.Issuer{
		ID: pick(l.rng, []string{"A69000016", "A69000024", "V69000107", "sgiic-194", "fi-1"}), Name: pick(l.rng, randomNames),
		Ticker: pick(l.rng, randomTickers), Kind: disclosure.Kinds[l.rng.IntN(4)], Market: pick(l.rng, randomMarkets), Sector: pick(l.rng, randomSectors),
	}
	if l.rng.IntN(3) == 0 {
		i.Aliases = []string{pick(l.rng, []string{"0194", "V69000107", "sicav-9"})} // of another, maybe
	}
	return i
}

// question returns a random filter.
func (l *randomMarket) question() disclosure.Filter {
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
	if f.Widen = l.rng.IntN(4) == 0; f.Widen {
		parts = append(parts, pick(l.rng, search.EnglishTerms()))
	}
	f.Search = strings.Join(parts, " ")
	if l.rng.IntN(4) == 0 {
		f.Type = disclosure.Types[l.rng.IntN(3)]
	}
	if l.rng.IntN(6) == 0 {
		f.Issuer = pick(l.rng, []string{"A-69000016", "0194", "fi-1", "sicav-9", "V69000107", "unknown"})
	}
	if l.rng.IntN(6) == 0 {
		f.Category = pick(l.rng, []string{"sobre resultados", "otra informacion", "sobre dividendos", "ninguna"})
		if l.rng.IntN(2) == 0 {
			f.CategoryWords = true
			f.Category = pick(l.rng, []string{"Sobre", "resultado", "dividendo sobre", "sobre otra", "otra", "res", "-"})
		}
	}
	if l.rng.IntN(6) == 0 {
		f.Kind = disclosure.Kinds[l.rng.IntN(4)]
	}
	if l.rng.IntN(6) == 0 {
		f.Market = pick(l.rng, randomMarkets)
		if f.MarketWords = l.rng.IntN(2) == 0; f.MarketWords {
			f.Market = pick(l.rng, []string{"latibex", "growth", "BME", "bme growths", "***", "lati"})
		}
	}
	if l.rng.IntN(6) == 0 {
		f.Sector = pick(l.rng, randomSectors)
		if f.SectorWords = l.rng.IntN(2) == 0; f.SectorWords {
			f.Sector = pick(l.rng, []string{"bancos", "banks", "real estate", "insurers banco", "***", "ban"})
		}
	}
	f.NoSecuritisation = l.rng.IntN(4) == 0
	askFacts(&f, l.rng)
	day := disclosure.DayOf(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC))
	if l.rng.IntN(5) == 0 {
		f.From = day + disclosure.Day(l.rng.IntN(3))
	}
	if l.rng.IntN(5) == 0 {
		f.To = day + disclosure.Day(l.rng.IntN(3))
	}
	return f
}

// tend begins, runs or installs a merge. It begins one that is due or, so that
// small merges are tested too, any other.
func (l *randomMarket) tend() {
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

// check compares the index, and some earlier ones, with plain loops.
func (l *randomMarket) check(t *testing.T, questions int) {
	t.Helper()
	now := moment{l.writer.Index(), l.sorted()}
	if len(l.held) < 4 {
		l.held = append(l.held, now)
	} else if l.rng.IntN(8) == 0 {
		l.held[l.rng.IntN(len(l.held))] = now
	}
	for range questions {
		compare(t, now.index, now.reports, l.question(), l.rng)
		old := l.held[l.rng.IntN(len(l.held))]
		compare(t, old.index, old.reports, l.question(), l.rng)
	}
	now.neighbours(t, rand.New(rand.NewPCG(uint64(l.state), 1)))
	now.whole(t)
	l.held[l.rng.IntN(len(l.held))].whole(t)
}

// whole checks that the index has every report once, in its current state, and no
// others.
func (m moment) whole(t *testing.T) {
	t.Helper()
	if m.index.Len() != len(m.reports) {
		t.Fatalf("the index has %d reports, want %d", m.index.Len(), len(m.reports))
	}
	for _, f := range m.reports {
		r := f.Report
		d := m.index.Find(search.KeyOf(r.Type, r.Number))
		if d == nil || m.index.Record(d) != record(r) || search.TypeOf(d.Key) != r.Type || d.At != r.PublishedAt.UnixNano() || m.index.CategoryLine(d) != r.Category {
			t.Fatalf("%s is not found in its current state: got %+v", r.ID, d)
		}
		if m.index.Issuer(d) != f.Issuer {
			t.Fatalf("the issuer of %s is %v, want %v", r.ID, m.index.Issuer(d), f.Issuer)
		}
	}
	if d := m.index.Find(search.KeyOf(disclosure.IP, 1<<40)); d != nil {
		t.Fatalf("found a report that does not exist: %+v", d)
	}
}

// neighbours compares the reports around one with those of a plain loop.
func (m moment) neighbours(t *testing.T, rng *rand.Rand) {
	t.Helper()
	if len(m.reports) == 0 {
		return
	}
	at, n := rng.IntN(len(m.reports)), rng.IntN(5)
	r := m.reports[at]
	key := func(f *search.Report) string {
		switch {
		case f.Issuer != nil:
			return f.Issuer.ID
		case f.Report.IssuerKey() != "":
			return f.Report.IssuerKey()
		}
		return "name " + text.Fold(f.Report.CompanyName)
	}
	var before, after []string
	for _, f := range m.reports[at+1:] {
		if key(f) == key(r) && len(before) < n {
			before = append([]string{record(f.Report)}, before...)
		}
	}
	for _, f := range slices.Backward(m.reports[:at]) {
		if key(f) == key(r) && len(after) < n {
			after = append(after, record(f.Report))
		}
	}
	d := m.index.Find(search.KeyOf(r.Report.Type, r.Report.Number))
	if got := records(m.index, m.index.Before(d, n)); !slices.Equal(got, before) {
		t.Fatalf("the %d reports before %s are %q, want %q", n, r.Report.ID, got, before)
	}
	if got := records(m.index, m.index.After(d, n)); !slices.Equal(got, after) {
		t.Fatalf("the %d reports after %s are %q, want %q", n, r.Report.ID, got, after)
	}
}

// TestWriterUpdates changes a small market thousands of times with merges running,
// and compares the index with plain loops after each step.
func TestWriterUpdates(t *testing.T) {
	steps := 3000
	if longtest.Race || testing.Short() {
		steps = 600
	}
	l := newRandomMarket(1)
	merges := 0
	for step := range steps {
		switch l.rng.IntN(10) {
		case 0:
			l.apply(nil, []disclosure.Issuer{l.issuer()})
		case 1:
			l.apply(l.some(1+l.rng.IntN(20), 30), []disclosure.Issuer{l.issuer(), l.issuer()})
		case 2: // one report, again and again
			for n := range int64(1 + l.rng.IntN(4)) {
				l.apply([]disclosure.Report{l.newReport(disclosure.OIR, 1+n/2)}, nil)
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

// TestWriterUpdatesOfManyReports does the same with segments so large that common
// words are kept as plain bits, with pages of any depth.
func TestWriterUpdatesOfManyReports(t *testing.T) {
	size, steps := 2200, 60 // numbers of each type
	if longtest.Race || testing.Short() {
		size, steps = 1500, 24
	}
	l := newRandomMarket(2)
	var all []disclosure.Report
	for n := range size {
		for _, typ := range disclosure.Types {
			all = append(all, l.newReport(typ, int64(n+1)))
		}
	}
	l.apply(all, []disclosure.Issuer{l.issuer(), l.issuer(), l.issuer()})
	if n := l.writer.Index().PlainSets(); n < 10 {
		t.Fatalf("only %d words are plain bits", n)
	}
	background, interleaved := 0, 0
	for range steps {
		switch l.rng.IntN(8) {
		case 0:
			l.apply(nil, []disclosure.Issuer{l.issuer()}) // may re-index many reports
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
		t.Errorf("only %d merges concurrent with the writer and %d steps with reports gone from plain bits", background, interleaved)
	}
}

// deep compares pages of some queries at many depths.
func (l *randomMarket) deep(t *testing.T) {
	t.Helper()
	reports := l.sorted()
	for _, f := range []disclosure.Filter{
		{},
		{Search: pick(l.rng, []string{"-de", "-pago", "-junta", "-solar", "-cese -bono"})}, // reports that are gone and reports that are excluded
		{Search: l.word(), Type: disclosure.Types[l.rng.IntN(3)]},
		l.question(),
	} {
		want := matching(reports, f)
		for range 12 {
			comparePage(t, l.writer.Index(), want, f, l.rng.IntN(len(want)+2), 1+l.rng.IntN(130))
		}
	}
}

// Pages split a list without gaps or repetitions for segments that follow each
// other in time, overlap, or share one instant.
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
			l := newRandomMarket(3)
			n := 0
			for _, size := range []int{4200, 1500, 300, 90, 20, 1} { // none is due to be merged
				batch := make([]disclosure.Report, size)
				for i := range batch {
					n++
					batch[i] = l.newReport(disclosure.OIR, int64(n))
					batch[i].PublishedAt = noon.Add(time.Duration(minute(n)) * time.Minute)
				}
				l.apply(batch, nil)
			}
			if sizes, _ := l.writer.Index().Segments(); len(sizes) != 6 {
				t.Fatalf("segments of %v", sizes)
			}
			for _, f := range []disclosure.Filter{{}, {Search: "cupon"}, {Search: "-de", Category: "sobre resultados"}} {
				want := matching(l.sorted(), f)
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

// found returns the reports that a text finds.
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

// The reports of an issuer that changes its ticker are found by the new ticker and
// not by the old one, each once. That also holds while a merge that began with the
// old ticker is running, and after it.
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
			moment{m.writer.Index(), m.sorted()}.whole(t)
		})
	}
}

// Reports that are replaced during a merge are gone from its result, whether they
// are replaced once or twice, before or after it runs.
func TestUpdatesDuringMerge(t *testing.T) {
	l := newRandomMarket(4)
	l.apply(l.some(60, 20), nil)
	for round := range 40 {
		if sizes, _ := l.writer.Index().Segments(); round%5 == 0 {
			l.merge, l.ran = l.writer.BeginMerge(len(sizes)), false
		}
		if again := l.writer.BeginMerge(1); again != nil || l.writer.Due() != nil {
			t.Fatal("two merges run at a time")
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

// A segment whose reports were all replaced during its merge is dropped.
func TestMergeOfReplacedReports(t *testing.T) {
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
			t.Errorf("got segments of %v with %v gone, want none", sizes, gone)
		}
	}
}

// A segment that is mostly gone is merged alone if those after it are not due to
// be merged with it.
func TestMostlyGoneIsMergedAlone(t *testing.T) {
	l := newRandomMarket(8)
	batch := func(from, to int64) (out []disclosure.Report) {
		for n := from; n < to; n++ {
			out = append(out, l.newReport(disclosure.HR, n))
		}
		return out
	}
	l.apply(batch(1, 1001), nil)
	merge := l.writer.BeginMerge(1) // blocks it while two more segments are added after it
	merge.Run()
	l.apply(batch(1, 601), nil)
	l.apply(batch(2001, 2002), nil)
	l.check(t, 3)
	l.writer.Install(merge)
	sizes, gone := l.writer.Index().Segments()
	if diff := cmp.Diff([][]int{{400, 600, 1}, {0, 0, 0}}, [][]int{sizes, gone}); diff != "" {
		t.Errorf("segments and reports gone (-want +got): %s", diff)
	}
	l.check(t, 3)
}

// Merges of large segments run concurrently with the writer, one at a time: the
// next is due after the last is installed, until few reports are gone.
func TestMergesQueue(t *testing.T) {
	l := newRandomMarket(5)
	batch := func(from, to int64) (out []disclosure.Report) {
		for n := from; n < to; n++ {
			out = append(out, l.newReport(disclosure.HR, n))
		}
		return out
	}
	l.apply(batch(1, 9000), nil)
	if l.writer.Due() != nil {
		t.Fatal("a merge of one complete segment is due, want none")
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
			t.Errorf("segments of %v with %v gone, and no merge is due", sizes, gone)
		}
	}
	if merges == 0 || len(sizes) > 4 {
		t.Errorf("after %d merges there are segments of %v", merges, sizes)
	}
	l.check(t, 3)
	l.deep(t)
}

// The number of segments stays small: each is more than twice the size of the next.
func TestSegmentsStayFew(t *testing.T) {
	l := newRandomMarket(6)
	for n := range int64(600) {
		l.apply([]disclosure.Report{l.newReport(disclosure.IP, n+1)}, nil)
		sizes, _ := l.writer.Index().Segments()
		for i := 1; i < len(sizes); i++ {
			if sizes[i-1] <= 2*sizes[i] {
				t.Fatalf("segments of %v", sizes)
			}
		}
	}
	l.check(t, 3)
}

// Apply returns the states that it replaced, so that they can be removed from
// counts.
func TestApplyReturnsReplacedStates(t *testing.T) {
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
