// Package message says what alerts tell people, in Spanish and in English.
//
// A Message has items, one for each event, and links. Its forms are the subject, plain
// text and HTML of an e-mail, and the entries and lines from which package channel makes
// the messages of chats. Every form has a bound: what does not fit is counted and linked.
//
// Titles and names are texts of strangers. Every form has them without control and
// invisible characters, on one line, and not longer than a limit; HTML escapes them. The
// entries of a message are clean in this sense but not escaped, because each chat has its
// own rules.
//
// A message does not say which list or filter selected an event, because a list may be
// another account's.
package message

import (
	"time"

	"pregon/internal/disclosure"
)

// Kind is what a message is for.
type Kind string

// The kinds of messages.
const (
	News         Kind = "news"
	Confirmation Kind = "confirmation" // asks whether messages are wanted at an address
	Test         Kind = "test"         // shows that messages arrive
)

// The languages of messages.
const (
	Spanish = "es"
	English = "en"
)

// Message is one message to one channel. It does not depend on the kind of the
// channel.
type Message struct {
	// ID identifies the message: the same one has the same ID when it is sent again, so
	// that receivers can recognize it. It has letters, digits, '_', '-' and '.' only.
	ID       string
	Kind     Kind
	Language string // Spanish, or else English
	At       time.Time

	// Items are the events of news, in the order of display.
	Items []Item
	// More is the number of further events that are not in Items.
	More int

	Links Links
}

// Links are addresses in a message. Those that are empty are left out.
type Links struct {
	Site    string // the first page of the service
	All     string // where the events of the message are listed, and those of More
	Confirm string // of a confirmation: the page with the button
	Manage  string // the alerts of the account
	End     string // the page that ends all messages to the channel
	// OneClick ends all messages to the channel by a POST, without a page: see RFC 8058.
	// Only e-mails have it, in their headers.
	OneClick string
}

// Item is one event.
type Item struct {
	Event   disclosure.Event
	Subject string // id of the report or position
	Issuer  Issuer
	Label   string // what it is, such as "OIR" or "Short position", in the language
	Title   string // without the prefix of simulated data
	Facts   string // one line in the language, or ""
	Note    string // why there is a message about it again, or ""
	At      time.Time
	// Exact means that At is a time. Otherwise it is a day.
	Exact     bool
	URL       string // its page
	Simulated bool
}

// Issuer is the issuer that an item is about.
type Issuer struct {
	ID     string // in the directory, or ""
	Name   string
	Ticker string // or ""
}

// MaxItems is the number of items that any form of a message shows. Those beyond are
// counted.
const MaxItems = 100

// Total returns the number of events in the message.
func (m *Message) Total() int { return len(m.Items) + m.More }

// Simulated reports whether the message has simulated data.
func (m *Message) Simulated() bool {
	for i := range m.Items {
		if m.Items[i].Simulated {
			return true
		}
	}
	return false
}
