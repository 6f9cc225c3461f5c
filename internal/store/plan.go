package store

import (
	"cmp"
	"slices"
	"time"

	"pregon/internal/disclosure"
)

// Known is the present state of a batch's subjects, by id. The maps are non-nil
// and may be empty.
type Known struct {
	Issuers   map[string]disclosure.Issuer
	Reports   map[string]disclosure.Report
	Positions map[string]disclosure.Position
}

// Planned is what a batch writes.
type Planned struct {
	Changes []disclosure.Change // without seqs
	Names   []SealedName        // of natural persons, which are not in the changes as they are stored
	Outcome Outcome
}

// Plan returns what a batch changes in the known records. It is the part of Append
// that is the same for every engine. Plan updates known, since a batch may contain a
// subject twice.
func Plan(b Batch, known Known, now time.Time) Planned {
	p := plan{now: now.UTC().Truncate(time.Microsecond), event: cmp.Or(b.New, disclosure.Published)}
	for _, issuer := range b.Issuers {
		p.issuer(issuer, known.Issuers)
	}
	for _, report := range b.Reports {
		p.report(report, known.Reports)
	}
	for _, position := range b.Positions {
		p.position(position, known.Positions)
	}
	counted := p.outcome
	for _, report := range b.Aside {
		if _, found := known.Reports[report.ID]; found {
			p.report(report, known.Reports)
		}
	}
	return Planned{Changes: p.changes, Names: p.names, Outcome: counted}
}

type plan struct {
	now     time.Time
	event   disclosure.Event // of a report that was not known
	changes []disclosure.Change
	names   []SealedName
	outcome Outcome
}

func (p *plan) issuer(given disclosure.Issuer, known map[string]disclosure.Issuer) {
	have, found := known[given.ID]
	merged, changed := given, []string(nil)
	if found {
		merged, changed = have.Merge(given)
	}
	if !p.count(found, changed) {
		return
	}
	if !found {
		p.outcome.NewIssuers++
	}
	known[given.ID] = merged
	p.changes = append(p.changes, disclosure.Change{
		Event:      disclosure.IssuerUpdated,
		OccurredAt: p.now,
		Changed:    changed,
		Issuer:     &merged,
	})
}

func (p *plan) report(given disclosure.Report, known map[string]disclosure.Report) {
	have, found := known[given.ID]
	merged, changed := given, []string(nil)
	event := p.event
	if found {
		merged, changed = have.Merge(given)
		event = p.changeEvent(&merged, changed, known)
	} else {
		// A report with an AvailableAt comes from another store and keeps its times.
		if given.AvailableAt.IsZero() || given.AvailableAt.After(p.now) {
			merged.Backfilled = merged.Backfilled || event == disclosure.Backfilled
			merged.AvailableAt = p.now
		}
		if merged.FirstSeenAt.IsZero() {
			merged.FirstSeenAt = p.now
		}
	}
	if !p.count(found, changed) {
		return
	}
	known[given.ID] = merged
	p.changes = append(p.changes, disclosure.Change{
		Event:      event,
		OccurredAt: p.now,
		Changed:    changed,
		Report:     &merged,
	})
}

// changeEvent returns the event of a change to a known report. New facts
// about history are Backfilled, whatever changed. A correction is news when the
// correcting report is.
func (p *plan) changeEvent(
	r *disclosure.Report,
	changed []string,
	known map[string]disclosure.Report,
) disclosure.Event {
	event, news := disclosure.Updated, !p.isHistory(r)
	if slices.Contains(changed, "corrected_by") {
		event = disclosure.Corrected
		if by, found := known[r.CorrectedBy]; found {
			news = !p.isHistory(&by)
		}
	}
	if !news || p.event == disclosure.Backfilled {
		return disclosure.Backfilled
	}
	return event
}

// isHistory reports whether a report is no longer news: it was loaded as
// history, or was published and known more than a day ago. A report
// that was read late, after an outage, is news for as long as any other.
func (p *plan) isHistory(r *disclosure.Report) bool {
	const news = 24 * time.Hour
	return r.Backfilled || p.now.Sub(r.ListedAt()) > news && p.now.Sub(r.AvailableAt) > news
}

// count counts the outcome of one record and reports whether it makes a change.
func (p *plan) count(found bool, changed []string) bool {
	switch {
	case !found:
		p.outcome.New++
	case len(changed) > 0:
		p.outcome.Updated++
	default:
		p.outcome.Unchanged++
		return false
	}
	return true
}
