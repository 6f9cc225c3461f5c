package fact

import (
	"strings"

	"pregon/internal/document/value"
)

// Many letters end with a schedule: a paragraph or a line for each day, which says what
// happens on it.
//
//	9 de junio. Comienzo del periodo de negociación. Las acciones cotizan ex-cupón.
//	10 de junio: fecha de registro.

// longestEvent is the number of sentences about one day of a schedule.
const longestEvent = 4

// dayOfSchedule returns the date with which a part begins, if the words behind it say what
// happens on it, and the token behind its mark.
func (p *part) dayOfSchedule() (day *value.Value, behind int, ok bool) {
	const article = 2 // "El día 9 de junio", "- 9 de junio"
	if p.cells != nil || len(p.values) == 0 {
		return nil, 0, false
	}
	day = &p.values[0]
	isDay := day.Kind == value.Date && day.Day > 0 && day.Month > 0
	if !isDay || day.From > article || p.hasBetween(0, day.From, dividendDateNames...) {
		return nil, 0, false
	}
	isAlone := day.To >= len(p.tokens)-1 && strings.HasSuffix(strings.TrimSpace(p.text), ".")
	switch mark := p.mark(day.To); {
	case mark == ":", isDash(mark), isAlone:
	default:
		return nil, 0, false
	}
	return day, day.To + 1, true
}

// eventOfSchedule returns the name of the date with which a part begins: that in the part, or
// in the sentences of the paragraph behind it, up to the next date. It reports whether the part
// is the day of a schedule at all; then the line before it does not name the date.
func (r *reading) eventOfSchedule(i int) (name cue, isDay bool) {
	p := &r.parts[i]
	day, behind, ok := p.dayOfSchedule()
	if !ok {
		return cue{}, false
	}
	if behind < len(p.tokens) {
		if len(p.values) > 1 && p.values[1].Kind == value.Date {
			return cue{}, true
		}
		if name, ok := p.eventIn(day.To); ok {
			return name, true
		}
	}
	for k := i + 1; k < min(i+longestEvent, len(r.parts)); k++ {
		next := &r.parts[k]
		if next.paragraph != p.paragraph || next.cells != nil || len(next.values) > 0 {
			break
		}
		found, ok := next.eventIn(0)
		if !ok {
			continue
		}
		if name.class != "" && name.class != found.class {
			return cue{}, true
		}
		name = found
	}
	return name, true
}

// eventIn returns the name of a date that a sentence of a schedule begins with. A sentence about
// the end of a period only mentions what it is for: "Fin del plazo para solicitar el pago".
func (p *part) eventIn(from int) (cue, bool) {
	names := p.longest(dividendDateNames...)
	name, ok := firstCue(names, from, len(p.tokens))
	for _, c := range names { // "comienzo del periodo de negociación (ex date)"
		if c.from >= from && p.mark(c.from-1) == "(" && p.mark(c.to) == ")" {
			name = c
		}
	}
	if !ok || dividendDateFields[name.class] == "" || clausesOf(p).unsure(name.from) {
		return cue{}, false
	}
	return name, true
}

// withoutFormer drops the doubts that only say that a date was another one before: "previsto
// inicialmente para el 6 de julio". Those dates are no facts themselves: see isFormerDate.
func (c *clauses) withoutFormer() {
	former := c.p.all("former date")
	if len(former) == 0 {
		return
	}
	var kept []cue
	for _, q := range c.doubts {
		covered := false
		for _, f := range former {
			covered = covered || f.from <= q.from && q.to <= f.to
		}
		if !covered {
			kept = append(kept, q)
		}
	}
	c.doubts = kept
}

// isFormerDate reports whether the words before a date say that it is no longer valid.
func (p *part) isFormerDate(v *value.Value) bool {
	const near = 5 // "en lugar de el próximo día 6 de julio"
	if !p.has("former date") {
		return false
	}
	former, ok := lastCue(p.all("former date"), max(0, v.From-near-4), v.From)
	return ok && v.From-former.to <= near
}

// dayOfMonth reads a day whose month is that of a date before it: "el 18 de diciembre, cotizando
// ex-dividendo desde el día 16 del mismo mes"; "el 16 de julio; el 14 será la fecha ex-dividendo".
func (r *reading) dayOfMonth(p *part, k int, names []cue) (day value.Value, name class, ok bool) {
	v := &p.values[k]
	n, isDay := p.bareNumber(v)
	if !isDay {
		return day, "", false
	}
	before := -1
	for o := k - 1; o >= 0 && before < 0; o-- {
		if p.values[o].Kind == value.Date && p.values[o].Month > 0 {
			before = o
		}
	}
	same, isSame := firstCue(p.all("same month"), v.To, v.To+6)
	thisMonth, isThis := firstCue(p.all("this month"), v.To, v.To+6)
	switch {
	case isThis && thisMonth.from == v.To && !r.Published.IsZero():
		day = value.Value{Kind: value.Date, Partner: -1, Year: r.Published.Year(), Month: int(r.Published.Month())}
	case before < 0:
		return day, "", false
	case isSame && same.from == v.To:
		day = p.values[before]
	default:
		behind, found := p.nameOfBareDay(names, v.To)
		if !found {
			return day, "", false
		}
		day = p.values[before]
		name = behind.class
	}
	if name == "" {
		last := 0
		if before >= 0 {
			last = p.values[before].To
		}
		found, isNamed := lastCue(names, last, v.From)
		if !isNamed {
			return day, "", false
		}
		name = found.class
	}
	day.Day = n
	day.From = v.From
	day.To = v.To
	return day, name, true
}

// bareNumber returns the number of a day without its month: "el 14", "el día 14".
func (p *part) bareNumber(v *value.Value) (n int, ok bool) {
	const longestMonth = 31
	before := p.word(v.From - 1)
	if v.Kind != value.Figure || v.Unit != "" || v.Scaled() || v.To != v.From+1 || before != "el" && before != "dia" {
		return 0, false
	}
	for _, digit := range p.mark(v.From) {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		n = 10*n + int(digit-'0')
		if n > longestMonth {
			return 0, false
		}
	}
	return n, n > 0
}

// nameOfBareDay returns the name directly behind a day: "el 14 será la fecha ex-dividendo", "el 15,
// la fecha de registro".
func (p *part) nameOfBareDay(names []cue, from int) (cue, bool) {
	const near = 3
	name, ok := firstCue(names, from, from+near+12)
	if !ok || name.from > from+near {
		return cue{}, false
	}
	for i := from; i < name.from; i++ {
		switch p.word(i) {
		case "sera", "es", "la", "el":
		case "":
			if p.mark(i) != "," {
				return cue{}, false
			}
		default:
			return cue{}, false
		}
	}
	return name, true
}

// takesPlace reports whether the verb before a date says when its subject takes place: "se
// realizará el 8 de julio".
func (p *part) takesPlace(at int) (verb int, ok bool) {
	const near = 4
	for i := at - 1; i >= max(0, at-near); i-- {
		switch p.word(i) {
		case "realizara", "efectuara", "producira", "materializara", "realitzara", "efectuar", "realizar", "place":
			return i, true
		case "lugar":
			return i, strings.HasPrefix(p.word(i-1), "tendra") || p.word(i-1) == "tener"
		case "", "el", "dia", "proximo", "on", "de", "a", "partir":
		default:
			return 0, false
		}
	}
	return 0, false
}

// subjectOfDate returns the name of a date that is the subject of the verb before it, although
// other events are mentioned between them: "el pago del dividendo aprobado por la Junta se
// realizará el 8 de julio".
func (p *part) subjectOfDate(names []cue, from, at int) (found cue, ok bool) {
	verb, takes := p.takesPlace(at)
	if !takes {
		return cue{}, false
	}
	for _, c := range names {
		if c.class == "other date" || c.from < from || c.to > verb {
			continue
		}
		if ok && c.class != found.class {
			return cue{}, false
		}
		found = c
		ok = true
	}
	return found, ok
}

// listsDays reports whether a part has several lines that each begin with a date: then the words
// behind a date name it.
func (p *part) listsDays() bool {
	if p.cells != nil || !strings.Contains(p.text, "\n") {
		return false
	}
	days := 0
	for k := range p.values {
		v := &p.values[k]
		if v.Kind != value.Date || v.Day == 0 {
			continue
		}
		if !p.beginsLine(v.From) {
			return false
		}
		days++
	}
	return days > 1
}

// beginsLine reports whether a token is the first of its line, but for a bullet.
func (p *part) beginsLine(i int) bool {
	if i > 0 && p.word(i-1) == "" && !p.tokens[i-1].IsNumber() {
		i--
	}
	if i == 0 {
		return true
	}
	return strings.Contains(p.text[p.tokens[i-1].End():p.tokens[i].At], "\n")
}
