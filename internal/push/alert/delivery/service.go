package delivery

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/message"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/events"
	"pregon/internal/push/queue"
	"pregon/internal/search"
	"pregon/internal/store"
)

// DefaultMessages is how many messages an account gets in a day, unless the operator sets
// another number.
const DefaultMessages = 200

// Store is the part of the store that deliveries need.
type Store interface {
	store.Deliveries
	store.Counts
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
	Reports(ctx context.Context, ids ...string) ([]disclosure.Report, error)
	Positions(ctx context.Context, ids ...string) ([]disclosure.Position, error)
	RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error)
	Head(ctx context.Context) (disclosure.Head, error)
	Wait(ctx context.Context, after int64) error
}

// Encoder encodes changes; events.Hub is one.
type Encoder interface {
	Encode(*disclosure.Change) *events.Event
	// Head is the end of the log in the directory of Encode. No later change is matched.
	Head() disclosure.Head
	// Seen is Head with the mark of its change.
	Seen() (disclosure.Head, disclosure.Mark)
	// Text loads the words of the document of an event.
	Text(ctx context.Context, e *events.Event) (*document.Content, error)
}

// Lists are the watchlists of accounts; watchlist.Registry is one.
type Lists interface {
	events.Lists
	// Revision returns the revision of the newest list that Entries knows.
	Revision() int64
	Refresh(ctx context.Context) error
}

// Sender sends messages; channel.Senders is one.
type Sender interface {
	// Send sends a message once. It ends with the context.
	Send(ctx context.Context, to alert.Channel, m *message.Message) channel.Outcome
}

// Options are the parameters of a Service.
type Options struct {
	Store   Store
	Encoder Encoder
	// Directory returns the issuers as they are now.
	Directory func() *search.Directory
	Alerts    *subscription.Registry
	Lists     Lists
	Sender    Sender
	Writer    message.Writer
	// Links returns the addresses in messages to a channel.
	Links    func(c alert.Channel) message.Links
	Messages int // of an account in a day; 0: DefaultMessages
	Logger   *slog.Logger
}

// Service sends the messages of alerts.
type Service struct {
	o     Options
	store Store
	log   *slog.Logger
	fan   *queue.Fan
	known atomic.Pointer[selections]
	// restored is the last restore of the log of this epoch.
	restored atomic.Pointer[restore]

	counts counts
	wake   chan struct{} // signals that deliveries may be due
	timing

	// mu guards the fields below: the dispatcher and the workers of all claims use them. It
	// is held for operations on the maps only.
	mu     sync.Mutex
	full   map[string]time.Time // when accounts may get messages again that had all of the day
	bursts map[string]time.Time // when channels get what is due at once, if it is much
}

// timing holds the durations and limits that tests change.
type timing struct {
	queue.Timing
	delays     queue.Delays
	reading    time.Duration // how long a report waits for its document
	group      time.Duration // between the first event of a group and its message
	maxFailing time.Duration // time of failures after which a channel is paused
}

// counts are the counts of this process since its start, and its current load.
type counts struct {
	sent     atomic.Int64
	events   atomic.Int64
	failed   atomic.Int64
	retried  atomic.Int64
	dropped  atomic.Int64
	limited  atomic.Int64
	inFlight atomic.Int64
	pending  atomic.Int64
	matching atomic.Int64 // nanoseconds
}

const (
	slots      = 64 // concurrent claims of channels of a kind: each may have a thousand deliveries
	maxFailing = 5 * 24 * time.Hour
)

// New returns a service that sends nothing until Run.
func New(o Options) *Service {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Messages == 0 {
		o.Messages = DefaultMessages
	}
	s := &Service{
		o:      o,
		store:  o.Store,
		log:    o.Logger,
		wake:   make(chan struct{}, 1),
		full:   map[string]time.Time{},
		bursts: map[string]time.Time{},
		timing: timing{
			Timing:     queue.DefaultTiming,
			delays:     queue.DefaultDelays,
			reading:    10 * time.Second,
			group:      5 * time.Minute,
			maxFailing: maxFailing,
		},
	}
	s.Slots = slots
	s.fan = s.newFan()
	return s
}

// wakeUp lets the dispatcher look for due deliveries at once.
func (s *Service) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Stats are counts of this process since its start, and its current load.
type Stats struct {
	Sent     int64 // messages
	Events   int64 // in them
	Failed   int64 // attempts to send a message
	Retried  int64 // attempts after the first of some event
	Dropped  int64 // deliveries that are not sent
	Limited  int64 // times that an account had all messages of the day
	Pending  int64 // deliveries that wait, of all processes, a minute ago
	Lag      int64 // changes that were not matched yet
	InFlight int   // messages
	Matching time.Duration
}

// Stats returns the current counts.
func (s *Service) Stats() Stats {
	return Stats{
		Sent:     s.counts.sent.Load(),
		Events:   s.counts.events.Load(),
		Failed:   s.counts.failed.Load(),
		Retried:  s.counts.retried.Load(),
		Dropped:  s.counts.dropped.Load(),
		Limited:  s.counts.limited.Load(),
		Pending:  s.counts.pending.Load(),
		Lag:      max(0, s.o.Encoder.Head().Seq-s.fan.Reached()),
		InFlight: int(s.counts.inFlight.Load()),
		Matching: time.Duration(s.counts.matching.Load()),
	}
}
