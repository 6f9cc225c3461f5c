package fact

import (
	"math/big"
	"slices"

	"pregon/internal/document/value"
)

// Some documents have no table of purchases, and tell them in sentences: "el 15 de junio de 2026 se
// adquirieron 1.500 acciones a un precio medio de 2,94 euros; el 16 de junio …".

// fewestListed is the number of purchases that make a list of them.
const fewestListed = 2

// addListedTrades adds the purchases that sentences list, if there is no table of them.
func (r *reading) addListedTrades(found *trades) {
	if len(found.rows) > 0 {
		return
	}
	said := false // that these are purchases
	var rows []record
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.cells != nil || p.isTooLong() || p.isQuestion() {
			continue
		}
		said = said || p.has("bought")
		if r.mayListTrades(p) {
			rows = append(rows, r.listedTrades(i)...)
		}
	}
	if !said || len(rows) < fewestListed || len(rows) > mostTotals {
		return
	}
	found.listed = true
	found.rows = rows
	found.head = heading{
		columns: []class{"trade date", "trade shares", "trade price"},
		scales:  map[class]value.Scale{},
	}
}

// mayListTrades reports whether no words of a sentence say that its purchases are others.
func (r *reading) mayListTrades(p *part) bool {
	if p.has("possible", "policy", "example", "as reference", "sold", "trades cumulative", "past") {
		return false
	}
	return !r.isOthersPurchase(p) && !r.namesOther(p)
}

// listedTrades returns the purchases that a sentence lists: a day, a number of shares and a price, one
// behind the other.
func (r *reading) listedTrades(i int) (found []record) {
	p := &r.parts[i]
	for k := 0; k+2 < len(p.values); k++ {
		day, shares, price := &p.values[k], &p.values[k+1], &p.values[k+2]
		if day.Kind != value.Date || day.Day == 0 || !p.isListedTrade(day, shares, price) {
			continue
		}
		complete := *day
		r.completeYear(&complete)
		to := len(p.tokens)
		if k+3 < len(p.values) {
			to = p.values[k+3].From
		}
		found = append(found, record{
			part:   i,
			from:   day.To,
			to:     to,
			anchor: &complete,
			fields: map[class]*value.Value{"trade shares": shares, "trade price": price},
		})
		k += 2
	}
	return found
}

// isListedTrade reports whether three values, one behind the other, are a day, the shares that were
// bought on it, and their price.
func (p *part) isListedTrade(day, shares, price *value.Value) bool {
	const far, near = 12, 6
	isShares := shares.Unit == "share" || shares.Unit == "security"
	if shares.Kind != value.Figure || !isShares || shares.Bound != "" || shares.From-day.To > far {
		return false
	}
	isMoney := isRate(price) || value.CurrencyCode(price.Unit) != ""
	if price.Kind != value.Figure || !isMoney || price.Scaled() || price.From-shares.To > far {
		return false
	}
	if p.endsBetween(day.To, price.From) || p.hasBetween(shares.To, price.From, "trades amount label") {
		return false
	}
	directly := p.word(price.From-1) == "a" || p.word(price.From-1) == "at" || p.mark(price.From-1) == "@"
	return directly || isRate(price) || p.hasBetween(price.From-near, price.From, "trades price near")
}

// proveTotal adds the number of shares of a sentence to which the rows add up, if no sentence is known
// to state the total: "de lo anterior resultan 9.405 acciones".
func (r *reading) proveTotal(found *trades) {
	if len(found.shares) > 0 || len(found.rows) < fewestListed {
		return
	}
	sum, ok := r.sumOfShares(found.rows)
	if !ok {
		return
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.cells != nil || p.isTooLong() {
			continue
		}
		for k := range p.values {
			v := &p.values[k]
			c, ok := countPositive(p, v)
			isShares := v.Unit == "share" || v.Unit == "security" || p.has("buyback shares label")
			if !ok || !isShares && !p.isOnlyValue(v) {
				continue
			}
			if n, ok := new(big.Rat).SetString(c.text); ok && n.Cmp(sum) == 0 {
				found.shares = append(found.shares, r.candidate(c, i, v, cue{}))
			}
		}
	}
}

// isOnlyValue reports whether a part has no words but those of a value, as a cell of a total in a paragraph
// of its own.
func (p *part) isOnlyValue(v *value.Value) bool {
	return v.From == 0 && v.To == len(p.tokens)
}

// proveAmount returns the only amount of the sentences that is what the rows cost, but for the
// rounding of their prices.
func (r *reading) proveAmount(found *trades) (candidate, bool) {
	cost, rounding, ok := r.costOfRows(found.rows)
	if !ok {
		return candidate{}, false
	}
	var all []candidate
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.cells != nil || p.isTooLong() {
			continue
		}
		for k := range p.values {
			v := &p.values[k]
			unit := value.Scale{}
			if p.isOnlyValue(v) {
				unit = found.head.scales["trade amount"]
			}
			c, ok := readPositive(p, v, unit)
			if !ok || v.Bound != "" || p.hasBetween(v.From-4, v.From, "buyback limit") {
				continue
			}
			n, isNumber := new(big.Rat).SetString(c.text)
			if isNumber && n.Sub(n, cost).Abs(n).Cmp(rounding) <= 0 {
				all = append(all, r.candidate(c, i, v, cue{}))
			}
		}
	}
	return agreed(all)
}

// costOfRows returns what the purchases of some rows cost, and by how much the rounding of prices may
// change it. It reports none if that is more than a thousandth.
func (r *reading) costOfRows(rows []record) (cost, rounding *big.Rat, ok bool) {
	cost = new(big.Rat)
	rounding = big.NewRat(1, 1)
	for _, rec := range rows {
		p := &r.parts[rec.part]
		count, price := rec.fields["trade shares"], rec.fields["trade price"]
		if count == nil || price == nil || price.Scaled() {
			return nil, nil, false
		}
		c, okCount := countPositive(p, count)
		text, okPrice := decimal(price, 0)
		if !okCount || !okPrice {
			return nil, nil, false
		}
		shares, _ := new(big.Rat).SetString(c.text)
		each, _ := new(big.Rat).SetString(text)
		cost.Add(cost, new(big.Rat).Mul(shares, each))
		rounding.Add(rounding, shares.Mul(shares, lastDigit(p.tokens[price.From].Text)))
	}
	most := new(big.Rat).Mul(rounding, big.NewRat(200, 1))
	return cost, rounding, len(rows) >= fewestListed && most.Cmp(cost) <= 0
}

// knownMarkets are the codes of the markets on which Spanish shares are traded.
var knownMarkets = []string{
	"XMAD", "XBAR", "XBIL", "XVAL", "XMCE", "GROW", "MABX", "XLAT", "SCLE",
	"CEUX", "TQEX", "AQEU", "XLON",
}

// onlyVenue returns the code of the only market that sentences about purchases name, or "".
func (r *reading) onlyVenue() string {
	venue := ""
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.cells != nil || p.isTooLong() || !p.has("bought") {
			continue
		}
		for k := range p.tokens {
			if !p.namesMarket(k) {
				continue
			}
			if venue != "" && venue != p.mark(k) {
				return ""
			}
			venue = p.mark(k)
		}
	}
	return venue
}

// namesMarket reports whether a word is the code of a market: "en el Mercado Continuo (XMAD)",
// "código MIC: GROW".
func (p *part) namesMarket(k int) bool {
	if !isMarketCode(p.mark(k)) || k == 0 {
		return false
	}
	if p.word(k-1) == "mic" || p.word(k-2) == "mic" {
		return true
	}
	return p.mark(k-1) == "(" && p.mark(k+1) == ")" && slices.Contains(knownMarkets, p.mark(k))
}
