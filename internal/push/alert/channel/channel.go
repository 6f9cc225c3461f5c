// Package channel sends messages to people: by e-mail, to chats, to browsers.
//
// There is one Sender for each kind of channels. It checks an address before it is stored,
// and sends one message. It sends once: package delivery decides when to try again. Senders
// holds those that this service has.
//
// Addresses come from strangers. Chat services are called with the client of package
// server/outbound, which dials public addresses only and follows no redirects. Their
// answers are read up to a bound and are not shown. Addresses, tokens and keys are in no
// error and in no line of the log.
package channel

import (
	"context"
	"time"

	"pregon/internal/push/alert"
	"pregon/internal/push/alert/message"
)

// Address is an address that was checked.
type Address struct {
	// Value is the normal form. It may be a secret.
	Value string
	// Shown is a form without secrets.
	Shown string
}

// Outcome is the result of sending one message.
type Outcome struct {
	OK bool
	// Permanent means that the receiver refuses messages, so that trying again is useless:
	// the address is gone, or does not want any.
	Permanent bool
	// Untried means that the message waited for its turn in vain, so that nothing was sent. It
	// says nothing about the receiver.
	Untried bool
	// RetryAfter is how long the receiver asks to wait, or 0.
	RetryAfter time.Duration
	// Status is the status of HTTP or the reply code of SMTP, or 0 if there was none.
	Status int
	// Error says what was wrong, without secrets. It is empty if OK.
	Error string
}

// Sender sends messages to the channels of one kind. It is safe for concurrent use.
type Sender interface {
	// Check returns the normal form of an address, or an Invalid fault.
	Check(address string) (Address, error)
	// Send sends a message once. It ends with the context, and has a deadline of its own.
	Send(ctx context.Context, to alert.Channel, m *message.Message) Outcome
}
