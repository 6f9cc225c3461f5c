package verify_test

import (
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/verify"
)

// A change follows from the one before it: its event is possible, it names exactly the
// fields that changed, and no value is lost.
func TestChange(t *testing.T) {
	at := time.Date(2026, 4, 22, 10, 0, 0, 0, time.UTC)
	report := func(change func(*disclosure.Report)) *disclosure.Report {
		r := &disclosure.Report{
			ID:          "oir-1",
			Type:        disclosure.OIR,
			Number:      1,
			CompanyName: "ALMAZARA FICTICIA, S.A.",
			Title:       "Acuerdo",
			Summary:     "Una frase.",
			PublishedAt: at,
			FirstSeenAt: at,
			AvailableAt: at,
		}
		if change != nil {
			change(r)
		}
		return r
	}
	of := func(event disclosure.Event, changed string, r *disclosure.Report) *disclosure.Change {
		return &disclosure.Change{Event: event, OccurredAt: at, Changed: strings.Fields(changed), Report: r}
	}
	ofIssuer := func(event disclosure.Event, changed, ticker, market string) *disclosure.Change {
		issuer := &disclosure.Issuer{ID: "A00000001", Name: "Uno", Ticker: ticker, Market: market}
		return &disclosure.Change{Event: event, OccurredAt: at, Changed: strings.Fields(changed), Issuer: issuer}
	}
	first := of(disclosure.Published, "", report(nil))
	retitled := report(func(r *disclosure.Report) { r.Title = "Otro acuerdo" })
	corrected := report(func(r *disclosure.Report) { r.CorrectedBy = "oir-2" })
	for _, test := range []struct {
		name   string
		before *disclosure.Change
		change *disclosure.Change
		want   string // a part of the error; empty: it follows
	}{
		{"a publication", nil, first, ""},
		{"about nothing", nil, &disclosure.Change{Event: disclosure.Published}, "about a report, about an issuer or about a position"},
		{"about two things", nil, &disclosure.Change{Event: disclosure.IssuerUpdated, Report: report(nil), Issuer: &disclosure.Issuer{ID: "A00000001"}}, "about a report, about an issuer or about a position"},
		{"a first change that is an update", nil, of(disclosure.Updated, "", report(nil)), "the first event of oir-1"},
		{"a first change with changed fields", nil, of(disclosure.Published, "title", report(nil)), "is new, and yet title changed"},
		{"a back-filled report", nil, of(disclosure.Backfilled, "", report(func(r *disclosure.Report) { r.Backfilled = true })), ""},
		{"a back-filled report that does not say so", nil, of(disclosure.Backfilled, "", report(nil)), "its Backfilled field is false"},
		{"an imported report", nil, of(disclosure.Backfilled, "", report(func(r *disclosure.Report) { r.AvailableAt = at.Add(-time.Hour) })), ""},
		{"a report that is not available", nil, of(disclosure.Published, "", report(func(r *disclosure.Report) { r.AvailableAt = time.Time{} })), "is available at"},
		{"a report that is available later", nil, of(disclosure.Published, "", report(func(r *disclosure.Report) { r.AvailableAt = at.Add(1) })), "is available at"},
		{"a report that was never seen", nil, of(disclosure.Published, "", report(func(r *disclosure.Report) { r.FirstSeenAt = time.Time{} })), "is available at"},
		{"an update", first, of(disclosure.Updated, "title", retitled), ""},
		{"an update of history", first, of(disclosure.Backfilled, "title", retitled), ""},
		{"a second publication", first, of(disclosure.Published, "title", retitled), `want "report.updated"`},
		{"a correction", first, of(disclosure.Corrected, "corrected_by", corrected), ""},
		{"a correction that is an update", first, of(disclosure.Updated, "corrected_by", corrected), `want "report.corrected"`},
		{"an update that is a correction", first, of(disclosure.Corrected, "title", retitled), `want "report.updated"`},
		{"an update of nothing", first, of(disclosure.Updated, "", report(nil)), "nothing of oir-1 changed"},
		{"an update that names another field", first, of(disclosure.Updated, "summary", retitled), "changed in title, but names summary"},
		{"an update that names too many", first, of(disclosure.Updated, "title summary", retitled), "changed in title, but names title, summary"},
		{"an update that lost values", first, of(disclosure.Updated, "title", report(func(r *disclosure.Report) {
			r.Title = "Otro acuerdo"
			r.Summary = ""
			r.CompanyName = ""
		})), "oir-1 lost a value of company_name, summary"},
		{"an issuer", nil, ofIssuer(disclosure.IssuerUpdated, "", "UNO", "SIBE"), ""},
		{"an issuer with the event of a report", nil, ofIssuer(disclosure.Published, "", "UNO", "SIBE"), "is not an event of issuers"},
		{"an issuer that changed", ofIssuer(disclosure.IssuerUpdated, "", "UNO", "SIBE"), ofIssuer(disclosure.IssuerUpdated, "ticker", "DOS", "SIBE"), ""},
		{"an issuer that did not", ofIssuer(disclosure.IssuerUpdated, "", "UNO", "SIBE"), ofIssuer(disclosure.IssuerUpdated, "ticker", "UNO", "SIBE"), "nothing of A00000001 changed"},
		{"an issuer that lost a value", ofIssuer(disclosure.IssuerUpdated, "", "UNO", "SIBE"), ofIssuer(disclosure.IssuerUpdated, "ticker", "DOS", ""), "A00000001 lost a value of market"},
	} {
		err := verify.Change(test.before, test.change)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestFindingText(t *testing.T) {
	f := verify.Finding{Kind: verify.Pointer, Level: verify.Error, Where: "report oir-1", Text: "it is missing", Repairable: true}
	if got := f.String(); got != "error pointer, report oir-1: it is missing (repairable)" {
		t.Error(got)
	}
	f.Repairable = false
	if got := f.String(); got != "error pointer, report oir-1: it is missing (not repairable)" {
		t.Error(got)
	}
}
