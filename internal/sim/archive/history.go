package archive

import (
	"slices"
	"strings"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
	"pregon/internal/sim/market"
)

// history is the deterministic history of the market. It generates days on demand
// and caches some of them.
type history struct {
	timeline *market.Timeline
	issuers  *Directory
	seed     uint64
	until    time.Time
	index    func() *index // built once
	rows     [][3]int32    // the number of rows that a list shows of each day

	mu   sync.Mutex // guards the fields below
	days map[disclosure.Day]*day
	kept []disclosure.Day // the keys of days, in the order of their generation
}

// day holds the reports of a day by series, newest first.
type day [3][]*Report

// maxDays is the size of the cache: a month and the days to which it relates.
const maxDays = 200

func newHistory(m *market.Market, issuers *Directory, seed uint64, until time.Time) *history {
	h := &history{
		timeline: m.Timeline(disclosure.DayOf(until)), issuers: issuers, seed: seed, until: until,
		days: map[disclosure.Day]*day{},
	}
	made, _ := indexes.LoadOrStore(indexKey{m, h.timeline.Last()}, sync.OnceValue(h.buildIndex))
	h.index = made.(func() *index)
	for d := market.Epoch; d < h.timeline.Last(); d++ {
		h.rows = append(h.rows, h.countRows(d))
	}
	return h
}

// countRows counts the rows of a day by its numbers alone: within a day of the
// history they increase with time without gaps.
func (h *history) countRows(d disclosure.Day) (rows [3]int32) {
	from, to := h.timeline.Numbers(d), h.timeline.Numbers(d+1)
	for s, series := range disclosure.Types {
		for n := from[s] + 1; n <= to[s]; n++ {
			rows[s]++
			if n-from[s] >= repeatDistance && isRepeated(h.seed, series, n) {
				rows[s]++
			}
		}
	}
	return rows
}

// hasWhole reports whether a whole day is in the history, so that its rows are
// counted.
func (h *history) hasWhole(d disclosure.Day) bool { return d >= market.Epoch && d < h.timeline.Last() }

// numbers returns the last number of each series.
func (h *history) numbers() [3]int64 {
	last := h.timeline.Last()
	n := h.timeline.Numbers(last)
	for s, reports := range h.on(last) {
		n[s] += int64(len(reports))
	}
	return n
}

// on returns the reports of a day without their relations.
func (h *history) on(d disclosure.Day) (out day) {
	for _, r := range slices.Backward(h.timeline.On(d)) {
		if !r.PublishedAt.Before(h.until) {
			continue
		}
		f := &Report{Report: r, Issuer: h.issuers.of(&r)}
		f.complete(h.seed)
		out[r.Type.Index()] = append(out[r.Type.Index()], f)
	}
	return out
}

// day returns the reports of a day, from the cache if possible.
func (h *history) day(d disclosure.Day) *day {
	h.mu.Lock()
	ready := h.days[d]
	h.mu.Unlock()
	if ready != nil {
		return ready
	}
	made := h.on(d)
	for _, reports := range made {
		for _, f := range reports {
			h.relate(f)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.days[d] == nil {
		h.days[d], h.kept = &made, append(h.kept, d)
	}
	if len(h.kept) > maxDays {
		delete(h.days, h.kept[0])
		h.kept = slices.Delete(h.kept, 0, 1)
	}
	return &made
}

// relate sets the relation of a report to the one before it of the same issuer.
func (h *history) relate(f *Report) {
	if !f.relates(h.seed) {
		return
	}
	if to := h.before(f); to != nil {
		f.follow(to)
	}
}

// before returns the last report of the history that the issuer of a report filed
// before it, or nil.
func (h *history) before(f *Report) *Report {
	for _, earlier := range slices.Backward(h.filedBy(f.Issuer.ID)) {
		if earlier.at < f.PublishedAt.Unix() && f.mayRelate(earlier.series()) {
			return h.find(earlier.series(), int64(earlier.number), h.on)
		}
	}
	return nil
}

// filedBy returns the reports of an issuer, oldest first.
func (h *history) filedBy(id string) []ref {
	all := h.index().filed[id]
	n := len(all)
	for n > 0 && !time.Unix(all[n-1].at, 0).Before(h.until) {
		n--
	}
	return all[:n]
}

// relates reports whether a report relates to an earlier one of its issuer: some
// at random, and those that correct another.
func (f *Report) relates(seed uint64) bool {
	corrects := f.rectifies() || strings.Contains(f.Title, "Corrección de errores")
	return f.Issuer != nil && (corrects || filler.Mix(seed^uint64(f.Number)<<2^uint64(f.Type.Index()))%100 < relatedShare)
}

// mayRelate reports whether a report may relate to one of a series. Those of funds
// relate to each other only.
func (f *Report) mayRelate(series disclosure.Type) bool {
	return (f.Type == disclosure.HR) == (series == disclosure.HR)
}

// follow relates a report to an earlier one, and marks it as a correction if its
// category says so.
func (f *Report) follow(to *Report) {
	if f.relate(to); f.rectifies() {
		f.Corrects = to.ID
	}
}

// relatedShare is the number of related reports in a hundred.
const relatedShare = 5

// find returns a report by its number, or nil. on returns the reports of a day.
func (h *history) find(series disclosure.Type, number int64, on func(disclosure.Day) day) *Report {
	d, ok := h.timeline.DayOf(series, number)
	if !ok {
		return nil
	}
	reports := on(d)[series.Index()]
	n := slices.IndexFunc(reports, func(f *Report) bool { return f.Number == number })
	if n < 0 {
		return nil
	}
	return reports[n]
}

// get returns a report with its relations by its number, or nil.
func (h *history) get(series disclosure.Type, number int64) *Report {
	return h.find(series, number, func(d disclosure.Day) day { return *h.day(d) })
}

// indexes are shared by archives of one market that began on the same day, of
// which tests have many.
var indexes sync.Map // of func() *index by indexKey

type indexKey struct {
	market *market.Market
	last   disclosure.Day
}

// index finds reports of the history by issuer and document. It includes all of the
// last day, so that the caller must skip reports after the end of the history.
type index struct {
	filed map[string][]ref // by issuer, oldest first
	docs  map[uint64]ref   // by guidKey of the document
}

// ref identifies a report.
type ref struct {
	at     int64 // in seconds of Unix time
	number int32
	kind   int8
	noNIF  bool // the row prints no NIF
}

func (r ref) series() disclosure.Type { return disclosure.Types[r.kind] }

func (h *history) buildIndex() *index {
	x := &index{filed: map[string][]ref{}, docs: map[uint64]ref{}}
	for d := market.Epoch; d <= h.timeline.Last(); d++ {
		for _, r := range h.timeline.On(d) {
			one := ref{at: r.PublishedAt.Unix(), number: int32(r.Number), kind: int8(r.Type.Index()), noNIF: r.NIF == ""}
			if i := h.issuers.of(&r); i != nil {
				x.filed[i.ID] = append(x.filed[i.ID], one)
			}
			f := Report{Report: r}
			if guid := f.guid(); guid != "" {
				x.docs[guidKey(guid)] = one
			}
		}
	}
	return x
}
