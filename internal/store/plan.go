package store

import (
	"cmp"
	"slices"
	"time"

	"pregon/internal/disclosure"
)

// Known is the present state of a batch's subjects, by id. Both maps are made,
// though they may be empty.
type Known struct {
	Issuers map[string]disclosure.Issuer
	Reports map[string]disclosure.Report
}

// Plan works out the changes that a batch makes to what is known: the part of
// Append that is the same for every engine. The changes carry no seq yet.
// Known is brought up to date on the way, since a batch may name a subject
// twice.
func Plan(b Batch, known Known, now time.Time) ([]disclosure.Change, Outcome) {
	p := plan{now: now.UTC().Truncate(time.Microsecond), event: cmp.Or(b.New, disclosure.Published)}
	for _, told := range b.Issuers {
		p.issuer(told, known.Issuers)
	}
	for _, told := range b.Reports {
		p.report(told, known.Reports)
	}
	counted := p.outcome
	for _, told := range b.Aside {
		if _, found := known.Reports[told.ID]; found {
			p.report(told, known.Reports)
		}
	}
	return p.changes, counted
}

type plan struct {
	now     time.Time
	event   disclosure.Event // of a report that was not known
	changes []disclosure.Change
	outcome Outcome
}

func (p *plan) issuer(told disclosure.Issuer, known map[string]disclosure.Issuer) {
	have, found := known[told.ID]
	merged, changed := told, []string(nil)
	if found {
		merged, changed = have.Merge(told)
	}
	if !p.count(found, changed) {
		return
	}
	if !found {
		p.outcome.NewIssuers++
	}
	known[told.ID] = merged
	p.changes = append(p.changes, disclosure.Change{
		Event: disclosure.IssuerUpdated, OccurredAt: p.now, Changed: changed, Issuer: &merged,
	})
}

func (p *plan) report(told disclosure.Report, known map[string]disclosure.Report) {
	have, found := known[told.ID]
	merged, changed := told, []string(nil)
	event := p.event
	if found {
		merged, changed = have.Merge(told)
		event = p.changeEvent(&merged, changed, known)
	} else {
		// One that says when it became available comes from another store, and stays
		// as it was there.
		if told.AvailableAt.IsZero() || told.AvailableAt.After(p.now) {
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
	known[told.ID] = merged
	p.changes = append(p.changes, disclosure.Change{Event: event, OccurredAt: p.now, Changed: changed, Report: &merged})
}

// changeEvent returns the event of a change to a known report. What is learned
// about history is Backfilled, whatever changed. A correction is news when the
// correcting report is.
func (p *plan) changeEvent(r *disclosure.Report, changed []string, known map[string]disclosure.Report) disclosure.Event {
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
// history, or was published and known more than a day ago. One that was learned
// of late, after an outage, is news for as long as any other.
func (p *plan) isHistory(r *disclosure.Report) bool {
	const news = 24 * time.Hour
	return r.Backfilled || p.now.Sub(r.PublishedAt) > news && p.now.Sub(r.AvailableAt) > news
}

// count notes the outcome of one record and reports whether it makes a change.
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
