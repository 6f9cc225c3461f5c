package fact

import (
	"strconv"
	"strings"
	"time"

	"pregon/internal/document/value"
)

// mostDigits is the length of the longest figure that is read.
const mostDigits = 24

// decimal returns a figure as a decimal with a point.
func decimal(v *value.Value, power int) (string, bool) {
	n := v.Number.Times(power)
	if n.Digits() > mostDigits {
		return "", false
	}
	text := n.String()
	if v.Negative && text != "0" {
		text = "-" + text
	}
	return text, true
}

// money returns an amount of money and its currency. A figure without a unit has that of
// its heading.
func money(v *value.Value, heading value.Scale) (amount, currency string, ok bool) {
	if v.Kind != value.Figure || v.Bound == "about" {
		return "", "", false
	}
	power := 0
	switch {
	case value.CurrencyCode(v.Unit) != "":
		currency = value.CurrencyCode(v.Unit)
	case v.Unit == "" && heading.Currency != "" && !heading.Unclear:
		currency = value.CurrencyCode(heading.Currency)
		if !v.Scaled() {
			power = heading.Power
		}
	default:
		return "", "", false
	}
	amount, ok = decimal(v, power)
	return amount, currency, ok
}

// count returns a number of shares or other things.
func count(v *value.Value, heading value.Scale) (string, bool) {
	if v.Kind != value.Figure || v.Bound == "about" || v.Negative || heading.Unclear {
		return "", false
	}
	switch v.Unit {
	case "share", "security", "right", "":
	default:
		return "", false
	}
	power := 0
	if v.Unit == "" && !v.Scaled() && heading.Currency == "" {
		power = heading.Power
	}
	text, ok := decimal(v, power)
	return text, ok && !strings.Contains(text, ".")
}

// date returns a complete date that exists.
func date(v *value.Value) (string, bool) {
	if v.Kind != value.Date || v.Year == 0 || v.Month == 0 || v.Day == 0 {
		return "", false
	}
	t := time.Date(v.Year, time.Month(v.Month), v.Day, 0, 0, 0, 0, time.UTC)
	if t.Day() != v.Day {
		return "", false
	}
	return t.Format(time.DateOnly), true
}

// isWithin reports whether a date is at most some days before or behind the report.
func (r *reading) isWithin(text string, before, behind int) bool {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || r.Published.IsZero() {
		return err == nil
	}
	return t.After(r.Published.AddDate(0, 0, -before)) && t.Before(r.Published.AddDate(0, 0, behind))
}

// hours are the numbers that spell a time: "a las doce horas".
var hours = map[string]int{
	"una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10,
	"once": 11, "doce": 12, "trece": 13, "catorce": 14, "quince": 15, "dieciseis": 16, "diecisiete": 17, "dieciocho": 18,
	"diecinueve": 19, "veinte": 20, "noon": 12, "mediodia": 12,
}

// clock reads the time of day that begins at a token: 12:30, "17.00 horas", "10 h",
// "12:30 p.m.", "doce horas". It returns the end.
func (p *part) clock(i int) (hour, minute, end int, ok bool) {
	text := p.mark(i)
	digits, suffix := text, ""
	isOther := func(c rune) bool { return (c < '0' || c > '9') && !strings.ContainsRune(":.,", c) }
	if at := strings.IndexFunc(text, isOther); at >= 0 {
		digits, suffix = text[:at], strings.ToLower(text[at:])
	}
	digits = strings.Replace(digits, ",", ".", 1)                                        // "12,30 horas"
	if m := strings.TrimLeft(suffix, "'’h"); len(m) == 2 && m[0] >= '0' && m[0] <= '9' { // "12'30", "12h30"
		digits, suffix = digits+":"+m, ""
	}
	if strings.Count(digits, ":") == 2 { // with seconds: 11:05:30
		digits = digits[:strings.LastIndexByte(digits, ':')]
	}
	end = i + 1
	h, m, found := strings.Cut(strings.Replace(digits, ".", ":", 1), ":")
	hour, err := strconv.Atoi(h)
	sure := strings.Contains(digits, ":")
	switch {
	case hours[p.word(i)] > 0:
		hour = hours[p.word(i)]
	case err != nil || len(h) > 2 || hour > 24 || found && len(m) != 2:
		return 0, 0, 0, false
	case found:
		if minute, err = strconv.Atoi(m); err != nil || minute > 59 {
			return 0, 0, 0, false
		}
	}
	if suffix == "" && p.mark(end) == "." && (p.word(end+1) == "m") {
		return 0, 0, 0, false
	}
	switch {
	case suffix == "h" || suffix == "hs" || suffix == "hrs":
		sure = true
	case isHour(p.word(end)):
		sure = true
		end++
	}
	if !found {
		extra, behind, ok := p.minutes(end)
		switch {
		case ok:
			minute = extra
			end = behind
		case p.mentionsMinutes(end):
			return 0, 0, 0, false
		}
	}
	half := suffix
	if half == "" {
		half = p.word(end)
	}
	switch {
	case half == "pm" || half == "p" && p.mark(end+1) == "." && p.word(end+2) == "m":
		sure = true
		if hour < 12 {
			hour += 12
		}
		end = p.behindHalf(end, suffix)
	case half == "am" || half == "a" && p.mark(end+1) == "." && p.word(end+2) == "m":
		sure = true
		if hour == 12 {
			hour = 0
		}
		end = p.behindHalf(end, suffix)
	case p.word(end) == "noon" || p.word(end) == "mediodia":
		sure = true
		end++
	case p.word(end) == "de" && (p.word(end+2) == "manana" || p.word(end+2) == "mati"):
		sure = true
		end += 3
	case (p.word(end) == "de" || p.word(end) == "in") && afternoon(p.word(end+2)):
		sure = true
		if hour < 12 {
			hour += 12
		}
		end += 3
	}
	if p.word(i) == "noon" || p.word(i) == "mediodia" {
		sure = true
	}
	return hour, minute, end, sure && hour < 24
}

// behindHalf returns the token behind "pm" or "p.m.", which may be joined to the hour.
func (p *part) behindHalf(i int, joined string) int {
	if joined == "" {
		i++
	}
	if p.mark(i) == "." && p.word(i+1) == "m" {
		i += 2
		if p.mark(i) == "." && i+1 < len(p.tokens) {
			i++
		}
	}
	return i
}

// minutes reads the minutes behind an hour: "y media", "y 30 minutos", "treinta y cinco
// minutos". It returns the end.
func (p *part) minutes(i int) (minute, end int, ok bool) {
	joined := p.isMinutesLink(i)
	if joined || p.mark(i) == "," {
		i++
	}
	switch p.word(i) {
	case "media", "mitja":
		return 30, i + 1, joined
	case "cuarto":
		return 15, i + 1, joined
	}
	minute, i, ok = p.numberOfMinutes(i)
	if !ok || minute > 59 {
		return 0, 0, false
	}
	switch p.word(i) {
	case "minutos", "minuts", "min", "mins", "minutes":
		return minute, i + 1, true
	}
	return minute, i + 1, joined && isHour(p.word(i)) // "doce y treinta horas"
}

// numberOfMinutes reads 45, or "cuarenta y cinco".
func (p *part) numberOfMinutes(i int) (minute, end int, ok bool) {
	if n, err := strconv.Atoi(p.mark(i)); err == nil {
		return n, i + 1, true
	}
	minute, ok = spelledMinutes[p.word(i)]
	if !ok {
		return 0, 0, false
	}
	if p.isMinutesLink(i+1) && p.word(i+2) == "cinco" && minute >= 30 {
		return minute + 5, i + 3, true
	}
	return minute, i + 1, true
}

func (p *part) isMinutesLink(i int) bool {
	w := p.word(i)
	return w == "y" || w == "i" || w == "con"
}

// mentionsMinutes reports whether minutes follow an hour that are not read: "doce menos
// cuarto". Then the hour alone would be wrong.
func (p *part) mentionsMinutes(i int) bool {
	const near = 5
	for k := i; k < i+near; k++ {
		switch p.word(k) {
		case "minutos", "minuts", "min", "minutes", "cuarto", "quart", "menos", "menys":
			return true
		}
		if p.mark(k) == "." || p.mark(k) == ";" {
			return false
		}
	}
	return false
}

// spelledMinutes are the numbers of minutes that are usual in words.
var spelledMinutes = map[string]int{
	"cero": 0, "cinco": 5, "diez": 10, "quince": 15, "veinte": 20, "veinticinco": 25, "treinta": 30, "cuarenta": 40,
	"cincuenta": 50, "trenta": 30,
}

func isHour(w string) bool {
	switch w {
	case "h", "hora", "horas", "hs", "hrs", "hours", "hores", "cet", "cest":
		return true
	}
	return false
}

func afternoon(w string) bool { return w == "tarde" || w == "afternoon" || w == "tarda" }
