package simserver

import (
	"slices"
	"strconv"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// live is what was published since the history ended.
type live struct {
	all     []*filing // in the order of publication
	days    map[disclosure.Day]*day
	numbers map[string]*filing   // by id; the last with that number
	filed   map[string][]*filing // by issuer
	docs    map[string]*filing   // by the document's identifier
	next    [3]int64             // the numbers to give
}

func newLive(reached [3]int64) live {
	l := live{
		days: map[disclosure.Day]*day{}, numbers: map[string]*filing{},
		filed: map[string][]*filing{}, docs: map[string]*filing{}, next: reached,
	}
	for s := range l.next {
		l.next[s]++
	}
	return l
}

// add takes a report in. The reports of a day are kept newest last, so that
// to add one costs little.
func (l *live) add(f *filing) {
	s, d := f.Type.Index(), disclosure.DayOf(f.PublishedAt)
	if l.days[d] == nil {
		l.days[d] = &day{}
	}
	of := &l.days[d][s]
	n, _ := slices.BinarySearchFunc(*of, f, func(a, b *filing) int {
		if c := disclosure.CompareReports(&b.Report, &a.Report); c != 0 {
			return c
		}
		return -1 // behind its like
	})
	*of = slices.Insert(*of, n, f)
	l.all, l.numbers[f.ID] = append(l.all, f), f
	if f.who != nil {
		l.filed[f.who.ID] = append(l.filed[f.who.ID], f)
	}
	if guid := f.guid(); guid != "" {
		l.docs[guid] = f
	}
	l.next[s] = max(l.next[s], f.Number+1)
}

// next returns the numbers that the next reports of the series will have.
func (s *Server) next() [3]int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.live.next
}

// find returns the report of a number, or nil.
func (s *Server) find(series disclosure.Type, number int64) *filing {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.findLocked(series, number)
}

func (s *Server) findLocked(series disclosure.Type, number int64) *filing {
	if f := s.live.numbers[disclosure.ReportID(series, number)]; f != nil {
		return f
	}
	return s.archive.get(series, number)
}

// on returns the reports of one series on a day, newest first.
func (s *Server) on(series disclosure.Type, d disclosure.Day) []*filing {
	var old []*filing
	if d <= s.archive.timeline.Last() {
		old = s.archive.day(d)[series.Index()]
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.live.days[d] == nil {
		return old
	}
	fresh := s.live.days[d][series.Index()]
	out := make([]*filing, 0, len(fresh)+len(old))
	for _, f := range slices.Backward(fresh) {
		out = append(out, f)
	}
	out = append(out, old...)
	if len(old) > 0 && disclosure.CompareReports(&out[max(0, len(fresh)-1)].Report, &old[0].Report) > 0 { // a late registration
		slices.SortStableFunc(out, func(a, b *filing) int { return disclosure.CompareReports(&a.Report, &b.Report) })
	}
	return out
}

// rows are the reports of a day as a list shows them: now and then the list
// shows one a second time, on the next page.
func (s *Server) rows(series disclosure.Type, d disclosure.Day) []*filing {
	filings := s.on(series, d)
	var again []int
	for n, f := range filings {
		if n+apart <= len(filings) && twice(s.seed, series, f.Number) {
			again = append(again, n)
		}
	}
	if len(again) == 0 {
		return filings
	}
	out := slices.Clone(filings)
	for _, n := range slices.Backward(again) { // from the end, so that the places ahead stay
		out = slices.Insert(out, n+apart, filings[n])
	}
	return out
}

// apart is how far behind its first a second row of a report comes: a page.
const apart = perPage

// twice reports whether a list shows a report twice.
func twice(seed uint64, series disclosure.Type, number int64) bool {
	return series == disclosure.OIR && filler.Mix(seed^uint64(number)<<1)%120 == 0
}

// untouched reports whether a day lies in the history and nothing was published
// into it, so that its rows are counted already.
func (s *Server) untouched(d disclosure.Day) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.live.days[d] == nil && s.archive.whole(d)
}

// query is what a list is asked for. Zero days are no bounds.
type query struct {
	series   disclosure.Type
	from, to disclosure.Day
	nif      string // the literal; nothing is everybody
}

// list is what a query finds, newest first: how many rows, and how to get some.
type list struct {
	total int
	rows  func(from, to int) []*filing
}

func (s *Server) list(q query) list {
	last := max(s.archive.timeline.Last(), s.lastDay())
	if q.to == 0 || q.to > last {
		q.to = last
	}
	q.from = max(q.from, market.Epoch)
	if q.nif != "" {
		return s.listIssuer(q)
	}
	type stretch struct {
		day   disclosure.Day
		first int       // of its rows
		rows  []*filing // unless they are of the history alone
	}
	var days []stretch
	total := 0
	for d := q.to; d >= q.from; d-- {
		at := stretch{day: d, first: total}
		if s.untouched(d) {
			total += int(s.archive.rows[d-market.Epoch][q.series.Index()])
		} else {
			at.rows = s.rows(q.series, d)
			total += len(at.rows)
		}
		days = append(days, at)
	}
	return list{total, func(from, to int) (out []*filing) {
		n, _ := slices.BinarySearchFunc(days, from, func(a stretch, at int) int {
			if a.first <= at {
				return -1
			}
			return 1
		})
		for n = max(0, n-1); n < len(days) && days[n].first < to; n++ {
			rows := days[n].rows
			if rows == nil {
				rows = s.rows(q.series, days[n].day)
			}
			begin := min(max(0, from-days[n].first), len(rows))
			end := min(to-days[n].first, len(rows))
			out = append(out, rows[begin:max(begin, end)]...)
		}
		return out[:min(len(out), to-from)]
	}}
}

func (s *Server) lastDay() (last disclosure.Day) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for d := range s.live.days {
		last = max(last, d)
	}
	return last
}

// listIssuer lists the reports of one issuer whose rows print its NIF.
func (s *Server) listIssuer(q query) list {
	i := s.people.byNIF[q.nif]
	if i == nil {
		return list{0, func(int, int) []*filing { return nil }}
	}
	type item struct {
		ref
		f *filing
	}
	var items []item
	from, to := q.from.Start(), (q.to + 1).Start()
	within := func(at time.Time) bool { return !at.Before(from) && at.Before(to) }
	for _, r := range s.archive.filedBy(i.ID) {
		if r.series() == q.series && !r.silent && within(time.Unix(r.at, 0)) {
			items = append(items, item{r, nil})
		}
	}
	s.mu.RLock()
	for _, f := range s.live.filed[i.ID] {
		if f.Type == q.series && f.NIF != "" && within(f.PublishedAt) {
			items = append(items, item{ref{at: f.PublishedAt.Unix(), number: int32(f.Number)}, f})
		}
	}
	s.mu.RUnlock()
	slices.SortStableFunc(items, func(a, b item) int {
		if a.at != b.at {
			return int(b.at - a.at)
		}
		return int(b.number) - int(a.number)
	})
	return list{len(items), func(from, to int) (out []*filing) {
		for _, it := range items[min(from, len(items)):min(to, len(items))] {
			if it.f == nil {
				it.f = s.archive.get(q.series, int64(it.number))
			}
			out = append(out, it.f)
		}
		return out
	}}
}

// newest returns the newest reports of a series, n at most, of those that
// suit, from a day on.
func (s *Server) newest(series disclosure.Type, n int, since disclosure.Day, suits func(*filing) bool) (out []*filing) {
	for d := max(s.archive.timeline.Last(), s.lastDay()); d >= max(since, market.Epoch); d-- {
		for _, f := range s.on(series, d) {
			if !suits(f) {
				continue
			}
			if out = append(out, f); len(out) == n {
				return out
			}
		}
	}
	return out
}

// version changes whenever something was published.
func (s *Server) version() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return strconv.Itoa(len(s.live.all))
}

func sortOldest(filings []*filing) {
	slices.SortStableFunc(filings, func(a, b *filing) int { return disclosure.CompareReports(&b.Report, &a.Report) })
}
