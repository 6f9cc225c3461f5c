package market

import (
	"sort"

	"pregon/internal/disclosure"
)

// Timeline holds the number of reports of each day of the history, so that a day,
// or a report by its number, is found without counting from the first day.
type Timeline struct {
	market  *Market
	reached [][3]int64 // the last numbers before each day, and after the last day
}

// Timeline returns the timeline from Epoch to a day, both included.
func (m *Market) Timeline(last disclosure.Day) *Timeline {
	t := &Timeline{m, [][3]int64{epochNumbers}}
	for day := Epoch; day <= min(last, lastDay); day++ {
		t.reached = append(t.reached, advance(t.reached[len(t.reached)-1], m.counts(day)))
	}
	return t
}

// Last returns the last day of the timeline, or the day before Epoch if it is
// empty.
func (t *Timeline) Last() disclosure.Day { return Epoch + disclosure.Day(len(t.reached)) - 2 }

// Numbers returns the last number of each series before a day, in the order of
// disclosure.Types. Days after the timeline have the numbers of its end.
func (t *Timeline) Numbers(day disclosure.Day) [3]int64 {
	return t.reached[max(0, min(int(day-Epoch), len(t.reached)-1))]
}

// On returns the reports of a day, oldest first.
func (t *Timeline) On(day disclosure.Day) []disclosure.Report {
	if day < Epoch || day > t.Last() {
		return nil
	}
	return t.market.day(day, t.market.counts(day), t.Numbers(day), t.market.report)
}

// DayOf returns the day of the report with a number.
func (t *Timeline) DayOf(series disclosure.Type, number int64) (disclosure.Day, bool) {
	s := series.Index()
	after := sort.Search(len(t.reached), func(n int) bool { return t.reached[n][s] >= number })
	if after == 0 || after == len(t.reached) {
		return 0, false
	}
	return Epoch + disclosure.Day(after) - 1, true
}
