package disclosure

import "time"

// Event returns what a change is.
type Event string

const (
	// Published: a report seen for the first time, live or healed after an outage.
	Published Event = "report.published"
	// Backfilled: a report of the past, loaded by import or backfill, or
	// something learned about one.
	Backfilled Event = "report.backfilled"
	// Updated: something of a known report changed; Change.Changed names it.
	Updated Event = "report.updated"
	// Corrected: the regulator says that a new report, CorrectedBy, rectifies
	// or cancels this one.
	Corrected Event = "report.corrected"
	// IssuerUpdated: the directory learnt of an issuer or something about it.
	IssuerUpdated Event = "issuer.updated"
)

// Change is one row of the append-only log: what happened, and the report or
// issuer as it then was. Exactly one of Report and Issuer is set.
//
// Seq has no gaps and rises in the order of commits, so that a reader who has
// seen n has seen everything up to n.
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
