package delivery

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/store"
)

// restore is when the log was continued after a backup was restored, or after a fail-over
// that lost its end.
type restore struct {
	epoch string
	seq   int64     // of the last change before
	at    time.Time // of the first change after; zero if there is none
	seen  time.Time // when this process saw it first
}

// lastRestore returns the last restore of a log.
func (s *Service) lastRestore(ctx context.Context, head disclosure.Head) (restore, error) {
	r := restore{epoch: head.Epoch, seen: time.Now()}
	if known := s.restored.Load(); known != nil && known.epoch == head.Epoch {
		if !known.at.IsZero() {
			return *known, nil
		}
		r.seen = known.seen
	}
	if len(head.Past) == 0 {
		return r, nil
	}
	r.seq = head.Past[len(head.Past)-1].Seq
	first, err := s.store.ChangesAt(ctx, r.seq+1)
	if err != nil {
		return r, err
	}
	if len(first) > 0 {
		r.at = first[0].OccurredAt
	}
	s.restored.Store(&r)
	return r, nil
}

// time returns when the log was continued, as far as that is known.
func (r *restore) time() time.Time {
	if !r.at.IsZero() && r.at.Before(r.seen) {
		return r.at
	}
	return r.seen
}

// hasAgain reports whether a change is of a report that the log has again: it was published
// before the restore, and has been sent since then. What was published just before may not
// have been sent.
func (r *restore) hasAgain(c *disclosure.Change) bool {
	if r.at.IsZero() || c.Seq <= r.seq || c.Report == nil || c.Event == disclosure.Corrected {
		return false
	}
	return r.at.Sub(c.Report.PublishedAt) > restoreTime
}

// mayHaveSent reports whether a delivery may have been sent before a restore that lost the
// result. What could not be sent until then, for whatever reason, was not.
func (s *Service) mayHaveSent(
	ctx context.Context, r *restore, c *subscription.Channel, delivery *store.Delivery,
) (bool, error) {
	if delivery.Epoch == r.epoch {
		return false, nil
	}
	until := r.time().Add(-restoreTime)
	at := delivery.DueAt
	if c.Since.After(at) { // it was paused
		at = c.Since
	}
	at = afterQuiet(c.Quiet, at)
	if !at.Before(until) {
		return false, nil
	}
	for day := disclosure.DayOf(at); ; day++ {
		n, err := s.messagesOf(ctx, c.Account, day)
		if err != nil {
			return false, err
		}
		if n < int64(s.o.Messages) {
			return true, nil
		}
		if !afterQuiet(c.Quiet, (day + 1).Start()).Before(until) {
			return false, nil
		}
	}
}

// afterQuiet returns an instant, or the end of the quiet hours in which it is.
func afterQuiet(q alert.Quiet, at time.Time) time.Time {
	if !isQuiet(q, at) {
		return at
	}
	return nextDay(at, q.To)
}
