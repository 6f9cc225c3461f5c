package regulator

import (
	"time"

	"pregon/internal/disclosure"
)

// Row is a report as one surface of the site tells it: a line of a list, a
// permalink page, an item of a feed. What a surface does not tell is empty.
type Row struct {
	Surface   disclosure.Surface // whose times are as exact as At; not always the one that told
	FromFeed  bool               // told by a feed, which knows neither NIF nor document
	Type      disclosure.Type
	Number    int64
	Name      string // of the issuer
	NIF       string // the site's own key of the issuer, to the letter; not always a NIF
	Category  string // the heading, unsplit
	Title     string // the subject
	At        time.Time
	Later     time.Time // the other reading of a time in the hour that October has twice; else zero
	PDFURL    string    // of the document, as the public sees it
	SourceURL string    // of the page about it, as the public sees it
	Relations []disclosure.Relation
}

// Report returns the report as an observation made at a moment. Only what a
// page or a list told counts as enriched, however exact its time is.
func (r *Row) Report(seen time.Time) disclosure.Report {
	out := disclosure.Report{
		ID: disclosure.ReportID(r.Type, r.Number), Type: r.Type, Number: r.Number,
		CompanyName: r.Name, NIF: r.NIF, Title: r.Title, Category: r.Category,
		PublishedAt: r.At.UTC(), TimeFrom: r.Surface, PDFURL: r.PDFURL, SourceURL: r.SourceURL,
		Related: r.Relations, FirstSeenAt: seen.UTC(),
	}
	if !r.FromFeed {
		out.EnrichedAt = seen.UTC()
	}
	return out
}
