package catalog

import (
	"cmp"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/saved"
	"pregon/internal/search/segment"
)

// tally counts reports as they are added and removed, so that analytics need not
// read them again. A tally is immutable; the next one shares all unchanged days
// with it.
type tally struct {
	byType        [3]int     // in the order of disclosure.Types
	hours         [7][24]int // by weekday, Monday first
	categoryLines []int32    // by number of the category line
	refs          []int32    // by number of the reference to an issuer
	first         disclosure.Day
	days          []*day // from first on; nil for a day without reports
}

// day is one Madrid day's reports, in order of time.
type day struct {
	reports []timed
	byType  [3]int
}

type timed struct {
	clock int32 // seconds since midnight, as the clock shows them
	typ   uint8 // index in disclosure.Types
	ref   uint32
	key   uint64
}

// next returns the tally after some reports were removed and others added.
func (t *tally) next(gone []*segment.Doc, came []segment.Doc) *tally {
	n := &counting{tally: *t, own: map[disclosure.Day]bool{}}
	n.categoryLines = slices.Clone(t.categoryLines)
	n.refs = slices.Clone(t.refs)
	n.days = slices.Clone(t.days)
	for _, d := range gone {
		n.count(d, -1)
	}
	for i := range came {
		n.count(&came[i], +1)
	}
	return &n.tally
}

// counting is a tally that is being built.
type counting struct {
	tally
	own map[disclosure.Day]bool // days that are copies already
}

func (n *counting) count(d *segment.Doc, by int) {
	local := time.Unix(0, d.At).In(disclosure.Madrid)
	at := timed{
		clock: clock(local),
		typ:   uint8(search.TypeOf(d.Key).Index()),
		ref:   d.Ref,
		key:   d.Key,
	}
	date := disclosure.DayOf(local)
	n.byType[at.typ] += by
	n.hours[(date.Weekday()+6)%7][local.Hour()] += by
	n.categoryLines = grown(n.categoryLines, d.CategoryLine)
	n.categoryLines[d.CategoryLine] += int32(by)
	n.refs = grown(n.refs, d.Ref)
	n.refs[d.Ref] += int32(by)
	n.day(date).count(at, by)
}

func grown(s []int32, index uint32) []int32 {
	if short := int(index) + 1 - len(s); short > 0 {
		return append(s, make([]int32, short)...)
	}
	return s
}

// day returns a day that may be changed.
func (n *counting) day(date disclosure.Day) *day {
	switch {
	case len(n.days) == 0:
		n.first, n.days = date, make([]*day, 1)
	case date < n.first:
		n.days = append(make([]*day, n.first-date), n.days...)
		n.first = date
	case int(date-n.first) >= len(n.days):
		n.days = append(n.days, make([]*day, int(date-n.first)+1-len(n.days))...)
	}
	d := &n.days[date-n.first]
	switch {
	case *d == nil:
		*d = &day{}
	case !n.own[date]:
		*d = &day{reports: slices.Clone((*d).reports), byType: (*d).byType}
	}
	n.own[date] = true
	return *d
}

func (d *day) count(at timed, by int) {
	d.byType[at.typ] += by
	i, found := slices.BinarySearchFunc(d.reports, at, func(a, b timed) int {
		return cmp.Or(cmp.Compare(a.clock, b.clock), cmp.Compare(a.key, b.key))
	})
	if by > 0 {
		d.reports = slices.Insert(d.reports, i, at)
	} else if found {
		d.reports = slices.Delete(d.reports, i, i+1)
	}
}

// years adds up the days of each year.
func (t *tally) years() *periods {
	p := newPeriods(12)
	year, next := 0, disclosure.Day(0) // next is the first day of the next year
	for i, d := range t.days {
		date := t.first + disclosure.Day(i)
		if date >= next {
			year = date.Start().Year()
			next = disclosure.DayOf(monthStart(12 * (year + 1)))
		}
		if d != nil {
			for typ, n := range d.byType {
				p.at(year)[typ] += n
			}
		}
	}
	return p
}

// on returns a day's reports.
func (t *tally) on(date disclosure.Day) *day {
	if i := int(date - t.first); i >= 0 && i < len(t.days) && t.days[i] != nil {
		return t.days[i]
	}
	return &day{}
}

// until counts a day's reports up to a time of day.
func (d *day) until(clock int32) int {
	i, _ := slices.BinarySearchFunc(d.reports, clock, func(f timed, c int32) int {
		if f.clock <= c {
			return -1
		}
		return 1
	})
	return i
}

// clock returns the time of day, so that times of different days can be compared.
func clock(t time.Time) int32 { return int32((t.Hour()*60+t.Minute())*60 + t.Second()) }

// save writes the tally.
func (t *tally) save(e *saved.Encoder) {
	for _, n := range t.byType {
		e.Uint(uint64(n))
	}
	for _, day := range t.hours {
		for _, n := range day {
			e.Uint(uint64(n))
		}
	}
	for _, counts := range [][]int32{t.categoryLines, t.refs} {
		e.Uint(uint64(len(counts)))
		for _, n := range counts {
			e.Uint(uint64(n))
		}
	}
	e.Int(int64(t.first))
	e.Uint(uint64(len(t.days)))
	for _, d := range t.days {
		if d == nil {
			e.Uint(0)
			continue
		}
		e.Uint(uint64(len(d.reports)))
		for _, r := range d.reports {
			e.Uint(uint64(r.clock))
			e.Uint(uint64(r.typ))
			e.Uint(uint64(r.ref))
			e.Uint(r.key)
		}
	}
}

// openTally reads what save wrote.
func openTally(d *saved.Decoder) *tally {
	t := &tally{}
	for i := range t.byType {
		t.byType[i] = int(d.Uint())
	}
	for day := range t.hours {
		for i := range t.hours[day] {
			t.hours[day][i] = int(d.Uint())
		}
	}
	for _, counts := range []*[]int32{&t.categoryLines, &t.refs} {
		*counts = make([]int32, d.Len(1))
		for i := range *counts {
			(*counts)[i] = int32(d.Uint32())
		}
	}
	t.first = disclosure.Day(d.Int())
	t.days = make([]*day, d.Len(1))
	for i := range t.days {
		n := d.Len(4)
		if n == 0 {
			continue
		}
		on := &day{reports: make([]timed, n)}
		for k := range on.reports {
			r := timed{
				clock: int32(d.Uint32()),
				typ:   uint8(d.Uint()),
				ref:   d.Uint32(),
				key:   d.Uint(),
			}
			on.reports[k] = r
			on.byType[min(int(r.typ), len(on.byType)-1)]++
		}
		t.days[i] = on
	}
	return t
}
