package regulator

import (
	"regexp"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// decimalForm is a number as the registers write it: points between the thousands and
// a comma before the decimals, or no points at all.
var decimalForm = regexp.MustCompile(`^(\d{1,3}(?:\.\d{3}){1,5}|\d{1,15})(?:,(\d{1,8}))?$`)

// parseDecimal converts a number of a register to digits with a point. Decimals are
// kept as they are written, zeros too.
func parseDecimal(s string) (string, bool) {
	m := decimalForm.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	whole := strings.TrimLeft(strings.ReplaceAll(m[1], ".", ""), "0")
	if whole == "" {
		whole = "0"
	}
	if m[2] == "" {
		return strings.Clone(whole), true
	}
	return whole + "." + m[2], true
}

// maxPercent bounds percentages, in digits before the point. Shares and instruments
// together may be above 100.
const maxPercent = 3

// parsePercent converts a percentage. An empty cell gives "".
func parsePercent(s string) (string, bool) {
	s = strings.TrimSpace(strings.TrimSuffix(s, "%"))
	if s == "" || s == "-" {
		return "", true
	}
	d, ok := parseDecimal(s)
	whole, _, _ := strings.Cut(d, ".")
	return d, ok && len(whole) <= maxPercent
}

var wholeDateForm = regexp.MustCompile(`^(\d{1,2})/(\d{1,2})/(\d{4})$`)

// parseDay converts a date such as 23/06/2026.
func parseDay(s string) (disclosure.Day, bool) {
	m := wholeDateForm.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	w := wallTime{
		year:  atoi(m[3]),
		month: time.Month(atoi(m[2])),
		day:   atoi(m[1]),
	}
	if !w.exists() || w.year < 1950 || w.year > 2100 {
		return 0, false
	}
	return disclosure.DayOf(time.Date(w.year, w.month, w.day, 12, 0, 0, 0, disclosure.Madrid)), true
}
