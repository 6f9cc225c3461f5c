package summary

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fact is a part of a text that a summary must repeat exactly: a figure, a date, a
// period, a code, a word for a number.
type fact struct {
	kind     factKind
	from, to int // tokens

	value    number   // of a figure, its scale included
	unit     string   // of a figure: one of units, or nothing
	nouns    []string // the counted nouns, if there is no unit
	label    string   // the word before, if nothing is counted: "artículo 5"
	per      string   // the base of a rate: a share, a square metre, a year
	bound    string   // "more", "less" or "about"; of a date, the words before
	step     string   // "by" or "to" for a change: up by 5 is not up to 5
	negative bool
	doubtful bool // its minus may be a dash, its brackets may be a parenthesis
	compared bool // another fact is compared with it: "frente a 5"
	pair     int  // two facts with the same number belong together; 0: none
	between  bool // the pair are the ends of a range: "entre 5 y 7"

	year, month, day int    // of a date; 0 if missing
	text             string // of the others
}

type factKind int

const (
	aFigure factKind = iota
	aDate
	aPeriod // a quarter, a half
	aWord   // an ordinal, a fraction, a code
	aName
)

// group is a set of facts that can be confused: figures of the same unit, dates.
func (f fact) group() string {
	switch f.kind {
	case aFigure:
		return "figure " + f.unit + strconv.FormatBool(f.per == "share")
	case aDate:
		return "date"
	case aPeriod:
		return "period"
	case aName:
		return "name"
	}
	return ""
}

// agrees reports whether a fact of a sentence equals a fact of the document.
func (f fact) agrees(document fact) bool {
	if f.kind != document.kind {
		return false
	}
	switch f.kind {
	case aFigure:
		return f.value == document.value && f.unit == document.unit && f.per == document.per && f.bound == document.bound &&
			(!f.negative || document.negative) && sameNouns(f, document) && (f.step == document.step || f.step == "" || document.step == "")
	case aDate:
		return (f.bound == document.bound || f.day == 0) && (f.year == 0 || f.year == document.year) && (f.month == 0 || f.month == document.month) && (f.day == 0 || f.day == document.day)
	case aName:
		return strings.Contains(" "+document.text+" ", " "+f.text+" ") || strings.Contains(" "+f.text+" ", " "+document.text+" ")
	}
	return f.text == document.text
}

// sameNouns compares the counted nouns of figures without a unit.
func sameNouns(f, document fact) bool {
	if f.unit != "" || f.label != "" && f.label == document.label {
		return true
	}
	for _, noun := range f.nouns {
		if slices.Contains(document.nouns, noun) {
			return true
		}
	}
	return f.label == "" && document.label == "" && (len(f.nouns) == 0 || len(document.nouns) == 0)
}

// reader finds the facts of a text.
type reader struct {
	tokens  []token
	english bool
	facts   []fact
}

// factsOf returns the facts of a text, in their order.
func factsOf(tokens []token, english bool) []fact {
	r := &reader{tokens: tokens, english: english}
	for i := 0; i < len(tokens); {
		i = r.read(i)
	}
	r.inherit()
	r.relate()
	r.limit()
	return r.facts
}

// word returns the folded word at an index, or "" if the index is out of range.
func (r *reader) word(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].folded
}

// mark returns the text of a token, or "" if the index is out of range.
func (r *reader) mark(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].text
}

// read reads the fact that begins at a token, and returns the index of the next token.
func (r *reader) read(i int) int {
	for _, try := range []func(int) (fact, bool){r.date, r.period, r.figure, r.other} {
		if f, ok := try(i); ok {
			f.from = i
			r.facts = append(r.facts, f)
			return f.to
		}
	}
	return i + 1
}

var ordinals = map[string]string{
	"primer": "1", "primero": "1", "primera": "1", "1er": "1", "first": "1", "segundo": "2", "segunda": "2", "second": "2",
	"tercer": "3", "tercero": "3", "tercera": "3", "third": "3", "cuarto": "4", "cuarta": "4", "fourth": "4",
}

var periodWords = map[string]string{
	"trimestre": "T", "trimestres": "T", "quarter": "T", "semestre": "S", "half": "S",
}

// shortPeriod matches abbreviated periods: 1T26, T1, 2H, 9M26.
var shortPeriod = regexp.MustCompile(`^(?:([1-4])([tqsh])(\d{2}|\d{4})?|([tqsh])([1-4])|(9)(m)(\d{2}|\d{4})?)$`)

// period reads "primer trimestre" and "1T26".
func (r *reader) period(i int) (fact, bool) {
	if n, ok := ordinals[r.word(i)]; ok && periodWords[r.word(i+1)] != "" {
		return fact{kind: aPeriod, to: i + 2, text: periodWords[r.word(i+1)] + n}, true
	}
	m := shortPeriod.FindStringSubmatch(r.word(i))
	if m == nil || strings.ToUpper(r.mark(i)) != r.mark(i) {
		return fact{}, false
	}
	letter := map[string]string{"t": "T", "q": "T", "s": "S", "h": "S", "m": "M"}[m[2]+m[4]+m[7]]
	if year := m[3] + m[8]; year != "" {
		y, _ := strconv.Atoi(year)
		r.facts = append(r.facts, fact{kind: aDate, from: i, to: i + 1, year: century(y)})
	}
	return fact{kind: aPeriod, to: i + 1, text: letter + m[1] + m[5] + m[6]}, true
}

// numberWords are quantities that are not cardinal numbers.
var numberWords = newLexicon(`primer* segund* tercer* tercio* cuart* quint* sext* septim* octav* noven* decim* mitad doble* dobl* duplic*
	tripl* cuadrupl* unic* ambos ambas ultim* cientos decena* docena* centenar* millar* miles millon* billon* mayoria mayoritari* minoritari* totalidad
	half third* quarter* twice double* triple* both thousands millions
	lunes martes miercoles jueves viernes sabado domingo hoy ayer manana anteayer`)

// other reads words for numbers, and codes: letters and digits mixed, or numbers
// such as 596/2014.
func (r *reader) other(i int) (fact, bool) {
	w, text := r.word(i), r.mark(i)
	switch {
	case w == "":
		return fact{}, false
	case ordinals[w] != "":
		return fact{kind: aWord, to: i + 1, text: "ordinal " + ordinals[w]}, true
	case numberWords.has(w), r.isHalf(i):
		return fact{kind: aWord, to: i + 1, text: stem(w)}, true
	case strings.ContainsAny(text, "0123456789"), strings.HasSuffix(text, "+"), strings.HasSuffix(text, "-"):
		return fact{kind: aWord, to: i + 1, text: text}, true
	}
	return fact{}, false
}

// isHalf reports whether a "medio" is a half: "medio millón", "año y medio". In
// "precio medio" it means average.
func (r *reader) isHalf(i int) bool {
	if w := r.word(i); w != "medio" && w != "media" {
		return false
	}
	_, unit := units[r.word(i+1)]
	_, scale := scales[r.word(i+1)]
	return unit || scale || r.word(i-1) == "y" || r.word(i+1) == "punto"
}
