package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// readMoveEnd reads the capital after a change in "desde 5.000 euros hasta 4.000 euros", which
// looks like a range and its upper bound.
func (c *capitalChange) readMoveEnd(i int, v *value.Value) {
	if c.r.parts[i].isMovedTo(v) {
		c.addValue(&c.after, i, v, readMoney)
	}
}

// isMoveEnd reports whether a word is the "hasta" of "desde 5.000 euros hasta 4.000 euros".
func (p *part) isMoveEnd(k int) bool {
	n := p.firstValue(k) - 1
	if n < 0 || p.word(k) != "hasta" {
		return false
	}
	before := p.whole(&p.values[n])
	return before.To == k && (p.word(before.From-1) == "desde" || p.word(before.From-1) == "de")
}

// isCapitalAfter reports whether an amount is the share capital after the change.
func (p *part) isCapitalAfter(v *value.Value) bool {
	if p.isMovedTo(v) {
		return true
	}
	if p.isFormerTotal(v) {
		return false // "el capital social, que era de 5.000 euros, es ahora de"
	}
	last := p.lastBefore(max(0, v.From-24), v.From, "capital after")
	if moves := p.lastBefore(max(0, v.From-4), v.From, "capital moves"); moves == v.From {
		return false // "pasa de": the capital before
	}
	if last < 0 && p.opensAfter() {
		last = 1
	}
	if last < 0 {
		last = p.lastBefore(max(0, v.From-24), v.From, "capital thus")
		if last < 0 || !p.namesCapital(last, v.From) {
			return false
		}
	}
	isNow := func(a *value.Value) bool { return !p.isFormerTotal(a) }
	if !p.namesCapital(0, v.From) || p.endsBetween(last, v.From) ||
		slices.ContainsFunc(p.amountsIn(last, v.From), isNow) {
		return false
	}
	return !p.hasBetween(last, v.From, "capital by", "capital nominal", "capital not nominal") &&
		!p.hasBetween(max(last, v.From-6), v.From, "capital before word")
}

// opensAfter reports whether a sentence begins with what came before: "Tras la conversión, el
// capital social asciende a".
func (p *part) opensAfter() bool {
	switch p.word(0) {
	case "tras", "after", "following":
		return true
	case "despues", "despres":
		return p.word(1) == "de" || p.word(1) == "del"
	}
	return false
}

// startOf returns the first token of an amount: that of the currency before it, if it has
// one there.
func (p *part) startOf(v *value.Value) int {
	if p.currencyAt(v.From-1) != "" {
		return v.From - 1
	}
	return v.From
}

// isMovedTo reports whether an amount is the second in "el capital social pasa de … a …".
func (p *part) isMovedTo(v *value.Value) bool {
	if w := p.word(p.startOf(v) - 1); w != "a" && w != "to" && w != "hasta" {
		return false
	}
	if p.isMoveOfChange(v) || p.moveBy(v) == 2 {
		return true
	}
	moves := p.lastBefore(max(0, v.From-12), v.From, "capital moves")
	if moves < 0 || p.endsBetween(moves, v.From) {
		return false
	}
	// "reducir el capital social en 3.000 euros, esto es, desde 5.000 euros hasta 2.000 euros"
	isSame := p.hasBetween(max(0, moves-16), moves, "capital by")
	return len(p.amountsIn(moves, v.From)) == 1 && (isSame || p.namesCapital(max(0, moves-16), moves))
}

// isMoveOfChange reports whether an amount is the second in "el capital se ha reducido de 5.000
// euros a 4.000 euros".
func (p *part) isMoveOfChange(v *value.Value) bool {
	n := p.firstValue(v.From) - 1
	if n < 0 || value.CurrencyCode(p.values[n].Unit) == "" || isSmall(v) {
		return false
	}
	before := p.startOf(&p.values[n])
	if w := p.word(before - 1); p.values[n].To != p.startOf(v)-1 || w != "de" && w != "desde" && w != "from" {
		return false
	}
	return p.hasBetween(max(0, before-6), before, "capital increase", "capital reduction")
}

// moveBy returns the number of an amount in "increased from EUR 5,000 by EUR 1,000 to EUR 6,000",
// from 0, or -1.
func (p *part) moveBy(v *value.Value) int {
	for n := range 3 {
		at := p.firstValue(v.From) - n
		if at < 0 || at+2 >= len(p.values) {
			continue
		}
		a, b, c := &p.values[at], &p.values[at+1], &p.values[at+2]
		isMove := p.isBehind(a, "from", "de", "desde") && p.isBehind(b, "by", "en") && p.isBehind(c, "to", "a", "hasta")
		near := p.startOf(b)-a.To == 1 && p.startOf(c)-b.To == 1
		if isMove && near && addsUp(a, b, c) {
			return n
		}
	}
	return -1
}

// isBehind reports whether an amount of money stands behind one of some words.
func (p *part) isBehind(v *value.Value, words ...string) bool {
	return value.CurrencyCode(v.Unit) != "" && slices.Contains(words, p.word(p.startOf(v)-1))
}

// namesCapital reports whether a range of tokens names the share capital, not only its
// increase or reduction.
func (p *part) namesCapital(from, to int) bool {
	changes := slices.DeleteFunc(p.all("capital increase", "capital reduction"), p.isTimeOfChange)
	return slices.ContainsFunc(p.all("capital word"), func(c cue) bool {
		inChange := slices.ContainsFunc(changes, func(o cue) bool { return o.from <= c.from && c.from < o.to })
		return c.from >= from && c.from < to && !inChange
	})
}

// isTimeOfChange reports whether words for a change begin within those that only say when:
// "following the increase the share capital amounts to" has no "increase the share capital".
func (p *part) isTimeOfChange(c cue) bool {
	return slices.ContainsFunc(p.all("capital after"), func(o cue) bool { return o.from < c.from && c.from < o.to })
}

// amountsIn returns the amounts of money in a range of tokens.
func (p *part) amountsIn(from, to int) (found []*value.Value) {
	for _, v := range p.wholeValues(from, to) {
		if v.Kind == value.Figure && value.CurrencyCode(v.Unit) != "" {
			found = append(found, v)
		}
	}
	return found
}

// isThatIs reports whether an amount says once more by how much the capital moves: "de 5.000
// euros a 4.000 euros, es decir, en 1.000 euros".
func (p *part) isThatIs(v *value.Value) bool {
	at := p.startOf(v) - 1
	if w := p.word(at); w != "en" && w != "by" {
		return false
	}
	if p.mark(at-1) == "," {
		at--
	}
	isSaid := p.word(at-2) == "es" && p.word(at-1) == "decir" || p.word(at-2) == "esto" && p.word(at-1) == "es" ||
		p.word(at-2) == "that" && p.word(at-1) == "is"
	amounts := p.amountsIn(0, at)
	return isSaid && len(amounts) == 2 && p.isMoveOfChange(amounts[1])
}
