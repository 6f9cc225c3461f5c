package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// The price of a bid, and the share of those who accept it.

// labelScale returns the unit in brackets behind a label, which is part of its cell but
// not of the cue: "Precio por acción (euros)".
func (r *reading) labelScale(e entry, heading value.Scale) value.Scale {
	p := &r.parts[e.label.part]
	s, ok := value.ReadScale(p.tokens[e.label.from:min(e.value.from, len(p.tokens))], p.english)
	if ok {
		return s
	}
	return heading
}

func (b *bid) readPriceIn(i, from, to int, heading value.Scale) {
	p := &b.r.parts[i]
	for _, v := range p.valuesIn(from, to) {
		got, ok := readPrice(p, v, heading)
		if ok && got.currency != "" && v.Bound == "" {
			b.prices = append(b.prices, candidate{read: got, at: b.r.placeOf(i, v)})
			return
		}
	}
}

func (b *bid) readAcceptanceIn(i, from, to int) {
	p := &b.r.parts[i]
	for _, v := range p.valuesIn(from, to) {
		if text, ok := percent(v); ok {
			b.acceptance = append(b.acceptance, candidate{read: read{text: text}, at: place{i, v.From, v.To}})
			return
		}
	}
}

// percent returns a percentage without its sign.
func percent(v *value.Value) (string, bool) {
	if v.Kind != value.Figure || v.Unit != "%" || v.Bound != "" || v.Negative {
		return "", false
	}
	return decimal(v, 0)
}

// readAcceptance reads the share of the acceptances in a sentence.
func (b *bid) readAcceptance(i int) {
	p := &b.r.parts[i]
	if !p.has("takeover result") || p.has("possible", "conditional") {
		return
	}
	start := len(p.tokens)
	for _, c := range p.all("takeover result") {
		start = min(start, c.from)
	}
	var found []candidate
	addressed := -1
	for _, v := range p.valuesIn(start, len(p.tokens)) {
		text, ok := percent(v)
		if !ok || p.hasBetween(v.From-10, v.From, "takeover minimum") ||
			p.hasBetween(v.To, v.To+3, "takeover minimum") {
			continue
		}
		isAddressed := p.hasBetween(v.To, v.To+5, "takeover addressed")
		if !isAddressed && p.hasBetween(v.From-8, v.From, "takeover holding") {
			continue // what the bidder has then
		}
		if isAddressed && addressed < 0 {
			addressed = len(found)
		}
		found = append(found, candidate{read: read{text: text}, at: place{i, v.From, v.To}})
	}
	switch {
	case addressed >= 0:
		b.acceptance = append(b.acceptance, found[addressed])
	default:
		b.acceptance = append(b.acceptance, found...)
	}
}

// readPrice reads the price of the bid in a sentence.
func (b *bid) readPrice(i int) {
	p := &b.r.parts[i]
	for _, v := range p.valuesIn(0, p.ofOtherBid()) {
		if v.Kind != value.Figure || !isRate(v) && !p.isEach(v) {
			continue
		}
		if p.isSpelledFigure(v) {
			v = withoutSign(v)
		}
		got, ok := readPrice(p, v, value.Scale{})
		cue := p.lastBefore(max(0, v.From-40), v.From, "takeover price cue")
		if !ok || cue < 0 || v.Bound != "" || v.Partner >= 0 || p.endsBetween(cue, v.From) {
			continue
		}
		if b.hasPriceStop(p, max(0, cue-3), v.From) || p.isDoubtfulPrice(v.From) {
			continue
		}
		if p.hasBetween(v.To, v.To+1, "takeover price stop") || p.isNominalEach(v) || p.isPaidBefore(v.From) {
			continue // "offered by another"
		}
		b.prices = append(b.prices, candidate{read: got, at: b.r.placeOf(i, v)})
	}
}

// hasPriceStop reports whether words between the cue of a price and the price say that it is
// another one. In "price offered by the bidder" they do not, and who offers it is compared later.
func (b *bid) hasPriceStop(p *part, from, to int) bool {
	named := b.named(p)
	return slices.ContainsFunc(p.all("takeover price stop"), func(c cue) bool {
		if c.from < from || c.from >= to {
			return false
		}
		isNamed := func(n name) bool { return n.from == c.to }
		return !p.hasBetween(c.to, c.to+3, "takeover bidder label") && !slices.ContainsFunc(named, isNamed)
	})
}

// isDoubtfulPrice reports whether words before a price say that it is not the one that is
// offered now.
func (p *part) isDoubtfulPrice(at int) bool {
	return slices.ContainsFunc(p.all("possible", "denied", "example", "past", "takeover third"), func(c cue) bool {
		return c.from < at && !p.isWithinOther(c, "takeover first notice", "takeover announced")
	})
}

// isEach reports whether an amount is that of each share: "10 euros cada una", "diez euros
// (10 €) por acción".
func (p *part) isEach(v *value.Value) bool {
	if per := p.word(v.To + 1); p.mark(v.To) == ")" && (per == "por" || per == "per" || per == "a") {
		of := p.word(v.To + 2)
		return value.IsCurrency(v.Unit) && (of == "accion" || of == "share" || of == "accio")
	}
	for k := v.To; k < v.To+4; k++ {
		switch p.word(k) {
		case "cada", "each", "apiece":
			return value.IsCurrency(v.Unit)
		}
	}
	return false
}

// isNominalEach reports whether an amount is the nominal value of each share: "1 euro de valor
// nominal cada una".
func (p *part) isNominalEach(v *value.Value) bool {
	const reach = 4 // tokens
	for k := v.To; k < v.To+reach && !isClauseMark(p.mark(k)); k++ {
		switch p.word(k) {
		case "nominal", "par":
			return true
		}
	}
	return false
}

// isPaidBefore reports whether a price is one at which someone bought shares: "acciones que
// adquirió el 2 de diciembre a un precio de 6,15 euros". The bid is not named behind the verb.
func (p *part) isPaidBefore(at int) bool {
	return slices.ContainsFunc(p.all("takeover bought"), func(c cue) bool {
		due := p.word(c.from-1) == "be" // "the price to be paid is"
		return c.from < at && !due && !p.hasBetween(c.to, at, "takeover offer", "takeover bid")
	})
}
