package stored

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

var _ ingest.Known = (*Known)(nil)

// TestKnown: a back-fill finds issuers and reports without a catalogue.
func TestKnown(t *testing.T) {
	ctx := t.Context()
	db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	report := func(number int64, related ...disclosure.Relation) disclosure.Report {
		return disclosure.Report{
			ID: disclosure.ReportID(disclosure.OIR, number), Type: disclosure.OIR, Number: number, PublishedAt: at.AddDate(0, 0, int(number)),
			TimeFrom: disclosure.FromFeed, FirstSeenAt: at, CompanyName: "ALMAZARA FICTICIA, S.A.", Title: "Dividendo",
			SourceURL: "https://regulator.example/1", Related: related,
		}
	}
	add := func(b store.Batch) {
		t.Helper()
		for n := range b.Reports {
			if err := b.Reports[n].Validate(); err != nil {
				t.Fatal(err)
			}
		}
		b.New = disclosure.Published
		if _, err := db.Append(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	add(store.Batch{
		Issuers: []disclosure.Issuer{
			{ID: "A69001001", Name: "ALMAZARA FICTICIA, S.A.", NIF: "A-69001001", ISINs: []string{"ES0SIM000011"}},
			{ID: "A69001002", Name: "Minas Ficticias", NIF: "A69001002", Aliases: []string{"A69001001"}},
			{ID: "A69001003", Name: "MINAS FICTICIAS", NIF: "A69001003", Kind: disclosure.Fund},
		},
		Reports: []disclosure.Report{report(1), report(2, disclosure.Relation{Number: 99, At: at}), report(3)},
	})
	k := New(db)
	if err := k.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"es0sim000011": "A69001001", "A-69001001": "A69001001", "A69001002": "A69001002", "A69009999": ""} {
		if got, ok := k.Issuer(key); got.ID != want || ok != (want != "") {
			t.Errorf("Issuer(%q): got %q, %v, want %q", key, got.ID, ok, want)
		}
	}
	for name, want := range map[string]string{"Almazara Ficticia SA": "A69001001", "minas ficticias": "", "": ""} {
		if got, ok := k.Named(name); got.ID != want || ok != (want != "") {
			t.Errorf("Named(%q): got %q, %v, want %q", name, got.ID, ok, want)
		}
	}
	if got := k.Issuers(disclosure.Fund); len(got) != 1 || got[0].ID != "A69001003" {
		t.Errorf("Issuers(Fund): got %+v, want A69001003", got)
	}
	unresolved, err := k.Unresolved(ctx, time.Time{})
	if err != nil || len(unresolved) != 1 || unresolved[0].Number != 2 {
		t.Errorf("Unresolved: got %+v, %v, want number 2", unresolved, err)
	}
	var got []int64
	day := disclosure.DayOf(at)
	err = k.Published(ctx, day+2, day+3, func(r *disclosure.Report) { got = append(got, r.Number) })
	if want := []int64{2, 3}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Published: got %v, %v, want %v", got, err, want)
	}
	add(store.Batch{Issuers: []disclosure.Issuer{{ID: "A69001004", Name: "TEJARES FICTICIOS, S.A.", NIF: "A69001004"}}})
	if _, ok := k.Issuer("A69001004"); ok {
		t.Error("Issuer before CatchUp: got one, want none")
	}
	if err := k.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	if _, ok := k.Issuer("A69001004"); !ok || len(k.Issuers()) != 4 {
		t.Errorf("after CatchUp: got %d issuers, want 4", len(k.Issuers()))
	}
}
