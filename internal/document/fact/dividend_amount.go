package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/document/value"
)

// dividesTotal reports whether an amount for each share explains the total of a dividend before it: "por
// importe total de 1.812.600 euros, lo que equivale a 0,1510 euros por acción".
func (p *part) dividesTotal(v *value.Value) bool {
	const near = 8
	if p.cells != nil || !p.has("dividend") {
		return false
	}
	linked := false
	for i := v.From - 1; i >= max(0, v.From-near); i-- {
		switch p.word(i) {
		case "equivale", "equivalente", "equivalentes", "equivalen", "supone", "representa", "razon", "decir", "equivalent", "equals", "resulta", "representing", "resultando":
			linked = true
		case "a", "lo", "que", "es", "de", "un", "una", "cual", "to", "which", "is", "or", "o", "sea", "importe", "":
		default:
			return linked && p.hasTotalBefore(i+1)
		}
	}
	return linked && p.hasTotalBefore(v.From)
}

// hasTotalBefore reports whether the last amount before a token is in a large sum of money that words
// call a total or a dividend.
func (p *part) hasTotalBefore(at int) bool {
	for k := len(p.values) - 1; k >= 0; k-- {
		v := &p.values[k]
		if v.To > at || v.Kind != value.Figure || value.CurrencyCode(v.Unit) == "" {
			continue
		}
		amount, _, ok := money(v, value.Scale{})
		name, named := lastCue(p.longest(dividendAmountNames...), 0, v.From)
		isDividend := name.class == "total amount" || name.class == "dividend" || name.class == "dividend verb"
		return ok && named && isDividend && (v.Scaled() || !isDividendSize(amount))
	}
	return false
}

// largestDividend is the amount from which it is not one for each share, unless the
// document says so.
const largestDividend = "1000"

// addDividendAmount adds an amount, if it is that of a dividend for each share.
func (r *reading) addDividendAmount(
	all []dividendValue, i int, v *value.Value, name class, heading value.Scale,
) []dividendValue {
	if v.Negative && r.parts[i].cells == nil && r.parts[i].followsBracket(v.From) {
		positive := *v // in a sentence, brackets are no minus: "treinta céntimos (0,30 euros)"
		positive.Negative = false
		v = &positive
	}
	amount, currency, ok := money(v, heading)
	if text, perShare, isCents := r.parts[i].cents(v); isCents {
		amount, currency, ok = text, "EUR", true
		heading.PerShare = heading.PerShare || perShare
	}
	if text, _, isCents := r.parts[i].cents(v); text == "" && !isCents && isCentWord(r.parts[i].word(v.To)) {
		return all // "EUR 1.375 cents"
	}
	if r.parts[i].isWholePart(v) || r.parts[i].isFloor(v) {
		return all
	}
	if !ok || v.Bound != "" || v.Partner >= 0 || v.Scaled() || v.Negative || amount == "0" || heading.Power > 0 {
		return all
	}
	if r.parts[i].isForManyShares(v.To) || r.parts[i].isConverted(v) ||
		r.parts[i].isOtherYearInBrackets(v, r.Published) {
		return all
	}
	perShare := isRate(v) || heading.PerShare
	if isRate(v) && !slices.Contains([]string{"share", "security", "right", "unit", "acc"}, v.Unit[4:]) {
		return all
	}
	small := isDividendSize(amount)
	strong := name == "gross" && (perShare || small)
	weak := (name == "dividend" || name == "dividend verb") && perShare && small
	if !strong && !weak {
		return all
	}
	return append(all, dividendValue{
		candidate: candidate{read: read{amount, currency}, at: r.placeOf(i, v), row: r.parts[i].cells != nil},
		field:     "gross_per_share",
		strong:    strong,
		share:     strong && perShare,
	})
}

// followsBracket reports whether a bracket stands before an amount, or before the sign of its currency.
func (p *part) followsBracket(i int) bool {
	if p.mark(i-2) == "(" && p.word(i-1) == "" {
		return true
	}
	return p.mark(i-1) == "("
}

// isForManyShares reports whether an amount is for more than one share: "25 euros brutos por cada
// 100 acciones".
func (p *part) isForManyShares(from int) bool {
	const near = 6
	for i := from; i < min(from+near, len(p.tokens)-1); i++ {
		switch p.word(i) {
		case "cada", "per", "every", "each":
			next := &p.tokens[i+1]
			return next.IsNumber() && next.Text != "1"
		}
	}
	return false
}

// isConverted reports whether an amount is another one in a different currency: "equivalentes a
// 0,23 euros".
func (p *part) isConverted(v *value.Value) bool {
	const near = 3
	currency := value.CurrencyCode(v.Unit)
	other := func(o *value.Value) bool {
		code := value.CurrencyCode(o.Unit)
		return code != "" && code != currency
	}
	for i := max(0, v.From-near); i < v.From; i++ {
		if strings.HasPrefix(p.word(i), "equivalen") {
			return slices.ContainsFunc(p.valuesIn(max(0, i-8), i), other)
		}
	}
	return false
}

// isOtherYearInBrackets reports whether an amount stands in brackets with an earlier year, behind
// another amount: "0,25 euros brutos por acción (0,22 en 2025)".
func (p *part) isOtherYearInBrackets(v *value.Value, published time.Time) bool {
	from, to, ok := p.bracketsAround(v.From)
	if !ok || p.cells != nil || published.IsZero() {
		return false
	}
	old := slices.ContainsFunc(p.valuesIn(from, to), func(o *value.Value) bool {
		return o.Kind == value.Date && o.Year > 0 && o.Year < published.Year()
	})
	return old && slices.ContainsFunc(p.valuesIn(0, from), func(o *value.Value) bool {
		return o.Kind == value.Figure && (value.CurrencyCode(o.Unit) != "" || p.isInCents(o))
	})
}

// isInCents reports whether an amount is one in hundredths of a currency.
func (p *part) isInCents(v *value.Value) bool {
	_, _, ok := p.cents(v)
	return ok || isCentWord(p.word(v.To))
}

// bracketsAround returns the tokens between the brackets around a token.
func (p *part) bracketsAround(i int) (from, to int, ok bool) {
	const longest = 20 // tokens on each side
	for from = i; from > max(0, i-longest); from-- {
		if mark := p.mark(from - 1); mark == "(" {
			break
		} else if mark == ")" {
			return 0, 0, false
		}
	}
	if p.mark(from-1) != "(" {
		return 0, 0, false
	}
	for to = i; to < min(len(p.tokens), i+longest); to++ {
		if p.mark(to) == ")" {
			return from, to, true
		}
	}
	return 0, 0, false
}

// cents reads an amount in hundredths of a euro: "25 céntimos de euro por acción".
func (p *part) cents(v *value.Value) (amount string, perShare, ok bool) {
	if v.Kind != value.Figure || v.Scaled() {
		return "", false, false
	}
	if before := p.mark(v.From - 1); !p.tokens[v.From].IsNumber() &&
		(isDash(before) || before == "y" || before == "i") {
		return "", false, false // only the end of "treinta y un céntimos"
	}
	end := 0
	for i := v.From + 1; i < min(v.From+6, len(p.tokens)) && end == 0; i++ {
		switch w := p.word(i); {
		case w == "eurocents" || w == "eurocentimos" ||
			w == "euro" && (p.word(i+1) == "cents" || p.word(i+1) == "cent"):
			end = i + 1
		case w == "centimos" || w == "centims" || w == "cents":
			euro := i + 1
			for euro < i+4 &&
				(p.word(euro) == "de" || p.word(euro) == "d" || p.word(euro) == "of" || p.word(euro) == "a" || p.mark(euro) == "'" || p.mark(euro) == "’") {
				euro++
			}
			if w := p.word(euro); w != "euro" && w != "euros" {
				return "", false, false
			}
			end = euro + 1
		case i >= v.To && w != "":
			return "", false, false
		}
	}
	if end == 0 {
		return "", false, false
	}
	amount, ok = decimal(v, -2)
	perShare = p.hasBetween(end, end+12, "per share") || isRate(v) || strings.HasSuffix(v.Unit, "/share")
	return amount, perShare, ok
}

// isFloor reports whether the words before an amount say that it is a floor or a target: "un dividendo
// mínimo de 0,40 euros por acción".
func (p *part) isFloor(v *value.Value) bool {
	const near = 4
	return p.hasBetween(max(0, v.From-near), v.From, "dividend floor")
}

// isWholePart reports whether an amount in words goes on behind it: "dos euros y diez céntimos".
func (p *part) isWholePart(v *value.Value) bool {
	const near = 6
	switch p.word(v.To) {
	case "y", "con", "i", "and", "amb":
	default:
		return false
	}
	for i := v.To + 1; i < v.To+near && p.word(i) != ""; i++ {
		if isCentWord(p.word(i)) {
			return true
		}
	}
	return false
}

// isCentWord reports whether a word is the hundredth of a currency.
func isCentWord(word string) bool {
	switch word {
	case "cent", "cents", "centimo", "centimos", "centim", "centims", "eurocents", "pence", "p", "centavos":
		return true
	}
	return false
}

// isDividendSize reports whether an amount may be one for a share.
func isDividendSize(amount string) bool {
	whole := len(amount)
	for n, c := range amount {
		if c == '.' {
			whole = n
			break
		}
	}
	return whole < len(largestDividend)
}
