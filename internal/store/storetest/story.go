package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pregon/internal/store"
)

const lane = "together"

// tell returns a delivery of a story that waits in a lane.
func tell(webhook string, seq int64, story, cause string, wait time.Duration) store.Delivery {
	d := to(webhook, seq)[0]
	d.Story = story
	d.Lane = lane
	d.Cause = cause
	d.Wait = wait
	return d
}

// fanAlerts adds deliveries, and does not move the position.
func fanAlerts(t *testing.T, s store.Store, deliveries ...store.Delivery) {
	t.Helper()
	fanOut(t, s, store.FanOut{Consumer: store.ForAlerts, Deliveries: deliveries})
}

// checkStories compares the newest deliveries of a webhook, each written as its seq,
// story, state, lane, cause, and in how many minutes it is due.
func checkStories(t *testing.T, s store.Store, webhook string, want ...string) {
	t.Helper()
	var got []string
	for _, d := range listDeliveries(t, s, store.DeliveryQuery{Webhook: webhook, Limit: 100}) {
		line := fmt.Sprintf("%d %s %s %s %q", d.Seq, d.Story, d.State, d.Lane, d.Cause)
		if d.State == store.DeliveryPending {
			line += fmt.Sprintf(" %d", int(time.Until(d.DueAt).Round(time.Minute).Minutes()))
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the deliveries to %s (-want +got):\n%s", webhook, diff)
	}
}

// testFanOutOfConsumers: each consumer has a position of its own, and the fan-out to one
// does not fail because of the other.
func testFanOutOfConsumers(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	mustAppend(t, s, published(newReports(1, 5)...))
	check := func(webhooks, alerts int64) {
		t.Helper()
		checkFanned(t, other, webhooks)
		if got, err := other.Fanned(patiently(t), store.ForAlerts); err != nil || got != alerts {
			t.Errorf("Fanned = %d, %v; want %d for alerts", got, err, alerts)
		}
	}
	check(0, 0)
	fanOut(t, s, store.FanOut{From: 0, To: 3, Deliveries: to("a", 1)})
	check(3, 0)
	fanOut(t, s, store.FanOut{Consumer: store.ForAlerts, From: 0, To: 5, Deliveries: to("c", 1)})
	check(3, 5)
	err := s.FanOut(patiently(t), store.FanOut{Consumer: store.ForAlerts, From: 3, To: 4, Deliveries: to("c", 2)})
	checkConflict(t, "the position of the other", err)
	fanOut(t, s, store.FanOut{From: 3, To: 4, Deliveries: to("a", 2)})
	check(4, 5)
	checkDeliveries(t, s, "a", "2 pending 0/0", "1 pending 0/0")
	checkDeliveries(t, s, "c", "1 pending 0/0")
}

// testFanOutKnowsAlerts: FanOut to alerts fails unless the caller has seen the newest
// revision of each kind of records that decide about them.
func testFanOutKnowsAlerts(t *testing.T, e Engine) {
	s := e.fresh(t)()
	kinds := []string{"alert", "watchlist"}
	seen := map[string]int64{}
	putRecord(t, s, record("webhook", "a", "1", 0), 1)
	fanOut(t, s, store.FanOut{Consumer: store.ForAlerts, From: 0, To: 1})
	for i, kind := range kinds {
		revision := int64(i + 2)
		putRecord(t, s, record(kind, "a", "1", 0), revision)
		f := store.FanOut{Consumer: store.ForAlerts, From: int64(i + 1), To: int64(i + 2), Revisions: seen}
		checkConflict(t, "not knowing a new "+kind, s.FanOut(patiently(t), f))
		seen[kind] = revision
		fanOut(t, s, f)
	}
	// A later revision of one kind says nothing of the others.
	putRecord(t, s, record("alert", "b", "1", 0), 4)
	putRecord(t, s, record("watchlist", "b", "1", 0), 5)
	seen["watchlist"] = 5
	f := store.FanOut{Consumer: store.ForAlerts, From: 3, To: 4, Revisions: seen}
	checkConflict(t, "not knowing an alert", s.FanOut(patiently(t), f))

	// Webhooks do not wait for alerts.
	fanOut(t, s, store.FanOut{From: 0, To: 1, Revisions: map[string]int64{"webhook": 1, "watchlist": 5}})
}

// testStories: a webhook has one delivery of a story, while it is pending and afterwards,
// due when the soonest of those that were fanned out is.
func testStories(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	fanAlerts(t, s,
		tell("a", 1, "x", "one", time.Hour),
		tell("a", 2, "y", "one", 10*time.Minute),
		tell("b", 1, "x", "two", time.Hour),
		tell("a", 3, "x", "three one", 30*time.Minute), // in the same call
	)
	checkStories(t, other, "a", `2 y pending together "one" 10`, `1 x pending together "one three" 30`)
	checkStories(t, other, "b", `1 x pending together "two" 60`)

	sooner := tell("a", 4, "x", "four", 20*time.Minute)
	sooner.Lane = "alone"
	fanAlerts(t, other, sooner, tell("a", 4, "y", "one", time.Hour))
	fanAlerts(t, other, tell("a", 5, "x", "five", 25*time.Minute))
	checkStories(t, s, "a", `2 y pending together "one" 10`, `1 x pending alone "one three four five" 20`)
	checkStories(t, s, "b", `1 x pending together "two" 60`)

	// A delivery that was attempted waits as long as its failure requires.
	settle(t, s, failed("a", 1, 40*time.Minute))
	fanAlerts(t, other, tell("a", 6, "x", "six", 0))
	checkStories(t, s, "a", `2 y pending together "one" 10`, `1 x pending alone "one three four five six" 40`)

	// One that was delivered, or died, is not sent again.
	settle(t, s, delivered("a", 1), died("a", 2))
	fanAlerts(t, other, tell("a", 7, "x", "seven", 0), tell("a", 7, "y", "seven", 0), tell("a", 8, "z", "eight", 0))
	checkStories(t, s, "a",
		`8 z pending together "eight" 0`, `2 y dead together "one"`, `1 x delivered alone "one three four five six"`)

	// It is, once the delivery is no longer stored, some days later.
	prune := func(want int) {
		t.Helper()
		if n, err := s.PruneDeliveries(patiently(t), later(), 9); err != nil || n != want {
			t.Errorf("PruneDeliveries = %d, %v, want %d", n, err, want)
		}
	}
	prune(0)
	old := time.Now().UTC().Add(-store.KeepStories - time.Minute)
	clockTest{t, s}.write(`UPDATE delivery SET done_at = $1 WHERE done_at IS NOT NULL`, old)
	prune(2)
	fanAlerts(t, other, tell("a", 9, "x", "nine", 0))
	checkStories(t, s, "a", `9 x pending together "nine" 0`, `8 z pending together "eight" 0`)

	// Deliveries without a story are of one change each.
	fanOut(t, s, store.FanOut{Deliveries: to("w", 1, 2)})
	checkDeliveries(t, s, "w", "2 pending 0/0", "1 pending 0/0")
}

// testWithdrawn: a delivery that is withdrawn is gone, so that its story can be told by
// another one, unless it has a new cause, was delivered, or is of another epoch.
func testWithdrawn(t *testing.T, e Engine) {
	s := e.fresh(t)()
	withdraw := func(seq int64, cause string) store.Result {
		return store.Result{
			Webhook:   "a",
			Seq:       seq,
			Withdrawn: true,
			Cause:     cause,
		}
	}
	for i, story := range []string{"x", "y", "z", "tried"} {
		fanAlerts(t, s, tell("a", int64(i+1), story, "one", 0))
	}
	fanAlerts(t, s, tell("a", 9, "y", "two", 0))
	settle(t, s, delivered("a", 3), failed("a", 4, time.Hour))
	foreign := withdraw(1, "one")
	foreign.Epoch = "another"
	if err := s.Settle(patiently(t), foreign); err != nil {
		t.Fatal(err)
	}
	settle(t, s, withdraw(2, "one"), withdraw(3, "one"), withdraw(4, "one"), withdraw(5, "one"))
	checkStories(t, s, "a", `3 z delivered together "one"`, `2 y pending together "one two" 0`, `1 x pending together "one" 0`)
	settle(t, s, withdraw(1, "one"))
	fanAlerts(t, s, tell("a", 4, "x", "three", 0), tell("a", 8, "z", "three", 0))
	checkStories(t, s, "a",
		`4 x pending together "three" 0`, `3 z delivered together "one"`, `2 y pending together "one two" 0`)
	checkDeliveries(t, s, "a", "4 pending 0/0", "3 delivered 1/1", "2 pending 0/0")
}

// testDueAtTime: deliveries that are due at a time of day are due at the same instant,
// whenever they were fanned out.
func testDueAtTime(t *testing.T, e Engine) {
	s := e.fresh(t)()
	at := later()
	daily := func(seq int64, story string) store.Delivery {
		d := tell("a", seq, story, "one", time.Until(at))
		d.At = at
		return d
	}
	fanAlerts(t, s, tell("a", 1, "x", "one", 2*time.Hour), tell("a", 2, "y", "one", 10*time.Minute), daily(3, "z"))
	fanAlerts(t, s, daily(4, "x"), daily(5, "y"), daily(6, "new"), tell("a", 7, "new", "one", 2*time.Hour), daily(7, "new"))
	due := map[int64]time.Time{}
	for _, d := range listDeliveries(t, s, store.DeliveryQuery{Webhook: "a", Limit: 100}) {
		due[d.Seq] = d.DueAt
	}
	if len(due) != 4 || !due[1].Equal(at) || !due[2].Before(at) || !due[3].Equal(at) || !due[6].Equal(at) {
		t.Errorf("the deliveries are due at %v, want all but 2 at %v", due, at)
	}
}

// testStoryRace fans out and settles the same stories at once, in two processes: no call
// fails, and each story has one delivery.
func testStoryRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	const rounds, channels, stories = 10, 4, 3
	epoch := ofEpoch(t, stores[0], delivered("a", 1))[0].Epoch
	var group errgroup.Group
	for i := range 4 {
		s := stores[i%len(stores)]
		group.Go(func() error {
			for round := range rounds {
				f := store.FanOut{Consumer: store.ForAlerts}
				var results []store.Result
				for c := range channels {
					for story := range stories {
						channel, seq := fmt.Sprint("channel ", (c+i)%channels), int64(1+story+round*stories)
						f.Deliveries = append(f.Deliveries, tell(channel, seq, fmt.Sprint(story), fmt.Sprint(i), time.Minute))
						r := failed(channel, int64(1+story), time.Minute)
						r.Epoch = epoch
						results = append(results, r)
					}
				}
				if i%2 == 1 {
					slices.Reverse(f.Deliveries)
					slices.Reverse(results)
				}
				if err := s.FanOut(ctx, f); err != nil {
					return err
				}
				if err := s.Settle(ctx, results...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for c := range channels {
		all := listDeliveries(t, stores[0], store.DeliveryQuery{Webhook: fmt.Sprint("channel ", c), Limit: 100})
		if len(all) != stories {
			t.Errorf("channel %d has %d deliveries, want %d", c, len(all), stories)
		}
		for _, d := range all {
			if len(d.Cause) != len("0 1 2 3") {
				t.Errorf("the causes of %s are %q", d.Story, d.Cause)
			}
		}
	}
}

// testClaimTogether: a delivery that waits is not claimed before it is due, unless another
// one of its lane is due that is claimed together.
func testClaimTogether(t *testing.T, e Engine) {
	s := e.fresh(t)()
	late := tell("a", 5, "late", "x", time.Hour)
	late.Lane = "another"
	fanAlerts(t, s,
		tell("a", 3, "3", "x", time.Hour),
		tell("a", 2, "2", "x", time.Hour),
		tell("a", 4, "4", "x", time.Hour),
		tell("b", 1, "1", "x", time.Hour),
		late,
	)
	c := claimOf("ana", "a", "b")
	c.Together = []string{lane, "a lane without deliveries"}
	checkClaim(t, s, c)
	now := tell("a", 6, "now", "x", 0)
	now.Lane = "another"
	fanAlerts(t, s, now)
	checkClaim(t, s, c, "a 6")
	fanAlerts(t, s, tell("a", 1, "1", "x", 0))
	checkClaim(t, s, claimOf("ana", "a", "b"), "a 1 6")
	checkClaim(t, s, c, "a 1 2 3 4 6")
	c.Each = 4
	checkClaim(t, s, c, "a 1 2 3 6")

	// One that was attempted waits for its next attempt.
	c.Each = 9
	c.Failing = true
	settle(t, s, failed("a", 3, time.Hour))
	checkClaim(t, s, c, "a 1 2 4 6")
	settle(t, s, failed("a", 1, time.Hour))
	checkClaim(t, s, c, "a 6")
}

// testCorrectWaits: the clock is set back by an hour. Of the deliveries that wait, the
// short waits begin again, and the longer ones end at the same time of day.
func testCorrectWaits(t *testing.T, e Engine) {
	c := clockTest{t, e.fresh(t)()}
	const day, week = 24 * time.Hour, 7 * 24 * time.Hour
	fanAlerts(t, c.s,
		tell("a", 1, "1", "x", 0),
		tell("a", 2, "2", "x", 5*time.Minute),
		tell("a", 3, "3", "x", week),
		tell("b", 1, "1", "x", week),
	)
	c.correct(0)
	c.checkWaits("a", 0, 5*time.Minute, week)
	ahead := later()
	c.write(`UPDATE delivery SET created_at = $1 WHERE webhook = 'a'`, ahead)
	c.write(`UPDATE delivery SET due_at = $1 WHERE webhook = 'a' AND seq = 1`, ahead)
	c.write(`UPDATE delivery SET due_at = $1 WHERE webhook = 'a' AND seq = 2`, ahead.Add(5*time.Minute))
	c.correct(1)
	c.correct(0)
	c.checkWaits("a", 0, 5*time.Minute, week)
	c.checkWaits("b", week)

	// The clock was ahead by a year.
	ahead = later().Add(365 * day)
	c.write(`UPDATE delivery SET created_at = $1 WHERE webhook = 'a' AND seq = 3`, ahead)
	c.write(`UPDATE delivery SET due_at = $1 WHERE webhook = 'a' AND seq = 3`, ahead.Add(day))
	c.correct(1)
	c.correct(0)
	c.checkWaits("a", 0, 5*time.Minute, day)
}
