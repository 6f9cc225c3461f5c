package archive

import (
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// live holds the reports published since the history ended.
type live struct {
	all     []*Report // in the order of publication
	days    map[disclosure.Day]*day
	numbers map[string]*Report   // by id; the last one of each number
	filed   map[string][]*Report // by issuer
	docs    map[string]*Report   // by the document's identifier
	next    [3]int64             // the next numbers
}

func newLive(reached [3]int64) live {
	l := live{
		days: map[disclosure.Day]*day{}, numbers: map[string]*Report{},
		filed: map[string][]*Report{}, docs: map[string]*Report{}, next: reached,
	}
	for s := range l.next {
		l.next[s]++
	}
	return l
}

// add adds a report. The reports of a day are kept newest last, so that adding one
// is cheap.
func (l *live) add(f *Report) {
	s, d := f.Type.Index(), disclosure.DayOf(f.PublishedAt)
	if l.days[d] == nil {
		l.days[d] = &day{}
	}
	of := &l.days[d][s]
	n, _ := slices.BinarySearchFunc(*of, f, func(x, y *Report) int {
		if c := disclosure.CompareReports(&y.Report, &x.Report); c != 0 {
			return c
		}
		return -1 // behind equal ones
	})
	*of = slices.Insert(*of, n, f)
	l.all, l.numbers[f.ID] = append(l.all, f), f
	if f.Issuer != nil {
		l.filed[f.Issuer.ID] = append(l.filed[f.Issuer.ID], f)
	}
	if guid := f.guid(); guid != "" {
		l.docs[guid] = f
	}
	l.next[s] = max(l.next[s], f.Number+1)
}

// Next returns the next number of each series.
func (a *Archive) Next() [3]int64 {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.live.next
}

// Find returns the report of a number, or nil.
func (a *Archive) Find(series disclosure.Type, number int64) *Report {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.findLocked(series, number)
}

func (a *Archive) findLocked(series disclosure.Type, number int64) *Report {
	if f := a.live.numbers[disclosure.ReportID(series, number)]; f != nil {
		return f
	}
	return a.history.get(series, number)
}

// On returns the reports of a series on a day, newest first.
func (a *Archive) On(series disclosure.Type, d disclosure.Day) []*Report {
	var old []*Report
	if d <= a.history.timeline.Last() {
		old = a.history.day(d)[series.Index()]
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.live.days[d] == nil {
		return old
	}
	fresh := a.live.days[d][series.Index()]
	out := make([]*Report, 0, len(fresh)+len(old))
	for _, f := range slices.Backward(fresh) {
		out = append(out, f)
	}
	out = append(out, old...)
	if len(old) > 0 && disclosure.CompareReports(&out[max(0, len(fresh)-1)].Report, &old[0].Report) > 0 { // a late registration
		slices.SortStableFunc(out, func(x, y *Report) int { return disclosure.CompareReports(&x.Report, &y.Report) })
	}
	return out
}

// rows returns the reports of a day as a list shows them: it repeats some of them on
// the next page.
func (a *Archive) rows(series disclosure.Type, d disclosure.Day) []*Report {
	reports := a.On(series, d)
	var repeated []int
	for n, f := range reports {
		if n+repeatDistance <= len(reports) && isRepeated(a.seed, series, f.Number) {
			repeated = append(repeated, n)
		}
	}
	if len(repeated) == 0 {
		return reports
	}
	out := slices.Clone(reports)
	for _, n := range slices.Backward(repeated) { // from the end, which leaves earlier positions valid
		out = slices.Insert(out, n+repeatDistance, reports[n])
	}
	return out
}

// PerPage is the number of rows on a page of a list.
const PerPage = 10

// repeatDistance is the distance of the second row of a report from the first.
const repeatDistance = PerPage

// isRepeated reports whether a list shows a report twice.
func isRepeated(seed uint64, series disclosure.Type, number int64) bool {
	return series == disclosure.OIR && filler.Mix(seed^uint64(number)<<1)%120 == 0
}

// isHistory reports whether a whole day is in the history and nothing was published
// on it, so that its rows are counted.
func (a *Archive) isHistory(d disclosure.Day) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.live.days[d] == nil && a.history.hasWhole(d)
}

// Query selects the reports of a list. Zero values are no restrictions.
type Query struct {
	Series   disclosure.Type
	From, To disclosure.Day
	NIF      string // as the site prints it
}

// List is the result of a query, newest first.
type List struct {
	Total int
	Rows  func(from, to int) []*Report // the rows from one index up to, and not including, another
}

// List returns the reports that a query selects.
func (a *Archive) List(q Query) List {
	last := a.LastDay()
	if q.To == 0 || q.To > last {
		q.To = last
	}
	q.From = max(q.From, market.Epoch)
	if q.NIF != "" {
		return a.listIssuer(q)
	}
	type segment struct {
		day   disclosure.Day
		first int       // the index of its first row
		rows  []*Report // nil for a day of the history
	}
	var days []segment
	total := 0
	for d := q.To; d >= q.From; d-- {
		at := segment{day: d, first: total}
		if a.isHistory(d) {
			total += int(a.history.rows[d-market.Epoch][q.Series.Index()])
		} else {
			at.rows = a.rows(q.Series, d)
			total += len(at.rows)
		}
		days = append(days, at)
	}
	return List{total, func(from, to int) (out []*Report) {
		n, _ := slices.BinarySearchFunc(days, from, func(a segment, at int) int {
			if a.first <= at {
				return -1
			}
			return 1
		})
		for n = max(0, n-1); n < len(days) && days[n].first < to; n++ {
			rows := days[n].rows
			if rows == nil {
				rows = a.rows(q.Series, days[n].day)
			}
			begin := min(max(0, from-days[n].first), len(rows))
			end := min(to-days[n].first, len(rows))
			out = append(out, rows[begin:max(begin, end)]...)
		}
		return out[:min(len(out), to-from)]
	}}
}

// LastDay returns the last day with reports.
func (a *Archive) LastDay() disclosure.Day {
	a.mu.RLock()
	defer a.mu.RUnlock()
	last := a.history.timeline.Last()
	for d := range a.live.days {
		last = max(last, d)
	}
	return last
}

// listIssuer returns the reports of one issuer whose rows print its NIF.
func (a *Archive) listIssuer(q Query) List {
	i := a.Directory.ByNIF(q.NIF)
	if i == nil {
		return List{0, func(int, int) []*Report { return nil }}
	}
	type item struct {
		ref
		f *Report
	}
	var items []item
	from, to := q.From.Start(), (q.To + 1).Start()
	within := func(at time.Time) bool { return !at.Before(from) && at.Before(to) }
	for _, r := range a.history.filedBy(i.ID) {
		if r.series() == q.Series && !r.noNIF && within(time.Unix(r.at, 0)) {
			items = append(items, item{r, nil})
		}
	}
	a.mu.RLock()
	for _, f := range a.live.filed[i.ID] {
		if f.Type == q.Series && f.NIF != "" && within(f.PublishedAt) {
			items = append(items, item{ref{at: f.PublishedAt.Unix(), number: int32(f.Number)}, f})
		}
	}
	a.mu.RUnlock()
	slices.SortStableFunc(items, func(a, b item) int {
		if a.at != b.at {
			return int(b.at - a.at)
		}
		return int(b.number) - int(a.number)
	})
	return List{len(items), func(from, to int) (out []*Report) {
		for _, it := range items[min(from, len(items)):min(to, len(items))] {
			if it.f == nil {
				it.f = a.history.get(q.Series, int64(it.number))
			}
			out = append(out, it.f)
		}
		return out
	}}
}

// Newest returns the newest n reports of a series that match, not older than a day.
func (a *Archive) Newest(series disclosure.Type, n int, since disclosure.Day, matches func(*Report) bool) (out []*Report) {
	for d := a.LastDay(); d >= max(since, market.Epoch); d-- {
		for _, f := range a.On(series, d) {
			if !matches(f) {
				continue
			}
			if out = append(out, f); len(out) == n {
				return out
			}
		}
	}
	return out
}

// Published returns the number of reports published since the history ended.
func (a *Archive) Published() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.live.all)
}

// Settled returns the reports of a day, oldest first, without those that were
// replaced by a later one with the same number.
func (a *Archive) Settled(kinds []disclosure.Type, d disclosure.Day) []*Report {
	var all []*Report
	for _, series := range kinds {
		for _, f := range a.On(series, d) {
			a.mu.RLock()
			last := a.live.numbers[f.ID]
			a.mu.RUnlock()
			if last == nil || last == f {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y *Report) int { return disclosure.CompareReports(&y.Report, &x.Report) })
	return all
}

// ByGUID returns the report whose document has an identifier, or nil.
func (a *Archive) ByGUID(guid string) *Report {
	a.mu.RLock()
	f := a.live.docs[guid]
	a.mu.RUnlock()
	if f != nil {
		return f
	}
	at, ok := a.history.index().docs[guidKey(guid)]
	if !ok {
		return nil
	}
	f = a.history.get(at.series(), int64(at.number))
	if f == nil || f.guid() != guid {
		return nil
	}
	return f
}
