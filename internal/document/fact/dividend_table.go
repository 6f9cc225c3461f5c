package fact

import (
	"slices"

	"pregon/internal/document/value"
)

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
		case v.Kind == value.Figure &&
			(p.cellOf(v.From) > 0 || head.hasBetween(0, head.cells[0].to, "gross", "net of tax")):
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
		if from == 0 && p.skipsCell(v) {
			continue
		}
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

// skipsCell reports whether a cell without a value stands between the label of a row and its
// first value: "Dividendo preferente | – | 0,01". The value is not for all.
func (p *part) skipsCell(v *value.Value) bool {
	k := p.cellOf(v.From)
	return k > 1 && p.cells[k-1].to-p.cells[k-1].from == 1 && p.word(p.cells[k-1].from) == ""
}

// unnamed reports whether no word names the value behind a range of tokens.
func (r *reading) unnamed(p *part, from, to int) bool {
	return !slices.ContainsFunc(p.tokens[from:to], func(t value.Token) bool {
		return len(t.Folded) > 2 && !t.IsNumber()
	})
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
