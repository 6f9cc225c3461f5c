package store

import (
	"context"
	"time"

	"pregon/internal/disclosure"
)

// clockSkew is how far the clocks of processes may be apart.
const clockSkew = time.Minute

// reader reads changes by their seq.
type reader interface {
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
}

// Shared returns the seq up to which a log whose backup was restored is the same
// as the log before, which had the change last. It is exact if the logs part within the
// trail of the log before, which ends with last. Otherwise the seq is found by
// time: changes in the backup occurred before last, and changes appended
// after it was restored occurred after last. When clocks differ, or the log before had
// more changes than a trail in the last minute, it is too low rather than too high.
func Shared(ctx context.Context, log reader, newest int64, last disclosure.Mark, trail Trail) (int64, error) {
	end := min(newest, last.Seq)
	if trail.endsWith(last) {
		first := trail.first()
		known := func(c *disclosure.Change) bool { return trail.has(c.Mark()) }
		seq, err := lastThat(ctx, log, first-1, max(first-1, end), known)
		if err != nil || seq >= first {
			return seq, err
		}
		end = min(end, first-1)
	}
	until := last.At - clockSkew.Microseconds()
	return lastThat(ctx, log, 0, end, func(c *disclosure.Change) bool { return c.OccurredAt.UnixMicro() <= until })
}

// lastThat returns the highest seq, from low to high, up to which the changes after low
// meet a condition, which no change after one that does not meet it meets.
func lastThat(ctx context.Context, log reader, low, high int64, meets func(*disclosure.Change) bool) (int64, error) {
	for low < high {
		middle := low + (high-low+1)/2
		found, err := log.ChangesAt(ctx, middle)
		if err != nil {
			return 0, err
		}
		// A change that is missing, since the store was damaged, is not shared.
		if len(found) == 1 && meets(&found[0]) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low, nil
}

// Has reports whether a log has the change that a mark identifies.
func Has(ctx context.Context, log reader, m disclosure.Mark) (bool, error) {
	found, err := log.ChangesAt(ctx, m.Seq)
	return len(found) == 1 && found[0].Mark() == m, err
}
