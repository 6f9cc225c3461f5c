package ingest

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/throttle"
)

// chaseGaps looks up the numbers that are missing in a series.
func (s *session) chaseGaps(ctx context.Context) error {
	chased := map[string]*item{} // that could not be looked up
	for {
		if err := retry.Sleep(ctx, s.intervals.gaps); err != nil {
			return err
		}
		for _, t := range disclosure.Types {
			s.chase(ctx, t, chased)
			s.probe(t)
		}
	}
}

const (
	mostChased  = 200            // numbers in a round: somebody may have imported odd ones
	mostRefused = 3              // in a row, before a round is given up
	chaseAgain  = 24 * time.Hour // a number that was not there may still come, late
	chaseDays   = 7
)

func (s *session) chase(ctx context.Context, t disclosure.Type, chased map[string]*item) {
	asked, refused := 0, 0
	for _, gap := range s.Coverage.Gaps(t, coverage.InOrder(s.known.Numbers(t))) {
		for number := gap.First; number <= gap.Last; number++ {
			id := disclosure.ReportID(t, number)
			if !s.missing(t, number, gap) || chased[id] != nil && chased[id].due.After(time.Now()) {
				continue
			}
			if asked++; asked > mostChased || refused >= mostRefused || ctx.Err() != nil {
				return // the source is not well, or there are too many: in a minute again
			}
			if err := s.chaseOne(ctx, t, number); err == nil {
				refused = 0
				delete(chased, id)
				continue
			}
			refused++
			if chased[id] == nil {
				chased[id] = &item{}
			}
			chased[id].due = time.Now().Add(s.pageBackoff(chased[id].tries + 1))
			chased[id].tries++
		}
	}
}

// missing reports whether a number of a gap is to be looked up: late enough, and
// if it was not there before, again every day for a week.
func (s *session) missing(t disclosure.Type, number int64, gap coverage.Gap) bool {
	age := time.Since(gap.Next.At)
	looked := s.Coverage.Absent(t, number)
	return age > s.intervals.gapsAfter &&
		(looked.IsZero() || age < chaseDays*24*time.Hour && time.Since(looked) > chaseAgain)
}

// probe has a page read while pages fail and no report waits for its own: who
// else would notice that they are back?
func (s *session) probe(t disclosure.Type) {
	if newest := s.newest[t].Load(); newest > 0 && s.board.Failing(health.Permalink(t)) {
		s.enriching.add(disclosure.ReportID(t, newest))
	}
}

// chaseOne looks a number up. That the source has none is remembered, so that
// it is asked once.
func (s *session) chaseOne(ctx context.Context, t disclosure.Type, number int64) error {
	row, err := s.Regulator.For(throttle.Gaps).Permalink(ctx, t, number)
	if fault.KindOf(err) == fault.NotFound {
		s.board.OK(health.Permalink(t))
		return s.Coverage.SetAbsent(ctx, s.lease, t, number, time.Now())
	}
	if s.note(ctx, health.Permalink(t), err) != nil {
		return err
	}
	if err := s.takePage(ctx, row); err != nil {
		return err
	}
	s.Logger.Warn("a report was missing and is found", "type", t, "number", number)
	return nil
}
