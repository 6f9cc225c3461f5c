package store

import (
	"context"
	"time"

	"pregon/internal/disclosure"
)

// clockSkew is how far the clocks of processes may be apart.
const clockSkew = time.Minute

// Shared returns the seq up to which a log whose backup was restored is the same
// as the log before, which had the change last. Changes in the backup occurred
// before last, and changes appended after it was restored occurred after last, so
// the seq is found by time. When clocks differ it is too low rather than too
// high.
func Shared(ctx context.Context, log interface {
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
}, newest int64, last disclosure.Mark,
) (int64, error) {
	until := last.At - clockSkew.Microseconds()
	low, high := int64(0), min(newest, last.Seq) // up to low it is shared, above high it is not
	for low < high {
		middle := low + (high-low+1)/2
		found, err := log.ChangesAt(ctx, middle)
		if err != nil {
			return 0, err
		}
		// A change that is missing, since the store was damaged, is not shared.
		if len(found) == 1 && found[0].OccurredAt.UnixMicro() <= until {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low, nil
}

// Has reports whether a log has the change that a mark identifies.
func Has(ctx context.Context, log interface {
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
}, m disclosure.Mark,
) (bool, error) {
	found, err := log.ChangesAt(ctx, m.Seq)
	return len(found) == 1 && found[0].Mark() == m, err
}
