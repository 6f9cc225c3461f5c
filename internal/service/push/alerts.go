package push

import (
	"context"
	"crypto/rand"
	"errors"
	"net/mail"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/delivery"
	"pregon/internal/push/alert/message"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/webhook"
	"pregon/internal/search"
	"pregon/internal/server/telemetry"
	"pregon/internal/service/lifecycle"
	"pregon/internal/store"
)

// AlertSettings are what the operator decides about alerts.
type AlertSettings struct {
	Channels channel.Settings
	Limits   subscription.Limits
	Daily    int // messages for an account in a day
	// Mailbox keeps e-mails in memory if there is no mail server, for a service that only
	// shows what it does.
	Mailbox bool
}

// Alerts are the channels and alerts of accounts, and what sends their messages.
type Alerts struct {
	*subscription.Registry
	messages *delivery.Service // nil if this process delivers nothing
	senders  *channel.Senders
	mailbox  *channel.Outbox // nil if e-mails are sent
	leases   store.Leases
}

// newAlerts returns the alerts, which it does not read yet.
func newAlerts(ctx context.Context, o Options, p *Push) (*Alerts, error) {
	settings, err := o.channels(ctx)
	if err != nil {
		return nil, err
	}
	var mailbox *channel.Outbox
	if o.Alerts.Mailbox && settings.Email.Server == "" && settings.Instead == nil {
		mailbox = &channel.Outbox{}
		settings.Mailbox = mailbox
	}
	senders, err := channel.New(settings)
	if err != nil {
		return nil, err
	}
	sender := post{all: senders, base: o.BaseURL}
	a := &Alerts{
		senders: senders,
		mailbox: mailbox,
		leases:  o.Log,
		Registry: subscription.New(subscription.Options{
			Store:         o.Log,
			Sealer:        o.Box,
			Senders:       sender,
			Epoch:         func() string { return p.Events.Head().Epoch },
			Access:        accessLike(p.Webhooks),
			RefreshAccess: o.Accounts.Refresh,
			Ended:         o.Accounts.Ended,
			Link:          func(path string) string { return o.BaseURL + path },
			Limits:        o.Alerts.Limits,
			Logger:        o.Logger,
			Audit:         o.Audit,
		}),
	}
	if !o.Delivers {
		return a, nil
	}
	a.messages = delivery.New(delivery.Options{
		Store:     o.Log,
		Encoder:   p.Events,
		Directory: func() *search.Directory { return o.Catalog.Snapshot().Directory() },
		Alerts:    a.Registry,
		Lists:     p.Watchlists,
		Sender:    senders,
		Writer:    message.Writer{BaseURL: o.BaseURL},
		Links:     sender.links,
		Messages:  o.Alerts.Daily,
		Logger:    o.Logger,
	})
	return a, nil
}

// accessLike returns the access of alerts, which is that of webhooks.
func accessLike(hooks *webhook.Manager) func(account, key string) subscription.Access {
	return func(account, key string) subscription.Access {
		s := hooks.WithKey(hooks.AccountStatus(account), key)
		return subscription.Access{
			Gone:   s.Gone,
			Since:  s.Since,
			Behind: hooks.KeysBehind(key),
			Scope:  s.Scope,
		}
	}
}

// channels returns the settings of what sends messages.
func (o *Options) channels(ctx context.Context) (s channel.Settings, err error) {
	s = o.Alerts.Channels
	s.AllowPrivate = o.AllowPrivate
	s.UserAgent = o.UserAgent
	s.Logger = o.Logger
	if slices.Contains(s.Off, alert.WebPush) {
		return s, nil
	}
	s.WebPush.Subject = o.contact()
	s.WebPush.Key, err = channel.LoadPushKey(ctx, o.Log, o.Box)
	return s, err
}

// contact returns how the services of browsers reach the operator.
func (o *Options) contact() string {
	if from, err := mail.ParseAddress(o.Alerts.Channels.Email.From); err == nil {
		return "mailto:" + from.Address
	}
	if strings.HasPrefix(o.BaseURL, "https://") {
		return o.BaseURL
	}
	return "mailto:operator@localhost" // browsers subscribe at an address without TLS only on this machine
}

// Mailbox returns where e-mails are kept, nil if they are sent.
func (a *Alerts) Mailbox() *channel.Outbox { return a.mailbox }

// PushKey returns the public key that browsers use to subscribe, or "" if they cannot.
func (a *Alerts) PushKey() string { return a.senders.PushKey() }

// start sends messages, or follows what accounts change.
func (a *Alerts) start(g *lifecycle.Group) {
	g.UntilServed(a.Follow)
	if a.messages == nil {
		return
	}
	g.UntilServed(a.RemoveEnded)
	g.LoadedUntilStop(a.messages.Run)
	if bot := a.senders.Bot(); bot != nil {
		g.UntilServed(func(ctx context.Context) error {
			return bot.Run(ctx, a.leases, rand.Text(), conversation{a.Registry})
		})
	}
}

// conversation confirms and ends channels of people who talk to the bot.
type conversation struct{ alerts *subscription.Registry }

// Start implements channel.Conversation.
func (c conversation) Start(ctx context.Context, token string, from channel.Contact) (reply string, err error) {
	_, err = c.alerts.ConfirmAt(ctx, alert.Telegram, token, from.Chat, from.Shown)
	switch fault.KindOf(err) {
	case fault.NotFound:
		return say(from.Language,
			"Este enlace no es válido: ya se usó o ha caducado. Pida otro en la página de avisos de su cuenta.",
			"This link is not valid: it was used or is too old. Ask for another one on the alerts page of your account."), nil
	case fault.Conflict:
		return say(from.Language,
			"Este chat ya recibe los avisos de esa cuenta.",
			"This chat receives the alerts of that account already."), nil
	}
	if err != nil {
		return "", err
	}
	return say(from.Language,
		"Confirmado: los avisos llegarán a este chat. Con /stop terminan.",
		"Confirmed: alerts will arrive in this chat. /stop ends them."), nil
}

// Stop implements channel.Conversation.
func (c conversation) Stop(ctx context.Context, from channel.Contact) (reply string, err error) {
	if err := c.alerts.EndAddress(ctx, alert.Telegram, from.Chat); err != nil {
		return "", err
	}
	return say(from.Language,
		"Hecho: no se envían más avisos a este chat.",
		"Done: no more alerts are sent to this chat."), nil
}

func say(language, spanish, english string) string {
	if language == message.Spanish {
		return spanish
	}
	return english
}

// post sends what package subscription asks for.
type post struct {
	all  *channel.Senders
	base string // of the service
}

// Offered implements subscription.Senders.
func (p post) Offered(kind alert.Kind) string {
	for _, o := range p.all.Offers() {
		if o.Kind == kind {
			return string(o.Reason)
		}
	}
	return ""
}

// Check implements subscription.Senders.
func (p post) Check(_ context.Context, kind alert.Kind, address string) (normal, shown string, err error) {
	found, err := p.all.Check(kind, address)
	return found.Value, found.Shown, err
}

// Invites implements subscription.Senders.
func (p post) Invites(kind alert.Kind) bool { return kind == alert.Telegram }

// Invite implements subscription.Senders.
func (p post) Invite(ctx context.Context, _ alert.Kind, token string) (string, error) {
	link := ""
	if bot := p.all.Bot(); bot != nil {
		link = bot.Link(ctx, token)
	}
	if link == "" {
		return "", fault.New(fault.Unavailable, "Telegram does not answer at present. Try again in a minute.")
	}
	return link, nil
}

// Confirm implements subscription.Senders.
func (p post) Confirm(ctx context.Context, c alert.Channel, link string) error {
	m := p.message(c, message.Confirmation)
	m.Links.Confirm = link
	return p.send(ctx, c, m)
}

// Test implements subscription.Senders.
func (p post) Test(ctx context.Context, c alert.Channel) error {
	return p.send(ctx, c, p.message(c, message.Test))
}

// idLength is the length of the random part of the id of a message.
const idLength = 12

func (p post) message(c alert.Channel, kind message.Kind) *message.Message {
	return &message.Message{
		ID:       c.ID + "-" + secret.RandomText(idLength),
		Kind:     kind,
		Language: c.Language,
		At:       time.Now(),
		Links:    p.links(c),
	}
}

// links returns the addresses in a message to a channel.
func (p post) links(c alert.Channel) message.Links {
	end := p.base + subscription.EndPath + "?code=" + c.EndToken
	return message.Links{
		Site:     p.base + "/",
		All:      p.base + "/",
		Manage:   p.base + "/account/alerts",
		End:      end,
		OneClick: end,
	}
}

func (p post) send(ctx context.Context, c alert.Channel, m *message.Message) error {
	if out := p.all.Send(ctx, c, m); !out.OK {
		return errors.New(out.Error)
	}
	return nil
}

// observe registers the metrics of messages and channels.
func (a *Alerts) observe(m *telemetry.Metrics) {
	const channels = "Channels of alerts by state."
	for _, state := range []alert.State{alert.Unconfirmed, alert.Active, alert.Paused, alert.Ended} {
		m.GaugeOf("pregon_alert_channels", channels, "state", string(state), func() float64 {
			return float64(a.Known().CountChannels(state))
		})
	}
	if a.messages == nil {
		return
	}
	value := func(of func(delivery.Stats) int64) func() float64 {
		return func() float64 { return float64(of(a.messages.Stats())) }
	}
	const messages = "Attempts to send a message of alerts by outcome."
	m.CounterOf("pregon_alert_messages_total", messages, "outcome", "sent",
		value(func(s delivery.Stats) int64 { return s.Sent }))
	m.CounterOf("pregon_alert_messages_total", messages, "outcome", "failed",
		value(func(s delivery.Stats) int64 { return s.Failed }))
	m.Counter("pregon_alert_events_total", "Events in messages that were sent.",
		value(func(s delivery.Stats) int64 { return s.Events }))
	m.Counter("pregon_alert_retries_total", "Attempts after the first of some event.",
		value(func(s delivery.Stats) int64 { return s.Retried }))
	m.Counter("pregon_alert_abandoned_total", "Events for channels that were given up.",
		value(func(s delivery.Stats) int64 { return s.Dropped }))
	m.Counter("pregon_alert_limited_total", "Times that an account had all messages of the day.",
		value(func(s delivery.Stats) int64 { return s.Limited }))
	m.Gauge("pregon_alert_pending_changes", "Changes not yet matched with alerts.",
		value(func(s delivery.Stats) int64 { return s.Lag }))
	m.Gauge("pregon_alert_pending_events", "Events that wait for their message, of all processes.",
		value(func(s delivery.Stats) int64 { return s.Pending }))
	m.Gauge("pregon_alert_messages_in_flight", "Messages that are being sent.",
		func() float64 { return float64(a.messages.Stats().InFlight) })
	m.Counter("pregon_alert_matching_seconds_total", "Time spent on matching changes with alerts.",
		func() float64 { return a.messages.Stats().Matching.Seconds() })
}

// sampleTimeout bounds the sending of a sample.
const sampleTimeout = time.Minute

// SendSample sends a sample to an address with some settings, without a store.
func SendSample(ctx context.Context, s channel.Settings, kind alert.Kind, address, language string) error {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	senders, err := channel.New(s)
	if err != nil {
		return err
	}
	defer senders.Close()
	found, err := senders.Check(kind, address)
	if err != nil {
		return err
	}
	to := alert.Channel{
		ID:       "ch_sample",
		Kind:     kind,
		Language: language,
		Address:  found.Value,
		Shown:    found.Shown,
	}
	p := post{all: senders}
	m := p.message(to, message.Test)
	m.Links = message.Links{}
	return p.send(ctx, to, m)
}
