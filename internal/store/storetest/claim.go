package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

// claimOf returns a claim of webhooks for an hour with high limits.
func claimOf(holder string, webhooks ...string) store.Claim {
	return store.Claim{
		Holder:    holder,
		Webhooks:  webhooks,
		Endpoints: 1000,
		Each:      1000,
		TTL:       time.Hour,
	}
}

// checkClaim claims and compares the result, each webhook written with its seqs.
func checkClaim(t *testing.T, s store.Store, c store.Claim, want ...string) {
	t.Helper()
	claimed, err := s.Claim(patiently(t), c)
	if err != nil {
		t.Fatalf("claiming: %v", err)
	}
	if diff := cmp.Diff(want, describeClaimed(claimed)); diff != "" {
		t.Errorf("%s claimed (-want +got):\n%s", c.Holder, diff)
	}
	for _, w := range claimed {
		for _, d := range w.Deliveries {
			if d.State != store.DeliveryPending || d.DueAt.IsZero() || d.Webhook != w.Webhook || d.Event != fmt.Sprintf("event %d", d.Seq) {
				t.Errorf("%s got %+v", c.Holder, d)
			}
		}
	}
}

func describeClaimed(claimed []store.Claimed) []string {
	var all []string
	for _, c := range claimed {
		var b strings.Builder
		b.WriteString(c.Webhook)
		for _, d := range c.Deliveries {
			fmt.Fprintf(&b, " %d", d.Seq)
		}
		all = append(all, b.String())
	}
	return all
}

// checkHeld renews webhooks, and checks which of them the holder has.
func checkHeld(t *testing.T, s store.Store, holder string, want ...string) {
	t.Helper()
	got, err := s.Renew(patiently(t), holder, time.Hour, "a", "b", "c", "d")
	if err != nil {
		t.Fatalf("renewing: %v", err)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s holds (-want +got):\n%s", holder, diff)
	}
}

func releaseWebhooks(t *testing.T, s store.Store, holder string, webhooks ...string) {
	t.Helper()
	if err := s.Release(patiently(t), holder, webhooks...); err != nil {
		t.Fatalf("releasing: %v", err)
	}
}

func testClaim(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	checkClaim(t, s, claimOf("ana", "a", "b"))
	checkClaim(t, s, claimOf("ana"))
	enqueue(t, s, to("c", 9)...)
	enqueue(t, s, to("a", 5, 3, 4, 1, 2)...)
	enqueue(t, s, to("b", 1)...)
	settle(t, s, failed("a", 2, time.Hour), delivered("a", 5), died("a", 3))
	enqueue(t, s, to("d", 4)...)
	settle(t, s, delivered("d", 4))
	settle(t, s, delivered("a", 5)) // so that it no longer fails

	// Only requested webhooks, only due deliveries, in order of seq, up to the limit.
	c := claimOf("ana", "a", "d", "unknown")
	c.Each = 1
	checkClaim(t, s, c, "a 1")
	c.Each = 9
	checkClaim(t, s, c, "a 1 4") // held by ana already, so it is given again
	checkHeld(t, s, "ana", "a")

	// A webhook is given to one holder only, and up to the requested number.
	c = claimOf("berta", "a", "b", "c", "d")
	c.Endpoints = 1
	checkClaim(t, other, c, "c 9")
	checkClaim(t, other, claimOf("carla", "a", "b", "c", "d"), "b 1")
	checkClaim(t, s, claimOf("dora", "a", "b", "c", "d"))
	checkHeld(t, s, "ana", "a")
	checkHeld(t, s, "berta", "c")
	checkHeld(t, s, "dora")

	// A released webhook can be claimed again, and only its holder can release it.
	releaseWebhooks(t, other, "ana", "a", "b", "c", "d")
	releaseWebhooks(t, other, "ana")
	checkHeld(t, s, "ana")
	checkClaim(t, s, claimOf("dora", "a", "b", "c", "d"), "a 1 4")
	settle(t, s, delivered("a", 1), delivered("a", 4))
	releaseWebhooks(t, s, "dora", "a")
	checkClaim(t, s, claimOf("ana", "a"))
	enqueue(t, s, to("a", 6)...)
	checkClaim(t, s, claimOf("ana", "a"), "a 6")
}

// testClaimFailing: webhooks whose last attempt failed are claimed separately.
func testClaimFailing(t *testing.T, e Engine) {
	s := e.fresh(t)()
	enqueue(t, s, to("a", 1, 2)...)
	enqueue(t, s, to("b", 1, 2)...)
	good, bad := claimOf("ana", "a", "b"), claimOf("ana", "a", "b")
	bad.Failing = true
	checkClaim(t, s, bad)
	checkClaim(t, s, good, "a 1 2", "b 1 2")
	settle(t, s, failed("a", 1, time.Hour))
	checkClaim(t, s, bad, "a 2")
	checkClaim(t, s, good, "b 1 2")
	settle(t, s, died("b", 1))
	checkClaim(t, s, good)
	checkClaim(t, s, bad, "a 2", "b 2")
	settle(t, s, delivered("a", 2))
	checkClaim(t, s, good) // nothing of a is due
	enqueue(t, s, to("a", 3)...)
	checkClaim(t, s, good, "a 3")
	checkClaim(t, s, bad, "b 2")
}

// testClaimIsFair: the webhook that has waited longest comes first, whatever its
// id and its number of deliveries.
func testClaimIsFair(t *testing.T, e Engine) {
	s := e.fresh(t)()
	for _, webhook := range []string{"c", "a", "d", "b"} {
		enqueue(t, s, to(webhook, 1)...)
		passed(t, time.Now())
	}
	enqueue(t, s, to("b", 2, 3, 4)...)
	enqueue(t, s, to("c", 1)...) // due again, and so behind the others
	var got []string
	for range 4 {
		c := claimOf(fmt.Sprintf("holder %d", len(got)), "a", "b", "c", "d")
		c.Endpoints = 1
		claimed, err := s.Claim(patiently(t), c)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, describeClaimed(claimed)...)
	}
	if diff := cmp.Diff([]string{"a 1", "d 1", "b 1 2 3 4", "c 1"}, got); diff != "" {
		t.Errorf("order of claims (-want +got):\n%s", diff)
	}
}

// testClaimTakeOver: an expired claim can be taken over by any holder, and the old
// holder's results are recorded all the same.
func testClaimTakeOver(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	ctx := patiently(t)
	enqueue(t, s, to("a", 1, 2)...)
	enqueue(t, s, to("b", 1)...)
	c := claimOf("ana", "a", "b")
	const ttl = 100 * time.Millisecond
	c.TTL = ttl
	start := time.Now()
	checkClaim(t, s, c, "a 1 2", "b 1")
	checkHeld(t, s, "ana", "a", "b")
	if held, err := s.Renew(ctx, "ana", ttl, "a", "unknown"); err != nil || !slices.Equal(held, []string{"a"}) {
		t.Errorf("Renew = %v, %v", held, err)
	}
	c.Holder, c.TTL = "berta", time.Hour
	for {
		claimed, err := other.Claim(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if len(claimed) > 0 {
			if diff := cmp.Diff([]string{"a 1 2"}, describeClaimed(claimed)); diff != "" || time.Since(start) < ttl {
				t.Errorf("after %v berta got (-want +got):\n%s", time.Since(start), diff)
			}
			break
		}
		waittest.Pace(ctx, time.Millisecond)
	}
	checkHeld(t, s, "ana", "b") // which was prolonged for an hour
	checkHeld(t, s, "berta", "a")
	releaseWebhooks(t, s, "ana", "a") // too late: ana no longer holds it
	checkHeld(t, s, "berta", "a")

	settle(t, s, delivered("a", 1))
	checkClaim(t, other, c, "a 2")
	settle(t, other, delivered("a", 2))
	settle(t, s, failed("a", 2, 0)) // ana's attempt, recorded late
	checkDeliveries(t, s, "a", "2 delivered 2/2", "1 delivered 1/1")

	// An expired claim can be renewed when no other holder took it.
	if _, err := s.Renew(ctx, "ana", -time.Hour, "b"); err != nil {
		t.Fatal(err)
	}
	checkHeld(t, s, "ana", "b")
	checkClaim(t, s, c)
}

// testClaimRace has many holders claim concurrently: no webhook is given to two
// holders, and all are given.
func testClaimRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	const n = 24
	var webhooks []string
	var all []store.Delivery
	for i := range n {
		webhooks = append(webhooks, fmt.Sprintf("webhook %d", i))
		all = append(all, to(webhooks[i], 1, 2)...)
	}
	enqueue(t, stores[0], all...)
	var group errgroup.Group
	got := make([][]string, 6)
	for i := range got {
		group.Go(func() error {
			left := slices.Clone(webhooks)
			for range n {
				claimed, err := stores[i%len(stores)].Claim(ctx, store.Claim{
					Holder:    fmt.Sprintf("holder %d", i),
					Webhooks:  left,
					Endpoints: 3,
					Each:      1,
					TTL:       time.Hour,
				})
				if err != nil {
					return err
				}
				for _, c := range claimed {
					got[i] = append(got[i], c.Webhook)
					left = slices.DeleteFunc(left, func(w string) bool { return w == c.Webhook })
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	given := slices.Concat(got...)
	slices.Sort(given)
	slices.Sort(webhooks)
	if diff := cmp.Diff(webhooks, given); diff != "" {
		t.Errorf("claimed deliveries (-want +got):\n%s", diff)
	}
}
