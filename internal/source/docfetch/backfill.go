package docfetch

import (
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/store"
)

// History passes the reports of a range of Madrid days, both included, to fn in
// any order.
type History interface {
	Published(ctx context.Context, from, to disclosure.Day, fn func(*disclosure.Report)) error
}

// historyTries is how often a job tries to read a document before it continues
// without it. The document stays pending, and Run tries it again.
const historyTries = 3

// cursorPrefix precedes the id of the last report of a job whose document was
// tried, in the cursor of the job.
const cursorPrefix = "document "

// Begun reports whether a job has begun to read documents.
func Begun(job *coverage.Job) bool { return strings.HasPrefix(job.Cursor, cursorPrefix) }

// Backfill reads the documents of a job's reports that are not read yet, the
// newest first, and calls save after each. Documents that failed before are
// tried again, but not twice by one job: it continues after its cursor.
func (f *Fetcher) Backfill(
	ctx context.Context,
	job *coverage.Job,
	history History,
	save func(context.Context, coverage.Job) error,
) error {
	waiting, err := f.waiting(ctx, job, history)
	if err != nil {
		return err
	}
	job.Total = job.Steps + len(waiting)
	for _, r := range waiting {
		err := f.readHistory(ctx, r.ID)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if fault.KindOf(err) == fault.Conflict { // the lease is lost
			return err
		}
		switch now, _ := f.Store.Reports(ctx, r.ID); {
		case len(now) == 1 && now[0].Document.Status == disclosure.DocumentReady:
			job.Read++
			job.Trouble = ""
		case err == nil: // it was given up; the report says why
			job.Failed++
			job.Trouble = ""
		default:
			job.Failed++
			job.Trouble = "the document of " + r.ID + " was not read; it is tried again later"
		}
		job.Type = r.Type
		job.Cursor = cursorPrefix + r.ID
		job.At = time.Now().UTC()
		job.Steps++
		if err := save(ctx, *job); err != nil {
			return err
		}
	}
	return nil
}

// waiting returns the reports of a job after its cursor whose document is not
// read, newest first.
func (f *Fetcher) waiting(
	ctx context.Context,
	job *coverage.Job,
	history History,
) (out []disclosure.Report, err error) {
	var after *disclosure.Report
	if id, ok := strings.CutPrefix(job.Cursor, cursorPrefix); ok {
		found, err := f.Store.Reports(ctx, id)
		if err != nil {
			return nil, store.Unavailable(err)
		}
		if len(found) > 0 {
			after = &found[0]
		}
	}
	from, to := job.Days()
	err = history.Published(ctx, from, to, func(r *disclosure.Report) {
		lacksText := r.PDFURL != "" && r.Document.Status != disclosure.DocumentReady
		ofJob := slices.Contains(job.Types, r.Type) && job.Wants(r.Number)
		isNext := after == nil || disclosure.CompareReports(after, r) < 0
		if lacksText && ofJob && isNext {
			out = append(out, disclosure.Report{
				ID:          r.ID,
				Type:        r.Type,
				Number:      r.Number,
				PublishedAt: r.PublishedAt,
			})
		}
	})
	slices.SortFunc(out, func(a, b disclosure.Report) int { return disclosure.CompareReports(&a, &b) })
	return out, store.Unavailable(err)
}

// readHistory reads a document with a few tries.
func (f *Fetcher) readHistory(ctx context.Context, id string) error {
	for try := 0; ; try++ {
		err := f.read(ctx, id, try, true)
		if err == nil || ctx.Err() != nil || fault.KindOf(err) == fault.Conflict || try+1 >= historyTries {
			return err
		}
		if err := retry.Sleep(ctx, f.Retry<<try); err != nil {
			return err
		}
	}
}
