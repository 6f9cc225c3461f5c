package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/store"
)

// tries makes the time of every attempt unique.
var tries atomic.Int64

// later is a time in the future, to the microsecond.
func later() time.Time { return time.Now().UTC().Truncate(time.Microsecond).Add(time.Hour) }

func attempt(status int) store.Attempt {
	at := time.Now().UTC().Truncate(time.Second).Add(time.Duration(tries.Add(1)) * time.Microsecond)
	return store.Attempt{
		At:      at,
		Status:  status,
		Latency: 1234 * time.Microsecond,
		Excerpt: "ok",
	}
}

func delivered(webhook string, seq int64) store.Result {
	return store.Result{
		Webhook: webhook,
		Seq:     seq,
		Attempt: attempt(204),
		State:   store.DeliveryDelivered,
	}
}

func failed(webhook string, seq int64, wait time.Duration) store.Result {
	return store.Result{
		Webhook: webhook,
		Seq:     seq,
		Attempt: attempt(500),
		State:   store.DeliveryPending,
		Wait:    wait,
	}
}

func died(webhook string, seq int64) store.Result {
	return store.Result{
		Webhook: webhook,
		Seq:     seq,
		Attempt: attempt(410),
		State:   store.DeliveryDead,
	}
}

// checkWait checks how long a delivery that failed a moment ago waits.
func checkWait(t *testing.T, d store.Delivery, want time.Duration) {
	t.Helper()
	if got := time.Until(d.DueAt); got > want || got < want-30*time.Second {
		t.Errorf("%s %d is due in %v, want %v", d.Webhook, d.Seq, got, want)
	}
}

func settle(t *testing.T, s store.Store, results ...store.Result) {
	t.Helper()
	if err := s.Settle(patiently(t), ofEpoch(t, s, results...)...); err != nil {
		t.Fatalf("settling: %v", err)
	}
}

// ofEpoch sets the epoch of results to the log's present epoch.
func ofEpoch(t *testing.T, s store.Store, results ...store.Result) []store.Result {
	t.Helper()
	epoch := headOf(t, s).Epoch
	for i := range results {
		results[i].Epoch = epoch
	}
	return results
}

func endpoints(t *testing.T, s store.Store, webhooks ...string) map[string]store.Endpoint {
	t.Helper()
	got, err := s.Endpoints(patiently(t), webhooks...)
	if err != nil {
		t.Fatalf("reading endpoints: %v", err)
	}
	return got
}

// checkEndpoints compares the endpoints of webhooks, without the times.
func checkEndpoints(t *testing.T, s store.Store, want map[string]string, webhooks ...string) {
	t.Helper()
	got := map[string]string{}
	for webhook, e := range endpoints(t, s, webhooks...) {
		got[webhook] = fmt.Sprintf("%d pending, %d dead", e.Pending, e.Dead)
		if !e.FailingSince.IsZero() {
			got[webhook] = "failing, " + got[webhook]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
}

func testSettle(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	settle(t, s)
	settle(t, s, delivered("unknown", 1))
	checkEndpoints(t, s, map[string]string{}, "unknown")
	checkEndpoints(t, s, map[string]string{})
	enqueue(t, s, slices.Concat(to("a", 1, 2, 3, 4), to("b", 1))...)
	checkEndpoints(t, s, map[string]string{"a": "4 pending, 0 dead"}, "a")

	ok := delivered("a", 1)
	again := failed("a", 2, time.Hour)
	dead := died("a", 3)
	elsewhere := failed("b", 1, 0)
	again.Attempt = store.Attempt{At: again.Attempt.At, Latency: 10 * time.Second, Error: "no answer"}
	settle(t, s, ok, again, dead, elsewhere, delivered("a", 99), delivered("gone", 1))
	checkDeliveries(t, other, "a", "4 pending 0/0", "3 dead 1/1", "2 pending 1/1", "1 delivered 1/1")
	checkDeliveries(t, other, "b", "1 pending 1/1")
	checkEndpoints(t, other, map[string]string{"a": "failing, 2 pending, 1 dead", "b": "failing, 1 pending, 0 dead"}, "a", "b", "gone")
	list := listDeliveries(t, other, store.DeliveryQuery{Webhook: "a", Before: 4, Limit: 9})
	for i, r := range []store.Result{dead, again, ok} {
		if diff := cmp.Diff([]store.Attempt{r.Attempt}, list[i].History); diff != "" {
			t.Errorf("the attempts at %d (-want +got):\n%s", r.Seq, diff)
		}
		if r.State == store.DeliveryPending {
			checkWait(t, list[i].Delivery, r.Wait)
		}
		if done := r.Attempt.At.Add(r.Attempt.Latency); r.State != store.DeliveryPending && !list[i].DoneAt.Equal(done) {
			t.Errorf("%d was done at %v, want %v", r.Seq, list[i].DoneAt, done)
		}
	}

	// Several attempts at one delivery, listed in order of time.
	first := failed("a", 4, 0)
	second := failed("a", 4, 0)
	third := delivered("a", 4)
	settle(t, s, third, first, second)
	checkDeliveries(t, s, "a", "4 delivered 3/3", "3 dead 1/1", "2 pending 1/1", "1 delivered 1/1")
	list = listDeliveries(t, s, store.DeliveryQuery{Webhook: "a", Limit: 1})
	if diff := cmp.Diff([]store.Attempt{first.Attempt, second.Attempt, third.Attempt}, list[0].History); diff != "" {
		t.Errorf("the attempts (-want +got):\n%s", diff)
	}

	// An attempt that is recorded twice counts once, even when its delivery was made
	// due again meanwhile.
	enqueue(t, s, to("a", 1)...)
	settle(t, s, ok, again, dead, elsewhere)
	lost := failed("a", 2, 0)
	settle(t, other, lost, lost, dead)
	checkDeliveries(t, s, "a", "4 delivered 3/3", "3 dead 1/1", "2 pending 2/2", "1 pending 0/1")
	checkClaim(t, s, store.Claim{
		Holder:    "ana",
		Webhooks:  []string{"a"},
		Failing:   true,
		Endpoints: 1,
		Each:      9,
		TTL:       time.Hour,
	}, "a 1 2")

	// A failure that is recorded late does not change a finished delivery; a success
	// does.
	settle(t, s, failed("a", 4, 0), failed("a", 3, 0), died("a", 4))
	checkDeliveries(t, s, "a", "4 delivered 5/5", "3 dead 2/2", "2 pending 2/2", "1 pending 0/1")
	settle(t, s, delivered("a", 3), failed("a", 2, 0))
	checkDeliveries(t, s, "a", "4 delivered 5/5", "3 delivered 3/3", "2 pending 3/3", "1 pending 0/1")
}

// testSettleOddTexts: answers with invalid text are stored.
func testSettleOddTexts(t *testing.T, e Engine) {
	s := e.fresh(t)()
	enqueue(t, s, to("a", 1)...)
	r := died("a", 1)
	r.Attempt.Error, r.Attempt.Excerpt = "<\"$1 ? \\' ñ\u2028>", "a\x00b\xffc"+strings.Repeat("x", 100_000)
	settle(t, s, r)
	settle(t, s, r)
	r.Attempt.Excerpt = "a\uFFFDb\uFFFDc" + strings.Repeat("x", 100_000)
	got := listDeliveries(t, s, store.DeliveryQuery{Webhook: "a", Limit: 9})
	if diff := cmp.Diff([]store.Attempt{r.Attempt}, got[0].History); diff != "" {
		t.Error(diff)
	}
}

// testEndpointTimes: a webhook fails from its first failure after a success.
func testEndpointTimes(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	enqueue(t, s, to("a", 1, 2, 3, 4)...)
	at := func(minute int) time.Time {
		if minute == 0 {
			return time.Time{}
		}
		return noon.Add(time.Duration(minute) * time.Minute)
	}
	ok := func(minute int) store.Result {
		r := delivered("a", 4)
		r.Attempt.At = at(minute)
		return r
	}
	bad := func(minute int) store.Result {
		r := failed("a", 1, 0)
		r.Attempt.At = at(minute)
		return r
	}
	for i, step := range []struct {
		results                 []store.Result
		since, success, failure int
	}{
		{nil, 0, 0, 0},
		{[]store.Result{bad(1)}, 1, 0, 1},
		{[]store.Result{bad(2), bad(3)}, 1, 0, 3},
		{[]store.Result{ok(4)}, 0, 4, 3},
		{[]store.Result{bad(5), ok(6)}, 0, 6, 5},
		{[]store.Result{ok(7), bad(8), bad(9)}, 8, 7, 9},
		{[]store.Result{bad(10), ok(11), bad(12)}, 12, 11, 12},
		{[]store.Result{ok(2), bad(4)}, 4, 11, 12}, // recorded late
		{[]store.Result{bad(4)}, 4, 11, 12},        // recorded twice
	} {
		settle(t, s, step.results...)
		want := store.Endpoint{
			FailingSince:  at(step.since),
			LastSuccessAt: at(step.success),
			LastFailureAt: at(step.failure),
			Pending:       4,
		}
		if i >= 3 {
			want.Pending = 3
		}
		if diff := cmp.Diff(map[string]store.Endpoint{"a": want}, endpoints(t, other, "a", "b")); diff != "" {
			t.Errorf("after step %d (-want +got):\n%s", i, diff)
		}
	}
}
