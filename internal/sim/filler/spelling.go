package filler

import (
	"strconv"
	"strings"
	"time"
)

// Months are the names of the months, from January.
var Months = [...]string{
	"enero", "febrero", "marzo", "abril", "mayo", "junio",
	"julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
}

// LongDate returns a date in words: 3 de mayo de 2026.
func LongDate(t time.Time) string {
	return strconv.Itoa(t.Day()) + " de " + MonthOfYear(t.Month(), t.Year())
}

// MonthOfYear returns a month in words: mayo de 2026.
func MonthOfYear(month time.Month, year int) string {
	return Months[month-1] + " de " + strconv.Itoa(year)
}

// ParseDate parses a date as LongDate and as 03/05/2026.
func ParseDate(text string, in *time.Location) (time.Time, bool) {
	for n, month := range Months {
		text = strings.Replace(text, " de "+month+" de ", "/"+strconv.Itoa(n+1)+"/", 1)
	}
	t, err := time.ParseInLocation("2/1/2006", text, in)
	return t, err == nil
}

// Grouped returns a number with points between the thousands.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for k := len(s) - 3; k > 0; k -= 3 {
		s = s[:k] + "." + s[k:]
	}
	return s
}

// Decimal returns a number that is not negative with a comma and so many
// decimals.
func Decimal(x float64, places int) string {
	whole, part, _ := strings.Cut(strconv.FormatFloat(x, 'f', places, 64), ".")
	n, _ := strconv.ParseInt(whole, 10, 64)
	return Grouped(n) + "," + part
}

// ShortDecimal is Decimal without the decimals when all of them are zero.
func ShortDecimal(x float64, places int) string {
	return strings.TrimSuffix(Decimal(x, places), ","+strings.Repeat("0", places))
}

// ParseDecimal parses a number as Decimal and Grouped write it. It returns zero
// for other text.
func ParseDecimal(text string) float64 {
	x, _ := strconv.ParseFloat(strings.NewReplacer(".", "", ",", ".").Replace(text), 64)
	return x
}
