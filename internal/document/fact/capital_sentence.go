package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

// readSentence reads a sentence that states something new.
func (c *capitalChange) readSentence(i int) {
	p := &c.r.parts[i]
	if c.statesNothing(p) || c.continuesOld(i) {
		c.noteDoubted(p)
		return
	}
	c.readAction(i, 0, len(p.tokens))
	c.decided = c.decided || p.has("capital decided")
	for _, v := range p.wholeValues(0, len(p.tokens)) {
		if v.Negative && v.From == 0 { // the mark of a list
			v = withoutSign(v)
		}
		if v.Kind == value.Figure && (v.Partner >= 0 || p.isMoveEnd(v.From-1)) {
			c.readMoveEnd(i, v)
			continue
		}
		if v.Kind != value.Figure || v.Bound != "" || v.Partner >= 0 || v.Negative || p.isOfBonds(v) || p.isBounded(v) {
			continue
		}
		switch {
		case p.isNewShares(v), p.followsNewShares(v):
			c.addValue(&c.shares, i, v, readNewShares)
		case (isRate(v) || p.isEach(v)) && p.isIssuePrice(v), isSmall(v) && p.isIssuePrice(v) && p.followsPrice(v):
			c.addValue(&c.prices, i, v, readPrice)
		case isRate(v) || p.isEach(v) || isSmall(v):
			c.addPar(i, v)
		case p.isNominal(v):
			c.addValue(&c.amounts, i, v, readMoney)
		case p.isCapitalAfter(v):
			c.addValue(&c.after, i, v, readMoney)
		case p.isLooseAmount(v):
			c.addValue(&c.loose, i, v, readMoney)
		}
	}
}

// statesNothing reports whether a sentence is about a plan, a power, a rumour, another company
// or an earlier change.
func (c *capitalChange) statesNothing(p *part) bool {
	if p.isDelegated() || p.has("capital previous", "example") || p.isHypothetical() || p.isReported() ||
		p.tellsMistake() {
		return true
	}
	return c.isOfOther(p) || c.r.isFormer(p) || c.r.isOfOldYear(p)
}

// addPar notes the nominal value of a share.
func (c *capitalChange) addPar(i int, v *value.Value) {
	p := &c.r.parts[i]
	if p.hasBetween(v.From-4, v.From, "nominal") || p.hasBetween(v.To, v.To+4, "nominal") {
		c.addValue(&c.pars, i, v, readMoney)
	}
}

// isLooseAmount reports whether an amount behind an increase may be the nominal one or what is
// paid: "aumento de capital por importe de 5.000 euros".
func (p *part) isLooseAmount(v *value.Value) bool {
	const reach = 12
	from := p.startOf(v)
	change := p.lastBefore(max(0, from-reach), from, "capital increase")
	return change >= 0 && p.lastBefore(max(0, from-6), from, "capital figure") == from
}

func (c *capitalChange) addValue(
	to *[]candidate, i int, v *value.Value, readValue func(*part, *value.Value, value.Scale) (read, bool),
) {
	if got, ok := readValue(&c.r.parts[i], v, value.Scale{}); ok {
		*to = append(*to, candidate{read: got, at: c.r.placeOf(i, v)})
	}
}

// isDelegated reports whether a sentence only says what may be done. The power that is
// used for what is done says nothing of the kind: "en uso de las facultades delegadas".
func (p *part) isDelegated() bool {
	for _, c := range p.all("capital delegated") {
		if p.isLimitOfDone(c) || p.isOwnPurpose(c) || p.isInDate(c.from) || p.isChiefExecutive(c.from) { // "28 May 2026"
			continue
		}
		power := p.hasBetween(c.from, c.from+1, "capital power")
		if !power || !p.hasBetween(max(0, c.from-8), c.from, "capital exercised") {
			return true
		}
	}
	return false
}

// isChiefExecutive reports whether a word is that of a role: "el consejero delegado".
func (p *part) isChiefExecutive(k int) bool {
	return strings.HasPrefix(p.word(k-1), "conseller") || strings.HasPrefix(p.word(k-1), "consejer")
}

// isCalledOff reports whether a sentence says that a change does not take place. A power that
// ends says nothing of the kind: "dejando sin efecto la delegación".
func (p *part) isCalledOff() bool {
	return p.isProse() && p.has("capital called off") && p.has("capital increase", "capital reduction") &&
		!p.has("capital power")
}

// isLimitOfDone reports whether a limit is only mentioned beside what was done: "below the
// maximum of 9.000", "del importe máximo se han suscrito". So is the end of a move: "desde
// 5.000 euros hasta 4.000 euros".
func (p *part) isLimitOfDone(c cue) bool {
	if !p.hasBetween(c.from, c.from+1, "capital bound") {
		return false
	}
	return p.has("capital done") || p.hasBetween(max(0, c.from-3), c.from, "capital below") || p.isMoveEnd(c.from)
}

// isOwnPurpose reports whether words name the purpose of a change, and the change is not the
// purpose of something else: "con la finalidad de restablecer el equilibrio".
func (p *part) isOwnPurpose(c cue) bool {
	const reach = 8
	isPurpose := p.hasBetween(c.from, c.from+1, "capital purpose")
	return isPurpose && !p.hasBetween(c.from, c.to+reach, "capital increase", "capital reduction", "capital issue")
}

// isBounded reports whether a figure is a limit: "hasta 5.000 acciones".
func (p *part) isBounded(v *value.Value) bool {
	for k := max(0, v.From-4); k < v.From; k++ {
		if p.hasBetween(k, k+1, "capital bound") && !p.isMoveEnd(k) {
			return true
		}
	}
	return false
}

// isFormer reports whether a sentence tells of a change of an earlier year or month: it has
// an older date, and its verb is in the past.
func (r *reading) isFormer(p *part) bool {
	const days = 60
	if !p.has("capital then") || r.Published.IsZero() {
		return false
	}
	for k := range min(len(p.values), mostLabels) {
		v := &p.values[k]
		if v.Kind != value.Date {
			continue
		}
		year := v.Year
		if year == 0 {
			year = r.lastYearOf(v.Month)
		}
		if v.Month == 0 && year < r.Published.Year() {
			return true
		}
		if v.Month > 0 && r.Published.Sub(endOfMonth(year, v.Month)) > days*24*time.Hour {
			return true
		}
	}
	return false
}

// endOfMonth returns the last day of a month.
func endOfMonth(year, month int) time.Time {
	return time.Date(year, time.Month(month+1), 0, 0, 0, 0, 0, time.UTC)
}

// lastYearOf returns the year in which a month was last, seen from the day of the report.
func (r *reading) lastYearOf(month int) int {
	if month > int(r.Published.Month()) {
		return r.Published.Year() - 1
	}
	return r.Published.Year()
}

// isOfOther reports whether a sentence is about another company.
func (c *capitalChange) isOfOther(p *part) bool {
	if c.changesOther(p) {
		return true
	}
	return c.r.Company != "" && slices.ContainsFunc(p.companies(), func(n name) bool { return !c.r.isCompany(n.text) })
}

// theCompany are words for the company of the report.
var theCompany = lexicon.NewSet("sociedad compania company societat companyia grupo group emisor issuer entidad")

// changesOther reports whether the capital that changes is that of a company with another
// name, perhaps without its legal form: "participa en el aumento de capital de Zeta Biotech".
func (c *capitalChange) changesOther(p *part) bool {
	for _, change := range p.all("capital increase", "capital reduction") {
		link := p.word(change.to)
		k := change.to + 1
		if link != "de" && link != "of" && link != "en" && link != "in" || !isCapitalAt(p, k) || p.isShouted(k) {
			continue
		}
		isFigure := value.CurrencyCode(p.mark(k)) != "" ||
			slices.ContainsFunc(p.values, func(v value.Value) bool { return v.From == k })
		if c.r.Company != "" && !isFigure && !slices.Contains(c.r.own, p.word(k)) && !theCompany.Has(p.word(k)) {
			return true
		}
	}
	return false
}

// isOfBonds reports whether a figure in a sentence about bonds may be theirs: no words
// for the change of the capital stand between the bonds and the figure.
func (p *part) isOfBonds(v *value.Value) bool {
	if !p.has("capital bonds") {
		return false
	}
	change := max(p.lastBefore(0, v.From, "capital increase"), p.lastBefore(0, v.From, "capital reduction"))
	return change < 0 || change < p.lastBefore(0, v.From, "capital bonds") ||
		p.hasBetween(v.To, v.To+6, "capital bonds")
}

// isNewShares reports whether a figure is the number of new shares: "emisión de 5.000
// acciones", "5.000 acciones nuevas".
func (p *part) isNewShares(v *value.Value) bool {
	if v.Unit != "share" {
		return false
	}
	if isRepresented(p, v) || p.comesFromIncrease(v) {
		return true
	}
	if p.hasBetween(max(0, v.From-5), v.From, "capital not new") || p.hasBetween(v.To, v.To+2, "capital not new") {
		return false
	}
	return p.hasBetween(v.From, v.To+2, "capital new") || p.hasBetween(max(0, v.From-6), v.From, "capital issue")
}

// comesFromIncrease reports whether shares are those of an increase: "5.000 acciones de 0,05
// euros de valor nominal, procedentes del aumento de capital".
func (p *part) comesFromIncrease(v *value.Value) bool {
	const reach = 24
	for _, c := range p.all("capital stems") {
		if c.from < v.To || c.from > v.To+reach || !p.hasBetween(c.to, c.to+3, "capital increase") {
			continue
		}
		return !slices.ContainsFunc(p.valuesIn(v.To, c.from), func(o *value.Value) bool { return o.Unit == "share" })
	}
	return false
}

// followsNewShares reports whether a figure without a unit follows words such as "el número
// de acciones a emitir es de".
func (p *part) followsNewShares(v *value.Value) bool {
	last := p.lastBefore(max(0, v.From-24), v.From, "capital shares label")
	if v.Unit != "" && v.Unit != "share" || last < 0 || p.hasBetween(max(0, last-8), v.From, "capital limit") {
		return false
	}
	for k := last; k < v.From; k++ {
		if to := p.nominalAt(k); to > k {
			k = to - 1
			continue
		}
		switch p.word(k) {
		case "ordinarias", "que", "se", "emiten", "emitiran", "emitir", "han", "aumento", "capital", "el", "la", "ampliacion",
			"nuevas",
			"ascendido", "ordinary", "has", "been", "son", "are", "quedado", "fijado", "en", "nueva", "emision":
		case "es", "de", "asciende", "a", "ha", "sido", "siendo", "fue", "sera", "total", "is", "was", "amounts", "to", "finalmente",
			"definitivamente", "in", "the", "emitidas", "suscritas", "issued":
		default:
			if p.mark(k) != "," || k != last {
				return false
			}
		}
	}
	return true
}

// nominalAt returns the end of words such as "0,50 euros de valor nominal cada una" that
// begin at a token, else the token.
func (p *part) nominalAt(k int) int {
	n := p.firstValue(k)
	if n >= len(p.values) || p.values[n].From != k {
		return k
	}
	v := &p.values[n]
	if !isSmall(v) || !p.hasBetween(k, v.To+3, "nominal") {
		return k
	}
	k = v.To
	for k < len(p.tokens) {
		switch p.word(k) {
		case "de", "valor", "nominal", "cada", "una", "unitario", "par", "value", "each":
			k++
		default:
			return k
		}
	}
	return k
}

// isRepresented reports whether an increase is "representado por 5.000 nuevas acciones":
// of new shares only.
func isRepresented(p *part, v *value.Value) bool {
	directly := p.word(v.From-1) == "por" || p.word(v.From-1) == "by"
	return directly && strings.HasPrefix(p.word(v.From-2), "represent") && p.hasBetween(v.From, v.To+1, "capital new")
}

// isIssuePrice reports whether a price for each share is that of the new shares.
func (p *part) isIssuePrice(v *value.Value) bool {
	cue := p.lastBefore(max(0, v.From-12), v.From, "capital price")
	if cue < 0 || p.endsBetween(cue, v.From) {
		return false
	}
	from := cue
	for from > max(0, cue-4) && p.mark(from-1) != "," {
		from-- // "de 0,50 euros de nominal, al precio de": another clause
	}
	return !p.hasBetween(from, v.From, "capital not price") && !p.hasBetween(v.To, v.To+4, "nominal")
}

// isSmall reports whether an amount is too small for that of a capital: it is that of a
// share.
func isSmall(v *value.Value) bool {
	text, ok := decimal(v, 0)
	return ok && disclosure.CompareDecimals(text, "1000") < 0
}

// followsPrice reports whether an amount follows the words for a price, perhaps with those that
// say whose price it is and that it was fixed: "el precio de las acciones nuevas se ha fijado
// en 7,20 euros".
func (p *part) followsPrice(v *value.Value) bool {
	last := p.lastBefore(max(0, v.From-12), v.From, "capital price")
	if v.From-last <= 3 {
		return true
	}
	return last >= 0 &&
		!slices.ContainsFunc(p.tokens[last:v.From], func(t value.Token) bool { return !fixingWords.Has(t.Folded) })
}

// fixingWords stand between the words for a price and the amount.
var fixingWords = lexicon.NewSet("se ha han sido quedado fijado fijo establecido establecio definitivo definitivamente finalmente en de " +
	"la las los el nuevas acciones emision suscripcion has been set fixed at was is the new shares for fue es final")

// isNominal reports whether an amount is the nominal amount of the change.
func (p *part) isNominal(v *value.Value) bool {
	if p.isCalledNominal(v) || p.isThatIs(v) || p.moveBy(v) == 1 {
		return true
	}
	nominal := p.lastBefore(max(0, v.From-14), v.From, "capital nominal")
	cue := max(nominal, p.changeBy(v))
	if cue < 0 || p.endsBetween(cue, v.From) || p.hasBetween(cue, v.From, "capital after", "capital before word") {
		return false
	}
	// in "5.000 euros de nominal y 9.000 euros de prima" the cue belongs to the amount before
	if len(p.amountsIn(max(0, cue-5), v.From)) > 0 || p.hasBetween(v.To, p.phraseEnd(v.To), "capital not nominal") {
		return false
	}
	return !p.hasBetween(max(0, cue-3), v.From, "capital not nominal", "capital par")
}

// phraseEnd returns the end of the words directly behind an amount that may describe it: "euros
// de contravalor", but not "5.000 euros y efectivo de 9.000 euros".
func (p *part) phraseEnd(from int) int {
	const reach = 3
	for k := from; k < from+reach; k++ {
		switch p.mark(k) {
		case "y", "and", "i", "e", ",", "(":
			return k
		}
	}
	return from + reach
}

// changeBy returns the end of words such as "aumentar el capital social en" before an
// amount, or -1. In the press, "ampliar capital en 10 millones" is what is paid.
func (p *part) changeBy(v *value.Value) int {
	from := max(0, v.From-8)
	reduced := p.has("capital reduction") && !p.has("capital increase")
	if reduced && (p.isReducedOf(v) || p.isReducedLater(v)) {
		return v.From
	}
	if reduced {
		return max(p.lastBefore(from, v.From, "capital by"), p.lastBefore(from, v.From, "capital loosely by"))
	}
	if v.Scaled() {
		return -1
	}
	return p.lastBefore(from, v.From, "capital by")
}

// isReducedOf reports whether a company stands between the reduction and its amount:
// "reducción del capital social de X, S.A. en 5.000 euros".
func (p *part) isReducedOf(v *value.Value) bool {
	if w := p.word(v.From - 1); w != "en" && w != "by" {
		return false
	}
	for _, n := range p.companies() {
		if n.to == v.From-1 && p.lastBefore(max(0, n.from-8), n.from, "capital reduction") >= n.from-3 {
			return true
		}
	}
	return false
}

// isReducedLater reports whether other words stand between the reduction and its amount, but
// none that name another amount: "reducción de capital aprobada por la Junta General de 28 de
// mayo, en la cifra de 5.000 euros".
func (p *part) isReducedLater(v *value.Value) bool {
	const reach = 40
	from := p.startOf(v)
	change := p.lastBefore(max(0, from-reach), from, "capital reduction")
	if change < 0 || p.lastBefore(max(0, from-6), from, "capital figure") != from {
		return false
	}
	isBefore := func(a *value.Value) bool { return p.word(a.From-1) != "desde" && p.word(a.From-1) != "hasta" }
	return !slices.ContainsFunc(p.amountsIn(change, v.From), isBefore) && !p.endsBetween(change, v.From) &&
		!p.hasBetween(change, v.From, "capital not nominal", "capital other money")
}

// isCalledNominal reports whether the words directly behind an amount call it nominal:
// "euros nominales", "euros de valor nominal".
func (p *part) isCalledNominal(v *value.Value) bool {
	if isCapitalAt(p, v.To) && strings.Contains(p.text[p.tokens[v.To-1].End():p.tokens[v.To].At], "\n") {
		return false // the label of the next line
	}
	to := v.To + 1
	if p.word(v.To) == "de" || p.word(v.To) == "in" {
		to = v.To + 3
	}
	return p.hasBetween(v.To, to, "capital nominal") && !p.hasBetween(v.To, to+2, "capital not nominal")
}
