package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/document/value"
)

// A suspension is found by its decision: a sentence or a row that says that trading is
// suspended, goes on again, or ends for ever. A decision to lift names the suspension
// too, and often its date: a date belongs to the decision by the words before it.

// suspensionActions are the actions, by the words that tell them.
var suspensionActions = map[class]string{
	"suspends":   "suspended",
	"suspension": "suspended",
	"lifts":      "lifted",
	"excludes":   "excluded",
}

// suspensionDates are the names of the date of each action.
var suspensionDates = map[string]class{
	"suspended": "suspend date",
	"lifted":    "lift date",
	"excluded":  "exclude date",
}

// measure is a decision about trading.
type measure struct {
	action string
	proof  place
	at     string // day, perhaps with the hour; "" if it is not given
	atAt   place
	vague  bool // the day or the hour is given, but not certain
}

// suspensions finds the decision about trading that a document states.
func suspensions(r *reading) []draft {
	measures := r.measures()
	dated := slices.DeleteFunc(slices.Clone(measures), func(m measure) bool { return m.at == "" })
	if len(dated) > 0 {
		measures = slices.DeleteFunc(measures, func(m measure) bool { return m.at == "" && m.action != dated[0].action })
	}
	if len(measures) == 0 {
		return nil
	}
	action := measures[0].action
	if slices.ContainsFunc(measures, func(m measure) bool { return m.action != action }) {
		return nil
	}
	d := newDraft()
	d.set("action", action, measures[0].proof)
	r.setMoment(&d, action, measures)
	return []draft{d}
}

// setMoment sets the day and hour of a decision, if all places agree.
func (r *reading) setMoment(d *draft, action string, measures []measure) {
	moments := slices.Concat(measures, r.tabledMoments(action), r.linedMoments(action, measures))
	unknown := func() bool {
		return !slices.ContainsFunc(moments, func(m measure) bool { return m.at != "" || m.vague })
	}
	if unknown() {
		moments = r.effectBehind(measures)
	}
	if unknown() {
		moments = r.immediateMoment(measures)
	}
	var found measure
	for _, m := range moments {
		switch {
		case m.vague:
			return
		case m.at == "":
		case found.at == "", len(m.at) > len(found.at) && m.at[:len(found.at)] == found.at:
			found = m
		case m.at != found.at && (len(m.at) >= len(found.at) || m.at != found.at[:len(m.at)]):
			return
		}
	}
	if found.at != "" {
		d.set("at", found.at, found.atAt)
	}
}

// effectBehind returns the moments in sentences behind a decision: "La exclusión surtirá efectos
// el 24 de abril de 2026".
func (r *reading) effectBehind(measures []measure) (found []measure) {
	const reach = 4 // sentences
	for _, m := range measures {
		for i := m.proof.part + 1; i < min(m.proof.part+1+reach, len(r.parts)); i++ {
			p := &r.parts[i]
			if p.aside || p.cells != nil || !p.has("takes effect") || len(p.cues) > mostCues || len(p.values) > mostCues {
				continue
			}
			if len(clausesOf(p).doubts) > 0 || p.isNoMeasure(cue{}) {
				found = append(found, measure{vague: true})
				continue
			}
			moment := measure{action: m.action, proof: place{i, 0, 1}}
			r.setSentenceMoment(&moment, i)
			found = append(found, moment)
		}
	}
	return found
}

// immediateMoment returns the moment of a decision with immediate effect: the day on which it
// is signed, with the hour at which it is signed or made public. The day must be given.
func (r *reading) immediateMoment(measures []measure) []measure {
	if !slices.ContainsFunc(measures, func(m measure) bool { return r.parts[m.proof.part].has("immediate effect") }) {
		return nil
	}
	var found measure
	clock := ""
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.cells != nil || len(p.cues) > mostCues {
			continue
		}
		if p.has("made public") {
			hour, _, _, vague := p.hour(0, len(p.tokens))
			if vague || clock != "" && hour != "" && hour != clock {
				return nil
			}
			clock = max(clock, hour)
		}
		if day, at, ok := r.signedOn(i); ok {
			hour, _, _, vague := p.hour(0, len(p.tokens))
			if vague || clock != "" && hour != "" && hour != clock {
				return nil
			}
			clock = max(clock, hour)
			if found.at != "" && found.at != day {
				return nil
			}
			found.at = day
			found.atAt = at
		}
	}
	if found.at != "" && clock != "" {
		found.at += "T" + clock
	}
	return []measure{found}
}

// signedOn returns the day of a signature, if it is that of the report: "Madrid, 15 de junio
// de 2026".
func (r *reading) signedOn(i int) (day string, at place, ok bool) {
	const longest = 14 // tokens
	p := &r.parts[i]
	if len(p.tokens) > longest || len(p.values) == 0 || r.Published.IsZero() {
		return "", place{}, false
	}
	day, ok = date(&p.values[0])
	_, hourAt, _, _ := p.hour(p.values[0].To, len(p.tokens))
	for _, v := range p.values[1:] {
		ok = ok && hourAt > 0 && v.From >= hourAt // of the hour
	}
	return day, r.placeOf(i, &p.values[0]), ok && day == r.Published.Format(time.DateOnly)
}

// measures returns the decisions in sentences and rows.
func (r *reading) measures() (found []measure) {
	listed := r.listedMeasures()
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.heading && !p.isDecisionLine() || len(p.cues) > mostCues || len(p.values) > mostCues ||
			!p.has("suspends", "suspension", "lifts", "excludes") || !p.has("trading") {
			continue
		}
		action, at, ok := p.measureOf(listed[i])
		if !ok || r.isOldMeasure(p) || r.isPastMeasure(p, at) || p.isNoMeasure(at) || p.refersToMeasure(at) || r.namesOther(p) || r.isTradingOfOther(p) {
			continue
		}
		m := measure{action: action, proof: place{i, at.from, at.to}}
		if p.cells == nil {
			r.setSentenceMoment(&m, i)
		}
		found = append(found, m)
	}
	return found
}

// listedMeasures returns the rows of tables whose heading says that they are decisions:
// "Valor, Medida, Fecha".
func (r *reading) listedMeasures() map[int]bool {
	listed := map[int]bool{}
	for _, t := range r.tables {
		head := &r.parts[t.rows[0]]
		if len(head.cells) < 3 || len(head.values) > 0 || !head.has("decides") {
			continue
		}
		for _, row := range t.rows[1:] {
			listed[row] = len(r.parts[row].cells) == len(head.cells)
		}
	}
	return listed
}

// refersToMeasure reports whether a sentence only refers to a decision that was made known before:
// "tras la suspensión acordada por la CNMV", "una vez levantada la suspensión".
func (p *part) refersToMeasure(action cue) bool {
	const reach = 4 // tokens: "tras la citada suspensión"
	return p.cells == nil &&
		(p.hasBetween(action.from-reach, action.from, "refers to measure") || p.hasBetween(0, action.from, "board older"))
}

// isTradingOfOther reports whether a sentence is about the trading of a company that it names
// without its legal form: "la negociación de las acciones de Beta Motores".
func (r *reading) isTradingOfOther(p *part) bool {
	for k := 1; k+1 < len(p.tokens) && r.Company != ""; k++ {
		if link := p.word(k); link != "de" && link != "of" || !isCapitalAt(p, k+1) || p.isShouted(k+1) {
			continue
		}
		switch p.word(k - 1) {
		case "acciones", "negociacion", "cotizacion", "valores", "shares", "trading", "accions", "negociacio", "titulos":
		default:
			continue
		}
		next := p.word(k + 1)
		if !r.sharesName([]string{next}) && !noName.Has(next) && !noCompany.Has(next) && !phrases.known[next] {
			return true
		}
	}
	return false
}

// isPastMeasure reports whether a sentence tells in the past of a decision of an earlier day:
// "fue suspendida el 2 de octubre".
func (r *reading) isPastMeasure(p *part, action cue) bool {
	const reach = 3
	past := false
	for k := action.from - 1; k >= max(0, action.from-reach); k-- {
		switch p.word(k) {
		case "fue", "fueron", "was", "were":
			past = true
		}
	}
	if !past || r.Published.IsZero() {
		return false
	}
	days, earlier := 0, 0
	for k := range p.values {
		if day, ok := date(&p.values[k]); ok {
			days++
			if day < r.Published.AddDate(0, 0, -1).Format(time.DateOnly) {
				earlier++
			}
		}
	}
	return days > 0 && days == earlier
}

// isDecisionLine reports whether a short line is that of a form, which looks like a
// heading: "Medida: suspensión cautelar de la negociación".
func (p *part) isDecisionLine() bool {
	for i := range p.tokens {
		if p.tokens[i].Text == ":" {
			return i > 0 && i+1 < len(p.tokens) && p.hasBetween(0, i, "decides")
		}
	}
	return false
}

// linedMoments returns the days and hours in the lines of a form that are those of an
// action: "Fecha de efectos: 12/03/2026, 10:42 horas".
func (r *reading) linedMoments(action string, measures []measure) (found []measure) {
	const reach = 6 // lines of the form behind the decision
	for _, m := range measures {
		if first := m.proof.part; r.parts[first].cells == nil && r.parts[first].isDecisionLine() {
			for i := first + 1; i < min(first+reach, len(r.parts)); i++ {
				p := &r.parts[i]
				if p.cells != nil || !p.heading && !isLabelLine(p.text) || p.aside || p.nextDate(0) == len(p.tokens) || len(p.cues) > mostCues {
					continue
				}
				if moment, ok := r.momentBeside(p, i, action); ok {
					if len(moment.at) == len(time.DateOnly) && i+1 < len(r.parts) && isLabelLine(r.parts[i+1].text) {
						r.addHourOfRow(&moment, i+1)
					}
					found = append(found, moment)
				}
			}
		}
	}
	return found
}

// measureOf returns the action of a sentence or a row: that of the first verb that tells
// one. A suspension alone is one only where somebody decides it.
func (p *part) measureOf(listed bool) (action string, at cue, ok bool) {
	c := clausesOf(p)
	verbs := p.longest("suspends", "lifts", "excludes")
	if len(verbs) > 0 {
		first := verbs[0]
		if first.class == "suspends" && p.isToldAgain(first) {
			// "Trading, which was suspended on Friday, will resume today."
			later := slices.IndexFunc(verbs, func(q cue) bool { return q.class != "suspends" })
			switch {
			case later >= 0 && verbs[later].class == "lifts":
				first = verbs[later]
			case later >= 0:
				return "", cue{}, false
			}
		}
		if p.cells == nil && p.isNoun(first) && !p.has("decides") && p.nextDate(0) == len(p.tokens) {
			return "", cue{}, false // the title of a section: "6. Delisting"
		}
		return suspensionActions[first.class], first, !c.doubtsMeasure(first)
	}
	for _, q := range p.all("suspension") {
		if (listed || p.isDecided(q)) && !c.doubtsMeasure(q) {
			return "suspended", q, true
		}
	}
	return "", cue{}, false
}

// isDecided reports whether somebody decides what a noun names. In "la suspensión acordada por
// la CNMV" it was decided before.
func (p *part) isDecided(noun cue) bool {
	return slices.ContainsFunc(p.all("decides"), func(d cue) bool {
		switch p.word(d.from - 1) {
		case "sido", "been", "se", "estat", "is":
			return true
		}
		if isInfinitive(p.word(d.from)) {
			return false // "permite acordar la suspensión"
		}
		return p.cells != nil || d.from < noun.from
	})
}

// isNoun reports whether words name an action and do not say that it is taken.
func (p *part) isNoun(c cue) bool {
	for i := c.from; i < c.to; i++ {
		switch p.word(i) {
		case "delisting", "exclusion", "exclusio", "cancellation", "cancelacion", "levantamiento", "alzamiento", "lifting", "aixecament",
			"reanudacion", "resumption", "reinicio", "removal":
			return true
		}
	}
	return false
}

// isToldAgain reports whether the form of a verb may tell of an earlier suspension: a
// participle, not "suspender" or "se suspende".
func (p *part) isToldAgain(verb cue) bool {
	word := p.word(verb.to - 1)
	return word == "suspended" || word == "halted" || strings.HasPrefix(word, "suspendid") || strings.HasPrefix(word, "suspes") ||
		strings.HasPrefix(word, "interrumpid")
}

// isNoMeasure reports whether a sentence, or the cell of a row, is about a wish to decide,
// the suspension of something else, or another company.
func (p *part) isNoMeasure(action cue) bool {
	from, to := 0, len(p.tokens)
	if p.cells != nil {
		cell := p.cells[p.cellOf(action.from)]
		from, to = cell.from, cell.to
	}
	granted := p.grantedBetween(action)
	isGranted := func(c cue) bool { return c.from >= granted.from && c.from < granted.to }
	if p.hasBetween(from, to, "other company", "example") {
		return true
	}
	if slices.ContainsFunc(p.all("other suspension"), func(c cue) bool { return c.from >= from && c.from < to && !isGranted(c) }) {
		return true
	}
	harmless := p.all("harmless phrase")
	return slices.ContainsFunc(p.all("not decided"), func(c cue) bool {
		covered := func(h cue) bool { return h.from <= c.from && c.to <= h.to }
		return c.from >= from && c.from < to && !slices.ContainsFunc(harmless, covered) && !isGranted(c)
	})
}

// grantedBetween returns the words between commas, within a decision of the authority, that say
// who asked for it: "la CNMV ha acordado, a solicitud de la sociedad y previa aprobación de su
// Junta General, la exclusión". They do not make the decision a wish.
func (p *part) grantedBetween(action cue) (found place) {
	const reach = 8 // tokens: "la Comisión Nacional del Mercado de Valores ha acordado"
	for _, c := range p.all("grants measure") {
		first := c.to
		if c.from >= action.from || !p.hasBetween(c.from-reach, c.from, "authority") || p.hasBetween(0, c.from, "not decided") {
			continue
		}
		if p.mark(first) == "," && p.mark(p.articleBefore(action.from)-1) == "," && p.hasBetween(first+1, first+4, "asked measure") {
			found = place{0, first, action.from}
		}
	}
	return found
}

// articleBefore returns the token of the article before a noun, else that of the noun.
func (p *part) articleBefore(noun int) int {
	if isArticle(p.word(noun - 1)) {
		return noun - 1
	}
	return noun
}

// doubtsMeasure reports whether an action is only possible, planned or denied.
func (c *clauses) doubtsMeasure(action cue) bool {
	return slices.ContainsFunc(c.doubts, func(q cue) bool {
		switch q.class {
		case "planned", "conditional", "policy":
			return true
		case "possible":
			return q.from < c.ends[action.from]
		case "denied":
			return q.from < action.from && action.from-q.from <= 4
		}
		return false
	})
}

// isOldMeasure reports whether all days of a sentence are long over.
func (r *reading) isOldMeasure(p *part) bool {
	days, old := 0, 0
	for k := range p.values {
		if day, ok := date(&p.values[k]); ok {
			days++
			if !r.isRecent(day) {
				old++
			}
		}
	}
	return days > 0 && days == old
}

// isRecent reports whether a decision with effect from a day may be that of the report:
// it is published at once, or some time before an exclusion.
func (r *reading) isRecent(day string) bool { return r.isWithin(day, 4, 120) }

// setSentenceMoment sets the day and hour that a sentence gives to its decision.
func (r *reading) setSentenceMoment(m *measure, i int) {
	p := &r.parts[i]
	names := p.longest("effect date", "other measure date", suspensionDates[m.action])
	last := 0
	days := 0
	for k := range p.values {
		v := &p.values[k]
		day, ok := date(v)
		if !ok {
			continue
		}
		name, named := lastCue(names, last, v.From)
		start := last
		last = v.To
		if !named || name.class == "other measure date" || !r.isRecent(day) {
			continue
		}
		days++
		clock, vague := p.hourAround(v, start, min(p.nextDate(v.To), p.endOfHours(v.To)))
		m.at = day
		m.atAt = r.placeOf(i, v)
		m.vague = m.vague || vague || days > 1
		if clock != "" {
			m.at += "T" + clock
		}
	}
	if days == 0 && last > 0 && r.setTodayAmongDays(m, i) {
		return
	}
	r.settleHour(m, p)
	if days == 0 && last == 0 && p.has("today") && !r.Published.IsZero() {
		r.setToday(m, i)
	}
}

// settleHour gives the only hour of a sentence to its only day. An hour that cannot be
// given to a day makes the day vague.
func (r *reading) settleHour(m *measure, p *part) {
	if len(m.at) > len(time.DateOnly) {
		return
	}
	clock, _, _, vague := p.hour(0, len(p.tokens))
	if clock == "" && !vague {
		return
	}
	day := m.at
	for k := range p.values {
		text, ok := date(&p.values[k])
		if !ok {
			continue
		}
		if day != "" && text != day || !r.isRecent(text) {
			vague = true
		}
		day = text
		m.atAt = r.placeOf(m.proof.part, &p.values[k])
	}
	if day != "" {
		m.at = day + "T" + clock
		m.vague = m.vague || vague
	}
}

// setToday sets the day of the report: "desde las 12:30 horas de hoy".
func (r *reading) setToday(m *measure, i int) {
	p := &r.parts[i]
	clock, _, _, vague := p.hour(0, len(p.tokens))
	today := p.all("today")[0]
	m.at = r.Published.Format(time.DateOnly)
	m.atAt = place{i, today.from, today.to}
	m.vague = vague
	if clock != "" {
		m.at += "T" + clock
	}
}

// setTodayAmongDays sets the day of the report in a sentence that has other days too, if an
// hour stands before it: "a partir de las 10:30 horas del día de hoy, la suspensión acordada
// el 5 de octubre".
func (r *reading) setTodayAmongDays(m *measure, i int) bool {
	const reach = 10
	p := &r.parts[i]
	all := p.all("today")
	if len(all) == 0 || all[0].from != all[len(all)-1].from || r.Published.IsZero() {
		return false
	}
	today := all[0]
	clock, _, to, vague := p.hour(max(0, today.from-reach), today.from)
	if clock == "" || vague || !p.leadsToDay(to, today.from) || p.hasBetween(0, today.from, "other measure date") {
		return false
	}
	m.at = r.Published.Format(time.DateOnly) + "T" + clock
	m.atAt = place{i, today.from, today.to}
	return true
}

// endOfHours returns the token up to which an hour belongs to a day before it.
func (p *part) endOfHours(from int) int {
	const reach = 8
	return min(len(p.tokens), from+reach)
}

// hourAround returns the hour before or behind a day: "a las 12:30 horas del 5 de mayo",
// "el 5 de mayo, a las 12:30 horas".
func (p *part) hourAround(v *value.Value, start, end int) (clock string, vague bool) {
	const reach = 10
	before, _, to, unclear := p.hour(max(start, v.From-reach), v.From)
	if before != "" && !p.leadsToDay(to, v.From) {
		before = ""
	}
	behind, at, _, unsure := p.hour(v.To, end)
	if before != "" && p.hasBetween(v.To, max(at, end), "other measure date", "suspension") {
		return before, false // "de las 16:00 horas de hoy, 15 de junio, la suspensión acordada a las 11:42"
	}
	if before != "" && behind != "" && before != behind {
		return "", true
	}
	return max(before, behind), before == "" && behind == "" && (unclear || unsure || p.hasFigure(v.From-4, v.From))
}

// hasFigure reports whether a range of tokens has a figure without a unit, which may be an
// hour.
func (p *part) hasFigure(from, to int) bool {
	return slices.ContainsFunc(p.valuesIn(from, to), func(v *value.Value) bool {
		return v.Kind == value.Figure && (v.Unit == "" || v.Unit == "hour")
	})
}

// leadsToDay reports whether only words such as "horas de hoy" stand between an hour and
// its day.
func (p *part) leadsToDay(from, to int) bool {
	for i := from; i < to; i++ {
		switch p.word(i) {
		case "del", "de", "dia", "el", "of", "on", "the", "h", "horas", "hores", "hours", "hoy", "today", "d", "", "lunes", "martes",
			"miercoles", "jueves", "viernes", "cet", "cest", "avui":
		default:
			return false
		}
	}
	return true
}

// tabledMoments returns the days and hours in tables and forms that are those of an
// action.
func (r *reading) tabledMoments(action string) (found []measure) {
	for n := range r.tables {
		t := &r.tables[n]
		var head *part
		for k, row := range t.rows {
			p := &r.parts[row]
			if p.aside || len(p.cues) > mostCues || len(p.values) > mostCues || r.namesOther(p) {
				continue
			}
			if p.nextDate(0) == len(p.tokens) {
				if len(p.cells) > 1 && p.has("effect date", suspensionDates[action]) {
					head = p
				}
				continue
			}
			m, ok := r.momentBeside(p, row, action)
			if !ok && head != nil && !p.has("effect date", "other measure date", "lift date", "exclude date", "suspend date") {
				m, ok = r.momentBelow(head, row, action)
			}
			if !ok {
				continue
			}
			if len(m.at) == len(time.DateOnly) && k+1 < len(t.rows) {
				r.addHourOfRow(&m, t.rows[k+1])
			}
			found = append(found, m)
		}
	}
	return found
}

// momentBeside reads a row that names its day.
func (r *reading) momentBeside(p *part, row int, action string) (m measure, ok bool) {
	names := p.longest("effect date", "other measure date", suspensionDates[action])
	last := 0
	for k := range p.values {
		v := &p.values[k]
		day, isDay := date(v)
		if !isDay {
			continue
		}
		name, named := r.dayName(names, last, v.From)
		start := last
		last = v.To
		if !named || name == "other measure date" || !r.isRecent(day) {
			continue
		}
		clock, vague := p.hourAround(v, start, min(p.nextDate(v.To), p.endOfHours(v.To)))
		if ok && day != m.at[:len(time.DateOnly)] {
			m.vague = true
		}
		ok = true
		m.at = day
		m.vague = m.vague || vague
		m.atAt = r.placeOf(row, v)
		if clock != "" {
			m.at += "T" + clock
		}
	}
	return m, ok
}

// dayName returns the name of a day: "fecha de la suspensión" is not that of a decision
// to lift it, although it has the word "fecha".
func (r *reading) dayName(names []cue, from, to int) (class, bool) {
	var found class
	for _, c := range names {
		if c.from < from || c.to > to {
			continue
		}
		if found == "" || found == "effect date" {
			found = c.class
		}
	}
	return found, found != ""
}

// momentBelow reads a row below the names of its columns. If the columns are lost, names
// and days are matched in their order.
func (r *reading) momentBelow(head *part, row int, action string) (m measure, ok bool) {
	p := &r.parts[row]
	names := oneForEach(head, []class{"effect date", "other measure date", suspensionDates[action]})
	var days []*value.Value
	for k := range p.values {
		if _, isDay := date(&p.values[k]); isDay {
			days = append(days, &p.values[k])
		}
	}
	for n, v := range days {
		var name class
		if k := p.cellOf(v.From); len(head.cells) == len(p.cells) {
			name, _ = r.dayName(names, head.cells[k].from, head.cells[k].to)
		} else if len(days) == 1 {
			name, _ = r.dayName(names, 0, len(head.tokens))
		} else if len(days) == len(names) {
			name = names[n].class
		}
		day, _ := date(v)
		if name == "" || name == "other measure date" || !r.isRecent(day) {
			continue
		}
		if ok {
			m.vague = true
		}
		ok = true
		m.at = day
		m.atAt = r.placeOf(row, v)
		clock, _, _, vague := p.hour(v.To, len(p.tokens))
		if clock == "" && head.has("hour label") {
			clock = r.hourCell(p, v)
		}
		m.vague = m.vague || vague
		if clock != "" {
			m.at += "T" + clock
		}
	}
	return m, ok
}

// addHourOfRow adds the hour that has the next row for itself.
func (r *reading) addHourOfRow(m *measure, row int) {
	p := &r.parts[row]
	if !p.has("hour label") || p.nextDate(0) < len(p.tokens) {
		return
	}
	call := []meetingCall{{}}
	r.setHourOfRows(p, call)
	if call[0].clock != "" {
		m.at += "T" + call[0].clock
	}
}
