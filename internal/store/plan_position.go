package store

import (
	"slices"

	"pregon/internal/disclosure"
)

func (p *plan) position(given disclosure.Position, known map[string]disclosure.Position) {
	have, found := known[given.ID]
	merged, changed := given, []string(nil)
	event := disclosure.PositionPublished
	if p.event == disclosure.Backfilled {
		event = disclosure.PositionBackfilled
	}
	if found {
		merged, changed = have.Merge(given)
		event = p.positionEvent(&merged, changed)
	} else {
		p.begin(&merged)
	}
	if !p.count(found, changed) {
		return
	}
	if !found {
		p.outcome.NewPositions++
	}
	p.seal(&merged)
	known[given.ID] = merged
	p.changes = append(p.changes, disclosure.Change{
		Event:      event,
		OccurredAt: p.now,
		Changed:    changed,
		Position:   &merged,
	})
}

// begin completes a position that was not known. One with an AvailableAt comes from
// another store and keeps its times. It does not keep its seal, whose salt is unknown.
func (p *plan) begin(position *disclosure.Position) {
	if position.AvailableAt.IsZero() || position.AvailableAt.After(p.now) {
		position.Backfilled = position.Backfilled || p.event == disclosure.Backfilled
		position.AvailableAt = p.now
	}
	if position.FirstSeenAt.IsZero() {
		position.FirstSeenAt = p.now
	}
	position.Sealed = ""
	if position.Erased {
		position.Name = ""
	}
}

// seal seals the name of a natural person. The seal is kept until the name changes.
func (p *plan) seal(position *disclosure.Position) {
	if !position.Natural || position.Name == "" || position.Sealed != "" {
		return
	}
	sealed := SealName(position.Name)
	position.Sealed = sealed.Sealed
	p.names = append(p.names, sealed)
}

// learntLater are the fields that are no news when they are learnt of a position that
// was loaded as history.
var learntLater = []string{"trades", "issuer_id", "lei", "holder"}

// positionEvent returns the event of a change to a known position.
func (p *plan) positionEvent(merged *disclosure.Position, changed []string) disclosure.Event {
	news := func(field string) bool { return !slices.Contains(learntLater, field) }
	erased := merged.Erased && slices.Contains(changed, "holder")
	switch {
	case merged.State == disclosure.StateAnnulled && slices.Contains(changed, "state"):
		return disclosure.PositionWithdrawn
	case p.event == disclosure.Backfilled, erased, merged.Backfilled && !slices.ContainsFunc(changed, news):
		return disclosure.PositionBackfilled
	}
	return disclosure.PositionUpdated
}
