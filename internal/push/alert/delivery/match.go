package delivery

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/events"
	"pregon/internal/push/queue"
	"pregon/internal/store"
)

const (
	pageSize     = 500                    // changes that are read at once
	maxRows      = 5000                   // of one transaction, approximately
	maxMatchTime = 100 * time.Millisecond // after which the matched deliveries are written
)

// The events that alerts tell.
var (
	reportEvents   = []disclosure.Event{disclosure.Published, disclosure.Updated, disclosure.Corrected}
	positionEvents = []disclosure.Event{disclosure.PositionPublished, disclosure.PositionUpdated}
)

// newFan returns what follows the log.
func (s *Service) newFan() *queue.Fan {
	return &queue.Fan{
		Store:    s.store,
		Consumer: store.ForAlerts,
		Logger:   s.log,
		Noun:     "channels of alerts",
		Seen:     func() (disclosure.Head, disclosure.Mark) { return s.o.Encoder.Seen() },
		Epoch:    func() string { return s.o.Alerts.Known().Epoch },
		Refresh:  s.refresh,
		Created:  s.wakeUp,
		Match:    s.match,
	}
}

// refresh loads alerts and lists as they are now.
func (s *Service) refresh(ctx context.Context) error {
	if err := s.o.Alerts.Refresh(ctx); err != nil {
		return err
	}
	return s.o.Lists.Refresh(ctx)
}

// selections are the alerts of a snapshot, compiled.
type selections struct {
	of  *subscription.Snapshot
	all []*selection // sorted by id
}

// selection is a compiled alert.
type selection struct {
	alert     *subscription.Alert
	reports   *events.Selector
	positions *events.Selector // nil: none are asked for
	searches  *positionLists   // of the list of the alert; nil if positions does not use them
}

// selections returns the enabled alerts. Those that have not changed are not compiled again.
func (s *Service) selections(known *subscription.Snapshot) *selections {
	before := s.known.Load()
	if before != nil && before.of == known {
		return before
	}
	had := map[string]*selection{}
	lists := map[string]*positionLists{} // by id of the list
	if before != nil {
		for _, sel := range before.all {
			had[sel.alert.ID] = sel
			if sel.searches != nil {
				lists[sel.alert.Filter.Watchlist] = sel.searches
			}
		}
	}
	next := &selections{of: known}
	for id, a := range known.Alerts {
		switch sel := had[id]; {
		case !a.Enabled || events.FilterError(a.Filter).Format != "":
		case sel != nil && sel.alert == a:
			next.all = append(next.all, sel)
		default:
			next.all = append(next.all, s.compile(a, lists))
		}
	}
	slices.SortFunc(next.all, func(a, b *selection) int { return strings.Compare(a.alert.ID, b.alert.ID) })
	s.known.Store(next)
	return next
}

// compile prepares an alert. A filter with conditions on positions asks for positions.
// Without them, its watchlist may have searches for positions. Alerts of one list share them.
func (s *Service) compile(a *subscription.Alert, lists map[string]*positionLists) *selection {
	out := &selection{alert: a}
	selection := events.Selection{Events: reportEvents, Filter: a.Filter}
	out.reports = selection.Compile(s.o.Lists)
	selection.Events = positionEvents
	switch {
	case a.Filter.ForPositions():
		out.positions = selection.Compile(s.o.Lists)
	case a.Filter.Watchlist != "" && !a.Filter.ForReports():
		out.searches = lists[a.Filter.Watchlist]
		if out.searches == nil {
			out.searches = &positionLists{lists: s.o.Lists}
			lists[a.Filter.Watchlist] = out.searches
		}
		out.positions = selection.Compile(out.searches)
	}
	return out
}

// positionLists have of a list only the saved searches that ask for positions.
type positionLists struct {
	lists events.Lists
	last  atomic.Pointer[positionEntries]
}

type positionEntries struct{ of, positions *disclosure.Entries }

// Entries returns the same pointer until the list changes.
func (l *positionLists) Entries(id string) *disclosure.Entries {
	now := l.lists.Entries(id)
	if now == nil {
		return nil
	}
	if last := l.last.Load(); last != nil && last.of == now {
		return last.positions
	}
	next := &positionEntries{of: now, positions: &disclosure.Entries{}}
	for _, f := range now.Filters {
		if f.ForPositions() {
			next.positions.Filters = append(next.positions.Filters, f)
		}
	}
	l.last.Store(next)
	return next.positions
}

// selector returns what selects the changes of a subject, nil if none is selected.
func (s *selection) selector(of disclosure.Subject) *events.Selector {
	switch of {
	case disclosure.OfReport:
		return s.reports
	case disclosure.OfPosition:
		return s.positions
	}
	return nil
}

// isNews reports whether people receive messages about a change. An update is news only of a
// report that was published in the last days, live: it may be the first one that an alert
// selects.
func isNews(c *disclosure.Change) bool {
	switch c.Event {
	case disclosure.Published, disclosure.Corrected, disclosure.PositionPublished, disclosure.PositionUpdated:
		return true
	case disclosure.Updated:
		r := c.Report
		return !r.Backfilled && !r.AvailableAt.IsZero() && c.OccurredAt.Sub(r.AvailableAt) < queue.MaxDelay
	}
	return false
}

// startsBefore reports whether an alert began before a change. If the change updates a
// report, the alert was made, and its channel confirmed, before the report was published:
// the channel may have had a message about it before its receiver ended it.
func (s *selection) startsBefore(c *disclosure.Change, to *subscription.Channel) bool {
	if c.Seq <= s.alert.StartsAfter {
		return false
	}
	if c.Event != disclosure.Updated {
		return true
	}
	published := c.Report.AvailableAt
	return !published.Before(s.alert.CreatedAt) && !published.Before(to.ConfirmedAt)
}

// story returns what a channel has one delivery of. A position has one of each change.
func story(c *disclosure.Change) string {
	switch c.Event {
	case disclosure.Published, disclosure.Updated:
		return "report " + c.Report.ID
	case disclosure.Corrected:
		return "report " + c.Report.ID + " corrected by " + c.Report.CorrectedBy
	}
	return ""
}

// listens reports whether deliveries to a channel are created. A channel that was paused
// lately may be resumed before they are too old.
func listens(c *subscription.Channel, now time.Time) bool {
	if c == nil {
		return false
	}
	return c.State == alert.Active || c.State == alert.Paused && now.Sub(c.Since) < queue.MaxDelay
}

// match returns the deliveries of the next changes.
func (s *Service) match(ctx context.Context, from int64, newest disclosure.Cursor) (store.FanOut, error) {
	f, known := s.newFanOut()
	all := s.selections(known).all
	f.To = newest.Seq
	for _, sel := range all {
		f.To = min(f.To, sel.alert.StartsAfter)
	}
	if f.To > from {
		return f, nil // every alert starts after these changes
	}
	f.To = from
	changes, err := s.store.Changes(ctx, from, int(min(pageSize, newest.Seq-from)))
	if err != nil {
		return f, err
	}
	restored, err := s.lastRestore(ctx, s.o.Encoder.Head())
	if err != nil {
		return f, err
	}
	start := time.Now()
	defer func() { s.counts.matching.Add(int64(time.Since(start))) }()
	for i := range changes {
		c := &changes[i]
		f.To = c.Seq
		if !isNews(c) || restored.hasAgain(c) {
			continue
		}
		e := s.o.Encoder.Encode(c)
		texts := false
		selected := s.deliveries(known, all, c, func(sel *events.Selector) bool {
			matched := sel.Match(e)
			byText := matched && sel.NeedsText(e)
			texts = texts || byText
			return matched && !byText
		})
		if texts {
			selected = append(selected, store.Delivery{Webhook: textQueue, Seq: c.Seq, Event: string(c.Event)})
		}
		f.Deliveries = append(f.Deliveries, selected...)
		if len(f.Deliveries) >= maxRows || time.Since(start) > maxMatchTime {
			break
		}
	}
	return f, nil
}

// newFanOut returns a fan-out with the revisions of the alerts and lists that are known,
// and the alerts. Lists that change while changes are matched are newer.
func (s *Service) newFanOut() (store.FanOut, *subscription.Snapshot) {
	lists := s.o.Lists.Revision()
	known := s.o.Alerts.Known()
	return store.FanOut{Revisions: map[string]int64{
		"alert":     known.Revision,
		"watchlist": lists,
	}}, known
}

// deliveries returns one delivery of a change to each channel of the alerts that the
// function matches, due when the soonest of them asks for it.
func (s *Service) deliveries(
	known *subscription.Snapshot, all []*selection, c *disclosure.Change, match func(*events.Selector) bool,
) (out []store.Delivery) {
	now := time.Now()
	of := map[string]int{} // the places of channels in out
	for _, sel := range all {
		selector := sel.selector(c.Of())
		a := &sel.alert.Alert
		to := known.Channels[a.Channel]
		awaited := selector != nil && listens(to, now) && sel.startsBefore(c, to)
		if !awaited || !match(selector) || !s.admits(a, &to.Channel, string(c.Event), now) {
			continue
		}
		d := store.Delivery{
			Webhook: a.Channel,
			Seq:     c.Seq,
			Event:   string(c.Event),
			Story:   story(c),
			Lane:    string(a.Rhythm),
			Cause:   a.ID,
		}
		d.Wait, d.At = s.wait(a, c, now)
		i, had := of[a.Channel]
		if !had {
			of[a.Channel] = len(out)
			out = append(out, d)
			continue
		}
		first := &out[i]
		first.Cause = store.JoinCauses(first.Cause, d.Cause)
		if d.Wait < first.Wait {
			first.Wait = d.Wait
			first.At = d.At
			first.Lane = d.Lane
		}
	}
	return out
}
