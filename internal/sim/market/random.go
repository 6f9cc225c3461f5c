package market

import (
	"sort"

	"pregon/internal/sim/filler"
)

// Each purpose has its own random numbers, so that counting the reports of a day,
// planning them and writing one of them do not affect each other.
const (
	forIssuers uint64 = iota + 1
	forCounts
	forPlans
	forTexts
	forBulkTexts
	forBulkWords
	forNewReports
)

// random returns the generator of a purpose for one day or report. It is the same
// for the same arguments.
func (m *Market) random(purpose, series, n uint64) filler.Random {
	return filler.NewRandom(filler.Mix(m.seed^filler.Mix(purpose<<8|series)), filler.Mix(n))
}

// weighted is a list whose items are picked in proportion to their weight.
type weighted[T any] struct {
	items []T
	sums  []int // of the weights up to each item
}

func (w *weighted[T]) add(item T, weight int) {
	if weight <= 0 {
		return
	}
	if n := len(w.sums); n > 0 {
		weight += w.sums[n-1]
	}
	w.items, w.sums = append(w.items, item), append(w.sums, weight)
}

func (w *weighted[T]) pick(rng filler.Random) T {
	x := rng.IntN(w.sums[len(w.sums)-1])
	return w.items[sort.SearchInts(w.sums, x+1)]
}
