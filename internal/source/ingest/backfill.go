package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// backfill does the jobs that were asked for, one after another.
func (s *session) backfill(ctx context.Context) error {
	for {
		if job, ok := openJob(s.Coverage); ok {
			if err := s.do(ctx, job); err != nil {
				return err
			}
			continue
		}
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

func openJob(l *coverage.Tracker) (coverage.Job, bool) {
	jobs := l.Jobs()
	n := slices.IndexFunc(jobs, func(j coverage.Job) bool { return !j.Done })
	if n < 0 {
		return coverage.Job{}, false
	}
	return jobs[n], true
}

// step is a part of a job that is done whole or done again.
type step struct {
	series  disclosure.Type
	name    string // the cursor once it is done
	from    disclosure.Day
	to      disclosure.Day
	entity  disclosure.Issuer // of HR, which has no list by date
	numbers []int64           // of a job by number
	outcome store.Outcome
}

// within returns the rows of the job's days, and whether the first of them is
// reached: rows come newest first.
func (st *step) within(rows []regulator.Row) (wanted []regulator.Row, reached bool) {
	for _, row := range rows {
		switch day := disclosure.DayOf(row.At); {
		case day < st.from:
			reached = true
		case day <= st.to:
			wanted = append(wanted, row)
		}
	}
	return wanted, reached
}

// do goes on with a job until it is done: the reports, and then their documents,
// if they were asked for.
func (s *session) do(ctx context.Context, job coverage.Job) error {
	if !strings.HasPrefix(job.Cursor, documentCursor) { // else the reports are in
		if err := s.doFilings(ctx, &job); err != nil {
			return err
		}
	}
	if job.Documents {
		if err := s.doDocuments(ctx, &job); err != nil {
			return err
		}
	}
	job.Done, job.At = true, time.Now().UTC()
	if err := s.keepJob(ctx, job); err != nil {
		return err
	}
	s.Logger.Info("back-fill done", "id", job.ID, "new", job.New, "updated", job.Updated, "unchanged", job.Unchanged, "read", job.Read, "failed", job.Failed)
	return nil
}

// doFilings does the lists by date, the newest days first, and then HR, entity
// by entity; or a range of numbers, the highest first.
func (s *session) doFilings(ctx context.Context, job *coverage.Job) error {
	steps := windows(job)
	hr := slices.Contains(job.Types, disclosure.HR)
	if job.ByNumber() {
		steps, hr = stretches(job), false
	}
	if job.Total = len(steps); hr {
		job.Total += len(s.everybody())
	}
	if job.Steps < len(steps) {
		if err := s.doSteps(ctx, job, steps, job.Steps); err != nil {
			return err
		}
	}
	if hr {
		if err := s.doEntities(ctx, job, len(steps)); err != nil {
			return err
		}
	}
	_ = s.tie(ctx, time.Time{}) // else in a while
	return nil
}

// windows are the steps of the series that have lists by date. They depend on
// the job alone, so that their number says how far it is.
func windows(job *coverage.Job) (out []step) {
	from, to := job.Days()
	for _, t := range job.Types {
		for end := to; end >= from && t != disclosure.HR; end -= window {
			out = append(out, step{series: t, name: end.String(), from: max(from, end-window+1), to: end})
		}
	}
	return out
}

// doEntities does the part of a job that is HR, after others. Who is to be
// asked for the directory knows, which may grow: so the cursor says how far it
// is, not the number.
func (s *session) doEntities(ctx context.Context, job *coverage.Job, others int) error {
	for try := 0; s.Coverage.Time(health.Register).IsZero() || s.Exchange != nil && s.Coverage.Time(health.Exchange).IsZero(); try++ {
		if s.refreshAll(ctx); try > 0 {
			if err := retry.Sleep(ctx, s.backoff(try)); err != nil {
				return err
			}
		}
	}
	from, to := job.Days()
	var steps []step
	done := 0
	for _, i := range s.everybody() {
		if steps = append(steps, step{series: disclosure.HR, name: i.ID, from: from, to: to, entity: i}); job.Type == disclosure.HR && i.ID <= job.Cursor {
			done++
		}
	}
	job.Steps, job.Total = others+done, others+len(steps)
	return s.doSteps(ctx, job, steps, done)
}

// readAgain is how often a page that cannot be read is asked for again.
const readAgain = 3

// doSteps does steps and notes each. What fails is tried again for as long as
// it takes: the job says why it does not get on. Only what is there and cannot
// be read is left out in the end, and named.
func (s *session) doSteps(ctx context.Context, job *coverage.Job, steps []step, first int) error {
	for n := first; n < len(steps); n++ {
		st := &steps[n]
		for try := 0; ; try++ {
			err := s.doStep(ctx, st)
			if err == nil {
				break
			}
			if ctx.Err() != nil || lost(err) {
				return err
			}
			if _, markup := errors.AsType[*regulator.MarkupError](err); markup && try >= readAgain {
				job.Unread = append(job.Unread, string(st.series)+" "+st.name)
				break
			}
			job.Trouble, job.At = trouble(err), time.Now().UTC()
			_ = s.Coverage.SetJob(ctx, s.lease, *job) // for whoever watches; it is repeated anyway
			if err := retry.Sleep(ctx, s.backoff(try)); err != nil {
				return err
			}
		}
		job.Type, job.Cursor = st.series, st.name
		job.Steps++
		job.New, job.Updated, job.Unchanged = job.New+st.outcome.New, job.Updated+st.outcome.Updated, job.Unchanged+st.outcome.Unchanged
		job.Trouble, job.At = "", time.Now().UTC()
		if err := s.keepJob(ctx, *job); err != nil {
			return err
		}
	}
	return nil
}

// keepJob notes how far a job is, until it is noted: a step that is not
// remembered would be done twice.
func (s *session) keepJob(ctx context.Context, job coverage.Job) error {
	for try := 0; ; try++ {
		err := s.Coverage.SetJob(ctx, s.lease, job)
		if err == nil || lost(err) {
			return err
		}
		if err := retry.Sleep(ctx, s.backoff(try)); err != nil {
			return err
		}
	}
}

// lost reports whether somebody else does the work now.
func lost(err error) bool { return fault.KindOf(err) == fault.Conflict }

// everybody returns all that may have filed HR: funds and managers, and until
// 2020 companies.
func (s *session) everybody() []disclosure.Issuer { return byID(s.known.Issuers()) }

func (s *session) doStep(ctx context.Context, st *step) (err error) {
	st.outcome = store.Outcome{}
	if st.numbers != nil {
		return s.readNumbers(ctx, st)
	}
	if st.series == disclosure.HR {
		return s.readEntity(ctx, st)
	}
	st.outcome, err = s.read(ctx, throttle.Backfill, reading{series: st.series, from: st.from, to: st.to, old: old})
	if err != nil {
		return fmt.Errorf("from %s to %s: %w", st.from, st.to, err)
	}
	return nil
}

// The memo says that somebody holds the lease for a back-fill alone, the clock
// that a process waits that would read the feeds too.
const (
	aloneMemo    = "alone"
	waitingClock = "waiting"
)

// askToStepDown lets who holds the lease for a back-fill alone know that this
// process waits.
func (i *Ingest) askToStepDown(ctx context.Context) {
	if i.Coverage.Refresh(ctx) == nil && i.Coverage.Value(aloneMemo) != "" {
		_ = i.Coverage.SetTime(ctx, nil, waitingClock, time.Now()) // else in a moment again
	}
}

// Backfill sees to a job: the process that reads the source does it, and when
// there is none, this one. show is told how far it is, and whether that is
// this process's work.
func (i *Ingest) Backfill(ctx context.Context, job coverage.Job, show func(job coverage.Job, ours bool)) (coverage.Job, error) {
	job, err := i.Coverage.Request(ctx, job)
	if err != nil {
		return job, err
	}
	for {
		lease, err := tryLease(ctx, i.Store, i.Holder)
		ours := err == nil
		switch {
		case ours:
			err = i.holdLease(ctx, lease, func(ctx context.Context) error { return i.alone(ctx, &lease, job.ID, show) })
			if errors.Is(err, errSteppedDown) {
				err = nil
			}
		case fault.KindOf(err) == fault.Conflict:
			err = nil
		}
		if ctx.Err() != nil {
			if now, ok := i.Coverage.Job(job.ID); ok { // how far it came
				job = now
			}
			return job, ctx.Err()
		}
		if err != nil && !errors.Is(err, errLost) {
			return job, err
		}
		// Long enough that a process which waits for the lease has it first.
		for range 4 {
			if err := i.Coverage.Refresh(ctx); err != nil {
				return job, err
			}
			if now, ok := i.Coverage.Job(job.ID); ok {
				job = now
			}
			show(job, ours && job.Done)
			if job.Done {
				return job, nil
			}
			if err := retry.Sleep(ctx, campaign); err != nil {
				return job, err
			}
		}
	}
}

var errSteppedDown = errors.New("stepped down")

// alone does one job under a lease of its own, until a process comes that
// reads the feeds as well: that one goes on with it.
func (i *Ingest) alone(ctx context.Context, lease *store.Lease, id string, show func(coverage.Job, bool)) error {
	s, err := i.newSession(ctx, lease)
	if err != nil {
		return err
	}
	if err := i.Coverage.SetValue(ctx, lease, aloneMemo, i.Holder); err != nil {
		return err
	}
	defer func() { _ = i.Coverage.SetValue(context.WithoutCancel(ctx), lease, aloneMemo, "") }()
	g, ctx := errgroup.WithContext(ctx)
	finished := make(chan struct{})
	g.Go(func() error {
		defer close(finished)
		job, ok := i.Coverage.Job(id)
		if !ok || job.Done {
			return nil
		}
		return s.do(ctx, job)
	})
	g.Go(func() error {
		began := time.Now().Truncate(time.Second)
		for {
			select {
			case <-finished:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(campaign):
			}
			_ = i.Coverage.Refresh(ctx)
			if job, ok := i.Coverage.Job(id); ok {
				show(job, true)
			}
			if !i.Coverage.Time(waitingClock).Before(began) {
				return errSteppedDown
			}
		}
	})
	return g.Wait()
}
