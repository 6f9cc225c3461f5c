package query

import (
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
)

// Events parses names of events.
func (p *Params) Events(names []string) (all []disclosure.Event) {
	for _, name := range names {
		e, ok := events.ParseEvent(strings.TrimSpace(name))
		if !ok {
			p.Reject("events", strings.Join(names, ","), "must be some of %s", events.EventNames(events.AllEvents))
			return nil
		}
		all = append(all, e)
	}
	return all
}

// Seq returns the seq of a change, 0 if the parameter is absent.
func (p *Params) Seq(name string) int64 {
	s := p.Text(name)
	c, ok := disclosure.ParseCursor(s)
	if s != "" && (!ok || c.Epoch != "") {
		p.Reject(name, s, "must be the seq of a change: a whole number")
	}
	return c.Seq
}

// PermittedEvents removes the events that the caller may not read. It fails if none is
// left.
func PermittedEvents(by access.Principal, all []disclosure.Event) ([]disclosure.Event, error) {
	if by.Scope.Has(access.ReadIssuers) {
		return all, nil
	}
	left := slices.DeleteFunc(slices.Clone(all), events.NeedsIssuers)
	if len(left) == 0 {
		return nil, by.MissingScope(access.ReadIssuers, events.EventNames(all))
	}
	return left, nil
}

// PermittedSelection is PermittedEvents for the events of a selection. It also fails if
// none is left that its filter can select.
func PermittedSelection(by access.Principal, s events.Selection) (events.Selection, error) {
	all := s.Names()
	var err error
	if s.Events, err = PermittedEvents(by, all); err != nil {
		return s, err
	}
	if s.Filter.ForPositions() && !s.Has(disclosure.OfPosition) {
		return s, by.MissingScope(access.ReadIssuers, events.EventNames(all))
	}
	return s, nil
}
