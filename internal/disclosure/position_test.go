package disclosure_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
)

func newDealing() disclosure.Position {
	return disclosure.Position{
		ID:           "dealing-2026127006",
		Kind:         disclosure.Dealing,
		Issuer:       "A10000018",
		IssuerName:   "MOLINO VIEJO, S.A.",
		Name:         "Elena Ruiz Salvatierra",
		Natural:      true,
		State:        disclosure.StateCurrent,
		Number:       "2026127006",
		RegisteredOn: "2026-09-25",
		Relation:     disclosure.RelationManager,
		Rectifies:    []string{"2026126933"},
		SourceURL:    "https://regulator.example/directivos",
		DocumentURL:  "https://regulator.example/ver?e=1",
	}
}

func trade(side disclosure.Side, volume, price, currency string) disclosure.Trade {
	return disclosure.Trade{
		Nature:   "Compra",
		Side:     side,
		Date:     "2026-09-22",
		Venue:    "XMAD",
		Volume:   volume,
		Price:    price,
		Currency: currency,
		Page:     2,
		Quote:    "Compra 22/09/2026 XMAD",
	}
}

func TestPositionID(t *testing.T) {
	for id, want := range map[string]string{
		disclosure.PositionID(disclosure.OwnShares, "2024065568", 1): "own-shares-2024065568",
		disclosure.PositionID(disclosure.Holding, "2026121404", 1):   "holding-2026121404",
		disclosure.PositionID(disclosure.Holding, "2026121404", 2):   "holding-2026121404-2",
		disclosure.ShortID("ES0100000001", "2026-10-02", 1):          "short-es0100000001-2026-10-02-1",
		disclosure.PositionID(disclosure.Dealing, "2026127006", 1):   "dealing-2026127006",
	} {
		if id != want {
			t.Errorf("got id %s, want %s", id, want)
		}
	}
	for id, want := range map[string]disclosure.PositionKind{
		"own-shares-2024065568": disclosure.OwnShares,
		"short-x":               disclosure.Short,
		"short-":                "",
		"oir-40374":             "",
		"":                      "",
	} {
		if got, ok := disclosure.KindOfPosition(id); got != want || ok != (want != "") {
			t.Errorf("KindOfPosition(%q) = %q, %v, want %q", id, got, ok, want)
		}
	}
}

func TestMergePosition(t *testing.T) {
	known := newDealing()
	if merged, changed := known.Merge(known); len(changed) > 0 || merged.ID != known.ID {
		t.Errorf("merging a position with itself changes %v", changed)
	}
	if _, changed := known.Merge(disclosure.Position{}); len(changed) > 0 {
		t.Errorf("an empty observation changes %v", changed)
	}
	read := disclosure.Position{
		DocumentStatus: disclosure.DocumentReady,
		Trades:         []disclosure.Trade{trade(disclosure.Buy, "2", "1.5", "EUR")},
		Aggregates:     disclosure.SumsAgree,
		RectifiedBy:    []string{"2026130000"},
		State:          disclosure.StateRectified,
	}
	merged, changed := known.Merge(read)
	if want := []string{"rectified_by", "state", "trades"}; !slices.Equal(changed, want) {
		t.Errorf("changed %v, want %v", changed, want)
	}
	if again, changed := merged.Merge(read); len(changed) > 0 {
		t.Errorf("merging %+v again changes %v", again, changed)
	}

	sealed := known
	sealed.Sealed = "aa"
	renamed, changed := sealed.Merge(disclosure.Position{Name: "Elena Ruiz Salvatierra-Gil", Natural: true})
	if !slices.Equal(changed, []string{"holder"}) || renamed.Sealed != "" {
		t.Errorf("a corrected name changes %v and keeps the seal %q", changed, renamed.Sealed)
	}
	erased, changed := sealed.Merge(disclosure.Position{Erased: true})
	if !slices.Equal(changed, []string{"holder"}) || erased.Name != "" || !erased.Erased {
		t.Errorf("erasing changes %v: %+v", changed, erased)
	}
	if back, changed := erased.Merge(known); len(changed) > 0 || back.Name != "" {
		t.Errorf("an erased name came back: %+v, %v", back, changed)
	}
}

func TestValidatePosition(t *testing.T) {
	valid := newDealing()
	valid.Trades = []disclosure.Trade{trade(disclosure.Buy, "2", "1.5", "EUR")}
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*disclosure.Position){
		"kind":          func(p *disclosure.Position) { p.Kind = "long" },
		"id":            func(p *disclosure.Position) { p.ID = "short-2026127006" },
		"lei":           func(p *disclosure.Position) { p.LEI = "12" },
		"isin":          func(p *disclosure.Position) { p.ISIN = "es" },
		"holder":        func(p *disclosure.Position) { p.Name = strings.Repeat("x", 2000) },
		"registered_on": func(p *disclosure.Position) { p.RegisteredOn = "25/09/2026" },
		"percent":       func(p *disclosure.Position) { p.Percent = "5,033" },
		"state":         func(p *disclosure.Position) { p.State = "open" },
		"relation":      func(p *disclosure.Position) { p.Relation = "friend" },
		"document_url":  func(p *disclosure.Position) { p.DocumentURL = "javascript:alert(1)" },
		"trades.side":   func(p *disclosure.Position) { p.Trades[0].Side = "long" },
		"trades.volume": func(p *disclosure.Position) { p.Trades[0].Volume = "-5" },
		"trades.date":   func(p *disclosure.Position) { p.Trades[0].Date = "" },
		"trades \"2001\"": func(p *disclosure.Position) {
			p.Trades = make([]disclosure.Trade, 2001)
		},
	} {
		p := valid
		p.Trades = slices.Clone(valid.Trades)
		change(&p)
		err := p.Validate()
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

func TestPositionAmount(t *testing.T) {
	p := newDealing()
	if amount, currency := p.Amount(); amount != "" || currency != "" {
		t.Errorf("without trades: %q %q", amount, currency)
	}
	p.Trades = []disclosure.Trade{
		trade(disclosure.Buy, "1000000", "8.29", "EUR"),
		trade(disclosure.Buy, "400000.5", "0.001", "EUR"),
		trade(disclosure.Sell, "10", "3", "EUR"),
	}
	if amount, currency := p.Amount(); amount != "8290430.0005" || currency != "EUR" {
		t.Errorf("got %s %s", amount, currency)
	}
	if amount, _ := p.AmountOf(disclosure.Sell); amount != "30" {
		t.Errorf("sold for %s, want 30", amount)
	}
	p.Trades = append(p.Trades, trade(disclosure.Buy, "1", "1", "USD"))
	if amount, _ := p.Amount(); amount != "" {
		t.Errorf("several currencies: got %s", amount)
	}
	if got := disclosure.AddDecimals("0.49", "0.5", "1.01", "x"); got != "2" {
		t.Errorf("sum %s, want 2", got)
	}
}

func TestAppendPosition(t *testing.T) {
	dealing := newDealing()
	dealing.FirstSeenAt = time.Date(2026, 9, 25, 10, 0, 0, 0, time.UTC)
	read := dealing
	read.DocumentStatus = disclosure.DocumentReady
	read.Trades = []disclosure.Trade{trade(disclosure.Buy, "2", "1.5", "EUR")}
	short := disclosure.Position{
		ID:      "short-es0100000001-2026-10-02-1",
		Kind:    disclosure.Short,
		Name:    `Atalaya "Uno" LLP`,
		ISIN:    "ES0100000001",
		Date:    "2026-10-02",
		Percent: "0.49",
		State:   disclosure.StateCurrent,
	}
	holding := disclosure.Position{ID: "holding-2026121404", Kind: disclosure.Holding, Number: "2026121404", Erased: true}
	for _, test := range []struct {
		p     disclosure.Position
		field string
		want  any
	}{
		{dealing, "document_status", "pending"},
		{dealing, "trades", nil},
		{dealing, "first_seen_at", "2026-09-25T12:00:00+02:00"},
		{read, "amount", "3"},
		{read, "person", "Elena Ruiz Salvatierra"},
		{short, "holder", `Atalaya "Uno" LLP`},
		{short, "current", true},
		{holding, "holder_erased", true},
		{holding, "percent_total", nil},
	} {
		body := disclosure.AppendPosition(nil, &test.p)
		var got map[string]any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		value, found := got[test.field]
		if !found || value != test.want {
			t.Errorf("%s of %s is %v, want %v", test.field, body, value, test.want)
		}
	}
}

// Small decimals are added as integers, with the same result as any others.
func TestAddDecimals(t *testing.T) {
	for want, decimals := range map[string][]string{
		"0":                  nil,
		"0.3":                {"0.1", "0.2"},
		"100":                {"99.999999", "0.000001"},
		"1.5":                {"1.50", "0", "0.0"},
		"999999999.1":        {"999999999", "0.1"},
		"1000000000.1":       {"1000000000", "0.1"},
		"0.0000001":          {"0.0000001"},
		"-1.5":               {"-2", "0.5"},
		"1000000000":         {"999999999.5", "0.5"},
		"12345678901234.567": {"12345678901234", "0.567"},
	} {
		if got := disclosure.AddDecimals(decimals...); got != want {
			t.Errorf("%v: got %s, want %s", decimals, got, want)
		}
	}
	many := make([]string, 5000)
	for n := range many {
		many[n] = "0.51"
	}
	for n, want := range map[int]string{999: "509.49", 1000: "510", 1001: "510.51", 5000: "2550"} {
		if got := disclosure.AddDecimals(many[:n]...); got != want {
			t.Errorf("%d times 0.51: got %s, want %s", n, got, want)
		}
	}
}
