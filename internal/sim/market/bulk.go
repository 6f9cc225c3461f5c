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
		lexicon := newLexicon(m.random(forBulkWords, 0, uint64(n)))
		write := func(series disclosure.Type, s slot) disclosure.Report {
			r := m.write(series, s, m.random(forBulkTexts, uint64(series.Index()), uint64(s.number)))
			r.Title += lexicon.references()
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

// lexicon is a vocabulary whose word frequencies follow Zipf's law.
type lexicon struct {
	filler.Random
	ranks *rand.Zipf
}

const vocabulary = 30_000

func newLexicon(rng filler.Random) *lexicon {
	return &lexicon{rng, rand.NewZipf(rng.Rand, 1.07, 8, vocabulary-1)}
}

// references returns a sentence of four to twelve words.
func (l *lexicon) references() string {
	var s strings.Builder
	s.WriteString(". Referencias: ")
	for n := range l.Between(4, 12) {
		if n > 0 {
			s.WriteString(", ")
		}
		writeWord(&s, l.ranks.Uint64())
	}
	return s.String()
}

// syllables make the words of the lexicon, most of which have four.
var syllables = strings.Fields("la re mi so tu val dor ne sal bri ma ter lo din fe ras mon ti ber gal no ve ril da jo lem sur ni tal be")

// writeWord writes the word of a rank. Each rank has another word, and the words of
// adjacent ranks differ.
func writeWord(to *strings.Builder, rank uint64) {
	base := uint64(len(syllables))
	for n := (rank*7919 + 104_729) % (base * base * base * base); n > 0; n /= base {
		to.WriteString(syllables[n%base])
	}
}
