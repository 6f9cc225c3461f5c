package value

import "strings"

// Scale is the unit that a heading gives to the figures below or beside it: "(millones de
// euros)", "€ thousand", "Importe (€ por acción)".
type Scale struct {
	Currency string // as in Value.Unit; "" if the heading names none
	Power    int    // of ten
	PerShare bool
	Percent  bool
	Unclear  bool // it has more than one reading, such as m€ in Spanish
}

// ReadScale reads the unit in the words of a heading. It reports whether there is one.
func ReadScale(tokens []Token, english bool) (s Scale, ok bool) {
	for i := range tokens {
		word, text := tokens[i].Folded, tokens[i].Text
		power, isScale := scales[word]
		if word == "thousands" { // a figure never has it, unlike "millions"
			power, isScale = 3, true
		}
		switch unit := unitOf(text, word); {
		case isScale && !countsScale(tokens, i):
		case isScale && text == "m" && !english && isCurrencySign(tokens, i+1):
			s.Unclear = true
		case isScale && power == s.Power: // in two languages: "Millones de euros / EUR million"
		case isScale && s.Power > 0 && s.Currency != "":
			s.Unclear = true
		case isScale:
			s.Power += power
		case text == "000" || text == "'000":
			s.Power += 3
		case IsCurrency(unit):
			if s.Currency != "" && s.Currency != unit {
				s.Unclear = true
			}
			s.Currency = unit
		case unit == "%":
			s.Percent = true
		case unit == "share" && i > 0 && isPer(tokens[i-1]):
			s.PerShare = true
		}
	}
	if s.Power > 12 {
		s.Unclear = true
	}
	return s, s.Currency != "" || s.Power > 0 || s.Percent || s.Unclear
}

// countsScale reports whether a word such as mil, m or k is a scale: a single letter is
// one only next to a currency.
func countsScale(tokens []Token, i int) bool {
	if len(tokens[i].Text) > 1 {
		return true
	}
	return isCurrencySign(tokens, i+1) || isCurrencySign(tokens, i-1)
}

func isCurrencySign(tokens []Token, i int) bool {
	return i >= 0 && i < len(tokens) && IsCurrency(unitOf(tokens[i].Text, tokens[i].Folded))
}

func unitOf(text, folded string) string {
	if unit := units[folded]; unit != "" && folded != "" {
		return unit
	}
	return units[text]
}

func isPer(t Token) bool {
	return t.Folded == "por" || t.Folded == "per" || t.Text == "/" || t.Folded == "cada"
}

// currencies are the units that are currencies, with their ISO codes.
var currencies = map[string]string{
	"eur": "EUR", "usd": "USD", "gbp": "GBP", "chf": "CHF", "jpy": "JPY", "cny": "CNY", "brl": "BRL", "inr": "INR",
	"try": "TRY", "mxpeso": "MXN", "arpeso": "ARS", "copeso": "COP", "clpeso": "CLP", "secrown": "SEK",
	"nocrown": "NOK", "dkcrown": "DKK", "czcrown": "CZK", "causd": "CAD", "auusd": "AUD", "hk$": "HKD",
}

// IsCurrency reports whether a unit is a currency.
func IsCurrency(unit string) bool { return currencies[unit] != "" }

// CurrencyCode returns the ISO code of the currency of a unit, such as EUR for "eur" and
// "eur/share", or "".
func CurrencyCode(unit string) string {
	base, _, _ := strings.Cut(unit, "/")
	return currencies[base]
}
