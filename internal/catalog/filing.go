package catalog

import (
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// Filing is one filing of a snapshot.
type Filing struct {
	doc *search.Doc
	of  *Snapshot
}

func (f Filing) record() record { return record(f.of.index.Record(f.doc)) }

// Report decodes the filing, for whoever shows all of it.
func (f Filing) Report() *disclosure.Report {
	r := f.record().report(&f.of.links)
	r.Category = f.of.index.Heading(f.doc)
	return r
}

// ID returns its id.
func (f Filing) ID() string { return disclosure.ReportID(f.doc.Type(), f.doc.Number()) }

// Published returns when it was published.
func (f Filing) Published() time.Time { return f.doc.Published() }

// CompanyName returns who filed it, as the filing says.
func (f Filing) CompanyName() string { return f.record().text(`"company_name":`) }

// Title returns its subject.
func (f Filing) Title() string { return f.record().text(`"title":`) }

// Type returns the series it belongs to.
func (f Filing) Type() disclosure.Type { return f.doc.Type() }

// Clocks returns when the filing reached each stage, zero where it has not,
// and whether it came as history, so that they say nothing of latency. It
// decodes nothing else.
func (f Filing) Clocks() (published, firstSeen, available, enriched time.Time, backfilled bool) {
	r := f.record()
	return f.doc.Published(), r.firstSeen(), r.available(), r.enriched(), r.backfilled()
}

// Issuer returns its issuer, nil when the directory does not know it.
func (f Filing) Issuer() *disclosure.Issuer { return f.of.index.Issuer(f.doc) }

// IssuerID returns the id of its issuer: the directory's where it knows it,
// else the one it would have there, else nothing.
func (f Filing) IssuerID() string {
	return f.of.index.IssuerID(f.doc.Ref)
}

// directoryTicker is shown where the filing has none of its own.
func (f Filing) directoryTicker() string {
	if i := f.Issuer(); i != nil {
		return i.Ticker
	}
	return ""
}

// Ticker returns the filing's own ticker, else its issuer's.
func (f Filing) Ticker() string {
	if r := f.record(); r.split() == 0 {
		return r.text(`"ticker":`)
	}
	return f.directoryTicker()
}

// AppendJSON appends the contract's Report.
func (f Filing) AppendJSON(b []byte) []byte { return f.record().appendJSON(b, f.directoryTicker()) }

// Hash names the content of AppendJSON, the same in every process.
func (f Filing) Hash() uint64 {
	h := f.record().hash()
	if f.record().split() == 0 {
		return h // its own ticker is in it
	}
	for i, ticker := 0, f.directoryTicker(); i < len(ticker); i++ {
		h = (h ^ uint64(ticker[i])) * fnvPrime
	}
	return h
}

const fnvPrime = 1099511628211
