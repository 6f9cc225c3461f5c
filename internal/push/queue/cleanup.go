package queue

import (
	"context"
	"time"
)

const (
	clockInterval = 10 * time.Second // between two looks for a clock that was set back
	pruneInterval = time.Hour
	retention     = 30 * 24 * time.Hour // of deliveries that ended
)

// correctTimes makes deliveries due in time that were scheduled before the clock was
// set back.
func (q *Queue) correctTimes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	n, err := q.o.Store.CorrectTimes(ctx, q.o.Timing.ClaimFor, MaxWait)
	if err != nil {
		if ctx.Err() == nil {
			q.clockCheck.Failed("cannot check for deliveries with a time in the future", "err", err)
		}
		return
	}
	q.clockCheck.Recovered("")
	if n > 0 {
		q.o.Logger.WarnContext(ctx, "the clock was set back: the next attempts of webhooks and alerts were moved with it",
			"webhooks", n)
		q.wakeUp()
	}
}

// prune removes old deliveries.
func (q *Queue) prune(ctx context.Context) {
	if err := Prune(ctx, q.o.Store); err != nil && ctx.Err() == nil {
		q.o.Logger.WarnContext(ctx, "cannot remove old deliveries", "err", err)
	}
	q.forget()
}

// Prune removes the deliveries that ended long ago.
func Prune(ctx context.Context, s Store) error {
	const limit = 1000
	for {
		n, err := s.PruneDeliveries(ctx, time.Now().Add(-retention), limit)
		if err != nil || n < limit {
			return err
		}
	}
}
