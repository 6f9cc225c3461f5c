// Package alert has the types of alerts, which send news to people who have no server.
//
// An alert selects events, by a watchlist or by a filter, and names a channel and a
// rhythm. A channel is an address of a person: an e-mail address, a chat, a browser.
//
// Package subscription keeps what accounts set up, package delivery decides which
// messages are due, package message writes them, and package channel sends them.
//
// # Guarantees
//
// An event that an alert selects is in a message to its channel, and in one message only,
// even if several alerts of the channel select it. Nothing is lost if a process is
// killed or a receiver fails. A message is sent twice only if its result could not be
// stored, because the process died or lost the store just after it was sent.
package alert

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// Kind is a kind of channels.
type Kind string

// The kinds of channels.
const (
	Email      Kind = "email"
	Telegram   Kind = "telegram"
	Slack      Kind = "slack"
	Discord    Kind = "discord"
	Teams      Kind = "teams"
	Mattermost Kind = "mattermost"
	Ntfy       Kind = "ntfy"
	Gotify     Kind = "gotify"
	WebPush    Kind = "webpush"
)

// Kinds returns all kinds of channels.
func Kinds() []Kind {
	return []Kind{Email, Telegram, Slack, Discord, Teams, Mattermost, Ntfy, Gotify, WebPush}
}

// Known reports whether k is one of the kinds.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Rhythm is when messages of an alert are sent.
type Rhythm string

// The rhythms.
const (
	AtOnce  Rhythm = "at_once"
	Grouped Rhythm = "grouped" // what happens within five minutes is one message
	Daily   Rhythm = "daily"
	Weekly  Rhythm = "weekly"
)

// Rhythms returns all rhythms.
func Rhythms() []Rhythm { return []Rhythm{AtOnce, Grouped, Daily, Weekly} }

// Known reports whether r is one of the rhythms.
func (r Rhythm) Known() bool { return slices.Contains(Rhythms(), r) }

// State is what may be sent to a channel.
type State string

// The states of a channel.
const (
	Unconfirmed State = "unconfirmed" // nothing but the request to confirm
	Active      State = "active"
	Paused      State = "paused" // by the service: the receiver refuses messages
	Ended       State = "ended"  // by the receiver, who wants no more messages
)

// Minute is a time of day in Madrid, in minutes after midnight.
type Minute int

// Quiet is the time of day during which a channel receives nothing. It may pass midnight.
// The zero value means never.
type Quiet struct {
	From Minute `json:"from"`
	To   Minute `json:"to"`
}

// Channel is an address of a person.
type Channel struct {
	ID      string `json:"id"`
	Account string `json:"owner"` // the account that it belongs to
	// Key is the key that created it. Without that key it is not served: see the package
	// subscription of webhooks. It is empty if the account itself created it.
	Key      string `json:"key,omitempty"`
	Kind     Kind   `json:"kind"`
	Name     string `json:"name,omitempty"` // that the account chose
	Language string `json:"language"`       // es or en
	Quiet    Quiet  `json:"quiet,omitzero"`

	// Address is where messages go: an e-mail address, the id of a chat, the address that a
	// service gave, or the subscription of a browser as JSON. It may be a secret.
	Address string `json:"-"`
	// Shown is Address in a form without secrets.
	Shown string `json:"shown"`
	// EndToken is the secret in links of messages that lets the receiver end the channel.
	EndToken string `json:"-"`

	State  State     `json:"state"`
	Reason string    `json:"reason,omitempty"` // why it is paused or ended
	Since  time.Time `json:"since,omitzero"`   // of the state

	// ConfirmedAt is when the receiver last confirmed it. Later changes of older
	// reports are not sent.
	ConfirmedAt time.Time `json:"confirmed_at,omitzero"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Receiver returns a key that is the same for all channels to one receiver. Mail servers
// ignore the case of letters.
func (c *Channel) Receiver() string {
	if c.Kind == Email {
		return string(c.Kind) + " " + strings.ToLower(c.Address)
	}
	return string(c.Kind) + " " + c.Address
}

// Alert selects events and names the channel of their messages.
type Alert struct {
	ID      string `json:"id"`
	Account string `json:"owner"`         // the account that it belongs to
	Key     string `json:"key,omitempty"` // as of a channel
	Channel string `json:"channel"`       // the id of a channel of the account

	// Filter selects the events. Its Watchlist is set for an alert on a list.
	Filter disclosure.Filter `json:"-"`

	Rhythm  Rhythm       `json:"rhythm"`
	At      Minute       `json:"at,omitempty"`      // of a daily or weekly message
	Weekday time.Weekday `json:"weekday,omitempty"` // of a weekly message

	Enabled     bool  `json:"enabled"`
	StartsAfter int64 `json:"starts_after"` // every selected change after this one is sent

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// String returns the time as HH:MM.
func (m Minute) String() string { return fmt.Sprintf("%02d:%02d", m/60, m%60) }

// ParseMinute reads a time as HH:MM.
func ParseMinute(s string) (m Minute, ok bool) {
	at, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, false
	}
	return Minute(at.Hour()*60 + at.Minute()), true
}
