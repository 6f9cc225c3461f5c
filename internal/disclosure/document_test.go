package disclosure_test

import (
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
)

func ready(link string) disclosure.Document {
	return disclosure.Document{Status: disclosure.DocumentReady, Link: link, SHA256: strings.Repeat("0a", 32), Pages: 1}
}

// A document of unknown state is never reported as missing.
func TestDocumentNow(t *testing.T) {
	const link, other = "https://regulator.example/d", "https://regulator.example/e"
	failed := disclosure.Document{Status: disclosure.DocumentFailed, Reason: "It is empty.", Link: link}
	again := disclosure.Document{Status: disclosure.DocumentPending, Reason: "It is tried again."}
	tests := map[string]struct {
		change func(r *disclosure.Report)
		status disclosure.DocumentStatus
		reason string
		wants  bool
	}{
		"seen in the feed":        {func(*disclosure.Report) {}, disclosure.DocumentPending, "has not been read yet", false},
		"without a document":      {func(r *disclosure.Report) { r.EnrichedAt = r.PublishedAt }, disclosure.DocumentNone, "no document of its own", false},
		"with one":                {func(r *disclosure.Report) { r.PDFURL = link }, disclosure.DocumentPending, "waits for its turn", true},
		"history":                 {func(r *disclosure.Report) { r.PDFURL, r.Backfilled = link, true }, disclosure.DocumentNone, "not asked for", false},
		"history without one":     {func(r *disclosure.Report) { r.Backfilled = true }, disclosure.DocumentNone, "no document of its own", false},
		"history that is tried":   {func(r *disclosure.Report) { r.PDFURL, r.Backfilled, r.Document = link, true, again }, disclosure.DocumentPending, "tried again", true},
		"tried again":             {func(r *disclosure.Report) { r.PDFURL, r.Document = link, again }, disclosure.DocumentPending, "tried again", true},
		"ready":                   {func(r *disclosure.Report) { r.PDFURL, r.Document = link, ready(link) }, disclosure.DocumentReady, "", false},
		"failed":                  {func(r *disclosure.Report) { r.PDFURL, r.Document = link, failed }, disclosure.DocumentFailed, "empty", false},
		"failed under an old one": {func(r *disclosure.Report) { r.PDFURL, r.Document = other, failed }, disclosure.DocumentPending, "waits for its turn", true},
		"ready under an old one":  {func(r *disclosure.Report) { r.PDFURL, r.Document = other, ready(link) }, disclosure.DocumentPending, "waits for its turn", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newReport()
			test.change(&r)
			d := r.DocumentNow()
			if d.Status != test.status || !strings.Contains(d.Reason, test.reason) || r.WantsDocument() != test.wants {
				t.Errorf("got %+v, WantsDocument() = %v", d, r.WantsDocument())
			}
		})
	}
}

func TestMergeDocument(t *testing.T) {
	known := newReport()
	known.PDFURL = "https://regulator.example/d"
	at := known.PublishedAt.Add(4 * time.Second)

	text := known
	text.Document, text.TextReadyAt = ready(known.PDFURL), at
	checkMerge(t, known, disclosure.Report{Document: text.Document, TextReadyAt: at}, text, "document", "text_ready_at")

	sum := text
	sum.Summary, sum.SummaryMethod, sum.SummaryOf, sum.SummaryReadyAt = "Reparte 0,12 euros.", "extractive", text.Document.SHA256, at
	sum.Evidence = []disclosure.Evidence{{Text: "Reparte 0,12 euros.", Page: 1, Quote: "Reparte 0,12 euros."}}
	observed := disclosure.Report{Summary: sum.Summary, SummaryMethod: sum.SummaryMethod, SummaryOf: sum.SummaryOf, Evidence: sum.Evidence, SummaryReadyAt: at}
	checkMerge(t, text, observed, sum, "summary", "summary_method", "evidence", "summary_ready_at")

	// A better summary comes later: the clock keeps the time of the first.
	better := sum
	better.Summary, better.SummaryMethod = "El Consejo reparte 0,12 euros.", "model"
	better.Evidence = []disclosure.Evidence{{Text: better.Summary, Page: 1, Quote: "Reparte 0,12 euros."}}
	observed = disclosure.Report{Summary: better.Summary, SummaryMethod: "model", SummaryOf: sum.SummaryOf, Evidence: better.Evidence, SummaryReadyAt: at.Add(time.Minute)}
	checkMerge(t, sum, observed, better, "summary", "summary_method", "evidence")

	// An imported summary has no evidence.
	imported := better
	imported.Summary, imported.SummaryMethod, imported.SummaryOf, imported.Evidence = "Otra cosa.", "", "", nil
	checkMerge(t, better, disclosure.Report{Summary: "Otra cosa."}, imported, "summary", "summary_method", "evidence")
	if !imported.SummaryReadyAt.Equal(at) || imported.WantsSummary() {
		t.Errorf("unexpected merge of an imported summary: %+v", imported)
	}

	// The summary of one document is not kept for another.
	other := text.Document
	other.SHA256, other.Link = strings.Repeat("0b", 32), "https://regulator.example/e"
	replaced := text
	replaced.Document, replaced.SummaryReadyAt = other, at
	checkMerge(t, sum, disclosure.Report{Document: other}, replaced, "document", "summary", "summary_method", "evidence")
	checkMerge(t, replaced, observed, replaced) // a summary that was made too late
	failed := text
	failed.Document, failed.SummaryReadyAt = disclosure.Document{Status: disclosure.DocumentFailed, Reason: "It is empty.", Link: other.Link}, at
	checkMerge(t, sum, disclosure.Report{Document: failed.Document}, failed, "document", "summary", "summary_method", "evidence")
	stale := sum
	stale.Document = other
	if !stale.WantsSummary() || !replaced.WantsSummary() || failed.WantsSummary() {
		t.Error("WantsSummary is wrong for one of the reports")
	}

	// A later observation of the report does not change its document.
	again := better
	again.ForgetDocument()
	checkMerge(t, better, again, better)
	if text.WantsSummary() != true || known.WantsSummary() || sum.WantsSummary() {
		t.Error("WantsSummary is wrong for one of the reports")
	}
}
