package summary

import (
	"cmp"
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
	power    int    // of ten, of that scale
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
		found[word], _ = strconv.Atoi(value)
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

// words returns the folded words of a range of tokens, with spaces around each.
func (r *factReader) words(from, to int) string {
	folded := " "
	for k := max(0, from); k < min(to, len(r.tokens)); k++ {
		if w := r.word(k); w != "" {
			folded += w + " "
		}
	}
	return folded
}

// figure reads a number with its scale and unit.
func (r *factReader) figure(i int) (fact, bool) {
	f := fact{kind: figure}
	next, ok := r.value(i, &f)
	if !ok {
		return f, false
	}
	next = r.scale(next, &f)
	f.unit, next = r.unit(i, next)
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
	moving = phrasesOf("moving")
)

// boundBefore reads the words before a figure that make it a limit or an estimate.
func (r *factReader) boundBefore(i int) string {
	for stopWords.has(r.word(i-1)) && r.word(i-1) != "hasta" && r.word(i-1) != "de" && r.word(i-1) != "to" || units[r.mark(i-1)] != "" {
		i--
	}
	if r.word(i-1) == "hasta" && moving.in(r.words(i-12, i)) {
		return ""
	}
	near, longest, bound := r.words(i-4, i), 0, ""
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
		f.value, f.power = f.value.times(power), f.power+power
		i++
		if (r.word(i) == "de" || r.word(i) == "of") && scales[r.word(i+1)] > 0 {
			i++
		}
	}
}

// unit reads the unit of a number: behind it, perhaps after a "de" or an adjective
// ("5.000 nuevas acciones"), or a currency before it. It returns the end of a unit
// that follows directly.
func (r *factReader) unit(number, i int) (string, int) {
	at := i
	if r.word(at) == "de" || r.word(at) == "of" {
		at++
	}
	if r.mark(at) == "m" && units[r.mark(at+1)] != "" {
		return "m" + units[r.mark(at+1)], at + 2
	}
	if unit, ok := units[r.word(at)+" "+r.word(at+1)]; ok {
		return unit, at + 2
	}
	if unit := cmp.Or(units[r.word(at)], units[r.mark(at)]); unit != "" {
		return unit, at + 1
	}
	switch unit := cmp.Or(units[r.mark(number-1)], units[r.word(number-1)]); unit {
	case "eur", "usd", "gbp", "chf", "jpy":
		return unit, i
	}
	for k := at; k < at+3 && r.word(k) != "" && !r.tokens[k].isNumber() && !stopWords.has(r.word(k)); k++ {
		if unit := units[r.word(k)]; unit != "" {
			return unit, i
		}
	}
	return "", i
}

// shareRate matches "por acción", possibly after "brutos" or "en efectivo".
var shareRate = regexp.MustCompile(`^ (?:(?:brut[a-z]*|net[a-z]*|gross|en efectivo|in cash) )*(?:por|per|cada) (?:cada |una |each )?` +
	`(?:accion|acciones|share|accio|participacion|unit|titulo) `)

func (r *factReader) perShare(i int) bool {
	return r.mark(i) == "/" && units[r.word(i+1)] == "share" || shareRate.MatchString(r.words(i, i+6))
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
				if f.power == 0 {
					f.value = f.value.times(next.power)
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

// period reads "primer trimestre".
func (r *factReader) period(i int) (fact, bool) {
	n, period := quantities[r.word(i)], periods[r.word(i+1)]
	return fact{kind: code, to: i + 2, text: period + n}, n != "" && period != ""
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
