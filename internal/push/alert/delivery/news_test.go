package delivery_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/delivery"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/queue"
	"pregon/internal/push/watchlist"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// soon is longer than a report waits for its document.
const soon = 15 * time.Second

// A report that an alert selects later, since facts are known then, is sent then. A
// correction of a report is sent too.
func TestStories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		facts, all := p.channel(t, ana, "facts@example.com"), p.channel(t, ana, "all@example.com")
		p.alert(t, ana, facts.ID, alert.AtOnce, func(d *subscription.AlertDraft) { d.Filter.Fact = disclosure.Dividend })
		p.alert(t, ana, all.ID, alert.AtOnce, nil)
		w.publish(t, p.db, 2)
		time.Sleep(soon)
		box.check(t, facts.Address)
		box.check(t, all.Address, "Report 1", "Report 2")
		update(t, p.db, 2, readDocument)
		time.Sleep(soon)
		box.check(t, facts.Address, "Report 2 with facts")
		update(t, p.db, 2, func(r *disclosure.Report) { r.Category = "Dividendos" })
		time.Sleep(soon)
		box.check(t, facts.Address, "Report 2 with facts")

		w.publish(t, p.db, 1, withoutDocument, func(r *disclosure.Report) {
			r.Related = []disclosure.Relation{{ID: "oir-2", Number: 2, Text: "Rectifica"}}
		})
		update(t, p.db, 2, func(r *disclosure.Report) { r.CorrectedBy = "oir-3" })
		time.Sleep(soon)
		box.check(t, facts.Address, "Report 2 with facts", "Report 2 with facts again")
		update(t, p.db, 2, func(r *disclosure.Report) { r.Category = "Otros" })
		time.Sleep(soon)
		box.check(t, facts.Address, "Report 2 with facts", "Report 2 with facts again")
	})
}

// History, updates of old reports, and what was published before an alert was made are not
// news.
func TestNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		w.publish(t, p.db, 2)
		time.Sleep(2 * time.Second)
		c := p.channel(t, ana, "ana@example.com")
		made := p.alert(t, ana, c.ID, alert.AtOnce, nil)
		update(t, p.db, 1, readDocument) // published before

		w.number++
		old := disclosure.Report{
			Type:        disclosure.OIR,
			Number:      w.number,
			CompanyName: "EMPRESA FICTICIA UNO, S.A.",
			Title:       fmt.Sprintf("Report %d", w.number),
			PublishedAt: time.Now().UTC().Truncate(time.Second).AddDate(-1, 0, 0),
		}
		appendAll(t, p.db, store.Batch{Reports: []disclosure.Report{old}, New: disclosure.Backfilled})
		time.Sleep(soon)
		update(t, p.db, 3, readDocument)
		time.Sleep(soon)
		box.check(t, "")

		// An alert that is disabled gets nothing, and what was waiting for it is dropped.
		enable := func(enabled bool) {
			t.Helper()
			_, err := p.alerts.ChangeAlert(t.Context(), ana, made, func(d *subscription.AlertDraft) error {
				d.Enabled = enabled
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		w.publish(t, p.db, 1)
		time.Sleep(2 * time.Second)
		enable(false)
		w.publish(t, p.db, 1)
		time.Sleep(soon)
		enable(true)
		w.publish(t, p.db, 1)
		time.Sleep(soon)
		box.check(t, "", "Report 6")
	})
}

// A report that was not sent, since its alert was deleted meanwhile, is sent when another
// alert selects it later.
func TestStoryOfDeletedAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		all := p.alert(t, ana, c.ID, alert.AtOnce, nil)
		p.alert(t, ana, c.ID, alert.AtOnce, func(d *subscription.AlertDraft) { d.Filter.Fact = disclosure.Dividend })
		w.publish(t, p.db, 2)
		time.Sleep(2 * time.Second)
		if err := p.alerts.DeleteAlert(t.Context(), ana, all); err != nil {
			t.Fatal(err)
		}
		time.Sleep(soon)
		box.check(t, "")
		if got := p.Stats(); got.Dropped != 2 {
			t.Errorf("got %+v, want two that were dropped", got)
		}
		update(t, p.db, 2, readDocument)
		time.Sleep(soon)
		box.check(t, "", "Report 2 with facts")
	})
}

// Nothing that was published long ago becomes news by an update.
func TestIsNews(t *testing.T) {
	if store.KeepStories <= queue.MaxDelay {
		t.Error("a report may be news after its delivery was removed, and be sent again")
	}
	now := time.Now()
	for _, test := range []struct {
		event      disclosure.Event
		age        time.Duration
		backfilled bool
		want       bool
	}{
		{disclosure.Published, 0, false, true},
		{disclosure.Published, 9 * 24 * time.Hour, false, true}, // it was missed
		{disclosure.Updated, 95 * time.Hour, false, true},
		{disclosure.Updated, 97 * time.Hour, false, false},
		{disclosure.Updated, time.Hour, true, false},
		{disclosure.Corrected, 1000 * time.Hour, true, true},
		{disclosure.Backfilled, 0, true, false},
	} {
		c := &disclosure.Change{
			Event:      test.event,
			OccurredAt: now,
			Report:     &disclosure.Report{AvailableAt: now.Add(-test.age), Backfilled: test.backfilled},
		}
		if got := delivery.IsNews(c); got != test.want {
			t.Errorf("%+v: got %t", test, got)
		}
	}
}

// A list counts as it is when an event happens, also if another process has changed it.
func TestWatchlist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		other := w.idle(t, box, nil)
		list, err := p.lists.Create(t.Context(), ana, watchlist.Draft{Name: "Mine", Issuers: []string{"B12345674"}})
		if err != nil {
			t.Fatal(err)
		}
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, func(d *subscription.AlertDraft) { d.Filter.Watchlist = list.ID })
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(soon)
		box.check(t, "")
		if err := other.lists.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err = other.lists.Update(t.Context(), ana, list.ID, func(d *watchlist.Draft) error {
			d.Issuers = append(d.Issuers, "A12345674")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		w.publish(t, p.db, 1, withoutDocument) // the first process has not polled yet
		time.Sleep(soon)
		box.check(t, "", "Report 2")
		if err := other.lists.Delete(t.Context(), ana, list.ID); err != nil {
			t.Fatal(err)
		}
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(soon)
		box.check(t, "", "Report 2")
	})
}

// Positions are sent if a filter or a saved search asks for them.
func TestPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		short := querytest.Short(querytest.ISIN, "Alfa LLP", "2026-02-02", "0.6", disclosure.StateCurrent, 1)
		holding := querytest.Holding("2026000101", "CARTERA IMAGINARIA, S.L.", "2026-02-02", "5", disclosure.StateCurrent)
		shorts := disclosure.Filter{Positions: disclosure.NewPositionSet(disclosure.Short)}
		list, err := p.lists.Create(t.Context(), ana, watchlist.Draft{
			Name:    "Mine",
			Issuers: []string{"A69000016"},
			Filters: []watchlist.SavedSearch{{Name: "Short", Filter: shorts}},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{}
		for address, filter := range map[string]disclosure.Filter{
			"none@example.com":     {},
			"shorts@example.com":   shorts,
			"percent@example.com":  {MinPercent: "0.5"},
			"list@example.com":     {Watchlist: list.ID},
			"of-list@example.com":  {Watchlist: list.ID, MinPercent: "0.5"},
			"searched@example.com": {Search: "alfa"},
		} {
			c := p.channel(t, ana, address)
			p.alert(t, ana, c.ID, alert.AtOnce, func(d *subscription.AlertDraft) { d.Filter = filter })
			want[address] = 0
		}
		enter := func(positions ...disclosure.Position) {
			t.Helper()
			if _, err := p.db.Append(t.Context(), store.Batch{Positions: positions}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(soon)
		}
		enter(short, holding)
		want["shorts@example.com"] = 1
		want["percent@example.com"] = 2
		want["list@example.com"] = 1    // the search asks for it, the issuers do not
		want["of-list@example.com"] = 2 // the filter asks for them
		for address, n := range want {
			if got := box.letters(address); len(got) != n {
				t.Errorf("%s got %v, want %d messages", address, got, n)
			}
		}
		short.IssuerName = "EMPRESA FICTICIA DOS, S.A."
		enter(short)
		if got := box.letters("shorts@example.com"); len(got) != 2 {
			t.Errorf("after an update: %v", got)
		}
	})
}

// A report that was sent before its receiver ended the channel is not sent again when the
// receiver has confirmed it once more.
func TestConfirmedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, box := newWorld(t), &postbox{}
		p := w.process(t, box, nil)
		c := p.channel(t, ana, "ana@example.com")
		p.alert(t, ana, c.ID, alert.AtOnce, nil)
		w.publish(t, p.db, 1)
		time.Sleep(soon)
		box.check(t, "", "Report 1")
		if err := p.alerts.End(t.Context(), c.EndToken); err != nil {
			t.Fatal(err)
		}
		if err := p.alerts.Allow(t.Context(), c.EndToken); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.alerts.AskToConfirm(t.Context(), ana, c.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(soon)
		if _, err := p.alerts.Confirm(t.Context(), p.asked.Code(t)); err != nil {
			t.Fatal(err)
		}
		update(t, p.db, 1, readDocument)
		w.publish(t, p.db, 1, withoutDocument)
		time.Sleep(soon)
		box.check(t, "", "Report 1", "Report 2")
	})
}
