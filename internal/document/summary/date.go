package summary

import (
	"strconv"
	"strings"
)

var months = map[string]int{
	"enero": 1, "febrero": 2, "marzo": 3, "abril": 4, "mayo": 5, "junio": 6, "julio": 7, "agosto": 8, "septiembre": 9, "setiembre": 9,
	"octubre": 10, "noviembre": 11, "diciembre": 12,
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12,
	"gener": 1, "febrer": 2, "marc": 3, "maig": 5, "juny": 6, "juliol": 7, "agost": 8, "setembre": 9, "desembre": 12,
}

// numbered are nouns with a number, which is then not a year.
var numbered = newLexicon("articulo articulos art arts n num numero ley nota punto apartado")

// date reads a date in any notation, complete or partial.
func (r *reader) date(i int) (fact, bool) {
	if f, ok := numericDate(r.mark(i)); ok {
		f.to = i + 1
		return f, true
	}
	f := fact{kind: aDate, to: i}
	if day, ok := r.dayAt(i); ok {
		next := i + 1
		for r.word(next) == "de" || r.word(next) == "of" || r.mark(next) == "º" || r.mark(next) == "." {
			next++
		}
		if month, ok := months[r.word(next)]; ok {
			f.day, f.month, f.to = day, month, next+1
			return r.withYear(f), true
		}
	}
	if month, ok := months[r.word(i)]; ok && (r.word(i) != "may" || r.english && r.tokens[i].isCapital()) {
		f.month, f.to = month, i+1
		if day, ok := r.dayAt(i + 1); ok && r.english {
			f.day, f.to = day, i+2
		}
		return r.withYear(f), true
	}
	if year := r.yearAt(i); year > 0 && !r.counts(i+1) && !numbered.has(r.word(i-1)) {
		return fact{kind: aDate, to: i + 1, year: year}, true
	}
	return fact{}, false
}

func numericDate(text string) (fact, bool) {
	if dateShape.FindString(text) != text || text == "" {
		return fact{}, false
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	var n [3]int
	for k := range n {
		n[k], _ = strconv.Atoi(parts[k])
	}
	if len(parts[0]) == 4 {
		n[0], n[2] = n[2], n[0]
	}
	f := fact{kind: aDate, day: n[0], month: n[1], year: century(n[2])}
	return f, f.day >= 1 && f.day <= 31 && f.month >= 1 && f.month <= 12
}

func century(year int) int {
	if year < 100 {
		return 2000 + year
	}
	return year
}

func (r *reader) dayAt(i int) (int, bool) {
	text := r.mark(i)
	for _, ending := range []string{"st", "nd", "rd", "th"} {
		text = strings.TrimSuffix(text, ending)
	}
	if len(text) > 2 {
		return 0, false
	}
	day, err := strconv.Atoi(text)
	return day, err == nil && day >= 1 && day <= 31
}

// yearAt returns the value of four digits that are a year, or 0.
func (r *reader) yearAt(i int) int {
	text := r.mark(i)
	year, err := strconv.Atoi(text)
	if len(text) != 4 || err != nil || year < 1900 || year > 2099 {
		return 0
	}
	return year
}

// counts reports whether the token here makes the number before it a count.
func (r *reader) counts(i int) bool {
	if _, known := units[r.word(i)]; known {
		return true
	}
	_, sign := signs[r.mark(i)]
	_, scale := scales[r.word(i)]
	return sign || scale
}

// withYear reads the year after a day and month.
func (r *reader) withYear(f fact) fact {
	next := f.to
	for r.word(next) == "de" || r.word(next) == "del" || r.word(next) == "of" || r.mark(next) == "," && r.english {
		next++
	}
	if year := r.yearAt(next); year > 0 {
		f.year, f.to = year, next+1
	}
	return f
}
