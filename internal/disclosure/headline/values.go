package headline

import (
	"strings"
	"time"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

// values writes the fields of a fact in a language. Its methods return "" for a field
// that is missing or is not of the form that it should have.
type values struct {
	fields   map[string]string
	language *language
	short    bool // for a line
	year     int  // the last one that was written, which is not repeated
}

// language has what numbers and dates need.
type language struct {
	thousands   string
	decimal     string
	months      [12]string
	shortMonths [12]string
}

var (
	spanish = &language{
		thousands: ".",
		decimal:   ",",
		months: [12]string{
			"enero", "febrero", "marzo", "abril", "mayo", "junio",
			"julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
		},
		shortMonths: [12]string{"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"},
	}
	english = &language{
		thousands: ",",
		decimal:   ".",
		months: [12]string{
			"January", "February", "March", "April", "May", "June",
			"July", "August", "September", "October", "November", "December",
		},
		shortMonths: [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	}
)

// say returns the words of the language of a line.
func (v *values) say(es, en string) string {
	if v.language == spanish {
		return es
	}
	return en
}

// choice returns the words for the value of a field that has a fixed set of values.
func (v *values) choice(field string, words map[string]string) string { return words[v.fields[field]] }

// name returns the name of a person, a post, a company or an agency.
func (v *values) name(field string) string {
	s := strings.Join(strings.Fields(v.fields[field]), " ")
	if len(s) > maxName || !utf8.ValidString(s) || strings.ContainsFunc(s, text.Invisible) {
		return ""
	}
	return s
}

// decimal returns a number that is not negative, as the field has it.
func (v *values) decimal(field string) string {
	s := v.signed(field)
	if strings.HasPrefix(s, "-") {
		return ""
	}
	return s
}

// signed returns a number, as the field has it but without needless zeros.
func (v *values) signed(field string) string {
	s := v.fields[field]
	if len(s) > maxDigits || !disclosure.IsDecimal(s) {
		return ""
	}
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	whole = strings.TrimLeft(whole, "0")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if negative && whole+fraction != "0" {
		whole = "-" + whole
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// number writes a number that signed returned.
func (l *language) number(s string) string {
	s, negative := strings.CutPrefix(s, "-")
	whole, fraction, _ := strings.Cut(s, ".")
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(l.thousands)
		}
		b.WriteByte(whole[i])
	}
	if fraction != "" {
		b.WriteString(l.decimal + fraction)
	}
	return b.String()
}

// percent writes a percentage.
func (v *values) percent(field string) string {
	s := v.decimal(field)
	if s == "" || disclosure.CompareDecimals(s, "100") > 0 {
		return ""
	}
	return v.language.number(s) + v.say(" %", "%")
}

// count writes a number of things, with the words for one and for several.
func (v *values) count(field, one, several string) string {
	s := v.decimal(field)
	switch {
	case s == "" || strings.Contains(s, "."):
		return ""
	case s == "1":
		return s + " " + one
	case v.language == spanish && len(s) > 6 && strings.HasSuffix(s, "000000"):
		return v.language.number(s) + " de " + several // «tres millones de acciones»
	}
	return v.language.number(s) + " " + several
}

// money writes an amount of money that is not negative, with its currency.
func (v *values) money(field string) string { return v.amount(v.decimal(field)) }

// amount writes an amount of money, with the currency of the fact.
func (v *values) amount(s string) string {
	code := v.fields["currency"]
	if s == "" || !isCurrency(code) {
		return ""
	}
	millions := inMillions(s)
	number := v.language.number(withCents(s))
	if millions != "" {
		number = v.language.number(millions)
	}
	switch {
	case v.language == spanish && v.short:
		return shortSpanishMoney(number, millions != "", code)
	case v.language == spanish:
		return spanishMoney(number, millions, code)
	}
	return englishMoney(number, millions != "", code, v.short)
}

func isCurrency(code string) bool {
	return len(code) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// inMillions returns an amount in millions if it is at least one, and the result is
// exact with four decimals.
func inMillions(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	if len(digits) < 7 || strings.Contains(digits, ".") || !strings.HasSuffix(digits, "00") {
		return ""
	}
	whole, fraction := digits[:len(digits)-6], strings.TrimRight(digits[len(digits)-6:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	if negative {
		whole = "-" + whole
	}
	return whole
}

// withCents writes 0.5 as 0.50.
func withCents(s string) string {
	if _, fraction, _ := strings.Cut(s, "."); len(fraction) == 1 {
		return s + "0"
	}
	return s
}

var symbols = map[string]string{"EUR": "€", "USD": "$", "GBP": "£"}

func shortSpanishMoney(number string, millions bool, code string) string {
	symbol, known := symbols[code]
	switch {
	case millions && known:
		return number + " M" + symbol
	case millions:
		return number + " M " + code
	case known:
		return number + " " + symbol
	}
	return number + " " + code
}

func spanishMoney(number, millions, code string) string {
	names := map[string][2]string{
		"EUR": {"euro", "euros"},
		"USD": {"dólar estadounidense", "dólares estadounidenses"},
		"GBP": {"libra esterlina", "libras esterlinas"},
	}
	name, known := names[code]
	if !known {
		name = [2]string{code, code}
	}
	switch {
	case millions == "1":
		return number + " millón de " + name[1]
	case millions != "":
		return number + " millones de " + name[1]
	case number == "1":
		return number + " " + name[0]
	}
	return number + " " + name[1]
}

func englishMoney(number string, millions bool, code string, short bool) string {
	number, negative := strings.CutPrefix(number, "-")
	symbol, known := symbols[code]
	if !known {
		symbol = code + " "
	}
	out := symbol + number
	if negative {
		out = "-" + out
	}
	switch {
	case millions && short:
		return out + "m"
	case millions:
		return out + " million"
	}
	return out
}

// moment is a date of a fact, perhaps with a time of day.
type moment struct {
	time.Time
	clock string // 15:04, or ""
}

// moment reads a date.
func (v *values) moment(field string) (m moment, ok bool) {
	day, clock, timed := strings.Cut(v.fields[field], "T")
	t, err := time.Parse("2006-01-02", day)
	if err != nil || t.Year() < 1900 {
		return moment{}, false
	}
	if _, err := time.Parse("15:04", clock); timed && (err != nil || len(clock) != len("15:04")) {
		return moment{}, false
	}
	return moment{t, clock}, true
}

// date writes a date, without its year if that is the one of the date before.
func (v *values) date(field string) string {
	m, ok := v.moment(field)
	if !ok {
		return ""
	}
	withYear := !v.short && m.Year() != v.year
	v.year = m.Year()
	return v.day(m, true, withYear) + v.clock(m)
}

// fullDate writes a date with its year.
func (v *values) fullDate(field string) string {
	v.year = 0
	m, ok := v.moment(field)
	if !ok {
		return ""
	}
	return v.day(m, true, true) + v.clock(m)
}

func (v *values) clock(m moment) string {
	switch {
	case m.clock == "":
		return ""
	case v.short:
		return " " + m.clock
	case v.language == spanish:
		return " a las " + m.clock
	}
	return " at " + m.clock
}

// day writes a day, with or without its month and year.
func (v *values) day(m moment, withMonth, withYear bool) string {
	of := " "
	if v.language == spanish && !v.short {
		of = " de "
	}
	months := &v.language.months
	if v.short {
		months = &v.language.shortMonths
	}
	out := m.Format("2")
	if withMonth {
		out += of + months[m.Month()-1]
	}
	if withYear {
		out += of + m.Format("2006")
	}
	return out
}

// span writes the days of the fields from and to: "from 9 to 13 November 2026".
func (v *values) span() string {
	from, hasFrom := v.moment("from")
	to, hasTo := v.moment("to")
	switch {
	case hasFrom && hasTo && from.Equal(to.Time):
		return v.say("el ", "on ") + v.day(from, true, true)
	case hasFrom && hasTo && from.Before(to.Time):
		sameYear := from.Year() == to.Year()
		sameMonth := sameYear && from.Month() == to.Month()
		return v.say("del ", "from ") + v.day(from, !sameMonth, !sameYear) + v.say(" al ", " to ") + v.day(to, true, true)
	case hasFrom && hasTo:
		return "" // one of them is wrong
	case hasFrom:
		return v.say("desde el ", "from ") + v.day(from, true, true)
	case hasTo:
		return v.say("hasta el ", "until ") + v.day(to, true, true)
	}
	return ""
}

// shortSpan writes the days of the fields from and to for a line: 9–13 nov.
func (v *values) shortSpan() string {
	from, hasFrom := v.moment("from")
	to, hasTo := v.moment("to")
	switch {
	case !hasFrom || !hasTo || from.After(to.Time):
		return ""
	case from.Equal(to.Time):
		return v.day(to, true, false)
	case from.Year() == to.Year() && from.Month() == to.Month():
		return from.Format("2") + "–" + v.day(to, true, false)
	}
	sameYear := from.Year() == to.Year()
	return v.day(from, true, !sameYear) + " – " + v.day(to, true, !sameYear)
}

// period splits the period of results: 2026-H1 is H1 and 2026, 2026 is "" and 2026.
func (v *values) period() (part, year string) {
	year, part, split := strings.Cut(v.fields["period"], "-")
	if _, err := time.Parse("2006", year); err != nil {
		return "", ""
	}
	switch part {
	case "H1", "H2", "9M", "Q1", "Q2", "Q3", "Q4":
		return part, year
	}
	if split {
		return "", ""
	}
	return "", year
}
