package account

import (
	"context"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/query"
	"pregon/internal/store"
)

// Alert selects events and sends them to a channel.
type Alert struct {
	ID          string           `json:"id"`
	Key         *string          `json:"key"`
	Channel     string           `json:"channel"`
	Watchlist   *string          `json:"watchlist"`
	Filter      query.FilterBody `json:"filter"`
	Rhythm      string           `json:"rhythm"`
	At          *string          `json:"at"`
	Weekday     *string          `json:"weekday"`
	Enabled     bool             `json:"enabled"`
	StartsAfter int64            `json:"starts_after"`
	CreatedAt   time.Time        `json:"created_at"`
	UpdatedAt   time.Time        `json:"updated_at"`
	// Warnings are sentences about values of the request that were accepted but are
	// probably wrong.
	Warnings []string `json:"-"`
}

// AlertList is the alerts that the caller may see, oldest first.
type AlertList struct {
	Data []Alert `json:"data"`
}

func newAlert(a *subscription.Alert) Alert {
	out := Alert{
		ID:          a.ID,
		Key:         query.OrNull(a.Key),
		Channel:     a.Channel,
		Watchlist:   query.OrNull(a.Filter.Watchlist),
		Filter:      query.NewFilterBody(a.Filter),
		Rhythm:      string(a.Rhythm),
		Enabled:     a.Enabled,
		StartsAfter: a.StartsAfter,
		CreatedAt:   query.Madrid(a.CreatedAt),
		UpdatedAt:   query.Madrid(a.UpdatedAt),
	}
	if a.Rhythm == alert.Daily || a.Rhythm == alert.Weekly {
		out.At = query.OrNull(a.At.String())
	}
	if a.Rhythm == alert.Weekly {
		out.Weekday = query.OrNull(strings.ToLower(a.Weekday.String()))
	}
	return out
}

// AlertDraft is a request that makes or changes an alert. A change keeps what is absent.
type AlertDraft struct {
	// Watchlist is the id of a list of the account: the same as a Filter with that list.
	Watchlist *string           `json:"watchlist"`
	Filter    *query.FilterBody `json:"filter"`
	Channel   *ChannelChoice    `json:"channel"`
	Rhythm    *string           `json:"rhythm"`
	At        *string           `json:"at"`
	Weekday   *string           `json:"weekday"`
	Enabled   *bool             `json:"enabled"`
}

// ChannelChoice is the channel of an alert: the id of a channel of the caller, or a kind and
// an address. If the caller has no such channel, it is created.
type ChannelChoice struct {
	ID       *string `json:"id"`
	Kind     *string `json:"kind"`
	To       *string `json:"to"`
	Language *string `json:"language"`
}

// DefaultAt is when a daily or weekly message is sent unless the caller says when: after
// the close of the market, on Friday.
const (
	DefaultAt      = alert.Minute(18 * 60)
	defaultWeekday = time.Friday
)

// apply sets the fields of a draft. The error has every field that is not valid.
func (b AlertDraft) apply(d *subscription.AlertDraft, p *query.Params, now *catalog.Snapshot) error {
	b.applyFilter(d, p, now)
	if b.Rhythm != nil {
		d.Rhythm = alert.Rhythm(*b.Rhythm)
		if !d.Rhythm.Known() {
			p.Reject("rhythm", *b.Rhythm, "must be at_once, grouped, daily or weekly")
		}
	}
	if b.At != nil {
		d.At = readMinute(p, "at", *b.At)
	}
	if b.Weekday != nil {
		d.Weekday = readWeekday(p, *b.Weekday)
	}
	if b.Enabled != nil {
		d.Enabled = *b.Enabled
	}
	return p.Err()
}

func (b AlertDraft) applyFilter(d *subscription.AlertDraft, p *query.Params, now *catalog.Snapshot) {
	if b.Watchlist == nil && b.Filter == nil {
		return
	}
	var body query.FilterBody
	if b.Filter != nil {
		body = *b.Filter
	}
	if b.Watchlist != nil {
		if body.Watchlist != "" && body.Watchlist != *b.Watchlist {
			p.Reject("watchlist", *b.Watchlist, "is not the list in the filter: give only one of them")
		}
		body.Watchlist = *b.Watchlist
	}
	asked := body.KeepFilter(p, now)
	if asked == (disclosure.Filter{}) && p.Valid() {
		p.Reject("filter", "", "is needed if there is no watchlist: an alert for every report is not offered")
	}
	same := asked
	same.Widen = d.Filter.Widen
	if same != d.Filter { // one that is stored keeps its meaning
		d.Filter = asked
	}
}

// readWeekday reads a day of the week in English.
func readWeekday(p *query.Params, name string) time.Weekday {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(day.String(), name) {
			return day
		}
	}
	p.Reject("weekday", name, "must be monday, tuesday, wednesday, thursday, friday, saturday or sunday")
	return 0
}

// channel returns the id of the chosen channel. If the account has no channel with the
// chosen address, it is created, and its receiver is asked to confirm it.
func (s *Service) channel(ctx context.Context, by access.Principal, c ChannelChoice) (string, error) {
	named := c.Kind != nil || c.To != nil || c.Language != nil
	switch {
	case c.ID != nil && named:
		return "", rejected("channel.id", *c.ID, "is enough: leave out the kind and the address")
	case c.ID != nil:
		return *c.ID, nil
	}
	made, err := s.CreateChannel(ctx, by, ChannelDraft{
		Kind:     c.Kind,
		To:       c.To,
		Language: c.Language,
	})
	return made.ID, err
}

// CreateAlert makes an alert.
func (s *Service) CreateAlert(ctx context.Context, by access.Principal, asked AlertDraft) (Alert, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Alert{}, err
	}
	draft := subscription.AlertDraft{
		Enabled: true,
		Rhythm:  alert.Grouped,
		At:      DefaultAt,
		Weekday: defaultWeekday,
	}
	p := s.o.Query.NewParams(nil).For(by)
	if asked.Watchlist == nil && asked.Filter == nil {
		p.Reject("filter", "", "is needed if there is no watchlist")
	}
	if asked.Channel == nil {
		p.Reject("channel", "", "is needed: the id of one of your channels, or a kind and an address")
	}
	if err := asked.apply(&draft, p, now); err != nil {
		return Alert{}, err
	}
	if err := store.Within(ctx, func(ctx context.Context) error {
		return s.o.Alerts.CheckAlert(ctx, s.o.Keys.Reach(by), draft)
	}); err != nil {
		return Alert{}, err
	}
	if draft.Channel, err = s.channel(ctx, by, *asked.Channel); err != nil {
		return Alert{}, err
	}
	return bounded(ctx, func(ctx context.Context) (Alert, error) {
		a, err := s.o.Alerts.CreateAlert(ctx, s.o.Keys.Reach(by), draft)
		if err != nil {
			return Alert{}, err
		}
		if err := s.keep(ctx, by, func(ctx context.Context, r access.Reach) error {
			return s.o.Alerts.DeleteAlert(ctx, r, a.ID)
		}); err != nil {
			return Alert{}, err
		}
		out := newAlert(a)
		out.Warnings = append(p.Warnings(), s.channelWarnings(a.Channel)...)
		return out, nil
	})
}

// channelWarnings says why nothing is sent to a channel yet.
func (s *Service) channelWarnings(id string) []string {
	c := s.o.Alerts.Known().Channels[id]
	if c == nil {
		return nil
	}
	switch c.State {
	case alert.Unconfirmed:
		if c.Reason != "" {
			return []string{"The channel is not confirmed, so that nothing is sent: " + c.Reason + "."}
		}
		return []string{"The receiver must confirm the channel before anything is sent: the request was sent there."}
	case alert.Paused:
		return []string{"The channel is paused, so that nothing is sent: " + c.Reason + "."}
	case alert.Ended:
		return []string{"The channel has ended, so that nothing is sent: " + c.Reason + "."}
	}
	return nil
}

// ListAlerts returns the alerts that the caller may see.
func (s *Service) ListAlerts(ctx context.Context, by access.Principal) (AlertList, error) {
	all, err := bounded(ctx, func(ctx context.Context) ([]*subscription.Alert, error) {
		return s.o.Alerts.ListAlerts(ctx, s.o.Keys.Reach(by))
	})
	if err != nil {
		return AlertList{}, err
	}
	out := AlertList{Data: make([]Alert, 0, len(all))}
	for _, a := range all {
		out.Data = append(out.Data, newAlert(a))
	}
	return out, nil
}

// Alert returns an alert.
func (s *Service) Alert(ctx context.Context, by access.Principal, id string) (Alert, error) {
	return bounded(ctx, func(ctx context.Context) (Alert, error) {
		a, err := s.o.Alerts.FindAlert(ctx, s.o.Keys.Reach(by), id)
		if err != nil {
			return Alert{}, err
		}
		return newAlert(a), nil
	})
}

// ChangeAlert changes an alert.
func (s *Service) ChangeAlert(ctx context.Context, by access.Principal, id string, asked AlertDraft) (Alert, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Alert{}, err
	}
	if _, err := s.Alert(ctx, by, id); err != nil { // before a channel is made for it
		return Alert{}, err
	}
	channel := ""
	if asked.Channel != nil {
		if channel, err = s.channel(ctx, by, *asked.Channel); err != nil {
			return Alert{}, err
		}
	}
	return bounded(ctx, func(ctx context.Context) (Alert, error) {
		var p *query.Params
		a, err := s.o.Alerts.ChangeAlert(ctx, s.o.Keys.Reach(by), id, func(d *subscription.AlertDraft) error {
			p = s.o.Query.NewParams(nil).For(by) // it may be called again
			if channel != "" {
				d.Channel = channel
			}
			return asked.apply(d, p, now)
		})
		if err != nil {
			return Alert{}, err
		}
		out := newAlert(a)
		out.Warnings = p.Warnings()
		return out, nil
	})
}

// DeleteAlert deletes an alert.
func (s *Service) DeleteAlert(ctx context.Context, by access.Principal, id string) error {
	return store.Within(ctx, func(ctx context.Context) error {
		return s.o.Alerts.DeleteAlert(ctx, s.o.Keys.Reach(by), id)
	})
}
