package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// column is the heading of a column of amounts.
type column struct {
	mention
	cell    int
	named   bool // it names a period
	current bool // "actual"
	total   bool // "acumulado"
	measure *ledgerItem
}

// titled divides a table that seems to continue on the next page at a line that titles another one:
// "Cuenta de resultados consolidada" behind the table of the company alone.
func (f *resultFinder) titled(t table) (divided []table) {
	from := 0
	for n := 1; n < len(t.rows); n++ {
		before := t.rows[n] - 1
		if before == t.rows[n-1] || !f.parts[before].has("results title", "results segment", "unit") {
			continue
		}
		divided = append(divided, table{rows: t.rows[from:n], before: t.before})
		t.before = before
		from = n
	}
	return append(divided, table{rows: t.rows[from:], before: t.before})
}

// findInTable finds the amounts of a table: a measure in the first cell of a row, and the
// periods in the heading; or the reverse.
func (f *resultFinder) findInTable(t *table) {
	first := t.rows[0]
	if f.scopes[first].segment || f.scopes[first].doubt || t.before >= 0 && f.parts[t.before].has("results segment") {
		return
	}
	var heading *part
	var columns []column
	net := -9
	for n, row := range t.rows {
		p := &f.parts[row]
		if p.aside || len(p.cells) > mostLabels || f.rows > mostRows {
			continue
		}
		if items := p.onlyMeasures(); items != nil {
			f.addBelow(t, n, items)
			continue
		}
		m, ok := p.rowMeasure()
		switch {
		case ok && m.field == "net_profit":
			net = n
		case !ok && n-net <= 3 && p.isAttributable():
			m, ok = ledgerItem{field: "net_profit"}, true
		case n-net <= 3 && p.hasBetween(0, p.cells[0].to, "results minority row") && p.hasNonZero():
			f.minority = true
		}
		if ok && f.isNoted(p, p.cells[0]) {
			continue
		}
		if ok {
			f.rows++
			if got, at, ok := f.inRow(t, row, heading, columns); ok {
				f.add(m, got, at)
			}
			continue
		}
		if found := f.columnsOf(p); len(found) > 0 {
			columns = joinLevels(columns, found)
			heading = p
			continue
		}
		if heading != nil && len(columns) > 0 && columns[0].measure != nil {
			f.rows++
			f.addColumns(t, row, heading, columns)
		}
	}
}

// joinLevels joins the headings of two rows, of which the upper one has the parts of the year, or
// the years, of groups of columns: "Tercer trimestre, Nueve meses" above "2026, 2025, 2026, 2025".
// All groups must have the same columns. Otherwise it returns the lower row.
func joinLevels(upper, lower []column) []column {
	first := 0
	if len(upper) > 0 && upper[0].cell == 0 && !upper[0].named {
		first = 1 // the heading of the labels
	}
	groups := upper[min(first, len(upper)):]
	start := 0
	if len(lower) > 0 && lower[0].cell == 0 && !lower[0].named {
		start = 1
	}
	rest := lower[start:]
	if len(groups) < 2 || len(rest) <= len(groups) || len(rest)%len(groups) != 0 {
		return lower
	}
	size := len(rest) / len(groups)
	joined := slices.Clone(lower)
	for n := range rest {
		top := groups[n/size]
		c := &joined[start+n]
		if !top.named || top.measure != nil || !sameHeading(rest[n], rest[n%size]) {
			return lower
		}
		if !c.named {
			continue // the change
		}
		switch {
		case top.year == 0 && top.part != "" && c.bare:
			c.part = top.part
			c.bare = false
		case top.bare && c.year == 0 && c.part != "":
			c.year = top.year
		default:
			return lower
		}
	}
	return joined
}

// sameHeading reports whether two columns of different groups have the same heading.
func sameHeading(a, b column) bool {
	return a.named == b.named && a.resultPeriod == b.resultPeriod && a.bare == b.bare && a.current == b.current &&
		a.measure == nil && b.measure == nil
}

// onlyMeasures returns the measures of a row that has one in each cell, and nothing else.
func (p *part) onlyMeasures() (items []ledgerItem) {
	if len(p.cells) < 2 || len(p.values) > 0 {
		return nil
	}
	for _, c := range p.cells {
		m, ok := p.labelMeasure(c)
		if !ok {
			return nil
		}
		items = append(items, m)
	}
	return items
}

// addBelow reads the row of amounts below a row of measures, if there is only one.
func (f *resultFinder) addBelow(t *table, n int, items []ledgerItem) {
	if n+1 >= len(t.rows) || f.strict {
		return
	}
	row := t.rows[n+1]
	amounts := func(k int) int {
		count := 0
		for _, c := range f.parts[k].cells {
			for _, v := range f.parts[k].figuresIn(c) {
				if v.Unit != "%" {
					count++
				}
			}
		}
		return count
	}
	if len(f.parts[row].cells) != len(items) || amounts(row) != len(items) ||
		n+2 < len(t.rows) && amounts(t.rows[n+2]) > 0 {
		return
	}
	f.rows++
	for k, m := range items {
		if got, at, ok := f.inCell(t, row, k, cell{}); ok {
			f.add(m, got, at)
		}
	}
}

// rowMeasure returns the measure that the first cell of a row names.
func (p *part) rowMeasure() (ledgerItem, bool) {
	label := p.cells[0]
	if len(p.cells) < 2 {
		return ledgerItem{}, false
	}
	return p.labelMeasure(label)
}

// isAttributable reports whether a row below the profit has the share of it that belongs
// to the shareholders of the company.
func (p *part) isAttributable() bool {
	label := p.cells[0]
	for _, c := range p.all("results attributable row") {
		if c.from < label.to && len(p.cells) > 1 &&
			p.isLabel(label.from, label.to, ledgerItem{from: c.from, to: c.to}) {
			return true
		}
	}
	return false
}

// hasNonZero reports whether a row has a figure that is not zero.
func (p *part) hasNonZero() bool {
	for k := range p.values {
		if v := &p.values[k]; p.isNumber(v) && v.Unit != "%" && v.Number.String() != "0" {
			return true
		}
	}
	return false
}

// labelMeasure returns the measure that a cell names, if it has no words that limit it.
func (p *part) labelMeasure(c cell) (ledgerItem, bool) {
	var found *ledgerItem
	for _, m := range p.measures() {
		if m.from >= c.to || m.to <= c.from {
			continue
		}
		if m.void || m.next || m.field == "" || found != nil && found.field != m.field {
			return ledgerItem{}, false
		}
		if found == nil {
			found = &m
			continue
		}
		found.both = found.both || found.loss != m.loss
		found.tier = min(found.tier, m.tier)
	}
	if found == nil || !p.isLabel(c.from, c.to, *found) {
		return ledgerItem{}, false
	}
	return *found, true
}

var measureFiller = lists.Set("measure filler")

// isLabel reports whether a range of tokens is only the name of a measure, with words
// that do not change what it means.
func (p *part) isLabel(from, to int, m ledgerItem) bool {
	isUnit := make([]bool, to-from)
	for _, c := range p.all("unit") {
		for k := max(c.from, from); k < min(c.to, to); k++ {
			isUnit[k-from] = true
		}
	}
	for k := from; k < to; k++ {
		if k >= m.from && k < m.to || isUnit[k-from] || p.word(k) == "" || measureFiller.Has(p.word(k)) {
			continue
		}
		if len(p.word(k)) == 1 { // a footnote
			continue
		}
		return false
	}
	return true
}

// columnsOf returns the columns that a row heads, or none if it heads no amounts.
func (f *resultFinder) columnsOf(p *part) (columns []column) {
	periods := p.mentions(0, len(p.tokens))
	for k := range p.values {
		v := &p.values[k]
		if isInMention(periods, v.From) { // 9M is not nine millions
			continue
		}
		if p.isNumber(v) && v.Unit != "%" && (v.Scaled() || v.Unit != "" && value.CurrencyCode(v.Unit) != "") {
			return nil
		}
	}
	named := false
	for n, c := range p.cells {
		if n == 0 && (p.isDateLabel(c) || len(p.cells) == 2 && p.hasBetween(c.from, c.to, "results other column")) {
			return nil
		}
		if m, ok := p.labelMeasure(c); ok && n > 0 {
			columns = append(columns, column{cell: n, measure: &m})
			named = true
			continue
		}
		found := f.columnsIn(p, n, c)
		for _, col := range found {
			named = named || col.named && n > 0 || col.current
		}
		columns = append(columns, found...)
	}
	if !named {
		return nil
	}
	return columns
}

func (p *part) isDateLabel(c cell) bool {
	for k := c.from; k < c.to; k++ {
		switch p.word(k) {
		case "fecha", "date", "data", "publicacion":
			return true
		}
	}
	return false
}

// columnsIn returns the columns that a cell heads: some texts have several headings in
// one cell.
func (f *resultFinder) columnsIn(p *part, n int, c cell) (columns []column) {
	mentions := p.mentions(c.from, c.to)
	for _, m := range mentions {
		columns = append(columns, column{mention: m, cell: n, named: true})
	}
	end := -1
	current := false
	for _, q := range p.cues {
		if q.from < c.from || q.from >= c.to || isInMention(mentions, q.from) {
			continue
		}
		switch q.class {
		case "results current column":
			current = true
		case "results other column":
			if q.from >= end && !(len(mentions) > 0 && p.isEarlierWord(q.from)) {
				columns = append(columns, column{mention: mention{from: q.from}, cell: n})
			}
			end = q.to + 1
		}
	}
	if len(columns) == 0 && current {
		columns = append(columns, column{cell: n, current: true, total: p.hasBetween(c.from, c.to, "results total column")})
	}
	if len(columns) == 0 && n > 0 {
		columns = append(columns, column{cell: n})
	}
	sortColumns(columns)
	return columns
}

// isEarlierWord reports whether a word says of a period that it is the earlier one:
// "Acumulado anterior 30/09/2025".
func (p *part) isEarlierWord(i int) bool {
	switch p.word(i) {
	case "anterior", "previous", "prior", "previa", "previo", "comparativa":
		return true
	}
	return false
}

// isInMention reports whether a token is part of a period.
func isInMention(all []mention, token int) bool {
	for _, m := range all {
		if token >= m.from && token < m.to {
			return true
		}
	}
	return false
}

func sortColumns(columns []column) {
	for i := 1; i < len(columns); i++ {
		for k := i; k > 0 && columns[k].from < columns[k-1].from; k-- {
			columns[k], columns[k-1] = columns[k-1], columns[k]
		}
	}
}

// inRow returns the amount of a row in the column of the period.
func (f *resultFinder) inRow(t *table, row int, heading *part, columns []column) (read, place, bool) {
	p := &f.parts[row]
	cell := -1
	switch {
	case len(columns) == 0 && f.strict, len(columns) > 0 && columns[0].measure != nil:
		return read{}, place{}, false
	case len(columns) == 0:
		cell = p.onlyAmount()
	case len(heading.cells) == len(p.cells) && isOnePerCell(columns):
		first := 0
		for first < len(columns) && columns[first].cell == 0 { // the label of the first column
			first++
		}
		if k, ok := f.currentColumn(columns, first); ok {
			cell = columns[k].cell
		}
	default:
		// the headings are not in cells of their own: count them
		first := 0
		if columns[0].cell == 0 && len(columns) != len(p.cells)-1 {
			for first < len(columns) && columns[first].cell == 0 {
				first++
			}
		}
		if len(columns)-first != len(p.cells)-1 {
			break
		}
		if k, ok := f.currentColumn(columns, first); ok {
			cell = k - first + 1
		}
	}
	if cell < 0 && len(columns) > 0 && f.lacksNote(heading, p) && isOnePerCell(columns) {
		first := 0
		for first < len(columns) && columns[first].cell == 0 {
			first++
		}
		if k, ok := f.currentColumn(columns, first); ok && columns[k].cell > 1 {
			cell = columns[k].cell - 1
		}
	}
	if cell < 1 || cell >= len(p.cells) {
		return read{}, place{}, false
	}
	return f.inCell(t, row, cell, p.cells[0])
}

// lacksNote reports whether a row has all cells of its heading but the number of a note in the
// second one. The first figure must be an amount: a row may have a note and no earlier
// amount.
func (f *resultFinder) lacksNote(heading, p *part) bool {
	if len(heading.cells) != len(p.cells)+1 || len(heading.cells) < 3 {
		return false
	}
	note := heading.cells[1]
	switch heading.word(note.from) {
	case "nota", "notas", "note", "notes", "ref":
	default:
		return false
	}
	const longestNote = 3 // digits
	for _, v := range p.figuresIn(p.cells[1]) {
		return len(p.mark(v.From)) > longestNote+1
	}
	return false
}

// inCell reads the only amount of a cell.
func (f *resultFinder) inCell(t *table, row, n int, label cell) (read, place, bool) {
	p := &f.parts[row]
	scale := f.headingOf(t, row, n, label)
	if scale == (value.Scale{}) {
		scale = f.unitAbove(t)
	}
	var found *value.Value
	for _, v := range p.valuesIn(p.cells[n].from, p.cells[n].to) {
		if !p.isNumber(v) || v.Unit == "%" {
			continue
		}
		if found != nil {
			return read{}, place{}, false
		}
		found = v
	}
	if found == nil {
		return read{}, place{}, false
	}
	got, ok := p.amount(found, scale)
	return got, f.placeOf(row, found), ok
}

// unitAbove returns the unit in the lines above a table.
func (f *resultFinder) unitAbove(t *table) value.Scale {
	for i := t.rows[0] - 1; i >= 0 && i >= t.rows[0]-4; i-- {
		p := &f.parts[i]
		for _, c := range p.all("unit") {
			if s, ok := value.ReadScale(p.tokens[c.from:min(c.to+8, len(p.tokens))], p.english); ok {
				return s
			}
		}
		if s, ok := p.scaleInBrackets(); ok {
			return s
		}
	}
	return value.Scale{}
}

// scaleInBrackets returns the unit that a line has in brackets: "(miles de €)", "(Euros)".
func (p *part) scaleInBrackets() (value.Scale, bool) {
	const longest = 8 // tokens
	open := -1
	for i := range p.tokens {
		switch {
		case p.mark(i) == "(":
			open = i
		case p.tokens[i].IsNumber():
			open = -1
		case p.mark(i) == ")" && open >= 0 && i-open <= longest:
			if s, ok := value.ReadScale(p.tokens[open+1:i], p.english); ok && s.Currency != "" && !s.PerShare {
				return s, true
			}
			open = -1
		}
	}
	return value.Scale{}, false
}

// onlyAmount returns the cell of a row with its only figure that is no percentage.
func (p *part) onlyAmount() int {
	found := -1
	for n := 1; n < len(p.cells); n++ {
		for _, v := range p.figuresIn(p.cells[n]) {
			if v.Unit == "%" || !p.isNumber(v) {
				continue
			}
			if found >= 0 {
				return -1
			}
			found = n
		}
	}
	return found
}

func isOnePerCell(columns []column) bool {
	for k := 1; k < len(columns); k++ {
		if columns[k].cell == columns[k-1].cell && columns[k].cell > 0 {
			return false
		}
	}
	return true
}

// currentColumn returns the column of the period of the document, from one on.
func (f *resultFinder) currentColumn(columns []column, from int) (int, bool) {
	exact, year, current, total := -1, -1, -1, -1
	exacts, years, currents, totals := 0, 0, 0, 0
	for k := from; k < len(columns); k++ {
		c := &columns[k]
		switch {
		case c.named && (!c.bare || f.period.part == "") && f.isCurrent(c.mention):
			exact = k
			exacts++
		case c.named && c.year == f.period.year:
			year = k
			years++
		case c.current:
			current = k
			currents++
			if c.total {
				total = k
				totals++
			}
		}
	}
	switch {
	case exacts == 1:
		return exact, true
	case exacts > 1:
		return 0, false
	case years == 1 && columns[year].bare:
		return year, !f.strict || f.period.part == ""
	case currents == 1:
		return current, true
	case totals == 1:
		return total, true
	}
	return 0, false
}

// addColumns reads a row of a table whose columns are measures: the row of the period.
func (f *resultFinder) addColumns(t *table, row int, heading *part, columns []column) {
	p := &f.parts[row]
	if len(p.cells) != len(heading.cells) {
		return
	}
	named := p.mentions(p.cells[0].from, p.cells[0].to)
	if len(named) != 1 {
		return
	}
	if m := named[0]; !f.isCurrent(m) && !(m.bare && m.year == f.period.year && !f.strict) {
		return
	}
	for _, c := range columns {
		if c.measure == nil {
			continue
		}
		if got, at, ok := f.inCell(t, row, c.cell, p.cells[0]); ok {
			f.add(*c.measure, got, at)
		}
	}
}
