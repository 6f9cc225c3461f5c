package ingest

import (
	"context"
	"errors"
	"strconv"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/coverage"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

const (
	stretch = 10 // numbers of a step
	// lastIssuers is above every HR of an issuer: the series was near 290,000 when
	// issuers filed the last, in February 2020.
	lastIssuers = 300_000
	// mostOdd is how many pages in a row may have a form that is not known before
	// it is the form that has changed, and no reason to pass reports over.
	mostOdd = 3
)

// stretches are the steps of a job by number. They depend on the job alone, so
// that their number says how far it is.
func stretches(job *coverage.Job) (out []step) {
	for high := job.Last; high >= job.First; high -= stretch {
		st := step{series: job.Types[0]}
		for n := high; n > high-stretch && n >= job.First; n-- {
			st.numbers = append(st.numbers, n)
		}
		st.name = strconv.FormatInt(st.numbers[len(st.numbers)-1], 10)
		out = append(out, st)
	}
	return out
}

// readNumbers looks numbers up one by one, but for those of which all is known.
// A page that cannot be read does not hide the others.
func (s *session) readNumbers(ctx context.Context, st *step) error {
	var ids []string
	for _, n := range st.numbers {
		ids = append(ids, disclosure.ReportID(st.series, n))
	}
	reports, err := s.Store.Reports(ctx, ids...)
	if err != nil {
		return notKept(err)
	}
	known := map[int64]bool{}
	for _, r := range reports {
		known[r.Number] = !r.EnrichedAt.IsZero()
	}
	var broken error
	odd := 0
	for _, n := range st.numbers {
		if known[n] {
			st.outcome.Unchanged++
			continue
		}
		err := s.readNumber(ctx, st, n)
		if _, markup := errors.AsType[*regulator.MarkupError](err); !markup {
			if odd = 0; err != nil {
				return err
			}
			continue
		}
		if odd++; odd == mostOdd {
			return fault.New(fault.Unavailable, "the pages of %s have a form that is not known, so that the job waits: %s", st.series, trouble(err)) // no MarkupError, which would be passed over
		}
		broken = errors.Join(broken, err)
	}
	return broken
}

// readNumber looks a number up. Most that are not there never existed.
func (s *session) readNumber(ctx context.Context, st *step, number int64) error {
	client := s.Regulator.For(throttle.Backfill)
	row, err := client.Permalink(ctx, st.series, number)
	if fault.KindOf(err) == fault.NotFound && st.series == disclosure.HR && number < lastIssuers {
		row, err = client.IssuersHR(ctx, number)
	}
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	out, err := s.takeSettled(ctx, st.series, []regulator.Row{row}, time.Now(), old)
	st.outcome = st.outcome.Add(out)
	return err
}
