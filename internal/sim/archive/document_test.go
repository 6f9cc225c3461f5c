package archive_test

import (
	"bytes"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/market"
	"pregon/internal/sim/paper"
	"pregon/internal/sim/paper/statement"
)

// TestDocumentsStateFacts checks that reports of the market have documents that state
// facts, of every kind whose reports have documents, and that the others have those of
// package paper.
func TestDocumentsStateFacts(t *testing.T) {
	until := time.Date(2020, 7, 1, 12, 0, 0, 0, disclosure.Madrid)
	a, err := archive.Open(market.New(1), 1, "", func() time.Time { return until })
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	kinds := map[string]int{}
	for d := disclosure.DayOf(until.AddDate(0, -4, 0)); d < disclosure.DayOf(until); d++ {
		for _, r := range a.Settled([]disclosure.Type{disclosure.IP, disclosure.OIR}, d) {
			if r.PDFURL == "" {
				continue
			}
			source := paper.Source{Report: &r.Report}
			stated, ok := statement.Of(&r.Report, 1)
			want := stated.Kind
			if !ok || !source.IsOrdinary(1) {
				want = statement.None
			}
			kinds[want]++
			if kinds[want] > 3 {
				continue // printing takes time
			}
			file := paper.Make(source, 1)
			if want != statement.None {
				file = stated.File()
			}
			if got := a.Document(r); !bytes.Equal(got.Body, file.Body) || got.ContentType != file.ContentType {
				t.Errorf("%s %s: got another document than that of %s", r.ID, r.Title, want)
			}
		}
	}
	for _, kind := range statement.Kinds() {
		if kind == "voting_rights" { // whose reports lead to a page of the register
			continue
		}
		if kinds[kind] == 0 {
			t.Errorf("no document states %s: %v", kind, kinds)
		}
	}
	if kinds[statement.None] == 0 {
		t.Errorf("got %v, want documents without facts too", kinds)
	}
}

// TestRequestedDocuments checks that a report whose document is said in the draft has
// that one.
func TestRequestedDocuments(t *testing.T) {
	a, err := archive.Open(market.New(1), 1, "", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	const title = "Finalización anticipada del programa de recompra de acciones al haberse alcanzado su importe máximo"
	stated := 0
	for range 20 {
		for _, d := range []archive.Draft{
			{Type: disclosure.OIR, Title: title, Text: "Otro texto."},
			{Type: disclosure.OIR, Title: title, Document: archive.Document{Form: "columns"}},
		} {
			r, err := a.Publish(d)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := statement.Of(&r.Report, 1); ok {
				stated++
			}
			want := paper.Make(paper.Source{Report: &r.Report, Form: r.Form, Text: r.Text}, 1)
			if got := a.Document(r); !bytes.Equal(got.Body, want.Body) {
				t.Errorf("%s: got another document than requested", r.ID)
			}
		}
	}
	if stated == 0 {
		t.Error("no title would have had a document that states a fact")
	}
}
