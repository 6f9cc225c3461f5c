package value

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/document/lexicon"
)

// shortMonths are read only behind a day: "5 dic 2026".
var shortMonths = lists.Numbers("shortMonths")

// numberedNouns are nouns with a number, which is then not a year.
var numberedNouns = lexicon.NewSet("articulo articulos art arts n num numero ley nota punto apartado article " +
	"section note number no point")

// date reads a date in any notation, complete or partial.
func (r *reader) date(i int) (Value, bool) {
	if f, ok := numericDate(r.mark(i)); ok {
		f.To = i + 1
		return f, true
	}
	f := Value{Kind: Date, To: i}
	if day, end, ok := r.dayAt(i); ok {
		next := end
		for r.word(next) == "de" || r.word(next) == "of" || r.mark(next) == "º" || r.mark(next) == "." {
			next++
		}
		if r.word(next) == "d" && (r.mark(next+1) == "'" || r.mark(next+1) == "’") { // 11 d'agost
			next += 2
		}
		if r.mark(next) == "-" {
			next++
		}
		if r.word(next) == "d" && (r.mark(next+1) == "'" || r.mark(next+1) == "’") { // 23 d'abril
			next += 2
		}
		if month := cmp.Or(Months[r.word(next)], shortMonths[r.word(next)]); month > 0 {
			f.Day = day
			f.Month = month
			f.To = next + 1
			return r.withYear(f), true
		}
	}
	if month, ok := Months[r.word(i)]; ok && (r.word(i) != "may" || r.english && r.tokens[i].IsCapital()) {
		f.Month, f.To = month, i+1
		if day, ok := r.day(i + 1); ok && r.english {
			f.Day, f.To = day, i+2
		}
		return r.withYear(f), true
	}
	if year := r.yearOf(i); year > 0 && !r.counts(i+1) && !numberedNouns.Has(r.word(i-1)) {
		return Value{Kind: Date, To: i + 1, Year: year}, true
	}
	return Value{}, false
}

var layouts = []string{"2006-01-02", "2/1/2006", "2.1.2006", "2-1-2006", "2/1/06", "2.1.06", "2-1-06"}

func numericDate(text string) (Value, bool) {
	if len(text) < len("2/1/06") || len(text) > len("02/01/2006") || !isDigit(text[0]) {
		return Value{}, false
	}
	mark, ok := dateMark(text)
	if !ok {
		return Value{}, false
	}
	for _, layout := range layouts {
		if strings.IndexByte(layout, mark) < 0 {
			continue
		}
		if t, err := time.Parse(layout, text); err == nil {
			return Value{
				Kind:  Date,
				Year:  t.Year(),
				Month: int(t.Month()),
				Day:   t.Day(),
			}, true
		}
	}
	return Value{}, false
}

// dateMark returns the mark that stands twice between the digits of a date. Most numbers
// have none, and need not be parsed as one.
func dateMark(text string) (mark byte, ok bool) {
	marks := 0
	for i := range len(text) {
		c := text[i]
		if isDigit(c) {
			continue
		}
		if marks > 0 && c != mark {
			return 0, false
		}
		mark = c
		marks++
	}
	return mark, marks == 2
}

// dayAt reads a day of a month, and returns its end. In words, the 31st and the 1st are not
// cardinals of one word: "treinta y uno de marzo", "primero de julio".
func (r *reader) dayAt(i int) (day, end int, ok bool) {
	isThirtyFirst := r.word(i) == "treinta" && r.word(i+1) == "y" && r.word(i+2) == "uno"
	switch {
	case isThirtyFirst && r.word(i+3) == "de" && Months[r.word(i+4)] > 0:
		return 31, i + 3, true
	case (r.word(i) == "uno" || r.word(i) == "primero") && r.word(i+1) == "de" && Months[r.word(i+2)] > 0:
		return 1, i + 1, true
	}
	day, ok = r.day(i)
	return day, i + 1, ok
}

func (r *reader) day(i int) (int, bool) {
	if n := cardinals[r.word(i)]; n > 0 && n <= 31 && r.word(i+1) == "de" && Months[r.word(i+2)] > 0 {
		return n, true // veintiocho de mayo
	}
	if i >= len(r.tokens) || !r.tokens[i].IsNumber() {
		return 0, false
	}
	text := strings.TrimRight(r.mark(i), "stndrh") // 1st, 22nd
	if len(text) > 2 {
		return 0, false
	}
	day, err := strconv.Atoi(text)
	return day, err == nil && day >= 1 && day <= 31
}

// yearOf returns the value of four digits that are a year, or 0.
func (r *reader) yearOf(i int) int {
	if len(r.mark(i)) != 4 || !isDigit(r.mark(i)[0]) {
		return 0
	}
	year, err := strconv.Atoi(r.mark(i))
	if err != nil || year < 1900 || year > 2099 {
		return 0
	}
	return year
}

// spelledYear reads a year in words: "dos mil veintiséis".
func (r *reader) spelledYear(i int) (year, end int) {
	if r.word(i) != "dos" || r.word(i+1) != "mil" {
		return 0, 0
	}
	n := cardinals[r.word(i+2)]
	end = i + 3
	if n >= 30 && n%10 == 0 && r.word(end) == "y" { // treinta y uno
		n += cardinals[r.word(end+1)]
		end += 2
	}
	if n < 1 || n > 99 {
		return 0, 0
	}
	return 2000 + n, end
}

// counts reports whether the token here makes the number before it a count.
func (r *reader) counts(i int) bool {
	_, scale := scales[r.word(i)]
	return scale || units[r.word(i)] != "" || units[r.mark(i)] != ""
}

// withYear reads the year after a day and month.
func (r *reader) withYear(f Value) Value {
	next := f.To
	for slices.Contains([]string{"de", "del", "of", "-", "."}, r.mark(next)) || r.mark(next) == "," && r.english {
		next++
	}
	if year := r.yearOf(next); year > 0 {
		f.Year, f.To = year, next+1
	}
	if year, end := r.spelledYear(next); year > 0 && next > f.To {
		f.Year, f.To = year, end
	}
	if next != f.To+1 || len(r.mark(next)) != 2 || r.mark(f.To) != "-" || r.mark(f.To-2) != "-" {
		return f
	}
	if short, err := strconv.Atoi(r.mark(next)); err == nil { // 02-jun-25
		f.Year = 2000 + short
		f.To = next + 1
	}
	return f
}
