package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/directory"
	"pregon/internal/source/docfetch"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// backfill reads the history of requested jobs.
type backfill struct {
	*writer
	lists     *lists
	funds     *funds
	directory *directory.Refresher
}

// run does the open jobs, one after another, until the context ends.
func (b *backfill) run(ctx context.Context) error {
	for {
		jobs := b.Coverage.Jobs()
		n := slices.IndexFunc(jobs, func(j coverage.Job) bool { return !j.Done })
		if n >= 0 {
			if err := b.do(ctx, jobs[n]); err != nil {
				return err
			}
			continue
		}
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// step is a part of a job that is done completely or repeated.
type step struct {
	series  disclosure.Type
	name    string // the cursor after it is done
	from    disclosure.Day
	to      disclosure.Day
	issuer  disclosure.Issuer // of HR, which has no list by date
	numbers []int64           // of a job by number
	outcome store.Outcome
}

// within returns the rows of the step's days, and whether a row before them was
// reached. Rows are sorted newest first.
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

// do continues a job until it is done: first the reports, and then their
// documents if they were requested.
func (b *backfill) do(ctx context.Context, job coverage.Job) error {
	if !docfetch.Begun(&job) {
		if err := b.doReports(ctx, &job); err != nil {
			return err
		}
	}
	if job.Documents {
		if b.documents == nil {
			return fault.New(fault.Unavailable, "this process does not read documents")
		}
		if err := b.Known.CatchUp(ctx); err != nil {
			return err
		}
		if err := b.documents.Backfill(ctx, &job, b.Known, b.save); err != nil {
			return err
		}
	}
	job.Done, job.At = true, time.Now().UTC()
	if err := b.save(ctx, job); err != nil {
		return err
	}
	b.Logger.Info("back-fill done", "job", job.ID, "new", job.New, "updated", job.Updated, "unchanged",
		job.Unchanged, "read", job.Read, "failed", job.Failed)
	return nil
}

// doReports reads the lists by date, the newest days first, and then HR, issuer
// by issuer. A job by number reads its numbers, the highest first.
func (b *backfill) doReports(ctx context.Context, job *coverage.Job) error {
	steps := windows(job)
	hr := slices.Contains(job.Types, disclosure.HR)
	if job.ByNumber() {
		steps, hr = stretches(job), false
	}
	if job.Total = len(steps); hr {
		job.Total += len(byID(b.Known.Issuers()))
	}
	if job.Steps < len(steps) {
		if err := b.doSteps(ctx, job, steps, job.Steps); err != nil {
			return err
		}
	}
	if hr {
		if err := b.doIssuers(ctx, job, len(steps)); err != nil {
			return err
		}
	}
	_ = b.resolveSince(ctx, time.Time{}) // if this fails, session.resolve repeats it
	return nil
}

// windows returns the steps of the series that have lists by date. They depend on
// the job alone, so that the number of steps done is a cursor.
func windows(job *coverage.Job) (out []step) {
	from, to := job.Days()
	for _, t := range job.Types {
		for end := to; end >= from && t != disclosure.HR; end -= window {
			out = append(out, step{
				series: t,
				name:   end.String(),
				from:   max(from, end-window+1),
				to:     end,
			})
		}
	}
	return out
}

// doIssuers does the part of a job that is HR, after other steps: all issuers of
// a complete directory, since companies published HR until 2020. The directory
// may grow meanwhile, so the cursor is an issuer and not a number of steps.
func (b *backfill) doIssuers(ctx context.Context, job *coverage.Job, others int) error {
	for try := 0; !b.directory.Complete(); try++ {
		if b.directory.Refresh(ctx); try > 0 {
			if err := retry.Sleep(ctx, b.backoff(try)); err != nil {
				return err
			}
		}
	}
	if err := b.Known.CatchUp(ctx); err != nil {
		return err
	}
	from, to := job.Days()
	var steps []step
	done := 0
	for _, i := range byID(b.Known.Issuers()) {
		steps = append(steps, step{
			series: disclosure.HR,
			name:   i.ID,
			from:   from,
			to:     to,
			issuer: i,
		})
		if job.Type == disclosure.HR && i.ID <= job.Cursor {
			done++
		}
	}
	job.Steps, job.Total = others+done, others+len(steps)
	return b.doSteps(ctx, job, steps, done)
}

// readAgain is how often a page in an unknown form is read again.
const readAgain = 3

// doSteps does steps and saves the job after each. A step that fails is retried
// without end, and the job says why. Only a step whose pages have an unknown form
// is skipped in the end, and the job names it.
func (b *backfill) doSteps(ctx context.Context, job *coverage.Job, steps []step, first int) error {
	for n := first; n < len(steps); n++ {
		st := &steps[n]
		for try := 0; ; try++ {
			err := b.doStep(ctx, st)
			if err == nil {
				break
			}
			if ctx.Err() != nil || fault.KindOf(err) == fault.Conflict {
				return err
			}
			if regulator.IsMarkup(err) && try >= readAgain {
				job.Unread = append(job.Unread, string(st.series)+" "+st.name)
				break
			}
			job.Trouble, job.At = regulator.Reason(err), time.Now().UTC()
			_ = b.Coverage.SetJob(ctx, b.lease, *job) // for display only; the next try repeats it
			if err := retry.Sleep(ctx, b.backoff(try)); err != nil {
				return err
			}
		}
		job.Type, job.Cursor = st.series, st.name
		job.Steps++
		job.New = job.New + st.outcome.New
		job.Updated = job.Updated + st.outcome.Updated
		job.Unchanged = job.Unchanged + st.outcome.Unchanged
		job.Trouble, job.At = "", time.Now().UTC()
		if err := b.save(ctx, *job); err != nil {
			return err
		}
	}
	return nil
}

// save stores the state of a job. It retries until it is stored: otherwise a step
// would be done twice.
func (b *backfill) save(ctx context.Context, job coverage.Job) error {
	for try := 0; ; try++ {
		err := b.Coverage.SetJob(ctx, b.lease, job)
		if err == nil || fault.KindOf(err) == fault.Conflict {
			return err
		}
		if err := retry.Sleep(ctx, b.backoff(try)); err != nil {
			return err
		}
	}
}

func (b *backfill) doStep(ctx context.Context, st *step) (err error) {
	st.outcome = store.Outcome{}
	if st.numbers != nil {
		return b.readNumbers(ctx, st)
	}
	if st.series == disclosure.HR {
		return b.funds.readIssuer(ctx, st)
	}
	st.outcome, err = b.lists.read(ctx, throttle.Backfill, reading{
		series: st.series,
		from:   st.from,
		to:     st.to,
		old:    old,
	})
	if err != nil {
		return fmt.Errorf("from %s to %s: %w", st.from, st.to, err)
	}
	return nil
}

// aloneKey is the key of the process that holds the lease for a back-fill alone.
// waitingKey is the key of the time at which a process that would read the
// feeds too last waited for the lease.
const (
	aloneKey   = "alone"
	waitingKey = "waiting"
)

// requestStepDown asks a process that holds the lease for a back-fill alone to
// release it.
func (i *Ingest) requestStepDown(ctx context.Context) {
	if i.Coverage.Refresh(ctx) == nil && i.Coverage.Value(aloneKey) != "" {
		_ = i.Coverage.SetTime(ctx, nil, waitingKey, time.Now()) // if this fails, the next try for the lease repeats it
	}
}

// Backfill requests a job and waits until it is done. The process that reads the
// source does it. If there is none, this process does. show is called with the
// progress and whether this process does the work.
func (i *Ingest) Backfill(
	ctx context.Context,
	job coverage.Job,
	show func(job coverage.Job, ours bool),
) (coverage.Job, error) {
	job, err := i.Coverage.Request(ctx, job)
	if err != nil {
		return job, err
	}
	for {
		lease, err := tryLease(ctx, i.Store, i.Holder)
		ours := err == nil
		switch {
		case ours:
			err = i.holdLease(ctx, lease,
				func(ctx context.Context) error { return i.backfillAlone(ctx, &lease, job.ID, show) })
			if errors.Is(err, errSteppedDown) {
				err = nil
			}
		case fault.KindOf(err) == fault.Conflict:
			err = nil
		}
		if ctx.Err() != nil {
			if now, ok := i.Coverage.Job(job.ID); ok {
				job = now
			}
			return job, ctx.Err()
		}
		if err != nil && !errors.Is(err, errLost) {
			return job, err
		}
		// Wait long enough for another process that waits for the lease to get it.
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
			if err := retry.Sleep(ctx, leaseRetry); err != nil {
				return job, err
			}
		}
	}
}

var errSteppedDown = errors.New("stepped down")

// backfillAlone does one job under a lease of its own. It steps down when a
// process waits that reads the feeds as well: that process continues the job.
func (i *Ingest) backfillAlone(
	ctx context.Context,
	lease *store.Lease,
	id string,
	show func(coverage.Job, bool),
) error {
	s, err := i.newSession(ctx, lease)
	if err != nil {
		return err
	}
	if err := i.Known.CatchUp(ctx); err != nil {
		return err
	}
	// A request is a new time. Times are not compared with the clock, since that of the
	// other process may differ.
	before := i.Coverage.Time(waitingKey)
	if err := i.Coverage.SetValue(ctx, lease, aloneKey, i.Holder); err != nil {
		return err
	}
	defer func() { _ = i.Coverage.SetValue(context.WithoutCancel(ctx), lease, aloneKey, "") }()
	g, ctx := errgroup.WithContext(ctx)
	finished := make(chan struct{})
	g.Go(func() error {
		defer close(finished)
		job, ok := i.Coverage.Job(id)
		if !ok || job.Done {
			return nil
		}
		return s.backfill.do(ctx, job)
	})
	g.Go(func() error {
		for {
			select {
			case <-finished:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(leaseRetry):
			}
			_ = i.Coverage.Refresh(ctx)
			if job, ok := i.Coverage.Job(id); ok {
				show(job, true)
			}
			if !i.Coverage.Time(waitingKey).Equal(before) {
				return errSteppedDown
			}
		}
	})
	return g.Wait()
}
