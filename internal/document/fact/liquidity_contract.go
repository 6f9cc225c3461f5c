package fact

import (
	"fmt"
	"slices"

	"pregon/internal/document/value"
)

// liquidity is what a document says about the trades under a liquidity contract.
type liquidity struct {
	periods []period
	fields  map[string][]candidate
	unit    *value.Scale // see onlyCurrency; nil while it was not needed
	classes bool         // the document tells apart two classes of shares
}

// add adds a candidate for a field.
func (l *liquidity) add(name string, c candidate) { l.fields[name] = append(l.fields[name], c) }

// liquidityContracts finds the shares that were bought and sold under a liquidity contract
// in a period, and the balances at its end.
func liquidityContracts(r *reading) []draft {
	if !r.namesLiquidity() || r.isGuide() {
		return nil
	}
	found := liquidity{fields: map[string][]candidate{}}
	var quarters []period
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isTooLong() || p.has("possible", "example", "policy", "as reference") {
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
		if p.cells != nil || p.aside || p.isTooLong() || p.isQuestion() ||
			p.has("possible", "example", "policy", "as reference") || r.isOtherLiquidity(p) ||
			r.isOfOtherQuarter(&found, i) {
			continue
		}
		found.classes = found.classes || p.has("liquidity bought", "liquidity sold") && p.limitsClasses()
		r.addLiquiditySentence(&found, i)
	}
	for n := range r.tables {
		if !r.addLiquidityPeriods(&found, &r.tables[n]) {
			r.addLiquidityTable(&found, &r.tables[n])
		}
	}
	if found.classes {
		return nil // neither class is the total
	}
	d := newDraft()
	bought := d.setAgreed("bought", found.fields["bought"])
	sold := d.setAgreed("sold", found.fields["sold"])
	if !d.setPeriod(found.periods) || !bought && !sold || r.recallsLiquidity(d.fields["to"]) {
		return nil
	}
	d.setAgreed("balance_shares", found.fields["balance_shares"])
	if c, ok := agreed(found.fields["balance_cash"]); ok {
		d.set("balance_cash", c.text, c.at)
		d.set("currency", c.currency, c.at)
	}
	return []draft{d}
}

// isOtherLiquidity reports whether a sentence is about another company, about a programme of
// purchases, or about all that was traded since the contract began.
func (r *reading) isOtherLiquidity(p *part) bool {
	return p.has("another company", "other company", "buyback", "liquidity since") || p.startsWithYear() ||
		r.namesOther(p)
}

// isOfOtherQuarter reports whether a sentence without a period of its own names a quarter that is
// not the period of the document: "En el cuarto trimestre de 2025 se compraron".
func (r *reading) isOfOtherQuarter(found *liquidity, i int) bool {
	quarters := r.quartersOf(i)
	if len(quarters) != 1 || len(found.periods) == 0 || len(r.presentPeriods(i)) > 0 {
		return false
	}
	return quarters[0].from != found.periods[0].from || quarters[0].to != found.periods[0].to
}

// recallsLiquidity reports whether a document only recalls the period that ends on a day: it
// ended long before, or the document is about the contract itself.
func (r *reading) recallsLiquidity(to string) bool {
	const longest, longestOfEvent = 100, 20 // days
	if r.title.has("liquidity event") {
		return !r.isWithin(to, longestOfEvent, 2)
	}
	return !r.isWithin(to, longest, 2)
}

// namesLiquidity reports whether a document is about a liquidity contract: its title or a
// heading says so, or a sentence with purchases, sales or a period.
func (r *reading) namesLiquidity() bool {
	if r.title.has("liquidity contract") {
		return true
	}
	isOf := r.category.has("liquidity contract") || r.title.has("generic title", "own shares", "bought")
	if len(r.title.tokens) > 0 && !isOf {
		return false // a report about something else, which tells of the contract
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || !p.has("liquidity contract") {
			continue
		}
		if p.heading || p.has("liquidity bought", "liquidity sold") || !p.isTooLong() && len(r.presentPeriods(i)) == 1 {
			return true
		}
	}
	return false
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
		last := p.tradeFrom(k)
		if c, ok := countPositive(p, v); ok {
			if name := p.liquidityTrade(v, last); name != "" && (p.has("liquidity respectively") || p.isOneOfPair(k)) {
				continue // "se compraron y vendieron 3.000 y 2.900 acciones, respectivamente"
			} else if name != "" {
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

// tradeFrom returns the token from which the words before a value belong to it: the end of the
// value before. The amount for which shares were traded belongs to them: "compras por 31.000 euros
// (4.000 acciones)".
func (p *part) tradeFrom(k int) int {
	const near = 3
	if k == 0 {
		return -1
	}
	before := &p.values[k-1]
	isShares := p.values[k].Unit == "share" || p.values[k].Unit == "security"
	isPrice := isShares && value.CurrencyCode(before.Unit) != "" && p.values[k].From-before.To <= near
	for i := before.To; i < p.values[k].From; i++ {
		isPrice = isPrice && !isAnd(p.word(i)) && p.mark(i) != ";" && p.mark(i) != ","
	}
	if !isPrice {
		return before.To
	}
	if k == 1 {
		return -1
	}
	return p.values[k-2].To
}

// isOneOfPair reports whether a figure is one of two with only "y" between them: "un total de 3.000
// y 2.900 acciones".
func (p *part) isOneOfPair(k int) bool {
	joined := func(first, second int) bool {
		if first < 0 || second >= len(p.values) || p.values[second].Kind != value.Figure {
			return false
		}
		end := p.values[first].To
		isBare := p.tokens[end-1].IsNumber() // the word behind the second one is that of both
		return isBare && p.values[second].From == end+1 && isAnd(p.word(end)) &&
			value.CurrencyCode(p.values[second].Unit) == ""
	}
	return joined(k, k+1) || joined(k-1, k)
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
	if !isShares && p.hasBetween(v.To, v.To+2, "liquidity count") {
		return "" // "se compraron 5.000 acciones (310 operaciones)"
	}
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
	far := 12
	if isShares {
		far = 20 // "ha comprado, por cuenta de la Sociedad y en ejecución del contrato, 500 acciones"
	}
	for k := v.From - 1; k >= max(0, last, v.From-far); k-- {
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

// endsOn reports whether a date, which may lack its year, is the last day of the period.
func (l *liquidity) endsOn(v *value.Value) bool {
	if len(l.periods) == 0 {
		return false
	}
	last := l.periods[0].to
	if v.Kind == value.Date && v.Year == 0 {
		return fmt.Sprintf("%02d-%02d", v.Month, v.Day) == last[len("2006-"):]
	}
	text, ok := date(v)
	return ok && last == text
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
		if c.class == "liquidity opening" && p.bracketsClose(c.from, v.From) {
			continue // "23.400 acciones (25.000 al inicio) y 196.650 euros"
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
		if c.from < v.From && !p.hasBetween(c.to, v.From, "liquidity closing") && !p.bracketsClose(c.from, v.From) {
			return false
		}
	}
	return closing
}

// bracketsClose reports whether a token is in brackets that close soon, before another one.
func (p *part) bracketsClose(token, before int) bool {
	const longest = 12
	for k := token; k < min(token+longest, before); k++ {
		switch p.mark(k) {
		case "(":
			return false
		case ")":
			return true
		}
	}
	return false
}

// dateBehind returns the date directly behind a value, or nil: "50.000 acciones a 1 de julio".
func (p *part) dateBehind(k int) *value.Value {
	const near = 4
	if k+1 >= len(p.values) || p.values[k+1].Kind != value.Date || p.values[k+1].Day == 0 {
		return nil
	}
	next := &p.values[k+1]
	if p.mark(next.From-1) == "(" && p.mark(next.To) == ":" {
		return nil // what follows is of that day: "388.120 euros (31 de marzo: 400.018 euros)"
	}
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
