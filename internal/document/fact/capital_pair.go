package fact

import (
	"math/big"
	"strings"

	"pregon/internal/document/value"
)

// Some forms have one label for the capital before a change and after it: "Capital social antes /
// después: 5.000 euros / 6.000 euros". The change proves which is which.

// readPair reads such a label with its two amounts, in one part or in two.
func (c *capitalChange) readPair(i int) {
	label := &c.r.parts[i]
	if label.has("capital limit") || !label.isPairLabel() {
		return
	}
	if len(label.values) == 0 {
		i++
	}
	if i == len(c.r.parts) || c.r.parts[i].aside || c.r.parts[i].has("capital limit", "capital delegated") {
		return
	}
	p := &c.r.parts[i]
	from := p.pairStart()
	amounts := p.amountsIn(from, len(p.tokens))
	if len(amounts) != 2 || len(p.valuesIn(from, len(p.tokens))) != 2 {
		return
	}
	var pair [2]candidate
	for n, v := range amounts {
		got, ok := readNominal(p, withoutPartner(v), value.Scale{})
		if !ok || v.Bound != "" || v.Negative {
			return
		}
		pair[n] = candidate{read: got, at: c.r.placeOf(i, v)}
	}
	c.pairs = append(c.pairs, pair)
}

// withoutPartner returns an amount of money without the figure behind its slash: "5.000 euros /
// 6.000 euros" is no price.
func withoutPartner(v *value.Value) *value.Value {
	currency, per, ok := strings.Cut(v.Unit, "/")
	if !ok || per != currency && strings.Trim(per, "0123456789") != "" {
		return v
	}
	alone := *v
	alone.Unit = currency
	return &alone
}

// isPairLabel reports whether a part begins with a label such as "Capital social antes / después".
func (p *part) isPairLabel() bool {
	const longest = 12 // tokens
	end := len(p.tokens)
	if first := p.firstValue(p.pairStart()); first < len(p.values) {
		end = p.startOf(&p.values[first])
	}
	before := p.lastBefore(0, min(end, longest), "capital column before")
	after := p.lastBefore(0, min(end, longest), "capital column after")
	return before >= 0 && before < after && end <= longest && p.hasBetween(0, before, "capital word")
}

// pairStart returns the token behind the label of a row, which may begin with the number of a
// field, or 0.
func (p *part) pairStart() int {
	if len(p.cells) == 2 {
		return p.cells[1].from
	}
	return 0
}

// takePair takes the capital after the change from a pair that differs by the amount of the change.
func (c *capitalChange) takePair(amount string) {
	if len(c.pairs) != 1 || len(c.after) > 0 || amount == "" {
		return
	}
	pair := c.pairs[0]
	change, ok := new(big.Rat).SetString(amount)
	before, okBefore := new(big.Rat).SetString(pair[0].text)
	after, okAfter := new(big.Rat).SetString(pair[1].text)
	if !ok || !okBefore || !okAfter || pair[0].currency != pair[1].currency {
		return
	}
	if difference := after.Sub(after, before); difference.Abs(difference).Cmp(change) == 0 {
		c.after = append(c.after, pair[1])
	}
}
