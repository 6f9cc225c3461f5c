package account

import (
	"context"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/query"
	"pregon/internal/store"
)

// Channel is an address of a person: an e-mail address, a chat, a browser.
type Channel struct {
	ID         string      `json:"id"`
	Key        *string     `json:"key"`
	Kind       string      `json:"kind"`
	To         string      `json:"to"` // without secrets
	Name       string      `json:"name"`
	Language   string      `json:"language"`
	QuietHours *QuietHours `json:"quiet_hours"`
	State      string      `json:"state"`
	Reason     *string     `json:"reason"`
	Since      time.Time   `json:"since"`
	CreatedAt  time.Time   `json:"created_at"`
	UpdatedAt  time.Time   `json:"updated_at"`
	// Link is where the person confirms a channel without a typed address, such as Telegram.
	// It is set when the channel is created and when it has to be confirmed again.
	Link *string `json:"link,omitempty"`
	// EndedByReceiver and Unreached are the reason as flags, for pages with texts of their own.
	EndedByReceiver bool `json:"-"`
	Unreached       bool `json:"-"` // the request to confirm could not be sent
}

// QuietHours is a time of day, in Madrid, during which a channel receives nothing.
type QuietHours struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// ChannelKind is a kind of channels, and whether this service offers it.
type ChannelKind struct {
	Kind    string  `json:"kind"`
	Offered bool    `json:"offered"`
	Reason  *string `json:"reason"` // why it is not offered
	// Code is the reason as a word: off or unconfigured.
	Code string `json:"-"`
	// PublicKey is the key that browsers use to subscribe, for the kind webpush.
	PublicKey *string `json:"public_key,omitempty"`
}

// ChannelList is the channels that the caller may see, oldest first.
type ChannelList struct {
	Data  []Channel     `json:"data"`
	Kinds []ChannelKind `json:"kinds"`
}

func newChannel(c *subscription.Channel) Channel {
	out := Channel{
		ID:        c.ID,
		Key:       query.OrNull(c.Key),
		Kind:      string(c.Kind),
		To:        c.Shown,
		Name:      c.Name,
		Language:  c.Language,
		State:     string(c.State),
		Reason:    query.OrNull(c.Reason),
		Since:     query.Madrid(c.Since),
		CreatedAt: query.Madrid(c.CreatedAt),
		UpdatedAt: query.Madrid(c.UpdatedAt),
	}
	out.EndedByReceiver = c.State == alert.Ended && c.Reason == subscription.EndedByReceiver
	out.Unreached = c.State == alert.Unconfirmed && c.Reason != ""
	if c.Quiet != (alert.Quiet{}) {
		out.QuietHours = &QuietHours{
			From: c.Quiet.From.String(),
			To:   c.Quiet.To.String(),
		}
	}
	return out
}

func (c Channel) withLink(link string) Channel {
	c.Link = query.OrNull(link)
	return c
}

// ChannelDraft is a request that makes or changes a channel. A change keeps what is absent.
type ChannelDraft struct {
	Kind     *string `json:"kind"`
	To       *string `json:"to"`
	Name     *string `json:"name"`
	Language *string `json:"language"`
	// QuietHours without times end the quiet hours.
	QuietHours *QuietHours `json:"quiet_hours"`
	// State is "active", to resume a channel that is paused.
	State *string `json:"state"`
}

// quiet reads quiet hours.
func (h QuietHours) quiet(p *query.Params) (q alert.Quiet) {
	if h == (QuietHours{}) {
		return q
	}
	q.From = readMinute(p, "quiet_hours.from", h.From)
	q.To = readMinute(p, "quiet_hours.to", h.To)
	return q
}

// readMinute reads a time of day.
func readMinute(p *query.Params, name, text string) alert.Minute {
	m, ok := alert.ParseMinute(text)
	if !ok {
		p.Reject(name, text, "must be a time as HH:MM, from 00:00 to 23:59")
	}
	return m
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// defaultLanguage is the language of messages unless the caller names one.
const defaultLanguage = "es"

// draft reads a request that makes a channel.
func (b ChannelDraft) draft() (d subscription.ChannelDraft, err error) {
	p := query.NewParams(nil)
	d = subscription.ChannelDraft{
		Kind:     alert.Kind(textOf(b.Kind)),
		Address:  textOf(b.To),
		Name:     textOf(b.Name),
		Language: defaultLanguage,
	}
	if b.Language != nil {
		d.Language = *b.Language
	}
	if b.QuietHours != nil {
		d.Quiet = b.QuietHours.quiet(p)
	}
	if b.State != nil {
		p.Reject("state", *b.State, "is set by the confirmation: leave it out")
	}
	return d, p.Err()
}

// CreateChannel makes a channel and asks its receiver to confirm it.
func (s *Service) CreateChannel(ctx context.Context, by access.Principal, asked ChannelDraft) (Channel, error) {
	draft, err := asked.draft()
	if err != nil {
		return Channel{}, err
	}
	made, link, err := s.o.Alerts.CreateChannel(ctx, s.o.Keys.Reach(by), draft)
	if err != nil {
		return Channel{}, err
	}
	if err := s.keep(ctx, by, func(ctx context.Context, r access.Reach) error {
		return s.o.Alerts.DeleteChannel(ctx, r, made.ID)
	}); err != nil {
		return Channel{}, err
	}
	return newChannel(made).withLink(link), nil
}

// ListChannels returns the channels that the caller may see.
func (s *Service) ListChannels(ctx context.Context, by access.Principal) (ChannelList, error) {
	all, err := bounded(ctx, func(ctx context.Context) ([]*subscription.Channel, error) {
		return s.o.Alerts.ListChannels(ctx, s.o.Keys.Reach(by))
	})
	if err != nil {
		return ChannelList{}, err
	}
	out := ChannelList{Data: make([]Channel, 0, len(all))}
	for _, c := range all {
		out.Data = append(out.Data, newChannel(c))
	}
	for _, o := range s.o.Alerts.Offers() {
		kind := ChannelKind{
			Kind:    string(o.Kind),
			Offered: o.Reason == "",
			Reason:  query.OrNull(o.Reason),
			Code:    o.Code,
		}
		if o.Kind == alert.WebPush && kind.Offered {
			kind.PublicKey = query.OrNull(s.o.PushKey)
		}
		out.Kinds = append(out.Kinds, kind)
	}
	return out, nil
}

// Channel returns a channel.
func (s *Service) Channel(ctx context.Context, by access.Principal, id string) (Channel, error) {
	return bounded(ctx, func(ctx context.Context) (Channel, error) {
		c, err := s.o.Alerts.FindChannel(ctx, s.o.Keys.Reach(by), id)
		if err != nil {
			return Channel{}, err
		}
		return newChannel(c), nil
	})
}

// ChangeChannel changes a channel, or resumes it.
func (s *Service) ChangeChannel(
	ctx context.Context,
	by access.Principal,
	id string,
	asked ChannelDraft,
) (Channel, error) {
	p := query.NewParams(nil)
	change := subscription.ChannelChange{
		Name:     asked.Name,
		Language: asked.Language,
	}
	if asked.Kind != nil || asked.To != nil {
		p.Reject("to", "", "cannot be changed, and neither can the kind: create another channel")
	}
	if asked.QuietHours != nil {
		quiet := asked.QuietHours.quiet(p)
		change.Quiet = &quiet
	}
	if asked.State != nil {
		change.Resume = *asked.State == string(alert.Active)
		if !change.Resume {
			p.Reject("state", *asked.State, "must be active, to resume a channel that is paused")
		}
	}
	if err := p.Err(); err != nil {
		return Channel{}, err
	}
	return bounded(ctx, func(ctx context.Context) (Channel, error) {
		c, err := s.o.Alerts.ChangeChannel(ctx, s.o.Keys.Reach(by), id, change)
		if err != nil {
			return Channel{}, err
		}
		return newChannel(c), nil
	})
}

// DeleteChannel removes a channel with its alerts.
func (s *Service) DeleteChannel(ctx context.Context, by access.Principal, id string) error {
	return store.Within(ctx, func(ctx context.Context) error {
		return s.o.Alerts.DeleteChannel(ctx, s.o.Keys.Reach(by), id)
	})
}

// AskToConfirm sends the request to confirm a channel again. Sending is bounded by the
// channel's own deadline.
func (s *Service) AskToConfirm(ctx context.Context, by access.Principal, id string) (Channel, error) {
	c, link, err := s.o.Alerts.AskToConfirm(ctx, s.o.Keys.Reach(by), id)
	if err != nil {
		return Channel{}, err
	}
	return newChannel(c).withLink(link), nil
}

// TestChannel sends a sample to a channel. Sending is bounded by the channel's own
// deadline.
func (s *Service) TestChannel(ctx context.Context, by access.Principal, id string) error {
	return s.o.Alerts.TestChannel(ctx, s.o.Keys.Reach(by), id)
}

// AskedChannel returns the channel that the token in a link would confirm.
func (s *Service) AskedChannel(ctx context.Context, token string) (alert.Channel, error) {
	return bounded(ctx, func(ctx context.Context) (alert.Channel, error) { return s.o.Alerts.Asked(ctx, token) })
}

// ConfirmChannel activates the channel of the token in a link.
func (s *Service) ConfirmChannel(ctx context.Context, token string) error {
	return store.Within(ctx, func(ctx context.Context) error {
		_, err := s.o.Alerts.Confirm(ctx, token)
		return err
	})
}

// ReachedChannel returns the channel whose messages have a token, and whether its receiver
// refuses messages. The address of a deleted channel is empty.
func (s *Service) ReachedChannel(ctx context.Context, token string) (c alert.Channel, refused bool, err error) {
	err = store.Within(ctx, func(ctx context.Context) (err error) {
		c, refused, err = s.o.Alerts.Reached(ctx, token)
		return err
	})
	return c, refused, err
}

// AllowChannel lets accounts send requests to the receiver again whose messages have a
// token.
func (s *Service) AllowChannel(ctx context.Context, token string) error {
	return store.Within(ctx, func(ctx context.Context) error { return s.o.Alerts.Allow(ctx, token) })
}

// EndChannel stops all messages to the receiver whose messages have a token.
func (s *Service) EndChannel(ctx context.Context, token string) error {
	return store.Within(ctx, func(ctx context.Context) error { return s.o.Alerts.End(ctx, token) })
}
