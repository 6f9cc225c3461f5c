package disclosure_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pregon/internal/disclosure"
)

func newShort() disclosure.Position {
	return disclosure.Position{
		ID:      "short-es0100000001-2026-10-02-1",
		Kind:    disclosure.Short,
		Name:    "Atalaya Uno Capital LLP",
		ISIN:    "ES0100000001",
		Date:    "2026-10-02",
		Percent: "0.49",
		State:   disclosure.StateCurrent,
	}
}

func newReadDealing() disclosure.Position {
	p := newDealing()
	p.Natural = true
	p.DocumentStatus = disclosure.DocumentReady
	p.Trades = []disclosure.Trade{
		trade(disclosure.Buy, "1000", "8.5", "EUR"),
		trade(disclosure.Sell, "10", "8.5", "EUR"),
	}
	return p
}

func day(t *testing.T, s string) disclosure.Day {
	t.Helper()
	d, ok := disclosure.ParseDay(s)
	if !ok {
		t.Fatalf("%s is not a day", s)
	}
	return d
}

// A filter selects positions by its conditions on them, and none by a condition that only
// reports have.
func TestMatchPosition(t *testing.T) {
	holding := disclosure.Position{
		ID:           "holding-2026121404",
		Kind:         disclosure.Holding,
		Name:         "Inversiones Peñalara, S.L.",
		Number:       "2026121404",
		RegisteredOn: "2026-10-05",
		Percent:      "5.033",
	}
	own := disclosure.Position{
		ID:           "own-shares-2026121405",
		Kind:         disclosure.OwnShares,
		Number:       "2026121405",
		RegisteredOn: "2026-10-06",
		Percent:      "1.007",
	}
	unread := newDealing()
	unread.ID = "dealing-2026127007"
	unread.Natural = true
	erased := newDealing()
	erased.Name = ""
	erased.Natural = true
	erased.Erased = true
	all := map[string]disclosure.Position{
		"short":   newShort(),
		"holding": holding,
		"own":     own,
		"dealing": newReadDealing(),
		"unread":  unread,
		"erased":  erased,
	}
	every := []string{"short", "holding", "own", "dealing", "unread", "erased"}
	for name, test := range map[string]struct {
		filter disclosure.Filter
		want   []string
	}{
		"nothing":        {disclosure.Filter{}, every},
		"issuer":         {disclosure.Filter{Issuer: "A69000016", Kind: disclosure.Company, Market: "sibe"}, every},
		"securitisation": {disclosure.Filter{NoSecuritisation: true}, every},
		"routine":        {disclosure.Filter{NoRoutine: true}, every},
		"search":         {disclosure.Filter{Search: "atalaya"}, nil},
		"type":           {disclosure.Filter{Type: disclosure.OIR}, nil},
		"category":       {disclosure.Filter{Category: "x", Positions: disclosure.NewPositionSet(disclosure.Short)}, nil},
		"fact":           {disclosure.Filter{Fact: disclosure.Dividend}, nil},
		"amount of fact": {disclosure.Filter{Fact: disclosure.Capital, MinAmount: "1", Currency: "EUR"}, nil},
		"documents":      {disclosure.Filter{InDocument: true}, nil},
		"kind":           {disclosure.Filter{Positions: disclosure.NewPositionSet(disclosure.Short)}, []string{"short"}},
		"kinds": {
			disclosure.Filter{Positions: disclosure.NewPositionSet(disclosure.OwnShares, disclosure.Holding)},
			[]string{"holding", "own"},
		},
		"from":           {disclosure.Filter{From: day(t, "2026-10-05")}, []string{"holding", "own"}},
		"to":             {disclosure.Filter{To: day(t, "2026-09-25")}, []string{"dealing", "unread", "erased"}},
		"day":            {disclosure.Filter{From: day(t, "2026-10-02"), To: day(t, "2026-10-02")}, []string{"short"}},
		"legal name":     {disclosure.Filter{HeldBy: "PENALARA inversiones"}, []string{"holding"}},
		"part of a word": {disclosure.Filter{HeldBy: "Peña"}, nil},
		"two names":      {disclosure.Filter{HeldBy: "Peñalara Atalaya"}, nil},
		"natural name":   {disclosure.Filter{HeldBy: "Elena Ruiz"}, nil},
		"natural name of an issuer": {
			disclosure.Filter{HeldBy: "ruiz", Issuer: "A69000016"},
			[]string{"dealing", "unread"},
		},
		"percent":        {disclosure.Filter{MinPercent: "0.49"}, []string{"short", "holding", "own"}},
		"more percent":   {disclosure.Filter{MinPercent: "1.0071"}, []string{"holding"}},
		"no percent":     {disclosure.Filter{MinPercent: "0", Positions: disclosure.NewPositionSet(disclosure.Dealing)}, nil},
		"amount":         {disclosure.Filter{MinAmount: "8585", Currency: "EUR"}, []string{"dealing"}},
		"larger amount":  {disclosure.Filter{MinAmount: "8585.01", Currency: "EUR"}, nil},
		"currency":       {disclosure.Filter{MinAmount: "1", Currency: "USD"}, nil},
		"side":           {disclosure.Filter{Side: disclosure.Sell}, []string{"dealing"}},
		"other side":     {disclosure.Filter{Side: disclosure.OtherSide}, nil},
		"amount bought":  {disclosure.Filter{Side: disclosure.Buy, MinAmount: "8500", Currency: "EUR"}, []string{"dealing"}},
		"amount of side": {disclosure.Filter{Side: disclosure.Sell, MinAmount: "86", Currency: "EUR"}, nil},
	} {
		for _, of := range every {
			p := all[of]
			want := false
			for _, s := range test.want {
				want = want || s == of
			}
			if got := test.filter.MatchPosition(&p); got != want {
				t.Errorf("%s: %+v selects %s: %v, want %v", name, test.filter, of, got, want)
			}
		}
	}
}

// Each condition of a filter is known to apply to issuers and days, to reports only or to
// positions only. A condition that is new must be added here.
func TestConditionsOfFilters(t *testing.T) {
	both := map[string]bool{
		"Issuer": true, "From": true, "To": true, "Kind": true, "Market": true, "MarketWords": true,
		"Sector": true, "SectorWords": true, "NoSecuritisation": true, "NoRoutine": true, "Watchlist": true, "Entries": true,
	}
	positions := map[string]bool{
		"Positions": true, "HeldBy": true, "MinPercent": true, "Side": true, "MinAmount": true, "Currency": true,
	}
	for field := range reflect.TypeFor[disclosure.Filter]().Fields() {
		f := disclosure.Filter{}
		v := reflect.ValueOf(&f).Elem().FieldByName(field.Name)
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Uint8:
			v.SetUint(1)
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		default:
			v.SetInt(1)
		}
		forReports := !both[field.Name] && !positions[field.Name]
		if f.ForReports() != forReports || f.ForPositions() != positions[field.Name] {
			t.Errorf("%s: for reports %v, for positions %v; want %v, %v",
				field.Name, f.ForReports(), f.ForPositions(), forReports, positions[field.Name])
		}
	}
	f := disclosure.Filter{Fact: disclosure.Capital, MinAmount: "1", Currency: "EUR"}
	if !f.ForReports() || f.ForPositions() {
		t.Error("an amount of facts is not a condition on reports only")
	}
}

func TestPositionSet(t *testing.T) {
	for list, want := range map[string]string{
		"":                           "",
		" ":                          "",
		"short":                      "short",
		"dealing, short,short":       "short,dealing",
		"own_shares,holding,dealing": "holding,own_shares,dealing",
	} {
		set, ok := disclosure.ParsePositionSet(list)
		if !ok || set.String() != want {
			t.Errorf("%q: got %q, %v, want %q", list, set, ok, want)
		}
		b, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		var back disclosure.PositionSet
		if err := json.Unmarshal(b, &back); err != nil || back != set {
			t.Errorf("%s: got %q, %v", b, back, err)
		}
	}
	for _, list := range []string{"long", "short,", ",", "Short", "own-shares"} {
		if set, ok := disclosure.ParsePositionSet(list); ok {
			t.Errorf("%q: got %q, want an error", list, set)
		}
	}
	var set disclosure.PositionSet
	if err := json.Unmarshal([]byte(`"long"`), &set); err == nil {
		t.Error("an unknown kind was read")
	}
	if set.Has("long") || disclosure.NewPositionSet(disclosure.PositionKinds...).String() != "short,holding,own_shares,dealing" {
		t.Error("wrong kinds")
	}
}
