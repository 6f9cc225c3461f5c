package delivery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/push/watchlist"
	"pregon/internal/push/webhook"
)

// oneList is the only watchlist. It is gone while it is nil.
type oneList struct {
	atomic.Pointer[disclosure.Entries]
}

func (l *oneList) Entries(id string) *disclosure.Entries {
	if id != "wl_1" {
		return nil
	}
	return l.Load()
}

func (l *oneList) Revision() int64 { return 0 }

func (l *oneList) Refresh(context.Context) error { return nil }

// A list that another process has changed decides about the next change, although this
// process does not know it yet.
func TestWatchlistOfAnotherProcess(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var stale, other *watchlist.Registry
		p := w.process(t, quick, func(o *webhook.Options) {
			options := watchlist.Options{Store: o.Store, Sealer: testBox(t)}
			stale, other = watchlist.New(options), watchlist.New(options)
			o.Lists = stale
		})
		by := access.WholeAccount("ana")
		list, err := other.Create(t.Context(), by, watchlist.Draft{Name: "Mine", Issuers: []string{"A69000016"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := stale.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := newReceiver(t, ok)
		hook, _ := create(t, p, r, func(d *webhook.Draft) { d.Filter = disclosure.Filter{Watchlist: list.ID} })
		w.publish(t, p.db, 1)
		handedOut(t, p)
		_, err = other.Update(t.Context(), by, list.ID, func(d *watchlist.Draft) error {
			d.Issuers = []string{"A48010615"}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		seq := w.publish(t, p.db, 1)
		handedOut(t, p)
		settled(t, p, hook.ID, 1)
		if got, want := r.ids(), []string{fmt.Sprintf("%s.%d", hook.ID, seq)}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// A webhook has the id of a watchlist, and receives what the list names when a change is handed
// out: by issuers, by searches, and by searches in documents, which are compared later.
func TestWatchlist(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		list := &oneList{}
		p := w.process(t, quick, func(o *webhook.Options) { o.Lists = list })
		r := newReceiver(t, ok)
		hook, _ := create(t, p, r, func(d *webhook.Draft) { d.Filter = disclosure.Filter{Watchlist: "wl_1", Type: disclosure.OIR} })
		var want []string
		publish := func(e *disclosure.Entries, selected bool) {
			t.Helper()
			list.Store(e)
			seq := w.publish(t, p.db, 1, recent)
			if selected {
				want = append(want, fmt.Sprintf("%s.%d", hook.ID, seq))
			}
			handedOut(t, p)
		}
		search := func(f ...disclosure.Filter) *disclosure.Entries { return &disclosure.Entries{Filters: f} }
		publish(nil, false)
		publish(&disclosure.Entries{}, false)
		publish(&disclosure.Entries{Issuers: []string{"A48010615"}}, true)
		publish(&disclosure.Entries{Issuers: []string{"A69000016"}}, false)
		publish(search(disclosure.Filter{Search: "report"}), true)
		publish(search(disclosure.Filter{Type: disclosure.IP}), false)
		publish(search(disclosure.Filter{Search: "dividendo", InDocument: true}), false)
		first := read(t, p.db, w.next, "Portada", "El dividendo")
		want = append(want, fmt.Sprintf("%s.%d", hook.ID, first))
		handedOut(t, p)
		settled(t, p, hook.ID, len(want))
		publish(nil, false)
		read(t, p.db, w.next, "Portada", "Otro dividendo")
		handedOut(t, p)
		settled(t, p, hook.ID, len(want))
		if got := r.ids(); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		records, err := p.db.RecordsSince(t.Context(), "webhook", 0)
		if err != nil || len(records) != 1 || !strings.Contains(records[0].Body, `"watchlist":"wl_1"`) || strings.Contains(records[0].Body, "ntries") {
			t.Errorf("stored are %v, %v", records, err)
		}
		// A program that does not know watchlists reads a filter that selects nothing.
		var old events.FilterRecord
		if err := json.Unmarshal([]byte(records[0].Body), &old); err != nil || old != (events.FilterRecord{Issuer: "(watchlist)"}) {
			t.Errorf("an older program reads %+v, %v", old, err)
		}
	})
}
