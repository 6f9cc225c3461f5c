package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/sim/market"
	"pregon/internal/text"
)

func TestWidenedQuery(t *testing.T) {
	const (
		trades  = "Operaciones efectuadas al amparo del programa de recompra de acciones propias"
		rights  = "Aumento de capital con derecho de suscripción preferente"
		meeting = "Convocatoria de la Junta General Ordinaria de Accionistas"
		english = "Buyback: report on the issue of new rights"
		debt    = "Emisión de bonos simples"
	)
	for _, test := range []struct {
		search, title string
		want          bool
	}{
		{"buyback", trades, true},
		{"BuyBacks", trades, true},
		{"buy-back", trades, true},
		{"share buy back", trades, true},
		{"share repurchase programa", trades, true},
		{"buyback", english, true},
		{"buyb", english, true},
		{"buyb", trades, false}, // the beginning of a term is not one
		{`"buyback"`, trades, false},
		{`"buyback"`, english, true},
		{"operaciones -buyback", trades, true},
		{"report -buyback", english, false},
		{"buyback fusión", trades, false},
		{"rights issue", rights, true},
		{"rights issue", english, true}, // both words, in any order
		{"rights", rights, false},       // a part of a term
		{"issue rights", rights, false},
		{`rights "issue"`, rights, false},
		{"annual general meeting", meeting, true},
		{"A.G.M.", meeting, true},
		{"shareholders' meeting", meeting, true},
		{"agm convocat", meeting, true},
		{"agm", rights, false},
		{"bond issue", debt, true},
		{"general", meeting, true},
		{"general", trades, false},
	} {
		r := search.NewDirectory(nil).Analyze(&disclosure.Report{ID: "oir-1", Number: 1, Title: test.title})
		f := disclosure.Filter{Search: test.search, Widen: true}
		if got := search.Compile(f).Match(r); got != test.want {
			t.Errorf("%s finds %q: got %v, want %v", test.search, test.title, got, test.want)
		}
		f.Widen = false
		plain := strings.Contains(test.title, "Buyback") || test.want && search.ParseFilter(f).Widened() == nil &&
			search.ParseFilter(disclosure.Filter{Search: test.search, Widen: true}).Widened() == nil ||
			strings.Contains(test.search, "-buyback")
		if got := search.Compile(f).Match(r); got != (test.want && plain) {
			t.Errorf("%s, not widened, finds %q: got %v", test.search, test.title, got)
		}
	}
}

func TestWidened(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "[]",
		"dividendo":                  "[]",
		`"buyback"`:                  "[]",
		"-buyback junta":             "[]",
		"Telefónica BUYBACK 2026":    "[{buyback [recompra acciones propias]}]",
		"rights issue, buy-backs":    "[{rights issue [suscripción preferente]} {buy backs [recompra acciones propias]}]",
		"interim dividend dividends": "[{interim dividend [dividendo a cuenta]} {dividends [dividendo]}]",
	} {
		got := search.ParseFilter(disclosure.Filter{Search: text, Widen: true}).Widened()
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", text, got, want)
		}
	}
}

// TestWidensNoName checks that the name of a company is not a market term.
func TestWidensNoName(t *testing.T) {
	d := search.NewDirectory([]*search.Issuer{
		search.NewIssuer(&disclosure.Issuer{ID: "A69000016", Name: "MERGER, S.A.", Ticker: "AGM"}),
	})
	for text, want := range map[string]bool{
		"merger": false, "Merger S.A.": false, "agm": false, "takeover": true, "merger agm": true, "fusión": false, "": false,
	} {
		if got := d.Widens(text); got != want {
			t.Errorf("Widens(%q) = %v, want %v", text, got, want)
		}
	}
}

// TestTerms checks the table: every entry is short, and no English term is a Spanish
// word of titles and categories with another meaning.
func TestTerms(t *testing.T) {
	terms := search.EnglishTerms()
	if len(terms) < 100 {
		t.Errorf("%d terms, want at least 100", len(terms))
	}
	spanish := map[string]bool{"rating": true, "scrip": true} // the same in both languages
	m := simulated(6000, rand.New(rand.NewPCG(1, 2)))
	for _, r := range m.reports {
		for _, word := range text.Words(r.Title + " " + r.Category) {
			if _, ok := spanish[word]; !ok {
				spanish[word] = false
			}
		}
	}
	for _, english := range terms {
		if same, ok := spanish[english]; ok && !same {
			t.Errorf("%q is a Spanish word", english)
		}
		f := disclosure.Filter{Search: english, Widen: true}
		widened := search.ParseFilter(f).Widened()
		if len(widened) != 1 || widened[0].Term != english || len(widened[0].Alternatives) > 6 {
			t.Fatalf("%s: widened by %v, want one entry of at most six alternatives", english, widened)
		}
		for _, other := range widened[0].Alternatives {
			if n := len(text.Words(other)); n > 3 {
				t.Errorf("%s: %q has %d words, want three at most", english, other, n)
			}
		}
	}
	for table, want := range map[string]string{
		"a b":           "line 1 has no =",
		"\na = b|":      "line 2: an alternative has no word",
		"a = b\na = c":  `line 2: the term "a " is empty or repeated`,
		"a, = b":        `line 1: the term " " is empty or repeated`,
		"# a\n\na, b=c": "<nil>",
	} {
		if err := search.ReadTerms(table); fmt.Sprint(err) != want {
			t.Errorf("%q: got %v, want %s", table, err, want)
		}
	}
}

// TestWidenedSearchReadsFewTexts checks that the phrases of the table are found by sets:
// a search for a market term must not read the texts of all reports.
func TestWidenedSearchReadsFewTexts(t *testing.T) {
	m := simulated(20_000, rand.New(rand.NewPCG(1, 2)))
	x := m.writer.Index()
	for _, english := range search.EnglishTerms() {
		n, err := x.Reads(t.Context(), disclosure.Filter{Search: english, Widen: true})
		if err != nil || n > x.Len()/8 {
			t.Errorf("%s: %d of %d texts were read (%v), want one in eight at most", english, n, x.Len(), err)
		}
	}
}

func BenchmarkWidened(b *testing.B) {
	source := market.New(7)
	m := newReference()
	m.apply(slices.Collect(source.Bulk(100_000, until)), source.Issuers())
	x := m.writer.Index()
	for _, text := range []string{"recompra", "banco dividendo", "buyback", "takeover", "annual general meeting", "trading halt"} {
		for _, widen := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/%v", text, widen), func(b *testing.B) {
				for b.Loop() {
					find(x, disclosure.Filter{Search: text, Widen: widen}, 0, 10)
				}
			})
		}
	}
}
