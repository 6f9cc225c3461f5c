package fact

import (
	"slices"
	"time"

	"pregon/internal/document/value"
)

// buybackLimits are the candidates for the limits of a programme.
type buybackLimits struct {
	amounts []candidate
	shares  []candidate
	ends    []candidate
	classes bool // each class of shares has its own limit
}

// buybackLimits finds the limits of the programme of the document.
func (r *reading) buybackLimits(event string) (found buybackLimits) {
	known := r.title.has("buyback")
	for i := range r.parts {
		p := &r.parts[i]
		known = known || p.has("buyback")
		if p.aside || p.isTooLong() || p.cells != nil || !known || r.isOtherProgramme(i) {
			continue
		}
		found.classes = found.classes || p.limitsClasses()
		old := len(p.tokens) // from there, values are those of a programme that the new one replaces
		if event == "start" {
			old = r.oldProgrammeFrom(p)
		}
		for k := range p.values {
			v := &p.values[k]
			switch {
			case r.earlierProgramme(p, v) || p.possibleBefore(v.From) || p.isEarlierOfTwo(k):
			case p.onlyRefers(v) || p.isOfAuthority(v):
			case event == "change" && (p.isRecalledLimit(v) || p.isUnclearChange(v)):
			case v.From >= old || p.isOfOneDay(v):
			case event == "start" && v.Kind == value.Figure && p.hasBetween(0, v.From, "buyback to date"):
			case v.Kind == value.Figure && p.hasBetween(0, v.From, "buyback assumed"):
			case v.Kind == value.Date:
				if text, ok := date(v); ok && r.endsProgramme(i, v) && r.mayEnd(text) {
					found.ends = append(found.ends, r.candidate(read{text: text}, i, v, cue{}))
				}
			case v.Kind == value.Figure:
				r.addLimit(&found, i, v)
			}
		}
	}
	for n := range r.tables {
		r.addTableLimits(&found, &r.tables[n])
	}
	return found
}

// isOtherProgramme reports whether a sentence is about the programme of another company, or
// about one of an earlier year.
func (r *reading) isOtherProgramme(i int) bool {
	p := &r.parts[i]
	return p.has("another company", "other company", "debt buyback") || p.isOfPastYear(r.Published) || r.namesOther(p)
}

// oldProgrammeFrom returns the token at which a sentence begins to speak of a programme that a
// new one replaces, or its end: "Sustituye al programa aprobado el 4 de marzo de 2025, por …".
func (r *reading) oldProgrammeFrom(p *part) int {
	const near = 5
	from := len(p.tokens)
	if over, ok := firstCue(p.all("buyback over"), 0, len(p.tokens)); ok {
		from = over.from
	}
	for k := range p.values {
		day := &p.values[k]
		text, ok := date(day)
		if !ok || day.From >= from || r.isWithin(text, 60, 5*366) {
			continue
		}
		told := p.hasBetween(day.From-near, day.From, "buyback reference", "buyback begun")
		if told && p.hasBetween(day.From-2*near, day.From, "buyback", "programme") {
			return day.From
		}
	}
	return from
}

// isOfOneDay reports whether a figure is a limit for each day: "100.000 euros por sesión".
func (p *part) isOfOneDay(v *value.Value) bool {
	const before, behind = 6, 3
	from := max(v.From-before, p.lastValueBefore(v))
	isDaily := p.hasBetween(v.To, v.To+behind, "buyback daily") || p.hasBetween(from, v.From, "buyback daily")
	return v.Kind == value.Figure && isDaily
}

// limitsClasses reports whether a sentence has a number of shares of one class: "1.000.000
// acciones de la Clase A y 500.000 de la Clase B".
func (p *part) limitsClasses() bool {
	const near = 5
	return slices.ContainsFunc(p.values, func(v value.Value) bool {
		return v.Kind == value.Figure && v.Unit != "%" && p.hasBetween(v.To-1, v.To+near, "buyback class")
	})
}

// isUnclearChange reports whether a figure of a sentence about a change is not called the new
// one, though the sentence has another of the same kind.
func (p *part) isUnclearChange(v *value.Value) bool {
	if v.Kind != value.Figure || p.hasBetween(v.From-5, v.From, "buyback new value") || p.word(v.From-1) == "a" {
		return false
	}
	isMoney := value.CurrencyCode(v.Unit) != ""
	return slices.ContainsFunc(p.values, func(other value.Value) bool {
		if other.Kind != value.Figure || other.From == v.From || other.Unit == "%" {
			return false
		}
		return isMoney == (value.CurrencyCode(other.Unit) != "")
	})
}

// isRecalledLimit reports whether a value is that of the earlier report to which a sentence
// about a change refers: "Como continuación de la comunicación …, relativa a un programa de 5
// millones, se informa …".
func (p *part) isRecalledLimit(v *value.Value) bool {
	last := p.endOfLast(v.From, "buyback reference")
	return last >= 0 && !p.hasBetween(last, v.From, "buyback statement", "buyback change")
}

// endedOn returns the days on which sentences say that the programme has ended: "finalizó el
// 17 de septiembre".
func (r *reading) endedOn() (found []candidate) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isTooLong() || p.cells != nil || !p.has("buyback", "programme") {
			continue
		}
		for _, c := range p.all("buyback has ended") { // "con fecha 7 de junio ha finalizado"
			for k := range p.values {
				v := &p.values[k]
				isDay := v.To == c.from || v.To <= c.from && p.hasBetween(v.From-4, v.From, "buyback reached")
				if text, ok := r.dayOf(v); ok && isDay && !r.earlierProgramme(p, v) && r.justEnded(text) {
					found = append(found, r.candidate(read{text: text}, i, v, c))
				}
			}
		}
		for _, c := range p.all("buyback ended") {
			for _, v := range p.valuesIn(c.to, min(c.to+8, len(p.tokens))) {
				text, ok := r.dayOf(v)
				if ok && v.From-c.to <= 2 && !r.earlierProgramme(p, v) && !p.possibleBefore(v.From) &&
					r.justEnded(text) {
					found = append(found, r.candidate(read{text: text}, i, v, c))
				}
				break
			}
		}
	}
	return found
}

// dayOf returns a date. One without a year is the last such day before the report: "finalizó el
// pasado 30 de junio".
func (r *reading) dayOf(v *value.Value) (string, bool) {
	complete := *v
	if v.Kind == value.Date {
		r.completeYear(&complete)
	}
	return date(&complete)
}

// justEnded reports whether a day is that of the report, or shortly before it.
func (r *reading) justEnded(date string) bool {
	t, err := time.Parse(time.DateOnly, date)
	const longest = 30 * 24 * time.Hour
	return err == nil && !r.Published.IsZero() && !t.After(r.Published) && r.Published.Sub(t) <= longest
}

// mayEnd reports whether a programme may end on a date: not before the report, and not more
// than the five years for which shareholders may authorise purchases after it.
func (r *reading) mayEnd(date string) bool {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil || r.Published.IsZero() {
		return err == nil
	}
	return !t.Before(r.Published.Truncate(24*time.Hour)) && t.Before(r.Published.AddDate(5, 0, 0))
}

// addLimit adds a figure of a sentence, if it is a limit of the programme.
func (r *reading) addLimit(found *buybackLimits, i int, v *value.Value) {
	p := &r.parts[i]
	if !r.aboutProgramme(i) && !p.labelled("buyback limit", "buyback shares limit") || p.oldValue(v) {
		return
	}
	if c, ok := readPositive(p, v, value.Scale{}); ok && p.isAmountLimit(v) {
		found.amounts = append(found.amounts, r.candidate(c, i, v, cue{}))
	}
	if c, ok := countPositive(p, v); ok && p.isSharesLimit(v) {
		found.shares = append(found.shares, r.candidate(c, i, v, cue{}))
	}
}

// aboutProgramme reports whether a sentence, or the one before it in its paragraph, names
// the programme.
func (r *reading) aboutProgramme(i int) bool {
	p := &r.parts[i]
	follows := i > 0 && r.parts[i-1].paragraph == p.paragraph && r.parts[i-1].has("buyback", "programme")
	return p.has("buyback", "programme") || follows
}

// labelled reports whether a sentence begins with a cue: "Importe máximo: …".
func (p *part) labelled(classes ...class) bool {
	first := 0
	for first < min(4, len(p.tokens)) && p.mark(first) != ")" { // "(ii)", "b)"
		first++
	}
	if p.mark(first) != ")" {
		first = -1
	}
	mark := 0
	for mark < min(4, len(p.tokens)) && (p.tokens[mark].IsNumber() || len(p.word(mark)) < 2 && !p.tokens[mark].IsCapital()) { // "1.º"
		mark++
	}
	return p.hasBetween(0, max(first+1, mark)+4, classes...)
}

// possibleBefore reports whether the words before a token make what follows a possibility.
// "No podrá superar" and "podrá adquirir hasta" are limits.
func (p *part) possibleBefore(to int) bool {
	for _, c := range p.all("possible", "example", "policy") {
		if c.from >= to {
			continue
		}
		inLimit := false
		for _, limit := range p.all("buyback shares limit", "buyback allows") {
			inLimit = inLimit || limit.from <= c.from && c.to <= limit.to
		}
		if !inLimit {
			return true
		}
	}
	return false
}

// earlierProgramme reports whether a part is about an earlier programme.
func (r *reading) earlierProgramme(p *part, v *value.Value) bool {
	if p.has("buyback notice") {
		return true
	}
	for _, b := range p.all("buyback", "programme") {
		if b.to <= v.From && p.hasBetween(b.from-2, b.to+3, "buyback earlier") && !p.bracketsClose(b.to, v.From) {
			return true
		}
	}
	return false
}

// oldValue reports whether a figure or date is what a change replaces, or the size of the
// change.
func (p *part) oldValue(v *value.Value) bool {
	if p.hasBetween(v.From-2, v.From, "buyback new value") {
		return false
	}
	isIncrement := p.changesProgramme() && p.hasBetween(v.From-2, v.From, "buyback increment")
	return isIncrement || p.hasBetween(v.From-4, v.From, "buyback old value")
}

// changesProgramme reports whether a part is about a change of the programme.
func (p *part) changesProgramme() bool { return p.has("buyback change", "buyback term changes") }

// isAmountLimit reports whether an amount of a sentence is the most that the programme may
// cost.
func (p *part) isAmountLimit(v *value.Value) bool {
	if p.isCalledLimit(v, "buyback limit") {
		return true
	}
	last := p.endOfLast(v.From, "buyback spent", "buyback price")
	if v.Bound == "atMost" {
		return last < max(0, v.From-6)
	}
	if p.isSize(v) {
		return true
	}
	from := max(0, v.From-14)
	if p.changesProgramme() {
		from = max(0, v.From-30)
	}
	for _, c := range p.all("buyback limit") {
		if c.from < from || c.to > v.From || last >= c.to || last >= max(0, v.From-4) {
			continue
		}
		between := p.moneyBetween(c.to, v.From)
		isNew := p.hasBetween(v.From-5, v.From, "buyback new value") || p.word(v.From-1) == "a"
		if between == 0 || p.changesProgramme() && isNew {
			return true
		}
	}
	return false
}

// isCalledLimit reports whether the words behind a figure say that it is a limit: "1.000
// acciones, que constituían el número máximo de acciones del programa".
func (p *part) isCalledLimit(v *value.Value, limit class) bool {
	for _, c := range p.all("buyback is") {
		if c.from < v.To || c.from > v.To+2 {
			continue
		}
		return p.hasBetween(c.to, c.to+3, limit) && len(p.valuesIn(c.to, c.to+8)) == 0
	}
	return false
}

// isSize reports whether an amount directly follows or precedes the name of a programme that
// starts: "programa de recompra por importe de 5 millones", "a €5 million buyback".
func (p *part) isSize(v *value.Value) bool {
	if !p.has("buyback start") || p.changesProgramme() {
		return false
	}
	if p.hasBetween(v.To, v.To+2, "buyback") {
		return true
	}
	for _, size := range p.all("buyback size") {
		if size.to != v.From && size.to != v.From-1 {
			continue
		}
		for _, c := range p.all("buyback") {
			if c.to <= size.from && size.from-c.to <= 3 &&
				!p.hasBetween(c.to, v.From, "buyback spent", "buyback price") {
				return true
			}
		}
	}
	return false
}

// endOfLast returns the end of the last cue of some classes before a token, or -1.
func (p *part) endOfLast(to int, classes ...class) int {
	last := -1
	for _, c := range p.all(classes...) {
		if c.to <= to {
			last = max(last, c.to)
		}
	}
	return last
}

// moneyBetween returns the number of figures with a unit in a range of tokens.
func (p *part) moneyBetween(from, to int) (n int) {
	for _, v := range p.valuesIn(from, to) {
		if v.Kind == value.Figure && v.Unit != "" && v.Unit != "%" {
			n++
		}
	}
	return n
}

// isSharesLimit reports whether a number of a sentence is the most shares of the programme.
func (p *part) isSharesLimit(v *value.Value) bool {
	if (v.Unit == "share" || v.Unit == "security") && p.isCalledLimit(v, "buyback shares limit") {
		return true
	}
	if p.isOutOf(v) {
		return true
	}
	if p.isSpentBefore(v) || len(p.valuesIn(v.To, v.To+1)) > 0 && v.Unit == "" {
		return false
	}
	isShares := v.Unit == "share" || v.Unit == "security"
	if v.Bound == "atMost" && isShares || isShares && p.followsLimit(v) {
		return true
	}
	for _, c := range p.all("buyback shares limit") {
		namesShares := p.hasBetween(c.from, c.to, "buyback shares label") ||
			p.hasBetween(c.from-6, c.to, "buyback shares label") && p.moneyBetween(c.from-6, c.from) == 0
		near := 8
		if p.hasBetween(v.From-3, v.From, "buyback is") {
			near = 14 // "el número máximo de acciones previsto en el Programa de Recompra, esto es, 500"
		}
		if p.changesProgramme() && p.hasBetween(v.From-3, v.From, "buyback new value") {
			near = 14 // "el número máximo de acciones, fijado inicialmente en 500, se eleva a 700"
		}
		if c.to <= v.From && v.From-c.to <= near && (isShares || namesShares) && p.moneyBetween(c.to, v.From) == 0 {
			return true
		}
	}
	return false
}

// isSpentBefore reports whether the words before a number say that it was bought. Shares "to
// be acquired" were not.
func (p *part) isSpentBefore(v *value.Value) bool {
	const near = 8
	return slices.ContainsFunc(p.all("buyback spent"), func(c cue) bool {
		return c.from >= v.From-near && c.from < v.From && p.word(c.from-1) != "be"
	})
}

// followsLimit reports whether a number of shares directly follows the most money of the
// programme: "con un límite de 8.000.000 de euros y 600.000 acciones".
func (p *part) followsLimit(v *value.Value) bool {
	for k := range p.values {
		before := &p.values[k]
		if before.To != v.From-1 || value.CurrencyCode(before.Unit) == "" {
			continue
		}
		joint := p.word(before.To)
		return (isAnd(joint) || joint == "o" || joint == "or") && p.isAmountLimit(before)
	}
	return false
}

// isOutOf reports whether a number of shares is the whole of which another one was bought:
// "500 shares have been acquired out of the maximum of 2,000 shares".
func (p *part) isOutOf(v *value.Value) bool {
	isShares := v.Unit == "share" || v.Unit == "security"
	for _, c := range p.all("buyback out of") {
		if c.to <= v.From && v.From-c.to <= 3 && isShares && p.moneyBetween(max(0, c.from-12), c.from) == 1 {
			return p.moneyBetween(c.to, v.From) == 0
		}
	}
	return false
}

// endsProgramme reports whether a date of a sentence is the last day of the programme.
func (r *reading) endsProgramme(i int, v *value.Value) bool {
	p := &r.parts[i]
	if !r.aboutProgramme(i) && !p.labelled("buyback ends label") && !r.isHeadedBy(i, "buyback ends label") {
		return false
	}
	for _, c := range p.all("buyback ends label") {
		if c.to <= v.From && v.From-c.to <= 1 && !p.hasBetween(c.from-2, v.From, "buyback old value") {
			return true
		}
	}
	for _, c := range p.all("buyback ends") {
		if c.to > v.From || v.From-c.to > 7 || len(p.valuesIn(c.to, v.From)) > 0 {
			continue
		}
		since := max(v.From-6, p.lastValueBefore(v)) // the words that belong to this date
		return !p.hasBetween(v.From-12, c.from, "buyback authorisation") &&
			!p.hasBetween(since, v.From, "buyback old value")
	}
	return false
}

// isHeadedBy reports whether a sentence follows a heading in its paragraph that begins with a
// cue: "3. Plazo. Desde el 20 de enero".
func (r *reading) isHeadedBy(i int, label class) bool {
	const longest = 7
	if i == 0 || r.parts[i-1].paragraph != r.parts[i].paragraph {
		return false
	}
	before := &r.parts[i-1]
	return len(before.tokens) <= longest && before.labelled(label)
}

// lastValueBefore returns the end of the last value before another one, or 0.
func (p *part) lastValueBefore(v *value.Value) (end int) {
	for i := range p.values {
		if p.values[i].To > v.From {
			break
		}
		end = p.values[i].To
	}
	return end
}

// addTableLimits adds the limits in the rows of a table: a label and a value, or the
// column of the limits or of the new values.
func (r *reading) addTableLimits(found *buybackLimits, t *table) {
	columns := 0 // of the heading with a column of limits
	column := -1
	for _, row := range t.formRows() {
		p := &r.parts[row]
		if p.aside || p.isTooLong() {
			continue
		}
		if n, all, ok := limitColumn(p); ok {
			columns = all
			column = n
			continue
		}
		label := p.cells[0]
		if p.hasBetween(label.from, label.to, "buyback before column", "buyback spent", "buyback price") ||
			len(p.cells) < 2 {
			continue
		}
		n := 1
		limited := p.hasBetween(label.from, label.to, "buyback limit", "buyback shares limit")
		switch {
		case columns == len(p.cells):
			n = column
			limited = true
		case len(p.cells) > 2:
			continue
		}
		values := slices.DeleteFunc(p.valuesIn(p.cells[n].from, p.cells[n].to), func(v *value.Value) bool {
			return v.Unit == "%" // of the capital
		})
		if len(values) == 0 {
			continue
		}
		r.addRowLimit(found, t, row, n, values[len(values)-1], limited)
	}
}

// limitColumn returns the column with the limits, or with the values after a change, and
// the number of columns, if a row is the heading of such a table. Cells of a heading may
// have been joined, so its words count, not its cells.
func limitColumn(p *part) (column, columns int, ok bool) {
	if len(p.cells) < 2 || len(p.figuresIn(cell{0, len(p.tokens)})) > 0 {
		return 0, 0, false
	}
	columns = 1
	end := p.cells[0].to
	for _, c := range p.cues {
		isLimit := c.class == "buyback after column" || c.class == "buyback limit"
		if !isLimit && c.class != "buyback before column" && c.class != "buyback spent" || c.from < end {
			continue
		}
		end = c.to
		if isLimit {
			column = columns
			ok = true
		}
		columns++
	}
	return column, max(columns, len(p.cells)), ok && columns > 2
}

// addRowLimit adds the value of a row, if its label names a limit.
func (r *reading) addRowLimit(found *buybackLimits, t *table, row, n int, v *value.Value, limited bool) {
	p := &r.parts[row]
	label := p.cells[0]
	heading := r.headingOf(t, row, n, label)
	isShares := p.hasBetween(label.from, label.to, "buyback shares label")
	if text, ok := date(v); ok {
		if p.hasBetween(label.from, label.to, "buyback ends label") && r.mayEnd(text) {
			found.ends = append(found.ends, r.candidate(read{text: text}, row, v, cue{}))
		}
		return
	}
	if !limited {
		return
	}
	if c, ok := readPositive(p, v, heading); ok && !isShares {
		found.amounts = append(found.amounts, r.candidate(c, row, v, cue{}))
	}
	if c, ok := countPositive(p, v); ok && isShares {
		found.shares = append(found.shares, r.candidate(c, row, v, cue{}))
	}
}
