package ingest

import (
	"context"
	"errors"
	"sync"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// enrichers is how many pages are asked for at once. The queue keeps them
// apart; several are under way so that a slow one holds up no other.
const enrichers = 4

// waitingRoom holds the reports that something is still to be done for.
type retryQueue struct {
	wake      chan struct{} // one for each that waits, so that who sleeps looks
	lastFirst bool          // who came last is let in first

	mu      sync.Mutex
	waiting map[string]*item // guarded by mu
	order   []string         // guarded by mu: as they came
}

// visit is a report that waits.
type item struct {
	due   time.Time
	tries int
	busy  bool // being attended to
}

func newRetryQueue() *retryQueue {
	return &retryQueue{wake: make(chan struct{}, enrichers), waiting: map[string]*item{}}
}

// add lets a report wait, unless it waits already.
func (w *retryQueue) add(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[id] != nil {
		return
	}
	w.waiting[id] = &item{}
	w.order = append(w.order, id)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next returns the first that is due, or none.
func (w *retryQueue) next() (id string, tries int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for n := range w.order {
		if w.lastFirst {
			n = len(w.order) - 1 - n
		}
		if v := w.waiting[w.order[n]]; !v.busy && !v.due.After(now) {
			v.busy = true
			return w.order[n], v.tries
		}
	}
	return "", 0
}

// done lets a report go, or wait again for a time.
func (w *retryQueue) done(id string, again time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if again > 0 {
		v := w.waiting[id]
		v.busy, v.due = false, time.Now().Add(again)
		v.tries++
		return
	}
	delete(w.waiting, id)
	for n, other := range w.order {
		if other == id {
			w.order = append(w.order[:n:n], w.order[n+1:]...)
			break
		}
	}
}

// len returns how many wait.
func (w *retryQueue) len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting)
}

// attend lets one after another in, until the context ends. The visit tells
// how long the report is to wait before it comes again, if it is to.
func (w *retryQueue) attend(ctx context.Context, visit func(id string, tries int) (again time.Duration)) error {
	for {
		id, tries := w.next()
		if id == "" {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-w.wake:
			case <-time.After(time.Second): // for those whose time has come
			}
			continue
		}
		again := visit(id, tries)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.done(id, again)
	}
}

// enrich reads the pages of reports that wait, until the context ends.
func (s *session) enrich(ctx context.Context) error {
	return s.enriching.attend(ctx, func(id string, tries int) time.Duration {
		t, _, _ := disclosure.ParseReportID(id)
		if wait := s.gates[t].wait(); wait > 0 {
			return wait
		}
		if s.enrichOne(ctx, id) != nil {
			return s.pageBackoff(tries)
		}
		return 0
	})
}

// gate holds back the pages of a series once several reports in a row had one
// that cannot be read: then the form has changed, and one page now and then is
// enough to notice that it is known again.
type gate struct {
	mu     sync.Mutex
	failed map[string]bool // guarded by mu: ids since the last page that was read
	tries  int             // guarded by mu: since it shut
	opens  time.Time       // guarded by mu
}

// wait returns the time until a page may be asked for.
func (g *gate) wait() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Until(g.opens)
}

// note takes in how the reading of a report's page went.
func (g *gate) note(id string, err error, backoff func(tries int) time.Duration) {
	const several = 3
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil || fault.KindOf(err) == fault.NotFound {
		g.failed, g.tries, g.opens = nil, 0, time.Time{}
		return
	}
	if _, markup := errors.AsType[*regulator.MarkupError](err); !markup {
		return
	}
	if g.failed == nil {
		g.failed = map[string]bool{}
	}
	if g.failed[id] = true; len(g.failed) < several {
		return
	}
	g.opens = time.Now().Add(backoff(g.tries))
	g.tries++
}

// patience is how long a report waits after so many tries: half a second at
// first, and at last ten times what others wait.
func (s *session) pageBackoff(tries int) time.Duration {
	return retry.Backoff(tries, 500*time.Millisecond, 10*s.intervals.retry)
}

// enrichOne reads the page of a report, unless all is known that it tells.
func (s *session) enrichOne(ctx context.Context, id string) error {
	known, err := s.Store.Reports(ctx, id)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return nil
	}
	r := known[0]
	if !needsPage(&r) && !s.board.Failing(health.Permalink(r.Type)) { // else who would notice that pages are back?
		return nil
	}
	if r.EnrichedAt.IsZero() && s.enrichMany(ctx, &r) {
		return errors.New("its row was read") // comes again, and goes unless that told too little
	}
	row, err := s.Regulator.For(throttle.Permalinks).Permalink(ctx, r.Type, r.Number)
	s.gates[r.Type].note(id, err, s.pageBackoff)
	if s.note(ctx, health.Permalink(r.Type), err) != nil {
		if fault.KindOf(err) == fault.NotFound && time.Since(r.FirstSeenAt) > time.Hour {
			s.Logger.Warn("the page of a report is not there: it stays as the feed told it", "id", id)
			s.board.OK(health.Permalink(r.Type)) // it answers
			return nil
		}
		return err
	}
	if row.Surface == disclosure.FromList {
		s.noSeconds.Store(id, true)
	}
	return s.takePage(ctx, row)
}

// takePage appends what a report's own page told.
func (s *session) takePage(ctx context.Context, row regulator.Row) error {
	rows, err := s.settle(ctx, row.Type, []regulator.Row{row})
	if err != nil {
		return err
	}
	_, err = s.take(ctx, rows, time.Now(), news)
	return err
}

// crowd is how many reports must wait for a page of the list to be read in
// place of theirs: it tells of ten at once, and in a burst turns are scarce.
const crowd = 4

// enrichMany reads the page of today's list that should tell of a report and of
// those around it, if enough wait and nobody is at it. It reports whether the
// report's own page may wait.
func (s *session) enrichMany(ctx context.Context, r *disclosure.Report) bool {
	newest := s.newest[r.Type].Load()
	page := int((newest - r.Number) / pageSize)
	if s.enriching.len() < crowd || newest < r.Number || page >= crowd ||
		r.Type == disclosure.HR && s.board.Failing(health.List(r.Type)) || !s.crowded.TryLock() {
		return false
	}
	defer s.crowded.Unlock()
	if _, before := s.listed.LoadOrStore(r.ID, true); before {
		return false // it was not where it should have been
	}
	list, err := s.pageOfToday(ctx, r.Type, page)
	if s.note(ctx, health.List(r.Type), err) != nil && len(list.Rows) == 0 {
		return false
	}
	_, err = s.takeSettled(ctx, r.Type, list.Rows, list.Received, news)
	return err == nil
}

// pageOfToday reads a page of a series' newest reports. Of HR there is one, which
// is longer.
func (s *session) pageOfToday(ctx context.Context, t disclosure.Type, page int) (regulator.List, error) {
	client := s.Regulator.For(throttle.Permalinks)
	if t == disclosure.HR {
		return client.LatestHR(ctx, regulator.HRFunds)
	}
	today := disclosure.DayOf(time.Now())
	return client.List(ctx, t, today, today, page)
}

// poor reports whether a report's page has something to add: the feed does not
// tell the NIF, and the list does not tell seconds. For history minutes do.
func needsPage(r *disclosure.Report) bool {
	byFeed := r.EnrichedAt.IsZero() && r.TimeFrom != "" // who imports says nothing of where a time was read
	return byFeed || r.TimeFrom == disclosure.FromList && !r.Backfilled
}

// findPoor looks for reports that a process before us left half told.
func (s *session) findPoor(ctx context.Context) error {
	const reach = 7 * 24 * time.Hour
	for {
		for _, r := range s.known.Since(time.Now().Add(-reach)) {
			if _, asked := s.noSeconds.Load(r.ID); needsPage(&r) && !asked {
				s.enriching.add(r.ID)
			}
		}
		if err := retry.Sleep(ctx, s.intervals.poor); err != nil {
			return err
		}
	}
}
