package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// Notaries and companies spell figures and repeat them in brackets: "tres millones de
// euros (3.000.000 €)".

// isSpelledFigure reports whether a figure repeats in brackets what words spell before it:
// "ciento cincuenta millones (150.000.000) de acciones".
func (p *part) isSpelledFigure(v *value.Value) bool {
	from := v.From
	for from > 0 && v.From-from < 2 && p.mark(from-1) != "(" { // a sign of a currency
		from--
	}
	to := v.To
	if p.mark(to) == "." {
		to++ // "(15.000.000 euros.)"
	}
	if p.mark(from-1) != "(" || p.mark(to) != ")" {
		return false
	}
	for k := from - 2; k >= 0 && k > from-6; k-- {
		if p.hasBetween(k, k+1, "spelled number") {
			return true
		}
	}
	return false
}

// withoutSign returns a figure in brackets that are not those of a negative one.
func withoutSign(v *value.Value) *value.Value {
	bare := *v
	bare.Negative = false
	return &bare
}

// longestSpelled is the number of tokens of the longest figure in words.
const longestSpelled = 24

// whole returns a figure that repeats in brackets what words spell before it as if it stood
// in place of the words and the brackets, with the unit beside it. Other values are returned
// as they are.
func (p *part) whole(v *value.Value) *value.Value {
	if v.Kind != value.Figure || !p.isSpelledFigure(v) {
		return v
	}
	w := withoutSign(v)
	for p.mark(w.From-1) != "(" {
		w.From--
	}
	w.From--
	for p.mark(w.To) != ")" {
		w.To++
	}
	w.To++
	end := w.From
	for w.From > 0 && end-w.From < longestSpelled && p.isSpelledWord(w.From-1) {
		w.From--
	}
	if w.Unit == "" {
		w.Unit = p.unitBeside(w, end)
	}
	if value.IsCurrency(w.Unit) && p.isPerShare(w.To) {
		w.Unit += "/share"
	}
	return w
}

// wholeValues returns the values that begin in a range of tokens, where words and the figure
// in brackets that repeats them are one value. If both are complete and differ, each is a
// value of its own: which one is right is open.
func (p *part) wholeValues(from, to int) (found []*value.Value) {
	for _, v := range p.valuesIn(max(0, from-longestSpelled), min(to+longestSpelled, len(p.tokens))) {
		w := p.whole(v)
		for w.From < v.From && len(found) > 0 {
			last := found[len(found)-1]
			if last.From < w.From || p.mark(last.To) == "(" && last.Kind == value.Figure && last.Number != w.Number {
				break
			}
			found = found[:len(found)-1]
		}
		found = append(found, w)
	}
	return slices.DeleteFunc(found, func(v *value.Value) bool { return v.From < from || v.From >= to })
}

// isSpelledWord reports whether a word is part of an amount in words: "tres millones de
// euros con cincuenta céntimos".
func (p *part) isSpelledWord(k int) bool {
	switch p.word(k) {
	case "":
		return false
	case "y", "i", "and", "con", "un", "una", "uno", "one", "centimos", "cents", "acciones", "shares", "accions":
		return true
	case "de":
		return p.hasBetween(k-1, k, "spelled number")
	default:
		return p.currencyAt(k) != "" || p.hasBetween(k, k+1, "spelled number")
	}
}

// unitBeside returns the unit of a figure in brackets that has none in them: that of the
// words before the brackets, which end at a token, or behind them.
func (p *part) unitBeside(v *value.Value, end int) string {
	const reach = 4 // "de nuevas acciones ordinarias"
	if currency := p.currencyAt(end - 1); currency != "" {
		return currency
	}
	for _, k := range []int{end - 1, v.To, v.To + 1, v.To + 2, v.To + reach - 1} {
		switch p.word(k) {
		case "acciones", "shares", "accions":
			return "share"
		}
	}
	return ""
}

// isPerShare reports whether "por acción" begins at a token.
func (p *part) isPerShare(k int) bool {
	link := p.word(k)
	of := p.word(k + 1)
	return (link == "por" || link == "per") && (of == "accion" || of == "share" || of == "accio")
}

// currencyAt returns the unit of the currency that a token names, or "".
func (p *part) currencyAt(k int) string {
	if k < 0 || k >= len(p.tokens) {
		return ""
	}
	s, _ := value.ReadScale(p.tokens[k:k+1], p.english)
	return strings.ToLower(s.Currency)
}
