package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/document/value"
)

// Many sentences name an event of a programme and do not announce it: they recall an
// earlier one, say what someone is said to have done, or what may be done.

// isUnannounced reports whether the words around an event say that the sentence does not
// announce it.
func (r *reading) isUnannounced(i int, c cue) bool {
	p := &r.parts[i]
	if r.isTopicOther(p) || p.isQuestion() || p.countsProgrammes() || p.isToldByOthers(c) || p.isQuoted(c) ||
		r.isTerm(p, c) || r.isSubjectOther(p, c.from) {
		return true
	}
	if p.heading || p.cells != nil {
		return false
	}
	return p.beginsHypothetical() || p.isInRelativeClause(c) || r.isDatedBefore(p, c) || r.isUndecided(i, c)
}

// isQuestion reports whether a sentence asks.
func (p *part) isQuestion() bool {
	return p.cells == nil && (strings.IndexByte(p.text, '?') >= 0 || strings.Contains(p.text, "¿"))
}

// countsProgrammes reports whether a sentence is about programmes of which it names none:
// "38 programmes were launched".
func (p *part) countsProgrammes() bool {
	isMany := false
	for k := range p.tokens {
		switch p.word(k) {
		case "programa", "programme", "program", "plan":
			return false
		case "programas", "programmes", "programs", "planes", "programes":
			isMany = true
		}
	}
	return isMany
}

// startsWithYear reports whether a sentence begins with a year, of which it then tells all
// that was traded: "En todo el año 2025 se compraron".
func (p *part) startsWithYear() bool {
	const beginning = 8 // tokens
	if len(p.values) == 0 || p.cells != nil {
		return false
	}
	first := &p.values[0]
	return first.IsYear() && first.From <= beginning
}

// isTerm reports whether the end of a programme is only its term: it has not been reached, or
// someone says by when the programme is to be completed.
func (r *reading) isTerm(p *part, c cue) bool {
	const near = 14
	if c.class != "buyback end" {
		return false
	}
	switch p.word(c.from - 1) {
	case "be", "will", "shall":
		return true
	}
	for _, v := range p.valuesIn(c.to, min(c.to+near, len(p.tokens))) {
		text, ok := date(v)
		if !ok || r.Published.IsZero() {
			continue
		}
		if p.hasBetween(c.to, v.From, "buyback old value", "buyback reference") {
			continue // "ha finalizado antes de la fecha inicialmente prevista"
		}
		day, err := time.Parse(time.DateOnly, text)
		return err == nil && day.After(r.Published)
	}
	return false
}

// isToldByOthers reports whether a sentence says what others say, or what would be: "según las
// cuales habría decidido iniciar un programa".
func (p *part) isToldByOthers(c cue) bool {
	const near = 12
	if p.has("buyback hearsay") {
		return true
	}
	for k := max(0, c.from-near); k < min(c.to+near, len(p.tokens)); k++ {
		if k < c.from && p.isWouldVerb(k) {
			return true
		}
	}
	return false
}

// beginsHypothetical reports whether a sentence begins with a condition: "Should the board
// launch a second programme".
func (p *part) beginsHypothetical() bool {
	return p.word(0) == "should" || p.beginsWithCondition()
}

// isWouldVerb reports whether a word is a verb in the conditional.
func (p *part) isWouldVerb(k int) bool {
	switch p.word(k) {
	case "habria", "habrian", "seria", "serian", "podria", "podrian", "tendria", "tendrian", "would", "could", "might", "hauria":
		return true
	}
	return p.isConditionalVerb(k) && !isImperfect(p.word(k))
}

// isImperfect reports whether a verb that looks like one in the conditional is in the
// imperfect: "a que se refería".
func isImperfect(word string) bool {
	switch strings.TrimSuffix(word, "n") {
	case "referia", "queria", "requeria", "sugeria", "conferia", "transferia", "diferia", "adheria":
		return true
	}
	return false
}

// isQuoted reports whether an event is within quotation marks: someone said it, or it is
// the title of another report.
func (p *part) isQuoted(c cue) bool {
	for k := c.from - 1; k >= 0; k-- {
		switch p.mark(k) {
		case "«", "“":
			return true
		case "»", "”":
			return false
		}
	}
	for k := c.to; k < len(p.tokens); k++ {
		switch p.mark(k) {
		case "»", "”":
			return true // the quotation began in a sentence before
		case "«", "“":
			return false
		}
	}
	return false
}

// isInRelativeClause reports whether an event is told in a clause about the programme, which
// says only which programme it is: "el programa de recompra que finalizó en febrero".
func (p *part) isInRelativeClause(c cue) bool {
	const longest = 8
	k := c.from - 1
	for isBetweenPronounAndVerb(p.word(k)) {
		k--
	}
	switch p.word(k) {
	case "que", "which", "that":
		return p.isOfProgramme(k - 1)
	}
	for k := c.from - 1; k >= max(0, c.from-longest) && !isClauseMark(p.mark(k)); k-- {
		switch p.word(k) {
		case "cuyo", "cuya", "whose":
			return true
		}
	}
	return false
}

// isOfProgramme reports whether a word is the last of the name of a programme. Brackets
// behind the name do not matter.
func (p *part) isOfProgramme(k int) bool {
	if p.mark(k) == "," {
		k--
	}
	for p.mark(k) == ")" {
		for k >= 0 && p.mark(k) != "(" {
			k--
		}
		k--
	}
	switch p.word(k) {
	case "programa", "recompra", "programme", "program", "plan", "acciones", "propias", "shares", "buyback", "buybacks":
		return true
	case "back":
		return p.word(k-1) == "buy" || p.word(k-2) == "buy"
	}
	return false
}

// isBetweenPronounAndVerb reports whether a word may stand between a relative pronoun and
// its verb.
func isBetweenPronounAndVerb(word string) bool {
	switch word {
	case "se", "ya", "fue", "was", "had", "entonces", "le", "la", "sociedad", "banco", "compania", "entidad", "the", "company":
		return true
	}
	return false
}

// isDatedBefore reports whether the clause of an event has a day or a month that is long
// before the report: "completó en enero su segundo programa". The days of meetings,
// authorisations and earlier reports say nothing about the event.
func (r *reading) isDatedBefore(p *part, c cue) bool {
	const far = 12
	if r.Published.IsZero() {
		return false
	}
	from := p.clauseStart(c.from)
	for k := from; k < min(c.to+far, len(p.tokens)); k++ {
		if k >= c.to && (isClauseMark(p.mark(k)) || p.beginsOther(k)) {
			break
		}
		if k >= c.from && k < c.to || !isDayPreposition(p.word(k-1)) {
			continue
		}
		last, ok := r.lastDayAt(p, k)
		if !ok || !last.Before(r.Published.AddDate(0, 0, -20)) {
			continue
		}
		if k > c.to && p.hasBetween(c.to, k, "buyback reference", "buyback authorisation", "buyback begun") {
			break
		}
		if k < c.from &&
			p.hasBetween(from, c.from, "buyback reference", "buyback authorisation", "buyback begun", "buyback statement") {
			break
		}
		return true
	}
	return false
}

// beginsOther reports whether a word behind an event begins to tell of something else, whose
// day may follow: "reanuda el programa suspendido el 3 de abril".
func (p *part) beginsOther(k int) bool {
	w := p.word(k)
	switch w {
	case "que", "which", "that", "cuyo", "cuya", "whose", "puesto", "puesta":
		return true
	}
	const shortest = 7
	if len(w) < shortest {
		return false
	}
	for _, end := range []string{"ado", "ido", "ada", "ida", "ados", "idos", "adas", "idas", "ed"} {
		if strings.HasSuffix(w, end) {
			return true
		}
	}
	return false
}

// isDayPreposition reports whether a word stands before the day or the month of an event.
func isDayPreposition(word string) bool {
	switch word {
	case "en", "el", "in", "on", "pasado", "dia", "desde", "since", "al":
		return true
	}
	return false
}

// lastDayAt returns the last day of the date or the month at a token.
func (r *reading) lastDayAt(p *part, k int) (time.Time, bool) {
	for i := range p.values {
		v := p.values[i]
		if v.Kind != value.Date || v.From != k || v.Month == 0 {
			continue
		}
		if v.Day > 0 {
			text, ok := r.dayOf(&v)
			day, err := time.Parse(time.DateOnly, text)
			return day, ok && err == nil
		}
		year := v.Year
		if year == 0 {
			year = r.Published.Year()
		}
		return r.endOfMonth(year, v.Month, v.Year > 0), true
	}
	month := monthNamed(p.word(k))
	if month == 0 {
		return time.Time{}, false
	}
	return r.endOfMonth(r.Published.Year(), month, false), true
}

// monthNames are the names of the months in three languages.
var monthNames = [3][]string{
	strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
	strings.Fields("january february march april may june july august september october november december"),
	strings.Fields("gener febrer marc abril maig juny juliol agost setembre octubre novembre desembre"),
}

// monthNamed returns the month of a name, from 1, or 0.
func monthNamed(word string) int {
	for _, names := range monthNames {
		if n := slices.Index(names, word); n >= 0 {
			return n + 1
		}
	}
	return 0
}

// endOfMonth returns the last day of a month. A month of which the year is not stated is
// the last one that has begun before the report.
func (r *reading) endOfMonth(year, month int, stated bool) time.Time {
	first := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	if !stated && first.After(r.Published) {
		first = first.AddDate(-1, 0, 0)
	}
	return first.AddDate(0, 1, -1)
}

// isUndecided reports whether an event is only named by its infinitive, without a word
// that says that it was decided: "está en condiciones de lanzar un programa".
func (r *reading) isUndecided(i int, c cue) bool {
	p := &r.parts[i]
	if !p.isInfinitive(c) {
		return false
	}
	const start = 4
	if p.hasBetween(0, c.from, "buyback decided", "buyback proceeds") {
		return false
	}
	if c.from > start {
		return true
	}
	const list = 8 // parts between "ha acordado:" and what was agreed
	for k := i - 1; k >= max(0, i-list); k-- {
		if r.parts[k].has("buyback decided", "buyback proceeds") {
			return false
		}
	}
	return true
}

// isNounBefore reports whether a word before a verb without its ending makes it a noun: "the
// launch of".
func isNounBefore(word string) bool {
	switch word {
	case "the", "a", "of", "this", "its", "we", "s":
		return true
	}
	return false
}

// isInfinitive reports whether an event is a verb in the infinitive.
func (p *part) isInfinitive(c cue) bool {
	if p.word(c.from-1) == "to" {
		return true
	}
	w := p.word(c.from)
	switch w {
	case "to":
		return true
	case "launch", "commence", "begin", "implement", "establish", "suspend", "terminate", "resume", "extend", "amend":
		return p.word(c.from-1) != "" && !isNounBefore(p.word(c.from-1))
	}
	if len(w) < 5 && w != "dar" {
		return false
	}
	return strings.HasSuffix(w, "ar") || strings.HasSuffix(w, "er") || strings.HasSuffix(w, "ir")
}

// onlyRefers reports whether a sentence says what an earlier report said, and nothing
// else: "Hacemos referencia a la comunicación por la que anunció un programa de 20 millones".
func (p *part) onlyRefers(v *value.Value) bool {
	return p.endOfLast(v.From, "buyback refers") >= 0 && !p.has("buyback statement")
}

// isOfAuthority reports whether a figure is a limit of what shareholders have allowed, not
// of the programme: "the authority granted at the meeting, at which up to 500 shares could
// be acquired".
func (p *part) isOfAuthority(v *value.Value) bool {
	if v.Kind != value.Figure {
		return false
	}
	const longest = 3 // tokens from a clause mark to its relative pronoun
	from := p.clauseStart(v.From)
	for k := from; k < min(from+longest, v.From); k++ {
		switch p.word(k) {
		case "which", "cual", "que", "cuya", "cuyo":
			from = p.clauseStart(from - 1)
		}
	}
	last := p.endOfLast(v.From, "buyback authority")
	return last > from && !p.hasBetween(last, v.From, "buyback", "programme") ||
		last > from && p.hasBetween(last, v.From, "possible")
}

// isGuide reports whether a document shows how reports are written: a guide, a form to be
// filled in. Its facts are examples.
func (r *reading) isGuide() bool {
	if r.title.has("guide") {
		return true
	}
	return anyPart(r.parts, func(p *part) bool { return p.cells == nil && !p.isTooLong() && p.has("template") })
}
