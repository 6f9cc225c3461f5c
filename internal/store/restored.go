package store

import (
	"context"
	"time"

	"pregon/internal/disclosure"
)

// clockSkew is how far the clocks of processes may be apart.
const clockSkew = time.Minute

// Shared returns the seq up to which a log, after a backup of it was restored, is
// the same as it was before, when last was a change of it. What was appended since
// the backup was restored occurred after last, and all that the backup had before:
// so that the place is found by time. When clocks differ it is too low rather than
// too high.
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
		// One that is missing, since the store was damaged, is not shared.
		if len(found) == 1 && found[0].OccurredAt.UnixMicro() <= until {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low, nil
}

// Has reports whether a log has the very change that a mark is of.
func Has(ctx context.Context, log interface {
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
}, m disclosure.Mark,
) (bool, error) {
	found, err := log.ChangesAt(ctx, m.Seq)
	return len(found) == 1 && found[0].Mark() == m, err
}
