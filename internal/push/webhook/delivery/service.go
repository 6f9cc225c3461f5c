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
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/store"
)

const (
	pageSize     = 500             // changes that are read at once, and deliveries that are added
	storeTimeout = 5 * time.Second // of what is read or written in the background
)

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
	AllowPrivate bool         // receivers may have any address and use plain http
	Client       *http.Client // nil: one of package outbound
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
	log     *slog.Logger
	sender  *sender
	matcher *matcher
	bodies  *bodies
	tests   *testLimits
	counts  counts
	wake    chan struct{} // signals that deliveries may be due
	timing
}

// timing holds the durations and limits that tests change.
type timing struct {
	delays         [maxAttempts - 1]time.Duration
	backoff        time.Duration // after a failure, before the next delivery to the same receiver
	claimFor       time.Duration // renewed every quarter of it; a claim of a dead process lasts this long
	poll           time.Duration
	maxFailing     time.Duration // time of failures after which a webhook is disabled
	grace          time.Duration // for requests in flight when the service stops
	settleTimeout  time.Duration // for writing their results after that
	slots          int           // concurrent claims of working webhooks, and of failing ones
	maxRedelivered int           // changes of one redelivery
}

// counts are the counts of this process since its start, and its current load.
type counts struct {
	delivered atomic.Int64
	failed    atomic.Int64
	dead      atomic.Int64
	retried   atomic.Int64
	inFlight  atomic.Int64
	fannedOut atomic.Int64 // the change up to which deliveries were created
}

// New returns a service that sends nothing until Run.
func New(o Options) *Service {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{
		store:   o.Store,
		encoder: o.Encoder,
		hooks:   o.Hooks,
		log:     o.Logger,
		sender:  newSender(o),
		matcher: newMatcher(o.Hooks),
		bodies:  newBodies(),
		tests:   newTestLimits(),
		wake:    make(chan struct{}, 1),
		timing: timing{
			delays:         delays,
			backoff:        time.Second,
			claimFor:       8 * time.Second,
			poll:           500 * time.Millisecond,
			maxFailing:     maxFailing,
			grace:          10 * time.Second,
			settleTimeout:  5 * time.Second,
			slots:          maxSlots,
			maxRedelivered: maxRedelivered,
		},
	}
}

// wakeUp lets the dispatcher look for due deliveries at once.
func (s *Service) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
