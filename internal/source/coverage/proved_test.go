package coverage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// atOnce is the time at which a report was first seen that was read at once.
func atOnce(r coverage.Numbered) time.Time { return r.At }

// series returns a series of the reports, which are in the order of their numbers.
func series(t disclosure.Type, reports []coverage.Numbered, seen func(coverage.Numbered) time.Time) coverage.Series {
	return coverage.Series{
		Type: t,
		Since: func(from disclosure.Day) (out []coverage.Numbered) {
			for _, r := range reports {
				if disclosure.DayOf(r.At) >= from {
					out = append(out, r)
				}
			}
			return out
		},
		Seen: func(number int64) (time.Time, bool) {
			n := slices.IndexFunc(reports, func(r coverage.Numbered) bool { return r.Number == number })
			if n < 0 {
				return time.Time{}, false
			}
			return seen(reports[n]), true
		},
	}
}

func (s spanText) String() string {
	if s.From == 0 {
		return fmt.Sprintf("none open %d", s.Open)
	}
	return fmt.Sprintf("%s %s open %d", s.From, s.Until.UTC().Format("2006-01-02T15:04"), s.Open)
}

type spanText coverage.Span

// TestProvedByLists: the days before are 1 March to 10 March, compared at noon
// (13:00 in Madrid) of the 11th; now is 16:00 of the 11th in Madrid.
func TestProvedByLists(t *testing.T) {
	for _, test := range []struct {
		name    string
		cover   []string // from, to, time
		reports string
		absent  int64
		want    string
	}{
		{"never compared", nil, "100@2026-03-09", 0, "none open 0"},
		{"days in a row", []string{"2026-03-01", "2026-03-10", "2026-03-11T12:00:00Z"}, "", 0, "2026-03-01 2026-03-10T23:00 open 0"},
		{"today too", []string{"2026-03-01", "2026-03-11", "2026-03-11T12:00:00Z"}, "", 0, "2026-03-01 2026-03-11T11:50 open 0"},
		{"after midnight", []string{"2026-03-01", "2026-03-10", "2026-03-10T23:05:00Z"}, "", 0, "2026-03-01 2026-03-10T22:55 open 0"},
		{"after midnight, today too", []string{"2026-03-01", "2026-03-11", "2026-03-10T23:05:00Z"}, "", 0, "2026-03-01 2026-03-10T22:55 open 0"},
		{"a day is lacking", []string{
			"2026-03-01", "2026-03-04", "2026-03-11T12:00:00Z", "2026-03-06", "2026-03-11", "2026-03-11T12:00:00Z",
		}, "", 0, "2026-03-06 2026-03-11T11:50 open 0"},
		{"a day was compared before its end", []string{
			"2026-03-01", "2026-03-05", "2026-03-05T12:00:00Z", "2026-03-06", "2026-03-11", "2026-03-11T12:00:00Z",
		}, "", 0, "2026-03-06 2026-03-11T11:50 open 0"},
		{"an old number is open", []string{"2026-03-01", "2026-03-11", "2026-03-11T12:00:00Z"}, "100@2026-03-04 102@2026-03-05", 0, "2026-03-06 2026-03-11T11:50 open 101"},
		{"an old number was looked up", []string{"2026-03-01", "2026-03-11", "2026-03-11T12:00:00Z"}, "100@2026-03-04 102@2026-03-05", 101, "2026-03-01 2026-03-11T11:50 open 0"},
		{"a new number is open", []string{"2026-03-01", "2026-03-11", "2026-03-11T12:00:00Z"}, "100@2026-03-10 102@2026-03-11T11:30:00Z", 0, "2026-03-01 2026-03-10T11:50 open 101"},
		{"a late registration", []string{"2026-03-01", "2026-03-11", "2026-03-11T12:00:00Z"}, "100@2026-03-11T11:00:00Z 101@2026-03-04 102@2026-03-11T11:30:00Z", 0, "2026-03-01 2026-03-11T11:50 open 0"},
		{"a clock that was wrong", []string{"2026-03-01", "2026-03-11", "2026-03-11T12:00:00Z", "2027-01-01", "2027-01-01", "2027-01-01T12:00:00Z"}, "", 0, "2026-03-01 2026-03-11T11:50 open 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := one(t)
			for n := 0; n < len(test.cover); n += 3 {
				must(t, l.Cover(t.Context(), nil, disclosure.OIR, day(test.cover[n]), day(test.cover[n+1]), instant(test.cover[n+2])))
			}
			if test.absent > 0 {
				must(t, l.SetAbsent(t.Context(), nil, disclosure.OIR, test.absent, instant("2026-03-11T12:00:00Z")))
			}
			got := l.Proved(series(disclosure.OIR, numbered(t, test.reports), atOnce), instant("2026-03-11T15:00:00Z"))
			if spanText(got).String() != test.want {
				t.Errorf("proved: %v, want %s", spanText(got), test.want)
			}
		})
	}
}

// TestProvedByNumbers: HR is read since 4 March; now is 16:00 of the 11th in Madrid.
func TestProvedByNumbers(t *testing.T) {
	for _, test := range []struct {
		name    string
		reports string
		absent  int64
		want    string
	}{
		{"no report", "", 0, "none open 0"},
		{"no report since", "100@2026-03-03", 0, "none open 0"},
		{"every number", "100@2026-03-03 101@2026-03-05 102@2026-03-10", 0, "2026-03-05 2026-03-10T11:50 open 0"},
		{"nothing lower is known", "100@2026-03-06 101@2026-03-09 102@2026-03-10", 0, "2026-03-07 2026-03-10T11:50 open 0"},
		{"an old number is open", "100@2026-03-03 102@2026-03-05 103@2026-03-10", 0, "2026-03-06 2026-03-10T11:50 open 101"},
		{"an old number was looked up", "100@2026-03-03 102@2026-03-05 103@2026-03-10", 101, "2026-03-05 2026-03-10T11:50 open 0"},
		{"a new number is open", "100@2026-03-03 101@2026-03-09 103@2026-03-11T11:30:00Z", 0, "2026-03-05 2026-03-09T11:50 open 102"},
		{"a long stop", "100@2026-03-03 5000@2026-03-09 5001@2026-03-11", 0, "2026-03-10 2026-03-11T11:50 open 101"},
		{"a wrong import", "100@2026-03-03 101@2026-03-11 999999@2026-03-01 1000009@2026-03-02", 0, "2026-03-05 2026-03-11T11:50 open 0"},
		{"late registrations", "100@2026-03-03 101@2026-03-11 102@2026-03-06 104@2026-03-08", 0, "2026-03-05 2026-03-06T11:50 open 103"},
		{"a report of tomorrow", "100@2026-03-03 101@2026-03-12", 0, "2026-03-05 2026-03-11T15:00 open 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := one(t)
			all := series(disclosure.HR, numbered(t, test.reports), atOnce)
			if got := l.Proved(all, instant("2026-03-11T15:00:00Z")); got != (coverage.Span{}) {
				t.Errorf("proved before the first start: %v", spanText(got))
			}
			must(t, l.SetLive(t.Context(), nil, disclosure.HR, instant("2026-03-04T10:00:00Z")))
			if test.absent > 0 {
				must(t, l.SetAbsent(t.Context(), nil, disclosure.HR, test.absent, instant("2026-03-11T12:00:00Z")))
			}
			if got := l.Proved(all, instant("2026-03-11T15:00:00Z")); spanText(got).String() != test.want {
				t.Errorf("proved: %v, want %s", spanText(got), test.want)
			}
		})
	}
}

// noRecords keeps nothing: the tracker answers from memory.
type noRecords struct{ store.Records }

func (noRecords) PutRecords(_ context.Context, _ *store.Lease, records ...store.Record) ([]store.Record, error) {
	return records, nil
}

// truth is a report of a simulated source.
type truth struct {
	number int64
	at     time.Time // of publication
	shown  time.Time // when the source shows it first
	late   bool      // registered with an earlier time
}

// publish returns the reports of some weeks. Some numbers are never published;
// some reports appear minutes after their time, out of order, or days later.
func publish(random *rand.Rand, from disclosure.Day, days int) (out []truth) {
	number := int64(1000)
	for d := from; d < from+disclosure.Day(days); d++ {
		at := d.Start().Add(7 * time.Hour)
		for random.IntN(8) > 0 && at.Before(d.Start().Add(23*time.Hour+50*time.Minute)) {
			at = at.Add(time.Duration(random.IntN(240)) * time.Minute)
			if number++; random.IntN(15) == 0 {
				number += int64(1 + random.IntN(3))
			}
			r := truth{number: number, at: at, shown: at}
			switch random.IntN(12) {
			case 0:
				r.at, r.late = at.Add(-time.Duration(random.IntN(6*24))*time.Hour), true
			case 1:
				r.shown, r.late = at.Add(time.Duration(random.IntN(48))*time.Hour), true
			case 2:
				r.shown = at.Add(time.Duration(random.IntN(5)) * time.Minute)
			case 3:
				r.at = at.Add(-time.Duration(random.IntN(5)) * time.Minute)
			}
			out = append(out, r)
		}
	}
	return out
}

// reader reads a simulated source as package ingest does, with faults.
type reader struct {
	*testing.T
	*coverage.Tracker
	random *rand.Rand
	series disclosure.Type
	source []truth
	known  map[int64]time.Time
	seen   map[int64]time.Time
	round  time.Time // the last complete one
	night  disclosure.Day
}

func (r *reader) add(now time.Time, report truth) {
	if _, known := r.known[report.number]; !known {
		r.known[report.number], r.seen[report.number] = report.at, now
	}
}

func (r *reader) take(now time.Time, from, to disclosure.Day) {
	for _, report := range r.source {
		if d := disclosure.DayOf(report.at); d >= from && d <= to && !report.shown.After(now) {
			r.add(now, report)
		}
	}
}

// feed takes most of what the source shows since yesterday.
func (r *reader) feed(now time.Time) {
	for _, report := range r.source {
		if !report.shown.After(now) && now.Sub(report.shown) < 20*time.Minute && r.random.IntN(10) > 0 {
			r.add(now, report)
		}
	}
}

// lists does a round, which may fail in the middle.
func (r *reader) lists(now time.Time) {
	today := disclosure.DayOf(now)
	from := today - 1
	if r.round.IsZero() {
		from = today - 12
		must(r.T, r.SetLive(r.Context(), nil, r.series, now))
	} else {
		from = min(from, disclosure.DayOf(r.round))
	}
	if r.night != today {
		from = min(from, today-7)
	}
	for to := today; to >= from; to -= 7 {
		if r.random.IntN(10) == 0 {
			r.take(now, to-disclosure.Day(r.random.IntN(7)), to) // some rows of a list that could not be read to its end
			return
		}
		r.take(now, max(from, to-6), to)
		must(r.T, r.Cover(r.Context(), nil, r.series, max(from, to-6), to, now))
	}
	r.round, r.night = now, today
}

// latest begins to read HR, which has no list by date.
func (r *reader) latest(now time.Time) {
	if r.round.IsZero() {
		must(r.T, r.SetLive(r.Context(), nil, r.series, now))
		if r.random.IntN(3) > 0 {
			r.take(now, disclosure.DayOf(now)-3, disclosure.DayOf(now))
		}
		r.round = now
	}
}

func (r *reader) reports() (out []coverage.Numbered) {
	return coverage.InOrder(func(yield func(int64, time.Time) bool) {
		for number, at := range r.known {
			if !yield(number, at) {
				return
			}
		}
	})
}

// lookUp looks up missing numbers as ingest does.
func (r *reader) lookUp(now time.Time) {
	for _, g := range r.Gaps(r.series, r.reports()) {
		for n := g.First; n <= g.Last; n++ {
			age, last := now.Sub(g.Next.At), r.Absent(r.series, n)
			_, known := r.known[n]
			if known || age <= 10*time.Minute || !last.IsZero() && (age > 7*24*time.Hour || now.Sub(last) <= 24*time.Hour) {
				continue
			}
			at := slices.IndexFunc(r.source, func(t truth) bool { return t.number == n && !t.shown.After(now) })
			if at < 0 {
				must(r.T, r.SetAbsent(r.Context(), nil, r.series, n, now))
				continue
			}
			r.add(now, r.source[at])
		}
	}
}

// check fails unless every report of the proved span is known, except those that
// were registered with an earlier time after the source was asked for their day or
// number.
func (r *reader) check(now time.Time) (proved bool) {
	span := r.Proved(series(r.series, r.reports(), func(n coverage.Numbered) time.Time { return r.seen[n.Number] }), now)
	if span.From == 0 {
		return false
	}
	for _, report := range r.source {
		if _, known := r.known[report.number]; known || report.at.Before(span.From.Start()) || !report.at.Before(span.Until) {
			continue
		}
		asked := r.Covered(r.series, disclosure.DayOf(report.at))
		if r.series == disclosure.HR {
			asked = r.Absent(r.series, report.number)
		}
		if !report.late || !report.shown.After(asked) {
			r.Fatalf("at %v %v is proved, but %+v is missing; asked at %v", now, spanText(span), report, asked)
		}
	}
	return true
}

// TestProvedIsTrue: whatever was read, missed, imported or looked up in any order,
// no report of the proved span is missing.
func TestProvedIsTrue(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	const days, step = 30, 5 * time.Minute
	for _, series := range []disclosure.Type{disclosure.IP, disclosure.HR} {
		t.Run(string(series), func(t *testing.T) {
			proved, checks := 0, 0
			for seed := range uint64(20) {
				random := rand.New(rand.NewPCG(seed, 1))
				from := day("2026-03-10") // with a change of clocks
				r := &reader{
					T: t, Tracker: coverage.New(noRecords{}), random: random, series: series,
					source: publish(random, from, days), known: map[int64]time.Time{}, seen: map[int64]time.Time{},
				}
				imported := from.Start().AddDate(0, 0, days/3)
				if random.IntN(2) == 0 { // an import of a part of the history
					for _, report := range r.source[:len(r.source)/3] {
						if random.IntN(3) > 0 {
							r.add(imported, report)
						}
					}
					if r.check(from.Start().AddDate(0, 0, days)) {
						t.Fatal("something is proved after an import alone")
					}
				}
				reading, looking := true, true
				begin := (from + disclosure.Day(random.IntN(days/2))).Start().Add(time.Duration(random.IntN(24)) * time.Hour)
				for now := begin; now.Before((from + days).Start()); now = now.Add(step) {
					if random.IntN(200) == 0 {
						reading = !reading // an outage, or its end
					}
					if random.IntN(200) == 0 {
						looking = !looking
					}
					if reading && random.IntN(4) > 0 {
						r.feed(now)
						if series == disclosure.HR {
							r.latest(now)
						} else {
							r.lists(now)
						}
					}
					if reading && looking {
						r.lookUp(now)
					}
					if reading && random.IntN(500) == 0 { // a back-fill; that of HR covers nothing
						to := min(from+disclosure.Day(random.IntN(days)), disclosure.DayOf(now))
						r.take(now, to-6, to)
						if series != disclosure.HR {
							must(t, r.Cover(t.Context(), nil, series, to-6, to, now))
						}
					}
					if random.IntN(12) == 0 {
						if checks++; r.check(now) {
							proved++
						}
					}
				}
			}
			if proved < checks/4 {
				t.Errorf("something is proved in %d of %d checks", proved, checks)
			}
			t.Logf("something is proved in %d of %d checks", proved, checks)
		})
	}
}
