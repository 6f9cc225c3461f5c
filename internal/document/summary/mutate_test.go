package summary

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
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
		{" enero ", " abril "},
		{" mayo ", " junio "},
		{"junio", "julio"},
		{" marzo ", " mayo "},
		{"noviembre", "octubre"},
		{"primera ", "segunda "},
		{"primer ", "segundo "},
		{"tercer ", "cuarto "},
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

// TestCheckSeesChanges takes the golden summaries, whose sentences are their own
// sources, and makes changes that check must find without a model: every digit, and
// words whose change makes a sentence false.
func TestCheckSeesChanges(t *testing.T) {
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
		found := Extract(s)
		for _, sentence := range found.Sentences {
			if utf8.RuneCountInString(sentence.Text) > longestClaim {
				continue
			}
			if got := check(s, sentence.Text, found.Language, []string{sentence.Quote}); got != "" {
				t.Errorf("%s: %s: got reason %q, want none", file, sentence.Text, got)
			}
			for _, changed := range changesOf(sentence.Text) {
				changes++
				if got := check(s, changed, found.Language, []string{sentence.Quote}); got == "" {
					t.Errorf("%s: not rejected: %s", file, changed)
				}
			}
		}
	}
	if changes < 350 {
		t.Errorf("got %d changes, want at least 350", changes)
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
