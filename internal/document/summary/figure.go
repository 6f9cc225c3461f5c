package summary

import (
	"regexp"
	"strconv"
	"strings"
)

// fact is a part of a text that a claim must repeat exactly: a figure with its
// unit, a date, or a code.
type fact struct {
	kind factKind
	from int // first token
	to   int // behind the last token

	value    number // of a figure, its scale included
	unit     string // of a figure, such as "eur" or "eur/share"; "" for none
	bound    string // of a figure: "atMost", "atLeast", "about" or ""
	negative bool
	partner  int // index of the other end of a range, or -1

	year, month, day int    // of a date; 0 if missing
	text             string // of a code: an identifier, a rating, an ordinal, a period
}

type factKind int

const (
	figure factKind = iota
	date
	code
)

// agrees reports whether a fact of a claim is one of the document. A date of a claim
// may leave parts out.
func (f fact) agrees(document fact) bool {
	if f.kind != document.kind {
		return false
	}
	switch f.kind {
	case figure:
		return f.value == document.value && f.unit == document.unit && f.bound == document.bound
	case date:
		same := func(claimed, there int) bool { return claimed == 0 || claimed == there }
		return same(f.year, document.year) && same(f.month, document.month) && same(f.day, document.day)
	}
	return f.text == document.text
}

var (
	units      = table("units")
	scales     = numbersOf("scales")
	months     = numbersOf("months")
	cardinals  = numbersOf("cardinals")
	periods    = table("periods")
	quantities = table("quantities")
)

// numbersOf reads a table whose values are numbers.
func numbersOf(name string) map[string]int {
	found := map[string]int{}
	for word, value := range table(name) {
		n, err := strconv.Atoi(value)
		if err != nil {
			panic(err)
		}
		found[word] = n
	}
	return found
}

// factReader finds the facts of a sentence.
type factReader struct {
	tokens  []token
	english bool // it decides what "1,234" means
	facts   []fact
}

// factsOf returns the facts of a sentence, in their order.
func factsOf(tokens []token, english bool) []fact {
	r := &factReader{tokens: tokens, english: english}
	for i := 0; i < len(tokens); {
		i = r.read(i)
	}
	r.joinRanges()
	return r.facts
}

// read reads the fact that begins at a token, and returns the index of the next token.
func (r *factReader) read(i int) int {
	for _, try := range []func(int) (fact, bool){r.date, r.period, r.figure, r.code} {
		if f, ok := try(i); ok {
			f.from, f.partner = i, -1
			r.facts = append(r.facts, f)
			return f.to
		}
	}
	return i + 1
}

// word returns the folded word at an index, or "" for marks and beyond the ends.
func (r *factReader) word(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].folded
}

// mark returns the text of a token, or "" beyond the ends.
func (r *factReader) mark(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].text
}

// figure reads a number with its scale and unit.
func (r *factReader) figure(i int) (fact, bool) {
	f := fact{kind: figure}
	next, ok := r.value(i, &f)
	if !ok {
		return f, false
	}
	next = r.scale(next, &f)
	if f.unit, next = r.unit(next); f.unit == "" {
		f.unit = r.unitBefore(i)
	}
	if f.unit == "" {
		f.unit = r.unitBehind(next)
	}
	if r.perShare(next) && f.unit != "share" && f.unit != "%" {
		f.unit += "/share"
	}
	f.to = next
	f.bound = r.boundBefore(i)
	f.negative = r.minus(i, next)
	return f, true
}

var (
	bounds = map[string]phrases{"atMost": phrasesOf("atMost"), "atLeast": phrasesOf("atLeast"), "about": phrasesOf("about")}
	// moving are verbs after which "hasta" is the result of a change, not a limit.
	moving = newPhrases("aument*; increment*; crec*; elev*; sub*; alza; avanz*; reduc*; reduj*; disminu*; baj*; ca*; descen*; ascen*; recort*; pas*; augment*")
)

// boundBefore reads the words before a figure that make it a limit or an estimate.
func (r *factReader) boundBefore(i int) string {
	for stopWords.has(r.word(i-1)) && r.word(i-1) != "hasta" && r.word(i-1) != "de" && r.word(i-1) != "to" || units[r.mark(i-1)] != "" {
		i--
	}
	before := func(words int) string {
		folded := " "
		for k := max(0, i-words); k < i; k++ {
			if r.word(k) != "" {
				folded += r.word(k) + " "
			}
		}
		return folded
	}
	if r.word(i-1) == "hasta" && moving.in(before(12)) {
		return ""
	}
	near, longest, bound := before(4), 0, ""
	for name, words := range bounds {
		for _, phrase := range words { // "no superior a" is not "superior a"
			ends := strings.HasSuffix(near, phrase) || strings.HasSuffix(near, phrase+"de ") || strings.HasSuffix(near, phrase+"of ")
			if ends && len(phrase) > longest {
				longest, bound = len(phrase), name
			}
		}
	}
	return bound
}

// value reads the number itself, in digits or as a word. The words of a longer
// number, "treinta y cinco", are facts of their own.
func (r *factReader) value(i int, f *fact) (next int, ok bool) {
	if i >= len(r.tokens) {
		return i, false
	}
	if w := r.word(i); !r.tokens[i].isNumber() {
		n := cardinals[w]
		if (w == "un" || w == "one") && scales[r.word(i+1)] > 3 {
			n = 1
		}
		f.value = newNumber(strconv.Itoa(n), 0)
		return i + 1, n > 0
	}
	text := r.mark(i)
	digits := strings.TrimRightFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	suffix := text[len(digits):]
	power, known := scales[strings.ToLower(suffix)]
	if suffix != "" && !known {
		return i, false
	}
	f.value, ok = readNumber(digits, r.english)
	f.value = f.value.times(power)
	return i + 1, ok
}

// scale reads thousands and millions: "mil", "miles de millones". A small m in
// Spanish is ambiguous: thousands or millions.
func (r *factReader) scale(i int, f *fact) int {
	for {
		power, ok := scales[r.word(i)]
		if !ok || r.mark(i) == "m" && !r.english {
			return i
		}
		f.value = f.value.times(power)
		i++
		if (r.word(i) == "de" || r.word(i) == "of") && scales[r.word(i+1)] > 0 {
			i++
		}
	}
}

// unit reads a unit, which may follow a "de".
func (r *factReader) unit(i int) (string, int) {
	at := i
	if r.word(at) == "de" || r.word(at) == "of" {
		at++
	}
	if r.mark(at) == "m" && units[r.mark(at+1)] != "" {
		return "m" + units[r.mark(at+1)], at + 2
	}
	if unit, ok := units[r.word(at)+" "+r.word(at+1)]; ok && r.word(at+1) != "" {
		return unit, at + 2
	}
	if unit, ok := units[r.word(at)]; ok && r.word(at) != "" {
		return unit, at + 1
	}
	if unit, ok := units[r.mark(at)]; ok {
		return unit, at + 1
	}
	return "", i
}

// unitBefore reads "€ 5" and "EUR 5".
func (r *factReader) unitBefore(i int) string {
	switch unit := units[r.mark(i-1)] + units[r.word(i-1)]; unit {
	case "eur", "usd", "gbp", "chf", "jpy":
		return unit
	}
	return ""
}

// unitBehind finds a unit after an adjective: "5.000 nuevas acciones".
func (r *factReader) unitBehind(i int) string {
	for k := i; k < i+3 && k < len(r.tokens); k++ {
		w := r.word(k)
		if w == "" || r.tokens[k].isNumber() || stopWords.has(w) && w != "de" {
			break
		}
		if unit, ok := units[w]; ok {
			return unit
		}
	}
	return ""
}

// perShare reads "por acción", possibly after "brutos" or "en efectivo".
func (r *factReader) perShare(i int) bool {
	for at := i; at < i+4; at++ {
		w := r.word(at)
		if w == "por" || w == "per" || r.mark(at) == "/" || w == "cada" {
			next := r.word(at + 1)
			if next == "cada" || next == "una" || next == "each" {
				next = r.word(at + 2)
			}
			switch units[next] {
			case "share", "unit", "security":
				return true
			}
			return false
		}
		if w != "en" && w != "efectivo" && w != "in" && w != "cash" && w != "gross" && !strings.HasPrefix(w, "brut") && !strings.HasPrefix(w, "net") {
			return false
		}
	}
	return false
}

// minus reports whether a number has a minus directly before it, or is alone in
// brackets, the notation for losses in accounts.
func (r *factReader) minus(i, next int) bool {
	switch r.mark(i - 1) {
	case "-", "–", "−":
		glued := !r.tokens[i].spaced && (i < 2 || r.tokens[i-1].spaced || r.mark(i-2) == "(")
		return glued && !(i > 1 && r.tokens[i-2].isNumber())
	case "(":
		return r.mark(next) == ")" && next == i+1
	}
	return false
}

// joinRanges copies the scale and unit, or the month and year, that only the second
// of two numbers has to the first ("entre 5 y 7 millones de euros"), and marks the
// ends of ranges.
func (r *factReader) joinRanges() {
	for k := len(r.facts) - 2; k >= 0; k-- {
		f, next := &r.facts[k], &r.facts[k+1]
		if !r.joined(f.to, next.from) {
			continue
		}
		if f.kind == figure && f.unit == "" {
			if day, ok := r.day(f.from); ok && next.kind == date && next.day > 0 {
				f.kind, f.day, f.month, f.year = date, day, next.month, next.year
			} else if next.kind == figure && next.unit != "" {
				f.unit = next.unit
				if r.scaleOf(*f) == 0 {
					f.value = f.value.times(r.scaleOf(*next))
				}
			}
		}
		before := r.word(f.from - 1)
		if stopWords.has(before) && before != "entre" {
			before = r.word(f.from - 2)
		}
		link := r.mark(f.to)
		if f.kind == next.kind && f.unit == next.unit && (before == "entre" || before == "between" || link == "-" || link == "–") {
			f.partner, next.partner = k+1, k
		}
	}
}

// joined reports whether only short words are between two facts.
func (r *factReader) joined(from, to int) bool {
	for k := from; k < to; k++ {
		switch r.mark(k) {
		case "y", "e", "o", "a", "al", "el", "los", "la", "las", "hasta", "and", "to", "or", "the", "i", "-", "–":
		default:
			return false
		}
	}
	return to > from && to-from <= 3
}

func (r *factReader) scaleOf(f fact) int {
	power := 0
	for k := f.from; k < f.to; k++ {
		if k > f.from || !r.tokens[k].isNumber() {
			power += scales[r.word(k)]
		}
	}
	return power
}

// shortPeriod matches abbreviated periods: 1T26, T1, 2H, 9M26.
var shortPeriod = regexp.MustCompile(`^(?:([1-4])([tqsh])(\d{2}|\d{4})?|([tqsh])([1-4])|(9)(m)(\d{2}|\d{4})?)$`)

// period reads "primer trimestre" and "1T26".
func (r *factReader) period(i int) (fact, bool) {
	if n := quantities[r.word(i)]; n != "" && periods[r.word(i+1)] != "" {
		return fact{kind: code, to: i + 2, text: periods[r.word(i+1)] + n[:1]}, true
	}
	m := shortPeriod.FindStringSubmatch(r.word(i))
	if m == nil || strings.ToUpper(r.mark(i)) != r.mark(i) {
		return fact{}, false
	}
	letter := map[string]string{"t": "Q", "q": "Q", "s": "H", "h": "H", "m": "M"}[m[2]+m[4]+m[7]]
	if year, err := strconv.Atoi(m[3] + m[8]); err == nil {
		r.facts = append(r.facts, fact{kind: date, from: i, to: i + 1, partner: -1, year: century(year)})
	}
	return fact{kind: code, to: i + 1, text: letter + m[1] + m[5] + m[6]}, true
}

// code reads words for quantities, identifiers and ratings.
func (r *factReader) code(i int) (fact, bool) {
	w, text := r.word(i), r.mark(i)
	switch {
	case w == "":
		return fact{}, false
	case quantities[w] != "":
		return fact{kind: code, to: i + 1, text: quantities[w]}, true
	case strings.ContainsAny(text, "0123456789"), strings.HasSuffix(text, "+"), strings.HasSuffix(text, "-"):
		return fact{kind: code, to: i + 1, text: text}, true
	}
	return fact{}, false
}
