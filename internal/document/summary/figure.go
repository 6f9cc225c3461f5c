package summary

import "strings"

// units maps words to units. Figures without a unit are compared by their noun.
var units = map[string]string{
	"euro": "eur", "euros": "eur", "eur": "eur", "dolar": "usd", "dolares": "usd", "usd": "usd", "dollars": "usd", "libra": "gbp", "libras": "gbp", "gbp": "gbp",
	"franco": "chf", "francos": "chf", "chf": "chf", "yen": "jpy", "yenes": "jpy", "jpy": "jpy", "peso": "peso", "pesos": "peso", "reales": "real", "pesetas": "pta",
	"corona": "crown", "coronas": "crown", "yuanes": "cny", "cny": "cny", "cad": "usd canad", "aud": "usd austral", "mxn": "peso mexic",
	"pb": "bp", "pbs": "bp", "bps": "bp", "bp": "bp", "pp": "pp",
	"accion": "share", "acciones": "share", "share": "share", "shares": "share",
	"participacion": "part", "participaciones": "part", "titulo": "title", "titulos": "title",
	"bono": "bond", "bonos": "bond", "bonds": "bond", "obligacion": "debenture", "obligaciones": "debenture", "pagares": "note", "derecho": "right", "derechos": "right",
	"ano": "year", "anos": "year", "years": "year", "year": "year", "mes": "month", "meses": "month", "months": "month", "dia": "day", "dias": "day", "days": "day",
	"hora": "hour", "horas": "hour", "semanas": "week", "trimestres": "quarter", "vez": "time", "veces": "time", "x": "time", "times": "time",
	"empleados": "staff", "trabajadores": "staff", "personas": "staff", "profesionales": "staff", "employees": "staff",
	"mw": "mw", "gw": "gw", "kw": "kw", "mwh": "mwh", "gwh": "gwh", "twh": "twh", "toneladas": "t", "km": "km", "kilometros": "km", "hectareas": "ha", "barriles": "bbl",
	"percent": "%", "pct": "%",
}

var signs = map[string]string{"%": "%", "€": "eur", "$": "usd", "£": "gbp", "‰": "‰", "¥": "jpy"}

// longUnits are units of two words.
var longUnits = map[string]string{
	"por ciento": "%", "por cien": "%", "per cent": "%", "puntos porcentuales": "pp", "punto porcentual": "pp",
	"puntos basicos": "bp", "punto basico": "bp", "basis points": "bp",
}

// bounds are the words before a figure that make it a limit or an estimate.
var bounds = map[string]phrases{
	"more": newPhrases(`
		mas de
		mas del
		superior a
		superior al
		superiores a
		supera
		superan
		superando
		supero
		al menos
		como minimo
		por encima de
		por encima del
		minimo de
		more than
		over
		at least
		above`),
	"less": newPhrases(`
		menos de
		menos del
		inferior a
		inferior al
		inferiores a
		por debajo de
		por debajo del
		hasta
		maximo de
		maxima de
		maximo del
		maximo
		maxima
		como maximo
		less than
		under
		up to
		below
		maximum of`),
	"about": newPhrases(`
		casi
		cerca de
		alrededor de
		aproximadamente
		aproximado de
		unos
		unas
		en torno a
		en torno al
		en el entorno de
		about
		approximately
		around
		nearly
		almost`),
}

// figure reads a number with its scale, unit, rate and bounds.
func (r *reader) figure(i int) (fact, bool) {
	f := fact{kind: aFigure}
	next, ok := r.valueAt(i, &f)
	if !ok {
		return f, false
	}
	next = r.scaleAt(next, &f)
	next = r.unitAt(next, &f)
	if f.unit == "" {
		f.unit = r.signBefore(i)
	}
	f.per, next = r.perAt(next, f.unit)
	if f.per == "" {
		f.per = r.frequencyAt(next, f.unit)
	}
	f.to = next
	if f.unit == "" {
		r.countedAt(next, &f)
		f.label = r.labelBefore(i)
	}
	f.bound = r.boundBefore(i)
	f.step = r.stepBefore(i)
	f.negative, f.doubtful = r.negativeAt(i, next)
	return f, true
}

// valueAt reads the number itself, in digits or words.
func (r *reader) valueAt(i int, f *fact) (next int, ok bool) {
	if i < len(r.tokens) && r.tokens[i].isNumber() {
		text := r.mark(i)
		digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
		suffix := text[len(digits):]
		power, known := scales[strings.ToLower(suffix)]
		if suffix != "" && !known {
			return i, false
		}
		f.value, ok = readNumber(digits, r.english)
		f.value = f.value.times(power)
		return i + 1, ok
	}
	if i >= len(r.tokens) {
		return i, false
	}
	value, words := readWords(r.tokens[i:min(len(r.tokens), i+12)])
	f.value = value
	return i + words, words > 0
}

// scaleAt reads thousands and millions: "mil", "miles de millones".
func (r *reader) scaleAt(i int, f *fact) int {
	for {
		power, ok := scales[r.word(i)]
		if !ok || r.mark(i) == "m" && !r.english {
			return i
		}
		f.value = f.value.times(power)
		i++
		if r.word(i) == "de" && scales[r.word(i+1)] > 0 {
			i++
		}
	}
}

// unitAt reads a unit, which may follow a "de".
func (r *reader) unitAt(i int, f *fact) int {
	at := i
	if r.word(at) == "de" {
		at++
	}
	if unit, ok := signs[r.mark(at)]; ok {
		f.unit = unit
		return at + 1
	}
	if r.mark(at) == "m" && r.mark(at+1) == "€" { // ambiguous: thousands or millions
		f.unit = "m€"
		return at + 2
	}
	if unit, ok := longUnits[r.word(at)+" "+r.word(at+1)]; ok {
		f.unit = unit
		return at + 2
	}
	if unit, ok := units[r.word(at)]; ok {
		f.unit = unit
		if adjective := nations.entry(r.word(at + 1)); moneys[unit] && adjective != "" {
			if adjective != moneyOf[unit] {
				f.unit += " " + adjective
			}
			at++
		}
		return at + 1
	}
	return i
}

// A currency is its name and its country. Dollars without a country are those of
// the United States; pesos without a country have none.
var (
	moneys  = map[string]bool{"usd": true, "gbp": true, "chf": true, "peso": true, "real": true, "crown": true}
	nations = newLexicon(`estadounid* american* canad* austral* neozel* hongkon* singap* taiwan* mexic* argentin* chilen* colomb* uruguay* filipin* dominic* cuban*
		esterlin* egipci* libanes* suiz* noruega* sueca* danes* checa* islandes* brasil* cfa`)
	moneyOf = map[string]string{"usd": "estadounid", "gbp": "esterlin", "chf": "suiz"}
)

// signBefore reads "€ 5" and "EUR 5".
func (r *reader) signBefore(i int) string {
	if unit, ok := signs[r.mark(i-1)]; ok && r.mark(i-1) != "%" {
		return unit
	}
	switch r.word(i - 1) {
	case "eur", "usd", "gbp", "chf":
		return r.word(i - 1)
	}
	return ""
}

// perAt reads "por acción", with or without "brutos" before it.
func (r *reader) perAt(i int, unit string) (string, int) {
	at := i
	for strings.HasPrefix(r.word(at), "brut") || strings.HasPrefix(r.word(at), "net") || r.word(at) == "en" || r.word(at) == "efectivo" || r.word(at) == "gross" {
		at++
	}
	if unit == "share" || unit == "" || unit == "%" {
		return "", i
	}
	switch {
	case r.word(at) == "por" || r.word(at) == "per" || r.mark(at) == "/":
		at++
	default:
		return "", i
	}
	if r.word(at) == "cada" || r.word(at) == "una" {
		at++
	}
	if units[r.word(at)] == "share" || units[r.word(at)] == "part" || units[r.word(at)] == "title" {
		return "share", at + 1
	}
	if w := r.word(at); w != "" && !stopWords.has(w) && !notEach.has(w) && !r.tokens[at].isNumber() && !r.tokens[at].isCapital() {
		return meaning(w), i
	}
	return "", i
}

// notEach are words after "por" that are not the base of a rate.
var notEach = newLexicon("parte valor importe cuenta ello ejemplo")

// frequencyAt reads "anuales" and "al mes".
func (r *reader) frequencyAt(i int, unit string) string {
	for strings.HasPrefix(r.word(i), "brut") || strings.HasPrefix(r.word(i), "net") {
		i++
	}
	if unit == "share" || unit == "" {
		return ""
	}
	if often := frequencies.entry(r.word(i)); often != "" {
		return often
	}
	if often := periods.entry(r.word(i + 1)); often != "" && (r.word(i) == "al" || r.word(i) == "cada" || r.word(i) == "a") {
		return often
	}
	return ""
}

var (
	frequencies = newLexicon("anual anuales mensual* trimestral* semestral* diari* semanal*")
	periods     = newLexicon("mes ano dia trimestre semestre semana hora")
)

// countedAt finds the counted noun: a unit after an adjective, or nouns.
func (r *reader) countedAt(i int, f *fact) {
	for k := i; k < i+3 && k < len(r.tokens); k++ {
		w := r.word(k)
		if w == "" || r.tokens[k].isNumber() {
			return
		}
		if unit, ok := units[w]; ok && k > i {
			f.unit, f.nouns = unit, nil
			return
		}
		if w != "de" && stopWords.has(w) {
			return
		}
		if !stopWords.has(w) {
			f.nouns = append(f.nouns, meaning(w))
		}
	}
}

// labelBefore returns the word before a figure, skipping short words.
func (r *reader) labelBefore(i int) string {
	for k := i - 1; k >= max(0, i-3); k-- {
		if w := r.word(k); w != "" && !stopWords.has(w) {
			return meaning(w)
		}
	}
	return ""
}

// boundBefore reads the words before a figure, skipping its article.
func (r *reader) boundBefore(i int) string {
	for articles.has(r.word(i-1)) || signs[r.mark(i-1)] != "" && r.mark(i-1) != "%" {
		i--
	}
	if r.word(i-1) == "hasta" && r.moves(i) {
		return "" // a change to the figure, not a limit
	}
	folded := " "
	for k := max(0, i-4); k < i; k++ {
		if r.word(k) == "" {
			folded = " "
		} else {
			folded += r.word(k) + " "
		}
	}
	for name, words := range bounds {
		if words.end(folded) {
			return name
		}
	}
	return ""
}

// moves reports whether the words before express an increase or a decrease.
func (r *reader) moves(i int) bool {
	before := r.tokens[max(0, i-12):i]
	return hasWord(before, opposites[0][0]) || hasWord(before, opposites[0][1])
}

// stepBefore returns "by" if a figure is the amount of a change, and "to" if it is
// the result of one.
func (r *reader) stepBefore(i int) string {
	if !r.moves(i) {
		return ""
	}
	switch before := r.wordBefore(i); {
	case before == "hasta" || before == "a" || before == "al":
		return "to"
	case before == "en", opposites[upDown][0].has(before), opposites[upDown][1].has(before):
		return "by"
	}
	return ""
}

// dateBounds are the words before a date that make it a limit.
var dateBounds = newPhrases(`
	antes de
	antes del
	a partir de
	a partir del
	a mas tardar
	mas tarde de
	mas tarde del
	despues de
	despues del
	con anterioridad a
	con anterioridad al
	con posterioridad a
	con posterioridad al`)

// limit stores the words that make a date a limit.
func (r *reader) limit() {
	for k := range r.facts {
		f := &r.facts[k]
		if f.kind != aDate || f.day == 0 {
			continue
		}
		from := f.from
		for articles.has(r.word(from-1)) || r.word(from-1) == "dia" {
			from--
		}
		folded := " "
		for i := max(0, from-4); i < from; i++ {
			folded += r.word(i) + " "
		}
		for _, b := range dateBounds {
			if strings.HasSuffix(folded, b) {
				f.bound = strings.TrimSuffix(strings.TrimSpace(b), "l")
			}
		}
	}
}

var articles = newLexicon("el la los las un una the")

// negativeAt reports whether a number has a minus before it or is alone in
// brackets, the notation for losses in accounts. A minus with a space may be a
// dash, and brackets around an amount with its unit may be a parenthesis: these are
// doubtful.
func (r *reader) negativeAt(i, next int) (negative, doubtful bool) {
	first := i
	for k := i - 1; k >= max(0, i-2); k-- { // "-€5", "(EUR 5)"
		if signs[r.mark(k)] == "" && units[r.word(k)] == "" {
			break
		}
		first = k
	}
	if before := r.mark(first - 1); before == "-" || before == "–" || before == "−" || before == "—" {
		if first > 1 && r.tokens[first-2].isNumber() {
			return false, false // a range
		}
		glued := !r.tokens[first].spaced
		if glued && first > 1 && !r.tokens[first-1].spaced && r.mark(first-2) != "(" {
			return false, false // a hyphen
		}
		return true, !glued
	}
	if r.mark(first-1) == "(" && r.mark(next) == ")" {
		return true, next != i+1
	}
	return false, false
}

// inherit copies the scale and unit, or the month and year, that only the second of
// two numbers has to the first: "entre 5 y 7 millones de euros", "el 2 y el 6 de
// marzo".
func (r *reader) inherit() {
	for k := len(r.facts) - 2; k >= 0; k-- {
		f, next := &r.facts[k], r.facts[k+1]
		if f.kind != aFigure || f.unit != "" || !r.joined(f.to, next.from) {
			continue
		}
		switch {
		case next.kind == aDate && next.day > 0:
			if day, ok := r.dayAt(f.from); ok {
				*f = fact{kind: aDate, from: f.from, to: f.to, day: day, month: next.month, year: next.year}
			}
		case next.kind == aFigure && next.unit != "":
			f.unit, f.per, f.nouns = next.unit, next.per, nil
			if !r.hasScale(*f) {
				f.value = f.value.times(r.scaleOf(next))
			}
		}
	}
}

// joined reports whether only short words are between two facts.
func (r *reader) joined(from, to int) bool {
	for k := from; k < to; k++ {
		switch r.word(k) {
		case "y", "e", "o", "a", "al", "el", "los", "la", "las", "hasta", "and", "to":
		case "":
			if m := r.mark(k); m != "-" && m != "–" && m != "," && m != "/" {
				return false
			}
		default:
			return false
		}
	}
	return to-from <= 3
}

func (r *reader) scaleOf(f fact) int {
	power := 0
	for k := f.from; k < f.to; k++ {
		if k > f.from || !r.tokens[k].isNumber() {
			power += scales[r.word(k)]
		}
	}
	return power
}

func (r *reader) hasScale(f fact) bool { return r.scaleOf(f) > 0 }

var comparing = newLexicon("frente desde respecto contra versus vs compared from comparado comparacion anterior")

// relate marks the facts that are compared with others and the ends of ranges.
func (r *reader) relate() {
	for k := range r.facts {
		f := &r.facts[k]
		for n := max(0, f.from-3); n < f.from; n++ {
			if comparing.has(r.word(n)) {
				f.compared = true
			}
			if r.mark(n) == "," || r.mark(n) == ";" {
				f.compared = false
			}
		}
		if k+1 == len(r.facts) || r.facts[k+1].group() != f.group() || !r.joined(f.to, r.facts[k+1].from) {
			continue
		}
		next := &r.facts[k+1]
		link := r.word(f.to)
		switch before := r.wordBefore(f.from); {
		case (before == "de" || before == "del" || before == "desde") && (link == "a" || link == "al" || link == "hasta"):
			f.compared = true
			f.pair, next.pair = k+1, k+1
		case before == "entre", r.mark(f.to) == "-", r.mark(f.to) == "–":
			f.pair, next.pair = k+1, k+1
			f.between, next.between = true, true
		}
	}
}

// wordBefore returns the word before an index, skipping articles.
func (r *reader) wordBefore(i int) string {
	for i > 0 && articles.has(r.word(i-1)) {
		i--
	}
	return r.word(i - 1)
}
