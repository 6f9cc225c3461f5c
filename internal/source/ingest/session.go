package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/directory"
	"pregon/internal/source/docfetch"
	"pregon/internal/source/health"
	"pregon/internal/source/registers"
	"pregon/internal/source/regulator"
	"pregon/internal/store"
)

// term is what all loops share during one term of the lease.
type term struct {
	*Ingest
	lease  *store.Lease
	series map[disclosure.Type]*series

	mu       sync.Mutex
	unstored time.Time // guarded by mu: when reports could last not be stored; zero after some were
}

// series is what the loops share about one series.
type series struct {
	name        disclosure.Type
	since       time.Time     // reports published before are history
	newest      atomic.Int64  // the highest number that the feed showed
	wake        chan struct{} // requests that the lists are read soon
	listFailing atomic.Bool   // the last reading of the lists failed
}

// requestLists requests that the lists of the series are read soon.
func (s *series) requestLists() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// session is the work of one term of the lease.
type session struct {
	*writer
	epoch     string // of the log when the session began
	feeds     map[disclosure.Type]*feed
	pages     *pages
	lists     *lists
	funds     *funds
	backfill  *backfill
	directory *directory.Refresher
	registers *registers.Reader // nil: see newRegisters
}

// newSession prepares the work of a term.
func (i *Ingest) newSession(ctx context.Context, lease *store.Lease) (*session, error) {
	if err := i.Coverage.Refresh(ctx); err != nil {
		return nil, err
	}
	t := &term{Ingest: i, lease: lease, series: map[disclosure.Type]*series{}}
	w := &writer{term: t, queue: retry.NewQueue(false)}
	s := &session{
		writer: w,
		feeds:  map[disclosure.Type]*feed{},
		pages:  newPages(w),
		lists:  &lists{w},
		funds:  &funds{w},
	}
	if i.Documents != nil {
		w.documents = docfetch.New(docfetch.Options{
			Store:     i.Store,
			Lease:     lease,
			Regulator: i.Regulator,
			Documents: i.Documents,
			Logger:    i.Logger,
			Observe:   i.ObserveDocument,
			FindEvery: i.intervals.unread,
			Retry:     i.intervals.reread,
			AskAgain:  i.intervals.reask,
			Examine:   i.intervals.examine,
		})
	}
	s.directory = directory.New(directory.Options{
		Coverage:   i.Coverage,
		Lease:      lease,
		Known:      i.Known,
		Regulator:  i.Regulator,
		Exchange:   i.Exchange,
		Monitor:    i.monitor,
		Logger:     i.Logger,
		Append:     w.appendIssuers,
		RecordRead: t.recordRead,
	})
	s.registers = w.newRegisters()
	s.backfill = &backfill{
		writer:    w,
		lists:     s.lists,
		funds:     s.funds,
		directory: s.directory,
	}
	for _, name := range disclosure.Types {
		t.series[name] = &series{name: name, since: i.Coverage.Live(name), wake: make(chan struct{}, 1)}
		s.feeds[name] = newFeed(t.series[name], s.lists)
	}
	return s, nil
}

// begin stores the time from which reports are live, unless an earlier term did.
func (s *session) begin(ctx context.Context) error {
	for _, series := range s.series {
		if !series.since.IsZero() {
			continue
		}
		if err := s.Coverage.SetLive(ctx, s.lease, series.name, time.Now()); err != nil {
			return err
		}
		series.since = s.Coverage.Live(series.name)
	}
	return nil
}

// work runs all loops until the context or one of them ends.
func (i *Ingest) work(ctx context.Context, lease *store.Lease) error {
	i.monitor.Restart(i.Coverage.SourceStatus(true))
	i.awaitSurfaces()
	s, err := i.startSession(ctx, lease)
	if err != nil {
		return err
	}
	i.mu.Lock()
	i.session = s
	i.mu.Unlock()
	g, ctx := errgroup.WithContext(ctx)
	for _, t := range disclosure.Types {
		i.monitor.Expect(health.List(t), i.intervals.lists(t))
		g.Go(func() error { return s.feeds[t].poll(ctx) })
		g.Go(func() error { return s.feeds[t].compare(ctx) })
		g.Go(func() error { return s.lists.run(ctx, t) })
	}
	for range pageReaders {
		g.Go(func() error { return s.pages.run(ctx) })
	}
	if s.documents != nil {
		g.Go(func() error { return s.documents.Run(ctx, i.Recent) })
	}
	if s.registers != nil {
		g.Go(func() error { return s.registers.Run(ctx) })
	}
	gaps := newGaps(s.writer)
	for _, loop := range []func(context.Context) error{
		s.reportStatus, s.yield, s.endWithEpoch, s.pages.find, s.resolve, s.funds.run, gaps.run, s.directory.Run, s.backfill.run,
	} {
		g.Go(func() error { return loop(ctx) })
	}
	return g.Wait()
}

// awaitSurfaces lists all surfaces that are read, so that the status says which were not
// read yet. The directory is read once a day, so its last read may be that of another
// term.
func (i *Ingest) awaitSurfaces() {
	for _, name := range health.Surfaces {
		switch name {
		case health.Exchange:
			if i.Exchange != nil {
				i.monitor.Await(name, i.Coverage.Time(name))
			}
		case health.Register:
			i.monitor.Await(name, i.Coverage.Time(name))
		default:
			i.monitor.Await(name, time.Time{})
		}
	}
	i.awaitRegisters()
}

// startSession returns the session of a term. It retries until the store
// answers, or returns an error if the lease is lost.
func (i *Ingest) startSession(ctx context.Context, lease *store.Lease) (*session, error) {
	for try := 0; ; try++ {
		epoch := i.Recent.Epoch() // before the state of coverage is read: a restore in between ends the term
		s, err := i.newSession(ctx, lease)
		if err == nil {
			s.epoch = epoch
			err = s.begin(ctx)
		}
		if err == nil {
			// A back-fill process that was killed may have left its mark.
			return s, i.Coverage.SetValue(ctx, lease, aloneKey, "")
		}
		if fault.KindOf(err) == fault.Conflict {
			return nil, err
		}
		i.monitor.Fail(health.Store, storeReason(err), false)
		if err := retry.Sleep(ctx, i.backoff(try)); err != nil {
			return nil, err
		}
	}
}

// endWithEpoch ends the term when a backup was restored: the state of the
// session, such as when the lists were read last, belongs to the previous log.
func (s *session) endWithEpoch(ctx context.Context) error {
	for s.Recent.Epoch() == s.epoch {
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: a backup of the store was restored", errLost)
}

// reportStatus stores the status for the other processes, and logs its changes and
// the incidents.
func (s *session) reportStatus(ctx context.Context) error {
	const every, reminder = 5 * time.Second, time.Minute
	var stored, logged time.Time
	began, unlogged := time.Now(), true
	incidents := newIncidents(s.Coverage, &s.intervals)
	for {
		status, was := s.monitor.Status()
		incidents.add(status, time.Now())
		incidents.save(ctx, s)
		// The state at the start is logged once it lasts, and one that stays blind
		// from time to time.
		changed := was != "" && was != status.State
		lasts := unlogged && time.Since(began) >= s.intervals.starting
		stillBlind := !unlogged && status.State == health.Blind && time.Since(logged) >= reminder
		if changed || lasts || stillBlind {
			s.logState(status, cmp.Or(was, health.Blind))
			unlogged, logged = false, time.Now()
		}
		if was != "" || time.Since(stored) >= every {
			if s.recordStatus(ctx, s.writeStatus(ctx, status)) == nil {
				stored = time.Now()
			}
		}
		if err := retry.Sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}

// storeTime bounds how long the store may take for the status.
const storeTime = 10 * time.Second

// writeStatus stores the status. It also appends an empty batch, so that a log
// that cannot be written is noticed before there is a report to write.
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
	attrs := []any{"state", status.State, "previous", was}
	var reasons []string
	for _, r := range status.Reasons {
		reasons = append(reasons, r.Surface+": "+r.Text())
	}
	if len(reasons) > 0 {
		attrs = append(attrs, "reasons", strings.Join(reasons, "; "))
	}
	s.Logger.Log(context.Background(), level, "the source is "+string(status.State), attrs...)
}

// recordRead records the outcome of a read of a surface, which began at start, and
// returns the error.
func (t *term) recordRead(ctx context.Context, surface string, start time.Time, err error) error {
	if t.Observe != nil && ctx.Err() == nil {
		t.Observe(surface, regulator.Outcome(err), start)
	}
	return t.record(ctx, surface, err)
}

// recordStore records the outcome of using the store and returns the error.
func (t *term) recordStore(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		t.monitor.Fail(health.Store, storeReason(err), false)
		t.Logger.Debug("using the store failed", "err", err)
		return err
	}
	return t.record(ctx, health.Store, err)
}

// recordAppend records the outcome of storing reports or issuers and returns the error.
func (t *term) recordAppend(ctx context.Context, err error) error {
	t.mu.Lock()
	switch {
	case err == nil:
		t.unstored = time.Time{}
	case ctx.Err() == nil:
		t.unstored = time.Now()
	}
	t.mu.Unlock()
	return t.recordStore(ctx, err)
}

// retried is how soon reports that could not be stored are tried again at the latest.
const retried = 2 * time.Minute

// recordStatus records the outcome of storing the status and returns the error. While
// reports cannot be stored, it does not matter that the status can.
func (t *term) recordStatus(ctx context.Context, err error) error {
	t.mu.Lock()
	unstored := !t.unstored.IsZero() && time.Since(t.unstored) < retried
	t.mu.Unlock()
	if err == nil && unstored {
		t.monitor.Seen(health.Store)
		return nil
	}
	return t.recordStore(ctx, err)
}

// storeReason returns the text of an error of the store that clients may see.
func storeReason(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Message
	}
	return "the store does not answer as it should; the log of the service has the cause"
}

func (t *term) record(ctx context.Context, surface string, err error) error {
	switch {
	case err == nil:
		t.monitor.OK(surface)
	case ctx.Err() != nil:
		return ctx.Err() // a requested stop is no failure of the source
	default:
		t.monitor.Fail(surface, regulator.Reason(err), regulator.IsMarkup(err))
		t.Logger.Debug("reading the source failed", "surface", surface, "err", err, "cause", regulator.Cause(err))
	}
	return err
}

// backoff returns a wait that doubles from one second on, with jitter.
func (i *Ingest) backoff(failures int) time.Duration {
	return retry.Jitter(retry.Backoff(failures, time.Second, i.intervals.retry))
}
