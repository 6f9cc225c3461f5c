package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// to returns deliveries to one webhook.
func to(webhook string, seqs ...int64) []store.Delivery {
	var all []store.Delivery
	for _, seq := range seqs {
		all = append(all, store.Delivery{Webhook: webhook, Seq: seq, Event: fmt.Sprintf("event %d", seq)})
	}
	return all
}

func enqueue(t *testing.T, s store.Store, deliveries ...store.Delivery) {
	t.Helper()
	if err := s.Enqueue(patiently(t), deliveries...); err != nil {
		t.Fatalf("enqueueing: %v", err)
	}
}

func listDeliveries(t *testing.T, s store.Store, q store.DeliveryQuery) []store.Delivered {
	t.Helper()
	all, err := s.ListDeliveries(patiently(t), q)
	if err != nil {
		t.Fatalf("listing: %v", err)
	}
	return all
}

// checkDeliveries compares the newest deliveries of a webhook, each written as
// its seq, state and number of attempts, and how many attempts are listed.
func checkDeliveries(t *testing.T, s store.Store, webhook string, want ...string) {
	t.Helper()
	var got []string
	for _, d := range listDeliveries(t, s, store.DeliveryQuery{Webhook: webhook, Limit: 100}) {
		got = append(got, fmt.Sprintf("%d %s %d/%d", d.Seq, d.State, d.Attempts, len(d.History)))
		if (d.State == store.DeliveryPending) == d.DueAt.IsZero() || (d.State == store.DeliveryPending) != d.DoneAt.IsZero() {
			t.Errorf("what is %s is due at %v, done at %v", d.State, d.DueAt, d.DoneAt)
		}
		if d.Webhook != webhook || d.Event != fmt.Sprintf("event %d", d.Seq) || time.Since(d.CreatedAt).Abs() > patience {
			t.Errorf("a delivery to %s is %+v", webhook, d.Delivery)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the deliveries to %s (-want +got):\n%s", webhook, diff)
	}
}

func testEnqueue(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	enqueue(t, s)
	enqueue(t, s, slices.Concat(to("b", 7), to("a", 3, 1, 2, 4, 3))...)
	checkDeliveries(t, other, "a", "4 pending 0/0", "3 pending 0/0", "2 pending 0/0", "1 pending 0/0")
	settle(t, s, failed("a", 1, time.Hour), died("a", 3), delivered("a", 2))
	checkClaim(t, s, claimOf("ana", "a"), "a 4")
	before := listDeliveries(t, s, store.DeliveryQuery{Webhook: "a", Limit: 9})

	enqueue(t, other, to("a", 1, 2, 3, 5)...)
	checkDeliveries(t, s, "a", "5 pending 0/0", "4 pending 0/0", "3 pending 0/1", "2 pending 0/1", "1 pending 0/1")
	checkClaim(t, s, claimOf("ana", "a"), "a 1 2 3 4 5")
	after := listDeliveries(t, s, store.DeliveryQuery{Webhook: "a", Limit: 9, Before: 5})
	for i := range after {
		if !after[i].CreatedAt.Equal(before[i].CreatedAt) {
			t.Errorf("what was made at %v was now made at %v", before[i].CreatedAt, after[i].CreatedAt)
		}
	}
	settle(t, s, died("a", 1), delivered("a", 3))
	checkDeliveries(t, s, "a", "5 pending 0/0", "4 pending 0/0", "3 delivered 1/2", "2 pending 0/1", "1 dead 1/2")
	checkDeliveries(t, s, "b", "7 pending 0/0")
}

func testListDeliveries(t *testing.T, e Engine) {
	s := e.fresh(t)()
	var seqs []int64
	for seq := int64(1); seq <= 30; seq++ {
		seqs = append(seqs, seq)
	}
	enqueue(t, s, slices.Concat(to("a", seqs...), to("b", 2, 4))...)
	for seq := int64(1); seq <= 30; seq++ {
		switch seq % 3 {
		case 1:
			settle(t, s, delivered("a", seq))
		case 2:
			settle(t, s, died("a", seq))
		}
	}
	for _, state := range []store.DeliveryState{"", store.DeliveryPending, store.DeliveryDelivered, store.DeliveryDead} {
		var want, got []int64
		for _, seq := range slices.Backward(seqs) {
			if state == "" || state == []store.DeliveryState{store.DeliveryPending, store.DeliveryDelivered, store.DeliveryDead}[seq%3] {
				want = append(want, seq)
			}
		}
		q := store.DeliveryQuery{Webhook: "a", State: state, Limit: 4}
		for {
			page := listDeliveries(t, s, q)
			for _, d := range page {
				got = append(got, d.Seq)
				q.Before = d.Seq
			}
			if len(page) < q.Limit {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of the state %q (-want +got):\n%s", state, diff)
		}
	}
	if _, err := s.ListDeliveries(patiently(t), store.DeliveryQuery{Webhook: "a", State: "' OR true --", Limit: 4}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an unknown state: %v", err)
	}
}

// testDeliveriesOfOddNames: ids of webhooks are compared byte for byte.
func testDeliveriesOfOddNames(t *testing.T, e Engine) {
	s := e.fresh(t)()
	var all []store.Delivery
	for i, name := range oddNames {
		all = append(all, to(name, int64(i+1))...)
	}
	enqueue(t, s, all...)
	var results []store.Result
	for i, name := range oddNames {
		checkClaim(t, s, claimOf("ana", name), fmt.Sprintf("%s %d", name, i+1))
		results = append(results, delivered(name, int64(i+1)))
	}
	settle(t, s, results...)
	for i, name := range oddNames {
		checkDeliveries(t, s, name, fmt.Sprintf("%d delivered 1/1", i+1))
		drop(t, s, name)
		checkDeliveries(t, s, name)
	}
}

func drop(t *testing.T, s store.Store, webhook string) {
	t.Helper()
	if err := s.DropDeliveries(patiently(t), webhook); err != nil {
		t.Fatalf("dropping: %v", err)
	}
}

// testDropWhileHeld: dropped deliveries are deleted even while a holder has the
// webhook, and the holder's later results do not restore them.
func testDropWhileHeld(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	enqueue(t, s, slices.Concat(to("a", 1, 2), to("b", 1))...)
	settle(t, s, failed("a", 1, 0), failed("b", 1, 0))
	failing := claimOf("ana", "a", "b")
	failing.Failing = true
	checkClaim(t, s, failing, "a 1 2", "b 1")
	drop(t, other, "a")
	drop(t, other, "a")
	drop(t, other, "never was")
	checkDeliveries(t, s, "a")
	settle(t, s, delivered("a", 1), failed("a", 2, 0))
	checkDeliveries(t, s, "a")
	checkEndpoints(t, s, map[string]string{"b": "failing, 1 pending, 0 dead"}, "a", "b")
	checkHeld(t, s, "ana", "b")
	settle(t, s, failed("a", 1, 0), delivered("b", 1), failed("a", 2, 0)) // other attempts are recorded
	checkDeliveries(t, s, "b", "1 delivered 2/2")
	checkDeliveries(t, s, "a")

	// A new webhook with the same id starts without history.
	enqueue(t, s, to("a", 2)...)
	checkDeliveries(t, s, "a", "2 pending 0/0")
	checkClaim(t, other, claimOf("berta", "a", "b"), "a 2")
}

func testPruneDeliveries(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	prune := func(before time.Time, limit, want int) {
		t.Helper()
		if got, err := other.PruneDeliveries(patiently(t), before, limit); err != nil || got != want {
			t.Errorf("PruneDeliveries = %d, %v; want %d", got, err, want)
		}
	}
	prune(later(), 10, 0)
	enqueue(t, s, slices.Concat(to("a", 1, 2, 3, 4, 5), to("b", 3))...)
	at := func(r store.Result, minute int) store.Result {
		r.Attempt.At, r.Attempt.Latency = noon.Add(time.Duration(minute)*time.Minute), time.Second
		return r
	}
	settle(t, s, at(failed("a", 1, 0), 0), at(died("a", 1), 4), at(delivered("a", 2), 1), at(failed("a", 3, 0), 0), at(delivered("a", 5), 9))
	settle(t, s, at(delivered("b", 3), 2))
	prune(noon.Add(time.Minute+time.Second), 10, 0) // before, not at
	prune(noon.Add(5*time.Minute), 2, 2)            // the oldest
	checkDeliveries(t, s, "a", "5 delivered 1/1", "4 pending 0/0", "3 pending 1/1", "1 dead 2/2")
	checkDeliveries(t, s, "b")
	prune(noon.Add(5*time.Minute), 2, 1)
	prune(noon.Add(5*time.Minute), 2, 0)
	checkDeliveries(t, s, "a", "5 delivered 1/1", "4 pending 0/0", "3 pending 1/1")
	enqueue(t, s, to("a", 1, 5)...) // attempts were deleted with their deliveries only
	prune(later(), 10, 0)
	checkDeliveries(t, s, "a", "5 pending 0/1", "4 pending 0/0", "3 pending 1/1", "1 pending 0/0")
	checkEndpoints(t, s, map[string]string{"a": "4 pending, 0 dead", "b": "0 pending, 0 dead"}, "a", "b")
}

func testDeliveriesFailureBeforeCommit(t *testing.T, e Engine) {
	testDeliveriesFailure(t, e, false)
}

func testDeliveriesFailureAfterCommit(t *testing.T, e Engine) {
	testDeliveriesFailure(t, e, true)
}

// testDeliveriesFailure makes commits fail, one of each method. It leaves all or
// nothing, and repeating it is safe.
func testDeliveriesFailure(t *testing.T, e Engine, after bool) {
	open := e.fresh(t)
	s, other := open(), open()
	ctx := patiently(t)
	fanning := store.FanOut{From: 0, To: 2, Deliveries: to("a", 1, 2)}
	settling := ofEpoch(t, s, delivered("a", 2), failed("a", 1, 0))
	dying := ofEpoch(t, s, died("a", 2))[0]
	claiming := claimOf("ana", "a")
	claiming.Failing = true
	state := func() string {
		var b strings.Builder
		for _, d := range listDeliveries(t, other, store.DeliveryQuery{Webhook: "a", Limit: 9}) {
			fmt.Fprintf(&b, "%d %s %d/%d, ", d.Seq, d.State, d.Attempts, len(d.History))
		}
		held, err := other.Renew(ctx, "ana", time.Hour, "a")
		fanned, err2 := other.Fanned(ctx, store.ForWebhooks)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s%v%d", &b, held, fanned)
	}
	before := "[]0"
	for _, step := range []struct {
		name string
		do   func(context.Context) error
		want string
	}{
		{"FanOut", func(ctx context.Context) error {
			err := s.FanOut(ctx, fanning)
			if fault.KindOf(err) == fault.Conflict {
				return nil // the conflict means that it took effect already
			}
			return err
		}, "2 pending 0/0, 1 pending 0/0, []2"},
		{"Settle", func(ctx context.Context) error { return s.Settle(ctx, settling...) }, "2 delivered 1/1, 1 pending 1/1, []2"},
		{"Claim", func(ctx context.Context) error {
			got, err := s.Claim(ctx, claiming)
			if (err == nil) != (len(got) == 1) {
				t.Errorf("Claim = %v, %v", got, err)
			}
			return err
		}, "2 delivered 1/1, 1 pending 1/1, [a]2"},
		{"Enqueue", func(ctx context.Context) error { return s.Enqueue(ctx, to("a", 2, 3)...) }, "3 pending 0/0, 2 pending 0/1, 1 pending 1/1, [a]2"},
		{"Settle", func(ctx context.Context) error { return s.Settle(ctx, dying) }, "3 pending 0/0, 2 dead 1/2, 1 pending 1/1, [a]2"},
		{"PruneDeliveries", func(ctx context.Context) error {
			_, err := s.PruneDeliveries(ctx, later(), 9)
			return err
		}, "3 pending 0/0, 1 pending 1/1, [a]2"},
		{"DropDeliveries", func(ctx context.Context) error { return s.DropDeliveries(ctx, "a") }, "[]2"},
	} {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if err := step.do(gone); err == nil {
			t.Errorf("%s succeeded with a cancelled context", step.name)
		}
		e.FailCommit(s, after, errInjected)
		if err := step.do(ctx); !errors.Is(err, errInjected) {
			t.Fatalf("%s returned %v", step.name, err)
		}
		left := before
		if after {
			left = step.want
		}
		if got := state(); got != left {
			t.Errorf("a failed %s left %s, want %s", step.name, got, left)
		}
		if err := step.do(ctx); err != nil {
			t.Fatalf("%s again: %v", step.name, err)
		}
		if got := state(); got != step.want {
			t.Errorf("%s left %s, want %s", step.name, got, step.want)
		}
		before = step.want
	}
}
