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
	"pregon/internal/store"
)

const (
	stretch = 10 // numbers of a step
	// lastIssuersHR is above every HR of an issuer of securities: the series was
	// near 290,000 when they published the last, in February 2020.
	lastIssuersHR = 300_000
	// mostOdd is the number of pages in a row in an unknown form after which the
	// form has changed, so that reports must not be skipped.
	mostOdd = 3
)

// stretches returns the steps of a job by number. They depend on the job alone,
// so that the number of steps done is a cursor.
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

// readNumbers looks up the numbers of a step one by one, except those whose page
// was read before. A page that cannot be read does not hide the others.
func (b *backfill) readNumbers(ctx context.Context, st *step) error {
	var ids []string
	for _, n := range st.numbers {
		ids = append(ids, disclosure.ReportID(st.series, n))
	}
	reports, err := b.Store.Reports(ctx, ids...)
	if err != nil {
		return store.Unavailable(err)
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
		err := b.readNumber(ctx, st, n)
		if !regulator.IsMarkup(err) {
			if odd = 0; err != nil {
				return err
			}
			continue
		}
		if odd++; odd == mostOdd {
			// This is no MarkupError: doSteps would skip the step.
			return fault.New(fault.Unavailable,
				"the pages of %s have an unknown format, so the job waits: %s", st.series,
				regulator.Reason(err))
		}
		broken = errors.Join(broken, err)
	}
	return broken
}

// readNumber looks up a number. Most numbers that are not found never existed.
func (b *backfill) readNumber(ctx context.Context, st *step, number int64) error {
	client := b.Regulator.For(throttle.Backfill)
	row, err := client.Permalink(ctx, st.series, number)
	if fault.KindOf(err) == fault.NotFound && st.series == disclosure.HR && number < lastIssuersHR {
		row, err = client.IssuersHR(ctx, number)
	}
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	out, err := b.takeList(ctx, st.series, []regulator.Row{row}, time.Now(), old)
	st.outcome = st.outcome.Add(out)
	return err
}
