package market

import (
	"strconv"
	"time"
)

// Months are their names, from January.
var Months = [...]string{
	"enero", "febrero", "marzo", "abril", "mayo", "junio",
	"julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
}

// LongDate writes a date in words: 3 de mayo de 2026.
func LongDate(t time.Time) string {
	y, month, d := t.Date()
	return strconv.Itoa(d) + " de " + Months[month-1] + " de " + strconv.Itoa(y)
}

// Grouped writes a number with points between the thousands.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for k := len(s) - 3; k > 0; k -= 3 {
		s = s[:k] + "." + s[k:]
	}
	return s
}
