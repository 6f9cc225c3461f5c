// Package ingest brings the source's reports into the store: all of them, as
// they are, and at once.
//
// Of all processes that share a store one holds the lease and does the work;
// the others stand by. What the holder does:
//
//	feeds      the three feeds every second: what they tell is appended as it comes
//	compare    the newest page of the lists every few seconds, for what a feed hides
//	enrich     the page of every new report, for what the feed does not tell
//	reconcile  the lists, for what the feed did not show: at the start, every
//	           five minutes, and for the last week every night
//	hr         the funds' lists by entity: HR has no list by date
//	gaps       numbers that nothing explains are looked up one by one
//	documents  the document of every new report: its text, and its summary
//	directory  registers and exchange, daily
//	backfill   history that somebody asked for
//
// Each goes its own way and repeats what failed, and all of them wait in one
// queue for their turn to ask the regulator. None depends on another having
// run: whatever is appended twice is kept once, so that after a crash everything
// is simply done again.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/fault"
	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/source/coverage"
	"pregon/internal/source/exchange"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
)

// Options are what ingest works with.
type Options struct {
	Store     store.Store
	Coverage  *coverage.Tracker
	Catalog   *catalog.Catalog
	Regulator *regulator.Client
	Exchange  *exchange.Client // nil for none
	Documents *document.Keeper // nil: documents are not read
	Poll      time.Duration    // between two looks at a feed
	Holder    string           // names this process
	Logger    *slog.Logger

	// Observe, if not nil, is called after every read of a surface of the
	// source. Outcomes has what outcome may be.
	Observe func(surface, outcome string)
}

// Ingest reads the source while it holds the lease.
type Ingest struct {
	Options
	known     known
	board     *health.Monitor
	intervals intervals

	changes   struct{ taken, lost, yielded atomic.Uint64 } // of the lease
	yieldedAt atomic.Int64                                 // when it was last given up, in Unix nanoseconds

	mu      sync.Mutex
	holding bool     // guarded by mu
	session *session // guarded by mu: the newest
}

// New returns an ingest; Run starts it.
func New(o Options) *Ingest {
	return &Ingest{Options: o, known: known{o.Catalog}, intervals: usual, board: health.NewMonitor(max(15*time.Second, 5*o.Poll))}
}

// Holding reports whether this process reads the source.
func (i *Ingest) Holding() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.holding
}

// Waiting returns how many reports wait for their page to be read.
func (i *Ingest) Waiting() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.session == nil {
		return 0
	}
	return i.session.enriching.len()
}

// Unread returns how many reports wait for their document to be read.
func (i *Ingest) Unread() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.session == nil {
		return 0
	}
	return i.session.unread.len()
}

// Started reports whether a new store has what it begins with: the first days
// of the lists, and the directory.
func Started(l *coverage.Tracker) bool {
	return ListsRead(l) && !l.Time(health.Register).IsZero() && !l.Time(health.Exchange).IsZero()
}

// ListsRead reports whether the lists were ever read to their end, so that
// what they do not show was not filed.
func ListsRead(l *coverage.Tracker) bool {
	return !l.Time(roundClock(disclosure.IP)).IsZero() && !l.Time(roundClock(disclosure.OIR)).IsZero()
}

func (i *Ingest) hold(yes bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.holding = yes
}

// Run takes the lease whenever it can be had and does the work while it has
// it, until the context ends.
func (i *Ingest) Run(ctx context.Context) error {
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
		rest := campaign
		if errors.Is(err, errBlind) {
			i.changes.yielded.Add(1)
			i.yieldedAt.Store(time.Now().UnixNano())
			rest = i.intervals.aside
		} else {
			i.changes.lost.Add(1)
		}
		if err := retry.Sleep(ctx, rest); err != nil {
			return err
		}
	}
}

// LeaseChanges counts what became of the lease in this process.
type LeaseChanges struct {
	Taken   uint64 // it was acquired
	Lost    uint64 // another process has it, or it could not be renewed
	Yielded uint64 // it was given up for a process that sees the source
}

// LeaseChanges returns the counts since the start.
func (i *Ingest) LeaseChanges() LeaseChanges {
	return LeaseChanges{Taken: i.changes.taken.Load(), Lost: i.changes.lost.Load(), Yielded: i.changes.yielded.Load()}
}

// session is the work of one term of the lease.
type session struct {
	*Ingest
	lease         *store.Lease
	epoch         string                            // of the log when it began
	since         map[disclosure.Type]time.Time     // reports before are history
	enriching     *retryQueue                       // for their page to be read
	unread        *retryQueue                       // for their document
	awaitingModel *retryQueue                       // for the model to write their summary
	wake          map[disclosure.Type]chan struct{} // asks for the lists at once
	listFails     map[disclosure.Type]*atomic.Bool  // the last reading of the lists failed
	harvested     sync.Map                          // keys of issuers that the catalogue may not know yet
	noSeconds     sync.Map                          // ids of reports whose page tells the minute only
	claimed       atomic.Bool
	crowded       sync.Mutex                        // held by whoever reads a list in place of many pages
	listed        sync.Map                          // ids of reports for which that was tried
	gates         map[disclosure.Type]*gate         // to reports' own pages
	newest        map[disclosure.Type]*atomic.Int64 // the highest number that a feed told
	directory     sync.Mutex                        // held by whoever refreshes it
}

// newSession prepares the work of a term.
func (i *Ingest) newSession(ctx context.Context, lease *store.Lease) (*session, error) {
	s := &session{
		Ingest: i, lease: lease, epoch: i.Catalog.Epoch(), since: map[disclosure.Type]time.Time{},
		enriching: newRetryQueue(), unread: newRetryQueue(), awaitingModel: newRetryQueue(), wake: map[disclosure.Type]chan struct{}{}, newest: map[disclosure.Type]*atomic.Int64{}, listFails: map[disclosure.Type]*atomic.Bool{}, gates: map[disclosure.Type]*gate{},
	}
	if err := i.Coverage.Refresh(ctx); err != nil {
		return nil, err
	}
	s.unread.lastFirst = true // a new report does not wait behind what was left
	for _, t := range disclosure.Types {
		s.wake[t] = make(chan struct{}, 1)
		s.newest[t] = new(atomic.Int64)
		s.gates[t] = &gate{}
		s.listFails[t] = new(atomic.Bool)
		s.since[t] = i.Coverage.Live(t)
	}
	return s, nil
}

// begin notes that from now on reports are read as they come, unless they are
// already.
func (s *session) begin(ctx context.Context) error {
	for _, t := range disclosure.Types {
		if !s.since[t].IsZero() {
			continue
		}
		if err := s.Coverage.SetLive(ctx, s.lease, t, time.Now()); err != nil {
			return err
		}
		s.since[t] = s.Coverage.Live(t)
	}
	return nil
}

// work does everything until the context ends.
func (i *Ingest) work(ctx context.Context, lease *store.Lease) error {
	i.board.Restart()
	var s *session
	for try := 0; s == nil; try++ {
		var err error
		if s, err = i.newSession(ctx, lease); err == nil {
			err = s.begin(ctx)
		}
		if err != nil {
			s = nil
			if fault.KindOf(err) == fault.Conflict {
				return err
			}
			i.board.Fail(health.Store, trouble(err), false)
			if err := retry.Sleep(ctx, i.backoff(try)); err != nil {
				return err
			}
		}
	}
	if err := i.Coverage.SetValue(ctx, lease, aloneMemo, ""); err != nil { // who left it was killed
		return err
	}
	i.mu.Lock()
	i.session = s
	i.mu.Unlock()
	g, ctx := errgroup.WithContext(ctx)
	for _, t := range disclosure.Types {
		f := newFeed(t)
		g.Go(func() error { return s.pollFeed(ctx, f) })
		g.Go(func() error { return s.compareFeed(ctx, f) })
		g.Go(func() error { return s.reconcile(ctx, t) })
	}
	for range enrichers {
		g.Go(func() error { return s.enrich(ctx) })
	}
	if i.Documents != nil {
		g.Go(func() error { i.Documents.Warm(ctx); return nil })
		for range fetchers {
			g.Go(func() error { return s.readDocuments(ctx) })
		}
		g.Go(func() error { return s.findUnread(ctx) })
		g.Go(func() error { return s.writeSummaries(ctx) })
	}
	for _, t := range disclosure.Types {
		i.board.Expect(health.List(t), i.intervals.lists(t))
	}
	for _, job := range []func(context.Context) error{s.tell, s.yield, s.endWithEpoch, s.sweepHR, s.chaseGaps, s.refreshDirectory, s.backfill, s.findPoor, s.tieLoose} {
		g.Go(func() error { return job(ctx) })
	}
	return g.Wait()
}

// endWithEpoch ends the term when a backup was restored: what the session knows,
// such as when the lists were read last, is of the log that is no more.
func (s *session) endWithEpoch(ctx context.Context) error {
	for s.Catalog.Epoch() == s.epoch {
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: a backup of the store was restored", errLost)
}

// tell writes the state down for the other processes, and for who reads logs.
func (s *session) tell(ctx context.Context) error {
	const every, startTime, reminder = 5 * time.Second, 15 * time.Second, time.Minute
	var told, logged time.Time
	began, unlogged := time.Now(), true
	for {
		status, was := s.board.Status()
		// Every source is blind until it was read once; one that stays so is
		// worth a line too.
		if was != "" && was != status.State || unlogged && time.Since(began) >= startTime ||
			!unlogged && status.State == health.Blind && time.Since(logged) >= reminder {
			s.logState(status, cmp.Or(was, health.Blind))
			unlogged, logged = false, time.Now()
		}
		if was != "" || time.Since(told) >= every {
			if s.note(ctx, health.Store, s.writeStatus(ctx, status)) == nil {
				told = time.Now()
			}
		}
		if err := retry.Sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}

// storeTime is how long the store may take for the status.
const storeTime = 10 * time.Second

// writeStatus writes the status down, and appends nothing to the log: that the
// log can be written must be known before there is something to write.
func (s *session) writeStatus(ctx context.Context, status health.Status) error {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if err := s.Coverage.SetStatus(ctx, s.lease, status); err != nil {
		return err
	}
	_, err := s.Store.Append(ctx, store.Batch{Lease: s.lease})
	return err
}

func (s *session) logState(status health.Status, was health.State) {
	level := slog.LevelInfo
	if status.State == health.Degraded || status.State == health.Blind {
		level = slog.LevelWarn
	}
	attrs := []any{"state", status.State, "was", was}
	for _, r := range status.Reasons {
		attrs = append(attrs, r.Surface, r.Text)
	}
	s.Logger.Log(context.Background(), level, "the source is "+string(status.State), attrs...)
}

// Outcomes are how a read of the source may end: ok; a status other than 200;
// no whole answer; an answer in another form; no such page; anything else.
var Outcomes = []string{"ok", "status", "transport", "markup", "missing", "failed"}

func outcome(err error) string {
	_, status := errors.AsType[*regulator.StatusError](err)
	_, transport := errors.AsType[*regulator.TransportError](err)
	_, markup := errors.AsType[*regulator.MarkupError](err)
	switch {
	case err == nil:
		return "ok"
	case status:
		return "status"
	case transport:
		return "transport"
	case markup:
		return "markup"
	case fault.KindOf(err) == fault.NotFound:
		return "missing"
	}
	return "failed"
}

// note tells the board how a look at a surface went, and passes the error on.
func (s *session) note(ctx context.Context, surface string, err error) error {
	if s.Observe != nil && surface != health.Store && ctx.Err() == nil {
		s.Observe(surface, outcome(err))
	}
	switch {
	case err == nil:
		s.board.OK(surface)
	case ctx.Err() != nil:
		return ctx.Err() // our own end says nothing of the source
	default:
		_, markup := errors.AsType[*regulator.MarkupError](err)
		s.board.Fail(surface, trouble(err), markup)
		s.Logger.Debug("a look at the source failed", "surface", surface, "err", err, "cause", regulator.Cause(err))
	}
	return err
}

// trouble is what may be told of an error to whoever asks: the words of a
// database or a network can name hosts and users.
func trouble(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Message
	}
	_, markup := errors.AsType[*regulator.MarkupError](err)
	_, status := errors.AsType[*regulator.StatusError](err)
	_, transport := errors.AsType[*regulator.TransportError](err)
	if markup || status || transport {
		return err.Error()
	}
	return "something failed inside; the log of the service tells more"
}

// Status returns how well this process sees the source.
func (i *Ingest) Status() health.Status {
	s, _ := i.board.Status()
	return s
}
