package market

import (
	"sort"

	"pregon/internal/disclosure"
)

// Epoch is the first day of the history.
var Epoch = epoch

// Working reports whether a day is one on which people work and the exchange
// opens.
func Working(day disclosure.Day) bool { return !closed(day) }

// Almanac knows how many reports each day of the history has, so that a day,
// or a report by its number, is found without counting from the first day on.
type Almanac struct {
	market  *Market
	reached [][3]int64 // the numbers before each day, and after the last
}

// Almanac counts the history up to a day, that one included.
func (m *Market) Almanac(last disclosure.Day) *Almanac {
	a := &Almanac{m, [][3]int64{before}}
	for day := epoch; day <= min(last, lastDay); day++ {
		a.reached = append(a.reached, advance(a.reached[len(a.reached)-1], m.counts(day)))
	}
	return a
}

// Last returns the last day counted; one before Epoch when there is none.
func (a *Almanac) Last() disclosure.Day { return epoch + disclosure.Day(len(a.reached)) - 2 }

// Numbers returns the last number of each series before a day, in the order of
// disclosure.Types. The day after the last is the end.
func (a *Almanac) Numbers(day disclosure.Day) [3]int64 {
	return a.reached[max(0, min(int(day-epoch), len(a.reached)-1))]
}

// On returns what was filed on a day, oldest first.
func (a *Almanac) On(day disclosure.Day) []disclosure.Report {
	if day < epoch || day > a.Last() {
		return nil
	}
	n := a.market.counts(day)
	return a.market.day(day, n, a.Numbers(day), a.market.report)
}

// DayOf returns the day on which a number was given.
func (a *Almanac) DayOf(series disclosure.Type, number int64) (disclosure.Day, bool) {
	s := series.Index()
	after := sort.Search(len(a.reached), func(n int) bool { return a.reached[n][s] >= number })
	if after == 0 || after == len(a.reached) {
		return 0, false
	}
	return epoch + disclosure.Day(after) - 1, true
}
