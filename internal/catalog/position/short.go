package position

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unique"

	"pregon/internal/disclosure"
)

// Short positions of different holders in one issuer may be added up, since each is a
// part of the issuer's capital that one holder has sold short. Those of one holder in two
// ISINs of the issuer may be added up too.

// ShortTotal is the sum of the present short positions in an issuer.
type ShortTotal struct {
	Key     string
	Newest  Entry // of the positions
	Percent string
	Names   int // different holders
}

// pair is what has one value at a time: an instrument and who holds the position.
type pair struct {
	isin string
	name string
}

// pairOf returns the pair of a short position. A name that was erased is not known: each of
// these positions is a pair of its own.
func pairOf(r *record) pair {
	if name := r.name.Value(); name != "" {
		return pair{r.ref.Value().isin, name}
	}
	return pair{r.ref.Value().isin, "\x00" + r.id}
}

// ShortTotals returns the totals of all issuers with present short positions, the largest
// first.
func (b *Book) ShortTotals() []ShortTotal {
	byIssuer := map[string][]Entry{}
	for e := range b.All(disclosure.Short) {
		if e.r.state == disclosure.StateCurrent {
			byIssuer[e.IssuerKey()] = append(byIssuer[e.IssuerKey()], e)
		}
	}
	totals := make([]ShortTotal, 0, len(byIssuer))
	for key, entries := range byIssuer {
		totals = append(totals, shortTotal(key, entries))
	}
	slices.SortFunc(totals, func(a, b ShortTotal) int {
		return cmp.Or(disclosure.CompareDecimals(b.Percent, a.Percent), strings.Compare(a.Key, b.Key))
	})
	return totals
}

// ShortTotal returns the total of one issuer. ok is false if it has no present short
// positions.
func (b *Book) ShortTotal(key string) (total ShortTotal, ok bool) {
	var entries []Entry
	for e := range b.Of(key, disclosure.Short) {
		if e.r.state == disclosure.StateCurrent {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return ShortTotal{}, false
	}
	return shortTotal(key, entries), true
}

// shortTotal adds up present positions of one issuer, of which the newest is the first.
func shortTotal(key string, entries []Entry) ShortTotal {
	values := map[pair]string{}
	names := map[string]bool{}
	for _, e := range entries {
		p := pairOf(e.r)
		if _, newer := values[p]; !newer {
			values[p] = e.r.percent
			names[p.name] = true
		}
	}
	return ShortTotal{
		Key:     key,
		Newest:  entries[0],
		Percent: disclosure.AddDecimals(slices.Collect(maps.Values(values))...),
		Names:   len(names),
	}
}

// Line is the series of one pair of an instrument and who holds a short position in it.
type Line struct {
	Name   string // empty if it was erased
	ISIN   string
	Points []Point // by day
}

// Point is a value from a day on, until the next one.
type Point struct {
	Day     disclosure.Day
	Percent string
	Names   int // different holders; only of a total
}

// ShortLines returns the series of all pairs of an issuer, in the order of their first
// days. A line whose position is in the present table has no end. Others end with 0: on the
// day of a position of 0, else on that on which the position was first seen missing. If it
// was never seen in the present table, that day is not known, and the value counts for its
// own day only.
func (b *Book) ShortLines(key string) []Line {
	type series struct {
		Line
		last *record
	}
	var order []*series
	known := map[pair]*series{}
	for _, r := range b.oldestFirst(key, disclosure.Short) {
		if r.state == disclosure.StateAnnulled {
			continue
		}
		p := pairOf(r)
		s := known[p]
		if s == nil {
			s = &series{Line: Line{Name: r.name.Value(), ISIN: p.isin}}
			known[p] = s
			order = append(order, s)
		}
		s.end(s.last, r.day)
		s.set(r.day, r.percent)
		s.last = r
	}
	lines := make([]Line, len(order))
	for i, s := range order {
		s.end(s.last, 0)
		lines[i] = s.Line
	}
	return lines
}

// set adds a value. Of several of one day, the last one counts.
func (l *Line) set(day disclosure.Day, percent string) {
	if n := len(l.Points); n > 0 && l.Points[n-1].Day >= day {
		l.Points[n-1].Percent = percent
		return
	}
	l.Points = append(l.Points, Point{Day: day, Percent: percent})
}

// end adds the end of a line after its last position, unless the position after that was
// on an earlier day. A next day of 0 means that there is none.
func (l *Line) end(last *record, next disclosure.Day) {
	if last == nil || last.state != disclosure.StateEnded {
		return
	}
	at := max(last.ended, last.day+1)
	if next == 0 || at < next {
		l.set(at, "0")
	}
}

// ShortSeries returns the sum of all lines on each day on which it changed.
func ShortSeries(lines []Line) []Point {
	type step struct {
		day        disclosure.Day
		line       int
		percent    string
		wasPercent string
	}
	var steps []step
	for i, l := range lines {
		was := "0"
		for _, p := range l.Points {
			steps = append(steps, step{p.Day, i, p.Percent, was})
			was = p.Percent
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.day, b.day) })
	var out []Point
	total := "0"
	held := map[string]int{} // lines above 0, by name
	for _, s := range steps {
		total = disclosure.AddDecimals(total, s.percent, "-"+s.wasPercent)
		name := nameOf(&lines[s.line], s.line)
		if !isZero(s.wasPercent) {
			held[name]--
		}
		if !isZero(s.percent) {
			held[name]++
		}
		if held[name] == 0 {
			delete(held, name)
		}
		p := Point{Day: s.day, Percent: total, Names: len(held)}
		if n := len(out); n > 0 && out[n-1].Day == s.day {
			out[n-1] = p
			continue
		}
		out = append(out, p)
	}
	return out
}

// nameOf distinguishes the holders of lines. A name that was erased is that of no other
// line.
func nameOf(l *Line, n int) string {
	if l.Name != "" {
		return l.Name
	}
	return "\x00" + string(rune(n))
}

func isZero(decimal string) bool { return disclosure.CompareDecimals(decimal, "0") == 0 }

// oldestFirst returns the records of an issuer and a kind, the oldest first.
func (b *Book) oldestFirst(key string, kind disclosure.PositionKind) []*record {
	var found []*record
	m := b.ofIssuer(key, []disclosure.PositionKind{kind})
	for r := m.next(); r != nil; r = m.next() {
		found = append(found, r)
	}
	slices.Reverse(found)
	return found
}

// SeriesOf returns the positions of an issuer and a kind with exactly a name, the oldest
// first.
func (b *Book) SeriesOf(key string, kind disclosure.PositionKind, name string) []Entry {
	wanted := unique.Make(name)
	var found []Entry
	for _, r := range b.oldestFirst(key, kind) {
		if name != "" && r.name == wanted {
			found = append(found, Entry{r, b})
		}
	}
	return found
}
