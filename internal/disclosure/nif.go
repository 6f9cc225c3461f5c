package disclosure

import "strings"

// NIF is a Spanish entity's tax number (the old CIF) in its normal form: a
// letter, seven digits and a control character, without dash, dot or space.
//
// The regulator prints the same number in several forms and finds it by only one
// of them, so records keep the literal form and this one is derived.
type NIF string

const (
	nifLetters = "ABCDEFGHJNPQRSUVW" // kinds of entity; K, L, M, X, Y, Z are people
	nifControl = "JABCDEFGHI"        // the control letter for each control digit
)

// ParseNIF normalises a literal and reports whether it has the shape of a NIF.
// The control character is not checked: a source row is never refused for it.
func ParseNIF(literal string) (NIF, bool) {
	var n strings.Builder
	for _, c := range strings.ToUpper(literal) {
		switch c {
		case '-', '.', ' ':
		default:
			n.WriteRune(c)
		}
	}
	s := n.String()
	if len(s) == 11 {
		s = strings.TrimPrefix(s, "ES")
	}
	if len(s) != 9 || !strings.Contains(nifLetters, s[:1]) || !isDigits(s[1:8]) {
		return "", false
	}
	if c := s[8]; (c < '0' || c > '9') && (c < 'A' || c > 'J') {
		return "", false
	}
	return NIF(s), true
}

// OtherSpelling returns a NIF with its dash if the literal has none, and without
// if it has one: the regulator finds a number by only one of the two. ok is
// false if the literal does not have the form of a NIF.
func OtherSpelling(literal string) (other string, ok bool) {
	nif, ok := ParseNIF(literal)
	if !ok {
		return "", false
	}
	if strings.Contains(literal, "-") {
		return string(nif), true
	}
	return string(nif[:1] + "-" + nif[1:]), true
}

// Checks reports whether the control character agrees with the digits. Sources
// conflict on which kinds of entity take a letter, so either form passes.
func (n NIF) Checks() bool {
	if len(n) != 9 || !isDigits(string(n[1:8])) {
		return false
	}
	c := controlDigit(string(n[1:8]))
	return n[8] == byte('0'+c) || n[8] == nifControl[c]
}

// MakeNIF completes a letter and seven digits with the control digit. It
// serves the simulated market, whose companies need numbers that check.
func MakeNIF(letter byte, digits string) NIF {
	return NIF(string(letter) + digits + string(rune('0'+controlDigit(digits))))
}

// controlDigit adds the digits in even places to the digit sums of the doubles
// of those in odd places, and returns the difference to the next multiple of ten.
func controlDigit(digits string) int {
	sum := 0
	for i := range 7 {
		d := int(digits[i] - '0')
		if i%2 == 0 {
			d *= 2
			d = d/10 + d%10
		}
		sum += d
	}
	return (10 - sum%10) % 10
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
