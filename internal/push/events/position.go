package events

import (
	"context"
	"fmt"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// catchUp is how long Locate waits at least for a cursor that is ahead: the reader may
// come from a replica that has newer changes.
const catchUp = 2 * time.Second

// renewal is how long Locate waits longer before it takes a cursor with the present epoch
// for one that is ahead. If a fail-over lost the end of the log, a process that had
// it renews the epoch within this time.
const renewal = 3 * time.Second

// retryAfter is when a reader whose cursor this process has not reached should ask
// again.
const retryAfter = 2 * time.Second

// AheadReason is why a cursor is refused that is beyond the end of the log.
const AheadReason = "is ahead of all changes, so it is not a cursor of this log: " +
	"continue with the last cursor that you received from it, or with 0 for the beginning"

// Position is where the reader of a cursor continues.
type Position struct {
	After disclosure.Cursor
	// Ahead reports that the cursor is of this log and beyond its end, also on the
	// primary. After is then the end of the log that this process has.
	Ahead bool
	// Reset is not nil when the cursor is of another epoch.
	Reset *Reset
}

// Reset describes where a reader continues whose cursor is of a log that was
// replaced.
type Reset struct {
	Reason string `json:"reason"`
	After  string `json:"after"` // the cursor from which it continues
	// Time is when the last change occurred that both logs have. The reader
	// receives all later changes of this log. It is nil if there is no such change.
	Time *time.Time `json:"time"`
}

// Locate returns the position of a cursor. Unless the cursor is ahead of the primary
// too, or of another epoch, the position is never before the cursor, because the reader
// would receive changes again: Locate waits for a cursor that the catalogue has not
// reached, for catchUp or for wait, whichever is longer. Then it returns an
// Unavailable error, also when the primary cannot be asked.
func (h *Hub) Locate(ctx context.Context, c disclosure.Cursor, wait time.Duration) (Position, error) {
	end := time.Now().Add(wait)
	place, err := h.locate(ctx, c, catchUp)
	if place.Ahead && c.Epoch != "" {
		return h.locate(ctx, c, renewal)
	}
	if left := time.Until(end); left > 0 && fault.KindOf(err) == fault.Unavailable {
		return h.locate(ctx, c, left)
	}
	return place, err
}

// Has reports whether Locate returns the position of a cursor without waiting.
func (h *Hub) Has(c disclosure.Cursor) bool {
	head := h.Head()
	return isOf(c, head) && c.Seq <= head.Seq || head.Had(c.Epoch)
}

// Lacks returns an Unavailable error if this process does not have the change of a
// cursor and the primary has it, or may have it. It returns nil if this process has the
// change, or if the log does not have it.
func (h *Hub) Lacks(ctx context.Context, c disclosure.Cursor) error {
	if h.Has(c) {
		return nil
	}
	_, err := h.beyond(ctx, h.Head(), c)
	return err
}

// locate is Locate with one wait.
func (h *Hub) locate(ctx context.Context, c disclosure.Cursor, wait time.Duration) (Position, error) {
	head, reached := h.reach(ctx, c, wait)
	if reached {
		return Position{After: disclosure.Cursor{Epoch: head.Epoch, Seq: c.Seq}}, nil
	}
	if err := ctx.Err(); err != nil {
		return Position{}, err
	}
	if !head.Had(c.Epoch) {
		return h.beyond(ctx, head, c)
	}
	stored, err := h.log.Head(ctx)
	if err != nil {
		return Position{}, fmt.Errorf("reading the epoch of the log: %w", err)
	}
	if stored.Epoch != head.Epoch {
		return Position{}, errLoading()
	}
	return h.reset(ctx, head, c)
}

// beyond returns the position of a cursor that is beyond a head of the catalogue, or of
// an epoch that is unknown there. The primary decides whether the log has it.
func (h *Hub) beyond(ctx context.Context, head disclosure.Head, c disclosure.Cursor) (Position, error) {
	if isOf(c, head) && h.primary.has(head.Epoch, c.Seq) {
		return Position{}, errBehind(c, nil)
	}
	newest, err := h.primary.ask(ctx)
	switch {
	case ctx.Err() != nil:
		return Position{}, ctx.Err()
	case err != nil:
		return Position{}, errBehind(c, fmt.Errorf("asking the primary for the end of the log: %w", err))
	case newest.Epoch != head.Epoch:
		return Position{}, errLoading()
	case !isOf(c, head):
		return h.reset(ctx, head, c)
	case newest.Seq >= c.Seq:
		return Position{}, errBehind(c, nil)
	}
	return Position{After: head.Cursor, Ahead: true}, nil
}

// isOf reports whether a cursor is of the log with a head.
func isOf(c disclosure.Cursor, head disclosure.Head) bool {
	return c.Epoch == "" || c.Epoch == head.Epoch
}

// errBehind is the error for a change that this process does not have yet.
func errBehind(c disclosure.Cursor, cause error) error {
	e := fault.Wrap(fault.Unavailable, cause,
		"This server does not have the change %v yet. Try again in a few seconds.", c)
	e.RetryAfter = retryAfter
	return e
}

// errLoading is the error while the catalogue has the log of a former epoch.
func errLoading() error {
	e := fault.New(fault.Unavailable,
		"A backup of the store was restored, and this process is still loading it. Try again in a few seconds.")
	e.RetryAfter = retryAfter
	return e
}

func (h *Hub) reset(ctx context.Context, head disclosure.Head, c disclosure.Cursor) (Position, error) {
	seq, ok := head.Resume(c)
	after := disclosure.Cursor{Epoch: head.Epoch, Seq: seq}
	if !ok {
		return Position{After: after, Reset: &Reset{
			Reason: "this cursor is of an unknown log: continue after the same number, or at the end", After: after.String(),
		}}, nil
	}
	reset := &Reset{
		Reason: "a backup was restored after this cursor was issued: continue with the first change after the last " +
			"common one", After: after.String(),
	}
	if seq > 0 {
		last, err := h.log.Changes(ctx, seq-1, 1)
		if err != nil {
			return Position{}, fmt.Errorf("reading change %v: %w", after, err)
		}
		if len(last) > 0 {
			at := last[0].OccurredAt.In(disclosure.Madrid)
			reset.Time = &at
		}
	}
	return Position{After: after, Reset: reset}, nil
}

// reach waits until the catalogue has reached a cursor. It does not wait for one
// of a past epoch.
func (h *Hub) reach(ctx context.Context, c disclosure.Cursor, wait time.Duration) (head disclosure.Head, ok bool) {
	end := time.NewTimer(wait)
	defer end.Stop()
	for {
		_, wake, _ := h.Since(c, 0)
		head = h.Head()
		if isOf(c, head) && head.Seq >= c.Seq {
			return head, true
		}
		if !isOf(c, head) && head.Had(c.Epoch) {
			return head, false
		}
		select {
		case <-wake:
		case <-end.C:
			return head, false
		case <-ctx.Done():
			return head, false
		}
	}
}
