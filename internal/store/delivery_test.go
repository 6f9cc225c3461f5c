package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/store"
)

// TestPlanSettle: an attempt that was not recorded does not count, one that is
// given twice counts once, and a failure does not change a finished delivery.
func TestPlanSettle(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 4, 22, 12, 0, second, 0, time.UTC) }
	result := func(webhook string, seq int64, state store.DeliveryState, second int) store.Result {
		r := store.Result{Webhook: webhook, Seq: seq, State: state, Attempt: store.Attempt{At: at(second), Latency: time.Millisecond}}
		if state == store.DeliveryPending {
			r.Wait = time.Hour
		}
		return r
	}
	const pending, ok, dead = store.DeliveryPending, store.DeliveryDelivered, store.DeliveryDead
	results := []store.Result{
		result("b", 2, pending, 1),
		result("b", 1, ok, 2),
		result("b", 1, pending, 3),
		result("a", 7, ok, 4), // not noted
		result("b", 2, dead, 5),
		result("b", 2, dead, 5), // twice
		result("b", 2, pending, 6),
		result("c", 1, dead, 8),
		result("c", 1, ok, 7),
		result("d", 1, pending, 9),
		result("e", 1, dead, 10),
	}
	results[len(results)-1].Unsent = true
	noted := map[store.AttemptKey]bool{}
	for i := range results {
		if results[i].Webhook != "a" {
			noted[results[i].Key()] = true
		}
	}
	deliveries, webhooks := store.PlanSettle(results, noted)
	wantDeliveries := []store.Settled{
		{Webhook: "b", Seq: 1, Attempts: 2, State: ok, DoneAt: at(2).Add(time.Millisecond)},
		{Webhook: "b", Seq: 2, Attempts: 3, State: dead, DoneAt: at(5).Add(time.Millisecond)},
		{Webhook: "c", Seq: 1, Attempts: 2, State: ok, DoneAt: at(7).Add(time.Millisecond)},
		{Webhook: "d", Seq: 1, Attempts: 1, State: pending, Wait: time.Hour},
		{Webhook: "e", Seq: 1, Attempts: 1, State: dead, DoneAt: at(10).Add(time.Millisecond)},
	}
	if diff := cmp.Diff(wantDeliveries, deliveries); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	wantWebhooks := []store.Tried{
		{Webhook: "b", Succeeded: true, FailingSince: at(3), LastSuccessAt: at(2), LastFailureAt: at(6)},
		{Webhook: "c", Succeeded: true, LastSuccessAt: at(7), LastFailureAt: at(8)},
		{Webhook: "d", FailingSince: at(9), LastFailureAt: at(9)},
	}
	if diff := cmp.Diff(wantWebhooks, webhooks); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
}
