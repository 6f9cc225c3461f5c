// Package filler fills the blanks of Spanish texts with invented amounts, dates
// and people, for the subjects and the documents of the simulated market.
//
// A blank is a name in braces: "{pct} %". Everything is drawn from a seeded
// generator, so that the same seed gives the same text.
package filler

import (
	"strconv"
	"strings"
	"time"
)

// Filler fills the blanks of texts.
type Filler struct {
	Random
	Day     time.Time                          // in Madrid
	Value   func(blank string) string          // fills a blank
	Decimal func(x float64, places int) string // Decimal or ShortDecimal
}

// Fill returns text with its blanks filled.
func (f *Filler) Fill(text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, rest, _ := strings.Cut(rest, "}")
		value := f.Value(name)
		out.WriteString(value)
		if text = rest; strings.HasSuffix(value, ".") {
			text = strings.TrimPrefix(text, ".") // the point of S.A. also ends the sentence
		}
	}
}

// Common fills the blanks that all texts share, such as a range {20-180}. It
// returns "" for other blanks.
func (f *Filler) Common(name string) string {
	year := f.Day.Year()
	switch name {
	case "euros":
		return f.Decimal(f.LogUniform(2e5, 4e7), 2)
	case "pct":
		return f.Decimal(1.2+f.Float64()*17, 1)
	case "tipo":
		return f.Decimal(2+f.Float64()*4, 3)
	case "mora":
		return f.Decimal(0.3+f.Float64()*4, 2)
	case "ano":
		return strconv.Itoa(year)
	case "ejercicio": // the last one that has ended
		return strconv.Itoa(year - 1)
	case "proximo":
		return strconv.Itoa(year + 1)
	case "vencimiento":
		return MonthOfYear(time.Month(1+f.IntN(12)), year+f.Between(3, 12))
	}
	low, high, isRange := strings.Cut(name, "-")
	from, err := strconv.Atoi(low)
	if !isRange || err != nil {
		return ""
	}
	to, _ := strconv.Atoi(high)
	return Grouped(int64(f.Between(from, to)))
}

// People are the first and last names from which names are generated.
type People struct{ Women, Men, Surnames, Second []string }

// Person returns a name with its form of address, and whether it is a woman's.
func (r Random) Person(p *People) (name string, woman bool) {
	family := Pick(r, p.Surnames) + " " + Pick(r, p.Second)
	if r.Percent(45) {
		return "D.ª " + Pick(r, p.Women) + " " + family, true
	}
	return "D. " + Pick(r, p.Men) + " " + family, false
}
