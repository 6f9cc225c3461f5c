// Package queue sends deliveries of the store to endpoints: webhooks, and the channels of
// alerts. The packages that use it decide which messages to send, and send them.
//
// A process claims endpoints, never single deliveries, so that one process at a time
// sends to an address. Results are settled in batches. A claim is released only when all
// of its results are settled. Claims of healthy and of failing endpoints are counted
// separately, as are those of each group. An account can have only a part of them. So a bad
// receiver never delays another.
//
// A claim has a duration, so it does not depend on the clocks of processes. It is renewed
// during long attempts. If that fails, its context ends and cancels the attempt before
// another process can claim the endpoint.
package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	maxTurn        = 30 * time.Second      // after which a claim returns to the end of the queue
	settleInterval = 25 * time.Millisecond // during which results wait to be written together
	maxSettled     = 500                   // results of one transaction, unless they belong together
	storeTimeout   = 5 * time.Second       // of what is read or written in the background
)

// Store is the part of the store that a queue needs.
type Store interface {
	Claim(ctx context.Context, c store.Claim) ([]store.Claimed, error)
	Renew(ctx context.Context, holder string, ttl time.Duration, endpoints ...string) (held []string, err error)
	Release(ctx context.Context, holder string, endpoints ...string) error
	Settle(ctx context.Context, results ...store.Result) error
	PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
	CorrectTimes(ctx context.Context, ttl, longest time.Duration) (int, error)
}

// Endpoint is what deliveries are sent to.
type Endpoint struct {
	ID      string
	Account string // that has at most a quarter of the slots; empty: no such limit
	Group   string // each group has slots of its own
	// Revision is another after each change: a changed endpoint is tried at once.
	Revision int64
}

// Timing has the durations and limits of a queue.
type Timing struct {
	Backoff       time.Duration // after a failure, before the next attempt at the same endpoint
	ClaimFor      time.Duration // renewed every quarter of it; a claim of a dead process lasts this long
	Poll          time.Duration
	Grace         time.Duration // for attempts in progress when the service stops
	SettleTimeout time.Duration // for writing their results after that
	Slots         int           // concurrent claims of working endpoints of a group, and of failing ones
}

// DefaultTiming is the timing of production.
var DefaultTiming = Timing{
	Backoff:       time.Second,
	ClaimFor:      8 * time.Second,
	Poll:          500 * time.Millisecond,
	Grace:         10 * time.Second,
	SettleTimeout: 5 * time.Second,
	Slots:         256,
}

// Options are the parameters of a Queue.
type Options struct {
	Store  Store
	Logger *slog.Logger
	Noun   string // plural name of the endpoints in messages
	Timing Timing

	Each     int      // deliveries of one claim
	Together []string // lanes that are claimed together

	// Endpoints returns those that may have deliveries.
	Endpoints func() iter.Seq[Endpoint]
	// Serves reports whether something may be sent to an endpoint now.
	Serves func(id string) bool
	// Work sends the deliveries of a claimed endpoint until one fails or the claim is over.
	Work func(c *Claim, claimed store.Claimed)

	// Wake makes the queue look for due deliveries at once, and so does Changed.
	Wake    chan struct{}
	Changed <-chan struct{}
}

// Queue claims endpoints and has their due deliveries sent, during one Run.
type Queue struct {
	o        Options
	holder   string
	sending  context.Context // ends when attempts in progress are canceled
	ending   <-chan struct{} // closed when no new work is started
	workers  sync.WaitGroup
	outcomes chan outcome

	clockCheck outage.Log // of correctTimes, which one goroutine calls

	// mu guards held and backoffs: the dispatching goroutine, the workers, the renewal and
	// the settlement use them. It is never held during a call of the store or of a
	// receiver, so that one slow claim delays no other.
	mu       sync.Mutex
	held     map[string]*Claim
	backoffs map[string]backoff // of endpoints that failed
}

// New returns a queue that does nothing until Run.
func New(o Options) *Queue {
	return &Queue{
		o:          o,
		holder:     rand.Text(),
		outcomes:   make(chan outcome, maxSettled),
		clockCheck: outage.Log{Logger: o.Logger},
		held:       map[string]*Claim{},
		backoffs:   map[string]backoff{},
	}
}

// Run sends until the context ends. Then it waits a while for attempts in progress, writes
// their results and releases its claims. It may be called once. The loops run meanwhile;
// they end with the context.
func (q *Queue) Run(ctx context.Context, loops ...func(context.Context)) error {
	detached := context.WithoutCancel(ctx)
	sending, cancelSending := context.WithCancel(detached)
	defer cancelSending()
	settling, cancelSettling := context.WithCancel(detached)
	defer cancelSettling()
	q.sending = sending
	q.ending = ctx.Done()
	// Claims are renewed until the last result is written: another process must
	// not send what this one is still sending.
	renewing, stopRenewing := context.WithCancel(settling)
	defer stopRenewing()
	var settler, renewer, looping sync.WaitGroup
	settler.Go(func() { q.settle(settling) })
	renewer.Go(func() { retry.Every(renewing, q.o.Timing.ClaimFor/4, q.renew) })
	looping.Go(func() { q.dispatch(ctx) })
	looping.Go(func() { retry.Every(ctx, pruneInterval, q.prune) })
	looping.Go(func() { retry.Every(ctx, clockInterval, q.correctTimes) })
	for _, loop := range loops {
		looping.Go(func() { loop(ctx) })
	}
	<-ctx.Done()
	defer time.AfterFunc(q.o.Timing.Grace, cancelSending).Stop()
	defer time.AfterFunc(q.o.Timing.Grace+q.o.Timing.SettleTimeout, cancelSettling).Stop()
	looping.Wait()
	q.workers.Wait()
	close(q.outcomes)
	settler.Wait()
	stopRenewing()
	renewer.Wait()
	// Release all endpoints: a claim may have succeeded though its response was lost.
	releasing, cancelReleasing := context.WithTimeout(settling, q.o.Timing.ClaimFor/4) // other claims expire
	defer cancelReleasing()
	_ = q.o.Store.Release(releasing, q.holder, slices.Collect(q.ids())...)
	return ctx.Err()
}

func (q *Queue) ids() iter.Seq[string] {
	return func(yield func(string) bool) {
		for e := range q.o.Endpoints() {
			if !yield(e.ID) {
				return
			}
		}
	}
}

// dispatch claims until the context ends.
func (q *Queue) dispatch(ctx context.Context) {
	logged := false
	for {
		err := errors.Join(q.claim(ctx, false), q.claim(ctx, true))
		if err != nil && ctx.Err() == nil && !logged { // once, not each time
			q.o.Logger.WarnContext(ctx, "cannot claim "+q.o.Noun+": due deliveries wait", "err", err)
		}
		logged = err != nil
		select {
		case <-ctx.Done():
			return
		case <-q.o.Wake:
		case <-q.o.Changed:
		case <-time.After(q.o.Timing.Poll):
		}
	}
}

// wakeUp lets the dispatcher look for due deliveries at once.
func (q *Queue) wakeUp() {
	select {
	case q.o.Wake <- struct{}{}:
	default:
	}
}

// Ended reports whether no new work is started, because the service stops.
func (q *Queue) Ended() bool {
	select {
	case <-q.ending:
		return true
	default:
		return false
	}
}

// Sending returns the context of attempts, which ends some time after Ended.
func (q *Queue) Sending() context.Context { return q.sending }
