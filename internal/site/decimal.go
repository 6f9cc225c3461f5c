package site

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/site/render"
)

// nbsp keeps a number and its unit on one line.
const nbsp = "\u00a0"

// decimal writes a decimal of a register with all its digits: "5,033".
func (e edition) decimal(s string) string {
	if !disclosure.IsDecimal(s) {
		return s
	}
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	var b strings.Builder
	if negative {
		b.WriteString("−")
	}
	b.WriteString(e.grouped(whole))
	if fraction != "" {
		if e.Language == render.Spanish {
			b.WriteByte(',')
		} else {
			b.WriteByte('.')
		}
		b.WriteString(fraction)
	}
	return b.String()
}

// grouped writes the digits of a whole number with separators of thousands.
func (e edition) grouped(digits string) string {
	separator := "."
	switch {
	case e.Language == render.English:
		separator = ","
	case len(digits) < 5:
		return digits // four digits have none in Spanish
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + separator + digits[i:]
	}
	return digits
}

// percentage writes a percentage of a register, or "" if it is not known.
func (e edition) percentage(s string) string {
	switch {
	case s == "":
		return ""
	case e.Language == render.English:
		return e.decimal(s) + "%"
	}
	return e.decimal(s) + nbsp + "%"
}

// wholeFrom is the least amount that is written without cents.
const wholeFrom = 1000

// money writes an amount, rounded to cents, or to whole units if it is large.
func (e edition) money(amount, currency string) string {
	value, ok := new(big.Rat).SetString(amount)
	if !ok {
		return ""
	}
	places := 2
	if new(big.Rat).Abs(value).Cmp(big.NewRat(wholeFrom, 1)) >= 0 || value.IsInt() {
		places = 0
	}
	return e.price(value.FloatString(places), currency)
}

// price writes a decimal in a currency with all its digits.
func (e edition) price(decimal, currency string) string {
	number := e.decimal(decimal)
	symbol := currency
	if currency == "EUR" {
		symbol = "€"
	}
	if e.Language == render.English && symbol == "€" {
		return symbol + number
	}
	return number + nbsp + symbol
}

// hundredths returns a decimal times 100, rounded, as charts draw it. It is 0 for one that
// no chart can draw.
func hundredths(s string) int {
	value, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(value) > math.MaxInt32*100 {
		return 0
	}
	return int(math.Round(100 * value))
}
