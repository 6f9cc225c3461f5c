package fact

import (
	"math/big"
	"slices"
	"time"

	"pregon/internal/document/value"
)

// tradesGrid is a table of trades, a row for each day or each trade.
var tradesGrid = grid{
	columns: []class{
		"trade date", "trade venue", "trade shares", "trade price", "trade amount", "trade number", "trade text",
	},
	numbers: []class{"trade shares", "trade price", "trade amount", "trade number"},
	needed:  []class{"trade date", "trade shares"},
	anchor: func(v *value.Value) bool {
		return v.Kind == value.Date && v.Day > 0 && v.Month > 0 && v.Year > 0
	},
}

// trades is what a document says about purchases in a period.
type trades struct {
	periods []period
	days    []period // of sentences with one day
	shares  []candidate
	amounts []candidate
	rows    []record
	head    heading
}

// buybackTrades finds the purchases of own shares in a period, and the rows of their table
// if these add up to the stated total.
func buybackTrades(r *reading) []draft {
	if !r.reportsPurchases() || r.deniesTrades() {
		return nil
	}
	found := r.findTrades()
	byRows := len(found.periods) == 0
	if byRows {
		found.periods = periodOfRows(found.rows)
	}
	if _, _, ok := r.buybackEvent(); !ok && len(found.periods) == 0 {
		found.periods = found.days
	}
	d := newDraft()
	r.settleTotal(&found)
	stated := d.setAgreed("shares", found.shares)
	if !d.setPeriod(found.periods) || !stated && (len(found.shares) > 0 || !r.listsTrades(&found)) {
		return nil
	}
	if c, ok := agreed(found.amounts); ok {
		d.set("amount", c.text, c.at)
		d.set("currency", c.currency, c.at)
	}
	d.rows = r.tradeRows(&found, d.fields)
	if len(d.rows) == 0 && (!stated || byRows && len(found.rows) > 0) {
		return nil
	}
	if len(d.rows) == 1 && !stated {
		v := found.rows[0].fields["trade shares"]
		d.set("shares", d.rows[0]["shares"], r.placeOf(found.rows[0].part, v))
	}
	return []draft{d}
}

// deniesTrades reports whether a sentence says that nothing was bought in the period.
func (r *reading) deniesTrades() bool {
	return slices.ContainsFunc(r.parts, func(p part) bool { return p.cells == nil && !p.aside && p.has("no trades") })
}

// listsTrades reports whether a document without a total has a table of purchases: each row
// has a price, and the document says that they are purchases.
func (r *reading) listsTrades(found *trades) bool {
	for _, rec := range found.rows {
		if rec.fields["trade shares"] == nil || rec.fields["trade price"] == nil {
			return false
		}
	}
	said := slices.ContainsFunc(r.parts, func(p part) bool { return !p.aside && p.has("bought") })
	return said && len(found.rows) > 0
}

// settleTotal keeps the number of shares to which the rows add up, if the document states
// several: one of them is that of the whole programme.
func (r *reading) settleTotal(found *trades) {
	if _, ok := agreed(found.shares); ok || len(found.shares) == 0 || len(found.rows) == 0 {
		return
	}
	sum := new(big.Rat)
	for _, rec := range found.rows {
		v := rec.fields["trade shares"]
		if v == nil {
			return
		}
		c, ok := countPositive(&r.parts[rec.part], v)
		if !ok {
			return
		}
		n, _ := new(big.Rat).SetString(c.text)
		sum.Add(sum, n)
	}
	found.shares = slices.DeleteFunc(found.shares, func(c candidate) bool {
		n, ok := new(big.Rat).SetString(c.text)
		return !ok || n.Cmp(sum) != 0
	})
}

// periodOfRows returns the days of the first and the last trade, for a document that states
// no period.
func periodOfRows(rows []record) []period {
	var all period
	for _, rec := range rows {
		day, ok := date(rec.anchor)
		if !ok {
			return nil
		}
		at := place{rec.part, rec.anchor.From, rec.anchor.To}
		if all.from == "" || day < all.from {
			all.from = day
			all.start = at
		}
		if day > all.to {
			all.to = day
			all.close = at
		}
	}
	if all.from == "" {
		return nil
	}
	return []period{all}
}

// reportsPurchases reports whether a document is about purchases of own shares. Those of a
// liquidity contract are another kind of fact.
func (r *reading) reportsPurchases() bool {
	isOther := []class{"liquidity contract", "trades by others"}
	if r.title.has(isOther...) || r.category.has(isOther...) {
		return false
	}
	own := r.title.has("own shares") || r.category.has("own shares")
	for i := range r.parts {
		p := &r.parts[i]
		if p.heading && p.has("liquidity contract") || !p.aside && p.has("trades by others") {
			return false
		}
		own = own || !p.aside && p.has("own shares")
	}
	return own
}

// findTrades reads the sentences and tables of a document.
func (r *reading) findTrades() (found trades) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isTooLong() || p.has("possible", "policy", "example") {
			continue
		}
		if p.cells == nil && p.hasBetween(0, p.beforeResult(), "trades cumulative") {
			continue
		}
		if p.has("bought") || p.cells != nil || p.labelled("period before") {
			found.periods = append(found.periods, r.presentPeriods(i)...)
		}
		if p.cells == nil {
			r.addPurchases(&found, i)
		}
	}
	for n := range r.tables {
		t := &r.tables[n]
		if r.parts[t.rows[0]].aside {
			continue
		}
		found.periods = append(found.periods, r.periodsOfRows(t)...)
		rows, totals, head := r.records(&tradesGrid, t)
		if slices.ContainsFunc(rows, func(rec record) bool { return r.parts[rec.part].has("sold") }) {
			continue // purchases and sales
		}
		if len(rows) > 0 {
			if _, ok := head.scales["trade amount"]; !ok {
				head.scales["trade amount"] = r.unitBelow(t)
			}
			found.rows = append(found.rows, rows...)
			found.head = head
			r.addTotals(&found, totals)
		}
		r.addPurchaseRows(&found, t, rows)
	}
	return found
}

// unitBelow returns the unit that the line below a table states: "(Cifras en euros)".
func (r *reading) unitBelow(t *table) value.Scale {
	last := t.rows[len(t.rows)-1]
	if last+1 >= len(r.parts) || r.parts[last+1].page != r.parts[last].page {
		return value.Scale{}
	}
	p := &r.parts[last+1]
	const longest = 6
	for _, c := range p.all("unit") {
		end := min(c.to+longest, len(p.tokens))
		if s, ok := value.ReadScale(p.tokens[c.from:end], p.english); ok && c.from <= longest {
			return s
		}
	}
	return value.Scale{}
}

// addPurchases adds the number of shares and the amount that a sentence states.
func (r *reading) addPurchases(found *trades, i int) {
	p := &r.parts[i]
	if r.addPurchaseLine(found, i) {
		return
	}
	follows := i > 0 && r.parts[i-1].paragraph == p.paragraph && r.parts[i-1].has("bought") && p.has("total")
	end := min(p.beforePast(), p.beforeResult())
	if p.isOfPastYear(r.Published) || !p.has("bought") && !follows || p.hasBetween(0, end, "trades cumulative", "sold") {
		return
	}
	if day, ok := r.tradesDay(i); ok {
		found.days = append(found.days, day)
	}
	shares := false
	amount := false
	for k := range p.values {
		v := &p.values[k]
		if v.From >= end || shares && amount {
			break
		}
		if c, ok := countPositive(p, v); ok && !shares && p.countsShares(v) {
			found.shares = append(found.shares, r.candidate(c, i, v, cue{}))
			shares = true
			continue
		}
		c, ok := readPositive(p, v, value.Scale{})
		if !ok || v.Bound != "" || p.hasBetween(v.From-6, v.From, "trades price near", "buyback limit") {
			continue
		}
		if amount {
			continue
		}
		if shares || len(found.periods) > 0 && p.has("trades amount label") || len(r.presentPeriods(i)) > 0 {
			found.amounts = append(found.amounts, r.candidate(c, i, v, cue{}))
			amount = true
		}
	}
}

// isOfPastYear reports whether a sentence begins with an earlier year: "En 2025 se compraron".
func (p *part) isOfPastYear(published time.Time) bool {
	const beginning = 5 // tokens, such as "Durante el ejercicio"
	if len(p.values) == 0 || published.IsZero() {
		return false
	}
	first := &p.values[0]
	return first.IsYear() && first.From <= beginning && first.Year < published.Year()
}

// addPurchaseLine adds the value of a line with a label: "Importe total: 5.000 euros". It
// reports whether the part is such a line.
func (r *reading) addPurchaseLine(found *trades, i int) bool {
	p := &r.parts[i]
	if len(p.values) != 1 || len(p.tokens) > 16 || p.mark(p.values[0].From-1) != ":" && p.mark(p.values[0].From-2) != ":" {
		return false
	}
	v := &p.values[0]
	r.addPurchaseValue(found, nil, i, labelled{cell{0, v.From}, v})
	return true
}

// countsShares reports whether a figure is a number of shares: "5.000 acciones", "5,000 of
// its own shares".
func (p *part) countsShares(v *value.Value) bool {
	if v.Bound != "" {
		return false
	}
	return v.Unit == "share" || v.Unit == "security" ||
		v.Unit == "" && p.hasBetween(v.To, v.To+4, "buyback shares label") && len(p.valuesIn(v.To, v.To+4)) == 0 ||
		v.Unit == "" && p.namesNumber(v)
}

// namesNumber reports whether the words before a figure say that it is a number of shares:
// "el número total de acciones adquiridas asciende a 20.000".
func (p *part) namesNumber(v *value.Value) bool {
	const near = 10
	from := max(v.From-near, p.lastValueBefore(v))
	label, ok := firstCue(p.longest("trade shares"), from, v.From)
	if !ok || label.to-label.from < 3 {
		return false
	}
	return p.hasBetween(label.from, v.From, "bought") &&
		!p.hasBetween(label.to, v.From, "trades price near", "trades amount label", "trade number")
}

// beforeResult returns the token at which a sentence begins to state what results from the
// purchases, or its end: "…, con lo que la autocartera asciende a …".
func (p *part) beforeResult() int {
	end := len(p.tokens)
	for _, c := range p.all("trades consequence") {
		if p.mark(c.from-1) == "," || p.mark(c.from-1) == ";" {
			end = min(end, c.from)
		}
	}
	return end
}

// longestDelay is the most time between purchases on one day and their report.
const longestDelay = 10 * 24 * time.Hour

// tradesDay returns the day of the purchases of a sentence that has only one date.
func (r *reading) tradesDay(i int) (period, bool) {
	p := &r.parts[i]
	var day *value.Value
	for k := range p.values {
		if v := &p.values[k]; v.Kind == value.Date {
			if day != nil {
				return period{}, false
			}
			day = v
		}
	}
	if day == nil || !p.hasBetween(day.From-5, day.From, "trades day") ||
		p.hasBetween(day.From-8, day.From, "trades other day") {
		return period{}, false
	}
	near := p.hasBetween(day.From-10, day.To+10, "bought")
	if !near || p.has("buyback start", "buyback end", "buyback suspension", "buyback resumption", "buyback change") {
		return period{}, false
	}
	text, ok := date(day)
	if !ok || r.Published.IsZero() {
		return period{}, false
	}
	t, _ := time.Parse(time.DateOnly, text)
	if t.After(r.Published) || r.Published.Sub(t) > longestDelay {
		return period{}, false
	}
	at := place{i, day.From, day.To}
	return period{text, text, at, at}, true
}

// mostTotals is the most rows of totals that are read: each is compared with all rows.
const mostTotals = 40

// addTotals adds the totals of a table of trades.
func (r *reading) addTotals(found *trades, totals []record) {
	for _, rec := range totals[:min(len(totals), mostTotals)] {
		p := &r.parts[rec.part]
		v := rec.fields["trade shares"]
		if v == nil {
			v = r.firstFigure(found, rec)
		}
		if v == nil {
			continue
		}
		if c, ok := countPositive(p, v); ok {
			found.shares = append(found.shares, r.candidate(c, rec.part, v, cue{}))
		}
		amount := rec.fields["trade amount"]
		if amount == nil {
			amount = r.sumOfAmounts(found, rec)
		}
		if v := amount; v != nil {
			if c, ok := readPositive(p, v, found.head.scales["trade amount"]); ok {
				found.amounts = append(found.amounts, r.candidate(c, rec.part, v, cue{}))
			}
		}
	}
}

// sumOfAmounts returns the last figure of a row of totals, which lacks some columns, if the
// amounts of the rows add up to it.
func (r *reading) sumOfAmounts(found *trades, total record) *value.Value {
	sum := new(big.Rat)
	for _, rec := range found.rows {
		v := rec.fields["trade amount"]
		if v == nil {
			return nil
		}
		text, ok := decimal(v, 0)
		if !ok {
			return nil
		}
		n, _ := new(big.Rat).SetString(text)
		sum.Add(sum, n)
	}
	figures := r.parts[total.part].figuresIn(cell{total.from, total.to})
	if len(figures) < 2 {
		return nil
	}
	last := figures[len(figures)-1]
	text, ok := decimal(last, 0)
	n, isNumber := new(big.Rat).SetString(text)
	if !ok || !isNumber || n.Cmp(sum) != 0 || sum.Sign() == 0 {
		return nil
	}
	return last
}

// firstFigure returns the first figure of a row of totals, which lacks some columns, if the
// first column with figures is the number of shares.
func (r *reading) firstFigure(found *trades, rec record) *value.Value {
	for _, c := range found.head.columns {
		if !slices.Contains(tradesGrid.numbers, c) {
			continue
		}
		if c != "trade shares" {
			return nil
		}
		break
	}
	for _, v := range r.parts[rec.part].valuesIn(rec.from, rec.to) {
		if v.Kind == value.Figure {
			return v
		}
	}
	return nil
}

// addPurchaseRows adds the values of a form, a label and a value in each row, without the
// rows with trades.
func (r *reading) addPurchaseRows(found *trades, t *table, trades []record) {
	isTrade := map[int]bool{}
	for _, rec := range trades {
		isTrade[rec.part] = true
	}
	for _, row := range t.formRows() {
		p := &r.parts[row]
		if p.aside || p.isTooLong() || isTrade[row] {
			continue
		}
		for _, each := range p.labelledValues() {
			r.addPurchaseValue(found, t, row, each)
		}
	}
}

// addPurchaseValue adds a value of a form, if its label is that of the purchases.
func (r *reading) addPurchaseValue(found *trades, t *table, row int, each labelled) {
	p := &r.parts[row]
	v := each.value
	has := func(classes ...class) bool { return p.hasBetween(each.label.from, each.label.to, classes...) }
	if has("trades cumulative", "sold", "buyback limit", "trades price near", "past") {
		return
	}
	switch {
	case has("buyback shares label") && has("bought"):
		if c, ok := countPositive(p, v); ok {
			found.shares = append(found.shares, r.candidate(c, row, v, cue{}))
		}
	case has("trades amount label"):
		unit, _ := value.ReadScale(p.tokens[each.label.from:each.label.to], p.english)
		if p.cells != nil {
			unit = r.headingOf(t, row, 1, each.label)
		}
		if c, ok := readPositive(p, v, unit); ok {
			found.amounts = append(found.amounts, r.candidate(c, row, v, cue{}))
		}
	}
}

// tradeRows returns the rows of the tables of trades, if all are complete and add up to the
// totals.
func (r *reading) tradeRows(found *trades, fields map[string]string) (rows []map[string]string) {
	if found.head.scales["trade shares"].Currency != "" {
		return nil // a volume of money
	}
	shares := new(big.Rat)
	spent := new(big.Rat)
	rounding := new(big.Rat)
	priced := true
	venues := slices.Contains(found.head.columns, "trade venue")
	for _, rec := range found.rows {
		p := &r.parts[rec.part]
		day, ok := date(rec.anchor)
		count := rec.fields["trade shares"]
		text, isText := rec.texts["trade shares"]
		if count == nil && (onlyMarks(p, rec.from, rec.to) || isText && p.isDash(text)) {
			continue // a day without trades: "-"
		}
		if !ok || count == nil || day < fields["from"] || day > fields["to"] {
			return nil
		}
		n, ok := countPositive(p, count)
		if !ok {
			return nil
		}
		row := map[string]string{"date": day, "shares": n.text}
		number, _ := new(big.Rat).SetString(n.text)
		shares.Add(shares, number)
		if price := rec.fields["trade price"]; price != nil && !price.Scaled() {
			text, ok := decimal(price, 0)
			if !ok {
				return nil
			}
			row["price"] = text
			each, _ := new(big.Rat).SetString(text)
			spent.Add(spent, new(big.Rat).Mul(number, each))
			rounding.Add(rounding, new(big.Rat).Mul(number, lastDigit(p.tokens[price.From].Text)))
		} else {
			priced = false
		}
		if venue := r.venueOf(rec); venue != "" {
			row["venue"] = venue
		} else if venues {
			return nil
		}
		rows = append(rows, row)
	}
	if want, ok := new(big.Rat).SetString(fields["shares"]); ok && want.Cmp(shares) != 0 {
		return nil
	}
	if want, ok := new(big.Rat).SetString(fields["amount"]); ok && priced {
		difference := new(big.Rat).Sub(want, spent)
		if difference.Abs(difference).Cmp(rounding.Add(rounding, big.NewRat(1, 1))) > 0 {
			return nil
		}
	}
	return rows
}

// lastDigit returns the value of one unit of the last digit of a figure: 0.01 for 3,05.
func lastDigit(text string) *big.Rat {
	decimals := 0
	for k := len(text) - 1; k >= 0 && text[k] >= '0' && text[k] <= '9'; k-- {
		decimals++
	}
	if decimals == len(text) {
		decimals = 0
	}
	unit := big.NewRat(1, 1)
	for range min(decimals, 12) {
		unit.Mul(unit, big.NewRat(1, 10))
	}
	return unit
}

// venueOf returns where a trade was made: the cell of its column, or a code of four
// capitals.
func (r *reading) venueOf(rec record) string {
	p := &r.parts[rec.part]
	if c, ok := rec.texts["trade venue"]; ok && c.to > c.from {
		return p.text[p.tokens[c.from].At:p.tokens[c.to-1].End()]
	}
	for k := rec.from; k < rec.to; k++ {
		if isMarketCode(p.tokens[k].Text) {
			return p.tokens[k].Text
		}
	}
	return ""
}

// isMarketCode reports whether a word has the form of the code of a market, such as XMAD.
func isMarketCode(word string) bool {
	if len(word) != 4 {
		return false
	}
	for _, c := range word {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}
