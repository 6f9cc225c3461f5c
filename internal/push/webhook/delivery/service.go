package delivery

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/push/events"
	"pregon/internal/push/queue"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/store"
)

// pageSize is the number of changes that are read at once, and of deliveries that are
// added.
const pageSize = 500

// Store is the part of the store that deliveries need.
type Store interface {
	store.Deliveries
	Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error)
	ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error)
	Head(ctx context.Context) (disclosure.Head, error)
	Wait(ctx context.Context, after int64) error
}

// Encoder encodes changes; events.Hub is one.
type Encoder interface {
	Encode(*disclosure.Change) *events.Event
	// Newest is the newest change in Encode's directory. No later one is
	// matched, since a filter may need data of the directory.
	Newest() int64
	// Head is Newest with the epoch of the log.
	Head() disclosure.Head
	// Seen is Head with the mark of its change.
	Seen() (disclosure.Head, disclosure.Mark)
	// Lacks returns an Unavailable error if this process does not have the change of
	// a cursor yet, and nil if the log does not have it.
	Lacks(ctx context.Context, c disclosure.Cursor) error
	// Text loads the words of the document of an event that a selector with
	// InDocument matches.
	Text(ctx context.Context, e *events.Event) (*document.Content, error)
}

// Options are the parameters of a Service.
type Options struct {
	Store        Store
	Encoder      Encoder // nil in a process that lists deliveries only
	Hooks        *subscription.Registry
	Lists        subscription.Lists // nil: a filter with one selects nothing
	AllowPrivate bool               // receivers may have any address and use plain http
	Client       *http.Client       // nil: one of package outbound
	Logger       *slog.Logger
	UserAgent    string
	// Observe, if not nil, is called after every attempt that was not canceled. The
	// status is 0 if there was no answer.
	Observe func(host string, status int, delivered bool, start time.Time, took time.Duration)
}

// Service delivers changes to webhooks.
type Service struct {
	store   Store
	encoder Encoder
	hooks   *subscription.Registry
	lists   subscription.Lists
	log     *slog.Logger
	sender  *sender
	matcher *matcher
	bodies  *bodies
	fan     *queue.Fan
	tests   *testLimits
	counts  counts
	wake    chan struct{} // signals that deliveries may be due
	timing
}

// timing holds the durations and limits that tests change.
type timing struct {
	queue.Timing
	delays         queue.Delays
	maxFailing     time.Duration // time of failures after which a webhook is disabled
	maxRedelivered int           // changes of one redelivery
}

// counts are the counts of this process since its start, and its current load.
type counts struct {
	delivered atomic.Int64
	failed    atomic.Int64
	dead      atomic.Int64
	retried   atomic.Int64
	inFlight  atomic.Int64
}

// New returns a service that sends nothing until Run.
func New(o Options) *Service {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{
		store:   o.Store,
		encoder: o.Encoder,
		hooks:   o.Hooks,
		lists:   o.Lists,
		log:     o.Logger,
		sender:  newSender(o),
		matcher: newMatcher(o.Hooks),
		bodies:  newBodies(),
		tests:   newTestLimits(),
		wake:    make(chan struct{}, 1),
		timing: timing{
			Timing:         queue.DefaultTiming,
			delays:         queue.DefaultDelays,
			maxFailing:     maxFailing,
			maxRedelivered: maxRedelivered,
		},
	}
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
