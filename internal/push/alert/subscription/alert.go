package subscription

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	authsecret "pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/events"
)

// maxFilters is the number of characters in the filters of an account's alerts together.
const maxFilters = 10_000

// AlertDraft holds what the account of an alert chooses.
type AlertDraft struct {
	Channel string
	Filter  disclosure.Filter // with a Watchlist for an alert on a list
	Rhythm  alert.Rhythm
	At      alert.Minute
	Weekday time.Weekday
	Enabled bool
}

func draftOf(a *Alert) AlertDraft {
	return AlertDraft{
		Channel: a.Channel,
		Filter:  a.Filter,
		Rhythm:  a.Rhythm,
		At:      a.At,
		Weekday: a.Weekday,
		Enabled: a.Enabled,
	}
}

// apply sets what the draft says, as a record has it.
func (d AlertDraft) apply(a *Alert) {
	a.Channel = d.Channel
	a.Filter = d.Filter
	a.Filter.Entries = nil
	a.Rhythm = d.Rhythm
	a.At = d.At
	a.Weekday = d.Weekday
	a.Enabled = d.Enabled
	if d.Rhythm != alert.Weekly {
		a.Weekday = 0
	}
	if d.Rhythm != alert.Weekly && d.Rhythm != alert.Daily {
		a.At = 0
	}
}

// CheckAlert returns why CreateAlert would refuse a draft, apart from its channel, which may
// not be made yet.
func (r *Registry) CheckAlert(ctx context.Context, by access.Reach, d AlertDraft) error {
	if err := r.Refresh(ctx); err != nil {
		return err
	}
	if r.countAlerts(by.Account()) >= r.o.Limits.Alerts {
		return tooMany("alerts", r.o.Limits.Alerts)
	}
	return r.checkSelection(by, "", d)
}

// check validates a draft.
func (r *Registry) check(by access.Reach, id string, d AlertDraft) error {
	c := r.Known().Channels[d.Channel]
	if c == nil || !by.Has(c.Account, c.Key) {
		return fault.InvalidField("channel", d.Channel, "is not one of your channels")
	}
	return r.checkSelection(by, id, d)
}

// checkSelection validates what a draft selects, and when it is sent.
func (r *Registry) checkSelection(by access.Reach, id string, d AlertDraft) error {
	switch {
	case !d.Rhythm.Known():
		return fault.InvalidField("rhythm", string(d.Rhythm), "must be at_once, grouped, daily or weekly")
	case !isMinute(d.At):
		return fault.InvalidField("at", "", "must be a time from 00:00 to 23:59")
	case d.Weekday < time.Sunday || d.Weekday > time.Saturday:
		return fault.InvalidField("weekday", "", "must be a day of the week")
	}
	if reason := events.FilterError(d.Filter); reason.Format != "" {
		return fault.InvalidField("filter", d.Filter.Search, "%s", reason)
	}
	n := events.FilterLength(d.Filter)
	for _, a := range r.Known().Alerts {
		if a.Account == by.Account() && a.ID != id {
			n += events.FilterLength(a.Filter)
		}
	}
	if n > maxFilters {
		return fault.InvalidField("filter", d.Filter.Search, "brings the filters of all your alerts to %d "+
			"characters, and %d are allowed: shorten some, or delete an alert", n, maxFilters)
	}
	return nil
}

// CreateAlert adds an alert.
func (r *Registry) CreateAlert(ctx context.Context, by access.Reach, d AlertDraft) (*Alert, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	if err := r.check(by, "", d); err != nil {
		return nil, err
	}
	if r.countAlerts(by.Account()) >= r.o.Limits.Alerts {
		return nil, tooMany("alerts", r.o.Limits.Alerts)
	}
	now := present()
	a := Alert{Alert: alert.Alert{
		ID:        alertPrefix + authsecret.RandomText(idLength),
		Account:   by.Account(),
		Key:       by.Maker(),
		CreatedAt: now,
		UpdatedAt: now,
	}}
	d.apply(&a)
	made, err := r.putAlert(ctx, a, a.Enabled)
	if err != nil {
		return nil, err
	}
	if r.countAlerts(by.Account()) > r.o.Limits.Alerts { // others were created at the same time
		_, err := r.write(ctx, made.ID, "", made.revision)
		return nil, cmp.Or(err, tooMany("alerts", r.o.Limits.Alerts))
	}
	r.auditAlert(ctx, "alert.created", made)
	return made, nil
}

func (r *Registry) countAlerts(account string) (n int) {
	for _, a := range r.Known().Alerts {
		if a.Account == account {
			n++
		}
	}
	return n
}

// ListAlerts returns the alerts within a reach, oldest first.
func (r *Registry) ListAlerts(ctx context.Context, by access.Reach) ([]*Alert, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	var all []*Alert
	for _, a := range r.Known().Alerts {
		if by.Has(a.Account, a.Key) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *Alert) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// ChangeAlert changes the draft of an alert. An alert that is enabled again starts with
// the next change.
func (r *Registry) ChangeAlert(
	ctx context.Context, by access.Reach, id string, change func(*AlertDraft) error,
) (*Alert, error) {
	for {
		found, err := r.FindAlert(ctx, by, id)
		if err != nil {
			return nil, err
		}
		a := *found
		d := draftOf(&a)
		if err := change(&d); err != nil {
			return nil, err
		}
		if err := r.check(by, id, d); err != nil {
			return nil, err
		}
		d.apply(&a)
		if draftOf(&a) == draftOf(found) {
			return found, nil
		}
		a.UpdatedAt = present()
		put, err := r.putAlert(ctx, a, a.Enabled && !found.Enabled)
		if err == nil {
			r.auditAlert(ctx, "alert.changed", put)
			return put, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return nil, err
		}
	}
}

// DeleteAlert removes an alert. What only it has selected is not sent any more.
func (r *Registry) DeleteAlert(ctx context.Context, by access.Reach, id string) error {
	for {
		a, err := r.FindAlert(ctx, by, id)
		if err != nil {
			return err
		}
		if _, err = r.write(ctx, a.ID, "", a.revision); err == nil {
			r.auditAlert(ctx, "alert.deleted", a)
			return nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}
