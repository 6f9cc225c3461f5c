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

func (f fact) isYear() bool { return f.kind == date && f.month == 0 }

func (f fact) isPeriod() bool { return f.kind == code && shortPeriod.MatchString(f.text) }

// shortPeriod matches a period as this package writes it, and as documents do: 1T26.
var shortPeriod = regexp.MustCompile(`^(?:[QH]\d|[1-4][TQSH]|[TQSH][1-4]|9M)`)

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
	for _, try := range []func(int) (fact, bool){r.date, r.period, r.spelled, r.figure, r.code} {
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
	f.unit, next = r.variety(i, next, f.unit)
	f.unit += r.rate(next, f.unit)
	f.to = next
	f.bound = cmp.Or(r.boundBefore(i), r.boundBehind(next))
	f.negative = r.minus(i, next)
	return f, true
}

var (
	bounds = map[string]phrases{
		"atMost": phrasesOf("atMost"), "atLeast": phrasesOf("atLeast"),
		"about": phrasesOf("about"),
	}
	// moving are verbs after which "hasta" is the result of a change, not a limit.
	moving = phrasesOf("moving")
	rateOf = regexp.MustCompile(`^ (?:(?:brut[a-z]*|net[a-z]*|gross|en efectivo|in cash) )*(?:por|per|cada|al|a|la|for) ` +
		`(?:cada |una |each |every )?([a-z0-9]+) `)
	rated     = lexiconOf("rated")
	varieties = table("varieties")

	boundsBehind = table("boundsBehind")
	boundMarks   = table("boundMarks")
	// amounts are nouns between a limit and its figure: "importe máximo total de".
	amounts  = lexiconOf("amounts")
	negative = newPhrases("negativ*")
)

// variety reads which dollars or crowns a figure has, and cents.
func (r *factReader) variety(i, next int, unit string) (string, int) {
	switch unit {
	case "usd", "gbp", "chf", "peso", "crown", "eur":
	default:
		return unit, next
	}
	if i > 1 {
		afterDollar := r.mark(i-1) == "$" && !r.tokens[i-1].spaced
		if country := r.word(i - 2); afterDollar && r.tokens[i-2].isCapital() && country != "us" { // HK$5
			return country + "$", next
		}
	}
	for k := next - 2; k <= next+1; k++ {
		if v := varieties[r.word(k)]; v != "" && k >= i {
			return v + unit, max(next, k+1)
		}
	}
	return unit, next
}

// boundBefore reads the words before a figure that make it a limit or an estimate.
func (r *factReader) boundBefore(i int) string {
	for {
		if b := r.boundAt(i); b != "" {
			return b
		}
		w := r.word(i - 1)
		linked := (w == "de" || w == "of") && amounts.has(r.word(i-2))
		ofAmount := linked || amounts.has(w) || units[r.mark(i-1)] != ""
		passable := stopWords.has(w) && w != "hasta" && w != "de" && w != "to"
		if !ofAmount && !passable {
			return ""
		}
		i--
	}
}

// boundAt reads the words directly before an index.
func (r *factReader) boundAt(i int) string {
	if before := r.word(i - 2); r.word(i-1) == "hasta" && before != "de" && before != "por" &&
		moving.in(r.words(i-12, i)) {
		return ""
	}
	if bound := boundMarks[r.mark(i-1)]; bound != "" {
		return bound
	}
	near := r.words(i-4, i)
	longest := 0
	bound := ""
	for name, words := range bounds {
		for _, phrase := range words { // "no superior a" is not "superior a"
			ends := strings.HasSuffix(near, phrase) || strings.HasSuffix(near, phrase+"de ") ||
				strings.HasSuffix(near, phrase+"of ")
			if ends && len(phrase) > longest {
				longest, bound = len(phrase), name
			}
		}
	}
	return bound
}

// boundBehind reads the words after a figure: "como máximo".
func (r *factReader) boundBehind(i int) string {
	after := r.words(i, i+3)
	for phrase, bound := range boundsBehind {
		if strings.HasPrefix(after, " "+phrase+" ") {
			return bound
		}
	}
	return ""
}

// value reads the number itself, in digits or as a word.
func (r *factReader) value(i int, f *fact) (next int, ok bool) {
	if i >= len(r.tokens) {
		return i, false
	}
	if w := r.word(i); !r.tokens[i].isNumber() {
		n := cardinals[w]
		if (w == "un" || w == "one") && scales[r.word(i+1)] > 3 {
			n = 1
		}
		if n == 0 && len(w) > 2 && scales[w] > 0 { // "mil acciones", "a billion"
			f.value = newNumber("1", 0)
			return i, true
		}
		f.value = newNumber(strconv.Itoa(n), 0)
		return i + 1, n > 0
	}
	text := r.mark(i)
	digits := strings.TrimRightFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	suffix := text[len(digits):]
	power, known := scales[strings.ToLower(suffix)]
	if suffix != "" && !known || suffix == "m" && !r.english {
		return i, false
	}
	f.value, ok = readNumber(digits, r.english)
	f.value = f.value.times(power)
	return i + 1, ok
}

// spelled reads a number of several words: "treinta y cinco", "two hundred". It is
// compared word by word, as a code.
func (r *factReader) spelled(i int) (fact, bool) {
	f := fact{kind: code, to: i}
	for k := i; k < len(r.tokens); k++ {
		w := r.word(k)
		switch value := cmp.Or(cardinals[w], ones[w]); {
		case value > 0:
			f.text, f.to = f.text+" "+strconv.Itoa(value), k+1
		case k == i || !joinsNumbers(w) && r.mark(k) != "-":
			return f, f.to > i+1
		case w == "mil" || w == "thousand":
			f.text += " thousand"
		}
	}
	return f, f.to > i+1
}

// joinsNumbers reports whether a word stands between the words of a number.
func joinsNumbers(w string) bool {
	switch w {
	case "y", "and", "mil", "thousand":
		return true
	}
	return false
}

var ones = map[string]int{"un": 1, "una": 1, "uno": 1, "one": 1}

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

// rate returns the base of a rate with a slash: "/share" for "brutos por acción".
func (r *factReader) rate(i int, unit string) string {
	if unit == "share" || unit == "%" || unit == "" {
		return ""
	}
	if r.mark(i) == "/" {
		return "/" + cmp.Or(units[r.word(i+1)], r.word(i+1))
	}
	m := rateOf.FindStringSubmatch(r.words(i, i+6))
	if m == nil || !rated.has(units[m[1]]) {
		return ""
	}
	return "/" + units[m[1]]
}

// minus reports whether a number has a minus before it, which may also be a dash, or is
// in brackets, the notation for losses in accounts.
func (r *factReader) minus(i, next int) bool {
	if near := r.words(i-3, i); strings.HasSuffix(near, " menos ") || negative.in(near) ||
		negative.in(r.words(next, next+1)) {
		return true
	}
	if r.mark(i-1) == "€" || r.mark(i-1) == "$" || r.mark(i-1) == "£" {
		i--
	}
	switch r.mark(i - 1) {
	case "-", "–", "−", "‑":
		return i < 2 || !r.tokens[i-2].isNumber() && (r.tokens[i-1].spaced || r.mark(i-2) == "(")
	case "(":
		return r.mark(next) == ")"
	}
	return false
}

var (
	between = regexp.MustCompile(` (?:entre|between) (?:[a-z]{1,4} ){0,2}$`)
	fromDay = regexp.MustCompile(` (?:del|desde|from) (?:[a-z]{1,4} ){0,2}$`)
)

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
				f.kind = date
				f.day = day
				f.month = next.month
				f.year = next.year
			} else if next.kind == figure && next.unit != "" {
				f.unit = next.unit
				if f.power == 0 {
					f.value = f.value.times(next.power)
				}
			}
		}
		before, link := r.words(f.from-3, f.from), r.mark(f.to)
		fromTo := (link == "a" || link == "to") && f.kind == figure && !moving.in(r.words(f.from-12, f.from))
		ofDates := f.kind == date && fromDay.MatchString(before)
		ends := fromTo || ofDates || between.MatchString(before) || link == "-" || link == "–" || link == "—"
		if ends && f.kind == next.kind && f.unit == next.unit {
			f.partner, next.partner = k+1, k
		}
	}
}

// joined reports whether only short words are between two facts.
func (r *factReader) joined(from, to int) bool {
	for k := from; k < to; k++ {
		switch r.mark(k) {
		case "y", "e", "o", "a", "al", "del", "el", "los", "la", "las", "un", "una", "hasta", "and", "to", "or", "the", "i",
			"-", "–", "—", "€", "$", "£", "EUR", "USD":
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
