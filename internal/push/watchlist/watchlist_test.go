package watchlist_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/watchlist"
	"pregon/internal/store"
)

// A list is what its account wrote, in every process, also after a restart.
func TestKept(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	dividends := disclosure.Filter{Fact: disclosure.Dividend, Search: "dividendo", Widen: true}
	made, err := p.Create(t.Context(), ana, watchlist.Draft{
		Name:    "  Banks ",
		Issuers: []string{"a-08000143", "FI-1", "fi-1", "es0113900j37"},
		Filters: []watchlist.SavedSearch{
			{Name: " Dividends ", Filter: dividends},
			{Name: "again", Filter: dividends},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if made.Name != "Banks" || !slices.Equal(made.Issuers, []string{"A08000143", "fi-1", "ES0113900J37"}) {
		t.Errorf("%q %q", made.Name, made.Issuers)
	}
	if !slices.Equal(made.Filters, []watchlist.SavedSearch{{Name: "Dividends", Filter: dividends}}) || made.Len() != 4 {
		t.Errorf("%+v, %d entries", made.Filters, made.Len())
	}
	again, err := w.process(nil).Find(t.Context(), ana, made.ID)
	if err != nil || again.Name != made.Name || !slices.Equal(again.Issuers, made.Issuers) ||
		!slices.Equal(again.Filters, made.Filters) || !again.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("%+v, %v, want %+v", again, err, made)
	}
	if got := p.audit.String(); p.audit.count("watchlist.created") != 1 || !strings.Contains(got, "entries=4") {
		t.Error(got)
	}
}

// An account has 20 lists, and another one has its own.
func TestLimitOfLists(t *testing.T) {
	p := newWorld(t).process(nil)
	for i := range 19 {
		p.create(ana, fmt.Sprint(i+1))
	}
	p.create(ana, "20")
	_, err := p.Create(t.Context(), ana, watchlist.Draft{Name: "21"})
	wantKind(t, err, fault.Conflict, "The limit of 20 watchlists")
	p.create(luis, "1")
	lists, err := p.List(t.Context(), ana)
	if err != nil || len(lists) != 20 {
		t.Fatalf("%d lists, %v", len(lists), err)
	}
	if err := p.Delete(t.Context(), ana, lists[0].ID); err != nil {
		t.Fatal(err)
	}
	p.create(ana, "21")
}

// Processes that make lists at the same time do not exceed the limit.
func TestLimitOfListsAtOnce(t *testing.T) {
	w := newWorld(t)
	processes := []*process{w.process(nil), w.process(nil)}
	for i := range 18 {
		processes[0].create(ana, fmt.Sprint(i))
	}
	var group sync.WaitGroup
	for _, p := range processes {
		for range 4 {
			group.Go(func() { _, _ = p.Create(t.Context(), ana, watchlist.Draft{Name: "new"}) })
		}
	}
	group.Wait()
	if lists, err := w.process(nil).List(t.Context(), ana); err != nil || len(lists) > 20 {
		t.Errorf("%d lists, %v", len(lists), err)
	}
}

// A list has 500 entries, of which 50 may be saved searches.
func TestLimitOfEntries(t *testing.T) {
	p := newWorld(t).process(nil)
	all := issuers(501)
	l := p.create(ana, "large", all[:499]...)
	add := func(issuer string) error {
		_, err := p.Update(t.Context(), ana, l.ID, func(d *watchlist.Draft) error {
			d.Issuers = append(d.Issuers, issuer)
			return nil
		})
		return err
	}
	if err := add(all[499]); err != nil {
		t.Fatal(err)
	}
	wantKind(t, add(all[500]), fault.Invalid, "501 entries, and 500 are allowed")
	if err := add(all[7]); err != nil { // it has that one
		t.Error(err)
	}
	_, err := p.Create(t.Context(), ana, watchlist.Draft{Name: "too large", Issuers: all})
	wantKind(t, err, fault.Invalid, "501 entries")

	searches := make([]watchlist.SavedSearch, 51)
	for i := range searches {
		searches[i].Filter.Search = fmt.Sprint("word", i)
	}
	if _, err := p.Create(t.Context(), ana, watchlist.Draft{Name: "searches", Filters: searches[:50]}); err != nil {
		t.Error(err)
	}
	_, err = p.Create(t.Context(), ana, watchlist.Draft{Name: "searches", Filters: searches})
	wantKind(t, err, fault.Invalid, "51 saved searches, and 50 are allowed")
	_, err = p.Update(t.Context(), ana, l.ID, func(d *watchlist.Draft) error {
		d.Filters = searches[:1]
		return nil
	})
	wantKind(t, err, fault.Invalid, "501 entries") // issuers and searches together
}

// A list that is longer than the operator allows now can become shorter.
func TestLimitIsLowered(t *testing.T) {
	w := newWorld(t)
	l := w.process(nil).create(ana, "large", issuers(10)...)
	p := w.process(func(o *watchlist.Options) { o.MaxEntries = 5 })
	remove := func(d *watchlist.Draft) error {
		d.Issuers = d.Issuers[1:]
		return nil
	}
	if l, err := p.Update(t.Context(), ana, l.ID, remove); err != nil || l.Len() != 9 {
		t.Errorf("%d entries, %v", l.Len(), err)
	}
	_, err := p.Update(t.Context(), ana, l.ID, func(d *watchlist.Draft) error {
		d.Issuers = append(d.Issuers, "fi-11")
		return nil
	})
	wantKind(t, err, fault.Invalid, "10 entries, and 5 are allowed")
}

// The saved searches of an account are matched with every change: together they have a
// limit.
func TestLimitOfSearches(t *testing.T) {
	p := newWorld(t).process(nil)
	long := func(from int) (out []watchlist.SavedSearch) {
		for i := range 40 {
			f := disclosure.Filter{Search: strings.Repeat("x", 490) + fmt.Sprintf("%04d", from+i)}
			out = append(out, watchlist.SavedSearch{Filter: f})
		}
		return out
	}
	first, err := p.Create(t.Context(), ana, watchlist.Draft{Name: "first", Filters: long(0)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Create(t.Context(), ana, watchlist.Draft{Name: "second", Filters: long(40)})
	wantKind(t, err, fault.Invalid, "39520 characters, and 20000 are allowed")
	if _, err := p.Create(t.Context(), luis, watchlist.Draft{Name: "second", Filters: long(40)}); err != nil {
		t.Error(err)
	}
	if _, err := p.Update(t.Context(), ana, first.ID, func(d *watchlist.Draft) error {
		d.Name = "renamed"
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// What a draft may not have is named.
func TestChecks(t *testing.T) {
	p := newWorld(t).process(nil)
	for _, test := range []struct {
		draft watchlist.Draft
		want  string
	}{
		{watchlist.Draft{Name: " "}, "name: must say what the list is for."},
		{watchlist.Draft{Name: strings.Repeat("ñ", 101)}, "name: may have 100 characters at most."},
		{watchlist.Draft{Name: "a\nb"}, "name: must be plain text on one line."},
		{watchlist.Draft{Name: "\xff"}, "name: must be plain text on one line."},
		{watchlist.Draft{Name: "x", Issuers: []string{" "}}, "issuers: must be identifiers of issuers."},
		{watchlist.Draft{Name: "x", Issuers: []string{strings.Repeat("x", 201)}}, "issuers: may have 200 bytes each at most."},
		{draftOf(disclosure.Filter{}), "filters[0]: selects everything"},
		{draftOf(disclosure.Filter{Watchlist: "wl_1"}), "filters[0]: must not name a watchlist"},
		{draftOf(disclosure.Filter{Entries: &disclosure.Entries{}}), "filters[0]: must not name a watchlist"},
		{draftOf(disclosure.Filter{Search: strings.Repeat("x", 501)}), "filters[0]: has 501 characters"},
	} {
		_, err := p.Create(t.Context(), ana, test.draft)
		wantKind(t, err, fault.Invalid, test.want)
	}
	long := draftOf(disclosure.Filter{Search: "x"})
	long.Filters[0].Name = strings.Repeat("n", 101)
	_, err := p.Create(t.Context(), ana, long)
	wantKind(t, err, fault.Invalid, "filters[0].name: may have 100 characters")
	if got := p.names(ana); got != "" {
		t.Errorf("lists %q were made", got)
	}
}

func draftOf(f disclosure.Filter) watchlist.Draft {
	return watchlist.Draft{Name: "x", Filters: []watchlist.SavedSearch{{Filter: f}}}
}

// The list of another account is like one that does not exist.
func TestOfAnotherAccount(t *testing.T) {
	p := newWorld(t).process(nil)
	l := p.create(ana, "mine", "fi-1")
	same := func(what string, call func(by access.Reach, id string) error) {
		t.Helper()
		of, none := call(luis, l.ID), call(luis, "wl_nothing")
		wantKind(t, of, fault.NotFound, "You have no watchlist")
		if of == nil || none == nil || strings.ReplaceAll(of.Error(), l.ID, "wl_nothing") != none.Error() {
			t.Errorf("%s: %v, and %v for one that does not exist", what, of, none)
		}
	}
	ctx := t.Context()
	same("find", func(by access.Reach, id string) error { _, err := p.Find(ctx, by, id); return err })
	same("update", func(by access.Reach, id string) error {
		_, err := p.Update(ctx, by, id, func(*watchlist.Draft) error { return nil })
		return err
	})
	same("move", func(by access.Reach, id string) error { _, err := p.Move(ctx, by, id, 1); return err })
	same("share", func(by access.Reach, id string) error { _, err := p.Share(ctx, by, id); return err })
	same("end share", func(by access.Reach, id string) error { _, err := p.EndShare(ctx, by, id); return err })
	same("feed", func(by access.Reach, id string) error { _, err := p.RenewFeed(ctx, by, id); return err })
	same("end feed", func(by access.Reach, id string) error { _, err := p.EndFeed(ctx, by, id); return err })
	same("delete", func(by access.Reach, id string) error { return p.Delete(ctx, by, id) })
	same("resolve", func(by access.Reach, id string) error {
		_, _, err := p.Resolve(principal(by.Account()), id)
		return err
	})
	if got := p.names(luis); got != "" {
		t.Errorf("lists %q", got)
	}
	if p.Place(luis, l.ID) != 0 || p.Place(ana, l.ID) != 1 {
		t.Error("a list has a place among those of another account, or none among its own")
	}
}

// Lists keep the order that their account gives them.
func TestOrder(t *testing.T) {
	p := newWorld(t).process(nil)
	lists := map[string]watchlist.List{}
	for _, name := range []string{"a", "b", "c", "d"} {
		lists[name] = p.create(ana, name)
	}
	p.create(luis, "x")
	for _, test := range []struct {
		name  string
		place int
		want  string
	}{
		{"d", 1, "d a b c"},
		{"d", 1, "d a b c"},
		{"d", 99, "a b c d"},
		{"a", 2, "b a c d"},
		{"a", 2, "b a c d"},
		{"d", 3, "b a d c"},
		{"b", -1, "b a d c"},
	} {
		moved, err := p.Move(t.Context(), ana, lists[test.name].ID, test.place)
		if err != nil || moved.Name != test.name {
			t.Fatalf("%q, %v", moved.Name, err)
		}
		if got := p.names(ana); got != test.want {
			t.Fatalf("after %s to %d: %q, want %q", test.name, test.place, got, test.want)
		}
	}
	for i := range 40 { // between two neighbours there is room for 16 only
		name := []string{"c", "d"}[i%2]
		if _, err := p.Move(t.Context(), ana, lists[name].ID, 2); err != nil {
			t.Fatal(err)
		}
		if got := p.names(ana); strings.Fields(got)[1] != name || len(got) != len("a b c d") {
			t.Fatalf("%q after %s was moved to the second place", got, name)
		}
	}
	if got := p.names(luis); got != "x" {
		t.Errorf("lists of another account: %q", got)
	}
}

// Changes in two processes at the same time are both kept, and known to the other one
// after the next poll.
func TestTwoProcesses(t *testing.T) {
	w := newWorld(t)
	one, two := w.process(nil), w.process(nil)
	l := one.create(ana, "shared")
	two.refresh()
	before := two.Entries(l.ID)
	if before == nil || len(before.Issuers) != 0 {
		t.Fatalf("%+v", before)
	}
	var group sync.WaitGroup
	for i, p := range []*process{one, two} {
		for j := range 10 {
			group.Go(func() {
				_, err := p.Update(t.Context(), ana, l.ID, func(d *watchlist.Draft) error {
					d.Issuers = append(d.Issuers, fmt.Sprintf("fi-%d", 10*i+j))
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	for _, p := range []*process{one, two} {
		p.refresh()
		if got := p.Entries(l.ID); len(got.Issuers) != 20 || got != p.Entries(l.ID) {
			t.Errorf("%d issuers, want 20, the same in memory until they change", len(got.Issuers))
		}
	}
	if err := one.Delete(t.Context(), ana, l.ID); err != nil {
		t.Fatal(err)
	}
	if one.Entries(l.ID) != nil {
		t.Error("the process that deleted a list still knows it")
	}
	two.refresh()
	if two.Entries(l.ID) != nil {
		t.Error("another process still knows a deleted list")
	}
}

// While the store fails, nothing that is known gets lost, and no change is claimed.
func TestStoreFails(t *testing.T) {
	w := newWorld(t)
	db := &broken{Records: w.db}
	p := w.process(func(o *watchlist.Options) { o.Store = db })
	l := p.create(ana, "kept", "fi-1")
	rename := func(d *watchlist.Draft) error { d.Name = "changed"; return nil }

	db.writes = true
	if _, err := p.Create(t.Context(), ana, watchlist.Draft{Name: "new"}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if _, err := p.Update(t.Context(), ana, l.ID, rename); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := p.Delete(t.Context(), ana, l.ID); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := p.DropAccount(t.Context(), "key_ana"); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	db.writes = false
	if got := p.names(ana); got != "kept" {
		t.Errorf("lists %q", got)
	}

	db.reads = true
	if _, err := p.List(t.Context(), ana); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if _, entries, err := p.Resolve(principal("key_ana"), l.ID); err != nil || len(entries.Issuers) != 1 {
		t.Errorf("%+v, %v: a list that is known must be resolved", entries, err)
	}
}

// An account that ends takes its lists with it, and no others.
func TestDropAccount(t *testing.T) {
	p := newWorld(t).process(nil)
	l := p.create(ana, "a")
	p.create(ana, "b")
	p.create(luis, "c")
	for range 2 { // it may be repeated
		if err := p.DropAccount(t.Context(), "key_ana"); err != nil {
			t.Error(err)
		}
	}
	if p.names(ana) != "" || p.names(luis) != "c" || p.Entries(l.ID) != nil {
		t.Errorf("%q and %q are left", p.names(ana), p.names(luis))
	}
	if p.audit.count("watchlist.deleted") != 2 {
		t.Error(p.audit.String())
	}
}

// A record that cannot be read selects nothing, and does not keep others from being read.
func TestUnreadableRecords(t *testing.T) {
	w := newWorld(t)
	for _, r := range []store.Record{
		{Kind: "watchlist", ID: "wl_broken", Body: "{"},
		{Kind: "watchlist", ID: "wl_moved", Body: `{"id":"wl_other","owner":"key_ana"}`},
		{Kind: "watchlist", ID: "wl_good", Body: `{"id":"wl_good","owner":"key_ana","name":"good"}`},
	} {
		if _, err := store.PutRecord(t.Context(), w.db, r); err != nil {
			t.Fatal(err)
		}
	}
	p := w.process(nil)
	if got := p.names(ana); got != "good" || p.Entries("wl_broken") != nil || p.Entries("wl_moved") != nil {
		t.Errorf("lists %q", got)
	}
}
