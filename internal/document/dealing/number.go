package dealing

import (
	"math/big"
	"regexp"
	"strings"
)

// figure matches the numbers that have one reading. The comma is the decimal mark. Points
// separate thousands only where the number cannot have a decimal point: with a comma behind
// them, or two of them. So 1.234 is not read, since it may be either.
var figure = regexp.MustCompile(`^(?:(?:0|[1-9][0-9]{0,14})(?:,[0-9]{1,10})?` +
	`|[1-9][0-9]{0,2}(?:\.[0-9]{3}){1,4},[0-9]{1,10}` +
	`|[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,4})$`)

// parseNumber returns a number as a decimal with a point, without zeros at the end.
func parseNumber(s string) (string, bool) {
	if !figure.MatchString(s) {
		return "", false
	}
	whole, decimals, _ := strings.Cut(strings.ReplaceAll(s, ".", ""), ",")
	if decimals = strings.TrimRight(decimals, "0"); decimals != "" {
		return whole + "." + decimals, true
	}
	return whole, true
}

// looksNumeric reports whether a cell has digits and the marks of numbers only.
func looksNumeric(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789.,' -+") == ""
}

// looksBroken reports whether a cell may be the end of a number, a date or a code that is
// broken into two lines.
func looksBroken(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789.,/") == ""
}

// decimalPlaces returns how many decimals a number of the form is written with.
func decimalPlaces(s string) int {
	_, decimals, _ := strings.Cut(s, ",")
	return len(decimals)
}

// rational returns the value of a decimal that parseNumber returned.
func rational(decimal string) *big.Rat {
	r, _ := new(big.Rat).SetString(decimal)
	return r
}
