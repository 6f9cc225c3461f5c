package events_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/push/events"
	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

// lists are watchlists by id.
type lists map[string]*disclosure.Entries

func (l lists) Entries(id string) *disclosure.Entries { return l[id] }

// A selection with a watchlist selects what the list names when the event is compared.
func TestSelectionOfList(t *testing.T) {
	w := newTestHub(t)
	hashes := map[string]string{"dividendo": strings.Repeat("ab", 32), "canje": strings.Repeat("cd", 32)}
	for word, hash := range hashes {
		if err := w.db.PutDocument(t.Context(), store.Document{SHA256: hash, Head: "{}", Pages: []string{"El " + word}}); err != nil {
			t.Fatal(err)
		}
	}
	r := newReport(7)
	r.PublishedAt = time.Now().UTC().Truncate(time.Second)
	issuer := disclosure.Issuer{ID: "A69000016", Name: "EJEMPLAR FICTICIA, S.A.", Kind: disclosure.Company, Market: "SIBE"}
	w.append(store.Batch{Issuers: []disclosure.Issuer{issuer}})
	w.append(store.Batch{Reports: []disclosure.Report{r}})
	for _, word := range []string{"dividendo", "canje"} {
		r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: hashes[word], Link: "https://regulator.example/" + word}
		w.append(store.Batch{Aside: []disclosure.Report{r}})
	}
	w.append(store.Batch{Positions: []disclosure.Position{{
		ID:           "holding-2026000001",
		Kind:         disclosure.Holding,
		NIF:          "A-69000016",
		Name:         "CARTERA IMAGINARIA , S.L.",
		Number:       "2026000001",
		RegisteredOn: "2026-02-01",
		Percent:      "5",
	}}})
	changes, err := w.hub.After(t.Context(), disclosure.Cursor{Epoch: w.hub.Head().Epoch}, 10)
	if err != nil || len(changes) != 5 {
		t.Fatalf("got %d changes, %v; want 5", len(changes), err)
	}
	kinds := disclosure.NewPositionSet
	canje := disclosure.Filter{Search: "canje", InDocument: true}
	known := lists{}
	for _, test := range []struct {
		filter disclosure.Filter
		list   *disclosure.Entries
		want   string // seqs: 1 issuer, 2 to 4 report, 5 holding
	}{
		{disclosure.Filter{}, nil, ""}, // the list is gone
		{disclosure.Filter{}, &disclosure.Entries{}, ""},
		{disclosure.Filter{}, &disclosure.Entries{Issuers: []string{"A69000016"}}, "1 2 3 4 5"},
		{disclosure.Filter{}, &disclosure.Entries{Issuers: []string{"A99999999", "fi-1"}}, ""},
		{disclosure.Filter{Market: "sibe"}, &disclosure.Entries{Issuers: []string{"A69000016"}}, "1 2 3 4 5"},
		{disclosure.Filter{Market: "MAB"}, &disclosure.Entries{Issuers: []string{"A69000016"}}, ""},
		{disclosure.Filter{Type: disclosure.OIR}, &disclosure.Entries{Issuers: []string{"A69000016"}}, "2 3 4"},
		{disclosure.Filter{Positions: kinds(disclosure.Holding)}, &disclosure.Entries{Issuers: []string{"A69000016"}}, "5"},
		{disclosure.Filter{Positions: kinds(disclosure.Short)}, &disclosure.Entries{Issuers: []string{"A69000016"}}, ""},
		{disclosure.Filter{}, &disclosure.Entries{Filters: []disclosure.Filter{{Market: "SIBE"}}}, "1 2 3 4 5"},
		{disclosure.Filter{}, &disclosure.Entries{Filters: []disclosure.Filter{{Type: disclosure.OIR}}}, "2 3 4"},
		{disclosure.Filter{}, &disclosure.Entries{Filters: []disclosure.Filter{{MinPercent: "4"}, {Type: disclosure.IP}}}, "5"},
		{disclosure.Filter{}, &disclosure.Entries{Filters: []disclosure.Filter{canje}}, "4"},
		{disclosure.Filter{}, &disclosure.Entries{Filters: []disclosure.Filter{canje, {Search: "el", InDocument: true}}}, "3 4"},
		{disclosure.Filter{}, &disclosure.Entries{Filters: []disclosure.Filter{canje}, Issuers: []string{"A69000016"}}, "1 2 3 4 5"},
		{disclosure.Filter{Type: disclosure.IP}, &disclosure.Entries{Filters: []disclosure.Filter{canje}}, ""},
		{canje, &disclosure.Entries{Issuers: []string{"A69000016"}}, "4"},
		{canje, &disclosure.Entries{Issuers: []string{"B1"}}, ""},
		{canje, &disclosure.Entries{Filters: []disclosure.Filter{{Search: "dividendo", InDocument: true}}}, ""},
	} {
		test.filter.Watchlist = "wl_1"
		selector := events.Selection{Events: events.AllEvents, Filter: test.filter}.Compile(known)
		for _, revision := range []struct {
			list *disclosure.Entries
			want string
		}{
			{nil, ""},
			{test.list, test.want},
			{&disclosure.Entries{Issuers: []string{"B2"}}, ""}, // without compiling the selection again
			{test.list, test.want},
		} {
			known["wl_1"] = revision.list
			var got []string
			for _, e := range changes {
				matched, err := w.hub.Match(t.Context(), selector, e)
				if err != nil {
					t.Fatal(err)
				}
				if matched {
					got = append(got, fmt.Sprint(e.Seq))
				}
			}
			if strings.Join(got, " ") != revision.want {
				t.Errorf("%+v of %+v selects %v, want %s", test.filter, revision.list, got, revision.want)
			}
		}
	}
	// Without lists nothing is selected; entries alone, as previews have them, are used as they are.
	if (events.Selection{Filter: disclosure.Filter{Watchlist: "wl_1"}}).Compile(nil).Match(changes[1]) {
		t.Error("a watchlist selects without lists")
	}
	alone := disclosure.Filter{Entries: &disclosure.Entries{Issuers: []string{"A69000016"}}}
	if !(events.Selection{Filter: alone}).Compile(nil).Match(changes[1]) {
		t.Error("entries without a list select nothing")
	}
}

// Fifty alerts of a list cost what one does: it is compiled once, and compared once with a
// change and with its text. A list that nobody uses any more is forgotten.
func TestListIsShared(t *testing.T) {
	w := newTestHub(t)
	r := newReport(7)
	r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: strings.Repeat("ab", 32)}
	w.append(store.Batch{Reports: []disclosure.Report{r}})
	changes, err := w.hub.After(t.Context(), disclosure.Cursor{Epoch: w.hub.Head().Epoch}, 10)
	if err != nil || len(changes) == 0 {
		t.Fatalf("got %d changes, %v", len(changes), err)
	}
	e := changes[len(changes)-1]
	search := disclosure.Filter{Search: "canje", InDocument: true}
	known := lists{"wl_1": {Filters: []disclosure.Filter{search}}, "wl_2": {Filters: []disclosure.Filter{search}}}
	selector := func(id string) *events.Selector {
		return events.Selection{Events: events.AllEvents, Filter: disclosure.Filter{Watchlist: id}}.Compile(known)
	}
	one, same, other := selector("wl_1"), selector("wl_1"), selector("wl_2")
	content := document.NewContent([]string{"El canje"})
	if !events.SharesWork(one, same, e, content) {
		t.Error("two selectors of a list work twice")
	}
	if events.SharesWork(one, other, e, content) {
		t.Error("selectors of two lists have one compiled list")
	}
	without := document.NewContent([]string{"Nada"})
	if !same.MatchText(e, content) || same.MatchText(e, without) || !one.MatchText(e, content) {
		t.Error("what was compared with one text is said of another one")
	}
	runtime.KeepAlive([]*events.Selector{one, same, other})
	waittest.For(t, "lists that nobody uses are forgotten", func() bool {
		runtime.GC()
		return events.CompiledLists() == 0
	})
}
