package catalog

import (
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/segment"
)

// Report is one report of a snapshot.
type Report struct {
	doc *segment.Doc
	of  *Snapshot
}

func (f Report) record() record { return record(f.of.index.Record(f.doc)) }

// Decode returns the complete report.
func (f Report) Decode() *disclosure.Report {
	r := f.record().report(&f.of.links)
	r.Category = f.of.index.CategoryLine(f.doc)
	return r
}

// Facts returns what its document states. It decodes nothing else.
func (f Report) Facts() []disclosure.Fact { return f.record().facts() }

// ID returns its id.
func (f Report) ID() string { return disclosure.ReportID(f.Type(), f.doc.Number()) }

// Published returns when it was published, as the source states it.
func (f Report) Published() time.Time {
	if r := f.record(); r.suspect() {
		return r.published()
	}
	return f.doc.Listed()
}

// Listed returns the time by which lists order it: see disclosure.Report.ListedAt.
func (f Report) Listed() time.Time { return f.doc.Listed() }

// CompanyName returns the name of the company as in the report.
func (f Report) CompanyName() string { return f.record().text(`"company_name":`) }

// Title returns its subject.
func (f Report) Title() string { return f.record().text(`"title":`) }

// Categories returns its categories. The slice must not be modified.
func (f Report) Categories() []string {
	names, _ := f.of.index.Categories(f.doc.CategoryLine)
	return names
}

// Type returns the series it belongs to.
func (f Report) Type() disclosure.Type { return search.TypeOf(f.doc.Key) }

// Clocks returns when the report was listed and reached each further stage, zero where it has not,
// and whether it was loaded as history, so that the times do not show latency. It
// decodes nothing else.
func (f Report) Clocks() (published, firstSeen, available, enriched time.Time, backfilled bool) {
	r := f.record()
	return f.doc.Listed(), r.firstSeen(), r.available(), r.enriched(), r.backfilled()
}

// Issuer returns its issuer, or nil if it is not in the directory.
func (f Report) Issuer() *disclosure.Issuer { return f.of.index.Issuer(f.doc) }

// IssuerID returns the id of its issuer: that in the directory, else the one it
// would have there, else "".
func (f Report) IssuerID() string {
	return f.of.index.IssuerID(f.doc.Ref)
}

// directoryTicker returns the ticker of the issuer if the report has none.
func (f Report) directoryTicker() string {
	if i := f.Issuer(); i != nil {
		return i.Ticker
	}
	return ""
}

// Ticker returns the report's own ticker, else its issuer's.
func (f Report) Ticker() string {
	if r := f.record(); r.split() == 0 {
		return r.text(`"ticker":`)
	}
	return f.directoryTicker()
}

// AppendJSON appends the contract's Report.
func (f Report) AppendJSON(b []byte) []byte { return f.record().appendJSON(b, f.directoryTicker()) }

// Hash returns a hash of the output of AppendJSON. It is the same in every process.
func (f Report) Hash() uint64 {
	h := f.record().hash()
	if f.record().split() == 0 {
		return h // it includes the report's own ticker
	}
	for i, ticker := 0, f.directoryTicker(); i < len(ticker); i++ {
		h = (h ^ uint64(ticker[i])) * fnvPrime
	}
	return h
}

const fnvPrime = 1099511628211
