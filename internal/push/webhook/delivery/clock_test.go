package delivery_test

import (
	"slices"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// TestClockSetBack: deliveries that were made, and that failed, before the clock was
// set back by an hour are sent at once, and each once.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t)
	p := w.idle(t, quick, nil)
	r := newReceiver(t, ok)
	hook, _ := create(t, p, r)
	last := w.publish(t, p.db, 3)
	ahead := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	for seq := hook.StartsAfter + 1; seq <= last; seq++ {
		d := store.Delivery{Webhook: hook.ID, Seq: seq, Event: string(disclosure.Published)}
		if err := p.db.Enqueue(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	head, err := p.db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	failed := store.Result{
		Webhook: hook.ID,
		Epoch:   head.Epoch,
		Seq:     last,
		Attempt: store.Attempt{At: time.Now(), Status: 500},
		State:   store.DeliveryPending,
	}
	if err := p.db.Settle(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	base := p.db.(interface{ Relational() *relational.Base }).Relational()
	for _, statement := range []string{
		`UPDATE delivery SET due_at = $1`,
		`UPDATE endpoint SET last_failure_at = $1`,
	} {
		if err := base.Exec(t.Context(), statement, ahead); err != nil {
			t.Fatal(err)
		}
	}

	p.run(t)
	all := settled(t, p, hook.ID, 3)
	ids := r.ids()
	slices.Sort(ids)
	if want := wanted(hook.ID, hook.StartsAfter, last); !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v, each once", ids, want)
	}
	for _, d := range all {
		if d.State != store.DeliveryDelivered || d.DoneAt.After(time.Now()) {
			t.Errorf("%+v", d)
		}
	}
}
