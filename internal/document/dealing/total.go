package dealing

import (
	"math/big"
	"strings"
)

var totalWords = lists.Set("totals")

// isTotal reports whether a line announces the total of an operation.
func isTotal(l *line) bool {
	return strings.Contains(l.fold, "total agregad") || strings.Contains(l.fold, "aggregated information")
}

// declared is a total as the notice writes it.
type declared struct {
	volume, price string // decimals with a point; the price may be ""
	places        int    // decimals of the price
}

// parseTotal reads the numbers of a total: the volume, and often the mean price.
func parseTotal(l *line, words []string) (d declared, err error) {
	var ok bool
	if len(words) < 1 || len(words) > 2 {
		return d, l.unreadable("a total does not have one or two numbers")
	}
	if d.volume, ok = parseNumber(words[0]); !ok {
		return d, l.unreadable("the volume of a total is not a number with one reading")
	}
	if len(words) == 2 {
		d.places = decimalPlaces(words[1])
		if d.price, ok = parseNumber(words[1]); !ok {
			return d, l.unreadable("the price of a total is not a number with one reading")
		}
	}
	return d, nil
}

// numbersBehind returns the numbers at the end of the line that announces a total. The words
// before them must be those of the form.
func numbersBehind(l *line) ([]string, error) {
	words := strings.Fields(l.text)
	at := len(words)
	for at > 0 && looksNumeric(words[at-1]) {
		at--
	}
	for _, word := range strings.Fields(fold(strings.Join(words[:at], " "))) {
		if !totalWords.Has(word) && !linkingWords.Has(word) {
			return nil, l.unreadable("there is other text beside the head of a total")
		}
	}
	return words[at:], nil
}

// agrees reports whether a total is that of some rows: the sum of the volumes, and the mean
// of the prices weighted by them, rounded as the notice writes it. The mean of prices in
// several currencies means nothing and is not compared.
func (d *declared) agrees(rows []row) bool {
	var sum, paid big.Rat
	for _, r := range rows {
		volume := rational(r.volume)
		sum.Add(&sum, volume)
		paid.Add(&paid, volume.Mul(volume, rational(r.price)))
	}
	if sum.Cmp(rational(d.volume)) != 0 {
		return false
	}
	if d.price == "" || sum.Sign() == 0 || !sameCurrency(rows) {
		return true
	}
	mean := paid.Quo(&paid, &sum)
	difference := mean.Sub(mean, rational(d.price))
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.places)), nil)
	half := new(big.Rat).SetFrac(big.NewInt(1), unit.Mul(unit, big.NewInt(2)))
	return difference.Abs(difference).Cmp(half) <= 0
}

// sumAgrees reports whether the volume alone is the sum of the rows.
func (d *declared) sumAgrees(rows []row) bool {
	volumes := declared{volume: d.volume}
	return volumes.agrees(rows)
}

func sameCurrency(rows []row) bool {
	for _, r := range rows {
		if r.currency != rows[0].currency {
			return false
		}
	}
	return true
}
