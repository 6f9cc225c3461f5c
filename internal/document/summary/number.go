package summary

import (
	"cmp"
	"strconv"
	"strings"
)

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

// compare returns -1, 0 or 1.
func (n number) compare(other number) int {
	size, otherSize := len(n.digits)+n.power, len(other.digits)+other.power
	switch {
	case n == other:
		return 0
	case n.digits == "0":
		return -1
	case other.digits == "0":
		return 1
	case size != otherSize:
		return cmp.Compare(size, otherSize)
	}
	return strings.Compare(n.digits, other.digits) // the longer number is larger, because its last digit is not zero
}

func (n number) String() string { return n.digits + "e" + strconv.Itoa(n.power) }

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

// cardinals are the numbers in words, except one, which is also an article.
var cardinals = map[string]int{
	"dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10,
	"once": 11, "doce": 12, "trece": 13, "catorce": 14, "quince": 15, "dieciseis": 16, "diecisiete": 17, "dieciocho": 18, "diecinueve": 19,
	"veinte": 20, "veintiun": 21, "veintiuno": 21, "veintiuna": 21, "veintidos": 22, "veintitres": 23, "veinticuatro": 24, "veinticinco": 25,
	"veintiseis": 26, "veintisiete": 27, "veintiocho": 28, "veintinueve": 29,
	"treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90,
	"cien": 100, "ciento": 100, "doscientos": 200, "doscientas": 200, "trescientos": 300, "trescientas": 300, "cuatrocientos": 400,
	"cuatrocientas": 400, "quinientos": 500, "quinientas": 500, "seiscientos": 600, "seiscientas": 600, "setecientos": 700,
	"setecientas": 700, "ochocientos": 800, "ochocientas": 800, "novecientos": 900, "novecientas": 900,
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}

// readWords reads a number in words and returns the number of words read. One counts
// only before a scale: "un millón".
func readWords(tokens []token) (n number, words int) {
	sum, part := 0, 0
	for words < len(tokens) {
		w := tokens[words].folded
		value, ok := cardinals[w]
		switch {
		case ok:
			part += value
		case w == "mil" && (words == 0 || sum == 0):
			sum, part = max(part, 1)*1000, 0
		case w == "y" && part >= 30 && part%10 == 0 && words+1 < len(tokens) && unitWord(tokens[words+1].folded):
			part += max(cardinals[tokens[words+1].folded], 1)
			words++
		case words == 0 && (w == "un" || w == "one") && len(tokens) > 1 && scales[tokens[1].folded] > 3:
			return number{digits: "1"}, 1
		default:
			return newNumber(strconv.Itoa(sum+part), 0), words
		}
		words++
	}
	return newNumber(strconv.Itoa(sum+part), 0), words
}

func unitWord(w string) bool {
	return cardinals[w] > 0 && cardinals[w] < 10 || w == "un" || w == "uno" || w == "una"
}

// scales are powers of ten by the word after a number.
var scales = map[string]int{
	"mil": 3, "miles": 3, "k": 3, "thousand": 3,
	"millon": 6, "millones": 6, "mill": 6, "mm": 6, "m": 6, "mn": 6, "mio": 6, "million": 6, "millions": 6,
	"bn": 9, "billion": 9, "billones": 12, "billon": 12,
}
