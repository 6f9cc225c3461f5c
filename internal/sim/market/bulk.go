package market

import (
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

// The density of a bulk, as a multiple of that of the history. It grows with the
// number of reports, so that a bulk covers some sixteen years at most.
const (
	minDensity     = 4
	reportsIn16Yrs = 120_000
)

// Bulk yields n distinct reports that end on the day before until, oldest first,
// for benchmarks and imports. They follow the calendar and the topics of the
// history, but there are more of them, their numbers start at 1, and their titles
// have further words whose frequencies are those of a natural language. Bulk holds
// one day in memory at a time.
func (m *Market) Bulk(n int, until time.Time) iter.Seq[disclosure.Report] {
	return func(yield func(disclosure.Report) bool) {
		density := max(minDensity, 1+n/reportsIn16Yrs)
		counts := func(day disclosure.Day) (c [3]int) {
			for s, n := range m.counts(day) {
				c[s] = n * density
			}
			return c
		}
		day, surplus := disclosure.DayOf(until), -n
		for surplus < 0 {
			day--
			c := counts(day)
			surplus += c[0] + c[1] + c[2]
		}
		rng := m.random(forBulkWords, 0, uint64(n))
		ranks := rand.NewZipf(rng.Rand, 1.07, 8, vocabulary-1)
		write := func(series disclosure.Type, s slot) disclosure.Report {
			r := m.write(series, s, m.random(forBulkTexts, uint64(series.Index()), uint64(s.number)))
			r.Title += references(rng, ranks)
			return r
		}
		var reached [3]int64
		for ; day < disclosure.DayOf(until); day++ {
			c := counts(day)
			for _, r := range m.day(day, c, reached, write)[surplus:] {
				if !yield(r) {
					return
				}
			}
			surplus, reached = 0, advance(reached, c)
		}
	}
}

// vocabulary is the number of different words. Their frequencies follow Zipf's law.
const vocabulary = 30_000

// references returns a sentence of four to twelve words.
func references(rng filler.Random, ranks *rand.Zipf) string {
	words := make([]string, rng.Between(4, 12))
	for n := range words {
		words[n] = wordOf(ranks.Uint64())
	}
	return ". Referencias: " + strings.Join(words, ", ")
}

// syllables make the words, most of which have four.
var syllables = strings.Fields("la re mi so tu val dor ne sal bri ma ter lo din fe ras mon ti ber gal no ve " +
	"ril da jo lem sur ni tal be")

// wordOf returns the word of a rank. Each rank has another word, and the words of
// adjacent ranks differ.
func wordOf(rank uint64) (word string) {
	base := uint64(len(syllables))
	for n := (rank*7919 + 104_729) % (base * base * base * base); n > 0; n /= base {
		word += syllables[n%base]
	}
	return word
}
