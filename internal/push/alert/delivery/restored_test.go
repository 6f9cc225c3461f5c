package delivery_test

import (
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/delivery"
	"pregon/internal/push/alert/subscription"
)

// restart starts a process on the log of one that ended, as after a restore.
func (w *world) restart(t *testing.T, p *process, box *postbox, change func(*delivery.Options)) *process {
	t.Helper()
	head, err := p.db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.db.RenewEpoch(t.Context(), head.Epoch, disclosure.Mark{}); err != nil {
		t.Fatal(err)
	}
	return w.process(t, box, change)
}

// What could not be sent before a restore is sent after it, however late: it was due in
// quiet hours, or while the channel was paused, or it is due since then.
func TestWaitedForRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is 01:00 in Madrid
		w, box := newWorld(t), &postbox{}
		w.poll = 5 * time.Second
		p := w.process(t, box, nil)
		quiet := alert.Quiet{From: 1*60 + 10, To: 2*60 + 10}
		add := func(address string, quiet alert.Quiet, rhythm alert.Rhythm, at alert.Minute) alert.Channel {
			t.Helper()
			by := access.WholeAccount("https://id.example.com#" + address)
			c := p.channel(t, by, address)
			if _, err := p.alerts.ChangeChannel(t.Context(), by, c.ID, subscription.ChannelChange{Quiet: &quiet}); err != nil {
				t.Fatal(err)
			}
			p.alert(t, by, c.ID, rhythm, func(d *subscription.AlertDraft) { d.At = at })
			return c
		}
		add("quiet@example.com", quiet, alert.Grouped, 0)
		add("later@example.com", quiet, alert.Daily, 1*60+45)
		add("early@example.com", alert.Quiet{From: 1*60 + 10, To: 1*60 + 20}, alert.Grouped, 0)
		paused := add("paused@example.com", alert.Quiet{}, alert.Grouped, 0)
		if _, err := p.alerts.PauseAddress(t.Context(), alert.Email, paused.Address, "no such mailbox"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(2 * time.Second)
		p.stop() // the backup is of this moment
		time.Sleep(29 * time.Minute)
		q := w.restart(t, p, box, nil)
		w.publish(t, q.db, 1, withoutDocument)
		time.Sleep(20 * time.Minute)
		by := access.WholeAccount(paused.Account)
		if _, err := q.alerts.ChangeChannel(t.Context(), by, paused.ID, subscription.ChannelChange{Resume: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Minute)
		box.check(t, "quiet@example.com", "Report 1, Report 2")
		box.check(t, "later@example.com", "Report 1, Report 2")
		box.check(t, "paused@example.com", "Report 1, Report 2")
		box.check(t, "early@example.com", "Report 2") // Report 1 may have been sent at 01:20
	})
}

// What was beyond the limit of a day before a restore is sent on the next day.
func TestLimitedBeforeRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(22*time.Hour + 20*time.Minute) // it is 23:20 in Madrid
		w, box := newWorld(t), &postbox{}
		w.poll = 5 * time.Second
		limit := func(o *delivery.Options) { o.Messages = 1 }
		p := w.process(t, box, limit)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		for range 2 {
			w.publish(t, p.db, 1, withoutDocument)
			time.Sleep(time.Minute)
		}
		box.check(t, "", "Report 1")
		p.stop()
		time.Sleep(20 * time.Minute)
		w.restart(t, p, box, limit)
		time.Sleep(30 * time.Minute)
		box.check(t, "", "Report 1", "Report 2")
	})
}
