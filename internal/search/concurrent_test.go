package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/segment"
	"pregon/internal/test/longtest"
)

// shown is an index and the newest number that was written before it was built.
type shown struct {
	index  *search.Index
	number int64
}

// Readers search, page, find and read while one goroutine writes and another
// merges: no report is lost, none is seen twice, and none returns to an
// earlier state.
func TestConcurrentReaders(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	rounds := 120
	if longtest.Race {
		rounds = 25
	}
	var now atomic.Pointer[shown]
	l := newRandomMarket(7)
	now.Store(&shown{l.writer.Index(), 0})
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for seed := range uint64(3) {
		readers.Go(func() {
			r := reader{l: newRandomMarket(100 + seed), states: map[string]int{}}
			for {
				select {
				case <-stop:
					return
				default:
					r.check(t, now.Load())
				}
			}
		})
	}

	merged := make(chan *search.Merge, 1)
	var running, merges int
	number := int64(0)
	for range rounds {
		var reports []disclosure.Report
		for range 100 + l.rng.IntN(300) {
			number++
			reports = append(reports, l.newReport(disclosure.OIR, number))
		}
		for _, r := range l.some(l.rng.IntN(60), int(number)) { // of other types, and changes
			if r.Type != disclosure.OIR || r.Number <= number-int64(len(reports)) {
				reports = append(reports, r)
			}
		}
		var issuers []disclosure.Issuer
		if l.rng.IntN(4) == 0 {
			issuers = append(issuers, l.issuer())
		}
		l.apply(distinctReports(reports), issuers)
		select {
		case m := <-merged:
			l.writer.Install(m)
			running--
			merges++
		default:
		}
		if m := l.writer.Due(); m != nil {
			running++
			go func() { m.Run(); merged <- m }()
		}
		now.Store(&shown{l.writer.Index(), number})
	}
	close(stop)
	readers.Wait()
	if running > 0 {
		l.writer.Install(<-merged)
		merges++
	}
	if merges < 2 {
		t.Errorf("got only %d merges concurrent with the readers", merges)
	}
	l.check(t, 5)
	l.deep(t)
}

// distinctReports keeps the last of each report.
func distinctReports(reports []disclosure.Report) []disclosure.Report {
	last := map[string]int{}
	for i := range reports {
		last[reports[i].ID] = i
	}
	var out []disclosure.Report
	for i := range reports {
		if last[reports[i].ID] == i {
			out = append(out, reports[i])
		}
	}
	return out
}

// reader checks the properties of an index that do not depend on the reports.
type reader struct {
	l      *randomMarket  // for its queries
	states map[string]int // the newest state of a report that was read
}

func (r *reader) check(t *testing.T, s *shown) {
	x := s.index
	f := r.l.question()
	total, first := find(x, f, 0, 40)
	if again, _ := find(x, f, 1<<40, 1); again != total || len(first) != min(40, total) {
		t.Errorf("%+v: %d hits, then %d, and a page of %d", f, total, again, len(first))
		return
	}
	seen := map[string]bool{}
	for _, d := range first {
		r.read(t, x, d, seen)
	}
	if total > 40 {
		offset := r.l.rng.IntN(total)
		_, page := find(x, f, int64(offset), 70)
		if len(page) != min(70, total-offset) {
			t.Errorf("%+v from %d of %d: a page of %d", f, offset, total, len(page))
		}
		clear(seen)
		for _, d := range page {
			r.read(t, x, d, seen)
		}
	}
	if s.number > 0 { // all earlier reports are in the index
		n := 1 + rand.Int64N(s.number)
		d := x.Find(search.KeyOf(disclosure.OIR, n))
		if d == nil {
			t.Errorf("oir-%d is lost", n)
			return
		}
		state := strings.Fields(x.Record(d))[1]
		if total, docs := find(x, disclosure.Filter{Search: state + " "}, 0, 5); total < 1 || docs[0] == nil {
			t.Errorf("oir-%d is not found by %s", n, state)
		}
		if total, docs := find(x, disclosure.Filter{Search: `"` + state + `"`}, 0, 5); total != 1 || docs[0] != d {
			t.Errorf("%q finds %d reports, want only that one", state, total)
		}
	}
	findIssuers(x.Directory(), f.Search, f.Kind, 10)
}

// read checks one report.
func (r *reader) read(t *testing.T, x *search.Index, d *segment.Doc, seen map[string]bool) {
	id, rest, _ := strings.Cut(x.Record(d), " ")
	if x.Find(d.Key) != d || seen[id] {
		t.Errorf("%s is listed but not found, or listed twice", id)
	}
	seen[id] = true
	var state int
	if _, err := fmt.Sscanf(rest, "estado%d", &state); err != nil || state < r.states[id] {
		t.Errorf("%s went back from state %d to %q: %v", id, r.states[id], rest, err)
	}
	r.states[id] = state
	_, _ = x.Issuer(d), x.CategoryLine(d)
}
