package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// addLiquidityTable adds the values of a form, or of a table with a row for purchases, one
// for sales and one for each balance.
func (r *reading) addLiquidityTable(found *liquidity, t *table) {
	var columns []class
	var trades []class   // the columns of a table with one for purchases and one for sales
	var both []string    // the fields of the columns of a table with a row for each day
	var unit value.Scale // of the heading
	closing := -1        // the column of the closing balances
	present := 0         // the column of the document's period, beside one of another period
	for _, row := range t.formRows() {
		p := &r.parts[row]
		if n, ok := r.presentColumn(found, row); ok {
			present = n
			continue
		}
		if present > 0 && len(p.cells) == 3 && !p.aside {
			r.addPresentValue(found, t, row, present)
			continue
		}
		if p.aside || p.isTooLong() || p.has("past", "possible") {
			continue
		}
		if n, ok := found.closingDay(p); ok {
			closing = n
			both = nil
			trades = nil
			continue
		}
		if heads := bothColumns(p); heads != nil {
			both = heads
			continue
		}
		if both != nil && r.addTotalsOfBoth(found, row, both) {
			continue
		}
		if n, ok := closingColumn(p); ok {
			closing = n
			trades = nil
			continue
		}
		if closing >= 0 && len(p.cells) == 3 {
			r.addClosingRow(found, t, row, closing)
			continue
		}
		if heads := liquidityColumns(p); len(heads) > 1 {
			closing = -1
			trades = nil
			columns = heads
			unit = p.unitOfCells()
			unit.PerShare = false // "Acciones / Shares" are two languages
			continue
		}
		if heads := tradeColumns(p); len(heads) == 2 {
			trades = heads
			closing = -1
			continue
		}
		if len(trades) == 2 && r.addTradesRow(found, row, trades) {
			continue
		}
		if len(p.cells) > 2 {
			r.addLiquidityRow(found, row, columns, unit)
			continue
		}
		for _, each := range p.labelledValues() {
			unit := r.headingOf(t, row, p.cellOf(each.value.From), each.label)
			r.addLiquidityValue(found, row, each, "", unit)
		}
	}
}

// presentColumn returns the column of the document's period, if a row is the heading of a table
// with a column for it and one for an earlier period: "Concepto 2T 2026 1T 2026".
func (r *reading) presentColumn(found *liquidity, row int) (column int, ok bool) {
	p := &r.parts[row]
	const columns = 3
	shift := columns - len(p.cells) // the cell above the labels may be empty
	if shift != 0 && (shift != 1 || len(r.quartersOf(row)) != 2) ||
		p.has("liquidity bought", "liquidity sold", "liquidity opening", "liquidity closing") {
		return 0, false
	}
	if len(p.figuresIn(cell{0, len(p.tokens)})) > 0 || len(found.periods) == 0 {
		return 0, false
	}
	isPresent := map[int]bool{}
	isOther := map[int]bool{}
	for _, of := range r.quartersOf(row) {
		n := p.cellOf(of.start.from) + shift
		same := of.from == found.periods[0].from && of.to == found.periods[0].to
		isPresent[n] = same
		isOther[n] = !same
	}
	for n := 1; n < columns; n++ {
		c := p.cells[n-shift]
		isOther[n] = isOther[n] || p.hasBetween(c.from, c.to, "past")
		isPresent[n] = !isOther[n] && (isPresent[n] || p.hasBetween(c.from, c.to, "liquidity present"))
	}
	switch {
	case isPresent[1] && isOther[2]:
		return 1, true
	case isPresent[2] && isOther[1]:
		return 2, true
	}
	return 0, false
}

// addPresentValue adds the value of a row in the column of the document's period.
func (r *reading) addPresentValue(found *liquidity, t *table, row, column int) {
	p := &r.parts[row]
	values := p.figuresIn(p.cells[column])
	if p.isTooLong() || len(values) != 1 {
		return
	}
	r.addLiquidityValue(found, row, labelled{p.cells[0], values[0]}, "", r.headingOf(t, row, column, p.cells[0]))
}

// hasNumbers reports whether a row has figures or dates, so that it is no heading. Text
// recognition makes codes of words: "C0NCEPTO".
func (p *part) hasNumbers() bool {
	return slices.ContainsFunc(p.values, func(v value.Value) bool { return v.Kind != value.Code })
}

// closingColumn returns the column of the closing balances, of the two behind the labels, if a
// row is the heading of a table with opening and closing balances.
func closingColumn(p *part) (column int, ok bool) {
	if p.hasNumbers() || p.has("liquidity bought", "liquidity sold") {
		return 0, false
	}
	opening, okOpening := firstCue(p.all("liquidity opening"), 0, len(p.tokens))
	closing, okClosing := firstCue(p.all("liquidity closing"), 0, len(p.tokens))
	if !okOpening || !okClosing || len(p.cells) > 3 || p.cellOf(opening.from) == p.cellOf(closing.from) {
		return 0, false
	}
	if opening.from < closing.from {
		return 2, true
	}
	return 1, true
}

// closingDay returns the column of the closing balances, of the two behind the labels, if a row
// is a heading with two days of which one is the last of the period: "Saldos 31/12/2025
// 31/03/2026".
func (l *liquidity) closingDay(p *part) (column int, ok bool) {
	if len(p.values) != 2 || len(p.cells) < 2 || len(p.cells) > 3 || p.has("liquidity bought", "liquidity sold") {
		return 0, false
	}
	first := len(p.cells) - 2 // the cell of the first day; the one before it may be empty
	if !p.isDayCell(first, &p.values[0]) || !p.isDayCell(first+1, &p.values[1]) {
		return 0, false
	}
	if l.endsOn(&p.values[0]) == l.endsOn(&p.values[1]) {
		return 0, false
	}
	if l.endsOn(&p.values[1]) {
		return 2, true
	}
	return 1, true
}

// isDayCell reports whether a cell is a day.
func (p *part) isDayCell(n int, v *value.Value) bool {
	return v.Kind == value.Date && v.Day > 0 && p.cellOf(v.From) == n && p.cells[n].to-p.cells[n].from <= v.To-v.From+2
}

// addClosingRow adds the closing balance of a row with two balances.
func (r *reading) addClosingRow(found *liquidity, t *table, row, column int) {
	p := &r.parts[row]
	label := p.cells[0]
	values := p.figuresIn(p.cells[column])
	if len(values) != 1 || p.hasBetween(label.from, label.to, "liquidity operations", "liquidity price") {
		return
	}
	cash := p.hasBetween(label.from, label.to, "liquidity cash")
	shares := p.hasBetween(label.from, label.to, "liquidity shares")
	if cash {
		if c, ok := readPositive(p, values[0], r.headingOf(t, row, column, label)); ok {
			found.add("balance_cash", r.candidate(c, row, values[0], cue{}))
		}
	} else if shares {
		if c, ok := countPositive(p, values[0]); ok {
			found.add("balance_shares", r.candidate(c, row, values[0], cue{}))
		}
	}
}

// bothColumns returns the fields of the columns behind the first, "" for those of amounts, if
// a heading has columns for purchases and for sales, some of them of shares.
func bothColumns(p *part) []string {
	if len(p.cells) < 3 || p.hasNumbers() || !p.has("liquidity shares") {
		return nil
	}
	fields := make([]string, 0, len(p.cells)-1)
	for _, c := range p.cells[1:] {
		bought := p.hasBetween(c.from, c.to, "liquidity bought")
		sold := p.hasBetween(c.from, c.to, "liquidity sold")
		if bought == sold {
			return nil
		}
		isShares := p.hasBetween(c.from, c.to, "liquidity shares") &&
			!p.hasBetween(c.from, c.to, "liquidity cash", "liquidity price", "liquidity operations")
		switch {
		case isShares && bought:
			fields = append(fields, "bought")
		case isShares:
			fields = append(fields, "sold")
		default:
			fields = append(fields, "")
		}
	}
	return fields
}

// addTotalsOfBoth adds the totals of a table with columns for purchases and for sales. It
// reports whether the row is one of such a table.
func (r *reading) addTotalsOfBoth(found *liquidity, row int, fields []string) bool {
	p := &r.parts[row]
	values := p.valuesIn(p.cells[0].to, len(p.tokens))
	if len(values) != len(fields) {
		return false
	}
	if !p.hasBetween(0, p.cells[0].to, "total") {
		return true
	}
	for n, v := range values {
		if c, ok := countPositive(p, v); ok && fields[n] != "" {
			found.add(fields[n], r.candidate(c, row, v, cue{}))
		}
	}
	return true
}

// tradeColumns returns the columns of a heading with one for purchases and one for sales.
func tradeColumns(p *part) (columns []class) {
	if p.hasNumbers() || p.has("liquidity shares", "liquidity cash") {
		return nil
	}
	for _, c := range longestCues(p, 0, len(p.tokens), []class{"liquidity bought", "liquidity sold"}) {
		if !slices.Contains(columns, c.class) {
			columns = append(columns, c.class)
		}
	}
	return columns
}

// addTradesRow adds the numbers of shares of a row with a figure for purchases and one for
// sales. It reports whether the row is one of such a table.
func (r *reading) addTradesRow(found *liquidity, row int, columns []class) bool {
	p := &r.parts[row]
	label := p.cells[0]
	values := p.valuesIn(label.to, len(p.tokens))
	if len(values) != 2 || len(p.cells) != 3 {
		return false
	}
	isShares := p.hasBetween(label.from, label.to, "liquidity shares") &&
		!p.hasBetween(label.from, label.to, "liquidity cash", "liquidity operations", "liquidity price", "liquidity closing",
			"liquidity balance")
	for n, v := range values {
		name := map[class]string{"liquidity bought": "bought", "liquidity sold": "sold"}[columns[n]]
		if c, ok := countPositive(p, v); ok && isShares {
			found.add(name, r.candidate(c, row, v, cue{}))
		}
	}
	return true
}

// liquidityColumns returns the columns of a heading.
func liquidityColumns(p *part) (columns []class) {
	if p.hasNumbers() {
		return nil
	}
	classes := []class{"liquidity operations", "liquidity shares", "liquidity cash", "liquidity price"}
	var last cue
	for _, c := range longestCues(p, 0, len(p.tokens), classes) {
		unit := c.class == "liquidity cash" && last.class != "" && p.mark(c.from-1) == "(" // Importe (euros)
		same := c.class == last.class && onlyMarks(p, last.to, c.from)
		if !unit && !same {
			columns = append(columns, c.class)
		}
		last = c
	}
	return columns
}

// columnsOfUnits returns the columns of a row without a heading whose figures have units:
// "Compras 22.140 acciones 148.560,12 euros".
func columnsOfUnits(figures []*value.Value) (columns []class) {
	const both = 2
	if len(figures) != both {
		return nil
	}
	isShares := figures[0].Unit == "share" || figures[0].Unit == "security"
	if !isShares || value.CurrencyCode(figures[1].Unit) == "" {
		return nil
	}
	return []class{"liquidity shares", "liquidity cash"}
}

// unitOfCells returns the unit of a heading, or that of its only cell with one.
func (p *part) unitOfCells() value.Scale {
	unit, ok := value.ReadScale(p.tokens, p.english)
	if ok {
		return unit
	}
	for _, c := range p.cells {
		if s, ok := value.ReadScale(p.tokens[c.from:c.to], p.english); ok && s.Currency != "" {
			if unit.Currency != "" {
				return value.Scale{}
			}
			unit = s
		}
	}
	return unit
}

// addLiquidityRow adds the values of a row with a label and a figure in each column.
func (r *reading) addLiquidityRow(found *liquidity, row int, columns []class, unit value.Scale) {
	p := &r.parts[row]
	label := p.cells[0]
	var figures []*value.Value
	for _, v := range p.valuesIn(label.to, len(p.tokens)) {
		if v.Kind == value.Figure {
			figures = append(figures, v)
		}
	}
	if len(columns) == 0 {
		columns = columnsOfUnits(figures)
	}
	if len(figures) != len(columns) {
		return
	}
	for n, v := range figures {
		if columns[n] == "liquidity shares" || columns[n] == "liquidity cash" {
			r.addLiquidityValue(found, row, labelled{label, v}, columns[n], unit)
		}
	}
}

// addLiquidityValue adds a value with its label. The column tells shares from cash, or else
// the label does.
func (r *reading) addLiquidityValue(found *liquidity, row int, each labelled, column class, unit value.Scale) {
	p := &r.parts[row]
	v := each.value
	has := func(classes ...class) bool { return p.hasBetween(each.label.from, each.label.to, classes...) }
	if has("liquidity opening", "liquidity operations", "liquidity price") || found.isOtherDay(p, each.label) {
		return
	}
	names := map[bool]string{true: "balance_shares", false: "balance_cash"}
	isShares := column == "liquidity shares" || column == "" && has("liquidity shares") && !has("liquidity cash")
	isCash := column == "liquidity cash" || column == "" && has("liquidity cash")
	name := ""
	switch {
	case has("liquidity closing", "liquidity balance"):
		name = names[isShares]
	case has("liquidity bought") && !has("liquidity sold"):
		name = "bought"
	case has("liquidity sold") && !has("liquidity bought"):
		name = "sold"
	}
	if name == "balance_cash" {
		if c, ok := readPositive(p, v, unit); ok && isCash {
			found.add(name, r.candidate(c, row, v, cue{}))
		}
		return
	}
	plain := *v
	plain.Negative = v.Negative && name != "sold" // brackets say that sales reduce the balance
	if c, ok := countPositive(p, &plain); ok && name != "" && isShares {
		found.add(name, r.candidate(c, row, v, cue{}))
	}
}
