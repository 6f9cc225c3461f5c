package ingest

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/ledger"
	"pregon/internal/pace"
	"pregon/internal/regulator"
	"pregon/internal/watch"
)

// chaseGaps looks up the numbers that are missing in a series.
func (s *session) chaseGaps(ctx context.Context) error {
	for {
		if err := pause(ctx, s.rhythm.gaps); err != nil {
			return err
		}
		for _, t := range live {
			s.chase(ctx, t)
		}
	}
}

func (s *session) chase(ctx context.Context, t disclosure.Type) {
	for _, gap := range s.Ledger.Gaps(t, ledger.InOrder(s.Known.Numbers(t))) {
		for number := gap.First; number <= gap.Last && time.Since(gap.Next.At) > s.rhythm.gapsAfter; number++ {
			if !s.Ledger.Absent(t, number).IsZero() {
				continue
			}
			if err := s.chaseOne(ctx, t, number); err != nil {
				return // the source is not well: in a minute again
			}
		}
	}
}

// chaseOne looks a number up. That the source has none is remembered, so that
// it is asked once.
func (s *session) chaseOne(ctx context.Context, t disclosure.Type, number int64) error {
	row, err := s.Regulator.For(pace.Gaps).Permalink(ctx, t, number)
	if fault.KindOf(err) == fault.NotFound {
		s.board.OK(watch.Permalink(t))
		return s.Ledger.SetAbsent(ctx, s.lease, t, number, time.Now())
	}
	if s.note(ctx, watch.Permalink(t), err) != nil {
		return err
	}
	rows, err := s.settle(ctx, t, []regulator.Row{row})
	if err != nil {
		return err
	}
	_, err = s.take(ctx, rows, time.Now(), news)
	if err == nil {
		s.Logger.Warn("a filing was missing and is found", "type", t, "number", number)
	}
	return err
}
