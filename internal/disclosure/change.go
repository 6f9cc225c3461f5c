package disclosure

import (
	"strings"
	"time"
)

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

	// PositionPublished: an entry of a register seen for the first time.
	PositionPublished Event = "position.published"
	// PositionBackfilled: an entry of the past, or something that was learnt later
	// about one and is not news.
	PositionBackfilled Event = "position.backfilled"
	// PositionUpdated: fields of a known entry changed.
	PositionUpdated Event = "position.updated"
	// PositionWithdrawn: a later notice annuls the entry.
	PositionWithdrawn Event = "position.withdrawn"
)

// Subject is what a change is about: a report, an issuer or a position, whose ids are
// independent of each other.
type Subject string

const (
	OfReport   Subject = "report"
	OfIssuer   Subject = "issuer"
	OfPosition Subject = "position"
)

// Change is one row of the append-only log: the event, and the report, issuer or
// position after the change. Exactly one of Report, Issuer and Position is set.
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
	Position   *Position
}

// Subject returns the id of the report, issuer or position the change is about.
func (c *Change) Subject() string {
	switch c.Of() {
	case OfReport:
		return c.Report.ID
	case OfPosition:
		return c.Position.ID
	}
	return c.Issuer.ID
}

// Of returns what the change is about.
func (c *Change) Of() Subject {
	switch {
	case c.Report != nil:
		return OfReport
	case c.Position != nil:
		return OfPosition
	}
	return OfIssuer
}

// Of returns what changes with this event are about.
func (e Event) Of() Subject {
	switch {
	case e == IssuerUpdated:
		return OfIssuer
	case strings.HasPrefix(string(e), "position."):
		return OfPosition
	}
	return OfReport
}
