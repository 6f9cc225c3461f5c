package headline

import (
	"slices"

	"pregon/internal/disclosure"
)

// Value returns the value of one field of a fact as a person reads it: "15 de diciembre de
// 2026", "1.284,6 millones de euros". The language is es or en. A value that is not of the
// form that its field should have, or whose field is not known, is returned as it is: it
// stands beside the words of the document. An amount without a currency is a number.
func Value(f disclosure.Fact, field, language string) string {
	return valueOf(f, field, language, false)
}

// ShortValue is Value for the cells of a table with many rows: "15 dic 2026", "12,34 €".
func ShortValue(f disclosure.Fact, field, language string) string {
	return valueOf(f, field, language, true)
}

func valueOf(f disclosure.Fact, field, language string, short bool) string {
	v := &values{fields: f.Fields, language: english, short: short}
	if language == "es" {
		v.language = spanish
	}
	if written := v.field(f.Kind, field); written != "" {
		return written
	}
	return f.Fields[field]
}

// Amounts returns the names of the fields of a kind that are amounts of money, which are
// written with the currency of the fact.
func Amounts(kind disclosure.FactKind) []string {
	var found []string
	for _, field := range kind.Fields() {
		if formOf(field) == money {
			found = append(found, field)
		}
	}
	return found
}

// IsNumber reports whether the values of a field are numbers.
func IsNumber(field string) bool {
	form := formOf(field)
	return form == money || form == count || form == percent
}

// form is how the values of a field are written.
type form int

const (
	other form = iota
	money
	count
	percent
	date
)

func formOf(field string) form {
	is := func(names ...string) bool { return slices.Contains(names, field) }
	switch {
	case is("gross_per_share", "revenue", "ebitda", "net_profit", "max_amount", "amount", "price",
		"capital", "capital_after", "balance_cash", "interest", "redemption"):
		return money
	case is("max_shares", "shares", "voting_rights", "new_shares", "bought", "sold", "balance_shares"):
		return count
	case is("acceptance"):
		return percent
	case is("ex_date", "record_date", "payment_date", "first_call", "second_call", "ends_on", "from", "to",
		"as_of", "at", "effective", "date"):
		return date
	}
	return other
}

// field writes a value. It returns "" if it has no words of its own.
func (v *values) field(kind disclosure.FactKind, field string) string {
	switch formOf(field) {
	case money:
		if written := v.amount(v.signed(field)); written != "" {
			return written
		}
		return v.number(field)
	case count:
		return v.number(field)
	case percent:
		return v.percent(field)
	case date:
		return v.fullDate(field)
	}
	switch field {
	case "period":
		return v.periodInWords()
	case "role":
		if v.language == spanish {
			return v.roleInSpanish()
		}
		return v.roleInEnglish()
	case "outlook":
		if v.language == spanish {
			return v.choice(field, outlooksInSpanish)
		}
		return v.choice(field, outlooksInEnglish)
	}
	words := choices[kind][field][v.fields[field]]
	return v.say(words[0], words[1])
}

func (v *values) number(field string) string {
	s := v.signed(field)
	if s == "" {
		return ""
	}
	return v.language.number(s)
}

func (v *values) periodInWords() string {
	part, year := v.period()
	if year == "" {
		return ""
	}
	words := map[string][2]string{
		"H1": {"primer semestre de ", "first half of "},
		"H2": {"segundo semestre de ", "second half of "},
		"9M": {"nueve primeros meses de ", "first nine months of "},
		"Q1": {"primer trimestre de ", "first quarter of "},
		"Q2": {"segundo trimestre de ", "second quarter of "},
		"Q3": {"tercer trimestre de ", "third quarter of "},
		"Q4": {"cuarto trimestre de ", "fourth quarter of "},
	}[part]
	return v.say(words[0], words[1]) + year
}

// choices has the words for fields with a fixed set of values, in Spanish and in English.
var choices = map[disclosure.FactKind]map[string]map[string][2]string{
	disclosure.Dividend: {"form": {
		"cash":  {"en efectivo", "cash"},
		"scrip": {"en acciones (scrip)", "shares (scrip)"},
	}},
	disclosure.Meeting: {"meeting_kind": {
		"ordinary":      {"junta general ordinaria", "ordinary general meeting"},
		"extraordinary": {"junta general extraordinaria", "extraordinary general meeting"},
		"bondholders":   {"asamblea de obligacionistas", "meeting of bondholders"},
	}},
	disclosure.BuybackProgramme: {"event": {
		"start":      {"inicio", "start"},
		"end":        {"fin", "end"},
		"suspension": {"suspensión", "suspension"},
		"resumption": {"reanudación", "resumption"},
		"change":     {"modificación", "change"},
	}},
	disclosure.Capital: {"action": {
		"increase":  {"aumento", "increase"},
		"reduction": {"reducción", "reduction"},
	}},
	disclosure.Suspension: {"action": {
		"suspended": {"negociación suspendida", "trading suspended"},
		"lifted":    {"suspensión levantada", "suspension lifted"},
		"excluded":  {"exclusión de negociación", "exclusion from trading"},
	}},
	disclosure.Board: {"action": {
		"appointed": {"nombramiento", "appointed"},
		"reelected": {"reelección", "re-elected"},
		"resigned":  {"dimisión", "resigned"},
		"removed":   {"cese", "removed"},
	}},
	disclosure.Rating: {"action": {
		"upgrade":   {"mejora", "upgrade"},
		"downgrade": {"rebaja", "downgrade"},
		"affirmed":  {"confirmación", "affirmed"},
		"review":    {"en revisión", "under review"},
		"assigned":  {"asignación", "assigned"},
		"withdrawn": {"retirada", "withdrawn"},
	}},
	disclosure.Takeover: {"action": {
		"announced":  {"anunciada", "announced"},
		"authorised": {"autorizada", "authorised"},
		"accepted":   {"aceptada", "accepted"},
		"withdrawn":  {"retirada", "withdrawn"},
		"result":     {"resultado", "result"},
	}},
}
