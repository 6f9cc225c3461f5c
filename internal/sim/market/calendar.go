package market

import (
	"slices"
	"time"

	"pregon/internal/disclosure"
)

// epoch is the first day of the register in its present form. There is no
// history before it.
var epoch, _ = disclosure.ParseDay("2020-02-08")

// lastDay is the last whose reports are still plausible: see Report.Validate.
var lastDay, _ = disclosure.ParseDay("2099-12-31")

// before are the numbers that each series had reached on the epoch, in the
// order of disclosure.Types. The series of the funds is much older.
var before = [3]int64{0, 282_600, 0}

// How many reports an ordinary working day brings, and a closed one, in the
// order of disclosure.Types.
var (
	ordinary = [3]float64{1.75, 4, 21.5}
	idle     = [3]float64{0.12, 0.05, 1.4}
)

// monthly is how busy each month is, the rush apart.
var monthly = [12]float64{0.9, 1.1, 1.1, 1.15, 1.15, 1.15, 1.1, 0.55, 0.9, 1, 1, 0.95}

// rush is how much busier the last working days of a month are, the very last
// first: companies report at the end of the time they have.
var rush = map[time.Month][]float64{
	time.February: {7.5, 6.5, 4.5, 3, 2, 1.5},
	time.July:     {6, 4.5, 3, 2, 1.5},
	time.April:    {2, 1.7, 1.3},
	time.October:  {2, 1.7, 1.3},
}

// counts returns how many reports each series has on a day.
func (m *Market) counts(day disclosure.Day) (n [3]int) {
	d := m.dice(forCounts, 0, uint64(day))
	means := idle
	if !closed(day) {
		h := hurry(day)
		means = [3]float64{ordinary[0] * (1 + (h-1)*0.7), ordinary[1], ordinary[2] * h}
		for s := range means {
			means[s] *= monthly[monthOf(day)-1]
		}
	}
	for s, mean := range means {
		n[s] = d.poisson(mean)
	}
	return n
}

func monthOf(day disclosure.Day) time.Month { return day.Start().Month() }

// hurry is the rush of a day; 1 is none.
func hurry(day disclosure.Day) float64 {
	if closed(day) {
		return 1
	}
	month := monthOf(day)
	last := rush[month]
	left := 0 // working days of the month after this one
	for next := day + 1; left < len(last); next++ {
		if monthOf(next) != month {
			return last[left]
		}
		if !closed(next) {
			left++
		}
	}
	return 1
}

// holidays have a fixed date.
var holidays = [][2]int{{1, 1}, {1, 6}, {5, 1}, {8, 15}, {10, 12}, {11, 1}, {12, 6}, {12, 8}, {12, 25}, {12, 26}}

// closed reports whether few work on a day.
func closed(day disclosure.Day) bool {
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

// easter returns Easter Sunday, by the anonymous Gregorian method.
func easter(y int) disclosure.Day {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	n := h + l - 7*((a+11*h+22*l)/451) + 114
	return disclosure.DayOf(time.Date(y, time.Month(n/31), n%31+1, 12, 0, 0, 0, disclosure.Madrid))
}

// hours is the rhythm of a day, as weights of stretches of Madrid time.
func hours(weights ...int) (u urn[[2]int]) {
	const minute = 60
	for n, w := range weights {
		u.put([2]int{stretches[n] * minute, stretches[n+1] * minute}, w)
	}
	return u
}

// stretches are the minutes of the day at which the rhythm changes.
var stretches = []int{0, 6*60 + 30, 7 * 60, 9*60 + 30, 13*60 + 30, 17*60 + 30, 19 * 60, 22 * 60, 24 * 60}

var (
	issuersHours  = hours(2, 4, 34, 19, 14, 21, 5, 1) // before the opening and after the close
	fundsHours    = hours(0, 0, 5, 50, 35, 8, 2, 0)
	holidaysHours = hours(5, 2, 12, 40, 20, 10, 9, 2)
)

// bursts is how many reports an issuer makes in a row, if the topic has them.
var bursts = func() (u urn[int]) {
	u.put(1, 60)
	u.put(2, 24)
	u.put(3, 16)
	return u
}()

// slot is a report still without words: when, who, and what about.
type slot struct {
	at      time.Time
	day     disclosure.Day
	number  int64
	who     *issuer
	topic   *topic
	subject int // which of the topic's subjects
}

// plan lays out the n reports of one series on one day, in order of time, and
// numbers them from first on.
func (m *Market) plan(series disclosure.Type, day disclosure.Day, n int, first int64) []slot {
	d := m.dice(forPlans, uint64(series.Index()), uint64(day))
	rhythm := &issuersHours
	if series == disclosure.HR {
		rhythm = &fundsHours
	}
	if closed(day) {
		rhythm = &holidaysHours
	}
	y, month, date := day.Start().Date()
	about, rushed := &m.topics[series.Index()][month-1], &m.rush[series.Index()][month-1]
	calm := int(100 / hurry(day)) // of a hundred reports, those that any day might bring
	slots := make([]slot, 0, n)
	for len(slots) < n {
		t := about.draw(d)
		if series != disclosure.HR && !d.percent(calm) {
			t = rushed.draw(d)
		}
		who := m.filers[t.who].draw(d)
		row := m.row(t, min(bursts.draw(d), n-len(slots)))
		stretch := rhythm.draw(d)
		second := min(d.between(stretch[0], stretch[1]-1), 24*60*60-1-180*len(row))
		for k, t := range row {
			subject := k
			if len(row) == 1 || t.row == 0 {
				subject = d.IntN(len(t.subjects))
			}
			at := time.Date(y, month, date, 0, 0, second, 0, disclosure.Madrid)
			slots = append(slots, slot{at: at, day: day, who: who, topic: t, subject: subject})
			second += d.between(60, 180)
		}
	}
	// By the instant, not the clock: an hour may be missing from the day.
	slices.SortStableFunc(slots, func(a, b slot) int { return a.at.Compare(b.at) })
	for k := range slots {
		slots[k].number = first + int64(k)
	}
	return slots
}

// row returns what an issuer that files about t files about in a row, n times
// at most.
func (m *Market) row(t *topic, n int) []*topic {
	if t.story == "" {
		return slices.Repeat([]*topic{t}, min(n, max(t.row, 1)))
	}
	story := m.stories[t.story]
	first := slices.Index(story, t)
	row := slices.Concat(story[first:], story[:first])
	return row[:min(n, len(row))]
}
