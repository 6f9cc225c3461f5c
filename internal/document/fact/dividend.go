package fact

import (
	"slices"
	"strings"
	"time"

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
	if !r.isAboutDividends() || r.isProposedDividend() {
		return nil
	}
	callsMeeting := len(meetings(r)) > 0
	var all []dividendValue
	for i := range r.parts {
		if p := &r.parts[i]; p.cells == nil && !p.aside && len(p.values) > 0 {
			all = append(all, r.dividendSentence(i)...)
		}
	}
	for n := range r.tables {
		all = append(all, r.dividendTable(&r.tables[n])...)
	}
	proposed := r.proposedAmounts()
	all = slices.DeleteFunc(all, func(v dividendValue) bool {
		if v.field != "gross_per_share" || r.parts[v.at.part].has("dividend decided") {
			return false
		}
		return callsMeeting || proposed[v.text] || r.parts[v.at.part].has("dividend agenda")
	})
	if drafts := r.dividendsInColumns(proposed); len(drafts) > 1 && !callsMeeting {
		return drafts
	}
	if !r.isAnnounced(all) || r.paysRest(all) {
		return nil
	}
	if drafts := r.dividendDrafts(all); len(drafts) > 0 || callsMeeting {
		return drafts
	}
	return r.datesOfDividend(all)
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
			return c.class == "proposal" || c.class == "policy" || c.class == "called off"
		})
		if doubtful || p.has("interest paid") || slices.ContainsFunc(p.values, isShareAmount) {
			return nil
		}
	}
	d := newDraft()
	for _, field := range dividendDateFields {
		var dates []candidate
		for _, v := range all {
			if v.field == field {
				dates = append(dates, v.candidate)
			}
		}
		if len(dates) > 0 && !d.setAgreed(field, dates) {
			return nil // several dividends
		}
	}
	corrects := slices.ContainsFunc(r.parts, func(p part) bool { return p.has("corrected") })
	if len(d.fields) == 0 || len(d.fields) == 1 && !corrects {
		return nil
	}
	r.setForm(&d)
	return []draft{d}
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
		if p.aside || !p.has("proposal") || !p.has("dividend", "dividend verb") || r.isLaterDividend(p) {
			continue
		}
		isProposal := func(c cue) bool { return c.class == "proposal" }
		if !slices.ContainsFunc(clausesOf(p).doubts, isProposal) {
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

// isAnnounced reports whether the document announces the dividend, and does not only
// mention what it is: it gives a date, says that it is decided, or has it as its topic.
func (r *reading) isAnnounced(all []dividendValue) bool {
	if slices.ContainsFunc(all, func(v dividendValue) bool { return v.field != "gross_per_share" }) {
		return true
	}
	return slices.ContainsFunc(r.parts, func(p part) bool {
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
		for k := range p.values {
			amount, _, ok := money(&p.values[k], value.Scale{})
			if ok && isDividendSize(amount) && !p.values[k].Scaled() && !known[amount] {
				return true
			}
		}
	}
	return false
}

// isAboutDividends reports whether a document speaks of dividends at all.
func (r *reading) isAboutDividends() bool {
	return r.title.has("dividend", "scrip") || slices.ContainsFunc(r.parts, func(p part) bool {
		names := p.all("dividend", "scrip")
		return len(names) > 0 && !p.aside && !clausesOf(&p).unsure(names[0].from)
	})
}

// isProposedDividend reports whether a sentence says that the dividend is still to be
// approved. A sentence about further dividends says nothing about this one.
func (r *reading) isProposedDividend() bool {
	return slices.ContainsFunc(r.parts, func(p part) bool {
		if p.aside || p.cells != nil || !p.has("dividend", "dividend verb", "payment") || !p.has("general meeting") ||
			p.has("further") || p.hasMoney() || r.isLaterDividend(&p) {
			return false
		}
		return slices.ContainsFunc(clausesOf(&p).doubts, func(c cue) bool {
			return c.class == "proposal" || c.class == "conditional"
		})
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
	return r.title.has("interim dividend") || slices.ContainsFunc(r.parts[:min(first, len(r.parts))], func(p part) bool {
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

// hasMoney reports whether a part has an amount of money.
func (p *part) hasMoney() bool {
	return slices.ContainsFunc(p.values, func(v value.Value) bool {
		return v.Kind == value.Figure && value.CurrencyCode(v.Unit) != ""
	})
}

// dividendSentence returns the values of a sentence.
func (r *reading) dividendSentence(i int) (found []dividendValue) {
	p := &r.parts[i]
	amounts, dates := p.longest(dividendAmountNames...), p.longest(dividendDateNames...)
	label := r.labelLine(i)
	if len(amounts)+len(dates) == 0 && label == nil {
		return nil
	}
	c := clausesOf(p)
	if c.full || r.namesOther(p) {
		return nil
	}
	taxes := p.longest("gross", "net of tax")
	respectively := p.has("respectively")
	lastAmount, lastDate := 0, 0
	for k := range p.values {
		v := &p.values[k]
		switch v.Kind {
		case value.Date:
			name, ok := lastCue(dates, lastDate, v.From)
			if ok && name.class == "other date" && p.word(name.from) == "cierre" {
				// "quienes figuren inscritos al cierre del 14 de julio"
				if holders, found := lastCue(dates, lastDate, name.from); found && holders.class == "record date" {
					name = holders
				}
			}
			if !ok || name.class == "other date" && c.starts[name.from] != c.starts[v.From] {
				day, known := date(v)
				if !known {
					day, _ = r.comingDay(v)
				}
				if behind, found := r.nameBehind(p, dates, day, v.To, nextOf(p, k, value.Date)); found {
					name, ok = behind, true
				}
			}
			if !ok && v.From <= 1 && p.mark(v.To) == ":" {
				name, ok = p.eventOfDay(dates)
			}
			if !ok && label != nil && k == 0 {
				name, ok = lastCue(label.longest(dividendDateNames...), 0, len(label.tokens))
			}
			if v.Day > 0 {
				lastDate = v.To
			}
			if ok && !respectively && !c.unsure(v.From) {
				found = r.addDividendDate(found, i, v, name.class)
			}
		case value.Figure:
			name, _ := lastCue(amounts, lastAmount, v.From)
			behind := p.behindCurrency(v.To)
			if mark := p.mark(behind); mark == "(" || mark == ")" && p.mark(v.From-1) == "(" {
				behind++ // 0.25 (gross), or (0.25) gross
			}
			end := min(behind+6, c.endOf(behind), nextOf(p, k, value.Figure))
			suffix, _ := firstCue(taxes, behind, end)
			if name.class == "" && label != nil && k == 0 {
				name, _ = lastCue(label.longest(dividendAmountNames...), 0, len(label.tokens))
			}
			if value.CurrencyCode(v.Unit) != "" {
				lastAmount = v.To
			}
			if suffix.class != "" && p.explains(v, name, suffix, behind) {
				name = suffix
				lastAmount = max(lastAmount, suffix.to)
			}
			if !c.unsure(v.From) && !r.isOldYear(p) && !p.isChangeOf(v) {
				perShare := p.hasBetween(name.from, v.From, "per share") || p.hasBetween(v.To, v.To+1, "per share")
				label := value.Scale{PerShare: perShare}
				found = r.addDividendAmount(found, i, v, name.class, label)
			}
		}
	}
	return found
}

// isChangeOf reports whether an amount is that of a change: "aumenta en 0,03 euros por
// acción", "raised by €0.03".
func (p *part) isChangeOf(v *value.Value) bool {
	const reach = 5
	for i := v.From - 1; i >= max(0, v.From-reach); i-- {
		switch p.word(i) {
		case "en", "by":
			return p.hasBetween(i-reach, i, "dividend change")
		}
	}
	return false
}

// nameBehind returns the name that explains the date before it: "el 6 de mayo, fecha
// ex-date del programa". A verb behind a date says when it is told, not when it happens:
// "el 20 de abril la sociedad comunicó que pagará".
func (r *reading) nameBehind(p *part, names []cue, day string, from, to int) (cue, bool) {
	name, ok := firstCue(names, from, min(from+10, to))
	if !ok {
		return cue{}, false
	}
	for i := from; i < name.from; i++ {
		switch p.word(i) {
		case "procedera", "al", "efectuara", "realizara", "hara", "el", "a", "llevara", "cabo", "tendra", "lugar", "del":
		case "", "como", "la", "es", "sera", "siendo", "fecha", "en", "que", "cual", "se", "de", "date", "the", "as", "is", "data":
		default:
			return cue{}, false
		}
	}
	first := p.word(name.from)
	if name.class == "payment" && r.isLater(day) && p.directly(from, name.from) {
		return name, true // "el 5 de mayo de 2026 se abonará"
	}
	return name, name.class != "payment" || first == "fecha" || first == "payment" || first == "data" || first == "la"
}

// directly reports whether nothing but "se", or "se procederá al", stands between two
// tokens.
func (p *part) directly(from, to int) bool {
	for i := from; i < to; i++ {
		switch p.word(i) {
		case "se", "procedera", "al", "a", "el", "efectuara", "realizara", "llevara", "cabo", "tendra", "lugar", "hara", "es", "del":
		default:
			return false
		}
	}
	return true
}

// eventOfDay returns the only name in a line that begins with its date: "15 de mayo de
// 2026: pago a los accionistas".
func (p *part) eventOfDay(names []cue) (found cue, ok bool) {
	for _, c := range names {
		if dividendDateFields[c.class] == "" {
			continue
		}
		if ok && c.class != found.class {
			return cue{}, false
		}
		found, ok = c, true
	}
	return found, ok
}

// endOf returns the end of the clause of a token.
func (c *clauses) endOf(i int) int {
	if i >= len(c.ends) {
		return i
	}
	return c.ends[i]
}

// explains reports whether the words behind an amount, and not those before it, say
// whether it is before tax. In a list, they may be the name of the next line.
func (p *part) explains(v *value.Value, name, suffix cue, behind int) bool {
	gap := p.text[p.tokens[v.To-1].End():p.tokens[suffix.from].At]
	switch {
	case strings.Contains(gap, "\n") || name.class == "total amount" || name.class == "gross":
		return false
	case name.class == "net of tax":
		return suffix.from == behind
	}
	return true
}

// behindCurrency skips what follows the name of a currency: "dólares estadounidenses
// (USD)".
func (p *part) behindCurrency(i int) int {
	switch p.word(i) {
	case "estadounidenses", "americanos", "us", "sterling", "esterlinas":
		i++
	}
	if p.mark(i) == "(" && p.mark(i+2) == ")" && len(p.mark(i+1)) <= 4 {
		i += 3
	}
	return i
}

// labelLine returns the line before a short one, if it is a label without a value.
func (r *reading) labelLine(i int) *part {
	if i == 0 || len(r.parts[i].tokens) > 10 || r.parts[i-1].page != r.parts[i].page {
		return nil
	}
	p := &r.parts[i-1]
	if p.cells != nil || len(p.tokens) > 12 || len(p.values) > 0 || p.has("past", "earlier paid") {
		return nil
	}
	return p
}

// nextOf returns the first token of the next value of a kind, or the end of the part.
func nextOf(p *part, k int, kind value.Kind) int {
	for n := k + 1; n < len(p.values); n++ {
		if p.values[n].Kind == kind {
			return p.values[n].From
		}
	}
	return len(p.tokens)
}

// addDividendDate adds a date, if its name is that of a field.
func (r *reading) addDividendDate(all []dividendValue, i int, v *value.Value, name class) []dividendValue {
	text, ok := date(v)
	if !ok {
		text, ok = r.comingDay(v)
	}
	field := dividendDateFields[name]
	if !ok || field == "" || v.Partner >= 0 || !r.isComing(text) {
		return all
	}
	return append(all, dividendValue{
		candidate: candidate{read: read{text: text}, at: r.placeOf(i, v), row: r.parts[i].cells != nil},
		field:     field,
	})
}

// comingDay returns a date without a year: "Fecha de pago: 17 de diciembre". It is the
// next such day, if that is soon.
func (r *reading) comingDay(v *value.Value) (string, bool) {
	const soon = 120 * 24 * time.Hour
	if v.Kind != value.Date || v.Year != 0 || v.Month == 0 || v.Day == 0 || r.Published.IsZero() {
		return "", false
	}
	published := r.Published.Truncate(24 * time.Hour)
	day := *v
	for _, day.Year = range []int{published.Year(), published.Year() + 1} {
		text, ok := date(&day)
		t, err := time.Parse(time.DateOnly, text)
		if ok && err == nil && !t.Before(published) {
			return text, t.Before(published.Add(soon))
		}
	}
	return "", false
}

// largestDividend is the amount from which it is not one for each share, unless the
// document says so.
const largestDividend = "1000"

// addDividendAmount adds an amount, if it is that of a dividend for each share.
func (r *reading) addDividendAmount(
	all []dividendValue, i int, v *value.Value, name class, heading value.Scale,
) []dividendValue {
	if v.Negative && r.parts[i].cells == nil && r.parts[i].mark(v.From-1) == "(" {
		positive := *v // in a sentence, brackets are no minus: "treinta céntimos (0,30 euros)"
		positive.Negative = false
		v = &positive
	}
	amount, currency, ok := money(v, heading)
	if text, perShare, isCents := r.parts[i].cents(v); isCents {
		amount, currency, ok = text, "EUR", true
		heading.PerShare = heading.PerShare || perShare
	}
	if !ok || v.Bound != "" || v.Partner >= 0 || v.Scaled() || v.Negative || amount == "0" || heading.Power > 0 {
		return all
	}
	perShare := isRate(v) || heading.PerShare
	if isRate(v) && !slices.Contains([]string{"share", "security", "right", "unit", "acc"}, v.Unit[4:]) {
		return all
	}
	small := isDividendSize(amount)
	strong := name == "gross" && (perShare || small)
	weak := (name == "dividend" || name == "dividend verb") && perShare && small
	if !strong && !weak {
		return all
	}
	return append(all, dividendValue{
		candidate: candidate{read: read{amount, currency}, at: r.placeOf(i, v), row: r.parts[i].cells != nil},
		field:     "gross_per_share",
		strong:    strong,
		share:     strong && perShare,
	})
}

// cents reads an amount in hundredths of a euro: "25 céntimos de euro por acción".
func (p *part) cents(v *value.Value) (amount string, perShare, ok bool) {
	if v.Kind != value.Figure || v.Scaled() {
		return "", false, false
	}
	if before := p.mark(v.From - 1); !p.tokens[v.From].IsNumber() && (isDash(before) || before == "y" || before == "i") {
		return "", false, false // only the end of "treinta y un céntimos"
	}
	end := 0
	for i := v.From + 1; i < min(v.From+6, len(p.tokens)) && end == 0; i++ {
		switch w := p.word(i); {
		case w == "eurocents" || w == "eurocentimos" || w == "euro" && (p.word(i+1) == "cents" || p.word(i+1) == "cent"):
			end = i + 1
		case w == "centimos" || w == "centims" || w == "cents":
			euro := i + 1
			for euro < i+4 && (p.word(euro) == "de" || p.word(euro) == "d" || p.word(euro) == "of" || p.word(euro) == "a" || p.mark(euro) == "'" || p.mark(euro) == "’") {
				euro++
			}
			if w := p.word(euro); w != "euro" && w != "euros" {
				return "", false, false
			}
			end = euro + 1
		case i >= v.To && w != "":
			return "", false, false
		}
	}
	if end == 0 {
		return "", false, false
	}
	amount, ok = decimal(v, -2)
	return amount, p.hasBetween(end, end+8, "per share") || isRate(v), ok
}

// isDividendSize reports whether an amount may be one for a share.
func isDividendSize(amount string) bool {
	whole := len(amount)
	for n, c := range amount {
		if c == '.' {
			whole = n
			break
		}
	}
	return whole < len(largestDividend)
}

// isComing reports whether a date is not long before the report was published.
func (r *reading) isComing(date string) bool { return r.isWithin(date, 20, 550) }

// dividendTable returns the values of a table or a form.
func (r *reading) dividendTable(t *table) (found []dividendValue) {
	var head *part
	unit := r.unitOfTable(t)
	for _, row := range t.rows {
		p := &r.parts[row]
		if p.aside {
			continue
		}
		if isDividendHead(p) {
			head = p
			continue
		}
		if head != nil && !p.has("ex date", "record date", "payment", "last cum date") {
			found = append(found, r.dividendRow(t, head, row, unit)...)
			continue
		}
		found = append(found, r.dividendForm(row, unit)...)
	}
	return found
}

// dividendsInColumns returns the dividends of a table that has each in a column of its own:
//
//	Concepto          Dividendo complementario  Dividendo extraordinario
//	Importe bruto     0,42 €                    0,10 €
//	Fecha de pago     10 de junio de 2026       4 de noviembre de 2026
func (r *reading) dividendsInColumns(proposed map[string]bool) []draft {
	var found []draft
	for n := range r.tables {
		t := &r.tables[n]
		columns := r.dividendColumnsOf(t)
		for _, values := range columns {
			d, ok := r.dividendOfColumn(values)
			if !ok || proposed[d.fields["gross_per_share"]] {
				continue
			}
			found = append(found, d)
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// dividendColumnsOf returns the values of each column of such a table, or nil.
func (r *reading) dividendColumnsOf(t *table) [][]dividendValue {
	head := &r.parts[t.rows[0]]
	few := len(head.cells) < 3 || len(head.cells) > mostDividends+1
	if few || head.aside || len(t.rows) > mostFormRows || len(clausesOf(head).doubts) > 0 || head.has("total", "total amount", "older row") {
		return nil
	}
	for _, c := range head.cells[1:] {
		if !head.hasBetween(c.from, c.to, "dividend", "payment") || len(head.figuresIn(c)) > 0 {
			return nil
		}
	}
	unit := r.unitOfTable(t)
	columns := make([][]dividendValue, len(head.cells)-1)
	for _, row := range t.rows[1:] {
		p := &r.parts[row]
		if p.aside || len(p.cells) != len(head.cells) || len(clausesOf(p).doubts) > 0 {
			continue
		}
		label := p.cells[0]
		date, _ := lastCue(p.longest(dividendDateNames...), label.from, label.to)
		amount, _ := lastCue(p.longest(dividendAmountNames...), label.from, label.to)
		heading, ok := value.ReadScale(p.tokens[label.from:label.to], p.english)
		if !ok {
			heading = unit
		}
		heading.PerShare = heading.PerShare || p.hasBetween(label.from, label.to, "per share")
		for k, c := range p.cells[1:] {
			values := p.valuesIn(c.from, c.to)
			switch {
			case len(values) != 1:
			case values[0].Kind == value.Date && date.class != "":
				columns[k] = r.addDividendDate(columns[k], row, values[0], date.class)
			case values[0].Kind == value.Figure && amount.class != "":
				columns[k] = r.addDividendAmount(columns[k], row, values[0], amount.class, heading)
			}
		}
	}
	return columns
}

// dividendOfColumn makes a fact of the values of a column, if it has an amount and a date.
func (r *reading) dividendOfColumn(values []dividendValue) (draft, bool) {
	d := newDraft()
	amounts := amountsOf(values)
	if len(amounts) != 1 {
		return d, false
	}
	d.set("gross_per_share", amounts[0].text, amounts[0].at)
	d.set("currency", amounts[0].currency, amounts[0].at)
	for _, field := range dividendDateFields {
		var dates []candidate
		for _, v := range values {
			if v.field == field {
				dates = append(dates, v.candidate)
			}
		}
		d.setAgreed(field, dates)
	}
	if len(d.fields) == 2 {
		return d, false
	}
	r.setForm(&d)
	return d, true
}

// isDividendHead reports whether a row names columns: it has several names and no value
// but a rate of tax ("Retención 19 %").
func isDividendHead(p *part) bool {
	for _, v := range p.values {
		if v.Kind == value.Date && v.Day > 0 || v.Kind == value.Figure && v.Unit != "" && v.Unit != "%" {
			return false
		}
	}
	names := p.longest("gross", "net of tax", "ex date", "record date", "payment", "last cum date")
	return len(names) > 1 && slices.ContainsFunc(names, func(c cue) bool { return c.class != names[0].class })
}

// dividendRow returns the values of a row below the names of its columns. The columns of
// a scanned table may be lost: then names and values of the same sort are matched in
// their order, if they are as many.
func (r *reading) dividendRow(t *table, head *part, row int, unit value.Scale) []dividendValue {
	p := &r.parts[row]
	if r.isEarlierRow(t, p) || len(head.cues) > mostCues || len(p.cells) > mostCues {
		return nil
	}
	var found []dividendValue
	var amounts, dates []*value.Value
	for k := range p.values {
		switch v := &p.values[k]; {
		case v.Kind == value.Date && v.Day > 0:
			dates = append(dates, v)
		case v.Kind == value.Figure && (p.cellOf(v.From) > 0 || head.hasBetween(0, head.cells[0].to, "gross", "net of tax")):
			amounts = append(amounts, v)
		}
	}
	dateNames, amountNames := oneForEach(head, dividendDateNames), oneForEach(head, dividendColumns)
	same := len(head.cells) == len(p.cells)
	for n, v := range dates {
		k := p.cellOf(v.From)
		switch {
		case same:
			name, _ := lastCue(dateNames, head.cells[k].from, head.cells[k].to)
			found = r.addDividendDate(found, row, v, name.class)
		case len(dates) == len(dateNames):
			found = r.addDividendDate(found, row, v, dateNames[n].class)
		}
	}
	for n, v := range amounts {
		k := p.cellOf(v.From)
		var name cue
		switch {
		case same:
			name, _ = lastCue(amountNames, head.cells[k].from, head.cells[k].to)
		case len(amounts) == len(amountNames):
			name = amountNames[n]
		default:
			continue
		}
		heading, ok := value.ReadScale(head.tokens[name.from:min(len(head.tokens), name.to+6)], head.english)
		if !ok {
			heading = unit
		}
		found = r.addDividendAmount(found, row, v, name.class, heading)
	}
	return found
}

// oneForEach returns the names of columns in a heading: of several names that follow one
// another directly and mean the same, such as "fecha ex (ex-date)", the last.
func oneForEach(head *part, classes ...[]class) (names []cue) {
	for _, c := range head.longest(slices.Concat(classes...)...) {
		if n := len(names) - 1; n >= 0 && names[n].class == c.class && c.from <= names[n].to+1 {
			names[n].to = c.to
			continue
		}
		names = append(names, c)
	}
	return names
}

// isEarlierRow reports whether a row is about an earlier period: it says so, or its
// dates are all over, or the table says so and the row has no date that is coming.
func (r *reading) isEarlierRow(t *table, p *part) bool {
	if slices.ContainsFunc(clausesOf(p).doubts, func(c cue) bool { return true }) || p.has("older row") {
		return true
	}
	dates, coming := 0, 0
	for k := range p.values {
		text, ok := date(&p.values[k])
		if !ok {
			continue
		}
		dates++
		if r.isComing(text) {
			coming++
		}
	}
	if dates > 0 {
		return coming == 0
	}
	return t.before >= 0 && len(clausesOf(&r.parts[t.before]).doubts) > 0
}

// dividendForm returns the values of a row that has its names beside the values: the
// names between the value before and this one. A value without a name of its own that
// follows another is that of a different period.
func (r *reading) dividendForm(row int, unit value.Scale) (found []dividendValue) {
	p := &r.parts[row]
	amounts, dates := p.longest(dividendAmountNames...), p.longest(dividendDateNames...)
	c := clausesOf(p)
	if len(amounts)+len(dates) == 0 || c.full {
		return nil
	}
	doubts := c.doubts
	last := 0
	for k := range p.values {
		v := &p.values[k]
		isDate := v.Kind == value.Date && v.Day > 0
		if !isDate && (v.Kind != value.Figure || v.Unit == "%") {
			continue
		}
		from := last
		last = v.To
		if _, doubtful := firstCue(doubts, from, p.endOfValue(v)); doubtful || from > 0 && r.unnamed(p, from, v.From) {
			if from > 0 && !doubtful && !r.repeats(found, p, v) {
				found = dropBefore(found, row, from)
			}
			continue
		}
		if isDate {
			name, ok := lastCue(dates, from, v.From)
			if !ok && v.From == 0 && len(p.values) == 1 && len(p.cells) == 2 {
				name, ok = p.eventOfDay(dates) // "15 de mayo de 2026 | Pago"
			}
			if ok {
				found = r.addDividendDate(found, row, v, name.class)
			}
			continue
		}
		name, ok := lastCue(amounts, from, v.From)
		if !ok {
			name, _ = firstCue(amounts, v.To, min(v.To+2, p.endOfCell(v.From)))
		}
		heading, ok := value.ReadScale(p.tokens[from:v.From], p.english)
		if !ok && v.Unit == "" {
			heading = unit
		}
		found = r.addDividendAmount(found, row, v, name.class, heading)
	}
	return found
}

// unnamed reports whether no word names the value behind a range of tokens.
func (r *reading) unnamed(p *part, from, to int) bool {
	return !slices.ContainsFunc(p.tokens[from:to], func(t value.Token) bool { return len(t.Folded) > 2 && !t.IsNumber() })
}

// repeats reports whether a value is the last one again, in another language.
func (r *reading) repeats(all []dividendValue, p *part, v *value.Value) bool {
	if len(all) == 0 {
		return false
	}
	text, isDate := date(v)
	if !isDate {
		text, _, _ = money(v, value.Scale{})
	}
	return all[len(all)-1].text == text
}

// dropBefore drops the last value of a row if it ends at a token: another value follows
// it under the same name, and which of them is the current one is not certain.
func dropBefore(all []dividendValue, row, end int) []dividendValue {
	if n := len(all) - 1; n >= 0 && all[n].at.part == row && all[n].at.to == end {
		return all[:n]
	}
	return all
}

// endOfValue returns the end of the words about a value in a form: of its cell, unless
// the name of the next value is in it too.
func (p *part) endOfValue(v *value.Value) int {
	end := p.endOfCell(v.From)
	if end == len(p.tokens) {
		return end
	}
	if _, ok := firstCue(p.all(slices.Concat(dividendAmountNames, dividendDateNames)...), v.To, end); ok {
		return v.To
	}
	return end
}

// endOfCell returns the end of the cell of a token.
func (p *part) endOfCell(i int) int {
	if len(p.cells) == 0 {
		return len(p.tokens)
	}
	return p.cells[p.cellOf(i)].to
}

// dividendDrafts makes facts of values: one if all places of the document agree on the
// amount, else one for each amount with dates of its own.
func (r *reading) dividendDrafts(all []dividendValue) (drafts []draft) {
	amounts := amountsOf(all)
	if len(amounts) > 1 {
		all = r.withoutLeadingDates(all, amounts)
	}
	for _, amount := range amounts {
		d := newDraft()
		d.set("gross_per_share", amount.text, amount.at)
		d.set("currency", amount.currency, amount.at)
		for _, field := range dividendDateFields {
			var dates []candidate
			for _, v := range all {
				if v.field == field && (len(amounts) == 1 || r.belongs(v.at, amount.at, amounts)) {
					dates = append(dates, v.candidate)
				}
			}
			d.setAgreed(field, dates)
		}
		if len(amounts) > 1 && len(d.fields) == 2 {
			continue // another amount, but not certainly another dividend
		}
		r.setForm(&d)
		drafts = append(drafts, d)
	}
	return drafts
}

// amountsOf returns the different amounts of dividends: those of which the document says
// that they are before tax and for each share, or else all.
func amountsOf(all []dividendValue) (amounts []dividendValue) {
	sure := slices.ContainsFunc(all, func(v dividendValue) bool { return v.share })
	for _, v := range all {
		if v.field != "gross_per_share" || sure && !v.share {
			continue
		}
		known := slices.ContainsFunc(amounts, func(a dividendValue) bool { return a.read == v.read })
		if !known {
			amounts = append(amounts, v)
		}
	}
	mixed := !sure && slices.ContainsFunc(amounts, func(v dividendValue) bool { return v.strong }) &&
		slices.ContainsFunc(amounts, func(v dividendValue) bool { return !v.strong })
	if len(amounts) > mostDividends || mixed || sure && hasOtherBeside(all, amounts) {
		return nil
	}
	return amounts
}

// hasOtherBeside reports whether another amount before tax stands in the sentence of an
// amount for each share: the one may be the whole of the other.
func hasOtherBeside(all, amounts []dividendValue) bool {
	for _, v := range all {
		if !v.strong || v.share {
			continue
		}
		beside := func(a dividendValue) bool { return a.at.part == v.at.part && a.read != v.read }
		if slices.ContainsFunc(amounts, beside) {
			return true
		}
	}
	return false
}

// mostDividends is the number of dividends that one document announces. More are a list
// of past ones.
const mostDividends = 4

// belongs reports whether a date belongs to one of several amounts: it is in its row or
// paragraph, and no other amount is.
func (r *reading) belongs(date, amount place, amounts []dividendValue) bool {
	if date.part == amount.part && r.parts[date.part].cells == nil && amountsIn(amounts, amount.part) > 1 {
		return isNextTo(date, amount, amounts)
	}
	for _, other := range amounts {
		if other.at != amount && r.together(other.at, amount) {
			return false
		}
	}
	return r.together(date, amount)
}

// withoutLeadingDates drops the dates of sentences with several amounts whose first date is
// before the first amount: there a date may belong to the amount behind it.
func (r *reading) withoutLeadingDates(all, amounts []dividendValue) []dividendValue {
	first := map[int]int{} // the first amount of a part
	for _, a := range amounts {
		if at, ok := first[a.at.part]; !ok || a.at.from < at {
			first[a.at.part] = a.at.from
		}
	}
	leading := map[int]bool{}
	for i, at := range first {
		if r.parts[i].cells != nil || amountsIn(amounts, i) < 2 {
			continue
		}
		days := r.laterDates(&r.parts[i], 0)
		leading[i] = len(days) > 0 && days[0].From < at
	}
	var kept []dividendValue
	for _, v := range all {
		if v.field == "gross_per_share" || !leading[v.at.part] {
			kept = append(kept, v)
		}
	}
	return kept
}

// amountsIn returns how many amounts are in a part.
func amountsIn(amounts []dividendValue, part int) (n int) {
	for _, a := range amounts {
		if a.at.part == part {
			n++
		}
	}
	return n
}

// isNextTo reports whether a date follows an amount of its sentence before the next amount:
// "el primero, de 0,20 euros, el 7 de mayo; el segundo, de 0,15 euros, el 5 de noviembre". A
// date before all amounts leaves open to which the others belong.
func isNextTo(date, amount place, amounts []dividendValue) bool {
	if date.from < amount.to {
		return false
	}
	for _, other := range amounts {
		if other.at.part == date.part && other.at.from > amount.from && other.at.from < date.from {
			return false
		}
	}
	return true
}

// together reports whether two places are in the same row of a table or the same
// paragraph.
func (r *reading) together(a, b place) bool {
	if r.parts[a.part].cells != nil || r.parts[b.part].cells != nil {
		return a.part == b.part
	}
	return r.parts[a.part].paragraph == r.parts[b.part].paragraph
}

// setForm sets the form of a dividend. A choice between shares and cash is a scrip; where
// one is mentioned but not certain, neither form is.
func (r *reading) setForm(d *draft) {
	for _, form := range []string{"scrip", "cash"} {
		mentioned := form == "scrip" && r.title.has("scrip")
		for i := range r.parts {
			p := &r.parts[i]
			if p.aside || !p.has(class(form)) {
				continue
			}
			c := clausesOf(p)
			for _, q := range p.longest(class(form), "payment", "no cash form") {
				if q.class != class(form) {
					continue
				}
				if !c.unsure(q.from) || form == "scrip" && c.onlyDoubtsBehind(q.to) {
					d.set("form", form, place{i, q.from, q.to})
					return
				}
				mentioned = true
			}
		}
		if mentioned {
			return
		}
	}
}

// onlyDoubtsBehind reports whether all doubts of a sentence are possibilities behind a
// token: "el programa de dividendo flexible, por el que los accionistas podrán recibir".
func (c *clauses) onlyDoubtsBehind(at int) bool {
	return !c.full && !slices.ContainsFunc(c.doubts, func(q cue) bool { return q.class != "possible" || q.from < at })
}
