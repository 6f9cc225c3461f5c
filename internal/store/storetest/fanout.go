package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/fault"
	"pregon/internal/store"
)

func fanOut(t *testing.T, s store.Store, f store.FanOut) {
	t.Helper()
	if err := s.FanOut(patiently(t), f); err != nil {
		t.Fatalf("handing out: %v", err)
	}
}

func checkFanned(t *testing.T, s store.Store, want int64) {
	t.Helper()
	if got, err := s.Fanned(patiently(t), store.ForWebhooks); err != nil || got != want {
		t.Errorf("Fanned = %d, %v; want %d", got, err, want)
	}
}

func testFanOut(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	checkFanned(t, s, 0)
	mustAppend(t, s, published(newReports(1, 5)...))
	checkFanned(t, s, 0)

	fanOut(t, s, store.FanOut{From: 0, To: 2, Deliveries: slices.Concat(to("a", 1, 2), to("b", 2))})
	checkFanned(t, other, 2)
	checkDeliveries(t, other, "a", "2 pending 0/0", "1 pending 0/0")
	checkDeliveries(t, other, "b", "2 pending 0/0")
	checkDeliveries(t, other, "c")
	for _, from := range []int64{0, 1, 3} {
		err := other.FanOut(patiently(t), store.FanOut{From: from, To: 4, Deliveries: to("a", 3, 4)})
		checkConflict(t, "handing out from another seq", err)
	}
	checkFanned(t, s, 2)
	checkDeliveries(t, s, "a", "2 pending 0/0", "1 pending 0/0")

	// A fan-out without deliveries moves the seq too. Existing deliveries are left
	// alone.
	fanOut(t, other, store.FanOut{From: 2, To: 3})
	checkFanned(t, s, 3)
	settle(t, s, delivered("a", 2), failed("a", 1, time.Hour))
	enqueue(t, s, to("a", 5)...)
	fanOut(t, s, store.FanOut{From: 3, To: 5, Deliveries: slices.Concat(to("a", 1, 2, 4, 5, 4), to("b", 5))})
	checkDeliveries(t, s, "a", "5 pending 0/0", "4 pending 0/0", "2 delivered 1/1", "1 pending 1/1")
	checkDeliveries(t, s, "b", "5 pending 0/0", "2 pending 0/0")
	checkLength(t, s, 5)

	// One that does not move the seq adds the missing deliveries.
	fanOut(t, other, store.FanOut{From: 5, To: 5, Deliveries: to("b", 2, 3)})
	checkFanned(t, s, 5)
	checkDeliveries(t, s, "b", "5 pending 0/0", "3 pending 0/0", "2 pending 0/0")
}

// testFanOutKnowsWebhooks: FanOut fails unless the caller has seen the newest
// revision of all webhooks.
func testFanOutKnowsWebhooks(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	check := func(what string, revision int64) {
		t.Helper()
		err := other.FanOut(patiently(t), store.FanOut{
			From:       0,
			To:         1,
			Revisions:  map[string]int64{"webhook": revision},
			Deliveries: to("a", 1),
		})
		checkConflict(t, what, err)
		checkFanned(t, s, 0)
		checkDeliveries(t, s, "a")
	}
	putRecord(t, s, record("webhook", "a", "1", 0), 1)
	check("not knowing a new one", 0)
	putRecord(t, s, record("webhook", "a", "2", 1), 2)
	check("not knowing a change", 1)
	putRecord(t, s, record("webhook", "a", "", 2), 3)
	check("not knowing an end", 2)
	putRecord(t, s, record("key", "a", "1", 0), 4) // another kind
	fanOut(t, other, store.FanOut{
		From:       0,
		To:         1,
		Revisions:  map[string]int64{"webhook": 3},
		Deliveries: to("a", 1),
	})
	fanOut(t, other, store.FanOut{
		From:       1,
		To:         2,
		Revisions:  map[string]int64{"webhook": 99},
		Deliveries: to("a", 2),
	})
	checkDeliveries(t, s, "a", "2 pending 0/0", "1 pending 0/0")
	putRecord(t, s, record("watchlist", "a", "1", 0), 5) // of webhooks too
	f := store.FanOut{
		From:      2,
		To:        3,
		Revisions: map[string]int64{"webhook": 99, "watchlist": 4},
	}
	checkConflict(t, "not knowing a watchlist", other.FanOut(patiently(t), f))
	f.Revisions["watchlist"] = 5
	fanOut(t, other, f)
}

// testFanOutRace has many callers fan out the same change: one of them succeeds.
func testFanOutRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	const rounds = 5
	for round := range int64(rounds) {
		var group errgroup.Group
		var won atomic.Int32
		for i := range 6 {
			group.Go(func() error {
				f := store.FanOut{From: round, To: round + 1, Deliveries: to(fmt.Sprintf("%d", i), round+1)}
				err := stores[i%len(stores)].FanOut(ctx, f)
				if fault.KindOf(err) == fault.Conflict {
					return nil
				}
				won.Add(1)
				return err
			})
		}
		if err := group.Wait(); err != nil || won.Load() != 1 {
			t.Fatalf("%d handed the same out, %v", won.Load(), err)
		}
	}
	var n int
	for i := range 6 {
		n += len(listDeliveries(t, stores[0], store.DeliveryQuery{Webhook: fmt.Sprintf("%d", i), Limit: 100}))
	}
	if n != rounds {
		t.Errorf("there are %d deliveries, want %d", n, rounds)
	}
	checkFanned(t, stores[1], rounds)
}

// testFanOutMeetsNewWebhooks creates webhooks during fan-outs: a webhook gets every
// change after the value of Fanned at the time when it was created.
func testFanOutMeetsNewWebhooks(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	const makers, each = 2, 8
	var making, fanning errgroup.Group
	var made atomic.Bool
	var from [makers][each]int64
	for m := range makers {
		making.Go(func() error {
			for i := range each {
				s := stores[(m+i)%len(stores)]
				if _, err := store.PutRecord(ctx, s, record("webhook", fmt.Sprintf("%d of %d", i, m), "1", 0)); err != nil {
					return err
				}
				var err error
				if from[m][i], err = s.Fanned(ctx, store.ForWebhooks); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, s := range stores {
		fanning.Go(func() error {
			for !made.Load() {
				if err := fanToAll(ctx, s); err != nil && fault.KindOf(err) != fault.Conflict {
					return err
				}
			}
			return nil
		})
	}
	err := making.Wait()
	made.Store(true)
	if err := errors.Join(err, fanning.Wait(), fanToAll(ctx, stores[0])); err != nil {
		t.Fatal(err)
	}
	fanned, err := stores[0].Fanned(ctx, store.ForWebhooks)
	if err != nil {
		t.Fatal(err)
	}
	for m := range makers {
		for i := range each {
			webhook := fmt.Sprintf("%d of %d", i, m)
			var got int64
			for _, d := range listDeliveries(t, stores[0], store.DeliveryQuery{Webhook: webhook, Limit: 1_000_000}) {
				if d.Seq > from[m][i] {
					got++
				}
			}
			if want := fanned - from[m][i]; got != want || want == 0 {
				t.Errorf("%s was there at %d of %d, and got %d deliveries", webhook, from[m][i], fanned, got)
			}
		}
	}
}

// fanToAll fans one change out to all known webhooks.
func fanToAll(ctx context.Context, s store.Store) error {
	from, err := s.Fanned(ctx, store.ForWebhooks)
	if err != nil {
		return err
	}
	webhooks, err := s.RecordsSince(ctx, "webhook", 0)
	if err != nil {
		return err
	}
	f := store.FanOut{From: from, To: from + 1, Revisions: map[string]int64{}}
	for _, w := range webhooks {
		f.Deliveries = append(f.Deliveries, to(w.ID, f.To)...)
		f.Revisions[w.Kind] = w.Revision
	}
	return s.FanOut(ctx, f)
}
