package disclosure

import "time"

// Event is the kind of a change.
type Event string

const (
	// Published: a report seen for the first time, live or recovered after an outage.
	Published Event = "report.published"
	// Backfilled: a report of the past, loaded by import or backfill, or an update
	// of one.
	Backfilled Event = "report.backfilled"
	// Updated: fields of a known report changed; Change.Changed names them.
	Updated Event = "report.updated"
	// Corrected: according to the regulator a new report, CorrectedBy, rectifies
	// or cancels this one.
	Corrected Event = "report.corrected"
	// IssuerUpdated: an issuer was added to the directory or changed.
	IssuerUpdated Event = "issuer.updated"
)

// Subject is what a change is about: a report or an issuer, whose ids are
// independent of each other.
type Subject string

const (
	OfReport Subject = "report"
	OfIssuer Subject = "issuer"
)

// Change is one row of the append-only log: the event, and the report or issuer
// after the change. Exactly one of Report and Issuer is set.
//
// Seq has no gaps and rises in the order of commits, so that a reader that has
// read change n has read all changes up to n.
type Change struct {
	Seq        int64
	Event      Event
	OccurredAt time.Time
	Changed    []string
	Report     *Report
	Issuer     *Issuer
}

// Subject returns the id of the report or issuer the change is about.
func (c *Change) Subject() string {
	if c.Report != nil {
		return c.Report.ID
	}
	return c.Issuer.ID
}

// Of returns what the change is about.
func (c *Change) Of() Subject {
	if c.Report != nil {
		return OfReport
	}
	return OfIssuer
}
