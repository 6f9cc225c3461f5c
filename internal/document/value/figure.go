// Package value reads the figures, dates, periods and codes of a text, in the notations
// of Spanish and English documents.
package value

import (
	"cmp"
	"embed"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/document/lexicon"
)

// Value is a figure with its unit, a date, or a code in a text.
type Value struct {
	Kind Kind
	From int // first token
	To   int // behind the last token

	Number   Number // of a figure, its scale included
	power    int    // of ten, of that scale
	Unit     string // of a figure, such as "eur" or "eur/share"; "" for none
	Bound    string // of a figure: "atMost", "atLeast", "about" or ""
	Negative bool
	Partner  int // index of the other end of a range, or -1

	Year, Month, Day int    // of a date; 0 if missing
	Text             string // of a code: an identifier, a rating, an ordinal, a period
}

// Kind is what a Value is.
type Kind int

// The kinds.
const (
	Figure Kind = iota
	Date
	Code // an identifier, a rating, an ordinal, a period
)

// Agrees reports whether a value of a claim is one of a document. A date of a claim may
// leave parts out.
func (f Value) Agrees(document Value) bool {
	if f.Kind != document.Kind {
		return false
	}
	switch f.Kind {
	case Figure:
		return f.Number == document.Number && f.Unit == document.Unit && f.Bound == document.Bound
	case Date:
		same := func(claimed, there int) bool { return claimed == 0 || claimed == there }
		return same(f.Year, document.Year) && same(f.Month, document.Month) && same(f.Day, document.Day)
	}
	return f.Text == document.Text
}

// Scaled reports whether the figure has a scale of its own, such as millions.
func (f Value) Scaled() bool { return f.power > 0 }

// IsYear reports whether the value is a year without a month.
func (f Value) IsYear() bool { return f.Kind == Date && f.Month == 0 }

// IsPeriod reports whether the value is a part of a year.
func (f Value) IsPeriod() bool { return f.Kind == Code && shortPeriod.MatchString(f.Text) }

// shortPeriod matches a period as this package writes it, and as documents do: 1T26.
var shortPeriod = regexp.MustCompile(`^(?:[QH]\d|[1-4][TQSH]|[TQSH][1-4]|9M)`)

//go:embed words/*.txt
var wordFiles embed.FS

var lists = lexicon.Load(wordFiles, "words")

var (
	// Months are the numbers of the months by their folded names.
	Months = lists.Numbers("months")
	// Quantities are words such as "half" and "segundo", with what they mean.
	Quantities = lists.Table("quantities")
	// StopWords are words without information about the topic of a sentence.
	StopWords = lists.Set("stopWords")

	units     = lists.Table("units")
	scales    = lists.Numbers("scales")
	cardinals = lists.Numbers("cardinals")
	periods   = lists.Table("periods")
)

// reader finds the values of a sentence.
type reader struct {
	tokens  []Token
	english bool // it decides what "1,234" means
	values  []Value
}

// Read returns the values of a sentence, in their order. In English, "1,234" is a
// thousand and some; in other languages it is one and some.
func Read(tokens []Token, english bool) []Value {
	return AppendRead(nil, tokens, english)
}

// AppendRead is like Read but puts the values into the room of an empty slice.
func AppendRead(room []Value, tokens []Token, english bool) []Value {
	r := &reader{
		tokens:  tokens,
		english: english,
		values:  room,
	}
	for i := 0; i < len(tokens); {
		i = r.read(i)
	}
	r.joinRanges()
	return r.values
}

// read reads the value that begins at a token, and returns the index of the next token.
func (r *reader) read(i int) int {
	if !mayBegin(&r.tokens[i]) {
		return i + 1
	}
	f, ok := r.valueAt(i)
	if !ok {
		return i + 1
	}
	f.From = i
	f.Partner = -1
	r.values = append(r.values, f)
	return f.To
}

// valueAt reads the value that begins at a token.
func (r *reader) valueAt(i int) (Value, bool) {
	if f, ok := r.date(i); ok {
		return f, true
	}
	if f, ok := r.period(i); ok {
		return f, true
	}
	if f, ok := r.spelled(i); ok {
		return f, true
	}
	if f, ok := r.figure(i); ok {
		return f, true
	}
	return r.code(i)
}

// mayBegin reports whether a value may begin with a token: most words begin none.
func mayBegin(t *Token) bool {
	if t.Folded == "" {
		return false
	}
	return hasSignOrDigit(t.Text) || beginning.Has(t.Folded)
}

// hasSignOrDigit reports whether a token has a digit, or the sign of a rating.
func hasSignOrDigit(text string) bool {
	for i := range len(text) {
		if c := text[i]; isDigit(c) || c == '+' || c == '-' {
			return true
		}
	}
	return false
}

// beginning has the words with which a value may begin.
var beginning = func() lexicon.Set {
	var words []string
	for _, numbers := range []map[string]int{Months, scales, cardinals, ones} {
		words = slices.AppendSeq(words, maps.Keys(numbers))
	}
	words = slices.AppendSeq(words, maps.Keys(Quantities))
	return lexicon.NewSet(strings.Join(words, " "))
}()

// word returns the folded word at an index, or "" for marks and beyond the ends.
func (r *reader) word(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].Folded
}

// mark returns the text of a token, or "" beyond the ends.
func (r *reader) mark(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].Text
}

// words returns the folded words of a range of tokens, with spaces around each.
func (r *reader) words(from, to int) string {
	folded := " "
	for k := max(0, from); k < min(to, len(r.tokens)); k++ {
		if w := r.word(k); w != "" {
			folded += w + " "
		}
	}
	return folded
}

// firstWord returns the first word in a range of tokens, or "" if it has only marks.
func (r *reader) firstWord(from, to int) string {
	for k := from; k < to; k++ {
		if w := r.word(k); w != "" {
			return w
		}
	}
	return ""
}

// lastWord returns the last word in a range of tokens, or "" if it has only marks.
func (r *reader) lastWord(from, to int) string {
	for k := to - 1; k >= from; k-- {
		if w := r.word(k); w != "" {
			return w
		}
	}
	return ""
}

// figure reads a number with its scale and unit.
func (r *reader) figure(i int) (Value, bool) {
	f := Value{Kind: Figure}
	next, ok := r.value(i, &f)
	if !ok {
		return f, false
	}
	next = r.scale(next, &f)
	f.Unit, next = r.unit(i, next)
	f.Unit, next = r.variety(i, next, f.Unit)
	f.Unit += r.rate(next, f.Unit)
	f.To = next
	f.Bound = cmp.Or(r.boundBefore(i), r.boundBehind(next))
	f.Negative = r.minus(i, next)
	return f, true
}

var (
	bounds = map[string]lexicon.Phrases{
		"atMost": lists.Phrases("atMost"), "atLeast": lists.Phrases("atLeast"),
		"about": lists.Phrases("about"),
	}
	// moving are verbs after which "hasta" is the result of a change, not a limit.
	moving = lists.Phrases("moving")
	rateOf = regexp.MustCompile(`^ (?:(?:brut[a-z]*|net[a-z]*|gross|en efectivo|in cash) )*(?:por|per|cada|al|a|la|for) ` +
		`(?:cada |una |each |every )?(?:ordinary |common |outstanding )?([a-z0-9]+) `)
	// rateOpeners are the words with which rateOf begins. Few figures have one behind them.
	rateOpeners = lexicon.NewSet("brut* net* gross en in por per cada al a la for")

	rated     = lists.Set("rated")
	varieties = lists.Table("varieties")

	boundsBehind = lists.Table("boundsBehind")
	boundMarks   = lists.Table("boundMarks")
	// amounts are nouns between a limit and its figure: "importe máximo total de".
	amounts = lists.Set("amounts")
)

// variety reads which dollars or crowns a figure has, and cents.
func (r *reader) variety(i, next int, unit string) (string, int) {
	switch unit {
	case "usd", "gbp", "chf", "peso", "crown", "eur":
	default:
		return unit, next
	}
	if i > 1 {
		afterDollar := r.mark(i-1) == "$" && !r.tokens[i-1].Spaced
		if country := r.word(i - 2); afterDollar && r.tokens[i-2].IsCapital() && country != "us" { // HK$5
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
func (r *reader) boundBefore(i int) string {
	for {
		if b := r.boundAt(i); b != "" {
			return b
		}
		w := r.word(i - 1)
		linked := (w == "de" || w == "of") && amounts.Has(r.word(i-2))
		ofAmount := linked || amounts.Has(w) || units[r.mark(i-1)] != ""
		passable := StopWords.Has(w) && w != "hasta" && w != "de" && w != "to"
		if !ofAmount && !passable {
			return ""
		}
		i--
	}
}

// boundAt reads the words directly before an index.
func (r *reader) boundAt(i int) string {
	if before := r.word(i - 2); r.word(i-1) == "hasta" && before != "de" && before != "por" &&
		moving.In(r.words(i-12, i)) {
		return ""
	}
	if bound := boundMarks[r.mark(i-1)]; bound != "" {
		return bound
	}
	var words [boundWindow]string
	near := words[:0]
	for k := max(0, i-boundWindow); k < i; k++ {
		if w := r.word(k); w != "" {
			near = append(near, w)
		}
	}
	if bound := boundEnding(near); bound != "" || len(near) == 0 {
		return bound
	}
	if last := near[len(near)-1]; last == "de" || last == "of" {
		return boundEnding(near[:len(near)-1])
	}
	return ""
}

// boundWindow is the number of tokens in which a bound ends before a figure.
const boundWindow = 4

// boundPhrase is a phrase that makes the figure behind it a bound.
type boundPhrase struct {
	words []string
	bound string
}

// boundPhrases are the phrases by their last word, the longest first: "no superior a" is
// not "superior a".
var boundPhrases = func() map[string][]boundPhrase {
	byLast := map[string][]boundPhrase{}
	for bound, phrases := range bounds {
		for _, phrase := range phrases {
			words := strings.Fields(phrase)
			last := words[len(words)-1]
			byLast[last] = append(byLast[last], boundPhrase{words, bound})
		}
	}
	for _, phrases := range byLast {
		slices.SortFunc(phrases, func(a, b boundPhrase) int {
			return cmp.Or(cmp.Compare(len(b.words), len(a.words)), slices.Compare(a.words, b.words))
		})
	}
	return byLast
}()

// boundEnding returns the bound of the longest phrase with which some words end.
func boundEnding(words []string) string {
	if len(words) == 0 {
		return ""
	}
	for _, p := range boundPhrases[words[len(words)-1]] {
		if len(p.words) <= len(words) && slices.Equal(p.words, words[len(words)-len(p.words):]) {
			return p.bound
		}
	}
	return ""
}

// boundBehind reads the words after a figure: "como máximo".
func (r *reader) boundBehind(i int) string {
	const longest = 3 // words
	if !boundBeginnings.Has(r.firstWord(i, i+longest)) {
		return ""
	}
	after := r.words(i, i+longest)
	for phrase, bound := range boundsBehind {
		if strings.HasPrefix(after, " "+phrase+" ") {
			return bound
		}
	}
	return ""
}

// boundBeginnings are the first words of the phrases of boundsBehind.
var boundBeginnings = func() lexicon.Set {
	var words []string
	for phrase := range boundsBehind {
		word, _, _ := strings.Cut(phrase, " ")
		words = append(words, word)
	}
	return lexicon.NewSet(strings.Join(words, " "))
}()

// value reads the number itself, in digits or as a word.
func (r *reader) value(i int, f *Value) (next int, ok bool) {
	if i >= len(r.tokens) {
		return i, false
	}
	if w := r.word(i); !r.tokens[i].IsNumber() {
		n := cardinals[w]
		if (w == "un" || w == "one") && scales[r.word(i+1)] > 3 {
			n = 1
		}
		if n == 0 && len(w) > 2 && scales[w] > 0 { // "mil acciones", "a billion"
			f.Number = newNumber("1", 0)
			return i, true
		}
		f.Number = newNumber(strconv.Itoa(n), 0)
		return i + 1, n > 0
	}
	text := r.mark(i)
	digits := strings.TrimRightFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	suffix := text[len(digits):]
	power, known := scales[strings.ToLower(suffix)]
	if suffix != "" && !known || suffix == "m" && !r.english {
		return i, false
	}
	f.Number, ok = ParseNumber(digits, r.english)
	f.Number = f.Number.Times(power)
	f.power = power
	return i + 1, ok
}

// spelled reads a number of several words: "treinta y cinco", "two hundred". It is
// compared word by word, as a code.
func (r *reader) spelled(i int) (Value, bool) {
	f := Value{Kind: Code, To: i}
	for k := i; k < len(r.tokens); k++ {
		w := r.word(k)
		switch value := cmp.Or(cardinals[w], ones[w]); {
		case value > 0:
			f.Text, f.To = f.Text+" "+strconv.Itoa(value), k+1
		case k == i || !joinsNumbers(w) && r.mark(k) != "-":
			return f, f.To > i+1
		case w == "mil" || w == "thousand":
			f.Text += " thousand"
		}
	}
	return f, f.To > i+1
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
func (r *reader) scale(i int, f *Value) int {
	for {
		power, ok := scales[r.word(i)]
		if !ok || r.mark(i) == "m" && !r.english {
			return i
		}
		f.Number, f.power = f.Number.Times(power), f.power+power
		i++
		if (r.word(i) == "de" || r.word(i) == "of") && scales[r.word(i+1)] > 0 {
			i++
		}
	}
}

// unit reads the unit of a number: behind it, perhaps after a "de" or an adjective
// ("5.000 nuevas acciones"), or a currency before it. It returns the end of a unit
// that follows directly.
func (r *reader) unit(Number, i int) (string, int) {
	at := i
	if r.word(at) == "de" || r.word(at) == "of" {
		at++
	}
	if r.word(at) == "d" && (r.mark(at+1) == "'" || r.mark(at+1) == "’") { // milions d'euros
		at += 2
	}
	if r.mark(at) == "m" && units[r.mark(at+1)] != "" {
		return "m" + units[r.mark(at+1)], at + 2
	}
	if unit, ok := units[r.word(at)+" "+r.word(at+1)]; ok {
		return unit, at + 2
	}
	if unit := cmp.Or(units[r.word(at)], units[r.mark(at)]); unit != "" && !r.beginsLabel(Number, at, unit) {
		if sign := cmp.Or(units[r.mark(Number-1)], units[r.word(Number-1)]); unit == "share" && IsCurrency(sign) {
			return sign, i // a €5 million share buyback
		}
		return unit, at + 1
	}
	switch unit := cmp.Or(units[r.mark(Number-1)], units[r.word(Number-1)]); unit {
	case "eur", "usd", "gbp", "chf", "jpy":
		return unit, i
	}
	for k := at; k < at+3 && r.word(k) != "" && !r.tokens[k].IsNumber() && !StopWords.Has(r.word(k)); k++ {
		if unit := units[r.word(k)]; unit != "" {
			return unit, i
		}
	}
	return "", i
}

// beginsLabel reports whether a unit behind a number is the beginning of the next label
// instead: "EUR 14.943 Share capital". The number has a currency before it.
func (r *reader) beginsLabel(number, at int, unit string) bool {
	before := cmp.Or(units[r.mark(number-1)], units[r.word(number-1)])
	return IsCurrency(before) && !IsCurrency(unit) && r.word(at) != "" && r.tokens[at].IsCapital() &&
		(number < 2 || !r.tokens[number-2].IsNumber())
}

// rate returns the base of a rate with a slash: "/share" for "brutos por acción".
func (r *reader) rate(i int, unit string) string {
	if unit == "share" || unit == "%" || unit == "" {
		return ""
	}
	if r.mark(i) == "/" {
		return "/" + cmp.Or(units[r.word(i+1)], r.word(i+1))
	}
	const longest = 6 // words
	if !rateOpeners.Has(r.firstWord(i, i+longest)) {
		return ""
	}
	m := rateOf.FindStringSubmatch(r.words(i, i+longest))
	if m == nil || !rated.Has(units[m[1]]) {
		return ""
	}
	return "/" + units[m[1]]
}

// minus reports whether a number has a minus before it, which may also be a dash, or is
// in brackets, the notation for losses in accounts.
func (r *reader) minus(i, next int) bool {
	if r.lastWord(i-3, i) == "menos" || r.saysNegative(i-3, i) || r.saysNegative(next, next+1) {
		return true
	}
	if r.mark(i-1) == "€" || r.mark(i-1) == "$" || r.mark(i-1) == "£" {
		i--
	}
	switch r.mark(i - 1) {
	case "-", "–", "−", "‑":
		return i < 2 || !r.tokens[i-2].IsNumber() && (r.tokens[i-1].Spaced || r.mark(i-2) == "(")
	case "(":
		return r.mark(next) == ")"
	}
	return false
}

// saysNegative reports whether a word such as "negativo" is in a range of tokens.
func (r *reader) saysNegative(from, to int) bool {
	for k := from; k < to; k++ {
		if strings.HasPrefix(r.word(k), "negativ") {
			return true
		}
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
func (r *reader) joinRanges() {
	for k := len(r.values) - 2; k >= 0; k-- {
		f, next := &r.values[k], &r.values[k+1]
		if !r.joined(f.To, next.From) {
			continue
		}
		if f.Kind == Figure && f.Unit == "" {
			if day, ok := r.day(f.From); ok && next.Kind == Date && next.Day > 0 {
				f.Kind = Date
				f.Day = day
				f.Month = next.Month
				f.Year = next.Year
			} else if next.Kind == Figure && next.Unit != "" {
				f.Unit = next.Unit
				if f.power == 0 {
					f.Number = f.Number.Times(next.power)
				}
			}
		}
		before, link := r.words(f.From-3, f.From), r.mark(f.To)
		fromTo := (link == "a" || link == "to") && f.Kind == Figure && !moving.In(r.words(f.From-12, f.From))
		ofDates := f.Kind == Date && fromDay.MatchString(before)
		ends := fromTo || ofDates || between.MatchString(before) || link == "-" || link == "–" || link == "—"
		if ends && f.Kind == next.Kind && f.Unit == next.Unit {
			f.Partner, next.Partner = k+1, k
		}
	}
}

// joined reports whether only short words are between two values.
func (r *reader) joined(from, to int) bool {
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
func (r *reader) period(i int) (Value, bool) {
	n, period := Quantities[r.word(i)], periods[r.word(i+1)]
	return Value{Kind: Code, To: i + 2, Text: period + n}, n != "" && period != ""
}

// code reads words for quantities, identifiers and ratings.
func (r *reader) code(i int) (Value, bool) {
	w, text := r.word(i), r.mark(i)
	switch {
	case w == "":
		return Value{}, false
	case Quantities[w] != "":
		return Value{Kind: Code, To: i + 1, Text: Quantities[w]}, true
	case strings.ContainsAny(text, "0123456789"), strings.HasSuffix(text, "+"), strings.HasSuffix(text, "-"):
		return Value{Kind: Code, To: i + 1, Text: text}, true
	}
	return Value{}, false
}
