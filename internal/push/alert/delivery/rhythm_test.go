package delivery_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/push/alert"
	"pregon/internal/push/alert/delivery"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/store"
)

// A report is sent once its document was read, with its facts, or after ten seconds. It is
// sent once, whatever changes later.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		p.alert(t, ana, c.ID, alert.AtOnce, nil) // of the same events
		start := time.Now()
		read := w.publish(t, p.db, 1)
		w.publish(t, p.db, 1)
		time.Sleep(3 * time.Second)
		box.check(t, "")
		update(t, p.db, read, readDocument)
		time.Sleep(3 * time.Second)
		box.check(t, "", "Report 1 with facts")
		time.Sleep(3 * time.Second)
		box.check(t, "", "Report 1 with facts")
		time.Sleep(3 * time.Second)
		box.check(t, "", "Report 1 with facts", "Report 2")
		if took := box.letters("")[1].at.Sub(start); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("the report without a document was sent after %v", took)
		}
		update(t, p.db, 2, readDocument)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(2 * time.Second)
		box.check(t, "", "Report 1 with facts", "Report 2", "Report 3")
	})
}

// A group opens with its first event, and closes five minutes later.
func TestGrouped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.Grouped, nil)
		w.publish(t, p.db, 1)
		time.Sleep(4 * time.Minute)
		w.publish(t, p.db, 2)
		box.check(t, "")
		time.Sleep(61 * time.Second)
		box.check(t, "", "Report 1, Report 2, Report 3")
		w.publish(t, p.db, 1)
		time.Sleep(4*time.Minute + 59*time.Second)
		box.check(t, "", "Report 1, Report 2, Report 3")
		time.Sleep(2 * time.Second)
		box.check(t, "", "Report 1, Report 2, Report 3", "Report 4")
	})
}

// 500 events at once are one message, in both rhythms.
func TestBurst(t *testing.T) {
	for _, rhythm := range []alert.Rhythm{alert.AtOnce, alert.Grouped} {
		synctest.Test(t, func(t *testing.T) {
			w, box := newWorld(t), &postbox{}
			p := w.process(t, box, nil)
			c := p.channel(t, ana, "ana@example.com")
			p.alert(t, ana, c.ID, rhythm, nil)
			for range 10 {
				w.publish(t, p.db, 25)
				w.publish(t, p.db, 25, withoutDocument)
			}
			for n := int64(1); n <= 40; n++ { // some documents are read meanwhile
				if n%50 < 25 {
					update(t, p.db, n, readDocument)
				}
			}
			time.Sleep(6 * time.Minute)
			all := box.letters("")
			if len(all) != 1 || len(all[0].titles) != 100 || all[0].more != 400 {
				t.Errorf("%s: got %d messages, want one of 500 events", rhythm, len(all))
			}
		})
	}
}

// slow is a store that takes longer with each fan-out.
type slow struct {
	delivery.Store
	calls atomic.Int64
}

func (s *slow) FanOut(ctx context.Context, f store.FanOut) error {
	select { // of a bubble of synctest
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(s.calls.Add(1)) * 500 * time.Millisecond):
	}
	return s.Store.FanOut(ctx, f)
}

// What is due at a time of day is one message, however long each event took to be stored.
func TestDailyIsOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is 01:00 in Madrid
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, func(o *delivery.Options) { o.Store = &slow{Store: o.Store} })
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.Daily, func(d *subscription.AlertDraft) { d.At = 1*60 + 2 })
		for range 3 {
			w.publish(t, p.db, 1, withoutDocument)
			time.Sleep(20 * time.Second)
		}
		time.Sleep(2 * time.Minute)
		box.check(t, "", "Report 1, Report 2, Report 3")
	})
}

// A channel with alerts of two rhythms gets each event once, by the sooner of the two.
func TestRhythmsOfOneChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		w.poll = 10 * time.Second
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.Daily, func(d *subscription.AlertDraft) { d.At = 1*60 + 20 })
		p.alert(t, ana, c.ID, alert.Grouped, func(d *subscription.AlertDraft) { d.Filter.Search = "2" })
		p.alert(t, ana, c.ID, alert.AtOnce, func(d *subscription.AlertDraft) { d.Filter.Search = "3" })
		w.publish(t, p.db, 4, withoutDocument) // at 01:00 in Madrid
		time.Sleep(time.Minute)
		box.check(t, "", "Report 3")
		time.Sleep(5 * time.Minute)
		box.check(t, "", "Report 3", "Report 2")
		time.Sleep(15 * time.Minute)
		box.check(t, "", "Report 3", "Report 2", "Report 1, Report 4")
		if at := box.letters("")[2].at; at.Hour() != 0 || at.Minute() != 20 { // UTC
			t.Errorf("the daily message was sent at %v", at)
		}
	})
}
