package notice

import (
	"math/big"
	"strings"
)

// figure returns a decimal with a point as the form shows it: with a comma, at least two
// decimals, and points between thousands if asked.
func figure(decimal string, points bool) string {
	whole, decimals, _ := strings.Cut(decimal, ".")
	for len(decimals) < 2 {
		decimals += "0"
	}
	if points {
		for at := len(whole) - 3; at > 0; at -= 3 {
			whole = whole[:at] + "." + whole[at:]
		}
	}
	return whole + "," + decimals
}

// total returns the volume of an operation and its price, the mean weighted by the
// volumes. The price is empty if the rows are in several currencies or cost nothing.
func total(rows []Trade) (volume, price string) {
	var sum, paid big.Rat
	volumePlaces, pricePlaces := 0, 2
	mixed := false
	for _, t := range rows {
		v, p := rat(t.Volume), rat(t.Price)
		sum.Add(&sum, v)
		paid.Add(&paid, p.Mul(p, v))
		volumePlaces = max(volumePlaces, places(t.Volume))
		pricePlaces = max(pricePlaces, places(t.Price))
		mixed = mixed || t.Currency != rows[0].Currency
	}
	volume = sum.FloatString(volumePlaces)
	if mixed || paid.Sign() == 0 || sum.Sign() == 0 {
		return volume, ""
	}
	return volume, paid.Quo(&paid, &sum).FloatString(pricePlaces)
}

// rat returns the value of a decimal, zero if it is none.
func rat(decimal string) *big.Rat {
	if r, ok := new(big.Rat).SetString(decimal); ok {
		return r
	}
	return new(big.Rat)
}

func places(decimal string) int {
	_, decimals, _ := strings.Cut(decimal, ".")
	return len(decimals)
}
