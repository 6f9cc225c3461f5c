package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/delivery"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/store"
	"pregon/internal/store/relational"
	"pregon/internal/test/longtest"
)

// brittle is a store of a process that loses it.
type brittle struct {
	delivery.Store
	away     atomic.Bool // for everything that claims and settles
	settling atomic.Bool // only for results
}

var errAway = errors.New("the store does not answer")

func (b *brittle) Settle(ctx context.Context, results ...store.Result) error {
	if b.away.Load() || b.settling.Load() {
		return errAway
	}
	return b.Store.Settle(ctx, results...)
}

func (b *brittle) Claim(ctx context.Context, c store.Claim) ([]store.Claimed, error) {
	if b.away.Load() {
		return nil, errAway
	}
	return b.Store.Claim(ctx, c)
}

func (b *brittle) Renew(ctx context.Context, holder string, ttl time.Duration, ids ...string) ([]string, error) {
	if b.away.Load() {
		return nil, errAway
	}
	return b.Store.Renew(ctx, holder, ttl, ids...)
}

func (b *brittle) Release(ctx context.Context, holder string, ids ...string) error {
	if b.away.Load() || b.settling.Load() {
		return errAway
	}
	return b.Store.Release(ctx, holder, ids...)
}

// on makes a process use the store.
func (b *brittle) on(o *delivery.Options) {
	b.Store = o.Store
	o.Store = b
}

// A process is killed after it sent a message, before it stored that. The next one sends
// the same message once more, with the same id, and nothing else twice.
func TestKilledAfterSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box, b := newWorld(t), &postbox{}, &brittle{}
		p := w.process(t, box, b.on)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.Grouped, nil)
		w.publish(t, p.db, 3, withoutDocument)
		time.Sleep(6 * time.Minute)
		box.check(t, "", "Report 1, Report 2, Report 3")
		w.publish(t, p.db, 2, withoutDocument)
		time.Sleep(4 * time.Minute)
		b.settling.Store(true)
		time.Sleep(2 * time.Minute)
		box.check(t, "", "Report 1, Report 2, Report 3", "Report 4, Report 5")
		p.stop()
		w.process(t, box, nil)
		time.Sleep(time.Minute)
		box.check(t, "", "Report 1, Report 2, Report 3", "Report 4, Report 5", "Report 4, Report 5")
		if all := box.letters(""); all[0].id == all[1].id || all[1].id != all[2].id {
			t.Errorf("the ids are %s, %s and %s", all[0].id, all[1].id, all[2].id)
		}
	})
}

// A process is killed before it sends: the next one sends each message once.
func TestKilledBeforeSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box, b := newWorld(t), &postbox{}, &brittle{}
		p := w.process(t, box, b.on)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		w.publish(t, p.db, 2)
		time.Sleep(5 * time.Second)
		b.away.Store(true)
		p.stop()
		box.check(t, "")
		q := w.process(t, box, nil)
		w.publish(t, q.db, 1)
		time.Sleep(30 * time.Second)
		box.check(t, "", "Report 1", "Report 2", "Report 3")
	})
}

// A process that loses the store while it sends stops before another takes over.
func TestFailOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, b := newWorld(t), &brittle{}
		slow := &postbox{answer: func(ctx context.Context, _ string, _ int) channel.Outcome {
			select {
			case <-ctx.Done():
				return channel.Outcome{Error: "canceled"}
			case <-time.After(14 * time.Second):
				return channel.Outcome{OK: true}
			}
		}}
		p := w.process(t, slow, b.on)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(5 * time.Second)
		w.process(t, slow, nil)
		b.away.Store(true)
		time.Sleep(time.Minute)
		all := slow.letters("")
		slow.check(t, "", "Report 1 (failed)", "Report 1")
		if took := all[1].at.Sub(all[0].at); took > 15*time.Second {
			t.Errorf("the other process began after %v", took)
		}
		b.away.Store(false) // for the end of the test
	})
}

// A receiver that is busy gets nothing before the time that it asked for, and then all.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		busy := &postbox{answer: func(_ context.Context, _ string, n int) channel.Outcome {
			if n == 1 {
				return channel.Outcome{Status: 429, RetryAfter: 90 * time.Second, Error: "the answer was 429"}
			}
			return channel.Outcome{OK: true}
		}}
		p := w.process(t, busy, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(20 * time.Second)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(2 * time.Minute)
		busy.check(t, "", "Report 1 (failed)", "Report 1", "Report 2")
		all := busy.letters("")
		if took := all[1].at.Sub(all[0].at); took < 90*time.Second || took > 100*time.Second {
			t.Errorf("the second attempt was after %v", took)
		}
		if all[0].id != all[1].id {
			t.Errorf("the ids of one message are %s and %s", all[0].id, all[1].id)
		}
		if got := p.Stats(); got.Sent != 2 || got.Failed != 1 || got.Retried != 1 || got.Events != 2 {
			t.Errorf("got %+v", got)
		}
	})
}

// A message that did not get its turn is still due, and no attempt is counted, however
// often that happens.
func TestNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		box := &postbox{answer: func(_ context.Context, _ string, n int) channel.Outcome {
			return channel.Outcome{OK: n > 12, Untried: n <= 12, Error: "too many messages at once"}
		}}
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(6 * time.Minute)
		all := box.letters("")
		if len(all) != 13 || !all[12].ok {
			t.Errorf("got %d tries, want 12 without a turn and a message", len(all))
		}
		if got := p.Stats(); got.Sent != 1 || got.Failed != 0 || got.Dropped != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

// A group that failed stays together. Its next attempt takes what waits in its lane, and
// what failed less often is tried again sooner.
func TestFailedGroup(t *testing.T) {
	longtest.Skip(t, "it is hours of a clock that polls")
	if longtest.Race {
		t.Skip("the race detector makes it minutes")
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		down := &postbox{answer: func(_ context.Context, _ string, n int) channel.Outcome {
			return channel.Outcome{OK: n > 3, Error: "the server does not answer"}
		}}
		p := w.process(t, down, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.Grouped, nil)
		w.publish(t, p.db, 3, withoutDocument)
		time.Sleep(6 * time.Minute)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(10 * time.Minute)
		const group = "Report 1, Report 2, Report 3"
		down.check(t, "", group+" (failed)", group+" (failed)", "Report 1, Report 2, Report 3, Report 4 (failed)", "Report 4")
		time.Sleep(30 * time.Minute)
		down.check(t, "", group+" (failed)", group+" (failed)", "Report 1, Report 2, Report 3, Report 4 (failed)", "Report 4",
			group)
	})
}

// A channel whose receiver refuses messages is paused. What waits is sent when it is
// resumed, unless that takes too long; what waits for a channel that ends is dropped.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		refuses := true
		box := &postbox{answer: func(context.Context, string, int) channel.Outcome {
			return channel.Outcome{OK: !refuses, Permanent: refuses, Status: 550, Error: "no such mailbox"}
		}}
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(time.Minute)
		now, err := p.alerts.FindChannel(t.Context(), ana, c.ID)
		if err != nil || now.State != alert.Paused || now.Reason != "no such mailbox" {
			t.Fatalf("the channel is %+v, %v", now, err)
		}
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(time.Minute)
		box.check(t, "", "Report 1 (failed)")

		refuses = false
		resume := subscription.ChannelChange{Resume: true}
		if _, err := p.alerts.ChangeChannel(t.Context(), ana, c.ID, resume); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		box.check(t, "", "Report 1 (failed)", "Report 1", "Report 2")

		w.publish(t, p.db, 1)
		time.Sleep(2 * time.Second)
		if err := p.alerts.EndAddress(t.Context(), alert.Email, "ana@example.com"); err != nil {
			t.Fatal(err)
		}
		if err := p.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		left, err := p.db.Endpoints(t.Context(), c.ID)
		if err != nil || len(left) != 0 {
			t.Errorf("of the ended channel there is left %v, %v", left, err)
		}
		time.Sleep(time.Minute)
		box.check(t, "", "Report 1 (failed)", "Report 1", "Report 2")
	})
}

// Nothing is sent to an account that is gone, nor what waited for more than four days.
func TestGoneAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		w.gone.Store(ana.Account())
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(time.Minute)
		box.check(t, "")
		p.stop()
		base := p.db.(interface{ Relational() *relational.Base }).Relational()
		old := time.Now().Add(-97 * time.Hour).UTC()
		if err := base.Exec(t.Context(), `UPDATE delivery SET due_at = $1`, old); err != nil {
			t.Fatal(err)
		}
		w.publish(t, p.db, 1, withoutDocument)
		w.gone.Store("")
		q := w.process(t, box, nil)
		time.Sleep(time.Minute)
		box.check(t, "", "Report 2")
		if got := q.Stats(); got.Dropped != 1 {
			t.Errorf("got %+v, want one that was dropped", got)
		}
	})
}

// A receiver that hangs delays no other, of its account or of another one.
func TestSlowReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		box := &postbox{answer: func(ctx context.Context, to string, _ int) channel.Outcome {
			if to == "slow@example.com" {
				<-ctx.Done()
				return channel.Outcome{Error: "no answer"}
			}
			return channel.Outcome{OK: true}
		}}
		p := w.process(t, box, nil)
		for _, address := range []string{"slow@example.com", "ana@example.com"} {
			c := p.channel(t, ana, address)
			p.alert(t, ana, c.ID, alert.AtOnce, nil)
		}
		for range 5 {
			w.publish(t, p.db, 1, withoutDocument)
			time.Sleep(20 * time.Second)
		}
		box.check(t, "ana@example.com", "Report 1", "Report 2", "Report 3", "Report 4", "Report 5")
	})
}

// Many channels of a kind that is slow do not delay those of another.
func TestSlowKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		box := &postbox{answer: func(ctx context.Context, to string, _ int) channel.Outcome {
			if strings.HasPrefix(to, "slow") {
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute):
				}
			}
			return channel.Outcome{OK: true}
		}}
		p := w.process(t, box, nil)
		for n := range 80 {
			by := access.WholeAccount(fmt.Sprintf("https://id.example.com#%d", n))
			c := p.channel(t, by, fmt.Sprintf("slow%d@example.com", n))
			p.alert(t, by, c.ID, alert.AtOnce, nil)
		}
		c := p.channelOf(t, ana, alert.WebPush, "browser@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, func(d *subscription.AlertDraft) { d.Filter.Search = "2" })
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(5 * time.Second)
		if n := p.Stats().InFlight; n != 64 {
			t.Errorf("%d messages are being sent, want all slots of the slow kind taken", n)
		}
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(5 * time.Second)
		box.check(t, "browser@example.com", "Report 2")
	})
}

// After a backup was restored, what was due before is not sent, since it may have been.
// What was to come is.
func TestRestoredBackup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, func(d *subscription.AlertDraft) { d.Filter.Search = "1" })
		p.alert(t, ana, c.ID, alert.Daily, func(d *subscription.AlertDraft) { d.At = 60 + 20 }) // it is 01:00
		w.publish(t, p.db, 2)
		time.Sleep(2 * time.Second)
		p.stop() // the backup is of this moment
		time.Sleep(15 * time.Minute)
		head, err := p.db.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.db.RenewEpoch(t.Context(), head.Epoch, disclosure.Mark{}); err != nil {
			t.Fatal(err)
		}
		q := w.process(t, box, nil)
		time.Sleep(10 * time.Minute)
		box.check(t, "", "Report 2")

		// Reports since the backup are read again.
		published := func(ago time.Duration) func(*disclosure.Report) {
			return func(r *disclosure.Report) {
				r.Title = "Report 1"
				r.PublishedAt = time.Now().UTC().Truncate(time.Second).Add(-ago)
			}
		}
		first := w.publish(t, q.db, 1, published(20*time.Minute))
		update(t, q.db, first, readDocument)
		w.publish(t, q.db, 1, published(5*time.Minute), withoutDocument)
		time.Sleep(soon)
		box.check(t, "", "Report 2", "Report 1")
	})
}

// The clock is set back by an hour: what waited for its document is sent soon.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		w.publish(t, p.db, 1)
		time.Sleep(2 * time.Second)
		base := p.db.(interface{ Relational() *relational.Base }).Relational()
		ahead := time.Now().Add(time.Hour).UTC()
		if err := base.Exec(t.Context(), `UPDATE delivery SET created_at = $1`, ahead); err != nil {
			t.Fatal(err)
		}
		if err := base.Exec(t.Context(), `UPDATE delivery SET due_at = $1`, ahead.Add(8*time.Second)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		box.check(t, "", "Report 1")
	})
}

// What waits for a channel is removed when it has ended, and some days after it was paused.
func TestIsOver(t *testing.T) {
	now := time.Date(2026, 4, 22, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		state alert.State
		days  int
		want  bool
	}{
		"active":          {alert.Active, 100, false},
		"unconfirmed":     {alert.Unconfirmed, 100, false},
		"ended":           {alert.Ended, 0, true},
		"paused lately":   {alert.Paused, 7, false},
		"paused for long": {alert.Paused, 9, true},
	} {
		c := &subscription.Channel{Channel: alert.Channel{
			State: test.state,
			Since: now.AddDate(0, 0, -test.days),
		}}
		if got := delivery.IsOver(c, now); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
