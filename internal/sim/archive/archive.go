// Package archive holds the reports of the simulated regulator.
//
// The past is the deterministic history of the market, up to the time at which the
// archive was first opened. The reports published after that are stored in a file,
// one JSON line each, before they are served, so that a restart continues with the
// same market.
package archive

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper"
	"pregon/internal/sim/paper/statement"
)

// Archive holds all reports. It is safe for concurrent use.
type Archive struct {
	Directory *Directory

	market  *market.Market
	seed    uint64
	now     func() time.Time
	history func() *reports // the whole last day included: see past

	mu        sync.RWMutex // guards the fields below
	file      *file
	live      *reports // published since the history ended
	published int      // the number of live reports
}

// histories are shared by archives of one market that began on the same day, of
// which tests have many.
var histories sync.Map // of func() *reports by historyKey

type historyKey struct {
	market *market.Market
	seed   uint64
	last   disclosure.Day
}

// Open opens the archive of a market and reads the reports published before. It
// locks the file, because two processes must not publish into one market. An empty
// path keeps the reports in memory only.
func Open(m *market.Market, seed uint64, path string, now func() time.Time) (*Archive, error) {
	f, published, err := openFile(path, header{Seed: seed, Began: now().UTC().Truncate(time.Second)})
	if err != nil {
		return nil, err
	}
	a := &Archive{
		Directory: newDirectory(m),
		market:    m,
		seed:      seed,
		now:       now,
		file:      f,
		live:      newReports(),
	}
	last := disclosure.DayOf(f.Began)
	made, _ := histories.LoadOrStore(historyKey{m, seed, last}, sync.OnceValue(func() *reports {
		return newHistory(m, a.Directory, seed, last)
	}))
	a.history = made.(func() *reports)
	for n := range published {
		published[n].Issuer = a.Directory.of(&published[n].Report)
		a.add(&published[n])
	}
	return a, nil
}

// newHistory generates the history up to the end of a day.
func newHistory(m *market.Market, issuers *Directory, seed uint64, last disclosure.Day) *reports {
	h := newReports()
	for _, r := range m.History(market.Epoch.Start(), (last + 1).Start()) {
		f := &Report{Report: r, Issuer: issuers.of(&r)}
		f.complete(seed)
		if f.relates(seed) {
			f.follow(h.before(f, f.PublishedAt))
		}
		h.add(f)
	}
	return h
}

// Began returns the time at which the history ends.
func (a *Archive) Began() time.Time { return a.file.Began }

// Close closes the file and releases its lock.
func (a *Archive) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.file.close()
}

// Publish adds a report. It is in the file before it is served.
func (a *Archive) Publish(d Draft) (*Report, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, err := a.compose(d)
	if err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if err := a.file.append(r); err != nil {
		return nil, err
	}
	a.add(r)
	return r, nil
}

func (a *Archive) add(r *Report) {
	a.live.add(r)
	a.published++
}

// Published returns the number of reports published since the history ended.
func (a *Archive) Published() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.published
}

// Next returns the next number of each series.
func (a *Archive) Next() [3]int64 {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.next()
}

func (a *Archive) next() (next [3]int64) {
	for s, series := range disclosure.Types {
		lastDay := a.history().days[dayKey{series, disclosure.DayOf(a.file.Began)}]
		hidden := len(lastDay) - len(a.past(lastDay))
		next[s] = max(1, a.live.next[s], a.history().next[s]-int64(hidden))
	}
	return next
}

// past returns the reports of a list, newest first, that are older than the end of
// the history.
func (a *Archive) past(newestFirst []*Report) []*Report {
	for len(newestFirst) > 0 && !newestFirst[0].PublishedAt.Before(a.file.Began) {
		newestFirst = newestFirst[1:]
	}
	return newestFirst
}

// LastDay returns the last day with reports.
func (a *Archive) LastDay() disclosure.Day {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return max(disclosure.DayOf(a.file.Began), a.live.last)
}

// Find returns the report of a number, or nil.
func (a *Archive) Find(series disclosure.Type, number int64) *Report {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.find(series, number)
}

func (a *Archive) find(series disclosure.Type, number int64) *Report {
	id := disclosure.ReportID(series, number)
	return a.first(a.live.byID[id], a.history().byID[id])
}

// ByGUID returns the report whose document has an identifier, or nil.
func (a *Archive) ByGUID(guid string) *Report {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.first(a.live.byGUID[guid], a.history().byGUID[guid])
}

// ByDocument returns the report to whose document a link with these parameters
// leads, or nil.
func (a *Archive) ByDocument(q url.Values) *Report {
	text := q.Get("e")
	if text == "" {
		return a.ByGUID(strings.ToLower(strings.Trim(q.Get("t"), "{}")))
	}
	kind, series, number, ok := ParseToken(a.seed, text)
	if !ok || kind != TokenReport || series >= uint64(len(disclosure.Types)) {
		return nil
	}
	return a.Find(disclosure.Types[series], int64(number))
}

// Document returns the document of a report. Many of those whose titles announce a
// fact have a document that states it.
func (a *Archive) Document(r *Report) paper.File {
	source := paper.Source{Report: &r.Report, Form: r.Form, Text: r.Text}
	if source.IsOrdinary(a.seed) {
		if d, ok := statement.Of(&r.Report, a.seed); ok {
			return d.File()
		}
	}
	return paper.Make(source, a.seed)
}

// first returns the live report, or else the one of the history, or nil.
func (a *Archive) first(live, old *Report) *Report {
	if live == nil && old != nil && old.PublishedAt.Before(a.file.Began) {
		return old
	}
	return live
}

// On returns the reports of a series on a day, newest first.
func (a *Archive) On(series disclosure.Type, d disclosure.Day) []*Report {
	a.mu.RLock()
	defer a.mu.RUnlock()
	key := dayKey{series, d}
	return merged(a.live.days[key], a.past(a.history().days[key]))
}

// merged returns the reports of two lists, both newest first, as one.
func merged(live, old []*Report) []*Report {
	out := slices.Concat(live, old)
	if len(live) > 0 && len(old) > 0 {
		slices.SortStableFunc(out, newestFirst)
	}
	return out
}

// PerPage is the number of rows on a page of a list.
const PerPage = 10

// appendRows appends the reports of a day as a list shows them: some of them again
// on the next page.
func (a *Archive) appendRows(rows []*Report, series disclosure.Type, d disclosure.Day) []*Report {
	reports := a.On(series, d)
	for n := range len(reports) + 1 {
		if n >= PerPage && isRepeated(a.seed, reports[n-PerPage]) {
			rows = append(rows, reports[n-PerPage])
		}
		if n < len(reports) {
			rows = append(rows, reports[n])
		}
	}
	return rows
}

// isRepeated reports whether a list shows a report twice.
func isRepeated(seed uint64, r *Report) bool {
	return r.Type == disclosure.OIR && filler.Mix(seed^uint64(r.Number)<<1)%120 == 0
}

// Query selects the reports of a list. Zero values are no restrictions.
type Query struct {
	Series   disclosure.Type
	From, To disclosure.Day
	NIF      string // as the site prints it
}

// List returns the rows that a query selects, newest first.
func (a *Archive) List(q Query) (rows []*Report) {
	last := a.LastDay()
	if q.To == 0 || q.To > last {
		q.To = last
	}
	q.From = max(q.From, market.Epoch)
	if q.NIF != "" {
		return a.listIssuer(q)
	}
	for d := q.To; d >= q.From; d-- {
		rows = a.appendRows(rows, q.Series, d)
	}
	return rows
}

// Filed returns the reports of an issuer, newest first.
func (a *Archive) Filed(i *disclosure.Issuer) []*Report {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return merged(a.live.filed[i.ID], a.past(a.history().filed[i.ID]))
}

// listIssuer returns the reports of one issuer whose rows print its NIF.
func (a *Archive) listIssuer(q Query) []*Report {
	i := a.Directory.ByNIF(q.NIF)
	if i == nil {
		return nil
	}
	all := a.Filed(i)
	from, to := q.From.Start(), (q.To + 1).Start()
	return slices.DeleteFunc(all, func(r *Report) bool {
		return r.Type != q.Series || r.NIF == "" || r.PublishedAt.Before(from) || !r.PublishedAt.Before(to)
	})
}

// Newest returns the newest n reports of a series that match, not older than a day.
func (a *Archive) Newest(
	series disclosure.Type,
	n int,
	since disclosure.Day,
	matches func(*Report) bool,
) (out []*Report) {
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

// Settled returns the reports of a day, oldest first, without those that were
// replaced by a later one with the same number.
func (a *Archive) Settled(kinds []disclosure.Type, d disclosure.Day) (all []*Report) {
	for _, series := range kinds {
		for _, f := range a.On(series, d) {
			if a.Find(series, f.Number) == f {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y *Report) int { return newestFirst(y, x) })
	return all
}
