package summary

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shortMonths are read only behind a day: "5 dic 2026".
var shortMonths = numbersOf("shortMonths")

// numberedNouns are nouns with a number, which is then not a year.
var numberedNouns = newLexicon("articulo articulos art arts n num numero ley nota punto apartado article " +
	"section note number no point")

// date reads a date in any notation, complete or partial.
func (r *factReader) date(i int) (fact, bool) {
	if f, ok := numericDate(r.mark(i)); ok {
		f.to = i + 1
		return f, true
	}
	f := fact{kind: date, to: i}
	if day, ok := r.day(i); ok {
		next := i + 1
		for r.word(next) == "de" || r.word(next) == "of" || r.mark(next) == "º" || r.mark(next) == "." {
			next++
		}
		if r.mark(next) == "-" {
			next++
		}
		if month := cmp.Or(months[r.word(next)], shortMonths[r.word(next)]); month > 0 {
			f.day = day
			f.month = month
			f.to = next + 1
			return r.withYear(f), true
		}
	}
	if month, ok := months[r.word(i)]; ok && (r.word(i) != "may" || r.english && r.tokens[i].isCapital()) {
		f.month, f.to = month, i+1
		if day, ok := r.day(i + 1); ok && r.english {
			f.day, f.to = day, i+2
		}
		return r.withYear(f), true
	}
	if year := r.yearOf(i); year > 0 && !r.counts(i+1) && !numberedNouns.has(r.word(i-1)) {
		return fact{kind: date, to: i + 1, year: year}, true
	}
	return fact{}, false
}

var layouts = []string{"2006-01-02", "2/1/2006", "2.1.2006", "2-1-2006", "2/1/06", "2.1.06", "2-1-06"}

func numericDate(text string) (fact, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return fact{
				kind:  date,
				year:  t.Year(),
				month: int(t.Month()),
				day:   t.Day(),
			}, true
		}
	}
	return fact{}, false
}

func (r *factReader) day(i int) (int, bool) {
	text := strings.TrimRight(r.mark(i), "stndrh") // 1st, 22nd
	day, err := strconv.Atoi(text)
	return day, err == nil && len(text) <= 2 && day >= 1 && day <= 31
}

// yearOf returns the value of four digits that are a year, or 0.
func (r *factReader) yearOf(i int) int {
	year, err := strconv.Atoi(r.mark(i))
	if err != nil || year < 1900 || year > 2099 {
		return 0
	}
	return year
}

// counts reports whether the token here makes the number before it a count.
func (r *factReader) counts(i int) bool {
	_, scale := scales[r.word(i)]
	return scale || units[r.word(i)] != "" || units[r.mark(i)] != ""
}

// withYear reads the year after a day and month.
func (r *factReader) withYear(f fact) fact {
	next := f.to
	for slices.Contains([]string{"de", "del", "of", "-", "."}, r.mark(next)) || r.mark(next) == "," && r.english {
		next++
	}
	if year := r.yearOf(next); year > 0 {
		f.year, f.to = year, next+1
	}
	return f
}
