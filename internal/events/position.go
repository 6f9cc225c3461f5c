package events

import (
	"context"
	"fmt"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// catchUp is how long Locate waits for a cursor that is ahead: the reader may come
// from a replica that has newer changes.
const catchUp = 2 * time.Second

// Position is where the reader of a cursor continues.
type Position struct {
	After disclosure.Cursor
	// Ahead reports that the cursor is of this log and beyond its end.
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

// Locate returns the position of a cursor. It waits up to catchUp for a cursor
// that the catalogue has not reached. It returns an Unavailable error while the
// catalogue has not loaded the log of the cursor.
func (h *Hub) Locate(ctx context.Context, c disclosure.Cursor) (Position, error) {
	head, reached := h.reach(ctx, c)
	if reached {
		return Position{After: disclosure.Cursor{Epoch: head.Epoch, Seq: c.Seq}}, nil
	}
	if c.Epoch == "" || c.Epoch == head.Epoch {
		return Position{After: head.Cursor, Ahead: true}, nil
	}
	stored, err := h.log.Head(ctx)
	if err != nil {
		return Position{}, fmt.Errorf("reading the epoch of the log: %w", err)
	}
	if stored.Epoch != head.Epoch {
		return Position{}, fault.New(fault.Unavailable, "A backup of the store was restored, and this process is still loading it. Try again in a few seconds.")
	}
	return h.reset(ctx, head, c)
}

func (h *Hub) reset(ctx context.Context, head disclosure.Head, c disclosure.Cursor) (Position, error) {
	seq, ok := head.Resume(c)
	after := disclosure.Cursor{Epoch: head.Epoch, Seq: seq}
	if !ok {
		return Position{After: after, Reset: &Reset{
			Reason: "this cursor is of a log of which this one knows nothing: continue after the same number, or at the end", After: after.String(),
		}}, nil
	}
	reset := &Reset{
		Reason: "a backup was restored since this cursor was handed out: continue with the first change after those that both logs have", After: after.String(),
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
func (h *Hub) reach(ctx context.Context, c disclosure.Cursor) (head disclosure.Head, ok bool) {
	end := time.NewTimer(catchUp)
	defer end.Stop()
	for {
		_, wake, _ := h.Since(c, 0)
		head = h.Head()
		same := c.Epoch == "" || c.Epoch == head.Epoch
		if same && head.Seq >= c.Seq {
			return head, true
		}
		if !same && head.Had(c.Epoch) {
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
