package storetest

import (
	"testing"
	"time"

	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// clockTest corrects times in a store, and writes what a clock that was ahead wrote.
type clockTest struct {
	*testing.T
	s store.Store
}

const (
	claimTTL    = 8 * time.Second
	longestWait = 26 * time.Hour
)

func (c clockTest) correct(want int) {
	c.Helper()
	if got, err := c.s.CorrectTimes(patiently(c.T), claimTTL, longestWait); err != nil || got != want {
		c.Errorf("CorrectTimes = %d, %v, want %d", got, err, want)
	}
}

func (c clockTest) base() *relational.Base {
	return c.s.(interface{ Relational() *relational.Base }).Relational()
}

func (c clockTest) write(statement string, at time.Time) {
	c.Helper()
	if err := c.base().Exec(patiently(c.T), statement, at); err != nil {
		c.Fatal(err)
	}
}

// checkWaits checks how long the deliveries of a webhook wait, by seq from 1.
func (c clockTest) checkWaits(webhook string, want ...time.Duration) {
	c.Helper()
	for _, d := range listDeliveries(c.T, c.s, store.DeliveryQuery{Webhook: webhook, Limit: 9}) {
		if d.Seq <= int64(len(want)) {
			checkWait(c.T, d.Delivery, want[d.Seq-1])
		}
	}
}

// testCorrectTimes: the clock is set back by an hour. Deliveries that were scheduled
// before are due as if it had always been right, each step is corrected once, and a
// claim of a process that ended then does not last for an hour.
func testCorrectTimes(t *testing.T, e Engine) {
	open := e.fresh(t)
	s := open()
	c := clockTest{t, open()}
	c.correct(0)
	enqueue(t, s, to("a", 1)...)
	enqueue(t, s, to("b", 1, 2, 3)...)
	enqueue(t, s, to("c", 1)...)
	settle(t, s, failed("c", 1, longestWait))
	c.correct(0) // it waits by the present clock
	settle(t, s, failed("b", 1, 0), failed("b", 2, 0))
	checkClaim(t, s, claimOf("ana", "a"), "a 1")
	ahead := later()
	c.write(`UPDATE endpoint SET last_failure_at = $1 WHERE webhook = 'b'`, ahead)
	c.write(`UPDATE delivery SET due_at = $1 WHERE webhook = 'b' AND seq = 1`, ahead.Add(-time.Second))
	c.write(`UPDATE delivery SET due_at = $1 WHERE webhook = 'b' AND seq = 2`, ahead.Add(30*time.Minute))
	c.write(`UPDATE delivery SET due_at = $1 WHERE attempts = 0`, ahead)
	c.write(`UPDATE endpoint SET held_until = $1 WHERE holder IS NOT NULL`, ahead)
	bad := claimOf("berta", "a", "b", "c")
	bad.Failing = true
	checkClaim(t, s, bad)

	c.correct(2)
	c.correct(0)
	c.checkWaits("b", 0, 30*time.Minute, 0)
	checkClaim(t, s, bad, "b 1 3")
	checkClaim(t, s, claimOf("berta", "a")) // ana may be alive
	var until time.Time
	const read = `SELECT held_until FROM endpoint WHERE webhook = 'a'`
	if _, err := relational.One(patiently(t), c.base(), []any{&until}, read); err != nil {
		t.Fatal(err)
	}
	if until.After(time.Now().Add(claimTTL)) {
		t.Errorf("the claim lasts until %v, want %v at most", until, claimTTL)
	}
	checkHeld(t, s, "ana", "a")
	if failure := endpoints(t, s, "b")["b"].LastFailureAt; failure.After(time.Now().Add(time.Minute)) {
		t.Errorf("the last failure is at %v, in the future", failure)
	}
}

// testCorrectOldFailure: the clock is set back by an hour two hours after a failure,
// so that no time is in the future. No delivery waits longer than the longest wait.
func testCorrectOldFailure(t *testing.T, e Engine) {
	c := clockTest{t, e.fresh(t)()}
	enqueue(t, c.s, to("a", 1, 2)...)
	settle(t, c.s, failed("a", 1, time.Hour), failed("a", 2, longestWait))
	c.write(`UPDATE endpoint SET last_failure_at = $1`, later().Add(-2*time.Hour))
	c.write(`UPDATE delivery SET due_at = $1 WHERE seq = 2`, later().Add(longestWait))
	c.correct(1)
	c.correct(0)
	c.checkWaits("a", time.Hour, longestWait)
}

// testProcessClockAhead: the clock of a process is a minute ahead of the store's. Its
// deliveries fail one after the other, and the retries of the earlier ones stay where
// they are.
func testProcessClockAhead(t *testing.T, e Engine) {
	c := clockTest{t, e.fresh(t)()}
	enqueue(t, c.s, to("a", 1, 2, 3, 4, 5, 6)...)
	const wait = 10 * time.Minute
	for seq := int64(1); seq <= 6; seq++ {
		r := failed("a", seq, wait)
		r.Attempt.At = r.Attempt.At.Add(time.Minute)
		settle(t, c.s, r)
		c.correct(0)
	}
	c.checkWaits("a", wait, wait, wait, wait, wait, wait)
	if failure := endpoints(t, c.s, "a")["a"].LastFailureAt; failure.After(time.Now()) {
		t.Errorf("the last failure is at %v, in the future", failure)
	}
}
