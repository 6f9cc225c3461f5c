package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
)

// documentTries is how often a document of history is asked for before the job
// goes on without it. It stays pending, and whoever reads the source goes on
// asking.
const documentTries = 3

// doDocuments reads the documents of a job's reports that are not read yet, the
// newest first. One that failed before is tried again: that is what somebody
// asked for. The cursor says how far it is, so that those which fail in this job
// are not tried again when it goes on.
func (s *session) doDocuments(ctx context.Context, job *coverage.Job) error {
	if s.Documents == nil {
		return fault.New(fault.Unavailable, "this process does not read documents")
	}
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	waiting := s.undocumented(job)
	job.Total = job.Steps + len(waiting)
	for _, r := range waiting {
		err := s.readDocumentOfHistory(ctx, r.ID)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if lost(err) {
			return err
		}
		switch now, _ := s.Store.Reports(ctx, r.ID); {
		case len(now) == 1 && now[0].Document.Status == disclosure.DocumentReady:
			job.Read++
			job.Trouble = ""
		case err == nil: // it was given up, which its own state tells
			job.Failed++
			job.Trouble = ""
		default:
			job.Failed++
			job.Trouble = "the document of " + r.ID + " was not read; it is tried again later"
		}
		job.Type, job.Cursor, job.At = r.Type, documentCursor+r.ID, time.Now().UTC()
		job.Steps++
		if err := s.keepJob(ctx, *job); err != nil {
			return err
		}
	}
	return nil
}

// documentCursor stands before the id of the last report whose document was
// read, in a job's cursor.
const documentCursor = "document "

// undocumented returns the reports of a job that have a document which is not
// read, behind the cursor, newest first.
func (s *session) undocumented(job *coverage.Job) (out []disclosure.Report) {
	snapshot := s.Catalog.Snapshot()
	if snapshot == nil {
		return nil
	}
	from, to := job.Days()
	var after *disclosure.Report
	if id, ok := strings.CutPrefix(job.Cursor, documentCursor); ok {
		if f, found := snapshot.Report(id); found {
			after = f.Decode()
		}
	}
	for f := range snapshot.Between(from, to) {
		r := f.Decode()
		if r.PDFURL != "" && r.Document.Status != disclosure.DocumentReady && slices.Contains(job.Types, r.Type) && job.Wants(r.Number) &&
			(after == nil || disclosure.CompareReports(after, r) < 0) {
			out = append(out, *r)
		}
	}
	return out
}

// readDocumentOfHistory reads a document, with a few tries. It returns an error
// when the document is not read.
func (s *session) readDocumentOfHistory(ctx context.Context, id string) error {
	for try := 0; ; try++ {
		err := s.readDocumentOf(ctx, id, try, true)
		if err == nil || ctx.Err() != nil || lost(err) || try+1 >= documentTries {
			return err
		}
		if err := retry.Sleep(ctx, s.intervals.reread<<try); err != nil {
			return err
		}
	}
}

// catchUp waits until the catalogue knows of everything that was appended.
func (s *session) catchUp(ctx context.Context) error {
	for try := 0; ; try++ {
		newest, err := s.Store.Newest(ctx)
		if snapshot := s.Catalog.Snapshot(); err == nil && snapshot != nil && snapshot.Seq() >= newest {
			return nil
		}
		if err := retry.Sleep(ctx, min(s.backoff(try), 100*time.Millisecond)); err != nil {
			return err
		}
	}
}
