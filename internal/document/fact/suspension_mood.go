package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
)

// A sentence about a suspension may be none about a decision: it tells when there would be
// one, or wishes it. The form of the verb and the words before it say so.

// isUndecided reports whether a sentence does not say that an action was decided: it has a
// condition, or its verb is an infinitive without someone who decides, or it is about the
// future and names no day.
func (p *part) isUndecided(action cue) bool {
	if p.cells != nil {
		return false
	}
	if p.hasCondition(action) {
		return true
	}
	if p.isWish(action) || p.isOfOtherObject(action) || p.isOfOtherNoun(action) {
		return true
	}
	return p.isFuture(action) && p.nextDate(0) == len(p.tokens) && !p.has("today")
}

// hasCondition reports whether a sentence says under which condition an action is taken:
// "cuando se reanude", "should trading resume". A suspension lasts until something happens,
// which is no condition.
func (p *part) hasCondition(action cue) bool {
	for _, c := range p.all("suspension condition", "suspension until") {
		if p.isHarmless(c) {
			continue
		}
		if c.from < action.from || action.class != "suspends" && action.class != "suspension" {
			return true
		}
		if c.class == "suspension condition" && p.isFuture(action) {
			return true
		}
	}
	return p.beginsWithSupposition() || p.word(0) == "should" || p.word(1) == "should" && p.mark(0) == `"`
}

// isWish reports whether an action is an infinitive or a subjunctive with nobody before it
// who decides: "no hay motivos para suspender". An infinitive at the beginning of a sentence
// is the text of a decision: "Levantar, con efectos de hoy, la suspensión".
func (p *part) isWish(action cue) bool {
	const opening = 3 // tokens: a number, quotes
	word := p.word(action.from)
	wishes := isInfinitive(word) || p.word(action.from-1) == "to"
	switch word {
	case "levante", "levanten", "suspenda", "suspendan", "reanude", "reanuden", "excluya", "excluyan", "lifting", "suspending":
		wishes = true
	}
	if !wishes || action.from < opening {
		return false
	}
	switch p.mark(action.from - 1) {
	case ":", `"`, "“", "«", "”":
		return false // the text of a decision
	}
	return !slices.ContainsFunc(p.all("decides", "grants measure"), func(d cue) bool {
		return d.from < action.from && p.isDecider(d) && !p.isNoVerb(d) && !p.decidesOther(d, action)
	})
}

// isOfOtherNoun reports whether a noun for an action is only what another noun is about: "el
// procedimiento de exclusión", "la prórroga de la suspensión".
func (p *part) isOfOtherNoun(noun cue) bool {
	if noun.class != "suspension" && !p.isNoun(noun) {
		return false
	}
	k := p.articleBefore(noun.from) - 1
	if w := p.word(k); w == "del" || w == "de" || w == "of" {
		switch head := p.word(k - 1); head {
		case "acuerdo", "medida", "decision", "resolucion", "measure", "order", "mesura", "acord", "aviso", "notice", "":
			return false
		default:
			return !p.hasBetween(k-2, k, "decides", "tells measure")
		}
	}
	return false
}

// isOfOtherObject reports whether trading is named in the reason for a decision only: "suspender
// los reembolsos debido a que la negociación de sus valores".
func (p *part) isOfOtherObject(action cue) bool {
	trading := p.all("trading")
	if len(trading) == 0 || trading[0].from < action.to {
		return false
	}
	return p.hasBetween(action.to, trading[0].from, "measure reason")
}

// isIdleNoun reports whether nobody decides what a noun names, and no day stands in the
// sentence.
func (p *part) isIdleNoun(noun cue) bool {
	decided := false
	for _, d := range p.all("decides", "grants measure") {
		if d.from >= noun.from {
			decided = decided || p.isDecider(d)
			continue
		}
		if !p.isDecider(d) || p.decidesOther(d, noun) {
			return true // "confía en que se acuerde el levantamiento"
		}
		decided = true
	}
	return !decided && p.nextDate(0) == len(p.tokens)
}

// isDecider reports whether words say that someone decides: not an infinitive, a subjunctive,
// a conditional, a future.
func (p *part) isDecider(d cue) bool {
	last := d.to - 1
	if isInfinitive(p.word(d.from)) || isFutureWord(p.word(d.from)) || p.isConditionalVerb(last) ||
		p.isConditionalVerb(d.from) {
		return false
	}
	switch p.word(d.from - 1) {
	case "habria", "habrian", "haya", "hayan", "hubiera", "hubiese", "would", "may", "could", "might", "should":
		return false
	}
	switch p.word(d.from) {
	case "acuerde", "acuerden", "decida", "decidan", "resuelva", "resuelvan", "disponga", "adopte", "adopten", "apruebe", "acordi":
		return false
	}
	return true
}

// decidesOther reports whether something else is decided than an action: "ha decidido mantener
// la suspensión", "ha acordado denegar el levantamiento".
func (p *part) decidesOther(d, action cue) bool {
	for k := d.to; k < action.from; k++ {
		w := p.word(k)
		switch {
		case w == "decretar", w == "adoptar", w == "declarar", w == "proceder", w == "ordenar", w == "disponer", len(w) < 5:
		case w == "maintain", w == "extend", w == "continue", w == "prolong", w == "postpone", w == "refuse", w == "reject":
			return true
		case isInfinitive(w) && (k == d.to || p.word(k-1) == "de" || p.word(k-1) == "y" || p.mark(k-1) == ","):
			return true
		}
	}
	return false
}

// isOfReason reports whether words are those of the reason for a decision, which stands behind
// it: "excluir de negociación las acciones, dado que no alcanzan los requisitos".
func (p *part) isOfReason(c, action cue) bool {
	const opening = 3 // tokens
	decides := p.hasBetween(0, action.from, "grants measure") ||
		action.from < opening && isInfinitive(p.word(action.from))
	if c.from >= action.to && p.isRelative(c.from) && decides {
		return true // "levantar la suspensión, que había sido acordada hoy"
	}
	if c.from < action.to || action.from >= opening && !slices.ContainsFunc(p.all("decides"), p.isDecider) {
		return false
	}
	switch word := p.word(c.from); {
	case strings.HasPrefix(word, "solicit"), strings.HasPrefix(word, "request"), strings.HasPrefix(word, "promov"), strings.HasPrefix(word, "propuest"):
		return false
	}
	return p.hasBetween(action.to, c.from, "measure reason")
}

// isRelative reports whether a relative clause begins directly before a token.
func (p *part) isRelative(k int) bool {
	if p.word(k-1) == "se" {
		k-- // "que se había dispuesto"
	}
	link := p.word(k - 1)
	return (link == "que" || link == "which") && p.mark(k-2) == ","
}

// isCalendarRow reports whether a row begins with an action and has its day behind it, as those
// of a timetable have: "Exclusión de negociación	02/12/2026".
func (p *part) isCalendarRow(action cue) bool {
	if p.cells == nil || p.isProse() || p.cellOf(action.from) != 0 {
		return false
	}
	return p.nextDate(p.cells[0].to) < len(p.tokens) && !p.hasBetween(0, p.cells[0].to, "decides")
}

// isNoVerb reports whether words for a decision only tell of something.
func (p *part) isNoVerb(d cue) bool {
	switch p.word(d.from) {
	case "operacion", "evento", "event", "status", "estado", "action", "comunica", "informa":
		return true
	}
	return false
}

// isFuture reports whether the verb of an action, or the one directly before it, is in the
// future: "quedarán excluidas", "trading will resume".
func (p *part) isFuture(action cue) bool {
	const reach = 3
	for k := max(0, action.from-reach); k < action.to; k++ {
		switch word := p.word(k); word {
		case "will", "shall":
			return true
		case "primera", "manera", "cartera", "financiera", "tercera", "entera", "espera", "para", "prepara":
		default:
			if isFutureWord(word) {
				return true
			}
		}
	}
	return false
}

// isFutureWord reports whether a folded Spanish or Catalan word has the end of the future.
func isFutureWord(word string) bool {
	word = strings.TrimSuffix(word, "n")
	return len(word) > 3 &&
		(strings.HasSuffix(word, "ara") || strings.HasSuffix(word, "era") || strings.HasSuffix(word, "ira"))
}

// isOfAuthority reports whether the regulator or an exchange sends the report, whose decisions
// are about others.
func (r *reading) isOfAuthority() bool {
	folded := lexicon.Fold(r.Company)
	for _, word := range []string{
		"cnmv", "bme", "bolsa", "borsa", "comissio nacional", "bolsas", "bolsas y mercados", "comision nacional del mercado de valores", "sociedad rectora",
		"mercado", "mercados", "exchange", "market", "growth", "scaleup",
	} {
		if strings.Contains(folded, " "+word+" ") {
			return true
		}
	}
	return false
}

// isTradingOfRelated reports whether a sentence is about the shares of a company whose name is
// only like that of the report, such as a subsidiary.
func (r *reading) isTradingOfRelated(p *part) bool {
	if r.Company == "" {
		return false
	}
	own := " " + withoutForm(r.Company) + " "
	return slices.ContainsFunc(p.companies(), func(n name) bool {
		named := " " + withoutForm(n.text) + " "
		if strings.Contains(own, named) || strings.Contains(named, own) {
			return false
		}
		if link := p.word(n.from - 1); link != "de" && link != "of" {
			return false
		}
		switch p.word(n.from - 2) {
		case "acciones", "shares", "accions", "negociacion", "trading", "valores", "titulos", "cotizacion":
			return true
		}
		return false
	})
}

// isMeasureOfOther reports whether a decision is about another company than the report: not about
// the issuer, or of an authority, not about the company that the title names.
func (r *reading) isMeasureOfOther(p *part) bool {
	if !r.isOfAuthority() {
		return r.namesOther(p) || r.isTradingOfOther(p) || r.isTradingOfRelated(p)
	}
	titled := r.title.companies()
	if len(titled) == 0 {
		return false
	}
	named := p.companies()
	isTitled := func(n name) bool {
		return slices.ContainsFunc(titled, func(t name) bool {
			return strings.HasSuffix(" "+withoutForm(t.text), " "+withoutForm(n.text)) // "Exclusión de X, S.A."
		})
	}
	isAuthority := func(n name) bool {
		return strings.Contains(lexicon.Fold(n.text), " sociedad rectora ") ||
			strings.Contains(lexicon.Fold(n.text), " bolsas ")
	}
	return len(named) > 0 && !slices.ContainsFunc(named, isTitled) && !slices.ContainsFunc(named, isAuthority)
}
