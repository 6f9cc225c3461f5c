package coverage

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"pregon/internal/disclosure"
)

// Numbered is a report of a series: its number and when it was published.
type Numbered struct {
	Number int64
	At     time.Time
}

// InOrder returns reports in the order of their numbers.
func InOrder(reports iter.Seq2[int64, time.Time]) []Numbered {
	var out []Numbered
	for number, at := range reports {
		out = append(out, Numbered{number, at})
	}
	slices.SortFunc(out, func(a, b Numbered) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// Gap is a range of missing numbers, First to Last, and the reports before and
// after it.
type Gap struct {
	First, Last  int64
	Before, Next Numbered
}

// longestGap is more than the number of reports of a day. Numbers further apart do
// not belong to one series: the wrong file was imported.
const longestGap = 1000

// tooLong reports whether the numbers before and after do not belong to one series.
func (g Gap) tooLong() bool { return g.Last-g.First >= longestGap }

// Gaps returns the numbers that are missing between reports, which must be in
// order. A number counts as missing only if the days of its two neighbours and all
// days between them are covered. For HR, which has no list by date, it is enough
// that the series was read live when one of the neighbours was published.
func (t *Tracker) Gaps(series disclosure.Type, reports []Numbered) []Gap {
	var out []Gap
	for n := 1; n < len(reports); n++ {
		before, next := reports[n-1], reports[n]
		g := Gap{
			First:  before.Number + 1,
			Last:   next.Number - 1,
			Before: before,
			Next:   next,
		}
		if g.First <= g.Last && !g.tooLong() && t.compared(series, before.At, next.At) {
			out = append(out, g)
		}
	}
	return out
}

func (t *Tracker) compared(series disclosure.Type, a, b time.Time) bool {
	if t.coveredBetween(series, a, b) {
		return true
	}
	live := t.Live(series)
	return series == disclosure.HR && !live.IsZero() &&
		max(disclosure.DayOf(a), disclosure.DayOf(b)) >= disclosure.DayOf(live)
}

func (t *Tracker) coveredBetween(series disclosure.Type, a, b time.Time) bool {
	from, to := disclosure.DayOf(a), disclosure.DayOf(b)
	if from > to {
		from, to = to, from // a late registration
	}
	if to-from > 31 {
		return false // the register never pauses for so long
	}
	for day := from; day <= to; day++ {
		if t.Covered(series, day).IsZero() {
			return false
		}
	}
	return true
}
