package fact

import (
	"cmp"
	"math/big"
	"slices"

	"pregon/internal/document/value"
)

// mostTotals is the most rows of totals that are read: each is compared with all rows.
const mostTotals = 40

// addTotals adds the totals of a table of trades.
func (r *reading) addTotals(found *trades, totals []record) {
	for _, rec := range totals[:min(len(totals), mostTotals)] {
		p := &r.parts[rec.part]
		if p.has("trades cumulative") || !hasOnce(found.head.columns, "trade shares") {
			continue // of the whole programme, or of one of two classes of shares
		}
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
	if len(found.rows) > 0 && !hasOnce(found.head.columns, "trade shares") {
		return nil // a column for each class of shares
	}
	shares := new(big.Rat)
	spent := new(big.Rat)
	rounding := new(big.Rat)
	priced := true
	venues := slices.Contains(found.head.columns, "trade venue")
	only := ""
	if !venues {
		only = r.onlyVenue()
	}
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
		if venue := cmp.Or(r.venueOf(rec), only); venue != "" {
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
