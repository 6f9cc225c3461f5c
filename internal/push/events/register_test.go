package events_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/store"
)

const (
	elena  = "Elena Ruiz Salvatierra"
	molino = "A10000018"
)

func newShort() *disclosure.Position {
	return &disclosure.Position{
		ID:          "short-es0100000001-2026-10-02-1",
		Kind:        disclosure.Short,
		ISIN:        "ES0100000001",
		Name:        "Atalaya Uno Capital LLP",
		Date:        "2026-10-02",
		Percent:     "0.49",
		State:       disclosure.StateCurrent,
		AvailableAt: time.Date(2026, 10, 2, 16, 0, 0, 0, time.UTC),
	}
}

func newHolding() *disclosure.Position {
	return &disclosure.Position{
		ID:           "holding-2026121404",
		Kind:         disclosure.Holding,
		NIF:          "A-10000018",
		Name:         "Inversiones Peñalara, S.L.",
		Number:       "2026121404",
		RegisteredOn: "2026-10-05",
		Percent:      "5.033",
	}
}

func newDealing() *disclosure.Position {
	return &disclosure.Position{
		ID:             "dealing-2026127006",
		Kind:           disclosure.Dealing,
		Issuer:         molino,
		Name:           elena,
		Natural:        true,
		Sealed:         "ab",
		Number:         "2026127006",
		RegisteredOn:   "2026-09-25",
		DocumentURL:    "https://regulator.example/ver?e=1",
		DocumentStatus: disclosure.DocumentReady,
		Trades: []disclosure.Trade{{
			Nature:   "Compra",
			Side:     disclosure.Buy,
			Date:     "2026-09-22",
			Volume:   "1000",
			Price:    "8.5",
			Currency: "EUR",
		}},
	}
}

func newIssuer() disclosure.Issuer {
	return disclosure.Issuer{
		ID:     molino,
		Name:   "MOLINO VIEJO, S.A.",
		Kind:   disclosure.Company,
		Market: "SIBE",
		ISINs:  []string{"ES0100000001", "ES0100000019"},
	}
}

// newChanges returns one change of each kind, by a name.
func newChanges() (names []string, changes []disclosure.Change) {
	report := newReport(7)
	report.NIF = molino
	issuer := newIssuer()
	elsewhere := newDealing()
	elsewhere.ID = "dealing-2026127007"
	elsewhere.Issuer = "A69000016"
	for _, c := range []struct {
		name   string
		change disclosure.Change
	}{
		{"report", disclosure.Change{Event: disclosure.Published, Report: &report}},
		{"issuer", disclosure.Change{Event: disclosure.IssuerUpdated, Issuer: &issuer}},
		{"short", disclosure.Change{Event: disclosure.PositionPublished, Position: newShort()}},
		{"holding", disclosure.Change{Event: disclosure.PositionUpdated, Position: newHolding()}},
		{"dealing", disclosure.Change{Event: disclosure.PositionPublished, Position: newDealing()}},
		{"annulled", disclosure.Change{Event: disclosure.PositionWithdrawn, Position: newDealing()}},
		{"history", disclosure.Change{Event: disclosure.PositionBackfilled, Position: newShort()}},
		{"elsewhere", disclosure.Change{Event: disclosure.PositionPublished, Position: elsewhere}},
	} {
		c.change.Seq = int64(len(changes) + 2)
		c.change.OccurredAt = time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC)
		names = append(names, c.name)
		changes = append(changes, c.change)
	}
	return names, changes
}

// newRegisterHub returns a hub whose directory has the issuer of newChanges.
func newRegisterHub(t *testing.T) *testHub {
	w := newTestHub(t)
	w.append(store.Batch{Issuers: []disclosure.Issuer{newIssuer()}})
	return w
}

// Every filter is compared with every event: conditions on issuers select reports, issuers
// and positions; all others select nothing of the others.
func TestSelectionOfPositions(t *testing.T) {
	w := newRegisterHub(t)
	names, changes := newChanges()
	kinds := disclosure.NewPositionSet
	all := "report issuer short holding dealing annulled history elsewhere"
	ofMolino := "report issuer short holding dealing annulled history"
	for _, test := range []struct {
		filter disclosure.Filter
		want   string
	}{
		{disclosure.Filter{}, all},
		{disclosure.Filter{Issuer: "a-10000018"}, ofMolino},
		{disclosure.Filter{Issuer: "ES0100000019"}, ofMolino},
		{disclosure.Filter{Issuer: "A69000016"}, "elsewhere"},
		{disclosure.Filter{Kind: disclosure.Company}, ofMolino},
		{disclosure.Filter{Kind: disclosure.Fund}, ""},
		{disclosure.Filter{Market: "sibe"}, ofMolino},
		{disclosure.Filter{Market: "MAB"}, ""},
		{disclosure.Filter{NoSecuritisation: true}, all},
		{disclosure.Filter{Type: disclosure.OIR}, "report"},
		{disclosure.Filter{Search: "ejemplar"}, "report"},
		{disclosure.Filter{Search: "atalaya"}, ""},
		{disclosure.Filter{Search: "-nothing"}, "report"},
		{disclosure.Filter{Category: "Otros"}, ""},
		{disclosure.Filter{From: 1}, "report short holding dealing annulled history elsewhere"},
		{disclosure.Filter{Fact: disclosure.AnyFact}, ""},
		{disclosure.Filter{InDocument: true, Search: "x"}, ""},
		{disclosure.Filter{Positions: kinds(disclosure.Short)}, "short history"},
		{disclosure.Filter{Positions: kinds(disclosure.PositionKinds...)}, "short holding dealing annulled history elsewhere"},
		{disclosure.Filter{Positions: kinds(disclosure.Dealing), Issuer: molino}, "dealing annulled"},
		{disclosure.Filter{Positions: kinds(disclosure.Dealing), Type: disclosure.OIR}, ""},
		{disclosure.Filter{Positions: kinds(disclosure.Short), Search: "ejemplar"}, ""},
		{disclosure.Filter{HeldBy: "penalara"}, "holding"},
		{disclosure.Filter{HeldBy: "elena"}, ""},
		{disclosure.Filter{HeldBy: "elena", Market: "sibe"}, ""},
		{disclosure.Filter{HeldBy: "elena", Issuer: molino}, "dealing annulled"},
		{disclosure.Filter{MinPercent: "1"}, "holding"},
		{disclosure.Filter{MinPercent: "0.1", Kind: disclosure.Company}, "short holding history"},
		{disclosure.Filter{MinPercent: "0.1", Kind: disclosure.Fund}, ""},
		{disclosure.Filter{MinAmount: "8500", Currency: "EUR"}, "dealing annulled elsewhere"},
		{disclosure.Filter{MinAmount: "8501", Currency: "EUR"}, ""},
		{disclosure.Filter{Side: disclosure.Buy, Issuer: molino}, "dealing annulled"},
		{disclosure.Filter{Side: disclosure.Sell}, ""},
	} {
		for _, selected := range append([][]disclosure.Event{events.AllEvents, nil}, single(events.AllEvents)...) {
			selector := events.Selection{Events: selected, Filter: test.filter}.Compile(nil)
			wanted := selected
			if wanted == nil {
				wanted = events.DefaultEvents
			}
			for i := range changes {
				want := slices.Contains(strings.Fields(test.want), names[i]) && slices.Contains(wanted, changes[i].Event)
				if got := selector.Match(w.hub.Encode(&changes[i])); got != want {
					t.Errorf("%+v of %v selects %s: %v, want %v", test.filter, selected, names[i], got, want)
				}
			}
		}
	}
	for _, e := range events.DefaultEvents {
		if e.Of() == disclosure.OfPosition {
			t.Errorf("%s is among the default events", e)
		}
	}
}

func single(all []disclosure.Event) (out [][]disclosure.Event) {
	for _, e := range all {
		out = append(out, []disclosure.Event{e})
	}
	return out
}

// An event of a position is flat JSON on one line.
func TestEventOfPosition(t *testing.T) {
	w := newRegisterHub(t)
	_, changes := newChanges()
	hostile := newShort()
	hostile.Name = "Atalaya \"Uno\"\nevent: x\u2028</script>"
	changes = append(changes, disclosure.Change{
		Seq:      99,
		Event:    disclosure.PositionUpdated,
		Position: hostile,
		Changed:  []string{"state", "percent"},
	})
	got := map[string]any{}
	for i := range changes {
		e := w.hub.Encode(&changes[i])
		clear(got)
		if err := json.Unmarshal(e.JSON, &got); err != nil {
			t.Fatalf("%s: %v", e.JSON, err)
		}
		if strings.Count(string(e.Frame), "\n") != 4 {
			t.Errorf("the frame has other lines: %q", e.Frame)
		}
		if changes[i].Position == nil {
			continue
		}
		cursor := fmt.Sprintf("%s-%d", w.hub.Head().Epoch, changes[i].Seq)
		if got["event"] != string(changes[i].Event) || got["cursor"] != cursor || got["id"] != changes[i].Position.ID {
			t.Errorf("unexpected event: %s", e.JSON)
		}
		if natural := changes[i].Position.Natural; e.HasErasableName() != natural {
			t.Errorf("%s: the name may be erased: %v, want %v", got["id"], !natural, natural)
		}
	}
	if got["holder"] != hostile.Name || got["issuer_id"] != molino || got["percent"] != "0.49" || got["current"] != true ||
		got["available_at"] != "2026-10-02T18:00:00+02:00" || len(got["changed"].([]any)) != 2 {
		t.Errorf("unexpected event of a short position: %v", got)
	}
}

// After an erasure the hub does not return the name any more, also of events that it had
// encoded before.
func TestErasedName(t *testing.T) {
	w := newRegisterHub(t)
	first := w.hub.Newest()
	epoch := w.hub.Head().Epoch
	change := func(seq int64, e disclosure.Event, p *disclosure.Position) disclosure.Change {
		return disclosure.Change{Seq: seq, Event: e, Position: p}
	}
	other := newDealing()
	other.ID = "dealing-2026127007"
	given := newDealing()
	w.hub.Add(first, change(first+1, disclosure.PositionPublished, given), change(first+2, disclosure.PositionPublished, other))
	read := func() (text string) {
		t.Helper()
		found, _, ok := w.hub.Since(disclosure.Cursor{Epoch: epoch, Seq: first}, 10)
		if !ok {
			t.Fatal("the events are not in memory")
		}
		for _, e := range found {
			text += string(e.JSON) + string(e.Frame)
		}
		return text
	}
	if n := strings.Count(read(), elena); n != 4 {
		t.Fatalf("the name occurs %d times, want 4", n)
	}
	erased := newDealing()
	erased.Name = ""
	erased.Erased = true
	w.hub.Add(first+2, change(first+3, disclosure.PositionBackfilled, erased))
	got := read()
	if n := strings.Count(got, elena); n != 2 {
		t.Errorf("after an erasure the name occurs %d times, want 2: %s", n, got)
	}
	if n := strings.Count(got, `"person":null,"person_erased":true`); n != 4 {
		t.Errorf("%d events state the erasure, want 4: %s", n, got)
	}
	if given.Name != elena || given.Erased {
		t.Error("the change of the catalogue was modified")
	}
}
