package value

import "strings"

// Number is a decimal number: its digits, without zeros at either end, and the
// power of ten of the last digit. It is exact and comparable.
type Number struct {
	digits string
	power  int
}

func newNumber(digits string, power int) Number {
	digits = strings.TrimLeft(digits, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return Number{digits: "0"}
	}
	return Number{short, power + len(digits) - len(short)}
}

// String returns the number as a decimal with a point.
func (n Number) String() string {
	digits := n.digits
	if n.power >= 0 {
		return digits + strings.Repeat("0", n.power)
	}
	decimals := -n.power
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole := len(digits) - decimals
	return digits[:whole] + "." + digits[whole:]
}

// Digits returns the length of String without the point.
func (n Number) Digits() int { return max(len(n.digits)+n.power, len(n.digits), 1-n.power) }

// Times returns the number times a power of ten.
func (n Number) Times(power int) Number {
	if n.digits != "0" {
		n.power += power
	}
	return n
}

// ParseNumber reads a number with points and commas. A single comma is the decimal
// mark, and a point before three digits separates thousands; in English it is the
// reverse.
func ParseNumber(text string, english bool) (Number, bool) {
	text = strings.Join(strings.Fields(text), "")
	if at := strings.LastIndexByte(text, '\''); at >= 0 && len(text)-at != 4 {
		text = text[:at] + "," + text[at+1:] // 1'5
		english = false
	}
	decimals := ""
	if mark := decimalMark(text, english); mark >= 0 {
		text, decimals = text[:mark], text[mark+1:]
	}
	digits := separators.Replace(text + decimals)
	return newNumber(digits, -len(decimals)), digits != "" && strings.Trim(digits, "0123456789") == ""
}

var separators = strings.NewReplacer(".", "", ",", "", "'", "")

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
