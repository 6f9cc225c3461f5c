package ingest

import (
	"context"
	"maps"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/throttle"
)

// gaps looks up the numbers that are missing in a series.
type gaps struct {
	*writer
	failed map[string]*failedNumber                // by report id
	found  map[disclosure.Type]map[int64]time.Time // when gaps were found by this process, by their first number
}

// failedNumber is a missing number that could not be looked up.
type failedNumber struct {
	due   time.Time
	tries int
}

const (
	mostLookups  = 200            // in a round: imported reports can have any number
	mostFailures = 3              // in a row, before a round is given up
	lookupAgain  = 24 * time.Hour // a number that did not exist may be published late
	lookupDays   = 7
)

func newGaps(w *writer) *gaps {
	return &gaps{writer: w, failed: map[string]*failedNumber{}, found: map[disclosure.Type]map[int64]time.Time{}}
}

// run looks up missing numbers until the context ends.
func (g *gaps) run(ctx context.Context) error {
	for {
		if err := retry.Sleep(ctx, g.intervals.gaps); err != nil {
			return err
		}
		for _, t := range disclosure.Types {
			g.round(ctx, t)
			g.probePages(t)
		}
		// What was due long ago and not tried again is no longer missing.
		maps.DeleteFunc(g.failed, func(_ string, f *failedNumber) bool { return time.Since(f.due) > lookupAgain })
	}
}

// round looks up the missing numbers of a series. It ends early if the source
// fails or if there are too many.
func (g *gaps) round(ctx context.Context, t disclosure.Type) {
	lookups, failures := 0, 0
	gaps := g.Coverage.Gaps(t, coverage.InOrder(g.Recent.Numbers(t)))
	g.remember(t, gaps)
	for _, gap := range gaps {
		for number := gap.First; number <= gap.Last; number++ {
			id := disclosure.ReportID(t, number)
			last := g.failed[id]
			if !g.missing(t, number, gap) || last != nil && last.due.After(time.Now()) {
				continue
			}
			if lookups++; lookups > mostLookups || failures >= mostFailures || ctx.Err() != nil {
				return
			}
			if err := g.lookUp(ctx, t, number); err == nil {
				failures = 0
				delete(g.failed, id)
				continue
			}
			failures++
			if last == nil {
				last = &failedNumber{}
				g.failed[id] = last
			}
			last.tries++
			last.due = time.Now().Add(g.pageBackoff(last.tries))
		}
	}
}

// remember records when the present gaps of a series were found, and forgets others.
func (g *gaps) remember(t disclosure.Type, gaps []coverage.Gap) {
	found := make(map[int64]time.Time, len(gaps))
	for _, gap := range gaps {
		at, known := g.found[t][gap.First]
		if !known {
			at = time.Now()
		}
		found[gap.First] = at
	}
	g.found[t] = found
}

// missing reports whether a number of a gap is to be looked up: when it is late
// enough, and if it did not exist then, again every day for a week. A gap that this
// process has known for long enough is late whatever the clock says.
func (g *gaps) missing(t disclosure.Type, number int64, gap coverage.Gap) bool {
	age := time.Since(gap.Next.At)
	found, known := g.found[t][gap.First]
	late := age > g.intervals.gapsAfter || known && time.Since(found) > g.intervals.gapsAfter
	lastLookup := g.Coverage.Absent(t, number)
	return late && (lastLookup.IsZero() || age < lookupDays*24*time.Hour && coverage.Elapsed(lastLookup, lookupAgain))
}

// probePages queues the newest report while pages fail: without a queued report
// nothing would notice that they recover.
func (g *gaps) probePages(t disclosure.Type) {
	if newest := g.series[t].newest.Load(); newest > 0 && g.monitor.Failing(health.Permalink(t)) {
		g.queue.Add(disclosure.ReportID(t, newest))
	}
}

// lookUp looks up a number. If it does not exist, that is stored.
func (g *gaps) lookUp(ctx context.Context, t disclosure.Type, number int64) error {
	start := time.Now()
	row, err := g.Regulator.For(throttle.Gaps).Permalink(ctx, t, number)
	if fault.KindOf(err) == fault.NotFound {
		g.monitor.OK(health.Permalink(t))
		return g.Coverage.SetAbsent(ctx, g.lease, t, number, time.Now())
	}
	if g.recordRead(ctx, health.Permalink(t), start, err) != nil {
		return err
	}
	if err := g.takePage(ctx, row); err != nil {
		return err
	}
	g.Logger.Warn("a missing report was found by its number", "type", t, "number", number)
	return nil
}
