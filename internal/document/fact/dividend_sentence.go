package fact

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/document/value"
)

// dividendSentence returns the values of a sentence.
func (r *reading) dividendSentence(i int, inParts bool) []dividendValue {
	d := r.newDividendReader(i, inParts)
	if d == nil {
		return nil
	}
	for k := range d.p.values {
		switch d.p.values[k].Kind {
		case value.Date:
			d.readDate(k)
		case value.Figure:
			d.readFigure(k)
		}
	}
	return d.found
}

// dividendReader reads the amounts and the dates of a sentence, from the first to the last.
type dividendReader struct {
	*reading
	p       *part
	i       int // the number of the part
	inParts bool
	clauses *clauses
	amounts []cue // names of amounts
	dates   []cue // names of dates
	taxes   []cue
	label   *part // the line above, if it is the label of the first value; or nil
	event   cue   // of a line that begins with a day
	isDay   bool  // the line begins with a day
	// listsDays says that each day has its name behind it
	listsDays    bool
	respectively bool
	lastAmount   int // the token behind the last amount, from which the name of the next one is searched
	lastDate     int // the same of dates
	found        []dividendValue
}

// newDividendReader returns the reader of a sentence, or nil if the sentence states nothing of a dividend.
func (r *reading) newDividendReader(i int, inParts bool) *dividendReader {
	p := &r.parts[i]
	d := &dividendReader{
		reading: r,
		p:       p,
		i:       i,
		inParts: inParts,
		amounts: p.longest(dividendAmountNames...),
		dates:   p.longest(dividendDateNames...),
		label:   r.labelLine(i),
	}
	if _, _, isDay := p.dayOfSchedule(); len(d.amounts)+len(d.dates) == 0 && d.label == nil && !isDay {
		return nil
	}
	d.dates = slices.DeleteFunc(d.dates, p.isRightTo)
	d.clauses = clausesOf(p)
	if d.clauses.full || d.isNoDividend() {
		return nil
	}
	d.clauses.withoutFormer()
	d.event, d.isDay = r.eventOfSchedule(i)
	d.listsDays = p.listsDays()
	if d.isDay || d.listsDays {
		d.label = nil
	}
	d.taxes = p.longest("gross", "net of tax")
	d.respectively = p.has("respectively")
	return d
}

// isNoDividend reports whether the sentence asks, supposes, or is about another company or the dividends
// of others.
func (d *dividendReader) isNoDividend() bool {
	p := d.p
	if p.asksLeave() || p.isQuestion() || p.isHypothetical() {
		return true
	}
	if d.namesOther(p) || d.othersPay(p) || d.namesOtherShares(p) || d.namesOtherBody(p) {
		return true
	}
	return p.has("dividend to decide", "price adjusted", "dividend of others")
}

// readDate reads a date with its name.
func (d *dividendReader) readDate(k int) {
	p := d.p
	v := &p.values[k]
	name, ok := d.dateName(k)
	switch {
	case d.listsDays:
		name, ok = firstCue(d.dates, v.To, nextOf(p, k, value.Date))
	case d.isDay && k == 0:
		name = d.event
		ok = d.event.class != ""
	}
	if !ok && d.label != nil && k == 0 {
		name, ok = lastCue(d.label.longest(dividendDateNames...), 0, len(d.label.tokens))
	}
	if !ok && d.inParts && p.followsAmount(v.From) {
		name, ok = cue{class: "payment"}, true // "a) 0,25 euros brutos por acción, el 1 de julio"
	}
	isFormer := p.isFormerDate(v)
	if v.Day > 0 && !isFormer {
		d.lastDate = v.To
	}
	if ok && name.from >= v.To && d.label == nil {
		d.lastDate = name.to // the name behind this date is not that of the next one
	}
	if ok && !d.isUnsure(v) && !isFormer {
		d.found = d.addDividendDate(d.found, d.i, v, name.class)
	}
}

// isUnsure reports whether what a value belongs to is uncertain.
func (d *dividendReader) isUnsure(v *value.Value) bool {
	return d.respectively || d.clauses.unsure(v.From)
}

// dateName returns the name of a date, which stands before it or behind it.
func (d *dividendReader) dateName(k int) (name cue, ok bool) {
	p := d.p
	v := &p.values[k]
	name, ok = lastCue(d.dates, d.lastDate, v.From)
	if ok && name.class == "other date" && isEndOfDay(p.word(name.from)) {
		// "quienes figuren inscritos al cierre del 14 de julio"
		if holders, found := lastCue(d.dates, d.lastDate, name.from); found && holders.class == "record date" {
			name = holders
		}
	}
	if !ok || name.class == "other date" && d.clauses.starts[name.from] != d.clauses.starts[v.From] {
		day, known := date(v)
		if !known {
			day, _ = d.comingDay(v)
		}
		if behind, found := d.nameBehind(p, d.dates, day, v.To, nextOf(p, k, value.Date)); found {
			name, ok = behind, true
		}
	}
	if behind, found := p.nameDirectlyBehind(d.dates, v.To); found {
		name, ok = behind, true
	} else if p.isDefinedBehind(v) {
		ok = ok && name.from >= v.To
	}
	if ok && name.class == "other date" {
		if subject, found := p.subjectOfDate(d.dates, d.lastDate, v.From); found {
			name = subject
		}
	}
	return name, ok
}

// readFigure reads an amount with its name, or a day without its month.
func (d *dividendReader) readFigure(k int) {
	v := &d.p.values[k]
	if day, name, ok := d.p.bareDay(k, d.dates); ok && !d.isUnsure(v) {
		d.found = d.addDividendDate(d.found, d.i, &day, name)
		d.lastDate = v.To
		return
	}
	if day, name, ok := d.dayOfMonth(d.p, k, d.dates); ok && !d.isUnsure(v) {
		d.found = d.addDividendDate(d.found, d.i, &day, name)
		d.lastDate = v.To
		return
	}
	d.readAmount(k)
}

// readAmount reads an amount. The name stands before it, and what it says of taxes may stand behind it.
func (d *dividendReader) readAmount(k int) {
	p := d.p
	v := &p.values[k]
	name, _ := lastCue(d.amounts, d.lastAmount, v.From)
	behind := d.behindAmount(v)
	end := min(behind+6, d.clauses.endOf(behind), nextOf(p, k, value.Figure))
	suffix, _ := firstCue(d.taxes, behind, end)
	if name.class == "" && d.label != nil && k == 0 {
		name, _ = lastCue(d.label.longest(dividendAmountNames...), 0, len(d.label.tokens))
	}
	isMoney := value.CurrencyCode(v.Unit) != ""
	if isMoney && !p.isWholePart(v) {
		d.lastAmount = v.To
	}
	isAmount := isMoney || suffix.from == behind // and no number of rights
	if suffix.class != "" && isAmount && p.explains(v, name, suffix, behind) {
		name = suffix
		d.lastAmount = max(d.lastAmount, suffix.to)
	}
	if d.clauses.unsure(v.From) || d.isOldYear(p) || p.isChangeOf(v) || d.wasPaid(d.clauses, v) {
		return
	}
	heading := d.headingOf(v, name, suffix)
	d.found = d.addDividendAmount(d.found, d.i, v, d.nameOfRest(p, v, name, suffix), heading)
}

// behindAmount returns the token behind an amount and its currency, and behind the mark that separates
// both from what is said of taxes.
func (d *dividendReader) behindAmount(v *value.Value) int {
	p := d.p
	behind := p.behindCurrency(v.To)
	if mark := p.mark(behind); mark == "(" || mark == ")" && p.mark(v.From-1) == "(" {
		behind++ // 0.25 (gross), or (0.25) gross
	}
	betweenCommas := func(t cue) bool { return t.from == behind+1 && p.mark(t.to) == "," }
	if p.mark(behind) == "," && slices.ContainsFunc(d.taxes, betweenCommas) {
		behind++ // "0,06 euros, íntegros, por acción"
	}
	return behind
}

// headingOf returns the unit of an amount, and whether it is that of a share.
func (d *dividendReader) headingOf(v *value.Value, name, suffix cue) value.Scale {
	p := d.p
	perShare := p.hasBetween(name.from, v.From, "per share") || p.hasBetween(v.To, v.To+1, "per share")
	if suffix.class != "" && p.word(suffix.to) == "" && p.word(suffix.to+1) == "por" { // "íntegros, por acción"
		perShare = perShare || p.hasBetween(suffix.to, suffix.to+8, "per share")
	}
	heading := value.Scale{PerShare: perShare}
	if unit, ok := p.unitOfLabel(v); ok {
		heading = unit
		heading.PerShare = heading.PerShare || perShare
	}
	return heading
}

// isEndOfDay reports whether a word tells the end of the day at which holders are registered: "al
// cierre del 14 de julio", "al término de la sesión del 14 de julio".
func isEndOfDay(word string) bool { return word == "cierre" || word == "sesion" }

// followsAmount reports whether only "brutos por acción, el" stands between an amount and the
// token of a date.
func (p *part) followsAmount(i int) bool {
	for k := i - 1; k > max(0, i-8); k-- {
		switch p.word(k) {
		case "", "el", "on", "dia", "brutos", "bruto", "gross", "per", "share", "accion", "por", "cada":
			continue
		}
		return slices.ContainsFunc(p.values, func(v value.Value) bool { return v.To == k+1 && isShareAmount(v) })
	}
	return false
}

// bareDay reads a day whose month follows with the next date: "la fecha ex-dividendo será el 17 y
// la fecha de registro, el 18 de noviembre". It returns the name of the date too.
func (p *part) bareDay(k int, names []cue) (day value.Value, name class, ok bool) {
	const near = 4
	v := &p.values[k]
	n, err := strconv.Atoi(p.mark(v.From))
	if err != nil || v.Unit != "" || v.Scaled() || p.word(v.From-1) != "el" && p.word(v.From-1) != "dia" ||
		k+1 >= len(p.values) {
		return day, "", false
	}
	before, ok := lastCue(names, max(0, v.From-near-6), v.From)
	next := p.values[k+1]
	if !ok || v.From-before.to > near || next.Kind != value.Date || n < 1 || n >= next.Day || p.word(v.To) == "de" {
		return day, "", false
	}
	day = next
	day.Day = n
	day.From = v.From
	day.To = v.To
	return day, before.class, true
}

// unitOfLabel returns the unit of a figure that stands in its label: "Importe bruto unitario
// (euros/acción): 0,24".
func (p *part) unitOfLabel(v *value.Value) (value.Scale, bool) {
	const longest = 12 // tokens of a label
	if v.Unit != "" || p.mark(v.From-1) != ":" {
		return value.Scale{}, false
	}
	return value.ReadScale(p.tokens[max(0, v.From-longest):v.From], p.english)
}

// nameOfRest returns the name of an amount: that of a rest is what is paid, although it is
// explained by the whole: "el resto, hasta el total acordado, esto es, 0,25 euros brutos".
func (r *reading) nameOfRest(p *part, v *value.Value, name, suffix cue) class {
	if name.class == "" && isRate(v) && (p.isRest(v.From) || p.dividesTotal(v)) {
		return "dividend"
	}
	if name.class == "total amount" && suffix.class == "gross" && isRate(v) &&
		p.hasBetween(0, name.from, "remaining part") {
		return "gross"
	}
	return name.class
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
// ex-date del programa". A verb behind a date says when it is announced, not when it happens:
// "el 20 de abril la sociedad comunicó que pagará".
func (r *reading) nameBehind(p *part, names []cue, day string, from, to int) (cue, bool) {
	name, ok := firstCue(names, from, min(from+12, to))
	if !ok || p.leadsOn(name.to, to) {
		return cue{}, false
	}
	for i := from; i < name.from; i++ {
		switch p.word(i) {
		case "procedera", "al", "efectuara", "realizara", "hara", "el", "a", "llevara", "cabo", "tendra", "lugar", "del":
		case "comenzaran", "empezaran", "pasaran", "cotizar":
		case "inclusive", "shares", "will", "be", "traded", "acciones", "las", "incluido", "accions", "les":
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

// nameDirectlyBehind returns the name that a date has directly behind it, whatever stands before
// it: "se pagará un dividendo, siendo el 12 de mayo la fecha ex-dividendo".
func (p *part) nameDirectlyBehind(names []cue, from int) (cue, bool) {
	if p.word(from) != "la" && p.word(from) != "the" {
		return cue{}, false
	}
	name, ok := firstCue(names, from, min(from+8, len(p.tokens)))
	first := p.word(name.from)
	if !ok || name.from > from+1 || first != "fecha" && first != "la" && name.class == "payment" {
		return cue{}, false
	}
	switch p.word(name.to) {
	case "sera", "es", "el", "is", "will", "on":
		return cue{}, false // the name of the next date
	}
	return name, p.mark(name.to) != ":"
}

// isDefinedBehind reports whether the words behind a date say what it is, so that those before it do
// not: "siendo el 14 de julio la fecha en la que".
func (p *part) isDefinedBehind(v *value.Value) bool {
	at := v.From - 1
	if w := p.word(at); w == "el" || w == "dia" {
		at--
	}
	if w := p.word(at); w == "el" {
		at--
	}
	w := p.word(v.To)
	return (p.word(at) == "siendo" || p.word(at) == "being") && (w == "la" || w == "el" || w == "the")
}

// leadsOn reports whether a name is that of the date behind it: "el 1 de julio (record date: 30 de
// junio)".
func (p *part) leadsOn(from, date int) bool {
	if p.mark(from) == ":" {
		return true
	}
	for i := from; i < date; i++ {
		if w := p.word(i); w != "el" && w != "dia" && w != "on" || i > from+1 {
			return false
		}
	}
	return date < len(p.tokens)
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
		text, ok = r.parts[i].dayBeside(v)
	}
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

// dayBeside returns a date without a year beside a complete one of the same weeks: "el 1 de
// octubre de 2026 (record date: 30 de septiembre)".
func (p *part) dayBeside(v *value.Value) (string, bool) {
	const weeks = 31 // days
	if v.Kind != value.Date || v.Year != 0 || v.Month == 0 || v.Day == 0 {
		return "", false
	}
	for k := range p.values {
		full := &p.values[k]
		if _, ok := date(full); !ok {
			continue
		}
		day := *v
		day.Year = full.Year
		text, ok := date(&day)
		if days := daysBetween(&day, full); ok && days > -weeks && days < weeks {
			return text, true
		}
	}
	return "", false
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

// isComing reports whether a date is not long before the report was published.
func (r *reading) isComing(date string) bool { return r.isWithin(date, 20, 550) }
