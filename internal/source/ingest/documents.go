package ingest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/document/summary"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// fetchers is how many documents are asked for at once, so that a few slow ones
// hold up no other. The queue keeps the requests apart.
const fetchers = 8

// readDocuments reads the documents of reports that wait, until the context
// ends.
func (s *session) readDocuments(ctx context.Context) error {
	return s.unread.attend(ctx, func(id string, tries int) time.Duration { return s.readOne(ctx, id, tries) })
}

// findUnread looks for reports whose document is still to be read: those that
// the feeds and pages just told of, and those that a process before us left.
func (s *session) findUnread(ctx context.Context) error {
	const recent, all = 7 * 24 * time.Hour, time.Hour
	var last time.Time
	for {
		since := time.Now().Add(-recent)
		if time.Since(last) > all {
			since, last = time.Time{}, time.Now()
		}
		for _, id := range slices.Backward(s.known.Unread(since)) { // the newest last, who is let in first
			s.unread.add(id)
		}
		if err := retry.Sleep(ctx, s.intervals.unread); err != nil {
			return err
		}
	}
}

// expectDocuments lets the reports that were just told wait for theirs.
func (s *session) expectDocuments(reports []disclosure.Report) {
	if s.Documents == nil {
		return
	}
	for n := range reports {
		if reports[n].WantsDocument() {
			s.unread.add(reports[n].ID)
		}
	}
}

// A document is asked for again with longer and longer waits: one that fails
// for three days, and one that is not there for an hour or two, is given up.
const (
	longestReread = time.Hour
	mostRereads   = 80
	mostMissing   = 10
	mostDeaths    = 3 // of the process that reads it
	never         = math.MaxInt
)

// readOne reads the document of a report and sums it up. It returns how long to
// wait before the next try, if there is to be one.
func (s *session) readOne(ctx context.Context, id string, tries int) (again time.Duration) {
	err := s.readDocumentOf(ctx, id, tries, false)
	if err == nil || ctx.Err() != nil {
		return 0
	}
	s.Logger.Debug("a document was not read", "id", id, "tries", tries+1, "err", err, "cause", regulator.Cause(err))
	return retry.Backoff(tries, s.intervals.reread, longestReread)
}

// readDocumentOf reads the document of a report if it is wanted, or if somebody
// asked for it. It returns an error when it is to be tried again.
func (s *session) readDocumentOf(ctx context.Context, id string, tries int, asked bool) error {
	known, err := s.Store.Reports(ctx, id)
	if err != nil || len(known) == 0 {
		return err
	}
	r := &known[0]
	if !r.WantsDocument() && !asked || r.PDFURL == "" {
		return s.sumUpAgain(ctx, r)
	}
	kept, err := s.fetch(ctx, r)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return s.tellDocument(ctx, r, kept)
	}
	v := judge(err)
	s.Documents.Count(v.outcome(tries))
	if v.final(tries) {
		s.Logger.Warn("a document cannot be had", "id", id, "why", v.reason, "tries", tries+1)
		return s.tellOf(ctx, r, disclosure.Report{Document: disclosure.Document{Status: disclosure.DocumentFailed, Reason: v.reason, Link: r.PDFURL}})
	}
	waiting := disclosure.Document{Status: disclosure.DocumentPending, Reason: v.reason + " It is tried again."}
	return cmp.Or(s.tellOf(ctx, r, disclosure.Report{Document: waiting}), err)
}

// fetch asks the regulator for a document and has it read. What is old news has
// time, and lets everything else go first.
func (s *session) fetch(ctx context.Context, r *disclosure.Report) (document.Kept, error) {
	class := throttle.Documents
	if isOld(r) {
		class = throttle.Backfill
	}
	file, err := s.Regulator.For(class).Document(ctx, r.PDFURL)
	if err != nil {
		return document.Kept{}, err
	}
	return s.Documents.Keep(ctx, file.Body)
}

// isOld reports whether a report is no news: it came as history, or a day ago.
func isOld(r *disclosure.Report) bool {
	return r.Backfilled || time.Since(r.FirstSeenAt) > 24*time.Hour
}

// verdict is what becomes of a document that was not read.
type verdict struct {
	reason string // for people
	most   int    // tries
}

func (v verdict) final(tries int) bool { return tries+1 >= v.most }

func (v verdict) outcome(tries int) document.Outcome {
	if v.final(tries) {
		return document.Failed
	}
	return document.Again
}

func judge(err error) verdict {
	if e, ok := errors.AsType[*extract.Unreadable](err); ok {
		return verdict{"The document cannot be read: " + e.Reason + ".", 1}
	}
	status, _ := errors.AsType[*regulator.StatusError](err)
	transport, _ := errors.AsType[*regulator.TransportError](err)
	switch {
	case errors.Is(err, regulator.ErrTooLarge):
		return verdict{"The document is larger than 50 MB.", 1}
	case errors.Is(err, extract.ErrKilled):
		return verdict{"Something ended the process that was reading the document.", mostDeaths}
	case errors.Is(err, extract.ErrSitePage):
		return verdict{"The regulator's site gave a page of its own instead of the document.", mostRereads}
	case fault.KindOf(err) == fault.Invalid:
		return verdict{"The report's link does not lead to the regulator's site.", 1}
	case fault.KindOf(err) == fault.NotFound, status != nil && (status.Status == 404 || status.Status == 410):
		return verdict{"The regulator has no document under the report's link.", mostMissing}
	case status != nil:
		return verdict{"The regulator did not give the document: " + status.Error() + ".", mostRereads}
	case transport != nil:
		return verdict{"The regulator did not give the document: " + transport.Reason + ".", mostRereads}
	}
	// The store, or the reader: what is with us is not the document's fault.
	return verdict{"The service cannot read documents at present.", never}
}

// tellDocument appends that a report's document is read, and then its summary.
// For history both at once: nobody waits for either.
func (s *session) tellDocument(ctx context.Context, r *disclosure.Report, kept document.Kept) error {
	s.Documents.Count(document.Ready)
	text, sum := document.TextReady(r, kept), document.Summarise(r, kept)
	if isOld(r) {
		sum.Document, sum.TextReadyAt = text.Document, text.TextReadyAt
		return s.tellOf(ctx, r, sum)
	}
	if err := s.tellOf(ctx, r, text); err != nil {
		return err
	}
	sum.SummaryReadyAt = document.Now()
	if err := s.tellOf(ctx, r, sum); err != nil {
		return err
	}
	s.askModel(r)
	return nil
}

// askModel lets a report wait for the model, if there is one, to write its
// summary.
func (s *session) askModel(r *disclosure.Report) {
	if s.Documents.Model != nil && !isOld(r) {
		s.awaitingModel.add(r.ID)
	}
}

// sumUpAgain makes the summary of a document that was read before: a process
// that ended in between left it.
func (s *session) sumUpAgain(ctx context.Context, r *disclosure.Report) error {
	if !r.WantsSummary() {
		return nil
	}
	kept, err := s.Documents.Kept(ctx, r.Document.SHA256)
	if err != nil {
		return err
	}
	s.askModel(r)
	return s.tellOf(ctx, r, document.Summarise(r, kept))
}

// writeSummaries has the model write the summaries of reports that have one by
// rules, which stands when that fails. It begins with what a process before us
// may have left.
func (s *session) writeSummaries(ctx context.Context) error {
	if s.Documents.Model == nil {
		return nil
	}
	for _, r := range s.known.Since(time.Now().Add(-24 * time.Hour)) {
		if r.SummaryMethod == string(summary.Extractive) {
			s.askModel(&r)
		}
	}
	return s.awaitingModel.attend(ctx, func(id string, tries int) time.Duration {
		err := s.writeSummary(ctx, id)
		if err == nil || ctx.Err() != nil {
			return 0
		}
		s.Logger.Warn("the model wrote no summary; the one by rules stands", "id", id, "err", err)
		if fault.KindOf(err) == fault.Unavailable && tries < mostAsked {
			return s.intervals.reask // it does not answer at all
		}
		return 0
	})
}

// mostAsked is how often a model that does not answer is asked again.
const mostAsked = 5

func (s *session) writeSummary(ctx context.Context, id string) error {
	known, err := s.Store.Reports(ctx, id)
	if err != nil || len(known) == 0 || known[0].Document.Status != disclosure.DocumentReady {
		return err
	}
	r := &known[0]
	kept, err := s.Documents.Kept(ctx, r.Document.SHA256)
	if err != nil {
		return err
	}
	told, err := s.Documents.Write(ctx, r, kept)
	if err != nil {
		return err
	}
	return s.tellOf(ctx, r, told)
}

// tellOf appends what is told of one known report.
func (s *session) tellOf(ctx context.Context, r *disclosure.Report, told disclosure.Report) error {
	told.ID, told.Type, told.Number = r.ID, r.Type, r.Number
	_, err := s.Store.Append(ctx, store.Batch{Aside: []disclosure.Report{told}, Lease: s.lease})
	return notKept(err)
}
