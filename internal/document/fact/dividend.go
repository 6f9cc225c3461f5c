package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// A dividend is found by its values: each amount and each date of a document is named by
// the words before it ("fecha de pago: 5 de mayo"), or behind it ("0,25 euros brutos").
// Only an amount for each share makes a dividend; the dates belong to it.

// dividendAmountNames are the names of amounts in documents about dividends.
var dividendAmountNames = []class{
	"gross", "dividend", "dividend verb", "net of tax", "total amount", "nominal", "share price", "interest paid",
}

// dividendColumns are the names of columns of amounts.
var dividendColumns = []class{"gross", "net of tax", "total amount", "nominal", "share price", "interest paid"}

// dividendDateNames are the names of dates in documents about dividends.
var dividendDateNames = []class{"ex date", "record date", "payment", "last cum date", "other date"}

// dividendDateFields are the names of the dates that are fields.
var dividendDateFields = map[class]string{
	"ex date":     "ex_date",
	"record date": "record_date",
	"payment":     "payment_date",
}

// dividendValue is a value of a dividend.
type dividendValue struct {
	candidate
	field  string
	strong bool // the document says that the amount is before tax
	share  bool // and that it is for each share
}

// dividends finds the dividends that a document announces.
func dividends(r *reading) []draft {
	if !r.isAboutDividends() || r.isTopic("dividend in kind") || r.listsProposals() ||
		r.isProposedDividend() && !r.isApprovedByMeeting() {
		return nil
	}
	if r.isTopic("dividend plan") || r.answersRumour() || r.isAboutOther() ||
		r.isConditioned() && !r.isApprovedByMeeting() {
		return nil
	}
	callsMeeting := len(meetings(r)) > 0
	var all []dividendValue
	inParts := r.isPaidInParts()
	for i := range r.parts {
		if p := &r.parts[i]; p.cells == nil && !p.aside && len(p.values) > 0 {
			all = append(all, r.dividendSentence(i, inParts)...)
		}
	}
	for n := range r.tables {
		all = append(all, r.dividendTable(&r.tables[n])...)
	}
	proposed := r.proposedAmounts()
	adopted := r.reportsResolutions()
	all = slices.DeleteFunc(all, func(v dividendValue) bool {
		if v.field != "gross_per_share" || r.parts[v.at.part].isDecidedDividend() && !r.isBelowProposal(v.at.part) {
			return false
		}
		return callsMeeting || proposed[v.text] || !adopted && r.parts[v.at.part].has("dividend agenda")
	})
	if drafts, ok := r.dividendsInColumns(proposed, all); ok && !callsMeeting {
		return drafts
	}
	all = r.withRest(r.withAdjusted(all))
	if !r.isAnnounced(all) || r.paysRest(all) {
		return nil
	}
	if drafts := r.dividendDrafts(all); len(drafts) > 0 || callsMeeting {
		return drafts
	}
	return r.datesOfDividend(all)
}

// isDecidedDividend reports whether a part says that a dividend is decided. A verb in the future says so
// only if the part is no point of an agenda: "Aprobación de un dividendo, que se pagará el 5 de mayo".
func (p *part) isDecidedDividend() bool {
	isAgenda := p.has("dividend agenda")
	return slices.ContainsFunc(p.all("dividend decided"), func(c cue) bool {
		last := p.word(c.to - 1)
		isFuture := p.word(c.from) == "will" || strings.HasSuffix(last, "ra") || strings.HasSuffix(last, "ran")
		return !isFuture || !isAgenda
	})
}

// withAdjusted drops the amounts before an adjustment, if the document gives the one behind it:
// shares that the company owns receive nothing, so that the others receive more.
func (r *reading) withAdjusted(all []dividendValue) []dividendValue {
	isAdjusted := func(v dividendValue) bool {
		return v.field == "gross_per_share" && v.strong && r.parts[v.at.part].adjusts(v.at)
	}
	if !slices.ContainsFunc(all, isAdjusted) {
		return all
	}
	var kept []dividendValue
	for _, v := range all {
		if v.field == "gross_per_share" && !isAdjusted(v) {
			continue
		}
		v.share = v.share || v.field == "gross_per_share"
		kept = append(kept, v)
	}
	return kept
}

// adjusts reports whether the words before an amount, behind the amount before it, say that it is
// adjusted.
func (p *part) adjusts(at place) bool {
	from := 0
	for k := range p.values {
		if v := &p.values[k]; v.Kind == value.Figure && v.To <= at.from && value.CurrencyCode(v.Unit) != "" {
			from = v.To
		}
	}
	return p.hasBetween(from, at.from, "adjusted amount")
}

// reportsResolutions reports whether the document says what a meeting of shareholders has
// approved: then "Aprobar la distribución" is no point of an agenda.
func (r *reading) reportsResolutions() bool {
	return anyPart(r.parts, func(p *part) bool {
		return !p.aside && !p.isLong() && p.has("general body") && p.has("resolutions adopted") &&
			p.has("meeting took place") &&
			!slices.ContainsFunc(clausesOf(p).doubts, func(c cue) bool {
				return c.class == "proposal" || c.class == "conditional"
			})
	})
}

// datesOfDividend makes a fact of the dates of a dividend whose amount an earlier document
// gave. The document must be about it, and neither give an amount for each share nor
// speak of a proposal.
func (r *reading) datesOfDividend(all []dividendValue) []draft {
	if !r.isTopic("dividend", "scrip") || r.isTopic("yearly calendar") {
		return nil
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside {
			continue
		}
		doubtful := slices.ContainsFunc(clausesOf(p).doubts, func(c cue) bool {
			return c.class == "proposal" || c.class == "policy" && p.hasMoneyOrDay() || c.class == "called off"
		})
		if doubtful || p.paysInterest() || slices.ContainsFunc(p.values, isShareAmount) && !p.recallsPayment() {
			return nil
		}
	}
	d := newDraft()
	for _, field := range dividendDateFields {
		dates := datesFor(field, all)
		if len(dates) > 0 && !d.setAgreed(field, dates) {
			return nil // several dividends
		}
	}
	corrects := anyPart(r.parts, func(p *part) bool { return p.has("corrected") })
	if len(d.fields) == 0 || len(d.fields) == 1 && !corrects {
		return nil
	}
	r.setForm(&d)
	return []draft{d}
}

// recallsPayment reports whether a sentence is about an earlier payment only: "en la edición anterior
// el precio fue de 0,314 euros por derecho".
func (p *part) recallsPayment() bool {
	doubts := clausesOf(p).doubts
	return len(doubts) > 0 &&
		!slices.ContainsFunc(doubts, func(c cue) bool { return !slices.Contains(doubtsInClause, c.class) })
}

// paysInterest reports whether a part names the interest of bonds, and not only "ex-cupón".
func (p *part) paysInterest() bool {
	return slices.ContainsFunc(p.longest("interest paid", "ex date"), func(c cue) bool { return c.class == "interest paid" })
}

// isTopic reports whether the title of the report, a heading or one of the first
// sentences has a cue of some classes.
func (r *reading) isTopic(classes ...class) bool {
	if r.title.has(classes...) {
		return true
	}
	const first = 6
	for i := range r.parts {
		if p := &r.parts[i]; (p.heading || i < first && p.cells == nil) && !p.aside && p.has(classes...) {
			return true
		}
	}
	return false
}

// isShareAmount reports whether a value is an amount of money for each share.
func isShareAmount(v value.Value) bool {
	return v.Kind == value.Figure && isRate(&v)
}

// proposedAmounts returns the amounts that the document proposes to the shareholders.
func (r *reading) proposedAmounts() map[string]bool {
	amounts := map[string]bool{}
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || !p.has("dividend", "dividend verb") || r.isLaterDividend(p) {
			continue
		}
		if !p.isProposal() && !r.isBelowProposal(i) {
			continue
		}
		for k := range p.values {
			if amount, _, ok := money(&p.values[k], value.Scale{}); ok {
				amounts[amount] = true
			}
		}
	}
	return amounts
}

// isProposal reports whether a part proposes something.
func (p *part) isProposal() bool {
	return p.has("proposal") &&
		slices.ContainsFunc(clausesOf(p).doubts, func(c cue) bool { return c.class == "proposal" })
}

// isBelowProposal reports whether a part follows the title of a proposal: "Propuesta al punto
// segundo. Aprobar la distribución".
func (r *reading) isBelowProposal(i int) bool {
	const longestTitle = 14 // tokens
	if i == 0 {
		return false
	}
	title := &r.parts[i-1]
	near := title.heading || title.paragraph == r.parts[i].paragraph
	return near && len(title.tokens) <= longestTitle && len(title.values) == 0 && title.isProposal()
}

// listsProposals reports whether the document has the proposals for a meeting of shareholders, by
// its title or its first headings. Their text is that of the resolutions to come.
func (r *reading) listsProposals() bool {
	const first = 6
	isList := func(p *part) bool {
		return p.has("general meeting", "resolution", "profit use") &&
			!p.has("dividend decided", "resolutions adopted") && p.isProposal()
	}
	if isList(r.title) {
		return !r.reportsResolutions()
	}
	for i := range r.parts[:min(first, len(r.parts))] {
		if p := &r.parts[i]; p.heading && isList(p) {
			return !r.reportsResolutions()
		}
	}
	return false
}

// isApprovedByMeeting reports whether a sentence says that a meeting of shareholders has decided the
// dividend with its amount. Then a sentence about what may be proposed is about another one.
func (r *reading) isApprovedByMeeting() bool {
	const near = 20 // "La Junta General Ordinaria de Accionistas, celebrada hoy en primera convocatoria, ha acordado"
	return anyPart(r.parts, func(p *part) bool {
		if p.aside || p.cells != nil || !p.has("dividend") || !p.hasMoney() || p.isLong() ||
			len(clausesOf(p).doubts) > 0 {
			return false
		}
		meeting, ok := firstCue(p.all("general body"), 0, len(p.tokens))
		return ok && p.hasBetween(meeting.to, meeting.to+near, "dividend decided")
	})
}

// isAnnounced reports whether the document announces the dividend, and does not only
// mention what it is: it gives a date, says that it is decided, or has it as its topic.
func (r *reading) isAnnounced(all []dividendValue) bool {
	if slices.ContainsFunc(all, func(v dividendValue) bool { return v.field != "gross_per_share" }) {
		return true
	}
	return anyPart(r.parts, func(p *part) bool {
		return !p.aside && p.has("dividend", "scrip") && (p.heading || p.has("dividend decided"))
	}) || slices.ContainsFunc(all, func(v dividendValue) bool { return v.strong && r.parts[v.at.part].cells == nil })
}

// paysRest reports whether the document says that another amount than those found is what
// remains to be paid: "un dividendo de 0,30 euros; el 7 de mayo se pagarán los 0,20 restantes".
func (r *reading) paysRest(all []dividendValue) bool {
	known := map[string]bool{}
	for _, v := range all {
		known[v.text] = true
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || !p.has("remaining part") || len(p.values) > mostCues {
			continue
		}
		c := clausesOf(p)
		for k := range p.values {
			v := &p.values[k]
			amount, _, ok := money(v, value.Scale{})
			bare := value.CurrencyCode(v.Unit) == "" && !p.hasBetween(v.To, v.To+1, "remaining part")
			if ok && !bare && isDividendSize(amount) && !v.Scaled() && !known[strings.TrimPrefix(amount, "-")] &&
				!c.unsure(v.From) {
				return true
			}
		}
	}
	return false
}

// withRest drops the amounts of which only a part is still to be paid, if the document says which one:
// "a dividend of €1.84 per share …, the balance of €1.24 per share will be paid on 4 June".
func (r *reading) withRest(all []dividendValue) []dividendValue {
	var rests []candidate
	for _, v := range all {
		if v.field == "gross_per_share" && r.parts[v.at.part].cells == nil && r.parts[v.at.part].isRest(v.at.from) {
			rests = append(rests, v.candidate)
		}
	}
	rest, ok := agreed(rests)
	if !ok {
		return all
	}
	var kept []dividendValue
	for _, v := range all {
		if v.field == "gross_per_share" && v.text != rest.text {
			continue
		}
		v.share = v.share || v.field == "gross_per_share"
		kept = append(kept, v)
	}
	return kept
}

// isRest reports whether the words directly before an amount say that it is what is left to be paid:
// "the balance of €1.24", "el resto, 0,25 euros".
func (p *part) isRest(at int) bool {
	const near = 5
	rest, ok := lastCue(p.all("remaining part"), max(0, at-near-4), at)
	if !ok || at-rest.to > near || p.hasBetween(at, at+6, "remaining part") {
		return false
	}
	for i := rest.to; i < at; i++ {
		switch p.word(i) {
		case "of", "de", "es", "decir", "esto", "por", "importe", "un", "total", "a", "saber", "namely", "es que", "that", "is", "":
		default:
			return false
		}
	}
	return true
}

// isAboutDividends reports whether a document speaks of dividends at all.
func (r *reading) isAboutDividends() bool {
	return r.title.has("dividend", "scrip") || anyPart(r.parts, func(p *part) bool {
		names := p.all("dividend", "scrip")
		if len(names) == 0 && p.paysShares() {
			names = p.all("dividend verb")
		}
		if len(names) == 0 || p.aside {
			return false
		}
		c := clausesOf(p)
		c.withoutFormer()
		return !c.unsure(names[0].from)
	})
}

// isProposedDividend reports whether a sentence says that the dividend is still to be
// approved. A sentence about further dividends says nothing about this one.
func (r *reading) isProposedDividend() bool {
	return anyPart(r.parts, func(p *part) bool {
		if p.aside || p.cells != nil ||
			!p.has("dividend", "dividend verb", "payment", "profit use") && !p.isShortCondition() || !p.has("general meeting") ||
			p.has("further") || p.hasMoney() || r.isLaterDividend(p) {
			return false
		}
		return p.has("dividend to decide") || slices.ContainsFunc(clausesOf(p).doubts, func(c cue) bool {
			return c.class == "proposal" || c.class == "conditional"
		})
	})
}

// isShortCondition reports whether a sentence has only the condition of the one before it:
// "Sujeto a la aprobación de la Junta."
func (p *part) isShortCondition() bool {
	const short = 12
	return len(p.tokens) <= short && p.has("conditional") && p.has("dividend agenda")
}

// paysShares reports whether a sentence decides to distribute an amount before tax for each share, without
// calling it a dividend: "ha acordado un primer reparto de 0,12 euros brutos por acción".
func (p *part) paysShares() bool {
	if p.cells != nil || !p.has("dividend verb") || !p.has("gross") || !p.has("dividend decided") ||
		p.has("interest paid") {
		return false
	}
	distributes := slices.ContainsFunc(p.all("dividend verb"), func(c cue) bool {
		return strings.HasPrefix(p.word(c.from), "repart") || strings.HasPrefix(p.word(c.from), "distribu")
	})
	return distributes && slices.ContainsFunc(p.values, func(v value.Value) bool {
		return isShareAmount(v) && p.hasBetween(v.To, v.To+4, "per share")
	})
}

// isLaterDividend reports whether a sentence is about the final dividend, in a document about
// an interim one.
func (r *reading) isLaterDividend(p *part) bool {
	if !p.has("final dividend") || p.has("interim dividend") {
		return false
	}
	if r.title.has("final dividend") {
		return false
	}
	const first = 6 // parts: a search of all for each sentence would cost too much
	return r.title.has("interim dividend") || anyPart(r.parts[:min(first, len(r.parts))], func(p *part) bool {
		return !p.aside && p.has("interim dividend")
	})
}

// isOldYear reports whether the years that a sentence names are all before last year: a
// dividend is paid out of the results of this year or the last.
func (r *reading) isOldYear(p *part) bool {
	newest := 0
	for k := range p.values {
		if p.values[k].Kind == value.Date {
			newest = max(newest, p.values[k].Year)
		}
	}
	return newest > 0 && !r.Published.IsZero() && newest < r.Published.Year()-1
}

// hasMoneyOrDay reports whether a part has an amount of money or a day.
func (p *part) hasMoneyOrDay() bool {
	return p.hasMoney() ||
		slices.ContainsFunc(p.values, func(v value.Value) bool { return v.Kind == value.Date && v.Day > 0 })
}

// hasMoney reports whether a part has an amount of money.
func (p *part) hasMoney() bool {
	return slices.ContainsFunc(p.values, func(v value.Value) bool {
		return v.Kind == value.Figure && value.CurrencyCode(v.Unit) != ""
	})
}
