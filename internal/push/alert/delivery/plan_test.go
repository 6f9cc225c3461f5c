package delivery_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/delivery"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/store"
)

// lagging is a store whose replica may not have the newest change yet.
type lagging struct {
	delivery.Store
	behind atomic.Bool
}

func (l *lagging) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	if len(seqs) > 1 && l.behind.Load() {
		seqs = seqs[:len(seqs)-1]
	}
	return l.Store.ChangesAt(ctx, seqs...)
}

// A message waits until the store has all of its changes.
func TestLaggingStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box, l := newWorld(t), &postbox{}, &lagging{}
		p := w.process(t, box, func(o *delivery.Options) {
			l.Store = o.Store
			o.Store = l
		})
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.Grouped, nil)
		l.behind.Store(true)
		w.publish(t, p.db, 3, withoutDocument)
		time.Sleep(6 * time.Minute)
		box.check(t, "")
		l.behind.Store(false)
		time.Sleep(time.Minute)
		box.check(t, "", "Report 1, Report 2, Report 3")
	})
}

// There is no message without events: of those of a claim, only one may be left that waits
// for its document.
func TestNoEmptyMessage(t *testing.T) {
	now := madrid(t, "2026-02-03 12:00 +01")
	c := &subscription.Channel{}
	c.Quiet = alert.Quiet{From: 12 * 60, To: 13 * 60}
	early := store.Delivery{
		Lane:      string(alert.AtOnce),
		Early:     true,
		CreatedAt: now,
		DueAt:     now.Add(5 * time.Second),
	}
	if got := delivery.New(delivery.Options{}).Plan(c, []store.Delivery{early}, now); len(got) != 0 {
		t.Errorf("got %d messages, want none", len(got))
	}
}

// The clock is set back while an account has all messages of the day, and while more
// events are expected: neither lasts longer than it would have.
func TestWaitsOfEarlierClock(t *testing.T) {
	s := delivery.New(delivery.Options{})
	c := &subscription.Channel{}
	c.ID = "channel"
	now := madrid(t, "2026-02-03 12:00 +01")
	burst := func(now time.Time) [][]store.Delivery {
		some := make([]store.Delivery, 6)
		for i := range some {
			some[i] = store.Delivery{
				Seq:       int64(i),
				Lane:      string(alert.AtOnce),
				CreatedAt: now,
				DueAt:     now,
			}
		}
		return s.Plan(c, some, now)
	}
	if len(burst(now)) != 0 || !s.Waits("ana", "channel", now.Add(9*time.Second)) {
		t.Error("a burst does not wait for more")
	}
	before := now.Add(-time.Hour)
	if s.Waits("ana", "channel", before) {
		t.Error("a burst lasts for more than an hour")
	}
	if len(burst(before)) != 0 || !s.Waits("ana", "channel", before.Add(9*time.Second)) || len(burst(before.Add(10*time.Second))) != 1 {
		t.Error("a burst after the clock was set back does not wait for ten seconds")
	}
	s.MarkFull("ana", madrid(t, "2026-02-04 00:00 +01"))
	if !s.Waits("ana", "", now) {
		t.Error("an account with all messages of the day gets more")
	}
	if s.Waits("ana", "", now.AddDate(0, -1, 0)) {
		t.Error("an account gets nothing for a month")
	}
}
