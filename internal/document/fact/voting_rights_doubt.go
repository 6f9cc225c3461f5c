package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

// isNominal reports whether an amount is that of one share.
func (f *votesFinder) isNominal(p *part, v *value.Value) bool {
	for _, c := range p.all("votes nominal") {
		near := c.from >= v.From-4 && c.from < v.From || c.from >= v.To && c.from < v.To+3
		inBrackets := p.cells != nil && p.mark(c.from-1) == "(" && p.mark(c.to) == ")" // "Share capital (nominal)"
		if near && !inBrackets {
			return true
		}
	}
	return false
}

// votesOfOther reports whether totals are those of a company with another name, perhaps without
// its legal form: "el número total de derechos de voto de Cementos Oria".
func (f *votesFinder) votesOfOther(p *part) bool {
	if f.Company == "" || p.cells != nil {
		return false
	}
	for _, l := range p.labels("votes total", "votes shares", "votes capital") {
		switch p.word(l.to) {
		case "de", "of", "en", "in":
		default:
			continue
		}
		k := l.to + 1
		if !isCapitalAt(p, k) || p.isShouted(k) || p.startsValue(k) || value.CurrencyCode(p.mark(k)) != "" {
			continue
		}
		if !slices.Contains(f.own, p.word(k)) && !theCompany.Has(p.word(k)) && len(p.word(k)) > 2 &&
			!theClasses.Has(p.word(k)) {
			return true
		}
	}
	return false
}

// theClasses are words for classes of shares, which some write with a capital letter.
var theClasses = lexicon.NewSet("clase class serie series acciones shares derechos real ley royal law banco")

// startsValue reports whether a value begins at a token.
func (p *part) startsValue(k int) bool {
	n := p.firstValue(k)
	return n < len(p.values) && p.values[n].From == k
}

// isTotalOfShares reports whether a figure with the word shares is that of all of them:
// the capital is divided into them, they are those in issue.
func (f *votesFinder) isTotalOfShares(p *part, v *value.Value, l cue, labels []cue) bool {
	if l.to <= v.From { // "Acciones: 5.000"
		return p.mark(l.to) == ":" && v.From-l.to <= 2
	}
	if isIssuedNow(p, l.to) {
		return false
	}
	for _, other := range labels {
		if other.class == "votes total" && other.from >= l.to && p.isVotesOfEach(other) {
			return false // "300.000 acciones tienen dos votos"
		}
		if other.class == "votes capital" && other.to <= v.From {
			return true
		}
		if other.class == "votes total" && other.from >= l.to {
			return true
		}
	}
	return false
}

// isIssuedNow reports whether a verb says that shares were issued or cancelled: "450,000 shares
// were issued in January".
func isIssuedNow(p *part, k int) bool {
	switch p.word(k) {
	case "were", "have", "was", "se", "fueron", "han", "que", "which", "van":
		return p.hasBetween(k, k+4, "capital issue", "votes excluded", "capital not new")
	}
	return false
}

// isVotesOfEach reports whether votes are those of each share: "diez votos", "10 votes".
func (p *part) isVotesOfEach(l cue) bool {
	const digits = 3
	before := p.mark(l.from - 1)
	isSmall := l.from > 0 && p.tokens[l.from-1].IsNumber() && len(before) <= digits
	isSpelled := p.hasBetween(l.from-1, l.from, "spelled number") && !p.hasBetween(l.from-2, l.from-1, "spelled number")
	return isSmall || isSpelled
}

// isOther reports whether a figure is not the total of today: treasury shares, votes for
// loyalty, earlier totals, plans.
func (f *votesFinder) isOther(p *part, v *value.Value, l cue) bool {
	from, to := p.clause(v.From)
	excludedTo := to
	if l.to-l.from >= 3 && l.to <= v.From { // "el número de acciones es de 5.000 tras la amortización de"
		excludedTo = min(to, v.To+4)
	}
	if p.isExcluded(from, excludedTo) ||
		p.hasBetween(from, to, "possible", "planned", "conditional", "proposal", "example", "denied") {
		return true
	}
	labelFrom, labelTo := p.clause(l.from)
	labelTo = min(labelTo, max(excludedTo, l.to))
	if p.isExcluded(labelFrom, labelTo) {
		return true
	}
	if p.isShareOfTotal(v) || p.hasFutureVerb(from, to) {
		return true
	}
	bracket := v.To
	for bracket < to && p.mark(bracket) != "(" {
		bracket++
	}
	return p.namesEarlierTotals(0, v.From) || p.hasBetween(v.To, bracket, "votes earlier")
}

// hasFutureVerb reports whether a verb in a range of tokens is in the future: "reducirá el número de
// acciones de 5.000 a 4.000".
func (p *part) hasFutureVerb(from, to int) bool {
	for k := from; k < to; k++ {
		verb := strings.TrimSuffix(p.mark(k), "n")
		if strings.HasSuffix(verb, "rá") && len(verb) > len("irá") && !p.tokens[k].IsCapital() ||
			p.word(k) == "will" || p.word(k) == "shall" {
			return true
		}
	}
	return false
}

// isShareOfTotal reports whether a percentage follows a figure: "2.310.000 derechos de voto, el
// 11,55 %". It is that of a holder.
func (p *part) isShareOfTotal(v *value.Value) bool {
	const reach = 10
	for n := p.firstValue(v.To); n < len(p.values); n++ {
		next := &p.values[n]
		if next.From-v.To > reach || next.Kind == value.Figure && next.Unit != "%" {
			return false
		}
		if text, ok := decimal(next, 0); ok && next.Unit == "%" {
			return text != "100"
		}
	}
	return false
}

// isExcluded reports whether a range of tokens names shares or votes that are not the total.
// "Un voto por acción" names none.
func (p *part) isExcluded(from, to int) bool {
	for _, c := range p.all("votes excluded") {
		if c.from < from || c.from >= to {
			continue
		}
		one := p.mark(c.from-1) == "1" || p.word(c.from-1) == "un" || p.word(c.from-1) == "one"
		if w := p.word(c.from); !one || w != "voto" && w != "vote" && w != "vot" {
			return true
		}
	}
	return false
}
