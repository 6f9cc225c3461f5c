package simserver

import (
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// archive is the market's own history, made again whenever it is asked for.
type archive struct {
	timeline *market.Timeline
	people   *directory
	seed     uint64
	until    time.Time
	index    func() *index // built once
	rows     [][3]int32    // how many rows a list shows of each day

	mu   sync.Mutex // guards what follows
	days map[disclosure.Day]*day
	kept []disclosure.Day // the days made, in that order
}

// day are the reports of a day by series, newest first.
type day [3][]*filing

// keep is how many days are held ready; a month and all that it relates to.
const keep = 200

func newArchive(m *market.Market, people *directory, seed uint64, until time.Time) *archive {
	a := &archive{
		timeline: m.Timeline(disclosure.DayOf(until)), people: people, seed: seed, until: until,
		days: map[disclosure.Day]*day{},
	}
	made, _ := indexes.LoadOrStore(indexKey{m, a.timeline.Last()}, sync.OnceValue(a.makeIndex))
	a.index = made.(func() *index)
	for d := market.Epoch; d < a.timeline.Last(); d++ {
		a.rows = append(a.rows, a.countRows(d))
	}
	return a
}

// countRows counts a day's rows by its numbers alone: within a day of the
// history they rise with time and are dense.
func (a *archive) countRows(d disclosure.Day) (rows [3]int32) {
	from, to := a.timeline.Numbers(d), a.timeline.Numbers(d+1)
	for s, series := range disclosure.Types {
		for n := from[s] + 1; n <= to[s]; n++ {
			rows[s]++
			if n-from[s] >= apart && twice(a.seed, series, n) {
				rows[s]++
			}
		}
	}
	return rows
}

// whole reports whether a day lies in the history to its end, so that its rows
// are counted already.
func (a *archive) whole(d disclosure.Day) bool { return d >= market.Epoch && d < a.timeline.Last() }

// numbers are the last ones of the history.
func (a *archive) numbers() [3]int64 {
	last := a.timeline.Last()
	n := a.timeline.Numbers(last)
	for s, filings := range a.on(last) {
		n[s] += int64(len(filings))
	}
	return n
}

// on returns a day's reports without their relations.
func (a *archive) on(d disclosure.Day) (out day) {
	for _, r := range slices.Backward(a.timeline.On(d)) {
		if !r.PublishedAt.Before(a.until) {
			continue
		}
		f := &filing{Report: r, who: a.people.of(&r)}
		f.complete(a.seed)
		out[r.Type.Index()] = append(out[r.Type.Index()], f)
	}
	return out
}

// day returns a day's reports, and keeps them ready for the next who asks.
func (a *archive) day(d disclosure.Day) *day {
	a.mu.Lock()
	ready := a.days[d]
	a.mu.Unlock()
	if ready != nil {
		return ready
	}
	made := a.on(d)
	for _, filings := range made {
		for _, f := range filings {
			a.relate(f)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.days[d] == nil {
		a.days[d], a.kept = &made, append(a.kept, d)
	}
	if len(a.kept) > keep {
		delete(a.days, a.kept[0])
		a.kept = slices.Delete(a.kept, 0, 1)
	}
	return &made
}

// relate ties a report of the history to the one before it of the same issuer.
func (a *archive) relate(f *filing) {
	if !f.relates(a.seed) {
		return
	}
	if to := a.before(f); to != nil {
		f.follow(to)
	}
}

// before returns the last report of the history that an issuer made before
// another, or nil.
func (a *archive) before(f *filing) *filing {
	for _, earlier := range slices.Backward(a.filedBy(f.who.ID)) {
		if earlier.at < f.PublishedAt.Unix() && f.near(earlier.series()) {
			return a.find(earlier.series(), int64(earlier.number), a.on)
		}
	}
	return nil
}

// filedBy returns what an issuer filed in the history, oldest first.
func (a *archive) filedBy(id string) []ref {
	all := a.index().filed[id]
	n := len(all)
	for n > 0 && !time.Unix(all[n-1].at, 0).Before(a.until) {
		n--
	}
	return all[:n]
}

// relates reports whether a report has to do with an earlier one of its issuer:
// some do by chance, and those that say that they mend another.
func (f *filing) relates(seed uint64) bool {
	mends := f.rectifies() || strings.Contains(f.Title, "Corrección de errores")
	return f.who != nil && (mends || filler.Mix(seed^uint64(f.Number)<<2^uint64(f.Type.Index()))%100 < related)
}

// near reports whether a report may relate to one of a series: the funds' have
// nothing to do with the others.
func (f *filing) near(series disclosure.Type) bool {
	return (f.Type == disclosure.HR) == (series == disclosure.HR)
}

// follow relates a report to one before it, and mends it if it says so.
func (f *filing) follow(to *filing) {
	if f.relate(to); f.rectifies() {
		f.Corrects = to.ID
	}
}

// related is how many of a hundred reports relate to another.
const related = 5

// find returns a report by its number, or nil.
func (a *archive) find(series disclosure.Type, number int64, on func(disclosure.Day) day) *filing {
	d, ok := a.timeline.DayOf(series, number)
	if !ok {
		return nil
	}
	filings := on(d)[series.Index()]
	n := slices.IndexFunc(filings, func(f *filing) bool { return f.Number == number })
	if n < 0 {
		return nil
	}
	return filings[n]
}

// get is find with the report's relations.
func (a *archive) get(series disclosure.Type, number int64) *filing {
	return a.find(series, number, func(d disclosure.Day) day { return *a.day(d) })
}

// indexes are those that were made: servers of one market that began on the same
// day, as tests have many, share one.
var indexes sync.Map // of func() *index by indexKey

type indexKey struct {
	market *market.Market
	last   disclosure.Day
}

// index finds reports of the history by what the days do not tell. It has all of
// the last day: whoever uses it leaves out what the history does not reach.
type index struct {
	filed map[string][]ref // by issuer, oldest first
	docs  map[uint64]ref   // by the stem of the document's identifier
}

// ref stands for a report.
type ref struct {
	at     int64 // in seconds of Unix time
	number int32
	kind   int8
	silent bool // the row prints no NIF
}

func (r ref) series() disclosure.Type { return disclosure.Types[r.kind] }

func (a *archive) makeIndex() *index {
	x := &index{filed: map[string][]ref{}, docs: map[uint64]ref{}}
	for d := market.Epoch; d <= a.timeline.Last(); d++ {
		for _, r := range a.timeline.On(d) {
			one := ref{at: r.PublishedAt.Unix(), number: int32(r.Number), kind: int8(r.Type.Index()), silent: r.NIF == ""}
			if i := a.people.of(&r); i != nil {
				x.filed[i.ID] = append(x.filed[i.ID], one)
			}
			f := filing{Report: r}
			if guid := f.guid(); guid != "" {
				x.docs[stem(guid)] = one
			}
		}
	}
	return x
}
