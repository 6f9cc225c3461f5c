package storetest

import (
	"testing"
	"time"

	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// testCorrectTimes: the clock is set back by an hour. Deliveries that were scheduled
// before are due as if it had always been right, each step is corrected once, and a
// claim of a process that ended then does not last for an hour.
func testCorrectTimes(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	const ttl = 8 * time.Second
	correct := func(want int) {
		t.Helper()
		if got, err := other.CorrectTimes(patiently(t), ttl); err != nil || got != want {
			t.Errorf("CorrectTimes = %d, %v, want %d", got, err, want)
		}
	}
	correct(0)
	enqueue(t, s, to("a", 1)...)
	enqueue(t, s, to("b", 1, 2, 3)...)
	enqueue(t, s, to("c", 1)...)
	ahead := func(r store.Result, due time.Time) store.Result {
		r.Attempt.At = later()
		r.DueAt = due
		return r
	}
	settle(t, s, failed("c", 1, later()))
	correct(0) // it waits for an hour, by the present clock
	settle(t, s, ahead(failed("b", 1, later()), later().Add(-time.Second)), ahead(failed("b", 2, later()), later().Add(30*time.Minute)))
	checkClaim(t, s, claimOf("ana", "a"), "a 1")
	base := s.(interface{ Relational() *relational.Base }).Relational()
	for _, statement := range []string{
		`UPDATE delivery SET due_at = $1 WHERE attempts = 0`,
		`UPDATE endpoint SET held_until = $1 WHERE holder IS NOT NULL`,
	} {
		if err := base.Exec(patiently(t), statement, later()); err != nil {
			t.Fatal(err)
		}
	}
	bad := claimOf("berta", "a", "b", "c")
	bad.Failing = true
	checkClaim(t, s, bad)

	correct(2)
	correct(0)
	checkClaim(t, s, bad, "b 1 3")
	checkClaim(t, s, claimOf("berta", "a")) // ana may be alive
	var until time.Time
	if _, err := relational.One(patiently(t), base, []any{&until}, `SELECT held_until FROM endpoint WHERE webhook = 'a'`); err != nil {
		t.Fatal(err)
	}
	if until.After(time.Now().Add(ttl)) {
		t.Errorf("the claim lasts until %v, want %v at most", until, ttl)
	}
	checkHeld(t, s, "ana", "a")
	due := map[int64]time.Time{}
	for _, d := range listDeliveries(t, s, store.DeliveryQuery{Webhook: "b", Limit: 9}) {
		due[d.Seq] = d.DueAt
	}
	if wait := time.Until(due[2]); wait < 20*time.Minute || wait > 30*time.Minute {
		t.Errorf("a delivery that was to wait for half an hour waits for %v", wait)
	}
	if failure := endpoints(t, s, "b")["b"].LastFailureAt; failure.After(time.Now().Add(time.Minute)) {
		t.Errorf("the last failure is at %v, in the future", failure)
	}
}
