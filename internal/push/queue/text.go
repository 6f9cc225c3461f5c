package queue

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	textTimeout  = 10 * time.Second // for loading and matching one text
	maxTextDelay = time.Hour        // between two attempts
)

// Texts compares documents of changes with the endpoints that search in them, apart from
// the fan-out, so that a text that loads slowly, or not at all, delays nothing else. The
// fan-out adds a delivery of such a change to ID, which is no endpoint but claimed as one.
type Texts struct {
	ID     string
	Fan    *Fan // that adds the deliveries
	Logger *slog.Logger
	// Changes returns the changes with these seqs.
	Changes func(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
	// Match returns the deliveries of a change to the endpoints that match its document, and
	// the revisions of what selected them. The change was added to ID at the time queued.
	Match   func(ctx context.Context, c *disclosure.Change, queued time.Time) (store.FanOut, error)
	Backoff time.Duration // after the first failure
}

// Serve compares the documents of queued changes until one fails.
func (t *Texts) Serve(held *Claim, queued []store.Delivery) {
	if err := t.Fan.Refresh(held.Context()); err != nil { // the process that queued them may know newer endpoints
		return
	}
	for _, q := range queued {
		if held.Over() {
			return
		}
		at := time.Now().UTC()
		err := t.match(held.Context(), q)
		if err != nil && held.Context().Err() != nil {
			return
		}
		r := store.Result{
			Webhook: t.ID,
			Epoch:   q.Epoch,
			Seq:     q.Seq,
			Attempt: store.Attempt{At: at, Latency: time.Since(at)},
			State:   store.DeliveryDelivered,
		}
		if err != nil {
			t.failed(held.Context(), &r, q, err)
		}
		held.Settle(r)
		if err != nil {
			return // the others are still due
		}
	}
}

// failed sets when a text that could not be compared is tried again.
func (t *Texts) failed(ctx context.Context, r *store.Result, q store.Delivery, err error) {
	r.Attempt.Error = err.Error()
	if time.Since(q.CreatedAt) > MaxDelay {
		r.State = store.DeliveryDead
		t.Logger.ErrorContext(ctx, "a document was never compared with the "+t.Fan.Noun+" that search in documents",
			"seq", q.Seq, "err", err)
		return
	}
	r.State = store.DeliveryPending
	r.Wait = min(t.Backoff<<min(q.Attempts, 20), maxTextDelay)
	if q.Attempts == 0 { // logged once, not each time
		t.Logger.WarnContext(ctx, "cannot compare a document with "+t.Fan.Noun+": retrying", "seq", q.Seq, "err", err)
	}
}

// match adds the deliveries of a change to the endpoints that match its document.
// Deliveries that exist already are left alone, so it may be repeated.
func (t *Texts) match(ctx context.Context, q store.Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, textTimeout)
	defer cancel()
	changes, err := t.Changes(ctx, q.Seq)
	if err != nil || len(changes) == 0 {
		return err
	}
	for {
		head, mark, err := t.seen(ctx, q.Seq)
		if err != nil {
			return err
		}
		f, err := t.Match(ctx, &changes[0], q.CreatedAt)
		if err != nil || len(f.Deliveries) == 0 {
			return err
		}
		f.Consumer = t.Fan.Consumer
		f.Epoch = head.Epoch
		f.Seen = mark
		if f.From, err = t.Fan.Store.Fanned(ctx, f.Consumer); err != nil {
			return err
		}
		f.To = f.From // the position of the fan-out does not move
		if err = t.Fan.Store.FanOut(ctx, f); fault.KindOf(err) != fault.Conflict {
			return err
		}
		if err := t.Fan.Refresh(ctx); err != nil { // an endpoint was changed, or the position moved meanwhile
			return err
		}
	}
}

// seen waits until the catalogue of this process has a change, which another process may
// have queued, and returns what it has then. So the changes are compared in their order,
// unless the catalogue is far behind.
func (t *Texts) seen(ctx context.Context, seq int64) (disclosure.Head, disclosure.Mark, error) {
	for {
		head, mark := t.Fan.Seen()
		if head.Seq >= seq {
			return head, mark, nil
		}
		if retry.Sleep(ctx, 5*time.Millisecond) != nil {
			return head, mark, errors.New("the catalogue does not have the change yet")
		}
	}
}
