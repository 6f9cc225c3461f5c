package registers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/dealing"
	"pregon/internal/document/extract"
	"pregon/internal/retry"
	"pregon/internal/source/throttle"
)

const (
	freshDays    = 7 // documents of these days are as urgent as those of reports
	longestRetry = time.Hour
)

// isFresh reports whether a dealing was registered in the last days.
func isFresh(p *disclosure.Position) bool {
	return dayOf(p.RegisteredOn) >= disclosure.DayOf(time.Now())-freshDays
}

// queueDocuments queues those of some dealings, the newest first, whose document is to be
// read. New ones are taken before those that were queued earlier, and old ones after them:
// the history is loaded from its end.
func (r *Reader) queueDocuments(dealings []disclosure.Position) {
	if r.Documents == nil {
		return
	}
	for n := range dealings {
		if p := &dealings[n]; p.WantsDocument() && !isFresh(p) {
			r.old.Add(p.ID)
		}
	}
	for _, p := range slices.Backward(dealings) {
		if p.WantsDocument() && isFresh(&p) {
			r.fresh.Add(p.ID)
		}
	}
}

// findUnread queues the dealings whose document an earlier process left: of the last days
// each time, and all every hour.
func (r *Reader) findUnread(ctx context.Context) error {
	var last time.Time
	for {
		var since disclosure.Day
		if time.Since(last) > time.Hour {
			last = time.Now()
		} else {
			since = disclosure.DayOf(time.Now()) - freshDays
		}
		var found []disclosure.Position
		for p := range r.Known.Positions(disclosure.Dealing) { // the newest first
			if dayOf(p.RegisteredOn) < since {
				break
			}
			if p.WantsDocument() {
				found = append(found, *p)
			}
		}
		r.queueDocuments(found)
		if err := retry.Sleep(ctx, r.intervals.unread); err != nil {
			return err
		}
	}
}

func (r *Reader) readFresh(ctx context.Context) error { return r.readDocuments(ctx, r.fresh) }

func (r *Reader) readOld(ctx context.Context) error { return r.readDocuments(ctx, r.old) }

// readDocuments reads one document of a queue after the other.
func (r *Reader) readDocuments(ctx context.Context, queue *retry.Queue) error {
	return queue.Run(ctx, func(id string, tries int) time.Duration {
		err := r.readDocument(ctx, id, tries)
		if err == nil || ctx.Err() != nil {
			return 0
		}
		// The cause is not logged: it may contain the link of a document about a person.
		r.Logger.Debug("the document of a dealing was not read", "position", id, "attempts", tries+1)
		return retry.Backoff(tries, r.intervals.reread, longestRetry)
	})
}

// readDocument reads the document of a dealing. It returns an error if it is to be tried
// again.
func (r *Reader) readDocument(ctx context.Context, id string, tries int) error {
	known, err := r.Store.Positions(ctx, id)
	if err != nil || len(known) == 0 || !known[0].WantsDocument() {
		return err
	}
	p := known[0]
	read, err := r.fetch(ctx, &p)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		reason, final := r.Failure(err, tries)
		if !final {
			return err
		}
		read = disclosure.Position{
			DocumentStatus: disclosure.DocumentFailed,
			DocumentReason: reason,
		}
	}
	read.ID = p.ID // and nothing else that may have changed meanwhile
	read.Kind = p.Kind
	read.RegisteredOn = p.RegisteredOn
	if err := r.append(ctx, disclosure.Published, []disclosure.Position{read}); err != nil {
		return err
	}
	if isFresh(&p) {
		return nil
	}
	return retry.Sleep(ctx, r.intervals.pace)
}

// fetch downloads and reads a document. A document that states nothing that is certain has
// the status failed, and no error.
func (r *Reader) fetch(ctx context.Context, p *disclosure.Position) (read disclosure.Position, err error) {
	priority := throttle.Backfill
	if isFresh(p) {
		priority = throttle.Documents
	}
	file, err := r.Regulator.For(priority).Document(ctx, p.DocumentURL)
	if err != nil {
		return read, err
	}
	text, err := r.Documents.Read(ctx, file.Body)
	if err != nil {
		return read, err
	}
	sum := sha256.Sum256(file.Body)
	read.DocumentSHA256 = hex.EncodeToString(sum[:])
	notice, reason := noticeOf(text, p)
	if reason != "" {
		read.DocumentStatus = disclosure.DocumentFailed
		read.DocumentReason = reason
		return read, nil
	}
	read.DocumentStatus = disclosure.DocumentReady
	read.Trades = notice.Trades
	read.Aggregates = notice.Aggregates()
	r.Documents.Count(document.Ready)
	return read, nil
}

// noticeOf reads a notice, and returns why it cannot be used.
func noticeOf(text *extract.Text, p *disclosure.Position) (n dealing.Notice, reason string) {
	var pages []string
	for _, page := range text.Pages {
		if page.Method != extract.ByText {
			return n, "The document is an image, whose figures are not certain."
		}
		pages = append(pages, page.Text)
	}
	n, err := dealing.Read(pages)
	switch {
	case dealing.IsUnreadable(err):
		return n, "The document is not read: " + err.Error() + "."
	case err != nil:
		return n, "The document is not read."
	case n.Associated != (p.Relation == disclosure.RelationAssociated):
		return n, "The document and the list of dealings differ on why it was notified."
	}
	return n, ""
}
