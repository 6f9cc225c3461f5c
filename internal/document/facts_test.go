package document

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/document/extract"
	"pregon/internal/document/fact"
	"pregon/internal/store/sqlite"
)

// examining returns a keeper with a store on disk, which finds facts with find, and its log.
func examining(t *testing.T, find FindFacts) (*Keeper, *bytes.Buffer) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir()+"/pregon.db", sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	var log bytes.Buffer
	return NewKeeper(Options{Store: db, FindFacts: find, Logger: slog.New(slog.NewTextHandler(&log, nil))}), &log
}

var published = &disclosure.Report{
	ID:          "oir-1",
	Type:        disclosure.OIR,
	Number:      1,
	CompanyName: "EJEMPLAR FICTICIA, S.A.",
	Title:       "Dividendo",
	PublishedAt: time.Date(2026, 4, 22, 8, 0, 0, 0, time.UTC),
}

func dividend(form string) fact.Found {
	return fact.Found{
		Fact:       disclosure.Fact{Kind: disclosure.Dividend, Fields: map[string]string{"form": form}},
		FactDetail: disclosure.FactDetail{Evidence: map[string]disclosure.Quote{"form": {Page: 2, Text: form}}},
	}
}

// The rules read the pages whose text is certain, and what proves the facts is stored.
func TestFacts(t *testing.T) {
	var read fact.Document
	k, _ := examining(t, func(d fact.Document) []fact.Found {
		read = d
		return []fact.Found{dividend("cash"), dividend("not\x00valid"), dividend("scrip")}
	})
	kept := Kept{SHA256: strings.Repeat("0a", 32), Text: &extract.Text{Language: "es", Pages: []extract.Page{
		{Text: "uno", Method: extract.ByText},
		{Text: "dos", Method: extract.ByOCR, Confidence: minConfidence - 1},
		{Text: "tres", Method: extract.ByOCR, Confidence: minConfidence},
	}}}
	change, err := k.Derive(t.Context(), published, kept)
	if err != nil {
		t.Fatal(err)
	}
	wantRead := fact.Document{
		Company:   published.CompanyName,
		Title:     published.Title,
		Language:  "es",
		Published: published.PublishedAt,
		Pages:     []string{"uno", "", "tres"},
	}
	if diff := cmp.Diff(wantRead, read); diff != "" {
		t.Errorf("the rules read (-want +got):\n%s", diff)
	}
	want := []disclosure.Fact{dividend("cash").Fact, dividend("scrip").Fact}
	if diff := cmp.Diff(want, change.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if change.FactsRules != fact.Rules || change.FactsOf != kept.SHA256 || change.FactsReadyAt.IsZero() {
		t.Errorf("unexpected change %+v", change)
	}
	details, err := LoadDetails(t.Context(), k.Store, &change)
	wantDetails := []disclosure.FactDetail{dividend("cash").FactDetail, dividend("scrip").FactDetail}
	if diff := cmp.Diff(wantDetails, details); diff != "" || err != nil {
		t.Errorf("details (-want +got), %v:\n%s", err, diff)
	}
	change.FactsDetail = strings.Repeat("0b", 32)
	if details, err := LoadDetails(t.Context(), k.Store, &change); details != nil || err != nil {
		t.Errorf("missing details are %v, %v, want none", details, err)
	}
}

// Facts that are too many for a report are left out, with what proves them.
func TestManyFacts(t *testing.T) {
	k, _ := examining(t, func(fact.Document) (out []fact.Found) {
		for range 1000 {
			out = append(out, dividend("cash"))
		}
		return out
	})
	change, err := k.Derive(t.Context(), published, Kept{Text: new(extract.Text)})
	if err != nil {
		t.Fatal(err)
	}
	details, err := LoadDetails(t.Context(), k.Store, &change)
	if n := len(change.Facts); err != nil || n < 300 || n == 1000 || len(details) != n {
		t.Errorf("%d facts with %d details, %v", n, len(details), err)
	}
}

// A rule that fails does not end the process, and is not tried again before it changes.
func TestFactsSurviveTheirRules(t *testing.T) {
	k, log := examining(t, func(fact.Document) []fact.Found { panic("index out of range") })
	change, err := k.Derive(t.Context(), published, Kept{SHA256: "0a", Text: new(extract.Text)})
	if err != nil || change.FactsRules != fact.Rules || change.FactsOf != "0a" || change.Facts != nil {
		t.Errorf("got %+v, %v", change, err)
	}
	if text := log.String(); !strings.Contains(text, "index out of range") || !strings.Contains(text, "oir-1") {
		t.Errorf("the log does not say what happened: %s", text)
	}
}

// A store that does not answer is an error, and the report stays as it is.
func TestFactsOfBrokenStore(t *testing.T) {
	k, _ := examining(t, func(fact.Document) []fact.Found { return []fact.Found{dividend("cash")} })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if change, err := k.Derive(ctx, published, Kept{Text: new(extract.Text)}); err == nil {
		t.Errorf("got %+v, want an error", change)
	}
}

// The summary of a document without sentences that state its facts is made of the facts, and
// so is every English summary.
func TestSummaryOfFacts(t *testing.T) {
	k, _ := examining(t, func(fact.Document) []fact.Found {
		return []fact.Found{{
			Fact: disclosure.Fact{Kind: disclosure.Dividend, Fields: map[string]string{
				"gross_per_share": "0.25",
				"currency":        "EUR",
				"payment_date":    "2026-12-17",
			}},
			FactDetail: disclosure.FactDetail{Evidence: map[string]disclosure.Quote{
				"gross_per_share": {Page: 1, Text: "0,25", Before: "Importe bruto (€): "},
				"payment_date":    {Page: 1, Text: "17 de diciembre de 2026"},
			}},
		}}
	})
	read := *published
	read.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: strings.Repeat("0a", 32)}
	form := Kept{SHA256: read.Document.SHA256, Text: &extract.Text{Language: "es", Pages: []extract.Page{
		{Text: "Importe bruto (€)\t0,25", Method: extract.ByText},
	}}}
	change, err := k.Derive(t.Context(), &read, form)
	if err != nil {
		t.Fatal(err)
	}
	if change.SummaryMethod != "facts" || !strings.Contains(change.Summary, "0,25 euros por acción") ||
		change.Evidence[0].Quote != "Importe bruto (€): 0,25" {
		t.Errorf("got %q by %s, %+v", change.Summary, change.SummaryMethod, change.Evidence)
	}
	if !strings.Contains(change.SummaryEN, "€0.25") || len(change.EvidenceEN) != 1 {
		t.Errorf("got %q, %+v", change.SummaryEN, change.EvidenceEN)
	}
	plans := form
	plans.Text = &extract.Text{Language: "es", Pages: []extract.Page{{
		Text: "Importe bruto (€)\t0,25\nFecha de pago\t17 de diciembre de 2026\n\n" +
			"El Consejo podrá acordar un segundo dividendo, que no superaría 0,30 euros por acción.",
		Method: extract.ByText,
	}}}
	change, err = k.Derive(t.Context(), &read, plans)
	if err != nil || change.SummaryMethod != "facts" || !strings.Contains(change.Summary, "17 de diciembre") {
		t.Errorf("the summary is about plans: got %q by %s, %v", change.Summary, change.SummaryMethod, err)
	}
	letter := form
	letter.Text = &extract.Text{Language: "es", Pages: []extract.Page{{
		Text: "El Consejo ha acordado el pago de un dividendo de 0,25 euros por acción, que se abonará el " +
			"17 de diciembre de 2026.",
		Method: extract.ByText,
	}}}
	change, err = k.Derive(t.Context(), &read, letter)
	if err != nil || change.SummaryMethod != "extractive" || !strings.Contains(change.SummaryEN, "€0.25") {
		t.Errorf("got %q by %s, %q, %v", change.Summary, change.SummaryMethod, change.SummaryEN, err)
	}
	// A document of history is read and examined in one change.
	change, err = k.Derive(t.Context(), published, letter)
	if err != nil || change.SummaryMethod != "extractive" {
		t.Errorf("history: got %q by %s, %v", change.Summary, change.SummaryMethod, err)
	}
	read.SummaryMethod = "model"
	read.SummaryOf = read.Document.SHA256
	change, err = k.Derive(t.Context(), &read, letter)
	if err != nil || change.Summary != "" || change.SummaryEN != "" {
		t.Errorf("a summary by the model is replaced: %+v, %v", change, err)
	}
}
