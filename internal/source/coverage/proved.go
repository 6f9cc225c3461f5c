package coverage

import (
	"time"

	"pregon/internal/disclosure"
)

// Span is the time for which no report of a series is missing: from the start of
// a day until an instant.
type Span struct {
	From  disclosure.Day // zero: nothing is proved
	Until time.Time
	// Open is a missing number that was not looked up yet and makes the span
	// shorter; zero for none.
	Open int64
}

const (
	// settled is how far apart clocks and orders may be: those of the two machines,
	// a report and the list that shows it, two numbers and their times.
	settled = 10 * time.Minute
	// overdue is the age from which a number that could not be looked up takes the
	// days before it from the span. A newer one takes the time after it.
	overdue = 24 * time.Hour
	// neighbourhood is how many days before a span the report before its first one
	// may have been published.
	neighbourhood = 32
)

// Series is a series of reports in the store.
type Series struct {
	Type disclosure.Type
	// Since returns its reports since a day in the order of their numbers.
	Since func(disclosure.Day) []Numbered
	// Seen returns when the report of a number was first seen, and false if it is
	// not stored.
	Seen func(int64) (time.Time, bool)
}

// Proved returns the newest span for which no report of a series is missing. The
// days of a span were compared with the source's list after their end, and the
// numbers that are missing between its reports were looked up. HR has no list by
// date: its span rests on the numbers alone, begins after the first start, and
// ends with the newest report.
func (t *Tracker) Proved(s Series, now time.Time) Span {
	prove := t.comparedSpan
	if s.Type == disclosure.HR {
		prove = t.numberedSpan
	}
	span := prove(s, now)
	if span.Until.After(now) {
		span.Until = now
	}
	if span.From > 0 && !span.Until.After(span.From.Start()) {
		return Span{Open: span.Open}
	}
	return span
}

// comparedSpan returns the newest days in a row that were compared, as far as
// their missing numbers were looked up.
func (t *Tracker) comparedSpan(s Series, now time.Time) (span Span) {
	for day := min(t.newestCovered(s.Type), disclosure.DayOf(now)); span.From == 0; day-- {
		checked := t.Covered(s.Type, day)
		if checked.IsZero() {
			return Span{}
		}
		if until := checked.Add(-settled); until.After(day.Start()) {
			span = Span{From: day, Until: until}
			span.endBefore((day + 1).Start().Add(settled), 0)
		}
	}
	for t.comparedWhole(s.Type, span.From-1) {
		span.From--
	}
	for _, g := range t.Gaps(s.Type, s.Since(max(span.From-neighbourhood, 1))) {
		number := t.open(s, g)
		first, last := g.Before.At, g.Next.At
		if last.Before(first) {
			first, last = last, first
		}
		switch {
		case number == 0:
		case now.Sub(last) < overdue:
			span.endBefore(first, number)
		default:
			span.beginAfter(last, number)
		}
	}
	return span
}

// comparedWhole reports whether a day was compared after it had ended.
func (t *Tracker) comparedWhole(series disclosure.Type, day disclosure.Day) bool {
	checked := t.Covered(series, day)
	return !checked.IsZero() && !checked.Add(-settled).Before((day + 1).Start())
}

// numberedSpan returns the span that ends with the newest report. It begins after
// the last number below that was not looked up. Numbers rise with the time of
// registration; the time of publication may be earlier.
func (t *Tracker) numberedSpan(s Series, now time.Time) (span Span) {
	live := t.Live(s.Type)
	if live.IsZero() {
		return Span{}
	}
	first := disclosure.DayOf(live) + 1 // the first whole day
	reports := s.Since(max(first-neighbourhood, 1))
	if len(reports) == 0 {
		return Span{}
	}
	newest := 0
	for n, r := range reports {
		if r.At.After(reports[newest].At) {
			newest = n
		}
	}
	span = Span{From: first, Until: reports[newest].At.Add(-settled)}
	span.beginAfter(s.registered(reports), 0)
	for n := 1; n < len(reports); n++ {
		g := Gap{
			First:  reports[n-1].Number + 1,
			Last:   reports[n].Number - 1,
			Before: reports[n-1],
			Next:   reports[n],
		}
		number := t.open(s, g)
		if number == 0 {
			continue
		}
		if by := s.registered(reports[n:]); n <= newest && (g.tooLong() || now.Sub(by) >= overdue) {
			span.beginAfter(by, number)
		} else if g.tooLong() {
			break // higher numbers are of a wrong import
		} else {
			span.endBefore(g.Before.At, number)
		}
	}
	return span
}

// registered returns a time by which the first of some reports was registered:
// it was registered before those with higher numbers, and each of them before it
// was seen. A report of a back-fill is seen long after that.
func (s Series) registered(reports []Numbered) (by time.Time) {
	const enough = 100
	for n, r := range reports[:min(len(reports), enough)] {
		at, _ := s.Seen(r.Number)
		if at.Before(r.At) { // the source's clock is ahead
			at = r.At
		}
		if n == 0 || at.Before(by) {
			by = at
		}
	}
	return by
}

// open returns the first number of a gap that is neither stored nor looked up, 0
// if there is none.
func (t *Tracker) open(s Series, g Gap) int64 {
	if g.tooLong() {
		return g.First
	}
	for n := g.First; n <= g.Last; n++ {
		if _, known := s.Seen(n); !known && t.Absent(s.Type, n).IsZero() {
			return n
		}
	}
	return 0
}

// endBefore ends the span before a number that was published after an instant.
func (s *Span) endBefore(at time.Time, number int64) {
	if until := at.Add(-settled); until.Before(s.Until) {
		s.Until, s.Open = until, number
	}
}

// beginAfter begins the span on the day after a number that was published before
// an instant.
func (s *Span) beginAfter(at time.Time, number int64) {
	if day := disclosure.DayOf(at.Add(settled)) + 1; day > s.From {
		s.From, s.Open = day, number
	}
}
