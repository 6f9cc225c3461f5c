package summary_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"pregon/internal/document/summary"
)

var (
	digits  = regexp.MustCompile(`\d`)
	numbers = regexp.MustCompile(`\d+(?:[.,]\d+)*`)
	// replaced are words whose change makes a sentence false.
	replaced = [][2]string{
		{"millones", "miles"},
		{"millones de euros", "euros"},
		{" euros", " dólares"},
		{" %", " puntos básicos"},
		{" por acción", ""},
		{"brutos", "netos"},
		{"nuevas acciones", "participaciones"},
		{" enero ", " abril "},
		{" mayo ", " junio "},
		{"junio", "julio"},
		{" marzo ", " mayo "},
		{"noviembre", "octubre"},
		{"primer", "segundo"},
		{"tercer", "cuarto"},
		{"ha elevado", "ha rebajado"},
		{"se redujo", "aumentó"},
		{"más que", "menos que"},
		{"dimisión", "nombramiento"},
		{"ha nombrado", "ha cesado"},
		{"adquirir", "vender"},
		{"ha adquirido", "ha vendido"},
		{" venta", " compra"},
		{"beneficio", "pérdida"},
		{" no ", " "},
		{" ha ", " no ha "},
		{" se ", " no se "},
		{"prevé", "ha hecho"},
		{"al menos", "como máximo"},
		{"largo plazo", "corto plazo"},
		{"independiente", "dominical"},
		{"BBB+", "BBB-"},
		{"clase A", "clase B"},
		{"Teresa", "Carmen"},
		{"Roca", "Sierra"},
		{"Alcotán", "Milano"},
		{"Tera", "Duero"},
		{"Torrealmena Capital", "Serralta Capital"},
	}
)

// TestJudgeSeesChanges takes sentences of the reports, each of which is its own
// evidence, and makes changes that Judge must detect.
func TestJudgeSeesChanges(t *testing.T) {
	files, err := filepath.Glob("testdata/extract/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no reports: %v", err)
	}
	changes := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := readSource(archive)
		for _, sentence := range summary.Extract(s) {
			if utf8.RuneCountInString(sentence.Text) > 350 {
				continue
			}
			if kept, dropped := summary.Judge(s, []summary.Sentence{sentence}); len(kept) != 1 && dropped[0].Reason != summary.Leaning {
				t.Errorf("%s: dropped for its %s: %s", file, dropped[0].Reason, sentence.Text)
			}
			for _, changed := range changesOf(sentence.Text) {
				changes++
				if kept, _ := summary.Judge(s, []summary.Sentence{{Text: changed, Page: sentence.Page, Quote: sentence.Quote}}); len(kept) > 0 {
					t.Errorf("%s: kept: %s", file, changed)
				}
			}
		}
	}
	if changes < 350 {
		t.Errorf("only %d changes", changes)
	}
}

// changesOf returns a sentence with a digit changed, two numbers swapped, or
// words replaced.
func changesOf(text string) []string {
	var all []string
	for _, at := range digits.FindAllStringIndex(text, -1) {
		other := string('0' + (text[at[0]]-'0'+3)%10)
		all = append(all, text[:at[0]]+other+text[at[1]:])
	}
	found := numbers.FindAllStringIndex(text, -1)
	for i, a := range found {
		for _, b := range found[i+1:] {
			if text[a[0]:a[1]] != text[b[0]:b[1]] {
				all = append(all, text[:a[0]]+text[b[0]:b[1]]+text[a[1]:b[0]]+text[a[0]:a[1]]+text[b[1]:])
			}
		}
	}
	for _, r := range replaced {
		if changed := strings.Replace(text, r[0], r[1], 1); changed != text {
			all = append(all, changed)
		}
	}
	return all
}
