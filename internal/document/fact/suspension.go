package fact

import (
	"slices"
	"strings"
	"time"
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
		measures = slices.DeleteFunc(measures, func(m measure) bool {
			return m.at == "" && m.action != dated[0].action
		})
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

// measures returns the decisions in sentences and rows.
func (r *reading) measures() (found []measure) {
	listed := r.listedMeasures()
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.heading && !p.isDecisionLine() && !r.isBelowDecision(i) || len(p.cues) > mostCues ||
			len(p.values) > mostCues ||
			!p.has("suspends", "suspension", "lifts", "excludes") || !p.has("trading") {
			continue
		}
		action, at, ok := r.decisionIn(i, listed[i] || p.cells == nil && r.isBelowDecision(i))
		if !ok {
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

// decisionIn returns the decision that a sentence or a row states.
func (r *reading) decisionIn(i int, listed bool) (action string, at cue, ok bool) {
	p := &r.parts[i]
	action, at, ok = r.decisionOf(p, listed)
	if ok || p.cells != nil {
		return action, at, ok
	}
	from := p.resolvedThat()
	if from == 0 {
		return "", cue{}, false
	}
	action, at, ok = r.decisionOf(p.behindToken(from), false)
	return action, cue{at.class, at.from + from, at.to + from}, ok && !r.isMeasureOfOther(p)
}

// decisionOf is decisionIn for a part.
func (r *reading) decisionOf(p *part, listed bool) (action string, at cue, ok bool) {
	action, at, ok = p.measureOf(listed)
	if !ok || !listed && p.isCalendarRow(at) || r.isOldMeasure(p) || r.isPastMeasure(p, at) || p.isNoMeasure(at) ||
		p.refersToMeasure(at) || p.isUndecided(at) || r.isMeasureOfOther(p) {
		return "", cue{}, false
	}
	return action, at, true
}

// listedMeasures returns the rows of tables whose heading says that they are decisions:
// "Valor, Medida, Fecha".
func (r *reading) listedMeasures() map[int]bool {
	listed := map[int]bool{}
	for n := range r.tables {
		t := &r.tables[n]
		if row, ok := r.subjectRow(t); ok {
			listed[row] = r.hasEffectRow(t)
		}
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

// subjectRow returns the row of a form that names the subject of the document: "Asunto:
// Suspensión de la negociación".
func (r *reading) subjectRow(t *table) (row int, ok bool) {
	for _, row := range t.rows {
		p := &r.parts[row]
		if len(p.cells) == 2 && p.isSubjectRow() {
			return row, true
		}
	}
	return 0, false
}

// isSubjectRow reports whether a row begins with the label of a subject.
func (p *part) isSubjectRow() bool {
	if p.cells == nil {
		return false
	}
	switch p.word(0) {
	case "asunto", "subject", "tema", "assumpte", "referencia", "reference", "ref":
		return true
	}
	return false
}

// hasEffectRow reports whether a form has a row with the day of the effect.
func (r *reading) hasEffectRow(t *table) bool {
	return slices.ContainsFunc(t.rows, func(row int) bool {
		p := &r.parts[row]
		return p.hasBetween(0, p.cells[0].to, "effect row") && p.nextDate(0) < len(p.tokens)
	})
}

// refersToMeasure reports whether a sentence only refers to a decision that was made known before:
// "tras la suspensión acordada por la CNMV", "una vez levantada la suspensión".
func (p *part) refersToMeasure(action cue) bool {
	const reach = 4 // tokens: "tras la citada suspensión"
	if p.cells != nil {
		return false
	}
	isOlder := func(c cue) bool {
		tells := p.word(c.from-1) == "ha" || p.word(c.from-1) == "han" // "ha comunicado el levantamiento"
		return c.from < action.from && !tells
	}
	return p.hasBetween(action.from-reach, action.from, "refers to measure") ||
		slices.ContainsFunc(p.all("board older"), isOlder)
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
		if market := p.word(k - 3); market == "bolsa" || market == "bolsas" || market == "mercado" {
			continue // "la Bolsa de Valores de Bilbao"
		}
		next := p.word(k + 1)
		if !r.sharesName([]string{next}) && !noName.Has(next) && !noCompany.Has(next) && !phrases.isKnown(next) {
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

// measureOf returns the action of a sentence or a row: that of the first verb that tells
// one. A suspension alone is one only where someone decides it.
func (p *part) measureOf(listed bool) (action string, at cue, ok bool) {
	if p.isSubjectRow() && !listed {
		return "", cue{}, false
	}
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
		if p.cells == nil && !listed && p.isNoun(first) && p.isIdleNoun(first) {
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

// isDecided reports whether someone decides what a noun names. In "la suspensión acordada por
// la CNMV" it was decided before.
func (p *part) isDecided(noun cue) bool {
	return slices.ContainsFunc(p.all("decides"), func(d cue) bool {
		switch p.word(d.from - 1) {
		case "sido", "been", "se", "estat", "is":
			return true
		}
		if !p.isDecider(d) || p.decidesOther(d, noun) {
			return false // "permite acordar la suspensión", "ha decidido mantener la suspensión"
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
	return word == "suspended" || word == "halted" || strings.HasPrefix(word, "suspendid") ||
		strings.HasPrefix(word, "suspes") ||
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
	isGranted := func(c cue) bool { return c.from >= granted.from && c.from < granted.to || p.isAskedFor(c, action) }
	isOther := func(c cue) bool { return c.from >= from && c.from < to && !p.isOfReason(c, action) }
	if slices.ContainsFunc(p.all("other company", "example"), isOther) {
		return true
	}
	isSqueezeOut := func(c cue) bool {
		return p.word(c.from) == "ejecucion" && p.hasBetween(c.to, c.to+5, "takeover later step")
	}
	if slices.ContainsFunc(p.all("other suspension"), func(c cue) bool {
		return !isSqueezeOut(c) && c.from >= from && c.from < to && !isGranted(c) && !p.isOfReason(c, action)
	}) {
		return true
	}
	harmless := p.all("harmless phrase")
	return slices.ContainsFunc(p.all("not decided"), func(c cue) bool {
		covered := func(h cue) bool { return h.from <= c.from && c.to <= h.to }
		return c.from >= from && c.from < to && !slices.ContainsFunc(harmless, covered) && !isGranted(c) &&
			!p.isOfReason(c, action)
	})
}

// grantedBetween returns the words between commas, within a decision of the authority, that say
// who asked for it: "la CNMV ha acordado, a solicitud de la sociedad y previa aprobación de su
// Junta General, la exclusión". They do not make the decision a wish.
func (p *part) grantedBetween(action cue) (found place) {
	const reach = 8 // tokens: "la Comisión Nacional del Mercado de Valores ha acordado"
	for _, c := range p.all("grants measure") {
		first := c.to
		if c.from >= action.from || !p.hasBetween(c.from-reach, c.from, "authority") ||
			p.hasBetween(0, c.from, "not decided") {
			continue
		}
		if p.mark(first) == "," && p.mark(p.articleBefore(action.from)-1) == "," &&
			p.hasBetween(first+1, first+4, "asked measure") {
			found = place{0, first, action.from}
		}
	}
	return found
}

// isAskedFor reports whether a wish only says who asked for a decision, behind the decision:
// "has resolved to suspend trading, at the request of the company".
func (p *part) isAskedFor(wish, action cue) bool {
	been := false
	switch p.word(action.from - 1) {
	case "been", "was", "were", "sido":
		been = true
	}
	behind := wish.from >= action.to && (p.hasBetween(0, action.from, "grants measure") || p.isDecisionLine())
	if !behind && !been {
		return false
	}
	return slices.ContainsFunc(p.all("asked measure"), func(c cue) bool {
		return c.from <= wish.from && wish.to <= c.to
	})
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
