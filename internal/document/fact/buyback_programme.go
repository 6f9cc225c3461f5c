package fact

import (
	"slices"
	"strings"
	"time"
)

// buybackEvents are the cues of the events of a programme, with their names.
var buybackEvents = []struct {
	class class
	name  string
}{
	{"buyback start", "start"},
	{"buyback end", "end"},
	{"buyback suspension", "suspension"},
	{"buyback resumption", "resumption"},
	{"buyback change", "change"},
}

// leastAmountDigits is the length of the smallest amount of a programme. A smaller one is
// in millions, in words that could not be read.
const leastAmountDigits = 5

// buybackProgrammes finds what a document says about a programme of buying own shares:
// that it starts, ends, and so on, and its limits. Reports of purchases name the limits
// too, so there is a fact only if the document states an event.
func buybackProgrammes(r *reading) []draft {
	event, at, ok := r.buybackEvent()
	if !ok {
		return nil
	}
	d := newDraft()
	d.set("event", event, at)
	limits := r.buybackLimits(event)
	if c, ok := agreed(limits.amounts); ok && len(c.text) >= leastAmountDigits {
		d.set("max_amount", c.text, c.at)
		d.set("currency", c.currency, c.at)
	}
	if !limits.classes {
		d.setAgreed("max_shares", limits.shares)
	}
	if event == "end" {
		limits.ends = r.endedOn()
	}
	d.setAgreed("ends_on", limits.ends)
	return []draft{d}
}

// buybackEvent returns the event of the document. Where its sentences state several, the
// title decides.
func (r *reading) buybackEvent() (name string, at place, ok bool) {
	if r.title.has("debt buyback") || r.title.refusesProgramme() || r.isGuide() {
		return "", place{}, false
	}
	inTitle := eventsIn(r.title, false)
	elsewhere := len(r.title.tokens) > 0 && !r.title.has("buyback", "generic title") // a report about something else
	stated := map[string]place{}
	inHeadings := map[string]bool{}
	known := false // the document has named the programme
	for i := range r.parts {
		p := &r.parts[i]
		known = known || p.has("buyback")
		if p.aside || !known || p.isTooLong() {
			continue
		}
		for name, c := range eventsIn(p, true) {
			_, titled := inTitle[name]
			if p.refersTo(c) && !titled || elsewhere && (name != "start" || p.isRecap() || !r.tellsOfIssuer(i)) ||
				r.isLongAgo(p, c) ||
				r.isDoneByOther(p, c) || r.isUnannounced(i, c) {
				continue
			}
			if _, seen := stated[name]; !seen {
				stated[name] = place{i, c.from, c.to}
			}
			inHeadings[name] = inHeadings[name] || p.heading
		}
	}
	matches := 0
	for each, where := range stated {
		_, titled := inTitle[each]
		if len(stated) == 1 || titled || len(inTitle) == 0 && inHeadings[each] {
			matches++
			name = each
			at = where
		}
	}
	return name, at, matches == 1
}

// refersTo reports whether the cue of an event is that of an earlier report, to which a
// sentence refers: "en relación con el inicio del programa, se informa de …".
func (p *part) refersTo(c cue) bool {
	if p.heading || p.cells != nil {
		return false
	}
	switch p.word(c.from - 1) {
	case "cuya", "cuyo", "whose": // "cuya puesta en marcha fue comunicada"
		return true
	}
	const title = 4
	if p.word(0) == "comunicacion" && p.word(1) == "previa" && c.from <= title {
		return false // "Comunicación previa al inicio de un programa"
	}
	last := p.endOfLast(c.from, "buyback reference")
	if last < 0 || p.hasBetween(last, c.from+1, "buyback statement") {
		return false
	}
	return last > c.from-15 || last > c.from-35 && p.isInReportedClause(last, c.from)
}

// isInReportedClause reports whether a relative clause begins between the name of an earlier report and an
// event: "la comunicación de 30 de mayo por la que la Sociedad hizo público el inicio".
func (p *part) isInReportedClause(from, to int) bool {
	for k := from; k+2 < to; k++ {
		switch p.word(k) {
		case "por", "en", "mediante", "by", "in":
		default:
			continue
		}
		relative := k + 1
		if w := p.word(relative); w == "la" || w == "el" || w == "las" || w == "los" {
			relative++
		}
		switch p.word(relative) {
		case "que", "cual", "cuales", "which":
			return true
		}
	}
	return false
}

// isDoneByOther reports whether the subject of an event, directly before it, is the name of another
// company: "comunica que Banco Sur ha iniciado un programa".
func (r *reading) isDoneByOther(p *part, c cue) bool {
	const longest = 5
	var name []string
	k := c.from - 1
	for k >= 0 && len(name) < longest && p.tokens[k].IsCapital() {
		name = append(name, p.word(k))
		k--
	}
	if len(name) == 0 || r.Company == "" || r.sharesName(name) {
		return false
	}
	return p.word(k) == "que" || p.word(k) == "that"
}

// isRecap reports whether a sentence begins with a month or a period, as a report about
// something else looks back: "En marzo el Consejo aprobó un programa".
func (p *part) isRecap() bool {
	switch p.word(0) {
	case "en", "in", "durante", "during", "desde", "since", "a":
	default:
		return false
	}
	for k := 1; k < 5; k++ {
		switch w := p.word(k); w {
		case "ejercicio", "semestre", "trimestre", "ano", "year", "half", "quarter", "periodo", "period", "mes", "month":
			return true
		case "el", "la", "los", "the", "de", "pasado", "primer", "segundo", "tercer", "first", "second", "third", "mediados":
		default:
			return w != "" && slices.Contains(strings.Fields(months), w)
		}
	}
	return false
}

// isLongAgo reports whether the day directly behind an event is long before the report:
// "launched on 3 March" in a report of November.
func (r *reading) isLongAgo(p *part, c cue) bool {
	const near, days = 3, 30
	behind := p.valuesIn(c.to, len(p.tokens))
	if len(behind) == 0 || behind[0].From-c.to > near || r.Published.IsZero() {
		return false
	}
	text, ok := date(behind[0])
	if !ok {
		return false
	}
	day, err := time.Parse(time.DateOnly, text)
	return err == nil && day.Before(r.Published.AddDate(0, 0, -days))
}

// namesProgramme reports whether the programme is named near the cue of an event.
func (p *part) namesProgramme(c cue) bool {
	if p.heading || p.cells != nil {
		return true
	}
	if w := p.word(c.from - 1); (w == "su" || w == "its") && p.hasBetween(0, c.from, "buyback", "programme") {
		return true // "…, se ha acordado su modificación"
	}
	if w := p.word(c.to + 1); (w == "su" || p.word(c.to) == "su") && p.hasBetween(0, c.from, "buyback") {
		return true // "… el programa …, suspender temporalmente su ejecución"
	}
	if w := p.word(c.from); (strings.HasSuffix(w, "arlo") || strings.HasSuffix(w, "erlo")) &&
		p.hasBetween(0, c.from, "buyback") {
		return true // "… el programa …, ha acordado modificarlo"
	}
	const before, behind = 14, 22
	for _, b := range p.all("buyback", "programme") {
		if b.to <= c.from && c.from-b.to <= before || b.from >= c.from && b.from-c.to <= behind {
			return true
		}
	}
	return false
}

// eventsIn returns the events that a part states of a programme, with their cues.
func eventsIn(p *part, shortName bool) map[string]cue {
	if !p.has("buyback") && !(shortName && p.has("programme")) || p.has("buyback notice", "debt buyback") {
		return nil
	}
	found := map[string]cue{}
	for _, event := range buybackEvents {
		for _, c := range p.all(event.class) {
			if !p.eventDoubtful(c) && !p.isEventOfOther(c) && p.namesProgramme(c) {
				found[event.name] = c
				break
			}
		}
	}
	if _, ok := found["resumption"]; ok {
		delete(found, "suspension") // "levanta la suspensión y reanuda"
		delete(found, "start")
	}
	if len(found) > 2 {
		return nil // a list of what may happen
	}
	return found
}

// eventDoubtful reports whether the cue of an event is part of a phrase that states none,
// or is about a plan or an earlier programme.
func (p *part) eventDoubtful(c cue) bool {
	for _, other := range p.all("buyback no event") {
		if other.from < c.to && c.from < other.to {
			return true
		}
	}
	if p.isPossibleEvent(c) {
		return true
	}
	if p.hasBetween(c.from-6, c.from, "denied", "planned", "example") || p.isRefusedEvent(c) {
		return true
	}
	if p.needsConsent() || p.isOnlyAllowed(c) || p.doubtBefore(c.from, "proposal", "conditional") {
		return true // "proponer a la Junta General la aprobación de un programa"
	}
	if p.isReason(c) || c.class != "buyback start" && p.has("liquidity contract") {
		return true
	}
	if p.hasBetween(c.from-3, c.to+6, "buyback earlier") {
		return true
	}
	for _, b := range p.all("buyback", "programme") {
		isNote := b.from > c.to && p.bracketsClose(b.to, len(p.tokens)) // "(el programa anterior tenía …)"
		if p.hasBetween(b.from-2, b.to+3, "buyback earlier") && !isNote {
			return true
		}
	}
	percents := c.class == "buyback end" && hasPercent(p)
	return percents && len(p.word(c.from)) >= 6 && p.word(c.from)[:6] == "comple"
}

// isPossibleEvent reports whether the words around an event say that it may take place. What was
// decided behind such a word is certain: "por una posible operación, ha acordado suspender".
func (p *part) isPossibleEvent(c cue) bool {
	const before, behind = 10, 4
	if p.hasBetween(c.to, c.to+behind, "possible") {
		return true
	}
	last, ok := lastCue(p.all("possible"), c.from-before, c.from)
	return ok && !p.hasBetween(last.to, c.from, "buyback decided")
}

// isEventOfOther reports whether a sentence with an event names another company, unless as the
// reason of the event: "suspender el programa con motivo de la venta de su filial".
func (p *part) isEventOfOther(c cue) bool {
	return slices.ContainsFunc(p.all("another company"), func(other cue) bool {
		if other.from < c.from && p.hasBetween(0, other.from, "buyback reason") {
			return !p.hasBetween(other.to, c.from, "buyback decided") // "debido a la venta de su filial, ha acordado"
		}
		return other.from < c.to || !p.hasBetween(c.to, other.from, "buyback reason", "buyback because")
	})
}

// isRefusedEvent reports whether the clause of an event says before it that it does not take place, or
// that it is only planned: "no tiene previsto por el momento poner en marcha un programa". The
// decision behind such a word is one, unless it is what the word denies.
func (p *part) isRefusedEvent(c cue) bool {
	from := p.clauseStart(c.from)
	harmless := p.all("harmless phrase")
	decided, isDecided := lastCue(p.all("buyback statement"), from, c.from)
	return slices.ContainsFunc(p.all("denied", "planned", "buyback refused"), func(doubt cue) bool {
		covered := func(h cue) bool { return h.from <= doubt.from && doubt.to <= h.to }
		if doubt.from < from || doubt.to > c.from || slices.ContainsFunc(harmless, covered) || p.isNumberSign(doubt) {
			return false
		}
		return !isDecided || doubt.to >= decided.from
	})
}

// isNumberSign reports whether "no" stands before a number: "Programa No. 5".
func (p *part) isNumberSign(c cue) bool {
	next := c.to
	if p.mark(next) == "." {
		next++
	}
	return p.word(c.from) == "no" && next < len(p.tokens) && p.tokens[next].IsNumber()
}

// clauseStart returns the first token of the clause of a token.
func (p *part) clauseStart(token int) int {
	const longest = 24
	for k := token - 1; k >= max(0, token-longest); k-- {
		if isClauseMark(p.mark(k)) {
			return k + 1
		}
	}
	return max(0, token-longest)
}

// refusesProgramme reports whether a title says that there is no programme: "Decisión de no
// ejecutar la recompra".
func (p *part) refusesProgramme() bool {
	return slices.ContainsFunc(p.all("denied", "buyback refused"), func(c cue) bool {
		return !p.isNumberSign(c) && p.hasBetween(c.to, len(p.tokens), "buyback", "programme", "buyback word")
	})
}

// needsConsent reports whether someone else must still allow what a sentence states. "Una vez
// obtenida la autorización, el Consejo ha acordado" says that it was allowed.
func (p *part) needsConsent() bool {
	if p.has("buyback needs") {
		return true
	}
	return slices.ContainsFunc(p.all("buyback once"), func(once cue) bool {
		return !p.hasBetween(once.to, len(p.tokens), "buyback decided", "buyback statement", "today")
	})
}

// isOnlyAllowed reports whether an event is what the board is allowed to do: "autorizar al Consejo
// para la puesta en marcha de programas de recompra".
func (p *part) isOnlyAllowed(c cue) bool {
	allowed, ok := lastCue(p.all("buyback allowed"), 0, c.from)
	return ok && !p.hasBetween(allowed.to, c.from, "buyback decided")
}

// doubtBefore reports whether a word of some classes, outside of harmless phrases, stands
// before a token.
func (p *part) doubtBefore(to int, classes ...class) bool {
	harmless := p.all("harmless phrase")
	return slices.ContainsFunc(p.all(classes...), func(q cue) bool {
		covered := func(h cue) bool { return h.from <= q.from && q.to <= h.to }
		return q.from < to && !slices.ContainsFunc(harmless, covered)
	})
}

// isReason reports whether an event is only named as the reason of what a sentence states:
// "con motivo de la puesta en marcha del programa, queda suspendido el contrato".
func (p *part) isReason(c cue) bool {
	const near = 4
	if p.heading || p.cells != nil {
		return false
	}
	return slices.ContainsFunc(p.all("buyback reason"), func(reason cue) bool {
		return reason.from < c.from && c.from-reason.to <= near && !p.hasBetween(reason.to, c.from, "buyback statement")
	})
}

// hasPercent reports whether a part has a percentage: "ha completado el 40 %".
func hasPercent(p *part) bool {
	for i := range p.values {
		if p.values[i].Unit == "%" {
			return true
		}
	}
	return false
}
