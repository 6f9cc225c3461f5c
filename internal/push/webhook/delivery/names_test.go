package delivery_test

import (
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/push/webhook"
	"pregon/internal/store"
)

// A stored filter without a mark means whole names, as it did before there were words;
// with one it means words, also of names that are new. Changes of other fields keep it.
func TestStoredNames(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, ok)
	whole, _ := create(t, p, r, func(d *webhook.Draft) { d.Filter = disclosure.Filter{Category: "recompra"} })
	words, _ := create(t, p, r, func(d *webhook.Draft) {
		d.Filter = disclosure.Filter{Category: "recompra", CategoryWords: true}
	})
	bodies := map[string]string{}
	records, err := p.db.RecordsSince(t.Context(), "webhook", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range records {
		bodies[one.ID] = one.Body
	}
	if strings.Contains(bodies[whole.ID], "words") || !strings.Contains(bodies[words.ID], `"category":"recompra","category_words":true`) {
		t.Errorf("stored are\n%s\n%s", bodies[whole.ID], bodies[words.ID])
	}
	for _, id := range []string{whole.ID, words.ID} {
		changed, err := p.Update(t.Context(), owner, id, func(d *webhook.Draft) error { d.Description = "Otra"; return nil })
		if err != nil || changed.Filter.CategoryWords != (id == words.ID) {
			t.Errorf("after a change of the description: %+v, %v", changed.Filter, err)
		}
	}
	seqs := map[string]int64{}
	for _, category := range []string{"Recompra", "Programas de recompra de acciones", "Sobre resultados", "Recompras y otros - Sobre resultados"} {
		seqs[category] = w.publish(t, p.db, 1, func(r *disclosure.Report) { r.Category = category })
	}
	handedOut(t, p)
	of := func(id string) (out []int64) {
		for _, d := range deliveries(t, p, id) {
			out = append(out, d.Seq)
		}
		slices.Sort(out)
		return out
	}
	if got, want := of(whole.ID), []int64{seqs["Recompra"]}; !slices.Equal(got, want) {
		t.Errorf("a whole name selects %v, want %v", got, want)
	}
	if got, want := of(words.ID), []int64{seqs["Recompra"], seqs["Programas de recompra de acciones"], seqs["Recompras y otros - Sobre resultados"]}; !slices.Equal(got, want) {
		t.Errorf("words select %v, want %v", got, want)
	}
	// A record as it was stored before.
	old := store.Record{Kind: "webhook", ID: "wh_old", Body: strings.NewReplacer(words.ID, "wh_old", `"category_words":true,`, "").Replace(bodies[words.ID])}
	if _, err := store.PutRecord(t.Context(), p.db, old); err != nil {
		t.Fatal(err)
	}
	if got, _, err := p.Get(t.Context(), owner, "wh_old"); err != nil || got.Filter != (disclosure.Filter{Category: "recompra"}) {
		t.Errorf("an old record has the filter %+v, %v", got.Filter, err)
	}
}

// A stored filter without a mark is not widened, as it was not when it was stored.
func TestStoredSearches(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, ok)
	before, _ := create(t, p, r, func(d *webhook.Draft) { d.Filter = disclosure.Filter{Search: "buyback"} })
	now, _ := create(t, p, r, func(d *webhook.Draft) { d.Filter = disclosure.Filter{Search: "buyback", Widen: true} })
	records, err := p.db.RecordsSince(t.Context(), "webhook", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range records {
		if marked := strings.Contains(one.Body, `"widen":true`); marked != (one.ID == now.ID) {
			t.Errorf("stored is %s", one.Body)
		}
	}
	spanish := w.publish(t, p.db, 1, func(r *disclosure.Report) { r.Title = "Programa de recompra" })
	english := w.publish(t, p.db, 1, func(r *disclosure.Report) { r.Title = "Share buyback" })
	handedOut(t, p)
	for id, want := range map[string][]int64{before.ID: {english}, now.ID: {spanish, english}} {
		var got []int64
		for _, d := range deliveries(t, p, id) {
			got = append(got, d.Seq)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has the changes %v, want %v", id, got, want)
		}
	}
}
