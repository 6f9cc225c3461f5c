package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

func checkSource(t *testing.T, s store.Store, want string) {
	t.Helper()
	if got, err := s.Source(patiently(t)); err != nil || got != want {
		t.Errorf("Source = %q, %v; want %q", got, err, want)
	}
}

func claim(t *testing.T, s store.Store, source string) string {
	t.Helper()
	got, err := s.ClaimSource(patiently(t), source)
	if err != nil {
		t.Fatalf("claiming: %v", err)
	}
	return got
}

func testSourceIsClaimedOnce(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	checkSource(t, s, "")
	for range 2 {
		if got := claim(t, s, "demo"); got != "demo" {
			t.Errorf("ClaimSource = %q, want demo", got)
		}
		if got := claim(t, other, "cnmv"); got != "demo" {
			t.Errorf("second ClaimSource = %q, want demo", got)
		}
	}
	checkSource(t, s, "demo")
	checkSource(t, other, "demo")
}

// testCreatedAt: a store keeps the time when it was created.
func testCreatedAt(t *testing.T, e Engine) {
	open := e.fresh(t)
	began := time.Now().Add(-time.Second) // it is kept in whole seconds
	s := open()
	at, err := s.CreatedAt(patiently(t))
	if err != nil || at.Before(began) || at.After(time.Now()) {
		t.Errorf("CreatedAt = %v, %v; want a time after %v", at, err, began)
	}
	if again, err := open().CreatedAt(patiently(t)); err != nil || !again.Equal(at) {
		t.Errorf("opened again, CreatedAt = %v, %v; want %v", again, err, at)
	}
}

func testSourceRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	ctx := patiently(t)
	var claimers errgroup.Group
	got := make([]string, 8)
	for i := range got {
		claimers.Go(func() (err error) {
			got[i], err = stores[i%len(stores)].ClaimSource(ctx, fmt.Sprintf("source %d", i))
			return err
		})
	}
	if err := claimers.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(slices.Compact(slices.Clone(got))) != 1 || !strings.HasPrefix(got[0], "source ") {
		t.Errorf("ClaimSource returned different sources: %q", got)
	}
	checkSource(t, stores[0], got[0])
}

func testReopenKeepsAll(t *testing.T, e Engine) {
	open := e.Fresh(t)
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, store.Batch{
		Issuers: []disclosure.Issuer{company("A1", "Uno")}, Reports: newReports(1, 10), New: disclosure.Backfilled,
	})
	claim(t, s, "demo")
	mustOverwrite(t, s, coverage("a", "1", 0), coverage("b", "2", 0))
	mustOverwrite(t, s, coverage("a", "", 0))
	putRecord(t, s, record("key", "a", "1", 0), 1)
	putRecord(t, s, record("key", "b", "2", 0), 2)
	putRecord(t, s, record("key", "a", "", 1), 3)
	checkOnce(t, s, "nonce", true)
	used := checkUse(t, s, "a", noon, noon)
	count := store.Count{
		Account:   "a",
		Day:       9,
		Operation: "b",
		N:         3,
	}
	addCounts(t, s, "batch", count)
	ana := acquire(t, s, "ana", time.Hour)
	fanOut(t, s, store.FanOut{From: 0, To: 9, Deliveries: to("a", 1, 2, 3)})
	settle(t, s, delivered("a", 1), failed("a", 2, time.Hour))
	checkClaim(t, s, store.Claim{
		Holder:    "ana",
		Webhooks:  []string{"a"},
		Failing:   true,
		Endpoints: 1,
		Each:      9,
		TTL:       time.Hour,
	}, "a 3")
	sent, known := listDeliveries(t, s, store.DeliveryQuery{Webhook: "a", Limit: 9}), endpoints(t, s, "a")
	log := checkLength(t, s, 11)
	closeStore(t, s)

	if s, err = open(); err != nil {
		t.Fatalf("opening again: %v", err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	if diff := cmp.Diff(log, CheckLog(t, s)); diff != "" {
		t.Errorf("the log is another (-before +after):\n%s", diff)
	}
	checkSource(t, s, "demo")
	checkCoverage(t, s, 0, coverage("b", "2", 2), coverage("a", "", 3))
	mustOverwrite(t, s, coverage("a", "4", 0))
	checkCoverage(t, s, 3, coverage("a", "4", 4))
	checkRecords(t, s, "key", 0, record("key", "b", "2", 2), record("key", "a", "", 3))
	putRecord(t, s, record("key", "a", "4", 3), 4)
	checkRecords(t, s, "key", 3, record("key", "a", "4", 4))
	checkOnce(t, s, "nonce", false)
	checkUses(t, s, map[string]store.Use{"a": used})
	addCounts(t, s, "batch", count) // it was added already
	checkCounts(t, s, "a", count)
	checkFanned(t, s, 9)
	checkHeld(t, s, "ana", "a")
	if diff := cmp.Diff(sent, listDeliveries(t, s, store.DeliveryQuery{Webhook: "a", Limit: 9})); diff != "" {
		t.Errorf("the deliveries are others (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(known, endpoints(t, s, "a")); diff != "" {
		t.Errorf("the endpoint is another (-before +after):\n%s", diff)
	}
	checkRefused(t, s, "berta")
	checkOutcome(t, mustAppend(t, s, under(ana, 11)), store.Outcome{Seq: 12, New: 1})
	checkLength(t, s, 12)
}

// testOpenAtOnce: several processes can open a new database concurrently.
func testOpenAtOnce(t *testing.T, e Engine) {
	open := e.Fresh(t)
	stores := make([]store.Store, 8)
	var openers errgroup.Group
	for i := range stores {
		openers.Go(func() error {
			s, err := open()
			if err == nil {
				stores[i] = s
			}
			return err
		})
	}
	err := openers.Wait()
	for _, s := range stores {
		if s != nil {
			t.Cleanup(func() { closeStore(t, s) })
		}
	}
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	for i, s := range stores {
		mustAppend(t, s, published(newReport(int64(i+1), "Resultados")))
	}
	checkLength(t, stores[0], len(stores))
}

func testNewerSchemaIsRefused(t *testing.T, e Engine) {
	open := e.Fresh(t)
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	e.Newer(t, s)
	closeStore(t, s)
	s, err = open()
	if err == nil {
		closeStore(t, s)
	}
	checkConflict(t, "opening what a newer program has changed", err)
	if err != nil && !strings.Contains(err.Error(), "use a newer pregon") {
		t.Errorf("the message does not say what to do: %v", err)
	}
}
