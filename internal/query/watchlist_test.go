package query_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/search"
)

// lists are watchlists of the account "ana", by id or secret.
type lists map[string]*disclosure.Entries

func (l lists) Entries(id string) *disclosure.Entries { return l[id] }

func (l lists) NameOf(id string) (string, bool) { return "List " + id, true }

func (l lists) Resolve(by access.Principal, value string) (string, *disclosure.Entries, error) {
	secret := strings.HasPrefix(value, "wls_")
	id := "wl_" + strings.TrimPrefix(strings.TrimPrefix(value, "wls_"), "wl_")
	switch {
	case !secret && by.Mode == access.Anonymous:
		return "", nil, fault.New(fault.Unauthorized, "needs a key")
	case l[id] == nil, !secret && by.ID != "ana":
		return "", nil, fault.New(fault.NotFound, "there is no such list")
	case secret:
		return id + "~", l[id], nil
	}
	return id, l[id], nil
}

func TestWatchlist(t *testing.T) {
	q, _, c := registers(t)
	s := c.Snapshot()
	q.Watchlists = lists{
		"wl_issuer": {Issuers: []string{"A69000016"}},
		"wl_search": {Filters: []disclosure.Filter{
			{Type: disclosure.OIR},
			{Positions: disclosure.NewPositionSet(disclosure.Short), MinPercent: "1"},
		}},
		"wl_empty": {},
	}
	ana := access.Principal{Mode: access.ByKey, ID: "ana"}
	read := func(values string, by access.Principal) *query.Params { return q.ParseQuery(values).For(by) }
	reports := func(f disclosure.Filter) (ids []string) {
		found, err := s.Reports(t.Context(), f, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found.Reports {
			ids = append(ids, r.ID())
		}
		return ids
	}
	for _, test := range []struct{ values, same string }{
		{"watchlist=wl_issuer", "issuer=A69000016"},
		{"watchlist=+wl_issuer+", "issuer=A69000016"},
		{"watchlist=wls_issuer", "issuer=A69000016"},
		{"watchlist=wl_search", "type=OIR"},
		{"watchlist=wl_search&issuer=A69000016", "type=OIR&issuer=A69000016"},
		{"watchlist=", ""},
	} {
		p := read(test.values, ana)
		got := reports(p.List(s).Filter)
		if want := reports(query.ParseQuery(test.same).List(s).Filter); len(want) == 0 || !slices.Equal(got, want) || p.Err() != nil {
			t.Errorf("%s: got %v, %v, want %v", test.values, got, p.Err(), want)
		}
	}
	for values, want := range map[string]string{
		"watchlist=wl_issuer":                      "unauthorized needs a key",
		"watchlist=wls_other":                      "not found there is no such list",
		"watchlist=wl_issuer&watchlist=wls_issuer": "invalid watchlist may be given once only",
		"watchlist=wls_" + strings.Repeat("x", 99): "invalid watchlist must be the id of a watchlist, or the secret of a link",
		"watchlist=wls_other&limit=x":              "not found there is no such list",
	} {
		for name, ask := range map[string]func(*query.Params){
			"list":      func(p *query.Params) { p.List(s) },
			"live":      func(p *query.Params) { p.LiveFilter(s) },
			"facts":     func(p *query.Params) { p.FactList(s) },
			"calendar":  func(p *query.Params) { p.CalendarFeed(s, time.Now()) },
			"positions": func(p *query.Params) { p.PositionList(s, disclosure.Short) },
			"totals":    func(p *query.Params) { p.ShortTotals(s) },
		} {
			p := read(values, access.Principal{})
			ask(p)
			err := p.Err()
			if got := fmt.Sprint(fault.KindOf(err), " ", err); !strings.HasPrefix(got, want) || strings.Contains(got, "wls_") {
				t.Errorf("%s of %s: %s, want %s", name, values, got, want)
			}
		}
	}
	p := read("watchlist=wls_issuer", access.Principal{})
	if p.List(s); p.ListName() != "List wl_issuer~" {
		t.Errorf("the name of the list is %q", p.ListName())
	}
	p = query.ParseQuery("watchlist=wl_issuer")
	if p.List(s); p.Err() == nil || !strings.Contains(p.Err().Error(), "this service has no watchlists") {
		t.Errorf("without watchlists: %v", p.Err())
	}
	positions := func(values string, kind disclosure.PositionKind) (ids []string) {
		p := read(values, ana)
		found, err := q.Positions(t.Context(), s.Positions(), p.PositionList(s, kind))
		if err = cmp.Or(p.Err(), err); err != nil {
			t.Fatal(err)
		}
		for _, e := range found.Entries {
			ids = append(ids, e.ID())
		}
		return ids
	}
	const unknown = "short-es0sim000028-2026-03-05-1"
	if got, want := positions("watchlist=wl_issuer", disclosure.Short), positions("issuer=A69000016", disclosure.Short); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the list has the short positions %v, want %v", got, want)
	}
	if got := positions("watchlist=wl_search", disclosure.Short); !slices.Equal(got, []string{unknown}) {
		t.Errorf("the search has the short positions %v", got)
	}
	if got := positions("watchlist=wl_empty", disclosure.Short); got != nil {
		t.Errorf("an empty list has %v", got)
	}
	if got := positions("watchlist=wl_issuer&holder=elena", disclosure.Holding); got != nil {
		t.Errorf("a list finds a natural person: %v", got)
	}
	totals := q.ShortTotals(s.Positions(), read("watchlist=wl_issuer", ana).ShortTotals(s))
	if totals.Total != 1 || totals.Data[0].Percent != "1.2" {
		t.Errorf("the totals of the list are %+v", totals)
	}
	// What is stored has the id only, and no link.
	p = read("", ana)
	if f := (query.FilterBody{Watchlist: "wl_issuer", Type: "OIR"}).KeepFilter(p, s); p.Err() != nil || f != (disclosure.Filter{Watchlist: "wl_issuer", Type: disclosure.OIR}) {
		t.Errorf("stored is %+v, %v", f, p.Err())
	}
	p = read("", ana)
	if (query.FilterBody{Watchlist: "wls_issuer"}).KeepFilter(p, s); fault.KindOf(p.Err()) != fault.Invalid {
		t.Errorf("a link is stored: %v", p.Err())
	}
	// A preview has the present entries.
	selection := events.Selection{Events: events.AllEvents, Filter: read("watchlist=wl_search", ana).LiveFilter(s)}
	days := int(time.Since(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)).Hours() / 24)
	preview, err := q.Preview(t.Context(), s, selection, days)
	if err != nil || len(preview.Positions) != 1 || preview.Positions[0].ID() != unknown {
		t.Errorf("the preview is %+v, %v", preview, err)
	}
}

func TestNamesWatchlist(t *testing.T) {
	for raw, want := range map[string]bool{
		"":                             false,
		"search=watchlist":             false,
		"watchlist=":                   false,
		"watchlist=+":                  false,
		"watchlist=wl_1":               true,
		"a=%zz&watchlist=wl_1":         true,
		"%77atchlist=wl_1":             true,
		"watchlist=&watchlist=wl_1":    true,
		"issuer=%41":                   false,
		"type=OIR&watchlist=wls_0&x=1": true,
	} {
		if got := query.NamesWatchlist(raw); got != want {
			t.Errorf("%q names a watchlist: %v", raw, got)
		}
	}
}

// Lists of positions have what those who follow them receive.
func TestPositionsOfWatchlistAreFollowed(t *testing.T) {
	q, _, c := registers(t)
	s := c.Snapshot()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	pick := func(values ...string) string { return values[rng.IntN(len(values))] }
	filter := func() disclosure.Filter {
		var f disclosure.Filter
		for range 1 + rng.IntN(3) {
			switch rng.IntN(8) {
			case 0:
				f.Issuer = pick("A69000016", querytest.UnknownLEI, querytest.ISIN, "A69000016,"+querytest.UnknownISIN, "B1")
			case 1:
				f.Positions = disclosure.NewPositionSet(disclosure.PositionKinds[rng.IntN(4)], disclosure.PositionKinds[rng.IntN(4)])
			case 2:
				f.HeldBy = pick("elena", "alfa", "imaginaria", "beta ltd")
			case 3:
				f.MinPercent = pick("0.5", "1", "5")
			case 4:
				f.Side = disclosure.Sides[rng.IntN(len(disclosure.Sides))]
			case 5:
				f.From = disclosure.DayOf(time.Date(2026, 1, 1+rng.IntN(80), 12, 0, 0, 0, time.UTC))
			case 6:
				f.Sector, f.SectorWords = "food", true
			case 7:
				f.Type = disclosure.OIR
			}
		}
		return f
	}
	for range 300 {
		list := &disclosure.Entries{}
		for range rng.IntN(3) {
			list.Issuers = append(list.Issuers, disclosure.IssuerKey(pick("A69000016", querytest.UnknownISIN, "B1")))
		}
		for range rng.IntN(4) {
			list.Filters = append(list.Filters, filter())
		}
		q.Watchlists = lists{"wl_1": list}
		values := query.NewFilterBody(filter()).Values()
		for _, name := range []string{"type", "min_percent", "side"} { // may contradict others
			values.Del(name)
		}
		values.Set("watchlist", "wls_1")
		values.Set("limit", "50")
		p := q.NewParams(values)
		followed := p.LiveFilter(s)
		l := p.LivePositions(s)
		if p.Err() != nil {
			continue // a condition is not valid alone
		}
		found, err := q.Positions(t.Context(), s.Positions(), l)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, e := range found.Entries {
			got = append(got, e.ID())
		}
		matcher := search.Compile(followed)
		for _, kind := range disclosure.PositionKinds {
			for e := range s.Positions().All(kind) {
				if matcher.MatchPosition(s.Directory().AnalyzePosition(e.Decode())) {
					want = append(want, e.ID())
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: the list of %v and %+v has %v, and followed are %v", seed, values, list, got, want)
		}
	}
}
