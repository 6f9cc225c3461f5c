// Package docfetch fetches the documents of reports, has their text extracted
// and stored, and adds a summary and facts to the report.
//
// A Fetcher has two queues: reports whose document is to be fetched, and reports
// whose summary the language model is to write. Both are in memory. After a
// restart they are filled again from the reports whose document is still unread.
package docfetch

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/summary"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
)

// Options are the collaborators of a Fetcher.
type Options struct {
	Store     store.Log
	Lease     *store.Lease
	Regulator *regulator.Client
	Documents *document.Keeper
	Logger    *slog.Logger

	FindEvery time.Duration // between two searches for unread documents
	Retry     time.Duration // the first wait before a document is fetched again
	AskAgain  time.Duration // the wait before a model that did not answer is asked again
	Examine   time.Duration // the pause between two stored documents that new rules examine

	// Observe, if not nil, is called after every try to fetch and summarise a document.
	Observe func(report string, outcome document.Outcome, start time.Time)
}

// Known finds the reports that a Fetcher has to work on. It may lag behind the
// store.
type Known interface {
	// Unread returns the ids of the reports published since an instant whose
	// document, summary or facts are still missing, newest first.
	Unread(since time.Time) []string
	// WantFacts returns the ids of the reports whose document is read and was not
	// examined by a version of the rules for facts, newest first.
	WantFacts(rules int) []string
	// Since returns the reports published since an instant.
	Since(t time.Time) []disclosure.Report
}

// Fetcher fetches and summarises documents under one term of the lease.
type Fetcher struct {
	Options
	unread        *retry.Queue // reports whose document is to be fetched
	awaitingModel *retry.Queue // reports whose summary the model is to write
}

// New returns a Fetcher. Run starts it.
func New(o Options) *Fetcher {
	// A new report does not wait behind a backlog: the newest goes first.
	return &Fetcher{Options: o, unread: retry.NewQueue(true), awaitingModel: retry.NewQueue(false)}
}

// fetchers is the number of documents that are fetched at once, so that a slow
// one does not delay the others. The throttle keeps the requests apart.
const fetchers = 8

// Run fetches documents until the context ends.
func (f *Fetcher) Run(ctx context.Context, known Known) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { f.Documents.Warm(ctx); return nil })
	for range fetchers {
		g.Go(func() error {
			return f.unread.Run(ctx, func(id string, tries int) time.Duration { return f.readQueued(ctx, id, tries) })
		})
	}
	g.Go(func() error { return f.findUnread(ctx, known) })
	g.Go(func() error { return f.examineStored(ctx, known) })
	if f.Documents.Models != nil {
		g.Go(func() error { return f.writeSummaries(ctx, known) })
	}
	return g.Wait()
}

// Add queues those of the reports whose document is to be fetched.
func (f *Fetcher) Add(reports []disclosure.Report) {
	for n := range reports {
		if reports[n].WantsDocument() {
			f.unread.Add(reports[n].ID)
		}
	}
}

// Len returns the number of reports whose document is to be fetched.
func (f *Fetcher) Len() int { return f.unread.Len() }

// findUnread queues reports that were not passed to Add, such as those that an
// earlier process left: of the last week each time, and of all days every hour.
func (f *Fetcher) findUnread(ctx context.Context, known Known) error {
	const recent, all = 7 * 24 * time.Hour, time.Hour
	var last time.Time
	for {
		since := time.Now().Add(-recent)
		if time.Since(last) > all {
			since, last = time.Time{}, time.Now()
		}
		for _, id := range slices.Backward(known.Unread(since)) { // the queue takes the last first
			f.unread.Add(id)
		}
		if err := retry.Sleep(ctx, f.FindEvery); err != nil {
			return err
		}
	}
}

// A document is fetched again with growing waits. One that fails is given up
// after three days, and one that does not exist after an hour or two.
const (
	longestRetry = time.Hour
	mostTries    = 80
	mostMissing  = 10
	mostDeaths   = 3 // of the process that extracts its text
	never        = math.MaxInt
)

// readQueued reads the document of a queued report. It returns the wait before
// the next try, or 0 if there is none.
func (f *Fetcher) readQueued(ctx context.Context, id string, tries int) (again time.Duration) {
	err := f.read(ctx, id, tries, false)
	if err == nil || ctx.Err() != nil {
		return 0
	}
	f.Logger.Debug("a document was not read", "report", id, "attempts", tries+1, "err", err, "cause",
		regulator.Cause(err))
	return retry.Backoff(tries, f.Retry, longestRetry)
}

// read reads the document of a report if the report wants it, or if it was
// requested. It returns an error if it is to be tried again.
func (f *Fetcher) read(ctx context.Context, id string, tries int, requested bool) error {
	known, err := f.Store.Reports(ctx, id)
	if err != nil || len(known) == 0 {
		return err
	}
	r := &known[0]
	if !r.WantsDocument() && !requested || r.PDFURL == "" {
		return f.deriveStored(ctx, r)
	}
	start := time.Now()
	kept, err := f.fetch(ctx, r)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		err = f.appendText(ctx, r, kept)
		f.observe(id, start, err, document.Again)
		return err
	}
	c := classify(err)
	f.Documents.Count(c.outcome(tries))
	f.observe(id, start, err, c.outcome(tries))
	if c.final(tries) {
		f.Logger.Warn("a document is given up", "report", id, "reason", c.reason, "attempts", tries+1)
		failed := disclosure.Document{Status: disclosure.DocumentFailed, Reason: c.reason, Link: r.PDFURL}
		return f.append(ctx, r, disclosure.Report{Document: failed})
	}
	pending := disclosure.Document{Status: disclosure.DocumentPending, Reason: c.reason + " It is tried again."}
	return cmp.Or(f.append(ctx, r, disclosure.Report{Document: pending}), err)
}

// observe calls Observe with the outcome ready, or with failed if there is an error.
func (f *Fetcher) observe(report string, start time.Time, err error, failed document.Outcome) {
	switch {
	case f.Observe == nil:
	case err == nil:
		f.Observe(report, document.Ready, start)
	default:
		f.Observe(report, failed, start)
	}
}

// fetch downloads a document and has it stored. Documents of old reports have
// the lowest priority.
func (f *Fetcher) fetch(ctx context.Context, r *disclosure.Report) (document.Kept, error) {
	priority := throttle.Documents
	if isOld(r) {
		priority = throttle.Backfill
	}
	file, err := f.Regulator.For(priority).Document(ctx, r.PDFURL)
	if err != nil {
		return document.Kept{}, err
	}
	return f.Documents.Keep(ctx, file.Body)
}

// isOld reports whether a report was back-filled or first seen over a day ago.
func isOld(r *disclosure.Report) bool {
	return r.Backfilled || time.Since(r.FirstSeenAt) > 24*time.Hour
}

// appendText appends the text of a report's document, and then its summary and facts.
// All of an old report are one change.
func (f *Fetcher) appendText(ctx context.Context, r *disclosure.Report, kept document.Kept) error {
	f.Documents.Count(document.Ready)
	text := document.TextReady(r, kept)
	if isOld(r) {
		change, err := f.Documents.Derive(ctx, r, kept)
		if err != nil {
			return store.Unavailable(err)
		}
		change.Document = text.Document
		change.TextReadyAt = text.TextReadyAt
		return f.append(ctx, r, change)
	}
	if err := f.append(ctx, r, text); err != nil {
		return err
	}
	return f.appendDerived(ctx, r, kept)
}

// appendDerived appends the summary and the facts of a document that is read.
func (f *Fetcher) appendDerived(ctx context.Context, r *disclosure.Report, kept document.Kept) error {
	change, err := f.Documents.Derive(ctx, r, kept)
	if err != nil {
		return store.Unavailable(err)
	}
	if err := f.append(ctx, r, change); err != nil {
		return err
	}
	f.queueForModel(r)
	return nil
}

// queueForModel queues a report for a summary by the model, if there is a model
// and the report is new.
func (f *Fetcher) queueForModel(r *disclosure.Report) {
	if f.Documents.Models != nil && !isOld(r) {
		f.awaitingModel.Add(r.ID)
	}
}

// deriveStored adds the summary and the facts of a document whose text is stored already:
// an earlier process ended between the two changes.
func (f *Fetcher) deriveStored(ctx context.Context, r *disclosure.Report) error {
	if !r.WantsRest() {
		return nil
	}
	kept, err := f.Documents.Kept(ctx, r.Document.SHA256)
	if err != nil {
		return err
	}
	return f.appendDerived(ctx, r, kept)
}

// mostAsked is how often a model that does not answer is asked again.
const mostAsked = 5

// writeSummaries has the model write the queued summaries, and those of the last
// day that an earlier process left. If it fails, the extractive summary stays.
func (f *Fetcher) writeSummaries(ctx context.Context, known Known) error {
	for _, r := range known.Since(time.Now().Add(-24 * time.Hour)) {
		if m := summary.Method(r.SummaryMethod); m == summary.Extractive || m == summary.OfFacts || m == summary.None {
			f.queueForModel(&r)
		}
	}
	return f.awaitingModel.Run(ctx, func(id string, tries int) time.Duration {
		err := f.writeSummary(ctx, id)
		if err == nil || ctx.Err() != nil {
			return 0
		}
		f.Logger.Warn("the model wrote no summary; the extractive one stays", "report", id, "err", err)
		if fault.KindOf(err) == fault.Unavailable && tries < mostAsked {
			return f.AskAgain
		}
		return 0
	})
}

func (f *Fetcher) writeSummary(ctx context.Context, id string) error {
	known, err := f.Store.Reports(ctx, id)
	if err != nil || len(known) == 0 || known[0].Document.Status != disclosure.DocumentReady {
		return err
	}
	r := &known[0]
	kept, err := f.Documents.Kept(ctx, r.Document.SHA256)
	if err != nil {
		return err
	}
	written, err := f.Documents.Write(ctx, r, kept)
	if err != nil {
		return err
	}
	return f.append(ctx, r, written)
}

// append appends an update of a known report.
func (f *Fetcher) append(ctx context.Context, r *disclosure.Report, update disclosure.Report) error {
	update.ID = r.ID
	update.Type = r.Type
	update.Number = r.Number
	_, err := f.Store.Append(ctx, store.Batch{Aside: []disclosure.Report{update}, Lease: f.Lease})
	return store.Unavailable(err)
}
