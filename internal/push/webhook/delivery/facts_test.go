package delivery_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/push/webhook"
	"pregon/internal/store"
)

// A webhook by facts gets the change that brings them and later changes of that report,
// not the one that published it. Facts that are found again in history notify nobody.
func TestFacts(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		p := w.process(t, quick, nil)
		large, dividends, none := newReceiver(t, ok), newReceiver(t, ok), newReceiver(t, ok)
		byAmount, _ := create(t, p, large, func(d *webhook.Draft) {
			d.Filter = disclosure.Filter{Fact: disclosure.BuybackProgramme, MinAmount: "50000000", Currency: "EUR"}
		})
		byKind, _ := create(t, p, dividends, func(d *webhook.Draft) { d.Filter = disclosure.Filter{Fact: disclosure.Dividend} })
		onlyNew, _ := create(t, p, none, func(d *webhook.Draft) {
			d.Events = []disclosure.Event{disclosure.Published}
			d.Filter = disclosure.Filter{Fact: disclosure.Dividend}
		})
		w.publish(t, p.db, 5, recent)
		handedOut(t, p)
		for _, h := range []webhook.Webhook{byAmount, byKind, onlyNew} {
			if got := deliveries(t, p, h.ID); len(got) > 0 {
				t.Errorf("before there are facts: %+v", got)
			}
		}
		state := func(number int64, kind disclosure.FactKind, fields map[string]string) int64 {
			return update(t, p.db, number, func(r *disclosure.Report) {
				r.Facts = []disclosure.Fact{{Kind: kind, Fields: fields}}
				r.FactsRules = 1
			})
		}
		state(1, disclosure.BuybackProgramme, map[string]string{"max_amount": "49999999.99", "currency": "EUR"})
		state(2, disclosure.BuybackProgramme, map[string]string{"max_amount": "90000000", "currency": "USD"})
		stated := state(3, disclosure.BuybackProgramme, map[string]string{"max_amount": "50000000", "currency": "EUR"})
		dividend := state(4, disclosure.Dividend, map[string]string{"gross_per_share": "0.25"})
		again, err := p.db.Reports(t.Context(), "oir-5")
		if err != nil {
			t.Fatal(err)
		}
		again[0].Facts = []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"gross_per_share": "0.5"}}}
		again[0].FactsRules = 1
		if _, err := p.db.Append(t.Context(), store.Batch{New: disclosure.Backfilled, Aside: again}); err != nil {
			t.Fatal(err)
		}
		later := update(t, p.db, 3, func(r *disclosure.Report) { r.Category = "Recompra" })
		handedOut(t, p)
		settled(t, p, byAmount.ID, 2)
		settled(t, p, byKind.ID, 1)
		settled(t, p, onlyNew.ID, 0)
		for r, want := range map[*receiver][]string{
			large:     {fmt.Sprintf("%s.%d", byAmount.ID, stated), fmt.Sprintf("%s.%d", byAmount.ID, later)},
			dividends: {fmt.Sprintf("%s.%d", byKind.ID, dividend)},
			none:      nil,
		} {
			if got := r.ids(); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		var body struct {
			Event   string
			Changed []string
			Facts   []disclosure.Fact
		}
		if err := json.Unmarshal(large.requests()[0].body, &body); err != nil || body.Event != "report.updated" ||
			!slices.Contains(body.Changed, "facts") || len(body.Facts) != 1 || body.Facts[0].Fields["max_amount"] != "50000000" {
			t.Errorf("got %s, %v; want report.updated with the facts", large.requests()[0].body, err)
		}
	})
}
