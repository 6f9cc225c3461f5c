package subscription

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pregon/internal/auth/access"
	authsecret "pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
)

const (
	maxName   = 100                // characters of the name of a channel
	linkValid = 3 * 24 * time.Hour // how long a request to confirm is valid
	day       = 24 * time.Hour
	minutes   = 24 * 60
)

// ChannelDraft holds what the account of a channel chooses.
type ChannelDraft struct {
	Kind     alert.Kind
	Address  string // empty for a kind with Senders.Invites
	Name     string
	Language string
	Quiet    alert.Quiet
}

// check validates what is not specific to the kind.
func (d *ChannelDraft) check() error {
	switch {
	case utf8.RuneCountInString(d.Name) > maxName:
		return fault.InvalidField("name", "", "may have 100 characters at most")
	case !utf8.ValidString(d.Name) || strings.ContainsFunc(d.Name, unicode.IsControl):
		return fault.InvalidField("name", "", "must be plain text on one line")
	case d.Language != "es" && d.Language != "en":
		return fault.InvalidField("language", d.Language, "must be es or en")
	case !isMinute(d.Quiet.From) || !isMinute(d.Quiet.To):
		return fault.InvalidField("quiet_hours", "", "must be times from 00:00 to 23:59")
	}
	return nil
}

func isMinute(m alert.Minute) bool { return m >= 0 && m < minutes }

// CreateChannel adds a channel and sends the request to confirm it. A channel whose
// address is not typed is confirmed at the address that invite has. A channel with the
// same address is returned as it is.
func (r *Registry) CreateChannel(
	ctx context.Context, by access.Reach, d ChannelDraft,
) (c *Channel, invite string, err error) {
	if err := d.check(); err != nil {
		return nil, "", err
	}
	if !d.Kind.Known() {
		return nil, "", fault.InvalidField("kind", string(d.Kind), "must be %s", kindList())
	}
	if reason := r.offer(d.Kind).Reason; reason != "" {
		return nil, "", fault.InvalidField("kind", string(d.Kind), "%s", reason)
	}
	if err := r.Refresh(ctx); err != nil {
		return nil, "", err
	}
	now := present()
	c = &Channel{Channel: alert.Channel{
		ID:        channelPrefix + authsecret.RandomText(idLength),
		Account:   by.Account(),
		Key:       by.Maker(),
		Kind:      d.Kind,
		Name:      d.Name,
		Language:  d.Language,
		Quiet:     d.Quiet,
		State:     alert.Unconfirmed,
		Since:     now,
		CreatedAt: now,
		UpdatedAt: now,
	}}
	if r.o.Senders.Invites(d.Kind) {
		if d.Address != "" {
			return nil, "", fault.InvalidField("to", "", "must be left out: open the link in the answer to create the channel")
		}
	} else {
		if c.Address, c.Shown, err = r.o.Senders.Check(ctx, d.Kind, d.Address); err != nil {
			return nil, "", notAnAddress(err)
		}
		if same := r.ofReceiver(by, c.Receiver()); same != nil {
			same, err = r.takeOver(ctx, by, same)
			return same, "", err
		}
		if r.refuses(c.Receiver()) {
			return nil, "", errRefused()
		}
	}
	if r.countChannels(by.Account()) >= r.o.Limits.Channels {
		return nil, "", tooMany("channels", r.o.Limits.Channels)
	}
	c.EndToken = newToken(endPrefix, c.ID)
	if c, err = r.putChannel(ctx, *c); err != nil {
		return nil, "", err
	}
	if r.countChannels(by.Account()) > r.o.Limits.Channels { // others were created at the same time
		return nil, "", cmp.Or(r.removeChannel(ctx, c), tooMany("channels", r.o.Limits.Channels))
	}
	if same := r.ofReceiver(by, c.Receiver()); c.Address != "" && same != nil && same.ID != c.ID {
		return same, "", r.removeChannel(ctx, c) // another request made it at the same time
	}
	r.auditChannel(ctx, "channel.created", c)
	if d.Kind == alert.WebPush { // the person allowed it in the browser
		if err := r.countConfirmation(ctx, c); err != nil {
			return nil, "", cmp.Or(r.removeChannel(ctx, c), err)
		}
		c, err = r.change(ctx, by, c.ID, "channel.confirmed", func(c *Channel, now time.Time) (bool, error) {
			c.setState(alert.Active, "", now)
			c.ConfirmedAt = now
			return true, nil
		})
		return c, "", err
	}
	return r.AskToConfirm(ctx, by, c.ID)
}

// notAnAddress returns the error for an address that is not valid.
func notAnAddress(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.Invalid {
		return err
	}
	return fault.InvalidField("to", "", "%v", e.Parts())
}

// ofReceiver returns the oldest channel within a reach that leads to a receiver, nil if
// there is none.
func (r *Registry) ofReceiver(by access.Reach, receiver string) (oldest *Channel) {
	for _, c := range r.Known().Channels {
		if !by.Has(c.Account, c.Key) || c.Receiver() != receiver {
			continue
		}
		if oldest == nil || c.CreatedAt.Before(oldest.CreatedAt) ||
			c.CreatedAt.Equal(oldest.CreatedAt) && c.ID < oldest.ID {
			oldest = c
		}
	}
	return oldest
}

// takeOver makes a channel that was made with a key which is not valid any more belong to
// the caller, who could make another one with the same address.
func (r *Registry) takeOver(ctx context.Context, by access.Reach, c *Channel) (*Channel, error) {
	if r.Serves(c.Account, c.Key) {
		return c, nil
	}
	return r.change(ctx, by, c.ID, "channel.changed", func(c *Channel, _ time.Time) (bool, error) {
		same := c.Key == by.Maker()
		c.Key = by.Maker()
		return !same, nil
	})
}

func (r *Registry) countChannels(account string) (n int) {
	for _, c := range r.Known().Channels {
		if c.Account == account {
			n++
		}
	}
	return n
}

func tooMany(what string, most int) error {
	return fault.New(fault.Conflict, "The limit of %d %s for an account is reached: delete one.", most, what)
}

func kindList() string {
	var names []string
	for _, k := range alert.Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// ListChannels returns the channels within a reach, oldest first.
func (r *Registry) ListChannels(ctx context.Context, by access.Reach) ([]*Channel, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	var all []*Channel
	for _, c := range r.Known().Channels {
		if by.Has(c.Account, c.Key) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *Channel) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// change updates a channel unless the function reports no change. It starts over if the
// channel was changed concurrently.
func (r *Registry) change(
	ctx context.Context, by access.Reach, id, event string, change func(*Channel, time.Time) (bool, error),
) (*Channel, error) {
	for {
		found, err := r.FindChannel(ctx, by, id)
		if err != nil {
			return nil, err
		}
		c, now := *found, present()
		if changed, err := change(&c, now); err != nil || !changed {
			return &c, err
		}
		c.UpdatedAt = now
		put, err := r.putChannel(ctx, c)
		if err == nil {
			r.auditChannel(ctx, event, put)
			return put, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return nil, err
		}
	}
}

// ChannelChange changes a channel. What is nil stays.
type ChannelChange struct {
	Name     *string
	Language *string
	Quiet    *alert.Quiet
	Resume   bool // a paused channel is active again
}

// ChangeChannel changes a channel.
func (r *Registry) ChangeChannel(
	ctx context.Context, by access.Reach, id string, asked ChannelChange,
) (*Channel, error) {
	return r.change(ctx, by, id, "channel.changed", func(c *Channel, now time.Time) (bool, error) {
		before := *c
		d := ChannelDraft{
			Name:     value(asked.Name, c.Name),
			Language: value(asked.Language, c.Language),
			Quiet:    value(asked.Quiet, c.Quiet),
		}
		if err := d.check(); err != nil {
			return false, err
		}
		c.Name = d.Name
		c.Language = d.Language
		c.Quiet = d.Quiet
		if asked.Resume {
			if c.State != alert.Paused && c.State != alert.Active {
				return false, fault.New(fault.Conflict, "The receiver must confirm this channel first.")
			}
			c.setState(alert.Active, "", now)
		}
		return *c != before, nil
	})
}

// value returns what p points to, or the present value if it is nil.
func value[T any](p *T, present T) T {
	if p == nil {
		return present
	}
	return *p
}

// setState changes the state of a channel.
func (c *Channel) setState(s alert.State, reason string, now time.Time) {
	if c.State != s {
		c.Since = now
	}
	c.State = s
	c.Reason = reason
	if s == alert.Active {
		c.confirmation = confirmation{}
	}
}

// DeleteChannel removes a channel with its alerts and what waits for it.
func (r *Registry) DeleteChannel(ctx context.Context, by access.Reach, id string) error {
	for {
		c, err := r.FindChannel(ctx, by, id)
		if err != nil {
			return err
		}
		if err = r.removeChannel(ctx, c); err == nil {
			r.auditChannel(ctx, "channel.deleted", c)
			return nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}

func (r *Registry) removeChannel(ctx context.Context, c *Channel) error {
	for _, a := range r.Known().Alerts {
		if a.Channel != c.ID {
			continue
		}
		if _, err := r.write(ctx, a.ID, "", a.revision); err != nil {
			return err
		}
	}
	left, err := c.removal(present())
	if err != nil {
		return err
	}
	if _, err := r.write(ctx, c.ID, left, c.revision); err != nil {
		return err
	}
	if err := r.o.Store.DropDeliveries(ctx, c.ID); err != nil {
		r.log.WarnContext(ctx, "the messages of a deleted channel could not be dropped yet",
			"channel", c.ID, "err", err)
	}
	return nil
}
