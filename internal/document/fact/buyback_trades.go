package fact

import (
	"math/big"
	"slices"

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
	shares  []candidate
	amounts []candidate
	rows    []record
	head    heading
}

// buybackTrades finds the purchases of own shares in a period, and the rows of their table
// if these add up to the stated total.
func buybackTrades(r *reading) []draft {
	if !r.reportsPurchases() {
		return nil
	}
	found := r.findTrades()
	byRows := len(found.periods) == 0
	if byRows {
		found.periods = periodOfRows(found.rows)
	}
	d := newDraft()
	if !d.setPeriod(found.periods) || !d.setAgreed("shares", found.shares) {
		return nil
	}
	if c, ok := agreed(found.amounts); ok {
		d.set("amount", c.text, c.at)
		d.set("currency", c.currency, c.at)
	}
	d.rows = r.tradeRows(&found, d.fields)
	if byRows && len(d.rows) == 0 {
		return nil
	}
	return []draft{d}
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
	title := value.Tokenise(r.Title + " . " + r.Category)
	heads := part{tokens: title, cues: phrases.find(title)}
	if heads.has("liquidity contract") {
		return false
	}
	own := heads.has("own shares")
	for i := range r.parts {
		p := &r.parts[i]
		if p.heading && p.has("liquidity contract") {
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
		if p.cells == nil && p.has("trades cumulative") {
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
			found.rows = append(found.rows, rows...)
			found.head = head
			r.addTotals(&found, totals)
		}
		r.addPurchaseRows(&found, t, rows)
	}
	return found
}

// addPurchases adds the number of shares and the amount that a sentence states.
func (r *reading) addPurchases(found *trades, i int) {
	p := &r.parts[i]
	if r.addPurchaseLine(found, i) {
		return
	}
	follows := i > 0 && r.parts[i-1].paragraph == p.paragraph && r.parts[i-1].has("bought") && p.has("total")
	if !p.has("bought") && !follows || p.has("trades cumulative", "sold") {
		return
	}
	shares := false
	end := p.beforePast()
	for k := range p.values {
		v := &p.values[k]
		if v.From >= end {
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
		if shares || len(found.periods) > 0 && p.has("trades amount label") || len(r.presentPeriods(i)) > 0 {
			found.amounts = append(found.amounts, r.candidate(c, i, v, cue{}))
			break
		}
	}
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
		v.Unit == "" && p.hasBetween(v.To, v.To+4, "buyback shares label") && len(p.valuesIn(v.To, v.To+4)) == 0
}

// addTotals adds the totals of a table of trades.
func (r *reading) addTotals(found *trades, totals []record) {
	for _, rec := range totals {
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
		if v := rec.fields["trade amount"]; v != nil {
			if c, ok := readPositive(p, v, found.head.scales["trade amount"]); ok {
				found.amounts = append(found.amounts, r.candidate(c, rec.part, v, cue{}))
			}
		}
	}
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
		if count == nil && onlyMarks(p, rec.from, rec.to) {
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
	if want, ok := new(big.Rat).SetString(fields["shares"]); !ok || want.Cmp(shares) != 0 {
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
