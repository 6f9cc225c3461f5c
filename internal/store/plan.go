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
	p := plan{now: now.UTC().Truncate(time.Microsecond), updated: disclosure.Updated}
	if b.Quiet {
		p.updated = disclosure.Backfilled
	}
	event := cmp.Or(b.New, disclosure.Published)
	for _, told := range b.Issuers {
		p.issuer(told, known.Issuers)
	}
	for _, told := range b.Reports {
		p.report(told, known.Reports, event)
	}
	counted := p.outcome
	for _, told := range b.Aside {
		if _, found := known.Reports[told.ID]; found {
			p.report(told, known.Reports, event)
		}
	}
	return p.changes, counted
}

type plan struct {
	now     time.Time
	updated disclosure.Event // of a known report
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

func (p *plan) report(told disclosure.Report, known map[string]disclosure.Report, event disclosure.Event) {
	have, found := known[told.ID]
	merged, changed := told, []string(nil)
	if found {
		merged, changed = have.Merge(told)
		event = p.updated
		if slices.Contains(changed, "corrected_by") {
			event = disclosure.Corrected
		}
	} else {
		merged.Backfilled = merged.Backfilled || event == disclosure.Backfilled
		merged.AvailableAt = p.now
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

// count notes the outcome of one record and tells whether it makes a change.
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
