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
	oneColumn: func(p *part, c cell, cues []cue) (class, bool) {
		if len(cues) != 1 || cues[0].class != "trade shares" {
			return "", false
		}
		unit, ok := value.ReadScale(p.tokens[c.from:c.to], p.english)
		return "trade amount", ok && unit.Currency != "" // "Volumen (€)"
	},
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
	loose   []candidate // amounts of sentences that name no period
	rows    []record
	head    heading
	tables  []tradeTable
	listed  bool // the rows are those of sentences
}

// tradeTable is one of the tables with trades.
type tradeTable struct {
	rows []record
	head heading
}

// buybackTrades finds the purchases of own shares in a period, and the rows of their table
// if these add up to the stated total.
func buybackTrades(r *reading) []draft {
	if !r.reportsPurchases() || r.deniesTrades() || r.isGuide() {
		return nil
	}
	found := r.findTrades()
	r.addListedTrades(&found)
	byRows := len(found.periods) == 0
	if byRows {
		found.periods = periodOfRows(found.rows)
	}
	if _, _, ok := r.buybackEvent(); !ok && len(found.periods) == 0 {
		found.periods = found.days
	}
	d := newDraft()
	r.settleTotal(&found)
	r.proveTotal(&found)
	if found.listed && byRows && len(found.shares) == 0 {
		return nil // days of which nothing says that they are all
	}
	stated := d.setAgreed("shares", found.shares)
	if !d.setPeriod(found.periods) || r.isLongOver(d.fields["to"]) || r.tellsPurchases(&found) ||
		!stated && (len(found.shares) > 0 || !r.listsTrades(&found)) {
		return nil
	}
	if c, ok := agreed(found.amounts); ok {
		d.setPurchaseAmount(c)
	}
	r.keepTableOfTotal(&found, d.fields["shares"])
	d.rows = r.tradeRows(&found, d.fields)
	r.setAmountOfRows(&d, &found)
	if len(d.rows) == 0 && (!stated || byRows && len(found.rows) > 0) {
		return nil
	}
	if len(d.rows) == 1 && !stated {
		v := found.rows[0].fields["trade shares"]
		d.set("shares", d.rows[0]["shares"], r.placeOf(found.rows[0].part, v))
	}
	return []draft{d}
}

// setPurchaseAmount sets what the purchases cost.
func (d *draft) setPurchaseAmount(c candidate) {
	d.set("amount", c.text, c.at)
	d.set("currency", c.currency, c.at)
}

// setAmountOfRows sets the amount of a document of which it is not known, if the rows prove it.
func (r *reading) setAmountOfRows(d *draft, found *trades) {
	if len(d.rows) == 0 {
		return
	}
	if c, ok := agreed(found.loose); ok && len(found.amounts) == 0 && isSpent(d.rows, c.text) {
		d.setPurchaseAmount(c)
	}
	if d.fields["amount"] != "" {
		return
	}
	if c, ok := r.proveAmount(found); ok {
		d.setPurchaseAmount(c)
	}
}

// listsTrades reports whether a document without a total has a table of purchases: each row
// has a price, and the document says that they are purchases.
func (r *reading) listsTrades(found *trades) bool {
	for _, rec := range found.rows {
		if rec.fields["trade shares"] == nil || rec.fields["trade price"] == nil {
			return false
		}
	}
	said := anyPart(r.parts, func(p *part) bool { return !p.aside && p.has("bought") })
	return said && len(found.rows) > 0
}

// settleTotal keeps the number of shares to which the rows add up, if the document states
// several: one of them is that of the whole programme.
func (r *reading) settleTotal(found *trades) {
	if _, ok := agreed(found.shares); ok || len(found.shares) == 0 || len(found.rows) == 0 {
		return
	}
	sum, ok := r.sumOfShares(found.rows)
	if !ok {
		return
	}
	isOther := map[int]bool{} // the sentences with another number, whose amount is another too
	found.shares = slices.DeleteFunc(found.shares, func(c candidate) bool {
		n, ok := new(big.Rat).SetString(c.text)
		if ok && n.Cmp(sum) == 0 {
			return false
		}
		isOther[c.at.part] = true
		return true
	})
	ofOther := func(c candidate) bool { return isOther[c.at.part] }
	found.amounts = slices.DeleteFunc(found.amounts, ofOther)
	found.loose = slices.DeleteFunc(found.loose, ofOther)
}

// sumOfShares returns the number of shares of some rows, if all have one.
func (r *reading) sumOfShares(rows []record) (sum *big.Rat, ok bool) {
	sum = new(big.Rat)
	for _, rec := range rows {
		v := rec.fields["trade shares"]
		if v == nil {
			return nil, false
		}
		c, ok := countPositive(&r.parts[rec.part], v)
		if !ok {
			return nil, false
		}
		n, _ := new(big.Rat).SetString(c.text)
		sum.Add(sum, n)
	}
	return sum, true
}

// keepTableOfTotal keeps the only table whose rows add up to the stated number of shares, if
// those of all tables do not: an annex lists the same purchases one by one, or another table
// those of an earlier week.
func (r *reading) keepTableOfTotal(found *trades, total string) {
	want, ok := new(big.Rat).SetString(total)
	if !ok || len(found.tables) < 2 {
		return
	}
	if sum, ok := r.sumOfShares(found.rows); ok && sum.Cmp(want) == 0 {
		return
	}
	var fits []tradeTable
	for _, t := range found.tables {
		if sum, ok := r.sumOfShares(t.rows); ok && sum.Cmp(want) == 0 {
			fits = append(fits, t)
		}
	}
	if len(fits) == 1 {
		found.rows = fits[0].rows
		found.head = fits[0].head
	}
}

// isSpent reports whether an amount is what the purchases of some rows cost, but for the
// rounding of prices.
func isSpent(rows []map[string]string, amount string) bool {
	want, ok := new(big.Rat).SetString(amount)
	if !ok || len(rows) == 0 {
		return false
	}
	left := new(big.Rat).Set(want)
	for _, row := range rows {
		shares, okShares := new(big.Rat).SetString(row["shares"])
		price, okPrice := new(big.Rat).SetString(row["price"])
		if !okShares || !okPrice {
			return false
		}
		left.Sub(left, shares.Mul(shares, price))
	}
	most := want.Mul(want, big.NewRat(1, 1000))
	return left.Abs(left).Cmp(most) <= 0
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
		if p.aside || p.isTooLong() || p.isQuestion() || p.has("possible", "policy", "example", "as reference") {
			continue
		}
		if p.cells == nil && p.hasBetween(0, p.beforeResult(), "trades cumulative") {
			continue
		}
		if r.isOthersPurchase(p) || len(found.shares) > 0 && r.isOfEndedProgramme(i) {
			continue
		}
		if p.has("bought") || p.cells != nil || p.labelled("period before") {
			found.periods = append(found.periods, r.presentPeriods(i)...)
		}
		if p.cells == nil {
			r.addPurchases(&found, i)
		}
	}
	for _, t := range r.tablesOfTrades() {
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
			found.tables = append(found.tables, tradeTable{rows, head})
			r.addTotals(&found, totals)
		}
		r.addPurchaseRows(&found, t, rows)
	}
	return found
}

// tablesOfTrades returns the tables of a document. Rows below a second heading with other
// words, such as those of an annex on the next page, are a table of their own.
func (r *reading) tablesOfTrades() (found []*table) {
	for n := range r.tables {
		t := r.tables[n]
		heading := ""
		start := 0
		for k, row := range t.rows {
			p := &r.parts[row]
			if len(p.values) > 0 || len(p.cells) < 3 {
				continue
			}
			if _, ok := r.headingIn(&tradesGrid, row, 0, len(p.tokens)); !ok {
				continue
			}
			if heading != "" && p.text != heading {
				found = append(found, &table{rows: t.rows[start:k], before: t.before})
				t.before = row - 1
				start = k
			}
			heading = p.text
		}
		found = append(found, &table{rows: t.rows[start:], before: t.before})
	}
	return found
}

// isOfEndedProgramme reports whether a sentence without a period of its own says that the programme
// has ended. What was bought in total is then that of the programme.
func (r *reading) isOfEndedProgramme(i int) bool {
	p := &r.parts[i]
	if p.cells != nil || !p.has("programme", "buyback") {
		return false
	}
	return p.has("buyback end") && len(r.presentPeriods(i)) == 0 || p.tellsEnd()
}

// isOthersPurchase reports whether a sentence is about purchases by a person, or of shares of
// another company, or tells apart two classes of shares, of which neither is the total.
func (r *reading) isOthersPurchase(p *part) bool {
	if p.cells != nil || !p.has("bought") {
		return false
	}
	isOther := func(c cue) bool { return r.isSubjectOther(p, c.from) }
	return p.isBoughtByPerson() || p.limitsClasses() || p.addsPurchases() || r.namesOther(p) ||
		slices.ContainsFunc(p.all("bought"), isOther)
}

// isBoughtByPerson reports whether a sentence names a director or a holder, unless as those for
// whom the shares are: "el plan de incentivos de directivos".
func (p *part) isBoughtByPerson() bool {
	return slices.ContainsFunc(p.all("trades by person"), func(c cue) bool {
		switch p.word(c.from - 1) {
		case "de", "del", "para", "a", "al", "los", "sus", "of", "for", "to":
			return false
		}
		return true
	})
}

// addsPurchases reports whether a sentence has two numbers of shares, of which neither is the
// total: "30.000 acciones en el mercado y 10.000 fuera de él".
func (p *part) addsPurchases() bool {
	counted := false
	end := min(p.beforePast(), p.beforeResult())
	for k := range p.values {
		v := &p.values[k]
		if v.From >= end {
			break
		}
		if _, ok := countPositive(p, v); !ok || p.isPartOfPurchases(v) {
			continue
		}
		joined := isAnd(p.word(v.From-1)) || isAnd(p.word(v.From-2)) && p.word(v.From-1) != ""
		if counted && joined && !p.has("total") {
			return true
		}
		counted = counted || p.countsShares(v)
	}
	return false
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
	if r.addPurchaseLine(found, i) || len(r.listedTrades(i)) >= fewestListed {
		return
	}
	follows := i > 0 && r.parts[i-1].paragraph == p.paragraph && r.parts[i-1].has("bought") && p.has("total")
	end := min(p.beforePast(), p.beforeResult())
	if p.isOfPastYear(r.Published) || p.startsWithYear() || !p.has("bought") && !follows ||
		p.hasBetween(0, end, "trades cumulative", "sold") {
		return
	}
	if p.hasBetween(0, end, "period since") && len(r.presentPeriods(i)) == 0 {
		return // "has acquired since 2 March a total of 1,690,550 shares"
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
		if p.isPartOfPurchases(v) {
			continue // "de las que 3.000 en bloque", "gastos por 54 euros"
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
		} else if p.has("trades amount label") {
			found.loose = append(found.loose, r.candidate(c, i, v, cue{}))
			amount = true
		}
	}
}

// isPartOfPurchases reports whether the words before a figure, or those before it in the same
// brackets, say that it is not the whole.
func (p *part) isPartOfPurchases(v *value.Value) bool {
	const near = 8
	if p.hasBetween(v.From-near, v.From, "trades part") {
		return true
	}
	for k := v.From - 1; k >= 0 && p.mark(k) != ")"; k-- {
		if p.mark(k) == "(" {
			return p.hasBetween(k, v.From, "trades part")
		}
	}
	return false
}

// addPurchaseLine adds the value of a line with a label: "Importe total: 5.000 euros". It
// reports whether the part is such a line.
func (r *reading) addPurchaseLine(found *trades, i int) bool {
	p := &r.parts[i]
	if len(p.values) != 1 || len(p.tokens) > 16 ||
		p.mark(p.values[0].From-1) != ":" && p.mark(p.values[0].From-2) != ":" {
		return false
	}
	v := &p.values[0]
	r.addPurchaseValue(found, nil, i, labelled{cell{0, v.From}, v})
	return true
}

// countsShares reports whether a figure is a number of shares: "5.000 acciones", "5,000 of
// its own shares".
func (p *part) countsShares(v *value.Value) bool {
	const near = 5
	if v.Bound != "" || p.hasBetween(max(v.From-near, p.lastValueBefore(v)), v.From, "buyback shares limit") {
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
