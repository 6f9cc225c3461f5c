package demo_test

import (
	"path/filepath"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/demo"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// TestLinks checks that readers of the log get links that work under the present base
// URL, and that the store keeps those of the regulator.
func TestLinks(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const file, page, other = "/webservices/verdocumento/ver?t=%7bx%7d", "/Portal/Resultado-OIR.aspx?nreg=1", "https://regulator.example.net/x"
	const origin, here = "https://regulator.example", "http://127.0.0.1:8080/simulator"
	first := disclosure.Report{
		Type: disclosure.OIR, Number: 1, CompanyName: "X", Title: "T", PublishedAt: time.Now().Truncate(time.Second),
		PDFURL: origin + file, SourceURL: origin + page, Document: disclosure.Document{Status: disclosure.DocumentFailed, Link: origin + file, Reason: "R."},
	}
	second := disclosure.Report{Type: disclosure.OIR, Number: 2, CompanyName: "X", Title: "T", PublishedAt: first.PublishedAt, SourceURL: other}
	for _, r := range []*disclosure.Report{&first, &second} {
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Append(t.Context(), store.Batch{Reports: []disclosure.Report{first, second}}); err != nil {
		t.Fatal(err)
	}

	linked := demo.WithLinks(db, "http://127.0.0.1:8080")
	shows := func(t *testing.T, changes []disclosure.Change, err error) {
		t.Helper()
		if err != nil || len(changes) != 2 {
			t.Fatalf("got %v, %v", changes, err)
		}
		if r := changes[0].Report; r.PDFURL != here+file || r.SourceURL != here+page || r.Document.Link != here+file {
			t.Errorf("the links are %s, %s and %s", r.PDFURL, r.SourceURL, r.Document.Link)
		}
		if r := changes[1].Report; r.PDFURL != "" || r.SourceURL != other {
			t.Errorf("links that are not the regulator's became %q and %q", r.PDFURL, r.SourceURL)
		}
	}
	changes, err := linked.Changes(t.Context(), 0, 10)
	shows(t, changes, err)
	at, err := linked.ChangesAt(t.Context(), 1, 2)
	shows(t, at, err)
	asOf, err := linked.AsOf(t.Context(), disclosure.OfReport, 2, "oir-1", "oir-2")
	shows(t, asOf, err)
	for n, change := range asOf {
		of, err := linked.ChangesOf(t.Context(), disclosure.OfReport, change.Subject(), 2, 1)
		if err != nil || len(of) != 1 {
			t.Fatalf("ChangesOf = %v, %v", of, err)
		}
		changes[n] = of[0]
	}
	shows(t, changes, nil)
	var current []disclosure.Change
	_, err = linked.Current(t.Context(), func(c disclosure.Change) error { current = append(current, c); return nil })
	shows(t, current, err)

	again := []disclosure.Report{*changes[0].Report, *changes[1].Report}
	if out, err := linked.Append(t.Context(), store.Batch{Reports: again}); err != nil || out.Unchanged != 2 {
		t.Errorf("appending what was read: got %+v, %v, want 2 unchanged", out, err)
	}
	if again[0].PDFURL != here+file {
		t.Error("Append changed the caller's reports")
	}
	stored, err := linked.Reports(t.Context(), "oir-1")
	if err != nil || len(stored) != 1 || stored[0].PDFURL != origin+file || stored[0].SourceURL != origin+page || stored[0].Document.Link != origin+file {
		t.Errorf("stored: got %+v, %v", stored, err)
	}
}
