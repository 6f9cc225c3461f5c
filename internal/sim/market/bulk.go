package market

import (
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// A bulk is at least this many times denser than the history, and dense enough
// to reach back some sixteen years at most.
const (
	thickening = 4
	perDensity = 120_000 // reports in sixteen years of history
)

// Bulk yields n distinct reports that end on the day before until, oldest
// first, for benchmarks and imports. They have the rhythm and the subjects of
// the history, but are denser, have numbers of their own, small ones, and add
// words to the subject from a vocabulary as large and as uneven as a
// language's. It holds one day at a time.
func (m *Market) Bulk(n int, until time.Time) iter.Seq[disclosure.Report] {
	return func(yield func(disclosure.Report) bool) {
		density := max(thickening, 1+n/perDensity)
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
		lexicon := newLexicon(m.dice(forBulkWords, 0, uint64(n)))
		write := func(series disclosure.Type, s slot) disclosure.Report {
			r := m.write(series, s, m.dice(forBulkTexts, uint64(series.Index()), uint64(s.number)))
			r.Title += lexicon.remark()
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

// lexicon is a vocabulary whose words are drawn by Zipf's law.
type lexicon struct {
	dice
	ranks *rand.Zipf
}

const vocabulary = 30_000

func newLexicon(d dice) *lexicon {
	return &lexicon{d, rand.NewZipf(d.Rand, 1.07, 8, vocabulary-1)}
}

// remark is a sentence of four to twelve words.
func (l *lexicon) remark() string {
	var s strings.Builder
	s.WriteString(". Referencias: ")
	for n := range l.between(4, 12) {
		if n > 0 {
			s.WriteString(", ")
		}
		word(&s, l.ranks.Uint64())
	}
	return s.String()
}

// syllables make the words of the lexicon, mostly four to a word.
var syllables = strings.Fields("la re mi so tu val dor ne sal bri ma ter lo din fe ras mon ti ber gal no ve ril da jo lem sur ni tal be")

// word writes the word of a rank: each rank has its own, and neighbours do not
// look alike.
func word(to *strings.Builder, rank uint64) {
	base := uint64(len(syllables))
	for n := (rank*7919 + 104_729) % (base * base * base * base); n > 0; n /= base {
		to.WriteString(syllables[n%base])
	}
}
