package summary

import "strings"

// number is a decimal number: its digits, without zeros at either end, and the
// power of ten of the last digit. It is exact and comparable.
type number struct {
	digits string
	power  int
}

func newNumber(digits string, power int) number {
	digits = strings.TrimLeft(digits, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return number{digits: "0"}
	}
	return number{short, power + len(digits) - len(short)}
}

func (n number) times(power int) number {
	if n.digits != "0" {
		n.power += power
	}
	return n
}

// readNumber reads a number with points and commas. A single comma is the decimal
// mark, and a point before three digits separates thousands; in English it is the
// reverse.
func readNumber(text string, english bool) (number, bool) {
	var digits strings.Builder
	text = strings.Join(strings.Fields(text), "")
	decimals := decimalMark(text, english)
	power := 0
	for i, c := range []byte(text) {
		switch {
		case isDigit(c):
			digits.WriteByte(c)
			if decimals >= 0 && i > decimals {
				power--
			}
		case c != '.' && c != ',' && c != '\'':
			return number{}, false
		}
	}
	return newNumber(digits.String(), power), digits.Len() > 0
}

// decimalMark returns the index of the decimal mark, or -1.
func decimalMark(text string, english bool) int {
	point, comma := strings.LastIndexByte(text, '.'), strings.LastIndexByte(text, ',')
	switch {
	case point >= 0 && comma >= 0:
		return max(point, comma)
	case point < 0 && comma < 0:
		return -1
	}
	mark, thousands := comma, english
	if point >= 0 {
		mark, thousands = point, !english
	}
	if strings.Count(text, text[mark:mark+1]) > 1 {
		return -1
	}
	if thousands && len(text)-mark == 4 && mark <= 3 && text[0] != '0' {
		return -1
	}
	return mark
}
