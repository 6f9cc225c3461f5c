// Package ingest brings the regulator's reports into the store: all of them,
// unchanged, and within seconds of their publication.
//
// Of all processes that share a store, one holds the lease and does the work.
// The others wait for it. The holder runs these loops:
//
//	feeds      polls the three feeds every second and appends new reports
//	compare    compares each feed with the newest pages of its list every few
//	           seconds: a feed can be valid and lack reports
//	pages      reads the page of every new report, for what the feed lacks
//	lists      reads the lists by date, for what the feeds did not show: at the
//	           start, every five minutes, and of the last week every night
//	funds      reads the lists of HR fund by fund: HR has no list by date
//	gaps       looks up registration numbers that are missing in a series
//	documents  reads the documents of new reports: see package docfetch
//	directory  refreshes the issuers daily: see package directory
//	registers  follows the registers of positions: see package registers
//	backfill   reads history that was requested
//
// Each loop retries by itself, and all requests to the regulator wait in one
// throttle. No loop depends on another: a report that is appended twice is stored
// once, so that after a crash everything is simply done again.
package ingest

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/directory"
	"pregon/internal/source/docfetch"
	"pregon/internal/source/exchange"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
)

// Known is what is already in the store. It may lag behind the store until
// CatchUp.
type Known interface {
	directory.Known
	docfetch.History
	// Issuers returns the issuers of some kinds, or all issuers.
	Issuers(kinds ...disclosure.Kind) []disclosure.Issuer
	// Unresolved returns the reports published since an instant that refer to a
	// report which was not known when they were stored.
	Unresolved(ctx context.Context, since time.Time) ([]disclosure.Report, error)
	// CatchUp waits until everything appended before the call is known.
	CatchUp(ctx context.Context) error
}

// Recent is what Run asks again and again, so that it must be fast. It may lag
// behind the store.
type Recent interface {
	docfetch.Known
	// Epoch returns the epoch of the log.
	Epoch() string
	// Len returns the number of reports.
	Len() int
	// Numbers returns the registration numbers of a series with their times of
	// publication, in any order.
	Numbers(t disclosure.Type) iter.Seq2[int64, time.Time]
}

// Options are the collaborators of an Ingest.
type Options struct {
	Store     store.Store
	Coverage  *coverage.Tracker
	Known     Known
	Recent    Recent // nil if only Backfill is called
	Regulator *regulator.Client
	Exchange  *exchange.Client // nil for none
	Documents *document.Keeper // nil: documents are not read
	Registers Registers        // of positions
	Poll      time.Duration    // between two polls of a feed
	Holder    string           // the name of this process
	Logger    *slog.Logger

	// Observe, if not nil, is called after every read of a surface of the
	// source. The outcome is one of regulator.Outcomes.
	Observe func(surface, outcome string, start time.Time)
	// ObserveDocument is docfetch.Options.Observe.
	ObserveDocument func(report string, outcome document.Outcome, start time.Time)
}

// Ingest reads the source while it holds the lease.
type Ingest struct {
	Options
	monitor   *health.Monitor
	intervals intervals

	changes   struct{ taken, lost, yielded atomic.Uint64 } // of the lease
	yieldedAt atomic.Pointer[time.Time]                    // when the lease was last yielded; nil for never

	mu      sync.Mutex
	holding bool     // guarded by mu
	session *session // guarded by mu: the newest
}

// New returns an Ingest. Run starts it.
func New(o Options) *Ingest {
	return &Ingest{Options: o, intervals: usual, monitor: health.NewMonitor(max(15*time.Second, 5*o.Poll))}
}

// Holding reports whether this process holds the lease.
func (i *Ingest) Holding() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.holding
}

func (i *Ingest) setHolding(holding bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.holding = holding
}

// Waiting returns the number of reports whose page is to be read.
func (i *Ingest) Waiting() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.session == nil {
		return 0
	}
	return i.session.queue.Len()
}

// Unread returns the number of reports whose document is to be read.
func (i *Ingest) Unread() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.session == nil || i.session.documents == nil {
		return 0
	}
	return i.session.documents.Len()
}

// Started reports whether a new store has its initial content: the first days of
// the lists, and the directory.
func Started(c *coverage.Tracker) bool {
	return ListsRead(c) && !c.Time(health.Register).IsZero() && !c.Time(health.Exchange).IsZero()
}

// ListsRead reports whether the lists were ever read to their end, so that the
// store lacks no report of the first days.
func ListsRead(c *coverage.Tracker) bool {
	return !c.Time(roundClock(disclosure.IP)).IsZero() && !c.Time(roundClock(disclosure.OIR)).IsZero()
}

// Loading reports whether older reports are still being loaded: the first days of a
// new store, or a back-fill.
func Loading(c *coverage.Tracker) bool { return !ListsRead(c) || c.Filling() }

// NamesKnown reports whether the store has seen most names of categories and markets: the
// lists were read, and if a back-fill was requested, one has ended.
func NamesKnown(c *coverage.Tracker) bool { return ListsRead(c) && (!c.Filling() || c.Filled()) }

// LeaseChanges counts the changes of the lease in this process.
type LeaseChanges struct {
	Taken   uint64 // acquired
	Lost    uint64 // taken by another process, or not renewed in time
	Yielded uint64 // given up for a process that can read the source
}

// LeaseChanges returns the counts since the start.
func (i *Ingest) LeaseChanges() LeaseChanges {
	return LeaseChanges{Taken: i.changes.taken.Load(), Lost: i.changes.lost.Load(), Yielded: i.changes.yielded.Load()}
}

// Run acquires the lease whenever it is free and does the work while it holds
// it, until the context ends.
func (i *Ingest) Run(ctx context.Context) error {
	i.Coverage.Begin()
	trouble, logged := outage.Log{Logger: i.Logger}, true
	for {
		lease, err := i.acquire(ctx)
		if err != nil {
			return err
		}
		i.changes.taken.Add(1)
		if logged { // terms that end at once are not worth two lines each
			i.Logger.Info("reading the source", "term", lease.Term)
		}
		began := time.Now()
		err = i.holdLease(ctx, lease, func(ctx context.Context) error { return i.work(ctx, &lease) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) >= time.Minute {
			trouble.Recovered("")
		}
		logged = trouble.Failed("no longer reading the source", "err", err)
		wait := leaseRetry
		if errors.Is(err, errYield) {
			i.changes.yielded.Add(1)
			now := time.Now()
			i.yieldedAt.Store(&now)
			wait = i.intervals.retryAfterYield
		} else {
			i.changes.lost.Add(1)
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
