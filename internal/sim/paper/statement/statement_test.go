package statement_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pregon/internal/sim/market"
	"pregon/internal/sim/paper/pdf/pdftest"
	"pregon/internal/sim/paper/statement"
)

// everyDocument calls check with documents of every kind and layout, and of none,
// several of each text.
func everyDocument(t *testing.T, check func(t *testing.T, d statement.Document, text string)) {
	t.Helper()
	for _, kind := range append(statement.Kinds(), statement.None) {
		for _, layout := range statement.Layouts() {
			t.Run(kind+" "+layout, func(t *testing.T) {
				for seed := range uint64(6 * statement.Voices(kind, layout)) {
					d := statement.Make(kind, layout, seed)
					check(t, d, strings.Join(d.Pages(), "\n\n"))
					if t.Failed() {
						t.Fatalf("%s, seed %d", d.Voice, seed)
					}
				}
			})
		}
	}
}

func TestEveryKindHasEveryLayoutInThreeVoices(t *testing.T) {
	if got := len(statement.Kinds()); got != 13 {
		t.Errorf("got %d kinds, want 13", got)
	}
	for _, kind := range append(statement.Kinds(), statement.None) {
		for _, layout := range statement.Layouts() {
			if got := statement.Voices(kind, layout); got < 3 {
				t.Errorf("%s as %s: got %d texts, want at least 3", kind, layout, got)
			}
		}
	}
}

// TestDocuments checks what all documents have in common.
func TestDocuments(t *testing.T) {
	everyDocument(t, func(t *testing.T, d statement.Document, text string) {
		for _, stray := range []string{"{", "}", "[", "]", "¦", "#", "  ", " ,", " .\n", "..\n", ".. "} {
			if d.Layout == "scan" && stray == ".. " {
				continue // dots between cells
			}
			if strings.Contains(text, stray) {
				t.Errorf("%q is in the text: %s", stray, text)
			}
		}
		if !strings.Contains(text, "DOCUMENTO SIMULADO") || !strings.HasPrefix(d.Title, market.Mark) {
			t.Errorf("the document does not say that it is simulated: %s", text)
		}
		if !strings.Contains(strings.ToLower(text), "simula") || d.Company == "" || d.Category == "" {
			t.Errorf("got %+v, want a company, a category and a notice", d)
		}
		if d.Kind == statement.None && len(d.Facts) > 0 {
			t.Errorf("got %v, want no fact", d.Facts)
		}
		if d.Kind != statement.None && (len(d.Facts) == 0 || d.Facts[0].Kind != d.Kind) {
			t.Errorf("got %v, want a fact of the kind first", d.Facts)
		}
	})
}

// TestTruthIsInTheText checks that the document has every value of its facts, in a
// notation that documents use.
func TestTruthIsInTheText(t *testing.T) {
	everyDocument(t, func(t *testing.T, d statement.Document, text string) {
		folded := strings.ToLower(text)
		for _, f := range d.Facts {
			for _, row := range append([]map[string]string{f.Fields}, f.Rows...) {
				for field, value := range row {
					if value == "" || !occurs(folded, field, value) {
						t.Errorf("%s %q is not in the text: %s", field, value, text)
					}
				}
			}
		}
	})
}

// enumerated are fields whose values are words of the text in another form.
var enumerated = []string{
	"form", "meeting_kind", "event", "action", "outlook", "currency", "period",
}

func occurs(text, field, value string) bool {
	if slices.Contains(enumerated, field) {
		return true
	}
	if at, err := time.Parse("2006-01-02T15:04", value); err == nil &&
		!strings.Contains(text, at.Format("15:04")) && !strings.Contains(text, at.Format("15.04")) {
		return false
	}
	return slices.ContainsFunc(notations(value), func(s string) bool { return containsWhole(text, strings.ToLower(s)) })
}

// containsWhole reports whether a text has a word that is not part of a longer one or
// of a number with more digits.
func containsWhole(text, word string) bool {
	for at := 0; ; at++ {
		n := strings.Index(text[at:], word)
		if n < 0 {
			return false
		}
		at += n
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if unicode.IsDigit(rune(word[len(word)-1])) && unicode.IsLetter(after) {
			after = ' ' // 1.3bn
		}
		if !isWord(before) && !isWord(after) {
			return true
		}
	}
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// notations returns how documents may write a value.
func notations(value string) []string {
	if at, err := time.Parse("2006-01-02T15:04", value); err == nil {
		return dateNotations(at) // occurs has looked for the time
	}
	if day, err := time.Parse("2006-01-02", value); err == nil {
		return dateNotations(day)
	}
	if strings.Trim(value, "-0123456789.") == "" {
		return numberNotations(value)
	}
	return []string{value}
}

func dateNotations(day time.Time) (all []string) {
	for _, form := range []string{
		"02/01/2006", "2/1/2006", "02.01.2006", "02-01-2006", "02.01.06", "02/01/06", "2.1.2006",
		"2 January 2006", "January 2, 2006", "2 Jan 2006", "02-Jan-2006", "2006-01-02",
	} {
		all = append(all, day.Format(form))
	}
	for _, months := range []string{
		"de enero de febrero de marzo de abril de mayo de junio de julio de agosto de septiembre de octubre " +
			"de noviembre de diciembre",
		"de gener de febrer de març d'abril de maig de juny de juliol d'agost de setembre d'octubre " +
			"de novembre de desembre",
	} {
		names := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(months, "de ", "de_"), "d'", "d'"))
		name := strings.ReplaceAll(names[day.Month()-1], "_", " ")
		all = append(all, fmt.Sprintf("%d %s de %d", day.Day(), name, day.Year()))
	}
	return append(all, fmt.Sprintf("los días %d y", day.Day()))
}

// numberNotations returns a number in units, thousands, millions and thousands of
// millions, in Spanish and English.
func numberNotations(value string) (all []string) {
	whole, part, _ := strings.Cut(strings.TrimPrefix(value, "-"), ".")
	for shift := 0; shift <= 9; shift += 3 {
		digits := strings.Repeat("0", 10) + whole
		at := len(digits) - shift
		left, right := strings.TrimLeft(digits[:at], "0"), digits[at:]+part
		if left == "" {
			left = "0"
		}
		if shift > 0 {
			right = strings.TrimRight(right, "0")
		}
		for _, decimals := range []string{right, right + "0"} {
			if decimals == right || right == "" && shift == 6 {
				all = append(all, grouped(left, decimals, ".", ","), grouped(left, decimals, ",", "."))
			}
		}
	}
	return all
}

func grouped(whole, part, thousands, point string) string {
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + thousands + whole[at:]
	}
	if part != "" {
		whole += point + part
	}
	return whole
}

func TestDeterministic(t *testing.T) {
	everyDocument(t, func(t *testing.T, d statement.Document, text string) {
		seed := uint64(len(text))
		a, b := statement.Make(d.Kind, d.Layout, seed), statement.Make(d.Kind, d.Layout, seed)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("got %v and %v for the same seed", a, b)
		}
	})
}

// TestSeedsDiffer checks that the same text has other values with another seed.
func TestSeedsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		d := statement.Make("dividend", "letter", seed)
		seen[strings.Join(d.Pages(), "")] = true
	}
	if len(seen) != 200 {
		t.Errorf("got %d different documents of 200", len(seen))
	}
}

// TestSample checks that a sample has all kinds and layouts, and none twice.
func TestSample(t *testing.T) {
	seen := map[string]bool{}
	combinations := map[string]bool{}
	for d := range statement.Sample(2000, 1) {
		seen[strings.Join(d.Pages(), "")] = true
		combinations[d.Kind+" "+d.Layout] = true
	}
	if len(seen) != 2000 || len(combinations) != 14*6 {
		t.Errorf("got %d documents of %d kinds and layouts, want 2000 of %d", len(seen), len(combinations), 14*6)
	}
}

func TestDaysOfDividends(t *testing.T) {
	for seed := range uint64(300) {
		for _, f := range statement.Make("dividend", "form", seed).Facts {
			days := []string{f.Fields["ex_date"], f.Fields["record_date"], f.Fields["payment_date"]}
			if slices.Contains(days, "") {
				continue
			}
			if !slices.IsSorted(days) || days[0] == days[1] || days[1] == days[2] {
				t.Errorf("seed %d: got %v, want three days in order", seed, days)
			}
			for _, text := range days {
				day, err := time.Parse("2006-01-02", text)
				if err != nil || day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
					t.Errorf("seed %d: got %q, want a working day", seed, text)
				}
			}
		}
	}
}

// TestSums checks that rows add up to the stated total, and that a document whose
// rows do not has none in its truth.
func TestSums(t *testing.T) {
	broken := 0
	for _, layout := range []string{"letter", "form", "table"} {
		for seed := range uint64(120) {
			d := statement.Make("buyback_trades", layout, seed)
			f := d.Facts[0]
			if d.Trap == "the total does not add up" {
				broken++
				if f.Rows != nil || f.Fields["shares"] == "" {
					t.Errorf("%s: got %v, want a total and no rows", d.Voice, f)
				}
				continue
			}
			sum := int64(0)
			for _, row := range f.Rows {
				sum += integer(t, row["shares"])
			}
			if f.Rows != nil && sum != integer(t, f.Fields["shares"]) {
				t.Errorf("%s: rows add up to %d, want %s", d.Voice, sum, f.Fields["shares"])
			}
		}
	}
	if broken == 0 {
		t.Error("got no document whose total does not add up")
	}
}

func integer(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTraps checks that the difficulties that a reader must survive occur.
func TestTraps(t *testing.T) {
	seen := map[string]bool{}
	everyDocument(t, func(_ *testing.T, d statement.Document, _ string) { seen[d.Trap] = true })
	for _, want := range []string{
		"correction", "two dividends", "amounts in thousands", "table continued on the next page",
		"the total does not add up", "earlier figures", "the earlier period comes first", "policy", "condition",
		"subsidiary", "forecast", "rumour", "another currency", "example", "older facts",
	} {
		if !seen[want] {
			t.Errorf("no document has %q; got %q", want, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// TestFiles checks that files are made of all layouts, and have the words of the
// document.
func TestFiles(t *testing.T) {
	for _, kind := range append(statement.Kinds(), statement.None) {
		for _, layout := range statement.Layouts() {
			if layout == "scan" && kind != "dividend" {
				continue // drawing takes long
			}
			d := statement.Make(kind, layout, 1)
			file := d.File()
			if file.ContentType != "application/pdf" || len(file.Body) < 1000 {
				t.Errorf("%s: got %s of %d bytes", d.Voice, file.ContentType, len(file.Body))
			}
			if layout == "scan" {
				continue // it has pictures
			}
			text := strings.Join(pdftest.Text(t, string(file.Body)), " ")
			if !strings.Contains(text, "SIMULADO") {
				t.Errorf("%s: the file does not say that it is simulated: %s", d.Voice, text)
			}
		}
	}
}
