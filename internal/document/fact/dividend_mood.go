package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// isRightTo reports whether a name of a date only says what a right is for: "dejará de cotizar con
// derecho al cobro el 14 de julio".
func (p *part) isRightTo(c cue) bool {
	const near = 3 // "derecho a su cobro"
	if c.class != "payment" {
		return false
	}
	for i := c.from - 1; i >= max(0, c.from-near); i-- {
		switch p.word(i) {
		case "derecho", "derechos", "right", "rights", "dret", "entitlement":
			return true
		case "a", "al", "de", "del", "su", "el", "to", "the", "dicho":
		default:
			return false
		}
	}
	return false
}

// answersRumour reports whether the document answers what others have said about the company.
func (r *reading) answersRumour() bool {
	return anyPart(r.parts, func(p *part) bool { return !p.aside && p.has("dividend rumour") })
}

// isConditioned reports whether the document says that the dividend, its payment or the resolution depends on
// something else than the shareholders: "La efectividad del acuerdo queda supeditada a la venta".
func (r *reading) isConditioned() bool {
	return anyPart(r.parts, func(p *part) bool {
		if p.aside || p.cells != nil || p.isLong() || p.has("further", "policy") || r.isLaterDividend(p) {
			return false
		}
		return slices.ContainsFunc(p.all("conditional"), func(c cue) bool {
			return isStrongCondition(p.word(c.from)) && !p.isHarmless(c) &&
				p.hasBetween(max(0, c.from-8), c.from, "dividend", "dividend verb", "payment", "resolution", "total amount")
		})
	})
}

// isStrongCondition reports whether a word says that something does not happen without something else.
// "Sujeto a" is also said of taxes and rules.
func isStrongCondition(word string) bool {
	for _, stem := range []string{"supeditad", "condicionad", "conditional", "contingent"} {
		if strings.HasPrefix(word, stem) {
			return true
		}
	}
	return false
}

// asksLeave reports whether a sentence asks someone for the permission to pay: "ha solicitado al
// supervisor autorización para abonar".
func (p *part) asksLeave() bool {
	asks := false
	for i := range p.tokens {
		word := p.word(i)
		switch {
		case strings.HasPrefix(word, "solicit"), strings.HasPrefix(word, "request"), word == "recabar", word == "recabado", word == "pedido", word == "pedir", word == "applied":
			asks = true
		case strings.HasPrefix(word, "autoriz"), strings.HasPrefix(word, "authori"), word == "permiso", word == "permission", word == "objecion",
			word == "autoritzacio":
			if asks && p.has("dividend", "dividend verb", "payment") {
				return true
			}
		}
	}
	return false
}

// wasPaid reports whether the clause of an amount has a participle and a day before the report: "el
// dividendo de 0,22 euros por acción abonado por la Sociedad el 14 de mayo".
func (r *reading) wasPaid(c *clauses, v *value.Value) bool {
	p := c.p
	if p.cells != nil || r.Published.IsZero() {
		return false
	}
	to := c.ends[v.From]
	const near, years = 30, 1000 // tokens, days
	for i := v.To; i < min(to, v.To+near); i++ {
		if !isPaidParticiple(p.word(i)) || isToBe(p.word(i-1)) {
			continue
		}
		if slices.ContainsFunc(p.valuesIn(v.To, i), func(other *value.Value) bool { return other.Kind == value.Figure }) {
			return false // said of the other amount
		}
		return slices.ContainsFunc(p.valuesIn(i, min(to, i+near)), func(day *value.Value) bool {
			text, ok := date(day)
			return ok && !r.isWithin(text, 1, years)
		})
	}
	return false
}

// isPaidParticiple reports whether a word says that something was paid.
func isPaidParticiple(word string) bool {
	switch strings.TrimSuffix(word, "s") {
	case "abonado", "pagado", "satisfecho", "repartido", "distribuido", "abonada", "pagada", "paid", "distributed", "pagat", "abonat", "desembolsado":
		return true
	}
	return false
}

// isToBe reports whether a word makes a participle one of the future: "será abonado", "to be paid".
func isToBe(word string) bool {
	switch word {
	case "sera", "seran", "ser", "sea", "sean", "be", "being":
		return true
	}
	return false
}
