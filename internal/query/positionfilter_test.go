package query_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

func TestLiveFilter(t *testing.T) {
	_, _, c := registers(t)
	s := c.Snapshot()
	set := disclosure.NewPositionSet
	for given, want := range map[string]disclosure.Filter{
		"":                                        {},
		"position=":                               {},
		"position=short":                          {Positions: set(disclosure.Short)},
		"position=dealing,+own_shares,dealing":    {Positions: set(disclosure.Dealing, disclosure.OwnShares)},
		"holder=+Fondo+Alfa+":                     {HeldBy: "Fondo Alfa"},
		"issuer=bvb&holder=elena":                 {Issuer: "A69000016", HeldBy: "elena"},
		"issuer=" + querytest.UnknownISIN:         {Issuer: querytest.UnknownLEI}, // the registers know it
		"min_percent=0.5":                         {MinPercent: "0.5"},
		"min_percent=100&position=holding":        {MinPercent: "100", Positions: set(disclosure.Holding)},
		"min_percent=3&position=dealing,short":    {MinPercent: "3", Positions: set(disclosure.Dealing, disclosure.Short)},
		"side=sell":                               {Side: disclosure.Sell},
		"side=other&min_amount=1&currency=USD":    {Side: disclosure.OtherSide, MinAmount: "1", Currency: "USD"},
		"position=dealing&min_amount=50000":       {Positions: set(disclosure.Dealing), MinAmount: "50000", Currency: "EUR"},
		"position=dealing&currency=EUR":           {Positions: set(disclosure.Dealing)},
		"market=SIBE&kind=company&position=short": {Market: "SIBE", Kind: disclosure.Company, Positions: set(disclosure.Short)},
		"sector=food&position=short":              {Sector: "food", SectorWords: true, Positions: set(disclosure.Short)},
		"sector=metalicas+basicas":                {Sector: "metalicas basicas"},
		"fact=capital&min_amount=5":               {Fact: disclosure.Capital, MinAmount: "5", Currency: "EUR"},
		"from=2026-01-01&position=short": {
			From:      day(t, "2026-01-01"),
			Positions: set(disclosure.Short),
		},
	} {
		p := query.ParseQuery(given)
		if got := p.LiveFilter(s); p.Err() != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", given, got, p.Err(), want)
		}
		body := query.NewFilterBody(want)
		again := query.NewParams(nil)
		if got := body.Read(again, s); again.Err() != nil || got != want {
			t.Errorf("%s: the body %+v is read as %+v, %v", given, body, got, again.Err())
		}
	}
	for given, want := range map[string]string{
		"position=Short":                                    "position must be some of short, holding, own_shares and dealing",
		"position=short,":                                   "position must be some of",
		"position=short&position=holding":                   "position may be given once only",
		"holder=-+.":                                        "holder does not have a word",
		"holder=" + strings.Repeat("x", 201):                "holder may have 200 bytes",
		"min_percent=-1":                                    "min_percent must be a percentage from 0 to 100",
		"min_percent=100.1":                                 "min_percent must be a percentage",
		"min_percent=0,5":                                   "min_percent must be a percentage",
		"min_percent=" + strings.Repeat("1", 41):            "min_percent may have 40 bytes",
		"side=Buy":                                          "side must be buy, sell or other",
		"min_amount=5":                                      "min_amount needs fact=buyback_programme, buyback_trades or capital, or position=dealing",
		"position=short&min_amount=5":                       "min_amount needs fact=",
		"position=short&currency=USD":                       "currency is the currency of min_amount",
		"side=buy&min_amount=x":                             "min_amount must be a number of units",
		"position=holding&side=buy":                         "side needs position=dealing",
		"position=holding&side=buy&min_amount=5":            "side needs position=dealing",
		"position=dealing&min_percent=5":                    "min_percent needs position=short, holding or own_shares",
		"min_percent=5&side=buy":                            "min_percent is for positions with a percentage, and side for dealings",
		"position=dealing,short&min_percent=5&min_amount=1": "and min_amount for dealings",
		"position=short&type=IP":                            "position selects only positions, and type only reports",
		"holder=a&search=dividendo":                         "holder selects only positions, and search only reports",
		"side=buy&fact=dividend":                            "side selects only positions, and fact only reports",
		"min_percent=1&category=Sobre+resultados":           "min_percent selects only positions, and category only reports",
	} {
		p := query.ParseQuery(given)
		p.LiveFilter(s)
		if err := p.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", given, err, want)
		}
	}
	// Names of natural persons are compared only within an issuer, which a listener who
	// waits for one should know.
	for given, want := range map[string]bool{
		"holder=alfa":             false,
		"holder=imaginarias+s.l.": false,
		"holder=elena":            true,
		"holder=nobody":           true,
		"holder=elena&issuer=bvb": false,
		"position=short":          false,
	} {
		p := query.ParseQuery(given)
		p.LiveFilter(s)
		warnings := strings.Join(p.Warnings(), " ")
		if got := strings.HasPrefix(warnings, "No legal person in the registers"); got != want || p.Err() != nil {
			t.Errorf("%s: the warnings are %q, %v", given, warnings, p.Err())
		}
	}
	// Lists of reports do not have these conditions.
	p := query.ParseQuery("position=short&holder=x&min_percent=x&side=x")
	if f := p.Filter(s); f != (disclosure.Filter{}) || p.Err() != nil {
		t.Errorf("a list has the filter %+v, %v", f, p.Err())
	}
}

func day(t *testing.T, s string) disclosure.Day {
	t.Helper()
	d, ok := disclosure.ParseDay(s)
	if !ok {
		t.Fatalf("%q is not a day", s)
	}
	return d
}

// A filter needs an event of what it selects. Selections from before there were positions
// stay valid.
func TestCheckSelection(t *testing.T) {
	short := disclosure.Filter{Positions: disclosure.NewPositionSet(disclosure.Short)}
	reports := disclosure.Filter{Type: disclosure.IP}
	neutral := disclosure.Filter{Issuer: "A69000016"}
	position := []disclosure.Event{disclosure.PositionWithdrawn}
	for _, c := range []struct {
		events []disclosure.Event
		filter disclosure.Filter
		want   string // "" if it is valid
	}{
		{nil, disclosure.Filter{}, ""},
		{nil, reports, ""},
		{nil, neutral, ""},
		{nil, short, "must have an event of positions, such as position.published"},
		{events.DefaultEvents, short, "must have an event of positions"},
		{events.AllEvents, short, ""},
		{events.AllEvents, reports, ""},
		{position, short, ""},
		{position, neutral, ""},
		{position, disclosure.Filter{}, ""},
		{position, reports, "must have an event of reports, such as report.published"},
		{[]disclosure.Event{disclosure.IssuerUpdated}, reports, ""},
		{[]disclosure.Event{disclosure.IssuerUpdated}, short, "must have an event of positions"},
		{[]disclosure.Event{disclosure.Published, disclosure.PositionUpdated}, reports, ""},
		{[]disclosure.Event{disclosure.Published, disclosure.PositionUpdated}, short, ""},
	} {
		p := query.NewParams(nil)
		p.CheckSelection(events.Selection{Events: c.events, Filter: c.filter})
		err := p.Err()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v of %+v: %v, want %q", c.events, c.filter, err, c.want)
		}
	}
}

// A preview counts the positions whose events the selection has, on their days.
func TestPreviewOfPositions(t *testing.T) {
	q, db, c := registers(t)
	today := disclosure.DayOf(time.Now())
	ago := func(days int) string { return (today - disclosure.Day(days)).String() }
	var b store.Batch
	b.Positions = append(b.Positions,
		querytest.Short(querytest.ISIN, "Fondo Imaginario Alfa LLP", ago(0), "0.8", disclosure.StateCurrent, 1),
		querytest.Short(querytest.UnknownISIN, "Fondo Imaginario Alfa LLP", ago(3), "0.5", disclosure.StateCurrent, 1),
		querytest.Short(querytest.ISIN, "Fondo Imaginario Alfa LLP", ago(31), "0.7", disclosure.StatePast, 1),
		querytest.Holding("2026009001", "RUIZ SALVATIERRA , ELENA", ago(3), "13", disclosure.StateCurrent),
		querytest.Dealing("2026009002", "Inversiones Imaginarias, S.L.", ago(29), disclosure.StateCurrent,
			querytest.Trade("Venta", disclosure.Sell, "20000", "2.7", "EUR")),
	)
	report := querytest.Report(disclosure.OIR, 49001, time.Now().UTC().Format(time.RFC3339))
	report.NIF = "A69000016"
	b.Reports = append(b.Reports, report)
	querytest.Append(t, db, c, b)
	s := c.Snapshot()
	kinds := disclosure.NewPositionSet
	for _, test := range []struct {
		events    []disclosure.Event
		filter    disclosure.Filter
		reports   int
		positions string // days ago, the newest first
	}{
		{nil, disclosure.Filter{}, 1, ""},
		{events.AllEvents, disclosure.Filter{}, 1, "0 3 3 29"},
		{events.AllEvents, disclosure.Filter{Issuer: "A69000016"}, 1, "0 3 29"},
		{events.AllEvents, disclosure.Filter{Type: disclosure.OIR}, 1, ""},
		{events.AllEvents, disclosure.Filter{Positions: kinds(disclosure.Short)}, 0, "0 3"},
		{events.AllEvents, disclosure.Filter{HeldBy: "elena"}, 0, ""},
		{events.AllEvents, disclosure.Filter{HeldBy: "elena", Issuer: "A69000016"}, 0, "3"},
		{events.AllEvents, disclosure.Filter{Sector: "food", SectorWords: true}, 1, "0 3 29"},
		{events.AllEvents, disclosure.Filter{Sector: "metal", SectorWords: true}, 0, ""},
		{events.AllEvents, disclosure.Filter{Side: disclosure.Sell}, 0, "29"},
		{events.AllEvents, disclosure.Filter{From: today - 5, To: today - 1}, 0, "3 3"},
		{[]disclosure.Event{disclosure.PositionUpdated}, disclosure.Filter{MinPercent: "0.6"}, 0, "0 3"},
		{[]disclosure.Event{disclosure.IssuerUpdated}, disclosure.Filter{}, 0, ""},
	} {
		got, err := q.Preview(t.Context(), s, events.Selection{Events: test.events, Filter: test.filter}, 30)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(test.positions)
		if got.Total != test.reports+len(want) || len(got.Samples) != got.Total || len(got.Reports) != test.reports {
			t.Errorf("%v of %+v: %d in all with %d samples and %d reports, want %d and %d", test.events, test.filter,
				got.Total, len(got.Samples), len(got.Reports), test.reports+len(want), test.reports)
		}
		var days []string
		for _, e := range got.Positions {
			days = append(days, e.Day().String())
		}
		for i := range want {
			want[i] = ago(map[string]int{"0": 0, "3": 3, "29": 29}[want[i]])
		}
		if !slices.Equal(days, want) {
			t.Errorf("%v of %+v: the days are %v, want %v", test.events, test.filter, days, want)
		}
		count := 0
		for _, d := range got.Days {
			count += d.Count
		}
		if count != got.Total || len(got.Days) != 30 {
			t.Errorf("%v of %+v: %d on %d days", test.events, test.filter, count, len(got.Days))
		}
	}
}
