package market

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Each purpose throws its own dice, so that to count a day's reports, to plan
// them and to write one of them do not disturb one another.
const (
	forIssuers uint64 = iota + 1
	forCounts
	forPlans
	forTexts
	forBulkTexts
	forBulkWords
	forDraws
)

// dice are a source of chance.
type dice struct{ *rand.Rand }

// dice returns the dice of one purpose for one day or report: the same ones
// every time.
func (m *Market) dice(purpose, series, n uint64) dice {
	return dice{rand.New(rand.NewPCG(scatter(m.seed^scatter(purpose<<8|series)), scatter(n)))}
}

// scatter spreads neighbouring numbers apart (the finaliser of SplitMix64).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// percent is true in p of a hundred throws.
func (d dice) percent(p int) bool { return d.IntN(100) < p }

// between returns a whole number from low to high, both included.
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

// spread returns a number from low to high whose magnitudes are equally
// likely, as amounts of money are.
func (d dice) spread(low, high float64) float64 {
	return low * math.Exp(d.Float64()*math.Log(high/low))
}

// poisson counts the events of a day that brings mean of them on average.
func (d dice) poisson(mean float64) int {
	n, limit := 0, math.Exp(-mean)
	for p := d.Float64(); p > limit; p *= d.Float64() {
		n++
	}
	return n
}

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

// urn holds things of unequal weight.
type urn[T any] struct {
	things []T
	sums   []int
}

func (u *urn[T]) put(thing T, weight int) {
	if weight <= 0 {
		return
	}
	if n := len(u.sums); n > 0 {
		weight += u.sums[n-1]
	}
	u.things, u.sums = append(u.things, thing), append(u.sums, weight)
}

func (u *urn[T]) draw(d dice) T {
	x := d.IntN(u.sums[len(u.sums)-1])
	return u.things[sort.SearchInts(u.sums, x+1)]
}
