package market

import (
	"math"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

// Epoch is the first day of the register in its present form, and of the history.
var Epoch, _ = disclosure.ParseDay("2020-02-08")

// lastDay is the last day of the history. Report.Validate refuses later ones.
var lastDay, _ = disclosure.ParseDay("2099-12-31")

// epochNumbers are the last numbers of each series before Epoch, in the order of
// disclosure.Types. The series of the funds is much older.
var epochNumbers = [3]int64{0, 282_600, 0}

// Mean numbers of reports, in the order of disclosure.Types.
var (
	onWorkingDays = [3]float64{1.75, 4, 21.5}
	onClosedDays  = [3]float64{0.12, 0.05, 1.4}
)

// monthly are the factors of the months for days without a rush.
var monthly = [12]float64{0.9, 1.1, 1.1, 1.15, 1.15, 1.15, 1.1, 0.55, 0.9, 1, 1, 0.95}

// rushes are the factors of the last working days of a month, the last day first:
// companies report shortly before the deadline.
var rushes = map[time.Month][]float64{
	time.February: {7.5, 6.5, 4.5, 3, 2, 1.5},
	time.July:     {6, 4.5, 3, 2, 1.5},
	time.April:    {2, 1.7, 1.3},
	time.October:  {2, 1.7, 1.3},
}

// counts returns the number of reports of each series on a day.
func (m *Market) counts(day disclosure.Day) (n [3]int) {
	rng := m.random(forCounts, 0, uint64(day))
	means := onClosedDays
	if !IsClosed(day) {
		factor := rush(day)
		means = [3]float64{onWorkingDays[0] * (1 + (factor-1)*0.7), onWorkingDays[1], onWorkingDays[2] * factor}
		for s := range means {
			means[s] *= monthly[monthOf(day)-1]
		}
	}
	for s, mean := range means {
		n[s] = poisson(rng, mean)
	}
	return n
}

// poisson returns a number of events whose mean is given.
func poisson(rng filler.Random, mean float64) int {
	n, limit := 0, math.Exp(-mean)
	for p := rng.Float64(); p > limit; p *= rng.Float64() {
		n++
	}
	return n
}

func monthOf(day disclosure.Day) time.Month { return day.Start().Month() }

// rush returns the factor of a day before a deadline, 1 for other days.
func rush(day disclosure.Day) float64 {
	if IsClosed(day) {
		return 1
	}
	month := monthOf(day)
	last := rushes[month]
	left := 0 // working days of the month after this one
	for next := day + 1; left < len(last); next++ {
		if monthOf(next) != month {
			return last[left]
		}
		if !IsClosed(next) {
			left++
		}
	}
	return 1
}

// holidays have a fixed date.
var holidays = [][2]int{{1, 1}, {1, 6}, {5, 1}, {8, 15}, {10, 12}, {11, 1}, {12, 6}, {12, 8}, {12, 25}, {12, 26}}

// IsClosed reports whether a day is a weekend or a holiday of the exchange.
func IsClosed(day disclosure.Day) bool {
	if w := day.Weekday(); w == time.Saturday || w == time.Sunday {
		return true
	}
	y, month, d := day.Start().Date()
	if slices.Contains(holidays, [2]int{int(month), d}) {
		return true
	}
	if month != time.March && month != time.April {
		return false
	}
	sunday := easter(y)
	return day == sunday-2 || day == sunday+1
}

// easter returns Easter Sunday of a year, by the anonymous Gregorian algorithm.
func easter(y int) disclosure.Day {
	a := y % 19
	b := y / 100
	c := y % 100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	n := h + l - 7*((a+11*h+22*l)/451) + 114
	return disclosure.DayOf(time.Date(y, time.Month(n/31), n%31+1, 12, 0, 0, 0, disclosure.Madrid))
}

// hours returns the distribution of reports over a day, by weights of the parts of
// the day in Madrid time. A part is a range of seconds.
func hours(weights ...int) (w weighted[[2]int]) {
	for n, weight := range weights {
		w.add([2]int{dayParts[n] * 60, dayParts[n+1] * 60}, weight)
	}
	return w
}

// dayParts are the minutes of the day at which the parts begin and end.
var dayParts = []int{0, 6*60 + 30, 7 * 60, 9*60 + 30, 13*60 + 30, 17*60 + 30, 19 * 60, 22 * 60, 24 * 60}

var (
	issuersHours  = hours(2, 4, 34, 19, 14, 21, 5, 1) // before the opening and after the close
	fundsHours    = hours(0, 0, 5, 50, 35, 8, 2, 0)
	holidaysHours = hours(5, 2, 12, 40, 20, 10, 9, 2)
)

// sequenceLengths are the numbers of reports that an issuer files in a row, if the
// topic has more than one.
var sequenceLengths = weighted[int]{items: []int{1, 2, 3}, sums: []int{60, 84, 100}}

// slot is a report without its text.
type slot struct {
	at      time.Time
	day     disclosure.Day
	number  int64
	issuer  *issuer
	topic   *topic
	subject int // the index of the topic's subject
}

// plan returns the n reports of a series on a day, in order of time, with numbers
// from first.
func (m *Market) plan(series disclosure.Type, day disclosure.Day, n int, first int64) []slot {
	rng := m.random(forPlans, uint64(series.Index()), uint64(day))
	hours := &issuersHours
	if series == disclosure.HR {
		hours = &fundsHours
	}
	if IsClosed(day) {
		hours = &holidaysHours
	}
	y, month, date := day.Start().Date()
	topics, periodic := &m.topics[series.Index()][month-1], &m.periodic[series.Index()][month-1]
	ordinary := int(100 / rush(day)) // of a hundred reports, those that are not due to the rush
	slots := make([]slot, 0, n)
	for len(slots) < n {
		t := topics.pick(rng)
		if series != disclosure.HR && !rng.Percent(ordinary) {
			t = periodic.pick(rng)
		}
		by := m.filers[t.Filers].pick(rng)
		sequence := m.sequence(t, min(sequenceLengths.pick(rng), n-len(slots)))
		part := hours.pick(rng)
		second := min(rng.Between(part[0], part[1]-1), 24*60*60-1-180*len(sequence))
		for k, t := range sequence {
			subject := k
			if len(sequence) == 1 || t.Sequence == 0 {
				subject = rng.IntN(len(t.Subjects))
			}
			at := time.Date(y, month, date, 0, 0, second, 0, disclosure.Madrid)
			slots = append(slots, slot{
				at:      at,
				day:     day,
				issuer:  by,
				topic:   t,
				subject: subject,
			})
			second += rng.Between(60, 180)
		}
	}
	// By the instant and not by the clock, which may skip an hour.
	slices.SortStableFunc(slots, func(a, b slot) int { return a.at.Compare(b.at) })
	for k := range slots {
		slots[k].number = first + int64(k)
	}
	return slots
}

// sequence returns the topics of at most n reports that an issuer files in a row,
// the first one about t.
func (m *Market) sequence(t *topic, n int) []*topic {
	if t.Story == "" {
		return slices.Repeat([]*topic{t}, min(n, max(t.Sequence, 1)))
	}
	story := m.stories[t.Story]
	first := slices.Index(story, t)
	sequence := slices.Concat(story[first:], story[:first])
	return sequence[:min(n, len(sequence))]
}
