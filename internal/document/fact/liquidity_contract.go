package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// liquidity is what a document says about the trades under a liquidity contract.
type liquidity struct {
	periods []period
	fields  map[string][]candidate
	unit    *value.Scale // see onlyCurrency; nil while it was not needed
}

// add adds a candidate for a field.
func (l *liquidity) add(name string, c candidate) { l.fields[name] = append(l.fields[name], c) }

// liquidityContracts finds the shares that were bought and sold under a liquidity contract
// in a period, and the balances at its end.
func liquidityContracts(r *reading) []draft {
	if !r.namesLiquidity() {
		return nil
	}
	found := liquidity{fields: map[string][]candidate{}}
	var quarters []period
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isTooLong() || p.has("possible", "example", "policy") {
			continue
		}
		if !p.isPeriodRow() {
			found.periods = append(found.periods, r.presentPeriods(i)...)
		}
		if !p.has("past") {
			quarters = append(quarters, r.quartersOf(i)...)
		}
	}
	for n := range r.tables {
		found.periods = append(found.periods, r.periodsOfRows(&r.tables[n])...)
	}
	if len(found.periods) == 0 {
		found.periods = quarters
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.cells == nil && !p.aside && !p.isTooLong() && !p.has("possible", "example", "policy") {
			r.addLiquiditySentence(&found, i)
		}
	}
	for n := range r.tables {
		if !r.addLiquidityPeriods(&found, &r.tables[n]) {
			r.addLiquidityTable(&found, &r.tables[n])
		}
	}
	d := newDraft()
	bought := d.setAgreed("bought", found.fields["bought"])
	sold := d.setAgreed("sold", found.fields["sold"])
	if !d.setPeriod(found.periods) || !bought && !sold {
		return nil
	}
	d.setAgreed("balance_shares", found.fields["balance_shares"])
	if c, ok := agreed(found.fields["balance_cash"]); ok {
		d.set("balance_cash", c.text, c.at)
		d.set("currency", c.currency, c.at)
	}
	return []draft{d}
}

// namesLiquidity reports whether a document is about a liquidity contract: its title or a
// heading says so, or a sentence with purchases or sales.
func (r *reading) namesLiquidity() bool {
	if r.title.has("liquidity contract") {
		return true
	}
	return slices.ContainsFunc(r.parts, func(p part) bool {
		return !p.aside && p.has("liquidity contract") && (p.heading || p.has("liquidity bought", "liquidity sold"))
	})
}

// addLiquiditySentence adds the values of a sentence.
func (r *reading) addLiquiditySentence(found *liquidity, i int) {
	p := &r.parts[i]
	counts := p.has("liquidity operations") // "120 operaciones de compra por un total de 8.000 acciones"
	if !counts && r.addLiquidityLine(found, i) {
		return
	}
	end := p.beforePast()
	for k := range p.values {
		v := &p.values[k]
		if v.From >= end {
			break
		}
		isShares := v.Unit == "share" || v.Unit == "security"
		if v.Kind != value.Figure || v.Bound != "" || p.isEarlierOfTwo(k) || counts && !isShares {
			continue
		}
		last := -1 // the end of the value before
		if k > 0 {
			last = p.values[k-1].To
		}
		if c, ok := countPositive(p, v); ok {
			if name := p.liquidityTrade(v, last); name != "" {
				found.add(name, r.candidate(c, i, v, cue{}))
			} else if v.Unit == "share" || v.Unit == "security" {
				if found.isClosing(p, k) {
					found.add("balance_shares", r.candidate(c, i, v, cue{}))
				}
			}
		}
		if c, ok := readPositive(p, v, value.Scale{}); ok && found.isClosing(p, k) {
			found.add("balance_cash", r.candidate(c, i, v, cue{}))
		}
	}
}

// isEarlierOfTwo reports whether a figure is the first of "de 500 a 700", "from €5 to €7".
func (p *part) isEarlierOfTwo(k int) bool {
	if k+1 >= len(p.values) || p.values[k+1].Kind != value.Figure || p.values[k+1].From-p.values[k].To > 3 {
		return false
	}
	for i := p.values[k].To; i < p.values[k+1].From; i++ {
		switch p.word(i) {
		case "a", "to":
			return true
		}
	}
	return false
}

// liquidityTrade returns the field of a number of shares: that of the verb behind it in the
// passive ("5,000 shares were sold"), or else of the last verb before it.
func (p *part) liquidityTrade(v *value.Value, last int) string {
	isShares := v.Unit == "share" || v.Unit == "security"
	for k := v.To; k < min(v.To+5, len(p.tokens)); k++ {
		if name := p.tradeAt(k); name != "" && !isShares && k == v.To {
			return "" // "150 compras" is a number of trades
		} else if name != "" {
			return name
		}
		if !isAuxiliary(p.word(k)) {
			break
		}
	}
	for k := v.From - 1; k >= max(0, last, v.From-12); k-- {
		if name := p.tradeAt(k); name != "" && (isShares || v.From-k <= 4) {
			return name
		}
		if p.mark(k) == ";" || p.hasBetween(k, k+1, "liquidity closing", "liquidity balance", "liquidity opening") {
			break
		}
	}
	return ""
}

// tradeAt returns the field that a word at a token announces.
func (p *part) tradeAt(k int) string {
	switch {
	case p.hasBetween(k, k+1, "liquidity bought"):
		return "bought"
	case p.hasBetween(k, k+1, "liquidity sold"):
		return "sold"
	}
	return ""
}

// isAuxiliary reports whether a word may stand between a number of shares and its verb in
// the passive.
func isAuxiliary(w string) bool {
	switch w {
	case "were", "was", "have", "has", "had", "been", "fueron", "han", "sido", "acciones", "shares", "titulos", "own",
		"propias", "accions", "van", "ser":
		return true
	}
	return false
}

// addLiquidityLine adds the value of a line with a label: "Saldo final de acciones: 5.200".
// It reports whether the part is such a line.
func (r *reading) addLiquidityLine(found *liquidity, i int) bool {
	p := &r.parts[i]
	const longest = 24
	if len(p.values) == 0 || len(p.tokens) > longest {
		return false
	}
	n := len(p.values) - 1
	v := &p.values[n]
	colon := p.mark(v.From-1) == ":" || p.mark(v.From-2) == ":"
	for k := range n {
		colon = colon && p.values[k].Kind == value.Date && p.values[k].To < v.From
	}
	if !colon || v.Kind != value.Figure {
		return false
	}
	if n > 0 && !found.endsOn(&p.values[n-1]) {
		return true // a balance of another day
	}
	unit, _ := value.ReadScale(p.tokens[:v.From], p.english)
	column := class("")
	switch {
	case v.Unit == "share" || v.Unit == "security":
		column = "liquidity shares"
	case value.CurrencyCode(v.Unit) != "":
		column = "liquidity cash"
	}
	r.addLiquidityValue(found, i, labelled{cell{0, v.From}, v}, column, unit)
	return true
}

// endsOn reports whether a date is the last day of the period.
func (l *liquidity) endsOn(v *value.Value) bool {
	text, ok := date(v)
	return ok && len(l.periods) > 0 && l.periods[0].to == text
}

// isOtherDay reports whether a label has a day that is not the last one of the period: "Saldo a
// 1 de enero de 2026".
func (l *liquidity) isOtherDay(p *part, label cell) bool {
	return slices.ContainsFunc(p.valuesIn(label.from, label.to), func(v *value.Value) bool {
		return v.Kind == value.Date && v.Day > 0 && !l.endsOn(v)
	})
}

// isClosing reports whether a figure of a sentence is a balance at the end of the period:
// the last cue before it is not an opening, a purchase or a sale.
func (l *liquidity) isClosing(p *part, k int) bool {
	v := &p.values[k]
	closing := false
	opening := false
	from := 0
	if day := p.dateBehind(k); day != nil {
		if !l.endsOn(day) {
			return false
		}
	} else if day := p.dateBefore(k); day != nil {
		if !l.endsOn(day) {
			return false
		}
		closing = p.hasBetween(day.To, v.From, "liquidity account")
		from = day.To
	}
	for _, c := range p.cues {
		if c.from >= v.From {
			break
		}
		switch c.class {
		case "liquidity closing":
			closing = true
			opening = false
		case "liquidity balance":
			closing = closing || !opening
		case "liquidity opening":
			opening = true
			closing = false
		case "liquidity bought", "liquidity sold", "liquidity price":
			if c.from >= from {
				closing = false
			}
		}
	}
	for _, c := range p.all("liquidity opening") { // "saldo inicial" is a "saldo"
		if c.from < v.From && !p.hasBetween(c.to, v.From, "liquidity closing") {
			return false
		}
	}
	return closing
}

// dateBehind returns the date directly behind a value, or nil: "50.000 acciones a 1 de julio".
func (p *part) dateBehind(k int) *value.Value {
	const near = 4
	if k+1 >= len(p.values) || p.values[k+1].Kind != value.Date || p.values[k+1].Day == 0 {
		return nil
	}
	next := &p.values[k+1]
	for i := p.values[k].To; i < next.From; i++ {
		if isClauseMark(p.mark(i)) || p.word(i) == "y" || p.word(i) == "and" || p.word(i) == "i" {
			return nil
		}
	}
	if next.From-p.values[k].To > near {
		return nil
	}
	return next
}

// dateBefore returns the last date before a value in its sentence, or nil.
func (p *part) dateBefore(k int) *value.Value {
	for n := k - 1; n >= 0; n-- {
		if p.values[n].Kind == value.Date && p.values[n].Day > 0 {
			return &p.values[n]
		}
	}
	return nil
}

// addLiquidityTable adds the values of a form, or of a table with a row for purchases, one
// for sales and one for each balance.
func (r *reading) addLiquidityTable(found *liquidity, t *table) {
	var columns []class
	var trades []class   // the columns of a table with one for purchases and one for sales
	var both []string    // the fields of the columns of a table with a row for each day
	var unit value.Scale // of the heading
	closing := -1        // the column of the closing balances
	for _, row := range t.formRows() {
		p := &r.parts[row]
		if p.aside || p.isTooLong() || p.has("past", "possible") {
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
			unit, _ = value.ReadScale(p.tokens, p.english)
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
	if c, ok := countPositive(p, v); ok && name != "" && isShares {
		found.add(name, r.candidate(c, row, v, cue{}))
	}
}
