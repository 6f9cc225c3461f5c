package channel

import (
	"context"
	"log/slog"
	"net/http"
	"slices"

	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// Settings configure the senders. The zero value offers the kinds that need no settings.
type Settings struct {
	// Off are kinds that the operator does not want.
	Off []alert.Kind
	// Email offers e-mails if its Server is set.
	Email EmailSettings
	// Telegram offers chats of Telegram if its Token is set.
	Telegram TelegramSettings
	// WebPush offers browsers if its Key is set.
	WebPush WebPushSettings
	// Mailbox, if not nil, takes e-mails if there is no mail server.
	Mailbox Recorder
	// Instead, if not nil, takes all messages, so that none is sent. Then e-mails are
	// offered without a mail server.
	Instead Recorder
	// AllowPrivate lets addresses be on private networks, as for webhooks.
	AllowPrivate bool
	// Client sends requests to the services of chats. nil: a client of package
	// server/outbound.
	Client    *http.Client
	UserAgent string
	Logger    *slog.Logger // nil: none
}

// Senders are the senders that this service has.
type Senders struct {
	byKind map[alert.Kind]Sender
	off    []alert.Kind
	bot    *Bot // nil if Telegram is not offered
	push   *PushKey
	close  []func()
}

// New returns the senders that are configured and not turned off.
func New(s Settings) (*Senders, error) {
	for _, kind := range s.Off {
		if !kind.Known() {
			return nil, fault.New(fault.Invalid, "%q is not a kind of channels: use %v", string(kind), alert.Kinds())
		}
	}
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	out := &Senders{byKind: map[alert.Kind]Sender{}, off: s.Off}
	if s.Email.Server != "" {
		sender, err := newEmail(s.Email, s.Logger)
		if err != nil {
			return nil, err
		}
		out.byKind[alert.Email] = sender
		out.close = append(out.close, sender.Close)
	}
	if s.Email.Server == "" && s.Mailbox != nil {
		out.byKind[alert.Email] = recording{Sender: mailAddresses{}, recorder: s.Mailbox}
	}
	poster := newPoster(s)
	out.byKind[alert.Slack] = &slack{poster}
	out.byKind[alert.Discord] = &discord{poster}
	out.byKind[alert.Teams] = &teams{poster}
	out.byKind[alert.Mattermost] = &mattermost{poster}
	out.byKind[alert.Ntfy] = &ntfy{poster}
	out.byKind[alert.Gotify] = &gotify{poster}
	if s.Telegram.Token != "" && !slices.Contains(s.Off, alert.Telegram) {
		sender, err := newTelegram(s.Telegram, poster)
		if err != nil {
			return nil, err
		}
		out.byKind[alert.Telegram] = sender
		out.bot = newBot(sender, s)
	}
	if s.WebPush.Key != nil && !slices.Contains(s.Off, alert.WebPush) {
		sender, err := newWebPush(s.WebPush, poster)
		if err != nil {
			return nil, err
		}
		out.byKind[alert.WebPush] = sender
		out.push = s.WebPush.Key
	}
	if s.Instead != nil {
		out.record(s.Instead)
	}
	for _, kind := range s.Off {
		delete(out.byKind, kind)
	}
	return out, nil
}

// record gives all messages to a recorder from now on.
func (s *Senders) record(r Recorder) {
	if s.byKind[alert.Email] == nil {
		s.byKind[alert.Email] = mailAddresses{}
	}
	for kind, sender := range s.byKind {
		s.byKind[kind] = recording{Sender: sender, recorder: r}
	}
}

// Bot returns the bot of Telegram, or nil if Telegram is not offered.
func (s *Senders) Bot() *Bot { return s.bot }

// PushKey returns the public key that browsers use to subscribe, or "" if browsers are not
// offered.
func (s *Senders) PushKey() string {
	if s.push == nil {
		return ""
	}
	return s.push.Public()
}

// Close closes idle connections. Messages can still be sent.
func (s *Senders) Close() {
	for _, c := range s.close {
		c()
	}
}

// Reason is why a kind of channels is not offered.
type Reason string

// The reasons.
const (
	Off          Reason = "off"          // the operator does not want it
	Unconfigured Reason = "unconfigured" // it needs settings that are missing
)

// Offer says whether channels of a kind can be added.
type Offer struct {
	Kind    alert.Kind
	Offered bool
	Reason  Reason // if it is not offered
}

// Offers returns all kinds, with those that are offered.
func (s *Senders) Offers() []Offer {
	var out []Offer
	for _, kind := range alert.Kinds() {
		o := Offer{Kind: kind, Offered: s.byKind[kind] != nil}
		switch {
		case o.Offered:
		case slices.Contains(s.off, kind):
			o.Reason = Off
		default:
			o.Reason = Unconfigured
		}
		out = append(out, o)
	}
	return out
}

// Check returns the normal form of an address of a kind.
func (s *Senders) Check(kind alert.Kind, address string) (Address, error) {
	sender := s.byKind[kind]
	switch {
	case !kind.Known():
		return Address{}, fault.New(fault.Invalid, "%q is not a kind of channels: use %v", string(kind), alert.Kinds())
	case sender == nil && slices.Contains(s.off, kind):
		return Address{}, fault.New(fault.Invalid, "the operator of this service has turned off channels of the kind %s", kind)
	case sender == nil:
		return Address{}, fault.New(fault.Invalid, "the operator of this service has not configured channels of the kind %s", kind)
	case len(address) > maxAddress:
		return Address{}, fault.New(fault.Invalid, "the address is longer than %d characters", maxAddress)
	}
	return sender.Check(address)
}

// maxAddress is the length of the longest address, in bytes.
const maxAddress = 2000

// Send sends a message once. A kind that is not offered any more is a failure that may end.
func (s *Senders) Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome {
	sender := s.byKind[to.Kind]
	if sender == nil {
		return Outcome{Error: "this service does not send messages of the kind " + string(to.Kind) + " at present"}
	}
	return sender.Send(ctx, to, m)
}
