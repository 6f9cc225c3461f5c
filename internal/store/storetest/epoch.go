package storetest

import (
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

func headOf(t *testing.T, s store.Store) disclosure.Head {
	t.Helper()
	head, err := s.Head(patiently(t))
	if err != nil {
		t.Fatalf("reading the head: %v", err)
	}
	return head
}

func renew(t *testing.T, s store.Store, replaced string, shared ...disclosure.Cursor) disclosure.Head {
	t.Helper()
	head, err := s.RenewEpoch(patiently(t), replaced, disclosure.Mark{}, shared...)
	if err != nil {
		t.Fatalf("renewing the epoch: %v", err)
	}
	return head
}

// testEpoch: every log has an epoch of its own, which lasts until it is renewed.
func testEpoch(t *testing.T, e Engine) {
	open := e.fresh(t)
	s, other := open(), open()
	first := headOf(t, s)
	if c, ok := disclosure.ParseCursor(first.String()); !ok || c != first.Cursor || first.Epoch == "" || first.Seq != 0 || len(first.Past) != 0 {
		t.Errorf("the head of a new log is %+v", first)
	}
	if elsewhere := headOf(t, e.fresh(t)()); elsewhere.Epoch == first.Epoch {
		t.Errorf("two logs have the epoch %s", first.Epoch)
	}
	mustAppend(t, s, published(newReports(1, 5)...))
	if now := headOf(t, other); now.Epoch != first.Epoch || now.Seq != 5 {
		t.Errorf("the log grew, and its head is %+v", now)
	}

	log := CheckLog(t, s)
	kept, err := s.RenewEpoch(patiently(t), first.Epoch, log[4].Mark(), disclosure.Cursor{Epoch: first.Epoch, Seq: 3})
	if now := headOf(t, other); err != nil || kept.Cursor != now.Cursor || now.Epoch != first.Epoch || len(now.Past) != 0 {
		t.Errorf("renewed for a change that is there: %+v, %v, and the head is %+v", kept, err, now)
	}
	lost := log[4].Mark()
	lost.At++
	second, err := s.RenewEpoch(patiently(t), first.Epoch, lost)
	if err != nil || second.Epoch == first.Epoch || second.Seq != 5 || !slices.Equal(second.Past, []disclosure.Cursor{{Epoch: first.Epoch, Seq: 5}}) {
		t.Errorf("renewed, its head is %+v", second)
	}
	if again := renew(t, other, first.Epoch); again.Epoch != second.Epoch {
		t.Errorf("renewed twice, its head is %+v", again)
	}
	mustAppend(t, other, published(newReport(6, "Resultados")))
	third := renew(t, s, second.Epoch, disclosure.Cursor{Epoch: second.Epoch, Seq: 3}, disclosure.Cursor{Epoch: "lost", Seq: 99})
	want := []disclosure.Cursor{{Epoch: first.Epoch, Seq: 5}, {Epoch: second.Epoch, Seq: 3}, {Epoch: "lost", Seq: 6}}
	if !slices.Equal(third.Past, want) || third.Seq != 6 {
		t.Errorf("renewed again, its head is %+v", third)
	}
	checkLength(t, s, 6) // the log itself is unchanged
	reopened := headOf(t, open())
	current, err := s.Current(patiently(t), func(disclosure.Change) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range []disclosure.Head{reopened, current} {
		if head.Cursor != third.Cursor || !slices.Equal(head.Past, want) {
			t.Errorf("the head is %+v, want %+v", head, third)
		}
	}
}

// testEpochRace: of concurrent renewals of an epoch one succeeds.
func testEpochRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	stores := []store.Store{open(), open()}
	first := headOf(t, stores[0])
	ctx := patiently(t)
	var renewers errgroup.Group
	got := make([]disclosure.Head, 8)
	for i := range got {
		renewers.Go(func() (err error) {
			got[i], err = stores[i%len(stores)].RenewEpoch(ctx, first.Epoch, disclosure.Mark{})
			return err
		})
	}
	if err := renewers.Wait(); err != nil {
		t.Fatal(err)
	}
	now := headOf(t, stores[1])
	for _, head := range got {
		if head.Epoch != now.Epoch || head.Epoch == first.Epoch || len(head.Past) != 1 {
			t.Errorf("one renewal returned %+v, and the head is %+v", head, now)
		}
	}
}

// testEpochOfDeliveries: a delivery belongs to the epoch in which it was created.
// Calls that refer to another epoch have no effect on it.
func testEpochOfDeliveries(t *testing.T, e Engine) {
	s := e.fresh(t)()
	mustAppend(t, s, published(newReports(1, 4)...))
	first := headOf(t, s)
	log := CheckLog(t, s)
	fanOut(t, s, store.FanOut{
		From:       0,
		To:         2,
		Epoch:      first.Epoch,
		Seen:       log[3].Mark(),
		Deliveries: to("a", 1, 2),
	})
	second := renew(t, s, first.Epoch)

	late := store.FanOut{
		From:       2,
		To:         3,
		Epoch:      first.Epoch,
		Seen:       log[3].Mark(),
		Deliveries: to("a", 3),
	}
	if err := s.FanOut(patiently(t), late); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("handing out what was seen in another epoch: %v", err)
	}
	late.Epoch = second.Epoch
	for what, seen := range map[string]func(*disclosure.Mark){
		"shorter than it was":  func(m *disclosure.Mark) { m.Seq = 5 },
		"of other changes":     func(m *disclosure.Mark) { m.Subject = "oir-99" },
		"of changes later on":  func(m *disclosure.Mark) { m.At++ },
		"of changes of others": func(m *disclosure.Mark) { m.Event = disclosure.Backfilled },
	} {
		late.Seen = log[3].Mark()
		seen(&late.Seen)
		if err := s.FanOut(patiently(t), late); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("handing out a log that is %s: %v", what, err)
		}
	}
	checkFanned(t, s, 2)
	checkDeliveries(t, s, "a", "2 pending 0/0", "1 pending 0/0")
	late.Seen = log[3].Mark()
	fanOut(t, s, late)
	enqueue(t, s, to("a", 1, 4)...)

	epochs := func(deliveries []store.Delivery) map[int64]string {
		all := map[int64]string{}
		for _, d := range deliveries {
			all[d.Seq] = d.Epoch
		}
		return all
	}
	claimed, err := s.Claim(patiently(t), claimOf("ana", "a"))
	if err != nil || len(claimed) != 1 {
		t.Fatalf("%v, %v", claimed, err)
	}
	listed := []store.Delivery{}
	for _, d := range listDeliveries(t, s, store.DeliveryQuery{Webhook: "a", Limit: 9}) {
		listed = append(listed, d.Delivery)
	}
	for _, of := range []map[int64]string{epochs(claimed[0].Deliveries), epochs(listed)} {
		if len(of) != 4 || of[1] != first.Epoch || of[2] != first.Epoch || of[3] != second.Epoch || of[4] != second.Epoch {
			t.Errorf("the epochs are %v; first came %s, then %s", of, first.Epoch, second.Epoch)
		}
	}

	results := []store.Result{delivered("a", 2), delivered("a", 3)}
	results[0].Epoch, results[1].Epoch = first.Epoch, first.Epoch // the second was created again since
	if err := s.Settle(patiently(t), results...); err != nil {
		t.Fatal(err)
	}
	checkDeliveries(t, s, "a", "4 pending 0/0", "3 pending 0/0", "2 delivered 1/1", "1 pending 0/0")
}
