package relational

import (
	"context"
	"time"

	"pregon/internal/store"
)

// clockStep is by how much a stored time must be in the future for CorrectTimes. A
// smaller step does no harm.
const clockStep = 10 * time.Second

// longestDay is longer than any wait that ends at a time of day: a week, and the hour
// that a change of the clock may add.
const longestDay = 8 * 24 * time.Hour

// CorrectTimes finds that the clock was set back by times that cannot be in the
// future: of the last failure, of the creation of a delivery, which is due at once,
// and of the end of a claim. All of them were written by the clock that they are
// compared with, so that a process whose clock is ahead corrects nothing. It corrects
// these times too, so that each step is corrected once, whatever process does it.
//
// A new delivery in a lane may be due later, so that its time in the future proves
// nothing. The time when it was made does. Its short wait begins now; a longer one ends at
// a time of day, unless that is further away than any such wait.
//
// A step is not found if the last failure was longer ago than its length. Then a
// retry waits longer by the step, and no longer than longest from now on.
func (b *Base) CorrectTimes(ctx context.Context, ttl, longest time.Duration) (corrected int, err error) {
	now := b.SQL.Now
	defer b.fail("looking for times in the future", &err)
	ahead, err := Column[string](ctx, b, `SELECT e.webhook FROM endpoint e
		WHERE e.last_failure_at > `+now+` + CAST($1 AS interval)
			OR e.holder IS NOT NULL AND e.held_until > `+now+` + CAST($2 AS interval)
			OR EXISTS (SELECT 1 FROM delivery d
				WHERE d.webhook = e.webhook AND d.state = 'pending' AND (d.lane = '' OR d.attempts > 0)
					AND (d.attempts = 0 AND d.due_at > `+now+` + CAST($1 AS interval)
						OR d.due_at > `+now+` + CAST($3 AS interval)))
			OR e.webhook IN (SELECT d.webhook FROM delivery d
				WHERE d.state = 'pending' AND d.lane <> '' AND d.attempts = 0 AND d.created_at > `+now+` + CAST($1 AS interval))
		ORDER BY e.webhook`, clockStep, ttl+clockStep, longest+clockStep)
	if err != nil || len(ahead) == 0 {
		return 0, err
	}
	err = b.update(ctx, "correcting times in the future", func(tx Tx) error {
		tx.Exec(ctx, `SELECT webhook FROM endpoint WHERE webhook `+b.SQL.In(`$1`)+`
			ORDER BY webhook `+b.SQL.Lock(`FOR NO KEY UPDATE`), ahead)
		tx.Exec(ctx, `UPDATE delivery AS d SET due_at = d.due_at - (e.last_failure_at - `+now+`) FROM endpoint e
			WHERE e.webhook `+b.SQL.In(`$1`)+` AND e.last_failure_at > `+now+` + CAST($2 AS interval)
				AND d.webhook = e.webhook AND d.state = 'pending' AND d.attempts > 0 AND d.due_at > `+now,
			ahead, clockStep)
		tx.Exec(ctx, `UPDATE delivery SET due_at = `+now+` + CAST($2 AS interval)
			WHERE webhook `+b.SQL.In(`$1`)+` AND state = 'pending' AND (lane = '' OR attempts > 0)
				AND due_at > `+now+` + CAST($2 AS interval)`,
			ahead, longest)
		tx.Exec(ctx, `UPDATE delivery SET due_at = `+now+`
			WHERE webhook `+b.SQL.In(`$1`)+` AND state = 'pending' AND attempts = 0 AND lane = '' AND due_at > `+now, ahead)
		tx.Exec(ctx, `UPDATE delivery SET
				due_at = CASE WHEN due_at - created_at <= CAST($3 AS interval) OR due_at > `+now+` + CAST($4 AS interval)
					THEN `+now+` + (due_at - created_at) ELSE due_at END,
				created_at = `+now+`
			WHERE webhook `+b.SQL.In(`$1`)+` AND state = 'pending' AND lane <> '' AND attempts = 0
				AND created_at > `+now+` + CAST($2 AS interval)`,
			ahead, clockStep, store.ShortWait, longestDay)
		tx.Exec(ctx, `UPDATE endpoint SET
				held_until = CASE WHEN held_until > `+now+` + CAST($2 AS interval)
					THEN `+now+` + CAST($2 AS interval) ELSE held_until END,
				failing_since = CASE WHEN failing_since > `+now+` THEN `+now+` ELSE failing_since END,
				last_success_at = CASE WHEN last_success_at > `+now+` THEN `+now+` ELSE last_success_at END,
				last_failure_at = CASE WHEN last_failure_at > `+now+` THEN `+now+` ELSE last_failure_at END
			WHERE webhook `+b.SQL.In(`$1`), ahead, ttl)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(ahead), nil
}
